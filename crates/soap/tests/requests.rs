//! Tests of requests and responses as methods and callers use them. Header blocks are read on demand.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile_databinding::schema::Element;
use castile_databinding::{Any, Decoder, Encoder, ExpandedName};
use castile_mime::Part;
use castile_soap::{
    AnyHeader, Description, Dispatch, Error, Fault, FaultCode, Header, Headers, NoDetail, Operation, Options, Payload,
    Pending, ReplyMessage, Request, RequestMessage, Response, Root, Service, Version, WriteHeader, client,
};
use common::{ENVELOPE, Note, text};
use futures_util::FutureExt;
use http::header::{HeaderValue, RETRY_AFTER, SERVER};

/// A header block that the contract declares for requests.
#[derive(Clone, Debug, PartialEq)]
struct Ticket(i32);

impl Header for Ticket {
    const ELEMENT: &'static Element = &Element::new("urn:h", "ticket", 20);

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, castile_databinding::Error> {
        Ok(Some(Ticket(decoder.root(Self::ELEMENT)?)))
    }

    fn write(&self, out: &mut Encoder) {
        out.element("<ticket xmlns=\"urn:h\">", &self.0, "</ticket>");
    }
}

/// A header block that the contract declares for responses.
#[derive(Debug, PartialEq)]
struct Left(i32);

impl Header for Left {
    const ELEMENT: &'static Element = &Element::new("urn:h", "left", 21);

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, castile_databinding::Error> {
        Ok(Some(Left(decoder.root(Self::ELEMENT)?)))
    }

    fn write(&self, out: &mut Encoder) {
        out.element("<left xmlns=\"urn:h\">", &self.0, "</left>");
    }
}

const ECHO: Root = Root::new(Element::new("urn:n", "echo", 1), "<echo xmlns=\"urn:n\">", "</echo>");

const TELL: Root = Root::new(Element::new("urn:n", "tell", 2), "<tell xmlns=\"urn:n\">", "</tell>");

static OPERATIONS: [Operation; 2] = [
    common::operation("echo", "urn:n/echo", ECHO).with_headers(&[Ticket::ELEMENT], &[Left::ELEMENT]),
    Operation::new("tell", "urn:n/tell", TELL),
];

/// Reads the header blocks that the text names, and answers with them.
struct Desk;

impl Dispatch for Desk {
    fn description(&self) -> &'static Description {
        const { &Description::new("Desk", "urn:n", &OPERATIONS) }
    }

    fn dispatch(&self, operation: usize, payload: Payload<'_>) -> Result<Pending, Error> {
        match operation {
            0 => payload.handle(answer),
            _ => payload.handle(async |_: Request<Note>| {
                let part = Part::attachment("text/plain", "t")?;
                Ok::<_, Fault>(Response::new(()).with_header(Left(1)).with_attachment(part))
            }),
        }
    }
}

async fn answer(request: Request<Note>) -> Result<Response<Note>, Fault> {
    let names = |blocks: Vec<AnyHeader>| -> Vec<String> {
        blocks.iter().map(|block| format!("{} {:?}", block.block.xml(), block.role)).collect()
    };
    let text = match request.get_ref().text.as_str() {
        "ticket" => format!("{:?}", request.header::<Ticket>()?),
        "twice" => format!("{:?}", (request.header::<Ticket>()?, request.header::<Ticket>()?)),
        "or none" => format!("{:?}", request.header::<Ticket>().is_err()),
        "another" => {
            assert!(request.header::<Ticket>().is_err());
            return Err(Fault::sender("of its own"));
        }
        "named" => names(request.headers_named("urn:h", "ticket")?).join(", "),
        "all" => names(request.headers()?).join(", "),
        "left" => {
            let Ticket(number) = request.header()?.unwrap_or(Ticket(0));
            return Ok(Response::new(request.into_inner()).with_header(Left(number - 1)));
        }
        _ => "nothing".to_owned(),
    };
    Ok(Note { text }.into())
}

fn message(version: Version, header: &str, text: &str) -> String {
    let message = format!(
        "<e:Envelope xmlns:e=\"{ENVELOPE}\" xmlns:h=\"urn:h\"><e:Header>{header}</e:Header>\
         <e:Body><echo xmlns=\"urn:n\"><text>{text}</text></echo></e:Body></e:Envelope>"
    );
    common::in_version(version, &message)
}

