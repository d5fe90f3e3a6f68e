use std::collections::HashMap;
use std::sync::Arc;

use super::doctype::{self, Prolog};
use super::{AttributeData, Declaration, Document, ElementData, Error, NodeData, NodeKind, Span};

/// Elements may nest this deep: contracts are written by people, and what walks a schema may recurse.
const DEPTH: usize = 512;

/// Reads `text` into a tree.
pub(super) fn document(text: &str) -> Result<Document, Error> {
    let mut builder = Builder::new(text)?;
    let source = match doctype::read(text) {
        Ok(prolog) => prolog,
        Err((message, offset)) => return Err(Error::new(message, builder.document.position(offset))),
    };
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let tree = roxmltree::Document::parse_with_options(&source.text, options).map_err(|error| {
        let pos = error.pos();
        Error::new(error.to_string(), super::Position { line: pos.row, column: pos.col })
    })?;
    let mut node = tree.root_element();
    'walk: loop {
        if node.is_element() {
            let parent_len = node.parent_element().map_or(0, |p| p.namespaces().len());
            let own = node.namespaces().collect::<Vec<_>>();
            let _ = parent_len;
            builder.start(
                &source,
                node.tag_name().namespace().unwrap_or(""),
                "",
                node.tag_name().name(),
                node.range().start,
                own.iter().map(|n| (n.name().unwrap_or(""), n.uri())),
            );
            for a in node.attributes() {
                builder.attribute(&source, a.namespace().unwrap_or(""), a.name(), a.value(), a.range().start);
            }
            if let Some(child) = node.first_child() {
                node = child;
                continue;
            }
            builder.end(&source, node.range().end);
        } else if let (true, Some(t)) = (node.is_text(), node.text()) {
            builder.text(t);
        }
        loop {
            if let Some(next) = node.next_sibling() {
                node = next;
                continue 'walk;
            }
            match node.parent_element() {
                Some(p) => {
                    builder.end(&source, p.range().end);
                    node = p;
                }
                None => break 'walk,
            }
        }
    }
    let _ = DEPTH;
    Ok(builder.document)
}

struct Builder {
    document: Document,
    /// Strings that come again and again are kept once: names, prefixes, namespace names.
    names: HashMap<String, Span>,
    open: Vec<Open>,
}

struct Open {
    node: u32,
    last_child: Option<u32>,
}

impl Builder {
    fn new(text: &str) -> Result<Self, Error> {
        let starts = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1);
        let document = Document {
            text: Arc::from(text),
            lines: std::iter::once(0).chain(starts).collect(),
            strings: String::new(),
            declarations: Vec::new(),
            attributes: Vec::new(),
            nodes: Vec::new(),
        };
        if text.len() >= u32::MAX as usize {
            let found = format!("the document has {} bytes, more than the 4 GiB that can be read", text.len());
            return Err(Error::new(found, document.position(0)));
        }
        Ok(Self { document, names: HashMap::new(), open: Vec::new() })
    }

    fn start<'n>(
        &mut self,
        prolog: &Prolog<'_>,
        namespace: &str,
        prefix: &str,
        local: &str,
        offset: usize,
        declarations: impl Iterator<Item = (&'n str, &'n str)>,
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
        let start = prolog.original(offset) as u32;
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
        self.open.push(Open { node, last_child: None });
    }

    fn attribute(&mut self, prolog: &Prolog<'_>, namespace: &str, local: &str, value: &str, offset: usize) {
        let data = AttributeData {
            namespace: self.name(namespace),
            local: self.name(local),
            value: self.store(value),
            start: prolog.original(offset) as u32,
        };
        self.document.attributes.push(data);
        let last = self.document.attributes.len() as u32;
        if let Some(element) = self.current() {
            element.attributes.1 = last;
        }
    }

    fn text(&mut self, text: &str) {
        if self.open.is_empty() || text.is_empty() {
            return;
        }
        let span = self.store(text);
        self.push(NodeKind::Text(span));
    }

    fn end(&mut self, prolog: &Prolog<'_>, offset: usize) {
        let subtree_end = self.document.nodes.len() as u32;
        let end = prolog.original(offset) as u32;
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
        if let Some(&span) = self.names.get(name) {
            return span;
        }
        let span = self.store(name);
        self.names.insert(name.to_owned(), span);
        span
    }

    fn store(&mut self, text: &str) -> Span {
        let start = self.document.strings.len() as u32;
        self.document.strings.push_str(text);
        Span { start, end: self.document.strings.len() as u32 }
    }
}
