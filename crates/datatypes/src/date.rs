//! Parts of a date and time (XSD Part 2 §3.2.8 to §3.2.14). Values are compared on the time line after the missing parts are
//! filled in, as in §3.2.7.4.

use crate::calendar::{Cursor, write_field, write_fraction, write_two_digits, write_year, write_zone};
use crate::{DateTime, SimpleType, collapse, text_form, time_line};

/// A year with all possible days, for types without a year.
const LEAP_YEAR: i64 = 1972;

macro_rules! part {
    (
        $(#[$doc:meta])* $type:ident $name:literal { $($(#[$field_doc:meta])* $field:ident: $field_type:ty,)* }
        filled($month_of_year:literal, $day_of_month:literal)
        parse($cursor:ident) $parse:block
        write($value:ident, $out:ident) $write:block
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $type {
            $($(#[$field_doc])* pub $field: $field_type,)*
            /// How far local time is ahead of UTC, in minutes from −840 to 840. `None` if no zone was given.
            pub offset_minutes: Option<i16>,
        }

        impl $type {
            /// Fills in the missing parts.
            fn filled(&self) -> DateTime {
                let $type { $($field,)* offset_minutes } = *self;
                DateTime { $($field,)* ..beginning($month_of_year, $day_of_month, offset_minutes) }
            }
        }

        impl SimpleType for $type {
            const NAME: &'static str = $name;
            const IS_PLAIN: bool = true;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                let mut $cursor = Cursor(collapse(text).as_bytes());
                let ($($field,)*) = $parse;
                let value = $type { $($field,)* offset_minutes: $cursor.zone()? };
                if value.filled().exists() { Ok(value) } else { Err(Some("there is no such day or time".into())) }
            }

            fn write(&self, $out: &mut Vec<u8>) -> bool {
                if !self.filled().exists() {
                    return false;
                }
                let $value = self;
                $write
                write_zone($out, self.offset_minutes);
                true
            }
        }

        text_form!($type);
    };
}

/// Returns the first instant of a day.
fn beginning(month: u8, day: u8, offset_minutes: Option<i16>) -> DateTime {
    DateTime { year: LEAP_YEAR, month, day, hour: 0, minute: 0, second: 0, nanosecond: 0, offset_minutes }
}

/// Reads a dash before the first field.
fn dash(cursor: &mut Cursor<'_>) -> Result<(), Option<String>> {
    if cursor.take(b'-') { Ok(()) } else { Err(None) }
}

part! {
    /// `xs:time` (XSD Part 2 §3.2.8): a time of day, with or without a zone. `24:00:00` is `00:00:00`.
    ///
    /// Times in different zones are compared as times of the same day: `12:00:00Z` equals `13:00:00+01:00`, but
    /// `23:00:00-02:00` is greater than `01:00:00Z`.
    Time "xs:time" {
        /// The hour, 0 to 23.
        hour: u8,
        /// The minute, 0 to 59.
        minute: u8,
        /// The second, 0 to 59.
        second: u8,
        /// The fraction of the second, in nanoseconds.
        nanosecond: u32,
    }
    filled(12, 31)
    parse(text) {
        let hour = text.number(2).ok_or(None)? as u8;
        let (minute, second) = (text.field(b':')?, text.field(b':')?);
        match (hour, minute, second, text.fraction()?) {
            (24, 0, 0, 0) => (0, 0, 0, 0),
            time => time,
        }
    }
    write(time, out) {
        write_two_digits(out, time.hour);
        write_field(out, b':', time.minute);
        write_field(out, b':', time.second);
        write_fraction(out, time.nanosecond);
    }
}

time_line!(Time, |time| time.filled().instant());

part! {
    /// `xs:date` (XSD Part 2 §3.2.9): a day, with or without a zone. It is compared by its first instant.
    Date "xs:date" {
        /// The year; there is no year 0, and −1 comes before 1.
        year: i64,
        /// The month, 1 to 12.
        month: u8,
        /// The day of the month, 1 to 31.
        day: u8,
    }
    filled(1, 1)
    parse(text) { (text.year()?, text.field(b'-')?, text.field(b'-')?) }
    write(date, out) {
        write_year(out, date.year);
        write_field(out, b'-', date.month);
        write_field(out, b'-', date.day);
    }
}

time_line!(Date, |date| date.filled().instant());

part! {
    /// `xs:gYearMonth` (XSD Part 2 §3.2.10): a month of a year, with or without a zone.
    GYearMonth "xs:gYearMonth" {
        /// The year; there is no year 0, and −1 comes before 1.
        year: i64,
        /// The month, 1 to 12.
        month: u8,
    }
    filled(1, 1)
    parse(text) { (text.year()?, text.field(b'-')?) }
    write(month, out) {
        write_year(out, month.year);
        write_field(out, b'-', month.month);
    }
}

time_line!(GYearMonth, |month| month.filled().instant());

part! {
    /// `xs:gYear` (XSD Part 2 §3.2.11): a year of the Gregorian calendar, with or without a zone.
    GYear "xs:gYear" {
        /// The year; there is no year 0, and −1 comes before 1.
        year: i64,
    }
    filled(1, 1)
    parse(text) { (text.year()?,) }
    write(year, out) { write_year(out, year.year); }
}

time_line!(GYear, |year| year.filled().instant());

part! {
    /// `xs:gMonthDay` (XSD Part 2 §3.2.12): a day of every year, with or without a zone. It may be `--02-29`.
    GMonthDay "xs:gMonthDay" {
        /// The month, 1 to 12.
        month: u8,
        /// The day of the month, 1 to 31.
        day: u8,
    }
    filled(1, 1)
    parse(text) { dash(&mut text)?; (text.field(b'-')?, text.field(b'-')?) }
    write(day, out) {
        out.push(b'-');
        write_field(out, b'-', day.month);
        write_field(out, b'-', day.day);
    }
}

time_line!(GMonthDay, |day| day.filled().instant());

part! {
    /// `xs:gDay` (XSD Part 2 §3.2.13): a day of every month, with or without a zone.
    GDay "xs:gDay" {
        /// The day of the month, 1 to 31.
        day: u8,
    }
    filled(12, 1)
    parse(text) { dash(&mut text)?; dash(&mut text)?; (text.field(b'-')?,) }
    write(day, out) {
        out.extend_from_slice(b"--");
        write_field(out, b'-', day.day);
    }
}

time_line!(GDay, |day| day.filled().instant());

part! {
    /// `xs:gMonth` (XSD Part 2 §3.2.14): a month of every year, with or without a zone.
    GMonth "xs:gMonth" {
        /// The month, 1 to 12.
        month: u8,
    }
    filled(1, 1)
    parse(text) { dash(&mut text)?; (text.field(b'-')?,) }
    write(month, out) {
        out.push(b'-');
        write_field(out, b'-', month.month);
    }
}

time_line!(GMonth, |month| month.filled().instant());
