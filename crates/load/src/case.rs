//! What is sent, and how its answer is judged.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::Endpoint;

/// Judges the body of a response: decodes it and compares it with what was sent.
/// The `Err` says what is wrong, in words a person can act on.
pub type Check = Arc<dyn Fn(&[u8]) -> Result<(), String> + Send + Sync>;

/// One thing to measure: a request and the judge of its answers.
///
/// This is the seam between the load kit and those who have something to load; the kit knows no suite and no SOAP.
#[derive(Clone)]
pub struct Case {
    /// The suite the case belongs to, as `benchmark1`.
    pub suite: String,
    /// The name of the case within its suite, as `echoInts-100`.
    pub name: String,
    /// The path of the endpoint, with its leading slash.
    pub path: String,
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
    /// The same case at the path of another endpoint.
    pub(crate) fn at(&self, endpoint: &Endpoint) -> Self {
        Case { path: endpoint.path.clone(), ..self.clone() }
    }

    /// The request as HTTP/1.1 puts it on the wire, head and body in one piece, so that it leaves with one write.
    pub(crate) fn request(&self, authority: &str, keep_alive: bool) -> Bytes {
        let connection = if keep_alive { "" } else { "Connection: close\r\n" };
        let mut bytes = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: {}\r\nSOAPAction: \"{}\"\r\nContent-Length: {}\r\n{}\r\n",
            self.path,
            authority,
            self.content_type,
            self.action,
            self.body.len(),
            connection,
        )
        .into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes.into()
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("suite", &self.suite)
            .field("name", &self.name)
            .field("path", &self.path)
            .field("action", &self.action)
            .field("request_bytes", &self.body.len())
            .finish_non_exhaustive()
    }
}
