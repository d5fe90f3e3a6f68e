//! References (SOAP 1.1 §5.4.1, SOAP 1.2 Part 2 §3.1.5): which elements have an id, and how reading goes on there.
//!
//! The first reference of a message begins an index of its elements with an id. To follow a reference is to go on with
//! another reader of the same document, which has read the start tags around the element that is meant, so that it is
//! read as it would be in its place. What is read so a second time and more is counted, since few bytes can refer to
//! many. What stands behind the call and was read by way of a reference is not read again when its turn comes.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use castile_budget::Allowance;
use castile_xml::ids::{ElementIds, Extent, RepeatedReference, Stop, Target};
use castile_xml::{CachedReader, Memory, Reader, StartTag, Template, Token};

use crate::datatypes::quoted;
use crate::error::{Error, ErrorKind};
use crate::from_xml::Decoder;
use crate::schema::Element;

/// How many references may lead to each other before a value comes.
const MOST_STEPS: usize = 16;
/// How many readers wait where they are, and how many buffers for others: values mostly stand beside each other.
const MOST_SPARE: usize = 8;

/// The part of `Limits::encoding_expansion` that the shortest document may take: 256 KiB of 4 MiB.
const SHORT_PART: usize = 16;
/// How many times its own length a document may take beside that.
const TIMES_LENGTH: usize = 2;

/// How many bytes may be added to a document.
///
/// To read a byte by way of a reference takes some 17 ns: 4 MiB take 70 ms, which is too much for a message of a few KB, read
/// where connections are driven. So the shortest one takes 5 ms, and each byte of a longer one 3 × 17 ns, its own reading by way
/// of a reference included: about the 50 ns that `tests/hostile` allows. From 2 MB on the whole limit counts.
fn expansion(reader: &Reader<'_>) -> usize {
    let limit = reader.limits().encoding_expansion;
    let by_length = reader.length().saturating_mul(TIMES_LENGTH);
    limit.min((limit / SHORT_PART).saturating_add(by_length))
}

/// What a decoder knows of the graph that a message is.
pub(in crate::from_xml) struct Graph<'a> {
    ids: Option<ElementIds<'a>>,
    /// The references that are being followed, outermost first.
    open: Vec<Step>,
    /// Readers that stand behind an element they were for, with the number of the element around that.
    spare: Vec<(u32, Box<CachedReader<'a>>)>,
    /// Buffers for other readers.
    memories: Vec<Memory>,
    /// For each shape of start tags how the one was read that came last, of those for values of a fixed type, and where.
    alike: Vec<Option<(Place, Template<'a>)>>,
    /// What values of shared types keep: by the offset of the element and the type.
    shared: HashMap<(usize, TypeId), Box<dyn Any + Send + Sync>>,
    /// Where the element begins whose start tag was read last, if it has an id.
    identified: Option<usize>,
    /// The reference that was followed last to its end: where its element and its attribute begin, and what it says.
    last: Option<(usize, usize, &'a str)>,
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
    /// The offset of the reference, and of its attribute.
    from: usize,
    attribute: usize,
    place: u32,
    /// How many bytes of the element were counted before it was read.
    counted: usize,
}

/// Where tags of one shape are alike: under one element, whose number this is, and for one description, by its address.
type Place = (u32, usize);

/// How the start tag was read of an element that a reference leads to.
pub(super) enum Opened<'a> {
    /// It is like one that was looked at before, and has no attributes now.
    Alike,
    /// It was recognised.
    Known,
    Unknown(StartTag<'a>),
}

/// What is left behind when a reference is followed.
pub(super) struct Outer<'a>(Box<CachedReader<'a>>);

impl<'a> Graph<'a> {
    #[cold]
    fn new(reader: &mut CachedReader<'a>) -> Box<Self> {
        Box::new(Graph {
            ids: None,
            open: Vec::new(),
            spare: Vec::new(),
            memories: reader.other_memories(),
            alike: Vec::new(),
            shared: HashMap::new(),
            identified: None,
            last: None,
            room: reader.length().saturating_add(expansion(reader)),
        })
    }

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

    fn extent(&self, place: u32) -> Option<Extent<'a>> {
        self.ids.as_ref()?.extent(place)
    }

    /// How a tag of the same shape was read in the same place.
    fn alike_at(&self, extent: Extent<'a>, element: &'static Element) -> Option<&Template<'a>> {
        let (place, alike) = self.alike.get(usize::from(extent.shape).checked_sub(1)?)?.as_ref()?;
        (*place == place_of(extent, element)).then_some(alike)
    }

    /// Returns what a reference leads to.
    fn target(&mut self, reference: &str, allowance: &mut Allowance) -> Result<Target<'a>, Stop> {
        loop {
            let Some(ids) = &mut self.ids else { unreachable!("it was made for the first reference") };
            if let Some(target) = ids.find(reference, allowance) {
                return Ok(target);
            }
            let elements = ids.complete(allowance)?;
            self.open.iter_mut().for_each(|step| step.place = elements.number(step.place));
            self.spare.iter_mut().for_each(|(parent, _)| *parent = elements.number(*parent));
            self.alike.iter_mut().flatten().for_each(|((parent, _), _)| *parent = elements.number(*parent));
        }
    }
}

