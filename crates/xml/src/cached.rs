//! Tags that are recognised by their bytes, without being tokenised.
//!
//! Messages of one kind carry the same tags in the same positions. Where a schema says which element follows, the bytes of
//! its tags (white space, `<`, name, `>`) are cached when they are tokenised for the first time. The next time one comparison
//! replaces the tokeniser: equal bytes under equal namespace declarations are equal tokens. Nothing is derived from the schema
//! or guessed; a cache only ever holds what the tokeniser has read and checked. Whatever doesn't match is tokenised.
//!
//! Each cache is filled by a function `cache_…`, used by one `cached_…`, and can be switched off by a field of [`Caches`]:
//!
//! | cache | key | what it saves |
//! |---|---|---|
//! | [`prologues`] | the first bytes of a document | tokens up to the payload, and those after it |
//! | [`tags`] | slot of an element, declarations in scope | tokenising start tags without attributes, and end tags |
//! | [`attribute_tags`] | as above, and all bytes but the attribute values | tokenising start tags with attributes and empty-element tags |
//! | attribute indexes | attribute tag, table of attributes | looking up which attributes of a tag are those of a type |
//! | [`successors`] | the tag before | trying each element that a content model allows |
//! | [`interner`](crate::interner) | up to 31 bytes of a name | checking a name, and resolving its prefix |
//!
//! # State
//!
//! A [`CachedReader`] is a [`Reader`] with a few more values. Each value has a condition under which it is valid, so that no value
//! must be reset when the reader moves:
//!
//! | value | valid while | set by |
//! |---|---|---|
//! | `scope`: the declarations that cached tags are for | the reader is in this scope, and no end of an empty-element tag is pending | [`use_cached_tags`](CachedReader::use_cached_tags), [`extend_cached_tags`](CachedReader::extend_cached_tags), [`open_like`](CachedReader::open_like) |
//! | `last`: the cached tag that was consumed last | the reader is at its end | every `cached_…` and `cache_…` that consumes or caches a tag |
//! | `attribute_tag`: the attribute tag that was consumed last | the reader is at its end | [`cached_tag`](CachedReader::cached_tag) |
//! | `prediction`: what follows | the reader is at this offset, before or after the end of an empty-element tag | [`predict`](CachedReader::predict), [`predict_end_of_empty`](CachedReader::predict_end_of_empty) |
//! | `prologue`: the document begins with the first cached prologue | always | [`cached_prologue`](CachedReader::cached_prologue), [`cache_prologue`](CachedReader::cache_prologue) |

mod attribute_tags;
mod attributes;
mod pattern;
mod plain;
mod prediction;
mod prologues;
mod slot_id;
mod successors;
mod tags;
mod template;

use std::ops::{Deref, DerefMut};

use crate::Limits;
use crate::error::Error;
use crate::reader::{Memory, RawAttribute, Reader};

pub use attribute_tags::AttributeIndex;
pub use plain::CachedText;
pub use prediction::Predicted;
pub use slot_id::SlotId;
pub use tags::name_hash;
pub use template::Template;

use prediction::Prediction;
use prologues::Prologues;
use successors::TagId;
use tags::Tags;

/// Which caches are used. All are, unless tests or measurements switch some off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// Beginnings and ends of documents.
    pub prologues: bool,
    /// Tags, with and without attributes.
    pub tags: bool,
    /// Start tags with attributes, and empty-element tags.
    pub attribute_tags: bool,
    /// Which attributes of a cached tag are those of a type.
    pub attribute_indexes: bool,
    /// Which tag follows which.
    pub predictions: bool,
    /// Names.
    pub names: bool,
}

impl Caches {
    /// All caches.
    pub const ALL: Caches = Caches {
        prologues: true,
        tags: true,
        attribute_tags: true,
        attribute_indexes: true,
        predictions: true,
        names: true,
    };
    /// No cache: everything is tokenised.
    pub const NONE: Caches = Caches {
        prologues: false,
        tags: false,
        attribute_tags: false,
        attribute_indexes: false,
        predictions: false,
        names: false,
    };

