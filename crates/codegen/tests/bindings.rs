//! Generated code at work: operations of every kind that a binding can make of them.
//!
//! Each feature is a directory of `features`, whose `expected.rs` is compiled here; `features.rs` has those that are
//! about types.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use castile::codegen::HttpService;
use castile::http::Body;
use castile::http::server::{Endpoint, Routes, Server};
use castile::xml::Token;
use castile::{Any, AnyHeader, CallError, Detail, ExpandedName, Fault, FaultCode, Raw, Request, Response};
use http_body_util::{BodyExt, Full};
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

const SOAP: &str = "http://schemas.xmlsoap.org/soap/envelope/";

/// The module that was generated for a feature.
macro_rules! generated {
    ($feature:ident) => {
        #[deny(warnings)]
        #[allow(unreachable_pub, reason = "nobody reaches into a test")]
        mod $feature {
            include!(concat!("features/", stringify!($feature), "/expected.rs"));
            include!(concat!("features/", stringify!($feature), "/sizes.rs"));
        }
    };
}

generated!(any_header);
generated!(empty_body);
generated!(header_blocks);
generated!(one_way);
generated!(overloaded);
generated!(raw);
generated!(rpc_literal);
generated!(several_parts);
generated!(unsupported_bindings);

use any_header::KeyHeader;

/// Sends the content of an envelope.
async fn ask<S: HttpService>(server: &S, action: &str, content: &str) -> (u16, String) {
    let message = format!("<s:Envelope xmlns:s='{SOAP}'>{content}</s:Envelope>");
    post(server, action, message).await
}

async fn post<S: HttpService>(server: &S, action: &str, message: String) -> (u16, String) {
    let request =
        http::Request::post("/").header("content-type", "text/xml; charset=utf-8").header("soapaction", action);
    let response = server.service().call(request.body(Body::from(Bytes::from(message))).unwrap()).await;
    let response: Result<_, BoxError> = response.map_err(Into::into);
    let (head, body) = response.unwrap().into_parts();
    let body: Result<_, BoxError> = body.collect().await.map_err(Into::into);
    let body = body.unwrap().to_bytes();
    (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
}

/// What stands between two tags of an answer.
fn inside<'a>(answer: &'a str, tag: &str) -> &'a str {
    let start = answer.find(&format!("<{tag}>")).map(|at| at + tag.len() + 2);
    let end = answer.find(&format!("</{tag}>"));
    start.zip(end).map_or("", |(start, end)| &answer[start..end])
}

fn envelope(content: &str) -> String {
    format!("<soap:Envelope xmlns:soap=\"{SOAP}\">{content}</soap:Envelope>")
}

/// Whatever comes is noted, and answered with itself where there is an answer.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<String>>>);

impl Noting {
    fn note(&self, what: impl std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{what:?}"));
    }

    fn noted(&self) -> String {
        std::mem::take(&mut *self.0.lock().unwrap()).join("; ")
    }
}

// ---- raw ----

impl raw::Feature for Noting {
    async fn submit(&self, request: Request<Raw>) -> Result<Response<Raw>, Fault> {
        let request = request.into_inner();
        let mut lines = 0;
        let mut tokens = request.tokens()?;
        while let Some(token) = tokens.next()? {
            lines += usize::from(matches!(token, Token::StartTag(tag) if tag.name.local() == "line"));
        }
        let bytes = request.bytes().unwrap_or_default();
        self.note(String::from_utf8_lossy(&bytes));
        Ok(Raw::new(format!("<receipt xmlns=\"urn:raw\">{lines}</receipt>")).into())
    }

    async fn forward(&self, request: Request<Raw>) -> Result<Response<Raw>, Fault> {
        Ok(request.into_inner().into())
    }

    async fn note(&self, request: Request<Raw>) -> Result<Response<()>, Fault> {
        let request = request.into_inner();
        self.note(request.read::<String>()?);
        Ok(().into())
    }

    async fn typed(&self, request: Request<i32>) -> Result<Response<i32>, Fault> {
        Ok(request.into_inner().into())
    }
}

/// What comes is not touched, and what is sent isn't either.
#[tokio::test]
async fn raw_documents() {
    let service = Noting::default();
    let server = raw::FeatureServer::new(service.clone());
    let document =
        "<r:document xmlns:r='urn:raw'><r:line><!-- kept --><r:text>&#65;</r:text></r:line ><r:line/></r:document>";
    let (status, answer) = ask(&server, "submit", &format!("<s:Body>\n{document}</s:Body>")).await;
    assert_eq!((status, answer), (200, envelope("<soap:Body><receipt xmlns=\"urn:raw\">2</receipt></soap:Body>")));
    assert_eq!(service.noted(), format!("{document:?}"));

    let (status, answer) = ask(&server, "note", "<s:Body><receipt xmlns='urn:raw'>a &amp; b</receipt></s:Body>").await;
    assert_eq!((status, answer.as_str(), service.noted()), (202, "", "\"a & b\"".to_owned()));

    // What stands behind a document, and what is not well-formed, is found though nobody asks.
    for (content, expected) in [
        ("<document xmlns='urn:raw'/><more/>", "found &lt;more&gt; of no namespace, where &lt;/Body&gt; was expected"),
        ("<document xmlns='urn:raw'><a></b></document>", "end tag &lt;/b&gt; where &lt;/a&gt; was expected"),
    ] {
        let (status, answer) = ask(&server, "submit", &format!("<s:Body>{content}</s:Body>")).await;
        assert_eq!((status, answer.contains(expected)), (500, true), "{answer}");
    }
}

