//! Checks documents with a document type declaration, their encodings, and their trees.

use std::borrow::Cow;

use castile_xml::c14n::{
    Algorithm, CanonicalRuns, FindRuns, Form, Method, Sink, Subset, Version, is_canonical_content, write_known,
};
use castile_xml::{Charset, DocumentEntity, Error, ErrorKind, Limits, Memory, Reader, Token, decode, tree};

use crate::events::{self, Event};
use crate::{limits_for, oracle, shown};

/// Decodes any bytes as a document, reads it, and builds its tree.
///
/// - Decoding gives text, or an error with a position in the bytes. UTF-8 is not changed.
/// - A document without a document type declaration reads in the same way as a message.
/// - Entities and defaults add no more than the limit permits.
/// - The tree has the content that the reader reported.
/// - Its canonical forms are the same, whether text is copied from the document or made anew.
/// - What is canonical at a glance is well-formed, and canonicalization doesn't change it.
/// - An independent parser agrees, or the difference is known.
pub fn document(input: &[u8]) {
    let mut checked: Vec<Cow<'_, str>> = Vec::new();
    for charset in [None, Some("utf-8"), Some("utf-16"), Some("iso-8859-1"), Some("shift_jis"), Some("iso-2022-jp")] {
        let charset = charset.map(|label| Charset::of_label(label).expect("a charset that is known"));
        match decode(input, charset) {
            Ok(text) => {
                if let Cow::Borrowed(text) = &text {
                    assert_eq!(text.as_bytes(), input);
                }
                // Most charsets give the same text for most bytes.
                if !checked.contains(&text) {
                    check(&text, limits_for(text.as_bytes()));
                    checked.push(text);
                }
            }
            Err(error) => assert!(error.offset() <= input.len() && !error.message().is_empty()),
        }
    }
}

fn check(text: &str, limits: Limits) {
    let mut unread = false;
    let ours = DocumentEntity::new(text, limits).and_then(|entity| {
        let mut reader = entity.reader();
        let events = events::read(&mut reader);
        unread = reader.unread_entity().is_some();
        assert_eq!(reader.input(), text);
        events
    });
    if let Ok(events) = &ours {
        let size: usize = events.iter().map(size).sum();
        // Each byte adds at most itself to the events, except for namespace names, which prefixes repeat.
        assert!(size <= text.len() + limits.entity_expansion, "{size} bytes came out of {}", shown(text.as_bytes()));
    }
    let has_dtd = text.contains("<!DOCTYPE");
    if !has_dtd {
        let message =
            Reader::decoded(text, limits, &mut Memory::default()).and_then(|mut reader| events::read(&mut reader));
        assert_eq!(ours, message, "as a document and as a message: {}", shown(text.as_bytes()));
    }
    check_tree(text, limits, &ours, unread);
    check_canonical_forms(text, limits);
    check_canonical_content(text, limits);
    // roxmltree doesn't process these in a document type declaration; "&#" is a character reference in the value of an
    // entity.
    let beyond = ["<!ATTLIST", "<!NOTATION", "SYSTEM", "PUBLIC", "%", "&#"].iter().any(|word| text.contains(word));
    let is_left_out = unread || has_dtd && beyond;
    if !is_left_out {
        oracle::judge(text, &ours, true);
    }
}

/// Returns the size of an event without the name of its namespace.
fn size(event: &Event) -> usize {
    match event {
        Event::Start { local, attributes, .. } => {
            local.len() + attributes.iter().map(|(_, local, value)| local.len() + value.len()).sum::<usize>()
        }
        Event::End => 0,
        Event::Text(text) | Event::Comment(text) => text.len(),
        Event::Instruction { target, data } => target.len() + data.len(),
    }
}

/// Compares the tree with the reader's events. The limits of contracts are wider than those of messages.
fn check_tree(text: &str, limits: Limits, ours: &Result<Vec<Event>, Error>, unread: bool) {
    let tree = match tree::Document::parse(text) {
        Ok(tree) => tree,
        Err(error) => {
            assert!(error.offset() <= text.len() && !error.message().is_empty());
            assert!(ours.is_err() || unread, "only the tree refuses {}: {error}", shown(text.as_bytes()));
            return;
        }
    };
    if let Ok(events) = ours {
        let mut found = Vec::new();
        // Without recursion, since documents may nest to any depth.
        let mut open = vec![tree.root().children()];
        enter(tree.root(), &mut found);
        while let Some(children) = open.last_mut() {
            match children.next() {
                Some(tree::Node::Element(element)) => {
                    enter(element, &mut found);
                    open.push(element.children());
                }
                Some(tree::Node::Text(text)) => events::push_text(&mut found, text),
                None => {
                    found.push(Event::End);
                    open.pop();
                }
            }
        }
        let mut expected = Vec::new();
        for event in events {
            match event {
                Event::Comment(_) | Event::Instruction { .. } => {}
                Event::Text(text) => events::push_text(&mut expected, text),
                event => expected.push(event.clone()),
            }
        }
        assert_eq!(found, expected, "the tree and the tokens of {}", shown(text.as_bytes()));
    } else if limits == Limits::default() {
        let is_limited = matches!(ours, Err(error) if error.kind() == ErrorKind::Limit);
        assert!(is_limited, "only the reader refuses {}: {ours:?}", shown(text.as_bytes()));
    }
}

/// What a signature learns from a canonical form.
#[derive(Debug, Default, PartialEq, Eq)]
struct Canonical {
    text: String,
    omitted: Vec<(String, usize)>,
}

