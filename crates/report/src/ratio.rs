//! The cost of one target as a multiple of another's, with an interval. Targets take turns in short slices, and slices are
//! compared in pairs, so a disturbance affects both sides of a pair.

use std::fmt;

use crate::student::{CONFIDENCE, Difference};
use crate::{FLOOR, Ratio, Results, Row, Suite};

/// With fewer pairs than this, half of them would be too few for an interval.
const HALVED: usize = 12;

impl Ratio {
    /// Returns the ratio of two means, which has no interval.
    fn of_means(ratio: f64) -> Self {
        Ratio { ratio, interval: None, pairs: 0 }
    }

    /// Returns the ratio of pairs; `None` if there are no pairs.
    fn of_pairs(mut pairs: Vec<f64>) -> Option<Self> {
        pairs.sort_by(f64::total_cmp);
        let count = pairs.len();
        let (lower, upper) = (pairs.get(count.checked_sub(1)? / 2)?, pairs.get(count / 2)?);
        let interval = left_out(count).map(|left_out| [pairs[left_out], pairs[count - 1 - left_out]]);
        Some(Ratio { ratio: (lower + upper) / 2.0, interval, pairs: count })
    }

    /// Returns the difference from a ratio of another bench, if both have an interval. A difference counts as seen if the
    /// intervals don't overlap, which is the cautious choice.
    pub(crate) fn against(&self, first: &Ratio) -> Option<Difference> {
        let ([low, high], [first_low, first_high]) = (self.interval?, first.interval?);
        let share = |own: f64, first: f64| own / first - 1.0;
        (first_low > 0.0).then(|| Difference {
            relative: share(self.ratio, first.ratio),
            low: share(low, first_high),
            high: share(high, first_low),
        })
    }

    /// Formats the ratio with a sign and its interval, if it has one: `1.12× (1.10–1.15)`.
    pub(crate) fn written(&self, write: impl Fn(f64) -> String, sign: &str) -> String {
        let ratio = write(self.ratio);
        match self.interval {
            Some([low, high]) => format!("{ratio}{sign} ({}–{})", write(low), write(high)),
            None => ratio + sign,
        }
    }
}

/// `1.12 (1.10–1.15)`
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(crate::format::ratio, ""))
    }
}

impl Row {
    /// Returns the server's CPU time per request as a multiple of another row's; `None` if no request was answered.
    pub fn cpu_ratio(&self, other: &Row) -> Option<Ratio> {
        if self.requests == 0 {
            return None;
        }
        let of_pairs = || Ratio::of_pairs(quieter_half(self.pairs(other).collect()));
        let of_means = || {
            let ratio = self.server_cpu_us_per_request? / other.server_cpu_us_per_request?;
            Some(Ratio::of_means(ratio)).filter(|_| ratio.is_finite())
        };
        of_pairs().or_else(of_means)
    }

    /// Returns the pairs of slices in which two rows took turns; empty if they did not.
    fn pairs(&self, other: &Row) -> impl Iterator<Item = [f64; 2]> {
        let load = |row: &Row| (row.client, row.method, row.connections, row.keep_alive, row.series.len());
        let is_same = (&self.case, &self.style) == (&other.case, &other.style) && load(self) == load(other);
        let slices = self.series.iter().zip(&other.series).filter(move |_| is_same);
        let times =
            slices.filter_map(|(own, other)| Some([own.server_cpu_us_per_request?, other.server_cpu_us_per_request?]));
        times.filter(|times| times.iter().all(|time| time.is_finite() && *time > 0.0))
    }
}

impl Results {
    /// Sets how each row compares with the floor's.
    pub fn compare_with_floor(&mut self) {
        for suite in &mut self.suites {
            let ratios: Vec<_> = suite.cases.iter().map(|row| suite.times_floor(row)).collect();
            for (row, ratio) in suite.cases.iter_mut().zip(ratios) {
                row.times_floor = ratio;
            }
        }
    }
}

impl Suite {
    /// Returns the CPU time per request as a multiple of the floor's; `None` for the floor itself, and if there is none.
    pub(crate) fn times_floor(&self, row: &Row) -> Option<Ratio> {
        row.cpu_ratio(self.floor_of(row).filter(|_| row.target != FLOOR)?)
    }
}

/// Returns the ratios of the half of the pairs in which both sides together took least. Other processes that use the same caches
/// slow both sides, and the more affected side varies. The choice doesn't depend on which of the two took less.
fn quieter_half(mut pairs: Vec<[f64; 2]>) -> Vec<f64> {
    if pairs.len() >= HALVED {
        let both = |[own, other]: &[f64; 2]| own.ln() + other.ln();
        pairs.sort_by(|a, b| both(a).total_cmp(&both(b)));
        pairs.truncate(pairs.len().div_ceil(2));
    }
    pairs.into_iter().map(|[own, other]| own / other).collect()
}

