//! Bytes to tokens.

mod attributes;
mod consume;
mod document;
mod frames;
pub(crate) mod pieces;
mod tags;
mod text;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::cached::Cache;
use crate::error::{Error, ErrorKind};
use crate::interner::Interner;
use crate::namespaces::{NamespaceId, Namespaces, Scope};
use crate::token::{Attribute, Token};
use crate::{Limits, QName, escape};

pub(crate) use consume::Snapshot;

/// A pull reader over a document that lies in memory.
///
/// Work and memory are linear in the size of the document. Nothing recurses.
#[derive(Debug)]
pub struct Reader<'a> {
    input: &'a str,
    /// The next byte to be read.
    at: usize,
    memory: Box<Buffers>,
    stage: Stage,
    /// An empty-element tag was read, its end was not yet told.
    end_is_due: bool,
    /// Where the last tag ended.
    tag_end: usize,
    /// The input is a text that was decoded, so that it doesn't matter which encoding it says to be in.
    is_decoded: bool,
    /// The XML declaration says `standalone="yes"`.
    is_standalone: bool,
    /// Reading goes on in the middle of a CDATA section. Only a reader of a piece ever stops there.
    is_in_cdata: bool,
    /// How much of the text that goes on at `at` was read in earlier pieces, in bytes.
    text_before: usize,
    /// The input ends where a piece does, not the document.
    more_follows: bool,
    /// Tokens go by way of [`next_in_document`](Self::next_in_document).
    is_watched: bool,
    /// What only a document with a document type declaration needs.
    document: Option<Box<document::Document<'a>>>,
}

/// The memory of a reader, to be handed from one document to the next: its buffers, and what a
/// [`CachedReader`](crate::CachedReader) has cached. A warm reader allocates nothing.
#[derive(Debug, Default)]
pub struct Memory {
    pub(crate) buffers: Option<Box<Buffers>>,
    pub(crate) cache: Option<Box<Cache>>,
}

/// The buffers of a reader, and its limits. They are boxed because a reader is moved several times for each message.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Those of the document that is read.
    limits: Limits,
    open: Vec<Open>,
    namespaces: Namespaces,
    attributes: Vec<RawAttribute>,
    /// The order of many attributes by name.
    order: Vec<usize>,
    /// Attribute values that differ from what the document says.
    values: String,
    /// A text whose references were resolved.
    text: String,
    names: Interner,
}

impl Buffers {
    pub(crate) fn switch_interner(&mut self, is_used: bool) {
        self.names.is_used = is_used;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing was read yet: an XML declaration may come.
    Start,
    Prolog,
    Content,
    Epilog,
}

/// An element whose end tag has not come yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) name: u32,
    name_length: u32,
    local: u32,
    /// How many declarations were in scope around it.
    namespaces: u32,
    /// The id that a [`CachedReader`](crate::CachedReader) knows its tags by, 0 if none. The tokeniser ignores it.
    tag_id: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RawAttribute {
    name: u32,
    name_length: u32,
    local: u32,
    /// A fingerprint of its local name: few others in a tag have the same.
    fingerprint: u32,
    prefix: Prefix,
    namespace: NamespaceId,
    value: Span,
}

/// What the prefix of an attribute makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    /// There is none: it is in no namespace.
    None,
    /// It is in a namespace.
    Qualifies,
    /// It is a namespace declaration.
    Declares,
}

/// Where a value lies: in the document, or where it was normalised to.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
    source: Source,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The text that is being read.
    Input,
    /// [`Buffers::values`].
    Values,
    /// A default: `start` is the number of the attribute's declaration.
    Default,
}

/// How many open elements, and how many bytes of attribute values and of a text, there is room for from one document to the next.
const KEPT_DEPTH: usize = 1 << 10;
const KEPT_VALUES: usize = 16 << 10;

impl<'a> Reader<'a> {
    /// A reader of `input`, which is UTF-8 with or without a byte order mark.
    ///
    /// # Errors
    /// [`ErrorKind::Encoding`] if it is not UTF-8, [`ErrorKind::Limit`] if it is too large.
    pub fn new(input: &'a [u8], limits: Limits) -> Result<Self, Error> {
        Self::with_memory(input, limits, &mut Memory::default())
    }

