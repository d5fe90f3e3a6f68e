//! An index of the elements that have an id, for the references of SOAP encoding (SOAP 1.1 §5.4.1, SOAP 1.2 Part 2
//! §3.1.5).
//!
//! Most messages have their multi-referenced elements after the call. They are found by a search for `id` and for tags
//! of one name (`trailing`). If that is not certain to be right, the tags of the whole document are scanned
//! (`tag_scan`). If that is not certain either, a [`Reader`] reads the document. All three find the same elements. None
//! of them assumes that the document is well-formed: a reader reads each element when a reference leads to it.

mod memory;
mod repeated;
mod sorted;
mod tag_scan;
mod trailing;

use std::borrow::Cow;

use castile_budget::{Allowance, Exhausted};

use crate::{Limits, Memory, Reader, Token};

use memory::{BLOCK, Charges, IndexMemory, Refused};
use sorted::{Found, Ids};
use tag_scan::{Shapes, find};
use trailing::{Trailing, Unsure};

pub use repeated::{FoundReference, RepeatedReference};

/// The namespace of `id` and `ref` in SOAP 1.2 (Part 2 §3.1.5).
const SOAP12: &str = "http://www.w3.org/2003/05/soap-encoding";

/// The elements of a document that have an id, to the extent that they are known, and their ancestors.
pub struct ElementIds<'a> {
    text: &'a str,
    limits: Limits,
    /// In document order.
    elements: Vec<Extent<'a>>,
    shapes: Shapes<'a>,
    ids: IdIndex<'a>,
    /// What was charged for the index.
    charges: Charges,
}

enum IdIndex<'a> {
    /// The ids of the elements after the call. There may be others.
    Trailing(Trailing<'a>),
    /// All ids.
    All(Ids<'a, Identified<'a>>),
}

/// Where an element is. Offsets are within a message, so they are below 4 GiB.
#[derive(Clone, Copy)]
pub struct Extent<'a> {
    pub start: u32,
    /// The length of the start tag, 0 if it is not known.
    pub tag: u32,
    /// The end of the element, or its start if the end is not known.
    pub end: u32,
    /// The offset of the value of its id, if it is known to have an id and no reference; otherwise 0.
    id: u32,
    /// The number of its parent. The root has its own number.
    pub parent: u32,
    /// Whether the whole element was read, and so checked.
    pub is_read: bool,
    /// The number of its start tag's shape, 0 if it has no known one, and the variable prefix in the tag.
    pub shape: u16,
    pub prefix: &'a str,
}

struct Identified<'a> {
    element: u32,
    /// The reference that it has itself.
    to: Option<Cow<'a, str>>,
}

/// What has an id.
pub enum Target<'a> {
    /// The element with this number.
    Element(u32),
    /// The element with this number, which has a reference itself: this one.
    Reference(u32, Cow<'a, str>),
    None,
    /// Two elements with the same id, and their offsets.
    Several([u32; 2]),
}

impl<'a> Extent<'a> {
    /// Creates the extent of an element of which only the start is known.
    pub(super) fn starting_at(start: usize) -> Self {
        let start = start as u32;
        Extent { start, tag: 0, end: start, id: 0, parent: 0, is_read: false, shape: 0, prefix: "" }
    }

    pub(super) fn is_ended(&self) -> bool {
        self.end > self.start
    }
}

/// Why there is no index.
#[derive(Debug)]
pub enum Stop {
    /// The document is not well-formed.
    Xml(crate::Error),
    Exhausted(Exhausted),
}

impl From<crate::Error> for Stop {
    fn from(error: crate::Error) -> Self {
        Stop::Xml(error)
    }
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Self {
        Stop::Exhausted(exhausted)
    }
}

/// Maps the previous numbers of elements to their current ones.
pub struct Renumbered(Vec<u32>);

impl Renumbered {
    pub fn number(&self, before: u32) -> u32 {
        self.0.get(before as usize).copied().unwrap_or(u32::MAX)
    }
}

const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];

/// An open element, and its number if it is in the index.
struct Open {
    start: usize,
    tag: usize,
    number: Option<u32>,
}

impl<'a> ElementIds<'a> {
    /// Creates an index for the document of `reader`, which is in the element with the first reference.
    ///
    /// # Errors
    /// [`Stop::Xml`] if the document is not well-formed, [`Stop::Exhausted`] if the allowance does not suffice. An
    /// error in the document may also be found later, when the reader reaches it.
    pub fn new(reader: &Reader<'a>, allowance: &mut Allowance) -> Result<Self, Stop> {
        Self::of(reader.input(), reader.limits(), reader.open_offsets(), allowance)
    }