/// Prefixes that the envelope declared mean the same where a payload is sent on, whatever they are.
#[tokio::test]
async fn forwarded_xml_keeps_its_prefixes() {
    let server = raw::FeatureServer::new(Noting::default());
    for (around, payload, expected) in [
        ("", "<c:forward xmlns:c='urn:calls'><name>a</name></c:forward>", format!("<soap:Body xmlns:s=\"{SOAP}\">")),
        (
            " xmlns:c='urn:calls'",
            "<c:forward><name s:x='1'/></c:forward>",
            format!("<soap:Body xmlns:c=\"urn:calls\" xmlns:s=\"{SOAP}\">"),
        ),
        (
            " xmlns='urn:calls' xmlns:soap='urn:&amp;'",
            "<forward soap:a=''/>",
            format!(
                "<soap0:Body xmlns:soap0=\"{SOAP}\" xmlns:soap=\"urn:&amp;\" xmlns=\"urn:calls\" xmlns:s=\"{SOAP}\">"
            ),
        ),
    ] {
        let (status, answer) = ask(&server, "forward", &format!("<s:Body{around}>{payload}</s:Body>")).await;
        let end = expected.split_once(['0', ':']).map_or("", |(prefix, _)| prefix).replace('<', "</");
        let end = if expected.contains("<soap0") { "</soap0:Body>".to_owned() } else { format!("{end}:Body>") };
        assert_eq!((status, answer), (200, envelope(&format!("{expected}{payload}{end}"))));
    }
}

/// A client sends and gets XML, over a network, more than is copied and as a stream.
#[tokio::test]
async fn a_client_with_raw_documents() {
    let service = Noting::default();
    let client =
        raw::FeatureClient::with_transport("http://localhost/", raw::FeatureServer::new(service.clone())).unwrap();
    let long = format!("<document xmlns=\"urn:raw\"><line><text>{}</text></line></document>", "x".repeat(100_000));
    for request in [Raw::new(long.clone()), Raw::stream(Full::new(Bytes::from(long.clone())))] {
        let response = client.submit(&request).await.unwrap();
        assert_eq!(response.name().unwrap().to_string(), "{urn:raw}receipt");
        assert_eq!((response.read::<i32>().unwrap(), service.noted()), (1, format!("{long:?}")));
    }
    let once = Raw::stream(Full::new(Bytes::from(long)));
    client.submit(&once).await.unwrap();
    let error = client.submit(&once).await.unwrap_err().to_string();
    assert!(error.contains("can be sent only once"), "{error}");
    service.noted();
    client.note(&Raw::new("<receipt xmlns='urn:raw'>noted</receipt>")).await.unwrap();
    assert_eq!(service.noted(), "\"noted\"");
    assert_eq!(client.typed(&7).await.unwrap(), 7);
}

// ---- rpc/literal ----

