//! The state of a lenient decoder.

use crate::deviations::Deviations;
use crate::schema::{Content, Element};

/// The additional state of a lenient decoder.
#[derive(Debug)]
pub(crate) struct Lenient {
    pub(super) deviations: Deviations,
    /// The elements of the document, in document order.
    pub(super) elements: Vec<Extent>,
    /// A plan for each open element whose content model is known, the innermost last.
    pub(super) plans: Vec<Plan>,
}

/// The position of an element in the document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub(super) start: u32,
    /// The offset of its end tag.
    pub(super) end_tag: u32,
    pub(super) end: u32,
    /// The index of the first element after it.
    pub(super) next: u32,
}

impl Lenient {
    pub(in crate::from_xml) fn new(limit: usize) -> Self {
        Lenient { deviations: Deviations::new(limit), elements: Vec::new(), plans: Vec::new() }
    }

    pub(in crate::from_xml) fn take_deviations(&mut self) -> Deviations {
        self.deviations.take()
    }

    /// Returns the children of the element whose start tag ends at `offset`, and the offset of its end tag. `None` if it is
    /// an empty-element tag.
    pub(super) fn children(&self, offset: usize) -> Option<(Vec<Extent>, usize)> {
        // No element begins between a start tag and its end.
        let own = self.elements.partition_point(|extent| (extent.start as usize) < offset).checked_sub(1)?;
        let parent = self.elements.get(own).filter(|parent| parent.end as usize > offset)?;
        let mut children = Vec::new();
        let mut index = own + 1;
        while index < parent.next as usize
            && let Some(child) = self.elements.get(index)
        {
            children.push(*child);
            index = child.next as usize;
        }
        Some((children, parent.end_tag as usize))
    }
}

/// The plan for the children of an element.
#[derive(Debug)]
pub(super) struct Plan {
    /// The number of open elements around the children.
    pub(super) depth: usize,
    pub(super) element: &'static Element,
    pub(super) content: &'static Content,
    pub(super) is_made: bool,
    pub(super) children: Vec<Child>,
    /// How many of the children were read or begun.
    pub(super) read: usize,
    /// The offset of the element's end tag.
    pub(super) end_tag: usize,
}

/// A child that will be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Child {
    pub(super) start: usize,
    /// The declared element that it stands for, if it has another name.
    pub(super) declared: Option<&'static Element>,
}

/// The memory of a plan for each child while it is made, in bytes: the extent, the place, and the child before and after
/// sorting.
pub(super) const PER_CHILD: usize =
    size_of::<Extent>() + size_of::<(ParticlePosition, bool)>() + size_of::<(usize, Child)>() + size_of::<Child>();

/// The position of a child in a sequence: the index of its particle, and whether the name matches exactly.
pub(super) type ParticlePosition = Option<(usize, bool)>;

impl Plan {
    pub(super) fn new(depth: usize, element: &'static Element, content: &'static Content) -> Self {
        Plan { depth, element, content, is_made: false, children: Vec::new(), read: 0, end_tag: 0 }
    }

    /// Advances to the next tag and returns its offset.
    pub(super) fn advance(&mut self) -> usize {
        let next = self.children.get(self.read).map_or(self.end_tag, |child| child.start);
        self.read += 1;
        next
    }

    /// Returns the declared element for which the current child stands.
    pub(super) fn declared_child(&self) -> Option<&'static Element> {
        self.children.get(self.read.checked_sub(1)?)?.declared
    }
}
