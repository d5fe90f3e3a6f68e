//! `castile bundle`: files, catalogs, and the network, with a server in this test.
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Returns a contract that imports its schema from `location`.
fn wsdl(location: &str) -> String {
    format!(
        r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" targetNamespace="urn:t" xmlns:t="urn:t" xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <types><xs:schema targetNamespace="urn:t">
    <xs:import namespace="urn:o" schemaLocation="{location}"/>
    <xs:import namespace="http://www.w3.org/2005/08/addressing" schemaLocation="http://127.0.0.1:1/ws-addr.xsd"/>
    <xs:element name="e" type="o:T" xmlns:o="urn:o"/>
  </xs:schema></types>
  <message name="m"><part name="p" element="t:e"/></message>
</definitions>"#
    )
}

fn schema(include: &str) -> String {
    format!(
        r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o">{include}<xs:complexType name="T"/></xs:schema>"#
    )
}

/// The answer for a path.
#[derive(Clone)]
enum Answer {
    Document(String),
    Redirect(String),
    Status(u16),
    /// No answer at all.
    Silence,
    /// These bytes, and then the end.
    Bytes(&'static [u8]),
    /// The first bytes, then the second ones repeatedly until the client disconnects, with a pause before each.
    Endless(&'static [u8], &'static [u8], Duration),
}

/// A server on the loopback interface, which runs as long as the test.
struct Host {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Host {
    fn start(answers: impl FnOnce(&str) -> Vec<(&'static str, Answer)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let answers: HashMap<&str, Answer> = answers(&format!("http://{address}")).into_iter().collect();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        // The thread ends with the process.
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if stream.read(&mut byte).unwrap_or(0) == 0 {
                        break;
                    }
                    head.push(byte[0]);
                }
                let head = String::from_utf8(head).unwrap();
                let Some(path) = head.split(' ').nth(1) else { continue };
                log.lock().unwrap().push(path.to_owned());
                let (status, location, body) = match answers.get(path).cloned().unwrap_or(Answer::Status(404)) {
                    Answer::Document(body) => (200, String::new(), body),
                    Answer::Redirect(to) => (302, format!("Location: {to}\r\n"), String::new()),
                    Answer::Status(status) => (status, String::new(), "<html>no</html>".to_owned()),
                    Answer::Silence => {
                        silent.push(stream);
                        continue;
                    }
                    Answer::Bytes(bytes) => {
                        let _ = stream.write_all(bytes);
                        continue;
                    }
                    Answer::Endless(head, piece, pause) => {
                        let _ = stream.write_all(head);
                        while stream.write_all(piece).is_ok() {
                            std::thread::sleep(pause);
                        }
                        continue;
                    }
                };
                let head = format!(
                    "HTTP/1.1 {status} x\r\n{location}Content-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                // A client may disconnect early.
                let _ = stream.write_all((head + &body).as_bytes());
            }
        });
        Self { address, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn castile(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    for proxy in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(proxy);
    }
    command.args(arguments).current_dir(folder).output().unwrap()
}

#[track_caller]
fn succeeded(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{told}");
    told
}

#[test]
fn files_and_catalogs_make_a_bundle_that_needs_neither() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.wsdl"), wsdl("http://www.example.com/o.xsd")).unwrap();
    std::fs::write(path("local.xsd"), schema("")).unwrap();
    std::fs::write(path("catalog.tsv"), "http://www.example.com/o.xsd\tlocal.xsd\n").unwrap();
    let output = castile(&["bundle", "a.wsdl", "-o", "a.castile", "--catalog", "catalog.tsv"], folder.path());
    succeeded(&output);
    assert!(String::from_utf8(output.stdout).unwrap().starts_with("a.castile  2 documents, "));

    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::rename(path("a.castile"), elsewhere.path().join("b.castile")).unwrap();
    let output = castile(&["describe", "b.castile", "--all"], elsewhere.path());
    succeeded(&output);
    assert!(String::from_utf8(output.stdout).unwrap().contains("element e"));
}

/// The bundle once replaced its contract.
#[test]
fn a_bundle_replaces_no_contract() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wsdl");
    let contract = wsdl("a.xsd");
    std::fs::write(&path, &contract).unwrap();
    let output = castile(&["bundle", "a.wsdl", "-o", "./a.wsdl"], folder.path());
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("a.wsdl is the input, and the bundle would overwrite it"), "{told}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), contract);
}

