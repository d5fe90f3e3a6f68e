//! The queries of the article, from its own generator.

use super::catalogue::{Bounds, Query};
use super::time::seconds;
use crate::random::JavaRandom;

/// One of the article's runs: queries that cover a part of time, longitude and latitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Set {
    /// The name of the run: the part, an `x` and the number of queries.
    pub name: &'static str,
    /// The approximate part of the whole span that a query covers.
    pub fraction: f64,
    /// The number of queries.
    pub queries: usize,
}

/// The article's four runs, in its order.
pub const SETS: [Set; 4] = [
    Set { name: ".01x200", fraction: 0.01, queries: 200 },
    Set { name: ".05x100", fraction: 0.05, queries: 100 },
    Set { name: ".2x20", fraction: 0.2, queries: 20 },
    Set { name: ".5x10", fraction: 0.5, queries: 10 },
];

impl Set {
    /// Returns its queries, which are always the same.
    pub fn queries(&self) -> impl Iterator<Item = Query> {
        let mut random = JavaRandom::new(SEED);
        let fraction = self.fraction;
        std::iter::repeat_with(move || query(&mut random, fraction)).take(self.queries)
    }
}

/// The seed of each thread of the article's client.
const SEED: u64 = 5;

/// Returns the earliest and the latest time that the client queries, in milliseconds since 1970.
pub(super) fn span() -> (i64, i64) {
    (seconds(2000, 1, 1, 1, 19, 26) * 1_000, seconds(2003, 8, 31, 23, 7, 59) * 1_000)
}

/// Draws six numbers for a query, in this order. The conversions to `f32` are in the same places as in the
/// Java client.
fn query(random: &mut JavaRandom, fraction: f64) -> Query {
    let half = fraction / 2.0;
    let half_root = fraction.sqrt() / 2.0;
    let (start, end) = span();
    let length = ((random.next_double() * half + half) * (end - start) as f64) as i64;
    let start = start + (random.next_double() * (end - start - length) as f64) as i64;
    let mut bounds = |whole: f64| {
        let length = ((random.next_double() * half_root + half_root) * whole) as f32;
        let least = (random.next_double() * (whole - f64::from(length))) as f32 - (whole / 2.0) as f32;
        Bounds { least: Some(least), below: Some(least + length) }
    };
    let longitude = bounds(360.0);
    let latitude = bounds(180.0);
    Query { from: Some(start), to: Some(start + length), longitude, latitude, ..Query::default() }
}
