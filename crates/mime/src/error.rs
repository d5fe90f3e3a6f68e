use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Any error, as reported by bodies and files from outside this crate.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a package could not be read or written.
#[derive(Clone, Debug)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    offset: Option<u64>,
    part: Option<u32>,
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

/// The kind of an [`Error`]: the violated rule, or the operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A media type is invalid, or not one of a package (RFC 2045 §5.1, RFC 2387 §3).
    ContentType,
    /// The head of a part has an invalid line or header field (RFC 2045 §3).
    Head,
    /// A line begins with the boundary, but doesn't continue as RFC 2046 §5.1.1 requires.
    Delimiter,
    /// The body ends before the boundary that closes the last part.
    BrokenOff,
    /// The content of a part doesn't match its Content-Transfer-Encoding (RFC 2045 §6).
    Encoding,
    /// Two parts have the same Content-ID (RFC 2392 §2).
    Duplicate,
    /// No part has the name in `start` or in a reference.
    Missing,
    /// The root part is itself a multipart.
    Nested,
    /// A limit of [`Limits`](crate::Limits) or of the caller is exceeded.
    Limit,
    /// There is currently too little memory or disk space. There may be enough later.
    Exhausted,
    /// An attachment was read after the next one had been requested, which skipped its rest.
    Passed,
    /// The body of the package, or of a part to be sent, failed. The source has the reason.
    Body,
    /// The temporary file or the random numbers of the system failed. The source has the reason.
    System,
    /// An [`Inspector`](crate::Inspector) refused an attachment, or found that one is missing. The source has the reason.
    Refused,
    /// The content of an attachment was read in pieces before it was known whether it is what was signed.
    /// [`Attachment::into_unverified`](crate::Attachment::into_unverified) allows it.
    Unverified,
    /// A value can't be written in the head of a part.
    Unwritable,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), offset: None, part: None, source: None }))
    }

    /// Creates an error of kind [`ErrorKind::Refused`], for an [`Inspector`](crate::Inspector). `reason` is its source.
    #[cold]
    pub fn refused(reason: impl Into<BoxError>) -> Self {
        Error::new(ErrorKind::Refused, "the attachments of the message are refused").because(reason)
    }

    pub(crate) fn at(mut self, offset: u64) -> Self {
        self.0.offset = Some(offset);
        self
    }

    pub(crate) fn in_part(mut self, part: u32) -> Self {
        self.0.part = (part > 0).then_some(part);
        self
    }

    pub(crate) fn because(mut self, source: impl Into<BoxError>) -> Self {
        self.0.source = Some(source.into().into());
        self
    }

    /// Returns the kind of this error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the position of the error: a byte offset into the body, or into a header value that was parsed alone.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// Returns the number of the part with the error, counted from 1 in order of arrival.
    pub fn part(&self) -> Option<u32> {
        self.0.part
    }

    /// Returns what was found and expected, without the position.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

/// Escapes and shortens foreign text for an error message.
pub(crate) fn shown(text: &[u8]) -> String {
    const MAX_SHOWN: usize = 40;
    let cut = text.len() > MAX_SHOWN;
    let text = String::from_utf8_lossy(&text[..text.len().min(MAX_SHOWN)]);
    format!("{text:?}{}", if cut { "…" } else { "" })
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match (self.0.part, self.0.offset) {
            (Some(part), Some(offset)) => write!(f, " (part {part}, byte {offset})"),
            (Some(part), None) => write!(f, " (part {part})"),
            (None, Some(offset)) => write!(f, " (byte {offset})"),
            (None, None) => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
