//! Tests of requests with WS-Addressing and their answers, in both versions of WS-Addressing and of SOAP.
//!
//! `addressing/*.xml` are requests of SOAP 1.1 with WS-Addressing 1.0. Each is sent in all four combinations. An instruction
//! `<?test …?>` before the envelope sets up the test: `action` is the action of the transport, `usage` the server's option,
//! `declared` what the contract declares, `allow` the prefix of addresses to which replies may be sent, and `role` an additional
//! role of the server. `*.replies` are the expected answers. Requests named `ok-` get no fault; requests named `bad-` get only
//! faults.
//!
//! `BLESS=1 cargo test -p castile-soap --test addressing` updates the expected answers. Review the changes with git.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use castile_databinding::AnyType;
use castile_databinding::schema::Element;
use castile_soap::addressing::{Call, Declared, FaultKind, Problem, Replies, Responses, Usage, Version as Addressing};
use castile_soap::{
    Description, Dispatch, Error, Fault, Layer, Next, Operation, Options, Payload, Pending, ReplyMessage, Request,
    RequestMessage, Response, Root, Service, Version, client, from_fn,
};
use common::{ENVELOPE, Note, Trouble, text};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

const ECHO: Root = Root::new(Element::new("urn:n", "echo", 1), "<echo xmlns=\"urn:n\">", "</echo>");
const SHARED: Root = Root::new(Element::new("urn:n", "shared", 2), "<shared xmlns=\"urn:n\">", "</shared>");
const TELL: Root = Root::new(Element::new("urn:n", "tell", 3), "<tell xmlns=\"urn:n\">", "</tell>");
const ANSWER: Root = Root::new(Element::new("urn:n", "answer", 7), "<answer xmlns=\"urn:n\">", "</answer>");

const fn operation(
    action: &'static str,
    request_action: &'static str,
    request: Root,
    response: Option<Root>,
) -> Operation {
    let operation = Operation::new("operation", action, request).with_actions(request_action, "urn:n/Notes/answer");
    Operation { response, ..operation }
}

static OPERATIONS: [Operation; 4] = [
    operation("urn:n/echo", "urn:n/Notes/echoRequest", ECHO, Some(ANSWER)),
    operation("", "urn:n/Notes/first", SHARED, Some(ANSWER)),
    operation("", "urn:n/Notes/second", SHARED, Some(ANSWER)),
    operation("", "urn:n/Notes/tell", TELL, None),
];

/// The service. `DECLARED` selects what the contract declares: nothing, that WS-Addressing is required, or where responses may be
/// sent.
struct Notes<const DECLARED: u8>;

impl<const DECLARED: u8> Dispatch for Notes<DECLARED> {
    fn description(&self) -> &'static Description {
        const {
            &Description::new("Notes", "urn:n", &OPERATIONS).with_addressing(Declared {
                required: DECLARED == 1,
                responses: match DECLARED {
                    2 => Responses::Anonymous,
                    3 => Responses::NonAnonymous,
                    _ => Responses::Anywhere,
                },
            })
        }
    }

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, Error> {
        let work = async move |request: Request<Note>| match request.get_ref().text.as_str() {
            "sad" => Err(Fault::sender("I am sad").with_detail(Trouble::Sad(request.into_inner()))),
            "panic" => panic!("as it was told"),
            "closed" => {
                let version = request.addressing().map(|properties| properties.version).unwrap_or_default();
                let retry = Problem::RetryAfter(Duration::from_millis(1500));
                Err(FaultKind::EndpointUnavailable.fault(version, "we open at nine", Some(retry)))
            }
            "context" => {
                let properties = request.addressing().unwrap();
                let parameters =
                    properties.reference_parameters.iter().map(|block| block.read::<AnyType>().unwrap().text());
                let parameters: Vec<String> = parameters.collect();
                let text =
                    format!("{:?} {} {:?} {parameters:?}", request.version(), request.action(), properties.relates_to);
                Ok(Note { text })
            }
            text => Ok(Note { text: format!("{operation}: {text}") }),
        };
        match operation {
            3 => payload.handle(async move |request| work(request).await.map(|_| Response::new(()))),
            _ => payload.handle(async move |request| work(request).await.map(Response::new)),
        }
    }
}

