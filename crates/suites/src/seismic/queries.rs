//! The queries of the article, made by its own generator.

use super::catalogue::{Bounds, Query};
use super::time::seconds;
use crate::random::JavaRandom;

/// One of the article's runs: queries over a part of time, longitude and latitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Set {
    /// How the run is called: the part, an `x` and the number of queries.
    pub name: &'static str,
    /// The part of the whole span that a query covers, about.
    pub fraction: f64,
    /// How many queries there are.
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
    /// Its queries, which are the same each time.
    pub fn queries(&self) -> impl Iterator<Item = Query> {
        let mut random = JavaRandom::new(SEED);
        let fraction = self.fraction;
        std::iter::repeat_with(move || query(&mut random, fraction)).take(self.queries)
    }
}

/// Each thread of the article's client began with this seed.
const SEED: u64 = 5;

/// The first and the last moment that the client asks for, in milliseconds since 1970.
pub(super) fn span() -> (i64, i64) {
    (seconds(2000, 1, 1, 1, 19, 26) * 1_000, seconds(2003, 8, 31, 23, 7, 59) * 1_000)
}

/// Six numbers are drawn for a query, in this order. Conversions to `f32` stand where Java's client has them.
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
