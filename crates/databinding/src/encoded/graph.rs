//! The graph of a message, as far as references were followed.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;

use castile_budget::Allowance;
use castile_xml::ids::{ElementIds, Extent, Stop, Target};
use castile_xml::{CachedReader, Memory, Reader, Template};

use crate::schema::Element;

/// The part of `Limits::encoding_expansion` that the shortest document may use: 256 KiB of 4 MiB.
const SHORT_PART: usize = 16;
/// How many more bytes a document may use, as a multiple of its length.
const TIMES_LENGTH: usize = 2;

/// Returns how many bytes may be added to a document.
///
/// Reading a byte through a reference takes about 17 ns, and 4 MiB take 70 ms. That is too long for a message of a few KB,
/// which is read on a thread that drives connections. So the shortest message may take 5 ms. Each byte of a longer one may
/// take 3 × 17 ns, including its own reading through a reference: about the 50 ns that `tests/hostile` allows. From 2 MB on
/// the whole limit applies.
pub(super) fn expansion(reader: &Reader<'_>) -> usize {
    let limit = reader.limits().encoding_expansion;
    let by_length = reader.length().saturating_mul(TIMES_LENGTH);
    limit.min((limit / SHORT_PART).saturating_add(by_length))
}

/// The graph of a message: its elements with an id, and the readers of targets.
pub(crate) struct Graph<'a> {
    pub(super) ids: Option<ElementIds<'a>>,
    /// The references that are being followed, outermost first.
    pub(super) open: Vec<Step>,
    /// Readers at the end of a target, with the number of the element around it. They are reused for siblings of the target.
    pub(super) spare: Vec<(u32, Box<CachedReader<'a>>)>,
    /// Buffers and caches for further readers.
    pub(super) memories: Vec<Memory>,
    /// For each shape of start tags, the last one that was read for a value of a fixed type, as a template, with its place.
    pub(super) templates: Vec<Option<(TemplateKey, Template<'a>)>>,
    /// The nodes of shared values, by the offset of the element and the type.
    pub(super) shared: HashMap<(usize, TypeId), Box<dyn Any + Send + Sync>>,
    /// The offset of the element whose start tag was read last, if it has an id.
    pub(super) identified: Option<usize>,
    /// The reference that was followed last: the offsets of its element and of its attribute, and its value.
    pub(super) last: Option<(usize, usize, &'a str)>,
    /// How many bytes may still be read through references, or be added by them or by missing items.
    pub(super) remaining_expansion: usize,
}

/// A reference that is being followed.
pub(super) struct Step {
    /// The offsets of the reference and of its attribute.
    pub(super) from: usize,
    pub(super) attribute: usize,
    pub(super) number: u32,
    /// How many bytes of the target were counted before it was read.
    pub(super) counted: usize,
}

/// The place in which tags of one shape are read in the same way: the number of the parent, and the address of the element
/// description.
pub(super) type TemplateKey = (u32, usize);

impl<'a> Graph<'a> {
    #[cold]
    pub(super) fn new(reader: &mut CachedReader<'a>) -> Box<Self> {
        Box::new(Graph {
            ids: None,
            open: Vec::new(),
            spare: Vec::new(),
            memories: reader.other_memories(),
            templates: Vec::new(),
            shared: HashMap::new(),
            identified: None,
            last: None,
            remaining_expansion: reader.length().saturating_add(expansion(reader)),
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

    pub(super) fn extent(&self, number: u32) -> Option<Extent<'a>> {
        self.ids.as_ref()?.extent(number)
    }

    /// Returns the template for a tag of the same shape in the same place.
    pub(super) fn template_for(&self, extent: Extent<'a>, element: &'static Element) -> Option<&Template<'a>> {
        let (number, alike) = self.templates.get(usize::from(extent.shape).checked_sub(1)?)?.as_ref()?;
        (*number == template_key(extent, element)).then_some(alike)
    }

    /// Returns the target of a reference.
    pub(super) fn target(&mut self, reference: &str, allowance: &mut Allowance) -> Result<Target<'a>, Stop> {
        loop {
            let Some(ids) = &mut self.ids else { unreachable!("it was made for the first reference") };
            if let Some(target) = ids.find(reference, allowance) {
                return Ok(target);
            }
            let elements = ids.complete(allowance)?;
            self.open.iter_mut().for_each(|step| step.number = elements.number(step.number));
            self.spare.iter_mut().for_each(|(parent, _)| *parent = elements.number(*parent));
            self.templates.iter_mut().flatten().for_each(|((parent, _), _)| *parent = elements.number(*parent));
        }
    }
}

pub(super) fn template_key(extent: Extent<'_>, element: &'static Element) -> TemplateKey {
    (extent.parent, std::ptr::from_ref(element).addr())
}

impl fmt::Debug for Graph<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("shared", &self.shared.len())
            .field("room", &self.remaining_expansion)
            .finish_non_exhaustive()
    }
}
