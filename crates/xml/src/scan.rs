//! Functions that compare many bytes in one step. Tests compare them with plain functions.

/// How many bytes are compared in one step.
pub(crate) const WIDTH: usize = 16;

/// Returns the end of character data that needs no change. It ends at `<`, `&`, a carriage return, `]]>`, a character
/// that XML 1.0 §2.2 forbids, or the end of `bytes`, which must be UTF-8.
#[inline]
pub fn end_of_character_data(bytes: &[u8], at: usize) -> usize {
    // Most texts are short and end at a tag. The first chunk suffices for them.
    let mut from = at;
    if let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<WIDTH>) {
        let hits = hits::<b']', false>(chunk);
        let end = at + hits.trailing_zeros() as usize;
        if hits == 0 {
            from += WIDTH;
        } else if matches!(bytes.get(end), Some(b'<' | b'&')) {
            return end;
        }
    }
    end_of_long_character_data(bytes, from)
}

/// Returns the offset of the first character from `at` on that XML 1.0 doesn't allow, or of the end of a CDATA section.
/// Returns the length if there is none. `bytes` must be UTF-8. Markup is not recognised. `has_returns` is set if there
/// are carriage returns before that offset, and possibly if there are others after it.
pub(crate) fn end_of_legal<const CDATA: bool>(bytes: &[u8], mut at: usize, has_returns: &mut bool) -> usize {
    const BLOCK: usize = 64;
    // Without branches, so that the compiler can compare many bytes in one step. Line ends are in few blocks.
    let is_rare = |byte: u8| (byte < 0x20) | (byte == 0xEF) | (CDATA & (byte == b']'));
    let is_suspect = |byte: u8| is_rare(byte) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r');
    while at < bytes.len() {
        if let Some(block) = bytes[at..].first_chunk::<BLOCK>() {
            if !is_any(block, is_rare) {
                at += BLOCK;
                continue;
            }
            *has_returns |= is_any(block, |byte| byte == b'\r');
            if !is_any(block, is_suspect) {
                at += BLOCK;
                continue;
            }
        }
        let end = bytes.len().min(at + BLOCK);
        while at < end {
            match bytes[at] {
                // U+FFFE and U+FFFF are EF BF BE and EF BF BF.
                0xEF if !matches!(bytes.get(at + 1..at + 3), Some([0xBF, 0xBE..=0xBF])) => at += 3,
                b']' if CDATA && bytes.get(at + 1..at + 3) != Some(b"]>") => at += 1,
                byte if is_suspect(byte) => return at,
                byte => {
                    *has_returns |= byte == b'\r';
                    at += 1;
                }
            }
        }
    }
    bytes.len()
}

#[inline]
fn is_any<const LENGTH: usize>(block: &[u8; LENGTH], is_it: impl Fn(u8) -> bool) -> bool {
    block.iter().fold(false, |any, &byte| any | is_it(byte))
}

/// Returns the first `length` bytes of a chunk as a number, so that they can be compared in one step.
#[inline]
pub(crate) fn prefix(chunk: &[u8; WIDTH], length: usize) -> u128 {
    u128::from_le_bytes(*chunk) & PREFIXES[length]
}

/// `PREFIXES[n]` is the mask for the first n bytes of a chunk.
pub(crate) const PREFIXES: [u128; WIDTH + 1] = {
    let mut masks = [u128::MAX; WIDTH + 1];
    let mut length = 0;
    while length < WIDTH {
        masks[length] = (1 << (8 * length)) - 1;
        length += 1;
    }
    masks
};

/// Whether the `length` bytes at both offsets are equal.
#[inline]
pub(crate) fn is_same(bytes: &[u8], one: usize, other: usize, length: usize) -> bool {
    let chunk = |at: usize| bytes.get(at..).and_then(<[u8]>::first_chunk::<WIDTH>);
    match (chunk(one), chunk(other)) {
        (Some(one), Some(other)) if length <= WIDTH => prefix(one, length) == prefix(other, length),
        _ => bytes.get(one..one + length).is_some_and(|one| bytes.get(other..other + length) == Some(one)),
    }
}

