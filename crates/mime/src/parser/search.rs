//! Searches for the boundary at the beginning of lines.

use bytes::{Buf, Bytes};
use memchr::memmem::Finder;
use memchr::memrchr;

/// Finds `CRLF--boundary` in a chunked input.
///
/// The first byte of the delimiter occurs only once in it, because a boundary contains no line ends. So no other match
/// can begin within a partial match, and at the end of a chunk only the last line end matters.
#[derive(Debug)]
pub(super) struct Search {
    delimiter: Bytes,
    finder: Finder<'static>,
    /// How many bytes of the delimiter matched at the end of the input so far.
    matched: usize,
    /// How many of these bytes belong to earlier text: a line end that also ends an empty line.
    shared: usize,
}

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Bytes that don't belong to the delimiter.
    Data(Bytes),
    /// The delimiter, which has been consumed.
    Delimiter,
}

impl Search {
    /// Creates a search for a boundary. The lines end with CR and LF, as required (RFC 2046 §4.1.1), or with only LF,
    /// as some senders write them.
    pub(super) fn new(boundary: &str, carriage_return: bool) -> Self {
        let line_end = if carriage_return { "\r\n" } else { "\n" };
        let delimiter = Bytes::from(format!("{line_end}--{boundary}"));
        let finder = Finder::new(&delimiter).into_owned();
        Search { delimiter, finder, matched: 0, shared: 0 }
    }

    /// Creates a search for the first boundary, which may be the first line of the body.
    pub(super) fn first(boundary: &str) -> Self {
        let mut search = Search::new(boundary, false);
        search.begin_line();
        search
    }

    /// Begins after a line end that was consumed already.
    pub(super) fn begin_line(&mut self) {
        let line_end = if self.delimiter.starts_with(b"\r") { 2 } else { 1 };
        (self.matched, self.shared) = (line_end, line_end);
    }

    /// Returns the length of the delimiter without its line end.
    pub(super) fn length(&self) -> u64 {
        self.delimiter.len() as u64 - if self.delimiter.starts_with(b"\r") { 2 } else { 1 }
    }

    /// Returns how many consumed bytes may be the beginning of the delimiter.
    pub(super) fn matched_length(&self) -> u64 {
        (self.matched - self.shared) as u64
    }

    /// Consumes `input` up to the next result. Returns `None` when `input` is empty.
    pub(super) fn step(&mut self, input: &mut Bytes) -> Option<Found> {
        if self.matched > 0 {
            let due = &self.delimiter[self.matched..];
            let same = due.iter().zip(input.iter()).take_while(|(a, b)| a == b).count();
            if same == due.len() {
                input.advance(same);
                (self.matched, self.shared) = (0, 0);
                return Some(Found::Delimiter);
            }
            if same == input.len() {
                self.matched += same;
                input.clear();
                return None;
            }
            let held = self.delimiter.slice(self.shared..self.matched);
            (self.matched, self.shared) = (0, 0);
            if !held.is_empty() {
                return Some(Found::Data(held));
            }
        }
        if let Some(at) = self.finder.find(input) {
            if at > 0 {
                return Some(Found::Data(input.split_to(at)));
            }
            input.advance(self.delimiter.len());
            return Some(Found::Delimiter);
        }
        let from = input.len() - input.len().min(self.delimiter.len() - 1);
        if let Some(at) = memrchr(self.delimiter[0], &input[from..])
            && self.delimiter.starts_with(&input[from + at..])
        {
            self.matched = input.len() - from - at;
            input.truncate(from + at);
        }
        let data = std::mem::take(input);
        (!data.is_empty()).then_some(Found::Data(data))
    }
}
