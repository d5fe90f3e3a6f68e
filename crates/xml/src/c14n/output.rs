//! Writes tokens as canonical text (Canonical XML 1.0 §2.3; Exclusive XML Canonicalization §3).

use std::ops::Range;

use crate::error::Error;
use crate::namespaces::Namespaces;
use crate::token::{Raw, StartTag};
use crate::{QName, Reader, XML_NAMESPACE, is_name_char, is_name_start_char, scan};

use super::ancestors::{Ancestors, Inherited};
use super::runs::Run;
use super::{Method, Sink, Version};

pub(super) const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// Of a tag, no more than this is kept at a time, in bytes: many forms may be written, and a tag may be as long as the document.
const PIECE: usize = 4 << 10;
/// Text of the document is passed on before it is longer than this, in bytes, plus one token or one run.
const COPIED_PIECE: usize = 16 << 10;

pub(super) struct Output<'m, O> {
    method: &'m Method,
    out: O,
    /// The end of the tag that is being written.
    tag: String,
    /// Whether the beginning of it was passed on.
    is_split: bool,
    /// A part of the document that is canonical as it is written there. It is passed on as one piece.
    verbatim: Range<usize>,
    /// The scopes in the document and in the output in which a plain start tag with this prefix declares nothing.
    plain: Option<(u64, u64)>,
    plain_prefix: String,
    /// The declarations in scope in the output, and how many of them are outside each open element.
    rendered: Namespaces,
    scopes: Vec<usize>,
    position: Position,
    /// The offset of the start tag that was written last.
    element: usize,
    /// The end of the text since the last tag, as far as it may be a prefix. Empty unless omitted prefixes are wanted.
    tail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    BeforeRoot,
    Inside,
    AfterRoot,
}

/// An attribute to be written. The order is that of §2.2: by namespace name, then by local name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Attribute<'r> {
    namespace: &'r str,
    local: &'r str,
    name: &'r str,
    value: &'r str,
}

impl<'m, O: Sink> Output<'m, O> {
    pub(super) fn new(method: &'m Method, out: O) -> Self {
        Output {
            method,
            out,
            tag: String::new(),
            is_split: false,
            verbatim: 0..0,
            plain: None,
            plain_prefix: String::new(),
            rendered: Namespaces::default(),
            scopes: Vec::new(),
            position: Position::BeforeRoot,
            element: 0,
            tail: String::new(),
        }
    }

    /// Writes the start tag of an element that is taken out of its document. `source` is where it is written there.
    pub(super) fn apex(
        &mut self,
        reader: &Reader<'_>,
        tag: StartTag<'_>,
        source: &Range<usize>,
        ancestors: &Ancestors,
    ) -> Result<(), Error> {
        let inherited = ancestors.inherited(self.method.algorithm.version, reader, tag.offset)?;
        self.tag(reader, tag, source, Some(&inherited));
        Ok(())
    }

    /// Writes the start tag of the root element, or of an element whose parent was written.
    pub(super) fn start_tag(&mut self, reader: &Reader<'_>, tag: StartTag<'_>, source: &Range<usize>) {
        if !self.keeps_tag(reader, tag, source) {
            self.tag(reader, tag, source, None);
        }
    }

    /// Keeps a start tag without attributes that is canonical as it is written in the document, and declares nothing in the output.
    /// Returns whether it is one.
    fn keeps_tag(&mut self, reader: &Reader<'_>, tag: StartTag<'_>, source: &Range<usize>) -> bool {
        let (name, prefix) = (tag.name.as_str(), tag.name.prefix());
        if !reader.is_plain() || source.len() != name.len() + "<>".len() || !self.is_declared(reader, tag, prefix) {
            return false;
        }
        // While an entity is read, its reference is written there.
        let is_kept = self.keeps(reader, source, |written| written.starts_with('<'));
        if is_kept {
            self.begin(tag);
        }
        is_kept
    }

    /// Returns whether the prefix of a start tag without declarations means in the output what it means in the document.
    fn is_declared(&mut self, reader: &Reader<'_>, tag: StartTag<'_>, prefix: &str) -> bool {
        if self.method.algorithm.version != Version::Exclusive10 {
            return true;
        }
        let scopes = (reader.namespaces_in_scope().scope(), self.rendered.scope());
        if self.plain == Some(scopes) && self.plain_prefix == prefix {
            return true;
        }
        let is_declared = self.is_rendered(prefix, reader.namespace(tag.namespace));
        if is_declared {
            self.plain = Some(scopes);
            self.plain_prefix.clear();
            self.plain_prefix.push_str(prefix);
        }
        is_declared
    }

