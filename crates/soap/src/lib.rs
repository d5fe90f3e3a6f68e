//! SOAP messages: values ↔ envelopes, without I/O (SOAP 1.1, SOAP 1.2).
//!
//! A server implements [`Dispatch`]: it lists its [`Operation`]s and passes each [`Payload`] to a handler. Every `Dispatch` is a
//! [`Service`], which turns a [`RequestMessage`] into a [`ReplyMessage`]. `castile-http` transports these messages. A client writes
//! a request with [`client::request`] and reads the answer with [`client::response`]. The methods of a service take a [`Request`]
//! and return a [`Response`].
//!
//! Put authentication, logging and metrics in a [`Layer`] around a service. A layer sees the request message before the service and
//! the reply message after it, and can answer a request itself.

pub mod addressing;
mod blocks;
mod charge;
pub mod client;
mod description;
mod envelope;
mod error;
mod fault;
mod fault_code;
mod from_fn;
mod guarded;
mod handling;
mod header;
mod http_headers;
mod included;
pub mod message;
mod method;
mod offload;
mod operation;
mod options;
mod package;
mod payload;
mod raw;
mod reader;
mod redaction;
mod refusal;
mod reply;
mod reply_message;
mod request;
mod request_message;
mod response;
mod security;
mod service;
mod shared;
mod streamed;
mod trace;
mod version;
mod writer;

pub use blocks::{AnyHeader, Directed, Header, Headers, WriteHeader};
pub use description::{Actions, Description, Document, Operation, Page, Root, SizeHint};
pub use envelope::{Envelope, HeaderBlock, MAX_HEADER_BLOCKS, MAX_HEADER_SIZE};
pub use error::{Error, ErrorKind};
pub use fault::{Detail, Fault, FaultCode, FaultDetail, NoDetail, Reason, ReasonText};
pub use from_fn::{FromFn, Next, from_fn};
#[doc(hidden)]
pub use method::Method;
pub use offload::{Offload, Offloading, Turn, Work};
pub use options::{DEFAULT_THRESHOLD, Leniency, Mtom, Options};
pub use package::Received;
pub use payload::{FromPayload, ToPayload};
pub use raw::{Raw, Tokens};
pub use redaction::{Direction, MessageLog, Redaction};
pub use reply_message::{Pending, ReplyMessage};
pub use request::Request;
pub use request_message::RequestMessage;
pub use response::Response;
pub use security::{MessageSecurity, SecuredRequest};
pub use service::{Dispatch, Payload, Service};
#[doc(hidden)]
pub use shared::{Handles, Shared};
pub use tower_layer::{Layer, layer_fn};
pub use trace::{Step, Trace, TraceData};
pub use version::Version;
#[doc(hidden)]
pub use writer::CanonicalContent;
pub use writer::Written;
