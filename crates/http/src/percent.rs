//! Percent-encoding (RFC 3986 §2.1).

/// Encodes all characters except the unreserved ones, for use in a query or in a parameter (RFC 5987 §3.2).
pub(crate) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Decodes a text. A `%` without two digits is left as it is.
#[cfg(any(test, feature = "page"))]
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    decode(text).0
}

/// Decodes a text. Returns `None` if it has a `%` without two digits.
pub(crate) fn decoded_if_sound(text: &str) -> Option<Vec<u8>> {
    let (bytes, is_sound) = decode(text);
    is_sound.then_some(bytes)
}

/// Returns the decoded bytes, and whether each `%` has two digits.
fn decode(text: &str) -> (Vec<u8>, bool) {
    let (mut bytes, mut is_sound) = (Vec::with_capacity(text.len()), true);
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digit = |at: usize| behind.get(at).and_then(|digit| (*digit as char).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &behind[2..];
            }
            _ => {
                is_sound &= *first != b'%';
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    (bytes, is_sound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_text_is_decoded_again() {
        for text in ["place", "é&=+%41 \"<", ""] {
            assert_eq!(decoded(&encoded(text)), text.as_bytes());
        }
        assert_eq!(decoded("a%4"), b"a%4");
        assert_eq!(decoded("%zz%41"), b"%zzA");
    }
}
