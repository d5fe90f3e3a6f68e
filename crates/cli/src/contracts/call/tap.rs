//! A transport that records requests and responses, for display.

use std::fmt::Write;
use std::future::Future;
use std::io::IsTerminal;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use castile::http::Body;
use castile::http::client::{ConnectTimes, Transport};
use castile_soap::Redaction;
use castile_xml::visible_lines;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName};
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Full, Limited, combinators::UnsyncBoxBody};
use tower_service::Service;

use super::parts;
use super::saved::{self, Sent};
use crate::{login, output};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The maximum size, in bytes, of an answer that is recorded for display.
const MAX_RECORDED: usize = 64 << 20;

/// A transport and its recording.
#[derive(Clone)]
pub(super) struct Tap {
    transport: Transport,
    /// The header fields that the transport adds, without secrets.
    added: Arc<[(HeaderName, String)]>,
    /// Whether this is a dry run, which sends nothing.
    is_dry: bool,
    /// Whether the request has secrets, which are not shown.
    is_redacted: bool,
    records: bool,
    recording: Arc<Mutex<Recording>>,
}

#[derive(Default)]
struct Recording {
    request: Option<Message>,
    response: Option<Message>,
    /// The Content-Type of the answer; empty if it has none.
    response_type: String,
    times: Option<Times>,
}

/// The timings of a call.
struct Times {
    begun: Instant,
    /// The time until the head of the answer.
    first_byte: Option<Duration>,
    connection: Option<ConnectTimes>,
}

/// The head of an HTTP message as text, and its body.
struct Message {
    head: String,
    body: Bytes,
    content_type: String,
    /// Whether the envelope has secrets, which are not shown.
    is_redacted: bool,
}

impl Tap {
    /// Makes a tap that sends through `transport`. With `records`, it records the messages. `added` has the header fields that the
    /// transport adds.
    pub(super) fn new(transport: Transport, records: bool, added: Vec<(HeaderName, String)>) -> Self {
        Tap { transport, added: added.into(), is_dry: false, is_redacted: false, records, recording: Arc::default() }
    }

    /// Makes a tap that sends nothing and records the request. `added` has the header fields that the transport would add.
    pub(super) fn dry(transport: Transport, added: Vec<(HeaderName, String)>) -> Self {
        Tap {
            transport,
            added: added.into(),
            is_dry: true,
            is_redacted: false,
            records: true,
            recording: Arc::default(),
        }
    }

    /// Returns a tap that shows no passwords, nonces and tokens of WS-Security in requests.
    pub(super) fn redacted(self) -> Self {
        Tap { is_redacted: true, ..self }
    }

    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the tap received a request.
    pub(super) fn is_used(&self) -> bool {
        let recording = self.recording();
        recording.request.is_some() || recording.times.is_some()
    }

    /// Returns whether the answer is an XOP package, whose binary values are in separate parts.
    pub(super) fn has_mtom(&self) -> bool {
        self.recording().response_type.to_ascii_lowercase().contains("application/xop+xml")
    }

    /// Prints the request of a dry run. Returns whether there is one.
    pub(super) fn print_request(&self) -> bool {
        match &self.recording().request {
            Some(message) => {
                out!("{}", visible_lines(&message.shown(std::io::stdout().is_terminal())));
                true
            }
            None => false,
        }
    }

    /// Prints the recorded messages to standard error.
    pub(super) fn print(&self) {
        let Recording { request, response, .. } = &*self.recording();
        for (sign, message) in [('>', request), ('<', response)] {
            for line in message.iter().flat_map(|message| message.head.lines()) {
                note!("{sign} {}", castile_xml::visible(line));
            }
            if let Some(message) = message {
                note!("{}", visible_lines(&message.shown_body(false)));
            }
        }
    }

    /// Writes the recorded messages to the files that are asked for.
    pub(super) fn save(&self, files: &saved::Arguments) -> anyhow::Result<()> {
        let Recording { request, response, .. } = &*self.recording();
        files.write(request.as_ref().map(Message::sent), response.as_ref().map(Message::sent))
    }

    /// Prints the timings of the call, which ends now, to standard error.
    pub(super) fn print_times(&self) {
        if let Some(times) = &self.recording().times {
            times.lines(times.begun.elapsed()).iter().for_each(|line| note!("{line}"));
        }
    }

    /// Prints the body of the answer unchanged, or escaped in a terminal.
    pub(super) fn print_response(&self) {
        if let Some(Message { body, .. }) = &self.recording().response {
            output::bytes(body);
            if !std::io::stdout().is_terminal() {
                output::text("\n");
            }
        }
    }
}

impl Times {
    /// Returns a line for each time. `total` is the duration of the whole call.
    fn lines(&self, total: Duration) -> [String; 5] {
        let Times { first_byte, connection, .. } = self;
        let times = [
            ("look-up", connection.and_then(|times| times.lookup)),
            ("connection", connection.map(|times| times.tcp)),
            ("TLS", connection.and_then(|times| times.tls)),
            ("first byte", *first_byte),
            ("total", Some(total)),
        ];
        times.map(|(name, time)| {
            let time = time.map_or_else(|| "-".to_owned(), |time| format!("{:.1} ms", time.as_secs_f64() * 1_000.0));
            format!("{name:<10} {time:>10}")
        })
    }
}

