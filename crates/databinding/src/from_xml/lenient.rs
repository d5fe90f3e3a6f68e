//! Reading documents that deviate from their schema.
//!
//! A strict decoder takes the children of an element as they come, and the first one that the content model hasn't ends
//! it. A lenient one looks at the names of all children before it reads the first, and makes a plan: those that nobody
//! expects are left out, those out of order are put where they belong. Then the calls of generated code get the children
//! in the order of the plan, and need not know. A plan is made of names alone, and where they are right it is the order
//! of the document; so what a strict decoder takes, a lenient one reads as the same value.
//!
//! To pass over children it must know where they end, so it reads the document once before, which also finds what is
//! not well-formed. No tag is recognised from before, or learned.

mod plan;

use castile_xml::{Memory, StartTag, Token};

use super::{Decoder, Error, ErrorKind, Expected, Next};
use crate::Deviations;
use crate::schema::{Content, Element, First};

use plan::{PER_CHILD, Plan};

/// What a lenient decoder knows beside what is being read.
#[derive(Debug)]
pub(super) struct Lenient {
    deviations: Deviations,
    /// The elements of the document, in the order of their start tags.
    elements: Vec<Extent>,
    /// A plan for each open element whose content is known, the innermost last.
    plans: Vec<Plan>,
}

/// Where an element lies in the document.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: u32,
    /// Where its end tag begins.
    end_tag: u32,
    end: u32,
    /// The number of the first element behind it.
    next: u32,
}

impl Lenient {
    pub(super) fn new(limit: usize) -> Self {
        Lenient { deviations: Deviations::new(limit), elements: Vec::new(), plans: Vec::new() }
    }

    pub(super) fn take_deviations(&mut self) -> Deviations {
        self.deviations.take()
    }

    /// The children of the element whose start tag ends at `offset`, and where its end tag begins. `None` if it has no
    /// content.
    fn children(&self, offset: usize) -> Option<(Vec<Extent>, usize)> {
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

impl<'a> Decoder<'a> {
    /// Whether the element that was surveyed last, whose start tag was read last, has children.
    pub(super) fn has_children(&self) -> bool {
        let last = self.lenient.as_ref().and_then(|lenient| lenient.elements.last());
        last.is_some_and(|last| last.start as usize >= self.reader.offset())
    }

    /// Finds where the elements in the one lie that is open.
    pub(super) fn survey(&mut self) -> Result<(), Error> {
        let Some(lenient) = &mut self.lenient else { return Ok(()) };
        lenient.plans.clear();
        lenient.elements.clear();
        let (here, outside) = (self.reader.offset(), self.reader.depth().saturating_sub(1));
        let mut reader = self.reader.fork(Memory::default());
        let mut open: Vec<usize> = Vec::new();
        loop {
            let offset = reader.offset();
            match reader.next()? {
                Token::StartTag(StartTag { offset, .. }) => {
                    // A child takes room once more in the plan for its parent, and while that is made.
                    if let Err(exhausted) = self.allowance.charge(size_of::<Extent>() + PER_CHILD) {
                        return Err(self.exhausted(exhausted));
                    }
                    open.push(lenient.elements.len());
                    lenient.elements.push(Extent { start: offset as u32, end_tag: 0, end: 0, next: 0 });
                }
                Token::EndTag(_) => {
                    let next = lenient.elements.len() as u32;
                    if let Some(extent) = open.pop().and_then(|index| lenient.elements.get_mut(index)) {
                        (extent.end_tag, extent.end, extent.next) = (offset as u32, reader.offset() as u32, next);
                    }
                    // What ends before is a header.
                    if open.len() == outside && reader.offset() >= here {
                        return Ok(());
                    }
                }
                Token::End => return Ok(()),
                _ => {}
            }
        }
    }

    /// Notes that the children of the element whose start tag was read last are to be read by a plan. It is made when
    /// the first is asked for: until then the attributes are needed.
    #[cold]
    pub(super) fn plan(&mut self, element: &'static Element, content: &'static Content) {
        let depth = self.reader.depth();
        let Some(lenient) = &mut self.lenient else { return };
        while lenient.plans.last().is_some_and(|plan| plan.depth >= depth) {
            lenient.plans.pop();
        }
        if !matches!(content, Content::Open) {
            lenient.plans.push(Plan::new(depth, element, content));
        }
    }

    /// Reads the tag that comes next by the plan for the element that is open, if there is one.
    #[cold]
    pub(super) fn planned(&mut self) -> Result<Option<Next<'a>>, Error> {
        let (depth, here) = (self.reader.depth(), self.reader.offset());
        let Some(lenient) = &mut self.lenient else { return Ok(None) };
        // Elements that were nil had no use for theirs.
        while lenient.plans.last().is_some_and(|plan| plan.depth > depth) {
            lenient.plans.pop();
        }
        let Some(mut plan) = lenient.plans.pop_if(|plan| plan.depth == depth) else { return Ok(None) };
        if !plan.is_made {
            let Some((children, end_tag)) = lenient.children(here) else { return Ok(None) };
            self.make(&mut plan, &children, end_tag)?;
        }
        self.reader.seek(plan.advance());
        if let Some(lenient) = &mut self.lenient {
            lenient.plans.push(plan);
        }
        self.piece()?;
        Ok(self.next)
    }

    /// The declared element that the child which comes next is taken for, though it is called otherwise.
    #[cold]
    pub(super) fn stands_for(&self) -> Option<&'static Element> {
        let plan = self.lenient.as_ref()?.plans.last()?;
        if plan.depth + 1 == self.reader.depth() { plan.stands_for() } else { None }
    }

    // ---- what is tolerated ----

    /// Records what is wrong if that may be tolerated.
    ///
    /// # Errors
    /// What is wrong, for a strict decoder; and what is not well-formed for any.
    #[cold]
    pub(super) fn tolerate(&mut self, error: Error) -> Result<(), Error> {
        match &mut self.lenient {
            Some(lenient) if !matches!(error.kind(), ErrorKind::Xml(_)) => {
                lenient.deviations.add(error);
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// Records what is wrong with a type that is named, if that may be tolerated: in SOAP encoding nothing else is.
    ///
    /// # Errors
    /// As for [`tolerate`](Self::tolerate).
    #[cold]
    pub(super) fn tolerate_type(&mut self, error: Error) -> Result<(), Error> {
        match &mut self.of_types {
            Some(lenient) => {
                lenient.deviations.add(error);
                Ok(())
            }
            None => self.tolerate(error),
        }
    }

    /// Passes over the element that comes next, whose start tag was read.
    pub(super) fn pass_over(&mut self) -> Result<(), Error> {
        self.next = None;
        Ok(self.reader.skip_element()?)
    }

    /// Whether an element comes next in mixed content that this has no place for: then it is passed over.
    #[cold]
    pub(super) fn is_without_place(&mut self, all: &'static [First]) -> Result<bool, Error> {
        let Some(Next::Start(tag)) = self.next else { return Ok(false) };
        let error = self.unexpected(tag, &Expected::first(all));
        self.tolerate(error)?;
        self.pass_over()?;
        Ok(true)
    }
}
