//! The common parts of the date and time types: calendar, time line, and fields of fixed width.

use std::cmp::Ordering;

/// The maximum offset of a time zone from UTC, in minutes.
pub(super) const MAX_ZONE_OFFSET: i16 = 14 * 60;

/// The position of a value on the time line (XSD Part 2 §3.2.7.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Instant {
    /// The time since a fixed point: in UTC if the value has a zone, else in its unknown local time.
    pub(super) nanoseconds: i128,
    pub(super) has_zone: bool,
}

impl Instant {
    /// Compares two instants. If only one has a zone, there is an order only if it is the same for all possible zones of the
    /// other one.
    pub(super) fn order(self, other: Self) -> Option<Ordering> {
        const FARTHEST: i128 = MAX_ZONE_OFFSET as i128 * NANOSECONDS_PER_MINUTE;
        let distance = self.nanoseconds - other.nanoseconds;
        if self.has_zone == other.has_zone {
            return Some(distance.cmp(&0));
        }
        (distance.abs() > FARTHEST).then(|| distance.cmp(&0))
    }
}

pub(super) const NANOSECONDS_PER_SECOND: i128 = 1_000_000_000;
pub(super) const NANOSECONDS_PER_MINUTE: i128 = 60 * NANOSECONDS_PER_SECOND;
pub(super) const NANOSECONDS_PER_DAY: i128 = 24 * 60 * NANOSECONDS_PER_MINUTE;

/// Converts a year of XSD to astronomical years, which have a year 0: −1, the year before 1, becomes 0.
pub(super) fn astronomical(year: i64) -> i64 {
    if year < 0 { year.saturating_add(1) } else { year }
}

/// Converts an astronomical year to a year of XSD.
pub(super) fn year_of_astronomical(year: i64) -> i64 {
    if year <= 0 { year.saturating_sub(1) } else { year }
}

/// Returns the number of days from 0000-03-01 to a day of the proleptic Gregorian calendar. The year is astronomical.
pub(super) fn day_number(year: i128, month: i128, day: i128) -> i128 {
    // If years begin in March, a leap day is the last day of its year.
    let months = year * 12 + month - 3;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (month * 153 + 2) / 5 + day - 1
}

/// Returns the date of a day number: the year of XSD, the month and the day.
pub(super) fn date_of(day_number: i128) -> (i64, u8, u8) {
    const DAYS_IN_400_YEARS: i128 = 146_097;
    let (era, day) = (day_number.div_euclid(DAYS_IN_400_YEARS), day_number.rem_euclid(DAYS_IN_400_YEARS));
    // Every fourth year is a day longer, except every hundredth, except every four hundredth. That one is the last year here.
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (year * 365 + year / 4 - year / 100);
    let month = (day_of_year * 5 + 2) / 153;
    let day = day_of_year - (month * 153 + 2) / 5 + 1;
    // The year begins in March.
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    (year_of_astronomical((era * 400 + year) as i64), month as u8, day as u8)
}

pub(super) fn days_in(year: i64, month: u8) -> u8 {
    let year = astronomical(year);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + u8::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Reads fields from a text.
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl Cursor<'_> {
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let there = self.0.first() == Some(&byte);
        if there {
            self.0 = &self.0[1..];
        }
        there
    }

    /// Returns the number of digits that follow.
    pub(super) fn digits(&self) -> usize {
        self.0.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    /// Reads exactly `digits` digits, at most 19.
    pub(super) fn number(&mut self, digits: usize) -> Option<u64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        if !number.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.0 = rest;
        Some(number.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
    }

    /// Reads the byte `before` and two digits.
    pub(super) fn field(&mut self, before: u8) -> Result<u8, Option<String>> {
        self.take(before).then(|| self.number(2)).flatten().map(|value| value as u8).ok_or(None)
    }

    pub(super) fn year(&mut self) -> Result<i64, Option<String>> {
        let negative = self.take(b'-');
        let digits = self.digits();
        if !(4..=18).contains(&digits) || (digits > 4 && self.0.first() == Some(&b'0')) {
            return Err(Some("a year has four digits, or up to 18 without a zero in front".into()));
        }
        let year = self.number(digits).ok_or(None)? as i64;
        Ok(if negative { -year } else { year })
    }

    /// Reads the fraction of a second in nanoseconds, if there is one.
    pub(super) fn fraction(&mut self) -> Result<u32, Option<String>> {
        if !self.take(b'.') {
            return Ok(0);
        }
        let digits = self.digits();
        let (fraction, rest) = self.0.split_at(digits);
        let (kept, beyond) = fraction.split_at(digits.min(9));
        if digits == 0 {
            return Err(None);
        }
        if beyond.iter().any(|&digit| digit != b'0') {
            return Err(Some("its fraction is finer than a nanosecond".into()));
        }
        self.0 = rest;
        let value = kept.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
        Ok(value * 10_u32.pow(9 - kept.len() as u32))
    }

    /// Reads the zone, if there is one. Nothing may follow it.
    pub(super) fn zone(&mut self) -> Result<Option<i16>, Option<String>> {
        let sign = match self.0 {
            [] => return Ok(None),
            b"Z" => return Ok(Some(0)),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return Err(None),
        };
        self.0 = &self.0[1..];
        let hours = self.number(2).ok_or(None)? as i16;
        let minutes = i16::from(self.field(b':')?);
        let offset = hours * 60 + minutes;
        if !self.0.is_empty() {
            return Err(None);
        }
        if minutes > 59 || offset > MAX_ZONE_OFFSET {
            return Err(Some("a time zone is at most 14:00 from UTC".into()));
        }
        Ok(Some(sign * offset))
    }
}

// ---- writing ----

pub(super) fn write_year(out: &mut Vec<u8>, year: i64) {
    if year < 0 {
        out.push(b'-');
    }
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(year.unsigned_abs());
    out.extend_from_slice(&b"0000"[digits.len().min(4)..]);
    out.extend_from_slice(digits.as_bytes());
}

/// Writes the byte `before` and two digits.
pub(super) fn write_field(out: &mut Vec<u8>, before: u8, value: u8) {
    out.push(before);
    write_two_digits(out, value);
}

pub(super) fn write_two_digits(out: &mut Vec<u8>, value: u8) {
    out.extend_from_slice(&[b'0' + value / 10 % 10, b'0' + value % 10]);
}

pub(super) fn write_fraction(out: &mut Vec<u8>, nanosecond: u32) {
    if nanosecond > 0 {
        let fraction = format!(".{nanosecond:09}");
        out.extend_from_slice(fraction.trim_end_matches('0').as_bytes());
    }
}

pub(super) fn write_zone(out: &mut Vec<u8>, offset_minutes: Option<i16>) {
    match offset_minutes {
        None => {}
        Some(0) => out.push(b'Z'),
        Some(offset) => {
            let minutes = offset.unsigned_abs();
            write_field(out, if offset < 0 { b'-' } else { b'+' }, (minutes / 60) as u8);
            write_field(out, b':', (minutes % 60) as u8);
        }
    }
}
