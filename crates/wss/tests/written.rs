//! Messages that Castile has written are signed without being read.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use bytes::Bytes;
use castile_databinding::datatypes::SimpleType;
use castile_databinding::schema::Element;
use castile_databinding::{Encoder, ToXml};
use castile_mime::Content;
use castile_soap::{Headers, MessageSecurity, Root, ToPayload, Version, Written};
use castile_wss::message::{ClientSecurity, OutgoingSecurity, Policy};
use castile_wss::{Secret, Trust};
use futures_util::FutureExt;

struct Order {
    items: Vec<Item>,
    unit: Option<String>,
}

struct Item {
    name: String,
    count: i32,
    note: Option<String>,
}

impl ToXml for Order {
    const HAS_ATTRIBUTES: bool = true;

    fn attributes(&self, out: &mut Encoder) {
        out.optional_attribute("unit", &self.unit);
    }

    fn content(&self, out: &mut Encoder) {
        out.repeated("<o:item>", &self.items, "</o:item>");
    }
}

impl ToXml for Item {
    fn content(&self, out: &mut Encoder) {
        out.element("<o:name>", &self.name, "</o:name>");
        out.element("<o:count>", &self.count, "</o:count>");
        match &self.note {
            None => out.nil("<o:note>"),
            Some(note) => out.element("<note>", note, "</note>"),
        }
    }
}

fn order(texts: &[&str]) -> Order {
    let item = |text: &&str| Item { name: (*text).to_owned(), count: -1, note: Some(text.chars().rev().collect()) };
    Order { items: texts.iter().map(item).collect(), unit: None }
}

fn write(version: Version, start: &'static str, order: &impl ToXml) -> Written {
    let root = Root::new(Element::new("urn:orders", "order", 0), start, "</o:order>");
    order.write(version, Headers::default(), &root, Encoder::default().noting_canonical(true), None).unwrap()
}

fn secret() -> Secret {
    Secret::new(b"0123456789abcdef0123456789abcdef")
}

/// Signs a request, has it verified, and returns it.
fn signed(written: &Written) -> String {
    let security = ClientSecurity::new(OutgoingSecurity::new().with_timestamp().with_signature(secret()));
    let signed = security.secure(written).now_or_never().unwrap().unwrap().message;
    let policy = Policy::signed_by(Trust::new().with_secret("ann", secret()));
    let message = String::from_utf8(signed).unwrap();
    let verified = policy.verify(message.as_bytes()).now_or_never().unwrap();
    verified.unwrap_or_else(|error| panic!("{error}: {message}"));
    message
}

const STARTS: [&str; 5] = [
    "<o:order xmlns:o=\"urn:orders\">",
    "<o:order xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:wsu=\"urn:x\" xmlns:o=\"urn:orders\">",
    "<o:order xmlns=\"urn:notes\" xmlns:o=\"urn:orders\">",
    "<o:order xmlns:o=\"urn:orders\" xmlns:soap=\"urn:x\">",
    "<o:order xmlns:a=\"urn:a\" xmlns:o=\"urn:orders\">",
];

const TEXTS: [&str; 10] = [
    "Tea",
    "",
    " ",
    "a < b & c > d ]]> \"'",
    "\r\n\t\r x",
    "soap:x a:b o:c xsi:type 12:00",
    "ä€😀\u{fffd}\u{85}\u{2028}",
    "00000000000000000000000000000000",
    "&#xD;&#13;&amp;",
    "</o:order>",
];

#[test]
fn written_content_is_signed_without_being_read() {
    for version in [Version::Soap11, Version::Soap12] {
        for start in STARTS {
            for texts in [&TEXTS[..], &TEXTS[..1], &[]] {
                let written = write(version, start, &order(texts));
                let known = written.canonical.as_ref().unwrap().within(&written.message).unwrap();
                let message = written.message.bytes().unwrap();
                let content = std::str::from_utf8(&message[known]).unwrap();
                assert_eq!(content.matches("<o:item>").count(), texts.len());
                let signed = signed(&written);
                assert!(signed.contains(&format!("{start}{content}</o:order>")), "{signed}");
                // The message that is read gives the same content.
                let read = Written { canonical: None, ..Written::new(message.clone()) };
                assert!(self::signed(&read).contains(&format!("{start}{content}</o:order>")));
            }
        }
    }
}

#[test]
fn other_content_is_read() {
    let order = Order { items: vec![Item { name: "Tea".to_owned(), count: 1, note: None }], unit: None };
    let written = write(Version::Soap11, STARTS[0], &order);
    assert!(written.canonical.is_none());
    signed(&written);
}

/// An element with attributes and without content.
struct Scale(Vec<(&'static str, &'static str)>);

impl ToXml for Scale {
    const HAS_ATTRIBUTES: bool = true;
    const HAS_CONTENT: bool = false;

    fn attributes(&self, out: &mut Encoder) {
        for (name, value) in &self.0 {
            out.attribute(name, &(*value).to_owned());
        }
    }

    fn content(&self, _: &mut Encoder) {}
}

/// An order with an attribute of its own.
struct Scales(Vec<Scale>);

impl ToXml for Scales {
    const HAS_ATTRIBUTES: bool = true;

    fn attributes(&self, out: &mut Encoder) {
        out.attribute("unit", &"> \" '".to_owned());
    }

    fn content(&self, out: &mut Encoder) {
        out.repeated("<o:scale>", &self.0, "</o:scale>");
    }
}

