//! A handwritten service in the form of generated code.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(dead_code, unreachable_pub, reason = "every test file has a copy of its own and uses a part of it")]

use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Encoder, Error, ExpandedName, FromXml, ToXml};
use castile_mime::Content;
use castile_soap::{
    Description, Dispatch, Document, Error as SoapError, Fault, FaultDetail, NoDetail, Operation, Options, Payload,
    Pending, ReplyMessage, Request, RequestMessage, Response, Root, Service, Version,
};
use castile_xml::Charset;
use futures_util::FutureExt;

/// The content of all messages in these tests: a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub text: String,
}

static NOTE: [Element; 1] = [Element::new("urn:n", "text", 0)];

impl FromXml for Note {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| Ok(Note { text: decoder.required(&NOTE, 0)? }))
    }
}

impl ToXml for Note {
    fn content(&self, out: &mut Encoder) {
        assert_ne!(self.text, "panic when written");
        out.element("<text>", &self.text, "</text>");
    }
}

/// The details of faults of `echo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    Sad(Note),
    Angry(Note),
}

impl FaultDetail for Trouble {
    const ELEMENTS: &'static [Element] = &[Element::new("urn:n", "sad", 10), Element::new("urn:n", "angry", 11)];

    fn read(decoder: &mut Decoder<'_>, index: usize) -> Result<Self, Error> {
        let element = &Self::ELEMENTS[index];
        match index {
            0 => decoder.root(element).map(Trouble::Sad),
            _ => decoder.root(element).map(Trouble::Angry),
        }
    }

    fn write(&self, out: &mut Encoder) {
        match self {
            Trouble::Sad(note) => out.element("<sad xmlns=\"urn:n\">", note, "</sad>"),
            Trouble::Angry(note) => out.element("<angry xmlns=\"urn:n\">", note, "</angry>"),
        }
    }

    fn index(&self) -> usize {
        match self {
            Trouble::Sad(_) => 0,
            Trouble::Angry(_) => 1,
        }
    }
}

pub const fn operation(name: &'static str, action: &'static str, request: Root) -> Operation {
    let element = Element::new("urn:n", "answer", 7);
    Operation::new(name, action, request).with_actions(action, "urn:n/answer").with_response(Root::new(
        element,
        "<answer xmlns=\"urn:n\">",
        "</answer>",
    ))
}

const ECHO: Root = Root::new(Element::new("urn:n", "echo", 1), "<echo xmlns=\"urn:n\">", "</echo>");
const SHARED: Root = Root::new(Element::new("urn:n", "shared", 2), "<shared xmlns=\"urn:n\">", "</shared>");

pub static OPERATIONS: [Operation; 3] = [
    operation("echo", "urn:n/echo", ECHO),
    operation("first", "urn:n/first", SHARED),
    operation("second", "urn:n/second", SHARED),
];

/// Answers with the name of the operation and the text, and first does what the text asks for.
pub struct Notes;

pub static DESCRIPTION: Description =
    Description::new("Notes", "urn:n", &OPERATIONS).with_documents(&[Document::wsdl("")], "");

impl Dispatch for Notes {
    fn description(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
        match operation {
            0 => payload.handle(move |request: Request<Note>| {
                // A handler is a function that returns a future. This panics in the function, the other texts in the future.
                assert_ne!(request.get_ref().text, "panic at once");
                echo(request)
            }),
            number => payload.handle(move |request: Request<Note>| async move {
                let text = format!("{}: {}", OPERATIONS[number].name, request.into_inner().text);
                Ok::<_, Fault<NoDetail>>(Note { text }.into())
            }),
        }
    }
}

async fn echo(request: Request<Note>) -> Result<Response<Note>, Fault<Trouble>> {
    let request = request.into_inner();
    match request.text.as_str() {
        "panic" => panic!("as it was told"),
        "panic later" => {
            futures_util::future::ready(()).await;
            tokio::task::yield_now().await;
            panic!("as it was told, later");
        }
        "unwritable" => Ok(Note { text: "a\u{0}b".into() }.into()),
        "unwritable detail" => {
            Err(Fault::sender("see detail").with_detail(Trouble::Sad(Note { text: "\u{1}".into() })))
        }
        "sad" => Err(Fault::sender("I am sad").with_detail(Trouble::Sad(request))),
        _ => Ok(request.into()),
    }
}

