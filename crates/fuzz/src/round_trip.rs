//! A tree made of any bytes, written and read.

use castile::codegen::Encoder;
use castile::xml::{Limits, Reader, escape};

use crate::events::{self, Event};
use crate::shown;

/// A tree made of any bytes, written and read: it is the same, or it holds a character that XML lacks, and writing says
/// so.
pub fn round_trip(input: &[u8]) {
    let events = tree(&mut Bytes(input));
    let writable = events.iter().all(|event| match event {
        Event::Start { attributes, .. } => attributes.iter().all(|(_, _, value)| value.chars().all(escape::is_char)),
        Event::Text(text) => text.chars().all(escape::is_char),
        _ => true,
    });
    match write(&events) {
        Ok(document) => {
            assert!(writable, "a character that XML lacks was written: {}", shown(&document));
            // Every prefix is declared where it is used, more often than strangers may.
            let mut limits = Limits::default();
            limits.namespaces = usize::MAX;
            let read = Reader::new(&document, limits).and_then(|mut reader| events::read(&mut reader));
            assert_eq!(read.as_ref(), Ok(&events), "{}", shown(&document));
        }
        Err(()) => assert!(!writable, "not written: {events:?}"),
    }
}

/// A source of decisions that ends.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// As many bytes as the next one says, as text.
    fn text(&mut self) -> String {
        let length = self.next().map_or(0, usize::from).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[usize::from(self.next().unwrap_or(0)) % from.len()]
    }
}

const NAMES: [&str; 5] = ["a", "b", "long-name.of_an-element", "é", "x1"];
const NAMESPACES: [&str; 4] = ["", "urn:a", "urn:b", "http://example.org/?a=1&b='2'"];

fn tree(bytes: &mut Bytes<'_>) -> Vec<Event> {
    let mut events = vec![start(bytes)];
    let mut depth = 1;
    while let Some(next) = bytes.next() {
        match next % 4 {
            0 | 1 if depth < 100 => {
                events.push(start(bytes));
                depth += 1;
            }
            2 if depth > 1 => {
                events.push(Event::End);
                depth -= 1;
            }
            _ => events::push_text(&mut events, &bytes.text()),
        }
    }
    events.extend((0..depth).map(|_| Event::End));
    events
}

fn start(bytes: &mut Bytes<'_>) -> Event {
    let (namespace, local) = (bytes.pick(&NAMESPACES).to_owned(), bytes.pick(&NAMES).to_owned());
    let mut attributes = Vec::new();
    for _ in 0..bytes.next().unwrap_or(0) % 4 {
        let (namespace, local) = (bytes.pick(&NAMESPACES).to_owned(), bytes.pick(&NAMES).to_owned());
        let is_new = |(n, l, _): &events::Attribute| (n, l) != (&namespace, &local);
        if attributes.iter().all(is_new) {
            attributes.push((namespace, local, bytes.text()));
        }
    }
    attributes.sort();
    Event::Start { namespace, local, attributes }
}

/// Writes a document as the encoder does: it escapes, and tags are for its caller.
fn write(events: &[Event]) -> Result<Vec<u8>, ()> {
    let mut out = Encoder::default();
    let mut open = Vec::new();
    for event in events {
        match event {
            Event::Start { namespace, local, attributes } => {
                out.raw(&start_tag(namespace, local, attributes)?);
                open.push(local);
            }
            Event::Text(text) => out.text(text),
            _ => {
                let local = open.pop().expect("as many start tags as end tags");
                out.raw(&format!("</{local}>"));
            }
        }
    }
    out.finish().map_err(|_| ())
}

/// A start tag that declares what it uses.
fn start_tag(namespace: &str, local: &str, attributes: &[events::Attribute]) -> Result<String, ()> {
    let escaped = |value: &str| {
        let mut out = Vec::new();
        escape::push_attribute(&mut out, value).map_err(|_| ())?;
        Ok(String::from_utf8(out).expect("text is escaped to text"))
    };
    let mut tag = format!("<{local} xmlns=\"{}\"", escaped(namespace)?);
    for (number, (namespace, local, value)) in attributes.iter().enumerate() {
        let value = escaped(value)?;
        tag += &match &**namespace {
            "" => format!(" {local}=\"{value}\""),
            _ => format!(" xmlns:p{number}=\"{}\" p{number}:{local}=\"{value}\"", escaped(namespace)?),
        };
    }
    Ok(tag + ">")
}
