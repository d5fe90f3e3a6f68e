//! The search for the boundary at the beginnings of lines.

use bytes::{Buf, Bytes};
use memchr::memmem::Finder;
use memchr::memrchr;

/// Finds `CRLF--boundary` in what comes in pieces.
///
/// The first byte of it comes nowhere else in it, since no boundary has line ends. So of what has been found to match
/// so far nothing else can begin, and at the end of a piece only the last line end is of interest.
#[derive(Debug)]
pub(super) struct Search {
    delimiter: Bytes,
    finder: Finder<'static>,
    /// How much of the delimiter stood at the end of what was looked at.
    matched: usize,
    /// How much of that belongs to something else that is already known: a line end that is an empty line, too.
    shared: usize,
}

/// What a search found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Bytes that are not of the delimiter.
    Data(Bytes),
    /// The delimiter, which was read.
    Delimiter,
}

impl Search {
    /// For the boundary of parts whose lines end with CR and LF, as they must (RFC 2046 §4.1.1), or with LF alone, as
    /// some senders have it.
    pub(super) fn new(boundary: &str, carriage_return: bool) -> Self {
        let line_end = if carriage_return { "\r\n" } else { "\n" };
        let delimiter = Bytes::from(format!("{line_end}--{boundary}"));
        let finder = Finder::new(&delimiter).into_owned();
        Search { delimiter, finder, matched: 0, shared: 0 }
    }

    /// For the first boundary, which may be the first line of all.
    pub(super) fn first(boundary: &str) -> Self {
        let mut search = Search::new(boundary, false);
        search.begin_line();
        search
    }

    /// Goes on as behind a line end that is no part of what is to be found.
    pub(super) fn begin_line(&mut self) {
        let line_end = if self.delimiter.starts_with(b"\r") { 2 } else { 1 };
        (self.matched, self.shared) = (line_end, line_end);
    }

    /// How many bytes the delimiter has without its line end.
    pub(super) fn length(&self) -> u64 {
        self.delimiter.len() as u64 - if self.delimiter.starts_with(b"\r") { 2 } else { 1 }
    }

    /// How much of what was read may be the beginning of the delimiter.
    pub(super) fn held(&self) -> u64 {
        (self.matched - self.shared) as u64
    }

    /// What is found next in `input`, from which that is taken. `None` once it is empty.
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