    /// Returns whether a run is in the form as it is in the document.
    pub(super) fn is_verbatim(&mut self, reader: &Reader<'_>, run: &Run<'_>) -> bool {
        let is_declared = |prefix: &&str| {
            let name = reader.resolve(prefix).unwrap_or_default();
            self.method.algorithm.version != Version::Exclusive10 || self.is_rendered(prefix, name)
        };
        self.method.copies
            && self.out.next_replaced(run.range.start).is_none_or(|offset| offset >= run.range.end)
            && run.prefixes.iter().all(is_declared)
    }

    /// Writes a run, which is [as in the document](Self::is_verbatim).
    pub(super) fn run(&mut self, reader: &Reader<'_>, run: &Run<'_>) {
        if self.verbatim.end != run.range.start {
            self.pass_kept(reader);
            self.verbatim.start = run.range.start;
        }
        self.verbatim.end = run.range.end;
        self.element = run.last;
        self.tail.clear();
    }

    /// Begins an element.
    fn begin(&mut self, tag: StartTag<'_>) {
        self.position = Position::Inside;
        self.scopes.push(self.rendered.len());
        self.element = tag.offset;
        self.tail.clear();
    }

    /// Keeps a part of the document whose canonical form is what is written there. Returns whether it is, which is for `is_canonical`
    /// to say.
    fn keeps(&mut self, reader: &Reader<'_>, source: &Range<usize>, is_canonical: impl FnOnce(&str) -> bool) -> bool {
        if !self.method.copies || !reader.input().get(source.clone()).is_some_and(is_canonical) {
            return false;
        }
        if self.verbatim.end != source.start || self.verbatim.len() > COPIED_PIECE {
            self.pass_kept(reader);
            self.verbatim = source.clone();
        }
        self.verbatim.end = source.end;
        true
    }

    /// Passes on what was kept.
    pub(super) fn pass_kept(&mut self, reader: &Reader<'_>) {
        let kept = std::mem::take(&mut self.verbatim);
        if !kept.is_empty() {
            self.out.text(&reader.input()[kept]);
        }
    }

    /// Passes on a text.
    fn pass(&mut self, reader: &Reader<'_>, text: &str) {
        self.pass_kept(reader);
        self.out.text(text);
    }

    /// Passes on the tag that was written.
    fn pass_tag(&mut self, reader: &Reader<'_>, source: &Range<usize>) {
        let tag = std::mem::take(&mut self.tag);
        if std::mem::take(&mut self.is_split) || !self.keeps(reader, source, |written| written == tag) {
            self.pass(reader, &tag);
        }
        self.tag = tag;
    }

    /// Appends to the tag.
    fn push(&mut self, reader: &Reader<'_>, text: &str) {
        if self.tag.len() + text.len() > PIECE {
            self.is_split = true;
            let mut tag = std::mem::take(&mut self.tag);
            self.pass(reader, &tag);
            tag.clear();
            self.tag = tag;
        }
        match text.len() > PIECE {
            true => self.out.text(text),
            false => self.tag.push_str(text),
        }
    }

    /// Appends `="value"` to the tag.
    fn push_value(&mut self, reader: &Reader<'_>, value: &str) {
        self.push(reader, "=\"");
        let mut copied = 0;
        for (at, byte) in value.bytes().enumerate() {
            let escape = match byte {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'"' => "&quot;",
                b'\t' => "&#x9;",
                b'\n' => "&#xA;",
                b'\r' => "&#xD;",
                _ => continue,
            };
            self.push(reader, &value[copied..at]);
            self.push(reader, escape);
            copied = at + 1;
        }
        self.push(reader, &value[copied..]);
        self.push(reader, "\"");
    }

    fn tag(&mut self, reader: &Reader<'_>, tag: StartTag<'_>, source: &Range<usize>, apex: Option<&Inherited>) {
        self.begin(tag);
        self.tag.clear();
        self.tag.push('<');
        self.tag.push_str(tag.name.as_str());
        self.namespaces(reader, tag, apex.is_some());
        let own = reader.attributes().map(|attribute| Attribute {
            namespace: attribute.namespace,
            local: attribute.name.local(),
            name: attribute.name.as_str(),
            value: attribute.value,
        });
        let mut attributes: Vec<Attribute<'_>> = match apex {
            None => own.collect(),
            Some(inherited) => {
                let kept = own.filter(|own| !(own.namespace == XML_NAMESPACE && inherited.replaces(own.local)));
                let inherited = inherited.attributes().map(|(name, value)| Attribute {
                    namespace: XML_NAMESPACE,
                    local: name.strip_prefix("xml:").unwrap_or(name),
                    name,
                    value,
                });
                kept.chain(inherited).collect()
            }
        };
        attributes.sort_unstable();
        for Attribute { name, value, .. } in attributes {
            self.push(reader, " ");
            self.push(reader, name);
            self.push_value(reader, value);
        }
        self.tag.push('>');
        self.pass_tag(reader, source);
        if self.wants_omitted_prefixes() {
            for attribute in reader.attributes() {
                let is_type = attribute.namespace == XSI_NAMESPACE && attribute.name.local() == "type";
                if is_type && !attribute.value.contains(':') {
                    self.note_prefix(reader, "");
                }
                self.note_value(reader, attribute.value);
                self.tail.clear();
            }
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.out.is_full()
    }

