//! The feature `jiff`.

use jiff::{Span, Timestamp, civil};

use super::moments::{no_zone, out_of_range, zone};
use crate::calendar::{astronomical, year_of_astronomical};
use crate::{Date, DateTime, Duration, Invalid, Time};

/// Returns the local date and time, without the zone.
fn local(moment: &DateTime) -> Result<civil::DateTime, Invalid> {
    let date = Date { year: moment.year, month: moment.month, day: moment.day, offset_minutes: None };
    let DateTime { hour, minute, second, nanosecond, .. } = *moment;
    let time = Time { hour, minute, second, nanosecond, offset_minutes: None };
    Ok(civil::DateTime::from_parts(date.try_into()?, time.try_into()?))
}

impl TryFrom<DateTime> for civil::DateTime {
    type Error = Invalid;

    fn try_from(moment: DateTime) -> Result<Self, Invalid> {
        no_zone(&moment, moment.offset_minutes)?;
        local(&moment)
    }
}

impl From<civil::DateTime> for DateTime {
    fn from(moment: civil::DateTime) -> Self {
        let Date { year, month, day, .. } = moment.date().into();
        let Time { hour, minute, second, nanosecond, .. } = moment.time().into();
        DateTime { year, month, day, hour, minute, second, nanosecond, offset_minutes: None }
    }
}

impl TryFrom<DateTime> for Timestamp {
    type Error = Invalid;

    fn try_from(moment: DateTime) -> Result<Self, Invalid> {
        let seconds = i32::from(zone(&moment, moment.offset_minutes)?) * 60;
        let local = local(&moment)?;
        let timestamp = jiff::tz::Offset::from_seconds(seconds).and_then(|offset| offset.to_timestamp(local));
        timestamp.map_err(|_| out_of_range(&moment, "jiff::Timestamp"))
    }
}

/// Converts to UTC.
impl From<Timestamp> for DateTime {
    fn from(timestamp: Timestamp) -> Self {
        let local = jiff::tz::Offset::UTC.to_datetime(timestamp);
        DateTime { offset_minutes: Some(0), ..local.into() }
    }
}

impl TryFrom<Date> for civil::Date {
    type Error = Invalid;

    fn try_from(date: Date) -> Result<Self, Invalid> {
        no_zone(&date, date.offset_minutes)?;
        let year = i16::try_from(astronomical(date.year)).ok();
        year.and_then(|year| civil::Date::new(year, i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?).ok())
            .ok_or_else(|| out_of_range(&date, "jiff::civil::Date"))
    }
}

impl From<civil::Date> for Date {
    fn from(date: civil::Date) -> Self {
        let year = year_of_astronomical(date.year().into());
        Date { year, month: date.month().unsigned_abs(), day: date.day().unsigned_abs(), offset_minutes: None }
    }
}

impl TryFrom<Time> for civil::Time {
    type Error = Invalid;

    fn try_from(time: Time) -> Result<Self, Invalid> {
        no_zone(&time, time.offset_minutes)?;
        let fields = || {
            let [hour, minute, second] = [time.hour, time.minute, time.second].map(i8::try_from);
            let nanosecond = i32::try_from(time.nanosecond).ok()?;
            civil::Time::new(hour.ok()?, minute.ok()?, second.ok()?, nanosecond).ok()
        };
        fields().ok_or_else(|| Invalid::new("there is no such time".to_owned()))
    }
}

impl From<civil::Time> for Time {
    fn from(time: civil::Time) -> Self {
        let [hour, minute, second] = [time.hour(), time.minute(), time.second()].map(i8::unsigned_abs);
        Time { hour, minute, second, nanosecond: time.subsec_nanosecond().unsigned_abs(), offset_minutes: None }
    }
}

/// Months and seconds are not converted into each other.
impl TryFrom<Duration> for Span {
    type Error = Invalid;

    fn try_from(duration: Duration) -> Result<Self, Invalid> {
        let span = || {
            let months = i64::try_from(duration.months()).ok()?;
            let seconds = i64::try_from(duration.seconds()).ok()?;
            let span = Span::new().try_months(months).ok()?.try_seconds(seconds).ok()?;
            let span = span.try_nanoseconds(i64::from(duration.nanosecond())).ok()?;
            Some(if duration.is_negative() { span.negate() } else { span })
        };
        span().ok_or_else(|| out_of_range(&duration, "jiff::Span"))
    }
}

/// Years count as 12 months, weeks as 7 days, and days as 24 hours, as in XSD.
impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        let part = |value: i64, factor: u64| value.unsigned_abs().saturating_mul(factor);
        let months = part(span.get_years().into(), 12) + part(span.get_months().into(), 1);
        let days = part(span.get_weeks().into(), 7) + part(span.get_days().into(), 1);
        let minutes = part(span.get_hours().into(), 60) + part(span.get_minutes(), 1);
        let fractions = u128::from(part(span.get_milliseconds(), 1)) * 1_000_000
            + u128::from(part(span.get_microseconds(), 1)) * 1_000
            + u128::from(part(span.get_nanoseconds(), 1));
        // Each unit of a span is limited to some twenty thousand years, so the sums don't overflow.
        let seconds = days * 86_400 + minutes * 60 + part(span.get_seconds(), 1);
        let seconds = seconds.saturating_add((fractions / 1_000_000_000) as u64);
        Duration::new(span.is_negative(), months, seconds, (fractions % 1_000_000_000) as u32).unwrap_or_default()
    }
}

convertible! {
    civil::DateTime: DateTime;
    Timestamp: DateTime;
    civil::Date: Date;
    civil::Time: Time;
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Display};

    use super::*;

    #[test]
    fn a_timestamp_converts_to_a_date_and_time() {
        use crate::SimpleType;
        let value = Timestamp::parse("2026-11-24T12:00:00+01:00").unwrap();
        let mut out = Vec::new();
        assert!(value.write(&mut out));
        assert_eq!(out, b"2026-11-24T11:00:00Z");
        assert!(Timestamp::parse("2026-11-24T12:00:00").unwrap_err().unwrap().contains("time zone"));
    }

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
        both_ways::<DateTime, Timestamp>("2005-07-01T12:00:00.000000001Z");
        both_ways::<DateTime, civil::DateTime>("-0001-02-29T23:59:59.5");
        both_ways::<Date, civil::Date>("-0044-03-15");
        both_ways::<Time, civil::Time>("23:59:59.999999999");
        both_ways::<Duration, Span>("-P1Y2M3DT4H5M6.7S");
        let timestamp = Timestamp::try_from("2005-07-01T12:00:00+02:00".parse::<DateTime>().unwrap()).unwrap();
        assert_eq!(DateTime::from(timestamp).to_string(), "2005-07-01T10:00:00Z");
        let span = Span::new().weeks(1).hours(25).milliseconds(1_500);
        assert_eq!(Duration::from(span).to_string(), "P8DT1H1.5S");
    }

    #[test]
    fn lossy_conversions_are_errors() {
        let moment = |text: &str| text.parse::<DateTime>().unwrap();
        assert!(civil::DateTime::try_from(moment("2005-07-01T12:00:00Z")).is_err());
        assert!(Timestamp::try_from(moment("2005-07-01T12:00:00")).is_err());
        assert!(civil::DateTime::try_from(moment("12005-07-01T12:00:00")).is_err());
        assert!(Span::try_from("P99999999999Y".parse::<Duration>().unwrap()).is_err());
    }
}