impl<'a> Decoder<'a> {
    #[inline]
    pub(super) fn graph(&mut self) -> &mut Graph<'a> {
        let reader = &mut self.reader;
        self.graph.get_or_insert_with(|| Graph::new(reader))
    }

    /// Counts bytes that the document doesn't have itself, and charges them.
    pub(super) fn take_room(&mut self, bytes: usize, offset: usize) -> Result<(), Error> {
        self.count_room(bytes, offset)?;
        // Behind the limit: a size that a message says may be more than any budget has.
        self.charge(bytes)
    }

    /// Counts bytes that the document doesn't have itself.
    pub(super) fn count_room(&mut self, bytes: usize, offset: usize) -> Result<(), Error> {
        let graph = self.graph();
        match graph.room.checked_sub(bytes) {
            Some(room) => {
                graph.room = room;
                Ok(())
            }
            None => {
                let limit = expansion(&self.reader);
                let message = format!(
                    "references and arrays add more than {limit} bytes to the document, which is the limit on that"
                );
                Err(Error::new(ErrorKind::Xml(castile_xml::ErrorKind::Limit), offset, message))
            }
        }
    }

    /// Makes the index.
    #[cold]
    fn begin_index(&mut self) -> Result<(), Error> {
        match ElementIds::new(&self.reader, &mut self.allowance) {
            Ok(ids) => {
                self.graph().ids = Some(ids);
                Ok(())
            }
            Err(stop) => Err(self.without_index(stop)),
        }
    }

    #[cold]
    fn without_index(&self, stop: Stop) -> Error {
        match stop {
            Stop::Xml(error) => error.into(),
            Stop::Exhausted(exhausted) => self.exhausted(exhausted),
        }
    }

    /// The number of the element that a reference leads to.
    pub(super) fn find(&mut self, reference: &Reference<'a>) -> Result<u32, Error> {
        if self.graph().ids.is_none() {
            self.begin_index()?;
        }
        let fail = |kind, message: String| Error::new(kind, reference.attribute, message);
        let mut to = Cow::Borrowed(&*reference.to);
        for _ in 0..MOST_STEPS {
            let Some(graph) = &mut self.graph else { unreachable!("it has the index") };
            let target = match graph.target(&to, &mut self.allowance) {
                Ok(target) => target,
                Err(stop) => return Err(self.without_index(stop)),
            };
            match target {
                Target::Element(number) => return Ok(number),
                Target::Reference(next) => {
                    self.take_room(next.len(), reference.attribute)?;
                    to = next;
                }
                Target::None => {
                    let message = format!("a reference to {}, where the id of an element was expected", quoted(&to));
                    return Err(fail(ErrorKind::MissingId, message));
                }
                Target::Several([first, again]) => {
                    let message =
                        format!("a reference to {}, the id of two elements (bytes {first} and {again})", quoted(&to));
                    return Err(Error::new(ErrorKind::DuplicateId, again as usize, message));
                }
            }
        }
        Err(fail(ErrorKind::Structure, format!("a reference to {}, which leads to no value", quoted(&reference.to))))
    }

    /// Where an element begins.
    pub(super) fn start_of(&self, place: u32) -> usize {
        let extent = self.graph.as_ref().and_then(|graph| graph.extent(place));
        extent.map_or(0, |extent| extent.start as usize)
    }

    /// Goes on behind the start tag of an element that a reference to `element` leads to. Returns how that was read. Where the
    /// type is a fixed one, its attributes don't matter.
    pub(super) fn go_to(
        &mut self,
        place: u32,
        reference: &Reference<'a>,
        element: &'static Element,
        type_is_fixed: bool,
    ) -> Result<(Outer<'a>, Opened<'a>), Error> {
        let depth = self.reader.limits().depth;
        let Some(graph) = &mut self.graph else { unreachable!("it has found the element") };
        let Some(extent) = graph.extent(place) else { unreachable!("references lead to elements of the index") };
        let is_around = |offset: usize| (extent.start as usize..extent.end as usize).contains(&offset);
        if is_around(reference.at) || graph.open.iter().any(|step| step.place == place || is_around(step.from)) {
            return Err(self.never_ends(reference));
        }
        if graph.open.len() >= depth {
            let message = format!("references follow each other {depth} deep, which is the limit");
            return Err(Error::new(ErrorKind::Xml(castile_xml::ErrorKind::Limit), reference.attribute, message));
        }
        let counted = (extent.end - extent.start) as usize;
        graph.open.push(Step { from: reference.at, attribute: reference.attribute, place, counted });
        let spare = graph.spare.iter().rposition(|(parent, _)| *parent == extent.parent);
        let spare = spare.map(|index| graph.spare.swap_remove(index).1);
        self.take_room(counted, reference.attribute)?;
        let mut reader = match spare {
            Some(reader) => reader,
            None => Box::new(self.reader_in(extent.parent, reference)?),
        };
        reader.seek(extent.start as usize);
        reader.use_cached_tags();
        let alike = self.graph().alike_at(extent, element).filter(|_| type_is_fixed);
        let (tag, known) = (extent.tag as usize, element.slot_id());
        let opened = if alike.is_some_and(|alike| reader.open_like(alike, known, tag, extent.prefix)) {
            Opened::Alike
        } else if reader.cached_tag(known).is_some() {
            Opened::Known
        } else {
            Opened::Unknown(next_start_tag(&mut reader)?)
        };
        std::mem::swap(&mut self.reader, &mut reader);
        Ok((Outer(reader), opened))
    }

    /// Notes that an element for `element`, whose start tag was read last, has its value in it and not in its attributes:
    /// others with tags like it are so, too.
    pub(super) fn note_alike(&mut self, place: u32, element: &'static Element) {
        let Some(graph) = &mut self.graph else { return };
        let Some(extent) = graph.extent(place) else { return };
        let Some(slot) = usize::from(extent.shape).checked_sub(1) else { return };
        if graph.alike.len() <= slot {
            graph.alike.resize_with(slot + 1, || None);
        }
        graph.alike[slot] = self.reader.template(extent.prefix).map(|alike| (place_of(extent, element), alike));
    }

    /// Goes on where a reference was, now that the element was read which it led to.
    ///
    /// # Errors
    /// That it was longer than may be.
    pub(super) fn come_back(&mut self, outer: Outer<'a>) -> Result<(), Error> {
        let Outer(mut reader) = outer;
        std::mem::swap(&mut self.reader, &mut reader);
        let graph = self.graph();
        let Some(step) = graph.open.pop() else { return Ok(()) };
        let extent = graph.ids.as_mut().and_then(|ids| ids.note_read(step.place, reader.offset()));
        let Some(extent) = extent else { return Ok(()) };
        let length = (extent.end - extent.start) as usize;
        let parent = extent.parent;
        if graph.spare.len() >= MOST_SPARE {
            let (_, first) = graph.spare.remove(0);
            if graph.memories.len() < MOST_SPARE {
                graph.memories.push(first.into_memory());
            }
        }
        graph.spare.push((parent, reader));
        self.take_room(length.saturating_sub(step.counted), step.attribute)
    }

    /// Notes that a reference was followed to its end.
    pub(super) fn note_reference(&mut self, reference: &Reference<'a>) {
        if let (Some(graph), Cow::Borrowed(to)) = (&mut self.graph, &reference.to) {
            graph.last = Some((reference.at, reference.attribute, to));
        }
    }

    /// Returns what is between `begin` and the reader as a template, if it is an element that is a reference and nothing else.
    pub(super) fn referred_from(&self, begin: usize) -> Option<RepeatedReference<'a>> {
        let (element, attribute, to) = self.graph.as_ref()?.last.filter(|(element, ..)| *element >= begin)?;
        self.reader.repeated_reference(begin, (element, attribute), to)
    }

    /// Reads the element that follows, if it is like the template.
    pub(super) fn refers_again(&mut self, template: &RepeatedReference<'a>) -> Option<Reference<'a>> {
        let found = self.reader.next_reference(template)?;
        self.nil = false;
        Some(Reference { to: Cow::Borrowed(found.to), at: found.element, attribute: found.attribute })
    }

    /// Passes over the elements that come next as far as references have led to them: all of them was read then, in the
    /// same scope of namespaces. The element around them was opened last.
    pub fn pass_over_followed(&mut self) {
        let Some(ids) = self.graph.as_ref().and_then(|graph| graph.ids.as_ref()) else { return };
        let at = ids.end_of_read(self.reader.offset());
        self.reader.seek(at);
    }

    /// Keeps the buffers of other readers in `memory`, for the next document.
    pub(in crate::from_xml) fn keep_memories(graph: Graph<'a>, memory: &mut Memory) {
        let spare = graph.spare.into_iter().map(|(_, reader)| reader.into_memory());
        spare.chain(graph.memories).for_each(|other| memory.keep_other(other));
    }

    /// A reader that has read the start tags of an element and all around it.
    fn reader_in(&mut self, place: u32, reference: &Reference<'a>) -> Result<CachedReader<'a>, Error> {
        let mut path = Vec::new();
        let graph = self.graph();
        let mut next = place;
        while let Some(extent) = graph.extent(next) {
            path.push(extent.start as usize);
            if extent.parent == next {
                break;
            }
            next = extent.parent;
        }
        let memory = self.graph().memories.pop().unwrap_or_default();
        let mut reader = self.reader.fork(memory);
        for (number, &offset) in path.iter().rev().enumerate() {
            // What stands before the root element is read, not gone over.
            if number > 0 {
                reader.seek(offset);
            }
            let begin = reader.offset();
            next_start_tag(&mut reader)?;
            self.take_room(reader.offset() - begin, reference.attribute)?;
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

fn place_of(extent: Extent<'_>, element: &'static Element) -> Place {
    (extent.parent, std::ptr::from_ref(element).addr())
}

/// Reads a start tag, where one is known to come.
fn next_start_tag<'a>(reader: &mut Reader<'a>) -> Result<StartTag<'a>, Error> {
    loop {
        match reader.next()? {
            Token::StartTag(tag) => return Ok(tag),
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
