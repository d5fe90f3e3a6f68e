use std::fmt;

use castile_xml::{Limits, Location};

use crate::Error;

/// The deviations that a lenient [`Decoder`](crate::Decoder) tolerated: the errors that a strict one would report, with their
/// positions.
///
/// At most [`Limits::deviations`] of them are kept, in document order. Further ones are only counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deviations {
    recorded: Vec<Error>,
    count: usize,
    limit: usize,
}

impl Deviations {
    pub(crate) fn new(limit: usize) -> Self {
        Deviations { recorded: Vec::new(), count: 0, limit }
    }

    pub(crate) fn add(&mut self, error: Error) {
        if !self.is_full() {
            self.recorded.push(error);
        }
        self.count_one();
    }

    /// Appends the deviations of a later part of the same document.
    pub fn append(&mut self, others: Deviations) {
        self.limit = self.limit.max(others.limit);
        let room = self.limit.saturating_sub(self.recorded.len());
        self.recorded.extend(others.recorded.into_iter().take(room));
        self.count += others.count;
    }

    /// Whether no further deviations are kept. Then no message needs to be made for them.
    pub(crate) fn is_full(&self) -> bool {
        self.recorded.len() >= self.limit
    }

    /// Counts a deviation that is not kept.
    pub(crate) fn count_one(&mut self) {
        self.count += 1;
    }

    /// Takes all deviations recorded so far and sorts them by offset. The names of children are checked before the contents
    /// of the children.
    pub(crate) fn take(&mut self) -> Self {
        let mut taken = std::mem::replace(self, Deviations::new(self.limit));
        taken.recorded.sort_by_key(Error::offset);
        taken
    }

    /// Whether there are no deviations.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of deviations, including those that were not kept.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Iterates over the deviations that were kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.recorded.iter()
    }

    /// Computes path, line and column of each deviation, as [`Error::locate`] does, reading the document once.
    pub fn locate(mut self, input: &[u8], limits: Limits, within: Option<&str>) -> Self {
        let offsets: Vec<usize> = self.recorded.iter().map(Error::offset).collect();
        let locations = Location::of_each(input, &offsets, limits, within);
        let located = self.recorded.into_iter().zip(locations);
        self.recorded = located.map(|(error, location)| error.located(location)).collect();
        self
    }
}

impl<'a> IntoIterator for &'a Deviations {
    type Item = &'a Error;
    type IntoIter = std::slice::Iter<'a, Error>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Deviations {
    /// Writes one deviation per line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, deviation) in self.recorded.iter().enumerate() {
            write!(f, "{}{deviation}", if index > 0 { "\n" } else { "" })?;
        }
        match self.count - self.recorded.len() {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}
