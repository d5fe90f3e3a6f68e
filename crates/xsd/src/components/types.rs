use std::fmt;

use super::{
    Annotation, AttributeGroupId, AttributeId, AttributeUse, DerivationSet, ElementId, Particle, TypeId, Wildcard,
};
use crate::{Builtin, ExpandedName, Location};

/// A simple or a complex type. Both share one symbol space (Part 1 §2.5).
#[derive(Debug, Clone)]
pub enum TypeDefinition {
    /// Character data only, no attributes.
    Simple(SimpleType),
    /// Attributes, child elements or both.
    Complex(ComplexType),
}

impl TypeDefinition {
    /// Returns the name. An anonymous type has an [`owner`](Self::owner) instead.
    #[must_use]
    pub fn name(&self) -> Option<&ExpandedName> {
        match self {
            Self::Simple(simple) => simple.name.as_ref(),
            Self::Complex(complex) => complex.name.as_ref(),
        }
    }

    /// Returns the component that contains an anonymous type.
    #[must_use]
    pub fn owner(&self) -> Option<Owner> {
        match self {
            Self::Simple(simple) => simple.owner,
            Self::Complex(complex) => complex.owner,
        }
    }

    /// Returns the {base type definition}.
    #[must_use]
    pub fn base(&self) -> TypeId {
        match self {
            Self::Simple(simple) => simple.base,
            Self::Complex(complex) => complex.base,
        }
    }

    /// Returns the location in the document.
    #[must_use]
    pub fn location(&self) -> Location {
        match self {
            Self::Simple(simple) => simple.location,
            Self::Complex(complex) => complex.location,
        }
    }

    /// Returns the documentation.
    #[must_use]
    pub fn annotation(&self) -> &Annotation {
        match self {
            Self::Simple(simple) => &simple.annotation,
            Self::Complex(complex) => &complex.annotation,
        }
    }

    /// Returns the complex type, if it is one.
    #[must_use]
    pub fn as_complex(&self) -> Option<&ComplexType> {
        match self {
            Self::Simple(_) => None,
            Self::Complex(complex) => Some(complex),
        }
    }

    /// Returns the simple type, if it is one.
    #[must_use]
    pub fn as_simple(&self) -> Option<&SimpleType> {
        match self {
            Self::Simple(simple) => Some(simple),
            Self::Complex(_) => None,
        }
    }
}

/// The component that contains an anonymous type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// An element declaration.
    Element(ElementId),
    /// An attribute declaration.
    Attribute(AttributeId),
    /// Another type, for the item of a list, a member of a union, the base of a restriction, or simple content; or the
    /// definition that redefines this one.
    Type(TypeId),
}

/// A complex type definition (Part 1 §3.4).
#[derive(Debug, Clone)]
pub struct ComplexType {
    /// {name} and {target namespace}, unless it is anonymous.
    pub name: Option<ExpandedName>,
    /// The component that contains an anonymous type.
    pub owner: Option<Owner>,
    /// {base type definition}; `xs:anyType` if none is declared.
    pub base: TypeId,
    /// {derivation method}
    pub derivation: Derivation,
    /// {abstract}
    pub is_abstract: bool,
    /// {final}
    pub final_: DerivationSet,
    /// {prohibited substitutions}
    pub block: DerivationSet,
    /// The content that this definition itself declares. For an extension it is the added content;
    /// [`Schema::content`](crate::Schema::content) returns the complete content.
    pub content: Content,
    /// The attributes that this definition itself declares. [`Schema::attribute_uses`](crate::Schema::attribute_uses)
    /// returns all.
    pub attribute_uses: Vec<AttributeUse>,
    /// The referenced attribute groups.
    pub attribute_groups: Vec<AttributeGroupId>,
    /// Its own `<anyAttribute>`. [`Schema::attribute_wildcard`](crate::Schema::attribute_wildcard) returns the complete
    /// one.
    pub attribute_wildcard: Option<Wildcard>,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

/// The content that a type allows between the tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Empty,
    /// A value of this simple type.
    Simple(TypeId),
    /// Elements.
    ElementOnly(Particle),
    /// Elements with character data between them.
    Mixed(Particle),
}

impl Content {
    /// Returns the particle of element-only and mixed content.
    #[must_use]
    pub fn particle(&self) -> Option<&Particle> {
        match self {
            Self::ElementOnly(particle) | Self::Mixed(particle) => Some(particle),
            Self::Empty | Self::Simple(_) => None,
        }
    }
}

/// How a type is derived from its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Derivation {
    /// Its instances are also instances of the base.
    Restriction,
    /// It adds content or attributes to the base.
    Extension,
}