    fn of(
        text: &'a str,
        limits: Limits,
        open: impl Iterator<Item = usize>,
        allowance: &mut Allowance,
    ) -> Result<Self, Stop> {
        let mut charges = Charges::default();
        match Trailing::new(text, open, &mut IndexMemory::new(allowance, &mut charges)) {
            Ok((trailing, elements)) => {
                let shapes = Shapes::default();
                Ok(ElementIds { text, limits, elements, shapes, ids: IdIndex::Trailing(trailing), charges })
            }
            Err(Unsure) => Self::whole(text, limits, Shapes::default(), charges, allowance),
        }
    }

    /// Creates an index of all elements that have an id.
    fn whole(
        text: &'a str,
        limits: Limits,
        mut shapes: Shapes<'a>,
        mut charges: Charges,
        allowance: &mut Allowance,
    ) -> Result<Self, Stop> {
        let memory = &mut IndexMemory::new(allowance, &mut charges);
        memory.is_granted()?;
        memory.begin();
        let Elements { elements, ids } = match Elements::scan(text, limits.depth, &mut shapes, memory) {
            Some(found) => found,
            None => {
                memory.is_granted()?;
                memory.begin();
                Elements::read(text, limits, memory)?
            }
        };
        let ids = Ids::new(ids, |found| found.element);
        Ok(ElementIds { text, limits, elements, shapes, ids: IdIndex::All(ids), charges })
    }

    /// Returns the target of a reference, which is an id, or `#` and an id. Returns `None` if the [whole
    /// document](Self::complete) must be scanned, or if the allowance does not suffice; [`complete`](Self::complete)
    /// then reports that.
    #[inline]
    pub fn find(&mut self, reference: &str, allowance: &mut Allowance) -> Option<Target<'a>> {
        let id = trim(reference);
        let id = id.strip_prefix('#').unwrap_or(id);
        let ids = match &mut self.ids {
            IdIndex::Trailing(trailing) => {
                let memory = &mut IndexMemory::new(allowance, &mut self.charges);
                return match trailing.find(id, self.text, &mut self.elements, &mut self.shapes, memory) {
                    Ok(Some(number)) => Some(Target::Element(number)),
                    Ok(None) => Some(Target::None),
                    Err(Unsure) => None,
                };
            }
            IdIndex::All(ids) => ids,
        };
        let start_of = |found: &Identified<'_>| self.elements.get(found.element as usize).map_or(0, |it| it.start);
        Some(match ids.find(id) {
            Found::None => Target::None,
            Found::One(Identified { element, to: Some(to) }) => Target::Reference(*element, to.clone()),
            Found::One(Identified { element, to: None }) => Target::Element(*element),
            Found::Several(first, again) => Target::Several([start_of(first), start_of(again)]),
        })
    }

    /// Scans the whole document. Elements have other numbers afterwards.
    ///
    /// # Errors
    /// [`Stop::Xml`] if the document is not well-formed, [`Stop::Exhausted`] if the allowance does not suffice.
    #[cold]
    pub fn complete(&mut self, allowance: &mut Allowance) -> Result<Renumbered, Stop> {
        // The memory of the old index is freed first, except for a few bytes of each element.
        self.ids = IdIndex::All(Ids::new(Vec::new(), |found| found.element));
        let before = std::mem::take(&mut self.elements);
        let mut before: Vec<_> = before.into_iter().map(|was| (was.start, was.is_read.then_some(was.end))).collect();
        before.shrink_to_fit();
        let (shapes, charges) = (std::mem::take(&mut self.shapes), std::mem::take(&mut self.charges));
        *self = Self::whole(self.text, self.limits, shapes, charges, allowance)?;
        let renumbered = before.iter().map(|&(start, read_end)| {
            let Some(number) = self.number_at(start as usize) else { return u32::MAX };
            let is = &mut self.elements[number];
            (is.is_read, is.end) = (read_end.is_some(), read_end.unwrap_or(is.end));
            number as u32
        });
        Ok(Renumbered(renumbered.collect()))
    }

    /// Returns the element with this number.
    pub fn extent(&self, number: u32) -> Option<Extent<'a>> {
        self.elements.get(number as usize).copied()
    }

    /// Notes that the element with this number was read to its end, which is at `end`. Returns its updated extent.
    pub fn note_read(&mut self, number: u32, end: usize) -> Option<Extent<'a>> {
        let extent = self.elements.get_mut(number as usize)?;
        (extent.is_read, extent.end) = (true, end as u32);
        Some(*extent)
    }

    /// Returns the end of the last of the consecutive elements from `offset` on that were read completely.
    pub fn end_of_read(&self, offset: usize) -> usize {
        let text = self.text;
        let (mut at, mut guess) = (offset, 0);
        loop {
            let next = text.len() - text[at..].trim_start_matches(WHITE).len();
            let guessed = self.elements.get(guess).filter(|extent| extent.start as usize == next);
            let number = if guessed.is_some() { Some(guess) } else { self.number_at(next) };
            match number.map(|number| (number, self.elements[number])) {
                Some((number, extent)) if extent.is_read => (at, guess) = (extent.end as usize, number + 1),
                _ => return at,
            }
        }
    }

    /// Returns the number of the element that begins at `offset`, if it is in the index.
    fn number_at(&self, offset: usize) -> Option<usize> {
        self.elements.binary_search_by_key(&offset, |extent| extent.start as usize).ok()
    }
}

