//! A log of requests and answers, shown on a web page.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::ready;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use castile::http::Body;
use castile::soap::{Layer, Options, Pending, Redaction, ReplyMessage, RequestMessage, Service};
use castile_budget::{Budget, Charged};
use castile_soap::Description;
use castile_xml::Charset;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use minijinja::{Environment, context};
use tokio::task::spawn_blocking;

/// The maximum number of logged exchanges.
const MAX_EXCHANGES: usize = 50;
/// Of a message larger than this many bytes, only the size is logged.
const MAX_MESSAGE_SIZE: usize = 64 << 10;
/// The maximum size, in bytes, of all messages on the page. The newest come first.
const MAX_SHOWN_SIZE: usize = 1 << 20;
/// The assumed growth of messages by indenting and escaping, for reserving memory before the page is made.
const ESCAPE_FACTOR: usize = 4;
/// The assumed size, in bytes, of the other parts of an exchange on the page.
const EXCHANGE_OVERHEAD: usize = 512;
/// The template of the page.
const TEMPLATE: &str = include_str!("log.html");

/// The last exchanges: a layer that logs them, and a page that shows them.
#[derive(Clone, Default)]
pub(super) struct Log {
    inner: Arc<Inner>,
    /// The budget that a page is charged to, as long as it is cached or being sent.
    budget: Budget,
}

#[derive(Default)]
struct Inner {
    history: Mutex<History>,
    /// The cached page, with the number of exchanges it was made from. The mutex ensures that only one task makes the page, which is
    /// expensive, and that all requests share it.
    page: tokio::sync::Mutex<Option<(u64, Bytes)>>,
}

#[derive(Clone, Default)]
struct History {
    exchanges: VecDeque<Exchange>,
    /// The total number of exchanges so far.
    count: u64,
}

#[derive(Clone)]
struct Exchange {
    at: SystemTime,
    took: Duration,
    service: &'static str,
    request: Message,
    reply: Message,
    is_fault: bool,
}

#[derive(Clone)]
enum Message {
    Whole(Bytes),
    Size(usize),
    Stream,
}

impl Message {
    /// Returns the number of logged bytes.
    fn size(&self) -> usize {
        match self {
            Message::Whole(bytes) => bytes.len(),
            Message::Size(_) | Message::Stream => 0,
        }
    }

    /// Makes a log entry of a message, decoded by the charset of its media type if there is one.
    fn of(bytes: &Bytes, charset: Option<Charset>) -> Self {
        if bytes.len() > MAX_MESSAGE_SIZE {
            return Message::Size(bytes.len());
        }
        // Display only uses the text, and an encoding declaration in it would no longer be true.
        let text = charset.and_then(|charset| castile_xml::decode(bytes, Some(charset)).ok());
        match text {
            Some(Cow::Owned(text)) => Message::Whole(Bytes::copy_from_slice(without_declaration(&text).as_bytes())),
            // Copied, because a slice would keep the whole larger buffer in memory.
            _ => Message::Whole(Bytes::copy_from_slice(bytes)),
        }
    }

    /// Formats the message: indented, with secrets removed by `redact`, if it fits in `remaining` bytes.
    fn shown(&self, remaining: &mut usize, redact: impl FnOnce(&[u8]) -> String) -> String {
        let size = match self {
            Message::Whole(bytes) if bytes.is_empty() => return "nothing".to_owned(),
            Message::Whole(bytes) if *remaining > 0 => {
                let text = redact(bytes);
                let shown = castile_plan::indented(without_declaration(&text));
                // A redacted message is counted by its original size, because redacting takes time as well.
                if let Some(rest) = remaining.checked_sub(shown.len().max(bytes.len())) {
                    *remaining = rest;
                    return shown;
                }
                *remaining = 0;
                bytes.len()
            }
            Message::Whole(bytes) => bytes.len(),
            Message::Size(size) => *size,
            Message::Stream => return "a stream".to_owned(),
        };
        format!("{size} bytes, more than are shown")
    }
}

/// Returns a text without its XML declaration.
fn without_declaration(text: &str) -> &str {
    let text = text.trim_start_matches('\u{feff}');
    match text.strip_prefix("<?xml").filter(|rest| rest.starts_with(char::is_whitespace)) {
        Some(rest) => rest.split_once("?>").map_or(text, |(_, rest)| rest.trim_start()),
        None => text,
    }
}

