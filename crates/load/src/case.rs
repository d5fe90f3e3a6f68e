//! What is sent, and how its answers are judged.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::Endpoint;
use crate::script::Begin;
use crate::typed::Connect;

/// Judges the body of a response: decodes it and compares it with what was sent.
///
/// `Ok` is the number of items it holds where a suite counts them, and 0 elsewhere. `Err` says what is wrong, in words a
/// person can act on.
pub type Check = Arc<dyn Fn(&[u8]) -> Result<u64, String> + Send + Sync>;

/// One thing to measure: requests and the judges of their answers.
///
/// This is the seam between the load kit and those who have something to load; the kit knows no suite and no SOAP.
#[derive(Clone, Debug)]
pub struct Case {
    /// The suite the case belongs to, as `benchmark1`.
    pub suite: String,
    /// The name of the case within its suite, as `echoInts-100`.
    pub name: String,
    /// How its messages are written, where a suite compares that: `document`, `rpc-encoded`, `binary` …
    pub style: Option<String>,
    /// The path of the endpoint, with its leading slash.
    pub path: String,
    /// What is sent, and by whom.
    pub requests: Requests,
}

/// What a case sends. Each user sends the requests of the list in order, and begins it again when it is through.
#[derive(Clone)]
pub enum Requests {
    /// Written beforehand and sent by the driver's own HTTP connection, which costs the least.
    Raw(Vec<Message>),
    /// Made by a client of its own: every request is encoded, every answer decoded, over whatever it is that connects them.
    Typed {
        /// How many requests the list has, at least one.
        count: usize,
        /// Makes the client of one user.
        connect: Connect,
    },
    /// Written when they are due, by a script of each user, and sent by the driver's own HTTP connection. A [`Bench`](crate::Bench)
    /// has the first request of all sent alone, and ends if that is refused: nobody knows this service yet.
    Scripted {
        /// What there is to tell apart among the requests, as the operations of a mix; at least one.
        parts: Arc<[String]>,
        /// Which part each request of the list is of, at least one.
        list: Arc<[usize]>,
        /// Makes the script of one user.
        begin: Begin,
    },
}

/// One request that is written beforehand, and the judge of its answers.
#[derive(Clone)]
pub struct Message {
    /// The value of the `SOAPAction` header without its quotes (SOAP 1.1 §6.1.1).
    pub action: String,
    /// The value of the `Content-Type` header.
    pub content_type: String,
    /// The body of the request.
    pub body: Bytes,
    /// The judge of the answers.
    pub check: Check,
}

impl Case {
    /// How many requests its list has.
    pub fn count(&self) -> usize {
        match &self.requests {
            Requests::Raw(messages) => messages.len(),
            Requests::Typed { count, .. } => *count,
            Requests::Scripted { list, .. } => list.len(),
        }
    }

    /// Whether its messages are written when they are due, and answers judged by rules.
    pub(crate) fn is_scripted(&self) -> bool {
        matches!(self.requests, Requests::Scripted { .. })
    }

    /// Which part of a mix each request of its list is of; empty where there are not at least two parts.
    pub(crate) fn parts(&self) -> Arc<[usize]> {
        match &self.requests {
            Requests::Scripted { parts, list, .. } if parts.len() > 1 => list.clone(),
            _ => Arc::new([]),
        }
    }

    /// Whether it is the same case, by all its names and by who sends it.
    pub(crate) fn is_same(&self, other: &Case) -> bool {
        let names =
            |case: &Case| (case.suite.clone(), case.name.clone(), case.style.clone(), case.messages().is_empty());
        names(self) == names(other)
    }

    /// The messages of a raw case.
    pub fn messages(&self) -> &[Message] {
        match &self.requests {
            Requests::Raw(messages) => messages,
            Requests::Typed { .. } | Requests::Scripted { .. } => &[],
        }
    }
}

impl Message {
    /// The request as HTTP/1.1 puts it on the wire, head and body in one piece, so that it leaves with one write.
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