fn end_of_long_character_data(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = end_of_plain::<b']', false>(bytes, at);
        match bytes.get(at) {
            Some(b']') if !bytes[at..].starts_with(b"]]>") => at += 1,
            // U+FFFE and U+FFFF are EF BF BE and EF BF BF.
            Some(0xEF) if !matches!(bytes.get(at + 1..at + 3), Some([0xBF, 0xBE..=0xBF])) => at += 3,
            _ => return at.min(bytes.len()),
        }
    }
}

/// Returns the end of text that can be written as character data without escapes. It ends at `<`, `>`, `&`, a carriage
/// return or a character that XML 1.0 can't represent. `bytes` must be UTF-8.
#[inline]
pub fn end_of_unescaped(bytes: &[u8]) -> usize {
    let mut at = end_of_plain::<b'>', false>(bytes, 0);
    while bytes.get(at) == Some(&0xEF) && !matches!(bytes.get(at + 1..at + 3), Some([0xBF, 0xBE..=0xBF])) {
        at = end_of_plain::<b'>', false>(bytes, at + 3);
    }
    at.min(bytes.len())
}

/// Returns the end of the part of an attribute value that needs no change. It ends at `<`, `&`, the quote, white space
/// other than a space, or a byte that may begin a character that XML 1.0 doesn't allow.
#[inline]
pub fn end_of_attribute_part(bytes: &[u8], at: usize, quote: u8) -> usize {
    let end = match quote {
        b'"' => end_of_plain::<b'"', true>(bytes, at),
        _ => end_of_plain::<b'\'', true>(bytes, at),
    };
    end.min(bytes.len())
}

/// Returns the end of a name at the beginning of a chunk. It ends at white space, `=`, `/` or `>`, or with the chunk.
/// The bytes before that are not checked.
#[inline]
pub(crate) fn end_of_name(chunk: &[u8; WIDTH]) -> usize {
    (name_hits(chunk) | 1 << WIDTH).trailing_zeros() as usize
}

/// Returns the offset of the first byte from `at` on that stops a scan: `<`, `&`, `FOURTH`, a control character, or
/// 0xEF, which may begin U+FFFE or U+FFFF. Tab and line feed stop it only with `WHITE`. Returns the length if there is
/// none.
#[inline]
fn end_of_plain<const FOURTH: u8, const WHITE: bool>(bytes: &[u8], mut at: usize) -> usize {
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<WIDTH>) {
        let hits = hits::<FOURTH, WHITE>(chunk);
        if hits != 0 {
            return at + hits.trailing_zeros() as usize;
        }
        at += WIDTH;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.is_empty() {
        return bytes.len();
    }
    at + (tail_hits::<FOURTH, WHITE>(bytes, rest) | 1 << rest.len()).trailing_zeros() as usize
}

/// Returns the bits of the hits in the last bytes, which are fewer than a chunk. Bytes that are compared twice count
/// once.
#[inline]
fn tail_hits<const FOURTH: u8, const WHITE: bool>(bytes: &[u8], rest: &[u8]) -> u32 {
    if let Some(chunk) = bytes.last_chunk::<WIDTH>() {
        return hits::<FOURTH, WHITE>(chunk) >> (WIDTH - rest.len());
    }
    // Two halves that overlap. The bits of the second half are moved to where it is in the text.
    if let (Some(first), Some(last)) = (rest.first_chunk::<8>(), rest.last_chunk::<8>()) {
        let mut chunk = [0; WIDTH];
        chunk[..8].copy_from_slice(first);
        chunk[8..].copy_from_slice(last);
        let hits = hits::<FOURTH, WHITE>(&chunk);
        return hits & 0xFF | (hits >> 8) << (rest.len() - 8);
    }
    if let (Some(first), Some(last)) = (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        let mut chunk = [0; WIDTH];
        chunk[..4].copy_from_slice(first);
        chunk[4..8].copy_from_slice(last);
        let hits = hits::<FOURTH, WHITE>(&chunk);
        return hits & 0xF | (hits >> 4 & 0xF) << (rest.len() - 4);
    }
    rest.iter().enumerate().fold(0, |hits, (bit, &byte)| hits | u32::from(stops::<FOURTH, WHITE>(byte)) << bit)
}

