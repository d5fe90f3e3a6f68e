//! Canonical XML 1.0 and 1.1, and Exclusive XML Canonicalization 1.0. Documents with the same content have the same
//! canonical form.
//!
//! The form is written while the document is read. Memory is bounded by the depth of the document and its longest tag,
//! and time is linear in the lengths of document and form. The text is passed to the caller, for example to a digest, in pieces.
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
mod leaves;
mod output;
mod runs;
mod uri;
mod written;

use std::ops::Range;

use crate::error::{Error, ErrorKind, shown};
use crate::token::{StartTag, Token};
use crate::{DocumentEntity, Limits, QName, Reader, decode};

use ancestors::Ancestors;
use output::Output;
use runs::Run;

#[doc(hidden)]
pub use runs::{CanonicalRuns, FindRuns};
#[doc(hidden)]
pub use written::is_canonical_content;

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
    /// Whether all prefixes are treated as if the list had them.
    has_all_prefixes: bool,
    /// Whether what is canonical as it is written in the document is passed on from there.
    copies: bool,
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
        Method { algorithm, inclusive_prefixes: Vec::new(), has_all_prefixes: false, copies: true }
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

    /// Treats all prefixes as if a `PrefixList` had them, but not the default namespace. So what is written has the declarations of all
    /// prefixes that its values may use.
    #[must_use]
    pub fn with_all_prefixes(self) -> Self {
        Method { has_all_prefixes: true, ..self }
    }

    /// Returns the method with the variant of its algorithm that leaves out comments.
    #[must_use]
    pub fn without_comments(mut self) -> Self {
        self.algorithm.with_comments = false;
        self
    }

    /// Sets whether what is canonical as it is written in the document is passed on from there. The form is the same.
    #[doc(hidden)]
    #[must_use]
    pub fn switch_copies(self, copies: bool) -> Self {
        Method { copies, ..self }
    }

    /// Returns whether a prefix is treated as in Canonical XML: wherever its declaration is in scope, it is in the form, whether or not a
    /// name uses it. The empty prefix stands for the default namespace.
    pub fn is_inclusive(&self, prefix: &str) -> bool {
        self.algorithm.version != Version::Exclusive10
            || (self.has_all_prefixes && !prefix.is_empty())
            || self.inclusive_prefixes.binary_search_by(|known| known.as_str().cmp(prefix)).is_ok()
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
        write_all(reader, vec![Form { method: self, subset, out }])
    }
}

/// Receives a canonical form. Functions that take a text are sinks.
pub trait Sink {
    /// Receives the next piece of the text.
    fn text(&mut self, piece: &str);

    /// Returns whether no more text is wanted. Writing then ends with an error.
    fn is_full(&self) -> bool {
        false
    }

    /// Returns the offset of the first start tag, from `offset` on, of an element for which something else stands in the form. The
    /// element is left out with its content.
    fn next_replaced(&self, offset: usize) -> Option<usize> {
        let _ = offset;
        None
    }

    /// Adds what stands for the element at this offset, which the sink [replaces](Self::next_replaced).
    fn replace(&mut self, offset: usize) {
        let _ = offset;
    }

    /// Returns whether [`omitted_prefix`](Self::omitted_prefix) is called. Finding these prefixes takes time.
    fn wants_omitted_prefixes(&self) -> bool {
        false
    }

    /// Receives a prefix that a value seems to use, as in `xsi:type="p:t"`, and whose declaration the form doesn't have.
    /// Exclusive canonicalization omits declarations that only values use, so that a signature doesn't cover what these
    /// values mean. `#default` stands for a default namespace, which is only noticed for `xsi:type`. `offset` is that of the
    /// element.
    fn omitted_prefix(&mut self, prefix: &str, offset: usize) {
        let _ = (prefix, offset);
    }
}

impl<F: FnMut(&str)> Sink for F {
    fn text(&mut self, piece: &str) {
        self(piece);
    }
}

/// A canonical form to be written, of a document or of a part of it.
#[derive(Debug)]
pub struct Form<'m, O> {
    /// The algorithm with its parameters.
    pub method: &'m Method,
    /// The part of the document.
    pub subset: Subset,
    /// Receives the text in pieces.
    pub out: O,
}

/// Writes several canonical forms of one document, which is read once. Parts may be inside each other. `reader` must be
/// at the beginning. It is read to the end of the last part, and no further.
///
/// # Errors
/// The errors of [`Method::write`]; [`ErrorKind::Limit`] if a sink is full. After an error, discard what was written.
pub fn write_all<O: Sink>(reader: &mut Reader<'_>, forms: Vec<Form<'_, O>>) -> Result<(), Error> {
    write_known(reader, &CanonicalRuns::default(), forms)
}

