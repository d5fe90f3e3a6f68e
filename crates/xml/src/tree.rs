//! A small owned tree of one document, with positions. The schema and WSDL front ends are based on it.
//!
//! It has the parts of the Infoset (clauses 2.1 to 2.6) that a contract needs: elements, attributes, character data,
//! and the namespaces in scope (for attribute values that are QNames). Comments and processing instructions are
//! dropped. Nodes are stored in one arena and addressed by index, so walking or dropping a deep tree needs no stack.
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

/// A document: an arena of nodes, and a copy of the text.
#[derive(Debug, Clone)]
pub struct Document {
    text: Arc<str>,
    /// Computed when a position is first requested.
    lines: OnceLock<Lines>,
    /// All names and values of the document in one string. A [`Span`] selects one of them.
    strings: String,
    declarations: Vec<Declaration>,
    attributes: Vec<AttributeData>,
    nodes: Vec<NodeData>,
}

impl Document {
    /// Parses a whole document.
    ///
    /// An internal DTD subset is allowed and read ([`DocumentEntity`](crate::DocumentEntity)), because schema documents
    /// of the W3C have one. Nothing outside the document is fetched. A reference to an external entity is an error,
    /// because its content would be missing from the tree.
    pub fn parse(text: &str) -> Result<Self, Error> {
        build::document(text)
    }

    /// Returns the document element.
    #[must_use]
    pub fn root(&self) -> Element<'_> {
        self.element(ElementId(0))
    }

    /// Returns the element with this id, which must be from this document.
    #[must_use]
    pub fn element(&self, id: ElementId) -> Element<'_> {
        Element { document: self, id: id.0 }
    }

    /// Returns the text that was parsed.
    #[must_use]
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns line and column of a byte offset in [`text`](Self::text).
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        self.lines().position(&self.text, offset)
    }

    /// Returns where the lines of [`text`](Self::text) begin.
    #[must_use]
    pub fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::of(&self.text))
    }

    fn span(&self, span: Span) -> &str {
        &self.strings[span.start as usize..span.end as usize]
    }
}

/// The id of an element in a [`Document`]. It does not borrow the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ElementId(u32);

