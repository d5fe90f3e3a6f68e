//! The interface for a [`CachedReader`](crate::CachedReader), which recognises bytes and has the reader consume them without
//! tokenising them.
//!
//! Apart from reading tokens, only the functions `consume_…` and `restore` change the state of a reader. They leave the state
//! that tokenising the same bytes would leave.

use crate::cached::Cache;
use crate::namespaces::{NamespaceId, Namespaces};
use crate::{Limits, QName, escape, scan};

use super::{Buffers, Memory, Open, Prefix, RawAttribute, Reader, Source, Span, Stage, end_of_white_space};

impl Open {
    /// An element whose name is at `name_at`; its local name begins `local` bytes later. `tag_id` is the id of its cached tags, 0 if
    /// there are none. The reader that consumes its start tag adds the scope.
    #[inline]
    pub(crate) fn new(name_at: usize, name_length: usize, local: usize, tag_id: u64) -> Self {
        Open { name: name_at as u32, name_length: name_length as u32, local: local as u32, namespaces: 0, tag_id }
    }

    #[inline]
    pub(crate) fn name_at(self) -> usize {
        self.name as usize
    }

    #[inline]
    pub(crate) fn name_length(self) -> usize {
        self.name_length as usize
    }

    #[inline]
    pub(crate) fn local(self) -> usize {
        self.local as usize
    }

    /// How many declarations are in scope around the element.
    #[inline]
    pub(crate) fn outside(self) -> usize {
        self.namespaces as usize
    }

    #[inline]
    pub(crate) fn tag_id(self) -> u64 {
        self.tag_id
    }
}

impl RawAttribute {
    /// An attribute of a cached tag: offset and length of its name, and where its local name begins; its fingerprint; its
    /// namespace, if it is in one; and where its value begins and ends. A value that is not normal has to be normalised.
    #[inline]
    pub(crate) fn recognised(
        (name, name_length, local): (usize, u32, u32),
        fingerprint: u32,
        namespace: Option<NamespaceId>,
        (start, end): (usize, usize),
        is_normal: bool,
    ) -> Self {
        let source = if is_normal { Source::Input } else { Source::Values };
        RawAttribute {
            name: name as u32,
            name_length,
            local,
            fingerprint,
            prefix: if namespace.is_some() { Prefix::Qualifies } else { Prefix::None },
            namespace: namespace.unwrap_or(NamespaceId::NONE),
            value: Span { start: start as u32, end: end as u32, source },
        }
    }

    pub(crate) fn declares(&self) -> bool {
        self.prefix == Prefix::Declares
    }

    pub(crate) fn name_at(&self) -> usize {
        self.name as usize
    }

    pub(crate) fn name_length(&self) -> usize {
        self.name_length as usize
    }

    pub(crate) fn local(&self) -> usize {
        self.local as usize
    }

    pub(crate) fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    /// The namespace, if it is in one.
    pub(crate) fn qualified_namespace(&self) -> Option<NamespaceId> {
        (self.prefix == Prefix::Qualifies).then_some(self.namespace)
    }
}

/// The state of a reader after the beginning of a document.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    /// The elements that are open. The last one is the one that was opened last.
    open: Vec<Open>,
    namespaces: Namespaces,
    end_is_due: bool,
}

impl<'a> Reader<'a> {
    // ---- state ----

