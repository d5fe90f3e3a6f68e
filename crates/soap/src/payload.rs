//! The types that a payload can be read into and written from: values of generated types, or XML.

use std::any::Any;

use bytes::Bytes;
use castile_databinding::{Decoder, Deviations, Encoder, FromXml, RootType, ToXml};
use castile_xml::{CachedReader, StartTag};

use crate::blocks::Headers;
use crate::charge::{Charge, allowance};
use crate::description::{Operation, Root};
use crate::envelope::Envelope;
use crate::error::{Error, ErrorKind};
use crate::included::Included;
use crate::options::{Leniency, Options};
use crate::reader::store_memory;
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
        open(decoder, root, first, &RootType::of::<T>())?;
        let value = T::content(decoder, &root.element)?;
        close(decoder, root)?;
        Ok(value)
    }
}

/// Reads up to the content of the payload `root`.
fn open<'a>(
    decoder: &mut Decoder<'a>,
    root: &'static Root,
    first: Option<StartTag<'a>>,
    of: &RootType,
) -> Result<(), Error> {
    match root.body {
        None if root.is_encoded => decoder.open_call(&root.element, of)?,
        None if root.wraps_parts => decoder.open_wrapper(&root.element, of)?,
        None => decoder.open_root(&root.element, of)?,
        Some(_) => decoder.open_rest(first),
    }
    Ok(())
}

/// Reads the rest of the message after the content of the payload `root`.
fn close(decoder: &mut Decoder<'_>, root: &'static Root) -> Result<(), Error> {
    decoder.close_root()?;
    match root.body {
        None if root.is_encoded => Envelope::read_end_after_trailing(decoder),
        None => Envelope::read_end(decoder.reader()),
        Some(_) => Envelope::read_end_after_body(decoder.reader()),
    }
}

/// A slot for a payload. It hides the type of the value, so that reading a message is compiled once and not for each operation.
pub(crate) trait Decodes {
    /// Reads the payload as [`FromPayload::read`] does, and stores it.
    fn decode<'a>(
        &mut self,
        decoder: &mut Decoder<'a>,
        root: &'static Root,
        first: Option<StartTag<'a>>,
        message: &Bytes,
    ) -> Result<(), Error>;
}

/// A slot for a payload of the type `T`.
pub(crate) struct Slot<T>(pub(crate) Option<T>);

impl<T> Slot<T> {
    /// Creates an empty slot.
    pub(crate) fn new() -> Self {
        Slot(None)
    }

    /// Takes the value that was stored.
    ///
    /// # Errors
    /// Returns an error if there is none.
    pub(crate) fn take(&mut self) -> Result<T, Error> {
        self.0.take().ok_or_else(empty)
    }
}

#[cold]
fn empty() -> Error {
    Error::new(ErrorKind::System, "the value of the message was not stored")
}

impl<T: FromPayload> Decodes for Slot<T> {
    fn decode<'a>(
        &mut self,
        decoder: &mut Decoder<'a>,
        root: &'static Root,
        first: Option<StartTag<'a>>,
        message: &Bytes,
    ) -> Result<(), Error> {
        self.0 = Some(T::read(decoder, root, first, message)?);
        Ok(())
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
    included.restart();
    Ok(Box::new(decoder.with_includes(included)))
}

/// A slot for a payload, filled or empty, which can be moved to another thread.
pub(crate) trait Decoded: Any + Send {
    /// Returns the slot, to store another value.
    fn slot(&mut self) -> &mut dyn Decodes;

    /// Drops the value.
    fn clear(&mut self);
}

impl<T: FromPayload + Send + 'static> Decoded for Slot<T> {
    fn slot(&mut self) -> &mut dyn Decodes {
        self
    }

    fn clear(&mut self) {
        self.0 = None;
    }
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
    /// Reads the payload into `slot`, and the rest of the message.
    pub(crate) fn payload<'r>(
        &self,
        mut decoder: Box<Decoder<'r>>,
        first: Option<StartTag<'r>>,
        included: Option<&'r Included>,
        slot: &mut dyn Decodes,
    ) -> Result<(), Error> {
        let Incoming { operation, root, is_request, options, message } = *self;
        let (input, is_lenient) = (decoder.reader().input(), decoder.is_lenient());
        if options.confines_references {
            let from = first.map_or_else(|| decoder.reader().offset(), |tag| tag.offset);
            decoder.confine_references(from);
        }
        let read = read_payload(&mut decoder, root, first, message, slot);
        let deviations = decoder.take_deviations();
        store_memory(decoder.into_memory());
        read.map_err(|error| if is_request && root.is_encoded { error.of_call() } else { error })?;
        included.map_or(Ok(()), Included::check)?;
        // If parts are missing, the message is read again and reports its deviations then.
        if is_lenient && included.is_none_or(Included::is_complete) {
            report_deviations(options, operation, deviations, input);
        }
        Ok(())
    }
}

/// Reports the deviations of a message, if there are any.
pub(crate) fn report_deviations(options: &Options, operation: &Operation, deviations: Deviations, input: &str) {
    if let Some(leniency) = &options.leniency
        && !deviations.is_empty()
    {
        leniency.report(operation, &deviations.locate(input.as_bytes(), options.limits, Some("Body")));
    }
}

/// Reads the payload into `slot`, and the rest of the message. The start tag `first` of the payload was already read and checked.
pub(crate) fn read_payload<'a>(
    decoder: &mut Decoder<'a>,
    root: &'static Root,
    first: Option<StartTag<'a>>,
    message: &Bytes,
    slot: &mut dyn Decodes,
) -> Result<(), Error> {
    let read = slot.decode(decoder, root, first, message);
    if read.is_err() {
        // The buffers may be needed to read the message again.
        decoder.give_back();
    }
    read
}
