//! The tokeniser.

mod attributes;
mod boundary;
mod consume;
mod document;
pub(crate) mod push;
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

/// A pull reader over a document in memory.
///
/// Time and memory are linear in the size of the document. Nothing recurses.
#[derive(Debug)]
pub struct Reader<'a> {
    input: &'a str,
    /// The next byte to be read.
    at: usize,
    memory: Box<Buffers>,
    /// What a [`CachedReader`](crate::CachedReader) has cached. It is only carried along.
    cache: Option<Box<Cache>>,
    stage: Stage,
    /// Whether an empty-element tag was read whose end has not been returned as a token yet.
    end_is_due: bool,
    /// The offset at which the last tag ended.
    tag_end: usize,
    /// Whether the input is decoded text, so that the encoding it declares is ignored.
    is_decoded: bool,
    /// Whether the XML declaration has `standalone="yes"`.
    is_standalone: bool,
    /// Whether `at` is inside a CDATA section. Only a reader of a piece stops there.
    is_in_cdata: bool,
    /// How many bytes of the text that continues at `at` were read in earlier pieces.
    text_before: usize,
    /// Whether the input is a piece, and more of the document may follow.
    more_follows: bool,
    /// Whether tokens are read by [`next_in_document`](Self::next_in_document).
    is_watched: bool,
    /// State that only a document with a document type declaration needs.
    document: Option<Box<document::Document<'a>>>,
}

/// The memory of a reader: its buffers, and what a [`CachedReader`](crate::CachedReader) has cached. Pass it from one
/// document to the next. A warm reader allocates nothing.
#[derive(Debug, Default)]
pub struct Memory {
    pub(crate) buffers: Option<Box<Buffers>>,
    pub(crate) cache: Option<Box<Cache>>,
}

/// The buffers of a reader, and its limits. They are boxed because a reader is moved several times for each message.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// The limits for the current document.
    limits: Limits,
    open: Vec<Open>,
    namespaces: Namespaces,
    attributes: Vec<RawAttribute>,
    /// Indices of attributes sorted by name, for a tag with many attributes.
    order: Vec<usize>,
    /// Attribute values that differ from the text of the document.
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
    /// Nothing was read yet. An XML declaration may follow.
    Start,
    Prolog,
    Content,
    Epilog,
}

/// An element whose end tag was not read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) name: u32,
    name_length: u32,
    local: u32,
    /// How many declarations were in scope outside it.
    namespaces: u32,
    /// The id of its tags in the cache of a [`CachedReader`](crate::CachedReader), 0 if there is none. The tokeniser
    /// ignores it.
    tag_id: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RawAttribute {
    name: u32,
    name_length: u32,
    local: u32,
    /// A fingerprint of the local name. Few other attributes in a tag have the same one.
    fingerprint: u32,
    prefix: Prefix,
    namespace: NamespaceId,
    value: Span,
}

/// What the prefix of an attribute means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prefix {
    /// It has no prefix and is in no namespace.
    None,
    /// It has a prefix and is in a namespace.
    Qualifies,
    /// It is a namespace declaration.
    Declares,
}

/// Where a value is stored.
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
    /// A default value. `start` is the number of the attribute's declaration.
    Default,
}

/// The capacity that is retained from one document to the next: open elements, and bytes of attribute values and of a
/// text.
const RETAINED_DEPTH: usize = 1 << 10;
const RETAINED_VALUES: usize = 16 << 10;

impl<'a> Reader<'a> {
    /// Creates a reader of `input`, which is UTF-8 with or without a byte order mark.
    ///
    /// # Errors
    /// [`ErrorKind::Encoding`] if it is not UTF-8, [`ErrorKind::Limit`] if it is too large.
    pub fn new(input: &'a [u8], limits: Limits) -> Result<Self, Error> {
        Self::with_memory(input, limits, &mut Memory::default())
    }

