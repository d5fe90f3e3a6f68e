//! Times of a load as seconds since 1970.

use std::time::{Instant, SystemTime};

/// The clock of a load. It is read once: a system's clock that is set meanwhile makes no second longer, shorter, or one from before the beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    pub(super) start: Instant,
    /// Seconds since 1970.
    pub(super) start_s: f64,
}

impl Calendar {
    /// Reads the system's clock.
    pub(super) fn new() -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Calendar { start: Instant::now(), start_s: since.unwrap_or_default().as_secs_f64() }
    }

    /// Returns a time in seconds since 1970. None is before the start.
    pub(super) fn at(self, time: Instant) -> f64 {
        self.start_s + time.saturating_duration_since(self.start).as_secs_f64()
    }

    /// Returns the current time.
    pub(super) fn now(self) -> f64 {
        self.at(Instant::now())
    }
}