    /// Has the sink replace the element at this offset, if it does so. Returns whether it does.
    pub(super) fn replaces(&mut self, reader: &Reader<'_>, offset: usize) -> bool {
        let is_replaced = self.out.next_replaced(offset) == Some(offset);
        if is_replaced {
            self.pass_kept(reader);
            self.out.replace(offset);
        }
        is_replaced
    }

    fn wants_omitted_prefixes(&self) -> bool {
        self.method.algorithm.version == Version::Exclusive10 && self.out.wants_omitted_prefixes()
    }

    /// Notes the prefixes that a value seems to use, if they are wanted. A value may arrive in pieces, because comments split
    /// it.
    pub(super) fn note_value(&mut self, reader: &Reader<'_>, value: &str) {
        // Nothing follows the last text of an element.
        if !self.wants_omitted_prefixes() || !value.contains(':') && reader.is_at_end_tag() {
            return;
        }
        let longest = reader.limits().name_length;
        let mut pieces = value.split(':').peekable();
        while let Some(piece) = pieces.next() {
            let name = name_at_end(piece, longest);
            if name.len() < piece.len() {
                self.tail.clear();
            }
            self.tail.push_str(name);
            if self.tail.len() > 2 * longest {
                let before = self.tail.len() - end_of(&self.tail, longest).len();
                self.tail.drain(..before);
            }
            if pieces.peek().is_some() {
                let tail = std::mem::take(&mut self.tail);
                let prefix = prefix_at_end(&tail);
                if !prefix.is_empty() {
                    self.note_prefix(reader, prefix);
                }
            }
        }
    }

    fn note_prefix(&mut self, reader: &Reader<'_>, prefix: &str) {
        let is_omitted = reader.resolve(prefix).is_some_and(|name| !name.is_empty() && !self.is_rendered(prefix, name));
        if is_omitted {
            let prefix = if prefix.is_empty() { "#default" } else { prefix };
            self.out.omitted_prefix(prefix, self.element);
        }
    }

    /// Writes the declarations that the canonical form requires and that are not in scope in the output.
    fn namespaces(&mut self, reader: &Reader<'_>, tag: StartTag<'_>, is_apex: bool) {
        let mut wanted: Vec<(&str, &str)> = Vec::new();
        // At the apex all declarations are considered, because one that undeclares a namespace hides an outer one.
        let is_wanted = |&(prefix, name): &(&str, &str)| is_apex || !self.is_rendered(prefix, name);
        if self.method.algorithm.version == Version::Exclusive10 {
            // Visibly utilised prefixes are those of the element, and of attributes with a prefix.
            let element = (tag.name.prefix(), reader.namespace(tag.namespace));
            let attributes = reader.attributes().filter(|attribute| !attribute.name.prefix().is_empty());
            let attributes = attributes.map(|attribute| (attribute.name.prefix(), attribute.namespace));
            wanted.extend(std::iter::once(element).chain(attributes).filter(is_wanted));
        }
        let is_inclusive = |(prefix, _): &(&str, &str)| self.method.is_inclusive(prefix);
        if is_apex {
            // Innermost first, so that the nearest declaration of each prefix is first after a stable sort.
            wanted.extend(reader.namespaces().filter(is_inclusive));
        } else {
            wanted.extend(reader.declarations().filter(is_inclusive).filter(is_wanted));
        }
        wanted.sort_by_key(|(prefix, _)| *prefix);
        wanted.dedup_by_key(|(prefix, _)| *prefix);
        for (prefix, name) in wanted {
            if self.is_rendered(prefix, name) {
                continue;
            }
            self.rendered.declare(prefix, name);
            self.push(reader, if prefix.is_empty() { " xmlns" } else { " xmlns:" });
            self.push(reader, prefix);
            self.push_value(reader, name);
        }
    }

    /// Whether the declaration is in scope in the output. The prefix `xml` is never declared.
    fn is_rendered(&self, prefix: &str, name: &str) -> bool {
        prefix == "xml" || self.rendered.resolve(prefix).is_some_and(|id| self.rendered.name(id) == name)
    }

