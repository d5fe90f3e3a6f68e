//! A small owned tree of one document, with positions: what the schema and WSDL front ends are written on.
//!
//! Infoset clauses 2.1 to 2.6 as far as a contract needs them: elements, attributes, character data and the
//! namespaces in scope (for attribute values that are QNames). Comments and processing instructions are dropped.
//! Nodes live in one arena and are reached by index, so depth costs neither stack to walk nor stack to drop.
//!
//! ```
//! use castile_xml::tree::Document;
//!
//! let document = Document::parse("<a xmlns:p='urn:p'>\n  <b type='p:T'/>\n</a>")?;
//! let b = document.root().elements().next().expect("one child");
//! assert_eq!(b.resolve_qname("p:T"), Ok(("urn:p", "T")));
//! assert_eq!((b.position().line, b.position().column), (2, 3));
//! # Ok::<(), castile_xml::tree::Error>(())
//! ```

mod build;
mod lines;

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

pub use lines::Lines;

use crate::name::end_of_ncname;
use crate::{XML_NAMESPACE, XMLNS_NAMESPACE, is_name_char};

/// One document: an arena of nodes over its own copy of the text.
#[derive(Debug, Clone)]
pub struct Document {
    text: Arc<str>,
    /// Found when somebody asks for a position.
    lines: OnceLock<Lines>,
    /// Every name and value of the document, end to end; a [`Span`] cuts one out.
    strings: String,
    declarations: Vec<Declaration>,
    attributes: Vec<AttributeData>,
    nodes: Vec<NodeData>,
}

impl Document {
    /// Reads a whole document.
    ///
    /// Schema documents of the W3C carry an internal DTD subset, so one is allowed here and read
    /// ([`DocumentEntity`](crate::DocumentEntity)). What lies outside the document is not fetched: a reference to an
    /// external entity is an error, for what stands in it would be missing from the tree.
    pub fn parse(text: &str) -> Result<Self, Error> {
        build::document(text)
    }

    /// The document element.
    #[must_use]
    pub fn root(&self) -> Element<'_> {
        self.element(ElementId(0))
    }

    /// The element that `id` was taken from; `id` must come from this document.
    #[must_use]
    pub fn element(&self, id: ElementId) -> Element<'_> {
        Element { document: self, id: id.0 }
    }

    /// The text as it was given.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Line and column of a byte offset in [`text`](Self::text).
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        self.lines().position(&self.text, offset)
    }

    /// Where the lines of [`text`](Self::text) begin.
    #[must_use]
    pub fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.text))
    }

    fn span(&self, span: Span) -> &str {
        &self.strings[span.start as usize..span.end as usize]
    }
}

/// Names an element of a [`Document`] without borrowing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementId(u32);

/// A place in a text: both count from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

/// An element of a [`Document`].
#[derive(Clone, Copy)]
pub struct Element<'d> {
    document: &'d Document,
    id: u32,
}

impl<'d> Element<'d> {
    /// This element's id in its document.
    #[must_use]
    pub fn id(self) -> ElementId {
        ElementId(self.id)
    }

