use std::fmt;

use super::{SimpleType, collapse};

/// `xs:dateTime` (XSD Part 2 §3.2.7): a moment with or without a time zone.
///
/// It keeps what the text says: any year, fractions to the nanosecond, and whether a zone was given. `24:00:00` is the
/// midnight at which the next day begins, and is kept as that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DateTime {
    /// The year; there is no year 0, and −1 comes before 1.
    pub year: i64,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, 1 to 31.
    pub day: u8,
    /// The hour, 0 to 23.
    pub hour: u8,
    /// The minute, 0 to 59.
    pub minute: u8,
    /// The second, 0 to 59.
    pub second: u8,
    /// The fraction of the second, in nanoseconds.
    pub nanosecond: u32,
    /// How far local time is ahead of UTC, in minutes from −840 to 840. `None` if no zone was given, which is not
    /// the same as UTC.
    pub offset_minutes: Option<i16>,
}

/// The farthest zone from UTC, in minutes.
const FARTHEST_ZONE: i16 = 14 * 60;

impl DateTime {
    /// A moment in UTC, on the second.
    ///
    /// # Errors
    /// `None` if there is no such moment.
    pub fn utc(year: i64, month: u8, day: u8, hour: u8, minute: u8, second: u8) -> Option<Self> {
        let moment = DateTime { year, month, day, hour, minute, second, nanosecond: 0, offset_minutes: Some(0) };
        moment.exists().then_some(moment)
    }

