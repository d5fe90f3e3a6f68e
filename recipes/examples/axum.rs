//! Mounts the service in axum, with other routes and a middleware.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use castile::ClientOptions;
use castile_recipes::orders::{OrdersClient, OrdersServer, QuotaHeader};
use castile_recipes::{Caller, Shop, order};

/// Refuses requests without a known token in the header `Authorization` of HTTP.
async fn authenticate(mut request: Request, next: Next) -> Response {
    if request.headers().get(AUTHORIZATION).is_none_or(|value| value != "Bearer open-sesame") {
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]).into_response();
    }
    // The methods of the service find this in the extensions of their request.
    request.extensions_mut().insert(Caller("Ada".to_owned()));
    next.run(request).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let router = Router::new()
        .route_service("/orders", OrdersServer::new(Shop))
        .route_layer(from_fn(authenticate))
        // Routes that are added behind the middleware need no token.
        .route("/health", get(async || "fine"));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/orders", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, router).await });

    let mut options = ClientOptions::default();
    options.http_headers.insert(AUTHORIZATION, "Bearer open-sesame".parse()?);
    let client = OrdersClient::new(&url)?;
    let with_token = client.clone().with_options(options);

    let response = with_token.place(&order(2)).send().await?;
    println!("order {}", response.get_ref().number);
    println!("{:?}", response.header::<QuotaHeader>()?);
    let error = client.place(&order(2)).await.expect_err("it has no token");
    println!("{}", error.to_string().replace(&url, "http://…"));
    println!("{:?}", error.http_headers().and_then(|headers| headers.get(WWW_AUTHENTICATE)));
    Ok(())
}
