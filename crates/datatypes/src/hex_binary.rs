use crate::{SimpleType, bytes_form, collapse, text_form};

/// `xs:hexBinary` (XSD Part 2 §3.2.15): bytes. They are written with upper-case digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct HexBinary(pub Vec<u8>);

impl SimpleType for HexBinary {
    const NAME: &'static str = "xs:hexBinary";

    fn parse(text: &str) -> Result<Self, Option<String>> {
        let digits = collapse(text).as_bytes();
        let byte = |pair: &[u8]| Some(value(pair[0])? << 4 | value(pair[1])?);
        let (pairs, rest) = digits.split_at(digits.len() / 2 * 2);
        let bytes = pairs.chunks_exact(2).map(byte).collect::<Option<Vec<u8>>>();
        match (bytes, rest) {
            (Some(bytes), []) => Ok(HexBinary(bytes)),
            (Some(_), _) => Err(Some("a byte has two digits, but the last one has only one".into())),
            (None, _) => Err(None),
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        const DIGITS: [u8; 16] = *b"0123456789ABCDEF";
        out.reserve(self.0.len() * 2);
        for byte in &self.0 {
            out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        true
    }
}

text_form!(HexBinary);
bytes_form!(HexBinary);

fn value(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).map(|value| value as u8)
}