impl Exchange {
    /// Formats the request and the reply.
    fn shown(&self, remaining: &mut usize) -> [String; 2] {
        let redaction = Redaction::new();
        let request = self.request.shown(remaining, |bytes| redaction.redact(bytes));
        let reply = self.reply.shown(remaining, |bytes| match (&self.request, self.is_fault) {
            // A fault may quote the request.
            (Message::Whole(request), true) => redaction.redact_fault(bytes, request),
            (Message::Size(_) | Message::Stream, true) => redaction.redact_fault(bytes, b""),
            (_, false) => redaction.redact(bytes),
        });
        [request, reply]
    }
}

/// Why there is no page.
enum Failed {
    Exhausted,
    Unwritten,
}

impl Log {
    /// Returns this log with pages charged to `budget`.
    pub(super) fn charged_to(self, budget: Budget) -> Self {
        Log { budget, ..self }
    }

    fn record(&self, exchange: Exchange) {
        let mut kept = self.history();
        if kept.exchanges.len() == MAX_EXCHANGES {
            kept.exchanges.pop_front();
        }
        kept.exchanges.push_back(exchange);
        kept.count += 1;
        drop(kept);
        // The cached page is out of date, so its memory is released. If a page is being made now, its task takes care of that.
        if let Ok(mut page) = self.inner.page.try_lock() {
            *page = None;
        }
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.inner.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the page. It is rendered on a blocking thread, so that connections don't wait for it.
    async fn page(&self) -> Result<Bytes, Failed> {
        let mut last = self.inner.page.lock().await;
        // Messages are shared buffers, so the clone is cheap and the lock is held only briefly.
        let History { exchanges, count } = self.history().clone();
        if let Some((of, page)) = &*last
            && *of == count
        {
            return Ok(page.clone());
        }
        // The old page is released first, so that not both are in memory.
        *last = None;
        // Memory is reserved first, so that nothing is rendered if there isn't enough, however often the page is requested.
        let reservation = self.budget.reserve(estimate(&exchanges)).map_err(|_| Failed::Exhausted)?;
        let page = spawn_blocking(move || render(&exchanges)).await.map_err(|_| Failed::Unwritten)?;
        let page = page.map_err(|_| Failed::Unwritten)?;
        // All responses share the page, so it is charged once.
        match page.len().checked_sub(reservation.bytes()) {
            Some(more) => reservation.grow(more).map_err(|_| Failed::Exhausted)?,
            None => reservation.shrink(reservation.bytes() - page.len()),
        }
        let page = Bytes::from_owner(Charged::new(page, Arc::new(reservation)));
        *last = Some((count, page.clone()));
        Ok(page)
    }
}

/// Returns the estimated maximum size of the page, in bytes.
fn estimate(kept: &VecDeque<Exchange>) -> usize {
    let messages: usize = kept.iter().map(|exchange| exchange.request.size() + exchange.reply.size()).sum();
    TEMPLATE.len() + kept.len() * EXCHANGE_OVERHEAD + messages.min(MAX_SHOWN_SIZE) * ESCAPE_FACTOR
}

fn render(kept: &VecDeque<Exchange>) -> Result<String, minijinja::Error> {
    let mut remaining = MAX_SHOWN_SIZE;
    let exchanges = kept.iter().rev().map(|exchange| {
        let [request, reply] = exchange.shown(&mut remaining);
        context! {
            at => humantime::format_rfc3339_millis(exchange.at).to_string(),
            took => format!("{:.1} ms", exchange.took.as_secs_f64() * 1e3),
            service => exchange.service,
            request => request,
            reply => reply,
            is_fault => exchange.is_fault,
        }
    });
    let exchanges: Vec<_> = exchanges.collect();
    let mut environment = Environment::new();
    environment.add_template("log.html", TEMPLATE)?;
    environment.get_template("log.html")?.render(context! { exchanges, most => MAX_EXCHANGES })
}

impl<S: Service> Layer<S> for Log {
    type Service = Logged<S>;