impl Sink for &mut Canonical {
    fn text(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    fn wants_omitted_prefixes(&self) -> bool {
        true
    }

    fn omitted_prefix(&mut self, prefix: &str, offset: usize) {
        self.omitted.push((prefix.to_owned(), offset));
    }
}

/// Compares the canonical forms of the document, of a part of it, and of the rest of it, with and without copying from the document.
fn check_canonical_forms(text: &str, mut limits: Limits) {
    // Each of 36 forms expands all entities. All of them fail alike beyond a limit.
    limits.entity_expansion = limits.entity_expansion.min(16 << 10);
    let Ok(entity) = DocumentEntity::new(text, limits) else { return };
    let (known, none) = (canonical_runs(&entity), CanonicalRuns::default());
    // If it is in a comment, for example, there is no such element, for all of them.
    let mut starts = text.rmatch_indices('<').map(|(at, _)| at);
    let last = starts.find(|&at| text[at + 1..].starts_with(|c: char| c.is_alphabetic()));
    for subset in [(None, None), (last, None), (None, last)].map(|(apex, without)| Subset { apex, without }) {
        for (version, list) in [
            (Version::Canonical10, ""),
            (Version::Canonical11, ""),
            (Version::Exclusive10, ""),
            (Version::Exclusive10, "a #default"),
        ] {
            let [known, copied, made] = [(true, &known), (true, &none), (false, &none)].map(|(copies, known)| {
                let method = Method::new(Algorithm { version, with_comments: true });
                let method = method.with_inclusive_namespaces(list).switch_copies(copies);
                let mut canonical = Canonical::default();
                let form = Form { method: &method, subset, out: &mut canonical };
                write_known(&mut entity.reader(), known, vec![form]).map(|()| canonical)
            });
            assert_eq!(copied, made, "{version:?} {subset:?} of {}", shown(text.as_bytes()));
            assert_eq!(known, made, "{version:?} {subset:?} of {}", shown(text.as_bytes()));
        }
    }
}

/// Compares the content of the root with its canonical form, if it seems to be in that form.
fn check_canonical_content(text: &str, limits: Limits) {
    let is_read = |text: &str| {
        let mut memory = Memory::default();
        Reader::decoded(text, limits, &mut memory).and_then(|mut reader| events::read(&mut reader)).map(|_| ())
    };
    let Some((begins, prefixes)) = root(text, limits) else { return };
    let Some(ends) = text.rfind("</").filter(|ends| *ends >= begins) else { return };
    let (before, content, after) = (&text[..begins], &text[begins..ends], &text[ends..]);
    if !is_canonical_content(before.as_bytes(), content.as_bytes()) || is_read(&[before, after].concat()).is_err() {
        return;
    }
    let method = Method::new(Algorithm { version: Version::Exclusive10, with_comments: true });
    let method = method.with_inclusive_namespaces(&prefixes);
    let mut form = String::new();
    let mut memory = Memory::default();
    let written = Reader::decoded(text, limits, &mut memory)
        .and_then(|mut reader| method.write(&mut reader, Subset::default(), |piece| form.push_str(piece)));
    match written {
        Ok(()) => assert!(form.contains(&format!(">{content}</")), "{form} of {}", shown(text.as_bytes())),
        // A declaration may be in the value of an attribute.
        Err(error) => assert!(
            matches!(error.kind(), ErrorKind::Limit | ErrorKind::Namespace),
            "{error} in {}",
            shown(text.as_bytes())
        ),
    }
}

/// Returns where the content of the root begins, and the prefixes that are declared there.
fn root(text: &str, limits: Limits) -> Option<(usize, String)> {
    let mut memory = Memory::default();
    let mut reader = Reader::decoded(text, limits, &mut memory).ok()?;
    loop {
        match reader.next().ok()? {
            Token::StartTag(_) => break,
            Token::End => return None,
            _ => {}
        }
    }
    let prefixes: Vec<_> =
        reader.namespaces().map(|(prefix, _)| if prefix.is_empty() { "#default" } else { prefix }).collect();
    let begins = reader.offset();
    (!text[..begins].ends_with("/>")).then(|| (begins, prefixes.join(" ")))
}

/// Returns what of a document is canonical as it is written; nothing, if it is not well-formed. Whether it is doesn't depend on what is
/// passed over.
fn canonical_runs<'a>(entity: &'a DocumentEntity<'a>) -> CanonicalRuns<'a> {
    let (mut reader, mut find) = (entity.reader(), FindRuns::with_min_length(0));
    let passed_over = read_all(|| find.next(&mut reader, |_, _| false));
    let mut plain = entity.reader();
    let read = read_all(|| plain.next());
    assert_eq!(passed_over, read, "{}", shown(reader.input().as_bytes()));
    match passed_over {
        Ok(()) => find.finish(&reader),
        Err(_) => CanonicalRuns::default(),
    }
}

fn read_all<'a>(mut next: impl FnMut() -> Result<Token<'a>, Error>) -> Result<(), Error> {
    while next()? != Token::End {}
    Ok(())
}

fn enter(element: tree::Element<'_>, events: &mut Vec<Event>) {
    let attribute = |a: tree::Attribute<'_>| (a.namespace().to_owned(), a.local().to_owned(), a.value().to_owned());
    let mut attributes: Vec<_> = element.attributes().map(attribute).collect();
    attributes.sort();
    events.push(Event::Start {
        namespace: element.namespace().to_owned(),
        local: element.local().to_owned(),
        attributes,
    });
}
