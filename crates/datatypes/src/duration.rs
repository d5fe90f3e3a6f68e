use std::cmp::Ordering;

use crate::calendar::{Cursor, NANOSECONDS_PER_DAY, NANOSECONDS_PER_SECOND, day_number, write_fraction};
use crate::{Invalid, SimpleType, collapse, text_form};

/// `xs:duration` (XSD Part 2 §3.2.6): a number of months and a number of seconds. They can't be added up, since months differ
/// in length.
///
/// `P1Y` equals `P12M`, and `P1D` equals `PT24H`; `P1M` is neither more nor less than `P30D`. Two durations have an order
/// only if it is the same from four reference dates (§3.2.6.2).
///
/// ```
/// use castile_datatypes::Duration;
///
/// let month: Duration = "P1M".parse()?;
/// assert!(month < "P32D".parse()?);
/// assert_eq!(month.partial_cmp(&"P30D".parse()?), None);
/// assert_eq!(Duration::from(std::time::Duration::from_millis(1500)).to_string(), "PT1.5S");
/// # Ok::<(), castile_datatypes::Invalid>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Duration {
    is_negative: bool,
    months: u64,
    seconds: u64,
    nanosecond: u32,
}

/// The months of the reference dates; each date is the first day (§3.2.6.2).
const REFERENCES: [(i128, i128); 4] = [(1696, 9), (1697, 2), (1903, 3), (1903, 7)];

impl Duration {
    /// Creates a duration of `months`, `seconds` and `nanosecond`, which may be negative as a whole.
    ///
    /// # Errors
    /// `None` if `nanosecond` is a second or more.
    pub fn new(is_negative: bool, months: u64, seconds: u64, nanosecond: u32) -> Option<Self> {
        let is_zero = (months, seconds, nanosecond) == (0, 0, 0);
        let duration = Duration { is_negative: is_negative && !is_zero, months, seconds, nanosecond };
        (i128::from(nanosecond) < NANOSECONDS_PER_SECOND).then_some(duration)
    }

    /// Whether the duration is negative.
    pub fn is_negative(&self) -> bool {
        self.is_negative
    }

    /// Returns its years and months, in months.
    pub fn months(&self) -> u64 {
        self.months
    }

    /// Returns its days, hours, minutes and seconds, in whole seconds.
    pub fn seconds(&self) -> u64 {
        self.seconds
    }

    /// Returns the fraction of the second, in nanoseconds.
    pub fn nanosecond(&self) -> u32 {
        self.nanosecond
    }

    /// Returns the end of the duration if it begins on the first day of a month, in nanoseconds on the time line.
    fn after(&self, (year, month): (i128, i128)) -> i128 {
        let sign = if self.is_negative { -1 } else { 1 };
        let day = day_number(year, month + sign * i128::from(self.months), 1);
        let time = i128::from(self.seconds) * NANOSECONDS_PER_SECOND + i128::from(self.nanosecond);
        day * NANOSECONDS_PER_DAY + sign * time
    }
}

impl PartialOrd for Duration {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let [first, rest @ ..] = REFERENCES.map(|reference| self.after(reference).cmp(&other.after(reference)));
        rest.iter().all(|&order| order == first).then_some(first)
    }
}

impl SimpleType for Duration {
    const NAME: &'static str = "xs:duration";

    fn parse(text: &str) -> Result<Self, Option<String>> {
        let too_long = || Some("it is too long".to_owned());
        let mut text = Cursor(collapse(text).as_bytes());
        let is_negative = text.take(b'-');
        if !text.take(b'P') || text.0.is_empty() {
            return Err(None);
        }
        let (mut months, mut seconds, mut nanosecond) = (0_u64, 0_u64, 0);
        // Each unit may occur once, in this order.
        let mut units: &[(u8, u64)] = &[(b'Y', 12), (b'M', 1), (b'D', 86_400)];
        let mut in_time = false;
        while !text.0.is_empty() {
            if !in_time && text.take(b'T') {
                units = &[(b'H', 3_600), (b'M', 60), (b'S', 1)];
                in_time = true;
            }
            let number = number(&mut text)?;
            let has_fraction = text.0.first() == Some(&b'.');
            nanosecond = text.fraction()?;
            let unit = text.0.first().and_then(|unit| units.iter().position(|(name, _)| name == unit)).ok_or(None)?;
            let (name, factor) = units[unit];
            if has_fraction && name != b'S' {
                return Err(Some("only its seconds may have a fraction".into()));
            }
            text.0 = &text.0[1..];
            units = &units[unit + 1..];
            let total = if in_time || name == b'D' { &mut seconds } else { &mut months };
            *total = number.checked_mul(factor).and_then(|part| total.checked_add(part)).ok_or_else(too_long)?;
        }
        Duration::new(is_negative, months, seconds, nanosecond).ok_or(None)
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        if self.is_negative {
            out.push(b'-');
        }
        out.push(b'P');
        let parts = |out: &mut Vec<u8>, parts: &[(u64, u8)]| {
            for &(value, unit) in parts.iter().filter(|(value, _)| *value > 0) {
                out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
                out.push(unit);
            }
        };
        let (days, seconds) = (self.seconds / 86_400, self.seconds % 86_400);
        parts(out, &[(self.months / 12, b'Y'), (self.months % 12, b'M'), (days, b'D')]);
        if seconds == 0 && self.nanosecond == 0 {
            if (self.months, days) == (0, 0) {
                out.extend_from_slice(b"T0S");
            }
            return true;
        }
        out.push(b'T');
        parts(out, &[(seconds / 3_600, b'H'), (seconds / 60 % 60, b'M')]);
        if seconds % 60 > 0 || self.nanosecond > 0 {
            out.extend_from_slice(itoa::Buffer::new().format(seconds % 60).as_bytes());
            write_fraction(out, self.nanosecond);
            out.push(b'S');
        }
        true
    }
}

text_form!(Duration);

impl From<std::time::Duration> for Duration {
    fn from(duration: std::time::Duration) -> Self {
        Duration { is_negative: false, months: 0, seconds: duration.as_secs(), nanosecond: duration.subsec_nanos() }
    }
}

impl TryFrom<Duration> for std::time::Duration {
    type Error = Invalid;

    fn try_from(duration: Duration) -> Result<Self, Invalid> {
        if duration.months > 0 || duration.is_negative {
            let message = format!("{duration} is not a non-negative number of seconds");
            return Err(Invalid::new(message));
        }
        Ok(std::time::Duration::new(duration.seconds, duration.nanosecond))
    }
}

/// Reads a number of any number of digits that fits into a `u64`.
fn number(text: &mut Cursor<'_>) -> Result<u64, Option<String>> {
    let digits = text.digits();
    let zeros = text.0[..digits].iter().take_while(|&&digit| digit == b'0').count();
    let zeros = zeros.min(digits.saturating_sub(1));
    if digits == 0 {
        return Err(None);
    }
    // 19 digits always fit.
    if digits - zeros > 19 {
        return Err(Some("it is too long".into()));
    }
    text.0 = &text.0[zeros..];
    text.number(digits - zeros).ok_or(None)
}
