//! Values to bytes.

use castile_xml::escape;

use crate::datatypes::SimpleType;
use crate::error::{Error, ErrorKind};

/// A value that can be written as an element.
pub trait ToXml {
    /// Writes the content: children or text.
    fn content(&self, out: &mut Encoder);

    /// Writes the whole element between these tags.
    #[inline(always)]
    fn element(&self, out: &mut Encoder, start: &str, end: &str) {
        out.raw(start);
        self.content(out);
        out.raw(end);
    }
}

/// Writes values as XML. Tags are constants of generated code: the methods that take them are always inlined, so that
/// a tag is a store or two and not a call. They are taken as they are; text is escaped.
///
/// What can't be written is noted and the rest goes on, so that generated code needs no way out: [`finish`](Self::finish)
/// tells.
#[derive(Debug, Default)]
pub struct Encoder {
    out: Vec<u8>,
    failed: Option<Error>,
}

impl Encoder {
    /// An encoder that appends to `out`.
    pub fn new(out: Vec<u8>) -> Self {
        Encoder { out, failed: None }
    }

    /// What was written.
    ///
    /// # Errors
    /// The first value that XML can't carry, with its offset in what was written.
    pub fn finish(self) -> Result<Vec<u8>, Error> {
        match self.failed {
            None => Ok(self.out),
            Some(error) => Err(error.locate(&self.out, castile_xml::Limits::default(), None)),
        }
    }

    /// Writes markup as it stands.
    #[inline(always)]
    pub fn raw(&mut self, markup: &str) {
        self.out.extend_from_slice(markup.as_bytes());
    }

    /// Writes an element.
    #[inline(always)]
    pub fn element<T: ToXml>(&mut self, start: &str, value: &T, end: &str) {
        value.element(self, start, end);
    }

    /// Writes an element if there is a value.
    #[inline(always)]
    pub fn optional<T: ToXml>(&mut self, start: &str, value: &Option<T>, end: &str) {
        if let Some(value) = value {
            value.element(self, start, end);
        }
    }

    /// Writes an element for each value.
    #[inline(always)]
    pub fn repeated<T: ToXml>(&mut self, start: &str, values: &[T], end: &str) {
        for value in values {
            value.element(self, start, end);
        }
    }

    /// Writes an empty element with `xsi:nil="true"`.
    pub(crate) fn nil(&mut self, start: &str) {
        self.raw(start.strip_suffix('>').unwrap_or(start));
        self.raw(" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:nil=\"true\"/>");
    }

    /// Writes a value of a simple type as text.
    #[inline]
    pub fn simple<T: SimpleType>(&mut self, value: &T) {
        if !value.write(&mut self.out) {
            self.fail();
        }
    }

    /// Writes text.
    #[inline]
    pub fn text(&mut self, text: &str) {
        if escape::push_text(&mut self.out, text).is_err() {
            self.fail();
        }
    }

    #[cold]
    fn fail(&mut self) {
        if self.failed.is_none() {
            let message = "a value that XML 1.0 can't carry";
            self.failed = Some(Error::new(ErrorKind::Unwritable, self.out.len(), message));
        }
    }
}
