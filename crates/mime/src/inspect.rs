//! Inspection of attachments while they are read.

use std::fmt;
use std::task::{Context, Poll, ready};

use crate::{Error, Event, PartHead};

/// Sees the attachments of a message as they are read: by a handler, into memory, into a file, or to be skipped. It may compare
/// them with a signature, for example.
///
/// Its errors end the package: nothing more can be read from it. [`Error::refused`] makes one.
pub trait Inspector: Send {
    /// An attachment begins.
    ///
    /// # Errors
    /// It is refused.
    fn begin(&mut self, head: &PartHead) -> Result<(), Error>;

    /// Receives the next bytes of its content, decoded, in chunks of any size. Whoever reads the attachment gets them afterwards.
    ///
    /// # Errors
    /// It is refused.
    fn data(&mut self, data: &[u8]) -> Result<(), Error>;

    /// Its content is complete. It is called again until it is ready, so that long work can be done elsewhere.
    ///
    /// # Errors
    /// It is refused.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>>;

    /// There are no more attachments. The inspector is dropped then.
    ///
    /// # Errors
    /// One is missing.
    fn finish(&mut self) -> Result<(), Error>;
}

/// An inspector, and what it is doing.
pub(crate) struct Inspection {
    inspector: Box<dyn Inspector>,
    /// Whether it saw the beginning of the attachment that is being read. One that was taken before is not shown.
    is_inside: bool,
    /// Whether it has to be asked again about the end of an attachment.
    pub(crate) is_ending: bool,
}

impl Inspection {
    pub(crate) fn new(inspector: impl Inspector + 'static) -> Self {
        Inspection { inspector: Box::new(inspector), is_inside: false, is_ending: false }
    }

    /// Shows what is next in the package. `None` is its end.
    pub(crate) fn see(&mut self, event: Option<&Event>, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        Poll::Ready(match event {
            Some(Event::Part(head)) => {
                self.is_inside = true;
                self.inspector.begin(head)
            }
            Some(Event::Data(data)) if self.is_inside => self.inspector.data(data),
            Some(Event::PartEnd) if self.is_inside => {
                self.is_ending = true;
                let ended = ready!(self.inspector.poll_end(context));
                self.is_ending = false;
                ended
            }
            Some(_) => Ok(()),
            None => self.inspector.finish(),
        })
    }
}

impl fmt::Debug for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inspection").field("is_ending", &self.is_ending).finish_non_exhaustive()
    }
}