/// Writes several canonical forms of one document, parts of which are known to be canonical as they are written. These are not read
/// again.
///
/// # Errors
/// The errors of [`write_all`].
#[doc(hidden)]
pub fn write_known<O: Sink>(
    reader: &mut Reader<'_>,
    known: &CanonicalRuns<'_>,
    forms: Vec<Form<'_, O>>,
) -> Result<(), Error> {
    let mut runs = known.of(reader).iter().peekable();
    let has_inherited = forms.iter().any(|form| form.method.algorithm.version != Version::Exclusive10);
    // The first to begin is the last, and is taken from there.
    let (mut due, whole): (Vec<_>, Vec<_>) = forms.into_iter().partition(|form| form.subset.apex.is_some());
    due.sort_by_key(|form| std::cmp::Reverse(form.subset.apex));
    let mut open: Vec<Open<'_, O>> = whole.into_iter().map(|form| Open::new(form, None)).collect();
    let mut ancestors = Ancestors::default();
    while !(due.is_empty() && open.is_empty()) {
        open.iter().try_for_each(|form| form.check_limit(reader))?;
        let begins = reader.offset();
        while runs.next_if(|run| run.range.start < begins).is_some() {}
        if !reader.end_is_due()
            && let Some(run) = runs.next_if(|run| run.range.start == begins)
            && is_verbatim(reader, run, &due, &mut open)
        {
            open.iter_mut().for_each(|form| form.with(|output| output.run(reader, run)));
            reader.seek(run.range.end);
            continue;
        }
        let token = reader.next()?;
        let source = begins..reader.offset();
        match token {
            Token::StartTag(tag) => {
                open.iter_mut().for_each(|form| form.start_tag(reader, tag, &source));
                let is_written = || !due.is_empty() || open.iter().any(|form| form.left_out.is_none());
                if !reader.is_plain() && is_written() {
                    check_namespaces(reader, tag.offset)?;
                }
                while let Some(form) = due.pop_if(|form| form.subset.apex == Some(tag.offset)) {
                    let mut form = Open::new(form, Some(reader.depth() - 1));
                    form.output.apex(reader, tag, &source, &ancestors)?;
                    open.push(form);
                }
                if has_inherited && !due.is_empty() {
                    ancestors.open(reader);
                }
            }
            Token::EndTag(name) => {
                let depth = reader.depth();
                if has_inherited {
                    ancestors.close(depth);
                }
                open.iter_mut().for_each(|form| form.end_tag(reader, name, &source, depth));
                if open.iter().any(|form| form.outside == Some(depth)) {
                    open.iter_mut()
                        .filter(|form| form.outside == Some(depth))
                        .try_for_each(|form| form.finish(reader))?;
                    open.retain(|form| form.outside != Some(depth));
                }
            }
            Token::Text(text) => open.iter_mut().for_each(|form| {
                form.with(|output| {
                    output.text(reader, &text, &source);
                    output.note_value(reader, &text);
                });
            }),
            Token::Comment(comment) => {
                open.iter_mut().for_each(|form| form.with(|output| output.comment(reader, comment)))
            }
            Token::Instruction { target, data } => {
                open.iter_mut().for_each(|form| form.with(|output| output.instruction(reader, target, data)));
            }
            Token::End => {
                open.iter_mut().try_for_each(|form| form.finish(reader))?;
                if let Some(apex) = due.pop().and_then(|form| form.subset.apex) {
                    return Err(absent(apex, "make canonical"));
                }
                break;
            }
        }
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

/// Returns whether a run is in all forms that are open as it is in the document.
fn is_verbatim<O: Sink>(reader: &Reader<'_>, run: &Run<'_>, due: &[Form<'_, O>], open: &mut [Open<'_, O>]) -> bool {
    let is_outside = |offset: Option<usize>| offset.is_none_or(|offset| !run.range.contains(&offset));
    due.iter().all(|form| is_outside(form.subset.apex))
        && open
            .iter_mut()
            .all(|form| is_outside(form.without) && (form.left_out.is_some() || form.output.is_verbatim(reader, run)))
}

/// A form whose part has begun and has not ended.
struct Open<'m, O> {
    output: Output<'m, O>,
    /// How many elements are open outside the apex. `None` for the whole document.
    outside: Option<usize>,
    /// The offset of the element to be left out, until it begins.
    without: Option<usize>,
    /// How many elements are open outside the element that is being left out.
    left_out: Option<usize>,
}

impl<'m, O: Sink> Open<'m, O> {
    fn new(form: Form<'m, O>, outside: Option<usize>) -> Self {
        let Form { method, subset, out } = form;
        Open { output: Output::new(method, out), outside, without: subset.without, left_out: None }
    }

    fn start_tag(&mut self, reader: &Reader<'_>, tag: StartTag<'_>, source: &Range<usize>) {
        if self.left_out.is_none() {
            let is_without = self.without == Some(tag.offset);
            self.without = self.without.filter(|_| !is_without);
            if is_without || self.output.replaces(reader, tag.offset) {
                self.left_out = Some(reader.depth() - 1);
            }
        }
        self.with(|output| output.start_tag(reader, tag, source));
    }

    /// Ends an element, with `depth` elements still open.
    fn end_tag(&mut self, reader: &Reader<'_>, name: QName<'_>, source: &Range<usize>, depth: usize) {
        self.with(|output| output.end_tag(reader, name, source));
        if self.left_out == Some(depth) {
            self.left_out = None;
            self.output.leave_out();
        }
    }

    /// Writes something, unless it is left out.
    fn with(&mut self, write: impl FnOnce(&mut Output<'m, O>)) {
        if self.left_out.is_none() {
            write(&mut self.output);
        }
    }

    /// Checks that more text is wanted.
    fn check_limit(&self, reader: &Reader<'_>) -> Result<(), Error> {
        match self.output.is_full() {
            false => Ok(()),
            true => {
                let message = "a canonical form that is longer than its limit";
                Err(Error::new(ErrorKind::Limit, reader.offset(), message))
            }
        }
    }

    /// Passes on what was kept, and checks that the element to be left out was found.
    fn finish(&mut self, reader: &Reader<'_>) -> Result<(), Error> {
        self.output.pass_kept(reader);
        self.check_limit(reader)?;
        match self.without {
            None => Ok(()),
            Some(offset) => Err(absent(offset, "leave out")),
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
