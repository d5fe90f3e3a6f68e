//! The tables that generated code brings: what the schema says, as data.

use castile_xml::Known;

/// An element declaration with its occurrence: a particle whose term is an element (XSD Part 1 §3.3, §3.9).
#[derive(Debug)]
pub struct Element {
    /// The namespace name, empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
    /// How often it comes at least.
    pub min_occurs: u32,
    /// How often it comes at most; `None` is unbounded.
    pub max_occurs: Option<u32>,
    /// Where its tags are kept once they were read. Numbers are given within a contract, from 0.
    pub slot: u16,
}

impl Element {
    /// An element that comes exactly once.
    pub const fn new(namespace: &'static str, name: &'static str, slot: u16) -> Self {
        Element { namespace, name, min_occurs: 1, max_occurs: Some(1), slot }
    }

    /// The same with another occurrence.
    pub const fn occurs(mut self, min: u32, max: Option<u32>) -> Self {
        self.min_occurs = min;
        self.max_occurs = max;
        self
    }

    /// The place in a layout where its tags are kept.
    #[inline]
    pub(crate) fn known(&'static self) -> Known {
        Known { slot: self.slot, identity: std::ptr::from_ref(self).addr() }
    }
}
