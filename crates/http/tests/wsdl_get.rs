//! GET with `?wsdl` returns the contract with the requested address.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use castile_http::server::{Address, Endpoint, Proxies, ProxyHeader, Routes, Server};
use castile_soap::{Description, Document, Options, Pending, ReplyMessage, Service};
use http::uri::Scheme;
use http::{HeaderValue, Request};
use support::{Echo, Host, ask, echo, echo_with};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn get(uri: &str, headers: &[(&str, &str)]) -> Request<String> {
    let mut request = Request::get(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(String::new()).unwrap()
}

fn contract(location: &str) -> String {
    let documentation = "<documentation>at http://example.invalid/echo</documentation>";
    format!("<definitions>{documentation}<soap:address location=\"{location}\"/></definitions>")
}

/// Creates an endpoint that clients may use at these hosts.
fn at(hosts: &[&str]) -> Endpoint<Echo> {
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    echo_with(|options| options.address = Address::Asked { scheme: Scheme::HTTP, hosts, trusted: Vec::new() })
}

#[tokio::test]
async fn the_address_is_the_one_that_was_asked() {
    for query in ["wsdl", "WSDL", "Wsdl=", "a=b&wsdl"] {
        let request = get(&format!("/some/path?{query}"), &[("host", "Example.org:8080")]);
        let response = ask(&at(&["other", "example.org:8080"]), request).await;
        assert_eq!(response.headers()["content-type"], "text/xml; charset=utf-8");
        assert_eq!(response.body(), &contract("http://example.org:8080/some/path"));
    }
}

/// Regression: each pair was compared with the name of each document.
#[tokio::test]
async fn a_query_of_many_pairs_is_not_looked_through() {
    for (pairs, status) in [(31, 200), (32, 405), (60_000, 405)] {
        let response = ask(&echo(), get(&format!("/e?{}wsdl", "&".repeat(pairs)), &[])).await;
        assert_eq!(response.status().as_u16(), status, "{pairs}");
    }
}

/// The target takes precedence over Host.
#[tokio::test]
async fn a_target_may_name_the_host() {
    let request = get("http://example.org/e?wsdl", &[("host", "other")]);
    assert_eq!(ask(&at(&["other", "example.org"]), request).await.body(), &contract("http://example.org/e"));
}

#[tokio::test]
async fn a_host_of_strangers_never_gets_into_the_contract() {
    let strangers = ["evil.example", "example.org:8080", "example.org@evil.example", "a\"/><x>", ""];
    for headers in strangers.iter().map(|host| vec![("host", *host)]).chain([vec![]]) {
        let response = ask(&at(&["example.org", "other"]), get("/e?wsdl", &headers)).await;
        assert_eq!(response.body(), &contract("http://example.org/e"));
        let response = ask(&echo(), get("/e?wsdl", &headers)).await;
        assert_eq!(response.body(), &contract("http://example.invalid/echo"));
    }
    let response = ask(&at(&["example.org"]), get("http://evil.example/e?wsdl", &[("host", "example.org")])).await;
    assert_eq!(response.body(), &contract("http://example.org/e"));
}

/// A server knows the address of its connection.
#[tokio::test]
async fn a_contract_names_the_address_that_its_connection_came_to() {
    let mut served = 0;
    for listen in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"] {
        let Ok(listener) = TcpListener::bind(listen).await else {
            continue;
        };
        served += 1;
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(Server::new().serve(listener, echo(), std::future::pending()));
        let expected = contract(&format!("http://127.0.0.1:{port}/e"));
        for (method, body) in [("GET", &expected[..]), ("HEAD", "\r\n\r\n")] {
            let mut client = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let request = format!("{method} /e?wsdl HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
            client.write_all(request.as_bytes()).await.unwrap();
            let mut response = String::new();
            client.read_to_string(&mut response).await.unwrap();
            assert!(response.ends_with(body), "{listen}: {response}");
            // Regression: the response to HEAD had the length for another address.
            assert!(response.contains(&format!("content-length: {}\r\n", expected.len())), "{listen}: {response}");
        }
        server.abort();
    }
    // A machine may have no IPv6.
    assert!(served >= 2, "{served}");
}

#[tokio::test]
async fn special_characters_of_xml_are_escaped() {
    let response = ask(&at(&["h"]), get("/a&b'c?wsdl", &[])).await;
    assert_eq!(response.body(), &contract("http://h/a&amp;b&apos;c"));
}

/// Each line has the trusted headers, the received headers, and the resulting address. `hosts` are those before the
/// first bar.
#[tokio::test]
async fn forwarded_addresses_count_only_from_trusted_proxies() {
    for line in include_str!("forwarded.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut fields = line.split('|').map(str::trim);
        let mut next = || fields.next().unwrap();
        let (hosts, trusted, headers, expected) = (next(), next(), next(), next());
        let trusted = trusted.split_whitespace().map(|name| match name {
            "forwarded" => ProxyHeader::Forwarded,
            "host" => ProxyHeader::XForwardedHost,
            "proto" => ProxyHeader::XForwardedProto,
            "port" => ProxyHeader::XForwardedPort,
            "prefix" => ProxyHeader::XForwardedPrefix,
            _ => panic!("{line}"),
        });
        let (trusted, hosts) = (trusted.collect(), hosts.split_whitespace().map(str::to_owned).collect());
        let address = Address::Asked { scheme: Scheme::HTTP, hosts, trusted };
        let headers: Vec<_> = headers.split(" & ").filter_map(|header| header.split_once(": ")).collect();
        let response = ask(&echo_with(|options| options.address = address), get("/e?wsdl", &headers)).await;
        assert_eq!(response.body(), &contract(expected), "{line}");
    }
}

/// Imported documents are next to the contract, also below the path prefix of a proxy.
#[tokio::test]
async fn locations_of_imports_have_the_prefix_of_a_proxy() {
    let trusted = vec![ProxyHeader::XForwardedHost, ProxyHeader::XForwardedPrefix];
    let address = Address::Asked { scheme: Scheme::HTTPS, hosts: Vec::new(), trusted };
    let mut options = castile_http::server::Options::default();
    options.address = address;
    let headers = [("host", "inner:1"), ("x-forwarded-host", "api.example"), ("x-forwarded-prefix", "/shop")];
    let response = ask(&Endpoint::with_options(Imports, options), get("/a?wsdl", &headers)).await;
    for expected in ["location='https://api.example/shop/a'", "\"https://api.example/shop/a?xsd=1\""] {
        assert!(response.body().contains(expected), "{expected} in {}", response.body());
    }
}

#[tokio::test]
async fn a_fixed_address_is_not_replaced() {
    let endpoint = echo_with(|options| options.address = Address::Fixed("https://public/echo".into()));
    let response = ask(&endpoint, get("/inner?wsdl", &[("host", "h")])).await;
    assert_eq!(response.body(), &contract("https://public/echo"));
}

/// A service whose contract has ports at several paths; it serves the first one.
struct Ports;

static PORTS: Description = Description::new("Ports", "urn:ports", &[]).with_documents(
    &[Document::wsdl(
        "<w><soap:address location='http://localhost:1/a'/><soap:address location='http://localhost:1/b'/>\
         <soap:address location='https://partner/c'/><soap:address location='http://localhost:1/b?c'/>\
         <soap:address location='b'/></w>",
    )],
    "http://localhost:1/a",
);

impl Service for Ports {
    fn description(&self) -> &'static Description {
        &PORTS
    }

    fn call(&self, request: castile_soap::RequestMessage, _: &Options) -> Pending {
        Box::pin(std::future::ready(ReplyMessage::empty(request.version)))
    }
}

