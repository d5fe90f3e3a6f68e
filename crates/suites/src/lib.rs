//! The published benchmarks: contracts, services, workloads, the HTTP floor.

pub mod floor;

/// The cases of a suite in the order of its publication; none for a suite that is not known.
pub fn cases(_suite: &str) -> Vec<castile_load::Case> {
    Vec::new()
}
