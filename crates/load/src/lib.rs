//! The load kit: drives a server with requests, checks every answer, and measures.
//!
//! The kit knows HTTP/1.1 but not SOAP. A [`Case`] holds the requests and judges the answers. A [`Plan`] says how
//! the case is driven: [`Pace`] decides when requests are due, and [`Stop`] when the run ends. A [`Run`] drives one
//! case and returns an [`Outcome`]; a [`Bench`] makes many runs and returns [`Results`](castile_report::Results).
//!
//! ```no_run
//! use std::{sync::Arc, time::Duration};
//! use castile_load::{Arrivals, Case, Endpoint, Expected, Message, Pace, Plan, Requests, Run, Stop};
//!
//! # async fn example() -> Result<(), castile_load::Error> {
//! let ping = Message {
//!     action: "ping".into(),
//!     content_type: "text/xml; charset=utf-8".into(),
//!     body: "<ping/>".into(),
//!     check: Arc::new(|body| match body {
//!         b"<pong/>" => Ok(0),
//!         _ => Err(format!("found {:?}, expected <pong/>", String::from_utf8_lossy(body))),
//!     }),
//! };
//! let case = Case {
//!     suite: "mine".into(),
//!     name: "ping".into(),
//!     style: None,
//!     path: "/ping".into(),
//!     requests: Requests::Raw(vec![ping]),
//! };
//! let endpoint = Endpoint::resolve("http://127.0.0.1:8080/ping")?;
//! let plan = Plan {
//!     pace: Pace::Arrivals(Arrivals::constant(500.0)),
//!     stop: Stop::after(Duration::from_secs(30)),
//!     connections: 25,
//!     ..Plan::default()
//! };
//! let outcome = Run::start(&case, &endpoint, &plan, &Expected::of(&case))?.finish().await?;
//! println!("{:.0} requests per second", outcome.requests_per_second());
//! # Ok(())
//! # }
//! ```

pub mod ab;
mod alarm;
mod arrivals;
mod background;
mod bench;
mod caller;
mod case;
mod clock;
mod connection;
mod cookies;
mod drive;
mod endpoint;
mod error;
mod exchange;
mod interrupt;
mod machine;
#[cfg(test)]
mod mutations;
mod network;
mod placement;
mod plan;
mod process;
mod progress;
mod recorder;
mod response;
mod run;
mod schedule;
mod script;
mod search;
mod secure;
mod server;
mod timeline;
mod typed;
mod usage;

pub use arrivals::{Arrivals, Spacing, Stage, WhenBusy};
pub use bench::{Against, Bench, Description, Driver, Load, Merging, Second, Share, Target, Warmup, with_warnings};
pub use caller::Caller;
pub use case::{Case, Check, Message, Requests};
pub use endpoint::{Along, Endpoint, Proxy};
pub use error::{Error, ErrorKind};
pub use exchange::Expected;
pub use interrupt::Interrupt;
pub use machine::this_machine;
pub use network::Network;
pub use placement::Placement;
pub use plan::{Division, End, Pace, Plan, Start, Stop, Think};
pub use process::Process;
pub use progress::Progress;
pub use recorder::Recorder;
pub use run::{Counter, Crew, First, Outcome, Run};
pub use script::{Begin, HttpResponse, NoRequest, Request, Script};
pub use search::{Axis, Goal, Search};
pub use secure::{Connecting, Secured, Stream, Tls};
pub use server::Server;
pub use timeline::{Timeline, Totals};
pub use typed::{Answer, BoxError, Call, Connect, TypedClient, User};
pub use usage::{allow_descriptors, own_usage};
