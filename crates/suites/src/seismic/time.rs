//! Converts times between milliseconds since 1970, as in the catalogue and in queries, and `xs:dateTime`.

use castile::datatypes::DateTime;

const DAY: i64 = 86_400;

/// Returns the seconds since 1970 of a date and time in UTC. The date must be valid in the Gregorian calendar; it isn't
/// checked.
pub(crate) fn seconds(year: i64, month: u8, day: u8, hour: u8, minute: u8, second: u8) -> i64 {
    // If years begin with March, the leap day is the last one, and every five months have 153 days.
    let (year, month) = if month > 2 { (year, i64::from(month) - 3) } else { (year - 1, i64::from(month) + 9) };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (month * 153 + 2) / 5
        + i64::from(day)
        - 719_469;
    days * DAY + i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second)
}

/// Returns the UTC time of these seconds since 1970, from the year 1 on.
pub(crate) fn moment(seconds: i64) -> DateTime {
    let (days, second) = (seconds.div_euclid(DAY) + 719_468, seconds.rem_euclid(DAY));
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (year_of_era * 365 + year_of_era / 4 - year_of_era / 100);
    let month = (day_of_year * 5 + 2) / 153;
    let year = era * 400 + year_of_era + i64::from(month > 9);
    DateTime {
        year,
        month: (if month > 9 { month - 9 } else { month + 3 }) as u8,
        day: (day_of_year - (month * 153 + 2) / 5 + 1) as u8,
        hour: (second / 3_600) as u8,
        minute: (second / 60 % 60) as u8,
        second: (second % 60) as u8,
        nanosecond: 0,
        offset_minutes: Some(0),
    }
}

/// Returns the UTC time of these milliseconds since 1970.
pub(crate) fn moment_of_millis(millis: i64) -> DateTime {
    DateTime { nanosecond: (millis.rem_euclid(1_000) * 1_000_000) as u32, ..moment(millis.div_euclid(1_000)) }
}

/// Returns milliseconds since 1970, rounded down; a time without a zone is in UTC. Very distant years, for which there are no
/// quakes, are clamped.
pub(crate) fn millis(moment: &DateTime) -> i64 {
    let year = moment.year.clamp(-1_000_000, 1_000_000);
    let DateTime { month, day, hour, minute, second, nanosecond, offset_minutes, .. } = *moment;
    let seconds = seconds(year, month, day, hour, minute, second) - i64::from(offset_minutes.unwrap_or(0)) * 60;
    seconds * 1_000 + i64::from(nanosecond / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_go_there_and_back() {
        for day in (-719_162..800_000).step_by(17) {
            let millis_of_day = day * DAY * 1_000 + 3_723_045;
            let moment = moment_of_millis(millis_of_day);
            assert_eq!(millis(&moment), millis_of_day, "{moment}");
            assert!(moment.to_string().ends_with("T01:02:03.045Z"), "{moment}");
        }
        // Known values of the Unix clock.
        assert_eq!(moment(951_782_400).to_string(), "2000-02-29T00:00:00Z");
        assert_eq!(moment(1_000_000_000).to_string(), "2001-09-09T01:46:40Z");
        assert_eq!(moment(-1).to_string(), "1969-12-31T23:59:59Z");
    }
}