#[test]
fn attributes_are_signed_as_they_are_written() {
    for (attributes, is_known) in [
        (vec![], true),
        (vec![("a", "1"), ("b", "")], true),
        (vec![("B", "\t\r\n\"'<&"), ("a", "o:c 12:00"), ("xml:lang", "en")], true),
        (vec![("b", "1"), ("a", "")], false),
        (vec![("a", ">")], false),
        (vec![("xml:lang", "en"), ("a", "")], false),
        // An id that the signature would give to the body. Such content is read.
        (vec![("xml:id", "body-1")], false),
        (vec![("Id", "body-1"), ("id", "1")], false),
        (vec![("id", "body-1"), ("orderID", "1")], true),
    ] {
        let written = write(Version::Soap11, STARTS[0], &Scales(vec![Scale(attributes.clone())]));
        assert_eq!(written.canonical.is_some(), is_known, "{attributes:?}");
        let signed = signed(&written);
        assert!(signed.contains("></o:scale></o:order>"), "{signed}");
    }
}

/// A value whose text is right, but not canonical.
#[derive(PartialEq)]
struct Price;

impl SimpleType for Price {
    const NAME: &'static str = "price";

    fn parse(_: &str) -> Result<Self, Option<String>> {
        Ok(Price)
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(b"5 > &quot;4&quot;");
        true
    }
}

struct OwnText;

impl ToXml for OwnText {
    fn content(&self, out: &mut Encoder) {
        out.simple(&Price);
    }
}

struct OwnTag;

impl ToXml for OwnTag {
    fn content(&self, out: &mut Encoder) {
        out.element("<o:price xmlns:o=\"urn:orders\">", &"5".to_owned(), "</o:price>");
    }
}

#[test]
fn what_programs_write_themselves_is_read() {
    for written in [write(Version::Soap11, STARTS[0], &OwnText), write(Version::Soap12, STARTS[0], &OwnTag)] {
        assert!(written.canonical.is_none());
        signed(&written);
    }
}

/// A value that is written as it is, whatever that means in XML.
#[derive(PartialEq)]
struct Markup(&'static str);

impl SimpleType for Markup {
    const NAME: &'static str = "markup";

    fn parse(_: &str) -> Result<Self, Option<String>> {
        Ok(Markup(""))
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(self.0.as_bytes());
        true
    }
}

impl ToXml for Markup {
    fn content(&self, out: &mut Encoder) {
        out.simple(self);
    }
}

/// Regression test: what was not read was signed, although nobody could read it.
#[test]
fn what_is_not_well_formed_is_not_signed() {
    let security = ClientSecurity::new(OutgoingSecurity::new().with_signature(secret()));
    for (markup, is_right) in [
        ("<o:a></o:a>", true),
        ("<o:a>", false),
        ("<o:a></o:b>", false),
        ("</o:order><o:order>", false),
        ("<o:a<></o:a<>", false),
        ("<1></1>", false),
        ("<p:a></p:a>", false),
        ("<a p:b=\"\"></a>", false),
        ("<xmlns:a></xmlns:a>", false),
        ("\u{1}", false),
        ("\u{ffff}", false),
    ] {
        let written = write(Version::Soap11, STARTS[0], &Markup(markup));
        assert_eq!(written.canonical.is_some(), is_right, "{markup}");
        let signed = security.secure(&written).now_or_never().unwrap();
        assert_eq!(signed.is_ok(), is_right, "{markup}");
    }
}

struct Deep(u32);

impl ToXml for Deep {
    fn content(&self, out: &mut Encoder) {
        if self.0 > 0 {
            out.element("<o:d>", &Deep(self.0 - 1), "</o:d>");
        }
    }
}

#[test]
fn deep_content_is_written() {
    assert!(write(Version::Soap11, STARTS[0], &Deep(600)).canonical.is_some());
}

#[test]
fn a_message_that_was_replaced_is_read() {
    let mut written = write(Version::Soap11, STARTS[0], &order(&TEXTS));
    let other =
        String::from_utf8(written.message.bytes().unwrap().to_vec()).unwrap().replace("<o:count>", "<o:count >");
    // Its length is the same.
    let other = other.replacen("Tea", "Te", 1).replacen("-1<", "1<", 9);
    assert_eq!(other.len(), written.message.bytes().unwrap().len());
    written.message = Content::from(Bytes::from(other));
    assert!(written.canonical.as_ref().unwrap().within(&written.message).is_none());
    let signed = signed(&written);
    assert!(signed.contains("<o:count >"), "{signed}");
}

#[test]
fn a_message_that_is_too_long_is_refused() {
    let written = write(Version::Soap11, STARTS[0], &order(&["x".repeat(20_000).as_str()]));
    let length = written.message.bytes().unwrap().len();
    for (limit, expected) in [(length, None), (length - 1, Some("the limit"))] {
        let mut limits = castile_wss::Limits::default();
        limits.document.message_size = limit;
        let security = ClientSecurity::new(OutgoingSecurity::new().with_signature(secret()).with_limits(limits));
        match (security.secure(&written).now_or_never().unwrap(), expected) {
            (Ok(signed), None) => assert!(signed.message.len() > limit),
            (Err(error), Some(text)) => assert!(error.to_string().contains(text), "{error}"),
            (result, _) => panic!("{limit}: {:?}", result.map(|signed| signed.message.len())),
        }
    }
}
