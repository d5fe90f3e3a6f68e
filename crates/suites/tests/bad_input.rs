//! Tests that any bad input gets a fault or an HTTP error that says what is wrong and where, and that the next request
//! is served.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use bytes::Bytes;
use castile::codegen::ToXml;
use castile_soap::{Version, message};
use castile_suites::wstest::contract::{EchoList, TEST_SERVICE_SOAP_OPERATIONS};
use castile_suites::wstest::test_list;
use common::http::{Server, benchmark, block_on, fault, post, send, wstest, wstest_with};
use common::layout::SOAP;
use http::{Request, StatusCode};
use http_body_util::Full;

const MESH: &str = "<echoMeshInterfaceObjectsRequest xmlns='http://www.extreme.indiana.edu/wsdl/Benchmark1'>";
const INTS: &str = "<echoInts xmlns='http://www.extreme.indiana.edu/wsdl/Benchmark1'>";
const WSTEST: &str = "uri:WSTestWeb-TestService";

/// Returns a message with this content in its body; the body begins on line 2.
fn body(content: &str) -> String {
    format!("<e:Envelope xmlns:e='{SOAP}'><e:Body>\n{content}</e:Body></e:Envelope>")
}

fn assert_serves(server: &Server) {
    let name = server.description().name;
    let (request, answer) = match name {
        "Benchmark" => (format!("{INTS}<input>7</input></echoInts>"), "<echoIntsReturn>7</echoIntsReturn>"),
        _ => (
            format!("<GetOrder xmlns='{WSTEST}'><orderId>7</orderId><customerId>2</customerId></GetOrder>"),
            "<OrderId>7</OrderId>",
        ),
    };
    let (status, found) = post(server, body(&request));
    assert_eq!(status, StatusCode::OK, "{found}");
    assert!(found.contains(answer), "{found}");
}

/// Asserts that `message` is answered with a fault of `code` and `reason`, and that the server continues.
fn assert_fault(server: &Server, message: impl Into<Bytes>, code: &str, reason: &str) {
    let message = message.into();
    let (status, answer) = post(server, message.clone());
    let shown = String::from_utf8_lossy(&message[..message.len().min(300)]).into_owned();
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{shown}\n{answer}");
    assert_eq!(fault(&answer), (format!("soap:{code}"), reason.to_owned()), "{shown}");
    assert_serves(server);
}

#[test]
fn wrong_payloads() {
    let server = benchmark();
    let object = "<x>1</x><y>2</y><value>3</value>";
    let found = |what: &str, path: &str, column: usize| format!("{path}: {what} (line 2, column {column})");
    let mesh = |items: &str| body(&format!("{MESH}{items}</echoMeshInterfaceObjectsRequest>"));
    let start = MESH.len() + 1;
    let path = "echoMeshInterfaceObjectsRequest/input";
    for (items, reason) in [
        (
            format!("<input>{object}</input><input>{}</input>", object.replace('2', "two")),
            found("\"two\" is not a valid xs:int", &format!("{path}[2]/y"), start + 65),
        ),
        (
            format!("<input>{}</input>", object.replace("<y>2</y>", "")),
            found("the element ends without <y>", path, start + 31),
        ),
        (
            format!("<input>{object}<z/></input>"),
            found(
                "found <z> of http://www.extreme.indiana.edu/wsdl/Benchmark1, where <x>, <y> or <value> was expected",
                &format!("{path}/z"),
                start + 39,
            ),
        ),
        (
            format!("<input>{object}<x>1</x></input>"),
            found("a second <x>, where one was expected", &format!("{path}/x[2]"), start + 39),
        ),
        (
            String::new(),
            found("0 of <input>, where at least 1 were expected", "echoMeshInterfaceObjectsRequest", start),
        ),
    ] {
        // With an empty cache, and with tags of such a message in the cache.
        for _ in 0..2 {
            assert_fault(&server, mesh(&items), "Client", &reason);
            assert_eq!(
                post(&server, mesh(&format!("<input>{object}</input><input>{object}</input>"))).0,
                StatusCode::OK
            );
        }
    }
}

