use std::borrow::Cow;
use std::fmt;

/// Why a document could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    offset: usize,
    message: Cow<'static, str>,
    /// The elements that were open when it happened, known only when writing.
    path: String,
}

/// What rule a document broke, or would have broken had it been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not in the encoding they claim, or in one that is not understood (XML 1.0 §4.3.3).
    Encoding,
    /// The document does not match the grammar of XML 1.0.
    Syntax,
    /// The document matches the grammar but not a well-formedness constraint: tags that don't match, attributes twice.
    WellFormedness,
    /// A rule of Namespaces in XML 1.0: an unbound prefix, a reserved name.
    Namespace,
    /// A document type declaration, which messages may not have (SOAP 1.1 §3).
    Doctype,
    /// More of something than [`Limits`](crate::Limits) allow.
    Limit,
    /// What was asked for or referred to is not in the document: an element to make canonical, or an entity that is
    /// part of the canonical form ([`c14n`](crate::c14n)).
    Absent,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner { kind, offset, message: message.into(), path: String::new() }))
    }

    /// This error with the elements that were open.
    pub(crate) fn with_path(mut self, path: String) -> Self {
        self.0.path = path;
        self
    }

    /// This error somewhere else.
    pub(crate) fn relocated(mut self, offset: usize) -> Self {
        self.0.offset = offset;
        self
    }

    /// What rule the document broke.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where: a byte offset into the document. [`Location::of`](crate::Location::of) turns it into path, line and
    /// column; an error of a [`Writer`](crate::Writer) comes with its path.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// The elements that were open, outermost first, if this is an error of a [`Writer`](crate::Writer).
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What was found and what was expected, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

/// As much of a name as a message can show: names of strangers may be of any length.
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
