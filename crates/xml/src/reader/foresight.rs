//! What comes next, as it came before.
//!
//! Behind a tag that is known, what came behind it the times before is looked for: a few comparisons in place of one for
//! each element that a content model allows there.

use crate::layout::{Known, Place};
use crate::namespaces::NamespaceId;
use crate::token::StartTag;

use super::Reader;

/// A tag that comes next and is known.
#[derive(Clone, Copy, Debug)]
pub enum Foreseen<'a> {
    /// The start tag without attributes, or empty-element tag, of the place of this identity, and the namespace of its
    /// name. It is not read.
    Start(usize, NamespaceId),
    /// A start tag with attributes of the place of this identity. It was read.
    Tag(StartTag<'a>, usize),
    /// The end tag of the element that is open. It is not read.
    End,
}

/// What was foreseen at one place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foresight {
    /// Where something was looked for. What comes there is the same whoever asks.
    at: usize,
    /// The tag that comes, if it is known, and the look of its local name: 0 is that of an end tag.
    next: Place,
    look: u32,
    /// The number of the tag, if it is an empty-element tag without attributes, 0 if it isn't, and where it ends.
    empty: u16,
    empty_end: usize,
    /// The tag behind which it wasn't foreseen what comes.
    behind: Place,
}

impl Foresight {
    pub(super) const NONE: Foresight =
        Foresight { at: usize::MAX, next: Place::NOWHERE, look: 0, empty: 0, empty_end: 0, behind: Place::NOWHERE };

    /// Foresees nothing any more. Behind which tag that was is still to be learned.
    #[inline]
    pub(super) fn forget(&mut self) {
        self.at = usize::MAX;
    }
}

impl<'a> Reader<'a> {
    /// The tag that comes next, if it is one that came before behind the tag that was read last. `None` says nothing.
    #[doc(hidden)]
    pub fn foresee(&mut self) -> Option<Foreseen<'a>> {
        if !self.layout_holds {
            return None;
        }
        if self.foresight.at != self.at
            && let Some((tag, identity)) = self.look_ahead()
        {
            return Some(Foreseen::Tag(tag, identity));
        }
        let slot = self.memory.layouts.slot_of(self.foresight.next)?;
        Some(if self.foresight.next.is_end() {
            Foreseen::End
        } else {
            Foreseen::Start(slot.identity(), slot.namespace)
        })
    }

    /// Looks for what came behind the last tag. A start tag that is not a plain one is read.
    fn look_ahead(&mut self) -> Option<(StartTag<'a>, usize)> {
        self.foresight = Foresight { at: self.at, ..Foresight::NONE };
        let bytes = self.input.as_bytes();
        for next in self.memory.layouts.successors(self.last_place).iter() {
            let Some(slot) = self.memory.layouts.slot_of(next) else { continue };
            if next.is_end() {
                let is_open = self.memory.open.last().is_some_and(|open| open.learned == slot.id);
                if is_open && slot.end.end_of_match(bytes, self.at).is_some() {
                    self.foresight.next = next;
                    return None;
                }
            } else if slot.start.end_of_match(bytes, self.at).is_some() {
                (self.foresight.next, self.foresight.look) = (next, slot.look);
                return None;
            } else if slot.may_be_empty
                && let Some((empty, empty_end)) = self.known_empty_of(slot)
            {
                self.foresight = Foresight { next, look: slot.look, empty, empty_end, ..self.foresight };
                return None;
            } else if slot.tags != 0 && self.memory.open.len() < self.memory.limits.depth {
                let (id, tags, identity) = (slot.id, slot.tags, slot.identity());
                if let Some(tag) = self.known_tag_of(next, id, tags) {
                    return Some((tag, identity));
                }
            }
        }
        self.foresight.behind = self.last_place;
        None
    }

    /// Whether another tag was [foreseen](Self::foresee) here than a start tag whose local name has this
    /// [look](crate::look). The end of an empty-element tag that is known is one.
    #[doc(hidden)]
    #[inline]
    pub fn foresees_another(&self, look: u32) -> bool {
        let Foresight { at, next, look: foreseen, .. } = self.foresight;
        at == self.at && foreseen != look && next != Place::NOWHERE && (self.layout_holds | self.end_is_due)
    }

    /// Foresees the end of the element whose start tag was read last, if that is an empty-element tag that is known. Whoever says
    /// this has used the tag: what comes next is asked for from here on.
    #[doc(hidden)]
    #[inline]
    pub fn foresee_end_of_empty(&mut self) {
        if self.end_is_due && self.last_place != Place::NOWHERE {
            self.foresight = Foresight { at: self.at, next: self.last_place.of_end(), ..Foresight::NONE };
        }
    }

    /// The number of the empty-element tag without attributes that was foreseen here for `known`, and where it ends; number 0 if
    /// another tag of it was foreseen. `None` says nothing.
    #[inline]
    pub(super) fn foreseen_empty(&self, known: Known) -> Option<(u16, usize)> {
        let Foresight { at, next, empty, empty_end, .. } = self.foresight;
        (at == self.at && next == Place::start(known.slot)).then_some((empty, empty_end))
    }

    /// Goes on as if the element that was read last had not been there, for which there is no place: what comes is foreseen
    /// behind the tag before it, if it wasn't foreseen what comes behind that.
    #[doc(hidden)]
    pub fn overlook(&mut self) {
        self.last_place = self.foresight.behind;
    }

    /// Keeps that a tag of `known` came where [`foresee`](Self::foresee) said nothing: its end tag or a start tag.
    #[doc(hidden)]
    pub fn learn_next(&mut self, known: Known, is_end: bool) {
        let behind = std::mem::replace(&mut self.foresight.behind, Place::NOWHERE);
        if behind != Place::NOWHERE && self.memory.layouts.slot(known).is_some() {
            let next = if is_end { Place::end(known.slot) } else { Place::start(known.slot) };
            self.memory.layouts.learn_successor(behind, next);
        }
    }
}
