//! What a run leaves behind: counts, latencies and the first few errors.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::exchange::Judged;

/// How many errors are kept as text; the rest are only counted.
const KEPT_MESSAGES: usize = 5;

/// Takes note of every request of one thread of the driver; merged when the run ends.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Requests that were answered rightly, as far as their answers were looked at.
    pub requests: u64,
    /// Requests that were not.
    pub errors: u64,
    /// Those of them that could not be sent.
    pub not_sent: u64,
    /// Those of them that failed before the run was measured.
    pub warmup_errors: u64,
    /// Answers whose content was decoded and compared with what was sent.
    pub verified: u64,
    /// The first few errors, in words.
    pub messages: Vec<String>,
    /// Bytes of the bodies of requests that were answered rightly.
    pub bytes_out: u64,
    /// Bytes of the bodies of right answers.
    pub bytes_in: u64,
    /// Items found by right answers, where a suite counts them.
    pub matches: u64,
    /// What the driver's own machine ran out of, if anything: errors are its fault then.
    pub exhausted: Option<&'static str>,
    /// Nanoseconds from the scheduled start of a request to the last byte of its answer, for right answers.
    pub latency: Histogram<u64>,
    /// The same from the time at which each request was really sent.
    pub service: Histogram<u64>,
    /// Nanoseconds by which the driver was late when it woke to send a request.
    pub lag: Histogram<u64>,
    /// The same of each part of a mix, in the order of [`Requests::Scripted`](crate::Requests::Scripted); empty where
    /// there is only one.
    pub parts: Vec<Recorder>,
}

impl Default for Recorder {
    fn default() -> Self {
        // Three digits from 1 µs to an hour: an error of 0.1 %, in about 200 KB.
        let histogram = || {
            let histogram = Histogram::new_with_bounds(1_000, 3_600_000_000_000, 3);
            histogram.expect("bounds and digits are within those of a histogram")
        };
        Recorder {
            requests: 0,
            errors: 0,
            not_sent: 0,
            warmup_errors: 0,
            verified: 0,
            messages: Vec::new(),
            bytes_out: 0,
            bytes_in: 0,
            matches: 0,
            exhausted: None,
            latency: histogram(),
            service: histogram(),
            lag: histogram(),
            parts: Vec::new(),
        }
    }
}

impl Recorder {
    /// Notes a right answer.
    pub(crate) fn answer(&mut self, judged: &Judged, latency: Duration, service: Duration) {
        self.requests += 1;
        self.verified += u64::from(judged.verified);
        self.bytes_out += judged.answer.bytes_out;
        self.bytes_in += judged.answer.bytes_in;
        self.matches += judged.answer.matches;
        self.latency.saturating_record(nanoseconds(latency));
        self.service.saturating_record(nanoseconds(service));
    }

    /// Notes a failure; the text is only made when it is kept.
    pub(crate) fn error(&mut self, was_sent: bool, message: impl FnOnce() -> String) {
        self.errors += 1;
        self.not_sent += u64::from(!was_sent);
        if self.messages.len() < KEPT_MESSAGES {
            self.messages.push(message());
        }
    }

    /// Notes by how much the driver woke late.
    pub(crate) fn woken(&mut self, late: Duration) {
        self.lag.saturating_record(nanoseconds(late));
    }

    /// The recorder of a part.
    pub(crate) fn part(&mut self, index: usize) -> &mut Recorder {
        if self.parts.len() <= index {
            self.parts.resize_with(index + 1, Recorder::default);
        }
        &mut self.parts[index]
    }

    /// Adds what another recorder noted.
    pub fn merge(&mut self, other: Recorder) {
        self.requests += other.requests;
        self.errors += other.errors;
        self.not_sent += other.not_sent;
        self.warmup_errors += other.warmup_errors;
        self.verified += other.verified;
        self.messages.extend(other.messages);
        self.messages.truncate(KEPT_MESSAGES);
        self.bytes_out += other.bytes_out;
        self.bytes_in += other.bytes_in;
        self.matches += other.matches;
        self.exhausted = self.exhausted.or(other.exhausted);
        for (own, others) in
            [(&mut self.latency, other.latency), (&mut self.service, other.service), (&mut self.lag, other.lag)]
        {
            own.add(&others).expect("all recorders have the same bounds");
        }
        for (index, part) in other.parts.into_iter().enumerate() {
            self.part(index).merge(part);
        }
    }
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