/// Returns the text of the answer or the reason of the fault, and the message.
fn ask(version: Version, header: &str, text: &str) -> (Result<String, String>, String) {
    ask_with(&Options::default(), version, header, text)
}

fn ask_with(options: &Options, version: Version, header: &str, text: &str) -> (Result<String, String>, String) {
    let request = RequestMessage::new(version, message(version, header, text));
    let reply = Desk.call(request, options).now_or_never().unwrap();
    let message = common::text(&reply.message);
    let answer = client::response::<Note, NoDetail>(&OPERATIONS[0], message.as_bytes(), None, &Options::default());
    let answer = answer.unwrap().map(|note| note.text).map_err(|fault| fault.reason.to_string());
    assert_eq!(answer.is_err(), reply.is_fault());
    (answer, message)
}

#[test]
fn a_declared_block_is_read_when_the_method_asks_for_it() {
    let wrong_content = "Envelope/Header/ticket: \"x\" is not a valid xs:int (line 1, column";
    let second = "Envelope/Header/ticket[2]: a second header block <ticket>, where one was expected (line 1, column";
    for version in Version::ALL {
        for (header, asked, expected) in [
            ("", "ticket", Ok("None")),
            ("<h:ticket>7</h:ticket>", "ticket", Ok("Some(Ticket(7))")),
            ("<h:other/><h:ticket> 7 </h:ticket>", "twice", Ok("(Some(Ticket(7)), Some(Ticket(7)))")),
            ("<h:ticket>x</h:ticket>", "ticket", Err(wrong_content)),
            ("<h:ticket>7</h:ticket><h:ticket>8</h:ticket>", "ticket", Err(second)),
            // No header block is read, or the error is ignored.
            ("<h:ticket>x</h:ticket>", "nothing", Ok("nothing")),
            ("<h:ticket>7</h:ticket><h:ticket>8</h:ticket>", "nothing", Ok("nothing")),
            ("<h:ticket>x</h:ticket>", "or none", Ok("true")),
            // Blocks for other nodes are not for this node.
            ("<h:ticket e:actor='urn:b'>x</h:ticket>", "ticket", Ok("None")),
            ("<h:ticket e:actor='urn:b'>x</h:ticket><h:ticket>7</h:ticket>", "ticket", Ok("Some(Ticket(7))")),
        ] {
            let role = if version == Version::Soap11 { "e:actor" } else { "e:role" };
            let (answer, message) = ask(version, &header.replace("e:actor", role), asked);
            match expected {
                Ok(text) => assert_eq!(answer.as_deref(), Ok(text), "{header}"),
                Err(reason) => {
                    let found = answer.unwrap_err();
                    assert!(found.starts_with(reason), "{header}: {found}");
                    // A fault about a header has no detail about the body (SOAP 1.1 §4.4).
                    assert!(!message.contains("etail"), "{message}");
                }
            }
        }
    }
}

/// If a method fails for another reason, the fault is about the body, even if the method read header blocks before.
#[test]
fn a_fault_of_the_methods_own_is_about_the_body() {
    let (answer, message) = ask(Version::Soap11, "<h:ticket>x</h:ticket>", "another");
    assert_eq!(answer.unwrap_err(), "of its own");
    assert!(message.contains("<detail/>"), "{message}");
}

#[test]
fn header_blocks_are_found_by_their_name() {
    let header = "<h:ticket>1</h:ticket><o:ticket xmlns:o='urn:o'/><h:ticket e:actor='urn:b'>x</h:ticket>";
    let (answer, _) = ask(Version::Soap11, header, "named");
    let first = "<h:ticket xmlns:h=\"urn:h\">1</h:ticket> None";
    let last =
        format!("<h:ticket xmlns:h=\"urn:h\" xmlns:e=\"{ENVELOPE}\" e:actor='urn:b'>x</h:ticket> Some(\"urn:b\")");
    assert_eq!(answer.unwrap(), format!("{first}, {last}"));
    let (answer, _) = ask(Version::Soap11, header, "all");
    assert_eq!(answer.unwrap(), format!("{first}, <o:ticket xmlns:o='urn:o'/> None, {last}"));
    assert_eq!(ask(Version::Soap11, "", "all").0.unwrap(), "");
}

