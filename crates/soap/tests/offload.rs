//! Tests that large messages are read and written by workers.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use bytes::Bytes;
use castile_budget::Budget;
use castile_databinding::datatypes::Base64Binary;
use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Encoder, Error, FromXml, ToXml};
use castile_mime::{Limits, Message, Package, Packaging, Part, Related};
use castile_soap::{
    Description, Dispatch, Error as SoapError, Fault, NoDetail, Offload, Offloading, Operation, Options, Payload,
    Pending, ReplyMessage, Request, RequestMessage, Root, Service, Turn, Version, Work, client,
};
use futures_util::future::BoxFuture;
use tokio::sync::{Semaphore, oneshot};

/// Texts, with the name of the thread that read them.
#[derive(Debug)]
struct List {
    text: Vec<String>,
    data: Option<Base64Binary>,
    read_by: String,
}

fn here() -> String {
    thread::current().name().unwrap_or("unnamed").to_owned()
}

static CHILDREN: [Element; 2] =
    [Element::new("urn:l", "text", 0).occurs(0, None), Element::new("urn:l", "data", 2).occurs(0, Some(1))];

impl FromXml for List {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let list = decoder.complex(element, |decoder| {
            let (text, data) = (decoder.repeated(&CHILDREN, 0)?, decoder.optional(&CHILDREN, 1)?);
            Ok(List { text, data, read_by: here() })
        })?;
        assert_ne!(list.text.first().map(String::as_str), Some("panic"));
        Ok(list)
    }
}

/// Also writes the name of the thread that writes the value.
impl ToXml for List {
    fn content(&self, out: &mut Encoder) {
        out.element("<text>", &format!("read by {}, written by {}", self.read_by, here()), "</text>");
        out.repeated("<text>", &self.text, "</text>");
        out.optional("<data>", &self.data, "</data>");
    }
}

const ROOT: Root = Root::new(Element::new("urn:l", "list", 1), "<list xmlns=\"urn:l\">", "</list>");

/// Creates an operation. Each test has its own, because an operation stores the size of its last response.
const fn operation(name: &'static str) -> Operation {
    Operation::new(name, name, ROOT).with_response(ROOT)
}

static OPERATIONS: [Operation; 9] = [
    operation("read"),
    operation("write"),
    operation("again"),
    operation("client"),
    operation("panic"),
    operation("charged"),
    operation("turns"),
    operation("limited"),
    operation("ended"),
];

/// Answers with the number of texts that the first text gives, or with the received texts. Waits once before it answers "wait".
struct Lists;

/// How many handlers were called with the text "turn" or "wait".
static CALLED: AtomicUsize = AtomicUsize::new(0);
/// How many handlers were called with the text "charged".
static CHARGED: AtomicUsize = AtomicUsize::new(0);

impl Dispatch for Lists {
    fn description(&self) -> &'static Description {
        const { &Description::new("Lists", "urn:l", &OPERATIONS) }
    }

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        payload.handle(|request: Request<List>| async move {
            let list = request.into_inner();
            let handled_by = here();
            assert!(!handled_by.contains("elsewhere"), "handlers stay where they are");
            if list.text.get(1).is_some_and(|text| text == "charged") {
                CHARGED.fetch_add(1, Relaxed);
            }
            if let Some("turn" | "wait") = list.text.get(1).map(String::as_str) {
                CALLED.fetch_add(1, Relaxed);
                if list.text[1] == "wait" {
                    tokio::task::yield_now().await;
                }
            }
            let text = match list.text.first().and_then(|text| text.parse::<usize>().ok()) {
                Some(number) => vec!["text".repeat(100); number],
                None => list.text,
            };
            Ok::<_, Fault<NoDetail>>(List { text, data: list.data, read_by: list.read_by }.into())
        })
    }
}

/// Workers with a thread name of their own, which count their jobs.
#[derive(Default)]
struct Threads(AtomicUsize);

impl Offload for Threads {
    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        self.0.fetch_add(1, Relaxed);
        Box::pin(async move {
            let _ = thread::Builder::new().name("elsewhere".into()).spawn(work).unwrap().join();
        })
    }
}

/// Runs its jobs when the test tells it to. The number of turns is limited.
struct Later {
    works: Mutex<Vec<(Work, oneshot::Sender<()>)>>,
    turns: Arc<Semaphore>,
}

impl Later {
    fn new(turns: usize) -> (Options, Arc<Self>) {
        let later = Arc::new(Later { works: Mutex::default(), turns: Arc::new(Semaphore::new(turns)) });
        let mut options = Options::default();
        options.offload = Some(Offloading::new(10_000, later.clone()));
        (options, later)
    }

    fn waiting(&self) -> usize {
        self.works.lock().unwrap().len()
    }

    fn go_on(&self) {
        for (work, done) in std::mem::take(&mut *self.works.lock().unwrap()) {
            work();
            let _ = done.send(());
        }
    }
}

