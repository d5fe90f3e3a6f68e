//! Content-Transfer-Encodings, decoded as the bytes come (RFC 2045 §6).

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

/// How the content of a part is encoded (RFC 2045 §6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TransferEncoding {
    /// Lines of US-ASCII. It is what holds where nothing is said; the bytes are handed on as they are, whatever they are.
    #[default]
    SevenBit,
    /// Lines of any bytes.
    EightBit,
    /// Any bytes.
    Binary,
    /// Four characters for three bytes (§6.8).
    Base64,
    /// Text, with `=` and two digits for what isn't (§6.7).
    QuotedPrintable,
}

impl TransferEncoding {
    /// Reads the value of a Content-Transfer-Encoding.
    ///
    /// # Errors
    /// [`ErrorKind::Head`] if it is none of those that RFC 2045 knows: content that nobody can decode is of no use.
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

/// Decodes the content of a part, in pieces of any size.
#[derive(Debug)]
pub(crate) enum Decoder {
    Identity,
    Base64(Base64),
    QuotedPrintable(QuotedPrintable),
}

/// What is wrong with encoded content.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Invalid {
    /// Where, in bytes from the start of the encoded content.
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

    /// What `piece` adds to the content. It is `piece` itself where there is nothing to decode.
    pub(crate) fn decode(&mut self, piece: Bytes) -> Result<Bytes, Invalid> {
        match self {
            Decoder::Identity => Ok(piece),
            Decoder::Base64(decoder) => decoder.decode(&piece).map(Bytes::from),
            Decoder::QuotedPrintable(decoder) => decoder.decode(&piece).map(Bytes::from),
        }
    }

    /// Checks that nothing is missing, once all pieces were given.
    pub(crate) fn finish(&self) -> Result<(), Invalid> {
        match self {
            Decoder::Identity => Ok(()),
            Decoder::Base64(decoder) => decoder.finish(),
            Decoder::QuotedPrintable(decoder) => decoder.finish(),
        }
    }
}
