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
    loop {
        let (text, rest) = content.split_at(memchr(b'<', content).unwrap_or(content.len()));
        if !is_canonical_text(text) {
            return false;
        }
        if rest.is_empty() {
            return true;
        }
        let Some(tag) = canonical_tag(rest) else { return false };
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
    // No byte of a name or of `</` is one of these.
    let is_end = |byte: &u8| matches!(byte, b' ' | b'>' | b'\t' | b'\n' | b'\r' | b'=' | b'&' | b'"' | b'\'');
    let end_of_name = |from: usize| Some(from + content.get(from..)?.iter().position(is_end)?);
    let mut at = end_of_name(1)?;
    let name = &content[1..at];
    let is_end_tag = name.first() == Some(&b'/');
    if name.last() == Some(&b'/') || matches!(name.first(), None | Some(b'!' | b'?')) {
        return None;
    }
    let mut previous: &[u8] = b"";
    loop {
        match content.get(at)? {
            b'>' => return Some(at + 1),
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
        let length = canonical_value(value)?;
        at = end + 2 + length + 1;
    }
}

/// Returns the length of the attribute value at the beginning of `content`, which ends at a quote, if it is in canonical form.
fn canonical_value(content: &[u8]) -> Option<usize> {
    for (at, byte) in content.iter().enumerate() {
        match byte {
            b'"' => return Some(at),
            b'<' | b'\t' | b'\n' | b'\r' => return None,
            b'&' if !OF_VALUE.iter().any(|escape| content[at..].starts_with(escape)) => return None,
            _ => {}
        }
    }
    None
}

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
        ] {
            assert!(!is_canonical_content(other.as_bytes()), "{other}");
        }
    }
}
