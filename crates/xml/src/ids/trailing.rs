//! Elements after the call, to which most references lead (SOAP 1.1 §5.1, independent elements).
//!
//! They are not read in advance. Possible ids are found by a search for these two letters. The elements with these ids
//! are found one after another, only up to the one that a reference needs; most of them have been read by then. If the
//! result is not certain, the [whole document](super::ElementIds::complete) is scanned.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use memchr::{memchr, memchr2};

use super::Extent;
use super::memory::{IndexMemory, Refused};
use super::sorted::{Found, Ids};
use super::tag_scan::{Shapes, Tag, find, is_plain};

/// The elements around and after the one with the first reference.
pub(super) struct Trailing<'a> {
    /// All possible ids in the document.
    ids: Ids<'a, Candidate>,
    ends: Ends<'a>,
}

/// Finds where elements end.
#[derive(Default)]
struct Ends<'a> {
    /// The name whose tags were searched last.
    name: Option<(&'a [u8], Box<Finder<'a>>)>,
}

/// A possible id.
struct Candidate {
    /// The offset of its value.
    value: u32,
    /// The number of the element that has it, once it is known.
    element: Option<u32>,
}

/// The numbers of two elements that are always in the index, after the root: the parent of the call, and the call.
const AROUND: u32 = 1;
const CALL: u32 = 2;

/// The whole document must be scanned, or the allowance does not suffice.
pub(super) struct Unsure;

impl From<Refused> for Unsure {
    fn from(_: Refused) -> Self {
        Unsure
    }
}

impl<'a> Trailing<'a> {
    /// Creates the index when the first reference is found. `open` are the offsets of the open elements; the reference
    /// is in the third of them, which is the call. Returns the index, and the first three elements.
    pub(super) fn new(
        text: &'a str,
        open: impl Iterator<Item = usize>,
        memory: &mut IndexMemory<'_>,
    ) -> Result<(Self, Vec<Extent<'a>>), Unsure> {
        let ids = candidates(text, memory)?;
        let mut elements = Vec::new();
        memory.reserve(&mut elements, CALL as usize + 1 + ids.len().min(64))?;
        elements.extend(
            open.take(CALL as usize + 1).enumerate().map(|(number, start)| Extent {
                parent: number.saturating_sub(1) as u32,
                ..Extent::starting_at(start)
            }),
        );
        if elements.len() <= CALL as usize {
            return Err(Unsure);
        }
        let ids = Ids::new(ids, |candidate| candidate.value);
        Ok((Trailing { ids, ends: Ends::default() }, elements))
    }

    /// Returns the number of the element that has an id, or `None` if the id does not occur in the document.
    #[inline]
    pub(super) fn find(
        &mut self,
        id: &str,
        text: &'a str,
        elements: &mut Vec<Extent<'a>>,
        shapes: &mut Shapes<'a>,
        memory: &mut IndexMemory<'_>,
    ) -> Result<Option<u32>, Unsure> {
        let candidate = match self.ids.find(id) {
            Found::None => return Ok(None),
            Found::Several(..) => return Err(Unsure),
            Found::One(candidate) => candidate,
        };
        if candidate.element.is_none() {
            candidate.element = Some(self.ends.locate(candidate.value, text, elements, shapes, memory)?);
        }
        Ok(candidate.element)
    }
}

impl<'a> Ends<'a> {
    /// Returns the number of the element after the call that has an id whose value begins at `value`.
    fn locate(
        &mut self,
        value: u32,
        text: &'a str,
        elements: &mut Vec<Extent<'a>>,
        shapes: &mut Shapes<'a>,
        memory: &mut IndexMemory<'_>,
    ) -> Result<u32, Unsure> {
        if let Some(last) = elements.last()
            && value < last.start
        {
            let number = elements.partition_point(|extent| extent.start <= value).saturating_sub(1);
            let is_it = elements.get(number).is_some_and(|extent| extent.id == value);
            return if is_it { Ok(number as u32) } else { Err(Unsure) };
        }
        loop {
            let number = elements.len() as u32 - 1;
            let last = elements[number as usize];
            if last.id == value && number > CALL {
                return Ok(number);
            }
            let end = match last.is_ended() {
                true => last.end,
                false => self.end_of_element(text, &last, shapes).ok_or(Unsure)?,
            };
            elements[number as usize].end = end;
            if value < end {
                return Err(Unsure);
            }
            memory.push(elements, next_element(text, end as usize, shapes).ok_or(Unsure)?)?;
        }
    }

