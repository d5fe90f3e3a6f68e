//! The seismic service that JibxSoap was measured with in 2004. Its one operation finds earthquakes in a catalogue held in memory.
//! An answer has from none to 20,000 elements with attributes, in three styles: as documents, in SOAP encoding, and in a compact
//! binary form.
//!
//! ```
//! use castile_suites::seismic::catalogue::{Catalogue, Query};
//!
//! let line = "2000-01-01 01:50:08 70 -7.679 123.604 59.6 2.5 MB 273 24\n";
//! let catalogue = Catalogue::read(line.as_bytes())?;
//! let found = catalogue.find(&Query::default());
//! assert_eq!((found[0].area, found[0].regions[0], found[0].quakes.len()), (24, 273, 1));
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod binary;
pub mod catalogue;
pub mod document;
pub mod encoded;
mod judge;
mod mapping;
pub mod queries;
mod regions;
#[cfg(feature = "security")]
pub mod secured;
mod synthetic;
mod time;

use std::future::pending;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use castile::ClientOptions;
use castile::codegen::{FromXml, HttpError, Operation, ToXml};
use castile::http::Workers;
use castile_load::{Case, Connect, Message, Requests};
use castile_soap::{Offload, Options};
use castile_xml::Limits;
use tokio::sync::{Semaphore, oneshot};

use self::catalogue::{Catalogue, Found, Query};
use self::queries::{SETS, Set};
use crate::case::{Make, Method, TEXT_XML, body, message, operation_named};
use crate::client::{self, Counting};

/// An answer with at least this many quakes takes milliseconds to make.
const LARGE_ANSWER: usize = 5_000;

/// The service in all its styles. It finds the quakes that match a query in its catalogue.
#[derive(Clone, Debug, Default)]
pub struct Service(Option<Arc<Catalogue>>);

impl Service {
    /// Creates a service with this catalogue. The default service creates a synthetic one when it is first called.
    pub fn of(catalogue: Catalogue) -> Self {
        Service(Some(Arc::new(catalogue)))
    }

    /// Returns the catalogue.
    pub fn catalogue(&self) -> &Catalogue {
        static SYNTHETIC: LazyLock<Catalogue> = LazyLock::new(synthetic::catalogue);
        self.0.as_deref().unwrap_or_else(|| &SYNTHETIC)
    }

    /// Makes an answer from the results of a query. If there may be [`LONG`] quakes, it is made by the workers that write large
    /// messages, so that no connection is blocked.
    async fn answer<T: Send + 'static>(&self, asked: Query, make: fn(&Catalogue, Vec<Found<'_>>) -> T) -> T {
        // This limits how many answers are in memory: without it, all of them would be made before the first one is written.
        static TURNS: LazyLock<Semaphore> =
            LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from)));
        let catalogue = self.catalogue();
        if catalogue.upper_bound(&asked) < LARGE_ANSWER {
            return make(catalogue, catalogue.find(&asked));
        }
        let _turn = TURNS.acquire().await;
        let service = self.clone();
        let (done, made) = oneshot::channel();
        let work = move || {
            let catalogue = service.catalogue();
            _ = done.send(make(catalogue, catalogue.find(&asked)));
        };
        Workers::shared().run(Box::new(work)).await;
        match made.await {
            Ok(answer) => answer,
            // The runtime is shutting down before the work began, so nothing awaits the answer.
            Err(_) => pending().await,
        }
    }
}

/// Returns how many quakes of the synthetic catalogue are in the right answers to a case; `None` if it belongs to another suite.
pub fn matches(case: &str) -> Option<u64> {
    let sets = SETS.iter();
    #[cfg(feature = "security")]
    let sets = sets.chain(&secured::SETS);
    let mut sets = sets;
    let set = sets.find(|set| set.name == case)?;
    let made = Service::default();
    let found = set.queries().flat_map(|query| made.catalogue().find(&query));
    Some(found.map(|found| found.quakes.len() as u64).sum())
}

/// The limits of messages: the largest answers in SOAP encoding have 12 MiB.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.message_size = 64 << 20;
    limits
}

