//! Payloads as XML.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

use bytes::Bytes;
use castile_databinding::schema::Element;
use castile_soap::{NoDetail, Operation, Options, Raw, Root, client};
use castile_xml::{Charset, Limits, Token};

const ROOT: Root = Root::new(Element::new("urn:e", "echo", 0), "<e:echo xmlns:e=\"urn:e\">", "</e:echo>");

static OPERATION: Operation =
    Operation::new("echo", "", ROOT).with_actions("urn:n/echo", "urn:n/answer").with_response(ROOT);

fn read(message: impl Into<Bytes>, charset: Option<Charset>) -> Raw {
    let answer = client::response_with::<Raw, NoDetail>(&OPERATION, &message.into(), charset, &Options::default());
    answer.unwrap().unwrap().into_inner()
}

fn envelope(payload: &str) -> String {
    format!(
        "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:e='urn:e' xmlns='urn:d'><s:Header/><s:Body xmlns='urn:f'>{payload}</s:Body>\n</s:Envelope>\n"
    )
}

#[test]
fn a_received_payload_shares_the_bytes_of_the_message() {
    let payload = "<e:echo a='1'>\r\n <b/><!-- c --> &lt;</e:echo >";
    let message = Bytes::from(envelope(payload));
    let raw = read(message.clone(), None);
    let bytes = raw.bytes().unwrap();
    assert_eq!(bytes, payload);
    assert!(message.as_ptr_range().contains(&bytes.as_ptr()), "it was copied");
    let declared: Vec<_> = raw.declarations().collect();
    assert_eq!(declared, [("", "urn:f"), ("e", "urn:e"), ("s", "http://schemas.xmlsoap.org/soap/envelope/")]);
    assert_eq!(
        raw.to_any().unwrap().xml(),
        payload.replacen("<e:echo", "<e:echo xmlns=\"urn:f\" xmlns:e=\"urn:e\"", 1)
    );
}

/// A call in SOAP encoding includes the elements that it refers to.
#[test]
fn raw_calls_include_the_elements_that_they_refer_to() {
    static ENCODED: Operation = Operation::new("echo", "", ROOT.encoded())
        .with_actions("urn:n/echo", "urn:n/answer")
        .with_response(ROOT.encoded());
    let payload = "<e:echo><a href='#1'/></e:echo> <multiRef id='1'/>";
    let message = Bytes::from(envelope(payload));
    let read = |operation| client::response_with::<Raw, NoDetail>(operation, &message, None, &Options::default());
    assert_eq!(read(&ENCODED).unwrap().unwrap().get_ref().bytes().unwrap(), payload);
    assert!(read(&OPERATION).is_err());
}

/// The second message on a thread begins like the first one, so its prologue is cached.
#[test]
fn known_beginnings_have_the_same_scope() {
    let [first, second] = [1, 2].map(|number| {
        let message = format!("<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/' xmlns:e='urn:e'><s:Body><e:echo>{number}</e:echo></s:Body></s:Envelope>");
        let raw = read(message, None);
        (format!("{:?}", raw.declarations().collect::<Vec<_>>()), raw.bytes().unwrap())
    });
    assert_eq!(first.0, second.0);
    assert_eq!(second.1, "<e:echo>2</e:echo>");
}

#[test]
fn decoded_payloads_are_utf8() {
    let message: Vec<u8> = envelope("<e:echo>é</e:echo>").chars().map(|c| c as u8).collect();
    let raw = read(message, Charset::of_label("iso-8859-1"));
    assert_eq!(raw.bytes().unwrap(), "<e:echo>é</e:echo>");
    assert_eq!(raw.read::<String>().unwrap(), "é");
}

#[test]
fn tokens_are_those_of_the_payload() {
    let raw = read(envelope("<!-- before --><e:echo><b x='1'/>t<![CDATA[<]]></e:echo><?behind?>"), None);
    let mut tokens = raw.tokens().unwrap();
    let mut found = String::new();
    while let Some(token) = tokens.next().unwrap() {
        found += &match token {
            Token::StartTag(tag) => {
                let reader = tokens.reader();
                format!("<{{{}}}{} {}", reader.namespace(tag.namespace), tag.name.local(), reader.attributes().count())
            }
            Token::EndTag(_) => ">".to_owned(),
            other => format!("{other:?}"),
        };
    }
    assert_eq!(found, "<{urn:e}echo 0<{urn:f}b 1>Text(\"t\")Text(\"<\")>");
}

#[test]
fn a_payload_to_send_is_not_checked() {
    let error = |xml: &'static str| Raw::new(xml).name().unwrap_err().to_string();
    assert_eq!(error(""), "there is no element");
    assert!(error("<a:b/>").contains("prefix"), "{}", error("<a:b/>"));
    let error = Raw::new("<a>x</a>").read::<i32>().unwrap_err().to_string();
    assert!(error.starts_with("a: "), "{error}");
}

/// A payload that was received within certain limits is read again within the same limits.
#[test]
fn limits_are_those_that_it_came_within() {
    let attributes: String = (0..300).map(|number| format!(" a{number}=''")).collect();
    let message = Bytes::from(envelope(&format!("<e:echo{attributes}>x</e:echo>")));
    let mut limits = Limits::default();
    limits.attributes = 301;
    let answer = client::response_with::<Raw, NoDetail>(&OPERATION, &message, None, &limits.into());
    let raw = answer.unwrap().unwrap().into_inner();
    assert_eq!(raw.name().unwrap().to_string(), "{urn:e}echo");
    let made = Raw::new(format!("<echo{attributes}>x</echo>"));
    assert!(made.name().unwrap_err().to_string().contains("256 attributes"), "{:?}", made.name());
}
