//! The data that all connections of a server share.

use std::time::Duration;

use castile_budget::Budget;
use hyper::server::conn::http1;

use super::connections::Connections;
use super::observer::Observers;
use super::shutdown::CutOffs;
use super::slots::Slots;
use super::stop::{Order, Stop};

/// The data that all connections of a server share.
#[derive(Debug)]
pub(super) struct ServerState {
    pub(super) http: http1::Builder,
    pub(super) timeouts: Timeouts,
    pub(super) admission: Admission,
    pub(super) stop: Stop,
    pub(super) cut_off: CutOffs,
    pub(super) observers: Observers,
}

impl ServerState {
    /// Gives an order, unless it or a stricter one was given before. Connections are woken once for each order.
    pub(super) fn give(&self, order: Order) {
        if self.stop.give(order) {
            self.admission.connections.wake_all();
        }
    }
}

/// A value alone in its cache lines, of which processors fetch two at a time. Who changes it disturbs nobody who reads what is beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Apart<T>(pub(super) T);

/// The slots, connections and budgets of a server.
#[derive(Debug)]
pub(super) struct Admission {
    pub(super) slots: Slots,
    pub(super) connections: Connections,
    pub(super) budget: Budget,
    pub(super) disk_budget: Budget,
}

/// The time limits of a connection.
#[derive(Clone, Debug)]
pub(super) struct Timeouts {
    pub(super) header_read: Duration,
    pub(super) write: Duration,
    /// In bytes per second.
    pub(super) write_rate: u32,
    pub(super) keep_alive: Duration,
}

impl Timeouts {
    /// Returns how often a busy connection checks whether it has become idle. The interval is long, so that no request
    /// has to set a timer.
    pub(super) fn tick(&self) -> Duration {
        let quarter = self.keep_alive / 4;
        quarter.clamp(Duration::from_millis(1), Duration::from_secs(1))
    }
}