impl Offload for Later {
    fn run(&self, work: Work) -> BoxFuture<'static, ()> {
        let (done, is_done) = oneshot::channel();
        self.works.lock().unwrap().push((work, done));
        Box::pin(async { is_done.await.unwrap_or_default() })
    }

    fn turn(&self) -> BoxFuture<'static, Turn> {
        let turns = self.turns.clone();
        Box::pin(async { Box::new(turns.acquire_owned().await) as Turn })
    }
}

fn begin(action: &str, texts: &[&str], options: &Options, budget: &Budget) -> Pending {
    let mut request = RequestMessage::new(Version::Soap11, message(texts)).with_action(action);
    request.reservation = Some(Arc::new(budget.reserve(0).unwrap()));
    Arc::new(Lists).call(request, options)
}

fn poll(pending: &mut Pending) -> Poll<ReplyMessage> {
    pending.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn options() -> (Options, Arc<Threads>) {
    let threads = Arc::new(Threads::default());
    let mut options = Options::default();
    options.offload = Some(Offloading::new(10_000, threads.clone()));
    (options, threads)
}

fn message(texts: &[&str]) -> String {
    let texts: String = texts.iter().map(|text| format!("<text>{text}</text>")).collect();
    format!(
        "<e:Envelope xmlns:e='http://schemas.xmlsoap.org/soap/envelope/'><e:Body><list xmlns='urn:l'>{texts}</list></e:Body></e:Envelope>"
    )
}

fn call(action: &str, message: impl Into<Bytes>, options: &Options) -> ReplyMessage {
    let service: Arc<dyn Service> = Arc::new(Lists);
    let request = RequestMessage::new(Version::Soap11, message).with_action(action);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(service.call(request, options))
}

/// Returns whether the message of a reply was read and written by workers.
fn places(reply: &ReplyMessage) -> [bool; 2] {
    let message = String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap();
    let line = message.split("<text>").nth(1).unwrap_or(&message);
    ["read by elsewhere", "written by elsewhere"].map(|place| line.contains(place))
}

#[test]
fn a_large_request_blocked_waiting_requests() {
    let (options, threads) = options();
    assert_eq!(places(&call("read", message(&["a"]), &options)), [false, false]);
    assert_eq!(threads.0.load(Relaxed), 0);
    let large = message(&["3", &"x".repeat(10_000)]);
    assert_eq!(places(&call("read", large.clone(), &options)), [true, false]);
    let utf16: Vec<u8> = format!("\u{feff}{large}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(places(&call("read", utf16, &options)), [true, false]);
    assert_eq!(threads.0.load(Relaxed), 2);
}

#[test]
fn a_large_response_blocked_waiting_requests() {
    let (options, threads) = options();
    for (number, expected, so_far) in [(3, false, 0), (1_000, true, 1), (1_000, true, 2), (3, true, 3), (3, false, 3)] {
        let reply = call("write", message(&[&number.to_string()]), &options);
        assert_eq!(places(&reply), [false, expected], "{number}");
        let length = reply.message.bytes().unwrap().len();
        assert!((number * 400..number * 420 + 500).contains(&length), "{length}");
        assert_eq!(threads.0.load(Relaxed), so_far);
    }
}

/// The value of the first reading is no longer charged during the second one.
#[tokio::test]
async fn a_large_request_that_is_read_again_blocked_waiting_requests() {
    let (options, threads) = options();
    let texts = vec!["<text>3</text>"; 10_000].concat();
    let payload = |href: &str| {
        let include = format!("<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='{href}'/>");
        message(&[]).replace("</list>", &format!("{texts}<data>{include}</data></list>"))
    };
    let mut package = Package::new(Packaging::Mtom, "text/xml", Bytes::new().into()).unwrap();
    let id = package.next_id();
    package = Package::new(Packaging::Mtom, "text/xml", Bytes::from(payload(&id.to_url())).into()).unwrap();
    package.attach(Part::new(id, "text/plain", Bytes::from_static(b"data").into()).unwrap()).unwrap();
    let related = Related::parse(&package.content_type()).unwrap();
    let came = Message::read(&related, package.into_body(), Limits::default()).await.unwrap();

    let budget = Budget::new(600_000);
    let mut request = RequestMessage::new(Version::Soap11, came.root).with_action("again");
    request.packaging = Some(Packaging::Mtom);
    request.attachments = came.attachments;
    request.reservation = Some(Arc::new(budget.reserve(0).unwrap()));
    let service: Arc<dyn Service> = Arc::new(Lists);
    let reply = service.call(request, &options).await;
    let answer = String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap();
    assert!(answer.contains("<text>read by elsewhere") && answer.contains("<data>ZGF0YQ==</data>"), "{answer}");
    assert_eq!(threads.0.load(Relaxed), 2);
}

/// Regression test: 2 MB of elements with long namespace declarations were answered with 302 MB.
#[test]
fn an_answer_has_a_limit() {
    let (mut options, threads) = options();
    options.limits.written_size = 100_000;
    for (number, is_fault) in [("200", false), ("300", true), ("3", false), ("100000", true), ("200", false)] {
        let reply = call("limited", message(&[number]), &options);
        assert_eq!(reply.is_fault(), is_fault, "{number}");
        let message = String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap();
        assert!(!is_fault || message.contains("the answer has more than 97.7 KiB, which is the limit"), "{message}");
    }
    assert!(threads.0.load(Relaxed) > 0);
    // The limit also applies without workers.
    options.offload = None;
    assert!(!call("limited", message(&["200"]), &options).is_fault());
    assert!(call("limited", message(&["300"]), &options).is_fault());
}

/// Regression test: 300 such requests used 3.7 GB with a budget of 64 MiB.
#[tokio::test]
async fn values_that_wait_to_be_written_are_charged() {
    let (options, later) = Later::new(100);
    let budget = Budget::new(1_000_000);
    let mut first = begin("charged", &["1000"], &options, &budget);
    assert!(poll(&mut first).is_pending());
    later.go_on();
    let size = first.await.message.bytes().unwrap().len();
    assert!(size > 400_000 && budget.used() == 0, "{}", budget.used());
    // A small answer in between changes the estimate only a little.
    let mut small = begin("charged", &["1"], &options, &budget);
    assert!(poll(&mut small).is_pending());
    later.go_on();
    assert!(small.await.message.bytes().unwrap().len() < 10_000);
    let mut waiting: Vec<Pending> = (0..3).map(|_| begin("charged", &["1000", "charged"], &options, &budget)).collect();
    assert!(poll(&mut waiting[0]).is_pending() && poll(&mut waiting[1]).is_pending());
    assert_eq!(later.waiting(), 2);
    assert!((2 * size * 7 / 8..3 * size).contains(&budget.used()), "{}", budget.used());
    assert!(waiting.remove(2).await.is_exhausted);
    // A handler is not called if there is no memory for its answer.
    assert_eq!(CHARGED.load(Relaxed), 2);
    drop(waiting);
    drop(std::mem::take(&mut *later.works.lock().unwrap()));
    assert_eq!(budget.used(), 0);
}

/// Regression test: a thread continued to write for minutes after its request was answered with 503.
#[tokio::test]
async fn an_abandoned_answer_is_not_completed() {
    let (options, later) = Later::new(100);
    let budget = Budget::unlimited();
    let operation = &OPERATIONS[8];
    // The size of the last answer, or of the part that was written.
    let length = || format!("{:?}", operation.response_size).split(',').next().unwrap().to_owned();
    let mut dropped = begin(operation.name, &["1000"], &options, &budget);
    assert!(poll(&mut dropped).is_pending() && later.waiting() == 1);
    let unknown = length();
    drop(dropped);
    later.go_on();
    assert_eq!(length(), unknown);
    let mut awaited = begin(operation.name, &["1000"], &options, &budget);
    assert!(poll(&mut awaited).is_pending());
    later.go_on();
    assert!(!awaited.await.is_fault());
    assert_ne!(length(), unknown);
}

/// Regression test: other requests waited for seconds, because these handlers occupied all threads.
#[tokio::test]
async fn handlers_whose_answers_are_large_are_called_as_fast_as_these_are_written() {
    let (options, later) = Later::new(2);
    let budget = Budget::unlimited();
    let begun = |text: &str| (0..5).map(|_| begin("turns", &["1000", text], &options, &budget)).collect::<Vec<_>>();
    let mut all = begun("turn");
    // The size of these answers is not known yet.
    assert!(poll(&mut all[0]).is_pending() && later.waiting() == 1);
    for pending in &mut all[1..] {
        assert!(poll(pending).is_pending());
    }
    assert_eq!((CALLED.load(Relaxed), later.waiting()), (3, 3));
    later.go_on();
    for (number, pending) in all.iter_mut().enumerate() {
        assert_eq!(poll(pending).is_ready(), number < 3);
    }
    assert_eq!((CALLED.load(Relaxed), later.waiting()), (5, 2));
    later.go_on();
    drop(all);
    assert_eq!(later.turns.available_permits(), 2);
    // A handler that waits gives up its turn.
    let mut all = begun("wait");
    for pending in &mut all {
        assert!(poll(pending).is_pending());
    }
    assert_eq!((CALLED.load(Relaxed), later.waiting(), later.turns.available_permits()), (10, 0, 2));
}

#[test]
fn a_large_answer_blocked_other_calls() {
    let (options, threads) = options();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (texts, expected) in [(1, false), (1_000, true)] {
        let answer = Bytes::from(message(&vec!["a long text, or so"; texts]));
        let read = client::response_package::<List, NoDetail>(&OPERATIONS[3], answer.into(), &options, false);
        let list = runtime.block_on(read).unwrap().unwrap().into_inner();
        assert_eq!((list.text.len(), list.read_by == "elsewhere"), (texts, expected));
    }
    assert_eq!(threads.0.load(Relaxed), 1);
}

#[test]
fn a_panic_on_a_worker_thread_is_a_fault() {
    let (options, _) = options();
    let reply = call("panic", message(&["panic", &"x".repeat(10_000)]), &options);
    assert!(reply.is_fault());
}
