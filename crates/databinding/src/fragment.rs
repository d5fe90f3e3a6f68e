//! XML that is stored as it was read. An element repeats the declarations around it that it uses, or shares them with the
//! other elements of the same sequence.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use castile_xml::{Limits, NamespaceId, Reader, Scope, StartTag, Token, escape, scan};

use crate::error::Error;
use crate::name::ExpandedName;

/// A sequence of elements, and text between them, stored as it was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fragment {
    xml: String,
    /// The declarations around all of them. Without it, each element declares all that it uses.
    scope: Option<Scope>,
}

impl Fragment {
    /// Creates a fragment of one element.
    pub(crate) fn of(source: &str, scope: Option<&Scope>) -> Self {
        Fragment { xml: source.to_owned(), scope: scope.cloned() }
    }

    /// Creates a fragment of an element that the reader has just read to its end. The declarations that it uses are added.
    pub(crate) fn of_element(element: &Element<'_>, reader: &Reader<'_>) -> Self {
        let mut xml = String::with_capacity(element.source.len() + NO_NAMESPACE.len());
        element.write(reader, |piece| xml.push_str(piece));
        Fragment { xml, scope: None }
    }

    /// Returns the shared declarations.
    pub(crate) fn scope(&self) -> Option<&Scope> {
        self.scope.as_ref()
    }

    /// Returns the XML if its elements don't need shared declarations.
    pub(crate) fn self_contained(&self) -> Option<&str> {
        self.scope.is_none().then_some(self.xml.as_str())
    }

    /// Returns the XML without the shared declarations.
    pub(crate) fn xml(&self) -> &str {
        &self.xml
    }

    /// Whether XML and shared declarations are the same.
    pub(crate) fn is_same(&self, other: &Fragment) -> bool {
        self.scope == other.scope && self.xml == other.xml
    }

    /// Appends an element that the reader has just read to its end. The declarations that it uses are copied and subtracted
    /// from `copy`. If that doesn't suffice, the fragment shares the declarations around the element from here on.
    pub(crate) fn append_element(&mut self, reader: &Reader<'_>, element: &Element<'_>, copy: &mut usize) {
        // The maximum that may still be appended.
        let left = element.source.len() + reader.length() - reader.offset() + *copy;
        let start = self.xml.len();
        if self.scope.is_none() {
            reserve(&mut self.xml, element.source.len() + SPARE_CAPACITY, left);
            element.write(reader, |piece| {
                reserve(&mut self.xml, piece.len(), left);
                self.xml.push_str(piece);
            });
            match copy.checked_sub(self.xml.len() - start - element.source.len()) {
                Some(left) => return *copy = left,
                None => self.xml.truncate(start),
            }
            self.scope = Some(reader.scope());
        }
        reserve(&mut self.xml, element.source.len(), left);
        self.xml.push_str(element.source);
    }

    /// Appends elements written by `write`. Each must be self-contained.
    pub(crate) fn append_written<E>(&mut self, write: impl FnOnce(&mut String) -> Result<(), E>) -> Result<(), E> {
        write(&mut self.xml)
    }

    /// Appends a text as it is in the document. The reader is at its end.
    pub(crate) fn append_text(&mut self, reader: &Reader<'_>, text: &str, copy: usize) {
        reserve(&mut self.xml, text.len(), text.len() + reader.length() - reader.offset() + copy);
        self.xml.push_str(text);
    }

    /// Shares declarations with everything in the fragment, unless it already shares some.
    pub(crate) fn share(&mut self, scope: Scope) {
        self.scope.get_or_insert(scope);
    }

    /// Ends the appending. Capacity that is much larger than needed is released.
    pub(crate) fn end(&mut self) {
        if self.xml.capacity() > 2 * self.xml.len() {
            self.xml.shrink_to_fit();
        }
    }

    /// Appends another fragment. Declarations stay shared if both fragments share the same ones.
    pub(crate) fn append(&mut self, other: &Fragment) {
        match &other.scope {
            None => self.push(&other.xml),
            Some(scope) if self.xml.is_empty() || self.scope.as_ref() == Some(scope) => {
                self.scope = Some(scope.clone());
                self.xml.push_str(&other.xml);
            }
            Some(_) => self.push(&other.to_text()),
        }
    }

