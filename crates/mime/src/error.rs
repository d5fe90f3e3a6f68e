use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What other people's bodies and files fail with.
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

/// What rule a package broke, or what failed beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A media type that is none, or not one of a package (RFC 2045 §5.1, RFC 2387 §3).
    ContentType,
    /// The head of a part has a line that is no header field, or one that makes no sense (RFC 2045 §3).
    Head,
    /// A line begins with the boundary and goes on otherwise than RFC 2046 §5.1.1 has it.
    Delimiter,
    /// The body ends before the boundary that closes the last part.
    BrokenOff,
    /// The content of a part is not what its Content-Transfer-Encoding makes (RFC 2045 §6).
    Encoding,
    /// Two parts have one Content-ID (RFC 2392 §2).
    Duplicate,
    /// There is no part that `start` or a reference names.
    Missing,
    /// The root part is itself a multipart.
    Nested,
    /// More of something than [`Limits`](crate::Limits) or the caller allow.
    Limit,
    /// The memory, or the room on the disk, for what is kept is not granted at this time. It may be later.
    Exhausted,
    /// The rest of an attachment that was passed over is asked for: others were taken up before it was read.
    Passed,
    /// The body that the package came in, or that was to be sent as a part, failed. The source tells how.
    Body,
    /// The temporary file or the system's random numbers failed. The source tells how.
    System,
    /// What was to be written can't stand in the head of a part.
    Unwritable,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), offset: None, part: None, source: None }))
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

    /// What rule was broken, or what failed.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Where: a byte offset into the body, or into a header value that was given on its own.
    pub fn offset(&self) -> Option<u64> {
        self.0.offset
    }

    /// The part it happened in, counted from 1 in order of arrival.
    pub fn part(&self) -> Option<u32> {
        self.0.part
    }

    /// What was found and what was expected, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

/// As much of a stranger's text as a message can show.
pub(crate) fn shown(text: &[u8]) -> String {
    const MOST: usize = 40;
    let cut = text.len() > MOST;
    let text = String::from_utf8_lossy(&text[..text.len().min(MOST)]);
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