/// A position in a text. Line and column count from 1.
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
    /// Returns the id of this element in its document.
    #[must_use]
    pub fn id(self) -> ElementId {
        ElementId(self.id)
    }

    /// Returns the document that contains it.
    #[must_use]
    pub fn document(self) -> &'d Document {
        self.document
    }

    /// Returns its namespace name, empty for none.
    #[must_use]
    pub fn namespace(self) -> &'d str {
        self.document.span(self.data().namespace)
    }

    /// Returns its local name.
    #[must_use]
    pub fn local(self) -> &'d str {
        self.document.span(self.data().local)
    }

    /// Returns its prefix as written, empty for none.
    #[must_use]
    pub fn prefix(self) -> &'d str {
        self.document.span(self.data().prefix)
    }

    /// Whether it has this expanded name.
    #[must_use]
    pub fn is(self, namespace: &str, local: &str) -> bool {
        self.local() == local && self.namespace() == namespace
    }

    /// Returns its attributes in document order, without namespace declarations.
    pub fn attributes(self) -> impl ExactSizeIterator<Item = Attribute<'d>> + 'd {
        let (first, last) = self.data().attributes;
        let document = self.document;
        document.attributes[first as usize..last as usize].iter().map(|data| Attribute { document, data })
    }

    /// Returns the value of the attribute with this name in no namespace.
    #[must_use]
    pub fn attribute(self, local: &str) -> Option<&'d str> {
        self.find_attribute("", local).map(Attribute::value)
    }

    /// Returns the attribute with this expanded name.
    #[must_use]
    pub fn find_attribute(self, namespace: &str, local: &str) -> Option<Attribute<'d>> {
        self.attributes().find(|attribute| attribute.local() == local && attribute.namespace() == namespace)
    }

    /// Returns its children in document order.
    pub fn children(self) -> impl Iterator<Item = Node<'d>> + 'd {
        let document = self.document;
        std::iter::successors(self.data().first_child, |&id| document.nodes[id as usize].next).map(move |id| {
            match &document.nodes[id as usize].kind {
                NodeKind::Element(_) => Node::Element(Element { document, id }),
                NodeKind::Text(span) => Node::Text(document.span(*span)),
            }
        })
    }

    /// Returns its child elements in document order.
    pub fn elements(self) -> impl Iterator<Item = Element<'d>> + 'd {
        self.children().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// Returns its parent, or `None` for the document element.
    #[must_use]
    pub fn parent(self) -> Option<Element<'d>> {
        let document = self.document;
        document.nodes[self.id as usize].parent.map(|id| Element { document, id })
    }

    /// Returns all character data in it and its descendants, in document order.
    #[must_use]
    pub fn text(self) -> String {
        // The arena is in document order, and a subtree is a contiguous part of it.
        let nodes = &self.document.nodes[self.id as usize..self.data().subtree_end as usize];
        nodes
            .iter()
            .filter_map(|node| match node.kind {
                NodeKind::Text(span) => Some(self.document.span(span)),
                NodeKind::Element(_) => None,
            })
            .collect()
    }

    /// Returns the namespace name that `prefix` is bound to here. The empty prefix stands for the default namespace.
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

    /// Returns the namespace declarations in scope as (prefix, namespace name), innermost first, without hidden ones.
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

    /// Returns the [`namespaces`](Self::namespaces) that `text` may use: those whose prefix precedes a colon in it, and
    /// the default namespace. An element may have a thousand in scope.
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

    /// Resolves a QName in content or in an attribute value as XML Schema does (Part 2, 3.2.18): a QName without a
    /// prefix is in the default namespace. White space around it is ignored.
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

    /// Returns the byte offset of its start tag in the document's text.
    #[must_use]
    pub fn offset(self) -> usize {
        self.data().start as usize
    }

    /// Returns the position of its start tag.
    #[must_use]
    pub fn position(self) -> Position {
        self.document.position(self.offset())
    }

    /// Returns its source in the document, from the start tag to the end of the end tag.
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
            // An `Element` is made for element nodes only.
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
    /// Character data, with references expanded.
    Text(&'d str),
}

/// An attribute of an element.
#[derive(Clone, Copy)]
pub struct Attribute<'d> {
    document: &'d Document,
    data: &'d AttributeData,
}

impl<'d> Attribute<'d> {
    /// Returns its namespace name, empty for none.
    #[must_use]
    pub fn namespace(self) -> &'d str {
        self.document.span(self.data.namespace)
    }

    /// Returns its local name.
    #[must_use]
    pub fn local(self) -> &'d str {
        self.document.span(self.data.local)
    }

    /// Returns its value, normalised as CDATA (XML 1.0 §3.3.3).
    #[must_use]
    pub fn value(self) -> &'d str {
        self.document.span(self.data.value)
    }

    /// Returns the byte offset of its name in the document's text.
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

/// An error in a QName.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QNameError {
    /// The value is not of the form `prefix:local` or `local`.
    NotAQName(String),
    /// The prefix is not bound to a namespace.
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

/// An error in a document, with its location.
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

    /// Returns what was found and what was expected.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the byte offset of the error in the text.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns line and column of the error.
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

/// Whether `c` is white space (XML 1.0 §2.3).
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

/// Whether `text` is an NCName (Namespaces in XML 1.0), by the character ranges of the fifth edition of XML 1.0.
#[must_use]
pub fn is_ncname(text: &str) -> bool {
    !text.is_empty() && end_of_ncname(text, 0) == text.len()
}

#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    end: u32,
}

/// A namespace declaration. The declarations in scope of an element are a linked list, innermost first.
#[derive(Debug, Clone)]
struct Declaration {
    prefix: Span,
    /// Empty in `xmlns=""`, which undeclares the default namespace.
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