    /// Appends self-contained elements.
    fn push(&mut self, xml: &str) {
        let has_default =
            self.scope.as_ref().is_some_and(|scope| scope.resolve("").is_some_and(|name| !name.is_empty()));
        if !has_default {
            return self.xml.push_str(xml);
        }
        // The elements come from a scope without a default namespace. Rewriting them adds `xmlns=""` where it is needed.
        if let Ok(mut content) = Content::new(xml, &[]) {
            let _ = content.write(|piece| self.xml.push_str(piece));
        }
    }

    /// Appends text. Characters that XML can't represent are replaced; then the result is `false`.
    pub(crate) fn push_text(&mut self, text: &str) -> bool {
        let mut escaped = Vec::new();
        let is_fine = text.chars().all(escape::is_char);
        let text = if is_fine { text.into() } else { Cow::from(text.replace(|c| !escape::is_char(c), "\u{FFFD}")) };
        let _ = escape::push_text(&mut escaped, &text);
        self.xml.push_str(&String::from_utf8_lossy(&escaped));
        is_fine
    }

    /// Returns all of it as self-contained XML.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.xml.len() + SPARE_CAPACITY);
        if let Ok(mut content) = self.content() {
            // The content was parsed before, so this doesn't fail.
            let _ = content.write(|piece| text.push_str(piece));
        }
        text
    }

    /// Returns a reader of the content.
    pub(crate) fn content(&self) -> Result<Content<'_>, Error> {
        self.content_under(&self.wanted())
    }

    /// Returns a reader of the content, under the declarations that [`wanted`](Self::wanted) returned.
    pub(crate) fn content_under(&self, wanted: &[(&str, &str)]) -> Result<Content<'_>, Error> {
        Content::new(&self.xml, wanted)
    }

    /// Whether there are neither elements nor text. Reading stops as soon as the answer is known.
    pub(crate) fn is_empty(&self) -> bool {
        let Ok(mut content) = Content::new(&self.xml, &[]) else { return false };
        while content.reader.offset() < self.xml.len() {
            match content.reader.next() {
                Ok(Token::Comment(_) | Token::Instruction { .. }) => {}
                Ok(Token::Text(text)) if text.is_empty() => {}
                // An error may be due to an undeclared prefix, and then there is content.
                _ => return false,
            }
        }
        true
    }

    /// Returns the name of the first element.
    pub(crate) fn first_name(&self) -> ExpandedName {
        // The content was parsed before, so this doesn't fail.
        let Ok(mut content) = self.content() else { return ExpandedName::default() };
        while content.reader.offset() < self.xml.len() {
            match content.reader.next() {
                Ok(Token::StartTag(tag)) => {
                    return ExpandedName::new(content.reader.namespace(tag.namespace), tag.name.local());
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        ExpandedName::default()
    }

    /// Whether the XML means the same in another scope. `is_declared` says whether a prefix has a namespace there; the empty
    /// prefix stands for the default namespace. `wanted` is what [`wanted`](Self::wanted) returned.
    pub(crate) fn is_equivalent(
        &self,
        wanted: &[(&str, &str)],
        mut is_declared: impl FnMut(&str, &str) -> bool,
    ) -> bool {
        let Some(scope) = &self.scope else { return true };
        is_declared("", scope.resolve("").unwrap_or_default())
            && wanted.iter().all(|(prefix, namespace)| is_declared(prefix, namespace))
    }

    /// Returns the shared declarations that the XML may use, including that of the default namespace.
    pub(crate) fn wanted(&self) -> Vec<(&str, &str)> {
        let default = self.scope.as_ref().and_then(|scope| scope.resolve("")).filter(|namespace| !namespace.is_empty());
        let mut wanted: Vec<_> = default.map(|namespace| ("", namespace)).into_iter().collect();
        wanted.extend(self.declared_for([self.xml.as_str()]));
        wanted
    }

    /// Returns the shared declarations of prefixes that may be used in `values` and, if `has_texts`, in the texts of the fragment.
    /// Those used in elements don't count.
    pub(crate) fn names<'s>(
        &'s self,
        values: impl IntoIterator<Item = &'s str>,
        has_texts: bool,
    ) -> Vec<(&'s str, &'s str)> {
        if self.scope.is_none() {
            return Vec::new();
        }
        let mut texts: Vec<&str> = values.into_iter().collect();
        // The content was parsed before, so this doesn't fail.
        if has_texts
            && self.xml.contains(':')
            && let Ok(mut content) = self.content()
        {
            while let Ok(Some(part)) = content.next() {
                texts.extend(match part {
                    Part::Text(text, _) => Some(text),
                    Part::Element(_) => None,
                });
            }
        }
        self.declared_for(texts)
    }

    /// Returns the shared declarations of prefixes in `texts`, in the order of their first use.
    fn declared_for<'s>(&'s self, texts: impl IntoIterator<Item = &'s str>) -> Vec<(&'s str, &'s str)> {
        let Some(scope) = &self.scope else { return Vec::new() };
        let mut declared: Vec<(&str, &str)> = Vec::new();
        // The last few prefixes that were looked up. If there are more, all declarations go into a map, from which those
        // found are removed. A lookup in the scope searches all declarations, and a text can have any number of words that
        // look like prefixes.
        let (mut few, mut looked_up) = ([""; RECENT_PREFIXES], 0);
        let mut unmet: HashMap<&str, &str> = HashMap::new();
        for prefix in texts.into_iter().flat_map(prefixes) {
            if prefix.is_empty() || few.contains(&prefix) {
                continue;
            }
            few[looked_up % RECENT_PREFIXES] = prefix;
            looked_up += 1;
            if looked_up == RECENT_PREFIXES + 1 {
                scope.declarations().for_each(|(prefix, namespace)| {
                    unmet.entry(prefix).or_insert(namespace);
                });
                declared.iter().for_each(|(prefix, _)| {
                    unmet.remove(prefix);
                });
            }
            let namespace = if looked_up > RECENT_PREFIXES { unmet.remove(prefix) } else { scope.resolve(prefix) };
            if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty()) {
                declared.push((prefix, namespace));
            }
        }
        declared
    }
}

