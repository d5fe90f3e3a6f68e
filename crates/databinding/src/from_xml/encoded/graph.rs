//! References (SOAP 1.1 §5.4.1, SOAP 1.2 Part 2 §3.1.5): which elements have an id, and how reading goes on there.
//!
//! The first reference of a message makes an index of all its elements with an id. To follow a reference is to go on with
//! another reader of the same document, which has read the start tags around the element that is meant, so that it is
//! read as it would be in its place. What is read so a second time and more is counted, since few bytes can refer to
//! many. What stands behind the call and was read by way of a reference is not read again when its turn comes.

mod index;

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

use castile_xml::{Memory, Reader, Token};

use crate::datatypes::quoted;
use crate::error::{Error, ErrorKind};
use crate::from_xml::Decoder;

use index::{Extent, Index};

/// How many references may lead to each other before a value comes.
const MOST_STEPS: usize = 16;

/// What a decoder knows of the graph that a message is.
pub(in crate::from_xml) struct Graph<'a> {
    index: Option<Index>,
    /// The references that are being followed, outermost first.
    open: Vec<Step>,
    /// Readers that stand behind an element they were for, with the number of the element around that.
    spare: Vec<(u32, Reader<'a>)>,
    /// What values of shared types keep: by the offset of the element and the type.
    shared: HashMap<(usize, TypeId), Box<dyn Any + Send + Sync>>,
    /// Where the element begins whose start tag was read last, if it has an id.
    identified: Option<usize>,
    /// How many bytes may still be read by way of references, or made room for.
    room: usize,
}

/// A reference as it stands in the document.
#[derive(Debug)]
pub(super) struct Reference {
    pub(super) to: String,
    /// The offset of its element.
    pub(super) at: usize,
    pub(super) attribute: usize,
}

/// A reference that is being followed.
struct Step {
    /// The offset of the reference.
    from: usize,
    place: u32,
}

/// What is left behind when a reference is followed.
pub(super) struct Outer<'a>(Reader<'a>);

impl Graph<'_> {
    pub(super) fn identified(&self) -> Option<usize> {
        self.identified
    }

    pub(super) fn note_identity(&mut self, offset: Option<usize>) {
        self.identified = offset;
    }

    pub(super) fn shared(&self, offset: usize, type_id: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        self.shared.get(&(offset, type_id)).map(|node| &**node)
    }

    pub(super) fn share(&mut self, offset: usize, type_id: TypeId, node: Box<dyn Any + Send + Sync>) {
        self.shared.insert((offset, type_id), node);
    }

    fn extent(&self, place: u32) -> Option<Extent> {
        self.index.as_ref()?.elements.get(place as usize).copied()
    }
}

