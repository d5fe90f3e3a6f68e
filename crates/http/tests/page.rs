//! GET on an endpoint whose service has a page.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use std::process::Command;

use castile_http::server::{Address, Endpoint, Options};
use castile_soap::addressing::{Declared, Responses};
use castile_soap::{Description, Document, Operation, Page, Pending, ReplyMessage, Root, Service, Version};
use http::uri::Scheme;
use http::{Request, Response, StatusCode};
use support::{ask, echo};

/// A service with a page, which answers every call with nothing.
struct Shown(&'static Description);

impl Service for Shown {
    fn description(&self) -> &'static Description {
        self.0
    }

    fn call(&self, request: castile_soap::RequestMessage, _: &castile_soap::Options) -> Pending {
        Box::pin(std::future::ready(ReplyMessage::empty(request.version)))
    }
}

const fn operation(name: &'static str, action: &'static str) -> Operation {
    let root = Root::of_body("<soap:Body>", &[]);
    Operation::new(name, action, root).with_actions("urn:action", "")
}

/// A malicious contract.
const HOSTILE: &str = "service Orders\noperation place\ndocumentation\n\t<script>alert(1)</script>\n\tservice Other\ninput\n\
    \t0e\t</b><script>\t0..1\tT\\\">\t0\tdefault <\t<img src=x>\nrequest\n\t<a b='$(id)'>it's\t`id`</a>\n\
    answer\n\t</pre><script>\ntype <T>\turn:\"t\ndocumentation\n\t</style>\nrows\n\t0v\t\t\txs:int\n";

static OPERATIONS: [Operation; 1] = [operation("place", "urn:\"><'$(id)")];
static ORDERS: Description = Description::new("Orders<b>", "urn:\"><b>", &OPERATIONS)
    .with_documents(
        &[Document::wsdl("<soap:address location='http://localhost/'/>"), Document::new("xsd=1", "<a/>", &[])],
        "http://localhost/'$(id)",
    )
    .with_documentation("</title><script>alert(2)</script>")
    .with_page(Page::new(HOSTILE, 0));

fn get(uri: &str) -> Request<String> {
    Request::get(uri).header("host", "h").body(String::new()).unwrap()
}

fn shown(description: &'static Description) -> Endpoint<Shown> {
    let mut options = Options::default();
    options.address = Address::Asked { scheme: Scheme::HTTP, hosts: vec!["h".to_owned()], trusted: Vec::new() };
    Endpoint::with_options(Shown(description), options)
}

async fn page(endpoint: &Endpoint<Shown>, uri: &str) -> String {
    let response = ask(endpoint, get(uri)).await;
    assert_eq!(response.status(), StatusCode::OK, "{uri}");
    response.into_body()
}

/// Returns the text of the element that begins with this markup.
fn text(page: &str, begin: &str) -> String {
    let (_, rest) = page.split_once(begin).unwrap_or_else(|| panic!("{begin} in {page}"));
    let (inside, _) = rest.split_once("</pre>").unwrap();
    let inside = inside.split_once('>').unwrap().1.replace("<span class=\"data\">", "").replace("</span>", "");
    assert!(!inside.contains(['<', '>', '"', '\'']), "{inside}");
    let unescaped = inside.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    unescaped.replace("&amp;", "&")
}

#[tokio::test]
async fn text_of_a_contract_is_escaped() {
    let page = page(&shown(&ORDERS), "/orders").await;
    let (markup, script) = page.split_once("<script>").unwrap();
    assert!(script.ends_with("</script></body></html>\n") && script.matches("</script").count() == 1, "{script}");
    for wrong in ["<b></", "<b>\"", "<T>", "<img", "<a b", "alert(1)<", "</pre><script", "urn:\"", "$(id)\""] {
        assert!(!markup.contains(wrong), "{wrong} in {markup}");
    }
    assert_eq!(markup.matches("</style>").count(), 1, "{markup}");
    for expected in [
        "<h1>Orders&lt;b&gt;</h1>",
        "&lt;script&gt;alert(1)&lt;/script&gt;\nservice Other",
        "<code>http://h/orders</code>",
        "<a href=\"?xsd=1\">",
        "<a href=\"#t0\">T\\&quot;&gt;</a>",
        "<h3 id=\"t0\">&lt;T&gt; <small>urn:&quot;t</small></h3>",
    ] {
        assert!(markup.contains(expected), "{expected} in {markup}");
    }
}

