//! Charges stored parts of packages to budgets.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use castile_budget::{Budget, Reservation, Share};

use crate::{Error, ErrorKind};

/// The default limit of all temporary files of this process together, in bytes: 1 GiB.
pub const DISK: usize = 1 << 30;

/// Returns the budget for temporary files that all packages of this process share by default. Its limit is [`DISK`].
pub fn disk() -> Budget {
    static PROCESS: OnceLock<Budget> = OnceLock::new();
    PROCESS.get_or_init(|| Budget::new(DISK)).clone()
}

/// The reservations that a package is charged to.
#[derive(Clone, Debug)]
pub struct Charges {
    /// For memory: the root part until the request ends, and parts that wait or are
    /// [collected](crate::Attachment::collect) until they are dropped.
    pub memory: Arc<Reservation>,
    /// For parts that wait in a temporary file.
    pub disk: Arc<Reservation>,
}

/// Charges memory that is about to be used until the request ends, if there are `charges`.
pub(crate) fn charge(charges: Option<&Charges>, bytes: usize) -> Result<(), Error> {
    let charged = charges.map_or(Ok(()), |charges| charges.memory.grow(bytes));
    charged.map_err(|exhausted| refused("memory", exhausted))
}

/// Creates a share for content that may be dropped before the request ends.
pub(crate) fn begin(charges: Option<&Charges>) -> Option<Share> {
    charges.map(|charges| Share::of(charges.memory.clone()))
}

/// Charges memory that is about to be used.
pub(crate) fn grow(share: &mut Option<Share>, bytes: usize) -> Result<(), Error> {
    let grown = share.as_mut().map_or(Ok(()), |share| share.grow(bytes));
    grown.map_err(|exhausted| refused("memory", exhausted))
}

/// Attaches the charge to the content, until its last clone is dropped.
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
    Error::new(ErrorKind::Exhausted, format!("there is too little {what} to store a part: {exhausted}"))
}
