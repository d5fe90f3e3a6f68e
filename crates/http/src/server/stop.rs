//! The order to stop, which the server gives to its connections.

use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::Context;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::state::Apart;

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

/// The current order. A connection reads it with an atomic load. Waiting connections are woken when it changes.
#[derive(Debug, Default)]
pub(super) struct Stop {
    order: AtomicU8,
    /// Each connection that opens or becomes idle waits here.
    changed: Apart<Notify>,
}

impl Stop {
    /// Gives an order, unless it or a stricter one was given before. Connections are woken once for each order.
    pub(super) fn give(&self, order: Order) {
        if self.order.fetch_max(order as u8, Ordering::AcqRel) < order as u8 {
            self.changed.0.notify_waiters();
        }
    }

    pub(super) fn order(&self) -> Order {
        match self.order.load(Ordering::Acquire) {
            0 => Order::Run,
            1 => Order::Finish,
            _ => Order::Close,
        }
    }

    /// Returns a future for the next order, to be passed to [`poll_order`](Self::poll_order).
    pub(super) fn orders(&self) -> Notified<'_> {
        self.changed.0.notified()
    }

    /// Returns the current order. The task of `cx` is woken at the next one.
    pub(super) fn poll_order<'a>(&'a self, mut orders: Pin<&mut Notified<'a>>, cx: &mut Context<'_>) -> Order {
        while orders.as_mut().poll(cx).is_ready() {
            orders.set(self.orders());
        }
        self.order()
    }
}
