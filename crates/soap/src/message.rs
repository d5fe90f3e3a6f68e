//! Whole messages: an envelope with one payload.

use std::cell::Cell;

use castile_databinding::{Decoder, Encoder, FromXml, ToXml};
use castile_xml::{Limits, Memory, Reader};

use crate::envelope::end_tag;
use crate::{Envelope, Error, ErrorKind, Root, Version};

thread_local! {
    /// The buffers of the last reader on this thread, with the tags that were learned.
    static MEMORY: Cell<Memory> = Cell::default();
}

/// A reader of `message` with the buffers of this thread.
pub(crate) fn reader(message: &[u8], limits: Limits) -> Result<Reader<'_>, Error> {
    let mut memory = MEMORY.take();
    let reader = Reader::with_memory(message, limits, &mut memory);
    if reader.is_err() {
        keep(memory);
    }
    Ok(reader?)
}

/// Keeps the buffers of a reader that is done, whether it came to a good end or not: what it learned is right.
pub(crate) fn keep(memory: Memory) {
    MEMORY.set(memory);
}

/// Writes a message whose payload is `value` as the element `root`, into the emptied `out`.
///
/// # Errors
/// [`ErrorKind::Unwritable`] if the value holds what XML can't carry.
pub fn write<T: ToXml>(version: Version, root: &Root, value: &T, mut out: Vec<u8>) -> Result<Vec<u8>, Error> {
    out.clear();
    let mut out = Encoder::new(out);
    out.raw(version.prologue());
    out.element(root.start, value, root.end);
    out.raw(version.epilogue());
    Ok(out.finish()?)
}

/// Reads a message whose payload is the element `root`, with no header block that must be understood.
///
/// # Errors
/// That it is something else, with the place.
pub fn read<T: FromXml>(root: &'static Root, message: &[u8], limits: Limits) -> Result<T, Error> {
    let read = || {
        let mut reader = reader(message, limits)?;
        match find(&mut reader, root) {
            Ok(()) => read_payload(Decoder::new(reader), root),
            Err(error) => {
                keep(reader.into_memory());
                Err(error)
            }
        }
    };
    read().map_err(|error: Error| error.locate(message, limits))
}

/// Reads up to the payload, which must be `root`.
fn find(reader: &mut Reader<'_>, root: &'static Root) -> Result<(), Error> {
    let (envelope, payload) = Envelope::read(reader)?;
    envelope.check_understood(|_, _| false)?;
    let Root { element, .. } = root;
    match payload {
        Some(tag) if (reader.namespace(tag.namespace), tag.name.local()) == (element.namespace, element.name) => Ok(()),
        _ => {
            let message = format!("the body does not hold <{}>", element.name);
            Err(Error::at(payload.map_or_else(|| end_tag(reader), |tag| tag.offset), ErrorKind::Document, message))
        }
    }
}

/// Reads the payload, whose start tag was read and found to be `root`, and the rest of the message.
pub(crate) fn read_payload<T: FromXml>(mut decoder: Decoder<'_>, root: &'static Root) -> Result<T, Error> {
    let value = decoder.root(&root.element).map_err(Error::from);
    let value = value.and_then(|value| Envelope::read_end(decoder.reader()).map(|()| value));
    keep(decoder.into_memory());
    value
}
