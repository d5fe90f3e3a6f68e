use std::borrow::Cow;

/// Decodes the text of a contract and removes the byte order mark.
///
/// Some contracts declare UTF-16 but are UTF-8, because the file was converted and the declaration was not changed. If
/// the bytes don't match the declared encoding but are valid UTF-8, they are read as UTF-8.
///
/// # Errors
/// The bytes are invalid in their encoding or the encoding is not supported, see [`castile_xml::decode`].
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let text = castile_xml::decode(bytes, None).or_else(|error| {
        castile_xml::decode(bytes, Some(castile_xml::Charset::UTF_8)).map_err(|_| error.to_string())
    })?;
    Ok(match text {
        Cow::Borrowed(text) => text.strip_prefix('\u{FEFF}').unwrap_or(text).into(),
        Cow::Owned(mut text) => {
            let mark = if text.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
            text.drain(..mark);
            text.into()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_encoding_declarations_of_contracts_are_handled() {
        for (bytes, expected) in [
            (&b"<a/>"[..], "<a/>"),
            (b"\xEF\xBB\xBF<a/>", "<a/>"),
            (b"\xFF\xFE<\0a\0", "<a"),
            (b"<?xml version='1.0' encoding='utf-16'?>\xC3\xA9", "<?xml version='1.0' encoding='utf-16'?>é"),
            (b"<?xml version='1.0' encoding='latin1'?>\xE9", "<?xml version='1.0' encoding='latin1'?>é"),
        ] {
            assert_eq!(decode(bytes).as_deref(), Ok(expected));
        }
        let error = decode(b"a\xFF").unwrap_err();
        assert_eq!(error, "byte 0xFF is not UTF-8, the encoding that was expected (byte 1)");
        assert!(decode(b"\xFF\xFEa").is_err());
    }
}