impl<'a> Decoder<'a> {
    pub(super) fn graph(&mut self) -> &mut Graph<'a> {
        let room = || self.reader.input().len().saturating_add(self.reader.limits().encoding_expansion);
        self.graph.get_or_insert_with(|| {
            Box::new(Graph {
                index: None,
                open: Vec::new(),
                spare: Vec::new(),
                shared: HashMap::new(),
                identified: None,
                room: room(),
            })
        })
    }

    /// Counts bytes that the document doesn't have itself.
    pub(super) fn take_room(&mut self, bytes: usize, offset: usize) -> Result<(), Error> {
        let limit = self.reader.limits().encoding_expansion;
        let graph = self.graph();
        match graph.room.checked_sub(bytes) {
            Some(room) => {
                graph.room = room;
                Ok(())
            }
            None => {
                let message = format!(
                    "references and arrays add more than {limit} bytes to the document, which is the limit on that"
                );
                Err(Error::new(ErrorKind::Xml(castile_xml::ErrorKind::Limit), offset, message))
            }
        }
    }

    /// The number of the element that a reference leads to.
    pub(super) fn find(&mut self, reference: &Reference) -> Result<u32, Error> {
        if self.graph().index.is_none() {
            let index = Index::new(self.reader.input(), self.reader.limits())?;
            self.graph().index = Some(index);
        }
        let fail = |kind, message: String| Error::new(kind, reference.attribute, message);
        let Some(index) = self.graph.as_ref().and_then(|graph| graph.index.as_ref()) else {
            unreachable!("it was made above")
        };
        let mut to = reference.to.as_str();
        for _ in 0..MOST_STEPS {
            let id = to.trim();
            let id = id.strip_prefix('#').unwrap_or(id);
            let Some(found) = index.ids.get(id) else {
                let message = format!("a reference to {}, where the id of an element was expected", quoted(to));
                return Err(fail(ErrorKind::MissingId, message));
            };
            if let Some(again) = found.again {
                let first = index.elements.get(found.element as usize).map_or(0, |extent| extent.start);
                let message =
                    format!("a reference to {}, the id of two elements (bytes {first} and {again})", quoted(to));
                return Err(Error::new(ErrorKind::DuplicateId, again as usize, message));
            }
            match &found.to {
                None => return Ok(found.element),
                Some(next) => to = next,
            }
        }
        Err(fail(ErrorKind::Structure, format!("a reference to {}, which leads to no value", quoted(&reference.to))))
    }

    /// Where an element begins.
    pub(super) fn start_of(&self, place: u32) -> usize {
        let extent = self.graph.as_ref().and_then(|graph| graph.extent(place));
        extent.map_or(0, |extent| extent.start as usize)
    }

    /// Goes on behind the start tag of an element that a reference leads to.
    pub(super) fn go_to(&mut self, place: u32, reference: &Reference) -> Result<Outer<'a>, Error> {
        let depth = self.reader.limits().depth;
        let graph = self.graph();
        let Some(extent) = graph.extent(place) else { unreachable!("references lead to elements of the index") };
        let is_around = |offset: usize| (extent.start as usize..extent.end as usize).contains(&offset);
        if is_around(reference.at) || graph.open.iter().any(|step| step.place == place || is_around(step.from)) {
            return Err(self.never_ends(reference));
        }
        if graph.open.len() >= depth {
            let message = format!("references follow each other {depth} deep, which is the limit");
            return Err(Error::new(ErrorKind::Xml(castile_xml::ErrorKind::Limit), reference.attribute, message));
        }
        graph.open.push(Step { from: reference.at, place });
        let spare = graph.spare.iter().rposition(|(parent, _)| *parent == extent.parent);
        let spare = spare.map(|index| graph.spare.swap_remove(index).1);
        self.take_room((extent.end - extent.start) as usize, reference.attribute)?;
        let mut reader = match spare {
            Some(reader) => reader,
            None => self.reader_in(extent.parent, reference)?,
        };
        reader.go_to(extent.start as usize);
        next_start_tag(&mut reader)?;
        reader.begin_layout();
        Ok(Outer(std::mem::replace(&mut self.reader, reader)))
    }

    /// Goes on where a reference was, now that the element was read which it led to.
    pub(super) fn come_back(&mut self, outer: Outer<'a>) {
        let reader = std::mem::replace(&mut self.reader, outer.0);
        let graph = self.graph();
        if let Some(step) = graph.open.pop()
            && let Some(index) = &mut graph.index
            && let Some(extent) = index.elements.get_mut(step.place as usize)
        {
            extent.is_read = true;
            extent.end = reader.offset() as u32;
            graph.spare.push((extent.parent, reader));
        }
    }

    /// Passes over the elements that come next as far as references have led to them: all of them was read then, in the
    /// same scope of namespaces. The element around them was opened last.
    pub fn pass_over_followed(&mut self) {
        let Some(index) = self.graph.as_ref().and_then(|graph| graph.index.as_ref()) else { return };
        let text = self.reader.input();
        let mut at = self.reader.offset();
        loop {
            let next = text.len() - text[at..].trim_start_matches([' ', '\t', '\n', '\r']).len();
            match index.starting_at(next) {
                Some(extent) if extent.is_read => at = extent.end as usize,
                _ => break,
            }
        }
        self.reader.go_to(at);
    }

    /// A reader that has read the start tags of an element and all around it.
    fn reader_in(&mut self, place: u32, reference: &Reference) -> Result<Reader<'a>, Error> {
        let mut path = Vec::new();
        let mut tags = 0;
        let graph = self.graph();
        let mut next = place;
        while let Some(extent) = graph.extent(next) {
            path.push(extent.start as usize);
            tags += extent.tag as usize;
            if extent.parent == next {
                break;
            }
            next = extent.parent;
        }
        self.take_room(tags, reference.attribute)?;
        let mut reader = Reader::decoded(self.reader.input(), self.reader.limits(), &mut Memory::default())?;
        // What stands before the root element is read, not gone over.
        next_start_tag(&mut reader)?;
        for &offset in path.iter().rev().skip(1) {
            reader.go_to(offset);
            next_start_tag(&mut reader)?;
        }
        Ok(reader)
    }

    /// That a value would have itself inside, where its type has no place for that.
    #[cold]
    pub(super) fn never_ends(&self, reference: &Reference) -> Error {
        let message = format!(
            "a reference to {}, an element that the reference is in: the type has no place for values inside themselves",
            quoted(&reference.to)
        );
        Error::new(ErrorKind::Structure, reference.attribute, message)
    }
}

/// Reads a start tag, where one is known to come.
fn next_start_tag(reader: &mut Reader<'_>) -> Result<(), Error> {
    loop {
        match reader.next()? {
            Token::StartTag(_) => return Ok(()),
            Token::End => {
                return Err(Error::new(ErrorKind::Structure, reader.offset(), "the document ends too early"));
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph").field("shared", &self.shared.len()).field("room", &self.room).finish_non_exhaustive()
    }
}