/// Sends a message to the service. Returns whether the answer is a fault, and the answer.
pub fn ask(action: &str, message: impl Into<String>) -> (bool, String) {
    ask_in(None, action, message.into())
}

/// Sends a message with this charset to the service. Returns whether the answer is a fault, and the answer.
pub fn ask_in(charset: Option<Charset>, action: &str, message: impl Into<Vec<u8>>) -> (bool, String) {
    let reply = call(RequestMessage::new(Version::Soap11, message.into()).with_action(action).with_charset(charset));
    (reply.is_fault(), text(&reply.message))
}

/// Sends a message with the media type of `version` to the service.
pub fn ask_as(version: Version, message: impl Into<Vec<u8>>) -> ReplyMessage {
    call(RequestMessage::new(version, message.into()))
}

/// Returns the text of a message in memory.
pub fn text(message: &Content) -> String {
    String::from_utf8(message.bytes().unwrap().to_vec()).unwrap()
}

fn call(request: RequestMessage) -> ReplyMessage {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut options = Options::default();
    options.understood = vec![ExpandedName::new("urn:h", "known")];
    runtime.block_on(Notes.call(request, &options).boxed())
}

pub const ENVELOPE: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// Converts a message of SOAP 1.1 to another version.
pub fn in_version(version: Version, message: &str) -> String {
    message.replace(ENVELOPE, version.namespace())
}

/// Returns an envelope with this content.
pub fn envelope(content: &str) -> String {
    format!("<e:Envelope xmlns:e=\"{ENVELOPE}\" xmlns=\"urn:n\">{content}</e:Envelope>")
}

/// Returns an envelope with this content in its body.
pub fn body(content: &str) -> String {
    envelope(&format!("<e:Body>{content}</e:Body>"))
}

/// Returns a note for `echo`.
pub fn note(text: &str) -> String {
    body(&format!("<echo><text>{text}</text></echo>"))
}

/// Asserts that a message is answered with a fault with this code and reason, and that the next message is answered normally. A
/// reason without a place may be contained in the actual reason.
pub fn assert_fault(message: impl Into<String>, code: &str, reason: &str) {
    let message = message.into();
    let (is_fault, answer) = ask("", &message[..]);
    let shown = format!("{message}\n{answer}");
    assert!(is_fault, "{shown}");
    let inner = |name: &str| {
        answer.split_once(&format!("<{name}>")).and_then(|(_, rest)| rest.split_once("</")).map(|(inner, _)| inner)
    };
    assert_eq!(inner("faultcode"), Some(&*format!("soap:{code}")), "{shown}");
    let found = inner("faultstring").unwrap().replace("&lt;", "<").replace("&gt;", ">");
    if reason.ends_with(')') {
        assert_eq!(found, reason, "{shown}");
    } else {
        assert!(found.contains(reason) && found.contains("(line "), "{shown}\n{reason}");
    }
    assert_eq!(ask("", note("next")), (false, OK.replace("TEXT", "next")));
}

pub const OK: &str = "<soap:Envelope xmlns:soap=\"http://schemas.xmlsoap.org/soap/envelope/\"><soap:Body>\
    <answer xmlns=\"urn:n\"><text>TEXT</text></answer></soap:Body></soap:Envelope>";

/// Returns the message with which a fault is sent.
pub fn answer_with(version: Version, fault: Fault<Trouble>) -> String {
    struct Faulty(Fault<Trouble>);
    impl Dispatch for Faulty {
        fn description(&self) -> &'static Description {
            &DESCRIPTION
        }

        fn dispatch(&self, _: usize, payload: Payload<'_>) -> Result<Pending, SoapError> {
            let fault = self.0.clone();
            payload.handle(move |_: Request<Note>| async move { Err::<Response<Note>, _>(fault) })
        }
    }
    let request = RequestMessage::new(version, in_version(version, &note("t")));
    let reply = Faulty(fault).call(request, &Options::default()).now_or_never().unwrap();
    assert!(reply.is_fault());
    text(&reply.message)
}
