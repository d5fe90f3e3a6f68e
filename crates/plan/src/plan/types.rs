//! Complex types: structs, choices, and types with derived types.

#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use super::fields::{Base, Field, Storage, Wildcard};
use super::particles::Particle;
use super::path::Path;
use crate::names::Ident;
#[cfg(feature = "serde")]
use crate::serialized;

/// A complex type, or a group of several elements in one.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Struct {
    pub path: Path,
    /// The name of the table of its children.
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub role: Role,
    pub attributes: Vec<Attribute>,
    /// The name of the table of its attributes, if it has any.
    pub attribute_table: Option<Ident>,
    /// The field for other attributes.
    pub any_attributes: Option<(Ident, Wildcard)>,
    pub content: Content,
    pub made: Made,
}

impl Struct {
    /// Returns the attributes with their numbers, in the order in which they are written: that of canonical XML (§2.2), so that a
    /// signature need not change it.
    pub fn attributes_as_written(&self) -> Vec<(usize, &Attribute)> {
        let mut attributes: Vec<_> = self.attributes.iter().enumerate().collect();
        attributes.sort_by_key(|(_, attribute)| (&attribute.namespace, &attribute.name));
        attributes
    }
}

/// How a program can create a struct without naming all fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Made {
    /// It must name all fields.
    #[default]
    Whole,
    /// Every field has the default value of its Rust type.
    ByDefault,
    /// Every field has a default value; some are defaults from the contract.
    ByDefaultOfContract,
    /// There is a constructor with the required fields.
    OfParts,
}

/// The default value of an attribute, as Rust code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum DefaultValue {
    Text(String),
    /// A number or a Boolean value.
    Literal(String),
    Variant(Path, Ident),
}

impl DefaultValue {
    /// Returns true if it equals the default value of its Rust type.
    pub fn is_that_of_its_type(&self) -> bool {
        match self {
            DefaultValue::Text(text) => text.is_empty(),
            DefaultValue::Literal(literal) => literal == "false" || literal.chars().all(|c| matches!(c, '0' | '.')),
            DefaultValue::Variant(..) => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Role {
    /// The value of an element. The type name is present if `xsi:type` can only be this name.
    Type(Option<TypeName>),
    /// A part of the content of an element.
    Group,
}

/// The expanded name of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct TypeName {
    pub namespace: String,
    pub name: String,
}

/// The content of an element.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Content {
    /// A value of a simple type.
    Simple { ident: Ident, value: Base, facets: Option<Path> },
    /// `xs:sequence`: one after another.
    Sequence(Vec<Field>),
    /// `xs:all`: each at most once, in any order.
    All(Vec<Field>),
    /// Text and elements: a list of pieces.
    Mixed { ident: Ident, piece: Path },
}

/// An attribute of a type.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Attribute {
    pub ident: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    /// Empty for no namespace.
    pub namespace: String,
    pub name: String,
    pub base: Base,
    pub facets: Option<Path>,
    pub presence: Presence,
    /// The value in new structs, if there is a default that can be written in Rust.
    pub default: Option<DefaultValue>,
    /// Whether a type of a program has a field for it, although only its fixed value is allowed.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub is_fixed: bool,
    /// A type of the program that reads and writes the value as another type.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub adapter: Option<Base>,
    /// The name as written in the tag.
    pub tag: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Presence {
    Required,
    Optional,
    /// It may be absent, and then it has this value.
    Default(String),
    /// It can only have this value, so there is no field.
    Fixed {
        value: String,
        required: bool,
    },
}

/// A group that has exactly one of several elements or groups.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Choice {
    pub path: Path,
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    /// The variant for text, for pieces of mixed content.
    pub text: Option<Ident>,
    /// The allowed order of elements in mixed content; `None` if any order is allowed.
    #[cfg_attr(feature = "serde", serde(with = "serialized::order"))]
    pub order: Option<Particle>,
    pub variants: Vec<Field>,
}

/// A type with all types derived from it.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Derived {
    pub path: Path,
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    /// Whether the type itself is abstract, so that each value must name its type.
    pub is_abstract: bool,
    /// The variants. The first is the type itself, unless it is abstract.
    pub variants: Vec<DerivedVariant>,
    /// The variant for types that the contract doesn't have. Without it they are rejected.
    pub other: Option<Ident>,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct DerivedVariant {
    pub ident: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub name: TypeName,
    pub base: Base,
    pub storage: Storage,
    /// The name as written in `xsi:type`. The type itself needs none.
    pub tag: Option<String>,
}