/// The browser is told to reject everything else.
#[tokio::test]
async fn nothing_but_the_page_itself_is_loaded_and_run() {
    let response = ask(&shown(&SOAP12), get("/orders")).await;
    let policy = response.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!policy.contains("unsafe") && !policy.contains("script-src 'self'"), "{policy}");
    assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    let html = response.into_body();
    for foreign in [" src=", "@import", "url(", "<link rel=\"stylesheet", " style=", " onclick", "innerHTML", "eval("] {
        assert!(!html.contains(foreign), "{foreign} in {html}");
    }
}

/// The shell gets exactly the words of the command.
#[tokio::test]
async fn the_shown_command_works() {
    let mut fixed = Options::default();
    fixed.address = Address::Fixed("http://[::1]/it's/$(id)".to_owned());
    let endpoints = [
        (shown(&ORDERS), "http://h/orders"),
        (Endpoint::with_options(Shown(&ORDERS), fixed), "http://[::1]/it's/$(id)"),
    ];
    for (endpoint, address) in endpoints {
        let page = page(&endpoint, "/orders").await;
        let command = text(&page, "<pre class=\"curl\"");
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("curl() {{ printf '%s\\0' \"$@\"; }}\n{command}")]);
        let output = shell.output().unwrap();
        let words = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = words.split_terminator('\0').filter(|word| *word != "--globoff").collect();
        let message = text(&page, "<pre class=\"request\"");
        let expected = [
            address,
            "-H",
            "Content-Type: text/xml; charset=utf-8",
            "-H",
            "SOAPAction: \"urn:\"><'$(id)\"",
            "--data-binary",
            &message,
        ];
        assert_eq!(words, expected);
        assert!(message.contains("\n    <a b='$(id)'>it's\t`id`</a>\n"), "{message}");
        assert_eq!(command.contains("--globoff "), address.contains('['));
    }
}

static LINE_FEED: [Operation; 1] = [operation("place", "a\r\nX-Evil: yes")];
static INJECTING: Description = Description::new("Orders", "urn:o", &LINE_FEED)
    .with_page(Page::new("service Orders\noperation place\nrequest\n\t<a/>\n", 0));

#[tokio::test]
async fn an_action_that_no_header_can_carry_is_left_out() {
    let page = page(&shown(&INJECTING), "/orders").await;
    assert!(!page.contains("X-Evil"), "{page}");
    assert!(text(&page, "<pre class=\"curl\"").contains("-H 'SOAPAction: \"\"'"));
}

static SOAP12: Description = Description::new("Orders", "urn:o", &OPERATIONS)
    .with_version(Version::Soap12)
    .with_addressing(Declared { required: true, responses: Responses::Anywhere })
    .with_page(Page::new("service Orders\noperation place\nblocks\n\t<h/>\nrequest\n\t<a/>\n", 0));

#[tokio::test]
async fn an_example_is_of_the_version_and_with_the_header_blocks_that_the_service_wants() {
    let page = page(&shown(&SOAP12), "/orders").await;
    let message = text(&page, "<pre class=\"request\"");
    let expected = "<soap:Envelope xmlns:soap=\"http://www.w3.org/2003/05/soap-envelope\">\n  <soap:Header>\n    \
        <a:Action xmlns:a=\"http://www.w3.org/2005/08/addressing\">urn:action</a:Action>\n    <a:MessageID ";
    assert!(message.starts_with(expected), "{message}");
    assert!(message.contains("\n    <h/>\n  </soap:Header>\n  <soap:Body>\n    <a/>\n"), "{message}");
    let command = text(&page, "<pre class=\"curl\"");
    assert!(command.contains("application/soap+xml; charset=utf-8; action=\"urn:"), "{command}");
    assert!(!command.contains("SOAPAction"), "{command}");
}