impl Message {
    fn sent(&self) -> Sent<'_> {
        Sent { content_type: &self.content_type, body: &self.body }
    }

    /// Formats the head and the body.
    fn shown(&self, is_for_people: bool) -> String {
        format!("{}\n{}", self.head, self.shown_body(is_for_people))
    }

    /// Formats the envelope, indented for people. Attachments are listed instead of shown, because they may not be text.
    fn shown_body(&self, is_for_people: bool) -> String {
        let (envelope, parts) = match parts::opened(&self.content_type, &self.body) {
            Some((envelope, parts)) => (envelope.into(), parts),
            None => (self.body.clone(), Vec::new()),
        };
        let mut envelope = match self.is_redacted {
            true => Redaction::new().redact(&envelope),
            false => String::from_utf8_lossy(&envelope).into_owned(),
        };
        if is_for_people {
            let indented = castile_plan::indented(&envelope);
            // `indented` returns an empty string for text that isn't XML.
            if !indented.is_empty() {
                envelope = indented;
            }
        }
        for part in parts {
            envelope += &format!("\nattachment: {part}");
        }
        envelope
    }
}

/// Returns a URL without its query, which may contain a key.
fn shown_url(url: &Uri) -> String {
    let url = url.to_string();
    url.split_once('?').map(|(before, _)| format!("{before}?…")).unwrap_or(url)
}

/// Formats header fields without secrets.
fn lines(headers: &HeaderMap) -> String {
    let mut lines = String::new();
    for (name, value) in headers {
        let shown = match login::is_secret(name.as_str()) {
            true => "…".into(),
            false => String::from_utf8_lossy(value.as_bytes()),
        };
        // Writing to a `String` can't fail.
        let _ = writeln!(lines, "{name}: {shown}");
    }
    lines
}

fn content_type(headers: &HeaderMap) -> String {
    headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

impl Service<Request<Body>> for Tap {
    type Response = Response<UnsyncBoxBody<Bytes, BoxError>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.transport.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut tap = self.clone();
        Box::pin(async move {
            let request = match tap.records {
                false => request,
                true => {
                    let (head, body) = request.into_parts();
                    let body = body.collect().await?.to_bytes();
                    let mut shown = format!("{} {}\n{}", head.method, shown_url(&head.uri), lines(&head.headers));
                    for (name, value) in tap.added.iter() {
                        // A header field given with --header takes precedence.
                        if !head.headers.contains_key(name) {
                            shown += &format!("{name}: {value}\n");
                        }
                    }
                    let content_type = content_type(&head.headers);
                    let is_redacted = tap.is_redacted;
                    let request = Message { head: shown, body: body.clone(), content_type, is_redacted };
                    tap.recording().request = Some(request);
                    if tap.is_dry {
                        return Err("a dry run sends nothing".into());
                    }
                    Request::from_parts(head, Body::from(body))
                }
            };
            tap.recording().times = Some(Times { begun: Instant::now(), first_byte: None, connection: None });
            let response = tap.transport.call(request).await?;
            let (head, body) = response.into_parts();
            tap.recording().response_type = content_type(&head.headers);
            if let Some(times) = &mut tap.recording().times {
                times.first_byte = Some(times.begun.elapsed());
                times.connection = head.extensions.get().copied();
            }
            if !tap.records {
                return Ok(Response::from_parts(head, body.map_err(Into::into).boxed_unsync()));
            }
            let body = Limited::new(body, MAX_RECORDED).collect().await?.to_bytes();
            let shown = format!("{}\n{}", head.status, lines(&head.headers));
            let content_type = content_type(&head.headers);
            tap.recording().response =
                Some(Message { head: shown, body: body.clone(), content_type, is_redacted: false });
            let body = Full::new(body).map_err(|never| match never {}).boxed_unsync();
            Ok(Response::from_parts(head, body))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_times_are_shown_as_a_dash() {
        let times = Times { begun: Instant::now(), first_byte: Some(Duration::from_micros(6_040)), connection: None };
        let expected = [
            "look-up             -",
            "connection          -",
            "TLS                 -",
            "first byte     6.0 ms",
            "total         12.0 ms",
        ];
        assert_eq!(times.lines(Duration::from_millis(12)), expected);
    }

    #[test]
    fn a_dry_run_is_indented_for_people_alone() {
        let head = "POST http://a/\n".to_owned();
        let body = Bytes::from_static(b"<a><b>c</b></a>");
        let plain = Message { head: head.clone(), body, content_type: "text/xml".to_owned(), is_redacted: false };
        assert_eq!(plain.shown(false), "POST http://a/\n\n<a><b>c</b></a>");
        assert_eq!(plain.shown(true), "POST http://a/\n\n<a>\n  <b>c</b>\n</a>");
        let body = "--b\r\n\r\n<a/>\r\n--b\r\nContent-Type: image/png\r\nContent-ID: <a@b>\r\n\r\n\u{0}\r\n--b--";
        let content_type = "multipart/related; type=\"text/xml\"; boundary=b".to_owned();
        let package = Message { head, body: Bytes::from(body), content_type, is_redacted: true };
        let expected = "POST http://a/\n\n<a/>\nattachment: image/png, Content-ID <a@b>, 1 byte";
        assert_eq!(package.shown(true), expected);
    }
}
