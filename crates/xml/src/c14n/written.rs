//! Is what is written in canonical form? The answer may be no for what is.

use memchr::{memchr, memchr_iter, memchr3_iter, memmem};

use crate::tree::is_ncname;

/// What a `&` of a canonical text begins.
const OF_TEXT: [&[u8]; 4] = [b"&lt;", b"&gt;", b"&amp;", b"&#xD;"];
/// What a `&` of a canonical attribute value begins.
const OF_VALUE: [&[u8]; 6] = [b"&lt;", b"&quot;", b"&amp;", b"&#x9;", b"&#xA;", b"&#xD;"];

/// Bytes of names. Bytes that are not ASCII are checked when the name is complete.
const IS_OF_NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] =
            matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b':' | 0x80..);
        byte += 1;
    }
    table
};

/// Returns whether content of an element is well-formed, and in the form of Exclusive XML Canonicalization, if that lists all prefixes. The
/// content is in UTF-8. It has neither declarations nor empty-element tags, and tags have no more than one attribute with a prefix. Its
/// prefixes are declared somewhere in `before`.
#[doc(hidden)]
pub fn is_canonical_content(before: &[u8], mut content: &[u8]) -> bool {
    if !has_only_chars(content) {
        return false;
    }
    let mut prefixes = Prefixes { before, declared: Vec::new() };
    let (mut open, mut known): (Vec<&[u8]>, _) = (Vec::new(), KnownTag::default());
    loop {
        let (text, rest) = content.split_at(memchr(b'<', content).unwrap_or(content.len()));
        if !is_canonical_text(text) {
            return false;
        }
        if rest.is_empty() {
            return open.is_empty();
        }
        if let Some(end_tag) = rest.strip_prefix(b"</") {
            let after = open.pop().and_then(|name| end_tag.strip_prefix(name)?.strip_prefix(b">"));
            let Some(after) = after else { return false };
            content = after;
            continue;
        }
        let length = match tag_like(&known.pieces, rest) {
            Some(length) => {
                open.push(known.name);
                length
            }
            None => {
                let Some(tag) = start_tag(rest, |number, piece| known.learn(number, piece)) else { return false };
                if ![Some(tag.name), tag.prefixed].into_iter().flatten().all(|name| prefixes.includes(name)) {
                    return false;
                }
                open.push(tag.name);
                tag.length
            }
        };
        content = &rest[length..];
    }
}

/// Returns whether a text in UTF-8 has no character that XML doesn't allow (XML 1.0 §2.2).
fn has_only_chars(text: &[u8]) -> bool {
    let is_control = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    // Not ended early, so that several bytes are compared at a time.
    let has_control = text.iter().fold(false, |found, byte| found | is_control(*byte));
    let is_noncharacter = |at: usize| matches!(text.get(at + 1..at + 3), Some([0xbf, 0xbe | 0xbf]));
    !has_control && !memchr_iter(0xef, text).any(is_noncharacter)
}

/// The prefixes that were declared before.
struct Prefixes<'c> {
    before: &'c [u8],
    /// Those that were found.
    declared: Vec<&'c [u8]>,
}

impl<'c> Prefixes<'c> {
    /// Returns whether the prefix of a name is declared, if it has one.
    fn includes(&mut self, name: &'c [u8]) -> bool {
        let Some(end) = name.iter().position(|byte| *byte == b':') else { return true };
        let prefix = &name[..end];
        if prefix == b"xml" || self.declared.contains(&prefix) {
            return true;
        }
        let declaration = [b" xmlns:", prefix, b"="].concat();
        let is_declared = memmem::find(self.before, &declaration).is_some();
        if is_declared {
            self.declared.push(prefix);
        }
        is_declared
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

/// Returns whether a start tag is in canonical form.
pub(super) fn is_canonical_start_tag(tag: &[u8]) -> bool {
    start_tag(tag, |_, _| {}).is_some_and(|found| found.length == tag.len())
}

/// The start tag with attributes that was read last.
#[derive(Default)]
struct KnownTag<'c> {
    name: &'c [u8],
    /// What is around the values of its attributes.
    pieces: Vec<&'c [u8]>,
}

impl<'c> KnownTag<'c> {
    /// Replaces it by another one, piece by piece. The first piece has number 0.
    fn learn(&mut self, number: usize, piece: &'c [u8]) {
        if number == 0 {
            self.pieces.clear();
            self.name = &piece[1..memchr(b' ', piece).unwrap_or(piece.len())];
        }
        self.pieces.push(piece);
    }
}

/// Returns the length of the start tag at the beginning of `content`, if it differs only in canonical values from the one whose
/// `pieces` are around the values. Repeated elements are recognised in a fraction of the time that reading their tags takes.
fn tag_like(pieces: &[&[u8]], content: &[u8]) -> Option<usize> {
    let (last, before) = pieces.split_last()?;
    let mut at = 0;
    for piece in before {
        at += content[at..].strip_prefix(*piece).and_then(canonical_value)? + piece.len();
    }
    content[at..].starts_with(last).then_some(at + last.len())
}

/// A start tag in canonical form.
struct StartTag<'c> {
    name: &'c [u8],
    /// The name of its attribute with a prefix.
    prefixed: Option<&'c [u8]>,
    length: usize,
}

