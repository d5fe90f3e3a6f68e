//! What is driven and how, without any figure.

use serde::{Deserialize, Serialize};

use super::load::{Driver, Load};
use super::target::Target;
use crate::{Pace, Placement, Plan, Requests, Start};
use castile_report::{Client, Method, Row};

/// A load against a target, and what its figures depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Described {
    /// A row without figures.
    pub(crate) row: Row,
    /// The names of the parts of a mix.
    pub(crate) parts: Vec<String>,
    /// The number of threads that the driver has.
    pub(crate) threads: usize,
    pub(crate) server_cores: usize,
    /// Whether the time from sending differs from the latency.
    pub(crate) has_service: bool,
    /// Whether the number of users changes.
    pub(crate) has_users: bool,
}

impl Described {
    pub(super) fn of(load: &Load, plan: &Plan, target: &Target, placement: &Placement) -> Self {
        let Load { case, driver, .. } = load;
        let row = Row {
            case: case.name.clone(),
            target: target.name.clone(),
            network: target.network.clone(),
            client: match (driver, &case.requests) {
                (Driver::ApacheBench, _) => Client::Ab,
                (Driver::Own, Requests::Raw(_) | Requests::Scripted { .. }) => Client::Raw,
                (Driver::Own, Requests::Typed { .. }) => Client::Typed,
            },
            method: if case.count() > 1 && !case.is_scripted() { Method::Sequence } else { plan.method() },
            style: case.style.clone(),
            connections: plan.connections,
            keep_alive: plan.keep_alive,
            rhythm: load.rhythm(plan),
            rate: match &plan.pace {
                Pace::Arrivals(arrivals) => arrivals.rate(),
                Pace::Closed | Pace::Think(_) | Pace::Every(_) => None,
            },
            rising: target.rising,
            ..Row::default()
        };
        Described {
            row,
            parts: match &case.requests {
                Requests::Scripted { parts, .. } => parts.to_vec(),
                Requests::Raw(_) | Requests::Typed { .. } => Vec::new(),
            },
            threads: plan.threads(),
            server_cores: placement.server_cores(),
            has_service: plan.pace != Pace::Closed,
            has_users: plan.start != Start::Together,
        }
    }
}
