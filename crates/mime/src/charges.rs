//! What is kept of a package is charged.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use castile_budget::{Budget, Reservation, Share};

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
    /// For what is in memory: the root part until the request ends, and parts that wait or are
    /// [collected](crate::Attachment::collect) for as long as they are kept.
    pub memory: Arc<Reservation>,
    /// For what waits in a temporary file.
    pub disk: Arc<Reservation>,
}

/// Charges memory that is about to be taken until the request ends, if there is anybody to charge it to.
pub(crate) fn charge(charges: Option<&Charges>, bytes: usize) -> Result<(), Error> {
    let charged = charges.map_or(Ok(()), |charges| charges.memory.grow(bytes));
    charged.map_err(|exhausted| refused("memory", exhausted))
}

/// What content is charged to that may be dropped before the request ends.
pub(crate) fn begin(charges: Option<&Charges>) -> Option<Share> {
    charges.map(|charges| Share::of(charges.memory.clone()))
}

/// Charges memory that is about to be taken.
pub(crate) fn grow(share: &mut Option<Share>, bytes: usize) -> Result<(), Error> {
    let grown = share.as_mut().map_or(Ok(()), |share| share.grow(bytes));
    grown.map_err(|exhausted| refused("memory", exhausted))
}

/// Content that is charged until the last of it is dropped.
pub(crate) fn charged(content: Bytes, share: Option<Share>) -> Bytes {
    match share {
        Some(share) if !content.is_empty() => Bytes::from_owner(Charged { content, _share: share }),
        _ => content,
    }
}

struct Charged {
    content: Bytes,
    _share: Share,
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
