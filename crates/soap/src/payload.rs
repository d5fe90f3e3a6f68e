//! What a payload is read as and written from: values of generated types, or XML.

use bytes::Bytes;
use castile_databinding::{Decoder, Encoder, FromXml, ToXml};
use castile_xml::StartTag;

use crate::envelope::Envelope;
use crate::{Error, Headers, Root, Version, Written, message};

/// What a payload can be read as: whatever is [`FromXml`], and [`Raw`](crate::Raw).
pub trait FromPayload: Sized {
    /// Reads the payload `root`, which begins with the start tag `first` that was read and found to be right, and the rest
    /// of the message. The decoder reads `message`, or what was decoded from it.
    ///
    /// # Errors
    /// What the document has instead.
    fn read<'a>(
        decoder: &mut Decoder<'a>,
        root: &'static Root,
        first: Option<StartTag<'a>>,
        message: &Bytes,
    ) -> Result<Self, Error>;
}

/// What a payload can be written from: whatever is [`ToXml`], and [`Raw`](crate::Raw).
pub trait ToPayload {
    /// Writes a message whose payload it is as `root`, with `out` where it is at hand. It is MTOM if `mtom` has a threshold, from which length on
    /// binary values are parts of their own.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`](crate::ErrorKind::Unwritable) if it holds what XML can't carry;
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
