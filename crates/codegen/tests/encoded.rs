//! Generated code for SOAP encoding at work: the messages in `features/encoded` and what is answered to them.
//!
//! `ok-*.xml` is answered by `ok-*.answer`, `bad-*.xml` by a fault that says what `bad-*.error` says. Each is sent in two
//! ways: alone, and after all others, when all tags are known to the reader.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use castile::codegen::HttpService;
use castile::http::Body;
use castile::soap::Version;
use castile::{Any, Fault, Leniency, Request, Response, Shared};
use castile_wsdl::PartContent;
use castile_xml::tree::{Document, Element};
use castile_xsd::ExpandedName;
use castile_xsd::encoded::Encoding;
use castile_xsd::sample::Samples;
use http_body_util::BodyExt;
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

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

generated!(encoded);

use encoded::*;

/// What comes goes back.
#[derive(Clone)]
struct Echo;

impl Feature for Echo {
    async fn echo(&self, request: Request<EchoRequest>) -> Result<Response<EchoResponse>, Fault> {
        let request = request.into_inner();
        Ok(EchoResponse { point: request.point, size: request.size }.into())
    }

    async fn arrays(&self, request: Request<ArraysRequest>) -> Result<Response<ArraysResponse>, Fault> {
        let ArraysRequest { ints, points, matrix, rows, nested, names } = request.into_inner();
        Ok(ArraysResponse { ints, points, matrix, rows, nested, names }.into())
    }

    async fn graph(&self, request: Request<GraphRequest>) -> Result<Response<GraphResponse>, Fault> {
        let request = request.into_inner();
        Ok(GraphResponse { one: request.one, two: request.two }.into())
    }

    async fn animals(&self, request: Request<AnimalsRequest>) -> Result<Response<AnimalsResponse>, Fault> {
        let request = request.into_inner();
        Ok(AnimalsResponse { one: request.one, many: request.many }.into())
    }

    async fn open(&self, request: Request<OpenRequest>) -> Result<Response<OpenResponse>, Fault> {
        let request = request.into_inner();
        Ok(OpenResponse { open: request.open }.into())
    }

    async fn ping(&self, _: Request<PingRequest>) -> Result<Response<PingResponse>, Fault> {
        Ok(PingResponse {}.into())
    }

    /// Whoever asks for less than nothing is in trouble, which is itself in trouble.
    async fn outcome(
        &self,
        request: Request<OutcomeRequest>,
    ) -> Result<Response<OutcomeResponse>, Fault<OutcomeFault>> {
        let (ticket, result) = (request.header::<Point>()?, request.get_ref().result);
        if result.is_some_and(|result| result < 0) {
            return Err(Fault::sender("negative").with_detail(OutcomeFault::Trouble(trouble())));
        }
        let response = Response::new(OutcomeResponse { result });
        Ok(match ticket {
            Some(ticket) => response.with_header(ticket),
            None => response,
        })
    }

    async fn add(&self, request: Request<AddRequest>) -> Result<Response<AddResponse>, Fault> {
        let AddRequest { a, b } = request.into_inner();
        Ok(AddResponse { sum: a.zip(b).map(|(a, b)| a + b), a: b }.into())
    }
}

/// A node with the same child twice, which refers back to it.
fn trouble() -> Shared<Node> {
    Shared::cyclic(|me| {
        let child = Shared::new(Node { name: Some("child".to_owned()), next: Some(me), ..Node::default() });
        let children = Some([child.clone(), child].into_iter().collect());
        Node { name: Some("trouble".to_owned()), children, ..Node::default() }
    })
}

