//! SOAP over HTTP (SOAP 1.1 §6, SOAP 1.2 Part 2 §7), with a server and a client.
//!
//! The [`server`] module turns a [`castile_soap::Service`] into an [`Endpoint`](server::Endpoint): a tower service that
//! mounts into axum, hyper or the [`Server`](server::Server) of this crate. The [`client`] module sends one message and
//! returns the reply, over any tower service that speaks HTTP. By default that is a [`Transport`](client::Transport).
//!
//! ```no_run
//! # fn endpoint() -> castile_http::server::Endpoint<dyn castile_soap::Service> { unimplemented!() }
//! use castile_http::server::{Routes, Server, shutdown_signal};
//!
//! # async fn run() -> std::io::Result<()> {
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! let routes = Routes::new().route("/orders", endpoint());
//! let shutdown = Server::new().serve(listener, routes, shutdown_signal()).await;
//! for cut_off in &shutdown.cut_off {
//!     eprintln!("not answered: {cut_off}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The crates below this one do no network I/O. This crate doesn't read XML: it carries bytes, within limits of size and time.

// Without both features, some shared helpers are unused.
#![cfg_attr(not(all(feature = "client", feature = "server")), allow(dead_code))]

mod auth;
mod body;
#[cfg(feature = "client")]
pub mod client;
mod error;
mod gzip;
mod headers;
#[cfg(test)]
mod mutations;
mod package;
mod percent;
#[cfg(feature = "server")]
pub mod server;
mod timeout;
#[cfg(feature = "tls")]
pub mod tls;
mod workers;

pub use body::Body;
pub use error::{Error, ErrorKind};
pub use workers::{DEFAULT_OFFLOAD_ABOVE, Workers};
