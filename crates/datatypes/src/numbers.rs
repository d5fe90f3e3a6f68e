//! Integers of fixed width and binary floating point (XSD Part 2 §3.2.4, §3.2.5, §3.3.13 to §3.3.25).

use crate::{SimpleType, collapse};

macro_rules! integer {
    ($($type:ty, $name:literal;)*) => {$(
        impl SimpleType for $type {
            const NAME: &'static str = $name;
            const IS_PLAIN: bool = true;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                let text = collapse(text);
                // Zero may have a minus sign in unsigned types (XSD Part 2 §3.3.20).
                let zero = text.strip_prefix('-').filter(|digits| <$type>::MIN == 0 && digits.bytes().all(|digit| digit == b'0'));
                zero.unwrap_or(text).parse().map_err(|error: std::num::ParseIntError| match error.kind() {
                    std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => {
                        Some(format!("its range is {} to {}", <$type>::MIN, <$type>::MAX))
                    }
                    _ => None,
                })
            }

            #[inline]
            fn parse_prefix(input: &str, at: usize) -> Option<(Self, usize)> {
                let bytes = input.as_bytes();
                let negative = <$type>::MIN != 0 && bytes.get(at) == Some(&b'-');
                let start = at + usize::from(negative);
                let mut end = start;
                // Up to 18 digits fit into an i64. Longer numbers go through `parse`.
                let mut value: i64 = 0;
                while let Some(digit) = bytes.get(end).map(|byte| byte.wrapping_sub(b'0')).filter(|&digit| digit < 10) {
                    value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
                    end += 1;
                }
                if end == start || end - start > 18 {
                    return None;
                }
                let value = if negative { -value } else { value };
                Some((<$type>::try_from(value).ok()?, end))
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) -> bool {
                out.extend_from_slice(itoa::Buffer::new().format(*self).as_bytes());
                true
            }
        }
    )*};
}

integer! {
    i8, "xs:byte";
    i16, "xs:short";
    i32, "xs:int";
    i64, "xs:long";
    u8, "xs:unsignedByte";
    u16, "xs:unsignedShort";
    u32, "xs:unsignedInt";
    u64, "xs:unsignedLong";
}

macro_rules! float {
    ($($type:ty, $name:literal;)*) => {$(
        impl SimpleType for $type {
            const NAME: &'static str = $name;
            const IS_PLAIN: bool = true;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                match collapse(text) {
                    "INF" => Ok(<$type>::INFINITY),
                    "-INF" => Ok(<$type>::NEG_INFINITY),
                    "NaN" => Ok(<$type>::NAN),
                    text if text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) => {
                        fast_float2::parse(text).map_err(|_| None)
                    }
                    _ => Err(None),
                }
            }

            #[inline]
            fn parse_prefix(input: &str, at: usize) -> Option<(Self, usize)> {
                let bytes = input.as_bytes();
                // `parse_partial` would also accept words such as "inf". A leading "+" is left to `parse`.
                let digit = at + usize::from(bytes.get(at) == Some(&b'-'));
                if !bytes.get(digit).is_some_and(u8::is_ascii_digit) {
                    return None;
                }
                let (value, length) = fast_float2::parse_partial(&bytes[at..]).ok()?;
                Some((value, at + length))
            }

            #[inline]
            fn write(&self, out: &mut Vec<u8>) -> bool {
                if self.is_finite() {
                    out.extend_from_slice(zmij::Buffer::new().format_finite(*self).as_bytes());
                } else if self.is_nan() {
                    out.extend_from_slice(b"NaN");
                } else {
                    out.extend_from_slice(if *self > 0.0 { b"INF" } else { b"-INF" });
                }
                true
            }
        }
    )*};
}

float! {
    f32, "xs:float";
    f64, "xs:double";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both<T: SimpleType + PartialEq + std::fmt::Debug>(text: &str) -> Option<T> {
        let slow = T::parse(text).ok();
        let input = format!("{text}</a>");
        if let Some((fast, end)) = T::parse_prefix(&input, 0)
            && end == text.len()
        {
            assert_eq!(Some(&fast), slow.as_ref(), "{text:?}");
        }
        slow
    }

    #[test]
    fn integers_keep_to_their_lexical_space() {
        for (text, expected) in [
            ("0", Some(0)),
            ("-2147483648", Some(i32::MIN)),
            ("2147483647", Some(i32::MAX)),
            ("2147483648", None),
            ("+7", Some(7)),
            ("007", Some(7)),
            (" 7\n", Some(7)),
            ("", None),
            ("-", None),
            ("1 2", None),
            ("1.0", None),
            ("ten", None),
            ("0x1", None),
            ("99999999999999999999999", None),
            ("0000000000000000000000001", Some(1)),
        ] {
            assert_eq!(both::<i32>(text), expected, "{text:?}");
        }
        assert_eq!(both::<u8>("256"), None);
        assert_eq!(both::<u8>("-0"), Some(0));
        assert_eq!(both::<u64>("18446744073709551615"), Some(u64::MAX));
        assert_eq!(both::<i64>("-9223372036854775808"), Some(i64::MIN));
    }

    #[test]
    fn floats_keep_to_their_lexical_space() {
        for (text, expected) in [
            ("1", Some(1.0)),
            ("-1.5E-3", Some(-0.0015)),
            ("1e5", Some(100_000.0)),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            ("+1.0", Some(1.0)),
            (" 2 ", Some(2.0)),
            ("INF", Some(f64::INFINITY)),
            ("-INF", Some(f64::NEG_INFINITY)),
            ("1e400", Some(f64::INFINITY)),
            ("inf", None),
            ("+INF", None),
            ("infinity", None),
            ("nan", None),
            ("", None),
            (".", None),
            ("1e", None),
            ("1d", None),
            ("0x10", None),
        ] {
            assert_eq!(both::<f64>(text), expected, "{text:?}");
        }
        assert!(f32::parse("NaN").is_ok_and(f32::is_nan));
    }

    #[test]
    fn numbers_are_written_so_that_they_are_read_back() {
        for value in
            [0.0, -0.0, 1.0, 0.1, 1e300, -2.5e-8, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY, f64::NEG_INFINITY]
        {
            let mut out = Vec::new();
            assert!(value.write(&mut out));
            assert_eq!(f64::parse(std::str::from_utf8(&out).unwrap()).map(f64::to_bits), Ok(value.to_bits()));
        }
    }
}