    fn exists(&self) -> bool {
        self.year != 0
            && (1..=12).contains(&self.month)
            && (1..=days_in(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
            && self.nanosecond < 1_000_000_000
            && self.offset_minutes.is_none_or(|offset| offset.abs() <= FARTHEST_ZONE)
    }

    fn next_day(mut self) -> Self {
        self.hour = 0;
        self.day += 1;
        if self.day > days_in(self.year, self.month) {
            self.day = 1;
            self.month += 1;
        }
        if self.month > 12 {
            self.month = 1;
            self.year = if self.year == -1 { 1 } else { self.year + 1 };
        }
        self
    }
}

fn days_in(year: i64, month: u8) -> u8 {
    // The year before 1 is −1, which the proleptic Gregorian calendar counts as 0.
    let astronomical = if year < 0 { year + 1 } else { year };
    let leap = astronomical % 4 == 0 && (astronomical % 100 != 0 || astronomical % 400 == 0);
    match month {
        2 => 28 + u8::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl SimpleType for DateTime {
    const NAME: &'static str = "xs:dateTime";

    fn parse(text: &str) -> Result<Self, Option<String>> {
        let mut text = Cursor(collapse(text).as_bytes());
        let negative = text.take(b'-');
        let year_digits = text.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(4..=18).contains(&year_digits) || (year_digits > 4 && text.0.first() == Some(&b'0')) {
            return Err(Some("a year has four digits or more".into()));
        }
        let year = text.number(year_digits).ok_or(None)? as i64;
        let mut field = |before: u8, digits| text.take(before).then(|| text.number(digits)).flatten().ok_or(None);
        let [month, day] = [field(b'-', 2)?, field(b'-', 2)?].map(|value| value as u8);
        let [hour, minute, second] = [field(b'T', 2)?, field(b':', 2)?, field(b':', 2)?].map(|value| value as u8);
        let nanosecond = text.fraction()?;
        let offset_minutes = text.zone()?;
        if !text.0.is_empty() {
            return Err(None);
        }
        let year = if negative { -year } else { year };
        let midnight = (hour, minute, second, nanosecond) == (24, 0, 0, 0);
        let moment = DateTime::utc(year, month, day, if midnight { 0 } else { hour }, minute, second)
            .ok_or_else(|| Some("there is no such moment".into()))?;
        let moment = DateTime { nanosecond, offset_minutes, ..moment };
        Ok(if midnight { moment.next_day() } else { moment })
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        if !self.exists() {
            return false;
        }
        if self.year < 0 {
            out.push(b'-');
        }
        let mut year = itoa::Buffer::new();
        let year = year.format(self.year.unsigned_abs());
        out.extend_from_slice(&b"0000"[year.len().min(4)..]);
        out.extend_from_slice(year.as_bytes());
        for (before, value) in
            [(b'-', self.month), (b'-', self.day), (b'T', self.hour), (b':', self.minute), (b':', self.second)]
        {
            out.extend_from_slice(&[before, b'0' + value / 10 % 10, b'0' + value % 10]);
        }
        if self.nanosecond > 0 {
            let fraction = format!(".{:09}", self.nanosecond);
            out.extend_from_slice(fraction.trim_end_matches('0').as_bytes());
        }
        match self.offset_minutes {
            None => {}
            Some(0) => out.push(b'Z'),
            Some(offset) => {
                let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.unsigned_abs());
                out.extend_from_slice(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60).as_bytes());
            }
        }
        true
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::new();
        self.write(&mut out);
        f.write_str(&String::from_utf8_lossy(&out))
    }
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn take(&mut self, byte: u8) -> bool {
        let there = self.0.first() == Some(&byte);
        if there {
            self.0 = &self.0[1..];
        }
        there
    }

    /// Exactly `digits` digits, 18 at most.
    fn number(&mut self, digits: usize) -> Option<u64> {
        let (number, rest) = self.0.split_at_checked(digits)?;
        if !number.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.0 = rest;
        Some(number.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
    }

    fn fraction(&mut self) -> Result<u32, Option<String>> {
        if !self.take(b'.') {
            return Ok(0);
        }
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
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

    fn zone(&mut self) -> Result<Option<i16>, Option<String>> {
        let sign = match self.0.first() {
            None => return Ok(None),
            Some(b'Z') => {
                self.0 = &self.0[1..];
                return Ok(Some(0));
            }
            Some(b'+') => 1,
            Some(b'-') => -1,
            Some(_) => return Err(None),
        };
        self.0 = &self.0[1..];
        let hours = self.number(2).ok_or(None)? as i16;
        let minutes = self.take(b':').then(|| self.number(2)).flatten().ok_or(None)? as i16;
        let offset = hours * 60 + minutes;
        if minutes > 59 || offset > FARTHEST_ZONE {
            return Err(Some("a time zone is at most 14:00 from UTC".into()));
        }
        Ok(Some(sign * offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_and_written_as_they_are() {
        for text in [
            "2005-07-01T12:00:00Z",
            "2005-03-29T11:11:11",
            "2000-02-29T23:59:59.5+14:00",
            "-0044-03-15T12:00:00-00:30",
            "12005-01-01T00:00:00.000000001Z",
        ] {
            assert_eq!(DateTime::parse(text).map(|moment| moment.to_string()).as_deref(), Ok(text));
        }
        for (text, canonical) in [
            (" 2005-07-01T12:00:00.500+00:00 ", "2005-07-01T12:00:00.5Z"),
            ("1999-12-31T24:00:00", "2000-01-01T00:00:00"),
            ("-0001-12-31T24:00:00Z", "0001-01-01T00:00:00Z"),
            ("2004-02-28T24:00:00", "2004-02-29T00:00:00"),
            ("2004-01-01T00:00:00.1234567890000", "2004-01-01T00:00:00.123456789"),
        ] {
            assert_eq!(DateTime::parse(text).map(|moment| moment.to_string()).as_deref(), Ok(canonical));
        }
    }

    #[test]
    fn what_is_no_moment_is_not_written() {
        let moment = DateTime::utc(2005, 7, 1, 12, 0, 0).unwrap();
        assert!(moment.write(&mut Vec::new()));
        for wrong in [
            DateTime { month: 13, ..moment },
            DateTime { year: 0, ..moment },
            DateTime { hour: 24, ..moment },
            DateTime { nanosecond: 1_000_000_000, ..moment },
            DateTime { offset_minutes: Some(-841), ..moment },
        ] {
            assert!(!wrong.write(&mut Vec::new()), "{wrong:?}");
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "2005-07-01",
            "2005-7-01T12:00:00",
            "05-07-01T12:00:00",
            "0000-07-01T12:00:00",
            "012005-07-01T12:00:00",
            "2005-13-01T12:00:00",
            "2005-02-29T12:00:00",
            "2005-07-01T24:00:01",
            "2005-07-01T12:60:00",
            "2005-07-01T12:00:60",
            "2005-07-01T12:00:00.",
            "2005-07-01T12:00:00.1234567891",
            "2005-07-01T12:00:00+14:01",
            "2005-07-01T12:00:00+1:00",
            "2005-07-01T12:00:00Zx",
            "2005-07-01 12:00:00",
        ] {
            assert!(DateTime::parse(text).is_err(), "{text}");
        }
    }
}
