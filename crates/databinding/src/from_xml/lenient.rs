//! Reading documents that deviate from their schema.
//!
//! A strict decoder reads the children of an element in document order and fails at the first one that the content model
//! doesn't allow. A lenient decoder looks at the names of all children first and makes a plan: unexpected children are
//! omitted, and misplaced ones are moved to where they belong. The calls of generated code then get the children in the order
//! of the plan, without any change to that code. A plan depends on names only. If all names are right it is the document
//! order, so a document that a strict decoder accepts gives the same value.
//!
//! To skip children the decoder must know where they end. So it reads the document once in advance, which also detects what
//! is not well-formed. Tags are neither cached nor read from the cache.

mod plan;
mod state;

use castile_xml::{StartTag, Token};

use super::{Decoder, Error, ErrorKind, Expected, Next};
use crate::schema::{Content, Element, First};

pub(crate) use state::Lenient;
use state::{Extent, PER_CHILD, Plan};

impl<'a> Decoder<'a> {
    /// Whether the element that was surveyed last, whose start tag was read last, has children.
    pub(super) fn has_children(&self) -> bool {
        let last = self.lenient.as_ref().and_then(|lenient| lenient.elements.last());
        last.is_some_and(|last| last.start as usize >= self.reader.offset())
    }

    /// Records the positions of all elements inside the open element.
    pub(super) fn survey(&mut self) -> Result<(), Error> {
        let Some(lenient) = &mut self.lenient else { return Ok(()) };
        lenient.plans.clear();
        lenient.elements.clear();
        let (here, outside) = (self.reader.offset(), self.reader.depth().saturating_sub(1));
        let mut reader = self.reader.fork(None);
        let mut open: Vec<usize> = Vec::new();
        loop {
            let offset = reader.offset();
            match reader.next()? {
                Token::StartTag(StartTag { offset, .. }) => {
                    // Memory for the child in its parent's plan, also while the plan is made, is charged here, too.
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
                    // Elements that end before this offset are in the header.
                    if open.len() == outside && reader.offset() >= here {
                        return Ok(());
                    }
                }
                Token::End => return Ok(()),
                _ => {}
            }
        }
    }

    /// Records that the children of the element whose start tag was read last will be read by a plan. The plan is made when
    /// the first child is needed, because the attributes of the start tag are needed until then.
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

    /// Reads the next tag by the plan for the open element, if there is one.
    #[cold]
    pub(super) fn planned(&mut self) -> Result<Option<Next<'a>>, Error> {
        let (depth, here) = (self.reader.depth(), self.reader.offset());
        let Some(lenient) = &mut self.lenient else { return Ok(None) };
        // The plans of nil elements were not used.
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
        self.content_part()?;
        Ok(self.next)
    }

    /// Returns the declared element for which the next child stands, if it has another name.
    #[cold]
    pub(super) fn declared_child(&self) -> Option<&'static Element> {
        let plan = self.lenient.as_ref()?.plans.last()?;
        if plan.depth + 1 == self.reader.depth() { plan.declared_child() } else { None }
    }

    // ---- deviations ----

    /// Records an error as a deviation, if that may be tolerated.
    ///
    /// # Errors
    /// Returns the error if the decoder is strict, or if the document is not well-formed or exceeds a limit.
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

    /// Records an error in a named type as a deviation, if that may be tolerated. In SOAP encoding nothing else is.
    ///
    /// # Errors
    /// Returns the error if the decoder is strict.
    #[cold]
    pub(crate) fn tolerate_type(&mut self, error: Error) -> Result<(), Error> {
        match &mut self.of_types {
            Some(lenient) => {
                lenient.deviations.add(error);
                Ok(())
            }
            None => self.tolerate(error),
        }
    }

    /// Skips the next element, whose start tag was read.
    pub(crate) fn pass_over(&mut self) -> Result<(), Error> {
        self.next = None;
        Ok(self.reader.skip_element()?)
    }

    /// Skips the next element, which isn't allowed in mixed content, as a deviation. Returns `false` if an end tag is next.
    #[cold]
    pub(super) fn skip_misplaced(&mut self, all: &'static [First]) -> Result<bool, Error> {
        let Some(Next::Start(tag)) = self.next else { return Ok(false) };
        let error = self.unexpected(tag, &Expected::first(all));
        self.tolerate(error)?;
        self.pass_over()?;
        Ok(true)
    }
}
