use std::time::SystemTime;

use castile_datatypes::DateTime;
use castile_xml::excerpt;

use crate::{Error, ErrorKind};

/// Parses a moment, which must have a time zone: without one it would mean another time to everybody.
pub(crate) fn moment(text: &str) -> Result<DateTime, Error> {
    match text.parse::<DateTime>() {
        Ok(moment) if moment.offset_minutes.is_some() => Ok(moment),
        _ => {
            let message = format!("\"{}\", where a date and time with a zone was expected", excerpt(text, 60));
            Err(Error::new(ErrorKind::Malformed, message))
        }
    }
}

/// Returns what time it is, and how far that is from a moment, for errors: clocks are often wrong.
pub(crate) fn compared(moment: DateTime, now: SystemTime) -> String {
    let ours = DateTime { nanosecond: 0, ..DateTime::from(now) };
    let away = SystemTime::try_from(moment).ok().map(|moment| match now.duration_since(moment) {
        Ok(passed) => format!(", {} s later", passed.as_secs()),
        Err(ahead) => format!(", {} s earlier", ahead.duration().as_secs()),
    });
    format!("it is {ours}{}", away.unwrap_or_default())
}