    /// The document it stands in.
    #[must_use]
    pub fn document(self) -> &'d Document {
        self.document
    }

    /// Its namespace name, empty for none.
    #[must_use]
    pub fn namespace(self) -> &'d str {
        self.document.span(self.data().namespace)
    }

    /// Its local name.
    #[must_use]
    pub fn local(self) -> &'d str {
        self.document.span(self.data().local)
    }

    /// Its prefix as written, empty for none.
    #[must_use]
    pub fn prefix(self) -> &'d str {
        self.document.span(self.data().prefix)
    }

    /// True if it has this expanded name.
    #[must_use]
    pub fn is(self, namespace: &str, local: &str) -> bool {
        self.local() == local && self.namespace() == namespace
    }

    /// Its attributes in document order, namespace declarations left out.
    pub fn attributes(self) -> impl ExactSizeIterator<Item = Attribute<'d>> + 'd {
        let (first, last) = self.data().attributes;
        let document = self.document;
        document.attributes[first as usize..last as usize].iter().map(|data| Attribute { document, data })
    }

    /// The value of an attribute in no namespace.
    #[must_use]
    pub fn attribute(self, local: &str) -> Option<&'d str> {
        self.find_attribute("", local).map(Attribute::value)
    }

    /// The attribute with this expanded name.
    #[must_use]
    pub fn find_attribute(self, namespace: &str, local: &str) -> Option<Attribute<'d>> {
        self.attributes().find(|attribute| attribute.local() == local && attribute.namespace() == namespace)
    }

    /// Its children in document order.
    pub fn children(self) -> impl Iterator<Item = Node<'d>> + 'd {
        let document = self.document;
        std::iter::successors(self.data().first_child, |&id| document.nodes[id as usize].next).map(move |id| {
            match &document.nodes[id as usize].kind {
                NodeKind::Element(_) => Node::Element(Element { document, id }),
                NodeKind::Text(span) => Node::Text(document.span(*span)),
            }
        })
    }

    /// Its child elements in document order.
    pub fn elements(self) -> impl Iterator<Item = Element<'d>> + 'd {
        self.children().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The element it is a child of.
    #[must_use]
    pub fn parent(self) -> Option<Element<'d>> {
        let document = self.document;
        document.nodes[self.id as usize].parent.map(|id| Element { document, id })
    }

    /// All character data in it, that of its descendants too, in document order.
    #[must_use]
    pub fn text(self) -> String {
        // The arena is in document order and the subtree is one run of it.
        let nodes = &self.document.nodes[self.id as usize..self.data().subtree_end as usize];
        nodes
            .iter()
            .filter_map(|node| match node.kind {
                NodeKind::Text(span) => Some(self.document.span(span)),
                NodeKind::Element(_) => None,
            })
            .collect()
    }

    /// The namespace name bound to `prefix` here; the empty prefix asks for the default namespace.
    #[must_use]
    pub fn namespace_of(self, prefix: &str) -> Option<&'d str> {
        match prefix {
            "xml" => return Some(XML_NAMESPACE),
            "xmlns" => return Some(XMLNS_NAMESPACE),
            _ => {}
        }
        let document = self.document;
        let declaration = self.declarations().find(|declaration| document.span(declaration.prefix) == prefix)?;
        Some(document.span(declaration.namespace)).filter(|namespace| !namespace.is_empty())
    }

    /// The namespace declarations in scope as (prefix, namespace name), innermost first, hidden ones left out.
    #[must_use]
    pub fn namespaces(self) -> Vec<(&'d str, &'d str)> {
        let document = self.document;
        let mut seen: HashSet<&str> = HashSet::new();
        let declared = self.declarations().filter(|declaration| seen.insert(document.span(declaration.prefix)));
        let names = declared.map(|one| (document.span(one.prefix), document.span(one.namespace)));
        let mut found: Vec<(&str, &str)> = names.collect();
        found.retain(|(_, namespace)| !namespace.is_empty());
        found
    }

    /// Those of [`namespaces`](Self::namespaces) whose prefix stands before a colon in `text`, and the default one: all
    /// that the text can need. An element may have a thousand in scope.
    #[must_use]
    pub fn namespaces_in(self, text: &str) -> Vec<(&'d str, &'d str)> {
        let mut seen: HashSet<&str> = HashSet::new();
        let prefixes = text.match_indices(':').map(|(at, _)| {
            let before = &text[..at];
            before
                .rfind(|c| !is_name_char(c))
                .map_or(before, |end| before[end..].trim_start_matches(|c| !is_name_char(c)))
        });
        let used: HashSet<&str> = prefixes.chain([""]).collect();
        let document = self.document;
        let declared = self.declarations().filter(|one| {
            let prefix = document.span(one.prefix);
            used.contains(prefix) && seen.insert(prefix)
        });
        let names = declared.map(|one| (document.span(one.prefix), document.span(one.namespace)));
        names.filter(|(_, namespace)| !namespace.is_empty()).collect()
    }

    /// Resolves a QName in content or in an attribute value as XML Schema does (Part 2, 3.2.18): without a prefix it
    /// takes the default namespace. White space around it is passed over.
    pub fn resolve_qname<'v>(self, value: &'v str) -> Result<(&'d str, &'v str), QNameError> {
        let value = value.trim_matches(is_space);
        let (prefix, local) = value.split_once(':').unwrap_or(("", value));
        if !is_ncname(local) || (!is_ncname(prefix) && prefix.len() + local.len() < value.len()) {
            return Err(QNameError::NotAQName(value.to_owned()));
        }
        match self.namespace_of(prefix) {
            Some(namespace) => Ok((namespace, local)),
            None if prefix.is_empty() => Ok(("", local)),
            None => Err(QNameError::UndeclaredPrefix(prefix.to_owned())),
        }
    }

    /// Byte offset of its start tag in the document's text.
    #[must_use]
    pub fn offset(self) -> usize {
        self.data().start as usize
    }

    /// Where its start tag is.
    #[must_use]
    pub fn position(self) -> Position {
        self.document.position(self.offset())
    }

    /// Its own text, from the start tag to the end of the end tag, as it stands in the document.
    #[must_use]
    pub fn source(self) -> &'d str {
        self.document.text.get(self.data().start as usize..self.data().end as usize).unwrap_or_default()
    }

    fn declarations(self) -> impl Iterator<Item = &'d Declaration> + 'd {
        let all = &self.document.declarations;
        std::iter::successors(self.data().scope.map(|index| &all[index as usize]), |declaration| {
            declaration.outer.map(|index| &all[index as usize])
        })
    }

    fn data(self) -> &'d ElementData {
        match &self.document.nodes[self.id as usize].kind {
            NodeKind::Element(data) => data,
            // Handles are made from element nodes only.
            NodeKind::Text(_) => unreachable!("an element handle names a text node"),
        }
    }
}