/// The elements that were found in a document.
#[derive(Default)]
struct Elements<'a> {
    /// The elements with an id and their ancestors, in document order.
    elements: Vec<Extent<'a>>,
    ids: Vec<(Cow<'a, str>, Identified<'a>)>,
}

impl<'a> Elements<'a> {
    /// Finds the elements by a scan of the tags, which is a fraction of the work of a reader. The reader checks the
    /// elements when it reads them. Returns `None` if the scan can't understand something in the document, or notices
    /// that it is not well-formed. Also returns `None` if it nests more than `depth` deep, or if the allowance does not
    /// suffice.
    fn scan(text: &'a str, depth: usize, shapes: &mut Shapes<'a>, memory: &mut IndexMemory<'_>) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut found = Elements::default();
        let mut open: Vec<Open> = Vec::new();
        let mut at = match bytes.strip_prefix(b"<?xml") {
            Some(_) => text.find("?>")? + 2,
            None => 0,
        };
        loop {
            at = match find(bytes, at, b'<') {
                Some(at) => at,
                None if open.is_empty() => return Some(found),
                None => return None,
            };
            let is_closed = match *bytes.get(at + 1)? {
                b'/' => {
                    at = find(bytes, at + 2, b'>')? + 1;
                    true
                }
                // With these, not every `<` begins a tag.
                b'!' | b'?' => return None,
                _ => {
                    let tag = shapes.scan(text, at)?;
                    if open.len() >= depth {
                        return None;
                    }
                    open.push(Open { start: at, tag: tag.end - at, number: None });
                    if let Some(id) = tag.id {
                        found.add(&mut open, id.into(), tag.href.map(Cow::from), memory).ok()?;
                        if let Some(extent) = found.elements.last_mut() {
                            (extent.shape, extent.prefix) = (tag.shape, tag.prefix);
                        }
                    }
                    at = tag.end;
                    tag.is_empty
                }
            };
            if is_closed
                && let Some(number) = open.pop()?.number
                && let Some(extent) = found.elements.get_mut(number as usize)
            {
                extent.end = at as u32;
            }
        }
    }

    /// Finds all elements with an id by a reader.
    fn read(text: &'a str, limits: Limits, memory: &mut IndexMemory<'_>) -> Result<Self, Stop> {
        let mut found = Elements::default();
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
                    let value = |number: Option<usize>| Some(trimmed(reader.attribute_value_cow(number?)?.0));
                    if let Some(id) = value(id) {
                        let to = value(to);
                        // All texts together are no larger than the document, but each owned one has the overhead of an
                        // allocation.
                        let is_block = |text: &Cow<'_, str>| matches!(text, Cow::Owned(_));
                        let blocks = usize::from(is_block(&id)) + usize::from(to.as_ref().is_some_and(is_block));
                        let added = memory.charge(blocks * BLOCK).and_then(|()| found.add(&mut open, id, to, memory));
                        added.or_else(|Refused| memory.is_granted())?;
                    }
                }
                Token::EndTag(_) => {
                    let Some(Open { number: Some(number), .. }) = open.pop() else { continue };
                    if let Some(extent) = found.elements.get_mut(number as usize) {
                        extent.end = reader.offset() as u32;
                    }
                }
                Token::End => return Ok(found),
                _ => {}
            }
        }
    }

    /// Adds the element that was opened last, and its ancestors, outermost first.
    fn add(
        &mut self,
        open: &mut [Open],
        id: Cow<'a, str>,
        to: Option<Cow<'a, str>>,
        memory: &mut IndexMemory<'_>,
    ) -> Result<(), Refused> {
        // The ancestors of an element in the index are in the index, too.
        let known = open.iter().rposition(|open| open.number.is_some());
        let mut parent = known.and_then(|known| open.get(known)?.number);
        for open in &mut open[known.map_or(0, |known| known + 1)..] {
            let number = self.elements.len() as u32;
            let (tag, parent_number) = (open.tag as u32, parent.unwrap_or(number));
            let extent = Extent { tag, parent: parent_number, ..Extent::starting_at(open.start) };
            memory.push(&mut self.elements, extent)?;
            open.number = Some(number);
            parent = Some(number);
        }
        let Some(element) = parent else { return Ok(()) };
        memory.push(&mut self.ids, (id, Identified { element, to }))
    }
}

/// Returns a value without white space around it. Few values have any.
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

#[cfg(test)]
mod tests;
