//! Decodes bytes to text before anything is tokenised (XML 1.0 §4.3.3 and appendix F, RFC 7303 §3).

mod decoder;

use std::borrow::Cow;

use encoding_rs::DecoderResult;

use crate::error::{Error, ErrorKind, shown};

pub(crate) use decoder::Decoder;

/// How many bytes at the beginning of a document are searched for its XML declaration.
const MAX_DECLARATION_LENGTH: usize = 1024;

/// Decodes a document to text. UTF-8 is borrowed; any other encoding is transcoded once.
///
/// The encoding is determined by the first of these that is present: a byte order mark; `charset`, which is that of the
/// media type (RFC 7303 §3.2); the first bytes together with the XML declaration (XML 1.0, appendix F). The default is
/// UTF-8.
///
/// Without a `charset`, it is an error if the XML declaration names another encoding than that of the bytes. With a
/// `charset`, the declaration is ignored. A byte order mark stays in the text, and readers skip it.
///
/// ```
/// let bytes = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>";
/// assert!(castile_xml::decode(bytes, None)?.ends_with("<a>é</a>"));
/// # Ok::<(), castile_xml::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Encoding`] if the encoding is not supported, if it is not the declared one, or if the bytes are not
/// valid in it.
pub fn decode(bytes: &[u8], charset: Option<Charset>) -> Result<Cow<'_, str>, Error> {
    let encoding = Encoding::choose(bytes, charset)?;
    let text = encoding.decode(bytes)?;
    if charset.is_none() {
        check_declaration(&text, encoding, bytes)?;
    }
    Ok(text)
}

/// A supported encoding, by the charset of a media type (RFC 7303 §3).
///
/// Encodings have their names in the IANA registry. UTF-8, UTF-16, US-ASCII and ISO-8859-1 are decoded strictly, the
/// others as in the WHATWG Encoding Standard. UTF-32, UTF-7 and EBCDIC are not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(Encoding);

impl Charset {
    /// UTF-8.
    pub const UTF_8: Charset = Charset(Encoding::Utf8);

