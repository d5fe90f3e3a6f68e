//! How much the driver used of the machine when it used most.

use std::time::{Duration, Instant};

/// Less time than this has no use of the processor of its own: a moment above the limit is no limit. Processes look once a second, so that
/// these are 3 s.
const SHORTEST: Duration = Duration::from_millis(2_500);

/// How many cores a process used when it used most of them, over some seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Peak {
    /// When the current time began, and how much of the processor had been used then.
    begun: Option<(Instant, Duration)>,
    cores: f64,
}

impl Peak {
    /// Looks at the processor time that the process has used up to now.
    pub(super) fn look(&mut self, now: Instant, used: Duration) {
        let Some((begun, before)) = self.begun else {
            self.begun = Some((now, used));
            return;
        };
        let time = now.saturating_duration_since(begun);
        if time >= SHORTEST {
            self.cores = self.cores.max(used.saturating_sub(before).as_secs_f64() / time.as_secs_f64());
            self.begun = Some((now, used));
        }
    }

    /// Returns the number of cores; 0 if it isn't known.
    pub(super) fn cores(&self) -> f64 {
        self.cores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_seconds_count_and_a_busy_moment_does_not() {
        let (mut now, mut used, mut peak) = (Instant::now(), Duration::from_secs(7), Peak::default());
        let mut pass = |seconds: u64, milliseconds: u64| {
            for _ in 0..seconds {
                peak.look(now, used);
                now += Duration::from_secs(1);
                used += Duration::from_millis(milliseconds);
            }
            (peak.cores() * 10.0).round() as u64
        };
        assert_eq!((pass(2, 1_000), pass(10, 100)), (0, 7));
        assert_eq!((pass(1, 1_000), pass(10, 100)), (7, 7));
        assert_eq!((pass(6, 1_000), pass(10, 100)), (10, 10));
    }
}
