//! Tests that header blocks without a declaration are written and read correctly.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use castile_databinding::datatypes::StreamedBinary;
use castile_databinding::encoded::Shared;
use castile_databinding::schema::Element;
use castile_databinding::{Any, Decoder, Encoder, Error, ToXml};
use castile_mime::Packaging;
use castile_soap::{
    AnyHeader, Fault, FaultDetail, Header, Headers, Options, ReplyMessage, RequestMessage, Root, ToPayload, Version,
    WriteHeader, message,
};

static TEXT: Root = Root::new(Element::new("", "text", 0), "<text>", "</text>");

fn written(version: Version, block: &AnyHeader) -> String {
    let header: [&dyn WriteHeader; 1] = [block];
    let message = message::write_with(version, Headers::new(&header), &TEXT, &"t".to_owned(), Vec::new()).unwrap();
    String::from_utf8(message).unwrap()
}

fn read(version: Version, message: &str) -> AnyHeader {
    let header = RequestMessage::new(version, message.to_owned()).headers(&Options::default()).unwrap();
    <[AnyHeader; 1]>::try_from(header).unwrap().into_iter().next().unwrap()
}

#[test]
fn attributes_of_a_block_are_read_again() {
    let block = Any::parse("<k:key xmlns:k='urn:k'>1</k:key>").unwrap();
    for (version, role_attribute) in [(Version::Soap11, "actor"), (Version::Soap12, "role")] {
        for said in 0..8 {
            let [must_understand, has_role, relay] = [1, 2, 4].map(|bit| said & bit != 0);
            let role = has_role.then(|| "urn:role".to_owned());
            let sent = AnyHeader { must_understand, role: role.clone(), relay, ..AnyHeader::from(block.clone()) };
            let message = written(version, &sent);
            // SOAP 1.1 has no `relay`.
            let relay = relay && version == Version::Soap12;
            let came = read(version, &message);
            assert_eq!((came.must_understand, &came.role, came.relay), (must_understand, &role, relay), "{message}");
            assert_eq!(came.block.read::<i32>().unwrap(), 1);
            // A forwarded block has each attribute only once.
            let again = written(version, &came);
            for (attribute, is_there) in
                [("mustUnderstand=", must_understand), ("relay=", relay), (&*format!("{role_attribute}="), has_role)]
            {
                for message in [&message, &again] {
                    assert_eq!(message.matches(attribute).count(), usize::from(is_there), "{attribute} in {message}");
                }
            }
            let last = read(version, &again);
            assert_eq!((last.must_understand, &last.role, last.relay), (must_understand, &role, relay), "{again}");
        }
    }
}

#[test]
fn only_soap_12_relays() {
    for (version, value, relays) in [
        (Version::Soap12, "true", Some(true)),
        (Version::Soap12, " 1 ", Some(true)),
        (Version::Soap12, "false", Some(false)),
        (Version::Soap12, "yes", None),
        (Version::Soap11, "true", Some(false)),
        (Version::Soap11, "yes", Some(false)),
    ] {
        let message = format!(
            "<s:Envelope xmlns:s='{}'><s:Header><k xmlns='urn:k' s:relay='{value}'/></s:Header><s:Body/></s:Envelope>",
            version.namespace()
        );
        let header = RequestMessage::new(version, message).headers(&Options::default());
        assert_eq!(header.ok().map(|header| header[0].relay), relays, "{value} in {version:?}");
    }
}

/// A block or a payload that refers to one shared text twice.
struct Twice(Shared<String>);

impl Twice {
    fn new(text: &str) -> Self {
        Twice(Shared::new(text.to_owned()))
    }
}

impl ToXml for Twice {
    fn content(&self, out: &mut Encoder) {
        let text = Some(self.0.clone());
        out.accessors("<item>", &[text.clone(), text], "</item>");
    }
}

impl Header for Twice {
    const ELEMENT: &'static Element = &Element::new("urn:n", "twice", 1);

