//! Tests requests and answers in encodings other than UTF-8, over HTTP.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use castile::CallError;
use castile::http::server::Server;
use castile_suites::benchmark1::contract::*;
use common::http::{benchmark, block_on, fault, send};
use common::layout::SOAP;
use common::load::serve;
use http::{Request, StatusCode};
use http_body_util::Full;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn message(operation: &str, element: &str, text: &str) -> String {
    format!(
        "<e:Envelope xmlns:e='{SOAP}'><e:Body><{operation} xmlns='http://www.extreme.indiana.edu/wsdl/Benchmark1'>\
         <{element}>{text}</{element}></{operation}></e:Body></e:Envelope>"
    )
}

/// Returns a request to `echoStrings`.
fn request(text: &str) -> String {
    message("echoStrings", "input", text)
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Encodes a text of the first 256 Unicode characters.
fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
}

#[test]
fn requests_are_read_in_the_encoding_of_their_content_type() {
    let server = benchmark();
    let post = |content_type: &str, message: Vec<u8>| {
        let request = Request::post("/").header("content-type", content_type);
        send(&server, request.body(Full::new(message.into())).unwrap())
    };
    for (content_type, message) in [
        ("text/xml; charset=utf-16", utf16(&request("é"))),
        ("text/xml", utf16(&format!("\u{FEFF}{}", request("é")))),
        ("text/xml; charset=utf-8", utf16(&format!("\u{FEFF}{}", request("é")))),
        ("text/xml; charset=\"ISO-8859-1\"", latin1(&request("é"))),
        ("text/xml", latin1(&format!("<?xml version='1.0' encoding='ISO-8859-1'?>{}", request("é")))),
        ("text/xml; charset=utf-8", format!("<?xml version='1.0' encoding='ISO-8859-1'?>{}", request("é")).into()),
    ] {
        let (status, answered_in, answer) = post(content_type, message);
        assert_eq!((status, &*answered_in), (StatusCode::OK, "text/xml; charset=utf-8"), "{answer}");
        assert!(answer.contains("<echoStringsReturn>é</echoStringsReturn>"), "{answer}");
    }
    for (content_type, message, reason) in [
        ("text/xml", latin1(&request("é")), "echoStrings/input: byte 0xE9 is not UTF-8"),
        ("text/xml; charset=us-ascii", request("é").into(), "byte 0xC3 is not US-ASCII"),
        ("text/xml", b"<?xml version='1.0' encoding='klingon'?><a/>".to_vec(), "the encoding \"klingon\" is unknown"),
    ] {
        let (status, _, answer) = post(content_type, message);
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        let (code, found) = fault(&answer);
        assert!(code == "soap:Client" && found.starts_with(reason), "{code} {found}");
    }
}

#[test]
fn other_encodings_go_over_sockets() {
    block_on(async {
        let address = serve(Server::new(), castile_suites::routes()).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        let body = utf16(&request("é€😀"));
        let head = format!(
            "POST /benchmark1 HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\
             content-type: text/xml; charset=utf-16\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains(">é€😀<"), "{answer}");
    });
}

/// Returns a generated client's result for an answer with this content type, over a socket.
fn answered(content_type: &'static str, body: Vec<u8>) -> Result<Vec<String>, CallError> {
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = BenchmarkClient::new(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = stream.read(&mut [0; 4096]).await;
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
        });
        client.echo_strings(&EchoStrings { input: Vec::new() }).await.map(|response| response.echo_strings_return)
    })
}

#[test]
fn clients_read_answers_in_the_encoding_of_their_content_type() {
    let response = |text: &str| message("echoStringsResponse", "echoStringsReturn", text);
    for (content_type, body) in [
        ("text/xml; charset=utf-16", utf16(&response("é"))),
        ("text/xml; charset=iso-8859-1", latin1(&response("é"))),
        ("text/xml", utf16(&format!("\u{FEFF}{}", response("é")))),
        ("text/xml; charset=UTF-8", response("é").into_bytes()),
    ] {
        assert_eq!(answered(content_type, body).unwrap(), ["é"], "{content_type}");
    }
    let error = answered("text/xml; charset=klingon", b"<?".to_vec()).unwrap_err();
    assert!(matches!(error, CallError::Transport(_)));
    let expected = "found charset \"klingon\", expected a known one, such as utf-8 or utf-16";
    let told = error.to_string();
    let (from, why) = told.split_once("/ can't be read: ").unwrap();
    assert!(from.starts_with("the answer from http://127.0.0.1:"), "{told}");
    assert_eq!(why, format!("{expected}: <?"));
}
