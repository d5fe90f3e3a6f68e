//! What a run leaves behind: counts, latencies and the first few errors.

use std::time::Duration;

use hdrhistogram::Histogram;

/// How many errors are kept as text; the rest are only counted.
const KEPT_MESSAGES: usize = 5;

/// Takes note of every request of one thread of the driver; merged when the run ends.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Requests that were answered rightly, as far as their answers were looked at.
    pub requests: u64,
    /// Requests that were not.
    pub errors: u64,
    /// Answers whose content was decoded and compared with what was sent.
    pub verified: u64,
    /// The first few errors, in words.
    pub messages: Vec<String>,
    /// Nanoseconds from the scheduled start of a request to the last byte of its answer, for right answers.
    pub latency: Histogram<u64>,
}

impl Default for Recorder {
    fn default() -> Self {
        // Three digits from 1 µs to an hour: an error of 0.1 %, in about 200 KB.
        let latency = Histogram::new_with_bounds(1_000, 3_600_000_000_000, 3);
        Recorder {
            requests: 0,
            errors: 0,
            verified: 0,
            messages: Vec::new(),
            latency: latency.expect("bounds and digits are within those of a histogram"),
        }
    }
}

impl Recorder {
    /// Notes a right answer.
    pub fn answer(&mut self, latency: Duration) {
        self.requests += 1;
        self.latency.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Notes a failure; the text is only made when it is kept.
    pub fn error(&mut self, message: impl FnOnce() -> String) {
        self.errors += 1;
        if self.messages.len() < KEPT_MESSAGES {
            self.messages.push(message());
        }
    }

    /// Adds what another recorder noted.
    pub fn merge(&mut self, other: Recorder) {
        self.requests += other.requests;
        self.errors += other.errors;
        self.verified += other.verified;
        self.messages.extend(other.messages);
        self.messages.truncate(KEPT_MESSAGES);
        self.latency.add(&other.latency).expect("all recorders have the same bounds");
    }
}
