//! The tokens of a payload.

use std::ops::Range;

use bytes::Bytes;
use castile_xml::{Limits, Reader, StartTag, Token};

use crate::{Error, ErrorKind};

/// The tokens of a payload, one after the other: nothing is kept of them.
#[derive(Debug)]
pub struct Tokens<'a> {
    reader: Reader<'a>,
    /// Where the payload ends.
    end: usize,
    /// How many elements are open around it.
    depth: usize,
}

impl<'a> Tokens<'a> {
    /// The tokens of what lies there in a message.
    pub(super) fn new(message: &'a Bytes, payload: Range<usize>, limits: Limits) -> Result<Self, Error> {
        let mut reader = Reader::new(message, limits)?;
        while reader.offset() < payload.start {
            reader.next()?;
        }
        Ok(Tokens { depth: reader.depth(), end: payload.end, reader })
    }

    /// The next token; `None` behind the last one.
    ///
    /// # Errors
    /// The first rule that XML breaks which is to be sent: what came was found to be right.
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

    /// What knows the attributes and namespaces of the token that was read last.
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
