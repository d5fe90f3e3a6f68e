//! Is what is written in canonical form? The answer may be no for what is.

use memchr::{memchr, memchr3_iter};

/// What a `&` of a canonical text begins.
const OF_TEXT: [&[u8]; 4] = [b"&lt;", b"&gt;", b"&amp;", b"&#xD;"];
/// What a `&` of a canonical attribute value begins.
const OF_VALUE: [&[u8]; 6] = [b"&lt;", b"&quot;", b"&amp;", b"&#x9;", b"&#xA;", b"&#xD;"];

/// Returns whether well-formed content of an element is in the form of Exclusive XML Canonicalization, if the declarations of all its
/// prefixes are written before it. It has neither declarations nor empty-element tags, and tags have no more than one attribute with a
/// prefix.
#[doc(hidden)]
pub fn is_canonical_content(mut content: &[u8]) -> bool {
    let mut known = Vec::new();
    loop {
        let (text, rest) = content.split_at(memchr(b'<', content).unwrap_or(content.len()));
        if !is_canonical_text(text) {
            return false;
        }
        if rest.is_empty() {
            return true;
        }
        let known_tag = tag_like(&known, rest);
        let learn = |number, piece| {
            if number == 0 {
                known.clear();
            }
            known.push(piece);
        };
        let Some(tag) = known_tag.or_else(|| tag(rest, learn)) else { return false };
        content = &rest[tag..];
    }
}

/// Returns whether a text is in canonical form.
pub(super) fn is_canonical_text(text: &[u8]) -> bool {
    memchr3_iter(b'&', b'>', b'\r', text).all(|at| text_escape(&text[at..]).is_some())
}

/// Returns the length of the escape at the beginning of a text, if canonical text has it.
pub(super) fn text_escape(text: &[u8]) -> Option<usize> {
    OF_TEXT.iter().find(|escape| text.starts_with(escape)).map(|escape| escape.len())
}

/// Returns the length of the tag at the beginning of `content`, if it is in canonical form.
pub(super) fn canonical_tag(content: &[u8]) -> Option<usize> {
    tag(content, |_, _| {})
}

/// Returns the length of the tag at the beginning of `content`, if it differs only in canonical values from the one whose
/// `pieces` are around the values. Repeated elements are recognised in a fraction of the time that reading their tags takes.
fn tag_like(pieces: &[&[u8]], content: &[u8]) -> Option<usize> {
    let (last, before) = pieces.split_last()?;
    let mut at = 0;
    for piece in before {
        at += content[at..].strip_prefix(*piece).and_then(canonical_value)? + piece.len();
    }
    content[at..].starts_with(last).then_some(at + last.len())
}

/// Returns the length of the tag at the beginning of `content`, if it is in canonical form. `learn` gets what is around the
/// values of its attributes, if it has some, piece by piece with its number.
fn tag<'c>(content: &'c [u8], mut learn: impl FnMut(usize, &'c [u8])) -> Option<usize> {
    // No byte of a name or of `</` is one of these.
    let is_end = |byte: &u8| matches!(byte, b' ' | b'>' | b'\t' | b'\n' | b'\r' | b'=' | b'&' | b'"' | b'\'');
    let end_of_name = |from: usize| Some(from + content.get(from..)?.iter().position(is_end)?);
    let mut at = end_of_name(1)?;
    let name = &content[1..at];
    let is_end_tag = name.first() == Some(&b'/');
    if name.last() == Some(&b'/') || matches!(name.first(), None | Some(b'!' | b'?')) {
        return None;
    }
    let (mut previous, mut pieces, mut piece): (&[u8], usize, usize) = (b"", 0, 0);
    loop {
        match content.get(at)? {
            b'>' => break,
            b' ' if !is_end_tag => {}
            _ => return None,
        }
        let end = end_of_name(at + 1)?;
        let name = &content[at + 1..end];
        // One with a prefix is the last one: those without a namespace are before it.
        let is_in_order = !previous.contains(&b':') && (previous < name || name.contains(&b':'));
        if !is_in_order || name == b"xmlns" || name.starts_with(b"xmlns:") || name.contains(&b'/') {
            return None;
        }
        previous = name;
        let value = content.get(end..)?.strip_prefix(b"=\"")?;
        learn(pieces, &content[piece..end + 2]);
        pieces += 1;
        piece = end + 2 + canonical_value(value)?;
        at = piece + 1;
    }
    if pieces > 0 {
        learn(pieces, &content[piece..=at]);
    }
    Some(at + 1)
}

