//! Which elements of a document have an id.

use std::borrow::Cow;
use std::cmp::Ordering;

use castile_xml::{Limits, Memory, Reader, Token};
use memchr::memchr;

use crate::encoded::SOAP12;
use crate::error::Error;

/// The elements with an id, and those around them, in the order of the document.
#[derive(Default)]
pub(super) struct Index<'a> {
    pub(super) elements: Vec<Extent>,
    /// In the order of [`by_length`].
    ids: Vec<Identified<'a>>,
    /// The place of the one that is guessed to be asked for next.
    guess: usize,
}

/// Where an element lies. It is within a message, and so within 4 GiB.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) start: u32,
    /// The length of the start tag.
    pub(super) tag: u32,
    pub(super) end: u32,
    /// The number of the element around it; of itself for the root.
    pub(super) parent: u32,
    /// Whether all of it was read, and so checked.
    pub(super) is_read: bool,
    /// Elements of one number have start tags that are equal but for a plain id, and are no empty-element tags; 0 is none.
    pub(super) like: u16,
}

pub(super) struct Identified<'a> {
    id: Cow<'a, str>,
    pub(super) element: u32,
    /// What it refers to itself.
    pub(super) to: Option<Cow<'a, str>>,
}

/// What an id is the id of.
pub(super) enum Found<'i, 'a> {
    None,
    One(&'i Identified<'a>),
    /// These two at least.
    Several([u32; 2]),
}

const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];

/// An element that is open, and its number if it is in the index.
struct Open {
    start: usize,
    tag: usize,
    number: Option<u32>,
}

impl<'a> Index<'a> {
    /// The index of a document.
    ///
    /// # Errors
    /// That it is not well-formed. That may also come out later, when what is wrong is read.
    pub(super) fn new(text: &'a str, limits: Limits) -> Result<Self, Error> {
        let mut index = match Index::glanced(text) {
            Some(index) => index,
            None => Index::read(text, limits)?,
        };
        // Stable: of those with one id the first in the document stays first.
        index.ids.sort_by(|one, other| by_length(&one.id, &other.id));
        Ok(index)
    }

    /// What `id` is the id of. References mostly come in the order of ids.
    pub(super) fn find(&mut self, id: &str) -> Found<'_, 'a> {
        let is_it = |place: usize| self.ids.get(place).is_some_and(|found| found.id == id);
        let is_guessed = is_it(self.guess) && !self.guess.checked_sub(1).is_some_and(is_it);
        let place = match is_guessed {
            true => self.guess,
            false => self.ids.partition_point(|found| by_length(&found.id, id) == Ordering::Less),
        };
        if !is_it(place) {
            return Found::None;
        }
        self.guess = place + 1;
        let found = &self.ids[place];
        match self.ids.get(place + 1) {
            Some(again) if again.id == id => Found::Several([found.element, again.element]),
            _ => Found::One(found),
        }
    }

    /// Where an element begins.
    pub(super) fn start_of(&self, number: u32) -> u32 {
        self.elements.get(number as usize).map_or(0, |extent| extent.start)
    }

    /// The element that begins at `offset`, if it is in the index.
    pub(super) fn starting_at(&self, offset: usize) -> Option<&Extent> {
        let number = self.elements.binary_search_by_key(&offset, |extent| extent.start as usize).ok()?;
        self.elements.get(number)
    }

    /// What is found by looking at tags alone: a fraction of the work of a reader, which checks it all when it comes to
    /// read it. `None` for a document in which more than tags and plain ids must be understood, and for one that is not
    /// well-formed as far as that was noticed.
    fn glanced(text: &'a str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut index = Index::default();
        let mut open: Vec<Open> = Vec::new();
        let mut again = Again::default();
        let mut at = match bytes.strip_prefix(b"<?xml") {
            Some(_) => text.find("?>")? + 2,
            None => 0,
        };
        loop {
            at = match find(bytes, at, b'<') {
                Some(at) => at,
                None if open.is_empty() => return Some(index),
                None => return None,
            };
            let is_closed = match *bytes.get(at + 1)? {
                b'/' => {
                    at = find(bytes, at + 2, b'>')? + 1;
                    true
                }
                // Where these stand, not every `<` begins a tag.
                b'!' | b'?' => return None,
                _ => {
                    let tag = match again.tag(text, at) {
                        Some(tag) => tag,
                        None => {
                            let tag = Tag::glanced(text, at)?;
                            again.note(text, at, &tag);
                            tag
                        }
                    };
                    open.push(Open { start: at, tag: tag.end - at, number: None });
                    if let Some(id) = tag.id {
                        index.add(&mut open, id.into(), tag.href.map(Cow::from));
                        if let Some(extent) = index.elements.last_mut()
                            && !tag.is_empty
                        {
                            extent.like = again.last;
                        }
                    }
                    at = tag.end;
                    tag.is_empty
                }
            };
            if is_closed
                && let Some(number) = open.pop()?.number
                && let Some(extent) = index.elements.get_mut(number as usize)
            {
                extent.end = at as u32;
            }
        }
    }

