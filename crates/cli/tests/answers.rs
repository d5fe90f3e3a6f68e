//! `castile call`: the parts of an answer that aren't printed to standard output.
#![cfg(feature = "contracts")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::json;

const WSTEST: &str = "../suites/contracts/wstest.wsdl";
const MTOM: &str = "../codegen/tests/features/mtom/service.wsdl";

/// Returns an envelope with this body.
fn envelope(body: &str) -> String {
    format!("<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body>{body}</s:Body></s:Envelope>")
}

/// Returns a package of parts, each a head and a content, and its media type.
fn package(root_type: &str, parts: &[(&str, &str)]) -> (String, String) {
    let parts = parts.iter().map(|(head, content)| format!("--b\r\n{head}\r\n\r\n{content}\r\n"));
    let body = parts.collect::<String>() + "--b--\r\n";
    (format!("multipart/related; type=\"{root_type}\"; start-info=\"text/xml\"; boundary=b"), body)
}

/// Calls a server that gives this answer once. Returns standard output, standard error and the exit code.
fn call(arguments: &[&str], status: &str, (content_type, body): &(String, String)) -> (String, String, i32) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let head = format!("Content-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close", body.len());
    let answer = format!("HTTP/1.1 {status}\r\n{head}\r\n\r\n{body}");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = BufReader::new(stream.try_clone().unwrap());
        let mut length = 0;
        let mut line = String::new();
        while request.read_line(&mut line).unwrap() > 2 {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        request.read_exact(&mut vec![0; length]).unwrap();
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
    castile.arg("call").args(arguments).args(["--url", &url]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = castile.output().unwrap();
    server.join().unwrap();
    let [told, noted] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (told, noted, output.status.code().unwrap())
}

/// Returns a path of a folder that doesn't exist yet.
fn folder() -> (tempfile::TempDir, String) {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("saved").display().to_string();
    (scratch, folder)
}

fn content(folder: &str, name: &str) -> String {
    std::fs::read_to_string(Path::new(folder).join(name)).unwrap()
}

#[test]
fn attachments_are_saved_and_reported() {
    let response = envelope("<EchoVoidResponse xmlns=\"uri:WSTestWeb-TestService\"/>");
    let parts = [("Content-Type: text/xml", &*response), ("Content-Type: image/png\r\nContent-ID: <a@b>", "PNG")];
    let answer = package("text/xml", &parts);
    let (_scratch, folder) = folder();
    let (told, noted, code) = call(&[WSTEST, "EchoVoid", "--save", &folder], "200 OK", &answer);
    assert_eq!((told.as_str(), code), ("{}\n", 0), "{noted}");
    assert_eq!(noted, format!("{folder}/attachment-1: image/png, Content-ID <a@b>, 3 bytes\n"));
    assert_eq!(content(&folder, "attachment-1"), "PNG");

    // Without --save, the attachment is only reported.
    let (_, noted, code) = call(&[WSTEST, "EchoVoid"], "200 OK", &answer);
    assert_eq!((noted.as_str(), code), ("received 1 attachment: --save DIR writes it\n", 0));

    // No file is replaced, and nothing is sent.
    let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
    castile.args(["call", WSTEST, "EchoVoid", "--url", "http://127.0.0.1:9/", "--save", &folder]);
    let output = castile.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, format!("error: {folder}/attachment-1 exists already, and --save overwrites no file\n"));
    assert_eq!(output.status.code(), Some(2));
}

/// Attachments of faults were once lost.
#[test]
fn attachments_of_a_fault_are_saved() {
    let fault = "<s:Fault><faultcode>s:Client</faultcode><faultstring>no</faultstring><detail>why</detail></s:Fault>";
    let fault = envelope(fault);
    let parts = [("Content-Type: text/xml", &*fault), ("Content-Type: text/plain\r\nContent-ID: <log@b>", "a log")];
    let (_scratch, folder) = folder();
    let answer = package("text/xml", &parts);
    let (told, noted, code) = call(&[WSTEST, "EchoVoid", "--save", &folder], "500 Internal Server Error", &answer);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told, json!({"fault": {"code": "Sender", "reason": "no", "detail": {"$": "why"}}}));
    assert_eq!(noted, format!("{folder}/attachment-1: text/plain, Content-ID <log@b>, 5 bytes\n"));
    assert_eq!((content(&folder, "attachment-1").as_str(), code), ("a log", 1));
}

#[test]
fn binary_values_are_saved() {
    let include = "<x:Include xmlns:x=\"http://www.w3.org/2004/08/xop/include\" href=\"cid:a@b\"/>";
    let of_mtom = envelope(&format!("<echoResponse xmlns=\"urn:mtom\"><photo>{include}</photo></echoResponse>"));
    let parts = [
        ("Content-Type: application/xop+xml; type=\"text/xml\"", &*of_mtom),
        ("Content-Type: image/png\r\nContent-ID: <a@b>", "PNG"),
    ];
    let mtom = package("application/xop+xml", &parts);
    let large = format!("<photo>QUJD</photo><photo>{}</photo>", "QUFB".repeat(30_000));
    let large = envelope(&format!("<echoResponse xmlns=\"urn:mtom\">{large}</echoResponse>"));
    let large = ("text/xml".to_owned(), large);
    for (answer, expected, size) in [
        (&mtom, json!({"photo": [{"$file": "value-1"}]}), "3 bytes"),
        (&large, json!({"photo": ["QUJD", {"$file": "value-1"}]}), "90000 bytes"),
    ] {
        let (_scratch, folder) = folder();
        let (told, noted, code) = call(&[MTOM, "echo", "photo=QQ==", "--save", &folder], "200 OK", answer);
        assert_eq!(code, 0, "{noted}");
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        assert_eq!((told, noted), (expected, format!("{folder}/value-1: {size}\n")));
        assert!(content(&folder, "value-1").starts_with(if size == "3 bytes" { "PNG" } else { "AAA" }));
    }
    // Otherwise, the values stay in the answer.
    let (told, noted, _) = call(&[MTOM, "echo", "photo=QQ=="], "200 OK", &mtom);
    assert!(told.contains("\"UE5H\"") && noted.is_empty(), "{told} {noted}");
}

#[test]
fn times_have_their_names() {
    let response = envelope("<EchoVoidResponse xmlns=\"uri:WSTestWeb-TestService\"/>");
    let answer = ("text/xml".to_owned(), response);
    let (_, noted, code) = call(&[WSTEST, "EchoVoid", "--time"], "200 OK", &answer);
    let lines = noted.lines().map(|line| {
        let (name, time) = line.split_at(10);
        let is_time = time.strip_suffix(" ms").is_some_and(|number| number.trim().parse::<f64>().is_ok());
        (name.trim_end(), if is_time { "TIME" } else { time.trim() })
    });
    let expected = [("look-up", "-"), ("connection", "TIME"), ("TLS", "-"), ("first byte", "TIME"), ("total", "TIME")];
    assert_eq!((lines.collect::<Vec<_>>(), code), (expected.to_vec(), 0));
}

/// The login was once missing in the output, as if it hadn't been sent.
#[test]
fn sent_headers_are_shown_without_secrets() {
    let response = envelope("<EchoVoidResponse xmlns=\"uri:WSTestWeb-TestService\"/>");
    let answer = ("text/xml".to_owned(), response);
    let (_, noted, code) = call(&[WSTEST, "EchoVoid", "--verbose", "--user", "ann:secret"], "200 OK", &answer);
    assert!(noted.contains("> authorization: Basic …\n") && !noted.contains("secret"), "{noted}");
    assert_eq!(code, 0);
}
