//! The feature `num-bigint`.

use num_bigint::BigInt;

use crate::{Decimal, Integer, Invalid};

/// The maximum number of digits that are converted. The time grows with their square.
const MAX_DIGITS: usize = 100_000;

/// Fails for more than 100,000 digits, since the conversion would take too long.
impl TryFrom<&Integer> for BigInt {
    type Error = Invalid;

    fn try_from(value: &Integer) -> Result<Self, Invalid> {
        AsRef::<Decimal>::as_ref(value).with_text(|text| {
            let too_long = || Invalid::new(format!("an integer of {} digits, more than {MAX_DIGITS}", text.len()));
            if text.len() > MAX_DIGITS { Err(too_long()) } else { text.parse().map_err(|_| too_long()) }
        })
    }
}

impl TryFrom<Integer> for BigInt {
    type Error = Invalid;

    fn try_from(value: Integer) -> Result<Self, Invalid> {
        (&value).try_into()
    }
}

impl From<&BigInt> for Integer {
    fn from(value: &BigInt) -> Self {
        let text = value.magnitude().to_string();
        Integer::of_digits(value.sign() == num_bigint::Sign::Minus, &text)
    }
}

impl From<BigInt> for Integer {
    fn from(value: BigInt) -> Self {
        Integer::from(&value)
    }
}

convertible! {
    BigInt: Integer;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_the_way_there_and_back() {
        for text in ["0", "-7", "123456789012345678901234567890", &format!("-1{}", "0".repeat(1_000))] {
            let value: Integer = text.parse().unwrap();
            let other = BigInt::try_from(&value).unwrap();
            assert_eq!(other.to_string(), text);
            assert_eq!(Integer::from(other), value);
        }
    }

    #[test]
    fn too_many_digits_are_an_error() {
        let value: Integer = "9".repeat(MAX_DIGITS + 1).parse().unwrap();
        assert!(BigInt::try_from(value).is_err());
    }
}
