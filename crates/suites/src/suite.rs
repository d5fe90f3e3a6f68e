//! The table of suites: what each measures, and how it was driven for its publication.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use castile_load::{Case, Pace, Plan, Start, Stop, Think};
use castile_report::{Client, Published};

use crate::{benchmark1, seismic, styles, wspex, wstest};

/// A published benchmark.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The name of the suite, such as `wspex`.
    pub name: &'static str,
    /// Its publication.
    pub article: &'static str,
    /// What it measures, in a sentence.
    pub about: &'static str,
    /// The meanings of the names of cases, or their beginnings, and of styles.
    pub terms: &'static [(&'static str, &'static str)],
    /// The cases in the order of the publication, with requests that are written beforehand.
    pub cases: fn() -> Vec<Case>,
    /// The cases through generated clients, if the article's clients were generated, or for comparing clients.
    pub typed: fn() -> Vec<Case>,
    /// The cases in other versions of the contract, which are distinguished by their style.
    pub forms: fn() -> Vec<Case>,
    /// Cases beyond what was published.
    pub extras: fn() -> Vec<Case>,
    /// How it was driven.
    pub methods: fn() -> Vec<Method>,
    /// Whether a service accepts a request that was written beforehand only once. Such requests are sent to the floor alone, and
    /// typed clients are measured.
    pub sends_once: bool,
    /// The measured figures, as far as numbers were published.
    pub published: fn() -> Vec<Published>,
}

/// A way to drive the cases of a suite, exactly as in its article. We chose what the article doesn't specify.
#[derive(Clone, Debug)]
pub struct Method {
    /// How the load is made.
    pub method: castile_report::Method,
    /// The client that sends requests.
    pub client: Client,
    /// How a case is driven in one pass. If the number of users is raised ([`castile_report::Method::Users`]), `connections` is
    /// that of the first step. If a case is a sequence, it ends with the last request and `stop` is ignored.
    pub plan: Plan,
    /// How many times all cases are measured.
    pub passes: usize,
    /// How many passes, from the first, are discarded.
    pub discarded: usize,
    /// Returns whether the method applies to the case of this name.
    pub applies: fn(&str) -> bool,
}

/// All suites, in the order of their publication.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "seismic",
        article: "D. Sosnoski: Java Web services, JibxSoap (IBM developerWorks, July 2004)",
        about: "One client sends a list of queries, one after the other. Each query asks for the earthquakes in a \
            range of time and place; answers have from 0 to 20,000 of them.",
        terms: &[
            (".01x200", "200 queries, each for about 1 % of the time and 1 % of the map"),
            (".05x100", "100 queries, each for about 5 % of both"),
            (".2x20", "20 queries, each for about 20 % of both"),
            (".5x10", "10 queries, each for about half of both"),
            ("document", "document style, literal use: quakes are elements with attributes"),
            (
                "rpc-encoded",
                "rpc style in SOAP encoding: the older style, with xsi:type on elements and the length on arrays",
            ),
            ("binary", "the same queries and answers in a compact binary form, without XML"),
        ],
        cases: seismic::cases,
        typed: seismic::typed,
        forms: Vec::new,
        extras: Vec::new,
        methods: of_seismic,
        sends_once: false,
        published: Vec::new,
    },
    Suite {
        name: "styles",
        article: "G. Shah, R. Apte: load tests of Apache Axis (InformIT, 16 July 2004)",
        about: "One document of 2, 50 or 200 KB is submitted in different styles of message; the answer is a receipt. \
            As in the publication, users are added until the server is overloaded.",
        terms: &[
            ("document", "the document is XML that is not bound to types (xs:any)"),
            ("rpc-encoded", "the document is objects in SOAP encoding, each value with its xsi:type"),
            ("cdata", "the document is text in a CDATA section"),
            ("attachment", "the document is an attachment (SOAP with Attachments)"),
        ],
        cases: styles::cases,
        typed: Vec::new,
        forms: Vec::new,
        extras: Vec::new,
        methods: of_styles,
        sends_once: false,
        published: styles::published_figures,
    },
    Suite {
        name: "wstest",
        article: "Microsoft: WSTest 1.1, comparing Web service performance (2005)",
        about: "The calls of a small Web service: an empty one, a structure, a list, and the lookup of an order with \
            fifty lines. The answer is the same content, or the order.",
        terms: &[
            ("EchoVoid", "an empty request and an empty answer: the cost of a call without its content"),
            ("EchoStruct", "structures; the number is in the name"),
            ("EchoList", "a linked list; its length is in the name"),
            ("GetOrder", "a short request, answered by an order of 50 lines"),
        ],
        cases: wstest::cases,
        typed: wstest::typed,
        forms: Vec::new,
        extras: Vec::new,
        methods: of_wstest,
        sends_once: false,
        published: Vec::new,
    },
    Suite {
        name: "wspex",
        article: "K. Kawaguchi: JAX-WS RI 2.1 benchmark (2 February 2007)",
        about: "Values of every kind are echoed: simple values, a structure, arrays, orders and synthetic documents. \
            The number of items or bytes is in the name.",
        terms: &[
            ("echoSynthetic", "a text and random bytes; their number is in the name"),
            ("echoArray", "an array of structures; their number is in the name"),
            ("echoOrder", "an order, nested several levels deep; the number of lines is in the name"),
        ],
        cases: wspex::cases,
        typed: wspex::typed,
        forms: Vec::new,
        extras: wspex::extras,
        methods: of_wspex,
        sends_once: false,
        published: wspex::published_figures,
    },
    Suite {
        name: "benchmark1",
        article: "WSO2: Axis2/C performance, round 2 (21 July 2008)",
        about: "Arrays of numbers, strings and structures are echoed, with 1, 100 or 500 items, on connections that \
            are kept alive or not.",
        terms: &[
            ("echoMeshInterfaceObjects", "structures of two integers and a double"),
            ("echoSimpleEvents", "structures of an integer, a double and a string"),
            (
                "round2",
                "the second form of the contract: wrappers have the names of their operations, and arrays have no \
                 wrapping element",
            ),
        ],
        cases: benchmark1::cases,
        typed: Vec::new,
        forms: benchmark1::round2::cases,
        extras: benchmark1::extras,
        methods: of_benchmark1,
        sends_once: false,
        published: benchmark1::published_figures,
    },
    #[cfg(feature = "security")]
    Suite {
        name: "seismic-security",
        article: "D. Sosnoski: Java Web services, The high cost of (WS-)Security; Metro vs. Axis2 performance; CXF \
            performance comparison (IBM developerWorks, September 2009 to April 2010)",
        about: "One client sends the queries of the seismic service, one after the other, without and with \
            WS-Security. It secures each query and verifies each answer.",
        terms: &[
            ("small-1000", "1,000 queries, which find 816 earthquakes together"),
            ("large-100", "100 queries, which find 176,745 earthquakes together"),
            ("plain", "without security"),
            ("username", "each query has a user name with a password as text"),
            (
                "sign",
                "queries and answers have a time stamp, and a signature over it and the body (RSA with 2,048 bits, \
                 SHA-256); the floor makes the same hashes and key operations, without XML",
            ),
        ],
        cases: seismic::secured::cases,
        typed: seismic::secured::typed,
        forms: Vec::new,
        extras: Vec::new,
        methods: of_seismic,
        sends_once: true,
        published: Vec::new,
    },
];

