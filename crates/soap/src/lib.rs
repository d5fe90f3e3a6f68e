//! SOAP messages: values ↔ envelopes, without I/O (SOAP 1.1, SOAP 1.2).
//!
//! A server is a [`Dispatch`]: it tells which [`Operation`]s it has and hands each [`Payload`] to a handler. Every
//! `Dispatch` is a [`Service`], which turns a [`Request`] into a [`Reply`]; `castile-http` carries those. A client
//! writes a request with [`client::request`] and reads the answer with [`client::response`].
//!
//! What all operations have in common is a [`Layer`] around a service: it sees the request before and the reply after, as
//! messages, and may answer itself.

pub mod addressing;
mod blocks;
mod charge;
pub mod client;
mod context;
mod description;
mod dispatch;
mod envelope;
mod error;
mod fault;
mod header;
pub mod message;
mod offload;
mod options;
mod package;
mod payload;
mod raw;
mod reply;
mod service;
mod version;

pub use blocks::{AnyHeader, Header};
pub use context::Context;
pub use description::{Actions, Description, Document, Operation, Root, SizeHint};
pub use dispatch::{Dispatch, Payload};
pub use envelope::{Envelope, HeaderBlock};
pub use error::{Error, ErrorKind};
pub use fault::{Detail, Fault, FaultCode, FaultDetail, NoDetail, Reason, ReasonText};
pub use offload::{Offload, Offloading, Turn, Work};
pub use options::{Leniency, Options};
pub use package::{DEFAULT_THRESHOLD, IntoParts, Mtom, Received, TakeAttachments, Written};
pub use payload::{FromPayload, ToPayload};
pub use raw::{Raw, Tokens};
pub use service::{Pending, Reply, Request, Service};
pub use tower_layer::{Layer, layer_fn};
pub use version::Version;
