//! Integers without bounds or with one bound (XSD Part 2 §3.3.13 to §3.3.15, §3.3.20, §3.3.25).

use std::fmt;

use crate::decimal::sign;
use crate::{Decimal, Invalid, SimpleType, collapse, text_form};

/// `xs:integer` (XSD Part 2 §3.3.13): an integer of any size. Up to 18 digits need no heap memory.
///
/// ```
/// use castile_datatypes::Integer;
///
/// let large: Integer = "123456789012345678901234567890".parse()?;
/// assert!(large > Integer::from(u64::MAX));
/// assert_eq!(i64::try_from(&Integer::from(7)), Ok(7));
/// # Ok::<(), castile_datatypes::Invalid>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Integer(Decimal);

impl Integer {
    /// Whether the value is less than zero.
    pub fn is_negative(&self) -> bool {
        self.0.is_negative()
    }

    /// Creates a value from ASCII digits.
    pub(super) fn of_digits(is_negative: bool, digits: &str) -> Self {
        Integer(Decimal::of_digits(is_negative, digits, ""))
    }

    fn is_zero(&self) -> bool {
        self.0.as_small_integer() == Some(0)
    }
}

impl SimpleType for Integer {
    const NAME: &'static str = "xs:integer";
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        let (is_negative, digits) = sign(collapse(text));
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(None);
        }
        Ok(Integer::of_digits(is_negative, digits))
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.0.write(out)
    }
}

text_form!(Integer);

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Integer({self})")
    }
}

impl AsRef<Decimal> for Integer {
    fn as_ref(&self) -> &Decimal {
        &self.0
    }
}

impl From<Integer> for Decimal {
    fn from(value: Integer) -> Self {
        value.0
    }
}

macro_rules! machine_integers {
    ($($type:ty)*) => {$(
        impl From<$type> for Integer {
            fn from(value: $type) -> Self {
                Integer(Decimal::from(value))
            }
        }

        impl TryFrom<&Integer> for $type {
            type Error = Invalid;

            fn try_from(value: &Integer) -> Result<Self, Invalid> {
                value.0.with_text(|text| {
                    // The text is an integer, so only its size can be wrong.
                    text.parse().map_err(|_| Invalid::text(text, stringify!($type), None))
                })
            }
        }

        impl TryFrom<Integer> for $type {
            type Error = Invalid;

            fn try_from(value: Integer) -> Result<Self, Invalid> {
                (&value).try_into()
            }
        }
    )*};
}

machine_integers!(i8 i16 i32 i64 i128 u8 u16 u32 u64 u128);

macro_rules! bounded {
    ($($(#[$doc:meta])* $type:ident $name:literal, $allows:expr, $bound:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(Integer);

        impl TryFrom<Integer> for $type {
            type Error = Invalid;

            fn try_from(value: Integer) -> Result<Self, Invalid> {
                let allows: fn(&Integer) -> bool = $allows;
                if allows(&value) {
                    return Ok($type(value));
                }
                Err(value.0.with_text(|text| Invalid::text(text, $name, Some($bound.to_owned()))))
            }
        }

        impl From<$type> for Integer {
            fn from(value: $type) -> Self {
                value.0
            }
        }

        impl AsRef<Integer> for $type {
            fn as_ref(&self) -> &Integer {
                &self.0
            }
        }

        impl SimpleType for $type {
            const NAME: &'static str = $name;
            const IS_PLAIN: bool = true;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                Integer::parse(text)?.try_into().map_err(|_| Some($bound.to_owned()))
            }

            fn write(&self, out: &mut Vec<u8>) -> bool {
                self.0.write(out)
            }
        }

        text_form!($type);

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({self})", stringify!($type))
            }
        }
    )*};
}

bounded! {
    /// `xs:nonNegativeInteger` (XSD Part 2 §3.3.20): 0 or more.
    #[derive(Default)]
    NonNegativeInteger "xs:nonNegativeInteger", |value| !value.is_negative(), "it must be 0 or more";
    /// `xs:positiveInteger` (XSD Part 2 §3.3.25): 1 or more.
    PositiveInteger "xs:positiveInteger", |value| !value.is_negative() && !value.is_zero(), "it must be 1 or more";
    /// `xs:nonPositiveInteger` (XSD Part 2 §3.3.14): 0 or less.
    #[derive(Default)]
    NonPositiveInteger "xs:nonPositiveInteger", |value| value.is_negative() || value.is_zero(), "it must be 0 or less";
    /// `xs:negativeInteger` (XSD Part 2 §3.3.15): −1 or less.
    NegativeInteger "xs:negativeInteger", |value| value.is_negative(), "it must be -1 or less";
}

macro_rules! unsigned {
    ($($type:ty)*) => {$(
        impl From<$type> for NonNegativeInteger {
            fn from(value: $type) -> Self {
                NonNegativeInteger(value.into())
            }
        }
    )*};
}

unsigned!(u8 u16 u32 u64 u128);