    /// Returns these caches without those in a list of fields, separated by commas. An empty list has none. Returns `None` if there
    /// is no such field.
    pub fn without(mut self, list: &str) -> Option<Self> {
        for name in list.split(',').filter(|name| !name.is_empty()) {
            let field = match name {
                "prologues" => &mut self.prologues,
                "tags" => &mut self.tags,
                "attribute_tags" => &mut self.attribute_tags,
                "attribute_indexes" => &mut self.attribute_indexes,
                "predictions" => &mut self.predictions,
                "names" => &mut self.names,
                _ => return None,
            };
            *field = false;
        }
        Some(self)
    }
}

/// What was cached. It is handed from one document to the next as a part of [`Memory`].
#[derive(Debug)]
pub(crate) struct Cache {
    used: Caches,
    prologues: Prologues,
    tags: Tags,
    /// The attributes of a tag that is compared.
    spare: Vec<RawAttribute>,
    /// The memories of other readers of the same document.
    others: Vec<Memory>,
}

impl Cache {
    pub(crate) fn new(used: Caches) -> Self {
        Cache { used, prologues: Prologues::default(), tags: Tags::default(), spare: Vec::new(), others: Vec::new() }
    }
}

impl Default for Cache {
    fn default() -> Self {
        Cache::new(Caches::ALL)
    }
}

/// How many memories of other readers are kept from one document to the next.
const MAX_OTHER_MEMORIES: usize = 2;

impl Memory {
    /// Memory without contents, for readers that use these caches.
    pub fn with_caches(used: Caches) -> Self {
        let mut memory = Memory { cache: Some(Box::new(Cache::new(used))), ..Memory::default() };
        memory.buffers.get_or_insert_default().switch_interner(used.names);
        memory
    }

    /// Keeps the memory of another reader of the same document, unless there are many.
    pub fn add_other_memory(&mut self, other: Memory) {
        let others = &mut self.cache.get_or_insert_default().others;
        if others.len() < MAX_OTHER_MEMORIES {
            others.push(other);
        }
    }
}

/// No scope has this number.
const NO_SCOPE: u64 = u64::MAX;

/// A [`Reader`] that recognises tags which it has read before. The module documentation in `cached.rs` lists what is cached.
///
/// Its tokens, errors and offsets are those of the [`Reader`], to which it dereferences.
#[derive(Debug)]
pub struct CachedReader<'a> {
    reader: Reader<'a>,
    cache: Box<Cache>,
    /// The scope in which cached tags hold, [`NO_SCOPE`] if they do nowhere.
    scope: u64,
    /// How many of the declarations in scope the cache was selected for. Cached tags name none of the others.
    outside: usize,
    /// The cached tag that was consumed last, and the offset of its end.
    last: (usize, TagId),
    /// The attribute tag that was consumed last: the offset of its end, the id of its slot and its number.
    attribute_tag: (usize, u64, u16),
    prediction: Prediction,
    /// Whether the document begins with the first of the cached prologues.
    prologue: bool,
}

impl<'a> CachedReader<'a> {
    /// Creates a reader of a document, with nothing cached.
    ///
    /// # Errors
    /// [`ErrorKind::Encoding`](crate::ErrorKind::Encoding) if the document is not UTF-8, [`ErrorKind::Limit`](crate::ErrorKind::Limit)
    /// if it is too large.
    pub fn new(input: &'a [u8], limits: Limits) -> Result<Self, Error> {
        Self::with_memory(input, limits, &mut Memory::default())
    }

    /// Creates a reader of a document from the memory of an earlier one, which it takes.
    ///
    /// # Errors
    /// [`ErrorKind::Encoding`](crate::ErrorKind::Encoding) if the document is not UTF-8, [`ErrorKind::Limit`](crate::ErrorKind::Limit)
    /// if it is too large. The memory then stays where it is.
    pub fn with_memory(input: &'a [u8], limits: Limits, memory: &mut Memory) -> Result<Self, Error> {
        Reader::with_memory(input, limits, memory).map(Self::from)
    }

    /// Creates a reader of a decoded text from the memory of an earlier one, which it takes. The encoding that the document
    /// declares is ignored.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit) if the text is too large. The memory then stays where it is.
    pub fn decoded(text: &'a str, limits: Limits, memory: &mut Memory) -> Result<Self, Error> {
        Reader::decoded(text, limits, memory).map(Self::from)
    }

    /// Returns the memory, for the next document.
    pub fn into_memory(self) -> Memory {
        Memory { cache: Some(self.cache), ..self.reader.into_memory() }
    }

