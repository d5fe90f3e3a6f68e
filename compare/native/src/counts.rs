//! The content of a document in numbers, which proves that all parsers did the same work.

use std::fmt;

/// How much of each kind a document has. Sizes are in bytes of UTF-8, after references and line ends were
/// resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Counts {
    pub elements: usize,
    /// Attributes that are not namespace declarations.
    pub attributes: usize,
    /// The size of the namespace names of all elements and attributes.
    pub namespaces: usize,
    /// The size of the attributes' values.
    pub values: usize,
    /// The size of the text.
    pub text: usize,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} el, {} att, {} B", self.elements, self.attributes, self.values + self.text)
    }
}
