//! The feature `chrono`.

use chrono::{Datelike, FixedOffset, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};

use super::moments::{no_zone, out_of_range, zone};
use crate::calendar::{astronomical, year_of_astronomical};
use crate::{Date, DateTime, Duration, Invalid, Time};

/// Returns the local date and time, without the zone.
fn local(moment: &DateTime) -> Result<NaiveDateTime, Invalid> {
    let date = Date { year: moment.year, month: moment.month, day: moment.day, offset_minutes: None };
    let DateTime { hour, minute, second, nanosecond, .. } = *moment;
    let time = Time { hour, minute, second, nanosecond, offset_minutes: None };
    Ok(NaiveDate::try_from(date)?.and_time(time.try_into()?))
}

impl TryFrom<DateTime> for NaiveDateTime {
    type Error = Invalid;

    fn try_from(moment: DateTime) -> Result<Self, Invalid> {
        no_zone(&moment, moment.offset_minutes)?;
        local(&moment)
    }
}

impl TryFrom<DateTime> for chrono::DateTime<FixedOffset> {
    type Error = Invalid;

    fn try_from(moment: DateTime) -> Result<Self, Invalid> {
        let too_far = || out_of_range(&moment, "chrono::DateTime");
        let seconds = i32::from(zone(&moment, moment.offset_minutes)?) * 60;
        let offset = FixedOffset::east_opt(seconds).ok_or_else(too_far)?;
        offset.from_local_datetime(&local(&moment)?).single().ok_or_else(too_far)
    }
}

impl TryFrom<DateTime> for chrono::DateTime<Utc> {
    type Error = Invalid;

    fn try_from(moment: DateTime) -> Result<Self, Invalid> {
        chrono::DateTime::<FixedOffset>::try_from(moment).map(Into::into)
    }
}

/// Fails for a leap second, which XSD can't represent.
impl TryFrom<NaiveDateTime> for DateTime {
    type Error = Invalid;

    fn try_from(moment: NaiveDateTime) -> Result<Self, Invalid> {
        let Date { year, month, day, .. } = moment.date().into();
        let Time { hour, minute, second, nanosecond, .. } = moment.time().try_into()?;
        Ok(DateTime { year, month, day, hour, minute, second, nanosecond, offset_minutes: None })
    }
}

/// Fails for a leap second, and for a zone offset that is not a whole number of minutes or is more than 14 hours. XSD can
/// represent none of these.
impl<Z: TimeZone> TryFrom<chrono::DateTime<Z>> for DateTime {
    type Error = Invalid;

    fn try_from(moment: chrono::DateTime<Z>) -> Result<Self, Invalid> {
        let moment = moment.fixed_offset();
        let seconds = moment.offset().local_minus_utc();
        let offset = i16::try_from(seconds / 60).ok().filter(|offset| seconds % 60 == 0 && offset.abs() <= 14 * 60);
        let offset =
            offset.ok_or_else(|| Invalid::new(format!("{moment} has a time zone that XSD doesn't support")))?;
        Ok(DateTime { offset_minutes: Some(offset), ..moment.naive_local().try_into()? })
    }
}

impl TryFrom<Date> for NaiveDate {
    type Error = Invalid;

    fn try_from(date: Date) -> Result<Self, Invalid> {
        no_zone(&date, date.offset_minutes)?;
        let year = i32::try_from(astronomical(date.year)).ok();
        year.and_then(|year| NaiveDate::from_ymd_opt(year, date.month.into(), date.day.into()))
            .ok_or_else(|| out_of_range(&date, "chrono::NaiveDate"))
    }
}

impl From<NaiveDate> for Date {
    fn from(date: NaiveDate) -> Self {
        let year = year_of_astronomical(date.year().into());
        Date { year, month: date.month() as u8, day: date.day() as u8, offset_minutes: None }
    }
}

impl TryFrom<Time> for NaiveTime {
    type Error = Invalid;

    fn try_from(time: Time) -> Result<Self, Invalid> {
        no_zone(&time, time.offset_minutes)?;
        let Time { hour, minute, second, nanosecond, .. } = time;
        // chrono reads a fraction of a second or more as a leap second.
        (nanosecond < 1_000_000_000)
            .then(|| NaiveTime::from_hms_nano_opt(hour.into(), minute.into(), second.into(), nanosecond))
            .flatten()
            .ok_or_else(|| Invalid::new("there is no such time".to_owned()))
    }
}