    fn read(_: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        unreachable!("blocks are written here")
    }

    fn write(&self, out: &mut Encoder) {
        out.element("<n:twice xmlns:n=\"urn:n\">", self, "</n:twice>");
    }
}

/// Regression test: the ids of shared values began again in a `Directed` block.
#[test]
fn shared_values_of_a_directed_block_have_ids_of_their_own() {
    static ROOT: Root = Root::new(Element::new("", "twice", 0), "<twice>", "</twice>");
    for version in Version::ALL {
        let (first, second) = (Twice::new("a").must_understand(), Twice::new("b").for_role("urn:role"));
        let header: [&dyn WriteHeader; 2] = [&first, &second];
        let message = message::write_with(version, Headers::new(&header), &ROOT, &Twice::new("c"), Vec::new()).unwrap();
        let message = String::from_utf8(message).unwrap();
        for (id, text) in [(1, "a"), (2, "b"), (3, "c")] {
            assert_eq!(message.matches(&format!("id=\"id{id}\">{text}<")).count(), 1, "{id} in {message}");
        }
        assert_eq!(message.matches("id=\"id").count(), 3, "{message}");
    }
}

/// A block that refers to an attachment.
struct Attached;

impl Header for Attached {
    const ELEMENT: &'static Element = &Element::new("urn:n", "attached", 2);

    fn read(_: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        unreachable!("blocks are written here")
    }

    fn write(&self, out: &mut Encoder) {
        let value = StreamedBinary::Attached("cid:a".to_owned());
        out.element("<n:attached xmlns:n=\"urn:n\">", &value, "</n:attached>");
    }
}

/// Regression test: the block was sent without its attachment.
#[test]
fn a_directed_block_may_refer_to_an_attachment() {
    let (plain, directed) = (Attached, Attached.must_understand());
    let blocks: [&dyn WriteHeader; 2] = [&plain, &directed];
    for block in blocks {
        let written = "t".to_owned().write(Version::Soap11, Headers::new(&[block]), &TEXT, Encoder::default(), None);
        let written = written.unwrap();
        let message = String::from_utf8_lossy(written.message.bytes().unwrap());
        assert_eq!(written.packaging, Some(Packaging::Mtom), "{message}");
    }
}

/// The detail of a fault, in the body or in the header.
struct Said {
    twice: Twice,
    is_header: bool,
}

impl FaultDetail for Said {
    const ELEMENTS: &'static [Element] = &[Element::new("urn:n", "twice", 1)];

    fn read(_: &mut Decoder<'_>, _: usize) -> Result<Self, Error> {
        unreachable!("faults are written here")
    }

    fn write(&self, out: &mut Encoder) {
        Header::write(&self.twice, out);
    }

    fn index(&self) -> usize {
        0
    }

    fn is_header(&self) -> bool {
        self.is_header
    }
}

/// Regression test: the ids of shared values began again in the detail.
#[test]
fn shared_values_of_a_fault_and_its_header_have_ids_of_their_own() {
    for version in Version::ALL {
        for (is_header, order) in [(false, ["a", "b", "c"]), (true, ["c", "a", "b"])] {
            let fault = Fault::sender("R").with_detail(Said { twice: Twice::new("c"), is_header });
            let fault = fault.with_header(Twice::new("a")).with_header(Twice::new("b").must_understand());
            let reply = ReplyMessage::from_fault(version, &fault);
            let message = String::from_utf8_lossy(reply.message.bytes().unwrap());
            let id = if version == Version::Soap11 { " id" } else { " soapenc:id" };
            for (index, text) in order.into_iter().enumerate() {
                let written = format!("{id}=\"id{}\">{text}<", index + 1);
                assert_eq!(message.matches(&written).count(), 1, "{written} in {message}");
            }
            assert_eq!(message.matches("id=\"id").count(), 3, "{message}");
            let detail = &message[message.find("<soap:Body>").unwrap()..];
            assert_eq!(detail.contains("twice"), !is_header, "{message}");
        }
    }
}
