//! Documents of schemas without a service. `expected.rs` of each directory of `documents` is what is generated of its `schema.xsd`; it is
//! compiled, and reads and writes the documents there: whole, and item by item, in pieces of any size.
//!
//! `ok-*.xml` says the same when it was read and written; what `bad-*.xml` says of itself stands in `bad-*.error`.

#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod support;

use std::fmt::Debug;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use castile::codegen::FromXml;
use castile::document::{self, Repeats};
use castile::{Document, xml};
use castile_codegen::{Options, generate};

use quakes::{Bulletin, Catalogue, Event, MagnitudeDocument, Remark, RemarkDocument, ReplyDocument, Station};

#[deny(warnings)]
#[allow(unreachable_pub, reason = "nobody reaches into a test")]
mod quakes {
    include!("documents/quakes/expected.rs");
}

fn files(of: &str, begin: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "xml"));
    files.retain(|file| file.file_name().unwrap().to_str().unwrap().starts_with(begin));
    files.sort();
    assert!(!files.is_empty());
    files
}

#[test]
fn generated_code_is_as_expected() {
    let mut different = Vec::new();
    for directory in fs::read_dir("tests/documents").unwrap() {
        let directory = directory.unwrap().path();
        let generated = generate(&directory.join("schema.xsd"), &Options::default()).unwrap();
        assert_eq!(generated.diagnostics, [], "{directory:?}");
        different.extend(support::compare(&directory.join("expected.rs"), Some(&generated.source)));
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

/// Gives so many bytes at a time.
struct Pieces<'d>(&'d [u8], usize);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let (piece, rest) = self.0.split_at(self.1.min(self.0.len()).min(buffer.len()));
        buffer[..piece.len()].copy_from_slice(piece);
        self.0 = rest;
        Ok(piece.len())
    }
}

/// Reads a document item by item: the items, and what is around them.
fn in_pieces<D: Document + Repeats<T>, T: FromXml>(text: &[u8], length: usize) -> Result<(Vec<T>, D), document::Error> {
    let mut items = document::open::<D, _>(Pieces(text, length)).items::<T>();
    let all = items.by_ref().collect::<Result<Vec<T>, _>>()?;
    Ok((all, items.rest()?))
}

/// Whole, and in pieces of any size, a document is the same.
fn is_same_in_pieces<D, T>(text: &[u8], take: impl Fn(&mut D) -> Vec<T>)
where
    D: Document + Repeats<T> + PartialEq + Debug,
    T: FromXml + PartialEq + Debug,
{
    let mut whole: D = document::from_slice(text).unwrap();
    let items = take(&mut whole);
    for length in [1, 2, 7, 64, 1 << 20] {
        let (found, rest) = in_pieces::<D, T>(text, length).unwrap();
        assert_eq!((&found, &rest), (&items, &whole), "in pieces of {length}");
    }
}

fn take_events(catalogue: &mut Catalogue) -> Vec<Event> {
    let (events, others) = std::mem::take(&mut catalogue.parameters.choice)
        .into_iter()
        .partition(|one| matches!(one, quakes::ParametersChoice::Event(_)));
    catalogue.parameters.choice = others;
    let events: Vec<quakes::ParametersChoice> = events;
    let events = events.into_iter().filter_map(|one| match one {
        quakes::ParametersChoice::Event(event) => Some(event),
        quakes::ParametersChoice::Comment(_) => None,
    });
    events.collect()
}

#[test]
fn documents_are_read_and_written_whole_and_in_pieces() {
    for file in files("tests/documents/quakes", "ok-") {
        let text = fs::read(&file).unwrap();
        if file.ends_with("ok-catalogue.xml") {
            let read: Catalogue = document::from_slice(&text).unwrap();
            let written = document::to_vec(&read).unwrap();
            assert_eq!(document::from_slice::<Catalogue>(&written).unwrap(), read);
            is_same_in_pieces(&text, take_events);
            is_same_in_pieces::<_, Station>(&text, |read: &mut Catalogue| std::mem::take(&mut read.station));
            is_same_in_pieces(&written, take_events);
        } else {
            let read: Bulletin = document::from_slice(&text).unwrap();
            let written = document::to_vec(&read).unwrap();
            assert_eq!(document::from_slice::<Bulletin>(&written).unwrap(), read);
            is_same_in_pieces::<_, Event>(&text, |read: &mut Bulletin| std::mem::take(&mut read.event));
        }
    }
}

