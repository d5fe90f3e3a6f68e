//! The 50 seismic areas of Flinn and Engdahl and their 729 regions, with the names of a published list.

use std::sync::LazyLock;

/// The number of areas; they are numbered from 1.
pub(super) const AREAS: usize = 50;
/// The number of regions; they are numbered from 1.
pub(super) const REGIONS: usize = 729;

/// The names of areas and regions. The index of each is its number minus one.
#[derive(Debug)]
pub(super) struct Names {
    areas: Vec<&'static str>,
    regions: Vec<Region>,
}

/// A region.
#[derive(Debug)]
pub(super) struct Region {
    /// The number of its area.
    pub(super) area: u16,
    /// Its name, in capitals.
    pub(super) name: &'static str,
}

impl Names {
    /// Returns the list in `data/regions.txt`. Its licence is in the same folder.
    pub(super) fn published() -> &'static Names {
        static NAMES: LazyLock<Names> = LazyLock::new(|| Names::read(include_str!("../../data/regions.txt")));
        &NAMES
    }

    /// Returns the name of the area of this number, which must be from 1 to [`AREAS`]. Readers of catalogues check that.
    pub(super) fn area(&self, number: u16) -> &'static str {
        self.areas[usize::from(number) - 1]
    }

    /// Returns the region of this number, which must be from 1 to [`REGIONS`].
    pub(super) fn region(&self, number: u16) -> &Region {
        &self.regions[usize::from(number) - 1]
    }

    /// Returns the numbers of the regions of an area, in ascending order.
    pub(super) fn regions_of(&self, area: u16) -> impl Iterator<Item = u16> {
        (1_u16..).zip(&self.regions).filter(move |(_, region)| region.area == area).map(|(number, _)| number)
    }

    /// Reads `* NUMBER NAME` for areas, and `NUMBER AREA NAME` for regions, both in order. The list is part of this program,
    /// so its author notices errors in it.
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

/// Splits a text into its leading number and the rest.
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
