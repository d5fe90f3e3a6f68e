//! References (SOAP 1.1 §5.4.1, SOAP 1.2 Part 2 §3.1.5): the elements with an id, and reading the target of a reference.
//!
//! The first reference of a message starts an index of its elements with an id. A reference is followed with another reader
//! of the same document. That reader has read the start tags around the target, so the target is read as it would be in its
//! place. Bytes that are read again through references are counted, since few bytes can refer to many. Trailing elements
//! after the call that were already read through references are skipped.

use std::borrow::Cow;

use castile_datatypes::quoted;
use castile_xml::ids::{ElementIds, RepeatedReference, Stop, Target};
use castile_xml::{CachedReader, Memory, Reader, StartTag, Token};

use crate::encoded::graph::{Graph, Step, expansion, template_key};
use crate::error::{Error, ErrorKind};
use crate::from_xml::Decoder;
use crate::schema::Element;

/// The maximum number of references that lead to each other before a value.
const MAX_STEPS: usize = 16;
/// How many spare readers are kept for siblings, and how many buffers for other readers. Targets are usually siblings.
const MAX_SPARE: usize = 8;

/// A reference in the document.
#[derive(Debug)]
pub(super) struct Reference<'a> {
    pub(super) to: Cow<'a, str>,
    /// The offset of its element.
    pub(super) at: usize,
    pub(super) attribute: usize,
}

/// How the start tag of a target was read.
pub(super) enum Opened<'a> {
    /// By a template, as a tag without attributes.
    Template,
    /// From the cache.
    Cached,
    Uncached(StartTag<'a>),
}

/// The reader that was left to follow a reference.
pub(super) struct Outer<'a>(Box<CachedReader<'a>>);

