use std::fmt;

use super::{
    Annotation, AttributeGroupId, AttributeId, AttributeUse, DerivationSet, ElementId, Particle, TypeId, Wildcard,
};
use crate::{Builtin, ExpandedName, Location};

/// A simple or a complex type: they share one set of names (Part 1 §2.5).
#[derive(Debug, Clone)]
pub enum TypeDefinition {
    /// Character data only, no attributes.
    Simple(SimpleType),
    /// Attributes, child elements or both.
    Complex(ComplexType),
}

impl TypeDefinition {
    /// Its name; an anonymous type has an [`owner`](Self::owner) instead.
    #[must_use]
    pub fn name(&self) -> Option<&ExpandedName> {
        match self {
            Self::Simple(simple) => simple.name.as_ref(),
            Self::Complex(complex) => complex.name.as_ref(),
        }
    }

    /// What an anonymous type is written in.
    #[must_use]
    pub fn owner(&self) -> Option<Owner> {
        match self {
            Self::Simple(simple) => simple.owner,
            Self::Complex(complex) => complex.owner,
        }
    }

    /// {base type definition}
    #[must_use]
    pub fn base(&self) -> TypeId {
        match self {
            Self::Simple(simple) => simple.base,
            Self::Complex(complex) => complex.base,
        }
    }

    /// Where it stands.
    #[must_use]
    pub fn location(&self) -> Location {
        match self {
            Self::Simple(simple) => simple.location,
            Self::Complex(complex) => complex.location,
        }
    }

    /// Its documentation.
    #[must_use]
    pub fn annotation(&self) -> &Annotation {
        match self {
            Self::Simple(simple) => &simple.annotation,
            Self::Complex(complex) => &complex.annotation,
        }
    }

    /// The complex type, if it is one.
    #[must_use]
    pub fn as_complex(&self) -> Option<&ComplexType> {
        match self {
            Self::Simple(_) => None,
            Self::Complex(complex) => Some(complex),
        }
    }

    /// The simple type, if it is one.
    #[must_use]
    pub fn as_simple(&self) -> Option<&SimpleType> {
        match self {
            Self::Simple(simple) => Some(simple),
            Self::Complex(_) => None,
        }
    }
}

/// What an anonymous type is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The declaration of an element.
    Element(ElementId),
    /// The declaration of an attribute.
    Attribute(AttributeId),
    /// Another type: the item of a list, a member of a union, the base of a restriction, simple content; or the
    /// definition that this one redefines.
    Type(TypeId),
}

/// A complex type definition (Part 1 §3.4).
#[derive(Debug, Clone)]
pub struct ComplexType {
    /// {name} and {target namespace}, unless it is anonymous.
    pub name: Option<ExpandedName>,
    /// What it is written in, if it is anonymous.
    pub owner: Option<Owner>,
    /// {base type definition}; `xs:anyType` when nothing is said.
    pub base: TypeId,
    /// {derivation method}
    pub derivation: Derivation,
    /// {abstract}
    pub is_abstract: bool,
    /// {final}
    pub final_: DerivationSet,
    /// {prohibited substitutions}
    pub block: DerivationSet,
    /// The content that this definition itself gives. For an extension that is what it adds:
    /// [`Schema::content`](crate::Schema::content) has the whole.
    pub content: Content,
    /// The attributes that this definition itself gives:
    /// [`Schema::attribute_uses`](crate::Schema::attribute_uses) has them all.
    pub attribute_uses: Vec<AttributeUse>,
    /// The attribute groups it refers to.
    pub attribute_groups: Vec<AttributeGroupId>,
    /// Its own `<anyAttribute>`: [`Schema::attribute_wildcard`](crate::Schema::attribute_wildcard) has the whole.
    pub attribute_wildcard: Option<Wildcard>,
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
    pub location: Location,
}

/// What may stand between the tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Nothing.
    Empty,
    /// A value of this simple type.
    Simple(TypeId),
    /// Elements.
    ElementOnly(Particle),
    /// Elements and character data among them.
    Mixed(Particle),
}

impl Content {
    /// The particle of element-only and mixed content.
    #[must_use]
    pub fn particle(&self) -> Option<&Particle> {
        match self {
            Self::ElementOnly(particle) | Self::Mixed(particle) => Some(particle),
            Self::Empty | Self::Simple(_) => None,
        }
    }
}

/// How a type comes from its base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Derivation {
    /// Its instances are instances of the base too.
    Restriction,
    /// It adds to the base.
    Extension,
}

/// A simple type definition (Part 1 §3.14).
#[derive(Debug, Clone)]
pub struct SimpleType {
    /// {name} and {target namespace}, unless it is anonymous.
    pub name: Option<ExpandedName>,
    /// What it is written in, if it is anonymous.
    pub owner: Option<Owner>,
    /// {base type definition}; `xs:anySimpleType` for a list or a union.
    pub base: TypeId,
    /// {variety}; that of the base for a restriction.
    pub variety: Variety,
    /// The facets of this step: [`Schema::facets`](crate::Schema::facets) has those of the base too.
    pub facets: Vec<Facet>,
    /// {final}
    pub final_: DerivationSet,
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
    pub location: Location,
}

/// What the values of a simple type are made of (Part 2 §2.5.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variety {
    /// One value.
    Atomic,
    /// Values with white space between.
    List {
        /// {item type definition}
        item: TypeId,
    },
    /// A value of the first member type that it is valid for.
    Union {
        /// {member type definitions}, in order.
        members: Vec<TypeId>,
    },
}

/// A constraint on the values of a simple type (Part 2 §4.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facet {
    /// Which.
    pub kind: FacetKind,
    /// {value}, as written.
    pub value: String,
    /// The prefixes in an enumeration value with the namespaces that they are bound to where it stands: what it needs if
    /// it is, or has in it, a qualified name.
    pub namespaces: Vec<(String, String)>,
    /// {fixed}: further restrictions may not change it.
    pub fixed: bool,
    /// Its documentation.
    pub annotation: Annotation,
    /// Where it stands.
    pub location: Location,
}

/// Which facet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FacetKind {
    /// `length`
    Length,
    /// `minLength`
    MinLength,
    /// `maxLength`
    MaxLength,
    /// `pattern`: those of one step are alternatives, those of different steps all hold.
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
    /// The expanded name that an enumeration value stands for, if it is of a type derived from QName or NOTATION.
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

    /// The facet whose element has this local name.
    #[must_use]
    pub fn from_name(local: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, name)| *name == local).map(|(kind, _)| *kind)
    }

    /// The local name of its element.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// Whether types derived from `builtin`, atomic ones, may have it (Part 2 §4.1.5).
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

/// What happens to white space before a value is read (Part 2 §4.3.6), from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WhiteSpace {
    /// It stays.
    Preserve,
    /// Each tab and line end becomes a space.
    Replace,
    /// And runs become one space, those at the ends go.
    Collapse,
}
