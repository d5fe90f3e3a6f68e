//! Canonical XML 1.0 and 1.1, and Exclusive XML Canonicalization 1.0. Documents with the same content have the same
//! canonical form.
//!
//! The form is written while the document is read. Memory is bounded by the depth of the document and its longest tag,
//! and time is linear. The text is passed to the caller, for example to a digest, in pieces.
//!
//! ```
//! use castile_xml::c14n::{Algorithm, Method, Subset};
//! use castile_xml::{Limits, Reader};
//!
//! let algorithm = Algorithm::from_uri("http://www.w3.org/2001/10/xml-exc-c14n#").expect("it is one of the six");
//! let mut reader = Reader::new(b"<a xmlns='urn:a' xmlns:b='urn:b'><c y='2' x=\"1\"/></a>", Limits::default())?;
//! let mut text = String::new();
//! Method::new(algorithm).write(&mut reader, Subset::default(), |piece| text.push_str(piece))?;
//! assert_eq!(text, r#"<a xmlns="urn:a"><c x="1" y="2"></c></a>"#);
//! # Ok::<(), castile_xml::Error>(())
//! ```
//!
//! The canonical form is that of the document as it is read. For a [`DocumentEntity`], the defaults of attributes are
//! added, their values are normalised by their types, and entities are expanded. A reference to an external entity is
//! an error, because its content is a part of the canonical form.

mod ancestors;
mod output;
mod uri;

use crate::error::{Error, ErrorKind, shown};
use crate::token::{StartTag, Token};
use crate::{DocumentEntity, Limits, Reader, decode};

use ancestors::Ancestors;
use output::Output;

/// A canonicalization algorithm. Each has a URI, by which signatures name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Algorithm {
    /// The recommendation that defines it.
    pub version: Version,
    /// Whether comments are part of the form.
    pub with_comments: bool,
}

/// A recommendation that defines a canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// Canonical XML 1.0: every namespace in scope is declared. An element that is taken out of its document inherits
    /// every attribute in the namespace of `xml:`.
    Canonical10,
    /// Canonical XML 1.1: every namespace in scope is declared. An element that is taken out of its document inherits
    /// `xml:lang`, `xml:space` and the joined `xml:base`.
    Canonical11,
    /// Exclusive XML Canonicalization 1.0: only the namespaces that a tag uses are declared, and nothing is inherited.
    Exclusive10,
}

const URIS: [(&str, Algorithm); 6] = {
    use Version::{Canonical10, Canonical11, Exclusive10};
    const fn algorithm(version: Version, with_comments: bool) -> Algorithm {
        Algorithm { version, with_comments }
    }
    [
        ("http://www.w3.org/TR/2001/REC-xml-c14n-20010315", algorithm(Canonical10, false)),
        ("http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments", algorithm(Canonical10, true)),
        ("http://www.w3.org/2006/12/xml-c14n11", algorithm(Canonical11, false)),
        ("http://www.w3.org/2006/12/xml-c14n11#WithComments", algorithm(Canonical11, true)),
        ("http://www.w3.org/2001/10/xml-exc-c14n#", algorithm(Exclusive10, false)),
        ("http://www.w3.org/2001/10/xml-exc-c14n#WithComments", algorithm(Exclusive10, true)),
    ]
};

impl Algorithm {
    /// Returns the algorithm that `uri` identifies.
    pub fn from_uri(uri: &str) -> Option<Algorithm> {
        URIS.iter().find(|(known, _)| *known == uri).map(|(_, algorithm)| *algorithm)
    }

    /// Returns the URI that identifies the algorithm (XML Signature 1.1 §6.5; Exclusive XML Canonicalization §4).
    pub fn uri(self) -> &'static str {
        URIS.iter().find(|(_, algorithm)| *algorithm == self).map_or("", |(uri, _)| uri)
    }
}

/// An algorithm with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    algorithm: Algorithm,
    /// Sorted. The empty one stands for the default namespace.
    inclusive_prefixes: Vec<String>,
}

/// The part of a document that is canonicalised. The default is the whole document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Subset {
    /// The byte offset of the start tag of the only element to be written. It is written with its content, and with
    /// what it inherits (§2.4 of Canonical XML 1.0 and 1.1).
    pub apex: Option<usize>,
    /// The byte offset of the start tag of an element to be left out, with its content. It is for a signature inside
    /// the content that it signs (XML Signature §6.6.4).
    pub without: Option<usize>,
}

impl Method {
    /// Creates a method without parameters.
    pub fn new(algorithm: Algorithm) -> Self {
        Method { algorithm, inclusive_prefixes: Vec::new() }
    }

