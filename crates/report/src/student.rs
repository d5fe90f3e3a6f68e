//! The interval of a difference of two means by Welch's method, which permits different variances.

use serde::Serialize;

use crate::Spread;

/// The probability that the interval contains the true difference.
pub(crate) const CONFIDENCE: f64 = 0.95;
/// With more degrees of freedom than these, Student's distribution practically equals the normal distribution.
const MAX_DEGREES: f64 = 1_000.0;

/// The difference of two means, each of some runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Difference {
    /// The second minus the first, as a share of the first.
    pub(crate) relative: f64,
    /// The true difference is between `low` and `high`, with [`CONFIDENCE`].
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Difference {
    /// Returns the difference; `None` unless both were measured at least twice, since one run shows no variance.
    pub(crate) fn between(first: &Spread, second: &Spread) -> Option<Self> {
        let count = |spread: &Spread| spread.runs.len() as f64;
        if count(first) < 2.0 || count(second) < 2.0 || first.mean <= 0.0 {
            return None;
        }
        let variance = |spread: &Spread| spread.stddev.powi(2) / count(spread);
        let (a, b) = (variance(first), variance(second));
        let error = (a + b).sqrt();
        let margin = match error > 0.0 {
            true => {
                let degrees = (a + b).powi(2) / (a.powi(2) / (count(first) - 1.0) + b.powi(2) / (count(second) - 1.0));
                quantile(degrees) * error
            }
            false => 0.0,
        };
        let share = |difference: f64| difference / first.mean;
        let difference = second.mean - first.mean;
        Some(Difference {
            relative: share(difference),
            low: share(difference - margin),
            high: share(difference + margin),
        })
    }

    /// Returns whether the interval excludes zero.
    pub(crate) fn is_significant(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// Returns how many standard errors the interval reaches to each side. Degrees of freedom are rounded down, which makes the
/// interval wider.
fn quantile(degrees: f64) -> f64 {
    let degrees = degrees.clamp(1.0, MAX_DEGREES) as u32;
    let (mut low, mut high) = (0.0, 1_000.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        match within(middle, degrees) < CONFIDENCE {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// Returns the share of Student's distribution between -t and t (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(t: f64, degrees: u32) -> f64 {
    let angle = (t / f64::from(degrees).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = degrees % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = if degrees == 1 { 0.0 } else { term };
    let mut step = if odd { 2 } else { 1 };
    while step + 2 < degrees {
        term *= cosine * cosine * f64::from(step) / f64::from(step + 1);
        sum += term;
        step += 2;
    }
    if odd { std::f64::consts::FRAC_2_PI * (angle + sine * sum) } else { sine * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table =
            [(1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (4.0, 2.776), (5.9, 2.571), (10.0, 2.228), (120.0, 1.980)];
        for (degrees, expected) in table {
            assert!((quantile(degrees) - expected).abs() < 5e-4, "{degrees}: {}", quantile(degrees));
        }
    }

    #[test]
    fn a_difference_is_seen_when_the_interval_leaves_out_nothing() {
        let spread = |runs: &[f64]| Spread::of(runs.to_vec());
        // Computed by hand: means 100 and 110, variances 4 and 4 of 3 runs, error √(8/3), 4 degrees of freedom.
        let difference = Difference::between(&spread(&[98.0, 100.0, 102.0]), &spread(&[108.0, 110.0, 112.0])).unwrap();
        let margin = 2.776 * (8.0_f64 / 3.0).sqrt() / 100.0;
        assert!((difference.relative - 0.1).abs() < 1e-12);
        assert!((difference.low - (0.1 - margin)).abs() < 1e-5 && (difference.high - (0.1 + margin)).abs() < 1e-5);
        assert!(difference.is_significant());
        let noisy = Difference::between(&spread(&[90.0, 100.0, 110.0]), &spread(&[95.0, 103.0, 111.0])).unwrap();
        assert!(!noisy.is_significant(), "{noisy:?}");
        assert_eq!(Difference::between(&spread(&[100.0]), &spread(&[1.0, 2.0])), None);
        let same = Difference::between(&spread(&[5.0, 5.0]), &spread(&[5.0, 5.0])).unwrap();
        assert_eq!((same.low, same.high, same.is_significant()), (0.0, 0.0, false));
    }
}
