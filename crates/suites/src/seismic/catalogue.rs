//! A catalogue of quakes in memory, by area and time, and the search for quakes that match a query.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use super::regions::{AREAS, REGIONS};
use super::time::{moment, seconds};

/// The largest number of quakes in a file: about a hundred times those of the article.
const MAX_QUAKES: usize = 10_000_000;
/// The longest line of a file, in bytes.
const MAX_LINE_LENGTH: u64 = 1_024;

/// The quakes to find. An absent field is no restriction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// The earliest time, in milliseconds since 1970.
    pub from: Option<i64>,
    /// The latest time, in milliseconds since 1970.
    pub to: Option<i64>,
    /// In degrees; east is positive.
    pub longitude: Bounds,
    /// In degrees; north is positive.
    pub latitude: Bounds,
    /// On the Richter scale or a similar one.
    pub magnitude: Bounds,
    /// In kilometres.
    pub depth: Bounds,
}

impl Query {
    /// Returns whether a quake is within all bounds.
    pub fn matches(&self, quake: &Quake) -> bool {
        let in_time = self.from.is_none_or(|from| from <= quake.millis) && self.to.is_none_or(|to| quake.millis <= to);
        in_time && self.matches_except_time(quake)
    }

    /// Returns whether a quake is within all bounds except those of time.
    fn matches_except_time(&self, quake: &Quake) -> bool {
        self.longitude.contains(quake.longitude)
            && self.latitude.contains(quake.latitude)
            && self.magnitude.contains(quake.magnitude)
            && self.depth.contains(quake.depth)
    }
}

/// A range of numbers, from `least` (inclusive) to `below` (exclusive).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The lower bound, which is part of the range.
    pub least: Option<f32>,
    /// The upper bound, which is not part of the range.
    pub below: Option<f32>,
}

impl Bounds {
    /// Returns whether the number is in the range. NaN is in no range that has a bound.
    fn contains(&self, value: f32) -> bool {
        self.least.is_none_or(|least| least <= value) && self.below.is_none_or(|below| value < below)
    }

    /// Returns whether the range overlaps the one from `least` to `most`.
    fn overlaps(&self, least: f32, most: f32) -> bool {
        self.least.is_none_or(|mine| mine <= most) && self.below.is_none_or(|mine| least < mine)
    }
}

/// One quake.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quake {
    /// The time in milliseconds since 1970.
    pub millis: i64,
    /// In degrees; north is positive.
    pub latitude: f32,
    /// In degrees; east is positive.
    pub longitude: f32,
    /// In kilometres.
    pub depth: f32,
    /// On the scale of `method`.
    pub magnitude: f32,
    /// The method that determined the magnitude, as an index of [`Catalogue::methods`].
    pub method: u16,
    /// The number of the region, from 1.
    pub region: u16,
}

/// All known quakes, held in memory while the service runs.
#[derive(Debug)]
pub struct Catalogue {
    areas: Vec<Area>,
    methods: Vec<String>,
}

/// The quakes of one area in the order of time, and the rectangle that contains them.
#[derive(Clone, Debug, Default)]
struct Area {
    quakes: Vec<Quake>,
    latitude: Option<(f32, f32)>,
    longitude: Option<(f32, f32)>,
}

/// The quakes that were found in one area.
#[derive(Debug, PartialEq)]
pub struct Found<'a> {
    /// The number of the area, from 1.
    pub area: u16,
    /// The numbers of the quakes' regions, in ascending order.
    pub regions: Vec<u16>,
    /// The quakes in the order of time.
    pub quakes: Vec<&'a Quake>,
}

impl Found<'_> {
    /// Returns the index of a quake's region in `regions`.
    pub(super) fn region_of(&self, quake: &Quake) -> Option<usize> {
        self.regions.binary_search(&quake.region).ok()
    }
}

fn found<'a>(number: u16, area: &'a Area, query: &Query) -> Option<Found<'a>> {
    let quakes = area.find(query);
    // Small queries find no quakes in most areas.
    (!quakes.is_empty()).then(|| Found { area: number, regions: regions_of(&quakes), quakes })
}

impl Catalogue {
    /// Creates an empty catalogue.
    pub(super) fn new() -> Self {
        Catalogue { areas: vec![Area::default(); AREAS], methods: Vec::new() }
    }