async fn post<S: HttpService>(server: &S, message: String) -> (u16, String) {
    let media_type = if message.contains("soap-envelope") { "application/soap+xml" } else { "text/xml" };
    let request = http::Request::post("/").header("content-type", format!("{media_type}; charset=utf-8"));
    let response = server.service().call(request.body(Body::from(message)).unwrap()).await;
    let response: Result<_, BoxError> = response.map_err(Into::into);
    let (head, body) = response.unwrap().into_parts();
    let body: Result<_, BoxError> = body.collect().await.map_err(Into::into);
    let body = body.unwrap().to_bytes();
    (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
}

/// Codes and reason of a fault.
fn fault(answer: &str) -> String {
    fn values(element: Element<'_>, found: &mut Vec<String>) {
        for child in element.elements() {
            match child.local() {
                "faultcode" | "Value" => found.push(child.text().trim().to_owned()),
                "Code" | "Subcode" => values(child, found),
                "faultstring" => found.push(child.text()),
                "Reason" => found.extend(child.elements().map(|text| text.text())),
                _ => {}
            }
        }
    }
    let document = Document::parse(answer).unwrap();
    let body = document.root().elements().next().unwrap();
    let mut found = Vec::new();
    values(body.elements().next().unwrap(), &mut found);
    found.join(": ") + "\n"
}

#[tokio::test]
async fn messages() {
    let server = FeatureServer::new(Echo);
    let directory = Path::new("tests/features/encoded");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "xml"));
    files.sort();
    assert!(!files.is_empty());
    let mut different = Vec::new();
    // Twice: the second time all tags are known to the reader.
    for file in files.iter().chain(&files) {
        let (status, answer) = post(&server, fs::read_to_string(file).unwrap()).await;
        let is_right = file.file_name().unwrap().to_str().unwrap().starts_with("ok-");
        assert_eq!(status == 200, is_right, "{}: {answer}", file.display());
        let (name, found) = if is_right { ("answer", answer) } else { ("error", fault(&answer)) };
        different.extend(support::compare(&file.with_extension(name), Some(&found)));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// What was answered is read as the same value, and answered with the same bytes.
#[tokio::test]
async fn answers_read_as_what_was_asked() {
    let server = FeatureServer::new(Echo);
    for name in ["struct", "arrays", "sparse", "shared", "cycle", "polymorphic", "open", "soap12", "soap12-graph"] {
        let answer = fs::read_to_string(format!("tests/features/encoded/ok-{name}.answer")).unwrap();
        let request = answer.replace("Response", "");
        assert_eq!(post(&server, request).await, (200, answer), "{name}");
    }
}

/// Messages made from the contract, with references and without, are taken in both versions; what is answered is the same value
/// as was asked, and answered with the same bytes.
#[tokio::test]
async fn samples_are_answered() {
    let server = FeatureServer::new(Echo);
    let (definitions, _) = castile_wsdl::read("tests/features/encoded/service.wsdl", &castile_xsd::Files::new());
    let definitions = definitions.unwrap();
    let mut count = 0;
    for operation in definitions.bindings.iter().flat_map(|binding| &binding.operations) {
        if !["echo", "arrays", "graph", "animals", "open", "ping"].contains(&operation.name.as_str()) {
            continue;
        }
        let input = operation.input.as_ref().unwrap();
        let name = ExpandedName::new(input.namespace.clone().unwrap(), operation.name.as_str());
        let parts = input.body.iter().map(|part| match part.content {
            PartContent::Type(type_id) => (part.name.clone(), type_id),
            PartContent::Element(_) => panic!("{} has an element", part.name),
        });
        let samples = |encoding| Samples::of_call(&definitions.schema, encoding, name.clone(), parts.clone());
        for (version, samples) in [
            (Version::Soap11, samples(Encoding::Soap11)),
            (Version::Soap11, samples(Encoding::Soap11).with_references()),
            (Version::Soap12, samples(Encoding::Soap12).with_references()),
        ] {
            for sample in samples {
                let sample = sample.unwrap();
                let namespace = version.namespace();
                let message = format!("<s:Envelope xmlns:s=\"{namespace}\"><s:Body>{sample}</s:Body></s:Envelope>");
                let (status, answer) = post(&server, message).await;
                assert_eq!(status, 200, "{sample}: {answer}");
                let asked = answer.replace("Response", "");
                assert_eq!(post(&server, asked).await, (200, answer), "{sample}");
                count += 1;
            }
        }
    }
    assert!(count > 100, "{count} samples");
}

/// An array says of what it is by a prefix that the tags of the contract leave to the envelope.
#[test]
fn a_call_by_itself_declares_what_it_uses() {
    let request = ArraysRequest { ints: Some([1, 2].into_iter().collect()), ..ArraysRequest::default() };
    let root = &FEATURE_OPERATIONS[1].request;
    let any = Any::from_value(root.start, &request, root.end).unwrap();
    assert_eq!(any.read::<ArraysRequest>().unwrap(), request);
    assert!(any.xml().contains("soapenc:arrayType"), "{}", any.xml());
}

/// A client sends what two places and a circle share, and gets it back as such.
#[tokio::test]
async fn graphs_keep_what_is_one() {
    for version in Version::ALL {
        let client = FeatureClient::with_transport("http://localhost/", FeatureServer::new(Echo)).unwrap();
        let client = client.with_options(support::options(|options| options.version = Some(version)));
        let node = |name: &str| Node { name: Some(name.to_owned()), ..Node::default() };
        let leaf = Shared::new(node("leaf"));
        let root = Shared::cyclic(|me| Node {
            next: Some(me),
            children: Some([leaf.clone(), leaf.clone()].into_iter().collect()),
            ..node("root")
        });
        let request = GraphRequest { one: Some(root), two: Some(leaf) };
        let GraphResponse { one, two } = client.graph(&request).await.unwrap();
        assert_eq!((&one, &two), (&request.one, &request.two));
        let (one, two) = (one.unwrap(), two.unwrap());
        let root = one.get().unwrap();
        assert!(root.next.as_ref().unwrap().is_same(&one));
        let children = &root.children.as_ref().unwrap().0;
        assert!(children.iter().flatten().all(|child| child.is_same(&two)));
        // Nothing holds itself: what was read goes away with who holds it.
        let back = one.downgrade();
        drop(one);
        assert!(back.upgrade().is_none());
    }
}

/// Who has verified a signature of the body has not verified the header. The reference may lead there through an element of the body, or
/// come back from there.
#[tokio::test]
async fn references_stay_in_the_body_if_that_is_all_that_was_verified() {
    let plain = FeatureServer::new(Echo);
    let mut options = castile::http::server::Options::default();
    options.messages.confines_references = true;
    let confined = FeatureServer::with_options(Echo, options);
    let message = fs::read_to_string("tests/features/encoded/ok-reference-to-header.xml").unwrap();
    let within =
        message.replace("<t:data id=\"s\">small</t:data>", "").replace("</c:echo>", "</c:echo><r id=\"s\">small</r>");
    for (message, refused) in [
        (message.clone(), true),
        (
            message
                .replace("</c:echo>", "</c:echo><r id=\"r\" href=\"#s\"/>")
                .replace("<size href=\"#s", "<size href=\"#r"),
            true,
        ),
        (
            message.replace(">small</t:data>", " href=\"#r\"/>").replace("</c:echo>", "</c:echo><r id=\"r\">small</r>"),
            true,
        ),
        (within, false),
    ] {
        assert_eq!(post(&plain, message.clone()).await.0, 200, "{message}");
        let (status, answer) = post(&confined, message.clone()).await;
        match refused {
            true => {
                assert!(fault(&answer).contains("before the part of the message that is read"), "{message}: {answer}")
            }
            false => assert_eq!(status, 200, "{message}: {answer}"),
        }
    }
}

/// A header block that refers into a large message had all of it read once more, where connections are driven.
#[tokio::test]
async fn a_header_block_refers_into_small_messages_alone() {
    let server = FeatureServer::new(Echo);
    let message = fs::read_to_string("tests/features/encoded/ok-header.xml").unwrap();
    for (padding, expected) in [
        (100_000, None),
        (
            300_000,
            Some(
                "soap:Client: Envelope/Header: a reference to an element after the header, which is only supported in \
                 messages of up to 262144 bytes",
            ),
        ),
    ] {
        let (before, behind) = message.split_once("<p id=").unwrap();
        let message = format!("{before}<q id=\"q\">{}</q><p id={behind}", " ".repeat(padding));
        let (status, answer) = post(&server, message).await;
        match expected {
            None => assert_eq!(status, 200, "{answer}"),
            Some(expected) => assert!(status == 500 && fault(&answer).starts_with(expected), "{}", fault(&answer)),
        }
    }
}

/// Header blocks and what faults say are values of SOAP encoding too.
#[tokio::test]
async fn header_blocks_and_faults_are_encoded() {
    for version in Version::ALL {
        let client = FeatureClient::with_transport("http://localhost/", FeatureServer::new(Echo)).unwrap();
        let client = client.with_options(support::options(|options| options.version = Some(version)));
        let ticket = Point { x: Some(1), y: Some(0.5), label: Some("a&b".to_owned()) };
        let answer = client.outcome(&OutcomeRequest { result: Some(7) }).header(&ticket).send().await.unwrap();
        assert_eq!(answer.header::<Point>().unwrap(), Some(ticket));
        assert_eq!(answer.into_inner(), OutcomeResponse { result: Some(7) });
        let answer = client.outcome(&OutcomeRequest { result: Some(-1) }).await;
        let Err(castile::CallError::Fault { fault, .. }) = answer else { panic!("{version:?}: {answer:?}") };
        let castile::Detail::Declared(OutcomeFault::Trouble(node)) = fault.detail else { panic!("{fault:?}") };
        assert_eq!(node, trouble());
        let children = &node.get().unwrap().children.as_ref().unwrap().0;
        assert!(children[0].as_ref().unwrap().is_same(children[1].as_ref().unwrap()));
    }
}

/// Leniency tolerates what types are named and nothing else: a struct of another type is read as the declared one, and told.
#[tokio::test]
async fn leniency_is_for_types_that_the_contract_does_not_have() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = told.clone();
    let mut options = castile::http::server::Options::default();
    options.messages.leniency = Some(Leniency::new(move |operation, deviations| {
        listener.lock().unwrap().push(format!("{}: {deviations}", operation.name));
    }));
    let (strict, lenient) = (FeatureServer::new(Echo), FeatureServer::with_options(Echo, options));
    let message = |body: &str| {
        format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:b='http://namespaces.soaplite.com/perl' \
             xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:c='urn:calls'><s:Body>{body}</s:Body></s:Envelope>"
        )
    };
    let expected = "where {urn:encoded}Point was expected";
    for (blessed, errors) in [
        ("<c:echo><point xsi:type='b:Point'><x>1</x></point></c:echo>", 1),
        ("<c:echo><point href='#p'/></c:echo><p id='p' xsi:type='b:Point'><x>1</x></p>", 1),
        ("<c:echo><point xsi:type='n:Point'><x xsi:type='n:int'>1</x></point></c:echo>", 2),
    ] {
        let (status, refusal) = post(&strict, message(blessed)).await;
        assert_eq!(status, 500, "{refusal}");
        let (status, answer) = post(&lenient, message(blessed)).await;
        assert!(status == 200 && answer.contains("<x xsi:type=\"xsd:int\">1</x>"), "{answer}");
        let told = std::mem::take(&mut *told.lock().unwrap()).concat();
        assert_eq!(told.lines().count(), errors, "{told}");
        assert!(told.contains(expected) || errors > 1 && told.contains("prefix is not declared"), "{told}");
    }
    for wrong in [
        "<c:echo><point><x>one</x></point></c:echo>",
        "<c:echo><point><x>1</x><x>2</x></point></c:echo>",
        "<c:echo><point href='#none'/></c:echo>",
        "<c:echo>text</c:echo>",
    ] {
        let (status, answer) = post(&lenient, message(wrong)).await;
        assert_eq!(status, 500, "{answer}");
    }
    assert!(told.lock().unwrap().is_empty());
}

