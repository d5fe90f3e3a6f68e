//! The error type of the load kit.

use std::fmt;

/// Why a measurement could not be made.
///
/// Wrong answers are not errors of this type. They are counted in an [`Outcome`](crate::Outcome), and the
/// measurement continues.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What an [`Error`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A URL, duration or name from the user is not valid.
    Input,
    /// The server under test could not be started, or exited too early.
    Server,
    /// A client process could not be started, or didn't make its calls.
    Client,
    /// The endpoint under test didn't answer the first request correctly, so there is nothing to measure.
    Answer,
    /// The operating system refused something the driver needs: a thread, a timer, a core.
    Machine,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), source: None }))
    }

    pub(crate) fn because(self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error(Box::new(Inner { source: Some(source.into()), ..*self.0 }))
    }

    /// Returns what the error is about.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