/// Stores replies that are sent to other addresses.
struct Outbox {
    allow: String,
    sent: Arc<Mutex<String>>,
}

impl Replies for Outbox {
    fn allows(&self, address: &str) -> bool {
        address.starts_with(&self.allow)
    }

    fn send(&self, address: String, action: String, reply: ReplyMessage) -> BoxFuture<'static, ()> {
        let line = format!("sent to {address}, {action}\n{}\n", shown(&reply));
        self.sent.lock().unwrap().push_str(&line);
        std::future::ready(()).boxed()
    }
}

/// Shows a reply, with one line for each header block and without random ids.
fn shown(reply: &ReplyMessage) -> String {
    let message = text(&reply.message);
    let mut shown = match &reply.fault {
        None if message.is_empty() => "nothing".to_owned(),
        None => "response".to_owned(),
        Some(code) => format!("fault {code:?}"),
    };
    if !reply.action.is_empty() {
        write!(shown, ", {}", reply.action).unwrap();
    }
    let mut message = message.as_str();
    let mut known = String::new();
    while let Some((before, rest)) = message.split_once("urn:uuid:") {
        known += before;
        known += "RANDOM";
        message = &rest[36..];
    }
    known += message;
    let known = known.replace("><wsa:", ">\n  <wsa:").replace("<soap:Body>", "\n<soap:Body>");
    format!("{shown}\n{known}")
}

/// Returns the value of a pseudo-attribute of the instruction `test`.
fn given<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let instruction = request.strip_prefix("<?test ")?.split_once("?>").unwrap().0;
    let (_, rest) = instruction.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"').unwrap().0)
}

/// Returns the answers to a request in these versions.
fn answers(request: &str, version: Version, addressing: Addressing) -> (Vec<bool>, String) {
    let mut message = request.replace(ENVELOPE, version.namespace());
    if version == Version::Soap12 {
        message = message.replace("e:actor", "e:role");
    }
    if addressing == Addressing::Submission {
        message = message.replace(Addressing::Recommendation.anonymous(), addressing.anonymous());
        // The submission has no none address.
        let none = Addressing::Recommendation.none().unwrap();
        message = message.replace(
            &format!("\"{}\"", Addressing::Recommendation.namespace()),
            &format!("\"{}\"", addressing.namespace()),
        );
        assert_eq!(message.contains(none), request.contains(none));
    }
    let mut options = Options::default();
    options.addressing.usage = match given(request, "usage") {
        None => Usage::AsDeclared,
        Some("ignored") => Usage::Ignored,
        Some("supported") => Usage::Supported,
        Some("required") => Usage::Required,
        Some(other) => panic!("{other}"),
    };
    options.roles = given(request, "role").map(str::to_owned).into_iter().collect();
    let sent = Arc::default();
    if let Some(allow) = given(request, "allow") {
        options.addressing.replies = Some(Arc::new(Outbox { allow: allow.to_owned(), sent: Arc::clone(&sent) }));
    }
    let action = given(request, "action").unwrap_or_default();
    let request_message = RequestMessage::new(version, message).with_action(action);
    let pending = match given(request, "declared") {
        None => Notes::<0>.call(request_message, &options),
        Some("required") => Notes::<1>.call(request_message, &options),
        Some("anonymous") => Notes::<2>.call(request_message, &options),
        Some("non-anonymous") => Notes::<3>.call(request_message, &options),
        Some(other) => panic!("{other}"),
    };
    let reply = pending.now_or_never().unwrap();
    let sent = sent.lock().unwrap().clone();
    let faults = vec![reply.is_fault(), sent.contains("\nfault ")];
    (faults, format!("{sent}{}", shown(&reply)))
}

