//! Finds long parts of a document that are canonical as they are written there, while the document is read for another reason.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr2;

use crate::token::{Attribute, StartTag, Token};
use crate::{Error, QName, Reader};

use super::leaves::Leaves;
use super::output::{XSI_NAMESPACE, prefixes_in};
use super::written::{is_canonical_start_tag, is_canonical_text};

/// The least length of a part, in bytes. Shorter ones gain little.
const WORTHWHILE: usize = 512;
/// Maximum number of prefixes of the tags in a part.
const PREFIXES: usize = 4;

/// Parts of a document that consist of whole elements and the text between them, and that are canonical as they are written. They have
/// no declarations, and no values that use prefixes in scope. A writer of canonical forms need not read them
/// ([`write_known`](super::write_known)).
#[derive(Debug, Default)]
pub struct CanonicalRuns<'a> {
    document: &'a str,
    /// In document order.
    runs: Vec<Run<'a>>,
}

/// One of the parts.
#[derive(Debug)]
pub(super) struct Run<'a> {
    pub(super) range: Range<usize>,
    /// The prefixes of its tags. The empty one stands for none.
    pub(super) prefixes: Vec<&'a str>,
    /// The offset of its last start tag.
    pub(super) last: usize,
}

impl<'a> CanonicalRuns<'a> {
    /// Returns the parts, if they are those of the document that a reader reads.
    pub(super) fn of(&self, reader: &Reader<'_>) -> &[Run<'a>] {
        // In a document with entities, an offset may stand for several places.
        match std::ptr::eq(self.document, reader.input()) && !reader.has_doctype() {
            true => &self.runs,
            false => &[],
        }
    }
}

/// Finds the [`CanonicalRuns`] of a document while it is read from its beginning.
#[derive(Debug)]
pub struct FindRuns<'a> {
    found: Vec<Run<'a>>,
    run: Option<Current<'a>>,
    min_length: usize,
}

/// A run that has begun.
#[derive(Debug)]
struct Current<'a> {
    start: usize,
    /// The end of its last complete element.
    end: usize,
    /// How many elements are around it.
    depth: usize,
    /// The prefix of the last start tag.
    prefix: &'a str,
    prefixes: Vec<&'a str>,
    /// The offset of the last start tag, and of the last one before `end`.
    last: usize,
    last_complete: usize,
    /// Whether the last start tag has no attributes, and nothing but text was read after it.
    is_leaf: bool,
    leaves: Leaves,
}

impl Default for FindRuns<'_> {
    fn default() -> Self {
        FindRuns::with_min_length(WORTHWHILE)
    }
}

impl<'a> FindRuns<'a> {
    /// Finds runs of at least this length, in bytes. The default is 512 bytes; tests take shorter ones.
    pub fn with_min_length(min_length: usize) -> Self {
        FindRuns { found: Vec::new(), run: None, min_length }
    }

