//! Typed faults, nillable values, and graceful shutdown of a server. The README shows this file.

use castile::http::server::{Routes, Server};
use castile::{CallError, Detail, Fault, Nillable, Request, Response};

mod stock {
    castile::include_contract!("stock");
}
use stock::*;

struct Shop;

impl Stock for Shop {
    async fn price(&self, request: Request<Price>) -> Result<Response<PriceResponse>, Fault<PriceFault>> {
        let Price { item } = request.into_inner();
        match item.as_str() {
            "tea" => Ok(PriceResponse { euros: Nillable::Value(4) }.into()),
            "air" => Ok(PriceResponse { euros: Nillable::Nil }.into()),
            _ => Err(Fault::sender("ask for another").with_detail(PriceFault::Unknown(Unknown { item }))),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let client = StockClient::new(&format!("http://{}/stock", listener.local_addr()?))?;
    let routes = Routes::new().route("/stock", StockServer::new(Shop));
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let server = tokio::spawn(Server::new().serve(listener, routes, async { stopped.await.unwrap_or_default() }));

    for item in ["tea", "air", "love"] {
        match client.price(&Price { item: item.into() }).await {
            Ok(PriceResponse { euros: Nillable::Value(euros) }) => println!("{item} is {euros} euros"),
            Ok(PriceResponse { euros: Nillable::Nil }) => println!("{item} has no price"),
            Err(CallError::Fault {
                fault: Fault { detail: Detail::Declared(PriceFault::Unknown(it)), reason, .. },
                ..
            }) => {
                println!("{} is not sold: {}", it.item, reason.as_str());
            }
            Err(error) => return Err(error.into()),
        }
    }

    // From here on no connection is taken, and what is at work gets an answer.
    let _ = stop.send(());
    let shutdown = server.await?;
    println!("all were answered: {}", shutdown.is_complete());
    for request in shutdown.cut_off {
        println!("not answered: {request}");
    }
    Ok(())
}