    pub(super) fn end_tag(&mut self, reader: &Reader<'_>, name: QName<'_>, source: &Range<usize>) {
        if let Some(scope) = self.scopes.pop() {
            self.rendered.truncate(scope);
        }
        self.leave_out();
        self.tail.clear();
        let name = name.as_str();
        // An empty-element tag has none, and there may be white space behind the name.
        let is_short = source.len() == name.len() + "</>".len();
        if !is_short || !self.keeps(reader, source, |written| written.starts_with('<')) {
            self.pass_kept(reader);
            for piece in ["</", name, ">"] {
                self.out.text(piece);
            }
        }
    }

    /// Notes that an element has ended, whether it was written or left out.
    pub(super) fn leave_out(&mut self) {
        if self.scopes.is_empty() {
            self.position = Position::AfterRoot;
        }
    }

    pub(super) fn text(&mut self, reader: &Reader<'_>, text: &str, source: &Range<usize>) {
        let is_canonical = |written: &str| {
            let is_plain = std::ptr::eq(written, text) && scan::end_of_unescaped(text.as_bytes()) == text.len();
            is_plain || is_escaped_as(text, written)
        };
        if !self.keeps(reader, source, is_canonical) {
            self.pass_kept(reader);
            escaped(text).for_each(|piece| self.out.text(piece));
        }
    }

    pub(super) fn comment(&mut self, reader: &Reader<'_>, comment: Raw<'_>) {
        if self.method.algorithm.with_comments {
            self.pass_kept(reader);
            self.before_misc();
            self.out.text("<!--");
            self.raw(&comment.text());
            self.out.text("-->");
            self.after_misc();
        }
    }

    pub(super) fn instruction(&mut self, reader: &Reader<'_>, target: &str, data: Raw<'_>) {
        self.pass_kept(reader);
        self.before_misc();
        self.out.text("<?");
        self.out.text(target);
        let data = data.text();
        if !data.is_empty() {
            self.out.text(" ");
            self.raw(&data);
        }
        self.out.text("?>");
        self.after_misc();
    }

    /// Writes the text of a comment or an instruction. A carriage return in it is from an entity. The recommendations
    /// do not define its form. libxml2 and Santuario write it as in text, where a reader preserves it.
    fn raw(&mut self, text: &str) {
        let mut pieces = text.split('\r');
        self.out.text(pieces.next().unwrap_or_default());
        for piece in pieces {
            self.out.text("&#xD;");
            self.out.text(piece);
        }
    }

    // Outside the root element each comment and instruction has a line of its own.

    fn before_misc(&mut self) {
        if self.position == Position::AfterRoot {
            self.out.text("\n");
        }
    }

    fn after_misc(&mut self) {
        if self.position == Position::BeforeRoot {
            self.out.text("\n");
        }
    }
}

/// Returns the canonical form of a text, in pieces.
fn escaped(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let c = text.chars().next()?;
        let (end, piece) = match (scan::end_of_unescaped(text.as_bytes()), c) {
            (0, '<') => (1, "&lt;"),
            (0, '>') => (1, "&gt;"),
            (0, '&') => (1, "&amp;"),
            (0, '\r') => (1, "&#xD;"),
            (0, _) => (c.len_utf8(), &text[..c.len_utf8()]),
            (end, _) => (end, &text[..end]),
        };
        text = &text[end..];
        Some(piece)
    })
}

/// Returns whether this is the canonical form of a text.
fn is_escaped_as(text: &str, mut written: &str) -> bool {
    let is_next = |piece: &str| match written.strip_prefix(piece) {
        Some(rest) => {
            written = rest;
            true
        }
        None => false,
    };
    escaped(text).all(is_next) && written.is_empty()
}

/// Returns the end of a text that may be a part of a name. No prefix is longer than `longest`, so that what is before it makes no
/// difference.
fn name_at_end(text: &str, longest: usize) -> &str {
    let start = text.trim_end_matches(is_name_char).len();
    end_of(&text[start..], longest)
}

/// Returns the prefix at the end of what may be a part of a name. In `1-p:t` of an expression the name begins at `p`.
fn prefix_at_end(name: &str) -> &str {
    name.trim_start_matches(|c| !is_name_start_char(c))
}

/// Returns what may be the prefixes of names in a value.
pub(super) fn prefixes_in(value: &str, longest: usize) -> impl Iterator<Item = &str> {
    let (before, _) = value.rsplit_once(':').unwrap_or_default();
    let prefixes = before.split(':').map(move |piece| prefix_at_end(name_at_end(piece, longest)));
    prefixes.filter(|prefix| !prefix.is_empty())
}

/// Returns the end of a text, of this length or a little more.
fn end_of(text: &str, length: usize) -> &str {
    let mut start = text.len().saturating_sub(length);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    &text[start..]
}