    /// Adds quakes to an area, which must exist. They may be in any order; quakes of the same time keep their order.
    pub(super) fn extend(&mut self, area: u16, quakes: impl IntoIterator<Item = Quake>) {
        let area = &mut self.areas[usize::from(area) - 1];
        let quakes = quakes.into_iter();
        area.quakes.reserve(quakes.size_hint().0);
        for quake in quakes {
            widen(&mut area.latitude, quake.latitude);
            widen(&mut area.longitude, quake.longitude);
            area.quakes.push(quake);
        }
        // Files are usually sorted by time, so this only has to check the order.
        area.quakes.sort_by_key(|quake| quake.millis);
    }

    /// Returns the number of a method, and assigns one if it is new; `None` if there would be more than 65,536.
    pub(super) fn number_of_method(&mut self, name: &str) -> Option<u16> {
        let known = self.methods.iter().position(|method| method == name);
        let number = u16::try_from(known.unwrap_or(self.methods.len())).ok()?;
        if known.is_none() {
            self.methods.push(name.to_owned());
        }
        Some(number)
    }

    /// Returns the names of the methods, indexed by their numbers.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// Returns the number of quakes.
    pub fn quakes(&self) -> usize {
        self.areas.iter().map(|area| area.quakes.len()).sum()
    }

    /// Returns the quakes that match a query, by area in ascending order, without areas that have none.
    pub fn find(&self, query: &Query) -> Vec<Found<'_>> {
        (1_u16..).zip(&self.areas).filter_map(|(number, area)| found(number, area, query)).collect()
    }

    /// Returns an upper bound for the number of quakes that a query finds, using only the bounds of areas and the order
    /// of time.
    pub(super) fn upper_bound(&self, query: &Query) -> usize {
        self.areas.iter().map(|area| area.within(query).len()).sum()
    }

    /// Returns the quakes of one area that match a query, if there are any.
    pub(super) fn find_in(&self, number: u16, query: &Query) -> Option<Found<'_>> {
        let area = self.areas.get(usize::from(number.checked_sub(1)?))?;
        found(number, area, query)
    }

    /// Reads a catalogue from a text file, which may be compressed with gzip.
    pub fn open(path: &Path) -> io::Result<Catalogue> {
        let mut file = BufReader::new(File::open(path)?);
        let is_packed = file.fill_buf()?.starts_with(&[0x1F, 0x8B]);
        if is_packed { Catalogue::read(BufReader::new(MultiGzDecoder::new(file))) } else { Catalogue::read(file) }
    }

    /// Reads a catalogue in the format of the article's service. A line has date and time in UTC, milliseconds,
    /// latitude, longitude, depth, magnitude, method, region and area: `2000-01-01 01:50:08 70 -7.679 123.604 59.6 2.5
    /// MB 273 24`.
    ///
    /// An error of [`io::ErrorKind::InvalidData`] names the line.
    pub fn read(mut lines: impl BufRead) -> io::Result<Catalogue> {
        let mut catalogue = Catalogue::new();
        let mut line = String::new();
        for number in 1.. {
            line.clear();
            if lines.by_ref().take(MAX_LINE_LENGTH).read_line(&mut line)? == 0 {
                break;
            }
            let read = if number > MAX_QUAKES {
                Err(format!("found more lines, expected at most {MAX_QUAKES}"))
            } else if line.len() as u64 == MAX_LINE_LENGTH {
                Err(format!("found a longer line, expected less than {MAX_LINE_LENGTH} bytes"))
            } else {
                catalogue.add_line(&line)
            };
            read.map_err(|problem| io::Error::new(io::ErrorKind::InvalidData, format!("line {number}: {problem}")))?;
        }
        for area in &mut catalogue.areas {
            area.quakes.sort_by_key(|quake| quake.millis);
        }
        Ok(catalogue)
    }

    /// Writes a catalogue in the format of [`read`](Self::read), area by area.
    pub fn write(&self, mut lines: impl Write) -> io::Result<()> {
        for (number, area) in (1_u16..).zip(&self.areas) {
            for quake in &area.quakes {
                let at = moment(quake.millis.div_euclid(1_000));
                let Quake { latitude, longitude, depth, magnitude, region, .. } = quake;
                writeln!(
                    lines,
                    "{:04}-{:02}-{:02} {:02}:{:02}:{:02} {} {latitude} {longitude} {depth} {magnitude} {} {region} {number}",
                    at.year,
                    at.month,
                    at.day,
                    at.hour,
                    at.minute,
                    at.second,
                    quake.millis.rem_euclid(1_000),
                    self.methods[usize::from(quake.method)],
                )?;
            }
        }
        Ok(())
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        let mut fields = Fields(line.split_ascii_whitespace());
        let date = fields.next("a date")?;
        let time = fields.next("a time")?;
        let whole = seconds_of(date, time).ok_or_else(|| {
            format!("found {:?}, expected a moment such as \"2000-01-01 01:50:08\"", format!("{date} {time}"))
        })?;
        let part: u16 = fields.number("milliseconds", |millis| *millis < 1_000)?;
        let latitude = fields.number("a latitude", |degrees: &f32| degrees.abs() <= 90.0)?;
        let longitude = fields.number("a longitude", |degrees: &f32| degrees.abs() <= 180.0)?;
        let depth = fields.number("a depth", |depth: &f32| depth.is_finite())?;
        let magnitude = fields.number("a magnitude", |magnitude: &f32| magnitude.is_finite())?;
        let method = fields.next("a method")?;
        let method = self.number_of_method(method).ok_or_else(|| format!("found {method:?}, one method too many"))?;
        let region = fields.number("a region, 1 to 729", |region| (1..=REGIONS as u16).contains(region))?;
        let area: u16 = fields.number("an area, 1 to 50", |area| (1..=AREAS as u16).contains(area))?;
        if let Ok(more) = fields.next("") {
            return Err(format!("found {more:?}, expected the end of the line"));
        }
        let millis = whole * 1_000 + i64::from(part);
        let area = &mut self.areas[usize::from(area) - 1];
        widen(&mut area.latitude, latitude);
        widen(&mut area.longitude, longitude);
        area.quakes.push(Quake { millis, latitude, longitude, depth, magnitude, method, region });
        Ok(())
    }
}