    fn layer(&self, service: S) -> Logged<S> {
        Logged { service, log: self.clone() }
    }
}

/// A service whose exchanges are logged.
pub(super) struct Logged<S> {
    service: S,
    log: Log,
}

impl<S: Service> Service for Logged<S> {
    fn description(&self) -> &'static Description {
        self.service.description()
    }

    fn call(&self, request: RequestMessage, options: &Options) -> Pending {
        let (at, begun) = (SystemTime::now(), Instant::now());
        let (service, log) = (self.description().name, self.log.clone());
        let of_request = Message::of(&request.message, request.charset);
        let pending = self.service.call(request, options);
        Box::pin(async move {
            let reply: ReplyMessage = pending.await;
            let of_reply = reply.message.bytes().map_or(Message::Stream, |bytes| Message::of(bytes, None));
            let (took, is_fault) = (begun.elapsed(), reply.is_fault());
            log.record(Exchange { at, took, service, request: of_request, reply: of_reply, is_fault });
            reply
        })
    }
}

/// Serves the page, for GET and HEAD.
impl tower_service::Service<Request<Body>> for Log {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut response = Response::new(Body::empty());
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return Box::pin(ready(Ok(response)));
        }
        let log = self.clone();
        Box::pin(async move {
            // The page is made in its own task, so that it is finished and cached even if the client disconnects.
            let made = tokio::spawn(async move { log.page().await }).await;
            match made.unwrap_or(Err(Failed::Unwritten)) {
                Ok(page) => *response.body_mut() = Body::from(page),
                Err(Failed::Exhausted) => {
                    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
                    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                }
                Err(Failed::Unwritten) => *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR,
            }
            let headers = response.headers_mut();
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
            Ok(response)
        })
    }
}

#[cfg(test)]
mod tests {
    use castile::soap::Version;
    use castile::{Fault, NoDetail};

    use super::*;

    fn page(log: &Log) -> String {
        render(&log.history().exchanges).unwrap()
    }

    static DESCRIPTION: Description = Description::new("Orders", "urn:orders", &[]);

    /// Answers with the request, or with a fault that quotes it.
    struct Orders;

    impl Service for Orders {
        fn description(&self) -> &'static Description {
            &DESCRIPTION
        }

