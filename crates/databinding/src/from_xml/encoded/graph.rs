//! References (SOAP 1.1 §5.4.1, SOAP 1.2 Part 2 §3.1.5): which elements have an id, and how reading goes on there.
//!
//! The first reference of a message makes an index of all its elements with an id. To follow a reference is to go on with
//! another reader of the same document, which has read the start tags around the element that is meant, so that it is
//! read as it would be in its place. What is read so a second time and more is counted, since few bytes can refer to
//! many. What stands behind the call and was read by way of a reference is not read again when its turn comes.

mod index;

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use castile_xml::{Alike, Memory, Reader, Token};

use crate::datatypes::quoted;
use crate::error::{Error, ErrorKind};
use crate::from_xml::Decoder;
use crate::schema::Element;

use index::{Extent, Found, Index};

/// How many references may lead to each other before a value comes.
const MOST_STEPS: usize = 16;

/// What a decoder knows of the graph that a message is.
pub(in crate::from_xml) struct Graph<'a> {
    index: Option<Index<'a>>,
    /// The references that are being followed, outermost first.
    open: Vec<Step>,
    /// Readers that stand behind an element they were for, with the number of the element around that.
    spare: Vec<(u32, Box<Reader<'a>>)>,
    /// Buffers for other readers.
    memories: Vec<Memory>,
    /// The tag of an element that was read last of those for values of a fixed type.
    alike: Option<(Place, Alike)>,
    /// What values of shared types keep: by the offset of the element and the type.
    shared: HashMap<(usize, TypeId), Box<dyn Any + Send + Sync>>,
    /// Where the element begins whose start tag was read last, if it has an id.
    identified: Option<usize>,
    /// How many bytes may still be read by way of references, or made room for.
    room: usize,
}

/// A reference as it stands in the document.
#[derive(Debug)]
pub(super) struct Reference<'a> {
    pub(super) to: Cow<'a, str>,
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

/// What tags that are like each other have alike: how they look, the number of the element around them, and what refers
/// to them, as an address.
type Place = (u16, u32, usize);

/// How the start tag was read of an element that a reference leads to.
pub(super) enum Opened {
    /// It is like one that was looked at before, and has no attributes now.
    Alike,
    /// It was recognised.
    Known,
    Unknown,
}

/// What is left behind when a reference is followed.
pub(super) struct Outer<'a>(Box<Reader<'a>>);

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
        let reader = &mut self.reader;
        self.graph.get_or_insert_with(|| {
            Box::new(Graph {
                index: None,
                open: Vec::new(),
                spare: Vec::new(),
                memories: reader.other_memories(),
                alike: None,
                shared: HashMap::new(),
                identified: None,
                room: reader.input().len().saturating_add(reader.limits().encoding_expansion),
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
    pub(super) fn find(&mut self, reference: &Reference<'a>) -> Result<u32, Error> {
        if self.graph().index.is_none() {
            let index = Index::new(self.reader.input(), self.reader.limits())?;
            self.graph().index = Some(index);
        }
        let fail = |kind, message: String| Error::new(kind, reference.attribute, message);
        let Some(index) = self.graph.as_mut().and_then(|graph| graph.index.as_mut()) else {
            unreachable!("it was made above")
        };
        let mut to = Cow::Borrowed(&*reference.to);
        for _ in 0..MOST_STEPS {
            let id = index::trim(&to);
            let id = id.strip_prefix('#').unwrap_or(id);
            let found = match index.find(id) {
                Found::One(found) => found,
                Found::None => {
                    let message = format!("a reference to {}, where the id of an element was expected", quoted(&to));
                    return Err(fail(ErrorKind::MissingId, message));
                }
                Found::Several(elements) => {
                    let [first, again] = elements.map(|number| index.start_of(number));
                    let message =
                        format!("a reference to {}, the id of two elements (bytes {first} and {again})", quoted(&to));
                    return Err(Error::new(ErrorKind::DuplicateId, again as usize, message));
                }
            };
            match &found.to {
                None => return Ok(found.element),
                Some(next) => to = Cow::Owned(next.clone().into_owned()),
            }
        }
        Err(fail(ErrorKind::Structure, format!("a reference to {}, which leads to no value", quoted(&reference.to))))
    }

    /// Where an element begins.
    pub(super) fn start_of(&self, place: u32) -> usize {
        let extent = self.graph.as_ref().and_then(|graph| graph.extent(place));
        extent.map_or(0, |extent| extent.start as usize)
    }

    /// Goes on behind the start tag of an element that a reference to `element` leads to. Returns how that was read.
    pub(super) fn go_to(
        &mut self,
        place: u32,
        reference: &Reference<'a>,
        element: &'static Element,
    ) -> Result<(Outer<'a>, Opened), Error> {
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
            None => Box::new(self.reader_in(extent.parent, reference)?),
        };
        reader.go_to(extent.start as usize);
        reader.begin_layout();
        let alike = self.graph().alike.filter(|(place, _)| *place == place_of(extent, element));
        let opened = if alike.is_some_and(|(_, alike)| reader.open_alike(alike, extent.tag as usize)) {
            Opened::Alike
        } else if reader.known_tag(element.known()).is_some() {
            Opened::Known
        } else {
            next_start_tag(&mut reader)?;
            Opened::Unknown
        };
        std::mem::swap(&mut self.reader, &mut reader);
        Ok((Outer(reader), opened))
    }

    /// Notes that an element for `element`, whose start tag was read last, has its value in it and not in its attributes:
    /// others with tags like it are so, too.
    pub(super) fn note_alike(&mut self, place: u32, element: &'static Element) {
        let alike = self.reader.alike();
        let graph = self.graph();
        if let Some(extent) = graph.extent(place)
            && extent.like > 0
        {
            graph.alike = alike.map(|alike| (place_of(extent, element), alike));
        }
    }

    /// Goes on where a reference was, now that the element was read which it led to.
    pub(super) fn come_back(&mut self, outer: Outer<'a>) {
        let Outer(mut reader) = outer;
        std::mem::swap(&mut self.reader, &mut reader);
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

    /// Keeps the buffers of other readers in `memory`, for the next document.
    pub(in crate::from_xml) fn keep_memories(graph: Graph<'a>, memory: &mut Memory) {
        let spare = graph.spare.into_iter().map(|(_, reader)| reader.into_memory());
        spare.chain(graph.memories).for_each(|other| memory.keep_other(other));
    }

    /// A reader that has read the start tags of an element and all around it.
    fn reader_in(&mut self, place: u32, reference: &Reference<'a>) -> Result<Reader<'a>, Error> {
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
        let memory = self.graph().memories.pop().unwrap_or_default();
        let mut reader = self.reader.another(memory);
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
    pub(super) fn never_ends(&self, reference: &Reference<'a>) -> Error {
        let message = format!(
            "a reference to {}, an element that the reference is in: the type has no place for values inside themselves",
            quoted(&reference.to)
        );
        Error::new(ErrorKind::Structure, reference.attribute, message)
    }
}

fn place_of(extent: Extent, element: &'static Element) -> Place {
    (extent.like, extent.parent, std::ptr::from_ref(element).addr())
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
