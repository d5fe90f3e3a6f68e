//! Serves a page for people at the service's URL: operations, types, examples to send.

use castile::ServerOptions;
use castile::http::Body;
use castile::http::server::{Address, ProxyHeader, Routes};
use castile_recipes::Shop;
use castile_recipes::orders::OrdersServer;
use http_body_util::BodyExt;
use tower_service::Service;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Behind a proxy that sets these headers on every request, the page and the contract name what its client asked for.
    let mut options = ServerOptions::default();
    options.address = Address::Asked {
        scheme: http::uri::Scheme::HTTP,
        hosts: vec!["shop.example".into()],
        trusted: vec![ProxyHeader::XForwardedHost, ProxyHeader::XForwardedProto],
    };
    let mut routes = Routes::new().route("/orders", OrdersServer::with_options(Shop, options));

    // What a browser asks for, by way of the proxy.
    let request = http::Request::get("/orders")
        .header("x-forwarded-host", "shop.example")
        .header("x-forwarded-proto", "https")
        .body(Body::empty())?;
    let response = routes.call(request).await?;
    println!("{} {}", response.status(), response.headers()["content-type"].to_str()?);
    let page = response.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
    let page = String::from_utf8(page.to_vec())?;
    for text in ["place", "upload", "download", "https://shop.example/orders"] {
        println!("it has {text}: {}", page.contains(text));
    }
    Ok(())
}