/// Items without a type of their own have the one that the array says, by the rules for values with such a type.
#[tokio::test]
async fn items_took_no_type_from_their_array() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = told.clone();
    let mut options = castile::http::server::Options::default();
    options.messages.leniency =
        Some(Leniency::new(move |_, deviations| listener.lock().unwrap().push(deviations.to_string())));
    let (strict, lenient) = (FeatureServer::new(Echo), FeatureServer::with_options(Echo, options));
    let message = |body: &str| {
        format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:t='urn:encoded' xmlns:b='urn:blessed' \
             xmlns:xsd='http://www.w3.org/2001/XMLSchema' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' \
             xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:c='urn:calls'><s:Body>{body}</s:Body></s:Envelope>"
        )
    };
    let cat = "<name xsi:type=\"xsd:string\">Tom</name><lives xsi:type=\"xsd:int\">9</lives>";
    for (body, expected) in [
        ("<c:arrays><names e:arrayType='xsd:base64Binary[1]'><i>Y2Fmw6k=</i></names></c:arrays>", ">café<"),
        ("<c:arrays><names e:arrayType='xsd:hexBinary[2]'><i>41</i><i>42</i></names></c:arrays>", ">B<"),
        ("<c:arrays><names e:arrayType='e:base64[1]'><i href='#a'/></names></c:arrays><i id='a'>QUI=</i>", ">AB<"),
        ("<c:arrays><names e:arrayType='e:base64[1]'><i xsi:type='xsd:string'>QUI=</i></names></c:arrays>", ">QUI=<"),
        (
            "<c:arrays><names e:arrayType='xsd:string[1]'><i href='#a'/></names></c:arrays><e:base64 id='a'>QUI=</e:base64>",
            ">AB<",
        ),
        ("<c:arrays><names><i href='#a'/></names></c:arrays><e:string id='a'>QUI=</e:string>", ">QUI=<"),
        ("<c:arrays><names><i>QUI=</i></names></c:arrays>", ">QUI=<"),
        ("<c:animals><many e:arrayType='t:Cat[1]'><i><name>Tom</name><lives>9</lives></i></many></c:animals>", cat),
        (
            "<c:animals><many e:arrayType='t:Cat[1]'><i href='#a'/></many></c:animals><i id='a'><name>Tom</name><lives>9</lives></i>",
            cat,
        ),
        (
            "<c:animals><many e:arrayType='t:Cat[1]'><i xsi:type='t:Cat'><name>Tom</name><lives>9</lives></i></many></c:animals>",
            cat,
        ),
    ] {
        // The second time all tags are known to the reader.
        for _ in 0..2 {
            let (status, answer) = post(&strict, message(body)).await;
            assert!(status == 200 && answer.contains(expected), "{body}: {answer}");
            assert_eq!(post(&lenient, message(body)).await, (status, answer));
        }
    }
    assert!(told.lock().unwrap().is_empty());
    for (body, expected) in [
        ("<c:arrays><points e:arrayType='b:Point[2]'><i><x>1</x></i><i/></points></c:arrays>", "{urn:blessed}Point"),
        ("<c:animals><many e:arrayType='b:Cat[1]'><i><name>Tom</name></i></many></c:animals>", "{urn:blessed}Cat"),
        ("<c:arrays><names e:arrayType='b:Name[1]'><i>Tom</i></names></c:arrays>", "{urn:blessed}Name"),
        ("<c:arrays><names xsi:type='nosuch:Names'><i>Tom</i></names></c:arrays>", "prefix is not declared"),
    ] {
        let (status, answer) = post(&strict, message(body)).await;
        assert!(status == 500 && answer.contains(expected), "{body}: {answer}");
        let (status, answer) = post(&lenient, message(body)).await;
        assert!(status == 200, "{body}: {answer}");
        let told = std::mem::take(&mut *told.lock().unwrap());
        assert!(told.len() == 1 && told[0].lines().count() == 1 && told[0].contains(expected), "{body}: {told:?}");
    }
    let wrong = "<c:arrays><names e:arrayType='xsd:base64Binary[1]'><i>/w==</i></names></c:arrays>";
    assert_eq!(post(&strict, message(wrong)).await.0, 500, "that is no UTF-8");
}