#[inline]
fn stops<const FOURTH: u8, const WHITE: bool>(byte: u8) -> bool {
    let passes = byte >= b' ' || (!WHITE && matches!(byte, b'\t' | b'\n'));
    !passes || byte == b'<' || byte == b'&' || byte == FOURTH || byte == 0xEF
}

/// Returns a bit for each byte that stops a scan, lowest first.
#[cfg(target_arch = "x86_64")]
#[inline]
#[allow(unsafe_code, reason = "the plain twin costs four times as much on the text of a message")]
fn hits<const FOURTH: u8, const WHITE: bool>(chunk: &[u8; WIDTH]) -> u32 {
    // SAFETY: SSE2 is part of x86-64, so every machine this is compiled for has it.
    unsafe { hits_sse2::<FOURTH, WHITE>(chunk) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn hits_sse2<const FOURTH: u8, const WHITE: bool>(chunk: &[u8; WIDTH]) -> u32 {
    use std::arch::x86_64::*;
    let data = load(chunk);
    let is = |byte: u8| _mm_cmpeq_epi8(data, _mm_set1_epi8(byte as i8));
    let hits = _mm_or_si128(_mm_or_si128(is(b'<'), is(b'&')), _mm_or_si128(is(FOURTH), is(0xEF)));
    let control = _mm_cmpeq_epi8(_mm_min_epu8(data, _mm_set1_epi8(0x1F)), data);
    let control = if WHITE { control } else { _mm_andnot_si128(_mm_or_si128(is(b'\t'), is(b'\n')), control) };
    _mm_movemask_epi8(_mm_or_si128(hits, control)) as u32
}

/// Returns a bit for each byte that ends a name, lowest first.
#[cfg(target_arch = "x86_64")]
#[inline]
#[allow(unsafe_code, reason = "the plain twin costs several times as much, on every name")]
fn name_hits(chunk: &[u8; WIDTH]) -> u32 {
    // SAFETY: SSE2 is part of x86-64, so every machine this is compiled for has it.
    unsafe { name_hits_sse2(chunk) }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn name_hits_sse2(chunk: &[u8; WIDTH]) -> u32 {
    use std::arch::x86_64::*;
    let data = load(chunk);
    let is = |byte: u8| _mm_cmpeq_epi8(data, _mm_set1_epi8(byte as i8));
    let white = _mm_cmpeq_epi8(_mm_min_epu8(data, _mm_set1_epi8(b' ' as i8)), data);
    let ends = _mm_or_si128(_mm_or_si128(is(b'='), is(b'>')), is(b'/'));
    _mm_movemask_epi8(_mm_or_si128(ends, white)) as u32
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn load(chunk: &[u8; WIDTH]) -> std::arch::x86_64::__m128i {
    let (low, high) = chunk.split_at(WIDTH / 2);
    let [low, high] = [low, high].map(|half| half.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes)));
    std::arch::x86_64::_mm_set_epi64x(high, low)
}

/// Returns the bits of the bytes that end a name, computed byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn name_hits_plain(chunk: &[u8; WIDTH]) -> u32 {
    let ends_name = |byte: u8| byte <= b' ' || byte == b'=' || byte == b'/' || byte == b'>';
    chunk.iter().enumerate().fold(0, |hits, (bit, &byte)| hits | u32::from(ends_name(byte)) << bit)
}

#[cfg(not(target_arch = "x86_64"))]
use name_hits_plain as name_hits;

/// Returns the bits of the bytes that stop a scan, computed byte by byte.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn hits_plain<const FOURTH: u8, const WHITE: bool>(chunk: &[u8; WIDTH]) -> u32 {
    chunk.iter().enumerate().fold(0, |hits, (bit, &byte)| hits | u32::from(stops::<FOURTH, WHITE>(byte)) << bit)
}

