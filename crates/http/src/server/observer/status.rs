//! The current load of a server.

use std::fmt;
use std::sync::{Arc, Weak};

#[cfg(feature = "metrics")]
use castile_budget::Budget;

use crate::server::state::ServerState;

/// Gives access to the current load of a server. It is cheap to clone, and may outlive the server.
///
/// An [`Observer`](super::Observer) gets it when the server begins to serve.
#[derive(Clone)]
pub struct Status(Weak<ServerState>);

/// The load that [`Status`] reports. All values are from about the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// The open connections.
    pub connections: usize,
    /// The requests at work ([`max_requests_in_flight`](crate::server::Server::max_requests_in_flight)).
    pub requests_at_work: usize,
    /// The complete requests that wait until they may be at work.
    pub requests_queued: usize,
    /// The used bytes of the [`budget`](crate::server::Server::budget). Servers may share one.
    pub memory_used: usize,
    /// The limit of that budget, in bytes.
    pub memory_limit: usize,
    /// The used bytes of the [`disk_budget`](crate::server::Server::disk_budget). Servers may share one.
    pub disk_used: usize,
    /// The limit of that budget, in bytes.
    pub disk_limit: usize,
}

impl Status {
    pub(in crate::server) fn of(shared: &Arc<ServerState>) -> Self {
        Status(Arc::downgrade(shared))
    }

    /// Returns the current load; `None` once the server has ended.
    pub fn load(&self) -> Option<Load> {
        let shared = self.0.upgrade()?;
        let admission = &shared.admission;
        let (requests_at_work, requests_queued) = admission.slots.taken();
        Some(Load {
            connections: admission.connections.count(),
            requests_at_work,
            requests_queued,
            memory_used: admission.budget.used(),
            memory_limit: admission.budget.limit(),
            disk_used: admission.disk_budget.used(),
            disk_limit: admission.disk_budget.limit(),
        })
    }
}

#[cfg(feature = "metrics")]
impl Status {
    /// Returns the budgets for memory and for files.
    pub(super) fn budgets(&self) -> Option<[Budget; 2]> {
        let shared = self.0.upgrade()?;
        Some([shared.admission.budget.clone(), shared.admission.disk_budget.clone()])
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Status").field(&self.load()).finish()
    }
}
