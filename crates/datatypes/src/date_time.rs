use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::calendar::{
    Cursor, Instant, MAX_ZONE_OFFSET, NANOSECONDS_PER_DAY, NANOSECONDS_PER_MINUTE, NANOSECONDS_PER_SECOND,
    astronomical, date_of, day_number, days_in, write_fraction, write_year, write_zone,
};
use crate::conversions::moments::{out_of_range, zone};
use crate::{Invalid, SimpleType, collapse, text_form, time_line};

/// `xs:dateTime` (XSD Part 2 §3.2.7): a date and time, with or without a time zone.
///
/// It holds any year, fractions down to a nanosecond, and the zone that was given, if any. `24:00:00` is read as `00:00:00`
/// of the next day.
///
/// Equality, order and hash are those of the instant: `12:00:00Z` equals `13:00:00+01:00`. A value with a zone and one
/// without are never equal. They have an order only if it is the same in all zones (§3.2.7.4).
///
/// ```
/// use castile_datatypes::DateTime;
///
/// let noon: DateTime = "2005-07-01T12:00:00Z".parse()?;
/// assert_eq!(noon, "2005-07-01T13:00:00+01:00".parse()?);
/// assert_eq!(noon.partial_cmp(&"2005-07-01T12:00:00".parse()?), None);
/// assert!(noon < "2005-07-03T12:00:00".parse()?);
/// # Ok::<(), castile_datatypes::Invalid>(())
/// ```
#[derive(Clone, Copy, Debug)]
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
    /// How far local time is ahead of UTC, in minutes from −840 to 840. `None` if no zone was given, which differs from UTC.
    pub offset_minutes: Option<i16>,
}

impl DateTime {
    /// Creates a date and time in UTC, without a fraction of a second.
    ///
    /// # Errors
    /// `None` if there is no such date or time.
    pub fn utc(year: i64, month: u8, day: u8, hour: u8, minute: u8, second: u8) -> Option<Self> {
        let moment = DateTime { year, month, day, hour, minute, second, nanosecond: 0, offset_minutes: Some(0) };
        moment.exists().then_some(moment)
    }

    /// Returns the current time in UTC, from the system clock.
    ///
    /// ```
    /// use std::time::SystemTime;
    ///
    /// use castile_datatypes::DateTime;
    ///
    /// let now = DateTime::now();
    /// assert!(now.to_string().ends_with('Z'));
    /// assert_eq!(DateTime::from(SystemTime::UNIX_EPOCH).to_string(), "1970-01-01T00:00:00Z");
    /// ```
    pub fn now() -> Self {
        SystemTime::now().into()
    }

    /// Returns the position on the time line. Fields that are out of range carry over, so that this never fails.
    pub(super) fn instant(&self) -> Instant {
        let minutes =
            i128::from(self.hour) * 60 + i128::from(self.minute) - i128::from(self.offset_minutes.unwrap_or_default());
        let days = day_number(i128::from(astronomical(self.year)), i128::from(self.month), i128::from(self.day));
        Instant {
            nanoseconds: days * NANOSECONDS_PER_DAY
                + minutes * NANOSECONDS_PER_MINUTE
                + i128::from(self.second) * NANOSECONDS_PER_SECOND
                + i128::from(self.nanosecond),
            has_zone: self.offset_minutes.is_some(),
        }
    }

    pub(super) fn exists(&self) -> bool {
        self.year != 0
            && (1..=12).contains(&self.month)
            && (1..=days_in(self.year, self.month)).contains(&self.day)
            && self.hour < 24
            && self.minute < 60
            && self.second < 60
            && self.nanosecond < 1_000_000_000
            && self.offset_minutes.is_none_or(|offset| offset.abs() <= MAX_ZONE_OFFSET)
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

/// Converts to UTC, with nanosecond precision.
impl From<SystemTime> for DateTime {
    fn from(time: SystemTime) -> Self {
        let since_epoch = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => after.as_nanos() as i128,
            Err(error) => -(error.duration().as_nanos() as i128),
        };
        let (days, rest) = (since_epoch.div_euclid(NANOSECONDS_PER_DAY), since_epoch.rem_euclid(NANOSECONDS_PER_DAY));
        let (year, month, day) = date_of(day_number(1970, 1, 1) + days);
        let seconds = rest / NANOSECONDS_PER_SECOND;
        DateTime {
            year,
            month,
            day,
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            nanosecond: (rest % NANOSECONDS_PER_SECOND) as u32,
            offset_minutes: Some(0),
        }
    }
}

/// Fails for a moment without a zone, for one that doesn't exist, and for one that the system can't represent.
impl TryFrom<DateTime> for SystemTime {
    type Error = Invalid;