/// Returns the length of the attribute value at the beginning of `content`, which ends at a quote, if it is in canonical form.
fn canonical_value(content: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        match content.get(at)? {
            b'"' => return Some(at),
            byte if !IS_SPECIAL[usize::from(*byte)] => at += 1,
            b'&' => at += OF_VALUE.iter().find(|escape| content[at..].starts_with(escape))?.len(),
            _ => return None,
        }
    }
}

/// The bytes that an attribute value has only as a part of an escape, or not at all.
const IS_SPECIAL: [bool; 256] = {
    let mut special = [false; 256];
    let (bytes, mut at) = (b"&<\t\n\r", 0);
    while at < bytes.len() {
        special[bytes[at] as usize] = true;
        at += 1;
    }
    special
};

#[cfg(test)]
mod tests {
    use super::is_canonical_content;

    #[test]
    fn what_is_canonical_is_told_from_what_may_not_be() {
        for canonical in [
            "",
            "a",
            "<a></a>",
            "<p:a>1 &lt; 2 &gt; &amp; &#xD;\n\t\"'</p:a>",
            "<a><b>ä</b></a>",
            "<a b=\"1\"></a>",
            "<a b=\"1\" c=\"\"> </a>",
            "<a z=\"1\" q:a=\"\"></a>",
            "<p:a B=\"1\" b=\"'/>\" q:a=\"&lt;&quot;&amp;&#x9;&#xA;&#xD;\"></p:a>",
            "<a b=\"1\" c=\"2\"></a><a b=\"&amp;\" c=\"\"></a><a b=\"1\"></a><a b=\"2\" c=\"3\" d=\"4\"></a>",
        ] {
            assert!(is_canonical_content(canonical.as_bytes()), "{canonical}");
        }
        for other in [
            "<a/>",
            "<a ></a>",
            "<a></a >",
            "<a></a b=\"1\">",
            "<a b='1'></a>",
            "<a  b=\"1\"></a>",
            "<a b=\"1\" ></a>",
            "<a b=\"1\"/>",
            "<a b =\"1\"></a>",
            "<a b= \"1\"></a>",
            "<a\tb=\"1\"></a>",
            "<a b=\"1\"c=\"2\"></a>",
            "<a c=\"1\" b=\"2\"></a>",
            "<a q:b=\"1\" c=\"2\"></a>",
            "<a q:b=\"1\" q:c=\"2\"></a>",
            "<a b=\"&gt;\"></a>",
            "<a b=\"&#9;\"></a>",
            "<a b=\"\t\"></a>",
            "<a b=\"\n\"></a>",
            "<a\n></a>",
            "<!-- --><a></a>",
            "<?p?>",
            "<![CDATA[a]]>",
            "<a>&quot;</a>",
            "<a>&#13;</a>",
            "<a>></a>",
            "<a>\r</a>",
            "&",
            "&am",
            "<a",
            "<a b",
            "<a b=",
            "<a b=\"",
            "<a b=\"1\"",
            "<a xmlns=\"\"></a>",
            "<a xmlns:p=\"urn:p\"></a>",
            "<",
            "<>",
            "< a></a>",
            // Tags like those before them.
            "<a b=\"1\"></a><a b=\"<\"></a>",
            "<a b=\"1\"></a><a b=\"&gt;\"></a>",
            "<a b=\"1\" c=\"2\"></a><a c=\"2\" b=\"1\"></a>",
            "<a b=\"1\" c=\"2\"></a><a b=\"1\" c=\"2\"/>",
            "<a b=\"1\"></a><a b=\"1\"",
            "<a b=\"1\"></a><a b=\"",
        ] {
            assert!(!is_canonical_content(other.as_bytes()), "{other}");
        }
    }
}