    /// The text that is being read: the document, or the replacement text of an entity.
    #[inline]
    pub(crate) fn text_being_read(&self) -> &'a str {
        self.input
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.input.as_bytes()
    }

    /// The offset of the next byte in that text.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Whether a tag ends here.
    #[inline]
    pub(crate) fn is_after_tag(&self) -> bool {
        self.tag_end == self.at
    }

    #[inline]
    pub(crate) fn innermost(&self) -> Option<Open> {
        self.memory.open.last().copied()
    }

    /// Notes the id of the cached tags of the innermost element.
    pub(crate) fn innermost_is_of(&mut self, tag_id: u64) {
        if let Some(open) = self.memory.open.last_mut() {
            open.tag_id = tag_id;
        }
    }

    #[inline]
    pub(crate) fn namespaces_in_scope(&self) -> &Namespaces {
        &self.memory.namespaces
    }

    #[inline]
    pub(crate) fn max_depth(&self) -> usize {
        self.memory.limits.depth
    }

    #[inline]
    pub(crate) fn raw_attributes(&self) -> &[RawAttribute] {
        &self.memory.attributes
    }

    /// Where the value of an attribute begins in the text.
    pub(crate) fn begin_of_value(&self, raw: &RawAttribute) -> Option<usize> {
        let equals = end_of_white_space(self.bytes(), raw.name_at() + raw.name_length());
        let quote = end_of_white_space(self.bytes(), equals + 1);
        matches!(self.bytes().get(quote), Some(b'"' | b'\'')).then_some(quote + 1)
    }

    /// Where the white space begins that ends at `at`.
    pub(crate) fn begin_of_white_space(&self, at: usize) -> usize {
        let before = self.bytes().get(..at).unwrap_or_default();
        before.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).map_or(0, |at| at + 1)
    }

    /// Whether tags may be recognised, and texts between them taken, without measuring them. None can exceed a limit if names are
    /// no longer than `longest_name`.
    pub(crate) fn may_be_recognised(&self, longest_name: usize) -> bool {
        let Limits { text_length, name_length, .. } = self.memory.limits;
        self.input.len() <= text_length && name_length >= longest_name && self.document.is_none()
    }

    /// Whether a tag from one offset to another is no longer than the limit.
    #[inline]
    pub(crate) fn is_within_markup_length(&self, start: usize, end: usize) -> bool {
        end - start <= self.memory.limits.markup_length
    }

    /// The declarations of the start tag that was read last. `None` if one of the names has references.
    pub(crate) fn verbatim_declarations(&self) -> Option<Vec<(&'a str, &'a str)>> {
        let declarations = self.memory.attributes.iter().filter(|raw| raw.declares());
        let declaration = |raw: &RawAttribute| {
            let name = self.raw_name(raw);
            let prefix = if name.prefix().is_empty() { "" } else { name.local() };
            let verbatim = raw.value.source == Source::Input;
            verbatim.then(|| (prefix, &self.input[raw.value.start as usize..raw.value.end as usize]))
        };
        declarations.map(declaration).collect()
    }

    /// Resolves the references in the text from `start` to the next tag, which begins at the returned offset. Returns `None` if it
    /// has more than references to characters, or is wrong: the tokeniser reports that.
    pub(crate) fn resolve_text(&mut self, start: usize) -> Option<usize> {
        let Buffers { text, limits, .. } = &mut *self.memory;
        text.clear();
        let mut at = start;
        loop {
            let end = scan::end_of_character_data(self.input.as_bytes(), at);
            text.push_str(&self.input[at..end]);
            match self.input.as_bytes().get(end) {
                Some(b'<') => return Some(end),
                Some(b'&') => {
                    let (c, next) = escape::reference(self.input, end, limits.name_length).ok()?;
                    text.push(c);
                    at = next;
                }
                _ => return None,
            }
        }
    }

    /// The text that [`resolve_text`](Self::resolve_text) has resolved.
    pub(crate) fn resolved_text(&self) -> &str {
        &self.memory.text
    }

    // ---- tags ----

    /// Consumes a start tag that ends at `end` and declares nothing. Its attributes are ignored.
    #[inline]
    pub(crate) fn consume_start(&mut self, open: Open, end: usize) {
        let namespaces = self.memory.namespaces.len() as u32;
        self.memory.open.push(Open { namespaces, ..open });
        self.memory.attributes.clear();
        self.consume_to(end);
    }

    /// Consumes an empty-element tag that ends at `end` and has no attributes. Its end is due then.
    #[inline]
    pub(crate) fn consume_empty_start(&mut self, open: Open, end: usize) {
        self.consume_start(open, end);
        self.end_is_due = true;
    }

    /// Consumes a start tag with these attributes, which ends at `end`. Returns `None`, and consumes nothing, if a limit is exceeded or
    /// a value is wrong: the tokeniser reports that.
    pub(crate) fn consume_start_with(
        &mut self,
        open: Open,
        end: usize,
        is_empty: bool,
        attributes: &mut Vec<RawAttribute>,
    ) -> Option<()> {
        let Limits { attributes: most, markup_length, .. } = self.memory.limits;
        if attributes.len() > most || end - open.name_at() >= markup_length {
            return None;
        }
        std::mem::swap(&mut self.memory.attributes, attributes);
        self.memory.values.clear();
        if self.memory.attributes.iter().any(|raw| raw.value.source == Source::Values) {
            self.normalise_values()?;
        }
        let namespaces = self.memory.namespaces.len() as u32;
        self.memory.open.push(Open { namespaces, ..open });
        self.end_is_due = is_empty;
        self.consume_to(end);
        Some(())
    }

    /// Normalises the values of attributes that are not normal. `None` if one is wrong.
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

    /// Adds a declaration to those of the element whose start tag was consumed last.
    pub(crate) fn consume_declaration(&mut self, prefix: &str, name: &str) {
        self.memory.namespaces.declare(prefix, name);
    }

    /// Consumes the end tag of the innermost element, which has no declarations. It ends at `end`.
    #[inline]
    pub(crate) fn consume_end(&mut self, end: usize) {
        self.memory.open.pop();
        self.consume_to(end);
    }

    /// Consumes the end of the innermost element, if that is due.
    #[inline]
    pub(crate) fn end_of_empty(&mut self) -> bool {
        let is_here = self.end_is_due && !self.is_watched;
        if is_here {
            self.end_is_due = false;
            self.close();
        }
        is_here
    }

    /// Consumes a whole element, which ends at `end`.
    #[inline]
    pub(crate) fn consume_element(&mut self, end: usize) {
        self.consume_to(end);
    }

    /// Goes to the end of a tag.
    #[inline]
    pub(crate) fn consume_to(&mut self, end: usize) {
        self.at = end;
        self.tag_end = end;
    }

    // ---- beginnings and ends ----

    /// Whether nothing was read yet.
    pub(crate) fn is_at_start(&self) -> bool {
        self.stage == Stage::Start && self.document.is_none()
    }

    /// Whether the document was read to its end.
    pub(crate) fn is_at_end(&self) -> bool {
        self.stage == Stage::Epilog && self.at == self.input.len()
    }

    /// Whether the encoding that the document declares is ignored.
    pub(crate) fn is_decoded(&self) -> bool {
        self.is_decoded
    }

    /// Whether the state of the reader depends only on the bytes up to here.
    pub(crate) fn may_be_snapshot(&self) -> bool {
        self.document.is_none() && self.is_after_tag()
    }

    /// Saves the state that the reader has after a start tag.
    pub(crate) fn save(&self, snapshot: &mut Snapshot) {
        snapshot.open.clone_from(&self.memory.open);
        snapshot.namespaces.copy_from(&self.memory.namespaces);
        snapshot.end_is_due = self.end_is_due;
    }

    /// Restores the state that a reader had after the first `length` bytes, which are the same here. Returns the name in the start
    /// tag that they end with.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot, length: usize) -> Option<QName<'a>> {
        let last = snapshot.open.last()?;
        self.memory.open.clone_from(&snapshot.open);
        self.memory.namespaces.copy_from(&snapshot.namespaces);
        self.end_is_due = snapshot.end_is_due;
        self.stage = Stage::Content;
        self.consume_to(length);
        Some(QName::new(&self.input[last.name_at()..][..last.name_length()], last.local()))
    }

    /// Whether the elements that are open are those of the snapshot but for the last one.
    pub(crate) fn has_closed(&self, snapshot: &Snapshot) -> bool {
        let around = snapshot.open.split_last().map(|(_, around)| around).unwrap_or_default();
        let open = &self.memory.open;
        // The offset of its name identifies an element. The elements around it begin before, where the bytes are equal.
        around.len() == open.len() && around.last().map(|open| open.name) == open.last().map(|open| open.name)
    }

    /// Consumes the rest of the document, whose end tags close all that is open.
    pub(crate) fn consume_epilogue(&mut self) {
        self.memory.open.clear();
        self.memory.namespaces.clear();
        self.stage = Stage::Epilog;
        self.at = self.input.len();
    }

    // ---- other readers ----

    /// Creates a reader of the same document, at its beginning, from the memory of an earlier one.
    #[doc(hidden)]
    pub fn fork(&self, memory: Memory) -> Reader<'a> {
        // The encoding was checked here.
        Reader::over(self.input, self.memory.limits, memory, true)
    }

    /// Takes what is cached.
    pub(crate) fn take_cache(&mut self) -> Option<Box<Cache>> {
        self.cache.take()
    }
}
