//! Conversions to and from the types of other crates, a feature each. What the other type can't hold exactly is an error,
//! never rounded or left out.

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "num-bigint")]
mod num_bigint;
#[cfg(feature = "rust_decimal")]
mod rust_decimal;

#[cfg(any(feature = "chrono", feature = "jiff"))]
mod moments {
    use std::fmt::Display;

    use crate::datatypes::Invalid;

    /// The zone's offset of a value that must have one.
    pub(super) fn zone(value: &impl Display, offset_minutes: Option<i16>) -> Result<i16, Invalid> {
        offset_minutes.ok_or_else(|| Invalid::new(format!("{value} has no time zone, where one is needed")))
    }

    /// That a value has no zone, which would be lost.
    pub(super) fn no_zone(value: &impl Display, offset_minutes: Option<i16>) -> Result<(), Invalid> {
        match offset_minutes {
            None => Ok(()),
            Some(_) => Err(Invalid::new(format!("{value} has a time zone, which would be lost"))),
        }
    }

    /// That the other type doesn't go so far.
    pub(super) fn out_of_range(value: &impl Display, other: &str) -> Invalid {
        Invalid::new(format!("{value} is beyond what {other} can hold"))
    }
}
