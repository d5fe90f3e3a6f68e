//! Castile as a server and a client in the test matrix of `tests/interop`.
//!
//! ```text
//! castile-interop serve          prints `listening on http://ADDRESS` and serves until it is killed
//! castile-interop call PLAN      calls what PLAN lists and prints a line of JSON for each case
//! ```
//!
//! `tests/interop/README.md` defines the formats of a plan and of the lines.

mod operations;
mod packages;
mod plan;
mod styles;

use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, bail};
use castile::http::server::{Routes, Server};
use tokio::net::TcpListener;

use crate::packages::{mtom, swa};
use crate::plan::Plan;
use crate::styles::{addressing, bare, encoded, rpc, wrapped};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve"] => serve().await,
        ["call", plan] => call(&Plan::read(plan)?).await,
        _ => bail!("usage: castile-interop serve | call PLAN"),
    }
}

async fn serve() -> anyhow::Result<()> {
    let routes = Routes::new()
        .route("/wrapped", wrapped::contract::EchoServer::new(Service::default()))
        .route("/bare", bare::contract::EchoServer::new(Service::default()))
        .route("/rpc", rpc::contract::EchoServer::new(Service::default()))
        .route("/encoded", encoded::contract::EchoServer::new(Service::default()))
        .route("/mtom", mtom::contract::EchoServer::new(Service::default()))
        .route("/swa", swa::contract::EchoServer::new(Service::default()))
        .route("/addressing", addressing::contract::EchoServer::new(Service::default()));
    let listener = TcpListener::bind("127.0.0.1:0").await.context("can't listen on 127.0.0.1")?;
    println!("listening on http://{}", listener.local_addr()?);
    let _ = Server::new().serve(listener, routes, std::future::pending()).await;
    Ok(())
}

async fn call(plan: &Plan) -> anyhow::Result<()> {
    for job in &plan.jobs {
        match job.contract.as_str() {
            "wrapped" => wrapped::call(job).await?,
            "bare" => bare::call(job).await?,
            "rpc" => rpc::call(job).await?,
            "encoded" => encoded::call(job).await?,
            "mtom" => mtom::call(job).await?,
            "swa" => swa::call(job).await?,
            "addressing" => addressing::call(job).await?,
            other => bail!("there is no contract {other}"),
        }
    }
    Ok(())
}

/// Implements the operations of every style, and stores the last notice.
#[derive(Default)]
struct Service {
    notice: Mutex<String>,
}

impl Service {
    fn notice(&self) -> MutexGuard<'_, String> {
        self.notice.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
