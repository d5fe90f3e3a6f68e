//! The feature `rust_decimal`.

use crate::{Decimal, Invalid};

/// Fails if the value needs more than 96 bits or more than 28 digits after the point.
impl TryFrom<&Decimal> for rust_decimal::Decimal {
    type Error = Invalid;

    fn try_from(value: &Decimal) -> Result<Self, Invalid> {
        let (exact, shown) = value.with_text(|text| {
            // Trailing zeros beyond the capacity don't change the value.
            let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
            let exact = rust_decimal::Decimal::from_str_exact(text);
            (exact.or_else(|_| rust_decimal::Decimal::from_str_exact(trimmed)), crate::quoted(text))
        });
        exact.map_err(|_| Invalid::new(format!("{shown} is outside the range of rust_decimal::Decimal")))
    }
}

impl TryFrom<Decimal> for rust_decimal::Decimal {
    type Error = Invalid;

    fn try_from(value: Decimal) -> Result<Self, Invalid> {
        (&value).try_into()
    }
}

impl From<rust_decimal::Decimal> for Decimal {
    fn from(value: rust_decimal::Decimal) -> Self {
        // The scale is at most 28.
        Decimal::new(value.mantissa(), value.scale() as u8)
    }
}

convertible! {
    rust_decimal::Decimal: Decimal;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_converted() {
        use crate::SimpleType;
        let value = rust_decimal::Decimal::parse(" -10.50 ").unwrap();
        let mut out = Vec::new();
        assert!(value.write(&mut out));
        assert_eq!(out, b"-10.50");
        let problem = rust_decimal::Decimal::parse(&"9".repeat(40)).unwrap_err().unwrap();
        assert!(problem.ends_with("is outside the range of rust_decimal::Decimal"), "{problem}");
    }

    #[test]
    fn values_survive_the_way_there_and_back() {
        for text in ["0", "-10.50", "0.0000000000000000000000000001", "79228162514264337593543950335"] {
            let value: Decimal = text.parse().unwrap();
            let other = rust_decimal::Decimal::try_from(&value).unwrap();
            assert_eq!(other.to_string(), text);
            assert_eq!(Decimal::from(other).to_string(), text);
        }
        let zeros: Decimal = format!("1.{}", "0".repeat(1_000)).parse().unwrap();
        assert_eq!(rust_decimal::Decimal::try_from(zeros), Ok(rust_decimal::Decimal::ONE));
    }

    #[test]
    fn lossy_conversions_are_errors() {
        for text in ["79228162514264337593543950336", "0.00000000000000000000000000001"] {
            assert!(rust_decimal::Decimal::try_from(text.parse::<Decimal>().unwrap()).is_err(), "{text}");
        }
    }
}
