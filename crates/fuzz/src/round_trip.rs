//! Writes and reads a tree that is made of any bytes.

use castile_xml::{Error, Limits, Prefixes, Reader, Writer, escape, is_name_char, is_name_start_char};

use crate::events::{self, Event};
use crate::shown;

/// Makes a tree from any bytes, writes it with any plan of prefixes, and reads it. The result is the same tree, or
/// the tree contains something that XML can't represent and writing fails.
pub fn round_trip(input: &[u8]) {
    let mut bytes = Bytes(input);
    let prefixes = plan(&mut bytes);
    let wished = wished(&mut bytes);
    let events = tree(&mut bytes);
    match write(prefixes, wished, &events) {
        Ok(document) => {
            assert!(events.iter().all(is_writable), "what XML can't carry was written: {}", shown(&document));
            let read = Reader::new(&document, limits()).and_then(|mut reader| events::read(&mut reader));
            assert_eq!(read.as_ref(), Ok(&events), "{}", shown(&document));
        }
        Err(error) => {
            assert!(!error.message().is_empty());
            // A requested declaration may contradict others.
            assert!(wished.is_some() || !events.iter().all(is_writable), "{error}: not written: {events:?}");
        }
    }
}

/// Returns the widest limits: trees made of an input are small.
fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.namespaces, limits.attributes) = (usize::MAX, usize::MAX);
    limits
}

fn is_writable(event: &Event) -> bool {
    let is_text = |text: &str| text.chars().all(escape::is_char);
    let is_name = |name: &str| name.starts_with(is_name_start_char) && name.chars().all(is_name_char);
    match event {
        Event::Start { local, attributes, .. } => {
            is_name(local) && attributes.iter().all(|(_, local, value)| is_name(local) && is_text(value))
        }
        Event::End => true,
        Event::Text(text) => is_text(text),
        Event::Comment(text) => is_text(text) && !text.contains("--") && !text.ends_with('-') && !text.contains('\r'),
        Event::Instruction { target, data } => {
            let is_target = is_name(target) && !target.eq_ignore_ascii_case("xml");
            let is_data = is_text(data) && !data.contains("?>") && !data.contains('\r');
            is_target && is_data && !data.starts_with([' ', '\t', '\n'])
        }
    }
}

/// A finite source of decisions.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// Takes a text whose length is given by the next byte.
    fn text(&mut self) -> String {
        let length = self.next().map_or(0, usize::from).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[usize::from(self.next().unwrap_or(0)) % from.len()]
    }

    /// Returns a valid name in most cases.
    fn name(&mut self) -> String {
        const NAMES: [&str; 6] = ["a", "b", "long-name.of_an-element", "é", "x1", ""];
        match self.pick(&NAMES) {
            "" => self.text(),
            name => name.to_owned(),
        }
    }

    fn namespace(&mut self) -> String {
        self.pick(&NAMESPACES).to_owned()
    }
}

const NAMESPACES: [&str; 6] =
    ["", "urn:a", "urn:b", "http://example.org/?a=1&b='2'", "http://www.w3.org/XML/1998/namespace", "urn:\t\"<]]>"];

const PREFIXES: [&str; 5] = ["", "p", "q", "ns1", "é"];

fn plan(bytes: &mut Bytes<'_>) -> Prefixes {
    let mut prefixes = Prefixes::default();
    for _ in 0..bytes.next().unwrap_or(0) % 4 {
        let (prefix, namespace) = (bytes.pick(&PREFIXES), bytes.pick(&NAMESPACES));
        let planned = match bytes.next().unwrap_or(0) % 2 {
            0 => prefixes.clone().on_root(prefix, namespace),
            _ => prefixes.clone().where_needed(prefix, namespace),
        };
        // An entry that contradicts the plan so far is left out.
        prefixes = planned.unwrap_or(prefixes);
    }
    prefixes
}

/// Returns a declaration that is requested on every second element, or none.
fn wished(bytes: &mut Bytes<'_>) -> Option<(&'static str, &'static str)> {
    (bytes.next()? % 3 == 0).then(|| (bytes.pick(&PREFIXES), bytes.pick(&NAMESPACES)))
}

fn tree(bytes: &mut Bytes<'_>) -> Vec<Event> {
    let mut events = vec![start(bytes)];
    let mut depth = 1;
    while let Some(next) = bytes.next() {
        match next % 6 {
            0 | 1 if depth < 100 => {
                events.push(start(bytes));
                depth += 1;
            }
            2 if depth > 1 => {
                events.push(Event::End);
                depth -= 1;
            }
            3 => events.push(Event::Comment(bytes.text())),
            4 => events.push(Event::Instruction { target: bytes.name(), data: bytes.text() }),
            _ => events::push_text(&mut events, &bytes.text()),
        }
    }
    events.extend((0..depth).map(|_| Event::End));
    events
}

fn start(bytes: &mut Bytes<'_>) -> Event {
    let (namespace, local) = (bytes.namespace(), bytes.name());
    // No document has elements in the namespace of `xml`.
    let namespace = if namespace == castile_xml::XML_NAMESPACE { String::new() } else { namespace };
    let mut attributes = Vec::new();
    for _ in 0..bytes.next().unwrap_or(0) % 4 {
        let (namespace, local) = (bytes.namespace(), bytes.name());
        let is_new = |(n, l, _): &events::Attribute| (n, l) != (&namespace, &local);
        if attributes.iter().all(is_new) && local != "xmlns" {
            attributes.push((namespace, local, bytes.text()));
        }
    }
    attributes.sort();
    Event::Start { namespace, local, attributes }
}

fn write(prefixes: Prefixes, wished: Option<(&str, &str)>, events: &[Event]) -> Result<Vec<u8>, Error> {
    let mut writer = Writer::new(prefixes, limits());
    for (number, event) in events.iter().enumerate() {
        match event {
            Event::Start { namespace, local, attributes } => {
                if let Some((prefix, namespace)) = wished.filter(|_| number % 2 == 0) {
                    writer.declare(prefix, namespace)?;
                }
                writer.start(namespace, local)?;
                for (namespace, local, value) in attributes {
                    writer.attribute(namespace, local, value)?;
                }
            }
            Event::End => writer.end()?,
            Event::Text(text) => writer.text(text)?,
            Event::Comment(text) => writer.comment(text)?,
            Event::Instruction { target, data } => writer.instruction(target, data)?,
        }
    }
    writer.finish()
}
