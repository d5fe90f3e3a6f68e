//! Random latencies and faults of answers.

use std::str::FromStr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::quantity;

/// The maximum latency, because the client under test waits for it.
pub(super) const MAX_LATENCY: Duration = Duration::from_secs(600);

/// The latency of answers: a random time in a range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Latency {
    min: Duration,
    max: Duration,
}

impl FromStr for Latency {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let time = |text: &str| {
            let time = quantity::time(text.trim());
            time.map_err(|_| {
                "expected a time such as 50ms, or two such as 20ms..80ms; a bare number is seconds".to_owned()
            })
        };
        let latency = Latency { min: time(least)?, max: time(most)? };
        if latency.min > latency.max {
            return Err("expected the shorter time first, such as 20ms..80ms".to_owned());
        }
        if latency.max > MAX_LATENCY {
            return Err(format!("expected at most {}", humantime::format_duration(MAX_LATENCY)));
        }
        Ok(latency)
    }
}

impl Latency {
    /// Returns the maximum latency.
    pub(super) fn maximum(self) -> Duration {
        self.max
    }
}

/// Parses a share: `5%` or `0.05`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, whole) = match text.trim().strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if (0.0..=whole).contains(&number) => Ok(number / whole),
        _ => Err("expected a share such as 5% or 0.05".to_owned()),
    }
}

/// Random decisions.
#[derive(Debug)]
pub(super) struct Random {
    random: Mutex<fastrand::Rng>,
    fault_rate: f64,
}

impl Random {
    /// With a seed, the sequence of decisions is always the same.
    pub(super) fn new(seed: Option<u64>, fault_rate: f64) -> Self {
        let random = seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        Random { random: Mutex::new(random), fault_rate }
    }

    /// Returns whether the next answer is a fault.
    pub(super) fn is_fault(&self) -> bool {
        self.fault_rate > 0.0 && self.with(|random| random.f64() < self.fault_rate)
    }

    /// Returns the latency of the next answer.
    pub(super) fn pick_latency(&self, latency: Latency) -> Duration {
        match latency.min == latency.max {
            true => latency.min,
            false => latency.min + (latency.max - latency.min).mul_f64(self.with(fastrand::Rng::f64)),
        }
    }

    /// Returns a random index below `count`.
    pub(super) fn pick_index(&self, count: usize) -> usize {
        self.with(|random| random.usize(..count.max(1)))
    }

    fn with<T>(&self, decide: impl FnOnce(&mut fastrand::Rng) -> T) -> T {
        decide(&mut self.random.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_times_or_ranges() {
        let ms = Duration::from_millis;
        for (text, least, most) in [("50ms", 50, 50), ("20ms..80ms", 20, 80), ("0.5..1", 500, 1000)] {
            assert_eq!(text.parse(), Ok(Latency { min: ms(least), max: ms(most) }), "{text}");
        }
        for (text, expected) in [
            ("soon", "expected a time such as 50ms"),
            ("80ms..20ms", "expected the shorter time first"),
            ("1h", "expected at most 10m"),
            ("1ms..", "expected a time such as 50ms"),
        ] {
            assert!(text.parse::<Latency>().unwrap_err().starts_with(expected), "{text}");
        }
        let chance = Random::new(Some(1), 0.5);
        let latency = "20ms..80ms".parse().unwrap();
        assert!((0..100).all(|_| (ms(20)..=ms(80)).contains(&chance.pick_latency(latency))));
        let faults = (0..1_000).filter(|_| chance.is_fault()).count();
        assert!((400..600).contains(&faults), "{faults}");
    }

    #[test]
    fn shares_are_percentages_or_numbers() {
        assert_eq!((share("5%"), share("0.05"), share("0"), share("100 %")), (Ok(0.05), Ok(0.05), Ok(0.0), Ok(1.0)));
        for wrong in ["101%", "-1", "2", "x", "", "%", "nan"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