    /// Adds the `PrefixList` of an `InclusiveNamespaces` (Exclusive XML Canonicalization §3): prefixes that are treated
    /// as in Canonical XML, separated by white space. `#default` stands for the default namespace. The other algorithms
    /// treat all prefixes so, and ignore the list.
    pub fn with_inclusive_namespaces(mut self, prefix_list: &str) -> Self {
        let prefixes = prefix_list.split([' ', '\t', '\n', '\r']).filter(|prefix| !prefix.is_empty());
        let prefixes = prefixes.map(|prefix| if prefix == "#default" { "" } else { prefix });
        self.inclusive_prefixes.extend(prefixes.map(str::to_owned));
        self.inclusive_prefixes.sort_unstable();
        self.inclusive_prefixes.dedup();
        self
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Writes the canonical form of a document, or of a part of it, to `out`. `reader` must be at the beginning. It is
    /// read to the end of what is written, and no further.
    ///
    /// All elements of an entity have the offset of the reference to it. In `subset`, that offset stands for the first
    /// of them.
    ///
    /// # Errors
    /// The errors of the reader; [`ErrorKind::Namespace`] for a relative namespace name, which all three
    /// recommendations reject (Canonical XML 1.0 §2.1); [`ErrorKind::Absent`] if an element of `subset`, or an entity
    /// that is referenced, is not in the document. After an error, discard what was written.
    pub fn write(&self, reader: &mut Reader<'_>, subset: Subset, out: impl FnMut(&str)) -> Result<(), Error> {
        let mut output = Output::new(self, out);
        let mut left_out = subset.without;
        let outside = match subset.apex {
            Some(offset) => {
                let (tag, ancestors) = self.find(reader, offset)?;
                check_namespaces(reader, tag.offset)?;
                output.apex(reader, tag, &ancestors)?;
                Some(reader.depth() - 1)
            }
            None => None,
        };
        loop {
            match reader.next()? {
                Token::StartTag(tag) if left_out == Some(tag.offset) => {
                    left_out = None;
                    reader.skip_element()?;
                    output.leave_out();
                }
                Token::StartTag(tag) => {
                    check_namespaces(reader, tag.offset)?;
                    output.start_tag(reader, tag);
                }
                Token::EndTag(name) => {
                    output.end_tag(name);
                    if outside == Some(reader.depth()) {
                        break;
                    }
                }
                Token::Text(text) => output.text(&text),
                Token::Comment(comment) => output.comment(comment),
                Token::Instruction { target, data } => output.instruction(target, data),
                Token::End => break,
            }
        }
        if let Some(offset) = left_out {
            return Err(absent(offset, "leave out"));
        }
        match reader.unread_entity() {
            None => Ok(()),
            Some(name) => {
                let message = format!(
                    "reference to the entity \"{}\" outside the document, which is not fetched; it would be part of the canonical form",
                    shown(name)
                );
                Err(Error::new(ErrorKind::Absent, reader.offset(), message))
            }
        }
    }

    /// Reads up to the start tag at `apex`, and collects what its element may inherit.
    fn find<'a>(&self, reader: &mut Reader<'a>, apex: usize) -> Result<(StartTag<'a>, Ancestors), Error> {
        let mut ancestors = Ancestors::default();
        loop {
            match reader.next()? {
                Token::StartTag(tag) if tag.offset == apex => return Ok((tag, ancestors)),
                Token::StartTag(tag) => {
                    check_namespaces(reader, tag.offset)?;
                    if self.algorithm.version != Version::Exclusive10 {
                        ancestors.open(reader);
                    }
                }
                Token::EndTag(_) => ancestors.close(reader.depth()),
                Token::End => return Err(absent(apex, "make canonical")),
                Token::Text(_) | Token::Comment(_) | Token::Instruction { .. } => {}
            }
        }
    }
}

/// Returns the canonical form that is best for comparing documents: exclusive and without comments. It does not depend
/// on where a namespace is declared. It does depend on prefixes, because they may be in values.
///
/// ```
/// use castile_xml::c14n::canonical;
///
/// assert_eq!(canonical(b"<a xmlns:x='urn:x' b = '1'><x:c/></a >"), canonical(b"<a b='1'><x:c xmlns:x='urn:x'></x:c></a>"));
/// ```
///
/// # Errors
/// The errors of [`decode`], [`DocumentEntity::new`] and [`Method::write`].
pub fn canonical(document: &[u8]) -> Result<String, Error> {
    let text = decode(document, None)?;
    let document = DocumentEntity::new(&text, Limits::default())?;
    let method = Method::new(Algorithm { version: Version::Exclusive10, with_comments: false });
    let mut canonical = String::with_capacity(text.len());
    method.write(&mut document.reader(), Subset::default(), |piece| canonical.push_str(piece))?;
    Ok(canonical)
}

/// Rejects the start tag at `offset` if it declares a namespace with a relative name.
fn check_namespaces(reader: &Reader<'_>, offset: usize) -> Result<(), Error> {
    match reader.declarations().find(|(_, name)| !name.is_empty() && uri::scheme(name).is_none()) {
        None => Ok(()),
        Some((_, name)) => {
            let message = format!(
                "the relative namespace name \"{}\", where an absolute one was expected: there is no canonical form",
                shown(name)
            );
            Err(Error::new(ErrorKind::Namespace, offset, message))
        }
    }
}

#[cold]
fn absent(offset: usize, purpose: &str) -> Error {
    Error::new(ErrorKind::Absent, offset, format!("no element begins here, where an element to {purpose} was expected"))
}
