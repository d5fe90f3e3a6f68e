//! Calls a service whose WSDL is incorrect.

use axum::Router;
use axum::routing::post;
use castile::Raw;
use castile::datatypes::Decimal;

mod rates {
    castile::include_contract!("rates");
}
use rates::*;

/// Stands for the service.
async fn answer(request: String) -> ([(&'static str, &'static str); 1], String) {
    let body = match request.contains("<history") {
        // The contract says `<day>2026-11-24</day>`.
        true => {
            "<historyResponse xmlns='urn:example:rates'><days><d>24.11.2026</d><d>25.11.2026</d></days></historyResponse>"
        }
        // It says `1.25`.
        false => "<rateResponse xmlns='urn:example:rates'><rate>1,25</rate></rateResponse>",
    };
    let envelope = "http://schemas.xmlsoap.org/soap/envelope/";
    let answer = format!("<s:Envelope xmlns:s='{envelope}'><s:Body>{body}</s:Body></s:Envelope>");
    ([("content-type", "text/xml")], answer)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The contract names http://build-7.internal/rates.
    let service = Router::new().route("/rates", post(answer));
    let client = RatesClient::with_transport("http://rates.example.com/rates", service)?;

    // A small mistake is mended in the copy of the contract that is compiled: `rate` is a string there.
    let response = client.rate(&Rate { currency: "CHF".into() }).await?;
    let rate: Decimal = response.rate.replace(',', ".").parse()?;
    println!("{rate}");

    // An operation that is all wrong is XML: `options.raw` in build.rs.
    let request = Raw::new("<history xmlns='urn:example:rates'><currency>CHF</currency></history>");
    let response = client.history(&request).await?;
    println!("{}", response.to_any()?.xml());
    Ok(())
}
