//! Is what is written in canonical form? The answer may be no for what is.

use std::ops::Range;

use memchr::memmem;

use crate::scan::{end_of_attribute_part, end_of_unescaped, is_same};
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
/// prefixes are declared somewhere in `before`. No attribute has a name that ids of signed elements have.
#[doc(hidden)]
pub fn is_canonical_content(before: &[u8], content: &[u8]) -> bool {
    let mut prefixes = Prefixes { before, declared: Vec::new() };
    let (mut open, mut known): (Vec<Range<usize>>, _) = (Vec::new(), KnownTag::default());
    let mut at = 0;
    loop {
        let Some(length) = canonical_text(&content[at..]) else { return false };
        at += length;
        if at == content.len() {
            return open.is_empty();
        }
        if content.get(at + 1) == Some(&b'/') {
            let Some(name) = open.pop() else { return false };
            let end = at + 2 + name.len();
            if !is_same(content, name.start, at + 2, name.len()) || content.get(end) != Some(&b'>') {
                return false;
            }
            at = end + 1;
            continue;
        }
        match known.end_of_like(content, at) {
            Some(end) => {
                open.push(known.name.clone());
                at = end;
            }
            None => {
                let Some(tag) = start_tag(content, at, |number, piece| known.learn(number, piece)) else {
                    return false;
                };
                let names = [Some(&tag.name), tag.prefixed.as_ref()];
                if tag.may_have_id || !names.into_iter().flatten().all(|name| prefixes.includes(&content[name.clone()]))
                {
                    return false;
                }
                if tag.has_attributes() {
                    known.name = tag.name.clone();
                }
                open.push(tag.name);
                at = tag.end;
            }
        }
    }
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

/// Returns the length of the character data at the beginning of `content`, which ends at a tag or with it, if it is in canonical form.
#[inline]
fn canonical_text(content: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += end_of_unescaped(&content[at..]);
        match content.get(at) {
            None | Some(b'<') => return Some(at),
            _ => at += text_escape(&content[at..])?,
        }
    }
}

/// Returns whether a text is in canonical form.
pub(super) fn is_canonical_text(text: &[u8]) -> bool {
    canonical_text(text) == Some(text.len())
}

/// Returns the length of the escape at the beginning of a text, if canonical text has it.
pub(super) fn text_escape(text: &[u8]) -> Option<usize> {
    OF_TEXT.iter().find(|escape| text.starts_with(escape)).map(|escape| escape.len())
}

/// Returns whether a start tag is in canonical form.
pub(super) fn is_canonical_start_tag(tag: &[u8]) -> bool {
    start_tag(tag, 0, |_, _| {}).is_some_and(|found| found.end == tag.len())
}

/// The start tag with attributes that was read last.
#[derive(Default)]
struct KnownTag {
    name: Range<usize>,
    /// What is around the values of its attributes.
    pieces: Vec<Range<usize>>,
}

impl KnownTag {
    /// Replaces it by another one, piece by piece. The first piece has number 0.
    fn learn(&mut self, number: usize, piece: Range<usize>) {
        self.pieces.truncate(number);
        self.pieces.push(piece);
    }

    /// Returns the end of the start tag at `at`, if it differs from this one only in canonical values. Repeated elements are recognised in a
    /// fraction of the time that reading their tags takes.
    #[inline]
    fn end_of_like(&self, content: &[u8], mut at: usize) -> Option<usize> {
        let (last, before) = self.pieces.split_last()?;
        for piece in before {
            let value = is_same(content, piece.start, at, piece.len()).then_some(at + piece.len())?;
            at = canonical_value(content, value)?;
        }
        is_same(content, last.start, at, last.len()).then_some(at + last.len())
    }
}

/// A start tag in canonical form.
struct StartTag {
    name: Range<usize>,
    /// The name of its attribute with a prefix.
    prefixed: Option<Range<usize>>,
    /// Whether an attribute has a name that ids of signed elements have.
    may_have_id: bool,
    end: usize,
}

impl StartTag {
    fn has_attributes(&self) -> bool {
        self.end > self.name.end + 1
    }
}

/// Reads the start tag at `at`, if it is in canonical form. `learn` gets what is around the values of its attributes, if it has some, piece
/// by piece with its number.
fn start_tag(content: &[u8], mut at: usize, mut learn: impl FnMut(usize, Range<usize>)) -> Option<StartTag> {
    let end_of_name = |from: usize| {
        let length = content.get(from..)?.iter().position(|byte| !IS_OF_NAME[usize::from(*byte)])?;
        is_name(&content[from..from + length]).then_some(from + length)
    };
    let (mut piece, mut pieces) = (at, 0);
    let name = at + 1..end_of_name(at + 1)?;
    at = name.end;
    let (mut previous, mut prefixed, mut may_have_id): (&[u8], _, _) = (b"", None, false);
    loop {
        match content.get(at)? {
            b'>' => break,
            b' ' => {}
            _ => return None,
        }
        let range = at + 1..end_of_name(at + 1)?;
        let name = &content[range.clone()];
        // One with a prefix is the last one: those without a namespace are before it.
        let has_prefix = name.contains(&b':');
        let is_in_order = prefixed.is_none() && (previous < name || has_prefix);
        if !is_in_order || name == b"xmlns" || name.starts_with(b"xmlns:") {
            return None;
        }
        previous = name;
        may_have_id |= may_be_id(name);
        let value = range.end + 2;
        prefixed = has_prefix.then_some(range);
        if content.get(value - 2..value) != Some(b"=\"") {
            return None;
        }
        learn(pieces, piece..value);
        pieces += 1;
        piece = canonical_value(content, value)?;
        at = piece + 1;
    }
    if pieces > 0 {
        learn(pieces, piece..at + 1);
    }
    Some(StartTag { name, prefixed, may_have_id, end: at + 1 })
}

