//! Which elements of a document have an id.

use std::collections::HashMap;

use castile_xml::{Limits, Memory, Reader, Token};
use memchr::memchr;

use crate::encoded::SOAP12;
use crate::error::Error;

/// The elements with an id, and those around them, in the order of the document.
#[derive(Default)]
pub(super) struct Index {
    pub(super) elements: Vec<Extent>,
    pub(super) ids: HashMap<Box<str>, Identified>,
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
}

pub(super) struct Identified {
    pub(super) element: u32,
    /// Where another one with the same id begins.
    pub(super) again: Option<u32>,
    /// What it refers to itself.
    pub(super) to: Option<Box<str>>,
}

/// An element that is open, and its number if it is in the index.
struct Open {
    start: usize,
    tag: usize,
    number: Option<u32>,
}

impl Index {
    /// The index of a document.
    ///
    /// # Errors
    /// That it is not well-formed. That may also come out later, when what is wrong is read.
    pub(super) fn new(text: &str, limits: Limits) -> Result<Self, Error> {
        match Index::glanced(text) {
            Some(index) => Ok(index),
            None => Index::read(text, limits),
        }
    }

    /// The element that begins at `offset`, if it is in the index.
    pub(super) fn starting_at(&self, offset: usize) -> Option<&Extent> {
        let number = self.elements.binary_search_by_key(&offset, |extent| extent.start as usize).ok()?;
        self.elements.get(number)
    }

    /// What is found by looking at tags alone: a fraction of the work of a reader, which checks it all when it comes to
    /// read it. `None` for a document in which more than tags and plain ids must be understood, and for one that is not
    /// well-formed as far as that was noticed.
    fn glanced(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut index = Index::default();
        let mut open: Vec<Open> = Vec::new();
        let mut at = match bytes.strip_prefix(b"<?xml") {
            Some(_) => text.find("?>")? + 2,
            None => 0,
        };
        loop {
            at += match memchr(b'<', bytes.get(at..)?) {
                Some(length) => length,
                None if open.is_empty() => return Some(index),
                None => return None,
            };
            match *bytes.get(at + 1)? {
                b'/' => {
                    at += memchr(b'>', bytes.get(at..)?)? + 1;
                    let Open { number, .. } = open.pop()?;
                    if let Some(extent) = number.and_then(|number| index.elements.get_mut(number as usize)) {
                        extent.end = at as u32;
                    }
                }
                // Where these stand, not every `<` begins a tag.
                b'!' | b'?' => return None,
                _ => {
                    let tag = Tag::glanced(text, at)?;
                    open.push(Open { start: at, tag: tag.end - at, number: None });
                    if let Some(id) = tag.id {
                        index.add(&mut open, id, tag.href);
                    }
                    at = tag.end;
                    if tag.is_empty {
                        let Open { number, .. } = open.pop()?;
                        if let Some(extent) = number.and_then(|number| index.elements.get_mut(number as usize)) {
                            extent.end = at as u32;
                        }
                    }
                }
            }
        }
    }

    /// The same, found by a reader.
    fn read(text: &str, limits: Limits) -> Result<Self, Error> {
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
                    let value = |number: Option<usize>| Some(reader.attribute_value(number?)?.0.trim());
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
    fn add(&mut self, open: &mut [Open], id: &str, to: Option<&str>) {
        // Those around one that is there are there too.
        let known = open.iter().rposition(|open| open.number.is_some());
        let mut parent = known.and_then(|known| open.get(known)?.number);
        for open in &mut open[known.map_or(0, |known| known + 1)..] {
            let number = self.elements.len() as u32;
            let (start, tag) = (open.start as u32, open.tag as u32);
            let parent_number = parent.unwrap_or(number);
            self.elements.push(Extent { start, tag, end: start, parent: parent_number, is_read: false });
            open.number = Some(number);
            parent = Some(number);
        }
        let (Some(element), Some(last)) = (parent, open.last()) else { return };
        match self.ids.get_mut(id) {
            Some(known) => known.again = known.again.or(Some(last.start as u32)),
            None => drop(self.ids.insert(id.into(), Identified { element, again: None, to: to.map(Box::from) })),
        }
    }
}

/// What a start tag says of references.
struct Tag<'a> {
    end: usize,
    is_empty: bool,
    id: Option<&'a str>,
    href: Option<&'a str>,
}

impl<'a> Tag<'a> {
    /// The start tag at `at`, if there is nothing in it that only a reader understands.
    fn glanced(text: &'a str, at: usize) -> Option<Self> {
        const WHITE: [u8; 4] = [b' ', b'\t', b'\n', b'\r'];
        let bytes = text.as_bytes();
        let mut tag = Tag { end: 0, is_empty: false, id: None, href: None };
        let mut at = at + 1;
        while !matches!(bytes.get(at)?, b' ' | b'\t' | b'\n' | b'\r' | b'/' | b'>') {
            at += 1;
        }
        loop {
            while WHITE.contains(bytes.get(at)?) {
                at += 1;
            }
            match bytes.get(at)? {
                b'>' => {
                    tag.end = at + 1;
                    return Some(tag);
                }
                b'/' => {
                    tag.is_empty = true;
                    tag.end = at + 2;
                    return (bytes.get(at + 1) == Some(&b'>')).then_some(tag);
                }
                _ => {}
            }
            let name = at;
            while !matches!(bytes.get(at)?, b'=' | b' ' | b'\t' | b'\n' | b'\r') {
                at += 1;
            }
            let name = bytes.get(name..at)?;
            while WHITE.contains(bytes.get(at)?) {
                at += 1;
            }
            if bytes.get(at) != Some(&b'=') {
                return None;
            }
            at += 1;
            while WHITE.contains(bytes.get(at)?) {
                at += 1;
            }
            let quote = *bytes.get(at)?;
            if !matches!(quote, b'"' | b'\'') {
                return None;
            }
            at += 1;
            let value = at;
            at += memchr(quote, bytes.get(at..)?)?;
            let value = value..at;
            at += 1;
            let place = match name {
                b"id" => &mut tag.id,
                b"href" => &mut tag.href,
                // Its prefix may be that of SOAP 1.2.
                [.., b':', b'i', b'd'] | [.., b':', b'r', b'e', b'f'] => return None,
                _ => continue,
            };
            let value = text.get(value)?;
            if value.contains('&') {
                return None;
            }
            *place = Some(value.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What an index says, to be compared.
    fn shown(index: &Index) -> Vec<String> {
        let mut ids: Vec<_> = index.ids.iter().collect();
        ids.sort_by_key(|(id, _)| *id);
        let ids = ids.iter().map(|(id, found)| format!("{id} {} {:?} {:?}", found.element, found.again, found.to));
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