/// SOAP::Lite says so that there is no result.
#[test]
fn an_answer_without_a_result_may_be_nil() {
    let read = |content: &str| {
        let answer = format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' \
             xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><s:Body>{content}</s:Body></s:Envelope>"
        );
        let ping = FEATURE_OPERATIONS.iter().find(|operation| operation.name == "ping").unwrap();
        let options = castile::soap::Options::default();
        castile_soap::client::response::<PingResponse, castile::NoDetail>(ping, answer.as_bytes(), None, &options)
    };
    for content in
        ["<c:pingResponse xmlns:c='urn:calls' xsi:nil='true'/>", "<voidResponse xsi:nil='1'> </voidResponse>"]
    {
        assert_eq!(read(content).unwrap().unwrap(), PingResponse {});
    }
    let error = read("<voidResponse xsi:nil='true'><a/></voidResponse>").unwrap_err().to_string();
    assert!(error.contains("<pingResponse> is nil and has content"), "{error}");
}

fn fault_of(answer: &str) -> Fault<OutcomeFault> {
    let answer = castile_soap::client::response::<OutcomeResponse, OutcomeFault>(
        FEATURE_OPERATIONS.iter().find(|operation| operation.name == "outcome").unwrap(),
        answer.as_bytes(),
        None,
        &castile::soap::Options::default(),
    );
    answer.unwrap().unwrap_err()
}