/// A method can be tested without a message.
#[test]
fn blocks_of_a_request_that_is_made_are_read_back() {
    let other = AnyHeader::from(Any::parse("<a xmlns='urn:a'/>").unwrap()).for_role("urn:b");
    let request = Request::new(Note { text: "left".into() }).with_header(Ticket(7)).with_header(other.clone());
    assert_eq!(request.header::<Ticket>().unwrap(), Some(Ticket(7)));
    assert_eq!(request.header::<Left>().unwrap(), None);
    assert_eq!(request.headers_named("urn:a", "a").unwrap()[0].role, other.role);
    assert_eq!(request.headers().unwrap().len(), 2);
    let response = answer(request).now_or_never().unwrap().unwrap();
    assert_eq!(response.header::<Left>().unwrap(), Some(Left(6)));
    assert_eq!(response.header::<Ticket>().unwrap(), None);
    assert_eq!((response.status(), response.into_inner().text.as_str()), (None, "left"));
    let twice = Request::new(()).with_header(Ticket(1)).with_header(Ticket(2));
    assert!(twice.header::<Ticket>().unwrap_err().to_string().contains("a second header block <ticket>"));
    assert_eq!(Request::new(()).header::<Ticket>().unwrap(), None);
}

#[test]
fn header_blocks_of_a_fault_are_read_back() {
    let other = AnyHeader::from(Any::parse("<a xmlns='urn:a'/>").unwrap());
    let fault: Fault = Fault::sender("R").with_header(Ticket(7)).with_header(other.clone());
    assert_eq!(fault.header::<Ticket>().unwrap(), Some(Ticket(7)));
    assert_eq!(fault.headers_named("urn:a", "a").unwrap(), [other]);
    assert_eq!((fault.headers().unwrap().len(), fault.headers_named("urn:a", "b").unwrap().len()), (2, 0));
    assert!(fault.http_headers().is_empty() && Response::new(()).http_headers().is_empty());
    let fault = fault.with_http_header(RETRY_AFTER, HeaderValue::from_static("60"));
    assert_eq!(fault.http_headers()[RETRY_AFTER], "60");
    let mut reply = ReplyMessage::from_fault(Version::Soap11, &fault);
    reply.http_headers_mut().insert(SERVER, HeaderValue::from_static("test"));
    assert_eq!(reply.http_headers()[RETRY_AFTER], "60");
    assert_eq!(reply.http_headers()[SERVER], "test");
    assert!(ReplyMessage::empty(Version::Soap11).http_headers().is_empty());
    // Header blocks and HTTP headers are ignored when faults are compared.
    assert_eq!(fault, Fault::sender("R"));
}

#[test]
fn blocks_have_a_role() {
    let block = Ticket(7).must_understand().for_role("urn:b").relayed();
    assert_eq!(Ticket(7).relayed().for_role("urn:b").must_understand(), block);
    let any = AnyHeader::from(Any::parse("<ticket xmlns='urn:h'>7</ticket>").unwrap());
    let any = any.must_understand().for_role("urn:b").relayed();
    assert_eq!((any.must_understand, any.role.as_deref(), any.relay), (true, Some("urn:b"), true));
    for (version, attributes) in [
        (Version::Soap11, "soap0:mustUnderstand=\"1\" soap0:actor=\"urn:b\""),
        (Version::Soap12, "soap0:mustUnderstand=\"true\" soap0:role=\"urn:b\" soap0:relay=\"true\""),
    ] {
        let blocks: [&dyn WriteHeader; 1] = [&block];
        let note = Note { text: "t".into() };
        let message = client::request_with(version, &OPERATIONS[0], &note, Headers::new(&blocks)).unwrap();
        let written =
            format!("<soap:Header><ticket xmlns:soap0=\"{}\" {attributes} xmlns=\"urn:h\">", version.namespace());
        assert!(text(&message).contains(&written), "{}", text(&message));
    }
    // The blocks are for another node.
    for version in Version::ALL {
        let request = Request::new(()).with_version(version).with_header(block.clone());
        assert_eq!(request.header::<Ticket>().unwrap(), None);
        let [block] = &request.headers().unwrap()[..] else { panic!("there is one") };
        assert!(block.must_understand && block.role.as_deref() == Some("urn:b"));
        assert_eq!(block.relay, version == Version::Soap12);
        assert_eq!(request.headers_named("urn:h", "ticket").unwrap(), std::slice::from_ref(block));
    }
    // The order of the calls doesn't matter: the version may be set last.
    let next = "http://www.w3.org/2003/05/soap-envelope/role/next";
    for (version, is_for_us) in [(Version::Soap11, false), (Version::Soap12, true)] {
        let request = Request::new(()).with_header(Ticket(7).for_role(next)).with_version(version);
        assert_eq!(request.header::<Ticket>().unwrap(), is_for_us.then_some(Ticket(7)));
    }
    let request = Request::new(()).with_header(Ticket(7).must_understand());
    assert_eq!(request.header::<Ticket>().unwrap(), Some(Ticket(7)));
}

