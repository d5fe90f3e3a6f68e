//! A transport that keeps what goes over it, for those who want to see it.

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
use castile_xml::visible_lines;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full, Limited, combinators::UnsyncBoxBody};
use tower_service::Service;

use crate::{login, output};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How much of an answer is held to be shown, in bytes.
const MOST: usize = 64 << 20;

/// A transport, and what it carried.
#[derive(Clone)]
pub(super) struct Tap {
    transport: Transport,
    is_dry: bool,
    records: bool,
    carried: Arc<Mutex<Carried>>,
}

#[derive(Default)]
struct Carried {
    request: Option<Message>,
    response: Option<Message>,
    times: Option<Times>,
}

/// How long a call took.
struct Times {
    begun: Instant,
    /// To the head of the answer.
    first_byte: Option<Duration>,
    connection: Option<ConnectTimes>,
}

/// The head of a message of HTTP as text, and its body.
struct Message {
    head: String,
    body: Bytes,
}

impl Tap {
    /// What goes over `transport`, or in a dry run would go, is kept where that is asked for.
    pub(super) fn new(transport: Transport, is_dry: bool, records: bool) -> Self {
        Tap { transport, is_dry, records: records || is_dry, carried: Arc::default() }
    }

    fn carried(&self) -> MutexGuard<'_, Carried> {
        self.carried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request was handed to it.
    pub(super) fn is_used(&self) -> bool {
        let carried = self.carried();
        carried.request.is_some() || carried.times.is_some()
    }

    /// Prints the request of a dry run, if there is one.
    pub(super) fn print_request(&self) -> bool {
        match &self.carried().request {
            Some(Message { head, body }) => {
                out!("{}", visible_lines(head));
                out!("{}", visible_lines(&String::from_utf8_lossy(body)));
                true
            }
            None => false,
        }
    }

    /// Tells what was carried on standard error.
    pub(super) fn tell(&self) {
        let Carried { request, response, .. } = &*self.carried();
        for (sign, message) in [('>', request), ('<', response)] {
            for line in message.iter().flat_map(|message| message.head.lines()) {
                note!("{sign} {}", castile_xml::visible(line));
            }
            for line in message.iter().map(|message| String::from_utf8_lossy(&message.body)) {
                note!("{}", visible_lines(&line));
            }
        }
    }

    /// Tells how long the call took that ends now, on standard error.
    pub(super) fn tell_times(&self) {
        let carried = self.carried();
        let Some(Times { begun, first_byte, connection }) = &carried.times else { return };
        let lines = [
            ("look-up", connection.and_then(|times| times.lookup)),
            ("connection", connection.map(|times| times.tcp)),
            ("TLS", connection.and_then(|times| times.tls)),
            ("first byte", *first_byte),
            ("total", Some(begun.elapsed())),
        ];
        for (name, time) in lines {
            let time = time.map_or_else(|| "-".to_owned(), |time| format!("{:.1} ms", time.as_secs_f64() * 1_000.0));
            note!("{name:<10} {time:>10}");
        }
    }

    /// Prints the body of the answer as it came.
    pub(super) fn print_response(&self) {
        if let Some(Message { body, .. }) = &self.carried().response {
            if std::io::stdout().is_terminal() {
                // A stranger wrote it.
                out!("{}", visible_lines(&String::from_utf8_lossy(body)));
                return;
            }
            output::with(|output| {
                output.write_all(body)?;
                output.write_all(b"\n")
            });
        }
    }
}

/// Header lines, in which secrets are not shown.
fn lines(headers: &HeaderMap) -> String {
    let mut lines = String::new();
    for (name, value) in headers {
        let shown = match login::is_secret(name.as_str()) {
            true => "…".into(),
            false => String::from_utf8_lossy(value.as_bytes()),
        };
        // A `String` takes all that is written.
        let _ = writeln!(lines, "{name}: {shown}");
    }
    lines
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
                    let shown = format!("{} {}\n{}", head.method, head.uri, lines(&head.headers));
                    tap.carried().request = Some(Message { head: shown, body: body.clone() });
                    if tap.is_dry {
                        return Err("a dry run sends nothing".into());
                    }
                    Request::from_parts(head, Body::from(body))
                }
            };
            tap.carried().times = Some(Times { begun: Instant::now(), first_byte: None, connection: None });
            let response = tap.transport.call(request).await?;
            let (head, body) = response.into_parts();
            if let Some(times) = &mut tap.carried().times {
                times.first_byte = Some(times.begun.elapsed());
                times.connection = head.extensions.get().copied();
            }
            if !tap.records {
                return Ok(Response::from_parts(head, body.map_err(Into::into).boxed_unsync()));
            }
            let body = Limited::new(body, MOST).collect().await?.to_bytes();
            let shown = format!("{}\n{}", head.status, lines(&head.headers));
            tap.carried().response = Some(Message { head: shown, body: body.clone() });
            let body = Full::new(body).map_err(|never| match never {}).boxed_unsync();
            Ok(Response::from_parts(head, body))
        })
    }
}
