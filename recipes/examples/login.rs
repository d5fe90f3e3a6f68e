//! Calls a service that requires a token and is sometimes busy, with cookies, redirects, retries and proxies.

use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use castile::ClientOptions;
use castile::http::client::{self, Credentials, Proxies, Redirects, Transport};
use castile_recipes::orders::{OrdersClient, OrdersServer};
use castile_recipes::{Caller, Shop, order};

/// A server whose first token has run out, and that is busy once.
async fn difficult(mut request: Request, next: Next) -> Response {
    static SEEN: AtomicU32 = AtomicU32::new(0);
    if request.headers().get(AUTHORIZATION).is_none_or(|value| value != "Bearer token-2") {
        return (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, "Bearer")]).into_response();
    }
    if SEEN.fetch_add(1, Ordering::Relaxed) == 0 {
        return (StatusCode::SERVICE_UNAVAILABLE, [(RETRY_AFTER, "0")]).into_response();
    }
    request.extensions_mut().insert(Caller("Ada".to_owned()));
    next.run(request).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let router = Router::new().route_service("/orders", OrdersServer::new(Shop)).route_layer(from_fn(difficult));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/orders", listener.local_addr()?);
    tokio::spawn(async { axum::serve(listener, router).await });

    let mut options = client::Options::default();
    // `Credentials::basic` and `Credentials::digest` take a name and a password. Tokens come from whoever issues them: before the
    // first request, and when the server refuses the last one.
    let issued = AtomicU32::new(0);
    options.credentials = Some(Credentials::bearer_from(move || {
        let number = issued.fetch_add(1, Ordering::Relaxed) + 1;
        async move {
            println!("token {number} is issued");
            Ok(format!("token-{number}"))
        }
    }));
    // Sessions that a server keeps with a cookie.
    options.cookies = true;
    // A message goes on to the same server alone; without this a redirect is an error.
    options.redirects = Redirects::SameOrigin;
    // A server that can't be reached is tried three times more. So is one that is busy, if the call may be repeated.
    options.retries.attempts = 3;
    // Those of the environment are the default. `Proxies::all("http://proxy.example:3128")?` names one.
    options.proxies = Proxies::from_environment().except("localhost");
    let transport = Transport::with_options(options);

    // Answers may come as gzip, and requests go so from 1 KiB on, for a server that takes it.
    let mut options = ClientOptions::default();
    options.accept_gzip = true;
    options.gzip_above = Some(1024);
    let client = OrdersClient::with_transport(&url, transport)?.with_options(options);
    println!("order {}", client.place(&order(2)).repeatable().await?.number);
    Ok(())
}
