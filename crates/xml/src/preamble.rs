//! Beginnings and ends of documents that were read before.
//!
//! A client begins all its messages for an operation alike: declaration, envelope, body, the element of the operation.
//! A document that begins with bytes which were read before brings the reader to the state it had behind them, since
//! nothing else went into that state. An end of a document that was read before does so from a given state.

use crate::Limits;
use crate::namespaces::{NamespaceId, Namespaces};
use crate::reader::Open;

/// How many beginnings are kept: as many operations and kinds of clients as take turns.
const MOST: usize = 8;
/// The longest beginning, and the longest end, that is kept, in bytes.
const LONGEST: usize = 1024;

/// The beginnings that were read before, the one that was met last in front.
#[derive(Debug, Default)]
pub(crate) struct Preambles(Vec<Preamble>);

/// A beginning, up to and including a start tag without attributes, with the state that the reader had behind it.
#[derive(Debug, Default)]
pub(crate) struct Preamble {
    bytes: Vec<u8>,
    limits: Limits,
    /// What encoding it declares was not looked at.
    is_decoded: bool,
    /// What is open behind it; the last one is the element that it ends with.
    pub(crate) open: Vec<Open>,
    pub(crate) namespaces: Namespaces,
    /// Whether the last element is empty, so that its end is due.
    pub(crate) is_empty: bool,
    /// The namespaces of the root element and of the last one.
    pub(crate) root: NamespaceId,
    pub(crate) last: NamespaceId,
    pub(crate) previous_tag_end: usize,
    /// What stood behind the end of the element that was begun, up to the end of the document.
    rest: Vec<u8>,
}

impl Preambles {
    /// The beginning that `input` has, if it was met before under the same limits.
    pub(crate) fn find(&mut self, input: &[u8], limits: Limits, is_decoded: bool) -> Option<&Preamble> {
        let is_same = |known: &Preamble| known.limits == limits && known.is_decoded == is_decoded;
        let index = self.0.iter().position(|known| input.starts_with(&known.bytes) && is_same(known))?;
        // Mostly it is there already, and a swap with itself copies it all the same.
        if index > 0 {
            self.0.swap(0, index);
        }
        self.0.first()
    }

    /// The beginning that was met last.
    pub(crate) fn first(&mut self) -> Option<&mut Preamble> {
        self.0.first_mut()
    }

    /// Keeps a beginning, unless it is too long, and returns it for the state behind it to be filled in.
    pub(crate) fn keep(&mut self, bytes: &[u8], limits: Limits, is_decoded: bool) -> Option<&mut Preamble> {
        if bytes.len() > LONGEST {
            return None;
        }
        if self.0.len() < MOST {
            self.0.push(Preamble::default());
        }
        let last = self.0.len() - 1;
        self.0.swap(0, last);
        let preamble = &mut self.0[0];
        preamble.bytes.clear();
        preamble.bytes.extend_from_slice(bytes);
        preamble.limits = limits;
        preamble.is_decoded = is_decoded;
        preamble.rest.clear();
        Some(preamble)
    }
}

impl Preamble {
    /// How long it is, in bytes.
    pub(crate) fn length(&self) -> usize {
        self.bytes.len()
    }

    /// Whether what is open here is what was open around the last element of the beginning.
    pub(crate) fn is_left(&self, open: &[Open]) -> bool {
        let outside = self.open.split_last().map(|(_, outside)| outside).unwrap_or_default();
        // An element is known by where its name stands; what it is in stands before it, where the bytes are equal.
        outside.len() == open.len() && outside.last().map(|open| open.name) == open.last().map(|open| open.name)
    }

    /// Whether a document with this beginning ended with `bytes` before, once the element was closed.
    pub(crate) fn is_rest(&self, open: &[Open], bytes: &[u8]) -> bool {
        !self.rest.is_empty() && self.rest == bytes && self.is_left(open)
    }

    /// Keeps the end of a document with this beginning, from where the element was closed; only what was open around
    /// it [is left](Self::is_left) there.
    pub(crate) fn keep_rest(&mut self, bytes: &[u8]) {
        if bytes.len() <= LONGEST {
            self.rest.clear();
            self.rest.extend_from_slice(bytes);
        }
    }
}