    /// The same, found by a reader.
    fn read(text: &'a str, limits: Limits) -> Result<Self, Error> {
        let mut index = Index::default();
        let mut reader = Reader::decoded(text, limits, &mut Memory::default())?;
        let mut open: Vec<Open> = Vec::new();
        loop {
            match reader.next()? {
                Token::StartTag(tag) => {
                    open.push(Open { start: tag.offset, tag: reader.offset() - tag.offset, number: None });
                    let (mut id, mut to) = (None, None);
                    for (number, namespace, name) in reader.attribute_names() {
                        match (namespace, name) {
                            ("", "id") | (SOAP12, "id") => id = Some(number),
                            ("", "href") | (SOAP12, "ref") => to = Some(number),
                            _ => {}
                        }
                    }
                    let value = |number: Option<usize>| Some(trimmed(reader.kept_attribute_value(number?)?.0));
                    if let Some(id) = value(id) {
                        index.add(&mut open, id, value(to));
                    }
                }
                Token::EndTag(_) => {
                    let Some(Open { number: Some(number), .. }) = open.pop() else { continue };
                    if let Some(extent) = index.elements.get_mut(number as usize) {
                        extent.end = reader.offset() as u32;
                    }
                }
                Token::End => return Ok(index),
                _ => {}
            }
        }
    }

    /// Adds the element that was opened last, and those around it, outermost first.
    fn add(&mut self, open: &mut [Open], id: Cow<'a, str>, to: Option<Cow<'a, str>>) {
        // Those around one that is there are there too.
        let known = open.iter().rposition(|open| open.number.is_some());
        let mut parent = known.and_then(|known| open.get(known)?.number);
        for open in &mut open[known.map_or(0, |known| known + 1)..] {
            let number = self.elements.len() as u32;
            let (start, tag) = (open.start as u32, open.tag as u32);
            let parent_number = parent.unwrap_or(number);
            self.elements.push(Extent { start, tag, end: start, parent: parent_number, is_read: false, like: 0 });
            open.number = Some(number);
            parent = Some(number);
        }
        let Some(element) = parent else { return };
        self.ids.push(Identified { id, element, to });
    }
}