        fn call(&self, request: RequestMessage, _: &Options) -> Pending {
            Box::pin(async move {
                let text = String::from_utf8_lossy(&request.message);
                match text.strip_prefix("<login><password>") {
                    Some(rest) => {
                        let fault = Fault::<NoDetail>::receiver(format!("found {}", rest.split('<').next().unwrap()));
                        ReplyMessage::from_fault(Version::Soap11, &fault)
                    }
                    None => ReplyMessage::new(Version::Soap11, request.message.clone()),
                }
            })
        }
    }

    #[tokio::test]
    async fn a_fault_that_quotes_a_secret_is_its_code() {
        let log = Log::default();
        let service = log.layer(Orders);
        let message = "<login><password>hush</password></login>";
        service.call(RequestMessage::new(Version::Soap11, message), &Options::default()).await;
        let page = page(&log);
        assert!(!page.contains("hush") && page.contains("faultcode"), "{page}");
    }

    /// A message with an XML declaration was once shown in one line, and one in another charset as invalid.
    #[tokio::test]
    async fn declarations_and_charsets_are_understood() {
        let log = Log::default();
        let service = log.layer(Orders);
        let declared = "<?xml version='1.0' encoding='utf-8'?>\n<a><b>1</b><b>2</b></a>";
        let latin = b"<?xml version='1.0'?><a><c>caf\xE9</c><c/></a>".to_vec();
        let charset = Charset::of_label("iso-8859-1");
        for (message, charset) in [(declared.as_bytes().to_vec(), None), (latin, charset)] {
            let request = RequestMessage::new(Version::Soap11, message).with_charset(charset);
            service.call(request, &Options::default()).await;
        }
        let page = page(&log);
        assert!(page.contains("\n  &lt;b&gt;1&lt;"), "{page}");
        assert!(page.contains("\n  &lt;c&gt;caf\u{e9}&lt;"), "{page}");
    }

    /// All parts of a page are in memory, and each may be many times larger than its message.
    #[tokio::test]
    async fn a_page_of_many_large_messages_is_bounded() {
        let log = Log::default();
        let service = log.layer(Orders);
        let large = format!("{}{}{}", "<a>".repeat(20), "<b/>".repeat(16_000), "</a>".repeat(20));
        for _ in 0..MAX_EXCHANGES {
            service.call(RequestMessage::new(Version::Soap11, large.clone()), &Options::default()).await;
        }
        let page = page(&log);
        let shown = page.matches("&lt;b&#x2f;&gt;").count();
        assert!(shown >= 16_000 && page.len() < 4 * MAX_SHOWN_SIZE, "{shown} {}", page.len());
        let estimated = estimate(&log.history().exchanges);
        assert!((page.len()..6 * MAX_SHOWN_SIZE).contains(&estimated), "{estimated} {}", page.len());
    }

    fn ask() -> Request<Body> {
        Request::get("/requests").body(Body::empty()).unwrap()
    }

    /// The page was once rendered before the budget was checked.
    #[test]
    fn a_page_without_room_is_not_made() {
        use tower_service::Service as _;

        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
        // Rendering a page would wait for this blocking task.
        let (go_on, released) = std::sync::mpsc::channel::<()>();
        runtime.spawn_blocking(move || released.recv());
        let mut log = Log::default().charged_to(Budget::new(1_000));
        let refused = runtime.block_on(async { tokio::time::timeout(Duration::from_secs(10), log.call(ask())).await });
        drop(go_on);
        assert_eq!(refused.unwrap().unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
    }

    /// An outdated page once held the budget until the next request.
    #[tokio::test]
    async fn pages_that_are_no_longer_listed_are_removed() {
        use tower_service::Service as _;

        let budget = Budget::new(100_000);
        let mut log = Log::default().charged_to(budget.clone());
        drop(log.call(ask()).await.unwrap());
        assert!(budget.used() > 0);
        log.layer(Orders).call(RequestMessage::new(Version::Soap11, "<a/>"), &Options::default()).await;
        assert_eq!(budget.used(), 0);
    }

    /// A client that made calls and read pages slowly could once hold any number of pages, whatever the budget.
    #[tokio::test]
    async fn pages_are_charged_until_they_are_gone() {
        use tower_service::Service as _;

        let budget = Budget::new(100_000);
        let mut log = Log::default().charged_to(budget.clone());
        let service = log.layer(Orders);
        let first = log.call(ask()).await.unwrap();
        let size = budget.used();
        assert!(size > 0);
        let same = log.call(ask()).await.unwrap();
        assert_eq!(budget.used(), size, "all share one page");
        service.call(RequestMessage::new(Version::Soap11, "<a/>"), &Options::default()).await;
        let next = log.call(ask()).await.unwrap();
        assert!(budget.used() > 2 * size);
        service.call(RequestMessage::new(Version::Soap11, "<a/>"), &Options::default()).await;
        let left = budget.reserve(budget.limit() - budget.used()).unwrap();
        drop(next);
        let refused = log.call(ask()).await.unwrap();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(refused.headers()[header::RETRY_AFTER], "1");
        drop((first, same, left));
        assert_eq!(budget.used(), 0);
        assert_eq!(log.call(ask()).await.unwrap().status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn the_last_exchanges_are_shown_without_secrets() {
        let log = Log::default();
        assert!(page(&log).contains("Nothing yet."));
        let service = log.layer(Orders);
        let large = format!("<large>{}</large>", "x".repeat(MAX_MESSAGE_SIZE));
        let last = "<a><password>hush</password><b>&lt;script></b></a>".to_owned();
        let many = (0..MAX_EXCHANGES).map(|number| format!("<order>{number}</order>"));
        for message in many.chain([large, last]) {
            service.call(RequestMessage::new(Version::Soap11, message), &Options::default()).await;
        }
        let page = page(&log);
        // Each is shown as a request and as a response.
        let count = |text: &str| page.matches(text).count();
        assert_eq!(
            [count("order&gt;1&lt;"), count("order&gt;2&lt;"), count("hush"), count("<script>")],
            [0, 2, 0, 0],
            "{page}"
        );
        assert_eq!([count("65551 bytes, more than are shown"), count("Orders ·")], [2, MAX_EXCHANGES], "{page}");
        assert!(
            page.find("password").unwrap() < page.find("order&gt;49&lt;").unwrap(),
            "the newest comes first: {page}"
        );
    }
}