    /// Takes the memories of other readers that were kept ([`Memory::add_other_memory`]).
    pub fn other_memories(&mut self) -> Vec<Memory> {
        std::mem::take(&mut self.cache.others)
    }

    /// Creates a reader of the same document, at its beginning. Without a memory it uses the same caches, which are empty.
    pub fn fork(&self, memory: Option<Memory>) -> CachedReader<'a> {
        self.reader.fork(memory.unwrap_or_else(|| Memory::with_caches(self.cache.used))).into()
    }

    /// Continues at `offset` ([`Reader::seek`]).
    pub fn seek(&mut self, offset: usize) {
        self.reader.seek(offset);
        self.last = (usize::MAX, TagId::NONE);
        self.prediction = Prediction::NONE;
    }

    /// Selects the tags that were cached under the declarations that are now in scope. They hold in the content of the element
    /// that was opened last, wherever nothing else is declared.
    pub fn use_cached_tags(&mut self) {
        self.scope = NO_SCOPE;
        // A prediction may be about tags of another set.
        self.last = (usize::MAX, TagId::NONE);
        self.prediction = Prediction::NONE;
        if !self.cache.used.tags || !self.reader.may_be_recognised(pattern::MAX_LENGTH) {
            return;
        }
        if self.cache.tags.select(self.reader.namespaces_in_scope().text()) {
            self.outside = self.reader.namespaces_in_scope().len();
            self.scope = self.reader.namespaces_in_scope().scope();
        }
    }

    /// Whether cached tags hold here.
    #[inline]
    fn tags_are_valid(&self) -> bool {
        self.is_in_scope() && !self.reader.end_is_due()
    }

    /// Whether cached tags hold here, and a start tag nests no deeper than the limit.
    #[inline]
    fn may_start(&self) -> bool {
        self.tags_are_valid() && self.reader.depth() < self.reader.max_depth()
    }

    /// Whether the reader is in the scope that cached tags are for.
    #[inline]
    fn is_in_scope(&self) -> bool {
        self.scope == self.reader.namespaces_in_scope().scope()
    }

    /// Whether a tag has the same meaning if only the declarations are in scope that the cache was selected for. It must not use
    /// the prefix of a later declaration. A part of the tag that only looks like a prefix counts as one.
    fn is_valid_outside(&self, tag: &[u8]) -> bool {
        let namespaces = self.reader.namespaces_in_scope();
        let has = |prefix: &str| {
            let prefix = prefix.as_bytes();
            tag.windows(prefix.len() + 1).any(|name| name.starts_with(prefix) && name.ends_with(b":"))
        };
        // A reference to a character may stand for a character of a prefix.
        namespaces.len() == self.outside
            || !tag.contains(&b'&')
                && !namespaces.inside(self.outside).any(|(prefix, _)| prefix.is_empty() || has(prefix))
    }

    /// Notes that a cached tag was consumed, which ends here.
    #[inline]
    fn consumed(&mut self, tag: TagId) {
        self.last = (self.reader.position(), tag);
    }

    /// The cached tag that ends here.
    fn last_tag(&self) -> TagId {
        let (end, tag) = self.last;
        if end == self.reader.position() { tag } else { TagId::NONE }
    }

    /// Consumes the end of the element that was opened last, if its start tag is an empty-element tag and was read last.
    #[inline]
    pub fn end_of_empty(&mut self) -> bool {
        let is_consumed = self.reader.end_of_empty();
        if is_consumed && self.last.0 == self.reader.position() {
            self.last.1 = self.last.1.of_end();
        }
        is_consumed
    }
}

impl<'a> From<Reader<'a>> for CachedReader<'a> {
    /// A reader with what was cached in its memory.
    fn from(mut reader: Reader<'a>) -> Self {
        CachedReader {
            cache: reader.take_cache().unwrap_or_default(),
            reader,
            scope: NO_SCOPE,
            outside: 0,
            last: (usize::MAX, TagId::NONE),
            attribute_tag: (usize::MAX, 0, 0),
            prediction: Prediction::NONE,
            prologue: false,
        }
    }
}

impl<'a> Deref for CachedReader<'a> {
    type Target = Reader<'a>;

    #[inline]
    fn deref(&self) -> &Reader<'a> {
        &self.reader
    }
}

impl DerefMut for CachedReader<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.reader
    }
}

#[cfg(test)]
mod tests;