    /// Returns the encoding that is registered as `label`, in upper or lower case. `None` if it is not supported.
    pub fn of_label(label: &str) -> Option<Charset> {
        Encoding::of_label(label).map(Charset)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Ascii,
    Latin1,
    Utf8,
    Utf16Le,
    Utf16Be,
    /// UTF-16 in a byte order that depends on the document.
    Utf16,
    Other(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// Returns the encoding of a document. `head` are its first bytes, with the whole XML declaration if there is one.
    fn choose(head: &[u8], charset: Option<Charset>) -> Result<Encoding, Error> {
        match (Encoding::from_byte_order_mark(head), charset) {
            (Some(encoding), _) => Ok(encoding),
            (None, Some(Charset(encoding))) => Ok(encoding.with_order_of(head)),
            (None, None) => detect_encoding(head),
        }
    }

    /// Returns the encoding that a byte order mark stands for.
    fn from_byte_order_mark(bytes: &[u8]) -> Option<Encoding> {
        match bytes {
            [0xEF, 0xBB, 0xBF, ..] => Some(Encoding::Utf8),
            // FF FE 00 00 is UTF-32. Reading it as UTF-16 fails, because no document begins with U+0000.
            [0xFF, 0xFE, ..] => Some(Encoding::Utf16Le),
            [0xFE, 0xFF, ..] => Some(Encoding::Utf16Be),
            _ => None,
        }
    }

    /// Returns the encoding that is registered as `label`.
    fn of_label(label: &str) -> Option<Encoding> {
        const ASCII: [&str; 6] = ["us-ascii", "ascii", "ansi_x3.4-1968", "iso646-us", "iso-ir-6", "csascii"];
        const LATIN1: [&str; 9] =
            ["iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1", "iso-ir-100", "cp819", "ibm819", "csisolatin1"];
        let is = |name: &&str| label.eq_ignore_ascii_case(name);
        if ASCII.iter().any(is) {
            return Some(Encoding::Ascii);
        }
        if LATIN1.iter().any(is) {
            return Some(Encoding::Latin1);
        }
        let encoding = encoding_rs::Encoding::for_label_no_replacement(label.as_bytes())?;
        match encoding.name() {
            "UTF-8" => Some(Encoding::Utf8),
            "UTF-16LE" if is(&"utf-16le") => Some(Encoding::Utf16Le),
            "UTF-16LE" => Some(Encoding::Utf16),
            "UTF-16BE" => Some(Encoding::Utf16Be),
            // This is only for browsers, not an encoding of documents.
            "x-user-defined" => None,
            _ => Some(Encoding::Other(encoding)),
        }
    }

    /// Returns UTF-16 in the byte order of the document, which is big-endian unless its bytes show otherwise (RFC 2781
    /// §4.3).
    fn with_order_of(self, bytes: &[u8]) -> Encoding {
        match (self, bytes) {
            (Encoding::Utf16, [0xFF, 0xFE, ..] | [b'<', 0, ..]) => Encoding::Utf16Le,
            (Encoding::Utf16, _) => Encoding::Utf16Be,
            (other, _) => other,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Encoding::Ascii => "US-ASCII",
            Encoding::Latin1 => "ISO-8859-1",
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16 => "UTF-16",
            Encoding::Utf16Le => "UTF-16LE",
            Encoding::Utf16Be => "UTF-16BE",
            Encoding::Other(encoding) => encoding.name(),
        }
    }

    fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, Error> {
        let invalid = |offset: usize| invalid_bytes(self, offset, bytes.get(offset).copied());
        let transcoded = |encoding: &'static encoding_rs::Encoding| {
            encoding
                .decode_without_bom_handling_and_without_replacement(bytes)
                .ok_or_else(|| invalid(first_malformed(encoding, bytes)))
        };
        match self {
            Encoding::Ascii => match bytes.iter().position(|byte| !byte.is_ascii()) {
                Some(offset) => Err(invalid(offset)),
                None => Encoding::Utf8.decode(bytes),
            },
            Encoding::Latin1 => Ok(encoding_rs::mem::decode_latin1(bytes)),
            Encoding::Utf16 => self.with_order_of(bytes).decode(bytes),
            Encoding::Utf16Le => transcoded(encoding_rs::UTF_16LE),
            Encoding::Utf16Be => transcoded(encoding_rs::UTF_16BE),
            Encoding::Utf8 => {
                simdutf8::compat::from_utf8(bytes).map(Cow::Borrowed).map_err(|error| invalid(error.valid_up_to()))
            }
            Encoding::Other(encoding) => transcoded(encoding),
        }
    }
}

/// Returns the encoding of a document without a byte order mark and without a charset (XML 1.0, appendix F.1).
fn detect_encoding(bytes: &[u8]) -> Result<Encoding, Error> {
    match bytes {
        [0, 0, 0, b'<', ..] | [b'<', 0, 0, 0, ..] => Err(unknown_encoding("UTF-32")),
        [0, b'<', ..] => Ok(Encoding::Utf16Be),
        [b'<', 0, ..] => Ok(Encoding::Utf16Le),
        [0x4C, 0x6F, 0xA7, 0x94, ..] => Err(unknown_encoding("EBCDIC")),
        _ => {
            let head = &bytes[..bytes.len().min(MAX_DECLARATION_LENGTH)];
            let head = &head[..head.iter().position(|byte| !byte.is_ascii()).unwrap_or(head.len())];
            match std::str::from_utf8(head).ok().and_then(declared) {
                // The declaration is readable as ASCII, so the bytes are not UTF-16. `check_declaration` reports that.
                Some(label) => match Encoding::of_label(label) {
                    Some(Encoding::Utf16 | Encoding::Utf16Le | Encoding::Utf16Be) => Ok(Encoding::Utf8),
                    known => known.ok_or_else(|| unknown_encoding(label)),
                },
                None => Ok(Encoding::Utf8),
            }
        }
    }
}

/// Checks that a document without a charset from outside declares the encoding that its first bytes show.
fn check_declaration(text: &str, encoding: Encoding, head: &[u8]) -> Result<(), Error> {
    let Some(label) = declared(text) else {
        let is_utf16 = matches!(encoding, Encoding::Utf16Le | Encoding::Utf16Be);
        if is_utf16 && Encoding::from_byte_order_mark(head).is_none() {
            let message = "UTF-16 without a byte order mark or an encoding declaration, one of which is required";
            return Err(Error::new(ErrorKind::Encoding, 0, message));
        }
        return Ok(());
    };
    let declared = Encoding::of_label(label).ok_or_else(|| unknown_encoding(label))?;
    if declared != encoding && declared.with_order_of(head) != encoding {
        let label = shown(label);
        let message = format!("the encoding \"{label}\" is declared, but the bytes are {}", encoding.name());
        return Err(Error::new(ErrorKind::Encoding, 0, message));
    }
    Ok(())
}

/// Returns the encoding that the XML declaration names, if there is one. Readers check the form of the declaration.
fn declared(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let head = &text.as_bytes()[..text.len().min(MAX_DECLARATION_LENGTH)];
    let end = head.windows(2).position(|pair| pair == b"?>")?;
    let declaration = text[..end].strip_prefix("<?xml")?;
    let (before, value) = declaration.split_once("encoding")?;
    before.ends_with([' ', '\t', '\r', '\n']).then_some(())?;
    let value = value.trim_start_matches([' ', '\t', '\r', '\n']).strip_prefix('=')?;
    let value = value.trim_start_matches([' ', '\t', '\r', '\n']);
    let quote = value.chars().next().filter(|&c| c == '"' || c == '\'')?;
    value[1..].split_once(quote).map(|(label, _)| label)
}

#[cold]
fn unknown_encoding(label: &str) -> Error {
    let message = format!("the encoding \"{}\" is unknown; UTF-8 and UTF-16 are always supported", shown(label));
    Error::new(ErrorKind::Encoding, 0, message)
}

#[cold]
fn invalid_bytes(encoding: Encoding, offset: usize, byte: Option<u8>) -> Error {
    let found = byte.map_or("the end".into(), |byte| format!("byte 0x{byte:02X}"));
    let message = format!("{found} is not {}, the encoding that was expected", encoding.name());
    Error::new(ErrorKind::Encoding, offset, message)
}

/// Returns the offset of the first bytes that are not valid in the encoding.
#[cold]
fn first_malformed(encoding: &'static encoding_rs::Encoding, bytes: &[u8]) -> usize {
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let mut piece = String::with_capacity(4096);
    let mut read = 0;
    loop {
        piece.clear();
        let (result, length) = decoder.decode_to_string_without_replacement(&bytes[read..], &mut piece, true);
        read += length;
        match result {
            DecoderResult::OutputFull => {}
            DecoderResult::InputEmpty => return read,
            DecoderResult::Malformed(wrong, behind) => return read.saturating_sub(usize::from(wrong + behind)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    }

    #[test]
    fn mark_then_charset_then_declaration_then_utf8() {
        let declared = |label: &str| format!("<?xml version='1.0' encoding = \"{label}\"?>");
        let latin = declared("ISO-8859-1");
        for (bytes, charset, expected) in [
            (b"<a/>".to_vec(), None, "<a/>".to_owned()),
            (b"<a>\xC3\xA9</a>".to_vec(), None, "<a>é</a>".to_owned()),
            (b"\xEF\xBB\xBF<a/>".to_vec(), Some("utf-16"), "\u{FEFF}<a/>".to_owned()),
            (utf16("\u{FEFF}<é/>", u16::to_le_bytes), Some("utf-8"), "\u{FEFF}<é/>".to_owned()),
            (utf16("\u{FEFF}<é/>", u16::to_be_bytes), None, "\u{FEFF}<é/>".to_owned()),
            (utf16("<é/>", u16::to_be_bytes), Some("UTF-16"), "<é/>".to_owned()),
            (utf16("<é/>", u16::to_le_bytes), Some("UTF-16"), "<é/>".to_owned()),
            (utf16("<é/>", u16::to_le_bytes), Some("utf-16le"), "<é/>".to_owned()),
            (utf16(&declared("UTF-16LE"), u16::to_le_bytes), None, declared("UTF-16LE")),
            (utf16(&declared("utf-16"), u16::to_be_bytes), None, declared("utf-16")),
            ([latin.as_bytes(), b"\xE9\x80"].concat(), None, format!("{latin}é\u{80}")),
            ([latin.as_bytes(), b"\xC3\xA9"].concat(), Some("utf-8"), format!("{latin}é")),
            (b"\xE9\x80".to_vec(), Some("windows-1252"), "é€".to_owned()),
            (b"\x82\xA0".to_vec(), Some("Shift_JIS"), "あ".to_owned()),
            (b"a".to_vec(), Some("us-ascii"), "a".to_owned()),
        ] {
            let of = charset.map(|label| Charset::of_label(label).unwrap());
            assert_eq!(decode(&bytes, of).as_deref(), Ok(expected.as_str()), "{charset:?}");
        }
        assert!(matches!(decode("é".as_bytes(), None), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn charsets_are_known_by_their_labels() {
        assert_eq!(Charset::of_label("Utf8"), Some(Charset::UTF_8));
        assert_eq!(Charset::of_label("LATIN1"), Charset::of_label("ISO-8859-1"));
        assert_ne!(Charset::of_label("windows-1252"), Charset::of_label("ISO-8859-1"));
        for label in ["", "klingon", "utf-32", "utf-7", "x-user-defined", "replacement", "iso-2022-kr"] {
            assert_eq!(Charset::of_label(label), None, "{label}");
        }
    }

    #[test]
    fn wrong_encoding_declarations_are_rejected() {
        for (bytes, charset, message) in [
            (&b"<a>\xFF"[..], None, "byte 0xFF is not UTF-8, the encoding that was expected (byte 3)"),
            (b"a\xE9", Some("us-ascii"), "byte 0xE9 is not US-ASCII, the encoding that was expected (byte 1)"),
            (
                b"<?xml version='1.0' encoding='klingon'?>",
                None,
                "the encoding \"klingon\" is unknown; UTF-8 and UTF-16 are always supported (byte 0)",
            ),
            (
                b"\0<\0a",
                None,
                "UTF-16 without a byte order mark or an encoding declaration, one of which is required (byte 0)",
            ),
            (b"\xFF\xFE<\0a", None, "byte 0x61 is not UTF-16LE, the encoding that was expected (byte 4)"),
            (b"\xFF\xFE<\0\0\xD8a\0", None, "byte 0x00 is not UTF-16LE, the encoding that was expected (byte 4)"),
            (
                b"<?xml version='1.0' encoding='utf-16'?><a/>",
                None,
                "the encoding \"utf-16\" is declared, but the bytes are UTF-8 (byte 0)",
            ),
            (
                b"\xEF\xBB\xBF<?xml version='1.0' encoding='latin1'?><a/>",
                None,
                "the encoding \"latin1\" is declared, but the bytes are UTF-8 (byte 0)",
            ),
            (b"ab\x82", Some("shift_jis"), "byte 0x82 is not Shift_JIS, the encoding that was expected (byte 2)"),
            (b"<\0\0\0", None, "the encoding \"UTF-32\" is unknown; UTF-8 and UTF-16 are always supported (byte 0)"),
        ] {
            let charset = charset.map(|label| Charset::of_label(label).unwrap());
            assert_eq!(decode(bytes, charset).unwrap_err().to_string(), message);
        }
    }
}
