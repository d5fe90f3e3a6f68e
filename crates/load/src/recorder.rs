//! The record of a run: counts, latencies and the first few errors.

use std::borrow::Cow;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::exchange::Judged;
use castile_report::Reason;

/// How many reasons are listed separately. Further reasons are counted together.
const LISTED_REASONS: usize = 20;
/// The name under which further reasons are counted.
const OTHER_REASONS: &str = "other reasons";
/// The largest count of a record from elsewhere. A hundred thousand of them can be added up.
pub(crate) const MAX_COUNT: u64 = 1 << 46;

/// The end of the last bucket of a histogram, in nanoseconds.
pub(crate) const END: u64 = 1 << 42;

/// Records every request of one thread of the driver. Records are merged when the run ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recorder {
    /// Requests that were answered correctly, as far as their answers were checked.
    pub requests: u64,
    /// Requests that failed or were answered wrongly.
    pub errors: u64,
    /// Failed requests that could not be sent.
    pub not_sent: u64,
    /// Failed requests from before the run was measured.
    pub warmup_errors: u64,
    /// Answers whose content was decoded and compared with what was sent.
    pub verified: u64,
    /// Why requests failed, in the order in which the reasons first occurred.
    pub reasons: Vec<Reason>,
    /// Bytes of the bodies of requests that were answered correctly.
    pub bytes_out: u64,
    /// Bytes of the bodies of right answers.
    pub bytes_in: u64,
    /// Items in right answers, if the suite counts them.
    pub matches: u64,
    /// The resource that the driver's machine ran out of, if any. Errors are then not the server's fault.
    pub exhausted: Option<Cow<'static, str>>,
    /// Nanoseconds from the scheduled start of a request to the last byte of its answer, for right answers.
    #[serde(with = "counts")]
    pub latency: Histogram<u64>,
    /// Nanoseconds from the actual sending of a request to the last byte of its answer, for right answers.
    #[serde(with = "counts")]
    pub service: Histogram<u64>,
    /// Nanoseconds by which the driver woke too late to send a request.
    #[serde(with = "counts")]
    pub lag: Histogram<u64>,
    /// A record for each part of a mix, in the order of [`Requests::Scripted`](crate::Requests::Scripted); empty if there is
    /// only one part.
    // A record from elsewhere has none: how many may be read is up to the reader.
    #[serde(skip_deserializing)]
    pub parts: Vec<Recorder>,
}

fn histogram() -> Histogram<u64> {
    // Three digits from 1 µs to an hour: an error of 0.1 %, in about 200 KB.
    let histogram = Histogram::new_with_bounds(1_000, 3_600_000_000_000, 3);
    histogram.expect("bounds and digits are within those of a histogram")
}

/// Histograms as numbers: a value, its count, the next value, its count, and so on. All that a histogram counts is kept.
mod counts {
    use std::fmt;

