//! Serves only clients that have a password or a token.

use castile::ServerOptions;
use castile::http::client::{self, Credentials, Transport};
use castile::http::server::{Authentication, Routes, Server};
use castile_recipes::orders::{OrdersClient, OrdersServer};
use castile_recipes::{Caller, Shop, order};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A check gives who somebody is, and the methods of the service find that in the extensions of their request. It may ask a
    // database. `Authentication::basic` is checked with a password, which goes in clear: for servers behind TLS.
    let digest = Authentication::digest("orders", |user: String| async move {
        (user == "ada").then(|| ("correct horse".to_owned(), Caller("Ada".to_owned())))
    });
    let bearer = Authentication::bearer("orders", |token: String| async move {
        (token == "open-sesame").then(|| Caller("Ada".to_owned()))
    });
    let mut options = ServerOptions::default();
    options.authentication = Some(digest.or(bearer));

    let routes = Routes::new().route("/orders", OrdersServer::with_options(Shop, options));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/orders", listener.local_addr()?);
    tokio::spawn(Server::new().serve(listener, routes, std::future::pending()));

    for credentials in [
        Some(Credentials::digest("ada", "correct horse")),
        Some(Credentials::bearer("open-sesame")?),
        Some(Credentials::digest("ada", "wrong horse")),
        None,
    ] {
        let mut options = client::Options::default();
        options.credentials = credentials;
        let client = OrdersClient::with_transport(&url, Transport::with_options(options))?;
        match client.place(&order(2)).await {
            Ok(placed) => println!("order {}", placed.number),
            Err(error) => println!("{}", error.to_string().replace(&url, "http://…")),
        }
    }
    Ok(())
}
