//! Decodes Content-Transfer-Encodings as the bytes arrive (RFC 2045 §6).

mod base64;
mod quoted_printable;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use bytes::Bytes;

use crate::error::shown;
use crate::{Error, ErrorKind};

use self::base64::Base64;
use self::quoted_printable::QuotedPrintable;

/// The encoding of a part's content (RFC 2045 §6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TransferEncoding {
    /// Lines of US-ASCII. This is the default if none is declared. The bytes are passed on unchanged and not checked.
    #[default]
    SevenBit,
    /// Lines of any bytes.
    EightBit,
    /// Any bytes.
    Binary,
    /// Four characters for three bytes (§6.8).
    Base64,
    /// Text, with `=` and two digits for other bytes (§6.7).
    QuotedPrintable,
}

impl TransferEncoding {
    /// Parses the value of a Content-Transfer-Encoding.
    ///
    /// # Errors
    /// [`ErrorKind::Head`] if RFC 2045 doesn't define it, because its content can't be decoded.
    pub fn parse(value: &str) -> Result<Self, Error> {
        let known = [
            ("7bit", TransferEncoding::SevenBit),
            ("8bit", TransferEncoding::EightBit),
            ("binary", TransferEncoding::Binary),
            ("base64", TransferEncoding::Base64),
            ("quoted-printable", TransferEncoding::QuotedPrintable),
        ];
        let found = known.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(value));
        found.map(|(_, encoding)| encoding).ok_or_else(|| {
            let message = format!(
                "found Content-Transfer-Encoding {}, expected 7bit, 8bit, binary, base64 or quoted-printable",
                shown(value.as_bytes())
            );
            Error::new(ErrorKind::Head, message)
        })
    }
}

/// Decodes the content of a part, in chunks of any size.
#[derive(Debug)]
pub(crate) enum Decoder {
    Identity,
    Base64(Base64),
    QuotedPrintable(QuotedPrintable),
}

/// The error of invalid encoded content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    /// The position, in bytes from the start of the encoded content.
    pub(crate) at: u64,
    pub(crate) message: Cow<'static, str>,
}

impl Decoder {
    pub(crate) fn new(encoding: TransferEncoding) -> Self {
        match encoding {
            TransferEncoding::SevenBit | TransferEncoding::EightBit | TransferEncoding::Binary => Decoder::Identity,
            TransferEncoding::Base64 => Decoder::Base64(Base64::default()),
            TransferEncoding::QuotedPrintable => Decoder::QuotedPrintable(QuotedPrintable::default()),
        }
    }

    /// Decodes a chunk. Returns `piece` itself if there is nothing to decode.
    pub(crate) fn decode(&mut self, piece: Bytes) -> Result<Bytes, Invalid> {
        match self {
            Decoder::Identity => Ok(piece),
            Decoder::Base64(decoder) => decoder.decode(&piece).map(Bytes::from),
            Decoder::QuotedPrintable(decoder) => decoder.decode(&piece).map(Bytes::from),
        }
    }

    /// Checks that the content is complete, after the last chunk.
    pub(crate) fn finish(&self) -> Result<(), Invalid> {
        match self {
            Decoder::Identity => Ok(()),
            Decoder::Base64(decoder) => decoder.finish(),
            Decoder::QuotedPrintable(decoder) => decoder.finish(),
        }
    }
}
