//! Which tag follows, by what followed before.
//!
//! In a content model with many optional elements, one prediction replaces a comparison for each of them.

use crate::namespaces::NamespaceId;
use crate::token::StartTag;

use super::CachedReader;
use super::slot_id::SlotId;
use super::successors::TagId;

/// A cached tag that follows.
#[derive(Clone, Copy, Debug)]
pub enum Predicted<'a> {
    /// A start tag without attributes, or an empty-element tag, of the declaration with this address, and the namespace of its
    /// name. It is not consumed.
    Start(usize, NamespaceId),
    /// A start tag with attributes, of the declaration with this address. It was consumed.
    Tag(StartTag<'a>, usize),
    /// The end tag of the element that is open. It is not consumed.
    End,
}

/// What was predicted at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prediction {
    /// The [moment](CachedReader::moment) at which it was made. It is the same for every caller.
    moment: u64,
    /// The same moment if a tag is predicted, [`NEVER`] otherwise: one comparison for each optional element that is absent.
    tag_at: u64,
    /// The tag that follows, if it is cached.
    next: TagId,
    /// The hash of its local name, 0 for an end tag.
    hash: u32,
    /// The number of the tag, if it is an empty-element tag without attributes, otherwise 0.
    empty: u16,
    /// Where that tag ends.
    empty_end: usize,
    /// The tag for which no successor was found.
    after: TagId,
}

impl Prediction {
    pub(super) const NONE: Prediction = Prediction {
        moment: NEVER,
        tag_at: NEVER,
        next: TagId::NONE,
        hash: 0,
        empty: 0,
        empty_end: 0,
        after: TagId::NONE,
    };

    /// A tag that is predicted at a moment.
    fn of(moment: u64, next: TagId, hash: u32) -> Self {
        Prediction { moment, tag_at: moment, next, hash, ..Prediction::NONE }
    }
}

/// No moment has this number.
const NEVER: u64 = u64::MAX;

impl<'a> CachedReader<'a> {
    /// Returns the tag that follows, if it followed the last tag before. `None` means that nothing is predicted.
    pub fn predict(&mut self) -> Option<Predicted<'a>> {
        if !self.tags_are_valid() {
            return None;
        }
        let moment = self.moment();
        if self.prediction.moment != moment {
            return self.find_successor(moment);
        }
        let next = self.prediction.next;
        let slot = self.cache.tags.slot_of(next)?;
        Some(if next.is_end() { Predicted::End } else { Predicted::Start(slot.owner(), slot.namespace) })
    }

    /// Returns a number for the offset and whether an end is due. The end of an empty-element tag has no bytes, so that the reader is at
    /// one offset twice.
    #[inline]
    fn moment(&self) -> u64 {
        (self.reader.position() as u64) << 1 | u64::from(self.reader.end_is_due())
    }

    /// Finds the successor of the last tag that follows. A start tag with attributes is consumed.
    fn find_successor(&mut self, moment: u64) -> Option<Predicted<'a>> {
        let last = self.last_tag();
        let (bytes, at) = (self.reader.bytes(), self.reader.position());
        for next in self.cache.tags.successors(last).iter() {
            let Some(slot) = self.cache.tags.slot_of(next) else { continue };
            if next.is_end() {
                let is_open = self.reader.innermost().is_some_and(|open| open.tag_id() == slot.id);
                if is_open && slot.end.end_of_match(bytes, at).is_some() {
                    self.prediction = Prediction::of(moment, next, 0);
                    return Some(Predicted::End);
                }
            } else if slot.start.end_of_match(bytes, at).is_some() {
                let predicted = Predicted::Start(slot.owner(), slot.namespace);
                self.prediction = Prediction::of(moment, next, slot.hash);
                return Some(predicted);
            } else if slot.may_be_empty
                && let Some((empty, empty_end)) = self.cached_empty_of(slot)
            {
                let predicted = Predicted::Start(slot.owner(), slot.namespace);
                self.prediction = Prediction { empty, empty_end, ..Prediction::of(moment, next, slot.hash) };
                return Some(predicted);
            } else if slot.attribute_tags != 0 && self.reader.depth() < self.reader.max_depth() {
                let (id, number, owner) = (slot.id, slot.attribute_tags, slot.owner());
                if let Some(tag) = self.cached_tag_of(next, id, number) {
                    self.prediction.after = TagId::NONE;
                    return Some(Predicted::Tag(tag, owner));
                }
            }
        }
        self.prediction = Prediction { moment, after: last, ..Prediction::NONE };
        None
    }

    /// Whether a tag is [predicted](Self::predict) here that is not a start tag whose local name has this
    /// [hash](crate::name_hash).
    #[inline]
    pub fn predicts_other(&self, hash: u32) -> bool {
        let Prediction { tag_at, hash: predicted, .. } = self.prediction;
        predicted != hash && tag_at == self.moment()
    }

    /// Predicts the end of the element whose start tag was read last, if that is a cached empty-element tag. Call this only once
    /// the tag has been used: the next prediction is about what follows it.
    #[inline]
    pub fn predict_end_of_empty(&mut self) {
        let last = self.last_tag();
        if self.reader.end_is_due() && last != TagId::NONE {
            self.prediction = Prediction::of(self.moment(), last.of_end(), 0);
        }
    }

    /// Returns the number of the empty-element tag without attributes that is predicted here for `slot`, and where it ends. The
    /// number is 0 if another tag of the slot is predicted. `None` means that nothing is predicted.
    #[inline]
    pub(super) fn predicted_empty(&self, slot: SlotId) -> Option<(u16, usize)> {
        let Prediction { moment, next, empty, empty_end, .. } = self.prediction;
        (next == TagId::start(slot) && moment == self.moment()).then_some((empty, empty_end))
    }

    /// Continues as if the element that was read last had not been there. A wildcard took it, so it has no slot. What follows is
    /// predicted by the tag before it.
    pub fn skip_prediction(&mut self) {
        self.consumed(self.prediction.after);
    }

    /// Caches that a tag of `slot`, its end tag or a start tag, follows the tag for which [`predict`](Self::predict) found no
    /// successor.
    pub fn cache_successor(&mut self, slot: SlotId, is_end: bool) {
        let after = std::mem::replace(&mut self.prediction.after, TagId::NONE);
        if after != TagId::NONE && self.cache.used.predictions && self.cache.tags.slot(slot).is_some() {
            let next = if is_end { TagId::end(slot) } else { TagId::start(slot) };
            self.cache.tags.cache_successor(after, next);
        }
    }
}
