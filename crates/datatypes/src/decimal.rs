use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::{SimpleType, collapse, text_form};

/// `xs:decimal` (XSD Part 2 §3.2.3): an exact decimal number of any size.
///
/// It retains the number of digits after the point, so `10.50` is written as it was read, and matches a pattern that requires
/// two digits. Equality, order and hash are those of the value: `10.50` equals `10.5`. Up to 18 digits need no heap memory.
///
/// ```
/// use castile_datatypes::Decimal;
///
/// let price: Decimal = "10.50".parse()?;
/// assert_eq!(price, Decimal::new(105, 1));
/// assert!(price < Decimal::from(11));
/// assert_eq!(price.to_string(), "10.50");
/// # Ok::<(), castile_datatypes::Invalid>(())
/// ```
#[derive(Clone)]
pub struct Decimal(Repr);

#[derive(Clone)]
enum Repr {
    /// `coefficient` × 10<sup>−`scale`</sup>; `scale` is at most [`SMALL_DIGITS`].
    Small { coefficient: i64, scale: u8 },
    /// Sign, digits, point, digits. There is no redundant leading zero, no sign on zero, and there are digits on both sides
    /// of a point.
    Large(Box<str>),
}

/// The number of digits that always fit into an `i64`.
const SMALL_DIGITS: usize = 18;

/// The digits of a value, without leading and trailing zeros, for comparisons.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Digits<'a> {
    pub(crate) is_negative: bool,
    pub(crate) integer: &'a [u8],
    pub(crate) fraction: &'a [u8],
}

impl Decimal {
    /// Creates `coefficient` × 10<sup>−`scale`</sup>.
    pub fn new(coefficient: i128, scale: u8) -> Self {
        let text = format!("{:0width$}", coefficient.unsigned_abs(), width = usize::from(scale) + 1);
        let (integer, fraction) = text.split_at(text.len() - usize::from(scale));
        Decimal::of_digits(coefficient < 0, integer, fraction)
    }

    /// Whether the value is less than zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small { coefficient, .. } => *coefficient < 0,
            Repr::Large(text) => text.starts_with('-'),
        }
    }

    /// Returns the number of digits after the point, including trailing zeros.
    pub fn scale(&self) -> usize {
        match &self.0 {
            Repr::Small { scale, .. } => usize::from(*scale),
            Repr::Large(text) => text.split_once('.').map_or(0, |(_, fraction)| fraction.len()),
        }
    }

    /// Returns the value if it is stored as an `i64` without a fraction.
    pub(crate) fn as_small_integer(&self) -> Option<i64> {
        match self.0 {
            Repr::Small { coefficient, scale: 0 } => Some(coefficient),
            _ => None,
        }
    }

    /// Creates a value from the ASCII digits before and after the point.
    pub(crate) fn of_digits(is_negative: bool, integer: &str, fraction: &str) -> Self {
        let integer = integer.trim_start_matches('0');
        if integer.len() + fraction.len() <= SMALL_DIGITS {
            let digits = integer.bytes().chain(fraction.bytes());
            let coefficient = digits.fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
            let coefficient = if is_negative { -coefficient } else { coefficient };
            return Decimal(Repr::Small { coefficient, scale: fraction.len() as u8 });
        }
        let is_zero = integer.is_empty() && fraction.bytes().all(|digit| digit == b'0');
        let mut text = String::with_capacity(integer.len() + fraction.len() + 3);
        text.push_str(if is_negative && !is_zero { "-" } else { "" });
        text.push_str(if integer.is_empty() { "0" } else { integer });
        if !fraction.is_empty() {
            text.push('.');
            text.push_str(fraction);
        }
        Decimal(Repr::Large(text.into()))
    }

    /// Calls `read` with the digits of the value.
    pub(crate) fn with_digits<R>(&self, read: impl FnOnce(Digits<'_>) -> R) -> R {
        self.with_text(|text| {
            let (is_negative, digits) = match text.strip_prefix('-') {
                Some(digits) => (true, digits),
                None => (false, text),
            };
            let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let integer = if integer == "0" { "" } else { integer };
            read(Digits {
                is_negative,
                integer: integer.as_bytes(),
                fraction: fraction.trim_end_matches('0').as_bytes(),
            })
        })
    }

    /// Calls `read` with the text of the value.
    pub(crate) fn with_text<R>(&self, read: impl FnOnce(&str) -> R) -> R {
        let (coefficient, scale) = match &self.0 {
            Repr::Small { coefficient, scale } => (*coefficient, usize::from(*scale)),
            Repr::Large(text) => return read(text),
        };
        let mut number = itoa::Buffer::new();
        if scale == 0 {
            return read(number.format(coefficient));
        }
        let number = number.format(coefficient.unsigned_abs());
        // Sign, point and up to 19 digits. Zeros are written in front of a number that has no more digits than the scale.
        let mut text = [b'0'; 2 * SMALL_DIGITS];
        let integer = number.len().saturating_sub(scale).max(1);
        let fraction = integer + 1;
        let shown = number.len().min(scale);
        let end = fraction + scale;
        text[integer] = b'.';
        text[end - shown..end].copy_from_slice(&number.as_bytes()[number.len() - shown..]);
        text[..number.len() - shown].copy_from_slice(&number.as_bytes()[..number.len() - shown]);
        if coefficient < 0 {
            text.copy_within(..end, 1);
            text[0] = b'-';
        }
        let text = &text[..end + usize::from(coefficient < 0)];
        // Digits, a sign and a point are ASCII.
        read(std::str::from_utf8(text).unwrap_or_default())
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Decimal {}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.with_digits(|digits| digits.hash(state));
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Repr::Small { coefficient: a, scale: x }, Repr::Small { coefficient: b, scale: y }) =
            (&self.0, &other.0)
            && x == y
        {
            return a.cmp(b);
        }
        self.with_digits(|a| other.with_digits(|b| a.cmp(&b)))
    }
}

impl Ord for Digits<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let magnitude = || {
            let integer = self.integer.len().cmp(&other.integer.len()).then_with(|| self.integer.cmp(other.integer));
            integer.then_with(|| self.fraction.cmp(other.fraction))
        };
        match (self.is_negative, other.is_negative) {
            (false, false) => magnitude(),
            (true, true) => magnitude().reverse(),
            (is_negative, _) => {
                if is_negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

impl PartialOrd for Digits<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Default for Decimal {
    fn default() -> Self {
        Decimal::from(0)
    }
}

macro_rules! from {
    ($($type:ty)*) => {$(
        impl From<$type> for Decimal {
            fn from(value: $type) -> Self {
                Decimal::new(i128::from(value), 0)
            }
        }
    )*};
}

from!(i8 i16 i32 i64 i128 u8 u16 u32 u64);

impl From<u128> for Decimal {
    fn from(value: u128) -> Self {
        Decimal::of_digits(false, &value.to_string(), "")
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decimal({self})")
    }
}

impl SimpleType for Decimal {
    const NAME: &'static str = "xs:decimal";
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        let (is_negative, digits) = sign(collapse(text));
        let (integer, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if (integer.is_empty() && fraction.is_empty()) || !is_number(integer) || !is_number(fraction) {
            return Err(None);
        }
        Ok(Decimal::of_digits(is_negative, integer, fraction))
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.with_text(|text| out.extend_from_slice(text.as_bytes()));
        true
    }
}

text_form!(Decimal);

/// Splits a number into its sign, as whether it is negative, and the rest.
pub(super) fn sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}