impl rpc_literal::Feature for Noting {
    async fn echo(
        &self,
        request: Request<rpc_literal::EchoRequest2>,
    ) -> Result<Response<rpc_literal::EchoResponse>, Fault> {
        let rpc_literal::EchoRequest2 { person, r#type, count, anything } = request.into_inner();
        Ok(rpc_literal::EchoResponse { person, r#type, count, anything }.into())
    }

    async fn ping(&self, _: Request<rpc_literal::PingRequest>) -> Result<Response<rpc_literal::PingResponse>, Fault> {
        Ok(rpc_literal::PingResponse {}.into())
    }

    async fn some(
        &self,
        request: Request<rpc_literal::SomeRequest>,
    ) -> Result<Response<rpc_literal::SomeResponse>, Fault> {
        let request = request.into_inner();
        Ok(rpc_literal::SomeResponse { a: request.a, c: request.c }.into())
    }

    async fn write(
        &self,
        request: Request<rpc_literal::WriteRequest>,
    ) -> Result<Response<rpc_literal::WriteResponse>, Fault> {
        let request = request.into_inner();
        Ok(rpc_literal::WriteResponse { text: request.text }.into())
    }

    async fn bare(
        &self,
        request: Request<rpc_literal::BareRequest>,
    ) -> Result<Response<rpc_literal::BareResponse>, Fault> {
        let request = request.into_inner();
        Ok(rpc_literal::BareResponse { a: request.a }.into())
    }
}

/// Answers have the element that is called as the operation with `Response`, and the same parts.
#[tokio::test]
async fn rpc_literal_messages() {
    let server = rpc_literal::FeatureServer::new(Noting::default());
    let directory = Path::new("tests/features/rpc_literal");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut different = Vec::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "xml")) {
        let (status, answer) = post(&server, "", fs::read_to_string(file).unwrap()).await;
        let (name, found) = match status {
            200 => ("answer", answer),
            _ => {
                let reason = inside(&answer, "faultstring").replace("&lt;", "<").replace("&gt;", ">");
                ("error", format!("{}: {reason}\n", inside(&answer, "faultcode")))
            }
        };
        let is_right = file.file_name().unwrap().to_str().unwrap().starts_with("ok-");
        assert_eq!(status == 200, is_right, "{}: {found}", file.display());
        different.extend(support::compare(&file.with_extension(name), Some(&found)));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// One with parts was refused leniently too.
#[tokio::test]
async fn nil_wrappers_are_read_leniently() {
    let told = Noting::default();
    let listener = told.clone();
    let mut options = castile::http::server::Options::default();
    options.messages.leniency =
        Some(castile::Leniency::new(move |_, deviations| listener.note(deviations.to_string())));
    let server = rpc_literal::FeatureServer::with_options(Noting::default(), options);
    let nil = "<r:ping xmlns:r='urn:rpc' xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='true'";
    let some = nil.replace("ping", "some");
    for (call, expected, deviations) in [
        (format!("{nil}/>"), "pingResponse", ""),
        (format!("{nil}> </r:ping>"), "pingResponse", ""),
        (format!("{nil}><!-- nothing --> </r:ping>"), "pingResponse", ""),
        (format!("{some}><a>1</a><c>3</c></r:some>"), "<a>1</a>", "<some> is nil, where a value was expected"),
    ] {
        let (status, answer) = ask(&server, "", &format!("<s:Body>{call}</s:Body>")).await;
        assert!(status == 200 && answer.contains(expected), "{call}: {answer}");
        let told = told.noted();
        assert!(told.is_empty() == deviations.is_empty() && told.contains(deviations), "{call}: {told}");
    }
}

#[tokio::test]
async fn rpc_literal_by_client() {
    use rpc_literal::{EchoRequest2, EchoResponse, PersonOrDerived, PingRequest, PingResponse, Pupil, Size};
    let server = rpc_literal::FeatureServer::new(Noting::default());
    let client = rpc_literal::FeatureClient::with_transport("http://localhost/", server).unwrap();
    let pupil = Pupil { name: "Ada".into(), form: "5b".into(), ..Pupil::default() };
    let request =
        EchoRequest2 { person: PersonOrDerived::from(pupil), r#type: Size::Small, count: 3, anything: "text".into() };
    let EchoResponse { person, r#type, count, anything } = client.echo(&request).await.unwrap();
    assert_eq!(EchoRequest2 { person, r#type, count, anything }, request);
    assert_eq!(client.ping(&PingRequest {}).await.unwrap(), PingResponse {});
}

// ---- one-way ----

impl one_way::Feature for Noting {
    async fn note(&self, request: Request<one_way::Note>) -> Result<Response<()>, Fault> {
        let request = request.into_inner();
        self.note(&request.text);
        if request.text == "panic" {
            panic!("as it was told");
        }
        if request.text == "no" { Err(Fault::receiver("not now")) } else { Ok(().into()) }
    }

    async fn write(&self, request: Request<one_way::WriteRequest>) -> Result<Response<()>, Fault> {
        let request = request.into_inner();
        self.note(&request.text);
        Ok(().into())
    }

    async fn wake(&self, _: Request<()>) -> Result<Response<()>, Fault> {
        self.note("awake");
        Ok(().into())
    }
}

#[tokio::test]
async fn one_way_operations_have_an_empty_answer() {
    let noting = Noting::default();
    let server = one_way::FeatureServer::new(noting.clone());
    let client = one_way::FeatureClient::with_transport("http://localhost/", server.clone()).unwrap();
    client.note(&one_way::Note { text: "a".into() }).await.unwrap();
    client.write(&one_way::WriteRequest { text: "b".into() }).await.unwrap();
    client.wake().await.unwrap();
    assert_eq!(noting.noted(), r#""a"; "b"; "awake""#);

    let note = |text: &str| format!("<s:Body><note xmlns='urn:one_way'>{text}</note></s:Body>");
    assert_eq!(ask(&server, "note", &note("<text>c</text>")).await, (202, String::new()));
    assert_eq!(ask(&server, "wake", "<s:Body/>").await, (202, String::new()));
    assert_eq!(noting.noted(), r#""c"; "awake""#);

    // What can't be read, or is refused, is a fault: the sender learns of it if it cares.
    let (status, answer) = ask(&server, "note", &note("<other/>")).await;
    assert_eq!((status, inside(&answer, "faultcode")), (500, "soap:Client"), "{answer}");
    assert_eq!(noting.noted(), "");
    let Err(CallError::Fault { fault, .. }) = client.note(&one_way::Note { text: "no".into() }).await else { panic!() };
    assert_eq!(fault.code, FaultCode::Receiver);
    assert_eq!(fault.reason.as_str(), "not now");
    let Err(CallError::Fault { fault, .. }) = client.note(&one_way::Note { text: "panic".into() }).await else {
        panic!()
    };
    assert_eq!(fault.code, FaultCode::Receiver);
}

// ---- bodies that aren't one element ----

impl empty_body::Feature for Noting {
    async fn next(&self, _: Request<()>) -> Result<Response<i32>, Fault> {
        Ok(12.into())
    }

    async fn set(&self, request: Request<i32>) -> Result<Response<()>, Fault> {
        let request = request.into_inner();
        self.note(request);
        Ok(().into())
    }

    async fn reset(&self, _: Request<()>) -> Result<Response<()>, Fault> {
        self.note("reset");
        Ok(().into())
    }
}

#[tokio::test]
async fn bodies_may_be_empty() {
    let noting = Noting::default();
    let server = empty_body::FeatureServer::new(noting.clone());
    let client = empty_body::FeatureClient::with_transport("http://localhost/", server.clone()).unwrap();
    assert_eq!(client.next().await.unwrap(), 12);
    client.set(&7).await.unwrap();
    client.reset().await.unwrap();
    assert_eq!(noting.noted(), r#"7; "reset""#);

    // Twice: the second time the beginning is known.
    for _ in 0..2 {
        for body in ["<s:Body/>", "<s:Body></s:Body>", "<s:Header/><s:Body>\n<!-- nothing --></s:Body>"] {
            assert_eq!(ask(&server, "\"reset\"", body).await, (200, envelope("<soap:Body/>")));
        }
    }
    noting.noted();
    for (action, body, expected) in [
        ("", "<s:Body/>", r#"found the action "" with an empty body, where "next" or "reset" was expected"#),
        ("set", "<s:Body/>", r#"found the action "set" with an empty body, where "next" or "reset" was expected"#),
        (
            "reset",
            "<s:Body><a/></s:Body>",
            r#"found &lt;a&gt; of no namespace, where nothing for the action "reset" was expected"#,
        ),
        ("reset", "<s:Body>text</s:Body>", r#"found text "text", where an element was expected"#),
        ("reset", "<s:Body/><s:Body/>", "where &lt;/Envelope&gt; was expected"),
    ] {
        let (status, answer) = ask(&server, action, body).await;
        assert!(status == 500 && answer.contains(expected), "{body}: {answer}");
    }
    assert_eq!(noting.noted(), "");
}

impl several_parts::Feature for Noting {
    async fn echo(
        &self,
        request: Request<several_parts::EchoRequest>,
    ) -> Result<Response<several_parts::EchoResponse>, Fault> {
        let several_parts::EchoRequest { one, two, again } = request.into_inner();
        Ok(several_parts::EchoResponse { one, two, again }.into())
    }

    async fn pick(&self, request: Request<several_parts::Second>) -> Result<Response<()>, Fault> {
        let request = request.into_inner();
        self.note(request.id);
        Ok(().into())
    }

    async fn bare(
        &self,
        request: Request<several_parts::other::Content>,
    ) -> Result<Response<several_parts::other::Content>, Fault> {
        Ok(request.into_inner().into())
    }
}

#[tokio::test]
async fn bodies_may_hold_several_elements() {
    use several_parts::other::Content;
    use several_parts::{EchoRequest, EchoResponse, Second};
    let noting = Noting::default();
    let server = several_parts::FeatureServer::new(noting.clone());
    let client = several_parts::FeatureClient::with_transport("http://localhost/", server.clone()).unwrap();
    let two = Second { id: Some("x".into()), text: Some("t".into()) };
    let answer = client.echo(&EchoRequest { one: 1, two: two.clone(), again: 2 }).await.unwrap();
    assert_eq!(answer, EchoResponse { one: 1, two: two.clone(), again: 2 });
    client.pick(&two).await.unwrap();
    assert_eq!(noting.noted(), r#"Some("x")"#);
    for b in [vec![], vec![2, 3]] {
        assert_eq!(client.bare(&Content { a: 1, b: b.clone() }).await.unwrap(), Content { a: 1, b });
    }

    let namespace = "xmlns='urn:several_parts'";
    let echo = format!(
        "<s:Body><first {namespace}>1</first><second {namespace} id='i'/>\n<first {namespace}>2</first> </s:Body>"
    );
    let expected =
        "<soap:Body xmlns=\"urn:several_parts\"><first>1</first><second id=\"i\"></second><first>2</first></soap:Body>";
    for _ in 0..2 {
        assert_eq!(ask(&server, "", &echo).await, (200, envelope(expected)));
    }
    for (body, expected) in [
        (
            format!("<s:Body><first {namespace}>1</first></s:Body>"),
            "&lt;Body&gt; ends, where &lt;second&gt; was expected",
        ),
        (format!("<s:Body><first {namespace}>x</first></s:Body>"), "first: \"x\" is not a valid xs:int"),
        (
            echo.replace("</s:Body>", "<a/></s:Body>"),
            "found &lt;a&gt; of no namespace, where &lt;/Body&gt; was expected",
        ),
        (format!("{echo}<a/>"), "found &lt;a&gt; of no namespace, where &lt;/Envelope&gt; was expected"),
    ] {
        let (status, answer) = ask(&server, "echo", &body).await;
        assert!(status == 500 && answer.contains(expected), "{body}: {answer}");
    }
}

// ---- overloaded operations ----

impl overloaded::Feature for Noting {
    async fn find(&self, request: Request<i32>) -> Result<Response<String>, Fault> {
        let request = request.into_inner();
        Ok(format!("by id {request}").into())
    }

    async fn find2(&self, request: Request<String>) -> Result<Response<String>, Fault> {
        let request = request.into_inner();
        Ok(format!("by name {request}").into())
    }

    async fn add(&self, request: Request<overloaded::AddRequest>) -> Result<Response<overloaded::AddResponse>, Fault> {
        let request = request.into_inner();
        Ok(overloaded::AddResponse { text: request.text + "!" }.into())
    }

    async fn add2(
        &self,
        request: Request<overloaded::AddRequest2>,
    ) -> Result<Response<overloaded::AddResponse2>, Fault> {
        let request = request.into_inner();
        Ok(overloaded::AddResponse2 { number: request.number + 1 }.into())
    }

    async fn add3(&self, _: Request<overloaded::AddRequest3>) -> Result<Response<overloaded::AddResponse3>, Fault> {
        Err(Fault::receiver("no request comes here"))
    }
}

#[tokio::test]
async fn operations_with_the_same_name_are_distinguished() {
    let server = overloaded::FeatureServer::new(Noting::default());
    let client = overloaded::FeatureClient::with_transport("http://localhost/", server).unwrap();
    assert_eq!(client.find(&7).await.unwrap(), "by id 7");
    assert_eq!(client.find2(&"Ada".into()).await.unwrap(), "by name Ada");
    assert_eq!(client.add(&overloaded::AddRequest { text: "a".into() }).await.unwrap().text, "a!");
    assert_eq!(client.add2(&overloaded::AddRequest2 { number: 1 }).await.unwrap().number, 2);
    assert_eq!(client.add3(&overloaded::AddRequest3 { number: 1 }).await.unwrap().number, 2);
}

// ---- header blocks ----

use header_blocks::{EchoFault, LeftHeader, OthersHeader, Session, Value};

/// What comes in the header of `echo`: the declared blocks that are for us, and all others.
#[derive(Debug)]
#[expect(dead_code, reason = "it is printed")]
struct EchoRequestHeader {
    session: Option<Session>,
    others: Option<String>,
    others2: Vec<AnyHeader>,
}

impl EchoRequestHeader {
    fn read<T>(request: &Request<T>) -> Result<Self, castile::soap::Error> {
        let is_ours = |role: &str| role == "http://schemas.xmlsoap.org/soap/actor/next";
        let mut others = request.headers()?;
        others.retain(|block| {
            let is_declared = &*block.block.name().namespace == "urn:header_blocks";
            !is_declared || !block.role.as_deref().is_none_or(is_ours)
        });
        let text = request.header::<OthersHeader>()?.map(|block| block.0);
        Ok(EchoRequestHeader { session: request.header()?, others: text, others2: others })
    }
}

impl header_blocks::Feature for Noting {
    async fn echo(&self, request: Request<Value>) -> Result<Response<Value>, Fault<EchoFault>> {
        let header = EchoRequestHeader::read(&request)?;
        self.note(&header);
        let request = request.into_inner();
        let fault = Fault::sender("refused");
        match header.session {
            Some(session) if session.id < 0 => Err(fault.with_detail(EchoFault::SessionOver(session.user))),
            Some(session) => {
                let response = Response::new(request).with_header(LeftHeader(session.id - 1));
                Ok(header.others2.into_iter().fold(response, Response::with_header))
            }
            None if request.text == "others" => Err(fault.with_detail(EchoFault::Others("<>".into()))),
            None => Ok(request.into()),
        }
    }

    async fn begin(&self, _: Request<()>) -> Result<Response<()>, Fault> {
        Ok(Response::new(()).with_header(Session { id: 3, user: "Ada".into() }))
    }

    async fn ask(&self, request: Request<Value>) -> Result<Response<Value>, Fault> {
        self.note(request.header::<Session>()?.map(|session| session.id));
        Ok(request.into_inner().into())
    }

    async fn end(&self, request: Request<()>) -> Result<Response<()>, Fault> {
        self.note(request.header::<Session>()?.map(|session| session.id));
        Ok(().into())
    }
}

#[tokio::test]
async fn header_blocks_are_values() {
    let noting = Noting::default();
    let server = header_blocks::FeatureServer::new(noting.clone());
    let client = header_blocks::FeatureClient::with_transport("http://localhost/", server.clone()).unwrap();
    let value = Value { text: "t".into() };
    // What the answer to one gave goes with the next.
    let session: Session = client.begin().send().await.unwrap().header().unwrap().unwrap();
    assert_eq!(client.ask(&value).header(&session).await.unwrap(), value);
    client.end().header(&session).await.unwrap();
    client.end().await.unwrap();
    assert_eq!(noting.noted(), "Some(3); Some(3); None");

    let key = AnyHeader::from(Any::parse("<k:key xmlns:k='urn:k' a='&lt;'>1</k:key>").unwrap());
    let others = OthersHeader("x".into());
    let answer = client.echo(&value).header(&session).header(&others).header(&key).send().await.unwrap();
    assert_eq!(answer.header().unwrap(), Some(LeftHeader(2)));
    assert_eq!(answer.headers_named("urn:k", "key").unwrap(), [key]);
    assert_eq!(answer.headers().unwrap().len(), 2);
    assert_eq!(answer.into_inner(), value);

    // A fault about the header stands there and is a detail to the program as any other.
    let over = Session { id: -1, user: "Ada".into() };
    let (plain, asking) = (Value { text: "t".into() }, Value { text: "others".into() });
    for (call, detail) in [
        (client.echo(&plain).header(&over), EchoFault::SessionOver("Ada".into())),
        (client.echo(&asking), EchoFault::Others("<>".into())),
    ] {
        let answer = call.await;
        let Err(CallError::Fault { fault, .. }) = answer else { panic!("{answer:?}") };
        assert_eq!((fault.code, fault.detail), (FaultCode::Sender, Detail::Declared(detail)));
    }
    let body = "<s:Body><echo xmlns='urn:header_blocks'><text>t</text></echo></s:Body>";
    let message =
        format!("<s:Header><session xmlns='urn:header_blocks' id='-1'><user>A</user></session></s:Header>{body}");
    let (status, answer) = ask(&server, "", &message).await;
    let expected = "<soap:Header><sessionOver xmlns=\"urn:header_blocks\">A</sessionOver></soap:Header><soap:Body><soap:Fault><faultcode>soap:Client</faultcode><faultstring>refused</faultstring></soap:Fault></soap:Body>";
    assert_eq!((status, answer), (500, envelope(expected)));
    // What is wrong in a declared block is no fault about the body.
    let (status, answer) = ask(&server, "", &message.replace("-1", "x")).await;
    assert!(status == 500 && answer.contains("session") && !answer.contains("detail"), "{answer}");
}

#[tokio::test]
async fn leniency_is_for_header_blocks_too() {
    let told = Noting::default();
    let listener = told.clone();
    let mut options = castile::http::server::Options::default();
    options.messages.leniency =
        Some(castile::Leniency::new(move |_, deviations| listener.note(deviations.to_string())));
    let noting = Noting::default();
    let server = header_blocks::FeatureServer::with_options(noting.clone(), options);
    let message = |session: &str, text: &str| {
        let header = format!("<s:Header xmlns:h='urn:header_blocks'>{session}<o:other xmlns:o='urn:o'/></s:Header>");
        format!("{header}<s:Body><echo xmlns='urn:header_blocks'>{text}</echo></s:Body>")
    };
    let (right, wrong) = (
        "<h:session id='1'><h:user>A</h:user></h:session>",
        "<h:session id='1' new=''><h:user>A</h:user><h:new/></h:session>",
    );
    for (session, text, deviations) in [
        (right, "<text>t</text>", ""),
        (
            wrong,
            "<text>t</text>",
            "\"Envelope/Header/session: an attribute \\\"new\\\", which <session> does not have (line 1, column 121)\\n\
             Envelope/Header/session/new: found <new> of urn:header_blocks, where </session> was expected (line 1, column 146)\"",
        ),
        (
            right,
            "<text>t</text><new/>",
            "\"echo/new: found <new> of urn:header_blocks, where </echo> was expected (line 1, column 242)\"",
        ),
        (
            wrong,
            "<text>t</text><new/>",
            // The payload is read first, and the block when the method asks for it.
            "\"echo/new: found <new> of urn:header_blocks, where </echo> was expected (line 1, column 257)\"; \
             \"Envelope/Header/session: an attribute \\\"new\\\", which <session> does not have (line 1, column 121)\\n\
             Envelope/Header/session/new: found <new> of urn:header_blocks, where </session> was expected (line 1, column 146)\"",
        ),
    ] {
        let (status, answer) = ask(&server, "", &message(session, text)).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(told.noted(), deviations, "{session}");
        assert!(noting.noted().contains(r#"session: Some(Session { id: 1, user: "A" })"#));
    }
    // What is missing is an error still.
    let (status, answer) = ask(&server, "", &message("<h:session id='1' new=''/>", "<text>t</text>")).await;
    assert!(status == 500 && answer.contains("&lt;session&gt; ends, where &lt;user&gt; was expected"), "{answer}");
    assert_eq!((told.noted(), noting.noted()), (String::new(), String::new()));
}

#[tokio::test]
async fn header_blocks_are_read_where_they_stand() {
    let noting = Noting::default();
    let server = header_blocks::FeatureServer::new(noting.clone());
    let body = "<s:Body><echo xmlns='urn:header_blocks'><text>t</text></echo></s:Body>";
    let session = "<h:session id='1' s:mustUnderstand='1'><h:user>A</h:user></h:session>";
    let header =
        |blocks: &str| format!("<s:Header xmlns:h='urn:header_blocks' xmlns:o='urn:o'>{blocks}</s:Header>{body}");
    let other = |role: &str| format!("<o:other s:actor='{role}'><o:a>h:x</o:a></o:other>");
    let next = "http://schemas.xmlsoap.org/soap/actor/next";
    for (blocks, expected) in [
        (String::new(), "EchoRequestHeader { session: None, others: None, others2: [] }"),
        (
            format!("\n<!-- one -->{session}"),
            r#"EchoRequestHeader { session: Some(Session { id: 1, user: "A" }), others: None, others2: [] }"#,
        ),
        // Of those that are for another node the declared ones are kept with the others, and understood by nobody.
        (
            format!(
                "<h:others s:actor='urn:b' s:mustUnderstand='1'/><h:others s:actor='{next}'>x</h:others>{}",
                other("urn:c")
            ),
            r#"others: Some("x"), others2: [AnyHeader { block: Any { name: ExpandedName { namespace: "urn:header_blocks", local: "others" }"#,
        ),
    ] {
        for _ in 0..2 {
            let (status, answer) = ask(&server, "", &header(&blocks)).await;
            assert_eq!(status, 200, "{answer}");
            let noted = noting.noted();
            assert!(noted.contains(expected), "{noted}");
        }
    }
    for (blocks, expected) in [
        (
            "<h:session id='1'/>".to_owned(),
            "Envelope/Header/session: &lt;session&gt; ends, where &lt;user&gt; was expected (line 1, column",
        ),
        (
            format!("{session}{session}"),
            "Envelope/Header/session[2]: a second header block &lt;session&gt;, where one was expected",
        ),
        (
            "<o:other s:mustUnderstand='1'/>".to_owned(),
            "the header block &lt;other&gt; of \"urn:o\" must be understood, but is not",
        ),
        // Another operation declares it.
        (
            "<h:left s:mustUnderstand='1'>1</h:left>".to_owned(),
            "the header block &lt;left&gt; of \"urn:header_blocks\" must be understood",
        ),
    ] {
        let (status, answer) = ask(&server, "", &header(&blocks)).await;
        assert!(status == 500 && answer.contains(expected), "{blocks}: {answer}");
    }
    assert_eq!(noting.noted(), "");
}

impl any_header::Feature for Noting {
    async fn echo(&self, request: Request<String>) -> Result<Response<String>, Fault> {
        let key = request.header::<KeyHeader>()?.map(|block| block.0);
        let mut others = request.headers()?;
        others.retain(|block| &*block.block.name().namespace != "urn:any_header");
        // The client would not understand it.
        let known = others.pop_if(|block| &*block.block.name().namespace == "urn:known");
        self.note((key, known.map(|block| block.must_understand)));
        let response = Response::new(request.into_inner());
        Ok(others.into_iter().fold(response, Response::with_header))
    }

    async fn tell(&self, request: Request<String>) -> Result<Response<()>, Fault> {
        self.note(request.headers()?.len());
        Ok(().into())
    }

    async fn understands(&self, request: Request<()>) -> Result<Response<()>, Fault> {
        Ok(request.headers()?.into_iter().fold(Response::new(()), Response::with_header))
    }
}

/// A server that understands a block that no operation declares.
fn understanding(service: Noting) -> any_header::FeatureServer<Noting> {
    let mut options = castile::http::server::Options::default();
    options.messages.understood.push(ExpandedName::new("urn:known", "k"));
    any_header::FeatureServer::with_options(service, options)
}

#[tokio::test]
async fn any_header_block_is_at_hand_if_that_was_asked_for() {
    let noting = Noting::default();
    let server = understanding(noting.clone());
    let client = any_header::FeatureClient::with_transport("http://localhost/", server.clone()).unwrap();
    let plain = AnyHeader::from(
        Any::parse("<a xmlns='urn:a' xmlns:soap='urn:soap' xmlns:soap0='urn:b'><soap:b soap0:c=''/></a>").unwrap(),
    );
    let named = plain.clone().for_role("urn:role").must_understand();
    let known = AnyHeader::from(Any::parse("<k xmlns='urn:known'/>").unwrap()).must_understand();
    let (text, key) = ("t".to_owned(), KeyHeader(7));
    let call = client.echo(&text).header(&key).header(&plain).header(&named).header(&known);
    let answer = call.send().await.unwrap_or_else(|error| panic!("{error}"));
    let (others, text) = (answer.headers().unwrap(), answer.into_inner());
    assert_eq!((text.as_str(), noting.noted()), ("t", "(Some(7), Some(true))".to_owned()));
    let said: Vec<_> = others.iter().map(|other| (other.must_understand, other.role.as_deref())).collect();
    assert_eq!(said, [(false, None), (true, Some("urn:role"))]);
    assert_eq!(others[0].block.name(), plain.block.name());
    client.tell(&"t".into()).header(&plain).header(&plain).await.unwrap();
    assert_eq!(noting.noted(), "2");

    let (status, answer) = ask(&server, "understands", "<s:Header><a s:mustUnderstand='1'/></s:Header><s:Body/>").await;
    assert!(status == 500 && answer.contains("soap:MustUnderstand"), "{answer}");
    let (status, answer) = ask(&server, "understands", "<s:Header><a/></s:Header><s:Body/>").await;
    assert_eq!((status, inside(&answer, "soap:Header")), (200, "<a xmlns=\"\"/>"), "{answer}");
}

/// The attributes of a header block are those of the version that it is sent in.
#[tokio::test]
async fn header_blocks_of_soap_12() {
    let noting = Noting::default();
    let server = understanding(noting.clone());
    let soap12 = "http://www.w3.org/2003/05/soap-envelope";
    let ask = async |header: &str| {
        let message = format!(
            "<s:Envelope xmlns:s='{soap12}'><s:Header>{header}</s:Header><s:Body><echo xmlns='urn:any_header'>t</echo></s:Body></s:Envelope>"
        );
        let request = http::Request::post("/").header("content-type", "application/soap+xml");
        let response = server.service().call(request.body(Body::from(Bytes::from(message))).unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
    };
    let (status, answer) = ask(
        "<key xmlns='urn:any_header' s:mustUnderstand='true' s:relay='true'>7</key><a xmlns='urn:a' s:role='urn:b'/>",
    )
    .await;
    let expected = format!("<a xmlns='urn:a' xmlns:s=\"{soap12}\" s:role='urn:b'/>");
    assert_eq!(status, 200, "{answer}");
    let block = Any::parse(inside(&answer, "soap:Header")).unwrap();
    assert_eq!((block.name().local.as_str(), block.xml().contains("s:role='urn:b'")), ("a", true), "{expected}");
    assert_eq!(noting.noted(), "(Some(7), None)");
    let (status, answer) = ask("<key s:mustUnderstand='true'>7</key>").await;
    assert!(status == 500 && answer.contains("soap:MustUnderstand") && answer.contains("NotUnderstood"), "{answer}");
}

// ---- over a socket ----

#[tokio::test]
async fn clients_call_servers_over_a_socket() {
    let noting = Noting::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = |path: &str| format!("http://{}/{path}", listener.local_addr().unwrap());
    let routes = Routes::new()
        .route("/rpc", Endpoint::from(rpc_literal::FeatureServer::new(noting.clone())))
        .route("/header", Endpoint::from(header_blocks::FeatureServer::new(noting.clone())))
        .route("/empty", Endpoint::from(empty_body::FeatureServer::new(noting.clone())))
        .route("/one_way", Endpoint::from(one_way::FeatureServer::new(noting.clone())));
    let rpc = rpc_literal::FeatureClient::new(&url("rpc")).unwrap();
    let header = header_blocks::FeatureClient::new(&url("header")).unwrap();
    let empty = empty_body::FeatureClient::new(&url("empty")).unwrap();
    let one_way = one_way::FeatureClient::new(&url("one_way")).unwrap();
    let server = tokio::spawn(Server::new().serve(listener, routes, std::future::pending()));
    for _ in 0..3 {
        let parts = rpc.some(&rpc_literal::SomeRequest { a: 1, c: 3 }).await.unwrap();
        assert_eq!(parts, rpc_literal::SomeResponse { a: 1, c: 3 });
        one_way.note(&one_way::Note { text: "a".into() }).await.unwrap();
        one_way.wake().await.unwrap();
        empty.reset().await.unwrap();
        assert_eq!(empty.next().await.unwrap(), 12);
        let session: Session = header.begin().send().await.unwrap().header().unwrap().unwrap();
        let value = Value { text: "t".into() };
        assert_eq!(header.ask(&value).header(&session).await.unwrap(), value);
        header.end().header(&session).await.unwrap();
        assert_eq!(noting.noted(), r#""a"; "awake"; "reset"; Some(3); Some(3)"#);
    }
    server.abort();
}

// ---- what is left out ----

impl unsupported_bindings::Feature for Noting {
    async fn attach(&self, request: Request<i32>) -> Result<Response<i32>, Fault> {
        Ok((request.into_inner() + 1).into())
    }

    async fn fault(&self, request: Request<i32>) -> Result<Response<i32>, Fault> {
        Ok(request.into_inner().into())
    }
}

#[tokio::test]
async fn the_operations_that_are_not_left_out_work() {
    let server = unsupported_bindings::FeatureServer::new(Noting::default());
    let client = unsupported_bindings::FeatureClient::with_transport("http://localhost/", server).unwrap();
    assert_eq!(client.attach(&1).await.unwrap(), 2);
    assert_eq!(client.fault(&1).await.unwrap(), 1);
}
