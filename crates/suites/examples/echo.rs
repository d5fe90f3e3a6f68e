//! A service and its client, in one process. The README shows this file.

use castile::http::server::{Routes, Server, shutdown_signal};
use castile::{Fault, Request, Response};

mod codec {
    castile::include_contract!("codec");
}
use codec::*;

struct Echo;

impl Codec for Echo {
    async fn echo_structs(&self, request: Request<EchoStructs>) -> Result<Response<EchoStructsResponse>, Fault> {
        Ok(EchoStructsResponse { item: request.into_inner().item }.into())
    }

    async fn order(&self, request: Request<Order>) -> Result<Response<OrderResponse>, Fault> {
        if request.get_ref().line_item.is_empty() {
            Err(Fault::sender("an order has a line"))
        } else {
            Ok(OrderResponse {}.into())
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let client = CodecClient::new(&format!("http://{}/codec", listener.local_addr()?))?;
    let routes = Routes::new().route("/codec", CodecServer::new(Echo));
    tokio::spawn(Server::new().serve(listener, routes, shutdown_signal()));

    let item = vec![Item { i: 1, f: 0.5, s: "hello".into() }];
    println!("{:?}", client.echo_structs(&EchoStructs { item }).await?);
    println!("{}", client.order(&Order::default()).await.expect_err("it has no line"));
    Ok(())
}
