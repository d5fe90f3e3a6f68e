//! SOAP messages: values ↔ envelopes, without I/O (SOAP 1.1).

mod service;
mod version;

pub use service::{Description, Operation, Reply, Service};
pub use version::Version;