/// Returns how many of `count` sorted values are left out at each end of the interval of their median; `None` if there are too few
/// values. The k-th values from both ends form a confidence interval of the median by the binomial distribution: each value is
/// above or below the median with equal probability.
fn left_out(count: usize) -> Option<usize> {
    let outside = (1.0 - CONFIDENCE) / 2.0;
    // The probability that k values are below the median, for k = 0, 1, …, as a logarithm, since there may be thousands of values.
    let mut term = -(count as f64) * std::f64::consts::LN_2;
    let mut below = term.exp();
    let mut left_out = None;
    for k in 0..count / 2 {
        if below > outside {
            break;
        }
        left_out = Some(k);
        term += ((count - k) as f64).ln() - ((k + 1) as f64).ln();
        below += term.exp();
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interval;

    /// Compared with tables of the sign test: the number of values, and the rank at which the interval begins, from 1.
    #[test]
    fn ranks_are_those_of_the_tables() {
        let table = [(6, 1), (8, 1), (9, 2), (12, 3), (15, 4), (16, 4), (20, 6), (25, 8), (50, 18), (100, 40)];
        for (count, rank) in table {
            assert_eq!(left_out(count), Some(rank - 1), "{count}");
        }
        assert_eq!([0, 1, 5].map(left_out), [None; 3]);
        let many = left_out(10_000).unwrap();
        assert!((4_895..=4_905).contains(&many), "{many}");
    }

    #[test]
    fn a_ratio_is_the_median_of_its_pairs() {
        let of = |pairs: &[f64]| Ratio::of_pairs(pairs.to_vec()).unwrap();
        assert_eq!(Ratio::of_pairs(vec![]), None);
        assert_eq!(of(&[1.5]), Ratio { ratio: 1.5, interval: None, pairs: 1 });
        assert_eq!(of(&[3.0, 1.0, 2.0]).ratio, 2.0);
        // One disturbed slice doesn't change the result.
        let nine = of(&[1.14, 1.10, 1.12, 1.13, 1.11, 9.0, 1.12, 1.15, 1.09]);
        assert_eq!(nine, Ratio { ratio: 1.12, interval: Some([1.10, 1.15]), pairs: 9 });
        assert_eq!(nine.to_string(), "1.12 (1.10–1.15)");
        assert_eq!(of(&[1.0, 2.0]).to_string(), "1.50");
    }

    #[test]
    fn disturbed_pairs_are_left_out_on_either_side() {
        let quiet = [[11.0, 10.0], [11.1, 10.0], [10.9, 10.0], [11.0, 9.9], [11.0, 10.1], [11.2, 10.0]];
        let disturbed = [[20.0, 10.0], [19.0, 11.0], [12.0, 20.0], [30.0, 25.0], [18.0, 10.0], [21.0, 9.0]];
        let all = Ratio::of_pairs(quieter_half([disturbed, quiet].concat())).unwrap();
        assert_eq!((all.pairs, all.ratio > 1.095 && all.ratio < 1.115), (6, true), "{all:?}");
        assert_eq!(quieter_half(disturbed.to_vec()).len(), 6, "of few, all count");
    }

    fn row(slices: &[f64]) -> Row {
        let results: Results = serde_json::from_str(include_str!("../tests/data/results.json")).unwrap();
        let slice = |cpu: &f64| Interval { server_cpu_us_per_request: Some(*cpu), ..Interval::default() };
        Row { series: slices.iter().map(slice).collect(), ..results.suites[0].cases[0].clone() }
    }

    #[test]
    fn slices_of_one_load_are_pairs() {
        let (own, other) = (row(&[2.0, 30.0, 6.0]), row(&[1.0, 10.0, 3.0]));
        assert_eq!(own.cpu_ratio(&other), Some(Ratio { ratio: 2.0, interval: None, pairs: 3 }));
        let means = Some(Ratio::of_means(1.0));
        for elsewhere in [
            row(&[1.0, 10.0]),
            Row { case: "another".to_owned(), ..other.clone() },
            Row { keep_alive: !other.keep_alive, ..other.clone() },
        ] {
            assert_eq!(own.cpu_ratio(&elsewhere), means, "the means, which are the same here");
        }
        assert_eq!(Row { requests: 0, ..own.clone() }.cpu_ratio(&other), None);
        let idle = Row { server_cpu_us_per_request: Some(0.0), ..row(&[]) };
        assert_eq!(own.cpu_ratio(&idle), None);
    }
}
