//! Elements that references of SOAP encoding lead to.
//!
//! Each of them repeats its type and its namespace declarations, perhaps with a different prefix. The start tag of one is a
//! template for the tags of the others.

use crate::reader::Open;

use super::CachedReader;
use super::slot_id::SlotId;

/// A start tag that was read, as a template for others.
#[derive(Debug)]
pub struct Template<'a> {
    name_length: usize,
    local: usize,
    /// The prefixes and the names that it declares.
    declarations: Box<[(&'a str, &'a str)]>,
    /// The number of the declaration whose prefix differs from tag to tag.
    changes: Option<usize>,
    /// Whether it changes the meaning of no prefix.
    only_adds: bool,
}

impl<'a> CachedReader<'a> {
    /// Keeps cached tags valid in the content of the element that was opened last. What the element declares is ignored if it
    /// changes the meaning of no prefix. So elements that each have a prefix of their own share their tags.
    pub fn extend_cached_tags(&mut self) {
        let namespaces = self.reader.namespaces_in_scope();
        let outside = self.reader.innermost().map(Open::outside);
        match outside {
            Some(outside)
                if self.outside == outside
                    && self.scope == namespaces.scope_of(outside)
                    && namespaces.only_adds(outside) =>
            {
                self.scope = namespaces.scope();
            }
            _ => self.use_cached_tags(),
        }
    }

    /// Returns the start tag that was read last as a template. `prefix` is one that other tags declare by another name, empty if
    /// there is none. Returns `None` for an empty-element tag, or if the names that it declares have references.
    pub fn template(&self, prefix: &str) -> Option<Template<'a>> {
        let open = self.reader.innermost()?;
        let namespaces = self.reader.namespaces_in_scope();
        let declarations = self.reader.verbatim_declarations()?;
        if self.reader.end_is_due() || namespaces.len() - open.outside() != declarations.len() {
            return None;
        }
        let changes = declarations.iter().position(|(declared, _)| *declared == prefix && !prefix.is_empty());
        if changes.is_none() && !prefix.is_empty() {
            return None;
        }
        let only_adds = namespaces.only_adds(open.outside());
        let (name_length, local) = (open.name_length(), open.local());
        Some(Template { name_length, local, declarations: declarations.into(), changes, only_adds })
    }

    /// Consumes a start tag of `length` bytes that is like the template, in the same scope of namespaces, as one of `slot` without
    /// attributes. Cached tags remain valid in it.
    ///
    /// The caller has compared the two: only `prefix` and values of attributes that don't matter may differ. Returns `false`, and
    /// consumes nothing, where cached tags don't hold, if `prefix` is declared already, or if a limit could be exceeded.
    pub fn open_like(&mut self, template: &Template<'a>, slot: SlotId, length: usize, prefix: &'a str) -> bool {
        let outside = self.reader.namespaces_in_scope().len();
        let limits = self.reader.limits();
        let is_within = self.may_start()
            && length < limits.markup_length.min(limits.text_length)
            && outside + template.declarations.len() <= limits.namespaces
            && self.reader.bytes().len() - self.reader.position() >= length;
        if !is_within || template.changes.is_some() && !self.is_new_prefix(template, prefix) {
            return false;
        }
        let name_at = self.reader.position() + '<'.len_utf8();
        let name = &self.reader.bytes()[name_at..][..template.name_length];
        // Another reader may have cached other tags.
        let id = self.cache.tags.id_of(slot, name);
        let open = Open::new(name_at, template.name_length, template.local, id);
        self.reader.consume_start(open, self.reader.position() + length);
        if !template.declarations.is_empty() {
            let was_outside = self.outside == outside;
            for (number, &(declared, name)) in template.declarations.iter().enumerate() {
                self.reader.consume_declaration(if template.changes == Some(number) { prefix } else { declared }, name);
            }
            match template.only_adds && was_outside {
                true => self.scope = self.reader.namespaces_in_scope().scope(),
                false => self.use_cached_tags(),
            }
        }
        true
    }

    /// Whether a prefix is declared neither in scope nor in the tag.
    fn is_new_prefix(&self, template: &Template<'a>, prefix: &str) -> bool {
        let mut others =
            template.declarations.iter().enumerate().filter(|(number, _)| template.changes != Some(*number));
        !others.any(|(_, (declared, _))| *declared == prefix)
            && prefix != "xmlns"
            && self.reader.namespaces_in_scope().resolve(prefix).is_none()
    }
}
