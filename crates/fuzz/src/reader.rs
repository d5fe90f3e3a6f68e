//! Checks the reader of messages with an empty cache, with a filled one, and against an independent parser.

use std::collections::HashMap;

use castile_xml::{CachedReader, Caches, Error, Limits, Memory, Predicted, Reader, SlotId, Token, scan};

use crate::events::{self, Event};
use crate::{documents, limits_for, oracle, scan as twins, shown};

/// Reads any bytes as messages.
///
/// - With a memory that has read other documents, and this one, a document has the same tokens or the same error as
///   with an empty one.
/// - Scanning many bytes at a time finds the same position as scanning byte by byte.
/// - An independent parser agrees, or the difference is known.
pub fn reader(input: &[u8]) {
    let documents = documents(input);
    let mut memory = Memory::default();
    let mut schema = Schema::default();
    // The second time, everything is cached.
    for document in documents.iter().chain(&documents) {
        let limits = limits_for(document);
        let cold = cold(document, limits);
        let warm = warm(document, limits, &mut memory, &mut schema);
        assert_eq!(warm, cold, "with a full memory and with an empty one, of {}", shown(document));
    }
    for document in documents {
        let ours = Reader::new(document, Limits::default()).and_then(|mut reader| events::read(&mut reader));
        if let Ok(text) = std::str::from_utf8(document) {
            twins::check(text);
            oracle::judge(text, &ours, false);
        } else {
            assert!(ours.is_err(), "{} is not UTF-8", shown(document));
        }
    }
}

/// The depth of the element in which tags are cached, which is that of an envelope's payload.
const PAYLOAD_DEPTH: usize = 3;

/// The observable result of reading a document as a message.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    payload: Option<Payload>,
    /// The content of the payload; each event has the offset after it. Only white space that stands alone is included.
    content: Vec<(Event, usize)>,
    error: Option<Error>,
}

/// Namespace name and local name.
type Name = (String, String);

#[derive(Debug, PartialEq, Eq)]
struct Payload {
    offset: usize,
    name: Name,
    /// The namespace of the root element.
    root: String,
    /// The prefixes in scope with their namespaces.
    scope: Vec<(String, String)>,
}

fn cold(document: &[u8], limits: Limits) -> Outcome {
    let mut outcome = Outcome { payload: None, content: Vec::new(), error: None };
    match CachedReader::with_memory(document, limits, &mut Memory::with_caches(Caches::NONE)) {
        Ok(reader) => {
            let mut walk = Walk { reader, schema: None, outcome, open: Vec::new() };
            walk.outcome.error = walk.message().err();
            walk.finish().0
        }
        Err(error) => {
            outcome.error = Some(error);
            outcome
        }
    }
}

fn warm(document: &[u8], limits: Limits, memory: &mut Memory, schema: &mut Schema) -> Outcome {
    let mut outcome = Outcome { payload: None, content: Vec::new(), error: None };
    match CachedReader::with_memory(document, limits, memory) {
        Ok(reader) => {
            let mut walk = Walk { reader, schema: Some(schema), outcome, open: Vec::new() };
            walk.outcome.error = walk.message().err();
            let (outcome, rest) = walk.finish();
            *memory = rest;
            outcome
        }
        Err(error) => {
            outcome.error = Some(error);
            outcome
        }
    }
}

/// A substitute for a schema: which element followed which, so that it is predicted there the next time.
#[derive(Debug, Default)]
struct Schema {
    names: Vec<Name>,
    numbers: HashMap<Name, usize>,
    /// The successor, by the parent and the preceding sibling.
    follows: HashMap<(usize, Option<usize>), usize>,
}

impl Schema {
    fn number(&mut self, name: Name) -> usize {
        *self.numbers.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.names.len() - 1
        })
    }

    /// Returns the slot of an element. There are few slots, so elements share them.
    fn slot(number: usize) -> SlotId {
        SlotId { index: (number % 5) as u16, owner: number + 1 }
    }
}

/// Reads a document as the envelope reader and the decoder do, with any elements in the payload.
struct Walk<'a, 's> {
    reader: CachedReader<'a>,
    /// If it is `None`, everything is tokenised.
    schema: Option<&'s mut Schema>,
    outcome: Outcome,
    open: Vec<Open>,
}

#[derive(Default)]
struct Open {
    number: usize,
    /// The last child.
    last: Option<usize>,
}

