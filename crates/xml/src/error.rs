use std::borrow::Cow;
use std::fmt;

/// An error in a document that is read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    offset: usize,
    message: Cow<'static, str>,
    /// The elements that were open when it occurred, known only when writing.
    path: String,
}

/// The kind of rule that a document violates, or would violate if it were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not in the declared encoding, or the encoding is not supported (XML 1.0 §4.3.3).
    Encoding,
    /// The document does not match the grammar of XML 1.0.
    Syntax,
    /// The document matches the grammar but violates a well-formedness constraint: tags that don't match, duplicate
    /// attributes.
    WellFormedness,
    /// A rule of Namespaces in XML 1.0 is violated: an unbound prefix, a reserved name.
    Namespace,
    /// The document has a document type declaration, which messages may not have (SOAP 1.1 §3).
    Doctype,
    /// A limit of [`Limits`](crate::Limits) is exceeded.
    Limit,
    /// Something that was requested or referenced is not in the document: an element to canonicalise, or an entity that
    /// is part of the canonical form ([`c14n`](crate::c14n)).
    Absent,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner { kind, offset, message: message.into(), path: String::new() }))
    }

    /// Returns this error with the elements that were open.
    pub(crate) fn with_path(mut self, path: String) -> Self {
        self.0.path = path;
        self
    }

    /// Returns this error with another offset.
    pub(crate) fn relocated(mut self, offset: usize) -> Self {
        self.0.offset = offset;
        self
    }

    /// Returns the kind of rule that the document violates.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the byte offset of the error in the document. [`Location::of`](crate::Location::of) converts it to path,
    /// line and column. An error of a [`Writer`](crate::Writer) already has its path.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns the elements that were open, outermost first. Empty unless this is an error of a
    /// [`Writer`](crate::Writer).
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns what was found and what was expected, without the location.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

/// Returns the part of a name that is shown in messages. Names in messages from untrusted senders may be of any length.
pub(crate) fn shown(name: &str) -> &str {
    name.char_indices().nth(40).map_or(name, |(end, _)| &name[..end])
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.0.path.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{} (byte {})", self.0.path, self.0.message, self.0.offset)
    }
}

impl std::error::Error for Error {}
