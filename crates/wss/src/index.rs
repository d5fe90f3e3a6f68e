//! Where the elements of a document are that a signature can refer to, found in one pass.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use castile_soap::Version;
use castile_xml::{Attribute, Reader, StartTag, Token, XML_NAMESPACE, excerpt};

use crate::limits::Limits;
use crate::signature::{DSIG, DSIG11};
use crate::uris::{SAML1, SAML2, SAML2_PROTOCOL, WSSE, WSU, XMLENC};
use crate::{Error, ErrorKind};

/// The attributes that are ids. Ids are registered by the names of their elements, so that an attacker can't give an
/// element a second id of another kind.
#[derive(Clone, Debug)]
pub(crate) struct IdAttributes {
    /// Local names of attributes without a namespace that are ids on all elements.
    pub(crate) everywhere: Vec<String>,
}

impl IdAttributes {
    /// Those of messages.
    pub(crate) const OF_MESSAGES: IdAttributes = IdAttributes { everywhere: Vec::new() };

    /// Those of documents.
    pub(crate) fn of_documents() -> Self {
        IdAttributes { everywhere: vec!["Id".to_owned()] }
    }

    /// Returns whether an attribute may be the id of an element.
    pub(crate) fn may_be_id(&self, attribute: &Attribute<'_>) -> bool {
        let name = attribute.name.local();
        matches!(name, "Id" | "id" | "ID" | "AssertionID") || self.everywhere.iter().any(|known| known == name)
    }