/// A simple type definition (Part 1 §3.14).
#[derive(Debug, Clone)]
pub struct SimpleType {
    /// {name} and {target namespace}, unless it is anonymous.
    pub name: Option<ExpandedName>,
    /// The component that contains an anonymous type.
    pub owner: Option<Owner>,
    /// {base type definition}; `xs:anySimpleType` for a list or a union.
    pub base: TypeId,
    /// {variety}; a restriction has that of its base.
    pub variety: Variety,
    /// The facets of this step. [`Schema::facets`](crate::Schema::facets) also returns those of the bases.
    pub facets: Vec<Facet>,
    /// {final}
    pub final_: DerivationSet,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

/// The structure of the values of a simple type (Part 2 §2.5.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variety {
    /// A single value.
    Atomic,
    /// Values separated by white space.
    List {
        /// {item type definition}
        item: TypeId,
    },
    /// A value of the first member type that accepts it.
    Union {
        /// {member type definitions}, in order.
        members: Vec<TypeId>,
    },
}

/// A constraint on the values of a simple type (Part 2 §4.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facet {
    /// Which facet it is.
    pub kind: FacetKind,
    /// {value}, as written.
    pub value: String,
    /// The prefixes in scope of an enumeration value and their namespaces. They are needed if the value is or contains
    /// a qualified name.
    pub namespaces: Vec<(String, String)>,
    /// {fixed}: further restrictions must not change it.
    pub fixed: bool,
    /// The documentation.
    pub annotation: Annotation,
    /// The location in the document.
    pub location: Location,
}

/// The kinds of facets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FacetKind {
    /// `length`
    Length,
    /// `minLength`
    MinLength,
    /// `maxLength`
    MaxLength,
    /// `pattern`: the patterns of one step are alternatives; the patterns of different steps must all match.
    Pattern,
    /// `enumeration`
    Enumeration,
    /// `whiteSpace`
    WhiteSpace,
    /// `maxInclusive`
    MaxInclusive,
    /// `maxExclusive`
    MaxExclusive,
    /// `minExclusive`
    MinExclusive,
    /// `minInclusive`
    MinInclusive,
    /// `totalDigits`
    TotalDigits,
    /// `fractionDigits`
    FractionDigits,
}

impl Facet {
    /// Returns the expanded name of an enumeration value, if the type is derived from QName or NOTATION.
    #[must_use]
    pub fn name(&self) -> Option<ExpandedName> {
        let value = self.value.trim();
        let (prefix, local) = value.split_once(':').unwrap_or(("", value));
        let (_, namespace) = self.namespaces.iter().find(|(known, _)| known == prefix)?;
        castile_xml::tree::is_ncname(local).then(|| ExpandedName::new(namespace.as_str(), local))
    }
}

impl FacetKind {
    const NAMES: [(FacetKind, &'static str); 12] = [
        (Self::Length, "length"),
        (Self::MinLength, "minLength"),
        (Self::MaxLength, "maxLength"),
        (Self::Pattern, "pattern"),
        (Self::Enumeration, "enumeration"),
        (Self::WhiteSpace, "whiteSpace"),
        (Self::MaxInclusive, "maxInclusive"),
        (Self::MaxExclusive, "maxExclusive"),
        (Self::MinExclusive, "minExclusive"),
        (Self::MinInclusive, "minInclusive"),
        (Self::TotalDigits, "totalDigits"),
        (Self::FractionDigits, "fractionDigits"),
    ];

    /// Returns the facet whose element has this local name.
    #[must_use]
    pub fn from_name(local: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, name)| *name == local).map(|(kind, _)| *kind)
    }

    /// Returns the local name of its element.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// Returns true if the facet applies to atomic types derived from `builtin` (Part 2 §4.1.5).
    #[must_use]
    pub fn applies_to(self, builtin: Builtin) -> bool {
        use Builtin as B;
        match self {
            Self::Pattern | Self::Enumeration | Self::WhiteSpace => {
                !(builtin == B::AnySimpleType || (builtin == B::Boolean && self == Self::Enumeration))
            }
            Self::Length | Self::MinLength | Self::MaxLength => matches!(
                builtin.primitive(),
                B::String
                    | B::HexBinary
                    | B::Base64Binary
                    | B::AnyUri
                    | B::QName
                    | B::Notation
                    | B::Nmtokens
                    | B::Idrefs
                    | B::Entities
            ),
            Self::MaxInclusive | Self::MaxExclusive | Self::MinExclusive | Self::MinInclusive => matches!(
                builtin.primitive(),
                B::Decimal
                    | B::Float
                    | B::Double
                    | B::Duration
                    | B::DateTime
                    | B::Time
                    | B::Date
                    | B::GYearMonth
                    | B::GYear
                    | B::GMonthDay
                    | B::GDay
                    | B::GMonth
            ),
            Self::TotalDigits | Self::FractionDigits => builtin.primitive() == B::Decimal,
        }
    }
}

impl fmt::Display for FacetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How white space is normalized before a value is read (Part 2 §4.3.6), from weakest to strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhiteSpace {
    /// White space is not changed.
    Preserve,
    /// Each tab and each line end becomes a space.
    Replace,
    /// Additionally, sequences of spaces become one space, and leading and trailing spaces are removed.
    Collapse,
}
