//! What was read before: beginnings and ends of documents, and tags.
//!
//! Everything here is a shorter way to the state that tokenising the same bytes leads to.

use crate::QName;
use crate::layout::{self, Known, Place};
use crate::namespaces::NamespaceId;
use crate::token::StartTag;
use crate::{escape, scan};

use super::elsewhere::holds_outside;
use super::foresight::Foresight;
use super::{Buffers, Open, Reader, Stage, end_of_white_space};

impl<'a> Reader<'a> {
    // ---- beginnings and ends ----

    /// Reads the beginning of the document at once, if it is one that [`remember`](Self::remember) kept. Returns the
    /// start tag that it ends with, and the namespace of the root element.
    #[doc(hidden)]
    pub fn resume(&mut self) -> Option<(StartTag<'a>, NamespaceId)> {
        if self.stage != Stage::Start || self.document.is_some() {
            return None;
        }
        let Buffers { preambles, open, namespaces, limits, .. } = &mut *self.memory;
        let preamble = preambles.find(self.input.as_bytes(), *limits, self.is_decoded)?;
        let last = preamble.open.last()?;
        let name = &self.input[last.name as usize..(last.name + last.name_length) as usize];
        let tag = StartTag {
            name: QName::new(name, last.local as usize),
            namespace: preamble.last,
            offset: last.name as usize - 1,
        };
        open.clone_from(&preamble.open);
        namespaces.copy_from(&preamble.namespaces);
        self.at = preamble.length();
        self.tag_end = self.at;
        self.previous_tag_end = preamble.previous_tag_end;
        self.end_is_due = preamble.is_empty;
        self.stage = Stage::Content;
        self.begins_as_known = true;
        Some((tag, preamble.root))
    }

    /// Keeps the beginning of the document up to `tag`, which was read last, for [`resume`](Self::resume). `root` is the
    /// namespace of the root element. Does nothing if the tag has attributes other than declarations.
    #[doc(hidden)]
    pub fn remember(&mut self, tag: StartTag<'a>, root: NamespaceId) {
        if self.document.is_some() || self.tag_end != self.at || self.attributes().next().is_some() {
            return;
        }
        let Buffers { preambles, open, namespaces, limits, .. } = &mut *self.memory;
        if let Some(preamble) = preambles.keep(&self.input.as_bytes()[..self.at], *limits, self.is_decoded) {
            preamble.open.clone_from(open);
            preamble.namespaces.copy_from(namespaces);
            preamble.is_empty = self.end_is_due;
            preamble.root = root;
            preamble.last = tag.namespace;
            preamble.previous_tag_end = self.previous_tag_end;
            self.begins_as_known = true;
        }
    }

    /// Reads the rest of the document at once, if the element that its known beginning ends with was closed last, and
    /// the document ends as one did that [`remember_rest`](Self::remember_rest) was told of.
    #[doc(hidden)]
    pub fn resume_rest(&mut self) -> bool {
        if !self.begins_as_known || self.end_is_due {
            return false;
        }
        let Buffers { preambles, open, namespaces, .. } = &mut *self.memory;
        let rest = &self.input.as_bytes()[self.at..];
        let known = preambles.first().is_some_and(|preamble| preamble.is_rest(open, rest));
        if known {
            open.clear();
            namespaces.clear();
            self.stage = Stage::Epilog;
            self.at = self.input.len();
        }
        known
    }

    /// Reads the rest of the document by `read` and keeps it for [`resume_rest`](Self::resume_rest), if it ends there
    /// and the element that its known beginning ends with was closed last.
    ///
    /// # Errors
    /// What `read` says.
    #[doc(hidden)]
    pub fn remember_rest<E>(&mut self, read: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        let offset = self.at;
        let Buffers { preambles, open, .. } = &mut *self.memory;
        let is_left = preambles.first().is_some_and(|preamble| preamble.is_left(open));
        let whole = self.begins_as_known && !self.end_is_due;
        read(self)?;
        if whole
            && is_left
            && self.stage == Stage::Epilog
            && self.at == self.input.len()
            && let Some(preamble) = self.memory.preambles.first()
        {
            preamble.keep_rest(&self.input.as_bytes()[offset..]);
        }
        Ok(())
    }

    // ---- tags ----

    /// From here on tags may be learned and recognised, as far as no declaration is added to those in scope now.
    #[doc(hidden)]
    pub fn begin_layout(&mut self) {
        (self.layout_scope, self.layout_holds) = (None, false);
        // What was foreseen was so in another layout.
        (self.foresight, self.last_place) = (Foresight::NONE, Place::NOWHERE);
        // Asked once for all texts: one that is recognised is not measured.
        let may_be_too_long = self.input.len() > self.memory.limits.text_length;
        // Nor are names measured: those in learned tags are shorter than this.
        let names_are_short = self.memory.limits.name_length >= layout::LONGEST;
        if may_be_too_long || !names_are_short || self.document.is_some() {
            return;
        }
        if !self.memory.layouts.select(self.memory.namespaces.text()) {
            return;
        }
        self.layout_outside = self.memory.namespaces.len();
        self.layout_scope = Some(self.layout_outside);
        self.layout_holds = !self.end_is_due;
    }