/// A service for another port of the same contract.
struct OtherPorts;

static OTHER_PORTS: Description = Description { address: "http://localhost:1/b", ..PORTS };

impl Service for OtherPorts {
    fn description(&self) -> &'static Description {
        &OTHER_PORTS
    }

    fn call(&self, request: castile_soap::RequestMessage, _: &Options) -> Pending {
        Box::pin(std::future::ready(ReplyMessage::empty(request.version)))
    }
}

#[tokio::test]
async fn ports_at_other_routes_kept_the_address_of_the_contract() {
    let contract = |a: &str, b: &str| {
        format!(
            "<w><soap:address location='{a}'/><soap:address location='{b}'/>\
             <soap:address location='https://partner/c'/><soap:address location='http://localhost:1/b?c'/>\
             <soap:address location='b'/></w>"
        )
    };
    let hosts = vec!["h".to_owned()];
    let address = Address::Asked { scheme: Scheme::HTTP, hosts, trusted: Vec::new() };
    let routes = |of_b: Address| {
        let of_b = Endpoint::new(Ports).address(of_b).boxed();
        Routes::new().route("/a", Endpoint::new(Ports).address(address.clone())).route("/b", of_b)
    };
    for asked in ["/a?wsdl", "/b?wsdl"] {
        let response = ask(&routes(address.clone()), get(asked, &[])).await;
        assert_eq!(response.body(), &contract("http://h/a", "http://h/b"), "{asked}");
    }
    // Each port gets the address of its own endpoint.
    let response = ask(&routes(Address::Fixed("https://public/b".into())), get("/a?wsdl", &[])).await;
    assert_eq!(response.body(), &contract("http://h/a", "https://public/b"));
    // Another service may be at the path of a port.
    let other = Routes::new().route("/c", Endpoint::new(Ports).address(address.clone())).route("/a", echo());
    let response = ask(&other, get("/c?wsdl", &[])).await;
    assert_eq!(
        response.body(),
        &contract("http://h/c", "http://localhost:1/b").replace("https://partner/c", "http://h/c")
    );
    // Services of one contract may have different types, and one port may have several paths.
    let twice = Routes::new()
        .route("/a", Endpoint::new(Ports).address(address.clone()))
        .route("/v2/a", Endpoint::new(Ports).address(address.clone()))
        .route("/b", Endpoint::new(OtherPorts).address(address.clone()));
    for (asked, a) in [("/a?wsdl", "http://h/a"), ("/v2/a?wsdl", "http://h/v2/a"), ("/b?wsdl", "http://h/a")] {
        assert_eq!(ask(&twice, get(asked, &[])).await.body(), &contract(a, "http://h/b"), "{asked}");
    }
    // A single endpoint knows no others.
    let response = ask(&Endpoint::new(Ports).address(address.clone()), get("/a?wsdl", &[])).await;
    assert_eq!(response.body(), &contract("http://h/a", "http://localhost:1/b"));
}

