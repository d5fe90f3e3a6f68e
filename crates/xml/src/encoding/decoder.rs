//! Decodes bytes that arrive in pieces.

use encoding_rs::DecoderResult;

use super::{Charset, Encoding, MAX_DECLARATION_LENGTH, check_declaration, declared, invalid_bytes};
use crate::error::Error;

/// Decodes a document as [`decode`](super::decode) does, one piece at a time.
pub(crate) struct Decoder {
    charset: Option<Charset>,
    decoding: Decoding,
    /// How many bytes have arrived before, and the last of them for error messages.
    before: usize,
    last: Vec<u8>,
}

enum Decoding {
    /// The bytes so far do not determine the encoding.
    Unknown(Vec<u8>),
    Ascii,
    Latin1,
    /// With the first bytes of a character that is not complete.
    Utf8(Vec<u8>),
    Other(Encoding, Box<encoding_rs::Decoder>),
}

/// How many of the last bytes are retained. An invalid character and its report reach back by fewer bytes.
const LAST: usize = 8;

impl Decoder {
    pub(crate) fn new(charset: Option<Charset>) -> Self {
        let decoding = Decoding::Unknown(Vec::new());
        Decoder { charset, decoding, before: 0, last: Vec::new() }
    }

    /// Decodes the bytes that are next and appends the text to `out`. An incomplete character at the end is held back,
    /// unless these are the last bytes. If bytes are invalid, the text before them is appended.
    ///
    /// # Errors
    /// [`ErrorKind::Encoding`](crate::ErrorKind::Encoding) if the encoding is not supported, if it is not the declared
    /// one, or if the bytes are not valid in it. Results after an error are unspecified.
    pub(crate) fn decode(&mut self, bytes: &[u8], is_last: bool, out: &mut String) -> Result<(), Error> {
        let Decoding::Unknown(held) = &mut self.decoding else { return self.transcode(bytes, is_last, out) };
        held.extend_from_slice(bytes);
        let Some(head) = head_length(held).or(is_last.then_some(held.len())) else { return Ok(()) };
        let held = std::mem::take(held);
        let (head, rest) = held.split_at(head);
        let encoding = Encoding::choose(head, self.charset)?;
        self.decoding = Decoding::of(encoding);
        let begin = out.len();
        let result = self.transcode(head, is_last && rest.is_empty(), out);
        let text = &out[begin..];
        if self.charset.is_none() && (result.is_ok() || declared(text).is_some()) {
            let checked = check_declaration(text, encoding, head);
            if checked.is_err() {
                out.truncate(begin);
                return checked;
            }
        }
        result?;
        if rest.is_empty() { Ok(()) } else { self.transcode(rest, is_last, out) }
    }

    fn transcode(&mut self, bytes: &[u8], is_last: bool, out: &mut String) -> Result<(), Error> {
        match &mut self.decoding {
            Decoding::Unknown(_) => {}
            Decoding::Ascii => {
                let end = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or(bytes.len());
                out.push_str(&String::from_utf8_lossy(&bytes[..end]));
                if end < bytes.len() {
                    return Err(invalid_bytes(Encoding::Ascii, self.before + end, Some(bytes[end])));
                }
            }
            Decoding::Latin1 => out.push_str(&encoding_rs::mem::decode_latin1(bytes)),
            Decoding::Utf8(cut) => {
                let cut_before = cut.len();
                let wrong = utf8(cut, bytes, is_last, out);
                if let Some((place, byte)) = wrong {
                    return Err(invalid_bytes(Encoding::Utf8, self.before + place - cut_before, Some(byte)));
                }
            }
            Decoding::Other(encoding, decoder) => {
                let mut read = 0;
                loop {
                    let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len() - read);
                    out.reserve(room.unwrap_or(bytes.len()));
                    let (result, length) = decoder.decode_to_string_without_replacement(&bytes[read..], out, is_last);
                    read += length;
                    match result {
                        DecoderResult::OutputFull => {}
                        DecoderResult::InputEmpty => break,
                        DecoderResult::Malformed(wrong, behind) => {
                            let offset = (self.before + read).saturating_sub(usize::from(wrong + behind));
                            let byte = match offset.checked_sub(self.before) {
                                Some(place) => bytes.get(place),
                                None => self.last.iter().rev().nth(self.before - offset - 1),
                            };
                            return Err(invalid_bytes(*encoding, offset, byte.copied()));
                        }
                    }
                }
                self.last.extend_from_slice(&bytes[bytes.len().saturating_sub(LAST)..]);
                self.last.drain(..self.last.len().saturating_sub(LAST));
            }
        }
        self.before += bytes.len();
        Ok(())
    }
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let encoding = match &self.decoding {
            Decoding::Unknown(_) => "not known yet",
            Decoding::Ascii => Encoding::Ascii.name(),
            Decoding::Latin1 => Encoding::Latin1.name(),
            Decoding::Utf8(_) => Encoding::Utf8.name(),
            Decoding::Other(encoding, _) => encoding.name(),
        };
        f.debug_struct("Decoder").field("encoding", &encoding).field("before", &self.before).finish_non_exhaustive()
    }
}

