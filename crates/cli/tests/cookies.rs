//! `castile call --cookies`: a session lasts from one call to the next.
#![cfg(feature = "contracts")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Answers each request with a new session, and returns the `Cookie` header of the request. Every third answer ends the session.
fn answer(mut stream: TcpStream, number: usize) -> String {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    while !request.ends_with(b"Envelope>") {
        let read = stream.read(&mut piece).unwrap();
        assert!(read > 0, "the connection is closed");
        request.extend_from_slice(&piece[..read]);
    }
    let age = if number % 3 == 2 { 0 } else { 600 };
    let body = r#"<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><EchoVoidResponse xmlns="uri:WSTestWeb-TestService"/></s:Body></s:Envelope>"#;
    let head = format!("Set-Cookie: session={number}; Max-Age={age}; HttpOnly\r\nContent-Length: {}", body.len());
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nConnection: close\r\n{head}\r\n\r\n{body}").unwrap();
    let request = String::from_utf8(request).unwrap();
    request.lines().find_map(|line| line.strip_prefix("cookie: ")).unwrap_or_default().to_owned()
}

#[test]
fn cookies_go_from_one_call_to_the_next() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || -> Vec<String> {
        (0..4).map(|number| answer(listener.accept().unwrap().0, number)).collect()
    });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cookies");
    let contract = concat!(env!("CARGO_MANIFEST_DIR"), "/../suites/contracts/wstest.wsdl");
    let call_with = |file: &Path, url: &str, more: &[&str]| {
        let mut castile = Command::new(env!("CARGO_BIN_EXE_castile"));
        castile.args(["call", contract, "EchoVoid", "--url", url, "--cookies"]).arg(file).args(more);
        let output = castile.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let call = |url: &str, more: &[&str]| call_with(&file, url, more);
    let url = format!("http://127.0.0.1:{port}/a/b");
    let well = (0, String::new());
    assert_eq!(call(&url, &["--dry-run"]), well);
    assert!(!file.exists());

    assert_eq!(call(&url, &[]), well);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.starts_with(&format!("http://127.0.0.1:{port}\tsession=0; Path=/a; Expires=")), "{kept}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    // A cookie of another path isn't sent; the server ends the session for this path.
    assert_eq!(call(&format!("http://127.0.0.1:{port}/other"), &[]), well);
    assert_eq!(call(&url, &[]), well);
    assert!(std::fs::read_to_string(&file).unwrap().contains("\tsession=1; Path=/; "));
    assert_eq!(call(&url, &[]), well);
    assert_eq!(server.join().unwrap(), ["", "", "session=0; session=1", "session=1"]);

    // Without an answer, nothing changes.
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(call(&url, &[]).0, 3);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), kept);
    let (code, said) = call_with(Path::new("/nowhere/cookies"), &url, &[]);
    assert!(code == 2 && said.starts_with("error: /nowhere/cookies can't be written: "), "{code} {said}");
}
