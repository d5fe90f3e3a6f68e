//! Calls a server that violates its contract.

use axum::Router;
use axum::http::HeaderMap;
use axum::routing::post;
use castile::soap::Version;
use castile::{ClientOptions, Leniency};
use castile_recipes::order;
use castile_recipes::orders::OrdersClient;

/// Stands for the server. It wants another action, speaks SOAP 1.2, and its answer has an element too many.
async fn broken(headers: HeaderMap) -> ([(&'static str, &'static str); 1], &'static str) {
    let content_type = headers.get("content-type").map(|value| value.to_str().unwrap_or_default());
    assert_eq!(content_type, Some("application/soap+xml; charset=utf-8; action=\"place\""));
    let answer = r#"<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body>
        <placeResponse xmlns="urn:example:orders" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
            <clerk>Bob</clerk><number>7</number><ready xsi:nil="true"/>
        </placeResponse></s:Body></s:Envelope>"#;
    ([("content-type", "application/soap+xml; charset=utf-8")], answer)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Router::new().route("/orders", post(broken));
    let strict = OrdersClient::with_transport("http://localhost/orders", server)?;

    let mut options = ClientOptions::default();
    options.version = Some(Version::Soap12);
    let strict = strict.with_options(options.clone());
    println!("{}", strict.place(&order(2)).soap_action("place").await.expect_err("an element too many"));

    options.messages.leniency = Some(Leniency::new(|operation, deviations| {
        for deviation in deviations {
            println!("tolerated in {}: {deviation}", operation.name);
        }
    }));
    let lenient = strict.with_options(options);
    println!("order {}", lenient.place(&order(2)).soap_action("place").await?.number);
    Ok(())
}
