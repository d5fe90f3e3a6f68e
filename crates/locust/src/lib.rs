//! A worker of a [Locust](https://locust.io) master: what goes between them, and when.
//!
//! A master tells its workers how many users each is to have, and they report what the users saw. [`Worker`] is a worker's side of the connection.
//! It gives what the master sends as [`Event`]s, and keeps itself alive: it connects again after a loss, offers itself to a master that was
//! restarted, and sends heartbeats. The program that drives the users answers with [`Worker::running`], [`Worker::report`] and
//! [`Worker::stopped`].
//!
//! The protocol is that of Locust 2.47: MessagePack over ZeroMQ. A master isn't trusted: the lengths of what it sends are limited, and so is
//! what waits to be sent to it. It isn't authenticated either, and can start and stop the load: connect only to one of your own, on a network
//! that you trust.

mod error;
mod frames;
mod link;
mod message;
mod plugin;
mod report;
mod worker;

pub use link::{Event, Users};
pub use plugin::PLUGIN;
pub use report::{Entry, Failure, Report};
pub use worker::Worker;
