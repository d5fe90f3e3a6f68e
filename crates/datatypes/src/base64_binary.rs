use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::{Binary, SimpleType, bytes_form, text_form};

/// `xs:base64Binary` (XSD Part 2 §3.2.16): bytes.
///
/// ```
/// use castile_datatypes::Base64Binary;
///
/// let key: Base64Binary = "AQID".parse()?;
/// assert_eq!(*key, [1, 2, 3]);
/// assert_eq!(Base64Binary::from(&[1, 2, 3][..]).to_string(), "AQID");
/// # Ok::<(), castile_datatypes::Invalid>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Base64Binary(pub Vec<u8>);

impl SimpleType for Base64Binary {
    const NAME: &'static str = "xs:base64Binary";
    const BINARY: Option<Binary<Self>> = Some(Binary { from: Base64Binary, bytes: |value| &value.0, reference: None });

    fn parse(text: &str) -> Result<Self, Option<String>> {
        let decode = |text: &[u8]| STANDARD.decode(text).map(Base64Binary);
        // The lexical space allows white space between the characters, but most senders write none.
        decode(text.as_bytes())
            .or_else(|_| {
                let packed: Vec<u8> =
                    text.bytes().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).collect();
                decode(&packed)
            })
            .map_err(|error| Some(error.to_string().to_lowercase()))
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        // The length of a value in memory can't overflow when it grows by a third.
        out.resize(start + self.0.len().div_ceil(3) * 4, 0);
        match STANDARD.encode_slice(&self.0, &mut out[start..]) {
            Ok(length) => out.truncate(start + length),
            Err(_) => unreachable!("four characters for every three bytes begun is what base64 takes"),
        }
        true
    }
}

text_form!(Base64Binary);
bytes_form!(Base64Binary);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_and_white_space_is_allowed() {
        for length in 0..100_u8 {
            let value = Base64Binary((0..length).collect());
            let mut out = Vec::new();
            assert!(value.write(&mut out));
            assert_eq!(Base64Binary::parse(std::str::from_utf8(&out).unwrap()), Ok(value));
        }
        assert_eq!(Base64Binary::parse(" AQ ID\n"), Ok(Base64Binary(vec![1, 2, 3])));
        for bad in ["A", "AQI", "AQ=D", "AQ!D", "AQID="] {
            assert!(Base64Binary::parse(bad).is_err(), "{bad}");
        }
    }
}
