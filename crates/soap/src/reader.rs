//! Reads the text of messages: in which encoding is it, and with which buffers and caches is it read?

use std::borrow::Cow;
use std::cell::RefCell;

use castile_xml::{CachedReader, Charset, Limits, Memory};

use crate::charge::{Charge, reserve};
use crate::error::Error;
use crate::options::{Leniency, Options};

/// How many bytes of UTF-8 one byte of another encoding can become. For example, the euro sign is one byte in Windows-1252.
const DECODED_FACTOR: usize = 3;

thread_local! {
    /// The buffers and the tag cache of the last reader on this thread.
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// Reads a message with `read`.
///
/// UTF-8 messages, which are nearly all, are read directly. Other messages are decoded first, once. They are recognized by their
/// `charset`, or by the reader, which detects another encoding before the root element. A message that deviates from the contract
/// is read again leniently, if that is enabled.
///
/// # Errors
/// Returns the error of `read`, with its place in the decoded text. Also returns an error if the message can't be decoded.
pub(crate) fn read_with<T>(
    message: &[u8],
    charset: Option<Charset>,
    options: &Options,
    charge: Charge<'_>,
    mut read: impl FnMut(CachedReader<'_>, Option<&Leniency>) -> Result<T, Error>,
) -> Result<T, Error> {
    let limits = options.limits;
    let mut leniency = None;
    let mut text = None;
    // The reservations to which decoded text is charged.
    let mut held = Vec::new();
    if charset.is_some_and(|charset| charset != Charset::UTF_8) || is_utf16_without_mark(message) {
        held.extend(reserve(charge, message.len().saturating_mul(DECODED_FACTOR))?);
        text = Some(castile_xml::decode(message, charset)?);
    }
    loop {
        let error = match reader(message, text.as_deref(), limits).and_then(|reader| read(reader, leniency)) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if leniency.is_none() && options.leniency.is_some() && error.is_deviation() {
            leniency = options.leniency.as_ref();
            continue;
        }
        match &text {
            Some(text) => return Err(error.locate(text.as_bytes(), limits)),
            None if error.is_of_encoding() => {
                held.extend(reserve(charge, message.len().saturating_mul(DECODED_FACTOR))?);
                text = Some(decode(message, charset, error, limits)?);
            }
            None => return Err(error.locate(message, limits)),
        }
    }
}

/// Reads the envelope of a message with `read`, without decoding its payload.
///
/// # Errors
/// Returns the error of `read`, or an error if the message can't be decoded, as [`read_with`] does.
pub(crate) fn read_envelope<T>(
    message: &[u8],
    charset: Option<Charset>,
    options: &Options,
    charge: Charge<'_>,
    mut read: impl FnMut(&mut CachedReader<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    read_with(message, charset, options, charge, |mut reader, _| {
        let value = read(&mut reader);
        store_memory(reader.into_memory());
        value
    })
}

/// Decodes a message that is not UTF-8.
#[cold]
fn decode(message: &[u8], charset: Option<Charset>, error: Error, limits: Limits) -> Result<Cow<'_, str>, Error> {
    castile_xml::decode(message, charset).map_err(|reason| {
        let reason = Error::from(reason);
        // Lines and columns are computed on UTF-8.
        if reason == error { error.locate(message, limits) } else { reason }
    })
}

/// Returns whether a message is UTF-16 without a byte order mark (XML 1.0, appendix F.1). In UTF-8 such a message would contain
/// NUL, which XML doesn't allow.
fn is_utf16_without_mark(message: &[u8]) -> bool {
    matches!(message, [0, ..] | [_, 0, ..])
}

/// Creates a reader with the buffers of this thread.
fn reader<'a>(message: &'a [u8], text: Option<&'a str>, limits: Limits) -> Result<CachedReader<'a>, Error> {
    // If no reader is created, the buffers stay in `MEMORY`.
    let reader = MEMORY.with_borrow_mut(|memory| match text {
        None => CachedReader::with_memory(message, limits, memory),
        Some(text) => CachedReader::decoded(text, limits, memory),
    });
    Ok(reader?)
}

/// Stores the memory that the next reader of this thread takes. It may come from a reader that failed: what that has cached is
/// right.
#[doc(hidden)]
pub fn store_memory(memory: Memory) {
    MEMORY.set(memory);
}
