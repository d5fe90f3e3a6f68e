//! Sends and reads header blocks: those that the contract declares, and others.

use castile::{Any, AnyHeader, ClientOptions};
use castile_recipes::orders::{OrdersClient, OrdersServer, QuotaHeader, Session};
use castile_recipes::{Shop, order};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let trace = AnyHeader::from(Any::parse("<id xmlns='urn:example:trace'>4711</id>")?);
    // This block goes with each request.
    let options = ClientOptions::default().with_header(trace);
    let client =
        OrdersClient::with_transport("http://localhost/orders", OrdersServer::new(Shop))?.with_options(options);

    // This one goes with one request. The contract declares it, so it has a type.
    let session = Session { user: "Ada".into(), language: None };
    let response = client.place(&order(2)).header(&session).send().await?;

    // The type says which block is wanted. `None`: the response has no such block.
    if let Some(QuotaHeader(left)) = response.header()? {
        println!("{left} more orders today");
    }
    for header in response.headers()? {
        println!("{}", header.block.xml());
    }
    Ok(())
}
