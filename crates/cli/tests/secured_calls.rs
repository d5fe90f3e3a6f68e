//! `castile call` with WS-Security: what is sent and received, byte for byte, and what `castile sec explain` says about it.
#![cfg(feature = "contracts")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use serde_json::Value as Json;

const ANSWER: &str = "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\">HEADER<s:Body><PriceResponse xmlns=\"urn:orders\"><item>tea</item><price>2.5</price></PriceResponse></s:Body></s:Envelope>";
const SIGNED: [&str; 4] = ["--wss-key", "keys/key.pem", "--wss-cert", "keys/cert.pem"];

fn castile(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    command.args(arguments).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mock")).output().unwrap()
}

fn call(arguments: &[&str]) -> Output {
    castile(&[&["call", "orders.wsdl", "Price", "quantity=1"], arguments].concat())
}

/// Explains a file, and returns the JSON and the exit code.
fn explained(file: &Path) -> (Json, i32) {
    let output = castile(&["sec", "explain", file.to_str().unwrap(), "--ca", "keys/ca.pem", "--json"]);
    let told = String::from_utf8(output.stdout).unwrap();
    let json = serde_json::from_str(&told).unwrap_or_else(|error| panic!("{error}: {told}"));
    (json, output.status.code().unwrap())
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A request as a server has received it.
struct Received {
    content_type: String,
    body: Vec<u8>,
}

/// Calls a server that gives this answer once.
fn exchange(arguments: &[&str], answer: &str) -> (Output, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("http://{address}/");
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{answer}",
        answer.len()
    );
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let (mut length, mut content_type, mut line) = (0, String::new(), String::new());
        while request.read_line(&mut line).unwrap() > 2 {
            match line.trim().split_once(": ") {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap(),
                Some((name, value)) if name.eq_ignore_ascii_case("content-type") => content_type = value.to_owned(),
                _ => {}
            }
            line.clear();
        }
        let mut body = vec![0; length];
        request.read_exact(&mut body).unwrap();
        let _ = stream.write_all(answer.as_bytes());
        Received { content_type, body }
    });
    let output = call(&[arguments, &["--url", &url]].concat());
    // If nothing was sent, the server still waits.
    let _ = TcpStream::connect(address);
    (output, server.join().unwrap())
}

/// `sec explain` once had no command that gave it what was sent.
#[test]
fn messages_are_saved_byte_for_byte() {
    let scratch = tempfile::tempdir().unwrap();
    let [request, answer] = ["request", "answer"].map(|name| scratch.path().join(name));
    let files = ["--save-request", request.to_str().unwrap(), "--save-answer", answer.to_str().unwrap()];
    let given = [&["item=tea"][..], &SIGNED, &files].concat();
    let of_server = ANSWER.replace("HEADER", "");
    let (output, received) = exchange(&given, &of_server);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(std::fs::read(&request).unwrap(), received.body);
    assert_eq!(std::fs::read_to_string(&answer).unwrap(), of_server);
    // It may have a password.
    assert_eq!(std::fs::metadata(&request).unwrap().permissions().mode() & 0o777, 0o600);
    let (json, code) = explained(&request);
    assert_eq!((json["right"].as_bool(), code), (Some(true), 0), "{json}");
    assert_eq!(json["security"][0]["timestamp"]["in_time"], true);
    // Nothing is replaced, and nothing is sent.
    let output = call(&[&["item=tea", "--url", "http://127.0.0.1:9/"][..], &files].concat());
    assert!(said(&output).contains("exists already, and --save-request overwrites no file"), "{}", said(&output));
    assert_eq!(output.status.code(), Some(2));
    // The answer is kept, whatever it is.
    std::fs::remove_file(&request).unwrap();
    std::fs::remove_file(&answer).unwrap();
    let (output, _) = exchange(&given, "no envelope");
    assert!(!output.status.success());
    assert_eq!(std::fs::read_to_string(&answer).unwrap(), "no envelope");
}

