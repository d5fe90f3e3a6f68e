//! The types that a payload can be read into and written from: values of generated types, or XML.

use bytes::Bytes;
use castile_databinding::{Decoder, Encoder, FromXml, ToXml};
use castile_xml::StartTag;

use crate::envelope::Envelope;
use crate::{Error, Headers, Root, Version, Written, message};

/// A type that a payload can be read into: every [`FromXml`] type, and [`Raw`](crate::Raw).
pub trait FromPayload: Sized {
    /// Reads the payload `root` and the rest of the message. The start tag `first` of the payload was already read and checked. The
    /// decoder reads `message`, or its decoded form.
    ///
    /// # Errors
    /// Returns an error if the payload is invalid.
    fn read<'a>(
        decoder: &mut Decoder<'a>,
        root: &'static Root,
        first: Option<StartTag<'a>>,
        message: &Bytes,
    ) -> Result<Self, Error>;
}

/// A type that a payload can be written from: every [`ToXml`] type, and [`Raw`](crate::Raw).
pub trait ToPayload {
    /// Writes a message with this value as the payload `root`, into `out`. If `mtom` is set, the message is MTOM, and binary values
    /// of at least this length become parts.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Unwritable`](crate::ErrorKind::Unwritable) if the value contains characters that XML doesn't allow, and
    /// [`ErrorKind::System`](crate::ErrorKind::System) if MTOM needs random numbers and the system has none.
    fn write(
        &self,
        version: Version,
        header: Headers<'_>,
        root: &Root,
        out: Encoder,
        mtom: Option<usize>,
    ) -> Result<Written, Error>;
}

impl<T: FromXml> FromPayload for T {
    fn read<'a>(
        decoder: &mut Decoder<'a>,
        root: &'static Root,
        first: Option<StartTag<'a>>,
        _: &Bytes,
    ) -> Result<Self, Error> {
        let value;
        match root.body {
            None => {
                if root.is_encoded {
                    value = decoder.call(&root.element)?;
                    Envelope::read_end_behind_others(decoder)?;
                } else {
                    value = match root.wraps_parts {
                        true => decoder.wrapper(&root.element)?,
                        false => decoder.root(&root.element)?,
                    };
                    Envelope::read_end(decoder.reader())?;
                }
            }
            Some(_) => {
                value = decoder.rest(&root.element, first)?;
                Envelope::read_end_behind_body(decoder.reader())?;
            }
        }
        Ok(value)
    }
}

impl<T: ToXml> ToPayload for T {
    fn write(
        &self,
        version: Version,
        header: Headers<'_>,
        root: &Root,
        out: Encoder,
        mtom: Option<usize>,
    ) -> Result<Written, Error> {
        message::write_package(version, header, root, self, out, mtom)
    }
}