#[test]
fn wrong_messages() {
    let server = benchmark();
    let soap12 = Version::Soap12.namespace();
    let version = format!(
        "Envelope: found an envelope of \"urn:e\", where \"{SOAP}\" or \"{soap12}\" was expected (line 1, \
         column 1)"
    );
    for (message, code, reason) in [
        (body(&format!("{INTS}<input>1</input>")), "Client", "echoInts: end tag </e:Body> where </echoInts> was expected (line 2, column 82)".to_owned()),
        (body(&format!("{INTS}<input>1</input></echoInts")), "Client", "echoInts: \"<\" in the end tag </echoInts>, where \">\" was expected (line 2, column 92)".into()),
        (body(&INTS.replace("indiana", "Indiana").replace("'>", "'/>")), "Client", "echoInts: found <echoInts> of \"http://www.extreme.Indiana.edu/wsdl/Benchmark1\", where <echoInts> of \"http://www.extreme.indiana.edu/wsdl/Benchmark1\" was expected (line 2, column 1)".into()),
        (body(&INTS.replace("echoInts", "echoFloats").replace("'>", "'/>")), "Client", "echoFloats: found <echoFloats> of \"http://www.extreme.indiana.edu/wsdl/Benchmark1\", where the element of an operation of Benchmark was expected (line 2, column 1)".into()),
        (body("<a/>").replace(SOAP, "urn:e"), "VersionMismatch", version),
        (
            body("<a/>").replace("<e:Body>", "<e:Header>\n<s:Security xmlns:s='urn:s' e:mustUnderstand='1'/></e:Header><e:Body>"),
            "MustUnderstand",
            "Envelope/Header/Security: the header block <Security> of \"urn:s\" must be understood, but is not (line \
             2, column 1)".into(),
        ),
        (
            format!("<?xml version='1.0'?>\n<!DOCTYPE e [<!ENTITY a 'b'>]>{}", body("<a/>")),
            "Client",
            "a document type declaration, which is not allowed in messages (line 2, column 1)".into(),
        ),
        (body(&format!("{INTS}<input>&a;</input></echoInts>")), "Client", "echoInts/input: reference to an entity \"a\" that is not declared (line 2, column 73)".into()),
        (body(&format!("{INTS}<input>\u{1}</input></echoInts>")), "Client", "echoInts/input: U+0001, a character that XML 1.0 does not allow (line 2, column 73)".into()),
        (String::new(), "Client", "the document ends before any element (line 1, column 1)".into()),
        ("{\"json\": true}".into(), "Client", "\"{\" where the root element was expected (line 1, column 1)".into()),
        ("<html><body>no</body></html>".into(), "Client", "html: found <html> of no namespace, where <Envelope> was expected (line 1, column 1)".into()),
    ] {
        assert_fault(&server, message, code, &reason);
    }
}

#[test]
fn other_encodings() {
    let server = benchmark();
    let mut latin1 = body(&format!("{INTS}<input>é</input></echoInts>")).into_bytes();
    let at = latin1.iter().position(|&byte| byte == 0xC3).unwrap();
    latin1.remove(at + 1);
    let reason = "echoInts/input: byte 0xC3 is not UTF-8, the encoding that was expected (line 2, column 73)";
    assert_fault(&server, latin1, "Client", reason);
    let utf16 = |order: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        format!("{mark}{}", body("<a/>")).encode_utf16().flat_map(order).collect()
    };
    assert_fault(&server, utf16(u16::to_le_bytes, ""), "Client", "U+0000 where a name was expected (line 1, column 2)");
    // These can be read: a byte order mark takes precedence over the charset, and the charset over the declaration.
    let reason =
        "a: found <a> of no namespace, where the element of an operation of Benchmark was expected (line 2, column 1)";
    assert_fault(&server, utf16(u16::to_le_bytes, "\u{FEFF}"), "Client", reason);
    assert_fault(&server, utf16(u16::to_be_bytes, "\u{FEFF}"), "Client", reason);
    let declared = format!("<?xml version='1.0' encoding='ISO-8859-1'?>{}", body("<a/>"));
    assert_fault(&server, declared, "Client", reason);
}

