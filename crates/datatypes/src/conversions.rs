//! Conversions to and from types of other crates, each with a feature. A value that the other type can't hold exactly is an
//! error; it is never rounded or truncated.

/// Implements a simple type for a type of another crate, by conversion to and from one of ours. A value that it can't hold is
/// invalid.
#[cfg(any(feature = "chrono", feature = "jiff", feature = "num-bigint", feature = "rust_decimal"))]
macro_rules! convertible {
    ($($other:ty: $own:ty;)*) => {$(
        impl crate::SimpleType for $other {
            const NAME: &'static str = <$own as crate::SimpleType>::NAME;
            const IS_PLAIN: bool = true;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                let value = <$own as crate::SimpleType>::parse(text)?;
                value.try_into().map_err(|problem: <$own as TryInto<Self>>::Error| Some(problem.to_string()))
            }

            fn write(&self, out: &mut Vec<u8>) -> bool {
                // Some of these types are `Copy`, others are not.
                #[allow(clippy::clone_on_copy, reason = "not all of them are")]
                <$own>::try_from(self.clone()).is_ok_and(|value| crate::SimpleType::write(&value, out))
            }
        }

        impl crate::facets::FacetValue for $other {
            fn compare(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.partial_cmp(other)
            }

            fn shown(&self) -> String {
                self.to_string()
            }

            fn digits(&self) -> Option<crate::facets::Digits> {
                #[allow(clippy::clone_on_copy, reason = "not all of them are")]
                <$own>::try_from(self.clone()).ok().and_then(|value| crate::facets::FacetValue::digits(&value))
            }
        }
    )*};
}

#[cfg(feature = "chrono")]
mod chrono;
#[cfg(feature = "jiff")]
mod jiff;
#[cfg(feature = "num-bigint")]
mod num_bigint;
#[cfg(feature = "rust_decimal")]
mod rust_decimal;

pub(crate) mod moments {
    use std::fmt::Display;

    use crate::Invalid;

    /// Returns the zone of a value, which must have one.
    pub(crate) fn zone(value: &impl Display, offset_minutes: Option<i16>) -> Result<i16, Invalid> {
        offset_minutes.ok_or_else(|| Invalid::new(format!("{value} has no time zone, where one is needed")))
    }

    /// Checks that a value has no zone, since it would be lost.
    #[cfg(any(feature = "chrono", feature = "jiff"))]
    pub(super) fn no_zone(value: &impl Display, offset_minutes: Option<i16>) -> Result<(), Invalid> {
        match offset_minutes {
            None => Ok(()),
            Some(_) => Err(Invalid::new(format!("{value} has a time zone, which would be lost"))),
        }
    }

    /// Returns the error for a value beyond the range of the other type.
    pub(crate) fn out_of_range(value: &impl Display, other: &str) -> Invalid {
        Invalid::new(format!("{value} is outside the range of {other}"))
    }
}
