//! Requests, and how their answers are judged.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::Endpoint;
use crate::script::Begin;
use crate::typed::Connect;

/// Judges the body of a response: decodes it and compares it with the request.
///
/// `Ok` is the number of items in the answer if the suite counts them, and 0 otherwise. `Err` says what is wrong, in words that a
/// person can act on.
pub type Check = Arc<dyn Fn(&[u8]) -> Result<u64, String> + Send + Sync>;

/// One thing to measure: requests and the judges of their answers.
///
/// A case is all that the load kit knows of a service; the kit knows no suite and no SOAP.
#[derive(Clone, Debug)]
pub struct Case {
    /// The suite that the case belongs to, such as `benchmark1`.
    pub suite: String,
    /// The name of the case within its suite, such as `echoInts-100`.
    pub name: String,
    /// The style of its messages, if the suite compares styles: `document`, `rpc-encoded`, `binary` …
    pub style: Option<String>,
    /// The path of the endpoint, with a leading slash.
    pub path: String,
    /// The requests, and which client sends them.
    pub requests: Requests,
}

/// The requests of a case. Each user sends the requests of the list in order and then starts again.
#[derive(Clone)]
pub enum Requests {
    /// Written beforehand and sent over the driver's own HTTP connection. This costs the driver the least.
    Raw(Vec<Message>),
    /// Made by a separate client, which encodes every request, decodes every answer, and brings its own transport.
    Typed {
        /// The number of requests in the list, at least one.
        count: usize,
        /// Makes the client of one user.
        connect: Connect,
    },
    /// Written when they are due, by a script for each user, and sent over the driver's own HTTP connection. A
    /// [`Bench`](crate::Bench) sends the very first request alone and ends if it is refused, because the service is untested.
    Scripted {
        /// The parts that are reported separately, such as the operations of a mix; at least one.
        parts: Arc<[String]>,
        /// The part that each request of the list belongs to; at least one entry.
        list: Arc<[usize]>,
        /// Makes the script of one user.
        begin: Begin,
    },
}

/// One request, written beforehand, and the judge of its answers.
#[derive(Clone)]
pub struct Message {
    /// The value of the `SOAPAction` header without its quotes (SOAP 1.1 §6.1.1).
    pub action: String,
    /// The value of the `Content-Type` header.
    pub content_type: String,
    /// The body of the request.
    pub body: Bytes,
    /// Judges the answers.
    pub check: Check,
}

impl Case {
    /// Returns the number of requests in the list.
    pub fn count(&self) -> usize {
        match &self.requests {
            Requests::Raw(messages) => messages.len(),
            Requests::Typed { count, .. } => *count,
            Requests::Scripted { list, .. } => list.len(),
        }
    }

    /// Returns whether the requests are written when they are due.
    pub(crate) fn is_scripted(&self) -> bool {
        matches!(self.requests, Requests::Scripted { .. })
    }

    /// Returns the part of a mix that each request of the list belongs to. Empty if there are fewer than two parts.
    pub(crate) fn parts(&self) -> Arc<[usize]> {
        match &self.requests {
            Requests::Scripted { parts, list, .. } if parts.len() > 1 => list.clone(),
            _ => Arc::new([]),
        }
    }

    /// Returns whether this is the same case, by its names and by whether its requests are raw.
    pub(crate) fn is_same(&self, other: &Case) -> bool {
        let names =
            |case: &Case| (case.suite.clone(), case.name.clone(), case.style.clone(), case.messages().is_empty());
        names(self) == names(other)
    }

    /// Returns the messages of a raw case.
    pub fn messages(&self) -> &[Message] {
        match &self.requests {
            Requests::Raw(messages) => messages,
            Requests::Typed { .. } | Requests::Scripted { .. } => &[],
        }
    }
}

impl Message {
    /// Returns the HTTP/1.1 request, head and body in one buffer, so that it is sent with one write.
    pub(crate) fn request(&self, endpoint: &Endpoint, keep_alive: bool) -> Bytes {
        let connection = if keep_alive { "" } else { "Connection: close\r\n" };
        let mut bytes = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\nSOAPAction: \"{}\"\r\n{}Content-Length: {}\r\n{}\r\n",
            endpoint.request_target(),
            endpoint.authority,
            self.content_type,
            self.action,
            endpoint.header_lines(),
            self.body.len(),
            connection,
        )
        .into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes.into()
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Requests::Raw(messages) => f.debug_tuple("Raw").field(messages).finish(),
            Requests::Typed { count, .. } => f.debug_struct("Typed").field("count", count).finish_non_exhaustive(),
            Requests::Scripted { parts, list, .. } => {
                f.debug_struct("Scripted").field("parts", parts).field("list", list).finish_non_exhaustive()
            }
        }
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message")
            .field("action", &self.action)
            .field("request_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
