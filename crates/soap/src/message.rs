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

/// Buffers for a reader.
pub(crate) fn memory() -> Memory {
    MEMORY.take()
}

/// Keeps the buffers of a reader that is done.
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
        let mut reader = Reader::with_memory(message, limits, memory())?;
        let (envelope, payload) = Envelope::read(&mut reader)?;
        envelope.check_understood(|_, _| false)?;
        let Root { element, .. } = root;
        match payload {
            Some(tag) if (reader.namespace(tag.namespace), tag.name.local()) == (element.namespace, element.name) => {
                read_payload(Decoder::new(reader), root)
            }
            _ => {
                let message = format!("the body does not hold <{}>", element.name);
                Err(Error::at(payload.map_or_else(|| end_tag(&reader), |tag| tag.offset), ErrorKind::Document, message))
            }
        }
    };
    read().map_err(|error: Error| error.locate(message, limits))
}

/// Reads the payload, whose start tag was read and found to be `root`, and the rest of the message.
pub(crate) fn read_payload<T: FromXml>(mut decoder: Decoder<'_>, root: &'static Root) -> Result<T, Error> {
    let value = decoder.root(&root.element)?;
    Envelope::read_end(decoder.reader())?;
    keep(decoder.into_memory());
    Ok(value)
}
