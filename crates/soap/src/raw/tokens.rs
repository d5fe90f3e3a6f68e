//! The tokens of a payload.

use std::ops::Range;

use bytes::Bytes;
use castile_xml::{Limits, Reader, StartTag, Token};

use crate::error::{Error, ErrorKind};

/// The tokens of a payload, read one after the other without storing them.
#[derive(Debug)]
pub struct Tokens<'a> {
    reader: Reader<'a>,
    /// The offset of the end of the payload.
    end: usize,
    /// The number of open elements around the payload.
    depth: usize,
}

impl<'a> Tokens<'a> {
    /// Creates a reader of the tokens in this range of a message.
    pub(super) fn new(message: &'a Bytes, payload: Range<usize>, limits: Limits) -> Result<Self, Error> {
        let mut reader = Reader::new(message, limits)?;
        while reader.offset() < payload.start {
            reader.next()?;
        }
        Ok(Tokens { depth: reader.depth(), end: payload.end, reader })
    }

    /// Returns the next token, or `None` after the last one.
    ///
    /// # Errors
    /// Returns an error if XML that is to be sent is not well-formed. A received payload was already checked.
    #[allow(clippy::should_implement_trait, reason = "errors end the payload, as they do a document")]
    pub fn next(&mut self) -> Result<Option<Token<'a>>, Error> {
        if self.reader.depth() == self.depth && self.reader.offset() >= self.end {
            return Ok(None);
        }
        match self.reader.next() {
            Ok(Token::End) => Ok(None),
            Ok(token) => Ok(Some(token)),
            Err(error) => Err(Error::from(error).locate(self.reader.input().as_bytes(), self.reader.limits())),
        }
    }

    /// Returns the reader, which has the attributes and namespaces of the token that was read last.
    pub fn reader(&self) -> &Reader<'a> {
        &self.reader
    }

    /// Reads the first start tag.
    pub(super) fn first(&mut self) -> Result<StartTag<'a>, Error> {
        loop {
            match self.next()? {
                Some(Token::StartTag(tag)) => return Ok(tag),
                Some(_) => {}
                None => return Err(Error::at(self.end, ErrorKind::Document, "there is no element")),
            }
        }
    }

    pub(super) fn into_reader(self) -> Reader<'a> {
        self.reader
    }
}
