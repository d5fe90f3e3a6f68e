//! Binary values beside the document (XOP). They are read in the same way as their text, and written if they are long enough.
#![allow(clippy::unwrap_used, reason = "a test that unwraps says what it expected by failing")]

use std::sync::{Arc, LazyLock};

use castile_budget::{Allowance, Budget};
use castile_databinding::datatypes::Base64Binary;
use castile_databinding::facets::{Facets, Restriction};
use castile_databinding::schema::Element;
use castile_databinding::xop::{Includes, Part};
use castile_databinding::{Decoder, Encoder, Error, ErrorKind, FromXml, Nillable, ToXml};
use castile_xml::{CachedReader, Limits, Memory, Reader, Token};

/// The contents of parts, by URL.
#[derive(Debug)]
struct Parts(&'static [(&'static str, &'static [u8])]);

impl Includes for Parts {
    fn content(&self, href: &str, charge: &mut dyn FnMut(usize) -> bool) -> Result<Option<Vec<u8>>, String> {
        let found = self.0.iter().find(|(url, _)| *url == href);
        found
            .map(|(_, content)| charge(content.len()).then(|| content.to_vec()))
            .ok_or_else(|| format!("no part is named by {href:?}"))
    }
}

const PARTS: Parts = Parts(&[("cid:1@b", b"Hello"), ("cid:http://b/2", b"wor\0ld")]);

static SHORT: Restriction<Base64Binary> = Restriction::new("Short", || {
    static FACETS: LazyLock<Facets<Base64Binary>> =
        LazyLock::new(|| Facets { max_length: Some(5), ..Facets::default() });
    &FACETS
});

static PHOTOS: [Element; 4] = [
    Element::new("urn:t", "photo", 0),
    Element::new("urn:t", "more", 1).occurs(0, None),
    Element::new("urn:t", "short", 2).occurs(0, Some(1)).facets(&SHORT),
    Element::new("urn:t", "text", 3).occurs(0, Some(1)),
];
static ROOT: Element = Element::new("urn:t", "root", 9);

#[derive(Debug, Default, PartialEq)]
struct Photos {
    photo: Base64Binary,
    more: Vec<Nillable<Base64Binary>>,
    short: Option<Base64Binary>,
    text: Option<String>,
}

impl FromXml for Photos {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |decoder| {
            Ok(Photos {
                photo: decoder.required(&PHOTOS, 0)?,
                more: decoder.repeated(&PHOTOS, 1)?,
                short: decoder.optional(&PHOTOS, 2)?,
                text: decoder.optional(&PHOTOS, 3)?,
            })
        })
    }
}

impl ToXml for Photos {
    fn content(&self, out: &mut Encoder) {
        out.element("<photo>", &self.photo, "</photo>");
        out.repeated("<more>", &self.more, "</more>");
        out.optional("<short>", &self.short, "</short>");
        out.optional("<text>", &self.text, "</text>");
    }
}

