//! Beginnings and ends of documents.
//!
//! A client begins all its messages for an operation alike: declaration, envelope, body, the element of the operation. A document
//! that begins with cached bytes brings the reader into the state that it had after them, since nothing else goes into that
//! state. The bytes that follow the payload bring it to the end of the document.

use crate::Limits;
use crate::namespaces::NamespaceId;
use crate::reader::Snapshot;
use crate::token::StartTag;

use super::CachedReader;

/// How many prologues are cached: as many operations and kinds of clients as take turns.
const MAX_PROLOGUES: usize = 8;
/// The longest prologue and the longest epilogue that are cached, in bytes.
const MAX_LENGTH: usize = 1024;

/// Cached prologues, the most recently used one first.
#[derive(Debug, Default)]
pub(super) struct Prologues(Vec<Prologue>);

/// The beginning of a document, up to a start tag that has no attributes, and the state that a reader has after it.
#[derive(Debug, Default)]
struct Prologue {
    bytes: Vec<u8>,
    limits: Limits,
    /// Whether the encoding that the document declares was ignored.
    is_decoded: bool,
    state: Snapshot,
    /// The namespaces of the root element and of the last one.
    root: NamespaceId,
    last: NamespaceId,
    /// The bytes from the end of the last element to the end of the document.
    epilogue: Vec<u8>,
}

impl Prologues {
    /// Returns the prologue that `input` begins with, if it was read under the same limits.
    fn find(&mut self, input: &[u8], limits: Limits, is_decoded: bool) -> Option<&Prologue> {
        let is_same = |cached: &Prologue| cached.limits == limits && cached.is_decoded == is_decoded;
        let index = self.0.iter().position(|cached| input.starts_with(&cached.bytes) && is_same(cached))?;
        // It is mostly there already, and swapping it with itself would copy it.
        if index > 0 {
            self.0.swap(0, index);
        }
        self.0.first()
    }

    /// Adds a prologue, unless it is too long. The caller fills in its state.
    fn insert(&mut self, bytes: &[u8], limits: Limits, is_decoded: bool) -> Option<&mut Prologue> {
        if bytes.len() > MAX_LENGTH {
            return None;
        }
        if self.0.len() < MAX_PROLOGUES {
            self.0.push(Prologue::default());
        }
        let last = self.0.len() - 1;
        self.0.swap(0, last);
        let prologue = &mut self.0[0];
        prologue.bytes.clear();
        prologue.bytes.extend_from_slice(bytes);
        prologue.limits = limits;
        prologue.is_decoded = is_decoded;
        prologue.epilogue.clear();
        Some(prologue)
    }
}

impl<'a> CachedReader<'a> {
    /// Consumes the beginning of the document, if it is cached. Returns the start tag that it ends with, and the namespace of the
    /// root element.
    pub fn cached_prologue(&mut self) -> Option<(StartTag<'a>, NamespaceId)> {
        if !self.reader.is_at_start() {
            return None;
        }
        let (limits, is_decoded) = (self.reader.limits(), self.reader.is_decoded());
        let prologue = self.cache.prologues.find(self.reader.bytes(), limits, is_decoded)?;
        let name = self.reader.restore(&prologue.state, prologue.bytes.len())?;
        self.prologue = true;
        let offset = self.reader.innermost()?.name_at() - '<'.len_utf8();
        Some((StartTag { name, namespace: prologue.last, offset }, prologue.root))
    }

    /// Caches the beginning of the document up to `tag`, which was read last. `root` is the namespace of the root element. Does
    /// nothing if the tag has attributes.
    pub fn cache_prologue(&mut self, tag: StartTag<'a>, root: NamespaceId) {
        let is_usual = self.reader.may_be_snapshot() && self.reader.attributes().next().is_none();
        if !self.cache.used.prologues || !is_usual {
            return;
        }
        let (limits, is_decoded) = (self.reader.limits(), self.reader.is_decoded());
        let bytes = &self.reader.bytes()[..self.reader.position()];
        if let Some(prologue) = self.cache.prologues.insert(bytes, limits, is_decoded) {
            self.reader.save(&mut prologue.state);
            prologue.root = root;
            prologue.last = tag.namespace;
            self.prologue = true;
        }
    }

    /// Consumes the rest of the document, if the last element of its prologue was closed last and the rest is cached.
    pub fn cached_epilogue(&mut self) -> bool {
        if !self.prologue || self.reader.end_is_due() {
            return false;
        }
        let rest = &self.reader.bytes()[self.reader.position()..];
        let is_cached = self.cache.prologues.0.first().is_some_and(|prologue| {
            !prologue.epilogue.is_empty() && prologue.epilogue == rest && self.reader.has_closed(&prologue.state)
        });
        if is_cached {
            self.reader.consume_epilogue();
        }
        is_cached
    }

    /// Reads the rest of the document by `read`, and caches it if the last element of the prologue was closed last and the document
    /// ends there.
    ///
    /// # Errors
    /// The error that `read` returns.
    pub fn cache_epilogue<E>(&mut self, read: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        let offset = self.reader.position();
        let prologue = self.cache.prologues.0.first();
        let is_usual = self.prologue
            && !self.reader.end_is_due()
            && prologue.is_some_and(|prologue| self.reader.has_closed(&prologue.state));
        read(self)?;
        let rest = &self.reader.bytes()[offset..];
        if is_usual
            && self.reader.is_at_end()
            && rest.len() <= MAX_LENGTH
            && let Some(prologue) = self.cache.prologues.0.first_mut()
        {
            prologue.epilogue.clear();
            prologue.epilogue.extend_from_slice(rest);
        }
        Ok(())
    }
}
