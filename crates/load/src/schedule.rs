//! When requests are sent, and when to stop: the two axes of a load, each a value.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When the next request is due.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Pace {
    /// A *closed* workload: each connection sends its next request when it has the answer to the last.
    Closed,
    /// An *open* workload: requests are due at even distances, whatever the server does.
    /// Latency counts from the time a request was due, so a stall shows in every request it delayed.
    Arrivals {
        /// The rate over all connections.
        per_second: f64,
    },
}

/// When to stop sending. Requests that are under way are always finished, within their time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// After this time.
    After(Duration),
    /// After this many requests over all connections.
    Requests(u64),
}

/// Hands out the requests of one run to its connections. There is one for all threads of the driver.
#[derive(Debug)]
pub(crate) struct Schedule {
    pace: Pace,
    stop: Stop,
    start: Instant,
    taken: AtomicU64,
    cancelled: AtomicBool,
}

impl Schedule {
    pub(crate) fn new(pace: Pace, stop: Stop, start: Instant) -> Self {
        Schedule { pace, stop, start, taken: AtomicU64::new(0), cancelled: AtomicBool::new(false) }
    }

    /// The time at which the next request is due, for a connection that is free at `now`; `None` when the run is over.
    pub(crate) fn next(&self, now: Instant) -> Option<Instant> {
        if self.cancelled.load(Ordering::Relaxed) {
            return None;
        }
        if let Stop::After(duration) = self.stop
            && now.duration_since(self.start) >= duration
        {
            return None;
        }
        let index = self.taken.fetch_add(1, Ordering::Relaxed);
        if let Stop::Requests(count) = self.stop
            && index >= count
        {
            return None;
        }
        let due = match self.pace {
            Pace::Closed => return Some(now),
            Pace::Arrivals { per_second } => self.start + Duration::from_secs_f64(index as f64 / per_second),
        };
        match self.stop {
            Stop::After(duration) if due >= self.start + duration => None,
            _ => Some(due),
        }
    }

    /// How many requests have been handed out so far.
    pub(crate) fn taken(&self) -> u64 {
        match self.stop {
            Stop::Requests(count) => self.taken.load(Ordering::Relaxed).min(count),
            Stop::After(_) => self.taken.load(Ordering::Relaxed),
        }
    }

    /// How many requests were due within the run but found no free connection before its end.
    pub(crate) fn unsent(&self) -> u64 {
        match (self.pace, self.stop) {
            (Pace::Arrivals { per_second }, Stop::After(duration)) => {
                let due = (duration.as_secs_f64() * per_second).ceil() as u64;
                due.saturating_sub(self.taken())
            }
            _ => 0,
        }
    }

    /// Hands out nothing more.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_workload_is_due_at_once_until_the_time_is_up() {
        let start = Instant::now();
        let schedule = Schedule::new(Pace::Closed, Stop::After(Duration::from_secs(2)), start);
        let soon = start + Duration::from_secs(1);
        assert_eq!(schedule.next(soon), Some(soon));
        assert_eq!(schedule.next(start + Duration::from_secs(2)), None);
        assert_eq!((schedule.taken(), schedule.unsent()), (1, 0));
    }

    #[test]
    fn arrivals_are_due_by_the_clock_and_not_by_the_answers() {
        let start = Instant::now();
        let pace = Pace::Arrivals { per_second: 10.0 };
        let schedule = Schedule::new(pace, Stop::After(Duration::from_secs(1)), start);
        // The one connection comes back late each time; its requests keep their times.
        let late = start + Duration::from_millis(900);
        for index in 0..4 {
            assert_eq!(schedule.next(late), Some(start + Duration::from_millis(100 * index)));
        }
        assert_eq!(schedule.next(start + Duration::from_secs(1)), None);
        assert_eq!(schedule.unsent(), 6);
    }

    #[test]
    fn a_number_of_requests_is_met_exactly() {
        let start = Instant::now();
        let schedule = Schedule::new(Pace::Closed, Stop::Requests(3), start);
        let handed_out = (0..10).filter(|_| schedule.next(start).is_some()).count();
        assert_eq!((handed_out, schedule.taken()), (3, 3));
    }
}