    /// A reader of a document with the buffers of an earlier reader, which it takes.
    ///
    /// # Errors
    /// As for [`new`](Self::new); the buffers are left where they are then.
    #[doc(hidden)]
    pub fn with_memory(input: &'a [u8], limits: Limits, memory: &mut Memory) -> Result<Self, Error> {
        check_size(input.len(), limits)?;
        let input = match simdutf8::basic::from_utf8(input) {
            Ok(input) => input,
            Err(_) => {
                let offset = simdutf8::compat::from_utf8(input).err().map_or(0, |error| error.valid_up_to());
                let message = format!("byte 0x{:02X} is not UTF-8, the encoding that was expected", input[offset]);
                return Err(Error::new(ErrorKind::Encoding, offset, message));
            }
        };
        Ok(Self::over(input, limits, memory.buffers.take(), false))
    }

    /// A reader of a text that was decoded already ([`decode`](crate::decode)): the encoding that it declares is not
    /// looked at.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if it is too large; the buffers are left where they are then.
    #[doc(hidden)]
    pub fn decoded(text: &'a str, limits: Limits, memory: &mut Memory) -> Result<Self, Error> {
        check_size(text.len(), limits)?;
        Ok(Self::over(text, limits, memory.buffers.take(), true))
    }

    /// A reader of content: text and elements that stand one behind another in an element under these declarations,
    /// outermost first. It is read when [`depth`](Self::depth) is 1 and [`offset`](Self::offset) at its end.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if it is too large.
    pub fn of_content<'d>(
        content: &'a str,
        declarations: impl IntoIterator<Item = (&'d str, &'d str)>,
        limits: Limits,
    ) -> Result<Self, Error> {
        Self::of_content_with(content, declarations, limits, &mut Memory::default())
    }

    /// A reader of content with the buffers of an earlier reader, which it takes.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if it is too large; the buffers are left where they are then.
    #[doc(hidden)]
    pub fn of_content_with<'d>(
        content: &'a str,
        declarations: impl IntoIterator<Item = (&'d str, &'d str)>,
        limits: Limits,
        memory: &mut Memory,
    ) -> Result<Self, Error> {
        check_size(content.len(), limits)?;
        let mut reader = Self::over(content, limits, memory.buffers.take(), true);
        // A mark inside is text.
        reader.at = 0;
        for (prefix, name) in declarations {
            reader.memory.namespaces.declare(prefix, name);
        }
        reader.memory.open.push(Open { name: 0, name_length: 0, local: 0, namespaces: 0, tag_id: 0 });
        reader.stage = Stage::Content;
        Ok(reader)
    }

    fn over(input: &'a str, limits: Limits, buffers: Option<Box<Buffers>>, is_decoded: bool) -> Self {
        let mut memory = buffers.unwrap_or_default();
        memory.open.clear();
        memory.namespaces.clear();
        memory.attributes.clear();
        memory.limits = limits;
        Reader {
            input,
            at: if input.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 },
            memory,
            stage: Stage::Start,
            end_is_due: false,
            tag_end: 0,
            is_decoded,
            is_standalone: false,
            is_in_cdata: false,
            text_before: 0,
            more_follows: false,
            is_watched: false,
            document: None,
        }
    }

    /// The buffers, for the next document, without what only an unusual one needs.
    #[doc(hidden)]
    pub fn into_memory(mut self) -> Memory {
        self.memory.open.clear();
        self.memory.open.shrink_to(KEPT_DEPTH);
        self.memory.values.clear();
        self.memory.values.shrink_to(KEPT_VALUES);
        self.memory.text.clear();
        self.memory.text.shrink_to(KEPT_VALUES);
        Memory { buffers: Some(self.memory), cache: None }
    }

    /// The document.
    pub fn input(&self) -> &'a str {
        match &self.document {
            None => self.input,
            Some(document) => document.text(),
        }
    }

    /// Returns the part of the document between two offsets.
    #[doc(hidden)]
    pub fn source(&self, part: Range<usize>) -> &'a str {
        &self.input()[part]
    }

    /// Returns the length of the document in bytes.
    #[doc(hidden)]
    #[inline]
    pub fn length(&self) -> usize {
        self.input().len()
    }

    /// Returns where the white space ends that begins at `offset`.
    #[doc(hidden)]
    pub fn end_of_white_space(&self, offset: usize) -> usize {
        end_of_white_space(self.input().as_bytes(), offset)
    }

    /// Whether an end tag follows immediately.
    #[doc(hidden)]
    #[inline]
    pub fn is_at_end_tag(&self) -> bool {
        self.input.as_bytes()[self.at..].starts_with(b"</")
    }

    /// Whether an end tag follows, or white space and an end tag.
    #[doc(hidden)]
    pub fn is_before_end_tag(&self) -> bool {
        self.input.as_bytes()[end_of_white_space(self.input.as_bytes(), self.at)..].starts_with(b"</")
    }

    /// Whether the start tag that was read last is an empty-element tag, whose end was not read yet.
    #[doc(hidden)]
    #[inline]
    pub fn end_is_due(&self) -> bool {
        self.end_is_due
    }

    /// Whether text other than white space follows.
    #[doc(hidden)]
    pub fn is_before_text(&self) -> bool {
        let bytes = self.input.as_bytes();
        !self.end_is_due && bytes.get(end_of_white_space(bytes, self.at)).is_some_and(|&byte| byte != b'<')
    }

    /// Returns the name in the tag that follows, which is a start tag, perhaps after white space.
    #[doc(hidden)]
    pub fn name_ahead(&self) -> Option<QName<'a>> {
        let tag = end_of_white_space(self.input.as_bytes(), self.at);
        self.qname(tag + 1).ok().map(|(name, _)| name)
    }

    /// Returns the offset of the start tag of the innermost element that is open, and the name in it.
    #[doc(hidden)]
    pub fn innermost_tag(&self) -> Option<(usize, QName<'a>)> {
        let open = self.memory.open.last()?;
        Some((open.name_at() - '<'.len_utf8(), QName::new(self.open_name(), open.local())))
    }

    /// The offset of the next byte to be read; while an entity is being read, the end of the reference to it.
    #[inline]
    pub fn offset(&self) -> usize {
        match &self.document {
            None => self.at,
            Some(document) => document.end_offset(self.at),
        }
    }

    /// How many elements are open.
    #[inline]
    pub fn depth(&self) -> usize {
        self.memory.open.len()
    }

    /// Whether the document says that nothing outside matters to it (XML 1.0 §2.9); known once its XML declaration was
    /// read.
    pub fn is_standalone(&self) -> bool {
        self.is_standalone
    }

    /// The limits it keeps.
    #[inline]
    pub fn limits(&self) -> Limits {
        self.memory.limits
    }

    /// The name of a namespace that a token named; empty for none.
    #[inline]
    pub fn namespace(&self, id: NamespaceId) -> &str {
        self.memory.namespaces.name(id)
    }

    /// The name of a namespace, to be kept beyond the document. All who keep it share it.
    #[doc(hidden)]
    pub fn kept_namespace(&self, id: NamespaceId) -> Arc<str> {
        self.memory.namespaces.kept_name(id)
    }

    /// The name of the namespace that a prefix has, as [`resolve`](Self::resolve) finds it, to be kept beyond the document.
    #[doc(hidden)]
    pub fn kept_resolved(&self, prefix: &str) -> Option<Arc<str>> {
        self.memory.namespaces.resolve(prefix).map(|id| self.memory.namespaces.kept_name(id))
    }

    /// The namespace that `prefix` is bound to here, `None` if it is unbound. The empty prefix asks for the default
    /// namespace, whose name is empty where there is none.
    #[inline]
    pub fn resolve(&self, prefix: &str) -> Option<&str> {
        self.memory.namespaces.resolve(prefix).map(|id| self.memory.namespaces.name(id))
    }

    /// How many bytes of memory [`scope`](Self::scope) takes here that were not taken before, about.
    #[doc(hidden)]
    pub fn cost_of_scope(&self) -> usize {
        self.memory.namespaces.cost_of_kept()
    }

    /// The declarations in scope, to be kept beyond the document.
    pub fn scope(&self) -> Scope {
        self.memory.namespaces.kept()
    }

    /// Every prefix in scope with its namespace name, innermost first; a prefix may come again further out.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.memory.namespaces.iter()
    }

    /// The namespace declarations of the innermost element that is open, each prefix with its namespace name, last one
    /// first. The empty prefix is the default namespace's, the empty name undeclares it.
    pub fn declarations(&self) -> impl Iterator<Item = (&str, &str)> {
        let outside = self.memory.open.last().map_or(0, |open| open.namespaces as usize);
        self.memory.namespaces.iter().take(self.memory.namespaces.len() - outside)
    }

    /// The attributes of the start tag that was read last, namespace declarations left out.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'_>> {
        let attributes = self.memory.attributes.iter().filter(|raw| raw.prefix != Prefix::Declares);
        attributes.map(|raw| self.told_attribute(raw))
    }

    /// Their names alone: each with the number that [`attribute_value`](Self::attribute_value) takes, its namespace, empty
    /// for none, and its local name.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_names(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let numbered = self.memory.attributes.iter().enumerate();
        let attributes = numbered.filter(|(_, raw)| raw.prefix != Prefix::Declares);
        attributes.map(|(number, raw)| (number, self.namespace(raw.namespace), self.raw_name(raw).local()))
    }

    /// The normalised value of the attribute of a number that [`attribute_names`](Self::attribute_names) gave, and the
    /// byte offset of its name.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_value(&self, number: usize) -> Option<(&str, usize)> {
        let raw = self.memory.attributes.get(number)?;
        Some((self.value(raw.value), self.attribute_offset(raw)))
    }

    /// The attribute of this local name that is in `namespace`, which is one: attributes in none are passed over.
    #[inline]
    pub fn qualified_attribute(&self, namespace: &str, local: &str) -> Option<Attribute<'_>> {
        let mut qualified = self.memory.attributes.iter().filter(|raw| raw.prefix == Prefix::Qualifies);
        let is_it =
            |raw: &&RawAttribute| self.raw_name(raw).local() == local && self.namespace(raw.namespace) == namespace;
        qualified.find(is_it).map(|raw| self.told_attribute(raw))
    }

    /// Returns the value of the attribute of a number that [`attribute_names`](Self::attribute_names) gave, and the offset of its name.
    /// The value outlives the next token.
    #[doc(hidden)]
    pub fn kept_attribute_value(&self, number: usize) -> Option<(Cow<'a, str>, usize)> {
        let raw = self.memory.attributes.get(number)?;
        let value = match raw.value.source {
            Source::Input => Cow::Borrowed(&self.input[raw.value.start as usize..raw.value.end as usize]),
            _ => Cow::Owned(self.value(raw.value).to_owned()),
        };
        Some((value, self.attribute_offset(raw)))
    }

    /// Returns the local names of the attributes of the start tag that was read last, declarations left out, with their numbers.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_locals(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.memory.attributes.iter().enumerate();
        let attributes = numbered.filter(|(_, raw)| raw.prefix != Prefix::Declares);
        attributes.map(|(number, raw)| (number, self.raw_name(raw).local()))
    }

    /// Returns the namespace of the attribute of a number, empty for none.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_namespace(&self, number: usize) -> &str {
        self.memory.attributes.get(number).map_or("", |raw| self.namespace(raw.namespace))
    }

    /// Returns the offsets at which the elements begin that are open, outermost first.
    #[doc(hidden)]
    pub fn open_offsets(&self) -> impl Iterator<Item = usize> {
        self.memory.open.iter().map(|open| open.name as usize - '<'.len_utf8())
    }

    /// Whether the start tag that was read last has no attributes and declares nothing.
    #[doc(hidden)]
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.memory.attributes.is_empty()
    }

    /// The next token.
    ///
    /// # Errors
    /// The first rule that the document breaks. What comes after an error is not defined.
    #[allow(
        clippy::should_implement_trait,
        reason = "a token borrows nothing from the reader, but errors end the document"
    )]
    pub fn next(&mut self) -> Result<Token<'a>, Error> {
        if self.is_watched | self.end_is_due {
            return self.next_but_not_here();
        }
        let bytes = self.input.as_bytes();
        match bytes.get(self.at) {
            Some(b'<') if bytes.get(self.at + 1) == Some(&b'/') => self.end_tag(),
            Some(b'<') => match self.kept_start_tag() {
                Some(tag) => Ok(Token::StartTag(tag)),
                None => self.markup(),
            },
            Some(_) if self.stage == Stage::Content => self.text(),
            Some(_) => self.between(),
            None => self.end(),
        }
    }

    /// The next token where it isn't the next of the text that is being read.
    fn next_but_not_here(&mut self) -> Result<Token<'a>, Error> {
        if self.is_watched {
            return self.next_in_document();
        }
        self.end_is_due = false;
        Ok(self.close())
    }

    /// Reads on to the end tag of the element that was opened last, checking all on the way.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    pub fn skip_element(&mut self) -> Result<(), Error> {
        let outside = self.depth().saturating_sub(1);
        while self.depth() > outside {
            self.next()?;
        }
        Ok(())
    }

    /// Continues at `offset`, where something begins that is directly in the element that is open: text, a child or its end tag.
    /// Another reader of this document has found it there. Without that, what follows is not defined.
    #[doc(hidden)]
    pub fn seek(&mut self, offset: usize) {
        debug_assert!(self.document.is_none(), "places in entities are not places in the document");
        if self.input.is_char_boundary(offset) {
            self.end_is_due = false;
            self.consume_to(offset);
        }
    }

    /// Skips what is left of the element that was opened last, which ends before `offset`. Another reader of this document has
    /// checked it.
    #[doc(hidden)]
    pub fn close_at(&mut self, offset: usize) {
        self.seek(offset);
        self.close();
    }

    /// What begins with `<`, end tags apart.
    fn markup(&mut self) -> Result<Token<'a>, Error> {
        let offset = self.at;
        let token = match self.input.as_bytes().get(self.at + 1) {
            Some(b'?') => self.instruction(),
            Some(b'!') => self.declaration(),
            _ => self.start_tag(),
        };
        if token.is_err() || self.at - offset > self.memory.limits.markup_length {
            self.check_markup_length(offset)?;
        }
        token
    }

    /// Checks how long the markup at `offset` is. If it is too long, that comes before what else is wrong with it: whoever
    /// reads pieces gives up on it before the rest has come.
    #[cold]
    fn check_markup_length(&self, offset: usize) -> Result<(), Error> {
        if frames::is_too_long(&self.input.as_bytes()[offset..], self.memory.limits) {
            return Err(self.markup_too_long(offset));
        }
        Ok(())
    }

    // ---- outside the root element ----

    /// White space before or after the root element.
    fn between(&mut self) -> Result<Token<'a>, Error> {
        let end = end_of_white_space(self.input.as_bytes(), self.at);
        if self.input.as_bytes().get(end).is_some_and(|&byte| byte != b'<') {
            let place = if self.stage == Stage::Epilog {
                "after the root element"
            } else {
                "where the root element was expected"
            };
            return Err(Error::new(ErrorKind::Syntax, end, format!("{} {place}", self.found(end))));
        }
        self.leave_start();
        self.at = end;
        self.next()
    }

    fn end(&mut self) -> Result<Token<'a>, Error> {
        match self.stage {
            _ if self.more_follows => Ok(Token::Text("".into())),
            Stage::Epilog => Ok(Token::End),
            Stage::Content => Err(self.cut_off(&format!("where </{}> was expected", self.open_name()))),
            _ => Err(self.cut_off("before any element")),
        }
    }

    /// The name of the innermost element that is open, as written.
    fn open_name(&self) -> &'a str {
        let open = self.memory.open.last();
        open.map_or("", |open| &self.input[open.name as usize..(open.name + open.name_length) as usize])
    }

    fn leave_start(&mut self) {
        if self.stage == Stage::Start {
            self.stage = Stage::Prolog;
        }
    }

    // ---- errors ----

    fn syntax(&self, offset: usize, message: &'static str) -> Error {
        Error::new(ErrorKind::Syntax, offset, message)
    }

    #[cold]
    fn limit(&self, offset: usize, what: &str, limit: usize, unit: &str) -> Error {
        Error::new(ErrorKind::Limit, offset, format!("{what} {limit} {unit}, which is the limit"))
    }

    #[cold]
    fn markup_too_long(&self, offset: usize) -> Error {
        let what = "a tag, comment or processing instruction longer than";
        self.limit(offset, what, self.memory.limits.markup_length, "bytes")
    }

    #[cold]
    fn unbound(&self, name: QName<'_>, offset: usize) -> Error {
        let message = format!("the prefix \"{}\" of \"{}\" is not declared", name.prefix(), name.as_str());
        Error::new(ErrorKind::Namespace, offset, message)
    }

    #[cold]
    fn cut_off(&self, place: &str) -> Error {
        Error::new(ErrorKind::Syntax, self.input.len(), format!("the document ends {place}"))
    }

    /// What stands at `at`, for messages.
    #[cold]
    fn found(&self, at: usize) -> String {
        match self.input.get(at..).and_then(|rest| rest.chars().next()) {
            Some(c) if c.is_control() || !escape::is_char(c) => format!("U+{:04X}", u32::from(c)),
            Some(c) => format!("\"{c}\""),
            None => "the end of the document".into(),
        }
    }
}

fn check_size(size: usize, limits: Limits) -> Result<(), Error> {
    if size > limits.message_size.min(u32::MAX as usize) {
        return Err(too_large(limits));
    }
    Ok(())
}

#[cold]
fn too_large(limits: Limits) -> Error {
    let message = format!("a document longer than {} bytes, which is the limit", limits.message_size);
    Error::new(ErrorKind::Limit, limits.message_size, message)
}

/// The comment or processing instruction that stands at `at` in a document type declaration, and where it ends.
pub(crate) fn read_misc(text: &str, at: usize, limits: Limits) -> Result<(Token<'_>, usize), Error> {
    let mut reader = Reader::over(text, limits, None, true);
    reader.stage = Stage::Prolog;
    reader.at = at;
    let token = reader.markup()?;
    Ok((token, reader.at))
}

/// The first byte from `at` on that is not white space (XML 1.0, production 3).
#[inline]
fn end_of_white_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests;
