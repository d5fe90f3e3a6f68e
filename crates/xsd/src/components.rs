//! Schema components as XSD 1.0 Part 1 defines them, stored in an arena and identified by typed ids.
//!
//! A component stores what its own declaration contains. Properties that depend on other components (the complete
//! content of an extension, inherited attributes, the facets of all steps) are computed by [`Schema`](crate::Schema).

mod declarations;
mod particle;
mod types;

pub use declarations::{
    ArrayType, AttributeDeclaration, AttributeGroupDefinition, AttributeUse, ElementDeclaration, IdentityConstraint,
    IdentityConstraintCategory, ModelGroupDefinition, Notation, Path, Scope, Use, ValueConstraint,
};
pub use particle::{Compositor, ModelGroup, NamespaceConstraint, Particle, ProcessContents, Term, Wildcard};
pub use types::{
    ComplexType, Content, Derivation, Facet, FacetKind, Owner, SimpleType, TypeDefinition, Variety, WhiteSpace,
};

use crate::{Builtin, ExpandedName, Location};

macro_rules! ids {
    ($($(#[$doc:meta])* $id:ident)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $id(pub(crate) u32);

        impl $id {
            /// Returns the component's number. Numbers start at 0 and have no gaps, so they can index tables beside the
            /// schema.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// Identifies a [`TypeDefinition`], simple or complex.
    TypeId
    /// Identifies an [`ElementDeclaration`], global or local.
    ElementId
    /// Identifies an [`AttributeDeclaration`], global or local.
    AttributeId
    /// Identifies a [`ModelGroupDefinition`].
    GroupId
    /// Identifies an [`AttributeGroupDefinition`].
    AttributeGroupId
}

impl From<Builtin> for TypeId {
    fn from(builtin: Builtin) -> Self {
        TypeId(builtin as u32)
    }
}

impl TypeId {
    /// Returns the built-in type with this id, if it is one.
    #[must_use]
    pub fn builtin(self) -> Option<Builtin> {
        Builtin::ALL.get(self.index()).copied()
    }
}

/// The documentation and other information attached to a component (Part 1 §3.13).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotation {
    /// The text of `xs:documentation` without its common indentation. Several are joined by an empty line.
    pub documentation: Option<String>,
    /// The content of `xs:appinfo`, as it is in the document.
    pub appinfo: Vec<String>,
    /// Attributes of other namespaces on the component itself, such as `xmime:expectedContentTypes`.
    pub attributes: Vec<(ExpandedName, String)>,
}

/// A set of methods of derivation or substitution, as in `block`, `final` and their defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DerivationSet {
    /// `extension`
    pub extension: bool,
    /// `restriction`
    pub restriction: bool,
    /// `substitution`, in `block` of elements
    pub substitution: bool,
    /// `list`, in `final` of simple types
    pub list: bool,
    /// `union`, in `final` of simple types
    pub union: bool,
}

impl DerivationSet {
    /// `#all`.
    pub const ALL: Self = Self { extension: true, restriction: true, substitution: true, list: true, union: true };

    /// Adds the method with this name.
    pub(crate) fn insert(&mut self, name: &str) {
        match name {
            "extension" => self.extension = true,
            "restriction" => self.restriction = true,
            "substitution" => self.substitution = true,
            "list" => self.list = true,
            _ => self.union = true,
        }
    }

    /// Returns the subset of the methods in `names`.
    pub(crate) fn limited_to(self, names: &[&str]) -> Self {
        Self {
            extension: self.extension && names.contains(&"extension"),
            restriction: self.restriction && names.contains(&"restriction"),
            substitution: self.substitution && names.contains(&"substitution"),
            list: self.list && names.contains(&"list"),
            union: self.union && names.contains(&"union"),
        }
    }
}

/// The location of built-in components.
pub(crate) const NOWHERE: Location = Location { file: crate::FileId::BUILTIN, offset: None };