/// Returns whether elements that are signed may have an id in an attribute with this name: `wsu:Id`, `xml:id`, `Id` of XMLDSig, and the ids
/// of SAML.
fn may_be_id(name: &[u8]) -> bool {
    matches!(name, b"Id" | b"ID" | b"AssertionID") || name.ends_with(b":Id") || name.ends_with(b":id")
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

/// Returns where the attribute value at `at` ends, which is at a quote, if it is in canonical form.
#[inline]
fn canonical_value(content: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = end_of_attribute_part(content, at, b'"');
        match content.get(at)? {
            b'"' => return Some(at),
            b'&' => at += OF_VALUE.iter().find(|escape| content[at..].starts_with(escape))?.len(),
            // U+FFFE and U+FFFF are EF BF BE and EF BF BF.
            0xEF if !matches!(content.get(at + 1..at + 3), Some([0xBF, 0xBE..=0xBF])) => at += 3,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_canonical_content;
    use crate::c14n::{Algorithm, Method, Subset, Version};
    use crate::{Limits, Memory, Reader};

    const BEFORE: &[u8] = b"<e:Envelope xmlns:e=\"urn:e\" xmlns:p='urn:p'><e:Body><q:r xmlns:q=\"urn:q\">";

    const CANONICAL: [&str; 15] = [
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
        "<a id=\"1\" id.=\"2\" orderID=\"3\" q:ID=\"4\"></a>",
        "<a b=\"\u{fffd}\u{f8ff}\"></a><a b=\"ï\"></a>",
        "<a b=\"1\" c=\"2\"></a><a b=\"&amp;\" c=\"\"></a><a b=\"1\"></a><a b=\"2\" c=\"3\" d=\"4\"></a>",
    ];

    #[test]
    fn what_is_canonical_is_told_from_what_may_not_be() {
        for canonical in CANONICAL {
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
            "<a b=\"1\"></a><a b=\"\u{fffe}\"></a>",
            // What may be ids.
            "<a Id=\"1\"></a>",
            "<a ID=\"1\"></a>",
            "<a AssertionID=\"1\"></a>",
            "<a b=\"1\" q:Id=\"2\"></a>",
            "<a xml:id=\"1\"></a>",
            "<a b=\"1\"></a><a Id=\"1\"></a>",
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

    /// Canonicalization doesn't change what seems to be canonical.
    #[test]
    fn what_seems_canonical_is() {
        let mut found = 0;
        for canonical in CANONICAL {
            let bytes = canonical.as_bytes();
            for at in 0..=bytes.len() {
                let (before, after) = bytes.split_at(at);
                let rest = after.get(1..).unwrap_or_default();
                let inserted = b"<>/&;='\" :\t\n\r\x01abcIdq1-".iter().map(std::slice::from_ref);
                let other = inserted.flat_map(|byte| [[before, byte, after], [before, byte, rest]]);
                for content in other.chain([[before, b"", rest], [before, before, after], [after, before, after]]) {
                    let Ok(content) = String::from_utf8(content.concat()) else { continue };
                    if is_canonical_content(BEFORE, content.as_bytes()) {
                        assert_canonical(&content);
                        found += 1;
                    }
                }
            }
        }
        assert!(found > 1_000, "{found}");
    }

    fn assert_canonical(content: &str) {
        let before = std::str::from_utf8(BEFORE).unwrap();
        let message = [before, content, "</q:r></e:Body></e:Envelope>"].concat();
        let method = Method::new(Algorithm { version: Version::Exclusive10, with_comments: true });
        let method = method.with_inclusive_namespaces("e p q");
        let (mut memory, mut form) = (Memory::default(), String::new());
        let written = Reader::decoded(&message, Limits::default(), &mut memory)
            .and_then(|mut reader| method.write(&mut reader, Subset::default(), |piece| form.push_str(piece)));
        written.unwrap_or_else(|error| panic!("{error} in {content}"));
        assert!(form.contains(&format!(">{content}</q:r>")), "{form} of {content}");
        assert!(![" Id=", ":Id=", "xml:id=", " AssertionID=", " ID="].iter().any(|id| form.contains(id)), "{content}");
    }
}
