//! Schema components as XSD 1.0 Part 1 names them, held in an arena and named by typed ids.
//!
//! A component keeps what its own declaration says; what follows from others (the content of an extension with that
//! of its base, inherited attributes, facets of all steps) is asked of the [`Schema`](crate::Schema).

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
            /// The component's number, from 0 and without gaps: an index for tables beside the schema.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

ids! {
    /// Names a [`TypeDefinition`], simple or complex.
    TypeId
    /// Names an [`ElementDeclaration`], global or local.
    ElementId
    /// Names an [`AttributeDeclaration`], global or local.
    AttributeId
    /// Names a [`ModelGroupDefinition`].
    GroupId
    /// Names an [`AttributeGroupDefinition`].
    AttributeGroupId
}

impl From<Builtin> for TypeId {
    fn from(builtin: Builtin) -> Self {
        TypeId(builtin as u32)
    }
}

impl TypeId {
    /// The built-in type that this is, if it is one.
    #[must_use]
    pub fn builtin(self) -> Option<Builtin> {
        Builtin::ALL.get(self.index()).copied()
    }
}

/// What people and other tools wrote beside a component (Part 1 §3.13).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Annotation {
    /// The text of `xs:documentation`, common indentation taken off; several are joined by an empty line.
    pub documentation: Option<String>,
    /// The content of `xs:appinfo`, as it stands in the document.
    pub appinfo: Vec<String>,
    /// Attributes of other namespaces on the component itself, such as `xmime:expectedContentTypes`.
    pub attributes: Vec<(ExpandedName, String)>,
}

/// A set of ways to derive or to substitute, as `block`, `final` and their defaults give it.
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
    /// `#all`
    pub const ALL: Self = Self { extension: true, restriction: true, substitution: true, list: true, union: true };

    /// Adds the derivation of this name.
    pub(crate) fn insert(&mut self, name: &str) {
        match name {
            "extension" => self.extension = true,
            "restriction" => self.restriction = true,
            "substitution" => self.substitution = true,
            "list" => self.list = true,
            _ => self.union = true,
        }
    }

    /// Those whose names are listed.
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

/// The place of the built-in components.
pub(crate) const NOWHERE: Location = Location { file: crate::FileId::BUILTIN, offset: None };
