//! Content of a message that is known to be canonical, and need not be read to be signed.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::{Error, ErrorKind, crypto};

/// The content of an element that its writer has written in canonical form. A marker stands for it while the rest of the message
/// is read. It is the only text of its element, and there is no id in it.
pub(crate) struct KnownContent<'m> {
    content: &'m str,
    /// Nobody can guess it, so that nothing else of the message is equal to it.
    marker: Finder<'static>,
}

impl<'m> KnownContent<'m> {
    /// Takes content out of a message, and returns the message with the marker.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(crate) fn take(message: &'m str, range: Range<usize>) -> Result<(String, Self), Error> {
        let marker = crypto::random_name()?;
        let marked = [&message[..range.start], &marker, &message[range.end..]].concat();
        Ok((marked, KnownContent { content: &message[range], marker: Finder::new(&marker).into_owned() }))
    }

    /// Whether a text is the marker.
    pub(crate) fn is_marked(&self, text: &str) -> bool {
        text.as_bytes() == self.marker.needle()
    }

    /// Passes a text on, with the content in place of the marker.
    pub(crate) fn pass(&self, text: &str, mut out: impl FnMut(&str)) {
        match self.split(text) {
            None => out(text),
            Some((before, after)) => [before, self.content, after].into_iter().for_each(out),
        }
    }

    fn split<'t>(&self, text: &'t str) -> Option<(&'t str, &'t str)> {
        let at = self.marker.find(text.as_bytes())?;
        Some((&text[..at], &text[at + self.marker.needle().len()..]))
    }

    /// Returns a message with the content in place of the marker.
    ///
    /// # Errors
    /// The marker is not in it.
    pub(crate) fn put_back(&self, message: &str) -> Result<String, Error> {
        let (before, after) = self.split(message).ok_or_else(|| {
            Error::new(ErrorKind::Malformed, "the marker of the content is not in the secured message")
        })?;
        Ok([before, self.content, after].concat())
    }
}
