//! Large messages are read and written elsewhere than where they are waited for.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

use bytes::Bytes;
use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Encoder, Error, FromXml, ToXml};
use castile_mime::Packaging;
use castile_soap::{
    Actions, Description, Dispatch, Error as SoapError, Fault, NoDetail, Offload, Offloading, Operation, Options,
    Payload, Pending, Reply, Request, Root, Service, SizeHint, Version, Work, client,
};
use futures_util::future::BoxFuture;

/// Texts, with the name of the thread that read them.
#[derive(Debug)]
struct List {
    text: Vec<String>,
    read_by: String,
}

fn here() -> String {
    thread::current().name().unwrap_or("unnamed").to_owned()
}

static TEXT: [Element; 1] = [Element::new("urn:l", "text", 0).occurs(0, None)];

impl FromXml for List {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let list =
            decoder.complex(element, |decoder| Ok(List { text: decoder.repeated(&TEXT, 0)?, read_by: here() }))?;
        assert_ne!(list.text.first().map(String::as_str), Some("panic"));
        Ok(list)
    }
}

/// Writes the name of the thread that writes first.
impl ToXml for List {
    fn content(&self, out: &mut Encoder) {
        out.element("<text>", &format!("read by {}, written by {}", self.read_by, here()), "</text>");
        out.repeated("<text>", &self.text, "</text>");
    }
}

const ROOT: Root = Root::new(Element::new("urn:l", "list", 1), "<list xmlns=\"urn:l\">", "</list>");

/// An operation for each test: it remembers what was answered last.
const fn operation(name: &'static str) -> Operation {
    let actions = Actions { request: name, response: "" };
    let response = Some(ROOT);
    Operation {
        name,
        action: name,
        actions,
        request: ROOT,
        response,
        request_header: &[],
        response_size: SizeHint::new(),
    }
}

static OPERATIONS: [Operation; 5] =
    [operation("read"), operation("write"), operation("again"), operation("client"), operation("panic")];

/// Answers with so many texts as the first one says, or with what came.
struct Lists;

impl Dispatch for Lists {
    const DESCRIPTION: &'static Description = &Description {
        name: "Lists",
        namespace: "urn:l",
        documentation: "",
        wsdl: "",
        address: "",
        operations: &OPERATIONS,
    };

    fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        payload.handle(|list: List| async move {
            let handled_by = here();
            assert!(!handled_by.contains("elsewhere"), "handlers stay where they are");
            let text = match list.text.first().and_then(|text| text.parse::<usize>().ok()) {
                Some(number) => vec!["text".repeat(100); number],
                None => list.text,
            };
            Ok::<_, Fault<NoDetail>>(List { text, read_by: list.read_by })
        })
    }
}

/// Threads with a name of their own, counted.
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

fn call(action: &str, message: impl Into<Bytes>, options: &Options) -> Reply {
    let service: Arc<dyn Service> = Arc::new(Lists);
    let request = Request::new(Version::Soap11, message).with_action(action);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(service.call(request, options))
}

/// Where the message of a reply was read and written.
fn places(reply: &Reply) -> [bool; 2] {
    let message = String::from_utf8(reply.message.bytes().unwrap().to_vec()).unwrap();
    let line = message.split("<text>").nth(1).unwrap_or(&message);
    ["read by elsewhere", "written by elsewhere"].map(|place| line.contains(place))
}

#[test]
fn a_large_request_kept_those_who_wait_from_being_served() {
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
fn a_large_response_kept_those_who_wait_from_being_served() {
    let (options, threads) = options();
    for (number, expected, so_far) in [(3, false, 0), (1_000, true, 1), (1_000, true, 2), (3, true, 3), (3, false, 3)] {
        let reply = call("write", message(&[&number.to_string()]), &options);
        assert_eq!(places(&reply), [false, expected], "{number}");
        let length = reply.message.bytes().unwrap().len();
        assert!((number * 400..number * 420 + 500).contains(&length), "{length}");
        assert_eq!(threads.0.load(Relaxed), so_far);
    }
}

#[test]
fn a_large_request_that_is_read_again_is_read_elsewhere_again() {
    let (options, threads) = options();
    let large = message(&[
        "3",
        &"x".repeat(10_000),
        "<x:Include xmlns:x='http://www.w3.org/2004/08/xop/include' href='cid:a'/>",
    ]);
    let service: Arc<dyn Service> = Arc::new(Lists);
    let mut request = Request::new(Version::Soap11, large).with_action("again");
    request.packaging = Some(Packaging::Mtom);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let reply = runtime.block_on(service.call(request, &options));
    // A text can't be included: that is found where it is read first.
    assert!(reply.is_fault());
    assert_eq!(threads.0.load(Relaxed), 1);
}

#[test]
fn a_large_answer_kept_other_calls_from_being_made() {
    let (options, threads) = options();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (texts, expected) in [(1, false), (1_000, true)] {
        let answer = Bytes::from(message(&vec!["a long text, or so"; texts]));
        let read = client::response_package::<List, (), (), NoDetail>(&OPERATIONS[3], answer.into(), &options);
        let (list, (), ()) = runtime.block_on(read).unwrap().unwrap();
        assert_eq!((list.text.len(), list.read_by == "elsewhere"), (texts, expected));
    }
    assert_eq!(threads.0.load(Relaxed), 1);
}

#[test]
fn a_panic_elsewhere_is_a_fault() {
    let (options, _) = options();
    let reply = call("panic", message(&["panic", &"x".repeat(10_000)]), &options);
    assert!(reply.is_fault());
}
