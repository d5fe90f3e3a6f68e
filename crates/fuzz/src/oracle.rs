//! An independent parser as a test oracle: roxmltree.
//!
//! What Castile accepts, roxmltree must accept, with the same content. What roxmltree accepts and Castile rejects must
//! be one of the [known differences](Difference). In each of them roxmltree is more lenient, or does not implement the
//! rule.

use castile_xml::{Error, ErrorKind};
use roxmltree::{Document, Node, NodeType, ParsingOptions};

use crate::events::{Event, push_text};
use crate::shown;

/// Returns roxmltree's events for a document.
pub(crate) fn read(text: &str, allow_dtd: bool) -> Result<Vec<Event>, roxmltree::Error> {
    let options = ParsingOptions { allow_dtd, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options)?;
    let mut events = Vec::new();
    // Without recursion, since documents may nest to any depth.
    let mut next = document.root().first_child();
    while let Some(node) = next {
        enter(node, &mut events);
        next = node.first_child().or_else(|| leave(node, &mut events));
    }
    Ok(events)
}

fn enter(node: Node<'_, '_>, events: &mut Vec<Event>) {
    match node.node_type() {
        NodeType::Root => {}
        NodeType::Element => {
            let attribute = |a: roxmltree::Attribute<'_, '_>| {
                (a.namespace().unwrap_or_default().to_owned(), a.name().to_owned(), a.value().to_owned())
            };
            let mut attributes: Vec<_> = node.attributes().map(attribute).collect();
            attributes.sort();
            let name = node.tag_name();
            events.push(Event::Start {
                namespace: name.namespace().unwrap_or_default().to_owned(),
                local: name.name().to_owned(),
                attributes,
            });
        }
        NodeType::Text => push_text(events, node.text().unwrap_or_default()),
        NodeType::Comment => events.push(Event::Comment(node.text().unwrap_or_default().to_owned())),
        NodeType::PI => {
            let (target, data) = node.pi().map_or(("", ""), |pi| (pi.target, pi.value.unwrap_or_default()));
            events.push(Event::Instruction { target: target.to_owned(), data: data.to_owned() });
        }
    }
}

/// Normalises line ends, which comes before parsing (XML 1.0 §2.11). roxmltree does that in texts, but not before a reference
/// in them, and not in comments and instructions.
fn line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns the node after `node`, and adds the end events of the elements that end there.
fn leave<'a, 'i>(mut node: Node<'a, 'i>, events: &mut Vec<Event>) -> Option<Node<'a, 'i>> {
    loop {
        if node.is_element() {
            events.push(Event::End);
        }
        if let Some(next) = node.next_sibling() {
            return Some(next);
        }
        node = node.parent()?;
    }
}

/// Compares Castile's result for `text` with roxmltree's.
pub(crate) fn judge(text: &str, ours: &Result<Vec<Event>, Error>, allow_dtd: bool) {
    let theirs = read(&line_ends(text), allow_dtd);
    match (ours, &theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert_eq!(ours, theirs, "ours and roxmltree's content of {}", shown(text.as_bytes()))
        }
        (Err(_), Err(_)) => {}
        (Ok(_), Err(error)) => {
            assert!(is_too_strict(error), "only roxmltree refuses {}: {error}", shown(text.as_bytes()));
        }
        (Err(error), Ok(_)) => {
            let difference = Difference::of(error, text);
            assert!(difference.is_some(), "only Castile refuses {}: {error}", shown(text.as_bytes()));
        }
    }
}

/// Why Castile rejects what roxmltree accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Difference {
    /// Limits: roxmltree has different ones.
    Limit,
    /// A document type declaration: roxmltree ignores an empty one, and most errors in others.
    Doctype,
    /// The declared encoding: roxmltree reads text and ignores it.
    Encoding,
    /// A rule of namespaces: among other things, roxmltree allows a prefix to be bound to no namespace.
    Namespace,
    /// The content of an XML declaration or a processing instruction: roxmltree checks hardly any of it.
    Instruction,
}

impl Difference {
    fn of(error: &Error, text: &str) -> Option<Difference> {
        match error.kind() {
            ErrorKind::Limit => Some(Difference::Limit),
            ErrorKind::Doctype => Some(Difference::Doctype),
            ErrorKind::Encoding => Some(Difference::Encoding),
            ErrorKind::Namespace => Some(Difference::Namespace),
            // A name that begins with a colon, which XML permits but Namespaces in XML doesn't.
            _ if text[error.offset()..].starts_with(':') => Some(Difference::Namespace),
            // A prefix that is declared twice in one tag.
            _ if text[error.offset()..].starts_with("xmlns") => Some(Difference::Namespace),
            _ if is_in_instruction(text, error.offset()) => Some(Difference::Instruction),
            // The value of an entity that is never referenced.
            _ if is_in_entity(text, error.offset()) => Some(Difference::Doctype),
            _ => None,
        }
    }
}

fn is_in_instruction(text: &str, offset: usize) -> bool {
    let (before, rest) = text.split_at(offset);
    rest.starts_with("<?") || before.rfind("<?").is_some_and(|begin| !before[begin..].contains("?>"))
}

fn is_in_entity(text: &str, offset: usize) -> bool {
    let before = &text[..offset];
    before.rfind("<!ENTITY").is_some_and(|begin| !before[begin..].contains('>'))
}

/// Returns whether roxmltree rejects what XML permits.
fn is_too_strict(error: &roxmltree::Error) -> bool {
    match error {
        roxmltree::Error::NodesLimitReached => true,
        // roxmltree reports many references as a loop.
        roxmltree::Error::EntityReferenceLoop(_) => true,
        // roxmltree binds this prefix for attributes only (Namespaces in XML §3).
        roxmltree::Error::UnknownNamespace(prefix, _) => prefix == "xml",
        _ => false,
    }
}
