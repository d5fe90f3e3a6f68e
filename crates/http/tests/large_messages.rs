//! While a large message is read, other requests are served, even on a runtime with one thread.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use castile_http::server::{Address, Endpoint, Options, Server};
use castile_http::{DEFAULT_OFFLOAD_ABOVE, Workers};
use castile_soap::{
    Description, Document, Offload, Offloading, Page, Pending, ReplyMessage, RequestMessage, Service, Work,
};
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, Full};
use support::{Echo, Host};
use tokio::time::timeout;
use tower_service::Service as _;

const LARGE: usize = 300_000;

/// Blocks on each large message until it may continue, and counts when it begins and ends.
struct Slow {
    go_on: Mutex<Receiver<()>>,
    begun: AtomicUsize,
    reading: AtomicUsize,
    most: AtomicUsize,
    order: Mutex<Vec<usize>>,
}

impl Service for Slow {
    fn description(&self) -> &'static Description {
        Echo.description()
    }

    fn call(&self, request: RequestMessage, _: &castile_soap::Options) -> Pending {
        let length = request.message.len();
        if length > LARGE {
            self.begun.fetch_add(1, SeqCst);
            let reading = self.reading.fetch_add(1, SeqCst) + 1;
            self.most.fetch_max(reading, SeqCst);
            self.go_on.lock().unwrap().recv_timeout(Duration::from_secs(60)).expect("others are served meanwhile");
            self.order.lock().unwrap().push(length);
            self.reading.fetch_sub(1, SeqCst);
        }
        let reply = ReplyMessage::new(request.version, Bytes::from(format!("{length} bytes")));
        Box::pin(std::future::ready(reply))
    }
}

fn slow(workers: usize, change: impl FnOnce(&mut Options)) -> (Endpoint<Slow>, Sender<()>) {
    let (go_on, receiver) = channel();
    let mut options = Options::default();
    options.messages.offload = Some(Workers::new(workers).above(DEFAULT_OFFLOAD_ABOVE));
    change(&mut options);
    let (begun, reading, most) = Default::default();
    let slow = Slow { go_on: Mutex::new(receiver), begun, reading, most, order: Mutex::default() };
    (Endpoint::with_options(slow, options), go_on)
}

async fn ask(endpoint: &Endpoint<Slow>, length: usize) -> (u16, String) {
    let body = Full::from("x".repeat(length));
    let request = http::Request::post("/").header("content-type", "text/xml").body(body).unwrap();
    let response = endpoint.clone().call(request).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Regression: two messages of 16 MB blocked all others for seconds.
#[tokio::test]
async fn a_probe_is_answered_while_large_messages_are_read() {
    let (endpoint, go_on) = slow(2, |_| {});
    let large: Vec<_> = (0..2)
        .map(|_| {
            let endpoint = endpoint.clone();
            tokio::spawn(async move { ask(&endpoint, 16_000_000).await })
        })
        .collect();
    until(|| endpoint.service().reading.load(SeqCst) == 2).await;
    for _ in 0..100 {
        assert_eq!(ask(&endpoint, LARGE - 50_000).await, (200, "250000 bytes".to_owned()));
    }
    for task in large {
        go_on.send(()).unwrap();
        go_on.send(()).unwrap();
        assert_eq!(task.await.unwrap(), (200, "16000000 bytes".to_owned()));
    }
}

#[tokio::test]
async fn large_messages_are_read_a_few_at_once_and_in_order() {
    let (endpoint, go_on) = slow(1, |_| {});
    let mut large = Vec::new();
    for number in 1..=5 {
        let task = endpoint.clone();
        large.push(tokio::spawn(async move { ask(&task, LARGE + number).await }));
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
    }
    for task in large {
        go_on.send(()).unwrap();
        assert_eq!(task.await.unwrap().0, 200);
    }
    let service = endpoint.service();
    assert_eq!(service.most.load(SeqCst), 1);
    assert_eq!(*service.order.lock().unwrap(), [1, 2, 3, 4, 5].map(|number| LARGE + number));
}

/// Other messages must not begin before it has really ended. Otherwise all abandoned messages would be read at the same
/// time.
#[tokio::test]
async fn a_request_that_is_given_up_keeps_its_place_until_it_is_read() {
    let (endpoint, go_on) = slow(1, |options| options.request_timeout = Duration::from_millis(50));
    let (status, reason) = ask(&endpoint, LARGE + 1).await;
    assert_eq!((status, &*reason), (503, "the service did not answer within 50ms\n"));
    let service = endpoint.service();
    assert_eq!(service.begun.load(SeqCst), 1);
    // This one is given up before it begins, so it never begins.
    assert_eq!(ask(&endpoint, LARGE + 2).await.0, 503);
    assert_eq!((service.begun.load(SeqCst), service.reading.load(SeqCst)), (1, 1));
    go_on.send(()).unwrap();
    until(|| service.reading.load(SeqCst) == 0).await;
    go_on.send(()).unwrap();
    until(|| {
        let _ = go_on.send(());
        service.reading.load(SeqCst) == 0
    })
    .await;
    assert_eq!(ask(&endpoint, LARGE + 3).await.0, 200);
    assert_eq!(*service.order.lock().unwrap(), [LARGE + 1, LARGE + 3]);
}

#[tokio::test]
async fn the_size_of_large_messages_is_configurable() {
    let (endpoint, _go_on) = slow(1, |options| options.messages.offload = Some(Workers::new(1).above(usize::MAX)));
    let endpoint = Arc::new(endpoint);
    let blocking = endpoint.clone();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(ask(&blocking, LARGE + 1))
    });
    until(|| endpoint.service().reading.load(SeqCst) == 1).await;
    _go_on.send(()).unwrap();
    assert_eq!(thread.join().unwrap().0, 200);
}

