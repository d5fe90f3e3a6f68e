use std::sync::Arc;

use crate::Reservation;

/// Bytes with what they are charged to, which holds that until they are dropped: what `bytes::Bytes::from_owner` takes.
#[derive(Debug)]
pub struct Charged<T> {
    data: T,
    _reservation: Arc<Reservation>,
}

impl<T> Charged<T> {
    /// These bytes, charged to `reservation`.
    pub fn new(data: T, reservation: Arc<Reservation>) -> Self {
        Charged { data, _reservation: reservation }
    }
}

impl<T: AsRef<[u8]>> AsRef<[u8]> for Charged<T> {
    fn as_ref(&self) -> &[u8] {
        self.data.as_ref()
    }
}
