//! What is kept of a package is charged.

use std::sync::{Arc, OnceLock};

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
    /// For what is in memory: the root part, parts that wait, and what is [collected](crate::Attachment::collect).
    pub memory: Arc<Reservation>,
    /// For what waits in a temporary file.
    pub disk: Budget,
}

/// Charges memory that is about to be taken, if there is anybody to charge it to.
pub(crate) fn charge(charges: Option<&Charges>, bytes: usize) -> Result<(), Error> {
    let Some(Charges { memory, .. }) = charges else { return Ok(()) };
    memory.grow(bytes).map_err(|exhausted| refused("memory", exhausted))
}

#[cold]
pub(crate) fn refused(what: &str, exhausted: castile_budget::Exhausted) -> Error {
    Error::new(ErrorKind::Exhausted, format!("there is too little {what} for what must wait: {exhausted}"))
}