/// Shorter ones first: so are numbers in their order, which many ids end with.
fn by_length(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

/// A value without the white space around it, which hardly any has.
pub(super) fn trim(value: &str) -> &str {
    match value.as_bytes() {
        [first, .., last] if *first > b' ' && *last > b' ' => value,
        _ => value.trim_matches(WHITE),
    }
}

fn trimmed(value: Cow<'_, str>) -> Cow<'_, str> {
    match value {
        Cow::Borrowed(value) => Cow::Borrowed(trim(value)),
        Cow::Owned(value) => Cow::Owned(trim(&value).to_owned()),
    }
}

/// What a start tag says of references.
#[derive(Default)]
struct Tag<'a> {
    end: usize,
    is_empty: bool,
    id: Option<&'a str>,
    href: Option<&'a str>,
    /// Where the value of the last of them begins.
    value: usize,
}

impl<'a> Tag<'a> {
    /// The start tag at `at`, if there is nothing in it that only a reader understands. Only where values begin and end is
    /// looked at, and which names stand before them.
    fn glanced(text: &'a str, at: usize) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut tag = Tag::default();
        let mut at = at + 1;
        loop {
            at = find_any(bytes, at, [b'>', b'"', b'\''])?;
            let quote = bytes[at];
            if quote == b'>' {
                tag.is_empty = bytes[at - 1] == b'/';
                tag.end = at + 1;
                return Some(tag);
            }
            let name = before(bytes, at).strip_suffix(b"=")?;
            let name = before(name, name.len());
            let place = match name {
                [.., b' ' | b'\t' | b'\n' | b'\r', b'i', b'd'] => Some(&mut tag.id),
                [.., b' ' | b'\t' | b'\n' | b'\r', b'h', b'r', b'e', b'f'] => Some(&mut tag.href),
                // Its prefix may be that of SOAP 1.2.
                [.., b':', b'i', b'd'] | [.., b':', b'r', b'e', b'f'] => return None,
                _ => None,
            };
            let start = at + 1;
            at = find(bytes, start, quote)?;
            if let Some(place) = place {
                let value = text.get(start..at)?;
                if value.bytes().any(|byte| byte == b'&') {
                    return None;
                }
                *place = Some(trim(value));
                tag.value = start;
            }
            at += 1;
        }
    }
}

/// What stands before `at`, white space left out.
#[inline]
fn before(bytes: &[u8], mut at: usize) -> &[u8] {
    while let Some(b' ' | b'\t' | b'\n' | b'\r') = at.checked_sub(1).and_then(|last| bytes.get(last)) {
        at -= 1;
    }
    &bytes[..at]
}

/// Tags that came before: after each, the one that followed it is expected again. Bytes that are equal but for an id or a
/// reference are tags that are, and messages that refer much have many of a few.
#[derive(Default)]
struct Again {
    tags: Vec<Seen>,
    /// The number of the one that came last; 0 is none of them, but has one that follows.
    last: u16,
}

struct Seen {
    start: usize,
    length: usize,
    is_empty: bool,
    /// How long it is before the value of an id or a reference and behind it, and which of them it has.
    shape: (usize, usize, Value),
    next: u16,
}

/// The value in a tag that may be another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    None,
    Id,
    Reference,
}

/// How many tags are looked for again, of those with a value that may be another and of those without.
const MOST_AGAIN: usize = 8;

impl Seen {
    /// What stands before the value that may be another, and behind it.
    fn around<'t>(&self, bytes: &'t [u8]) -> (&'t [u8], &'t [u8]) {
        let tag = &bytes[self.start..self.start + self.length];
        let (before, behind, _) = self.shape;
        (&tag[..before], &tag[tag.len() - behind..])
    }

    fn is_like(&self, other: &Seen, bytes: &[u8]) -> bool {
        self.shape == other.shape && self.around(bytes) == other.around(bytes)
    }

    /// The tag at `at`, if it is like this one.
    #[inline]
    fn tag<'a>(&self, text: &'a str, at: usize) -> Option<Tag<'a>> {
        let bytes = text.as_bytes();
        let (before, behind) = self.around(bytes);
        let mut end = at + before.len();
        if bytes.get(at..end)? != before {
            return None;
        }
        let mut tag = Tag { is_empty: self.is_empty, ..Tag::default() };
        let (_, _, value) = self.shape;
        if value != Value::None {
            let start = end;
            end = find(bytes, start, *before.last()?)?;
            let name = text.get(start..end).filter(|name| is_plain(name))?;
            *(if value == Value::Id { &mut tag.id } else { &mut tag.href }) = Some(name);
            if bytes.get(end..end + behind.len())? != behind {
                return None;
            }
            end += behind.len();
        }
        tag.end = end;
        Some(tag)
    }
}

impl Again {
    /// The tag at `at`, if it is like the one that is expected.
    #[inline]
    fn tag<'a>(&mut self, text: &'a str, at: usize) -> Option<Tag<'a>> {
        let next = self.tags.get(usize::from(self.last))?.next;
        let tag = self.tags.get(usize::from(next)).filter(|_| next > 0)?.tag(text, at)?;
        self.last = next;
        Some(tag)
    }

    /// Notes the tag at `at`, which was not expected.
    fn note(&mut self, text: &str, at: usize, tag: &Tag<'_>) {
        if self.tags.is_empty() {
            self.tags.push(Seen { start: 0, length: 0, is_empty: false, shape: (0, 0, Value::None), next: 0 });
        }
        let length = tag.end - at;
        let around = |value: &str, kind| (tag.value - at, tag.end - tag.value - value.len(), kind);
        // All that stands between the quotes, without white space.
        let is_all = |value: &str| {
            let quotes = [tag.value - 1, tag.value + value.len()].map(|at| text.as_bytes().get(at));
            is_plain(value) && quotes[0] == quotes[1]
        };
        let (can_be_kept, shape) = match (tag.id, tag.href) {
            (None, None) => (true, (length, 0, Value::None)),
            (Some(id), None) => (is_all(id), around(id, Value::Id)),
            (None, Some(href)) => (is_all(href), around(href, Value::Reference)),
            (Some(_), Some(_)) => (false, (length, 0, Value::None)),
        };
        let seen = Seen { start: at, length, is_empty: tag.is_empty, shape, next: 0 };
        let number = match self.tags.iter().skip(1).position(|known| known.is_like(&seen, text.as_bytes())) {
            _ if !can_be_kept => 0,
            Some(place) => place + 1,
            None if self.tags.iter().filter(|known| known.shape.2 == seen.shape.2).count() >= MOST_AGAIN => 0,
            None => {
                self.tags.push(seen);
                self.tags.len() - 1
            }
        };
        // It fits: there are few.
        let number = number as u16;
        self.tags[usize::from(self.last)].next = number;
        self.last = number;
    }
}