#[test]
fn a_caller_reads_the_blocks_of_the_response() {
    let (answer, message) = ask(Version::Soap12, "<h:ticket>7</h:ticket>", "left");
    assert_eq!(answer.unwrap(), "left");
    let read = |message: String| {
        client::response_with::<Note, NoDetail>(&OPERATIONS[0], &message.into(), None, &Options::default())
            .unwrap()
            .unwrap()
    };
    let response = read(message.clone());
    assert_eq!(response.header::<Left>().unwrap(), Some(Left(6)));
    assert_eq!(response.headers().unwrap()[0].block.xml(), "<left xmlns=\"urn:h\">6</left>");
    // An invalid block doesn't matter if it is not read.
    let response = read(message.replace(">6<", ">six<"));
    let error = response.header::<Left>().unwrap_err().to_string();
    assert!(error.contains("Header/left: \"six\" is not a valid xs:int"), "{error}");
    assert_eq!(response.into_inner().text, "left");
}

#[test]
fn options_list_the_understood_blocks() {
    let (strict, mut options) = (Options::default(), Options::default());
    options.understood = vec![ExpandedName::new("urn:o", "known")];
    for version in Version::ALL {
        let block = |name: &str| format!("<o:{name} xmlns:o='urn:o' e:mustUnderstand='1'/>");
        let (answer, message) = ask(version, &block("known"), "nothing");
        let reason = "the header block <known> of \"urn:o\" must be understood, but is not";
        assert!(answer.unwrap_err().contains(reason) && message.contains("soap:MustUnderstand"), "{message}");
        let (answer, _) = ask_with(&options, version, &block("known"), "nothing");
        assert_eq!(answer.unwrap(), "nothing");
        let (answer, _) = ask_with(&options, version, &block("unknown"), "nothing");
        assert!(answer.unwrap_err().contains("<unknown> of \"urn:o\" must be understood"));

        // Clients check `mustUnderstand` too.
        let answer = message_of_answer(version, &block("known"));
        let read = |options| client::response::<Note, NoDetail>(&OPERATIONS[0], answer.as_bytes(), None, options);
        let error = read(&strict).unwrap_err().to_string();
        assert!(error.contains("must be understood"), "{error}");
        assert_eq!(read(&options).unwrap().unwrap().text, "t");
    }
}

fn message_of_answer(version: Version, header: &str) -> String {
    message(version, header, "t").replace("<echo ", "<answer ").replace("</echo>", "</answer>")
}

#[test]
fn a_request_that_is_made_has_no_surroundings() {
    let request = Request::new(1);
    assert_eq!((request.action(), request.version()), ("", Version::default()));
    assert!(request.peer().is_none() && request.deadline().is_none() && request.addressing().is_none());
    assert_eq!(request.map(|number| number + 1).into_inner(), 2);
}

/// Regression test: the reply was a package without an envelope.
#[test]
fn nothing_goes_with_a_response_that_is_none() {
    let message = common::body("<tell><text>t</text></tell>");
    let reply = Desk.call(RequestMessage::new(Version::Soap11, message), &Options::default()).now_or_never().unwrap();
    assert!(!reply.is_fault() && reply.parts.is_empty() && text(&reply.message).is_empty());
}

/// Regression test: the reply was a fault like those of the method itself, which clients don't retry.
#[test]
fn a_header_without_room_is_answered_as_any_message_without_room() {
    let budget = castile_budget::Budget::new(200_000);
    let header = format!("<o:long xmlns:o='urn:o'>{}</o:long>", "<a/>".repeat(10_000));
    for (asked, is_exhausted) in [("nothing", false), ("all", true)] {
        let mut request = RequestMessage::new(Version::Soap11, message(Version::Soap11, &header, asked));
        request.reservation = Some(std::sync::Arc::new(budget.reserve(120_000).unwrap()));
        let reply = Desk.call(request, &Options::default()).now_or_never().unwrap();
        let code = is_exhausted.then_some(FaultCode::Receiver);
        assert_eq!((reply.is_exhausted, &reply.fault), (is_exhausted, &code), "{}", text(&reply.message));
    }
}
