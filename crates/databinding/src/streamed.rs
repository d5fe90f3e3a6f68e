use std::fmt;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

/// Any error from a stream of values.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The elements of a stream, which are written while the message is sent, and their position in the document.
pub struct Streamed {
    offset: usize,
    elements: Pin<Box<dyn Elements>>,
}

impl Streamed {
    pub(crate) fn new(offset: usize, elements: impl Elements + 'static) -> Self {
        Streamed { offset, elements: Box::pin(elements) }
    }

    /// Returns the offset in the document at which the elements are inserted.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Adds `added` bytes to the offset if it is in `moved`.
    pub(crate) fn shift(&mut self, moved: Range<usize>, added: usize) {
        if moved.contains(&self.offset) {
            self.offset += added;
        }
    }
}

/// Yields the next elements as bytes.
impl Stream for Streamed {
    type Item = Result<Vec<u8>, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.elements.as_mut().poll(context)
    }
}

impl fmt::Debug for Streamed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streamed").field("offset", &self.offset).finish_non_exhaustive()
    }
}

/// Elements as bytes, which are written when they are asked for.
pub(crate) trait Elements: Send {
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Vec<u8>, BoxError>>>;
}