/// Whether the value of an attribute is surely legal and has neither references nor white space.
fn is_plain(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'#'))
}

const ONES: u64 = u64::MAX / 255;

/// The highest bits of the bytes of a word that are `byte`: the lowest of them is right, those above may not be.
#[inline]
fn equal(word: u64, byte: u8) -> u64 {
    let other = word ^ (ONES * u64::from(byte));
    other.wrapping_sub(ONES) & !other & (ONES << 7)
}

/// Where `byte` stands first from `at` on. Most are near: eight bytes are looked at first, in fewer steps than a call of
/// what is fast where they are far.
#[inline]
fn find(bytes: &[u8], at: usize, byte: u8) -> Option<usize> {
    let rest = bytes.get(at..)?;
    if let Some(chunk) = rest.first_chunk() {
        let hits = equal(u64::from_le_bytes(*chunk), byte);
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
    }
    memchr(byte, rest).map(|length| at + length)
}

/// Where one of three bytes stands first from `at` on, which is near.
#[inline]
fn find_any(bytes: &[u8], mut at: usize, [one, two, three]: [u8; 3]) -> Option<usize> {
    while let Some(chunk) = bytes.get(at..)?.first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let hits = equal(word, one) | equal(word, two) | equal(word, three);
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    bytes[at..].iter().position(|byte| [one, two, three].contains(byte)).map(|length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an index says, to be compared.
    fn shown(index: &Index<'_>) -> Vec<String> {
        let mut ids: Vec<_> =
            index.ids.iter().map(|found| format!("{} {} {:?}", found.id, found.element, found.to)).collect();
        ids.sort();
        let extent = |extent: &Extent| {
            let Extent { start, tag, end, parent, .. } = *extent;
            format!("{start}+{tag}..{end} in {parent}")
        };
        index.elements.iter().map(extent).chain(ids).collect()
    }

    #[test]
    fn what_a_glance_finds_is_what_a_reader_finds() {
        for (text, is_enough) in [
            ("<?xml version='1.0'?>\n<a><b id='1'/><c id = \"2\" x='>' ><d href='#1'/>></c ></a>\n", true),
            ("<a id='1'><a id=' 2 ' href=\"#1\"><b><c id='1'/></b></a><b/><b id='3'></b></a>", true),
            ("<a>\n<a\n\tid\n=\n'x>\"/a>'>/></a></a>", true),
            ("<a ident='1' xid='2' id='3'/>", true),
            // Only a reader knows.
            ("<a><!--<b id='1'/>--><b id='2'/></a>", false),
            ("<a><![CDATA[<b id='1'>]]><b id='2'/></a>", false),
            ("<a><?b <c id='1'>?><b id='2'/></a>", false),
            ("<a id='&#49;'/>", false),
            ("<a xmlns:e='http://www.w3.org/2003/05/soap-encoding'><b e:id='1'/><c e:id='2' e:ref='1'/></a>", false),
        ] {
            let read = Index::read(text, Limits::default()).map(|index| shown(&index));
            let read = read.unwrap_or_else(|error| panic!("{text}: {error}"));
            let glanced = Index::glanced(text).map(|index| shown(&index));
            assert_eq!(glanced, is_enough.then_some(read), "{text}");
        }
        for broken in ["<a>", "</a>", "<a", "<a x", "<a x=", "<a x='", "<a x=1>", "<a/", "<a/x>", "<", "<a></a", "<a><"]
        {
            assert!(Index::glanced(broken).is_none(), "{broken}");
            assert!(Index::new(broken, Limits::default()).is_err(), "{broken}");
        }
    }
}
