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
