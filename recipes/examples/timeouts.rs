//! Sets time limits for calls, on both sides.

use std::time::Duration;

use castile::http::ErrorKind;
use castile::http::client::{self, Transport};
use castile::http::server::{Routes, Server};
use castile::{CallError, ClientOptions, ServerOptions};
use castile_recipes::orders::{OrdersClient, OrdersServer};
use castile_recipes::{Shop, order};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The server gives up a request whose message takes longer to arrive, or whose method takes longer to answer.
    let mut options = ServerOptions::default();
    options.body_read_timeout = Duration::from_secs(10);
    options.request_timeout = Duration::from_secs(20);
    let routes = Routes::new().route("/orders", OrdersServer::with_options(Shop, options));
    let server = Server::new().header_read_timeout(Duration::from_secs(5)).shutdown_grace(Duration::from_secs(30));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/orders", listener.local_addr()?);
    tokio::spawn(server.serve(listener, routes, std::future::pending()));

    // The client gives up a connection, then a call.
    let mut options = client::Options::default();
    options.connect_timeout = Duration::from_secs(1);
    let transport = Transport::with_options(options);
    let mut options = ClientOptions::default();
    options.timeout = Some(Duration::from_secs(10));
    let client = OrdersClient::with_transport(&url, transport)?.with_options(options.clone());
    println!("order {}", client.place(&order(2)).await?.number);

    // This server takes connections and never answers. The limit of a call takes the place of the client's.
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", silent.local_addr()?);
    let client = OrdersClient::new(&url)?.with_options(options);
    match client.place(&order(2)).timeout(Duration::from_millis(100)).await {
        Err(CallError::Transport(error)) if error.kind() == ErrorKind::Timeout => {
            println!("{}", error.to_string().replace(&url, "http://…"));
        }
        other => println!("unexpected: {other:?}"),
    }
    Ok(())
}