impl Area {
    fn find(&self, query: &Query) -> Vec<&Quake> {
        self.within(query).iter().filter(|quake| query.matches_except_time(quake)).collect()
    }

    /// Returns the quakes within the time of a query, if its bounds overlap those of the area.
    fn within(&self, query: &Query) -> &[Quake] {
        let (Some(latitude), Some(longitude)) = (self.latitude, self.longitude) else { return &[] };
        if !query.latitude.overlaps(latitude.0, latitude.1) || !query.longitude.overlaps(longitude.0, longitude.1) {
            return &[];
        }
        let first = query.from.map_or(0, |from| self.quakes.partition_point(|quake| quake.millis < from));
        let end = query.to.map_or(self.quakes.len(), |to| self.quakes.partition_point(|quake| quake.millis <= to));
        // The end of a query may be before its start.
        self.quakes.get(first..end).unwrap_or_default()
    }
}

fn regions_of(quakes: &[&Quake]) -> Vec<u16> {
    let mut hit = [false; REGIONS + 1];
    for quake in quakes {
        hit[usize::from(quake.region)] = true;
    }
    (0_u16..).zip(&hit).filter(|(_, hit)| **hit).map(|(number, _)| number).collect()
}

fn widen(range: &mut Option<(f32, f32)>, value: f32) {
    *range = Some(range.map_or((value, value), |(least, most)| (least.min(value), most.max(value))));
}

/// The remaining fields of a line.
struct Fields<'a>(std::str::SplitAsciiWhitespace<'a>);

impl<'a> Fields<'a> {
    fn next(&mut self, what: &str) -> Result<&'a str, String> {
        self.0.next().ok_or_else(|| format!("found the end of the line, expected {what}"))
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str, is_right: impl Fn(&T) -> bool) -> Result<T, String> {
        let text = self.next(what)?;
        text.parse().ok().filter(is_right).ok_or_else(|| format!("found {text:?}, expected {what}"))
    }
}

/// Returns the seconds since 1970 of a date and a time, such as `2000-01-01` and `01:50:08`.
fn seconds_of(date: &str, time: &str) -> Option<i64> {
    fn three<T: std::str::FromStr>(text: &str, separator: char) -> Option<[T; 3]> {
        let mut parts = text.split(separator).map(str::parse);
        let three = [parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?];
        parts.next().is_none().then_some(three)
    }
    let [year, month, day]: [u16; 3] = three(date, '-')?;
    let [hour, minute, second]: [u8; 3] = three(time, ':')?;
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    // The calendar checks the day.
    castile::datatypes::DateTime::utc(i64::from(year), month, day, hour, minute, second)?;
    Some(seconds(i64::from(year), month, day, hour, minute, second))
}