#[test]
fn requests_are_answered_as_is_written() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut files: Vec<_> = fs::read_dir("tests/addressing").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "xml"));
    files.sort();
    assert!(files.len() > 40);
    let mut different = Vec::new();
    for file in files {
        let request = fs::read_to_string(&file).unwrap();
        let mut found = String::new();
        let is_ok = file.file_name().unwrap().to_str().unwrap().starts_with("ok-");
        for version in Version::ALL {
            for addressing in Addressing::ALL {
                let (faults, answer) = answers(&request, version, addressing);
                if is_ok && faults.contains(&true) && !(addressing == Addressing::Submission && answer.contains("none"))
                {
                    different.push(format!("{} is answered by a fault: {answer}", file.display()));
                }
                writeln!(found, "==== {version:?} {addressing:?}\n{answer}").unwrap();
            }
        }
        let expected = file.with_extension("replies");
        if bless {
            fs::write(&expected, found).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != found {
            different.push(format!("{}\n{found}", expected.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Any broken request is answered. Only the handler that is asked to panic does.
#[test]
fn broken_headers_are_refused() {
    for entry in fs::read_dir("tests/addressing").unwrap() {
        let path = entry.unwrap().path();
        let request = fs::read_to_string(&path).unwrap();
        if path.extension().is_none_or(|extension| extension != "xml") || request.contains("panic") {
            continue;
        }
        let header = request.find("<e:Header>").unwrap()..request.find("</e:Header>").unwrap();
        for place in header.step_by(3).filter(|place| request.is_char_boundary(*place)) {
            let mut without = request.clone();
            without.remove(place);
            for broken in [&without, &request[..place]] {
                let message = RequestMessage::new(Version::Soap11, broken.to_owned());
                let reply = Notes::<0>.call(message, &Options::default()).now_or_never().unwrap();
                assert!(!text(&reply.message).contains("the service failed"), "{broken}");
            }
        }
    }
}

/// Regression test: if the action was for a role of ours, a layer learned no operation, and the service called one.
#[test]
fn a_layer_learns_the_operation_of_an_action_for_a_role_of_ours() {
    let message = format!(
        "<e:Envelope xmlns:e=\"{ENVELOPE}\" xmlns:a=\"{}\"><e:Header>\
         <a:Action e:actor=\"urn:ours\">urn:n/Notes/second</a:Action>\
         <a:MessageID e:actor=\"urn:ours\">urn:1</a:MessageID></e:Header>\
         <e:Body><shared xmlns=\"urn:n\"><text>hello</text></shared></e:Body></e:Envelope>",
        Addressing::Recommendation.namespace()
    );
    let mut options = Options::default();
    options.roles.push("urn:ours".to_owned());
    let request = || RequestMessage::new(Version::Soap11, message.clone());
    let reply = Notes::<0>.call(request(), &options).now_or_never().unwrap();
    assert!(text(&reply.message).contains("2: hello"), "{}", text(&reply.message));
    let layer = from_fn(|request: RequestMessage, next: Next| async move {
        let operation = next.operation(&request).map(|operation| operation.actions.request);
        request.refuse(next.options(), &Fault::sender(format!("{operation:?}"))).await
    });
    let reply = layer.layer(Notes::<0>).call(request(), &options).now_or_never().unwrap();
    let answer = text(&reply.message);
    assert!(answer.contains("Ok(") && answer.contains("urn:n/Notes/second"), "{answer}");
}

#[test]
fn every_file_of_replies_has_its_request() {
    for entry in fs::read_dir("tests/addressing").unwrap() {
        let path = entry.unwrap().path();
        assert!(Path::new(&path).with_extension("xml").exists(), "{}", path.display());
    }
}

/// Sends a client's request to the service and reads the answer.
fn exchange(version: Version, addressing: Addressing, change: impl Fn(String) -> String) -> Result<Note, String> {
    let call = Call::new(addressing, &OPERATIONS[0], "http://here.example/").unwrap();
    let note = Note { text: "hello".into() };
    let options = Options::default().with_call(call);
    let request = client::request_package(version, &OPERATIONS[0], &note, &[], &options, None, Vec::new());
    let request = request.unwrap().message;
    let reply =
        Notes::<1>.call(RequestMessage::new(version, text(&request)), &Options::default()).now_or_never().unwrap();
    let answer =
        client::response::<Note, Trouble>(&OPERATIONS[0], change(text(&reply.message)).as_bytes(), None, &options);
    answer.map_err(|error| error.to_string())?.map_err(|fault| fault.to_string())
}

/// Regression test: an action of 10 MB was answered with 10 MB.
#[test]
fn quotations_in_faults_are_cut() {
    // The maximum size of a header is 256 KiB.
    let long = "x".repeat(200_000);
    for version in Version::ALL {
        for addressing in Addressing::ALL {
            let call = Call::new(addressing, &OPERATIONS[0], "http://here.example/").unwrap();
            let note = Note { text: "hello".into() };
            let options = Options::default().with_call(call);
            let request = client::request_package(version, &OPERATIONS[0], &note, &[], &options, None, Vec::new());
            let request = text(&request.unwrap().message);
            let unknown = request.replace("urn:n/Notes/echoRequest", &long);
            assert!(unknown.len() > long.len());
            let reply =
                Notes::<1>.call(RequestMessage::new(version, unknown), &Options::default()).now_or_never().unwrap();
            let answer = text(&reply.message);
            assert!(reply.is_fault() && answer.contains("xxx… (") && answer.len() < 30_000, "{answer:.2000}");
        }
    }
}

#[test]
fn clients_take_the_answer_to_their_request_alone() {
    for version in Version::ALL {
        for addressing in Addressing::ALL {
            assert_eq!(exchange(version, addressing, |answer| answer).unwrap().text, "0: hello");
            let understood = |answer: String| answer.replace("<wsa:Action ", "<wsa:Action soap:mustUnderstand=\"1\" ");
            assert_eq!(exchange(version, addressing, understood).unwrap().text, "0: hello");
            let other = |answer: String| {
                answer
                    .replace("RelatesTo xmlns:wsa=\"".to_owned().as_str(), "RelatesTo a=\"\" xmlns:wsa=\"")
                    .replace("\">urn:uuid:", "\">urn:uuid:0")
            };
            let error = exchange(version, addressing, other).unwrap_err();
            assert!(error.contains("the answer relates to \"urn:uuid:0"), "{error}");
            // A server without WS-Addressing.
            let bare = |answer: String| {
                let (start, rest) = answer.split_once("<soap:Header>").unwrap();
                format!("{start}{}", rest.split_once("</soap:Header>").unwrap().1)
            };
            assert_eq!(exchange(version, addressing, bare).unwrap().text, "0: hello");
        }
    }
}

#[test]
fn clients_without_it_name_the_block_that_they_dont_understand() {
    let message = format!(
        "<e:Envelope xmlns:e=\"{ENVELOPE}\" xmlns=\"urn:n\"><e:Header><wsa:Action e:mustUnderstand=\"1\" \
         xmlns:wsa=\"{}\">a</wsa:Action></e:Header><e:Body><answer><text/></answer></e:Body></e:Envelope>",
        Addressing::Recommendation.namespace()
    );
    let answer = client::response::<Note, Trouble>(&OPERATIONS[0], message.as_bytes(), None, &Options::default());
    let error = answer.unwrap_err().to_string();
    let expected =
        "the header block <Action> of \"http://www.w3.org/2005/08/addressing\" must be understood, but is not";
    assert!(error.contains(expected), "{error}");
}

/// In SOAP 1.1 the detail of a fault about a header is in the header. A client still gets it as the detail.
#[test]
fn clients_read_the_detail_of_faults_of_addressing() {
    for version in Version::ALL {
        let request = fs::read_to_string("tests/addressing/bad-no-message-id.xml").unwrap();
        let message = request.replace(ENVELOPE, version.namespace());
        let reply = Notes::<0>.call(RequestMessage::new(version, message), &Options::default()).now_or_never().unwrap();
        let answer = client::response::<Note, Trouble>(
            &OPERATIONS[0],
            text(&reply.message).as_bytes(),
            None,
            &Options::default(),
        );
        let fault = answer.unwrap().unwrap_err();
        let castile_soap::Detail::Other(detail) = &fault.detail else { panic!("{fault:?}") };
        assert!(detail.contains("ProblemHeaderQName") && detail.contains("wsa:MessageID"), "{detail}");
    }
}
