//! Mounts the service into axum, beside other routes and behind a middleware.

use axum::Router;
use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::get;
use castile::ClientOptions;
use castile_recipes::orders::{OrdersClient, OrdersServer, QuotaHeader};
use castile_recipes::{Caller, Shop, order};

/// Reads who calls from the header `Authorization` of HTTP. It refuses nobody: a request without one has no caller.
async fn identify(mut request: Request, next: Next) -> Response {
    if request.headers().get(AUTHORIZATION).is_some_and(|value| value == "Bearer open-sesame") {
        request.extensions_mut().insert(Caller("Ada".to_owned()));
    }
    next.run(request).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let router = Router::new()
        .route("/health", get(async || "fine"))
        .route_service("/orders", OrdersServer::new(Shop))
        .layer(from_fn(identify));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/orders", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, router).await });

    let mut options = ClientOptions::default();
    options.http_headers.insert(AUTHORIZATION, "Bearer open-sesame".parse()?);
    let client = OrdersClient::new(&url)?.with_options(options);
    let response = client.place(&order(2)).send().await?;
    println!("order {}", response.get_ref().number);
    println!("{:?}", response.header::<QuotaHeader>()?);
    Ok(())
}
