use std::fmt;

use castile_xml::{Limits, Location};

use crate::Error;

/// What a lenient [`Decoder`](crate::Decoder) tolerated: the errors that a strict one has, with their places.
///
/// The first ones are kept, as many as [`Limits::deviations`] says, in the order of the document; the others are
/// counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deviations {
    kept: Vec<Error>,
    count: usize,
    limit: usize,
}

impl Deviations {
    pub(crate) fn new(limit: usize) -> Self {
        Deviations { kept: Vec::new(), count: 0, limit }
    }

    pub(crate) fn add(&mut self, error: Error) {
        if !self.is_full() {
            self.kept.push(error);
        }
        self.count_one();
    }

    /// Adds those of another part of the same document, which stands behind this one.
    pub fn append(&mut self, others: Deviations) {
        self.limit = self.limit.max(others.limit);
        let room = self.limit.saturating_sub(self.kept.len());
        self.kept.extend(others.kept.into_iter().take(room));
        self.count += others.count;
    }

    /// Whether no more are kept, so that what is wrong need not be said.
    pub(crate) fn is_full(&self) -> bool {
        self.kept.len() >= self.limit
    }

    /// Counts one that is not kept.
    pub(crate) fn count_one(&mut self) {
        self.count += 1;
    }

    /// All so far, in the order of the document: names are looked at before what is in the elements.
    pub(crate) fn take(&mut self) -> Self {
        let mut taken = std::mem::replace(self, Deviations::new(self.limit));
        taken.kept.sort_by_key(Error::offset);
        taken
    }

    /// Whether the document is as its schema says.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many there are, those that were not kept included.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Those that were kept.
    pub fn iter(&self) -> std::slice::Iter<'_, Error> {
        self.kept.iter()
    }

    /// Finds path, line and column of each in the document that was read, as [`Error::locate`] does, in one reading.
    pub fn locate(mut self, input: &[u8], limits: Limits, within: Option<&str>) -> Self {
        let offsets: Vec<usize> = self.kept.iter().map(Error::offset).collect();
        let locations = Location::of_each(input, &offsets, limits, within);
        let located = self.kept.into_iter().zip(locations);
        self.kept = located.map(|(error, location)| error.located(location)).collect();
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
    /// One on a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, deviation) in self.kept.iter().enumerate() {
            write!(f, "{}{deviation}", if index > 0 { "\n" } else { "" })?;
        }
        match self.count - self.kept.len() {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}
