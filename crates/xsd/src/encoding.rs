use std::borrow::Cow;

/// The text of a contract, without its byte order mark.
///
/// Some contracts say UTF-16 of bytes that are UTF-8: a file that was re-encoded and whose declaration was left
/// behind. Bytes that are UTF-8 are read as such, whatever the declaration says, if they are not what it says.
///
/// # Errors
/// What is wrong with the encoding, see [`castile_xml::decode`].
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
    fn what_a_contract_says_of_its_encoding_is_not_always_so() {
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