/// Fails for a leap second, which XSD can't represent.
impl TryFrom<NaiveTime> for Time {
    type Error = Invalid;

    fn try_from(time: NaiveTime) -> Result<Self, Invalid> {
        if time.nanosecond() >= 1_000_000_000 {
            return Err(Invalid::new(format!("{time} is a leap second, which XSD doesn't support")));
        }
        let [hour, minute, second] = [time.hour(), time.minute(), time.second()].map(|field| field as u8);
        Ok(Time { hour, minute, second, nanosecond: time.nanosecond(), offset_minutes: None })
    }
}

/// Fails for a duration with months, which has no fixed length.
impl TryFrom<Duration> for TimeDelta {
    type Error = Invalid;

    fn try_from(duration: Duration) -> Result<Self, Invalid> {
        let too_far = || out_of_range(&duration, "chrono::TimeDelta");
        if duration.months() > 0 {
            return Err(Invalid::new(format!("{duration} has months, which differ in length")));
        }
        let seconds = i64::try_from(duration.seconds()).map_err(|_| too_far())?;
        let length = TimeDelta::new(seconds, duration.nanosecond()).ok_or_else(too_far)?;
        Ok(if duration.is_negative() { -length } else { length })
    }
}

impl From<TimeDelta> for Duration {
    fn from(delta: TimeDelta) -> Self {
        let is_negative = delta < TimeDelta::zero();
        let length = delta.abs();
        let nanosecond = length.subsec_nanos().unsigned_abs();
        Duration::new(is_negative, 0, length.num_seconds().unsigned_abs(), nanosecond).unwrap_or_default()
    }
}

convertible! {
    NaiveDateTime: DateTime;
    chrono::DateTime<FixedOffset>: DateTime;
    chrono::DateTime<Utc>: DateTime;
    NaiveDate: Date;
    NaiveTime: Time;
    TimeDelta: Duration;
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};

    use super::*;

    /// Converts a text there and back.
    fn both_ways<A, B>(text: &str)
    where
        A: std::str::FromStr<Err = Invalid> + Display + TryFrom<B, Error: Debug> + Clone,
        B: TryFrom<A, Error = Invalid>,
    {
        let value: A = text.parse().unwrap();
        let other = B::try_from(value).unwrap();
        assert_eq!(A::try_from(other).unwrap().to_string(), text);
    }

    #[test]
    fn values_survive_the_way_there_and_back() {
        both_ways::<DateTime, chrono::DateTime<FixedOffset>>("2005-07-01T12:00:00.000000001+05:30");
        both_ways::<DateTime, chrono::DateTime<FixedOffset>>("-0044-03-15T00:00:00-14:00");
        both_ways::<DateTime, chrono::DateTime<Utc>>("2005-07-01T12:00:00Z");
        both_ways::<DateTime, NaiveDateTime>("-0001-02-29T23:59:59.5");
        both_ways::<Date, NaiveDate>("0001-01-01");
        both_ways::<Time, NaiveTime>("23:59:59.999999999");
        both_ways::<Duration, TimeDelta>("-P1DT1.5S");
    }

    #[test]
    fn lossy_conversions_are_errors() {
        let moment = |text: &str| text.parse::<DateTime>().unwrap();
        assert!(NaiveDateTime::try_from(moment("2005-07-01T12:00:00Z")).is_err());
        assert!(chrono::DateTime::<Utc>::try_from(moment("2005-07-01T12:00:00")).is_err());
        assert!(NaiveDateTime::try_from(moment("300000-07-01T12:00:00")).is_err());
        assert!(TimeDelta::try_from("P1M".parse::<Duration>().unwrap()).is_err());
        let leap = NaiveTime::from_hms_nano_opt(23, 59, 59, 1_000_000_000).unwrap();
        assert!(Time::try_from(leap).is_err());
        let seconds = FixedOffset::east_opt(61).unwrap().from_local_datetime(&NaiveDateTime::default()).unwrap();
        assert!(DateTime::try_from(seconds).is_err());
    }
}