impl<'a> Walk<'a, '_> {
    fn finish(self) -> (Outcome, Memory) {
        (self.outcome, self.reader.into_memory())
    }

    fn message(&mut self) -> Result<(), Error> {
        if !self.beginning()? {
            // Nothing can be cached here. The tokeniser's result is compared with that of the other parser.
            return events::read(&mut self.reader).map(|_| ());
        }
        self.reader.use_cached_tags();
        while self.reader.depth() >= PAYLOAD_DEPTH {
            self.step()?;
        }
        if self.schema.is_some() && self.reader.cached_epilogue() {
            assert_eq!(self.reader.offset(), self.reader.input().len());
            return Ok(());
        }
        self.reader.cache_epilogue(|reader| events::read(reader).map(|_| ()))
    }

    /// Reads up to the payload. Returns `false` if there is none.
    fn beginning(&mut self) -> Result<bool, Error> {
        if self.schema.is_some()
            && let Some((tag, root)) = self.reader.cached_prologue()
        {
            self.payload(tag, root);
            return Ok(true);
        }
        let mut root = None;
        loop {
            match self.reader.next()? {
                Token::StartTag(tag) => {
                    let root = *root.get_or_insert(tag.namespace);
                    if self.reader.depth() == PAYLOAD_DEPTH {
                        self.reader.cache_prologue(tag, root);
                        self.payload(tag, root);
                        return Ok(true);
                    }
                }
                Token::EndTag(_) | Token::End => return Ok(false),
                _ => {}
            }
        }
    }

    fn payload(&mut self, tag: castile_xml::StartTag<'a>, root: castile_xml::NamespaceId) {
        let reader = &self.reader;
        let name = (reader.namespace(tag.namespace).to_owned(), tag.name.local().to_owned());
        let scope = reader.namespaces().map(|(prefix, name)| (prefix.to_owned(), name.to_owned())).collect();
        assert_eq!(reader.depth(), PAYLOAD_DEPTH);
        self.outcome.payload =
            Some(Payload { offset: tag.offset, name: name.clone(), root: reader.namespace(root).to_owned(), scope });
        let number = self.schema.as_mut().map_or(0, |schema| schema.number(name));
        self.open.push(Open { number, last: None });
    }

    /// Reads one item of the payload.
    fn step(&mut self) -> Result<(), Error> {
        // As in the decoder, a cached tag is only looked up directly after a tag.
        let behind_a_tag = matches!(self.outcome.content.last(), None | Some((Event::Start { .. } | Event::End, _)));
        if behind_a_tag && self.read_cached() {
            return Ok(());
        }
        let is_leaf = matches!(
            &self.outcome.content[..],
            [.., (Event::Start { .. }, _), (Event::Text(_), _)] | [.., (Event::Start { .. }, _)]
        );
        match self.reader.next()? {
            Token::StartTag(tag) => {
                let name = (self.reader.namespace(tag.namespace).to_owned(), tag.name.local().to_owned());
                let attributes = events::attributes(&self.reader);
                self.start(name.clone(), attributes, self.reader.offset());
                let mut number = 0;
                if let Some(schema) = &mut self.schema {
                    number = schema.number(name);
                    if let Some(parent) = self.open.last_mut() {
                        schema.follows.insert((parent.number, parent.last), number);
                        parent.last = Some(number);
                    }
                    self.reader.cache_start(Schema::slot(number));
                    self.reader.cache_successor(Schema::slot(number), false);
                }
                self.open.push(Open { number, last: None });
            }
            Token::EndTag(_) => {
                self.end(self.reader.offset());
                let open = self.open.pop().unwrap_or_default();
                if self.schema.is_some() {
                    self.reader.cache_end(Schema::slot(open.number), is_leaf);
                    if !is_leaf {
                        self.reader.cache_successor(Schema::slot(open.number), true);
                    }
                }
            }
            Token::Text(text) => self.text(&text, self.reader.offset()),
            Token::Comment(text) => self.push(Event::Comment(text.text().into_owned()), self.reader.offset()),
            Token::Instruction { target, data } => {
                let event = Event::Instruction { target: target.to_owned(), data: data.text().into_owned() };
                self.push(event, self.reader.offset());
            }
            Token::End => unreachable!("the payload is open"),
        }
        Ok(())
    }

    /// Reads one item from the cache. Returns `false` if it isn't cached, and reads nothing in that case.
    fn read_cached(&mut self) -> bool {
        let Some(schema) = &self.schema else { return false };
        let before = self.reader.offset();
        let predicted = self.reader.predict();
        match predicted {
            Some(Predicted::Start(identity, namespace)) => {
                let (name, local) = &schema.names[identity - 1];
                assert_eq!(self.reader.namespace(namespace), name);
                assert!(!self.reader.predicts_other(castile_xml::name_hash(local)));
                assert!(self.reader.predicts_other(castile_xml::name_hash(&format!("{local}-other"))));
            }
            Some(Predicted::End) => {
                assert!(self.open.last().is_some_and(|open| self.reader.is_at_cached_end(Schema::slot(open.number))));
            }
            Some(Predicted::Tag(tag, identity)) => {
                let name = schema.names[identity - 1].clone();
                self.add_cached_tag(tag, name, identity - 1);
                return true;
            }
            None => {}
        }
        assert_eq!(self.reader.offset(), before, "something was read, and nothing predicted");
        let (number, last) = self.open.last().map_or((0, None), |open| (open.number, open.last));
        let next = schema.follows.get(&(number, last)).map(|&number| (number, schema.names[number].clone()));
        if let Some((number, name)) = next {
            let slot = Schema::slot(number);
            let announced = self.reader.is_at_cached_start(slot);
            // An empty element is read as a whole, or as its tag and its end.
            if before.is_multiple_of(2) && self.reader.cached_empty_leaf(slot, || Some(())).is_some() {
                self.start(name, Vec::new(), self.reader.offset());
                self.end(self.reader.offset());
                self.note(number);
                return true;
            }
            assert_eq!(self.reader.offset(), before, "something was read, and nothing recognised");
            if self.reader.predicted_empty_start(slot) {
                assert!(self.reader.is_plain() && self.reader.predicts_other(castile_xml::name_hash(&name.1)));
                self.start(name, Vec::new(), self.reader.offset());
                self.note(number);
                self.open.push(Open { number, last: None });
                return true;
            }
            let read = self.reader.cached_leaf(slot, plain_text, |text| Some(text.to_owned()));
            if let Some(text) = read {
                assert!(announced);
                let input = self.reader.input();
                let content = before + input[before..].find('>').map_or(0, |at| at + 1);
                let end = content + input[content..].find('<').unwrap_or_default();
                self.start(name, Vec::new(), content);
                self.text(&text, end);
                self.end(self.reader.offset());
                self.note(number);
                return true;
            }
            assert_eq!(self.reader.offset(), before, "something was read, and nothing recognised");
            if self.reader.cached_start(slot) {
                assert!(announced && self.reader.is_plain());
                self.start(name, Vec::new(), self.reader.offset());
                self.note(number);
                self.open.push(Open { number, last: None });
                return true;
            }
            if let Some(tag) = self.reader.cached_tag(slot) {
                self.add_cached_tag(tag, name, number);
                return true;
            }
            assert_eq!(self.reader.offset(), before, "something was read, and nothing recognised");
        }
        if self.reader.cached_end(Schema::slot(number)) {
            self.end(self.reader.offset());
            self.open.pop();
            return true;
        }
        false
    }

    /// Adds a start tag with attributes, or an empty-element tag, that was found in the cache.
    fn add_cached_tag(&mut self, tag: castile_xml::StartTag<'a>, name: Name, number: usize) {
        let found = (self.reader.namespace(tag.namespace).to_owned(), tag.name.local().to_owned());
        assert_eq!(found, name);
        assert_eq!(&self.reader.input()[tag.offset + 1..][..tag.name.as_str().len()], tag.name.as_str());
        let attributes = events::attributes(&self.reader);
        self.start(name, attributes, self.reader.offset());
        self.note(number);
        self.open.push(Open { number, last: None });
        self.reader.predict_end_of_empty();
    }

    fn note(&mut self, child: usize) {
        if let Some(parent) = self.open.last_mut() {
            parent.last = Some(child);
        }
    }

    fn start(&mut self, (namespace, local): Name, attributes: Vec<events::Attribute>, end: usize) {
        self.push(Event::Start { namespace, local, attributes }, end);
    }

    fn end(&mut self, end: usize) {
        self.push(Event::End, end);
    }

    fn text(&mut self, text: &str, end: usize) {
        match self.outcome.content.last_mut() {
            _ if text.is_empty() => {}
            Some((Event::Text(before), before_end)) => {
                before.push_str(text);
                *before_end = end;
            }
            _ => self.push(Event::Text(text.to_owned()), end),
        }
    }

    /// Appends an event. White space between tags is part of cached tags, so it is left out.
    fn push(&mut self, event: Event, end: usize) {
        if matches!(event, Event::Start { .. } | Event::End)
            && matches!(self.outcome.content.last(), Some((Event::Text(text), _)) if text.trim_matches([' ', '\t', '\n', '\r']).is_empty())
        {
            self.outcome.content.pop();
        }
        self.outcome.content.push((event, end));
    }
}

/// Returns a text without references, up to the next tag.
fn plain_text(input: &str, at: usize) -> Option<(String, usize)> {
    let end = scan::end_of_character_data(input.as_bytes(), at);
    (input.as_bytes().get(end) == Some(&b'<')).then(|| (input[at..end].to_owned(), end))
}
