//! A document with binary values is written as an MTOM message and read again: the two crates work together.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::cell::RefCell;
use std::collections::HashMap;

use bytes::Bytes;
use castile_databinding::datatypes::Base64Binary;
use castile_databinding::schema::Element;
use castile_databinding::xop::Includes;
use castile_databinding::{Decoder, Encoder, Error, FromXml, ToXml};
use castile_mime::{ContentId, Limits, Message, Package, Packaging, Part, Related};
use castile_xml::{Reader, Token};
use futures_util::FutureExt;

static DATA: [Element; 1] = [Element::new("", "data", 0).occurs(0, None)];
static ROOT: Element = Element::new("", "root", 1);

#[derive(Debug, PartialEq)]
struct Root(Vec<Base64Binary>);

impl FromXml for Root {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| Ok(Root(decoder.repeated(&DATA, 0)?)))
    }
}

impl ToXml for Root {
    fn content(&self, out: &mut Encoder) {
        out.repeated("<data>", &self.0, "</data>");
    }
}

/// Parts, each of which can be taken once.
#[derive(Debug)]
struct Parts(RefCell<HashMap<ContentId, Bytes>>);

impl Includes for Parts {
    fn content(&self, href: &str, _: &mut dyn FnMut(usize) -> bool) -> Result<Option<Vec<u8>>, String> {
        let part = ContentId::from_url(href).and_then(|id| self.0.borrow_mut().remove(&id));
        part.map(|part| Some(part.into())).ok_or_else(|| format!("no part is left for {href:?}"))
    }
}

#[test]
fn there_and_back() {
    let values = Root((0..5).map(|length| Base64Binary(vec![b'\n'; length * 1_000])).collect());
    let id = ContentId::random().unwrap();
    let mut out = Encoder::default().with_parts(2_000, id.as_str());
    out.element("<root>", &values, "</root>");
    let (document, parts) = out.into_parts().unwrap();
    assert_eq!(parts.len(), 3);

    let mut package = Package::new(Packaging::Mtom, "application/soap+xml", document.into()).unwrap();
    for part in parts {
        let id = ContentId::parse(&part.content_id).unwrap();
        package.attach(Part::new(id, "application/octet-stream", part.content.into()).unwrap()).unwrap();
    }
    let related = Related::parse(&package.content_type()).unwrap();
    let message = Message::read(&related, package.into_body(), Limits::default()).now_or_never().unwrap().unwrap();
    assert_eq!(message.envelope(&related).unwrap().0, Packaging::Mtom);

    let all = message.attachments.collect(20_000).now_or_never().unwrap().unwrap();
    let parts = all.into_iter().filter_map(|(head, content)| Some((head.content_id()?.clone(), content)));
    let parts = Parts(RefCell::new(parts.collect()));
    let mut reader = Reader::new(&message.root, castile_xml::Limits::default()).unwrap();
    while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
    let mut decoder = Decoder::new(reader).with_includes(&parts);
    assert_eq!(decoder.root::<Root>(&ROOT).unwrap(), values);
    assert!(parts.0.borrow().is_empty());
}
