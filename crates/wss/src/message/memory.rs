//! What the verification of a message costs: memory, which is charged, and time, which is spent elsewhere if it is long.

use std::borrow::Cow;
use std::sync::Arc;

use castile_budget::{Exhausted, Reservation};
use castile_soap::Offloading;
use castile_xml::{Charset, decode};

use crate::{Error, ErrorKind};

/// The length of a message, in bytes, up to which nothing is charged for its verification.
const FREE_BYTES: usize = 16 << 10;
/// How many times the length of a text is needed to read it, at most: its longest attribute, its ids while their elements are open,
/// the index of ids, and where it is canonical as it is written. That is also how many times longer a document can be in UTF-8 than in its encoding.
const FACTOR: usize = 3;

/// Returns how many bytes are needed to verify a document of this length, in any encoding.
pub(super) fn needed_by_document(length: usize) -> usize {
    needed(length).saturating_mul(1 + FACTOR)
}

/// Returns how many bytes are needed to read a text of this length.
fn needed(length: usize) -> usize {
    if length > FREE_BYTES { length.saturating_mul(FACTOR) } else { 0 }
}

/// Charges what is needed to decode and to read a message, until it is dropped.
pub(super) struct Reserved(Option<Reservation>);

impl Reserved {
    /// Charges what is needed to decode a message, and to read it if it is in UTF-8.
    pub(super) fn of(message: &[u8], reservation: Option<&Arc<Reservation>>) -> Result<Self, Error> {
        let needed = needed(message.len());
        let reservation = reservation.filter(|_| needed > 0);
        reservation.map(|reservation| reservation.another(needed)).transpose().map(Reserved).map_err(exhausted)
    }

    /// Decodes the message, and charges what is needed to read its text.
    pub(super) fn decode<'m>(&self, message: &'m [u8], charset: Option<Charset>) -> Result<Cow<'m, str>, Error> {
        let text = decode(message, charset)?;
        if let (Some(reservation), Cow::Owned(text)) = (&self.0, &text) {
            let more = (needed(text.len()) + text.capacity()).saturating_sub(needed(message.len()));
            reservation.grow(more).map_err(exhausted)?;
        }
        Ok(text)
    }
}

#[cold]
pub(super) fn exhausted(exhausted: Exhausted) -> Error {
    let message = format!("there is too little memory to verify it: {exhausted}");
    Error::new(ErrorKind::Exhausted, message)
}

/// Runs work on a document of this length: on a worker, if there are workers and it is long.
pub(crate) async fn run<T: Send + 'static>(
    offload: Option<&Offloading>,
    length: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    match offload.filter(|offload| length > offload.above()) {
        Some(offload) => offload.run(work).await.ok_or_else(|| Error::new(ErrorKind::Crypto, "no worker verifies it")),
        None => Ok(work()),
    }
}
