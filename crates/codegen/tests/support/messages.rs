//! Messages of features: what a server answers to those that stand in files.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(dead_code, reason = "no test needs everything")]

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use castile::codegen::HttpService;
use castile::http::Body;
use castile_xml::tree::{Attribute, Document, Element, Node};
use http_body_util::BodyExt;
use tower_service::Service;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What became of a message.
pub(crate) enum Answer {
    /// A right message came back.
    Same,
    /// It did not, or a wrong message was answered: what is different.
    Different(String),
    /// A wrong message is refused: the fault, as it stands in `bad-*.error`.
    Refused(String),
}

/// What a server that echoes answers to the messages of a feature that are meant for it: those in `ok-*.xml`, and those in
/// `bad-*.xml`.
pub(crate) async fn exchange<S: HttpService>(
    directory: &Path,
    server: &S,
    is_meant: &dyn Fn(&str) -> bool,
) -> Vec<(PathBuf, Answer)> {
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let named = |prefix: &str| {
        let is_named = |file: &&PathBuf| {
            let name = file.file_name().unwrap().to_str().unwrap();
            name.starts_with(prefix) && name.ends_with(".xml") && is_meant(name)
        };
        files.iter().filter(is_named).collect::<Vec<_>>()
    };
    let (right, wrong) = (named("ok-"), named("bad-"));
    assert!(!right.is_empty(), "{} has no messages", directory.display());

    let mut answers = Vec::new();
    // Twice: the second time all tags are known to the reader.
    for file in right.iter().chain(&right) {
        answers.push(((*file).clone(), echoed(server, file).await));
    }
    for file in wrong.iter().chain(&wrong) {
        answers.push(((*file).clone(), refused(server, fs::read_to_string(file).unwrap()).await));
    }
    answers
}

/// A right message is answered with the same content, or with what stands in `ok-*.answer`.
async fn echoed<S: HttpService>(server: &S, file: &Path) -> Answer {
    let sent = fs::read_to_string(file).unwrap();
    let (status, answer) = post(server, sent.clone()).await;
    if status != 200 {
        return Answer::Different(answer);
    }
    let expected = fs::read_to_string(file.with_extension("answer"));
    let end = if expected.is_ok() { "" } else { "Response" };
    let [expected, answer] = [expected.unwrap_or(sent), answer].map(|message| Document::parse(&message).unwrap());
    let of = |message: Element<'_>, end: &str| {
        format!("<{{{}}}{}{end}>\n{}", message.namespace(), message.local(), infoset(message))
    };
    let (expected, answer) = (of(payload(&expected), end), of(payload(&answer), ""));
    match expected == answer {
        true => Answer::Same,
        false => Answer::Different(format!("expected {expected}, found {answer}")),
    }
}

/// A wrong message is answered with a fault.
async fn refused<S: HttpService>(server: &S, sent: String) -> Answer {
    let (status, answer) = post(server, sent).await;
    if status != 500 {
        return Answer::Different(format!("{status}: {answer}"));
    }
    let answer = Document::parse(&answer).unwrap();
    let [code, reason] = ["faultcode", "faultstring"].map(|name| child(payload(&answer), name));
    Answer::Refused(format!("{}: {}\n", code.trim_start_matches("soap:"), reason))
}

/// Status and body of the answer to a message.
pub(crate) async fn post<S: HttpService>(server: &S, message: String) -> (u16, String) {
    let request = http::Request::post("/").header("content-type", "text/xml; charset=utf-8");
    let response = server.service().call(request.body(Body::from(Bytes::from(message))).unwrap()).await;
    let response: Result<_, BoxError> = response.map_err(Into::into);
    let (head, body) = response.unwrap().into_parts();
    let body: Result<_, BoxError> = body.collect().await.map_err(Into::into);
    let body = body.unwrap().to_bytes();
    (head.status.as_u16(), String::from_utf8(body.to_vec()).unwrap())
}

/// The first element in the body of a message.
pub(crate) fn payload(message: &Document) -> Element<'_> {
    let body = message.root().elements().find(|element| element.local() == "Body").unwrap();
    body.elements().next().unwrap()
}

fn child(element: Element<'_>, name: &str) -> String {
    element.elements().find(|child| child.local() == name).unwrap().text()
}

/// The content of an element: what doesn't count is left out, which is prefixes, the order of attributes, and white
/// space between elements.
pub(crate) fn infoset(element: Element<'_>) -> String {
    let mut out = String::new();
    let has_elements = element.elements().next().is_some();
    for child in element.children() {
        let child = match child {
            Node::Element(child) => child,
            Node::Text(text) => {
                let text = text.trim();
                if has_elements && !text.is_empty() {
                    out.push_str(&format!("{text:?}\n"));
                }
                continue;
            }
        };
        let mut attributes: Vec<String> = child.attributes().map(|attribute| shown(child, attribute)).collect();
        attributes.sort();
        let (namespace, local, attributes) = (child.namespace(), child.local(), attributes.concat());
        out.push_str(&format!("<{{{namespace}}}{local}{attributes}>\n{}</>\n", infoset(child)));
    }
    if !has_elements {
        out = element.text() + "\n";
    }
    out
}

/// An attribute; what `xsi:type` means depends on the declarations around it.
fn shown(element: Element<'_>, attribute: Attribute<'_>) -> String {
    let (namespace, local, value) = (attribute.namespace(), attribute.local(), attribute.value());
    if (namespace, local) == ("http://www.w3.org/2001/XMLSchema-instance", "type") {
        return format!(" xsi:type={:?}", element.resolve_qname(value).unwrap());
    }
    format!(" {{{namespace}}}{local}={value:?}")
}