#[test]
fn packages_are_saved_with_their_type() {
    let scratch = tempfile::tempdir().unwrap();
    let (request, photo) = (scratch.path().join("request"), scratch.path().join("photo"));
    std::fs::write(&photo, b"\x89PNG\r\n\0").unwrap();
    let attached = format!("{};id=photo;type=image/png", photo.display());
    let given = ["item=tea", "--attach", &attached, "--save-request", request.to_str().unwrap()];
    let (output, received) = exchange(&[&given[..], &SIGNED].concat(), &ANSWER.replace("HEADER", ""));
    assert!(output.status.success(), "{}", said(&output));
    let head = format!("Content-Type: {}\r\n\r\n", received.content_type);
    assert_eq!(std::fs::read(&request).unwrap(), [head.as_bytes(), &received.body].concat());
    let (json, code) = explained(&request);
    assert_eq!((json["right"].as_bool(), code), (Some(true), 0), "{json}");
    assert_eq!(json["attachments"][0]["content_id"], "photo");
    assert_eq!(json["attachments"][0]["signed_by"][0], 1);
}

/// What `--dry-run` prints once had a false verdict: changed.
#[test]
fn what_was_not_sent_is_recognised() {
    let scratch = tempfile::tempdir().unwrap();
    let [sent, shown, indented, masked] = ["a", "b", "c", "d"].map(|name| scratch.path().join(name));
    let dry = ["item=tea", "--dry-run", "--url", "http://127.0.0.1:9/", "--save-request", sent.to_str().unwrap()];
    let output = call(&[&dry[..], &SIGNED].concat());
    std::fs::write(&shown, &output.stdout).unwrap();
    // The head of HTTP is skipped, and the token is hidden.
    let (json, code) = explained(&shown);
    assert_eq!((json["masked"][0].as_str(), code), (Some("BinarySecurityToken"), 1), "{json}");
    let text = std::fs::read_to_string(&sent).unwrap();
    std::fs::write(&masked, text.replace(">tea<", ">***<")).unwrap();
    let (json, _) = explained(&masked);
    let references = json["signatures"][0]["references"].as_array().unwrap();
    let found: Vec<_> = references.iter().map(|one| (one["right"] == true, one["masked"] == true)).collect();
    assert_eq!(found, [(true, false), (false, true)], "{json}");
    std::fs::write(&indented, text.replace("><", ">\n  <")).unwrap();
    let (json, code) = explained(&indented);
    let signature = &json["signatures"][0];
    assert_eq!((signature["indented"].as_bool(), signature["right"].as_bool(), code), (Some(true), Some(false), 1));
    assert_eq!(signature["references"][1]["indented"], true, "{json}");
}

/// A stored envelope was once parsed and written anew, which broke its signature.
#[test]
fn a_signed_envelope_is_sent_as_it_is() {
    let scratch = tempfile::tempdir().unwrap();
    let stored = scratch.path().join("request");
    let file = stored.to_str().unwrap();
    let dry = ["item=tea", "--dry-run", "--url", "http://127.0.0.1:9/", "--save-request", file];
    assert!(call(&[&dry[..], &SIGNED].concat()).status.success());
    let text = std::fs::read_to_string(&stored).unwrap().replace("?>", "?><!-- kept -->\n");
    std::fs::write(&stored, &text).unwrap();
    let replay = |options: &[&str]| {
        let listener = ["call", "orders.wsdl", "Price", "--xml", file, "--url", "http://127.0.0.1:9/", "--dry-run"];
        castile(&[&listener[..], options].concat())
    };
    let copy = scratch.path().join("copy");
    for (number, options) in [&[][..], &["--wss-ca", "keys/ca.pem"], &["--soap", "1.1"]].iter().enumerate() {
        let copy = copy.with_extension(number.to_string());
        let output = replay(&[options, &["--save-request", copy.to_str().unwrap()][..]].concat());
        assert!(output.status.success(), "{}", said(&output));
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), text, "{options:?}");
        // The token of a stored message is as secret as that of another.
        assert!(String::from_utf8(output.stdout).unwrap().contains(">***</wsse:BinarySecurityToken>"));
    }
    for (options, reason) in [
        (&["--wss-timestamp"][..], "--wss-timestamp would change it"),
        (&["--soap-header", "keys/holder-of-key.xml"], "--soap-header would change it"),
        (&["--soap", "1.2"], "it has SOAP 1.1: expected --soap 1.1"),
    ] {
        let output = replay(options);
        let expected = format!("has a Security, so that it can only be sent as it is, and {reason}");
        assert!(said(&output).contains(&expected), "{}", said(&output));
        assert_eq!(output.status.code(), Some(2));
    }
}

