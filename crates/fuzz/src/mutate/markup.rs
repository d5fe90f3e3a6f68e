//! Finds tags, attributes and texts in arbitrary bytes.

use std::ops::Range;

/// The parts that were found, in the order of the bytes.
#[derive(Debug, Default)]
pub(super) struct Markup {
    pub(super) tags: Vec<Tag>,
    /// The texts between tags; none of them is empty.
    pub(super) texts: Vec<Range<usize>>,
    /// From a start tag to the matching end tag, or an empty element.
    pub(super) elements: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
pub(super) struct Tag {
    pub(super) range: Range<usize>,
    pub(super) kind: Kind,
    pub(super) name: Range<usize>,
    pub(super) attributes: Vec<Attribute>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Start,
    Empty,
    End,
    /// A comment, a processing instruction, a CDATA section or a declaration.
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Attribute {
    /// Including the white space before it.
    pub(super) range: Range<usize>,
    pub(super) name: Range<usize>,
    /// Between the quotes.
    pub(super) value: Range<usize>,
}

impl Markup {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut markup = Markup::default();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let start = at + bytes[at..].iter().position(|&byte| byte == b'<').unwrap_or(bytes.len() - at);
            if start > at {
                markup.texts.push(at..start);
            }
            let Some(tag) = tag(bytes, start) else { break };
            at = tag.range.end;
            match tag.kind {
                Kind::Start => open.push(start),
                Kind::Empty => markup.elements.push(tag.range.clone()),
                Kind::End => markup.elements.extend(open.pop().map(|start| start..at)),
                Kind::Other => {}
            }
            markup.tags.push(tag);
        }
        markup
    }

    /// Returns start tags and empty-element tags.
    pub(super) fn starts(&self) -> Vec<Tag> {
        self.tags.iter().filter(|tag| matches!(tag.kind, Kind::Start | Kind::Empty)).cloned().collect()
    }

    pub(super) fn attributes(&self) -> Vec<Attribute> {
        self.tags.iter().flat_map(|tag| &tag.attributes).cloned().collect()
    }
}

/// Returns the tag at `start`, where there is a `<` unless the bytes have ended. A tag without an
/// end takes all remaining bytes.
fn tag(bytes: &[u8], start: usize) -> Option<Tag> {
    let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
    for (begin, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")] {
        if rest.starts_with(begin.as_bytes()) {
            let length = rest.windows(end.len()).position(|window| window == end.as_bytes());
            let end = length.map_or(bytes.len(), |length| start + length + end.len());
            return Some(Tag { range: start..end, kind: Kind::Other, name: start..start, attributes: Vec::new() });
        }
    }
    let is_end = rest.get(1) == Some(&b'/');
    let name_start = (start + 1 + usize::from(is_end)).min(bytes.len());
    let is_name = |byte: &u8| !byte.is_ascii_whitespace() && !matches!(byte, b'>' | b'/' | b'=' | b'<' | b'"' | b'\'');
    let run = |at: usize, is_in: &dyn Fn(&u8) -> bool| at + bytes[at..].iter().take_while(|byte| is_in(byte)).count();
    let name = name_start..run(name_start, &is_name);
    let mut attributes = Vec::new();
    let mut at = name.end;
    loop {
        let white = at;
        at = run(at, &u8::is_ascii_whitespace);
        match bytes.get(at) {
            None => break,
            Some(b'>') => {
                at += 1;
                break;
            }
            Some(b'<') => break,
            _ => {}
        }
        let attribute = at..run(at, &is_name);
        let equals = run(attribute.end, &u8::is_ascii_whitespace);
        let quote = if bytes.get(equals) == Some(&b'=') { run(equals + 1, &u8::is_ascii_whitespace) } else { equals };
        match bytes.get(quote) {
            Some(&byte @ (b'"' | b'\'')) if quote > equals => {
                let value = quote + 1..run(quote + 1, &|other| *other != byte);
                at = (value.end + 1).min(bytes.len());
                attributes.push(Attribute { range: white..at, name: attribute, value });
            }
            // Not valid: skip at least one byte.
            _ => at = attribute.end.max(at + 1),
        }
    }
    let kind = match is_end {
        true => Kind::End,
        false if bytes[..at].ends_with(b"/>") => Kind::Empty,
        false => Kind::Start,
    };
    Some(Tag { range: start..at.max(start + 1), kind, name, attributes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_found() {
        let text = b"x<a b='1' c = \">\"><d/>y</a><!-- <e> --><f";
        let markup = Markup::read(text);
        let shown = |range: &Range<usize>| String::from_utf8_lossy(&text[range.clone()]).into_owned();
        let tags: Vec<_> = markup.tags.iter().map(|tag| (tag.kind, shown(&tag.range), shown(&tag.name))).collect();
        let expected = [
            (Kind::Start, "<a b='1' c = \">\">", "a"),
            (Kind::Empty, "<d/>", "d"),
            (Kind::End, "</a>", "a"),
            (Kind::Other, "<!-- <e> -->", ""),
            (Kind::Start, "<f", "f"),
        ];
        assert_eq!(tags, expected.map(|(kind, tag, name)| (kind, tag.to_owned(), name.to_owned())));
        let attributes: Vec<_> = markup.attributes().iter().map(|one| (shown(&one.range), shown(&one.value))).collect();
        assert_eq!(attributes, [(" b='1'".to_owned(), "1".to_owned()), (" c = \">\"".to_owned(), ">".to_owned())]);
        assert_eq!(markup.texts.iter().map(shown).collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(markup.elements.iter().map(shown).collect::<Vec<_>>(), ["<d/>", "<a b='1' c = \">\"><d/>y</a>"]);
    }
}
