use super::{
    Annotation, AttributeGroupId, AttributeId, DerivationSet, ElementId, ModelGroup, NOWHERE, TypeId, Wildcard,
};
use crate::{Builtin, ExpandedName, Location};

/// An element declaration (Part 1 §3.3).
#[derive(Debug, Clone)]
pub struct ElementDeclaration {
    /// The name in instances, after applying `form` and `elementFormDefault`.
    pub name: ExpandedName,
    /// {scope}
    pub scope: Scope,
    /// {type definition}
    pub type_id: TypeId,
    /// {nillable}
    pub nillable: bool,
    /// {value constraint}
    pub value_constraint: Option<ValueConstraint>,
    /// {identity-constraint definitions}
    pub identity_constraints: Vec<IdentityConstraint>,
    /// {substitution group affiliation}: the head that this element may replace.
    pub substitution_group: Option<ElementId>,
    /// {abstract}
    pub is_abstract: bool,
    /// {disallowed substitutions}
    pub block: DerivationSet,
    /// {substitution group exclusions}
    pub final_: DerivationSet,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

impl ElementDeclaration {
    /// Creates a global element of any type that no document declares.
    pub(crate) fn of_any_type(name: ExpandedName) -> Self {
        Self {
            name,
            scope: Scope::Global,
            type_id: Builtin::AnyType.into(),
            nillable: false,
            value_constraint: None,
            identity_constraints: Vec::new(),
            substitution_group: None,
            is_abstract: false,
            block: DerivationSet::default(),
            final_: DerivationSet::default(),
            annotation: Annotation::default(),
            location: NOWHERE,
        }
    }
}

/// Where a declaration can be referred to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Anywhere, by name.
    Global,
    /// Only in its own type or group.
    Local,
}

/// An attribute declaration (Part 1 §3.2).
#[derive(Debug, Clone)]
pub struct AttributeDeclaration {
    /// The name in instances, after applying `form` and `attributeFormDefault`.
    pub name: ExpandedName,
    /// {scope}
    pub scope: Scope,
    /// {type definition}, a simple type.
    pub type_id: TypeId,
    /// {value constraint}; the one of an [`AttributeUse`] takes precedence.
    pub value_constraint: Option<ValueConstraint>,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

/// How a type uses an attribute (Part 1 §3.5).
#[derive(Debug, Clone)]
pub struct AttributeUse {
    /// {attribute declaration}
    pub attribute: AttributeId,
    /// {required}, or `prohibited`, by which a restriction removes an attribute.
    pub use_: Use,
    /// {value constraint}; without one, that of the declaration applies.
    pub value_constraint: Option<ValueConstraint>,
    /// The value of `wsdl:arrayType` beside a reference to `soapenc:arrayType` (WSDL 1.1 §2.2).
    pub array_type: Option<ArrayType>,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

/// The item type and the dimensions of a SOAP-encoded array: `tns:Item[,][2]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayType {
    /// The type of the items.
    pub item: ExpandedName,
    /// The dimensions after the type, from the first `[`.
    pub dimensions: String,
}

/// Whether an attribute is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// It may be left out.
    Optional,
    /// It must be present.
    Required,
    /// It must not be present.
    Prohibited,
}

/// The value of an element that is empty, or of an attribute that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ValueConstraint {
    /// This value, unless another one is given.
    Default(String),
    /// This value; no other one is allowed.
    Fixed(String),
}

/// `<group name="…">` (Part 1 §3.7).
#[derive(Debug, Clone)]
pub struct ModelGroupDefinition {
    /// {name} and {target namespace}
    pub name: ExpandedName,
    /// {model group}
    pub group: ModelGroup,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

/// `<attributeGroup name="…">` (Part 1 §3.6).
#[derive(Debug, Clone)]
pub struct AttributeGroupDefinition {
    /// {name} and {target namespace}
    pub name: ExpandedName,
    /// {attribute uses}, without those of referenced groups.
    pub attribute_uses: Vec<AttributeUse>,
    /// The referenced attribute groups.
    pub attribute_groups: Vec<AttributeGroupId>,
    /// {attribute wildcard} of the group itself.
    pub attribute_wildcard: Option<Wildcard>,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

/// `<notation>` (Part 1 §3.12).
#[derive(Debug, Clone)]
pub struct Notation {
    /// {name} and {target namespace}
    pub name: ExpandedName,
    /// {public identifier}
    pub public: Option<String>,
    /// {system identifier}
    pub system: Option<String>,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

/// `<key>`, `<keyref>` or `<unique>` (Part 1 §3.11).
#[derive(Debug, Clone)]
pub struct IdentityConstraint {
    /// {name} and {target namespace}
    pub name: ExpandedName,
    /// {identity-constraint category}
    pub category: IdentityConstraintCategory,
    /// {selector}
    pub selector: Path,
    /// {fields}
    pub fields: Vec<Path>,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

/// An XPath of the subset in §3.11.6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The expression as written.
    pub text: String,
    /// The prefixes in scope, with their namespace names.
    pub namespaces: Vec<(String, String)>,
}

/// The category of an identity constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityConstraintCategory {
    /// The fields must be present, and each combination of values must be unique.
    Key,
    /// The fields must match those of another key.
    Keyref {
        /// {referenced key}
        refer: ExpandedName,
    },
    /// Among the nodes that have all fields, each combination of values must be unique.
    Unique,
}