#[test]
fn missing_documents_are_reported_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.wsdl"), wsdl("http://www.example.com/o.xsd")).unwrap();
    let output = castile(&["bundle", "a.wsdl", "-o", "a.castile"], folder.path());
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "its type is not defined: {told}");
    for expected in ["lacks 1 imported document\n  http://www.example.com/o.xsd\n", "--fetch fetches", "--catalog FILE"]
    {
        assert!(told.contains(expected), "{told}");
    }
    for arguments in
        [&["bundle", "http://127.0.0.1:1/", "-o", "a"][..], &["bundle", "a.wsdl", "-o", "a", "--timeout", "1"]]
    {
        let told = String::from_utf8(castile(arguments, folder.path()).stderr).unwrap();
        assert!(told.contains("--fetch"), "{told}");
    }
}

#[test]
fn a_contract_is_fetched_with_all_that_it_imports_each_once() {
    let host = Host::start(|host| {
        vec![
            ("/old", Answer::Redirect("/services/a.svc?wsdl".into())),
            ("/services/a.svc?wsdl", Answer::Document(wsdl("?xsd=0#there"))),
            (
                "/services/a.svc?xsd=0",
                Answer::Document(schema(&format!("<xs:include schemaLocation='{host}/b.xsd'/>"))),
            ),
            (
                "/b.xsd",
                Answer::Document(
                    schema("<xs:include schemaLocation='services/a.svc?xsd=0'/>").replace("name=\"T\"", "name=\"U\""),
                ),
            ),
        ]
    });
    let folder = tempfile::tempdir().unwrap();
    let told = succeeded(&castile(&["bundle", &host.url("/old"), "--fetch", "-o", "a.castile"], folder.path()));
    assert!(told.contains(&format!("fetching {}", host.url("/b.xsd"))), "{told}");
    let mut asked = host.asked();
    assert_eq!(asked[..2], ["/old", "/services/a.svc?wsdl"]);
    asked.sort();
    assert_eq!(
        asked,
        ["/b.xsd", "/old", "/services/a.svc?wsdl", "/services/a.svc?xsd=0"],
        "and not the schema that is built in"
    );
    let output = castile(&["describe", "a.castile", "--json"], folder.path());
    succeeded(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("{urn:o}T") && text.contains("{urn:o}U"), "{text}");
    assert_eq!(host.asked().len(), 4, "nothing is fetched any more");
}

/// A fetched contract doesn't put local files into a bundle.
#[test]
fn a_fetched_contract_does_not_name_files() {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.xsd");
    std::fs::write(&secret, schema("<!-- secret -->")).unwrap();
    let path = secret.display().to_string();
    // The part before the colon looks like a scheme, but isn't one.
    let (reversed, above) = (path.replace('/', "\\"), "..\\".repeat(9));
    let hidden = [format!("{reversed}#.:"), format!("{reversed}?.:x"), format!("{above}{reversed}#.:")];
    let plain =
        [format!("file://{path}"), format!("FILE:{path}"), path, "secret.xsd".to_owned(), "secret.xsd#.:".to_owned()];
    for location in plain.into_iter().chain(hidden) {
        let contract = wsdl(&location);
        let host = Host::start(|_| vec![("/a.wsdl", Answer::Document(contract))]);
        let output = castile(&["bundle", &host.url("/a.wsdl"), "--fetch", "-o", "a.castile"], folder.path());
        assert_eq!(output.status.code(), Some(3));
        let bundle = std::fs::read_to_string(folder.path().join("a.castile")).unwrap();
        assert!(!bundle.contains("<!-- secret -->"), "{location}");
    }
}

