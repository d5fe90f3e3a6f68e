//! What canonical forms are written to while a signature is verified.

use std::cell::Cell;

use castile_xml::c14n::Sink;

use crate::canonical::start_of_token;
use crate::crypto::Digest;
use crate::included::{Gap, PartsInside};

/// What a gap costs beside its text, in bytes.
const GAP: usize = 64;

/// What a piece of text costs at least, in bytes: many tags are written in several short ones.
const PIECE: usize = 16;

/// Maximum length of a canonical `SignedInfo`, in bytes. Nobody has been identified when it is read.
const MAX_SIGNED_INFO: usize = 256 << 10;

pub(super) struct SignedInfo(pub(super) Vec<u8>);

impl Sink for &mut SignedInfo {
    fn text(&mut self, piece: &str) {
        self.0.extend(piece.as_bytes());
    }

    fn is_full(&self) -> bool {
        self.0.len() > MAX_SIGNED_INFO
    }
}

/// Counts what all sinks of all signatures receive.
pub(super) struct Limited<'s> {
    pub(super) sink: &'s mut DigestSink,
    /// How many bytes may still come. `None` if there were more.
    pub(super) left: &'s Cell<Option<usize>>,
    pub(super) fault_prefix: Option<&'s (usize, String)>,
    /// The elements that stand for parts.
    pub(super) parts: Option<&'s PartsInside<'s>>,
}

impl Sink for Limited<'_> {
    fn text(&mut self, text: &str) {
        less(self.left, text.len().max(PIECE));
        if let (false, Some(parts)) = (self.sink.gaps.is_empty(), self.parts) {
            less(&parts.kept, text.len());
        }
        if !self.is_full() {
            self.sink.push(text);
        }
    }

    fn is_full(&self) -> bool {
        self.left.get().is_none() || self.parts.is_some_and(|parts| parts.kept.get().is_none())
    }

    fn next_replaced(&self, offset: usize) -> Option<usize> {
        self.parts?.includes.next_from(offset)
    }

    fn replace(&mut self, offset: usize) {
        let Some(parts) = self.parts else { return };
        let Some(number) = parts.includes.number_at(offset) else { return };
        less(&parts.kept, GAP);
        self.sink.gaps.push(Gap { number, text: String::new() });
    }

    fn wants_omitted_prefixes(&self) -> bool {
        self.sink.wants_omitted && self.sink.omitted.is_none()
    }

    fn omitted_prefix(&mut self, prefix: &str, offset: usize) {
        if self.fault_prefix.is_none_or(|(at, known)| *at != offset || known != prefix) {
            self.sink.omitted.get_or_insert_with(|| (prefix.to_owned(), offset));
        }
    }
}

/// Subtracts bytes from those that may still come, and returns the rest. `None` if there were more.
pub(super) fn less(left: &Cell<Option<usize>>, bytes: usize) -> Option<usize> {
    left.set(left.get().and_then(|left| left.checked_sub(bytes)));
    left.get()
}

/// Receives canonical text.
pub(super) struct DigestSink {
    pub(super) digest: Box<dyn Digest>,
    /// The text, if somebody wants to see it.
    pub(super) shown: Option<Vec<u8>>,
    /// Whether the next text is the start tag of a token that replaces a reference to it.
    is_token: bool,
    wants_omitted: bool,
    /// The first prefix that a value uses and whose declaration is not in the text, with the offset of the element.
    pub(super) omitted: Option<(String, usize)>,
    /// The parts that stand in the text, and the text after each of them, which is not digested yet.
    pub(super) gaps: Vec<Gap>,
}

impl DigestSink {
    pub(super) fn new(digest: Box<dyn Digest>, is_token: bool, wants_omitted: bool) -> Self {
        DigestSink { digest, shown: None, is_token, wants_omitted, omitted: None, gaps: Vec::new() }
    }

    fn push(&mut self, text: &str) {
        match std::mem::take(&mut self.is_token) {
            true => start_of_token(text, |piece| self.update(piece)),
            false => self.update(text),
        }
    }

    fn update(&mut self, text: &str) {
        match self.gaps.last_mut() {
            None => self.digest.update(text.as_bytes()),
            Some(gap) => gap.text.push_str(text),
        }
        if let Some(shown) = &mut self.shown {
            shown.extend(text.as_bytes());
        }
    }
}
