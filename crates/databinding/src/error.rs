use std::borrow::Cow;
use std::fmt;
use std::io;
use std::ops::Range;

use castile_xml::{Limits, Location};

/// The reason why a document can't be read as a value, or why a value can't be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    offset: usize,
    message: Cow<'static, str>,
    location: Option<Location>,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The document is not well-formed, or larger than the limits allow.
    Xml(castile_xml::ErrorKind),
    /// An element, an attribute or text is where the schema expects something else, or an element occurs too often or too
    /// rarely.
    Structure,
    /// A text is not in the lexical space of its type, or its value violates a facet.
    Lexical,
    /// A reference in SOAP encoding leads to no element of the message (SOAP 1.2 Part 2 §3.2).
    MissingId,
    /// A reference in SOAP encoding leads to several elements of the message (SOAP 1.2 Part 2 §3.2).
    DuplicateId,
    /// A value contains something that XML can't represent.
    Unwritable,
    /// A document is larger than its [limit](crate::Encoder::within).
    Outgrown,
    /// The memory for a value or for a document is not available now. It may be available later.
    Exhausted,
    /// The source of a document can't be read.
    Io(io::ErrorKind),
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, offset: usize, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner { kind, offset, message: message.into(), location: None }))
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Adds `added` bytes to the offset if it is in `moved`.
    pub(crate) fn shift(&mut self, moved: Range<usize>, added: usize) {
        if moved.contains(&self.0.offset) {
            self.0.offset += added;
        }
    }

    /// Returns the byte offset in the document.
    pub fn offset(&self) -> usize {
        self.0.offset
    }

    /// Returns what was found and what was expected, without the location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns path, line and column, if [`locate`](Self::locate) was called.
    pub fn location(&self) -> Option<&Location> {
        self.0.location.as_ref()
    }

    /// Computes path, line and column of the error in the document that was read. The path begins below the first element
    /// named `within`.
    pub fn locate(self, input: &[u8], limits: Limits, within: Option<&str>) -> Self {
        let location = Location::of(input, self.0.offset, limits, within);
        self.located(location)
    }

    /// Moves the error to a position in the whole document, if only a part of it was read.
    pub(crate) fn relocated(mut self, offset: usize, location: Location) -> Self {
        self.0.offset = offset;
        self.located(location)
    }

    pub(crate) fn located(mut self, location: Location) -> Self {
        self.0.location = Some(location);
        self
    }

    /// Whether the document is well-formed XML that violates its schema. A lenient [`Decoder`](crate::Decoder) may accept it.
    pub fn is_deviation(&self) -> bool {
        matches!(self.0.kind, ErrorKind::Structure | ErrorKind::Lexical)
    }
}

impl From<castile_xml::Error> for Error {
    fn from(error: castile_xml::Error) -> Self {
        Error::new(ErrorKind::Xml(error.kind()), error.offset(), error.message().to_owned())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.location {
            Some(location) if location.path.is_empty() => write!(f, "{} ({location})", self.0.message),
            Some(location) => write!(f, "{}: {} ({location})", location.path, self.0.message),
            None => write!(f, "{} (byte {})", self.0.message, self.0.offset),
        }
    }
}

impl std::error::Error for Error {}
