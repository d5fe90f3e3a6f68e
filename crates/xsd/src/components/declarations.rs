use super::{
    Annotation, AttributeGroupId, AttributeId, DerivationSet, ElementId, ModelGroup, NOWHERE, TypeId, Wildcard,
};
use crate::{Builtin, ExpandedName, Location};

/// An element declaration (Part 1 §3.3).
#[derive(Debug, Clone)]
pub struct ElementDeclaration {
    /// The name as it stands on the wire: `form` and `elementFormDefault` are worked in.
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
    /// {substitution group affiliation}: the head that this element may stand for.
    pub substitution_group: Option<ElementId>,
    /// {abstract}
    pub is_abstract: bool,
    /// {disallowed substitutions}
    pub block: DerivationSet,
    /// {substitution group exclusions}
    pub final_: DerivationSet,
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
    pub location: Location,
}

impl ElementDeclaration {
    /// A global element that may hold anything, declared in no document.
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
    /// Anywhere, by its name.
    Global,
    /// Nowhere but in its own type or group.
    Local,
}

/// An attribute declaration (Part 1 §3.2).
#[derive(Debug, Clone)]
pub struct AttributeDeclaration {
    /// The name as it stands on the wire: `form` and `attributeFormDefault` are worked in.
    pub name: ExpandedName,
    /// {scope}
    pub scope: Scope,
    /// {type definition}, a simple type.
    pub type_id: TypeId,
    /// {value constraint}; that of an [`AttributeUse`] goes before it.
    pub value_constraint: Option<ValueConstraint>,
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
    pub location: Location,
}

/// What a type says of one of its attributes (Part 1 §3.5).
#[derive(Debug, Clone)]
pub struct AttributeUse {
    /// {attribute declaration}
    pub attribute: AttributeId,
    /// {required}, and `prohibited`, which a restriction takes away an attribute with.
    pub use_: Use,
    /// {value constraint}; that of the declaration if there is none here.
    pub value_constraint: Option<ValueConstraint>,
    /// What `wsdl:arrayType` beside a reference to `soapenc:arrayType` says (WSDL 1.1 §2.2).
    pub array_type: Option<ArrayType>,
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
    pub location: Location,
}

/// The item type and the dimensions of a SOAP-encoded array: `tns:Item[,][2]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayType {
    /// The type of the items.
    pub item: ExpandedName,
    /// What follows it, from the first `[`.
    pub dimensions: String,
}

/// Whether an attribute is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// It may be left out.
    Optional,
    /// It must be there.
    Required,
    /// It must not be there.
    Prohibited,
}

/// The value of an element or attribute that is empty or left out.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ValueConstraint {
    /// This, unless another is given.
    Default(String),
    /// This, and no other may be given.
    Fixed(String),
}

/// `<group name="…">` (Part 1 §3.7).
#[derive(Debug, Clone)]
pub struct ModelGroupDefinition {
    /// {name} and {target namespace}
    pub name: ExpandedName,
    /// {model group}
    pub group: ModelGroup,
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
    pub location: Location,
}

/// `<attributeGroup name="…">` (Part 1 §3.6).
#[derive(Debug, Clone)]
pub struct AttributeGroupDefinition {
    /// {name} and {target namespace}
    pub name: ExpandedName,
    /// {attribute uses}, those of the groups it refers to left out.
    pub attribute_uses: Vec<AttributeUse>,
    /// The groups it refers to.
    pub attribute_groups: Vec<AttributeGroupId>,
    /// {attribute wildcard}, its own.
    pub attribute_wildcard: Option<Wildcard>,
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
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
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
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
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
    pub location: Location,
}

/// An XPath of the subset in §3.11.6.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// As it is written.
    pub text: String,
    /// The prefixes that it may use, with their namespace names.
    pub namespaces: Vec<(String, String)>,
}

/// Which identity constraint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdentityConstraintCategory {
    /// The fields are there, and no two nodes have the same.
    Key,
    /// The fields are those of a node of another key.
    Keyref {
        /// {referenced key}
        refer: ExpandedName,
    },
    /// No two nodes that have the fields have the same.
    Unique,
}