#[test]
fn fetching_has_limits() {
    let host = Host::start(|host| {
        let page = "<!DOCTYPE html><html></html>";
        vec![
            ("/page", Answer::Document(page.into())),
            ("/round", Answer::Redirect(format!("{host}/round"))),
            ("/file", Answer::Redirect("file:///etc/hostname".into())),
            ("/silence", Answer::Silence),
            (
                "/login",
                Answer::Bytes(b"HTTP/1.1 401 x\r\nWWW-Authenticate: Basic realm=\"a\"\r\nContent-Length: 0\r\n\r\n"),
            ),
            ("/large", Answer::Document(format!("<a>{}</a>", "x".repeat(2_000_000)))),
        ]
    });
    let folder = tempfile::tempdir().unwrap();
    for (path, expected) in [
        ("/page", "HTML page"),
        ("/none", "the server answered 404"),
        ("/round", "redirected more than 5 times"),
        ("/file", "can't be read"),
        (
            "/login",
            "the server answered 401 (login required), and --fetch can't log in: save the document with a program \
             that can, and use the file; if the document is imported, --catalog FILE maps its location to the file",
        ),
        ("/silence", "longer than 2s; --timeout allows more"),
        ("/large", "all documents together are larger than 1 MB; --max-size allows more"),
    ] {
        let url = host.url(path);
        let arguments = ["bundle", &url, "--fetch", "-o", "a.castile", "--timeout", "2s", "--max-size", "1"];
        let output = castile(&arguments, folder.path());
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(expected), "{path}: {told}");
        assert!(!folder.path().join("a.castile").exists(), "{path}");
    }
    // Imports of a local file have the same limits.
    std::fs::write(folder.path().join("a.wsdl"), wsdl(&host.url("/none"))).unwrap();
    let output = castile(&["bundle", "a.wsdl", "--fetch", "-o", "a.castile"], folder.path());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(3) && told.contains("the server answered 404"), "{told}");
    assert!(told.contains("a.wsdl:3:"), "the place of the import: {told}");
}

/// Answers of a server that violates HTTP or never ends, and a part of the message for each.
const HOSTILE: [(&str, Answer, &str); 24] = {
    use Answer::{Bytes, Endless};
    const AT_ONCE: Duration = Duration::ZERO;
    const SLOWLY: Duration = Duration::from_millis(50);
    const TIME: &str = "longer than 2s; --timeout allows more";
    const SIZE: &str = "all documents together are larger than 1 MB; --max-size allows more";
    const HEAD: &str = "header is too big";
    [
        ("/drip-status", Endless(b"HTTP/1.1 200 ", b"x", SLOWLY), TIME),
        ("/drip-head", Endless(b"HTTP/1.1 200 OK\r\n", b"A: b\r\n", SLOWLY), TIME),
        ("/drip-body", Endless(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"<", SLOWLY), TIME),
        (
            "/drip-chunks",
            Endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\n<\r\n", SLOWLY),
            TIME,
        ),
        ("/drip-interim", Endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", SLOWLY), TIME),
        (
            "/drip-trailers",
            Endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"A: b\r\n", SLOWLY),
            TIME,
        ),
        ("/endless-status", Endless(b"HTTP/1.1 200 ", &[b'x'; 1000], AT_ONCE), HEAD),
        ("/endless-head", Endless(b"HTTP/1.1 200 OK\r\nA: b", &[b'b'; 1000], AT_ONCE), HEAD),
        ("/endless-body", Endless(b"HTTP/1.1 200 OK\r\n\r\n", &[b'<'; 65_536], AT_ONCE), SIZE),
        (
            "/endless-chunks",
            Endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"3\r\n<a>\r\n", AT_ONCE),
            "allows more",
        ),
        ("/ftp", Bytes(b"HTTP/1.1 302 x\r\nLocation: ftp://127.0.0.1/\r\n\r\n"), "unknown scheme: ftp"),
        ("/data", Bytes(b"HTTP/1.1 302 x\r\nLocation: data:text/xml,<a/>\r\n\r\n"), "location header is malformed"),
        ("/nowhere", Bytes(b"HTTP/1.1 302 x\r\n\r\n"), "missing a location header"),
        ("/place", Bytes(b"HTTP/1.1 302 x\r\nLocation: /\xc2\x9b\xe2\x80\xae\r\n\r\n"), "/\\u{9b}\\u{202e}"),
        ("/status", Bytes(b"HTTP/1.1 500 \x1b[2J\x9b\r\n\r\n"), "invalid response status"),
        ("/version", Bytes(b"\x1b[2J/1.1 200 x\r\n\r\n"), "invalid HTTP version"),
        ("/header", Bytes(b"HTTP/1.1 200 x\r\n\x1b[2J: x\r\n\r\n"), "invalid header name"),
        (
            "/coding",
            Bytes(b"HTTP/1.1 200 x\r\nContent-Encoding: \xc2\x9bzip\r\n\r\n<a/>"),
            "\\u{9b}zip, which was not requested",
        ),
        (
            "/packed",
            Bytes(b"HTTP/1.1 200 x\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08"),
            "gzip, which was not requested",
        ),
        ("/part", Bytes(b"HTTP/1.1 206 x\r\n\r\n<a/>"), "the server answered 206, expected 200"),
        ("/unchanged", Bytes(b"HTTP/1.1 304 x\r\n\r\n"), "the server answered 304, expected 200"),
        ("/switched", Bytes(b"HTTP/1.1 101 x\r\nUpgrade: x\r\n\r\n<a/>"), "the server answered 101, expected 200"),
        ("/short", Bytes(b"HTTP/1.1 200 x\r\nContent-Length: 100\r\n\r\n<a/>"), "disconnected"),
        ("/lengths", Bytes(b"HTTP/1.1 200 x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n<a/>"), "content-length"),
    ]
};

