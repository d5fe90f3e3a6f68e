use std::cmp::Ordering;

use crate::*;

/// What facets check in a value (XSD Part 2 §4.2, §4.3).
pub trait FacetValue {
    /// Compares two values. Values without an order are equal or `None`.
    fn compare(&self, other: &Self) -> Option<Ordering>;

    /// Returns the value as shown in messages.
    fn shown(&self) -> String;

    /// Returns the length, for types that have one.
    fn length(&self) -> Option<Length> {
        None
    }

    /// Returns the number of digits, for decimal numbers.
    fn digits(&self) -> Option<Digits> {
        None
    }
}

/// The length that `length`, `minLength` and `maxLength` restrict (XSD Part 2 §4.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// The number of units.
    pub count: usize,
    /// The unit: `characters`, `bytes` or `items`.
    pub unit: &'static str,
}

impl Length {
    fn characters(text: &str) -> Option<Length> {
        Some(Length { count: text.chars().count(), unit: "characters" })
    }

    fn bytes(bytes: &[u8]) -> Option<Length> {
        Some(Length { count: bytes.len(), unit: "bytes" })
    }

    fn items(count: usize) -> Option<Length> {
        Some(Length { count, unit: "items" })
    }
}

/// The digits that `totalDigits` and `fractionDigits` restrict (XSD Part 2 §4.3.11, §4.3.12), without leading and trailing
/// zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits {
    /// All digits: from the first that isn't zero, or from the point, to the last.
    pub total: usize,
    /// The digits after the point.
    pub fraction: usize,
}

impl Digits {
    fn of(value: &Decimal) -> Option<Digits> {
        Some(value.with_digits(|digits| Digits {
            total: digits.integer.len() + digits.fraction.len(),
            fraction: digits.fraction.len(),
        }))
    }

    fn of_integer(value: impl Into<Integer>) -> Option<Digits> {
        Digits::of(&Decimal::from(value.into()))
    }
}

macro_rules! facet_values {
    ($($type:ty: $compare:ident $(, $method:ident = |$value:ident| $measure:expr)?;)*) => {$(
        impl FacetValue for $type {
            fn compare(&self, other: &Self) -> Option<Ordering> {
                $compare(self, other)
            }

            fn shown(&self) -> String {
                self.to_string()
            }

            $(fn $method(&self) -> Option<facet_values!(@ $method)> {
                let $value = self;
                $measure
            })?
        }
    )*};
    (@ length) => { Length };
    (@ digits) => { Digits };
}

fn ordered<T: PartialOrd>(a: &T, b: &T) -> Option<Ordering> {
    a.partial_cmp(b)
}

fn equal<T: PartialEq>(a: &T, b: &T) -> Option<Ordering> {
    (a == b).then_some(Ordering::Equal)
}

/// NaN equals itself (XSD Part 2 §3.2.4).
fn float<T: PartialOrd>(a: &T, b: &T) -> Option<Ordering> {
    let is_nan = |value: &T| value.partial_cmp(value).is_none();
    if is_nan(a) && is_nan(b) { Some(Ordering::Equal) } else { a.partial_cmp(b) }
}

facet_values! {
    bool: equal;
    i8: ordered, digits = |value| Digits::of_integer(*value);
    i16: ordered, digits = |value| Digits::of_integer(*value);
    i32: ordered, digits = |value| Digits::of_integer(*value);
    i64: ordered, digits = |value| Digits::of_integer(*value);
    u8: ordered, digits = |value| Digits::of_integer(*value);
    u16: ordered, digits = |value| Digits::of_integer(*value);
    u32: ordered, digits = |value| Digits::of_integer(*value);
    u64: ordered, digits = |value| Digits::of_integer(*value);
    f32: float;
    f64: float;
    Decimal: ordered, digits = |value| Digits::of(value);
    Integer: ordered, digits = |value| Digits::of(value.as_ref());
    NonNegativeInteger: ordered, digits = |value| value.as_ref().digits();
    PositiveInteger: ordered, digits = |value| value.as_ref().digits();
    NonPositiveInteger: ordered, digits = |value| value.as_ref().digits();
    NegativeInteger: ordered, digits = |value| value.as_ref().digits();
    Duration: ordered;
    DateTime: ordered;
    Time: ordered;
    Date: ordered;
    GYearMonth: ordered;
    GYear: ordered;
    GMonthDay: ordered;
    GDay: ordered;
    GMonth: ordered;
    HexBinary: equal, length = |value| Length::bytes(&value.0);
    Base64Binary: equal, length = |value| Length::bytes(&value.0);
    // The length of a name would depend on its prefix, so every length is valid (XSD 1.1 Part 2 §4.3.1.3).
    QName: equal;
    Notation: equal;
    String: equal, length = |value| Length::characters(value);
    NormalizedString: equal, length = |value| Length::characters(value);
    Token: equal, length = |value| Length::characters(value);
    Language: equal, length = |value| Length::characters(value);
    Nmtoken: equal, length = |value| Length::characters(value);
    Name: equal, length = |value| Length::characters(value);
    NcName: equal, length = |value| Length::characters(value);
    Id: equal, length = |value| Length::characters(value);
    Idref: equal, length = |value| Length::characters(value);
    Entity: equal, length = |value| Length::characters(value);
    AnyUri: equal, length = |value| Length::characters(value);
}

impl<T: FacetValue + SimpleType, const MIN: usize> FacetValue for List<T, MIN> {
    fn compare(&self, other: &Self) -> Option<Ordering> {
        let is_equal = |(a, b): (&T, &T)| a.compare(b) == Some(Ordering::Equal);
        (self.len() == other.len() && self.iter().zip(other.iter()).all(is_equal)).then_some(Ordering::Equal)
    }

    fn shown(&self) -> String {
        self.iter().map(T::shown).collect::<Vec<_>>().join(" ")
    }

    fn length(&self) -> Option<Length> {
        Length::items(self.len())
    }
}

impl FacetValue for Value {
    fn compare(&self, other: &Self) -> Option<Ordering> {
        Value::compare(self, other)
    }

    fn shown(&self) -> String {
        self.to_string()
    }

    fn length(&self) -> Option<Length> {
        match self {
            Value::String(value) => value.length(),
            Value::AnyUri(value) => value.length(),
            Value::HexBinary(value) => value.length(),
            Value::Base64Binary(value) => value.length(),
            Value::List(items) => Length::items(items.len()),
            _ => None,
        }
    }

    fn digits(&self) -> Option<Digits> {
        match self {
            Value::Decimal(value) => Digits::of(value),
            _ => None,
        }
    }
}