/// A service whose contract imports another and a schema. The schema includes itself and one from the network.
struct Imports;

static DESCRIPTION: Description = Description::new("Imports", "urn:imports", &[]).with_documents(
    &[
        Document::new("wsdl", "<w><import location='a.wsdl'/><x:import schemaLocation = \" x.xsd\"/><soap:address location='http://a/'/></w>", &[("a.wsdl", "wsdl=1"), ("x.xsd", "xsd=1")]),
        Document::new("wsdl=1", "<w><soap:address location='http://a/'/></w>", &[]),
        Document::new("xsd=1", "<s><include schemaLocation='./x.xsd'/><import schemaLocation='http://b/'/><e name='schemaLocation'/></s>", &[("./x.xsd", "xsd=1")]),
    ],
    "http://a/",
);

impl Service for Imports {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn call(&self, request: castile_soap::RequestMessage, _: &Options) -> Pending {
        Box::pin(std::future::ready(ReplyMessage::empty(request.version)))
    }
}

#[tokio::test]
async fn imports_of_a_contract_are_served_with_it() {
    let here = "<include schemaLocation='http://h/e?xsd=1'/>";
    for (query, expected) in [
        (
            "wsdl",
            "<w><import location='http://h/e?wsdl=1'/><x:import schemaLocation = \"http://h/e?xsd=1\"/><soap:address location='http://h/e'/></w>",
        ),
        ("WSDL=1", "<w><soap:address location='http://h/e'/></w>"),
        ("a=b&xsd=1", &*format!("<s>{here}<import schemaLocation='http://b/'/><e name='schemaLocation'/></s>")),
    ] {
        let hosts = vec!["h".to_owned()];
        let address = Address::Asked { scheme: Scheme::HTTP, hosts, trusted: Vec::new() };
        let response = ask(&Endpoint::new(Imports).address(address), get(&format!("/e?{query}"), &[])).await;
        assert_eq!(response.body(), expected);
    }
    // Without a known address, the imported documents have relative locations.
    let response = ask(&Endpoint::new(Imports), get("/e?wsdl=1", &[])).await;
    assert_eq!(response.body(), "<w><soap:address location='http://a/'/></w>");
    let response = ask(&Endpoint::new(Imports), get("/e?wsdl", &[])).await;
    assert!(response.body().starts_with("<w><import location='?wsdl=1'/>"), "{}", response.body());
    // A fixed address may have its own query.
    let fixed = Endpoint::new(Imports).address(Address::Fixed("https://p/e?a&b".to_owned()));
    let expected = "<w><soap:address location='https://p/e?a&amp;b'/></w>";
    assert_eq!(ask(&fixed, get("/?wsdl=1", &[])).await.body(), expected);
    assert!(
        ask(&fixed, get("/?xsd=1", &[])).await.body().starts_with("<s><include schemaLocation='https://p/e?xsd=1'/>")
    );
    assert_eq!(ask(&fixed, get("/?xsd=2", &[])).await.status(), 405);
}

/// RFC 9110 §15.5.6. Regression: the answer allowed only POST.
#[tokio::test]
async fn a_rejected_method_gets_the_allowed_methods() {
    for (target, allowed) in [("/e?wsdl", "GET, HEAD, POST"), ("/e", "POST")] {
        let response = ask(&echo(), Request::put(target).body(String::new()).unwrap()).await;
        assert_eq!(
            (response.status().as_u16(), &response.headers()["allow"]),
            (405, &HeaderValue::from_static(allowed))
        );
    }
}

/// Regression: any client could choose the address with a header.
#[tokio::test]
async fn addresses_forwarded_by_clients_are_ignored() {
    let endpoint = echo_with(|options| {
        options.address = Address::Asked {
            scheme: Scheme::HTTP,
            hosts: Vec::new(),
            trusted: vec![ProxyHeader::Forwarded, ProxyHeader::XForwardedHost],
        };
    });
    let server = Server::new().proxies(Proxies::x_forwarded_for(["192.0.2.1"]).unwrap());
    let host = Host::start(server, endpoint);
    for (peer, location) in [([192, 0, 2, 1], "https://a.example/e"), ([192, 0, 2, 9], "http://example.invalid/echo")] {
        let mut client = host.connect_from(peer);
        client.send("GET /e?wsdl HTTP/1.1\r\nhost: h\r\nforwarded: host=a.example;proto=https\r\n\r\n").await;
        assert_eq!(client.response().await.1, contract(location), "{peer:?}");
    }
}