/// Reserves capacity for `more` bytes. A short text doubles its capacity. A long one gets capacity for all that is `left`:
/// pages that are never written to take hardly any memory, while moving the text takes twice its memory.
fn reserve(xml: &mut String, more: usize, left: usize) {
    if xml.capacity() - xml.len() < more {
        let room = if xml.len() < LONG { xml.len().min(left) } else { left };
        xml.reserve_exact(room.max(more));
    }
}

/// The length in bytes from which a fragment counts as long.
const LONG: usize = 256 << 10;

/// A reader of a fragment.
#[derive(Debug)]
pub(crate) struct Content<'a> {
    reader: Reader<'a>,
}

/// A part of a fragment.
#[derive(Debug)]
pub(crate) enum Part<'a> {
    /// A text or a part of one: as it is in the XML, and unescaped.
    Text(&'a str, Cow<'a, str>),
    Element(Element<'a>),
}

impl<'a> Content<'a> {
    fn new(xml: &'a str, declarations: &[(&str, &str)]) -> Result<Self, Error> {
        Ok(Content { reader: Reader::of_content(xml, declarations.iter().copied(), unlimited())? })
    }

    /// Returns the next part.
    pub(crate) fn next(&mut self) -> Result<Option<Part<'a>>, Error> {
        while self.reader.offset() < self.reader.length() {
            let offset = self.reader.offset();
            match self.reader.next()? {
                Token::StartTag(tag) => return Ok(Some(Part::Element(Element::rest(&mut self.reader, tag)?))),
                Token::Text(text) => {
                    return Ok(Some(Part::Text(self.reader.source(offset..self.reader.offset()), text)));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Writes the next part as self-contained XML. Returns `false` if there is none.
    pub(crate) fn write_next(&mut self, mut out: impl FnMut(&str)) -> Result<bool, Error> {
        match self.next()? {
            Some(Part::Text(text, _)) => out(text),
            Some(Part::Element(element)) => element.write(&self.reader, out),
            None => return Ok(false),
        }
        Ok(true)
    }

    /// Writes all remaining parts as self-contained XML.
    fn write(&mut self, mut out: impl FnMut(&str)) -> Result<(), Error> {
        while self.write_next(&mut out)? {}
        Ok(())
    }
}

/// Returns limits for content that was read before, within the limits of that time.
pub(crate) fn unlimited() -> Limits {
    let mut limits = Limits::default();
    (limits.message_size, limits.text_length, limits.depth) = (usize::MAX, usize::MAX, usize::MAX);
    (limits.attributes, limits.namespaces, limits.name_length) = (usize::MAX, usize::MAX, usize::MAX);
    limits.markup_length = usize::MAX;
    limits
}

/// An element that was read to its end.
#[derive(Debug)]
pub(crate) struct Element<'a> {
    /// The element as it is in the document.
    pub(crate) source: &'a str,
    /// The length of `<` and the name in its start tag.
    name_end: usize,
    /// The prefixes that the element itself declares.
    own: Vec<String>,
    /// Whether the element or one inside it has no namespace. A default namespace around it would change that.
    is_bare: bool,
    /// Whether the element is known to contain only text: no declarations, attributes or children.
    is_leaf: bool,
    /// The prefix of its name.
    prefix: &'a str,
}

impl<'a> Element<'a> {
    /// Reads the rest of an element whose start tag was read last.
    pub(crate) fn rest(reader: &mut Reader<'a>, tag: StartTag<'a>) -> Result<Self, Error> {
        let mut is_leaf = reader.is_plain();
        let mut own = Vec::new();
        if !is_leaf {
            own.extend(reader.declarations().map(|(prefix, _)| prefix.to_owned()));
        }
        let outside = reader.depth() - 1;
        let mut is_bare = tag.namespace == NamespaceId::NONE;
        while reader.depth() > outside {
            if let Token::StartTag(inner) = reader.next()? {
                is_bare |= inner.namespace == NamespaceId::NONE;
                is_leaf = false;
            }
        }
        let source = reader.source(tag.offset..reader.offset());
        let name_end = '<'.len_utf8() + tag.name.as_str().len();
        Ok(Element { source, name_end, own, is_bare, is_leaf, prefix: tag.name.prefix() })
    }

    /// Returns the length of the end tag. The element must not be an empty-element tag.
    pub(crate) fn end_tag_length(&self) -> usize {
        self.source.rfind('<').map_or(0, |end| self.source.len() - end)
    }

    /// Writes the element with the declarations around it that it uses. The reader must be at the end of the element.
    pub(crate) fn write(&self, reader: &Reader<'_>, mut out: impl FnMut(&str)) {
        let (start, rest) = self.source.split_at(self.name_end);
        out(start);
        let has_default =
            self.borrowed_declarations(reader, |prefix, namespace| write_declaration(prefix, namespace, &mut out));
        if self.is_bare && !has_default {
            out(NO_NAMESPACE);
        }
        out(rest);
    }

    /// Calls `take` for each prefix that the element uses from the declarations around it, with its namespace. Returns
    /// whether a default namespace is declared, around the element or by itself.
    pub(crate) fn borrowed_declarations(&self, reader: &Reader<'_>, mut take: impl FnMut(&str, &str)) -> bool {
        let rest = &self.source[self.name_end..];
        let mut declare = |prefix: &str| {
            let is_own = self.own.iter().any(|own| own == prefix);
            let namespace = if is_own { None } else { declared_around(reader, prefix) };
            if let Some(namespace) = namespace {
                take(prefix, namespace);
            }
            is_own || namespace.is_some()
        };
        let has_default = declare("");
        if !self.prefix.is_empty() {
            declare(self.prefix);
        }
        // Most stored elements use no prefix except that of their name.
        if !self.is_leaf || has_colon_inside(rest) {
            let mut known =
                SeenPrefixes { own: self.prefix, recent: [""; RECENT_PREFIXES], next: 0, declared: HashSet::new() };
            for prefix in prefixes(rest) {
                if known.is_new(prefix, reader) {
                    declare(prefix);
                }
            }
        }
        has_default
    }

    /// Returns the prefixes that the element itself declares.
    pub(crate) fn own(&self) -> impl Iterator<Item = &str> {
        self.own.iter().map(String::as_str)
    }

    /// Whether the element or one inside it has no namespace.
    pub(crate) fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// Returns the length of `<` and the name in its start tag.
    pub(crate) fn name_end(&self) -> usize {
        self.name_end
    }
}

/// The declaration that there is no default namespace.
pub(crate) const NO_NAMESPACE: &str = " xmlns=\"\"";

/// Returns the namespace that a prefix was declared with, unless it is empty.
fn declared_around<'r>(reader: &'r Reader<'_>, prefix: &str) -> Option<&'r str> {
    // This prefix is always declared.
    if prefix == "xml" { None } else { reader.resolve(prefix).filter(|namespace| !namespace.is_empty()) }
}

pub(crate) fn write_declaration(prefix: &str, namespace: &str, out: &mut impl FnMut(&str)) {
    out(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
    out(prefix);
    out("=\"");
    write_value(namespace, out);
    out("\"");
}

/// Writes a value between the quotes of an attribute. It was read from XML, so XML can represent it.
fn write_value(value: &str, out: &mut impl FnMut(&str)) {
    let bytes = value.as_bytes();
    if scan::end_of_unescaped(bytes) == bytes.len() && scan::end_of_attribute_part(bytes, 0, b'"') == bytes.len() {
        return out(value);
    }
    let mut escaped = Vec::new();
    let _ = escape::push_attribute(&mut escaped, value);
    out(&String::from_utf8_lossy(&escaped));
}

/// Whether there is a colon between the name in an element's start tag and its end tag. `rest` is the element after that
/// name.
fn has_colon_inside(rest: &str) -> bool {
    let end_tag = memchr::memrchr(b'<', rest.as_bytes()).unwrap_or(rest.len());
    rest.as_bytes()[..end_tag].contains(&b':')
}

/// Whether a text may contain a name with a declared prefix.
pub(crate) fn has_names(text: &str, reader: &Reader<'_>) -> bool {
    prefixes(text).any(|prefix| !prefix.is_empty() && declared_around(reader, prefix).is_some())
}

/// Spare capacity for the declarations of a stored element, in bytes.
const SPARE_CAPACITY: usize = 64;
/// How many prefixes are compared one by one.
const RECENT_PREFIXES: usize = 8;

/// Iterates over the words before colons, which may be prefixes, wherever they are.
fn prefixes(xml: &str) -> impl Iterator<Item = &str> {
    memchr::memchr_iter(b':', xml.as_bytes()).map(|colon| {
        let bytes = xml.as_bytes();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        let mut start = bytes[..colon].iter().rposition(|&byte| !is_plain(byte)).map_or(0, |at| at + 1);
        if start > 0 && !bytes[start - 1].is_ascii() {
            start = xml[..colon]
                .rfind(|c: char| !castile_xml::is_name_char(c))
                .map_or(0, |at| at + xml[at..].chars().next().map_or(1, char::len_utf8));
        }
        &xml[start..colon]
    })
}

/// The prefixes of an element that were met so far. Most elements use few.
struct SeenPrefixes<'a> {
    /// The prefix of its name.
    own: &'a str,
    /// The last few prefixes.
    recent: [&'a str; RECENT_PREFIXES],
    next: usize,
    /// Those that are declared.
    declared: HashSet<&'a str>,
}

impl<'a> SeenPrefixes<'a> {
    /// Whether a prefix, other than that of the name, is declared and was not met before. A text can have any number of words
    /// that look like prefixes; only declared ones are stored.
    fn is_new(&mut self, prefix: &'a str, reader: &Reader<'_>) -> bool {
        if prefix.is_empty() || prefix == self.own || self.recent.contains(&prefix) {
            return false;
        }
        self.recent[self.next % RECENT_PREFIXES] = prefix;
        self.next += 1;
        declared_around(reader, prefix).is_some() && self.declared.insert(prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Any, AnyElements, Encoder};

    const ELEMENTS: [&str; 12] = [
        "<a/>",
        "<a b='p:c'/>",
        "<p:a p:b=''>q:c</p:a>",
        "<a xmlns='urn:o'><b/></a>",
        "<a xmlns=''><q:b/></a>",
        "<p:a xmlns:p='urn:other'><p:b/></p:a>",
        "<p:a><b xmlns='urn:o'/><c/></p:a>",
        "<r:a xmlns:r='&lt;'/>",
        "<a>\u{FEFF}text &amp; <![CDATA[p:]]><!-- q: --><?q :?></a >",
        "<a xmlns:\u{e9}='urn:e'>\u{e9}:b x\u{e9}:c</a>",
        "<q:a><q:b><q:c/></q:b></q:a>",
        "<a>1:2 3:4 5:6 7:8 9:10 a:1 b:1 c:1 d:1 e:1 p:1 q:1</a>",
    ];

    /// Reads the elements of a document, of whose declarations `copy` bytes may be copied.
    fn read(around: &str, mut copy: usize) -> AnyElements {
        let document = format!("<q:root xmlns:q='urn:q'><q:x {around}> {} </q:x></q:root>", ELEMENTS.join("\n"));
        let mut reader = Reader::new(document.as_bytes(), Limits::default()).unwrap();
        let mut elements = AnyElements::default();
        for _ in 0..2 {
            while !matches!(reader.next().unwrap(), Token::StartTag(_)) {}
        }
        while reader.depth() > 1 {
            if let Token::StartTag(tag) = reader.next().unwrap() {
                let element = Element::rest(&mut reader, tag).unwrap();
                elements.take(&reader, &element, &mut copy);
            }
        }
        elements.end();
        elements
    }

    fn written(elements: &AnyElements, payload: &'static str) -> String {
        let mut out = Encoder::default();
        out.payload(payload);
        out.element(payload, &Payload(elements), "</q:r>");
        String::from_utf8(out.finish().unwrap()).unwrap()
    }

    struct Payload<'a>(&'a AnyElements);

    impl crate::ToXml for Payload<'_> {
        fn content(&self, out: &mut Encoder) {
            out.any_elements(self.0);
        }
    }

    /// The tokens of each element, with the namespaces of its names.
    fn tokens(xml: &str) -> Vec<String> {
        let mut reader = Reader::new(xml.as_bytes(), Limits::default()).unwrap();
        let mut tokens = Vec::new();
        loop {
            let token = reader.next().unwrap();
            match token {
                Token::End => return tokens,
                Token::StartTag(tag) => {
                    let attributes =
                        reader.attributes().map(|one| format!("{{{}}}{}", one.namespace, one.name.local()));
                    let attributes: Vec<String> = attributes.collect();
                    let name = ExpandedName::new(reader.namespace(tag.namespace), tag.name.local());
                    tokens.push(format!("{name} {attributes:?}"));
                }
                token => tokens.push(format!("{token:?}").replace(|c: char| c.is_ascii_digit(), "")),
            }
        }
    }

    /// The elements and their meaning don't depend on how many declarations are copied.
    #[test]
    fn sharing_declarations_changes_nothing() {
        const PAYLOADS: [&str; 4] = [
            "<q:r xmlns:q=\"urn:q\" xmlns:p=\"urn:p\" xmlns=\"urn:t\">",
            "<q:r xmlns:q=\"urn:q\" xmlns:p=\"urn:p\">",
            "<q:r xmlns:q=\"urn:q\" xmlns:p=\"urn:another\" xmlns=\"urn:another\">",
            "<q:r xmlns:q=\"urn:another\">",
        ];
        for around in [
            "xmlns:p='urn:p' xmlns='urn:t'",
            "xmlns:p='urn:p'",
            "xmlns:p='urn:p' xmlns='urn:t' xmlns:q='urn:inner'",
            "xmlns:p='urn:p&amp;&quot;' xmlns:r='urn:r'",
        ] {
            let alone = read(around, 1 << 20);
            assert!(alone.fragment().self_contained().is_some());
            for copy in [0, 30, 100] {
                let shared = read(around, copy);
                assert!(shared.fragment().self_contained().is_none());
                assert_eq!(shared, alone);
                let (one, other): (Vec<Any>, Vec<Any>) = (shared.iter().collect(), alone.iter().collect());
                assert_eq!(one, other);
                assert_eq!(one.len(), ELEMENTS.len());
                for payload in PAYLOADS {
                    let tokens = [&shared, &alone].map(|elements| tokens(&written(elements, payload)));
                    assert_eq!(tokens[0], tokens[1], "{around} {copy} {payload}");
                }
            }
        }
    }
}
