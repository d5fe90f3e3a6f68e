//! What is kept of a package is charged.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use castile_budget::{Budget, Reservation};

use crate::{Error, ErrorKind};

/// How many bytes temporary files of this process may have together, unless it is said otherwise: 1 GiB.
pub const DISK: usize = 1 << 30;

/// The budget of bytes in temporary files that all packages of this process share unless they are given another one.
/// Its limit is [`DISK`].
pub fn disk() -> Budget {
    static PROCESS: OnceLock<Budget> = OnceLock::new();
    PROCESS.get_or_init(|| Budget::new(DISK)).clone()
}

/// What a package is charged to.
#[derive(Clone, Debug)]
pub struct Charges {
    /// For what is in memory until the request ends: the root part. Parts that wait, and what is
    /// [collected](crate::Attachment::collect), are charged to its budget for as long as they are kept.
    pub memory: Arc<Reservation>,
    /// For what waits in a temporary file.
    pub disk: Budget,
}

/// Charges memory that is about to be taken until the request ends, if there is anybody to charge it to.
pub(crate) fn charge(charges: Option<&Charges>, bytes: usize) -> Result<(), Error> {
    grow(charges.map(|charges| &*charges.memory), bytes)
}

/// What content is charged to that may be dropped before the request ends.
pub(crate) fn begin(charges: Option<&Charges>) -> Option<Reservation> {
    // Nothing is always granted.
    charges.and_then(|charges| charges.memory.budget().reserve(0).ok())
}

/// Charges memory that is about to be taken.
pub(crate) fn grow(reservation: Option<&Reservation>, bytes: usize) -> Result<(), Error> {
    let grown = reservation.map_or(Ok(()), |reservation| reservation.grow(bytes));
    grown.map_err(|exhausted| refused("memory", exhausted))
}

/// Content that is charged until the last of it is dropped.
pub(crate) fn charged(content: Bytes, reservation: Option<Reservation>) -> Bytes {
    match reservation {
        Some(reservation) if !content.is_empty() => Bytes::from_owner(Charged { content, _reservation: reservation }),
        _ => content,
    }
}

struct Charged {
    content: Bytes,
    _reservation: Reservation,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.content
    }
}

#[cold]
pub(crate) fn refused(what: &str, exhausted: castile_budget::Exhausted) -> Error {
    Error::new(ErrorKind::Exhausted, format!("there is too little {what} for what must wait: {exhausted}"))
}
