//! What a server is doing at the moment.

use std::fmt;
use std::sync::{Arc, Weak};

#[cfg(feature = "metrics")]
use castile_budget::Budget;

use crate::server::connection::Shared;

/// What a server is doing at the moment, for those who look now and then. It is cheap to clone, and outlives the server.
///
/// An [`Observer`](super::Observer) gets it when the server begins to serve.
#[derive(Clone)]
pub struct Status(Weak<Shared>);

/// What [`Status`] tells, all of it at about the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Load {
    /// Connections that are open.
    pub connections: usize,
    /// Requests at work ([`max_requests_in_flight`](crate::server::Server::max_requests_in_flight)).
    pub requests_at_work: usize,
    /// Complete requests that wait until they may be at work.
    pub requests_queued: usize,
    /// How much of the [`budget`](crate::server::Server::budget) is used, in bytes. Servers may share one.
    pub memory_used: usize,
    /// How much of it there is, in bytes.
    pub memory_limit: usize,
    /// How much of the [`disk_budget`](crate::server::Server::disk_budget) is used, in bytes. Servers may share one.
    pub disk_used: usize,
    /// How much of it there is, in bytes.
    pub disk_limit: usize,
}

impl Status {
    pub(in crate::server) fn of(shared: &Arc<Shared>) -> Self {
        Status(Arc::downgrade(shared))
    }

    /// What the server is doing; `None` once it has ended.
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
    /// The budgets for memory and for files.
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
