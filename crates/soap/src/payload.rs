//! The types that a payload can be read into and written from: values of generated types, or XML.

use bytes::Bytes;
use castile_databinding::{Decoder, Deviations, Encoder, FromXml, ToXml};
use castile_xml::{CachedReader, StartTag};

use crate::blocks::Headers;
use crate::charge::{Charge, allowance};
use crate::description::{Operation, Root};
use crate::envelope::Envelope;
use crate::error::Error;
use crate::included::Included;
use crate::options::{Leniency, Options};
use crate::reader::keep;
use crate::version::Version;
use crate::writer::{self, Written};

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
        writer::write_package(version, header, root, self, out, mtom)
    }
}

/// Creates a decoder for a message, lenient if `leniency` is set. The message may refer to the parts in `included`. Boxed, because
/// the decoder is moved several times.
///
/// # Errors
/// Returns an error if the memory budget doesn't allow the texts of the message.
pub(crate) fn decoder<'a>(
    reader: CachedReader<'a>,
    leniency: Option<&Leniency>,
    included: Option<&'a Included>,
    charge: Charge<'_>,
) -> Result<Box<Decoder<'a>>, Error> {
    let allowance = allowance(charge, reader.length())?;
    let decoder = match leniency {
        Some(_) => Decoder::lenient(reader),
        None => Decoder::new(reader),
    };
    let decoder = Box::new(decoder.within(allowance));
    let Some(included) = included else { return Ok(decoder) };
    included.begin();
    Ok(Box::new(decoder.with_includes(included)))
}

/// How the payload of a message is read after its envelope.
pub(crate) struct Incoming<'a> {
    pub(crate) operation: &'static Operation,
    pub(crate) root: &'static Root,
    pub(crate) is_request: bool,
    pub(crate) options: &'a Options,
    /// The message, if it can be retained without a copy.
    pub(crate) message: &'a Bytes,
}

impl Incoming<'_> {
    /// Reads the payload and the rest of the message.
    pub(crate) fn payload<'r, T: FromPayload>(
        &self,
        mut decoder: Box<Decoder<'r>>,
        first: Option<StartTag<'r>>,
        included: Option<&'r Included>,
    ) -> Result<T, Error> {
        let Incoming { operation, root, is_request, options, message } = *self;
        let (input, is_lenient) = (decoder.reader().input(), decoder.is_lenient());
        let value: Result<T, Error> = read_payload(&mut decoder, root, first, message);
        let deviations = decoder.take_deviations();
        keep(decoder.into_memory());
        let value = value.map_err(|error| if is_request && root.is_encoded { error.of_call() } else { error })?;
        // If parts are missing, the message is read again and reports its deviations then.
        if is_lenient && included.is_none_or(Included::is_complete) {
            tell(options, operation, deviations, input);
        }
        Ok(value)
    }
}

/// Reports the deviations of a message, if there are any.
pub(crate) fn tell(options: &Options, operation: &Operation, deviations: Deviations, input: &str) {
    if let Some(leniency) = &options.leniency
        && !deviations.is_empty()
    {
        leniency.tell(operation, &deviations.locate(input.as_bytes(), options.limits, Some("Body")));
    }
}

/// Reads the payload and the rest of the message. The start tag `first` of the payload was already read and checked.
pub(crate) fn read_payload<'a, T: FromPayload>(
    decoder: &mut Decoder<'a>,
    root: &'static Root,
    first: Option<StartTag<'a>>,
    message: &Bytes,
) -> Result<T, Error> {
    let value = T::read(decoder, root, first, message);
    if value.is_err() {
        // The buffers may be needed to read the message again.
        decoder.give_back();
    }
    value
}