/// Reads a document with and without caches; both must give the same result.
fn decode(content: &str, parts: Option<&Parts>) -> Result<Photos, String> {
    let input = format!("<root xmlns='urn:t' xmlns:xop='http://www.w3.org/2004/08/xop/include'>{content}</root>");
    let mut memory = Memory::default();
    let mut results = [(); 3].map(|()| {
        let mut reader = CachedReader::with_memory(input.as_bytes(), Limits::default(), &mut memory).unwrap();
        while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
        let mut decoder = Decoder::new(reader);
        if let Some(parts) = parts {
            decoder = decoder.with_includes(parts);
        }
        let value = decoder.root(&ROOT).map_err(|error| {
            let error: Error = error;
            error.locate(input.as_bytes(), Limits::default(), Some("root")).to_string()
        });
        memory = decoder.into_memory();
        value
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    std::mem::replace(&mut results[0], Ok(Photos::default()))
}

fn bytes(bytes: &[u8]) -> Base64Binary {
    Base64Binary(bytes.to_vec())
}

#[test]
fn included_content_is_read_like_text() {
    let expected = Photos {
        photo: bytes(b"Hello"),
        more: vec![bytes(b"wor\0ld").into(), bytes(b"Hi!").into(), bytes(b"Hello").into()],
        short: Some(bytes(b"Hello")),
        text: Some("t".into()),
    };
    let [one, two] = ["<xop:Include href='cid:1@b'/>", "<xop:Include href='cid:http://b/2'></xop:Include>"];
    let document = |photo: &str, short: &str| {
        format!(
            "<photo>{photo}</photo><more>{two}</more><more>SGkh</more><more>{one}</more><short>{short}</short><text>t</text>"
        )
    };
    for (photo, short) in [
        (one, one),
        ("SGVsbG8=", one),
        (one, "SGVsbG8="),
        ("\n  <xop:Include href='cid:1@b' />\n", "<!-- a --><xop:Include x='y' href='cid:1@b'> <?b?></xop:Include> "),
        ("<Include xmlns='http://www.w3.org/2004/08/xop/include' href='cid:1@b'/>", one),
    ] {
        assert_eq!(decode(&document(photo, short), Some(&PARTS)).as_ref(), Ok(&expected), "{photo} {short}");
    }
    let inline = decode(&document("SGVsbG8=", "SGVsbG8=").replace(two, "d29yAGxk").replace(one, "SGVsbG8="), None);
    assert_eq!(inline, Ok(expected));
}

/// A document of a few bytes could have each part copied any number of times.
#[test]
fn included_content_is_charged() {
    let one = "<xop:Include href='cid:1@b'/>";
    let input = format!(
        "<root xmlns='urn:t' xmlns:xop='http://www.w3.org/2004/08/xop/include'><photo>{one}</photo>{}</root>",
        format!("<more>{one}</more>").repeat(10)
    );
    for (limit, expected) in [(10_000, None), (900, Some(ErrorKind::Exhausted))] {
        let budget = Budget::new(limit);
        let mut reader = Reader::new(input.as_bytes(), Limits::default()).unwrap();
        while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
        let reservation = Arc::new(budget.reserve(0).unwrap());
        let parts = Parts(&[("cid:1@b", &[b'x'; 300])]);
        let decoder = Decoder::new(reader).within(Allowance::of(reservation.clone(), 0));
        let photos: Result<Photos, Error> = decoder.with_includes(&parts).root(&ROOT);
        assert_eq!(photos.err().map(|error| error.kind()), expected);
        assert!(expected.is_some() || reservation.bytes() >= 3_300, "{}", reservation.bytes());
    }
}

/// A regression test: the value was copied before the limit was checked.
#[test]
fn attachments_of_a_document_beyond_its_limit_are_not_copied() {
    let photos = Photos { photo: bytes(&[b'x'; 6_000]), more: vec![bytes(&[b'y'; 6_000]).into()], ..Photos::default() };
    for (most, expected) in [(20_000, None), (10_000, Some(ErrorKind::Outgrown)), (5_000, Some(ErrorKind::Outgrown))] {
        let mut out = Encoder::new(Vec::new()).within(most).with_parts(1_000, "b");
        out.element("<root>", &photos, "</root>");
        assert_eq!(out.into_parts().err().map(|error| error.kind()), expected, "{most}");
    }
}

#[test]
fn invalid_includes_are_errors() {
    let one = "<xop:Include href='cid:1@b'/>";
    for (content, message) in [
        ("<photo><xop:Include href='cid:2@b'/></photo>", "photo/Include: no part is named by \"cid:2@b\""),
        ("<photo><xop:Include/></photo>", "photo/Include: <Include> without the attribute \"href\""),
        (
            &format!("<photo>{one}{one}</photo>"),
            "photo/Include[2]: found <Include> of http://www.w3.org/2004/08/xop/include, where </photo> was expected",
        ),
        (
            &format!("<photo>AA{one}</photo>"),
            "photo/Include: found <Include> of http://www.w3.org/2004/08/xop/include, where text or <Include> of XOP was expected",
        ),
        (&format!("<photo>{one}AA</photo>"), "photo: found text, where </photo> was expected"),
        (
            "<photo><xop:Include href='cid:1@b'>AA</xop:Include></photo>",
            "photo/Include: found text, where </Include> was expected",
        ),
        (
            "<photo><xop:Include href='cid:1@b'><a/></xop:Include></photo>",
            "photo/Include/a: found <a> of urn:t, where </Include> was expected",
        ),
        (
            "<photo><Include href='cid:1@b'/></photo>",
            "photo/Include: found <Include> of urn:t, where text or <Include> of XOP was expected",
        ),
        (
            "<photo/><short><xop:Include href='cid:http://b/2'/></short>",
            "short/Include: \"d29yAGxk\" is not a valid Short: it is longer than the 5 bytes of maxLength",
        ),
        (
            &format!("<photo/><text>{one}</text>"),
            "text/Include: found <Include> of http://www.w3.org/2004/08/xop/include, where text was expected",
        ),
    ] {
        let error = decode(content, Some(&PARTS)).unwrap_err();
        let (said, _) = error.split_once(" (line").unwrap();
        assert_eq!(said, message, "{content}");
    }
    let error = decode(&format!("<photo>{one}</photo>"), None).unwrap_err();
    assert!(error.contains("where text was expected"), "{error}");
}

#[test]
fn a_lenient_decoder_skips_attachments() {
    let one = "<xop:Include href='cid:1@b'/>";
    for (photo, deviations) in [
        (one.to_owned(), 0),
        (format!("{one}{one}"), 1),
        (format!("<a/>{one}AA<xop:Include href='cid:2@b'>x</xop:Include>"), 3),
        ("<xop:Include href='cid:1@b'><a/>x</xop:Include>".to_owned(), 2),
    ] {
        let input = format!(
            "<root xmlns='urn:t' xmlns:xop='http://www.w3.org/2004/08/xop/include'><photo>{photo}</photo></root>"
        );
        let mut reader = Reader::new(input.as_bytes(), Limits::default()).unwrap();
        while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
        let mut decoder = Decoder::lenient(reader).with_includes(&PARTS);
        let photos: Photos = decoder.root(&ROOT).unwrap();
        assert_eq!(photos.photo, bytes(b"Hello"), "{photo}");
        let tolerated = decoder.take_deviations().to_string();
        assert_eq!(tolerated.lines().count(), deviations, "{photo}: {tolerated}");
    }
}

#[test]
fn long_values_are_put_beside_the_document() {
    let photos = Photos {
        photo: bytes(b"12345"),
        more: vec![bytes(b"1234").into(), Nillable::Nil, bytes(b"123456").into()],
        short: Some(bytes(b"")),
        text: Some("1234567890".into()),
    };
    let encode = |threshold: Option<usize>| {
        let mut out = Encoder::default();
        if let Some(threshold) = threshold {
            out = out.with_parts(threshold, "x@b");
        }
        photos.content(&mut out);
        let (out, parts) = out.into_parts().unwrap();
        (String::from_utf8(out).unwrap(), parts)
    };
    let (inline, none) = encode(None);
    assert_eq!((encode(Some(7)), none), ((inline, vec![]), vec![]));

    let (document, parts) = encode(Some(5));
    let include = |number| {
        format!("<xop:Include xmlns:xop=\"http://www.w3.org/2004/08/xop/include\" href=\"cid:{number}.x@b\"/>")
    };
    assert!(document.starts_with(&format!("<photo>{}</photo><more>MTIzNA==</more>", include(1))), "{document}");
    assert!(document.contains(&format!("<more>{}</more><short></short>", include(2))), "{document}");
    let part =
        |id: &str, content: &[u8]| Part { content_id: id.to_owned(), content_type: None, content: content.to_vec() };
    assert_eq!(parts, [part("1.x@b", b"12345"), part("2.x@b", b"123456")]);
    assert_eq!(encode(Some(0)).1.len(), 4);
}