    use hdrhistogram::Histogram;
    use serde::de::{Deserializer, Error, SeqAccess, Visitor};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(histogram: &Histogram<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        let values = histogram.iter_recorded();
        // The length must be known before.
        let numbers: Vec<u64> = values.flat_map(|value| [value.value_iterated_to(), value.count_at_value()]).collect();
        serializer.collect_seq(numbers)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Histogram<u64>, D::Error> {
        struct Counts;

        impl<'de> Visitor<'de> for Counts {
            type Value = Histogram<u64>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("values with their counts")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Histogram<u64>, A::Error> {
                // It grows with what is read: a histogram of all times takes 200 KB, however short its text is.
                let mut histogram = Histogram::new_with_bounds(1_000, 2_000, 3).map_err(A::Error::custom)?;
                histogram.auto(true);
                let mut sum = 0u64;
                while let Some(value) = numbers.next_element()? {
                    if value >= super::END {
                        return Err(A::Error::custom(format_args!("found the time {value}, expected at most an hour")));
                    }
                    let count = numbers.next_element()?.filter(|count| *count <= super::MAX_COUNT - sum);
                    let count = count.ok_or_else(|| A::Error::custom("a value has no possible count"))?;
                    sum += count;
                    histogram.record_n(value, count).map_err(A::Error::custom)?;
                }
                Ok(histogram)
            }
        }

        deserializer.deserialize_seq(Counts)
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Recorder {
            requests: 0,
            errors: 0,
            not_sent: 0,
            warmup_errors: 0,
            verified: 0,
            reasons: Vec::new(),
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
    /// Records a right answer.
    pub(crate) fn answer(&mut self, judged: &Judged, latency: Duration, service: Duration) {
        self.requests += 1;
        self.verified += u64::from(judged.verified);
        self.bytes_out += judged.answer.bytes_out;
        self.bytes_in += judged.answer.bytes_in;
        self.matches += judged.answer.matches;
        self.latency.saturating_record(nanoseconds(latency));
        self.service.saturating_record(nanoseconds(service));
    }

    /// Records a failure and its reason.
    pub(crate) fn error(&mut self, was_sent: bool, why: &str) {
        self.errors += 1;
        self.not_sent += u64::from(!was_sent);
        self.reason(why, 1);
    }

    /// Records why `count` requests failed.
    pub(crate) fn reason(&mut self, text: &str, count: u64) {
        // Part of the text may be from a server, and it is shown on terminals and pages.
        let text = &*castile_xml::visible_lines(text);
        let found = self.reasons.iter().position(|known| is_same_reason(&known.text, text));
        match found {
            Some(place) => self.reasons[place].count += count,
            None if self.reasons.len() < LISTED_REASONS => self.reasons.push(Reason { count, text: text.to_owned() }),
            None => match self.reasons.iter_mut().find(|known| known.text == OTHER_REASONS) {
                Some(others) => others.count += count,
                None => self.reasons.push(Reason { count, text: OTHER_REASONS.to_owned() }),
            },
        }
    }

    /// Records how late the driver woke.
    pub(crate) fn woken(&mut self, late: Duration) {
        self.lag.saturating_record(nanoseconds(late));
    }

    /// Returns the record of a part.
    pub(crate) fn part(&mut self, index: usize) -> &mut Recorder {
        if self.parts.len() <= index {
            self.parts.resize_with(index + 1, Recorder::default);
        }
        &mut self.parts[index]
    }

    /// Takes everything that was recorded. A reason that was taken is still known: it keeps the text with which it first occurred.
    #[must_use]
    pub fn take(&mut self) -> Recorder {
        self.take_for(Recorder::default())
    }

    /// Takes everything as [`take`](Self::take) does, and goes on with an empty record, since the histograms of a new one take time to make.
    pub(crate) fn take_for(&mut self, mut empty: Recorder) -> Recorder {
        let mut empty_parts = std::mem::take(&mut empty.parts).into_iter();
        let mut taken = std::mem::replace(self, empty);
        self.reasons = taken.reasons.iter().map(|reason| Reason { count: 0, text: reason.text.clone() }).collect();
        taken.reasons.retain(|reason| reason.count > 0);
        self.parts = std::mem::take(&mut taken.parts);
        let take = |part: &mut Recorder| part.take_for(empty_parts.next().unwrap_or_default());
        taken.parts = self.parts.iter_mut().map(take).collect();
        taken
    }

    /// Forgets everything, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        let Recorder { requests, errors, not_sent, warmup_errors, verified, bytes_out, bytes_in, matches, .. } = self;
        for count in [requests, errors, not_sent, warmup_errors, verified, bytes_out, bytes_in, matches] {
            *count = 0;
        }
        (self.reasons, self.exhausted) = Default::default();
        for histogram in [&mut self.latency, &mut self.service, &mut self.lag] {
            histogram.reset();
        }
        self.parts.iter_mut().for_each(Recorder::clear);
    }

    /// Returns whether no sum overflows when many such records are merged.
    pub(crate) fn is_possible(&self) -> bool {
        let Recorder { requests, errors, not_sent, warmup_errors, verified, bytes_out, bytes_in, matches, .. } = self;
        let Recorder { latency, service, .. } = self;
        let counts = [requests, errors, not_sent, verified, bytes_out, bytes_in, matches];
        counts.into_iter().all(|count| *count <= MAX_COUNT)
            && is_possible(self.reasons.iter().map(|reason| reason.count))
            && warmup_errors <= errors
            && latency.len().max(service.len()) <= *requests
    }

    /// Adds another record.
    pub fn merge(&mut self, other: Recorder) {
        self.add(&other);
    }

    /// Adds a copy of another record.
    pub(crate) fn add(&mut self, other: &Recorder) {
        self.requests += other.requests;
        self.errors += other.errors;
        self.not_sent += other.not_sent;
        self.warmup_errors += other.warmup_errors;
        self.verified += other.verified;
        other.reasons.iter().for_each(|reason| self.reason(&reason.text, reason.count));
        self.bytes_out += other.bytes_out;
        self.bytes_in += other.bytes_in;
        self.matches += other.matches;
        self.exhausted = self.exhausted.take().or_else(|| other.exhausted.clone());
        for (own, others) in
            [(&mut self.latency, &other.latency), (&mut self.service, &other.service), (&mut self.lag, &other.lag)]
        {
            own.add(others).expect("all recorders have the same bounds");
        }
        for (index, part) in other.parts.iter().enumerate() {
            self.part(index).add(part);
        }
    }
}

/// Returns whether the sum of counts is one that a record may have.
pub(crate) fn is_possible(mut counts: impl Iterator<Item = u64>) -> bool {
    let sum = counts.try_fold(0u64, |sum, count| sum.checked_add(count));
    sum.is_some_and(|sum| sum <= MAX_COUNT)
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns whether two texts give the same reason. Numbers are ignored, since they name a request, a line, a length or a time.
/// Only the numbers of statuses count.
fn is_same_reason(one: &str, other: &str) -> bool {
    without_numbers(one).eq(without_numbers(other))
}

/// Returns the bytes of a text, with each run of digits reduced to one digit unless it is a status.
fn without_numbers(text: &str) -> impl Iterator<Item = u8> {
    const STATUS: &[u8] = b"status ";
    let bytes = text.as_bytes();
    let (mut in_number, mut is_status) = (false, false);
    bytes.iter().enumerate().filter_map(move |(at, byte)| {
        let was_in_number = std::mem::replace(&mut in_number, byte.is_ascii_digit());
        if in_number && !was_in_number {
            is_status = bytes[..at].ends_with(STATUS);
        }
        match (was_in_number, in_number) {
            (_, true) if is_status => Some(*byte),
            (true, true) => None,
            (false, true) => Some(b'0'),
            (_, false) => Some(*byte),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_reason() {
        let mut record = Recorder::default();
        for order in 0..100 {
            record.error(true, &format!("status 500, expected 200: Server: order {order} is unknown"));
            record.error(order % 2 == 0, &format!("status {}, expected 200", 500 + order % 2));
        }
        let mut other = Recorder::default();
        other.error(true, "status 501, expected 200");
        record.merge(other);
        let reasons: Vec<_> = record.reasons.iter().map(|reason| (reason.count, &*reason.text)).collect();
        let first = "status 500, expected 200: Server: order 0 is unknown";
        assert_eq!(reasons, [(100, first), (50, "status 500, expected 200"), (51, "status 501, expected 200")]);
        assert_eq!((record.errors, record.not_sent), (201, 50));
    }

    /// A table of errors that gets what happened since the last time once had a row for each time.
    #[test]
    fn a_reason_that_was_taken_keeps_its_text() {
        let mut record = Recorder::default();
        for order in 1..4 {
            let mut more = Recorder::default();
            more.error(true, &format!("order {order} is unknown"));
            more.part(1).error(true, &format!("part {order}"));
            record.merge(more);
            let taken = record.take();
            let first = |record: &Recorder| record.reasons.first().map(|reason| (reason.count, reason.text.clone()));
            assert_eq!((taken.errors, taken.reasons.len()), (1, 1));
            assert_eq!(first(&taken), Some((1, "order 1 is unknown".to_owned())));
            assert_eq!(first(&taken.parts[1]), Some((1, "part 1".to_owned())));
        }
        let rest = record.take();
        assert!(rest.errors == 0 && rest.reasons.is_empty() && rest.parts[1].reasons.is_empty());
    }

    #[test]
    fn a_record_that_was_taken_is_used_again() {
        let second = Duration::from_secs(1);
        let mut record = Recorder::default();
        let mut empty = Recorder::default();
        for _ in 0..3 {
            record.errors += 2;
            record.part(2).error(true, "no answer");
            record.part(0).woken(second);
            record.latency.saturating_record(1_000);
            record.exhausted = Some("no more memory".into());
            let mut taken = record.take_for(empty);
            let of = |record: &Recorder| {
                let reasons: u64 = record.reasons.iter().map(|reason| reason.count).sum();
                (record.errors, reasons, record.latency.len(), record.lag.len(), record.exhausted.is_some())
            };
            let all = |record: &Recorder| (of(record), record.parts.iter().map(of).collect::<Vec<_>>());
            let nothing = (0, 0, 0, 0, false);
            assert_eq!(all(&taken), ((2, 0, 1, 0, true), vec![(0, 0, 0, 1, false), nothing, (1, 1, 0, 0, false)]));
            assert_eq!(all(&record), (nothing, vec![nothing; 3]));
            taken.clear();
            assert_eq!(all(&taken), (nothing, vec![nothing; 3]));
            empty = taken;
        }
    }

    #[test]
    fn reasons_turn_no_text_and_steer_no_terminal() {
        let mut record = Recorder::default();
        for _ in 0..2 {
            record.reason("status 500: \u{202e}drow\u{1b}[2J\nnext", 1);
        }
        let reasons: Vec<_> = record.reasons.iter().map(|reason| (reason.count, &*reason.text)).collect();
        assert_eq!(reasons, [(2, "status 500: \\u{202e}drow\\u{1b}[2J\nnext")]);
    }

    #[test]
    fn reasons_are_bounded() {
        let mut record = Recorder::default();
        for number in 0..1_000 {
            record.error(true, &"no ".repeat(number + 1));
        }
        assert_eq!(record.reasons.len(), LISTED_REASONS + 1);
        let last = Reason { count: 1_000 - LISTED_REASONS as u64, text: OTHER_REASONS.to_owned() };
        assert_eq!(record.reasons.last(), Some(&last));
    }
}