/// Runs its work when it is allowed to.
struct Later(Arc<tokio::sync::Semaphore>);

impl Offload for Later {
    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        let told = self.0.clone();
        Box::pin(async move {
            told.acquire_owned().await.unwrap().forget();
            work();
        })
    }
}

/// A service whose contract and page have this length.
struct Shown(&'static Description);

impl Shown {
    fn of(length: usize) -> Self {
        let text = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let document = text(format!("<definitions>{}</definitions>", " ".repeat(length)));
        let page = text(format!("service Large\ndocumentation\n{}", "\ttext\n".repeat(length / 6)));
        let documents: &'static [Document] = Box::leak(Box::new([Document::wsdl(document)]));
        let description = Description::new("Large", "urn:large", &[]).with_documents(documents, "http://h/");
        Shown(Box::leak(Box::new(description.with_page(Page::new(page, 0)))))
    }
}

impl Service for Shown {
    fn description(&self) -> &'static Description {
        self.0
    }

    fn call(&self, request: RequestMessage, _: &castile_soap::Options) -> Pending {
        Box::pin(std::future::ready(ReplyMessage::empty(request.version)))
    }
}

fn shown(length: usize) -> (Endpoint<Shown>, Arc<tokio::sync::Semaphore>) {
    let mut options = Options::default();
    let later = Later(Arc::new(tokio::sync::Semaphore::new(0)));
    let told = later.0.clone();
    options.messages.offload = Some(Offloading::new(DEFAULT_OFFLOAD_ABOVE, Arc::new(later)));
    (Endpoint::with_options(Shown::of(length), options), told)
}

/// Regression: each request for a contract of several MB blocked a thread that drives connections.
#[tokio::test]
async fn a_large_contract_is_made_on_a_worker_thread() {
    let targets = if cfg!(feature = "page") { &["/?wsdl", "/"][..] } else { &["/?wsdl"] };
    for target in targets {
        let get = || http::Request::get(*target).body(String::new()).unwrap();
        let (small, _) = shown(1_000);
        assert_eq!(support::ask(&small, get()).await.status(), 200, "{target}");
        let (large, told) = shown(LARGE);
        let mut asked = tokio::spawn({
            let large = large.clone();
            async move { support::ask(&large, get()).await }
        });
        assert!(timeout(Duration::from_millis(50), &mut asked).await.is_err(), "{target}");
        told.add_permits(1);
        let response = asked.await.unwrap();
        assert_eq!(response.status(), 200, "{target}");
        assert!(response.body().ends_with(if *target == "/" { "</html>\n" } else { "</definitions>" }), "{target}");
    }
}

/// Drops all work without running it.
struct Nobody;

impl Offload for Nobody {
    fn run(&self, _: Work) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Regression: the answer was empty, where all other rejections have a reason.
#[tokio::test]
async fn a_contract_that_can_not_be_made_is_a_described_failure() {
    let (endpoint, _) = shown(LARGE);
    let endpoint = endpoint.configure(|options| {
        options.messages.offload = Some(Offloading::new(DEFAULT_OFFLOAD_ABOVE, Arc::new(Nobody)));
    });
    let response = support::ask(&endpoint, http::Request::get("/?wsdl").body(String::new()).unwrap()).await;
    assert_eq!(response.status(), 500);
    assert_eq!(response.headers()["content-type"], "text/plain; charset=utf-8");
    assert_eq!(response.body(), "the server failed to make the response\n");
}

/// Regression: after changing other options, the endpoint had workers.
#[tokio::test]
async fn options_without_workers_stay_so() {
    let (endpoint, _) = slow(1, |options| options.messages.offload = None);
    let endpoint = endpoint.address(Address::default()).configure(|options| {
        assert!(options.messages.offload.is_none());
    });
    assert_eq!(ask(&endpoint, 1_000).await.0, 200);
}

/// Regression: any number of requests made it at the same time.
#[tokio::test]
async fn a_large_contract_needs_a_slot_of_work() {
    let (endpoint, told) = shown(LARGE);
    let host = Host::start(Server::new().max_requests_in_flight(1).max_requests_queued(0), endpoint);
    let (mut first, mut second) = (host.connect(), host.connect());
    first.send("GET /?wsdl HTTP/1.1\r\nhost: h\r\n\r\n").await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    second.send("GET /?wsdl HTTP/1.1\r\nhost: h\r\n\r\n").await;
    assert!(second.response().await.0.starts_with("http/1.1 503 "));
    told.add_permits(1);
    assert!(first.response().await.1.len() > LARGE);
    told.add_permits(1);
    second.send("GET /?wsdl HTTP/1.1\r\nhost: h\r\n\r\n").await;
    assert!(second.response().await.1.len() > LARGE);
}