/// The names of suites that this build may lack.
pub const OPTIONAL_SUITES: &[&str] = &["seismic-security"];

/// Returns the suite of this name.
pub fn suite(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}

const MINUTE: Duration = Duration::from_secs(60);

/// Four passes, each with a minute of warm-up and a minute of measurement. The first two are discarded.
fn of_wspex() -> Vec<Method> {
    let plan = Plan { connections: 32, warmup: MINUTE, stop: Stop::after(MINUTE), ..patient() };
    vec![Method {
        method: castile_report::Method::Closed,
        client: Client::Typed,
        plan,
        passes: 4,
        discarded: 2,
        applies: |_| true,
    }]
}

/// One client sends the queries of each run. All runs are done once before that.
fn of_seismic() -> Vec<Method> {
    vec![Method {
        method: castile_report::Method::Sequence,
        client: Client::Typed,
        plan: patient(),
        passes: 2,
        discarded: 1,
        applies: |_| true,
    }]
}

/// `ab` with 25 connections, with and without keep-alive. The article doesn't give the number of requests.
fn of_benchmark1() -> Vec<Method> {
    let method = |keep_alive| Method {
        method: castile_report::Method::Closed,
        client: Client::Raw,
        plan: Plan { connections: 25, keep_alive, stop: Stop::requests(100_000), ..patient() },
        passes: 4,
        discarded: 1,
        applies: |_| true,
    };
    vec![method(true), method(false)]
}

/// Users on 50 machines who pause for a second and never reuse a connection; then one machine without pauses. `GetOrder`
/// would have been too much for that machine. The article doesn't give the duration.
fn of_wstest() -> Vec<Method> {
    let common = Plan { warmup: MINUTE, stop: Stop::after(2 * MINUTE), ..patient() };
    let thinking = Plan {
        pace: Pace::Think(Think::Fixed(Duration::from_secs(1))),
        connections: 50,
        start: Start::Within(Duration::from_secs(1)),
        keep_alive: false,
        sources: (1..=50).map(|machine| IpAddr::V4(Ipv4Addr::new(127, 0, 0, machine))).collect(),
        ..common.clone()
    };
    let method = |method, plan, applies| Method { method, client: Client::Raw, plan, passes: 3, discarded: 0, applies };
    vec![
        method(castile_report::Method::Users, thinking, |_| true),
        method(castile_report::Method::Closed, Plan { connections: 16, ..common }, |case| case != "GetOrder"),
    ]
}

/// 25 more users each minute, each with a transaction every two minutes, until one fails or the processor is busy enough.
fn of_styles() -> Vec<Method> {
    const USERS_PER_MINUTE: usize = 25;
    let method = |minutes: u64, server_cpu, applies| {
        let time = Duration::from_secs(minutes * 60);
        let plan = Plan {
            pace: Pace::Every(Duration::from_secs(120)),
            connections: USERS_PER_MINUTE * minutes as usize,
            start: Start::PerSecond(USERS_PER_MINUTE as f64 / 60.0),
            stop: Stop::after(time).or_errors(1).or_server_cpu(server_cpu),
            ..patient()
        };
        Method { method: castile_report::Method::Ramp, client: Client::Raw, plan, passes: 1, discarded: 0, applies }
    };
    vec![
        method(45, 0.25, |case: &str| case.ends_with("-2KB")),
        method(35, 0.25, |case: &str| case.ends_with("-50KB")),
        method(27, 0.295, |case: &str| case.ends_with("-200KB")),
    ]
}

/// Returns a plan with a timeout of a minute, as slow toolkits of that time needed.
fn patient() -> Plan {
    Plan { timeout: MINUTE, ..Plan::default() }
}

#[cfg(test)]
mod tests;
