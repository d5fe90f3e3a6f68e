//! Compiles the parts of programs that README.md shows.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::error::Error;
use std::io::stdout;

use castile::http::client::{self, Credentials, Roots, Transport};
use castile::http::server::{AccessLog, Metrics, Routes, Server, shutdown_signal};
use castile::http::tls::Pem;
use castile_recipes::Shop;
use castile_recipes::orders::{OrdersClient, OrdersServer};
use tokio::net::TcpListener;

#[rustfmt::skip]
fn a_login(password: String) -> Result<OrdersClient, Box<dyn Error>> {
    let mut tls = client::TlsOptions::default();
    tls.roots = Roots::PlatformAnd(vec![Pem::file("authority.pem")]);
    let mut options = client::Options::default();
    options.tls = client::Tls::with_options(tls)?;
    options.credentials = Some(Credentials::basic("ada", &password));
    let client = OrdersClient::with_transport("https://orders.example.org/", Transport::with_options(options))?;
    Ok(client)
}

#[rustfmt::skip]
async fn observers(listener: TcpListener) -> Result<(), Box<dyn Error>> {
    let metrics = Metrics::new();
    let routes = Routes::new().route("/orders", OrdersServer::new(Shop)).route_service("/metrics", metrics.clone());
    let server = Server::new().observer(metrics).observer(AccessLog::json(stdout())?);
    let shutdown = server.serve(listener, routes, shutdown_signal()).await;
    drop(shutdown);
    Ok(())
}

#[rustfmt::skip]
fn a_build_script() {
    let mut options = castile_codegen::Options::default();
    options.operations = vec!["GetDeviceInformation".into()];
    options.catalogs = vec!["contracts/catalog.tsv".into()];        // lines of URL, tab, path; or an OASIS XML catalog
    castile_codegen::compile_with("contracts/devicemgmt.wsdl", &options);
}

mod code_first {
    #![allow(dead_code, reason = "nobody serves it")]

    use castile::datatypes::{Date, Decimal};
    use castile::{Xml, service};

    #[derive(Clone, Debug, Xml)]
    #[xml(namespace = "urn:example:rooms")]
    struct Room {
        #[xml(attribute)]
        number: u16,
        price: Decimal,
    }

    #[service(namespace = "urn:example:rooms")]
    trait Rooms {
        /// The rooms that are free on a day.
        async fn free(&self, day: Date) -> Vec<Room>;
    }
}

#[test]
fn examples_of_the_readme_compile() {
    // These functions are only compiled: the authority, the port and the contract don't exist here.
    let _ = (a_login, observers, a_build_script);
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md")).unwrap();
    let own: Vec<&str> =
        include_str!("readme.rs").lines().map(|line| line.strip_prefix("    ").unwrap_or(line)).collect();
    let own = own.join("\n");
    let blocks = readme.split("```rust,ignore\n").skip(1).filter_map(|text| text.split_once("\n```"));
    let parts = blocks.map(|(block, _)| block).filter(|block| !block.contains("fn main"));
    // The layers of crates/suites/examples/layers.rs are not here.
    let parts: Vec<_> = parts.filter(|block| !block.contains("ApiKeys")).collect();
    assert_eq!(parts.len(), 4, "README.md has another number of parts of programs: compile each here");
    for part in parts {
        assert!(own.contains(part), "README.md shows this, and nothing here is like it:\n{part}");
    }
}
