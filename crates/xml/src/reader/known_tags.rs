//! Start tags with attributes, and empty-element tags, that were read before: recognised by what stands around the values
//! of their attributes.

use crate::QName;
use crate::layout::{Known, Pattern, Place, Placement, Slot, Tag, TagAttribute};
use crate::namespaces::NamespaceId;
use crate::scan;
use crate::token::StartTag;

use super::elsewhere::holds_outside;
use super::{Buffers, Open, Prefix, RawAttribute, Reader, Source, Span, end_of_white_space};

impl<'a> Reader<'a> {
    /// Reads the start tag of the element at `known`, if it is as one with attributes that was learned, or as an
    /// empty-element tag that was, but for the values of attributes, and nests no deeper than the limit. Then all is as if
    /// it had been the next token.
    #[doc(hidden)]
    #[inline]
    pub fn known_tag(&mut self, known: Known) -> Option<StartTag<'a>> {
        if !self.layout_holds || self.memory.open.len() >= self.memory.limits.depth {
            return None;
        }
        let slot = self.memory.layouts.slot(known)?;
        if slot.tags == 0 { None } else { self.known_tag_of(Place::start(known.slot), slot.id, slot.tags) }
    }

    /// Reads a whole element that stands at `known`, if it is the empty-element tag without attributes that was learned, and
    /// `value` makes something of nothing. Otherwise nothing is read.
    #[doc(hidden)]
    pub fn known_empty<T>(&mut self, known: Known, value: impl FnOnce() -> Option<T>) -> Option<T> {
        if !self.layout_holds || self.memory.open.len() >= self.memory.limits.depth {
            return None;
        }
        let slot = self.memory.layouts.slot(known)?;
        let end = match self.foreseen_empty(known) {
            Some((0, _)) => return None,
            Some((_, end)) => end,
            None => self.known_empty_of(slot)?.1,
        };
        if end - self.at > self.memory.limits.markup_length {
            return None;
        }
        let value = value()?;
        self.at = end;
        (self.previous_tag_end, self.tag_end) = (end, end);
        self.last_place = Place::end(known.slot);
        Some(value)
    }

    /// Reads the start tag of the element at `known`, if it was [foreseen](Self::foresee) as an empty-element tag without
    /// attributes.
    #[doc(hidden)]
    #[inline]
    pub fn known_empty_start(&mut self, known: Known) -> bool {
        match self.foreseen_empty(known) {
            None | Some((0, _)) => false,
            Some((number, end)) => self.empty_start(known, number, end),
        }
    }

    /// Reads the start tag with this number, which ends at `end`.
    fn empty_start(&mut self, known: Known, number: u16, end: usize) -> bool {
        let Buffers { layouts, open, namespaces, attributes, limits, .. } = &mut *self.memory;
        let is_usual = self.layout_holds && open.len() < limits.depth && end - self.at <= limits.markup_length;
        if is_usual
            && let Some(slot) = layouts.slot(known)
            && let Some((tag, _)) = layouts.tag(slot.id, number)
        {
            open.push(Open {
                name: (self.at + usize::from(tag.name_at)) as u32,
                name_length: tag.name_length.into(),
                local: tag.local.into(),
                namespaces: namespaces.len() as u32,
                learned: slot.id,
            });
            attributes.clear();
            self.at = end;
            (self.end_is_due, self.layout_holds) = (true, false);
            self.note_tag();
            self.last_place = Place::start(known.slot);
            self.foresee_end_of_empty();
            return true;
        }
        false
    }

    /// The number of the empty-element tag without attributes that was learned for a slot, if it comes next, and where it ends.
    pub(super) fn known_empty_of(&self, slot: &Slot) -> Option<(u16, usize)> {
        let mut number = slot.tags;
        loop {
            let (tag, next) = self.memory.layouts.tag(slot.id, number)?;
            if tag.is_empty
                && tag.attributes.is_empty()
                && let Some(end) = tag.first.end_of_match(self.input.as_bytes(), self.at)
            {
                return Some((number, end));
            }
            number = next;
        }
    }

    /// The start tag that comes next, if it is one of those of the slot `id`, from this number on.
    pub(super) fn known_tag_of(&mut self, place: Place, id: u64, mut number: u16) -> Option<StartTag<'a>> {
        let bytes = self.input.as_bytes();
        let Buffers { layouts, spare, limits, .. } = &mut *self.memory;
        let (tag, end) = loop {
            let (tag, next) = layouts.tag(id, number)?;
            if let Some(end) = end_of_tag(tag, bytes, self.at, spare) {
                break (tag, end);
            }
            number = next;
        };
        let name = self.at + usize::from(tag.name_at);
        // What is longer than the limit goes another way, which says so.
        if spare.len() > limits.attributes || end - name >= limits.markup_length {
            return None;
        }
        let (name_length, local) = (usize::from(tag.name_length), usize::from(tag.local));
        let (is_empty, namespace) = (tag.is_empty, tag.namespace);
        std::mem::swap(&mut self.memory.attributes, &mut self.memory.spare);
        self.memory.values.clear();
        if self.memory.attributes.iter().any(|raw| raw.value.source == Source::Values) {
            self.normalise_values()?;
        }
        self.memory.open.push(Open {
            name: name as u32,
            name_length: name_length as u32,
            local: local as u32,
            namespaces: self.memory.namespaces.len() as u32,
            learned: id,
        });
        self.at = end;
        self.end_is_due = is_empty;
        self.layout_holds = !is_empty;
        self.note_tag();
        self.last_place = place;
        self.last_tag = (end, id, number);
        let offset = name - '<'.len_utf8();
        Some(StartTag { name: QName::new(&self.input[name..name + name_length], local), namespace, offset })
    }

    /// What was kept by [`keep_placement`](Self::keep_placement) of the start tag that was recognised last, if it ends here, for
    /// the table of this address.
    #[doc(hidden)]
    #[inline]
    pub fn placement(&self, table: usize) -> Option<&Placement> {
        let (end, id, number) = self.last_tag;
        if end != self.at {
            return None;
        }
        self.memory.layouts.tag(id, number)?.0.placement(table)
    }

    /// Keeps which of its attributes are where in a table, if the start tag that was read last was recognised.
    #[doc(hidden)]
    pub fn keep_placement(&mut self, placement: Placement) {
        let (end, id, number) = self.last_tag;
        if end == self.at
            && let Some(tag) = self.memory.layouts.tag_mut(id, number)
        {
            tag.keep_placement(placement);
        }
    }

    /// Normalises the values of attributes that are not as they stand in the document. `None` if one is wrong: then the
    /// tokeniser will find that too.
    #[cold]
    fn normalise_values(&mut self) -> Option<()> {
        for index in 0..self.memory.attributes.len() {
            let raw = self.memory.attributes[index];
            if raw.value.source == Source::Values {
                let start = raw.value.start as usize;
                let quote = self.input.as_bytes()[start - 1];
                let (value, _) = self.unusual_value("", start, quote).ok()?;
                self.memory.attributes[index].value = value;
            }
        }
        Some(())
    }

    /// Keeps the start tag with attributes, or the empty-element tag, that was just read and has nothing but white space
    /// before it.
    pub(super) fn learn_tag(&mut self, known: Known) {
        let Some(&open) = self.memory.open.last() else { return };
        let is_declaring = self.memory.attributes.iter().any(|raw| raw.prefix == Prefix::Declares);
        let tag = &self.input.as_bytes()[self.previous_tag_end..self.tag_end];
        if is_declaring
            || self.layout_scope != Some(self.memory.namespaces.len())
            || !holds_outside(&self.memory.namespaces, self.layout_outside, tag)
        {
            return;
        }
        if let Some(tag) = self.tag_to_learn(open) {
            let id = self.memory.layouts.learn_tag(known, tag);
            if let Some(open) = self.memory.open.last_mut() {
                open.learned = id;
            }
            self.last_place = if id == 0 { Place::NOWHERE } else { Place::start(known.slot) };
        }
    }

    /// The tag that was just read, in pieces. `None` if one is too long to be kept.
    fn tag_to_learn(&mut self, open: Open) -> Option<Tag> {
        let bytes = self.input.as_bytes();
        let (start, end) = (self.previous_tag_end, self.tag_end);
        let name_at = open.name as usize;
        if end_of_white_space(bytes, start) + 1 != name_at {
            return None;
        }
        // Where pieces begin and end: what is between them are values.
        let mut begin = start;
        let mut first = None;
        let mut attributes: Vec<TagAttribute> = Vec::with_capacity(self.memory.attributes.len());
        for raw in &self.memory.attributes {
            let name = raw.name as usize;
            let value = self.value_at(raw)?;
            let quote = bytes[value - 1];
            let piece = Pattern::new(&bytes[begin..value])?;
            match attributes.last_mut() {
                None => first = Some(piece),
                Some(before) => before.after = piece,
            }
            attributes.push(TagAttribute {
                before: (value - name).try_into().ok()?,
                name_length: raw.name_length.try_into().ok()?,
                local: raw.local.try_into().ok()?,
                quote,
                look: raw.look,
                namespace: (raw.prefix == Prefix::Qualifies).then_some(raw.namespace),
                after: Pattern::default(),
            });
            begin = value + bytes[value..end].iter().position(|&byte| byte == quote)?;
        }
        let piece = Pattern::new(&bytes[begin..end])?;
        let first = match attributes.last_mut() {
            None => piece,
            Some(last) => {
                last.after = piece;
                first?
            }
        };
        let place = ((name_at - start) as u8, open.name_length.try_into().ok()?, open.local.try_into().ok()?);
        let name = QName::new(&self.input[name_at..name_at + open.name_length as usize], open.local as usize);
        let namespace = self.resolved(name, name_at).ok()?;
        Some(Tag::new(place, self.end_is_due, namespace, first, attributes.into()))
    }

    /// Where the value of an attribute begins in the document.
    fn value_at(&self, raw: &RawAttribute) -> Option<usize> {
        let bytes = self.input.as_bytes();
        let equals = end_of_white_space(bytes, (raw.name + raw.name_length) as usize);
        let quote = end_of_white_space(bytes, equals + 1);
        matches!(bytes.get(quote), Some(b'"' | b'\'')).then_some(quote + 1)
    }
}

/// Where a tag ends that stands at `at`, if it is like `tag`; `attributes` are then its attributes. Values that must be
/// normalised are marked as such.
#[inline]
fn end_of_tag(tag: &Tag, bytes: &[u8], at: usize, attributes: &mut Vec<RawAttribute>) -> Option<usize> {
    attributes.clear();
    let mut at = tag.first.end_of_match(bytes, at)?;
    for attribute in &tag.attributes {
        let mut end = scan::end_of_attribute_piece(bytes, at, attribute.quote);
        let mut source = Source::Input;
        if bytes.get(end) != Some(&attribute.quote) {
            end += bytes.get(end..)?.iter().position(|&byte| byte == attribute.quote)?;
            source = Source::Values;
        }
        attributes.push(RawAttribute {
            name: (at - usize::from(attribute.before)) as u32,
            name_length: attribute.name_length.into(),
            local: attribute.local.into(),
            look: attribute.look,
            prefix: if attribute.namespace.is_some() { Prefix::Qualifies } else { Prefix::None },
            namespace: attribute.namespace.unwrap_or(NamespaceId::NONE),
            value: Span { start: at as u32, end: end as u32, source },
        });
        at = attribute.after.end_of_match(bytes, end)?;
    }
    Some(at)
}