#[test]
fn http_errors_are_rejected() {
    let server = benchmark();
    let right = body(&format!("{INTS}<input>1</input></echoInts>"));
    let request = |method: &str, uri: &str, content_type: &str| {
        Request::builder()
            .method(method)
            .uri(uri)
            .header("content-type", content_type)
            .body(Full::from(right.clone()))
            .unwrap()
    };
    for (request, status, text) in [
        (
            request("DELETE", "/", "text/xml"),
            405,
            "this is a SOAP endpoint: POST a message to it, or GET its contract with ?wsdl\n",
        ),
        (
            request("PUT", "/?wsdl", "text/xml"),
            405,
            "this is a SOAP endpoint: POST a message to it, or GET its contract with ?wsdl\n",
        ),
        (
            request("POST", "/", "application/json"),
            415,
            "found content type application/json, expected text/xml (SOAP 1.1), application/soap+xml (SOAP 1.2) or multipart/related with either\n",
        ),
        (
            request("POST", "/", "text/xml; charset=klingon"),
            415,
            "found charset \"klingon\", expected a known one, such as utf-8 or utf-16\n",
        ),
    ] {
        let (found, _, answer) = send(&server, request);
        assert_eq!((found.as_u16(), answer.as_str()), (status, text));
        assert_serves(&server);
    }
    let (status, answer) = post(&server, vec![b' '; (16 << 20) + 1]);
    assert_eq!(
        (status.as_u16(), answer.as_str()),
        (413, "the message has 16777217 bytes, expected at most 16777216\n")
    );
    assert_serves(&server);
}

/// Messages that are small for their sender but could be large for the server. The test also requires them to end in
/// time.
#[test]
fn bombs() {
    let server = wstest();
    let list = |content: String| body(&format!("<EchoList xmlns='{WSTEST}'>\n{content}"));
    let node = "<i>1</i><f>1</f><s>s</s>";
    let many = |count: usize, name: &str, value: &str| -> String {
        (0..count).map(|i| format!(" {name}{i}='{value}{i}'")).collect()
    };
    let long = "n".repeat(15 << 20);
    let levels = "Next/".repeat(7);
    for (message, reason) in [
        (
            list("<list>".to_owned() + &format!("{node}<Next>").repeat(1_000)),
            format!("EchoList/list/{}…/{}Next: elements nested more than 512 deep, which is the limit (line 3, column {})", "Next/".repeat(6), levels, 6 + 508 * 30 + 1),
        ),
        (
            body(&"<x>".repeat(1_000_000)),
            "x: found <x> of no namespace, where the element of an operation of TestService was expected (line 2, column 1)".into(),
        ),
        (
            body("").replace("<e:Body>", &format!("<e:Header>\n{}", "<x>".repeat(1_000_000))),
            format!("Envelope/Header/{}…/{}x: elements nested more than 512 deep, which is the limit (line 2, column {})", "x/".repeat(6), "x/".repeat(7), 510 * 3 + 1),
        ),
        (
            list(format!("<list{}>", many(100_000, "a", ""))),
            "EchoList: a tag with more than 256 attributes, which is the limit (line 3, column 2603)".into(),
        ),
        (
            list(format!("<list{}>", many(100_000, "xmlns:a", "u"))),
            "EchoList: a tag with more than 256 attributes, which is the limit (line 3, column 4395)".into(),
        ),
        (
            list((0..100_000).map(|i| format!("<list xmlns:a{i}='u'>")).collect()),
            "EchoList/list/list: found <list> of uri:WSTestWeb-TestService, where <i> was expected (line 3, column 20)".into(),
        ),
        (
            body("").replace("<e:Body>", &format!("<e:Header>\n{}", (0..100_000).map(|i| format!("<x xmlns:a{i}='u'>")).collect::<String>())),
            "more than 128 namespace declarations in scope, which is the limit".into(),
        ),
        (list(format!("<{long}/>")), "EchoList: a name longer than 1000 bytes, which is the limit (line 3, column 2)".into()),
        (list(format!("<a xmlns='{long}'/>")), "EchoList: the name of a namespace longer than 1000 bytes, which is the limit (line 3, column 4)".into()),
        (
            list(format!("<list><i>{long}</i>")),
            format!("EchoList/list/i: \"{}\"… is not a valid xs:int (line 3, column 10)", &long[..40]),
        ),
        (list(format!("<list><i>{}</i>", "1".repeat(15 << 20))), format!("EchoList/list/i: \"{}\"… is not a valid xs:int: its range is -2147483648 to 2147483647 (line 3, column 10)", "1".repeat(40))),
        (list(long.clone()), format!("EchoList: text \"{}\"…, where only elements were expected (line 3, column 1)", &long[..40])),
        (list("<list/>".repeat(100_000)), "EchoList/list: <list> ends, where <i> was expected (line 3, column 6)".into()),
        (
            list(format!("<list>{node}</list>") + &"<list/>".repeat(1_000_000)),
            "EchoList/list[2]: found <list> of uri:WSTestWeb-TestService, where </EchoList> was expected (line 3, column 38)".into(),
        ),
    ] {
        let (status, answer) = post(&server, message.clone());
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{answer}");
        let (code, found) = fault(&answer);
        let shown = &message[..message.len().min(200)];
        assert_eq!(code, "soap:Client", "{shown}");
        assert!(found.contains(&reason), "{shown}\n left: {found}\nright: {reason}");
        assert!(found.contains("(line "), "{found}");
        assert_serves(&server);
    }
}