/// Reads the start tag at the beginning of `content`, if it is in canonical form. `learn` gets what is around the values of its
/// attributes, if it has some, piece by piece with its number.
fn start_tag<'c>(content: &'c [u8], mut learn: impl FnMut(usize, &'c [u8])) -> Option<StartTag<'c>> {
    let end_of_name = |from: usize| {
        let length = content.get(from..)?.iter().position(|byte| !IS_OF_NAME[usize::from(*byte)])?;
        is_name(&content[from..from + length]).then_some(from + length)
    };
    let mut at = end_of_name(1)?;
    let (name, mut prefixed): (_, Option<&[u8]>) = (&content[1..at], None);
    let (mut previous, mut pieces, mut piece): (&[u8], usize, usize) = (b"", 0, 0);
    loop {
        match content.get(at)? {
            b'>' => break,
            b' ' => {}
            _ => return None,
        }
        let end = end_of_name(at + 1)?;
        let name = &content[at + 1..end];
        // One with a prefix is the last one: those without a namespace are before it.
        let has_prefix = name.contains(&b':');
        let is_in_order = prefixed.is_none() && (previous < name || has_prefix);
        if !is_in_order || name == b"xmlns" || name.starts_with(b"xmlns:") {
            return None;
        }
        previous = name;
        prefixed = has_prefix.then_some(name);
        let value = content.get(end..)?.strip_prefix(b"=\"")?;
        learn(pieces, &content[piece..end + 2]);
        pieces += 1;
        piece = end + 2 + canonical_value(value)?;
        at = piece + 1;
    }
    if pieces > 0 {
        learn(pieces, &content[piece..=at]);
    }
    Some(StartTag { name, prefixed, length: at + 1 })
}

/// Returns whether bytes that may be in names are a name: one with a prefix or one without.
fn is_name(name: &[u8]) -> bool {
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    match name {
        [first, rest @ ..] if is_start(*first) && !rest.iter().any(|byte| *byte == b':' || *byte >= 0x80) => true,
        name => std::str::from_utf8(name).is_ok_and(|name| match name.split_once(':') {
            None => is_ncname(name),
            Some((prefix, local)) => is_ncname(prefix) && is_ncname(local),
        }),
    }
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
    let mut byte = 0;
    while byte < 256 {
        special[byte] = matches!(byte as u8, b'&' | b'<' | ..0x20);
        byte += 1;
    }
    special
};

#[cfg(test)]
mod tests {
    use super::is_canonical_content;

    const BEFORE: &[u8] = b"<e:Envelope xmlns:e=\"urn:e\" xmlns:p='urn:p'><e:Body><q:r xmlns:q=\"urn:q\">";

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
            "<a><b></b>c<b><d></d></b></a><a></a>",
            "<ä.-1 xml:lang=\"de\">\u{fffd}\u{f8ff}\u{10ffff}\u{7f}\u{85}</ä.-1>",
            "<e:_></e:_>",
            "<p:a B=\"1\" b=\"'/>\" q:a=\"&lt;&quot;&amp;&#x9;&#xA;&#xD;\"></p:a>",
            "<a b=\"1\" c=\"2\"></a><a b=\"&amp;\" c=\"\"></a><a b=\"1\"></a><a b=\"2\" c=\"3\" d=\"4\"></a>",
        ] {
            assert!(is_canonical_content(BEFORE, canonical.as_bytes()), "{canonical}");
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
            // What is not well-formed.
            "<a>",
            "</a>",
            "<a></a></a>",
            "</a><a>",
            "<a><b></a></b>",
            "<a></b>",
            "<a></ab>",
            "<ab></a>",
            "<p:a></q:a>",
            "<a<b></a<b>",
            "<1></1>",
            "<-a></-a>",
            "<.a></.a>",
            "<×></×>",
            "<a×></a×>",
            "<:a></:a>",
            "<p:></p:>",
            "<p:1></p:1>",
            "<p:q:a></p:q:a>",
            "<a:b></a:b>",
            "<r:a></r:a>",
            "<xmlns:a></xmlns:a>",
            "<a r:b=\"\"></a>",
            "<a b:=\"\"></a>",
            "<a 1=\"\"></a>",
            "<a b=\"<\"></a>",
            "<a b=\"\u{1}\"></a>",
            "<a b=\"\u{ffff}\"></a>",
            "a\u{0}",
            "a\u{b}",
            "\u{1f}",
            "\u{fffe}",
            "a\u{ffff}b",
            "<a b=\"1\"></a><c></a>",
            "<a b=\"1\"></a><a b=\"2\"></b>",
            "<a b=\"1\"></a><a b=\"2\">",
            "<a b=\"1\"></a><a b=\"\u{1}\"></a>",
            // Tags like those before them.
            "<a b=\"1\"></a><a b=\"<\"></a>",
            "<a b=\"1\"></a><a b=\"&gt;\"></a>",
            "<a b=\"1\" c=\"2\"></a><a c=\"2\" b=\"1\"></a>",
            "<a b=\"1\" c=\"2\"></a><a b=\"1\" c=\"2\"/>",
            "<a b=\"1\"></a><a b=\"1\"",
            "<a b=\"1\"></a><a b=\"",
        ] {
            assert!(!is_canonical_content(BEFORE, other.as_bytes()), "{other}");
        }
    }
}