/// The options of generated clients.
fn options() -> ClientOptions {
    let mut options = ClientOptions::default();
    options.messages.limits = limits();
    options
}

/// The styles that are compared, named as in reports.
const STYLES: [&str; 3] = ["document", "rpc-encoded", "binary"];

/// Returns the article's four runs in each style, with requests that are written beforehand. A case is a list of queries; its checks
/// count the quakes that were found.
pub fn cases() -> Vec<Case> {
    let raw = |set: Set, message: fn(Query) -> Message| Requests::Raw(set.queries().map(message).collect());
    by_style(move |set, style| match style {
        "document" => (document::PATH, raw(set, of_document)),
        "rpc-encoded" => (encoded::PATH, raw(set, of_encoded)),
        _ => (binary::PATH, raw(set, of_binary)),
    })
}

/// Returns the cases for clients that encode every query and decode every answer, as the article's clients did.
pub fn typed() -> Vec<Case> {
    by_style(|set, style| {
        let queries: Vec<Query> = set.queries().collect();
        let count = queries.len();
        let (path, connect) = match style {
            "document" => {
                type Client = document::contract::QuakeInterfaceClient<Counting>;
                let make: Make<_> =
                    |url, transport| Ok(Client::with_transport(url, transport)?.with_options(options()));
                (document::PATH, connect(make, Client::process, queries, document::request, document::judge))
            }
            "rpc-encoded" => {
                type Client = encoded::contract::EncodedQuakeInterfaceClient<Counting>;
                let make: Make<_> =
                    |url, transport| Ok(Client::with_transport(url, transport)?.with_options(options()));
                (encoded::PATH, connect(make, Client::process, queries, encoded::request, encoded::judge))
            }
            _ => (binary::PATH, binary::connect(queries)),
        };
        (path, Requests::Typed { count, connect })
    })
}

fn by_style(requests: impl Fn(Set, &str) -> (&'static str, Requests)) -> Vec<Case> {
    let case = |style: &str, set: Set| {
        let (path, requests) = requests(set, style);
        let style = Some(style.to_owned());
        Case { suite: "seismic".into(), name: set.name.into(), style, path: path.into(), requests }
    };
    STYLES.iter().flat_map(|style| SETS.map(|set| case(style, set))).collect()
}

fn of_document(query: Query) -> Message {
    let options = Options::from(limits());
    of_xml(&document::contract::QUAKE_INTERFACE_OPERATIONS, query, &options, document::request, document::judge)
}

fn of_encoded(query: Query) -> Message {
    let options = Options::from(limits());
    of_xml(&encoded::contract::ENCODED_QUAKE_INTERFACE_OPERATIONS, query, &options, encoded::request, encoded::judge)
}

/// Creates the message of a query in a contract with these operations.
fn of_xml<Q: ToXml, R: FromXml + 'static>(
    operations: &'static [Operation],
    query: Query,
    options: &Options,
    request: fn(&Query) -> Q,
    judge: fn(&Query, &R) -> Result<u64, String>,
) -> Message {
    let operation = operation_named(operations, "process");
    let body = body(operation, &request(&query));
    message(operation, TEXT_XML, body, options, move |answer| judge(&query, answer))
}

/// Makes clients that send these queries.
fn connect<C: 'static, Q: ToXml + Sync + 'static, R: FromXml + Send + 'static>(
    make: impl Fn(&str, Counting) -> Result<C, HttpError> + Send + Sync + 'static,
    call: Method<C, Q, R>,
    queries: Vec<Query>,
    request: fn(&Query) -> Q,
    judge: fn(&Query, &R) -> Result<u64, String>,
) -> Connect {
    client::connect(make, async move |client: &C, number| {
        let asked = &queries[number];
        Ok(judge(asked, &call(client, &request(asked)).await?)?)
    })
}

fn of_binary(query: Query) -> Message {
    Message {
        action: String::new(),
        content_type: binary::MEDIA_TYPE.into(),
        body: binary::request(&query),
        check: Arc::new(move |answer| binary::judge(&query, &binary::answer(answer)?)),
    }
}