/// Apache Axis puts what the detail refers to behind the fault.
#[test]
fn faults_refer_to_trailing_elements() {
    let fault = fault_of(&fs::read_to_string("tests/features/encoded/axis-fault.answer").unwrap());
    assert_eq!(fault.reason.as_str(), "trouble");
    let castile::Detail::Declared(OutcomeFault::Trouble(node)) = fault.detail else { panic!("{fault:?}") };
    assert_eq!(node.get().unwrap().next.as_ref().unwrap().get().unwrap().name.as_deref(), Some("cause"));
}

/// A detail may be a cycle. What is in the header is no part of a fault.
#[test]
fn faults_refer_to_themselves_and_not_to_the_header() {
    let axis = fs::read_to_string("tests/features/encoded/axis-fault.answer").unwrap();
    let (before, rest) = axis.split_once("<detail>").unwrap();
    let (_, behind) = rest.split_once("</detail>").unwrap();
    let with = |header: &str, next: &str| {
        let before = before.replace("<soapenv:Body>", &format!("{header}<soapenv:Body>"));
        let detail =
            format!("<d:trouble xmlns:d=\"urn:troubles\" id=\"t\"><name>me</name><next href=\"#{next}\"/></d:trouble>");
        fault_of(&format!("{before}<detail>{detail}</detail>{behind}")).detail
    };
    let castile::Detail::Declared(OutcomeFault::Trouble(node)) = with("", "t") else { panic!("it is declared") };
    assert!(node.get().unwrap().next.as_ref().unwrap().is_same(&node));
    let header = "<soapenv:Header><h id=\"h\"><name>other</name></h></soapenv:Header>";
    assert!(matches!(with(header, "h"), castile::Detail::Other(_)));
}

