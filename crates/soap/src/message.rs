//! Whole messages: an envelope with one payload.

use bytes::Bytes;
use castile_databinding::{Decoder, FromXml};
use castile_xml::{CachedReader, Charset, Limits, StartTag};

use crate::description::Root;
use crate::envelope::{Envelope, end_tag};
use crate::error::{Error, ErrorKind};
use crate::options::Options;
use crate::payload::{Decodes, Slot, read_payload};
use crate::reader::read_with;

#[doc(hidden)]
pub use crate::reader::store_memory;
pub use crate::writer::{write, write_with};

/// Reads a message with the payload `root`, in the encoding that it declares. The message must have no header block that must be
/// understood.
///
/// # Errors
/// Returns an error with the place if the message is something else.
pub fn read<T: FromXml>(root: &'static Root, message: &[u8], limits: Limits) -> Result<T, Error> {
    read_in(root, message, None, limits)
}

/// Reads a message with the payload `root` from text. The encoding that the message declares is ignored. The message must have no
/// header block that must be understood.
///
/// # Errors
/// Returns an error with the place if the message is something else.
pub fn read_str<T: FromXml>(root: &'static Root, message: &str, limits: Limits) -> Result<T, Error> {
    read_in(root, message.as_bytes(), Some(Charset::UTF_8), limits)
}

fn read_in<T: FromXml>(
    root: &'static Root,
    message: &[u8],
    charset: Option<Charset>,
    limits: Limits,
) -> Result<T, Error> {
    let mut slot = Slot::new();
    read_into(root, message, charset, limits, &mut slot)?;
    slot.take()
}

fn read_into(
    root: &'static Root,
    message: &[u8],
    charset: Option<Charset>,
    limits: Limits,
    slot: &mut dyn Decodes,
) -> Result<(), Error> {
    read_with(message, charset, &Options::from(limits), None, |mut reader, _| match find(&mut reader, root) {
        Ok(payload) => {
            let mut decoder = Decoder::new(reader);
            let read = read_payload(&mut decoder, root, payload, &Bytes::new(), slot);
            store_memory(decoder.into_memory());
            read
        }
        Err(error) => {
            store_memory(reader.into_memory());
            Err(error)
        }
    })
}

/// Reads up to the payload, and checks that it is `root`.
fn find<'a>(reader: &mut CachedReader<'a>, root: &'static Root) -> Result<Option<StartTag<'a>>, Error> {
    let (envelope, payload) = Envelope::read(reader)?;
    envelope.check_understood(|_| false)?;
    if root.accepts(payload.map(|tag| (reader.namespace(tag.namespace), tag.name.local()))) {
        return Ok(payload);
    }
    let message = format!("the body doesn't contain <{}>", root.element.name);
    Err(Error::at(payload.map_or_else(|| end_tag(reader), |tag| tag.offset), ErrorKind::Document, message))
}