impl Decoding {
    fn of(encoding: Encoding) -> Decoding {
        match encoding {
            Encoding::Ascii => Decoding::Ascii,
            Encoding::Latin1 => Decoding::Latin1,
            Encoding::Utf8 => Decoding::Utf8(Vec::new()),
            Encoding::Utf16Le => Decoding::other(encoding, encoding_rs::UTF_16LE),
            Encoding::Utf16 | Encoding::Utf16Be => Decoding::other(encoding, encoding_rs::UTF_16BE),
            Encoding::Other(other) => Decoding::other(encoding, other),
        }
    }

    fn other(encoding: Encoding, other: &'static encoding_rs::Encoding) -> Decoding {
        Decoding::Other(encoding, Box::new(other.new_decoder_without_bom_handling()))
    }
}

/// Appends the complete characters. Returns the index and the value of the first invalid byte. The index counts from
/// the first byte in `cut`.
fn utf8(cut: &mut Vec<u8>, bytes: &[u8], is_last: bool, out: &mut String) -> Option<(usize, u8)> {
    let before = cut.len();
    let mut rest = bytes;
    while !cut.is_empty()
        && let Some((&byte, behind)) = rest.split_first()
    {
        cut.push(byte);
        rest = behind;
        match std::str::from_utf8(cut) {
            Ok(text) => {
                out.push_str(text);
                cut.clear();
            }
            Err(error) if error.error_len().is_none() => {}
            Err(_) => return Some((0, cut[0])),
        }
    }
    let begin = before + bytes.len() - rest.len();
    if cut.is_empty() {
        match simdutf8::compat::from_utf8(rest) {
            Ok(text) => out.push_str(text),
            Err(error) => {
                let (text, wrong) = rest.split_at(error.valid_up_to());
                out.push_str(&String::from_utf8_lossy(text));
                if error.error_len().is_some() || is_last {
                    return Some((begin + text.len(), wrong[0]));
                }
                cut.extend_from_slice(wrong);
            }
        }
    } else if is_last {
        return Some((0, cut[0]));
    }
    None
}

