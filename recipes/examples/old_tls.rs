//! Calls a server that supports only the TLS of ten years ago.

use castile::http::client::{Legacy, LegacyVersion, Options, Roots, Tls, TlsOptions, Transport};
use castile::http::server::{self, Server};
use castile::http::tls::{Identity, Pem};
use castile_recipes::orders::{OrdersClient, OrdersServer};
use castile_recipes::{Shop, certificates, order};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Stands for the server of others.
    let folder = std::env::temp_dir().join(format!("castile-recipe-{}", std::process::id()));
    certificates::write(&folder)?;
    let pem = |name: &str| Pem::file(folder.join(name));
    let options = server::TlsOptions::new(Identity::new(pem("server.pem"), pem("server.key")));
    let tls = server::Tls::with_options(options)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("https://localhost:{}/orders", listener.local_addr()?.port());
    let listener = tls.listen(listener);
    tokio::spawn(Server::new().serve(listener, OrdersServer::new(Shop), std::future::pending()));

    // OpenSSL speaks to this server alone: what is weak is said where it is used, and no other transport has it.
    let mut legacy = Legacy::default();
    legacy.min_version = LegacyVersion::Tls10;
    legacy.ciphers = "DEFAULT:@SECLEVEL=0".to_owned();
    let mut tls = TlsOptions::default();
    tls.roots = Roots::Only(vec![pem("authority.pem")]);
    tls.legacy = Some(legacy);
    let mut options = Options::default();
    options.tls = Tls::with_options(tls)?;
    let client = OrdersClient::with_transport(&url, Transport::with_options(options))?;
    println!("order {}", client.place(&order(2)).await?.number);
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