    fn is_id(&self, namespace: &str, local: &str, attribute: &Attribute<'_>) -> bool {
        let name = attribute.name.local();
        match (attribute.namespace, name) {
            (WSU, "Id") | (XML_NAMESPACE, "id") => true,
            ("", name) if self.everywhere.iter().any(|known| known == name) => true,
            ("", "Id") => match local {
                // node-soap writes the ids of what it signs without a namespace.
                "Body" => Version::of_namespace(namespace).is_some(),
                "Timestamp" => namespace == WSU,
                "UsernameToken" => namespace == WSSE,
                _ => matches!(namespace, DSIG | DSIG11 | XMLENC),
            },
            ("", "ID") => matches!(namespace, SAML2 | SAML2_PROTOCOL),
            ("", "AssertionID") => namespace == SAML1 && local == "Assertion",
            _ => false,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Index {
    /// The byte ranges of the elements with an id.
    ids: HashMap<String, Range<usize>>,
    /// The byte ranges of the signatures, in document order.
    pub(crate) signatures: Vec<Range<usize>>,
    pub(crate) root: Range<usize>,
}

/// Sees the tags of a document while it is indexed.
pub(crate) trait Visitor<'t> {
    /// Reads the next token. It may pass over elements that have no ids and declare nothing, and that are not signatures.
    ///
    /// # Errors
    /// The document is not well-formed.
    fn next(&mut self, reader: &mut Reader<'t>) -> Result<Token<'t>, castile_xml::Error> {
        reader.next()
    }

    /// A start tag was read.
    ///
    /// # Errors
    /// The document is not what was expected.
    fn start(&mut self, reader: &Reader<'_>, tag: StartTag<'_>) -> Result<(), Error> {
        let _ = (reader, tag);
        Ok(())
    }

    /// An element has ended, with `depth` elements around it.
    fn end(&mut self, depth: usize, offset: usize) {
        let _ = (depth, offset);
    }

    /// Text, a comment or an instruction has ended.
    fn other(&mut self, offset: usize) {
        let _ = offset;
    }
}

impl Visitor<'_> for () {}

/// An element that has begun, and that is in the index.
struct Open {
    /// How many elements are around it.
    depth: usize,
    ids: Vec<String>,
    signature: Option<usize>,
}

/// The error for an element that is to be signed and was not found.
pub(crate) fn absent() -> Error {
    Error::new(ErrorKind::Reference, "an element to be signed is not there")
}

impl Index {
    /// Reads a document to its end.
    ///
    /// # Errors
    /// It is not well-formed, two elements have the same id, or there are too many ids or signatures.
    pub(crate) fn of(reader: &mut Reader<'_>, rules: &IdAttributes, limits: Limits) -> Result<Self, Error> {
        Self::with(reader, rules, limits, &mut ())
    }

    /// Reads a document to its end, and shows its tags to a visitor.
    pub(crate) fn with<'t>(
        reader: &mut Reader<'t>,
        rules: &IdAttributes,
        limits: Limits,
        visitor: &mut impl Visitor<'t>,
    ) -> Result<Self, Error> {
        let mut index = Index::default();
        let mut open: Vec<Open> = Vec::new();
        loop {
            match visitor.next(reader)? {
                Token::StartTag(tag) => {
                    visitor.start(reader, tag)?;
                    let depth = reader.depth() - 1;
                    if depth == 0 {
                        index.root = tag.offset..tag.offset;
                    }
                    let local = tag.name.local();
                    if reader.is_plain() && local != "Signature" {
                        continue;
                    }
                    let namespace = reader.namespace(tag.namespace);
                    let is_signature = local == "Signature" && namespace == DSIG;
                    let ids = reader.attributes().filter(|attribute| rules.is_id(namespace, local, attribute));
                    let ids: Vec<String> = ids.map(|attribute| attribute.value.to_owned()).collect();
                    if ids.is_empty() && !is_signature {
                        continue;
                    }
                    // The elements of an entity all have the offset of the reference to it.
                    if !reader.input()[tag.offset..].starts_with('<') {
                        let message = "a signature, or an element with an id, in an entity is not supported";
                        return Err(Error::new(ErrorKind::Unsupported, message).at(tag.offset));
                    }
                    for id in &ids {
                        if index.ids.len() == limits.ids {
                            let message = format!("more than {} elements with an id, which is the limit", limits.ids);
                            return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
                        }
                        index.add(id, tag.offset)?;
                    }
                    if is_signature {
                        if index.signatures.len() == limits.signatures {
                            let message = format!("more than {} signatures, which is the limit", limits.signatures);
                            return Err(Error::new(ErrorKind::Limit, message).at(tag.offset));
                        }
                        index.signatures.push(tag.offset..tag.offset);
                    }
                    let signature = is_signature.then(|| index.signatures.len() - 1);
                    open.push(Open { depth, ids, signature });
                }
                Token::EndTag(_) => {
                    let (end, depth) = (reader.offset(), reader.depth());
                    visitor.end(depth, end);
                    if depth == 0 {
                        index.root.end = end;
                    }
                    let Some(Open { ids, signature, .. }) = open.pop_if(|element| element.depth == depth) else {
                        continue;
                    };
                    for id in ids {
                        if let Some(range) = index.ids.get_mut(&id) {
                            range.end = end;
                        }
                    }
                    if let Some(signature) = signature {
                        index.signatures[signature].end = end;
                    }
                }
                Token::Text(_) | Token::Comment(_) | Token::Instruction { .. } => visitor.other(reader.offset()),
                Token::End => return Ok(index),
            }
        }
    }

    /// Returns where the elements with these ids begin. Reads no further than to the last of them.
    ///
    /// # Errors
    /// One of them is not there, or the document before it is not well-formed.
    pub(crate) fn places(
        reader: &mut Reader<'_>,
        rules: &IdAttributes,
        ids: &[&str],
    ) -> Result<HashMap<String, usize>, Error> {
        let mut places = HashMap::new();
        while places.len() < ids.len() {
            match reader.next()? {
                Token::StartTag(tag) => {
                    let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
                    let found = reader.attributes().filter(|attribute| rules.is_id(namespace, local, attribute));
                    for attribute in found.filter(|attribute| ids.contains(&attribute.value)) {
                        if places.insert(attribute.value.to_owned(), tag.offset).is_some() {
                            let message = format!("a second element with the id \"{}\"", excerpt(attribute.value, 60));
                            return Err(Error::new(ErrorKind::Reference, message).at(tag.offset));
                        }
                    }
                }
                Token::End => {
                    return Err(absent());
                }
                _ => {}
            }
        }
        Ok(places)
    }

    fn add(&mut self, id: &str, offset: usize) -> Result<(), Error> {
        match self.ids.entry(id.to_owned()) {
            Entry::Vacant(entry) => {
                entry.insert(offset..offset);
                Ok(())
            }
            Entry::Occupied(_) => {
                let message = format!("a second element with the id \"{}\"", excerpt(id, 60));
                Err(Error::new(ErrorKind::Reference, message).at(offset))
            }
        }
    }

    /// Returns an id that both documents have.
    pub(crate) fn shared_id(&self, other: &Index) -> Option<&str> {
        other.ids.keys().find_map(|id| Some(self.ids.get_key_value(id)?.0.as_str()))
    }

    /// Returns the id of the element that begins at this offset.
    pub(crate) fn id_at(&self, offset: usize) -> Option<&str> {
        let (id, _) = self.ids.iter().find(|(_, range)| range.start == offset)?;
        Some(id)
    }

    /// Returns the byte range of the element with this id.
    pub(crate) fn element(&self, id: &str) -> Option<Range<usize>> {
        self.ids.get(id).cloned()
    }
}