/// An error is told in the same words and at the same place, however a document is read.
#[test]
fn errors_have_a_position() {
    let mut different = Vec::new();
    for file in files("tests/documents/quakes", "bad-") {
        let text = fs::read(&file).unwrap();
        let whole = document::from_slice::<Bulletin>(&text).unwrap_err();
        different.extend(support::compare(&file.with_extension("error"), Some(&format!("{whole}\n"))));
        for length in [1, 5, 1 << 20] {
            let piecewise = in_pieces::<Bulletin, Event>(&text, length).unwrap_err();
            let (place, expected) = (piecewise.location().unwrap(), whole.location().unwrap());
            assert_eq!((place.line, place.column), (expected.line, expected.column), "{file:?} {piecewise}");
            assert_eq!((piecewise.message(), piecewise.offset()), (whole.message(), whole.offset()), "{file:?}");
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn the_path_of_an_error_has_the_item_number() {
    let text = fs::read("tests/documents/quakes/bad-event.xml").unwrap();
    let error = in_pieces::<Bulletin, Event>(&text, 3).unwrap_err();
    assert_eq!(error.location().unwrap().path, "bulletin/event[2]/magnitude");
}

#[test]
fn an_error_ends_the_items() {
    let text = "<bulletin xmlns='urn:quakes'><event/><event id='1'><magnitude>1</magnitude></event></bulletin>";
    let mut events = document::open::<Bulletin, _>(text.as_bytes()).items::<Event>();
    assert!(events.next().unwrap().is_err());
    assert!(events.next().is_none());
    assert!(events.next().is_none());
}

#[test]
fn elements_of_one_type_are_documents_of_their_own() {
    let remark = Remark { by: None, text: "a < b".into() };
    let text = document::to_string(&ReplyDocument(remark.clone())).unwrap();
    let expected = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ns1:reply xmlns:ns1=\"urn:quakes\"><ns1:text>a &lt; b</ns1:text></ns1:reply>";
    assert_eq!(text, expected);
    assert_eq!(document::from_str::<ReplyDocument>(&text).unwrap().0, remark);
    let error = document::from_str::<RemarkDocument>(&text).unwrap_err();
    let expected = "reply: found <reply> of urn:quakes, where <remark> was expected (line 2, column 1)";
    assert_eq!(error.to_string(), expected);
    let text = "<q:magnitude xmlns:q='urn:quakes'> 7.5 </q:magnitude><!-- strong -->";
    assert_eq!(document::from_str::<MagnitudeDocument>(text).unwrap().0, 7.5);
}

#[test]
fn other_encodings_are_read() {
    let text =
        "<?xml version='1.0' encoding='ISO-8859-1'?><q:remark xmlns:q='urn:quakes'><q:text>Gefühl</q:text></q:remark>";
    let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    assert_eq!(document::from_slice::<RemarkDocument>(&latin1).unwrap().0.text, "Gefühl");
    let text =
        "\u{FEFF}<bulletin xmlns='urn:quakes'>\n<event id='ü'><magnitude>1</magnitude></event> <event/></bulletin>";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let events: Vec<_> = document::open::<Bulletin, _>(Pieces(&utf16, 3)).items::<Event>().collect();
    assert_eq!(events[0].as_ref().unwrap().id, "ü");
    let expected = "bulletin/event[2]: <event> has no attribute \"id\", which was expected (line 2, column 54)";
    assert_eq!(events[1].as_ref().unwrap_err().to_string(), expected);
}

/// An item, and what is around the items, is a document within the limits; all together may be larger.
#[test]
fn limits_hold_for_each_item_and_for_the_rest() {
    let mut options = document::Options::default();
    options.limits.message_size = 400;
    let event = |length: usize| format!("<event id='{}'><magnitude>1</magnitude></event>\n", "x".repeat(length));
    let items = |inner: &str| {
        let text = format!("<bulletin xmlns='urn:quakes'>{inner}</bulletin>");
        options.open::<Bulletin, _>(Pieces(text.as_bytes(), 50)).items::<Event>().collect::<Result<Vec<_>, _>>()
    };
    assert_eq!(items(&event(200).repeat(100)).unwrap().len(), 100);
    // What is kept of a text ends with the text: white space behind it is none of the rest.
    assert_eq!(items(&("<![CDATA[ ]]>".to_owned() + &event(200).repeat(100))).unwrap().len(), 100);
    let error = items(&(event(10) + &event(400))).unwrap_err();
    assert_eq!(error.to_string(), "an element longer than 400 bytes, which is the limit (line 2, column 1)");
    assert_eq!(error.kind(), document::ErrorKind::Xml(xml::ErrorKind::Limit));
    let witness = "<witness><text>x</text></witness>";
    let error = items(&format!("{}<after>{}</after>", event(10), witness.repeat(20))).unwrap_err();
    assert!(error.to_string().starts_with("a document without its repeated elements longer than 400 bytes"), "{error}");
    // White space and comments between items are no part of the rest.
    assert_eq!(items(&format!("{}{}", event(10), " <!-- between --> \n".repeat(50)).repeat(2)).unwrap().len(), 2);
}

/// What is kept of the rest, and what an error says of it, depended on the pieces.
#[test]
fn it_does_not_matter_how_a_document_is_cut() {
    let spaces = " ".repeat(200);
    let (bit, event) = ("<![CDATA[ ]]>", "<event id='a'><magnitude>1</magnitude></event>");
    for inner in [
        "a b".to_owned(),
        format!(" <!-- c --> a <?p?> {event} b  "),
        bit.repeat(3),
        format!("&#32;{spaces}"),
        format!("{spaces}&#32;{event}{spaces}"),
        format!("{spaces}<!-- {spaces} -->{event}{bit}{event}"),
    ] {
        let text = format!("<bulletin xmlns='urn:quakes'>{inner}</bulletin>");
        for limit in [150, 200, 250, 1000] {
            let mut options = document::Options::default();
            options.limits.message_size = limit;
            let read = |length: usize| {
                let mut items = options.open::<Bulletin, _>(Pieces(text.as_bytes(), length)).items::<Event>();
                let found: Vec<_> = items.by_ref().map(|event| event.map_err(|error| error.to_string())).collect();
                (found, items.rest().map_err(|error| error.to_string()))
            };
            let whole = read(usize::MAX);
            for length in [1, 2, 5, 50] {
                assert_eq!(read(length), whole, "{text} in pieces of {length}, limit {limit}");
            }
        }
    }
}

#[test]
fn a_failing_source_is_reported() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::new(std::io::ErrorKind::ConnectionReset, "the line is gone"))
        }
    }
    let mut items =
        document::open::<Bulletin, _>("<bulletin xmlns='urn:quakes'>".as_bytes().chain(Fails)).items::<Event>();
    let error = items.next().unwrap().unwrap_err();
    assert_eq!(error.kind(), document::ErrorKind::Io(std::io::ErrorKind::ConnectionReset));
    assert!(error.to_string().contains("the line is gone"), "{error}");
}

#[test]
fn unread_items_are_skipped() {
    let text = fs::read("tests/documents/quakes/ok-catalogue.xml").unwrap();
    let mut events = document::open::<Catalogue, _>(&*text).items::<Event>();
    assert_eq!(events.next().unwrap().unwrap().id, "a");
    let rest = events.rest().unwrap();
    assert_eq!((rest.parameters.choice.len(), rest.station.len()), (1, 2));
}

#[test]
fn schemas_without_documents_are_reported() {
    let folder = std::env::temp_dir().join(format!("castile-no-documents-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let empty = folder.join("empty.xsd");
    fs::write(&empty, "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'/>").unwrap();
    let generated = generate(Path::new(&empty), &Options::default()).unwrap();
    assert_eq!(generated.diagnostics.len(), 1);
    fs::remove_dir_all(&folder).unwrap();
}