#[cfg(not(target_arch = "x86_64"))]
use hits_plain as hits;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_data_ends_where_it_must() {
        for (text, expected) in [
            ("ab<c", "ab"),
            ("ab&c", "ab"),
            ("a\rb", "a"),
            ("a]]>", "a"),
            ("a]]b]", "a]]b]"),
            ("\u{FF0C}\u{FFFD}x", "\u{FF0C}\u{FFFD}x"),
            ("x\u{FFFE}", "x"),
            ("x\u{FFFF}", "x"),
            ("a\tb\nc\u{1}", "a\tb\nc"),
        ] {
            assert_eq!(end_of_character_data(text.as_bytes(), 0), expected.len(), "{text:?}");
        }
    }

    #[test]
    fn legal_characters_end_at_the_first_illegal_one() {
        let one_by_one = |text: &str, at: usize| {
            let illegal = text[at..].char_indices().find(|&(_, c)| !crate::escape::is_char(c));
            illegal.map_or(text.len(), |(offset, _)| at + offset)
        };
        let end_of_cdata = |text: &str, at: usize| {
            let end = text[at..].find("]]>").map_or(text.len(), |end| at + end);
            one_by_one(&text[..end], at)
        };
        let odd = [
            "",
            "<",
            "\t\r\n",
            "\u{1}",
            "\u{1F}",
            "\u{FF0C}",
            "\u{FFFD}",
            "\u{FFFE}",
            "\u{FFFF}",
            "\u{1F600}",
            "\u{7F}",
            "]]",
            "]]>",
            "]]]>\r",
        ];
        for before in (0..200).chain([1_000]) {
            for (one, other) in odd.iter().flat_map(|one| odd.iter().map(move |other| (one, other))) {
                let text = format!("{}{one}x{other}<a/>", "y".repeat(before));
                for at in [0, before.min(1), before] {
                    let mut has_returns = false;
                    let end = end_of_legal::<false>(text.as_bytes(), at, &mut has_returns);
                    assert_eq!(end, one_by_one(&text, at), "{text:?} from {at}");
                    assert!(has_returns || !text[at..end].contains('\r'), "{text:?} from {at}");
                    let mut has_returns = false;
                    let end = end_of_legal::<true>(text.as_bytes(), at, &mut has_returns);
                    assert_eq!(end, end_of_cdata(&text, at), "{text:?} from {at}");
                    assert!(has_returns || !text[at..end].contains('\r'), "{text:?} from {at}");
                }
            }
        }
    }

    #[test]
    fn the_twins_agree() {
        for byte in 0..=255 {
            for place in 0..WIDTH {
                let mut chunk = [b'x'; WIDTH];
                chunk[place] = byte;
                let (text, plain) = (hits::<b'>', false>(&chunk), hits_plain::<b'>', false>(&chunk));
                assert_eq!(text, plain, "byte {byte} at {place}");
                let (value, plain) = (hits::<b'"', true>(&chunk), hits_plain::<b'"', true>(&chunk));
                assert_eq!(value, plain, "byte {byte} at {place}");
                assert_eq!(name_hits(&chunk), name_hits_plain(&chunk), "byte {byte} at {place}");
            }
        }
    }

    #[test]
    fn every_byte_stops_or_passes_at_every_place() {
        for byte in 0..=255 {
            for length in 1..40 {
                for place in 0..length {
                    let mut bytes = vec![b'x'; length];
                    bytes[place] = byte;
                    let expected = if stops::<b']', false>(byte) { place } else { length };
                    for start in 0..=place {
                        let found = end_of_plain::<b']', false>(&bytes, start);
                        assert_eq!(found, expected, "byte {byte} at {place} of {length} from {start}");
                    }
                }
            }
        }
    }

    #[test]
    fn text_is_escaped_from_the_right_place() {
        for (text, expected) in [
            ("", ""),
            ("plain ]] text", "plain ]] text"),
            ("a>b", "a"),
            ("0123456789abcdef\u{FF0C}\u{FF0D}<", "0123456789abcdef\u{FF0C}\u{FF0D}"),
            ("\u{FFFE}", ""),
            ("ab\r", "ab"),
        ] {
            assert_eq!(end_of_unescaped(text.as_bytes()), expected.len(), "{text:?}");
        }
    }
}
