//! The order to stop, which the server gives to its connections.

use std::sync::atomic::{AtomicU8, Ordering};

/// What the connections of a server should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Order {
    /// Continue to serve.
    Run,
    /// Finish the current request, then close.
    Finish,
    /// Close now.
    Close,
}

/// The current order. A connection reads it whenever its task runs.
#[derive(Debug, Default)]
pub(super) struct Stop(AtomicU8);

impl Stop {
    /// Stores an order. Returns `false` if it or a stricter one was given before.
    pub(super) fn give(&self, order: Order) -> bool {
        self.0.fetch_max(order as u8, Ordering::AcqRel) < order as u8
    }

    pub(super) fn order(&self) -> Order {
        match self.0.load(Ordering::Acquire) {
            0 => Order::Run,
            1 => Order::Finish,
            _ => Order::Close,
        }
    }
}