/// Xorshift: enough for tests, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as usize % end.max(1)
    }
}

/// Each value has a parent of its own here, so that each is read by a reader that begins at the beginning.
#[tokio::test]
async fn elements_before_the_root_are_counted() {
    let server = FeatureServer::new(Echo);
    let message = |before: usize| {
        let references: String = (0..100).map(|id| format!("<i href='#{id}'/>")).collect();
        let values: String = (0..100).map(|id| format!("<p><m id='{id}'>{id}</m></p>")).collect();
        format!(
            "{}<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' \
             xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:xsd='http://www.w3.org/2001/XMLSchema'><s:Body>\
             <c:arrays xmlns:c='urn:calls'><ints e:arrayType='xsd:int[100]'>{references}</ints></c:arrays>{values}\
             </s:Body></s:Envelope>",
            " ".repeat(before)
        )
    };
    let (status, answer) = post(&server, message(0)).await;
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = post(&server, message(200_000)).await;
    assert_eq!(status, 500, "{answer}");
    assert!(answer.contains("bytes to the document, which is the limit"), "{answer}");
}

/// 15 KB led to 4 MiB of reading, and 577 bytes to an answer of 11 MB.
#[tokio::test]
async fn a_short_message_had_the_room_of_a_long_one() {
    let server = FeatureServer::new(Echo);
    let message = |body: &str| {
        format!(
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:t='urn:encoded' \
             xmlns:e='http://schemas.xmlsoap.org/soap/encoding/' xmlns:xsd='http://www.w3.org/2001/XMLSchema'>\
             <s:Body>{body}</s:Body></s:Envelope>"
        )
    };
    let points = |inside: &str| {
        let references = "<i href='#q'/>".repeat(1_000);
        message(&format!(
            "<c:arrays xmlns:c='urn:calls'><points e:arrayType='t:Point[1000]'>{references}</points></c:arrays>\
             <q id='q'>{inside}</q>"
        ))
    };
    let doubling = |depth: usize| {
        let levels: String =
            (0..depth).map(|n| format!("<q id='n{n}'><a href='#n{0}'/><a href='#n{0}'/></q>", n + 1)).collect();
        message(&format!(
            "<c:open xmlns:c='urn:calls'><open><any><b href='#n0'/></any></open></c:open>{levels}<q id='n{depth}'/>"
        ))
    };
    let absent = |count: usize| {
        message(&format!("<c:arrays xmlns:c='urn:calls'><ints e:arrayType='xsd:int[{count}]'/></c:arrays>"))
    };
    for (fine, wrong) in [
        (points("<x>1</x><y>2</y>"), points(&"<a/>".repeat(1_000))),
        (doubling(8), doubling(22)),
        (absent(5_000), absent(500_000)),
        (absent(5_000), absent(12_000)),
    ] {
        let (status, answer) = post(&server, fine).await;
        assert_eq!(status, 200, "{answer}");
        let (status, answer) = post(&server, wrong).await;
        assert_eq!(status, 500, "{} bytes", answer.len());
        assert!(answer.contains("bytes to the document, which is the limit"), "{answer}");
    }
}

