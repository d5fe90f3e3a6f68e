//! The synthetic catalogue: as many quakes as in the article, in the same areas and years. The article's own catalogue isn't
//! available.
//!
//! It is computed with additions, multiplications and comparisons only, so that it is the same on every machine.

use super::catalogue::{Catalogue, Quake};
use super::queries::span;
use super::regions::Names;
use crate::random::JavaRandom;

/// The number of quakes.
const QUAKES: usize = 93_000;

/// Latitude and longitude of the middle of an area, its extent to both sides (all in degrees), and how many of a thousand
/// quakes are in it. These are a rough picture of the world, not science.
type Area = [i16; 5];

#[rustfmt::skip]
const AREAS: [Area; super::regions::AREAS] = [
    [55, -160, 6, 15, 57], [54, -132, 6, 8, 14], [38, -119, 5, 4, 56], [28, -112, 4, 3, 7], [17, -97, 3, 7, 29],
    [11, -86, 3, 4, 22], [15, -67, 5, 10, 21], [-17, -72, 16, 5, 57], [-48, -73, 5, 4, 4], [-58, -30, 4, 12, 15],
    [-40, 174, 6, 4, 28], [-24, -175, 9, 3, 50], [-19, 177, 3, 2, 36], [-16, 168, 5, 2, 28], [-7, 154, 3, 6, 28],
    [-4, 139, 3, 7, 21], [9, 143, 4, 8, 4], [22, 143, 8, 4, 28], [44, 147, 8, 9, 50], [29, 130, 5, 5, 22],
    [24, 122, 2, 2, 29], [11, 125, 6, 3, 28], [0, 121, 3, 4, 27], [-8, 113, 3, 9, 35], [20, 97, 7, 5, 7],
    [29, 93, 5, 9, 14], [38, 88, 3, 9, 14], [47, 92, 5, 13, 5], [33, 54, 5, 7, 21], [38, 30, 6, 9, 36],
    [39, 8, 5, 9, 14], [10, -33, 35, 9, 15], [-18, 68, 20, 17, 14], [40, -82, 8, 10, 3], [-10, -48, 10, 7, 1],
    [53, 2, 7, 9, 3], [0, 28, 17, 9, 7], [-26, 134, 7, 11, 2], [15, -150, 15, 16, 4], [78, 10, 6, 35, 7],
    [38, 118, 7, 9, 4], [68, -140, 5, 25, 4], [-48, -112, 12, 18, 7], [1, -92, 3, 4, 3], [-55, 160, 5, 6, 3],
    [5, 95, 5, 3, 10], [28, 65, 2, 3, 4], [36, 71, 2, 2, 29], [58, 75, 8, 35, 1], [-75, 80, 7, 70, 1],
];

/// The methods, and how many of a hundred magnitudes each determined.
const METHODS: [(&str, u32); 6] = [("MB", 41), ("ML", 17), ("MD", 13), ("MS", 11), ("MW", 10), ("UK", 8)];

/// Creates the catalogue.
pub(super) fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::new();
    let methods: Vec<(u16, u32)> =
        METHODS.iter().filter_map(|(name, share)| Some((catalogue.number_of_method(name)?, *share))).collect();
    let whole: u32 = AREAS.iter().map(|area| area[4] as u32).sum();
    let mut random = JavaRandom::new(SEED);
    let (mut done, mut before) = (0, 0);
    for (number, area) in (1_u16..).zip(&AREAS) {
        before += area[4] as u32;
        // The shares are cumulative, so that all together give the exact number of quakes.
        let end = QUAKES * before as usize / whole as usize;
        let maker = Maker::new(number, area, &methods, &mut random);
        catalogue.extend(number, (done..end).map(|_| maker.quake(&mut random)));
        done = end;
    }
    catalogue
}

const SEED: u64 = 93_000;

/// Makes the quakes of one area.
struct Maker<'a> {
    /// Number, latitude and longitude of each region, in thousandths of a degree.
    regions: Vec<(u16, f64, f64)>,
    reach: f64,
    methods: &'a [(u16, u32)],
}

impl<'a> Maker<'a> {
    fn new(number: u16, area: &Area, methods: &'a [(u16, u32)], random: &mut JavaRandom) -> Self {
        let [latitude, longitude, high, wide, _] = area.map(|degrees| f64::from(degrees) * 1_000.0);
        let mut around = |middle: f64, reach: f64| middle + (random.next_double() * 2.0 - 1.0) * reach;
        let regions = Names::published().regions_of(number);
        let regions = regions.map(|region| (region, around(latitude, high), around(longitude, wide))).collect();
        Maker { regions, reach: high.min(wide), methods }
    }

    fn quake(&self, random: &mut JavaRandom) -> Quake {
        let (start, end) = span();
        let millis = start + (random.next_double() * (end - start + 1) as f64) as i64;
        // Most quakes are in a few of the regions.
        let skew = random.next_double() * random.next_double();
        let (region, latitude, longitude) = self.regions[(skew * self.regions.len() as f64) as usize];
        let mut near = |middle: f64, most: f64| {
            let bell = random.next_double() + random.next_double() + random.next_double() - 1.5;
            // Thousandths of a degree, which is the precision of real catalogues.
            ((middle + bell * self.reach * 0.6).clamp(-most, most).round() / 1_000.0) as f32
        };
        let (latitude, longitude) = (near(latitude, 90_000.0), near(longitude, 179_999.0));
        let depth = match random.next_double() {
            // Catalogues have 10 or 33 if the depth isn't known.
            x if x < 0.2 => 10.0,
            x if x < 0.4 => 33.0,
            _ => {
                let [x, y, z] = [random.next_double(), random.next_double(), random.next_double()];
                (x * y * z * 7_000.0).round() / 10.0
            }
        };
        // Ten times fewer for each step of the scale (Gutenberg and Richter), in tenths.
        let mut tenths = 25;
        while tenths < 90 && random.next_double() < 0.794 {
            tenths += 1;
        }
        Quake {
            millis,
            latitude,
            longitude,
            depth: depth as f32,
            magnitude: (f64::from(tenths) / 10.0) as f32,
            method: self.method(random),
            region,
        }
    }

    fn method(&self, random: &mut JavaRandom) -> u16 {
        let mut left = (random.next_double() * 100.0) as u32;
        for (method, share) in self.methods {
            match left.checked_sub(*share) {
                Some(less) => left = less,
                None => return *method,
            }
        }
        // The shares add up to a hundred, so the loop always returns.
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::Query;
    use super::*;

    #[test]
    fn there_are_as_many_quakes_as_the_article_had() {
        assert_eq!(METHODS.iter().map(|(_, share)| share).sum::<u32>(), 100);
        let catalogue = catalogue();
        assert_eq!(catalogue.quakes(), QUAKES);
        let all = catalogue.find(&Query::default());
        assert_eq!(all.len(), super::super::regions::AREAS);
        let (start, end) = span();
        for found in &all {
            for quake in &found.quakes {
                assert!((start..=end).contains(&quake.millis) && quake.latitude.abs() <= 90.0, "{quake:?}");
                assert_eq!(Names::published().region(quake.region).area, found.area);
            }
            assert!(found.quakes.is_sorted_by_key(|quake| quake.millis));
        }
    }
}
