//! What came in and what was answered, for a page.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use castile::http::Body;
use castile::soap::{Layer, Options, Pending, Redaction, ReplyMessage, RequestMessage, Service};
use castile_soap::Description;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use minijinja::{Environment, context};

/// How many exchanges are kept.
const KEPT: usize = 50;
/// Of a larger message only the size is, in bytes.
const LARGEST: usize = 64 << 10;

/// The last exchanges: a layer that notes them, and a page that shows them.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<VecDeque<Exchange>>>);

struct Exchange {
    at: SystemTime,
    took: Duration,
    service: &'static str,
    request: Message,
    reply: Message,
    is_fault: bool,
}

enum Message {
    Whole(Bytes),
    Size(usize),
    Stream,
}

impl Message {
    fn of(bytes: &Bytes) -> Self {
        // A part of a larger buffer would keep all of that.
        if bytes.len() > LARGEST { Message::Size(bytes.len()) } else { Message::Whole(Bytes::copy_from_slice(bytes)) }
    }

    /// The message as it is shown: indented, without what is secret.
    fn shown(&self) -> String {
        match self {
            Message::Whole(bytes) if bytes.is_empty() => "nothing".to_owned(),
            Message::Whole(bytes) => castile_plan::indented(&Redaction::new().redact(bytes)),
            Message::Size(size) => format!("{size} bytes, more than are shown"),
            Message::Stream => "a stream".to_owned(),
        }
    }
}

impl Log {
    fn note(&self, exchange: Exchange) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(exchange);
    }

    fn page(&self) -> Result<String, minijinja::Error> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let exchanges: Vec<_> = kept
            .iter()
            .rev()
            .map(|Exchange { at, took, service, request, reply, is_fault }| {
                context! {
                    at => humantime::format_rfc3339_millis(*at).to_string(),
                    took => format!("{:.1} ms", took.as_secs_f64() * 1e3),
                    service => *service,
                    request => request.shown(),
                    reply => reply.shown(),
                    is_fault => *is_fault,
                }
            })
            .collect();
        drop(kept);
        let mut environment = Environment::new();
        environment.add_template("log.html", include_str!("log.html"))?;
        environment.get_template("log.html")?.render(context! { exchanges, most => KEPT })
    }
}

impl<S: Service> Layer<S> for Log {
    type Service = Noted<S>;

    fn layer(&self, service: S) -> Noted<S> {
        Noted { service, log: self.clone() }
    }
}

/// A service whose exchanges are noted.
pub(super) struct Noted<S> {
    service: S,
    log: Log,
}

impl<S: Service> Service for Noted<S> {
    fn description(&self) -> &'static Description {
        self.service.description()
    }

    fn call(&self, request: RequestMessage, options: &Options) -> Pending {
        let (at, begun) = (SystemTime::now(), Instant::now());
        let (service, log) = (self.description().name, self.log.clone());
        let of_request = Message::of(&request.message);
        let pending = self.service.call(request, options);
        Box::pin(async move {
            let reply: ReplyMessage = pending.await;
            let of_reply = reply.message.bytes().map_or(Message::Stream, Message::of);
            let (took, is_fault) = (begun.elapsed(), reply.is_fault());
            log.note(Exchange { at, took, service, request: of_request, reply: of_reply, is_fault });
            reply
        })
    }
}

/// The page, for GET and HEAD.
impl tower_service::Service<Request<Body>> for Log {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Ready<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut response = Response::new(Body::empty());
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return ready(Ok(response));
        }
        match self.page() {
            Ok(page) => *response.body_mut() = Body::from(Bytes::from(page)),
            Err(_) => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        ready(Ok(response))
    }
}

#[cfg(test)]
mod tests {
    use castile::soap::Version;

    use super::*;

    #[tokio::test]
    async fn the_last_exchanges_are_shown_without_secrets() {
        static DESCRIPTION: Description = Description::new("Orders", "urn:orders", &[]);
        struct Orders;
        impl Service for Orders {
            fn description(&self) -> &'static Description {
                &DESCRIPTION
            }

            fn call(&self, request: RequestMessage, _: &Options) -> Pending {
                Box::pin(async move { ReplyMessage::new(Version::Soap11, request.message) })
            }
        }
        let log = Log::default();
        assert!(log.page().unwrap().contains("Nothing yet."));
        let service = log.layer(Orders);
        let large = format!("<large>{}</large>", "x".repeat(LARGEST));
        let last = "<a><password>hush</password><b>&lt;script></b></a>".to_owned();
        let many = (0..KEPT).map(|number| format!("<order>{number}</order>"));
        for message in many.chain([large, last]) {
            service.call(RequestMessage::new(Version::Soap11, message), &Options::default()).await;
        }
        let page = log.page().unwrap();
        // Each stands there as a request and as a response.
        let count = |text: &str| page.matches(text).count();
        assert_eq!(
            [count("order&gt;1&lt;"), count("order&gt;2&lt;"), count("hush"), count("<script>")],
            [0, 2, 0, 0],
            "{page}"
        );
        assert_eq!([count("65551 bytes, more than are shown"), count("Orders ·")], [2, KEPT], "{page}");
        assert!(
            page.find("password").unwrap() < page.find("order&gt;49&lt;").unwrap(),
            "the newest comes first: {page}"
        );
    }
}
