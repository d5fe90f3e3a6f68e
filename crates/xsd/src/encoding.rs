use std::borrow::Cow;

/// The text of a document, decoded by its byte order mark or else by its XML declaration (XML 1.0 §4.3.3, appendix F).
///
/// Contracts come in UTF-8, UTF-16, ISO-8859-1 and Windows-1252, and some say UTF-16 of bytes that are UTF-8: a file
/// that was re-encoded and whose declaration was left behind. Bytes win over what the declaration says.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0, b'<', ..] => utf16(bytes, u16::from_be_bytes),
        [b'<', 0, ..] => utf16(bytes, u16::from_le_bytes),
        _ => match declared(bytes).to_ascii_lowercase().as_str() {
            "iso-8859-1" | "latin1" | "windows-1252" | "cp1252" => {
                Ok(bytes.iter().map(|&byte| windows_1252(byte)).collect::<String>().into())
            }
            "" | "utf-8" | "utf8" | "us-ascii" | "ascii" | "utf-16" | "unicode" => utf8(bytes),
            other => utf8(bytes).map_err(|_| format!("encoding {other:?} is not known: use UTF-8 or UTF-16")),
        },
    }
}

/// The encoding that the XML declaration names, or nothing.
fn declared(bytes: &[u8]) -> &str {
    let head = &bytes[..bytes.len().min(200)];
    let ascii = head.iter().position(|byte| !byte.is_ascii()).unwrap_or(head.len());
    let head = std::str::from_utf8(&head[..ascii]).unwrap_or_default();
    let declaration = head.strip_prefix("<?xml").and_then(|rest| rest.split("?>").next()).unwrap_or_default();
    let value =
        declaration.split_once("encoding").map(|(_, rest)| rest.trim_start_matches([' ', '\t', '\r', '\n', '=']));
    let quoted = value.and_then(|value| value.strip_prefix(['"', '\''])).unwrap_or_default();
    quoted.split(['"', '\'']).next().unwrap_or_default()
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.into()),
        Err(error) => Err(format!("byte {} is not UTF-8", error.valid_up_to())),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'_, str>, String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let text: Result<String, _> = char::decode_utf16(pairs.iter().map(|&pair| unit(pair))).collect();
    match text {
        Ok(text) if rest.is_empty() => Ok(text.into()),
        _ => Err("the bytes are not the UTF-16 that they begin as".to_owned()),
    }
}

/// ISO-8859-1 is read as Windows-1252, as the WHATWG's Encoding standard does: the 32 codes that differ are control
/// characters that no contract means.
fn windows_1252(byte: u8) -> char {
    const HIGH: [char; 32] = [
        '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}', '‘',
        '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
    ];
    match byte {
        0x80..=0x9F => HIGH[usize::from(byte - 0x80)],
        _ => byte.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_mark_and_by_declaration() {
        for (bytes, expected) in [
            (&b"<a/>"[..], "<a/>"),
            (b"\xEF\xBB\xBF<a/>", "<a/>"),
            (b"\xFF\xFE<\0a\0", "<a"),
            (b"\0<\0a", "<a"),
            (b"<?xml version='1.0' encoding='utf-16'?>\xC3\xA9", "<?xml version='1.0' encoding='utf-16'?>é"),
            (
                b"<?xml version=\"1.0\" encoding = \"ISO-8859-1\"?>\xE9\x80",
                "<?xml version=\"1.0\" encoding = \"ISO-8859-1\"?>é€",
            ),
        ] {
            assert_eq!(decode(bytes).as_deref(), Ok(expected));
        }
        assert_eq!(decode(b"a\xFF").unwrap_err(), "byte 1 is not UTF-8");
        assert!(decode(b"\xFF\xFEa").is_err());
    }
}