/// Returns how many of the first bytes determine the encoding: those of a byte order mark, and of the XML declaration
/// if there is one. `None` if more bytes are needed.
fn head_length(bytes: &[u8]) -> Option<usize> {
    /// The fewest bytes that determine the encoding (XML 1.0, appendix F.1).
    const MIN_BYTES: usize = 4;
    const BEGIN: &[u8] = b"<?xml";
    if bytes.len() < MIN_BYTES {
        return None;
    }
    let (mark, unit, low) = match bytes {
        [0xEF, 0xBB, 0xBF, ..] => (3, 1, 0),
        [0xFF, 0xFE, ..] => (2, 2, 0),
        [0xFE, 0xFF, ..] => (2, 2, 1),
        [0, ..] => (0, 2, 1),
        [_, 0, ..] => (0, 2, 0),
        _ => (0, 1, 0),
    };
    let mut before = 0;
    for (index, character) in bytes[mark..].chunks_exact(unit).enumerate() {
        let byte = if character.iter().filter(|&&byte| byte != 0).count() < 2 { character[low] } else { 0 };
        let is_other = BEGIN.get(index).is_some_and(|&begin| begin != byte);
        if is_other || (before, byte) == (b'?', b'>') || index + 1 == MAX_DECLARATION_LENGTH {
            return Some((mark + (index + 1) * unit).max(MIN_BYTES));
        }
        before = byte;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;

    /// Decodes bytes in pieces of this length. Returns the text up to the first error, and the result.
    fn in_chunks(bytes: &[u8], charset: Option<Charset>, length: usize) -> (String, Result<(), Error>) {
        let (mut decoder, mut text) = (Decoder::new(charset), String::new());
        for piece in bytes.chunks(length) {
            if let Err(error) = decoder.decode(piece, false, &mut text) {
                return (text, Err(error));
            }
        }
        let result = decoder.decode(&[], true, &mut text);
        (text, result)
    }

    #[test]
    fn pieces_are_decoded_as_the_whole() {
        let declared = |label: &str| format!("<?xml version='1.0' encoding=\"{label}\"?>");
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let big = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
        let long = format!("<?xml version='1.0'{}?><a/>", " ".repeat(2_000));
        let with = |label: &str, bytes: &[u8]| [declared(label).as_bytes(), bytes].concat();
        for (bytes, charset) in [
            (Vec::new(), None),
            (b"<".to_vec(), None),
            ("<a>é\u{1F600}</a>".into(), None),
            ("\u{FEFF}<é/>".into(), None),
            ("\u{FEFF}<é/>".into(), Some("utf-16")),
            (utf16("\u{FEFF}<é/>\u{1F600}"), None),
            (big("\u{FEFF}<é/>\u{1F600}"), Some("utf-8")),
            (big("<é/>"), Some("UTF-16")),
            (utf16("<é/>"), Some("UTF-16")),
            (utf16("<é/>"), None),
            (utf16(&(declared("utf-16") + "<é/>")), None),
            (big(&(declared("utf-16") + "<é/>")), None),
            (big(&(declared("utf-16le") + "<é/>")), None),
            (utf16(&(declared("latin1") + "<é/>")), None),
            (utf16(&long), None),
            (long.clone().into(), None),
            (with("ISO-8859-1", b"<\xE9\x80/>"), None),
            (with("windows-1252", b"<\xE9\x80/>"), None),
            (with("Shift_JIS", b"<\x82\xA0/>"), None),
            (with("us-ascii", b"<a/>"), None),
            (with("us-ascii", b"<\xE9/>"), None),
            (with("klingon", b"<a/>"), None),
            (with("UTF-16", b"<a/>"), None),
            (with("latin1", b"<\xC3\xA9/>"), Some("utf-8")),
            (b"\xEF\xBB\xBF<?xml version='1.0' encoding='latin1'?><a/>".to_vec(), None),
            (b"a\xE9".to_vec(), Some("us-ascii")),
            (b"<\0\0\0".to_vec(), None),
            (b"\0<\0a".to_vec(), None),
            (b"\xFF\xFE<\0\0\xD8a\0".to_vec(), None),
            (b"\xFF\xFE<\0a".to_vec(), None),
            (b"ab\x82".to_vec(), Some("shift_jis")),
            (b"ab\x82\xFFcdefghijkl".to_vec(), Some("shift_jis")),
            (b"abcdefgh\x81\x30\x81x".to_vec(), Some("gb18030")),
            (b"<a>\xE2\x82".to_vec(), None),
            (b"<a>\xE2\x82<".to_vec(), None),
            (b"<a>\xFF".to_vec(), None),
        ] {
            let charset = charset.map(|label| Charset::of_label(label).unwrap());
            let whole = decode(&bytes, charset);
            for length in 1..=bytes.len().clamp(1, 50) {
                let (text, result) = in_chunks(&bytes, charset, length);
                match &whole {
                    Ok(whole) => assert_eq!((text.as_str(), result), (whole.as_ref(), Ok(())), "{charset:?}, {length}"),
                    Err(error) => assert_eq!(result.as_ref(), Err(error), "{text:?}, {charset:?}, {length}"),
                }
            }
        }
    }
}
