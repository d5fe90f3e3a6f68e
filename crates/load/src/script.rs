//! Requests that are written when they are due: from a data feed, from earlier answers, or with varying content.

use std::sync::Arc;

use crate::{Answer, Endpoint, User};

/// Makes the script of one user. It is called once in a run, before the user's first request.
pub type Begin = Arc<dyn Fn(&User) -> Box<dyn Script> + Send + Sync>;

/// Writes the requests of one user and judges their answers. The driver's own HTTP connection sends them, so neither
/// writing nor judging waits for anything.
///
/// A script stays on one thread of the driver and lives as long as its user, however many connections the user opens.
pub trait Script {
    /// Writes a request; `number` is its index in the list of its case. `request` is empty when this is called.
    ///
    /// # Errors
    /// There is no request to send.
    fn write(&mut self, number: usize, request: &mut Request) -> Result<(), NoRequest>;

    /// Judges the answer to the last request. A cheaper check is enough unless `in_full` is true.
    ///
    /// # Errors
    /// The answer is wrong; the text says how, in words that a person can act on.
    fn judge(&mut self, number: usize, response: &HttpResponse<'_>, in_full: bool) -> Result<Answer, String>;
}

/// An HTTP request that a script writes.
#[derive(Debug, Default)]
pub struct Request {
    /// Header lines, each with its line end (`\r\n`). The driver adds `Host`, `Content-Length` and `Connection`.
    pub headers: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    pub(crate) fn clear(&mut self) {
        self.headers.clear();
        self.body.clear();
    }

    /// Writes the HTTP request, head and body in one buffer, so that it is sent with one write.
    pub(crate) fn write(&self, endpoint: &Endpoint, keep_alive: bool, wire: &mut Vec<u8>) {
        let connection = if keep_alive { "" } else { "Connection: close\r\n" };
        let (target, authority) = (endpoint.request_target(), &endpoint.authority);
        let (headers, along, length) = (&self.headers, endpoint.header_lines(), self.body.len());
        wire.clear();
        wire.extend_from_slice(
            format!(
                "POST {target} HTTP/1.1\r\nHost: {authority}\r\n{headers}{along}Content-Length: {length}\r\n{connection}\r\n"
            )
            .as_bytes(),
        );
        wire.extend_from_slice(&self.body);
    }
}

/// Why a script writes no request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRequest {
    /// The user has sent everything it had. The run is over when all users are done.
    Done,
    /// Something is missing, as the text says. This counts as a failed request.
    Failed(String),
}

/// An answer as it was received.
#[derive(Clone, Copy, Debug)]
pub struct HttpResponse<'a> {
    /// The status code.
    pub status: u16,
    /// The status line and the header lines.
    pub head: &'a [u8],
    /// The body, with its transfer coding decoded.
    pub body: &'a [u8],
}

impl<'a> HttpResponse<'a> {
    /// Returns the value of the first header line of this name, if it is UTF-8.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let lines = self.head.split(|&byte| byte == b'\n').skip(1);
        let mut fields = lines.filter_map(|line| std::str::from_utf8(line).ok()?.split_once(':'));
        fields.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_by_name_in_any_case() {
        let head = b"HTTP/1.1 200 OK\r\ncontent-TYPE: text/xml\r\nX: a:b\r\n\r\n";
        let response = HttpResponse { status: 200, head, body: b"" };
        assert_eq!(response.header("Content-Type"), Some("text/xml"));
        assert_eq!(response.header("x"), Some("a:b"));
        assert_eq!(response.header("HTTP/1.1 200 OK"), None);
    }

    #[test]
    fn a_request_has_what_http_needs() {
        let request = Request { headers: "A: b\r\n".to_owned(), body: b"<a/>".to_vec() };
        let mut wire = b"old".to_vec();
        let endpoint = Endpoint::resolve("http://127.0.0.1:1/p?q").unwrap();
        request.write(&endpoint, false, &mut wire);
        let expected =
            "POST /p?q HTTP/1.1\r\nHost: 127.0.0.1:1\r\nA: b\r\nContent-Length: 4\r\nConnection: close\r\n\r\n<a/>";
        assert_eq!(String::from_utf8_lossy(&wire), expected);
    }
}