/// Returns a contract with more operations than fit on a page.
fn large() -> &'static Description {
    let count = 900;
    let mut text = "service Large\n".to_owned();
    for number in 0..count {
        text += &format!(
            "operation op{number}é\ndocumentation\n\tDoes {number}.\ninput\n\t0e\top{number}\t\tT{number}\t{number}\n"
        );
        text += &format!("request\n\t<op>{}</op>\n", "x".repeat(1_000));
    }
    for number in 0..count {
        text += &format!("type T{number}\turn:t\nrows\n\t0e\tnext\t\tT\t{}\n", (number + 1) % count);
    }
    let operations = (0..count).map(|number| operation(format!("op{number}é").leak(), ""));
    let operations = operations.collect::<Vec<_>>().leak();
    let description = Description::new("Large", "urn:large", operations);
    Box::leak(Box::new(description.with_page(Page::new(text.leak(), 0))))
}

#[tokio::test]
async fn a_large_service_has_a_page_for_each_operation() {
    let endpoint = shown(large());
    let all = page(&endpoint, "/large").await;
    assert!(all.len() < 200_000, "{} bytes", all.len());
    assert!(
        all.contains("<a href=\"?operation=op899%C3%A9\">op899é</a> <span class=\"dim\">Does 899.</span>"),
        "{all}"
    );
    let one = page(&endpoint, "/large?operation=op899%C3%A9").await;
    assert!(one.len() < 100_000, "{} bytes", one.len());
    assert!(one.contains("Does 899.") && one.contains("<pre class=\"request\"") && !one.contains("Does 898."), "{one}");
    assert!(one.contains("<h3 id=\"t899\">") && one.contains("<h3 id=\"t0\">"), "{one}");
    // A type that doesn't fit has a page of its own.
    let (_, link) = one.split_once("<a href=\"?type=").unwrap();
    let of_type = page(&endpoint, &format!("/large?type={}", link.split('"').next().unwrap())).await;
    assert!(of_type.contains("<h3 id=\"t") && of_type.len() < 100_000, "{of_type}");
    for unknown in ["operation=op", "operation=", "type=900", "type=x"] {
        assert_eq!(
            ask(&endpoint, get(&format!("/large?{unknown}"))).await.status(),
            StatusCode::NOT_FOUND,
            "{unknown}"
        );
    }
}

#[tokio::test]
async fn nothing_else_changes() {
    let with = |change: fn(&mut Options)| {
        let mut options = Options::default();
        change(&mut options);
        Endpoint::with_options(Shown(&ORDERS), options)
    };
    let status = |response: Response<String>| response.status();
    assert_eq!(
        status(ask(&with(|options| options.page = false), get("/orders")).await),
        StatusCode::METHOD_NOT_ALLOWED
    );
    assert_eq!(status(ask(&echo(), get("/echo")).await), StatusCode::METHOD_NOT_ALLOWED);
    let put = Request::put("/orders").body(String::new()).unwrap();
    assert_eq!(status(ask(&with(|_| {}), put).await), StatusCode::METHOD_NOT_ALLOWED);
    let contract = ask(&with(|_| {}), get("/orders?wsdl")).await;
    assert_eq!(contract.headers()["content-type"], "text/xml; charset=utf-8");
    assert!(!contract.headers().contains_key("content-security-policy"));
    // Links may have additional parameters.
    assert_eq!(status(ask(&with(|_| {}), get("/orders?utm_source=mail")).await), StatusCode::OK);
}
