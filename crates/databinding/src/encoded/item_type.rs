use std::sync::Arc;

use crate::from_xml::reading::Reading;
use crate::name::ExpandedName;

/// The type that an array gives its items, if it differs from the contract's.
#[derive(Clone, Debug)]
pub(crate) enum ItemType {
    /// The conversion of their text.
    Simple(Reading),
    /// A type that may be derived from the contract's.
    Derived(Arc<ExpandedName>),
}
