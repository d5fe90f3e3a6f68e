//! A worker of a [Locust](https://locust.io) master: what goes between them, and when.
//!
//! A master tells its workers how many users each is to have, and they report what the users saw. [`Master`] is the connection to one. It says
//! what the master wants as [`Event`]s, and keeps itself alive: it connects again after a loss, greets a master that was restarted, and sends
//! heartbeats. Who drives the users answers with [`Master::running`], [`Master::report`] and [`Master::stopped`].
//!
//! The protocol is that of Locust 2.47: MessagePack over ZeroMQ. A master isn't trusted: the lengths of what it sends are limited, and so is
//! what waits to be sent to it. It isn't authenticated either, and can start and stop the load: connect only to one of your own, on a network
//! that you trust.

mod error;
mod frames;
mod link;
mod master;
mod message;
mod plugin;
mod report;

pub use error::Violation;
pub use link::{Event, Users};
pub use master::Master;
pub use plugin::PLUGIN;
pub use report::{Entry, Failure, Report};