    /// Reads on to a token that is not inside a run. A start tag that is to be shown is in no run.
    ///
    /// # Errors
    /// The errors of [`Reader::next`].
    #[inline]
    pub fn next(
        &mut self,
        reader: &mut Reader<'a>,
        is_shown: impl Fn(&Reader<'a>, StartTag<'a>) -> bool,
    ) -> Result<Token<'a>, Error> {
        loop {
            self.leaves(reader);
            let begins = reader.offset();
            match reader.next()? {
                Token::StartTag(tag) => {
                    let length = reader.offset() - begins;
                    let is_plain = reader.is_plain() && length == tag.name.as_str().len() + "<>".len();
                    // No run has the root element, whose end would be that of the document.
                    if reader.depth() == 1 || is_shown(reader, tag) {
                        self.break_off();
                    } else if is_plain {
                        match &mut self.run {
                            Some(run) if run.prefix == tag.name.prefix() => {
                                (run.last, run.is_leaf) = (tag.offset, true);
                            }
                            _ => self.start_tag(reader, tag),
                        }
                        continue;
                    } else {
                        self.start_tag_with_attributes(reader, tag, begins);
                    }
                    if self.run.is_none() {
                        return Ok(Token::StartTag(tag));
                    }
                }
                Token::EndTag(name) => {
                    let length = reader.offset() - begins;
                    match &mut self.run {
                        Some(run) if reader.depth() > run.depth && length == name.as_str().len() + "</>".len() => {
                            if std::mem::take(&mut run.is_leaf) {
                                run.leaves.add(reader, run.last, length - 1);
                            }
                        }
                        _ => self.end_run_or_child(reader, name, begins, length),
                    }
                    if self.run.is_none() {
                        return Ok(Token::EndTag(name));
                    }
                }
                Token::Text(text) => {
                    // It is not in a CDATA section, and nothing in it was replaced.
                    let is_verbatim = matches!(&text, Cow::Borrowed(text) if text.len() == reader.offset() - begins);
                    if !is_verbatim || memchr2(b'>', b':', text.as_bytes()).is_some() {
                        self.text(reader, &text, begins);
                    }
                    if self.run.is_none() {
                        return Ok(Token::Text(text));
                    }
                }
                token => {
                    self.break_off();
                    return Ok(token);
                }
            }
        }
    }

    /// Has the reader consume elements that are in the run, as far as they are known.
    #[inline]
    fn leaves(&mut self, reader: &mut Reader<'a>) {
        let Some(run) = &mut self.run else { return };
        let mut at = reader.position();
        while run.leaves.consume(reader) {
            run.last = at;
            at = reader.position();
            if reader.depth() == run.depth {
                (run.end, run.last_complete) = (at, run.last);
            }
        }
    }

    fn text(&mut self, reader: &Reader<'a>, text: &str, begins: usize) {
        let written = &reader.input()[begins..reader.offset()];
        if !is_canonical_text(written.as_bytes()) || uses_prefix(reader, text) {
            self.break_off();
        }
    }

    fn start_tag_with_attributes(&mut self, reader: &Reader<'a>, tag: StartTag<'a>, begins: usize) {
        if !has_canonical_attributes(reader, begins) {
            return self.break_off();
        }
        self.start_tag(reader, tag);
        for attribute in reader.attributes().filter(|attribute| !attribute.name.prefix().is_empty()) {
            let prefix = &reader.input()[attribute.offset..][..attribute.name.prefix().len()];
            self.add_prefix(reader, tag, prefix);
        }
    }

    fn start_tag(&mut self, reader: &Reader<'a>, tag: StartTag<'a>) {
        let prefix = tag.name.prefix();
        self.add_prefix(reader, tag, prefix);
        if let Some(run) = &mut self.run {
            (run.prefix, run.last, run.is_leaf) = (prefix, tag.offset, false);
        }
    }

    /// Adds a prefix of a start tag, which begins a run if there is none, or if that would have too many prefixes.
    fn add_prefix(&mut self, reader: &Reader<'a>, tag: StartTag<'a>, prefix: &'a str) {
        let is_too_much = |run: &Current<'_>| !run.prefixes.contains(&prefix) && run.prefixes.len() == PREFIXES;
        if self.run.as_ref().is_some_and(is_too_much) {
            self.break_off();
        }
        let run = self.run.get_or_insert_with(|| Current {
            start: tag.offset,
            end: tag.offset,
            depth: reader.depth() - 1,
            prefix: tag.name.prefix(),
            prefixes: vec![tag.name.prefix()],
            last: tag.offset,
            last_complete: tag.offset,
            is_leaf: false,
            leaves: Leaves::default(),
        });
        if !run.prefixes.contains(&prefix) {
            run.prefixes.push(prefix);
        }
    }

    fn end_run_or_child(&mut self, reader: &Reader<'a>, name: QName<'a>, begins: usize, length: usize) {
        let Some(run) = &mut self.run else { return };
        let depth = reader.depth();
        if depth < run.depth {
            // The end of the parent.
            (run.end, run.last_complete) = (begins, run.last);
            self.break_off();
        } else if length != name.as_str().len() + "</>".len() {
            self.break_off();
        } else {
            run.is_leaf = false;
            (run.end, run.last_complete) = (reader.offset(), run.last);
        }
    }

    /// Ends the run with its last complete element.
    fn break_off(&mut self) {
        let Some(Current { start, end, prefixes, last_complete: last, .. }) = self.run.take() else { return };
        if end > start && end - start >= self.min_length {
            self.found.push(Run { range: start..end, prefixes, last });
        }
    }

    /// Returns what was found in the document of a reader, after its last token.
    pub fn finish(mut self, reader: &Reader<'a>) -> CanonicalRuns<'a> {
        self.break_off();
        CanonicalRuns { document: reader.input(), runs: self.found }
    }
}

/// Returns whether the start tag that was read last, and that begins at this offset, is canonical as it is written and declares nothing,
/// and whether its attributes use no prefixes in their values.
fn has_canonical_attributes(reader: &Reader<'_>, begins: usize) -> bool {
    let written = &reader.input().as_bytes()[begins..reader.offset()];
    // A value of `xsi:type` without a prefix means the default namespace.
    let is_type = |attribute: &Attribute<'_>| attribute.namespace == XSI_NAMESPACE && attribute.name.local() == "type";
    is_canonical_start_tag(written)
        && !reader.attributes().any(|attribute| is_type(&attribute) || uses_prefix(reader, attribute.value))
}

/// Returns whether a value seems to use a prefix that is in scope.
fn uses_prefix(reader: &Reader<'_>, value: &str) -> bool {
    let is_bound = |prefix| reader.resolve(prefix).is_some_and(|name| !name.is_empty());
    value.contains(':') && prefixes_in(value, reader.limits().name_length).any(is_bound)
}