#[test]
fn a_hostile_server_is_left_in_time_with_a_word_and_no_control_characters() {
    let host = Host::start(|_| HOSTILE.map(|(path, answer, _)| (path, answer)).to_vec());
    let folder = tempfile::tempdir().unwrap();
    for (path, _, expected) in HOSTILE {
        let started = Instant::now();
        let url = host.url(path);
        let arguments = ["bundle", &url, "--fetch", "-o", "a.castile", "--timeout", "2s", "--max-size", "1"];
        let output = castile(&arguments, folder.path());
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && told.contains(expected), "{path}: {told}");
        assert!(!told.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{path}: {told:?}");
        assert!(started.elapsed() < Duration::from_secs(20), "{path} took {:?}", started.elapsed());
    }
}

/// Returns a contract that includes five documents from a host.
fn including(host: &str, name: &str) -> String {
    let includes: String =
        (0..5).map(|number| format!("<xs:include schemaLocation='{host}/{name}{number}'/>")).collect();
    wsdl("a.xsd").replace("<xs:import namespace=\"urn:o\" schemaLocation=\"a.xsd\"/>", &includes)
}

#[test]
fn documents_that_fail_count_for_the_size_of_all() {
    let host = Host::start(|_| {
        let broken = || Answer::Document("x".repeat(400_000));
        vec![("/b0", broken()), ("/b1", broken()), ("/b2", broken()), ("/b3", broken()), ("/b4", broken())]
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.wsdl"), including(&host.url(""), "b")).unwrap();
    let output = castile(&["bundle", "a.wsdl", "--fetch", "-o", "a.castile", "--max-size", "1"], folder.path());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("all documents together are larger than 1 MB"), "{told}");
    assert_eq!(host.asked(), ["/b0", "/b1", "/b2"]);
}

#[test]
fn all_documents_together_have_a_time() {
    let host = Host::start(|_| {
        vec![
            ("/s0", Answer::Silence),
            ("/s1", Answer::Silence),
            ("/s2", Answer::Silence),
            ("/s3", Answer::Silence),
            ("/s4", Answer::Silence),
        ]
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.wsdl"), including(&host.url(""), "s")).unwrap();
    let arguments = ["bundle", "a.wsdl", "--fetch", "-o", "a.castile", "--timeout", "1s", "--max-time", "1500ms"];
    let output = castile(&arguments, folder.path());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("all documents together took longer than 1.5s; --max-time allows more"), "{told}");
    assert!(host.asked().len() < 5, "{:?}", host.asked());
}

#[test]
#[cfg(unix)]
fn a_file_name_that_xml_cannot_carry_leaves_the_bundle_readable() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a\u{1b}[2J\n.wsdl"), wsdl("b\u{9b}.xsd")).unwrap();
    std::fs::write(path("b\u{9b}.xsd"), schema("")).unwrap();
    let output = castile(&["bundle", "a\u{1b}[2J\n.wsdl", "-o", "c.castile"], folder.path());
    let told = succeeded(&output);
    assert!(!told.contains('\u{1b}'), "{told}");
    let output = castile(&["describe", "c.castile"], folder.path());
    succeeded(&output);
}

/// The exit code was once 2, though an incomplete bundle was written.
#[test]
fn a_contract_of_which_nothing_is_left_without_a_document_ended_with_another_code() {
    let folder = tempfile::tempdir().unwrap();
    let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../codegen/tests/kept/depot.wsdl");
    std::fs::copy(contract, folder.path().join("depot.wsdl")).unwrap();
    let output = castile(&["bundle", "depot.wsdl", "-o", "a.castile"], folder.path());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(3) && told.contains("lacks 1 imported document"), "{told}");
    assert!(!told.contains("--fetch"), "it is no URL: {told}");
    assert!(folder.path().join("a.castile").exists());
    let output = castile(&["bundle", "absent.wsdl", "-o", "b.castile"], folder.path());
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A defect was once an error only for `bundle`.
#[test]
fn a_local_defect_is_a_warning_as_it_is_for_other_commands() {
    let folder = tempfile::tempdir().unwrap();
    let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../codegen/tests/defects/operation.wsdl");
    for command in [&["bundle", contract, "-o", "a"][..], &["describe", contract], &["gen", contract, "-o", "g"]] {
        let told = succeeded(&castile(command, folder.path()));
        assert!(told.contains("warning") && !told.contains("error"), "{command:?}: {told}");
    }
    succeeded(&castile(&["describe", "a"], folder.path()));
    let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../codegen/tests/defects/every_operation.wsdl");
    for command in [&["bundle", contract, "-o", "a"][..], &["describe", contract], &["gen", contract, "-o", "g"]] {
        let output = castile(command, folder.path());
        assert_eq!(output.status.code(), Some(2), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// A file named `-` was once written.
#[test]
fn a_hyphen_is_standard_input_and_output() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.xsd"), schema("")).unwrap();
    std::fs::write(folder.path().join("in.wsdl"), wsdl("a.xsd")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    let input = std::fs::File::open(folder.path().join("in.wsdl")).unwrap();
    let output = command.current_dir(folder.path()).args(["bundle", "-", "-o", "-"]).stdin(input).output().unwrap();
    succeeded(&output);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("urn:castile:bundle") && text.contains("a.xsd"), "{text}");
    assert!(!folder.path().join("-").exists());
}

/// The message was once `io: Connection refused`.
#[test]
fn a_server_that_refuses_connections_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let refusing = support::refusing();
    let unused = refusing.local_addr().unwrap();
    let output = castile(&["bundle", &format!("http://{unused}/a.wsdl"), "--fetch", "-o", "a"], folder.path());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains(&format!("{unused} refused the connection: no server listens there")), "{told}");
}

/// The plan in a bundle is used only for its own documents.
#[test]
fn a_bundle_keeps_what_is_made_of_its_contract() {
    let folder = tempfile::tempdir().unwrap();
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites/contracts/wstest.wsdl");
    let contract = contract.to_str().unwrap();
    succeeded(&castile(&["bundle", contract, "-o", "w.castile"], folder.path()));
    let bundle = folder.path().join("w.castile");
    let call = |contract: &str, operation: &str| {
        let url = ["--dry-run", "--url", "http://127.0.0.1:9/wstest"];
        castile(&[&["call", contract, operation, "orderId=1", "customerId=1"], &url[..]].concat(), folder.path())
    };
    let of_documents = call(contract, "GetOrder");
    succeeded(&of_documents);
    assert_eq!(call("w.castile", "GetOrder").stdout, of_documents.stdout);
    // The bundle has all operations, though only one was requested.
    let told = String::from_utf8_lossy(&call("w.castile", "GetOrde").stderr).into_owned();
    assert!(told.contains("GetOrder") && told.contains("EchoList"), "{told}");

    let text = std::fs::read_to_string(&bundle).unwrap();
    let (documents, made) = text.split_once("<made by=\"castile-plan ").unwrap();
    // The plan of other documents.
    let changed = documents.replace("name=\"orderId\"", "name=\"number\"");
    assert_ne!(changed, documents);
    std::fs::write(&bundle, format!("{changed}<made by=\"castile-plan {made}")).unwrap();
    let told = String::from_utf8_lossy(&call("w.castile", "GetOrder").stderr).into_owned();
    assert!(told.contains("orderId") && told.contains("number"), "{told}");
    // Invalid or empty plans.
    for made in ["", "<made/>", "<made by='castile-plan 0.1.0/1' of=''>AAAA</made>"] {
        std::fs::write(&bundle, format!("{documents}{made}</bundle>")).unwrap();
        assert_eq!(call("w.castile", "GetOrder").stdout, of_documents.stdout, "{made}");
    }
}