    fn try_from(moment: DateTime) -> Result<Self, Invalid> {
        if !moment.exists() {
            return Err(Invalid::new("there is no such moment"));
        }
        zone(&moment, moment.offset_minutes)?;
        let since_epoch = moment.instant().nanoseconds - DateTime::from(UNIX_EPOCH).instant().nanoseconds;
        let (length, second) = (since_epoch.unsigned_abs(), NANOSECONDS_PER_SECOND.unsigned_abs());
        let distance =
            u64::try_from(length / second).ok().map(|seconds| Duration::new(seconds, (length % second) as u32));
        let time = distance.and_then(|distance| match since_epoch < 0 {
            true => UNIX_EPOCH.checked_sub(distance),
            false => UNIX_EPOCH.checked_add(distance),
        });
        time.ok_or_else(|| out_of_range(&moment, "std::time::SystemTime"))
    }
}

time_line!(DateTime, |moment| moment.instant());

impl SimpleType for DateTime {
    const NAME: &'static str = "xs:dateTime";
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        let mut text = Cursor(collapse(text).as_bytes());
        let year = text.year()?;
        let [month, day] = [text.field(b'-')?, text.field(b'-')?];
        let [hour, minute, second] = [text.field(b'T')?, text.field(b':')?, text.field(b':')?];
        let nanosecond = text.fraction()?;
        let offset_minutes = text.zone()?;
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
        write_year(out, self.year);
        let mut fields = *b"-00-00T00:00:00";
        for (at, value) in [(1, self.month), (4, self.day), (7, self.hour), (10, self.minute), (13, self.second)] {
            fields[at] += value / 10;
            fields[at + 1] += value % 10;
        }
        out.extend_from_slice(&fields);
        write_fraction(out, self.nanosecond);
        write_zone(out, self.offset_minutes);
        true
    }
}

text_form!(DateTime);

#[cfg(test)]
mod tests {
    use super::*;

    /// On each day of 800 years, the conversions agree with the time line.
    #[test]
    fn times_of_the_system_are_moments() {
        for day in 0..292_200_u64 {
            let after = Duration::new(day * 86_400 + day % 86_400, (day % 1_000_000_000) as u32);
            for time in [UNIX_EPOCH + after, UNIX_EPOCH - after] {
                let moment = DateTime::from(time);
                assert!(moment.exists(), "{moment:?}");
                let epoch = DateTime::from(UNIX_EPOCH).instant().nanoseconds;
                let distance = (moment.instant().nanoseconds - epoch).unsigned_abs();
                assert_eq!(distance, after.as_nanos(), "{moment:?}");
                assert_eq!(SystemTime::try_from(moment), Ok(time));
            }
        }
        let text = |seconds: u64| DateTime::from(UNIX_EPOCH - Duration::from_secs(seconds)).to_string();
        assert_eq!(text(62_135_596_800), "0001-01-01T00:00:00Z");
        assert_eq!(text(62_135_596_801), "-0001-12-31T23:59:59Z");
    }

    #[test]
    fn some_moments_are_no_times_of_the_system() {
        let time = |text: &str| SystemTime::try_from(text.parse::<DateTime>().unwrap());
        assert_eq!(time("1970-01-01T01:00:00+01:00"), Ok(UNIX_EPOCH));
        let refused = |text| time(text).unwrap_err().to_string();
        assert_eq!(refused("2005-07-01T12:00:00"), "2005-07-01T12:00:00 has no time zone, where one is needed");
        for text in ["999999999999999999-12-31T23:59:59Z", "-999999999999999999-01-01T00:00:00Z"] {
            assert_eq!(refused(text), format!("{text} is outside the range of std::time::SystemTime"));
        }
        let moment = DateTime { day: 31, month: 2, ..DateTime::utc(2005, 7, 1, 12, 0, 0).unwrap() };
        assert_eq!(SystemTime::try_from(moment).unwrap_err().to_string(), "there is no such moment");
    }

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
    fn invalid_moments_are_not_written() {
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
    fn invalid_moments_are_rejected() {
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
