use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::{AttributeData, Declaration, Document, ElementData, Error, NodeData, NodeKind, Span};
use crate::{DocumentEntity, Limits, Token};

/// Contracts are larger than messages, but do not nest deeper.
const LIMITS: Limits = Limits {
    message_size: 256 << 20,
    depth: 512,
    attributes: 1_000,
    namespaces: 1_000,
    name_length: 10_000,
    text_length: 256 << 20,
    markup_length: 256 << 20,
    entity_expansion: 1 << 20,
    encoding_expansion: 0,
    written_size: 0,
    deviations: 0,
};

/// Reads `text` into a tree.
pub(super) fn document(text: &str) -> Result<Document, Error> {
    Builder::new(text).read(text)
}

struct Builder {
    document: Document,
    /// Names, prefixes and namespace names. Each is stored once.
    names: HashMap<String, Span>,
    /// The names that were used last, by a cheap hash. Comparing two names takes less time than a lookup in `names`.
    recent: [Span; RECENT],
    open: Vec<Open>,
}

const RECENT: usize = 256;

struct Open {
    node: u32,
    last_child: Option<u32>,
    /// How many namespace declarations are in scope in its content.
    declarations: usize,
}

impl Builder {
    fn new(text: &str) -> Self {
        let document = Document {
            text: Arc::from(text),
            lines: OnceLock::new(),
            strings: String::new(),
            declarations: Vec::new(),
            attributes: Vec::new(),
            nodes: Vec::new(),
        };
        Self { document, names: HashMap::new(), recent: [Span { start: 0, end: 0 }; RECENT], open: Vec::new() }
    }

    fn read(mut self, text: &str) -> Result<Document, Error> {
        let failure = |document: &Document, error: &crate::Error| Error::new(error.message(), error.offset(), document);
        let entity = DocumentEntity::new(text, LIMITS).map_err(|error| failure(&self.document, &error))?;
        let mut reader = entity.reader();
        loop {
            let token = reader.next().map_err(|error| failure(&self.document, &error))?;
            if let Some(name) = reader.unread_entity() {
                let message = format!("reference to the entity \"{name}\" outside the document, which is not fetched");
                return Err(Error::new(message, reader.offset(), &self.document));
            }
            match token {
                Token::StartTag(tag) => {
                    let outside = self.open.last().map_or(0, |open| open.declarations);
                    let inside = reader.namespaces().count();
                    let own = reader.namespaces().take(inside - outside);
                    let (prefix, local) = (tag.name.prefix(), tag.name.local());
                    let namespace = reader.namespace(tag.namespace);
                    self.start((namespace, prefix, local), tag.offset, own, inside);
                    for attribute in reader.attributes() {
                        let name = (attribute.namespace, attribute.name.local());
                        self.attribute(name, attribute.value, attribute.offset);
                    }
                }
                Token::EndTag(_) => self.end(reader.offset()),
                Token::Text(text) => self.text(&text),
                Token::Comment(_) | Token::Instruction { .. } => {}
                Token::End => return Ok(self.document),
            }
        }
    }

    /// Opens an element with this (namespace, prefix, local name). `inside` is the number of declarations in scope in
    /// its content.
    fn start<'n>(
        &mut self,
        (namespace, prefix, local): (&str, &str, &str),
        offset: usize,
        declarations: impl Iterator<Item = (&'n str, &'n str)>,
        inside: usize,
    ) {
        let mut scope = self.open.last().and_then(|open| match &self.document.nodes[open.node as usize].kind {
            NodeKind::Element(data) => data.scope,
            NodeKind::Text(_) => None,
        });
        for (prefix, namespace) in declarations {
            let declaration = Declaration { prefix: self.name(prefix), namespace: self.name(namespace), outer: scope };
            scope = Some(self.document.declarations.len() as u32);
            self.document.declarations.push(declaration);
        }
        let attributes = self.document.attributes.len() as u32;
        let start = offset as u32;
        let data = ElementData {
            namespace: self.name(namespace),
            prefix: self.name(prefix),
            local: self.name(local),
            attributes: (attributes, attributes),
            scope,
            first_child: None,
            subtree_end: 0,
            start,
            end: start,
        };
        let node = self.push(NodeKind::Element(data));
        self.open.push(Open { node, last_child: None, declarations: inside });
    }

    fn attribute(&mut self, (namespace, local): (&str, &str), value: &str, offset: usize) {
        let data = AttributeData {
            namespace: self.name(namespace),
            local: self.name(local),
            value: self.store(value),
            start: offset as u32,
        };
        self.document.attributes.push(data);
        let last = self.document.attributes.len() as u32;
        if let Some(element) = self.current() {
            element.attributes.1 = last;
        }
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let span = self.store(text);
        self.push(NodeKind::Text(span));
    }

    fn end(&mut self, offset: usize) {
        let subtree_end = self.document.nodes.len() as u32;
        let end = offset as u32;
        if let Some(element) = self.current() {
            element.subtree_end = subtree_end;
            element.end = end;
        }
        self.open.pop();
    }

    fn current(&mut self) -> Option<&mut ElementData> {
        let open = self.open.last()?;
        match &mut self.document.nodes[open.node as usize].kind {
            NodeKind::Element(data) => Some(data),
            NodeKind::Text(_) => None,
        }
    }

    /// Appends a node as the last child of the open element.
    fn push(&mut self, kind: NodeKind) -> u32 {
        let id = self.document.nodes.len() as u32;
        let parent = self.open.last().map(|open| open.node);
        self.document.nodes.push(NodeData { parent, next: None, kind });
        if let Some(open) = self.open.last_mut() {
            match open.last_child.replace(id) {
                Some(before) => self.document.nodes[before as usize].next = Some(id),
                None => {
                    if let Some(element) = self.current() {
                        element.first_child = Some(id);
                    }
                }
            }
        }
        id
    }

    fn name(&mut self, name: &str) -> Span {
        let byte = |at: usize| name.as_bytes().get(at).map_or(0, |&byte| usize::from(byte));
        let (half, last) = (name.len() / 2, name.len().saturating_sub(1));
        let glance = (name.len() ^ byte(0) << 3 ^ byte(half) << 1 ^ byte(last) << 4) % RECENT;
        let Span { start, end } = self.recent[glance];
        if &self.document.strings[start as usize..end as usize] == name {
            return self.recent[glance];
        }
        let span = match self.names.get(name) {
            Some(&span) => span,
            None => {
                let span = self.store(name);
                self.names.insert(name.to_owned(), span);
                span
            }
        };
        self.recent[glance] = span;
        span
    }

    fn store(&mut self, text: &str) -> Span {
        let start = self.document.strings.len() as u32;
        self.document.strings.push_str(text);
        Span { start, end: self.document.strings.len() as u32 }
    }
}
