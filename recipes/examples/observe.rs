//! Observes a server: metrics for Prometheus, an access log, and logged messages without secrets.

use castile::http::server::{AccessLog, Exchange, Metrics, Routes, Server};
use castile::soap::{MessageLog, Redaction, Step};
use castile_recipes::orders::{OrdersClient, OrdersServer};
use castile_recipes::{Shop, order};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // What is logged of messages: nobody's name, and neither passwords nor tokens, which are left out by default.
    let redaction = Redaction::new().element("urn:example:orders", "customer");
    let messages = MessageLog::new(redaction, |direction, message| {
        let body = message.split_once("Body>").map_or(message, |(_, body)| body);
        println!("{direction:?}: {}…", body.chars().take(100).collect::<String>());
    });

    let metrics = Metrics::new();
    let routes = Routes::new()
        .route("/orders", OrdersServer::new(Shop).layer(messages))
        .route_service("/metrics", metrics.clone())
        .health("/health");
    let server = Server::new()
        .observer(metrics.clone())
        // A line for each exchange. `AccessLog::json` has more in it.
        .observer(AccessLog::text(std::io::stderr())?)
        // Whatever else is to be done with it.
        .observer(|exchange: &Exchange<'_>| {
            let operation = exchange.operation().map_or("none", |operation| operation.name);
            let is_handled = exchange.duration(Step::Handle).is_some();
            println!("{operation}: {:?}, handled: {is_handled}", exchange.outcome());
        });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.serve(listener, routes, async { stopped.await.unwrap_or_default() }));

    let client = OrdersClient::new(&format!("{url}/orders"))?;
    client.place(&order(2)).await?;
    client.place(&order(200)).await.expect_err("so much tea is not there");
    let elsewhere = OrdersClient::new(&format!("{url}/nowhere"))?;
    elsewhere.place(&order(2)).await.expect_err("there is no service");
    drop((client, elsewhere));
    let _ = stop.send(());
    println!("all were answered: {}", running.await?.is_complete());

    let text = metrics.encode();
    let mut counted: Vec<_> = text.lines().filter(|line| line.starts_with("castile_requests_total")).collect();
    counted.sort_unstable();
    counted.iter().for_each(|line| println!("{line}"));
    Ok(())
}
