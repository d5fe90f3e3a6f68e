//! Stores the generated code in the repository. `quotes.rs` was made by
//!
//! ```console
//! $ castile gen examples/kept/quotes.wsdl -o examples/kept
//! ```

use castile::datatypes::Decimal;
use castile::{Fault, Request, Response};

// Its lines are those of the generator.
#[rustfmt::skip]
mod quotes;
use quotes::*;

struct Exchange;

impl Quotes for Exchange {
    async fn quote(&self, request: Request<String>) -> Result<Response<Decimal>, Fault> {
        match request.get_ref().as_str() {
            "TEA" => Ok(Decimal::from(4).into()),
            other => Err(Fault::sender(format!("{other} is not traded"))),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = QuotesClient::with_transport("http://localhost/quotes", QuotesServer::new(Exchange))?;
    println!("{}", client.quote(&"TEA".into()).await?);
    println!("{}", client.quote(&"AIR".into()).await.expect_err("nobody sells it"));
    Ok(())
}
