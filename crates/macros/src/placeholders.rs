//! Names in a plan that stand for what is known only where the code is placed.

/// The type itself.
pub(crate) const ITSELF: &str = "CastileItself";
/// The beginning of the type of a field.
pub(crate) const TYPE: &str = "CastileType";
/// The table of elements.
pub(crate) const ELEMENTS: &str = "CASTILE_ELEMENTS";
/// The table of attributes.
pub(crate) const ATTRIBUTES: &str = "CASTILE_ATTRIBUTES";
/// The facets of a simple type.
pub(crate) const FACETS: &str = "CASTILE_FACETS";
/// The namespace of the type.
pub(crate) const NAMESPACE: &str = "castile:namespace";
/// The constant of the plan's first namespace.
pub(crate) const CONSTANT: &str = "CASTILE_NAMESPACE";