    /// Creates a reader of `input` with the buffers of an earlier reader, which it takes from `memory`.
    ///
    /// # Errors
    /// [`ErrorKind::Encoding`] if the input is not UTF-8, [`ErrorKind::Limit`] if it is too large. `memory` is then
    /// unchanged.
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
        Ok(Self::over(input, limits, std::mem::take(memory), false))
    }

    /// Creates a reader of text that was decoded already ([`decode`](crate::decode)). The encoding that the text
    /// declares is ignored.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the text is too large. `memory` is then unchanged.
    #[doc(hidden)]
    pub fn decoded(text: &'a str, limits: Limits, memory: &mut Memory) -> Result<Self, Error> {
        check_size(text.len(), limits)?;
        Ok(Self::over(text, limits, std::mem::take(memory), true))
    }

    /// Creates a reader of the content of an element: text and child elements. `declarations` are the namespace
    /// declarations in scope, outermost first. The content has been read when [`depth`](Self::depth) is 1 and
    /// [`offset`](Self::offset) is at its end.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the content is too large.
    pub fn of_content<'d>(
        content: &'a str,
        declarations: impl IntoIterator<Item = (&'d str, &'d str)>,
        limits: Limits,
    ) -> Result<Self, Error> {
        Self::of_content_with(content, declarations, limits, &mut Memory::default())
    }

    /// Creates a reader of the content of an element with the buffers of an earlier reader, which it takes from
    /// `memory`. `declarations` are the namespace declarations in scope, outermost first.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if the content is too large. `memory` is then unchanged.
    #[doc(hidden)]
    pub fn of_content_with<'d>(
        content: &'a str,
        declarations: impl IntoIterator<Item = (&'d str, &'d str)>,
        limits: Limits,
        memory: &mut Memory,
    ) -> Result<Self, Error> {
        check_size(content.len(), limits)?;
        let mut reader = Self::over(content, limits, std::mem::take(memory), true);
        // In content, a byte order mark is text.
        reader.at = 0;
        for (prefix, name) in declarations {
            reader.memory.namespaces.declare(prefix, name);
        }
        reader.memory.open.push(Open { name: 0, name_length: 0, local: 0, namespaces: 0, tag_id: 0 });
        reader.stage = Stage::Content;
        Ok(reader)
    }

    fn over(input: &'a str, limits: Limits, memory: Memory, is_decoded: bool) -> Self {
        let Memory { buffers, cache } = memory;
        let mut memory = buffers.unwrap_or_default();
        memory.open.clear();
        memory.namespaces.clear();
        memory.attributes.clear();
        memory.limits = limits;
        Reader {
            input,
            at: if input.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 },
            memory,
            cache,
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

    /// Returns the buffers for the next document. Buffers that an unusual document made large are shrunk.
    #[doc(hidden)]
    pub fn into_memory(mut self) -> Memory {
        self.memory.open.clear();
        self.memory.open.shrink_to(RETAINED_DEPTH);
        self.memory.values.clear();
        self.memory.values.shrink_to(RETAINED_VALUES);
        self.memory.text.clear();
        self.memory.text.shrink_to(RETAINED_VALUES);
        Memory { buffers: Some(self.memory), cache: self.cache }
    }

    /// Returns the text of the document.
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

    /// Returns the end of the white space that begins at `offset`.
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

    /// Whether the start tag that was read last is an empty-element tag whose end was not read yet.
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

    /// Returns the name in the next tag, which must be a start tag. White space may precede the tag.
    #[doc(hidden)]
    pub fn name_ahead(&self) -> Option<QName<'a>> {
        let tag = end_of_white_space(self.input.as_bytes(), self.at);
        self.qname(tag + 1).ok().map(|(name, _)| name)
    }

    /// Returns the offset of the start tag of the innermost open element, and the name in it.
    #[doc(hidden)]
    pub fn innermost_tag(&self) -> Option<(usize, QName<'a>)> {
        let open = self.memory.open.last()?;
        Some((open.name_at() - '<'.len_utf8(), QName::new(self.open_name(), open.local())))
    }

    /// Returns the offset of the next byte to be read. While an entity is read, this is the end of the reference to it.
    #[inline]
    pub fn offset(&self) -> usize {
        match &self.document {
            None => self.at,
            Some(document) => document.end_offset(self.at),
        }
    }

    /// Returns how many elements are open.
    #[inline]
    pub fn depth(&self) -> usize {
        self.memory.open.len()
    }

    /// Whether the XML declaration has `standalone="yes"` (XML 1.0 §2.9). It is known once the declaration was read.
    pub fn is_standalone(&self) -> bool {
        self.is_standalone
    }

    /// Returns the limits that the reader enforces.
    #[inline]
    pub fn limits(&self) -> Limits {
        self.memory.limits
    }

    /// Returns the name of a namespace, empty for [`NamespaceId::NONE`].
    #[inline]
    pub fn namespace(&self, id: NamespaceId) -> &str {
        self.memory.namespaces.name(id)
    }

    /// Returns the name of a namespace as a shared string that outlives the document.
    #[doc(hidden)]
    pub fn shared_namespace(&self, id: NamespaceId) -> Arc<str> {
        self.memory.namespaces.shared_name(id)
    }

    /// Returns the name of the namespace that `prefix` is bound to, as a shared string that outlives the document.
    /// `None` if the prefix is unbound.
    #[doc(hidden)]
    pub fn resolve_shared(&self, prefix: &str) -> Option<Arc<str>> {
        self.memory.namespaces.resolve(prefix).map(|id| self.memory.namespaces.shared_name(id))
    }

    /// Returns the name of the namespace that `prefix` is bound to here, or `None` if the prefix is unbound. The empty
    /// prefix stands for the default namespace, whose name is empty if there is none.
    #[inline]
    pub fn resolve(&self, prefix: &str) -> Option<&str> {
        self.memory.namespaces.resolve(prefix).map(|id| self.memory.namespaces.name(id))
    }

    /// Returns about how many bytes [`scope`](Self::scope) would allocate here.
    #[doc(hidden)]
    pub fn cost_of_scope(&self) -> usize {
        self.memory.namespaces.cost_of_shared_scope()
    }

    /// Returns the declarations in scope, in a form that outlives the document.
    pub fn scope(&self) -> Scope {
        self.memory.namespaces.shared_scope()
    }

    /// Returns every prefix in scope with its namespace name, innermost first. Declarations that are hidden by inner
    /// ones are included.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.memory.namespaces.iter()
    }

    /// Returns the namespace declarations of the innermost open element, each prefix with its namespace name, last one
    /// first. The empty prefix stands for the default namespace; the empty name undeclares it.
    pub fn declarations(&self) -> impl Iterator<Item = (&str, &str)> {
        let outside = self.memory.open.last().map_or(0, |open| open.namespaces as usize);
        self.memory.namespaces.iter().take(self.memory.namespaces.len() - outside)
    }

    /// Returns the attributes of the start tag that was read last, without namespace declarations.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'_>> {
        let attributes = self.memory.attributes.iter().filter(|raw| raw.prefix != Prefix::Declares);
        attributes.map(|raw| self.attribute_of(raw))
    }

    /// Returns the names of the attributes of the start tag that was read last, without namespace declarations. Each
    /// has the number to pass to [`attribute_value`](Self::attribute_value), the namespace (empty for none) and the
    /// local name.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_names(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let numbered = self.memory.attributes.iter().enumerate();
        let attributes = numbered.filter(|(_, raw)| raw.prefix != Prefix::Declares);
        attributes.map(|(number, raw)| (number, self.namespace(raw.namespace), self.raw_name(raw).local()))
    }

    /// Returns the normalised value of an attribute, and the byte offset of its name. `number` is a number that
    /// [`attribute_names`](Self::attribute_names) returned.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_value(&self, number: usize) -> Option<(&str, usize)> {
        let raw = self.memory.attributes.get(number)?;
        Some((self.value(raw.value), self.attribute_offset(raw)))
    }

    /// Returns the attribute with this local name in `namespace`, which must not be empty: attributes without a prefix
    /// are skipped.
    #[inline]
    pub fn qualified_attribute(&self, namespace: &str, local: &str) -> Option<Attribute<'_>> {
        let mut qualified = self.memory.attributes.iter().filter(|raw| raw.prefix == Prefix::Qualifies);
        let is_it =
            |raw: &&RawAttribute| self.raw_name(raw).local() == local && self.namespace(raw.namespace) == namespace;
        qualified.find(is_it).map(|raw| self.attribute_of(raw))
    }

    /// Returns the normalised value of an attribute, and the byte offset of its name. The value outlives the next
    /// token. `number` is a number that [`attribute_names`](Self::attribute_names) returned.
    #[doc(hidden)]
    pub fn attribute_value_cow(&self, number: usize) -> Option<(Cow<'a, str>, usize)> {
        let raw = self.memory.attributes.get(number)?;
        let value = match raw.value.source {
            Source::Input => Cow::Borrowed(&self.input[raw.value.start as usize..raw.value.end as usize]),
            _ => Cow::Owned(self.value(raw.value).to_owned()),
        };
        Some((value, self.attribute_offset(raw)))
    }

    /// Returns the numbers and local names of the attributes of the start tag that was read last, without namespace
    /// declarations.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_locals(&self) -> impl Iterator<Item = (usize, &str)> {
        let numbered = self.memory.attributes.iter().enumerate();
        let attributes = numbered.filter(|(_, raw)| raw.prefix != Prefix::Declares);
        attributes.map(|(number, raw)| (number, self.raw_name(raw).local()))
    }

    /// Returns the namespace of the attribute with this number, empty for none.
    #[doc(hidden)]
    #[inline]
    pub fn attribute_namespace(&self, number: usize) -> &str {
        self.memory.attributes.get(number).map_or("", |raw| self.namespace(raw.namespace))
    }

    /// Returns the offsets of the start tags of all open elements, outermost first.
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

    /// Reads the next token.
    ///
    /// # Errors
    /// The first error in the document. What the reader returns after an error is unspecified.
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
            Some(b'<') => match self.cached_start_tag() {
                Some(tag) => Ok(Token::StartTag(tag)),
                None => self.markup(),
            },
            Some(_) if self.stage == Stage::Content => self.text(),
            Some(_) => self.outside_root(),
            None => self.end(),
        }
    }

    /// Reads the next token in the cases that [`next`](Self::next) handles apart: the end of an empty-element tag, and
    /// documents with a document type declaration.
    fn next_but_not_here(&mut self) -> Result<Token<'a>, Error> {
        if self.is_watched {
            return self.next_in_document();
        }
        self.end_is_due = false;
        Ok(self.close())
    }

    /// Reads to the end tag of the innermost open element, and checks everything on the way.
    ///
    /// # Errors
    /// The first error in the document.
    pub fn skip_element(&mut self) -> Result<(), Error> {
        let outside = self.depth().saturating_sub(1);
        while self.depth() > outside {
            self.next()?;
        }
        Ok(())
    }

    /// Continues at `offset`. Text, a child or the end tag of the innermost open element must begin there, as another
    /// reader of this document has found. Otherwise the tokens that follow are unspecified.
    #[doc(hidden)]
    pub fn seek(&mut self, offset: usize) {
        debug_assert!(self.document.is_none(), "places in entities are not places in the document");
        if self.input.is_char_boundary(offset) {
            self.end_is_due = false;
            self.consume_to(offset);
        }
    }

    /// Skips the rest of the innermost open element, which ends before `offset`. Another reader of this document has
    /// checked it.
    #[doc(hidden)]
    pub fn close_at(&mut self, offset: usize) {
        self.seek(offset);
        self.close();
    }

    /// Reads what begins with `<`, except end tags.
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

    /// Checks the length of the markup at `offset`. Excess length is reported before any other error in the markup,
    /// because a reader of pieces gives up before the rest of it has arrived.
    #[cold]
    fn check_markup_length(&self, offset: usize) -> Result<(), Error> {
        if boundary::is_too_long(&self.input.as_bytes()[offset..], self.memory.limits) {
            return Err(self.markup_too_long(offset));
        }
        Ok(())
    }

    // ---- outside the root element ----

    /// White space before or after the root element.
    fn outside_root(&mut self) -> Result<Token<'a>, Error> {
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
            Stage::Content => Err(self.unexpected_end(&format!("where </{}> was expected", self.open_name()))),
            _ => Err(self.unexpected_end("before any element")),
        }
    }

    /// Returns the name of the innermost open element, as written.
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
    fn unexpected_end(&self, place: &str) -> Error {
        Error::new(ErrorKind::Syntax, self.input.len(), format!("the document ends {place}"))
    }

    /// Returns a description of the character at `at`, for error messages.
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

/// Reads the comment or processing instruction at `at` in a document type declaration. Returns it, and where it ends.
pub(crate) fn read_misc(text: &str, at: usize, limits: Limits) -> Result<(Token<'_>, usize), Error> {
    let mut reader = Reader::over(text, limits, Memory::default(), true);
    reader.stage = Stage::Prolog;
    reader.at = at;
    let token = reader.markup()?;
    Ok((token, reader.at))
}

/// Returns the offset of the first byte from `at` on that is not white space (XML 1.0, production 3).
#[inline]
fn end_of_white_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests;