impl fmt::Debug for Element<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.position();
        write!(f, "<{}> at {line}:{column}", self.local())
    }
}

/// A child of an element.
#[derive(Debug, Clone, Copy)]
pub enum Node<'d> {
    /// A child element.
    Element(Element<'d>),
    /// Character data, references expanded.
    Text(&'d str),
}

/// An attribute of an element.
#[derive(Clone, Copy)]
pub struct Attribute<'d> {
    document: &'d Document,
    data: &'d AttributeData,
}

impl<'d> Attribute<'d> {
    /// Its namespace name, empty for none.
    #[must_use]
    pub fn namespace(self) -> &'d str {
        self.document.span(self.data.namespace)
    }

    /// Its local name.
    #[must_use]
    pub fn local(self) -> &'d str {
        self.document.span(self.data.local)
    }

    /// Its value, normalised as XML 1.0 §3.3.3 says for CDATA.
    #[must_use]
    pub fn value(self) -> &'d str {
        self.document.span(self.data.value)
    }

    /// Byte offset of its name in the document's text.
    #[must_use]
    pub fn offset(self) -> usize {
        self.data.start as usize
    }
}

impl fmt::Debug for Attribute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?}", self.local(), self.value())
    }
}

/// Why a value is not a QName here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QNameError {
    /// It isn't of the form `prefix:local` or `local`.
    NotAQName(String),
    /// Its prefix isn't bound to a namespace.
    UndeclaredPrefix(String),
}

impl fmt::Display for QNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAQName(value) => write!(f, "{value:?} is not a QName, which is written `prefix:name` or `name`"),
            Self::UndeclaredPrefix(prefix) => write!(f, "prefix {prefix:?} is not bound to a namespace here"),
        }
    }
}

impl std::error::Error for QNameError {}

/// Why a document can't be read, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    message: String,
    offset: usize,
    position: Position,
}

impl Error {
    fn new(message: impl Into<String>, offset: usize, document: &Document) -> Self {
        Self { message: message.into(), offset, position: document.position(offset) }
    }

    /// What was found and what was expected.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where: a byte offset in the text.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Where, by line and column.
    #[must_use]
    pub fn position(&self) -> Position {
        self.position
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}, column {})", self.message, self.position.line, self.position.column)
    }
}

impl std::error::Error for Error {}

/// White space of XML 1.0 §2.3.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// NCName of Namespaces in XML 1.0, by the fifth edition's ranges.
#[must_use]
pub fn is_ncname(text: &str) -> bool {
    !text.is_empty() && end_of_ncname(text, 0) == text.len()
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    end: u32,
}

/// One `xmlns` attribute; those in scope of an element are a list from the inside out.
#[derive(Debug, Clone)]
struct Declaration {
    prefix: Span,
    /// Empty in `xmlns=""`, which takes the default namespace back.
    namespace: Span,
    outer: Option<u32>,
}

#[derive(Debug, Clone)]
struct AttributeData {
    namespace: Span,
    local: Span,
    value: Span,
    start: u32,
}

#[derive(Debug, Clone)]
struct NodeData {
    parent: Option<u32>,
    next: Option<u32>,
    kind: NodeKind,
}

#[derive(Debug, Clone)]
enum NodeKind {
    Element(ElementData),
    Text(Span),
}

#[derive(Debug, Clone)]
struct ElementData {
    namespace: Span,
    prefix: Span,
    local: Span,
    attributes: (u32, u32),
    /// The innermost namespace declaration in scope.
    scope: Option<u32>,
    first_child: Option<u32>,
    /// One past the last node of the subtree.
    subtree_end: u32,
    start: u32,
    end: u32,
}

#[cfg(test)]
mod tests;