/// Messages that were broken at random, and put together of parts of others, are answered: what comes from few bytes is
/// not much, and nothing panics.
#[tokio::test]
async fn any_input_has_bounded_cost() {
    const EXPANSION: usize = 1 << 10;
    let mut options = castile::http::server::Options::default();
    options.messages.limits.encoding_expansion = EXPANSION;
    let server = FeatureServer::with_options(Echo, options);
    let directory = fs::read_dir("tests/features/encoded").unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = directory.collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "xml"));
    files.sort();
    let messages: Vec<String> = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    let lines: Vec<&str> = messages.iter().flat_map(|message| message.lines()).collect();
    let mut random = Random(1);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..4_000 {
        let mut message = messages[random.below(messages.len())].clone();
        for _ in 0..=random.below(3) {
            let tags: Vec<usize> = message.match_indices('<').map(|(at, _)| at).collect();
            if tags.is_empty() {
                break;
            }
            let [one, two] = [(); 2].map(|()| tags[random.below(tags.len())]);
            let (start, end) = (one.min(two), one.max(two));
            match random.below(5) {
                // Values and elements of others: ids that are there twice, references to elsewhere.
                0 => message.insert_str(start, lines[random.below(lines.len())]),
                1 => message.replace_range(start..end, ""),
                2 => {
                    let again = message[start..end].to_owned();
                    message.insert_str(start, &again);
                }
                3 => message = message.replacen("href=\"#", ["href=\"#n1", "href=\"", "id=\"#"][random.below(3)], 1),
                _ => {
                    let digits: Vec<usize> =
                        message.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
                    let Some(&at) = digits.get(random.below(digits.len())) else { break };
                    message.replace_range(at..=at, ["", "7", "99999", "0", "-1"][random.below(5)]);
                }
            }
        }
        let length = message.len();
        let (status, answer) = post(&server, message.clone()).await;
        assert!(!answer.contains("the service failed"), "{round}: it panics: {message}");
        assert!(answer.len() <= 64 * (length + EXPANSION), "{round}: {} bytes for {message}", answer.len());
        if status == 200 {
            taken += 1
        } else {
            refused += 1
        }
        // What references lead to is found by a look at the whole message as well: that is taken where ids aren't plain.
        if !answer.contains("limit") && Document::parse(&message).is_ok() {
            let whole = post(&server, message.clone() + "<!-- id='&' -->").await;
            // What is added is counted when it was read there, and before that here.
            if !whole.1.contains("limit") {
                assert_eq!(whole, (status, answer), "{round}: {message}");
            }
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} messages were taken and {refused} refused");
}