/// 15 MB of text in one string is valid.
#[test]
fn a_long_string_is_served() {
    let text = "<![CDATA[<]]>&amp;".repeat(500_000) + &"x".repeat(6 << 20);
    let list = format!("<EchoList xmlns='{WSTEST}'><list><i>1</i><f>1</f><s>{text}</s></list></EchoList>");
    let (status, answer) = post(&wstest(), body(&list));
    assert_eq!(status, StatusCode::OK);
    assert!(answer.len() > 10 << 20 && answer.contains("<s>&lt;&amp;&lt;&amp;"));
}

fn written<T: ToXml>(request: &T) -> Vec<u8> {
    message::write(Version::Soap11, &TEST_SERVICE_SOAP_OPERATIONS[2].request, request, Vec::new()).unwrap()
}

#[test]
fn a_list_of_100_000_nodes_is_served_where_limits_allow_it() {
    // The stack size of an ordinary runtime thread.
    let work = || {
        const NODES: usize = 100_000;
        let message = written(&EchoList { list: test_list(NODES as i32) });
        let server = wstest_with(|options| options.messages.limits.depth = NODES + 4);
        let (status, answer) = post(&server, message.clone());
        assert_eq!(status, StatusCode::OK, "{}", &answer[..answer.len().min(1_000)]);
        assert_eq!(answer.matches("<i>").count(), NODES);
        // A list with an error at its deepest node is dropped as well.
        let text = String::from_utf8(message.clone()).unwrap().replace("<i>99999</i>", "<i>x</i>");
        let (_, answer) = post(&server, text);
        assert!(fault(&answer).1.contains("Next/Next/i: \"x\" is not a valid xs:int (line 1, column "), "{answer}");
        // By default it is rejected.
        let (status, answer) = post(&wstest(), message);
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(fault(&answer).1.contains("elements nested more than 512 deep, which is the limit"), "{answer}");
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn a_client_gets_a_list_of_100_000_nodes_where_its_limits_allow_it() {
    use castile_suites::wstest::Service;
    use castile_suites::wstest::contract::{TestServiceSoapClient, TestServiceSoapServer};
    let work = || {
        let request = EchoList { list: test_list(100_000) };
        let mut options = castile::http::server::Options::default();
        options.messages.limits.depth = 100_010;
        let mut lax = castile::ClientOptions::default();
        lax.messages.limits = options.messages.limits;
        let server = TestServiceSoapServer::with_options(Service, options);
        let client = TestServiceSoapClient::with_transport("http://localhost/", server).unwrap();
        let error = block_on(client.echo_list(&request).into_future()).unwrap_err();
        assert!(error.to_string().contains("elements nested more than 512 deep"), "{error}");
        let response = block_on(client.with_options(lax).echo_list(&request).into_future()).unwrap();
        assert!(response.echo_list_result == request.list);
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(work).unwrap().join().unwrap();
}