    /// Keeps the start tag that was just read as one that stands at `known`, if nothing but white space stood before it
    /// and it has no declarations.
    #[doc(hidden)]
    pub fn learn_start(&mut self, known: Known) {
        if self.end_is_due || !self.memory.attributes.is_empty() {
            return self.learn_tag(known);
        }
        self.learn_start_as_plain(known);
    }

    /// Learns a start tag that may have attributes and declares nothing, where they say nothing that the place of the tag
    /// doesn't: when it is recognised it is taken for one without any.
    #[doc(hidden)]
    pub fn learn_start_as_plain(&mut self, known: Known) {
        if !self.layout_holds {
            return;
        }
        let Some(open) = self.memory.open.last_mut() else { return };
        if let Some(slot) = self.memory.layouts.slot(known)
            && slot.start.end_of_match(self.input.as_bytes(), self.previous_tag_end) == Some(self.tag_end)
        {
            open.learned = slot.id;
            self.last_place = Place::start(known.slot);
            return;
        }
        let bytes = &self.input.as_bytes()[self.previous_tag_end..self.tag_end];
        let name_at = open.name as usize - self.previous_tag_end;
        if end_of_white_space(bytes, 0) + 1 == name_at
            && holds_outside(&self.memory.namespaces, self.layout_outside, bytes)
        {
            let (length, local) = (open.name_length as usize, open.local as usize);
            let name = QName::new(&self.input[open.name as usize..][..length], local);
            let Some(namespace) = self.memory.namespaces.resolve(name.prefix()) else { return };
            open.learned = self.memory.layouts.learn_start(known, bytes, (name_at, length, local), namespace);
            self.last_place = if open.learned == 0 { Place::NOWHERE } else { Place::start(known.slot) };
        }
    }

    /// Reads the end of the element that was opened last, if its start tag is an empty-element tag and was read last.
    #[doc(hidden)]
    #[inline]
    pub fn end_of_empty(&mut self) -> bool {
        let is_here = self.end_is_due && !self.is_watched;
        if is_here {
            self.end_is_due = false;
            self.close();
        }
        is_here
    }

    /// Keeps the end tag that was just read as the one that closes the element at `known`. With `text`, character
    /// data stands before it and is not part of it.
    #[doc(hidden)]
    pub fn learn_end(&mut self, known: Known, text: bool) {
        if !self.layout_holds || self.closed == 0 {
            return;
        }
        let Some(slot) = self.memory.layouts.slot(known) else { return };
        if slot.id != self.closed {
            return;
        }
        self.last_place = Place::end(known.slot);
        // That of an empty-element tag has no bytes.
        if self.previous_tag_end == self.tag_end {
            return;
        }
        if slot.end.begins_before(self.tag_end).is_some_and(|at| {
            (at == self.previous_tag_end || (text && at > self.previous_tag_end))
                && slot.end.end_of_match(self.input.as_bytes(), at).is_some()
        }) {
            return;
        }
        let bytes = &self.input.as_bytes()[self.previous_tag_end..self.tag_end];
        let Some(tag) = bytes.iter().rposition(|&byte| byte == b'<') else { return };
        if text {
            self.memory.layouts.learn_end(known, self.closed, &bytes[tag..]);
        } else if end_of_white_space(bytes, 0) == tag {
            self.memory.layouts.learn_end(known, self.closed, bytes);
        }
    }

    /// Whether the start tag learned for `known` comes next. Reads nothing.
    #[doc(hidden)]
    #[inline]
    pub fn is_at_known_start(&self, known: Known) -> bool {
        self.layout_holds
            && self
                .memory
                .layouts
                .slot(known)
                .is_some_and(|slot| slot.start.end_of_match(self.input.as_bytes(), self.at).is_some())
    }

    /// Whether the end tag learned for `known` comes next. Reads nothing.
    #[doc(hidden)]
    #[inline]
    pub fn is_at_known_end(&self, known: Known) -> bool {
        self.layout_holds
            && self
                .memory
                .layouts
                .slot(known)
                .is_some_and(|slot| slot.end.end_of_match(self.input.as_bytes(), self.at).is_some())
    }

    /// Reads the start tag learned for `known` if it comes next and nests no deeper than the limit.
    #[doc(hidden)]
    #[inline]
    pub fn known_start(&mut self, known: Known) -> bool {
        if !self.layout_holds || self.memory.open.len() >= self.memory.limits.depth {
            return false;
        }
        let Some(slot) = self.memory.layouts.slot(known) else { return false };
        let Some(end) = slot.start.end_of_match(self.input.as_bytes(), self.at) else { return false };
        self.memory.open.push(Open {
            name: (self.at + usize::from(slot.name_at)) as u32,
            name_length: u32::from(slot.name_length),
            local: u32::from(slot.local),
            namespaces: self.memory.namespaces.len() as u32,
            learned: slot.id,
        });
        self.memory.attributes.clear();
        self.at = end;
        self.note_tag();
        self.last_place = Place::start(known.slot);
        true
    }

