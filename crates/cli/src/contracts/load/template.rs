//! The message templates of a load: where the values of their placeholders come from.

/// A message template with placeholders that are filled for each request.
pub(super) type Template = crate::contracts::template::Template<Placeholder>;

/// The source of a placeholder's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// A column of the feed, by its index.
    Column(usize),
    /// A value extracted from an earlier answer, by its index.
    Extracted(usize),
}

impl Template {
    /// Returns whether the template has a placeholder that is filled from the feed.
    pub(super) fn uses_feed(&self) -> bool {
        self.placeholders().any(|placeholder| matches!(placeholder, Placeholder::Column(_)))
    }
}