impl<'a> Decoder<'a> {
    #[inline]
    pub(super) fn graph(&mut self) -> &mut Graph<'a> {
        let reader = &mut self.reader;
        self.graph.get_or_insert_with(|| Graph::new(reader))
    }

    /// Counts bytes that are added to the document, and charges them.
    pub(super) fn charge_expansion(&mut self, bytes: usize, offset: usize) -> Result<(), Error> {
        self.count_expansion(bytes, offset)?;
        // The limit is checked first: a size in a message may exceed any budget, and that is not a shortage of memory.
        self.charge(bytes)
    }

    /// Counts bytes that are added to the document.
    pub(super) fn count_expansion(&mut self, bytes: usize, offset: usize) -> Result<(), Error> {
        let graph = self.graph();
        match graph.remaining_expansion.checked_sub(bytes) {
            Some(room) => {
                graph.remaining_expansion = room;
                Ok(())
            }
            None => {
                let limit = expansion(&self.reader);
                let message =
                    format!("references and arrays add more than {limit} bytes to the document, which is the limit");
                Err(Error::new(ErrorKind::Xml(castile_xml::ErrorKind::Limit), offset, message))
            }
        }
    }

    /// Starts the index of elements with an id.
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

    /// Returns the number of the element that a reference leads to.
    pub(super) fn find(&mut self, reference: &Reference<'a>) -> Result<u32, Error> {
        if self.graph().ids.is_none() {
            self.begin_index()?;
        }
        let fail = |kind, message: String| Error::new(kind, reference.attribute, message);
        let mut to = Cow::Borrowed(&*reference.to);
        let mut passed = Vec::new();
        for _ in 0..MAX_STEPS {
            let Some(graph) = &mut self.graph else { unreachable!("it has the index") };
            let target = match graph.target(&to, &mut self.allowance) {
                Ok(target) => target,
                Err(stop) => return Err(self.without_index(stop)),
            };
            match target {
                Target::Element(number) => {
                    self.check_confined(number, &to, reference)?;
                    return Ok(number);
                }
                Target::Reference(number, next) => {
                    self.check_confined(number, &to, reference)?;
                    self.charge_expansion(next.len(), reference.attribute)?;
                    passed.push(std::mem::replace(&mut to, next));
                    if passed.contains(&to) {
                        let message =
                            format!("a reference to {}, which leads to a circle of references", quoted(&reference.to));
                        return Err(fail(ErrorKind::Structure, message));
                    }
                }
                Target::None => {
                    let message = format!("a reference to {}, where the id of an element was expected", quoted(&to));
                    return Err(fail(ErrorKind::MissingId, message));
                }
                Target::Several([first, again]) => {
                    let message = format!(
                        "a reference to {}, which is the id of two elements (bytes {first} and {again})",
                        quoted(&to)
                    );
                    return Err(Error::new(ErrorKind::DuplicateId, again as usize, message));
                }
            }
        }
        let message = format!(
            "a reference to {}, which leads to {MAX_STEPS} further references, which is the limit",
            quoted(&reference.to)
        );
        Err(fail(ErrorKind::Structure, message))
    }

    fn check_confined(&self, number: u32, to: &str, reference: &Reference<'a>) -> Result<(), Error> {
        let start = self.start_of(number);
        if start >= self.references_from {
            return Ok(());
        }
        let message = format!(
            "a reference to {}, an element (byte {start}) before the part of the message that is read",
            quoted(to)
        );
        Err(Error::new(ErrorKind::Structure, reference.attribute, message))
    }

    /// Returns the offset of an element.
    pub(super) fn start_of(&self, number: u32) -> usize {
        let extent = self.graph.as_ref().and_then(|graph| graph.extent(number));
        extent.map_or(0, |extent| extent.start as usize)
    }

    /// Continues after the start tag of a reference's target, which is read as `element`. Returns how the start tag was read.
    /// If the type is fixed, its attributes don't matter.
    pub(super) fn enter_target(
        &mut self,
        number: u32,
        reference: &Reference<'a>,
        element: &'static Element,
        type_is_fixed: bool,
    ) -> Result<(Outer<'a>, Opened<'a>), Error> {
        let depth = self.reader.limits().depth;
        let Some(graph) = &mut self.graph else { unreachable!("it has found the element") };
        let Some(extent) = graph.extent(number) else { unreachable!("references lead to elements of the index") };
        let is_around = |offset: usize| (extent.start as usize..extent.end as usize).contains(&offset);
        if is_around(reference.at) || graph.open.iter().any(|step| step.number == number || is_around(step.from)) {
            return Err(self.circular_reference(reference));
        }
        if graph.open.len() >= depth {
            let message = format!("references are nested {depth} deep, which is the limit");
            return Err(Error::new(ErrorKind::Xml(castile_xml::ErrorKind::Limit), reference.attribute, message));
        }
        let counted = (extent.end - extent.start) as usize;
        graph.open.push(Step { from: reference.at, attribute: reference.attribute, number, counted });
        let spare = graph.spare.iter().rposition(|(parent, _)| *parent == extent.parent);
        let spare = spare.map(|index| graph.spare.swap_remove(index).1);
        self.charge_expansion(counted, reference.attribute)?;
        let mut reader = match spare {
            Some(reader) => reader,
            None => Box::new(self.reader_in(extent.parent, reference)?),
        };
        reader.seek(extent.start as usize);
        reader.use_cached_tags();
        let alike = self.graph().template_for(extent, element).filter(|_| type_is_fixed);
        let (tag, known) = (extent.tag as usize, element.slot_id());
        let opened = if alike.is_some_and(|alike| reader.open_like(alike, known, tag, extent.prefix)) {
            Opened::Template
        } else if reader.cached_tag(known).is_some() {
            Opened::Cached
        } else {
            Opened::Uncached(next_start_tag(&mut reader)?)
        };
        std::mem::swap(&mut self.reader, &mut reader);
        Ok((Outer(reader), opened))
    }

    /// Stores the start tag that was read last as a template: the value for `element` is in its content, and not in its
    /// attributes. The same holds for tags like it.
    pub(super) fn store_template(&mut self, number: u32, element: &'static Element) {
        let Some(graph) = &mut self.graph else { return };
        let Some(extent) = graph.extent(number) else { return };
        let Some(slot) = usize::from(extent.shape).checked_sub(1) else { return };
        if graph.templates.len() <= slot {
            graph.templates.resize_with(slot + 1, || None);
        }
        graph.templates[slot] = self.reader.template(extent.prefix).map(|alike| (template_key(extent, element), alike));
    }

    /// Continues after a reference, whose target was read.
    ///
    /// # Errors
    /// The target exceeds the limit on added bytes.
    pub(super) fn leave_target(&mut self, outer: Outer<'a>) -> Result<(), Error> {
        let Outer(mut reader) = outer;
        std::mem::swap(&mut self.reader, &mut reader);
        let graph = self.graph();
        let Some(step) = graph.open.pop() else { return Ok(()) };
        let extent = graph.ids.as_mut().and_then(|ids| ids.note_read(step.number, reader.offset()));
        let Some(extent) = extent else { return Ok(()) };
        let length = (extent.end - extent.start) as usize;
        let parent = extent.parent;
        if graph.spare.len() >= MAX_SPARE {
            let (_, first) = graph.spare.remove(0);
            if graph.memories.len() < MAX_SPARE {
                graph.memories.push(first.into_memory());
            }
        }
        graph.spare.push((parent, reader));
        self.charge_expansion(length.saturating_sub(step.counted), step.attribute)
    }

    /// Records that a reference was followed to its end.
    pub(super) fn note_reference(&mut self, reference: &Reference<'a>) {
        if let (Some(graph), Cow::Borrowed(to)) = (&mut self.graph, &reference.to) {
            graph.last = Some((reference.at, reference.attribute, to));
        }
    }

    /// Returns what is between `begin` and the reader as a template, if it is an element that is only a reference.
    pub(super) fn referred_from(&self, begin: usize) -> Option<RepeatedReference<'a>> {
        let (element, attribute, to) = self.graph.as_ref()?.last.filter(|(element, ..)| *element >= begin)?;
        self.reader.repeated_reference(begin, (element, attribute), to)
    }

    /// Reads the next element, if it is like the template.
    pub(super) fn refers_again(&mut self, template: &RepeatedReference<'a>) -> Option<Reference<'a>> {
        let found = self.reader.next_reference(template)?;
        self.nil = false;
        Some(Reference { to: Cow::Borrowed(found.to), at: found.element, attribute: found.attribute })
    }

    /// Skips the next elements if references have led to them. They were read completely, in the same namespace scope. The
    /// element around them was opened last.
    pub fn skip_followed(&mut self) {
        let Some(ids) = self.graph.as_ref().and_then(|graph| graph.ids.as_ref()) else { return };
        let at = ids.end_of_read(self.reader.offset());
        self.reader.seek(at);
    }

    /// Stores the buffers and caches of other readers in `memory`, for the next document.
    pub(crate) fn store_memories(graph: Graph<'a>, memory: &mut Memory) {
        let spare = graph.spare.into_iter().map(|(_, reader)| reader.into_memory());
        spare.chain(graph.memories).for_each(|other| memory.add_other_memory(other));
    }

    /// Creates a reader that has read the start tags of an element and of all elements around it.
    fn reader_in(&mut self, number: u32, reference: &Reference<'a>) -> Result<CachedReader<'a>, Error> {
        let mut path = Vec::new();
        let graph = self.graph();
        let mut next = number;
        while let Some(extent) = graph.extent(next) {
            path.push(extent.start as usize);
            if extent.parent == next {
                break;
            }
            next = extent.parent;
        }
        let memory = self.graph().memories.pop();
        let mut reader = self.reader.fork(memory);
        for (number, &offset) in path.iter().rev().enumerate() {
            // What precedes the root element must be read, not skipped.
            if number > 0 {
                reader.seek(offset);
            }
            let begin = reader.offset();
            next_start_tag(&mut reader)?;
            self.charge_expansion(reader.offset() - begin, reference.attribute)?;
        }
        Ok(reader)
    }

    /// Returns the error for a value that contains itself, in a type that doesn't allow that.
    #[cold]
    pub(super) fn circular_reference(&self, reference: &Reference<'a>) -> Error {
        let message = format!(
            "a reference to {}, an element that contains the reference: the type doesn't allow values that contain \
             themselves",
            quoted(&reference.to)
        );
        Error::new(ErrorKind::Structure, reference.attribute, message)
    }
}

/// Reads the next start tag.
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
