//! Where quakes are: the 50 seismic areas of Flinn and Engdahl and their 729 regions, as a published list names them.

use std::sync::LazyLock;

/// How many areas there are; they are numbered from 1.
pub(super) const AREAS: usize = 50;
/// How many regions there are; they are numbered from 1.
pub(super) const REGIONS: usize = 729;

/// The names of areas and regions, each at its number less one.
#[derive(Debug)]
pub(super) struct Names {
    areas: Vec<&'static str>,
    regions: Vec<Region>,
}

/// A region.
#[derive(Debug)]
pub(super) struct Region {
    /// The number of the area that it belongs to.
    pub(super) area: u16,
    /// Its name, in capitals.
    pub(super) name: &'static str,
}

impl Names {
    /// The list that stands in `data/regions.txt`, whose licence stands beside it.
    pub(super) fn published() -> &'static Names {
        static NAMES: LazyLock<Names> = LazyLock::new(|| Names::read(include_str!("../../data/regions.txt")));
        &NAMES
    }

    /// The name of the area of this number, 1 to [`AREAS`]; readers of catalogues see to that.
    pub(super) fn area(&self, number: u16) -> &'static str {
        self.areas[usize::from(number) - 1]
    }

    /// The region of this number, 1 to [`REGIONS`].
    pub(super) fn region(&self, number: u16) -> &Region {
        &self.regions[usize::from(number) - 1]
    }

    /// The numbers of the regions of an area, in ascending order.
    pub(super) fn regions_of(&self, area: u16) -> impl Iterator<Item = u16> {
        (1_u16..).zip(&self.regions).filter(move |(_, region)| region.area == area).map(|(number, _)| number)
    }

    /// Reads `* NUMBER NAME` for areas, and `NUMBER AREA NAME` for regions, both in order. The list is part of this program,
    /// so that what is wrong with it is seen by whoever changes it.
    fn read(list: &'static str) -> Names {
        let mut names = Names { areas: Vec::with_capacity(AREAS), regions: Vec::with_capacity(REGIONS) };
        for line in list.lines() {
            let read = match line.trim_start().strip_prefix('*') {
                Some(area) => number(area).filter(|(number, _)| *number == names.areas.len() + 1).map(|(_, name)| {
                    names.areas.push(name);
                }),
                None => number(line).filter(|(number, _)| *number == names.regions.len() + 1).and_then(|(_, rest)| {
                    let (area, name) = number(rest)?;
                    names.regions.push(Region { area: u16::try_from(area).ok()?, name });
                    Some(())
                }),
            };
            assert!(read.is_some(), "the list of regions has {line:?}, where the next area or region was expected");
        }
        assert_eq!((names.areas.len(), names.regions.len()), (AREAS, REGIONS), "areas and regions");
        names
    }
}

/// A number and what comes after it.
fn number(text: &str) -> Option<(usize, &str)> {
    let (number, rest) = text.trim().split_once(' ')?;
    Some((number.parse().ok()?, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_region_belongs_to_an_area() {
        let names = Names::published();
        let of_areas: usize = (1..=AREAS as u16).map(|area| names.regions_of(area).count()).sum();
        assert_eq!(of_areas, REGIONS);
        assert_eq!((names.area(48), names.region(729).name), ("Hindu Kush and Pamir Area", "ANTARCTICA"));
    }
}