/// SOAP 1.1 §4.2.3: what must be understood and isn't is an error. What need not be understood is none.
#[test]
fn answers_may_have_a_security_that_is_not_required() {
    const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
    const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
    let answer = |must_understand: &str, content: &str| {
        let security =
            format!("<s:Header><w:Security xmlns:w=\"{WSSE}\"{must_understand}>{content}</w:Security></s:Header>");
        ANSWER.replace("HEADER", &security)
    };
    let created = humantime::format_rfc3339_seconds(SystemTime::now() - Duration::from_secs(1_200));
    let old = format!("<u:Timestamp xmlns:u=\"{WSU}\"><u:Created>{created}</u:Created></u:Timestamp>");
    let (optional, required) = (answer("", &old), answer(" s:mustUnderstand=\"1\"", &old));
    let none = ANSWER.replace("HEADER", "");
    let any: &[&str] = &["--wss-answer", "any"];
    let timestamp: &[&str] = &["--wss-answer", "timestamp"];
    let mut trusted = vec!["--wss-ca", "keys/ca.pem"];
    for (answer, options, expected) in [
        (&none, &[][..], Ok(())),
        (&optional, &[], Ok(())),
        (
            &required,
            &[],
            Err(
                "the answer has a Security that must be understood: --wss-trust and --wss-ca check it, and --wss-answer any accepts it",
            ),
        ),
        (&none, any, Ok(())),
        (&optional, any, Err("\nnote: --wss-clock says how far the clock of the other side is ahead of ours")),
        (&required, &[any, &["--wss-skew", "1h"]].concat(), Ok(())),
        (&none, timestamp, Err("has no <Security>")),
        (&required, timestamp, Err("more than 300 s ago")),
        (&required, &[timestamp, &["--wss-skew", "1h"]].concat(), Ok(())),
        (&none, &trusted, Err("has no <Security>")),
    ] {
        let (output, received) = exchange(&[&["item=tea"], options].concat(), answer);
        let said = said(&output);
        match expected {
            Ok(()) => assert!(output.status.success(), "{options:?}: {said}"),
            Err(reason) => assert!(said.contains(reason) && output.status.code() == Some(3), "{options:?}: {said}"),
        }
        // Nothing is added to a request because something is required of its answer.
        assert!(!String::from_utf8(received.body).unwrap().contains("Security"), "{options:?}");
    }
    // It can't be signed and be anything.
    trusted.extend(any);
    for options in [&trusted[..], &["--wss-answer", "signed"]] {
        let output = call(&[&["item=tea", "--url", "http://127.0.0.1:9/"], options].concat());
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    }
}

/// A holder-of-key assertion once looked wrong, and one inside a reference was not shown.
#[test]
fn assertions_are_explained_wherever_they_are() {
    let scratch = tempfile::tempdir().unwrap();
    let (stored, embedded) = (scratch.path().join("request"), scratch.path().join("embedded"));
    let dry = ["item=tea", "--dry-run", "--url", "http://127.0.0.1:9/", "--save-request", stored.to_str().unwrap()];
    let assertion = ["--wss-assertion", "keys/holder-of-key.xml", "--wss-key", "keys/key.pem"];
    assert!(call(&[&dry[..], &assertion].concat()).status.success());
    let text = std::fs::read_to_string(&stored).unwrap();
    let piece = |start: &str, end: &str| {
        let from = text.find(start).unwrap();
        text[from..from + text[from..].find(end).unwrap() + end.len()].to_owned()
    };
    let moved = piece("<a:Assertion", "</a:Assertion>");
    let reference = piece("<wsse:KeyIdentifier", "</wsse:KeyIdentifier>");
    let inside = format!("<wsse:Embedded>{moved}</wsse:Embedded>");
    std::fs::write(&embedded, text.replace(&moved, "").replacen(&reference, &inside, 1)).unwrap();
    for (file, place) in
        [(&stored, "\n    Assertion            signed by"), (&embedded, "Assertion inside a reference to it")]
    {
        let output = castile(&["sec", "explain", file.to_str().unwrap(), "--cert", "keys/sts.pem"]);
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(told.contains(place) && told.contains("the subject of the assertion _hok, trusted"), "{told}");
        assert!(told.contains("confirmed by holder-of-key, with the certificate of CN=Invoices"), "{told}");
    }
}