    /// Reads the end tag learned for `known` if it comes next and closes the element that is open.
    #[doc(hidden)]
    #[inline]
    pub fn known_end(&mut self, known: Known) -> bool {
        if !self.layout_holds {
            return false;
        }
        let Some(slot) = self.memory.layouts.slot(known) else { return false };
        let Some(end) = slot.end.end_of_match(self.input.as_bytes(), self.at) else { return false };
        match self.memory.open.last() {
            // The layout holds only while nothing was declared since it began: there is nothing to take out of scope.
            Some(open) if open.learned == slot.id => {}
            _ => return false,
        }
        self.memory.open.pop();
        self.closed = slot.id;
        self.at = end;
        self.note_tag();
        self.last_place = Place::end(known.slot);
        true
    }

    /// Reads a whole element without children that stands at `known`, if both its tags are as learned and `value`
    /// makes something of what lies between. `value` gets the document and the offset behind the start tag and returns
    /// the value and the offset of the end tag; it answers for every character in between. Where it says nothing, `meant` gets
    /// the text with its references resolved. Otherwise nothing is read.
    #[doc(hidden)]
    #[inline]
    pub fn known_element<T>(
        &mut self,
        known: Known,
        value: impl FnOnce(&'a str, usize) -> Option<(T, usize)>,
        meant: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        if !self.layout_holds || self.memory.open.len() >= self.memory.limits.depth {
            return None;
        }
        let slot = self.memory.layouts.slot(known)?;
        let bytes = self.input.as_bytes();
        let content = slot.start.end_of_match(bytes, self.at)?;
        let Some((value, end)) = value(self.input, content) else {
            return self.known_element_with_references(known, content, meant);
        };
        self.at = slot.end.end_of_match(bytes, end)?;
        self.previous_tag_end = end;
        self.tag_end = self.at;
        self.last_place = Place::end(known.slot);
        Some(value)
    }

    /// Reads a known element whose text begins at `start` and may have references in it.
    #[inline(never)]
    fn known_element_with_references<T>(
        &mut self,
        known: Known,
        start: usize,
        value: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let Buffers { layouts, text, limits, .. } = &mut *self.memory;
        let slot = layouts.slot(known)?;
        let end = resolve(self.input, start, limits.name_length, text)?;
        let behind = slot.end.end_of_match(self.input.as_bytes(), end)?;
        let value = value(text)?;
        self.previous_tag_end = end;
        self.tag_end = behind;
        self.at = behind;
        self.last_place = Place::end(known.slot);
        Some(value)
    }

    /// The text of an element without children that stands at `known`, if both its tags are as learned and the text is
    /// plain character data. Nothing is read: that is left to [`read_known_text`](Self::read_known_text).
    #[doc(hidden)]
    pub fn known_text(&self, known: Known) -> Option<KnownText<'a>> {
        if !self.layout_holds || self.memory.open.len() >= self.memory.limits.depth {
            return None;
        }
        let slot = self.memory.layouts.slot(known)?;
        let bytes = self.input.as_bytes();
        let start = slot.start.end_of_match(bytes, self.at)?;
        let end = scan::end_of_character_data(bytes, start);
        let behind = slot.end.end_of_match(bytes, end)?;
        Some(KnownText { text: &self.input[start..end], end, behind, slot: known.slot })
    }

    /// Reads the element of a text that [`known_text`](Self::known_text) has just found.
    #[doc(hidden)]
    pub fn read_known_text(&mut self, found: KnownText<'a>) {
        self.previous_tag_end = found.end;
        self.tag_end = found.behind;
        self.at = found.behind;
        self.last_place = Place::end(found.slot);
    }
}

/// The text that is meant by what stands from `start` to the next tag, and where that is. `None` if there is more to it than
/// references to characters: the tokeniser will tell.
fn resolve(input: &str, start: usize, name_length: usize, text: &mut String) -> Option<usize> {
    text.clear();
    let mut at = start;
    loop {
        let end = scan::end_of_character_data(input.as_bytes(), at);
        text.push_str(&input[at..end]);
        match input.as_bytes().get(end) {
            Some(b'<') => return Some(end),
            Some(b'&') => {
                let (c, behind) = escape::reference(input, end, name_length).ok()?;
                text.push(c);
                at = behind;
            }
            _ => return None,
        }
    }
}

/// The text of an element whose tags are known, not yet read.
#[derive(Clone, Copy, Debug)]
pub struct KnownText<'a> {
    /// The text.
    pub text: &'a str,
    end: usize,
    behind: usize,
    slot: u16,
}
