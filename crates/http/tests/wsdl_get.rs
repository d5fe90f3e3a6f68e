//! GET with `?wsdl` gives the contract, with the address that was asked.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod support;

use castile_http::server::Address;
use http::Request;
use http::uri::Scheme;
use support::{ask, echo, echo_with};

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

#[tokio::test]
async fn the_address_is_the_one_that_was_asked() {
    for query in ["wsdl", "WSDL", "Wsdl=", "a=b&wsdl"] {
        let request = get(&format!("/some/path?{query}"), &[("host", "example.org:8080")]);
        let response = ask(&echo(), request).await;
        assert_eq!(response.headers()["content-type"], "text/xml; charset=utf-8");
        assert_eq!(response.body(), &contract("http://example.org:8080/some/path"));
    }
}

#[tokio::test]
async fn a_host_that_is_no_authority_changes_nothing() {
    for headers in [&[][..], &[("host", "a\"/><x>")], &[("host", "")]] {
        let response = ask(&echo(), get("/e?wsdl", headers)).await;
        assert_eq!(response.body(), &contract("http://example.invalid/echo"));
    }
}

#[tokio::test]
async fn what_xml_would_misread_is_escaped() {
    let response = ask(&echo(), get("/a&b'c?wsdl", &[("host", "h")])).await;
    assert_eq!(response.body(), &contract("http://h/a&amp;b&apos;c"));
}

#[tokio::test]
async fn a_forwarded_scheme_counts_only_where_it_is_trusted() {
    let headers = [("host", "h"), ("x-forwarded-proto", "https")];
    for (trust_forwarded_proto, expected) in [(false, "http://h/e"), (true, "https://h/e")] {
        let endpoint =
            echo_with(|options| options.address = Address::Asked { scheme: Scheme::HTTP, trust_forwarded_proto });
        assert_eq!(ask(&endpoint, get("/e?wsdl", &headers)).await.body(), &contract(expected));
    }
}

#[tokio::test]
async fn a_fixed_address_stands() {
    let endpoint = echo_with(|options| options.address = Address::Fixed("https://public/echo".into()));
    let response = ask(&endpoint, get("/inner?wsdl", &[("host", "h")])).await;
    assert_eq!(response.body(), &contract("https://public/echo"));
}