    /// Returns the end of an element, which is found by the tags of its name. The reader finds the same end later.
    /// `None` if not every `<` begins a tag.
    fn end_of_element(&mut self, text: &'a str, element: &Extent<'a>, shapes: &mut Shapes<'a>) -> Option<u32> {
        let bytes = text.as_bytes();
        let start = element.start as usize;
        let first = match element.tag {
            0 => shapes.scan(text, start)?.end,
            length => start + length as usize,
        };
        if text[..first].ends_with("/>") {
            return Some(first as u32);
        }
        let length =
            bytes[start + 1..first].iter().position(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'>'))?;
        let name = &bytes[start + 1..start + 1 + length];
        let finder = match &mut self.name {
            Some((known, finder)) if *known == name => finder,
            other => &mut other.insert((name, Box::new(Finder::new(name)))).1,
        };
        let (mut at, mut depth) = (first, 1_usize);
        while depth > 0 {
            let place = at + finder.find(&bytes[at..])?;
            at = place + length;
            let is_whole = matches!(bytes.get(at)?, b' ' | b'\t' | b'\n' | b'\r' | b'>' | b'/');
            match bytes[..place] {
                [.., b'<', b'/'] if is_whole => {
                    at += memchr(b'>', &bytes[at..])? + 1;
                    depth -= 1;
                }
                [.., b'<'] if is_whole => {
                    let tag = Tag::scan(text, place - 1)?;
                    at = tag.end;
                    depth += usize::from(!tag.is_empty);
                }
                _ => {}
            }
        }
        has_tags_alone(&bytes[first..at]).then_some(at as u32)
    }
}

/// Returns the element that is next from `at` on, a sibling of the call.
fn next_element<'a>(text: &'a str, at: usize, shapes: &mut Shapes<'a>) -> Option<Extent<'a>> {
    let start = text.len() - text[at..].trim_start_matches([' ', '\t', '\n', '\r']).len();
    match text.as_bytes().get(start..start + 2)? {
        [b'<', b'/' | b'!' | b'?'] => return None,
        [b'<', _] => {}
        _ => return None,
    }
    let tag = shapes.scan(text, start)?;
    let end = if tag.is_empty { tag.end } else { start };
    // An element that is itself a reference needs a scan of the whole document.
    let id = if tag.id.is_some() && tag.href.is_none() { tag.value as u32 } else { 0 };
    Some(Extent {
        end: end as u32,
        tag: (tag.end - start) as u32,
        id,
        parent: AROUND,
        shape: tag.shape,
        prefix: tag.prefix,
        ..Extent::starting_at(start)
    })
}

/// Returns everything that may be an attribute `id`, with or without a prefix. All real ones are among them. Fails if a
/// value must be normalised before it is compared.
fn candidates<'a>(text: &'a str, memory: &mut IndexMemory<'_>) -> Result<Vec<(Cow<'a, str>, Candidate)>, Unsure> {
    static ID: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("id"));
    static ID_IS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("id="));
    let bytes = text.as_bytes();
    let is_white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let behind_white = |at: usize| at + bytes[at..].iter().take_while(|byte| is_white(byte)).count();
    let mut found = Vec::new();
    // White space before `=` is rare.
    let finder = if has_white_before_equals(bytes) { &ID } else { &ID_IS };
    for at in finder.find_iter(bytes) {
        if !matches!(bytes[..at], [.., b' ' | b'\t' | b'\n' | b'\r' | b':']) {
            continue;
        }
        let equals = behind_white(at + "id".len());
        if bytes.get(equals) != Some(&b'=') {
            continue;
        }
        let quote = behind_white(equals + 1);
        let start = quote + 1;
        let Some(&quote @ (b'"' | b'\'')) = bytes.get(quote) else { continue };
        let Some(end) = find(bytes, start, quote) else { continue };
        let id = text.get(start..end).filter(|id| is_plain(id)).ok_or(Unsure)?;
        if found.is_empty() {
            // The capacity that suffices if all are as far apart as the first is from the beginning, up to a maximum.
            memory.reserve(&mut found, (bytes.len() / (at + 1)).min(64))?;
        }
        memory.push(&mut found, (Cow::Borrowed(id), Candidate { value: start as u32, element: None }))?;
    }
    Ok(found)
}

/// Whether there is white space before an equals sign anywhere.
fn has_white_before_equals(bytes: &[u8]) -> bool {
    const BLOCK: usize = 64;
    let is_it = |(one, other): (&u8, &u8)| (*one <= b' ') & (*other == b'=');
    let mut at = 0;
    // Without branches, so that the compiler can compare many bytes in one step.
    while let (Some(one), Some(other)) =
        (bytes[at..].first_chunk::<BLOCK>(), bytes.get(at + 1..).and_then(<[u8]>::first_chunk::<BLOCK>))
    {
        if one.iter().zip(other).fold(false, |any, pair| any | is_it(pair)) {
            return true;
        }
        at += BLOCK;
    }
    bytes[at..].iter().zip(bytes.get(at + 1..).unwrap_or_default()).any(is_it)
}

/// Whether each `<` in this part of a document begins a tag.
fn has_tags_alone(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some(at) = memchr2(b'!', b'?', rest) {
        if rest[..at].ends_with(b"<") {
            return false;
        }
        rest = &rest[at + 1..];
    }
    true
}
