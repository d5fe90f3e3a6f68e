//! What types of a program declare about themselves, for the contract that is generated from them.
//!
//! The tables of [`schema`](crate::schema) have what a decoder needs. A contract needs more: the names of types, their bases,
//! and documentation.

mod equality;
mod extends;
mod fits;
mod members;

use std::any::TypeId;

use castile_datatypes::*;

use crate::any::AnyType;
use crate::nillable::{Nillable, NillableWithAttributes};
use crate::recursive::Recursive;
use crate::schema::{Namespaces, TypeName, XSD_NAMESPACE};

pub use equality::is_same;
pub use extends::{NotExtended, extends, is_derived_from};
pub use fits::{
    ExpectedAttribute, ExpectedContent, ExpectedElement, ExpectedName, ExpectedType, ExpectedTypeKind, fits,
};
pub use members::{
    And, AttributeDetails, AttributeUses, Flattened, Members, Of, Optional, Particle, Parts, Row, Takes, Types,
    UNBOUNDED, Wildcard,
};

/// A type that a contract can declare.
///
/// Derived code of a complex type overrides the constants whose defaults don't fit: its name, its parts, and anything unusual.
/// Types and references are used because they are cheaper to compile than other values, and one constant is cheaper than two.
/// The declarations are built from them when a contract is generated.
#[diagnostic::on_unimplemented(
    message = "no contract can declare `{Self}`",
    label = "is neither a type of XML Schema nor one that derives `castile::Xml`",
    note = "derive `castile::Xml` for your own type; for a type of another crate, use an adapter: `#[xml(with = …)]`"
)]
pub trait Declared: Sized + 'static {
    /// Whether elements of the type may be nil.
    const IS_NILLABLE: bool = false;
    /// The namespace and the local name of a complex type; both empty for one without.
    const NAME: (&'static str, &'static str) = ("", "");
    /// The attributes of a complex type, and the members of its content.
    const PARTS: Parts = Parts::NONE;
    /// The documentation of a complex type. Empty for none.
    const DOCUMENTATION: &'static str = "";
    /// The type that a complex type extends.
    const BASE: Option<&'static Declaration> = None;
    /// For each attribute: its default, whether that is fixed, and its documentation. Empty if no attribute has any.
    const ATTRIBUTE_DETAILS: &'static [AttributeDetails] = &[];
    /// The namespaces of further attributes of a complex type, if it has an attribute wildcard.
    const ANY_ATTRIBUTES: Option<Namespaces> = None;
    /// The documentation of each member. Empty if no member has any.
    const MEMBER_DOCUMENTATION: &'static [&'static str] = &[];
    /// The content of a complex type.
    const CONTENT: ContentDefinition = ContentDefinition::sequence::<Self>();
    /// Identifies the type.
    const KIND: TypeKind = TypeKind::Named(TypeName::new(Self::NAME.0, Self::NAME.1));
    /// The declaration of the type.
    const DECLARATION: &'static Declaration = &Declaration::complex::<Self>();

    /// Returns the declaration. Recursive types refer to this function, since a constant can't refer to itself.
    fn declaration() -> &'static Declaration {
        Self::DECLARATION
    }
}

/// Identifies a type without its content, since the content may contain the type itself.
#[derive(Clone, Copy, Debug)]
pub enum TypeKind {
    /// A built-in type, or a restriction of one: `xs:int`.
    Simple(&'static str),
    /// A string type with an enumeration: pairs of `enumeration` and a value.
    Listed(&'static [(&'static str, &'static str)]),
    /// A list type, with the type of its items.
    List(&'static TypeKind),
    /// A simple type of the program, and the type that it restricts.
    Restriction(TypeName, &'static TypeKind),
    /// A complex type.
    Named(TypeName),
    /// A complex type without a name.
    Unnamed(&'static Declaration),
}

/// Returns the declaration of a type. It is a function so that types can be recursive.
pub type Reference = fn() -> &'static Declaration;

/// The declaration of a type in a contract (XSD Part 1 §3.4, §3.14).
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// The identity of the type. There may be several copies of one declaration.
    pub id: fn() -> TypeId,
    /// The name. `None` for an anonymous type, such as a list.
    pub name: Option<TypeName>,
    /// The documentation, empty for none.
    pub documentation: &'static str,
    /// The definition of its values.
    pub definition: Definition,
}

/// The definition of a type's values.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "each is a static, and most are complex types")]
pub enum Definition {
    /// A type of XML Schema.
    BuiltIn,
    /// A restriction of another simple type by facets, given as names and values.
    Restriction {
        /// The type that is restricted.
        base: Reference,
        /// The facets.
        facets: &'static [(&'static str, &'static str)],
    },
    /// A list, with the type of its items.
    List(Reference),
    /// A union of these types.
    Union(&'static [Reference]),
    /// A complex type.
    Complex(ComplexDefinition),
}

/// The definition of a complex type.
#[derive(Clone, Copy, Debug)]
pub struct ComplexDefinition {
    /// The type that it extends. `attributes` and `content` include those of that type; its elements come first.
    pub base: Option<&'static Declaration>,
    /// For an enum of types that extend each other: the type of a value without `xsi:type`. It has the same name as the enum.
    pub itself: Option<&'static Declaration>,
    /// The types that extend it and that its values may have.
    pub extended_by: &'static [Reference],
    /// Whether its values may also have other types that extend it.
    pub is_open: bool,
    /// Whether the type is abstract: values must have a type that extends it.
    pub is_abstract: bool,
    /// Its attributes.
    pub attributes: AttributeUses,
    /// The namespaces of further attributes, if there is an attribute wildcard.
    pub any_attributes: Option<Namespaces>,
    /// The content.
    pub content: ContentDefinition,
}

/// The content of an element.
#[derive(Clone, Copy, Debug)]
pub enum ContentDefinition {
    /// A value of a simple type.
    Simple(Reference, TypeKind),
    /// Elements only.
    Elements(ParticleDeclaration),
    /// Text and elements.
    Mixed(ParticleDeclaration),
}

/// An attribute of a type (XSD Part 1 §3.2).
#[derive(Clone, Copy, Debug)]
pub struct AttributeDeclaration {
    /// The namespace; empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
    /// The type of the value.
    pub of: Reference,
    /// Identifies the type of the value.
    pub kind: TypeKind,
    /// Whether the attribute is required.
    pub is_required: bool,
    /// The default or fixed value.
    pub default: Option<&'static str>,
    /// Whether `default` is the only allowed value.
    pub is_fixed: bool,
    /// The documentation, empty for none.
    pub documentation: &'static str,
}

/// A particle (XSD Part 1 §3.9).
#[derive(Clone, Copy, Debug)]
pub struct ParticleDeclaration {
    /// The minimum number of occurrences.
    pub min_occurs: u32,
    /// The maximum number of occurrences; `None` is unbounded.
    pub max_occurs: Option<u32>,
    /// The term.
    pub term: TermDeclaration,
}

/// The term of a particle.
#[derive(Clone, Copy, Debug)]
pub enum TermDeclaration {
    /// An element.
    Element(ElementDeclaration),
    /// Any element of these namespaces.
    Any(Namespaces),
    /// A sequence.
    Sequence(Members),
    /// A choice.
    Choice(Members),
    /// An `<all>` group: each member at most once, in any order.
    All(Members),
    /// The content of a type, without an element around it.
    ContentOf(Reference, TypeKind),
}

/// An element within a type (XSD Part 1 §3.3).
#[derive(Clone, Copy, Debug)]
pub struct ElementDeclaration {
    /// The namespace; empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
    /// The type of the value.
    pub of: Reference,
    /// Identifies the type of the value.
    pub kind: TypeKind,
    /// Whether it may be nil.
    pub is_nillable: bool,
    /// The default or fixed value.
    pub default: Option<&'static str>,
    /// Whether `default` is the only allowed value.
    pub is_fixed: bool,
    /// The documentation, empty for none.
    pub documentation: &'static str,
}

impl Declaration {
    /// Creates the declaration of a complex type.
    const fn complex<T: Declared>() -> Self {
        let (namespace, name) = T::NAME;
        let name = if name.is_empty() { None } else { Some(TypeName::new(namespace, name)) };
        let definition = ComplexDefinition {
            base: T::BASE,
            itself: None,
            extended_by: &[],
            is_open: false,
            is_abstract: false,
            attributes: AttributeUses::of::<T>(),
            any_attributes: T::ANY_ATTRIBUTES,
            content: T::CONTENT,
        };
        Declaration {
            id: TypeId::of::<T>,
            name,
            documentation: T::DOCUMENTATION,
            definition: Definition::Complex(definition),
        }
    }

    /// Creates the declaration of a complex type that other types extend. `itself` is the type of values without `xsi:type`;
    /// if it is `None` the type is abstract. If `is_open`, values may also have types that are not in `by`.
    pub const fn extended<T: Declared>(
        itself: Option<&'static Declaration>,
        by: &'static [Reference],
        is_open: bool,
    ) -> Self {
        let declared = Declaration::complex::<T>();
        let of = match itself {
            None => declared,
            Some(of) => *of,
        };
        let Definition::Complex(complex) = of.definition else { panic!("a simple type is not extended") };
        let definition =
            ComplexDefinition { itself, extended_by: by, is_open, is_abstract: itself.is_none(), ..complex };
        let documentation = if of.documentation.is_empty() { declared.documentation } else { of.documentation };
        Declaration { documentation, definition: Definition::Complex(definition), ..declared }
    }

    /// Creates the declaration of a simple type.
    pub const fn simple<T: Declared>(name: TypeName, documentation: &'static str, definition: Definition) -> Self {
        Declaration { id: TypeId::of::<T>, name: Some(name), documentation, definition }
    }

    /// Whether both are declarations of the same type.
    pub fn is(&self, other: &Declaration) -> bool {
        (self.id)() == (other.id)()
    }
}

impl ContentDefinition {
    /// A sequence of the members of `T`.
    pub const fn sequence<T: Declared>() -> Self {
        ContentDefinition::Elements(ParticleDeclaration::once(TermDeclaration::Sequence(Members::of::<T>())))
    }

    /// A choice of the members of `T`.
    pub const fn choice<T: Declared>() -> Self {
        ContentDefinition::Elements(ParticleDeclaration::once(TermDeclaration::Choice(Members::of::<T>())))
    }

    /// An `<all>` group of the members of `T`.
    pub const fn all<T: Declared>() -> Self {
        ContentDefinition::Elements(ParticleDeclaration::once(TermDeclaration::All(Members::of::<T>())))
    }

    /// Text, and any number of elements from the content of `T`.
    pub const fn mixed<T: Declared>() -> Self {
        ContentDefinition::Mixed(ParticleDeclaration::content_of::<T>().occurs(0, None))
    }

    /// A value of the simple type `T`.
    pub const fn text<T: Declared>() -> Self {
        ContentDefinition::Simple(T::declaration, T::KIND)
    }
}

impl ParticleDeclaration {
    const fn once(term: TermDeclaration) -> Self {
        ParticleDeclaration { min_occurs: 1, max_occurs: Some(1), term }
    }

    const fn element<T: Declared>() -> Self {
        ParticleDeclaration::once(TermDeclaration::Element(ElementDeclaration {
            namespace: "",
            name: "",
            of: T::declaration,
            kind: T::KIND,
            is_nillable: T::IS_NILLABLE,
            default: None,
            is_fixed: false,
            documentation: "",
        }))
    }

    const fn content_of<T: Declared>() -> Self {
        ParticleDeclaration::once(TermDeclaration::ContentOf(T::declaration, T::KIND))
    }

    const fn occurs(mut self, min: u32, max: Option<u32>) -> Self {
        (self.min_occurs, self.max_occurs) = (min, max);
        self
    }
}

/// An element that a contract declares for use in messages.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredElement {
    /// The name.
    pub name: TypeName,
    /// The type of the value.
    pub of: Reference,
    /// Whether it may be nil.
    pub is_nillable: bool,
}

/// Fault details, as elements that a contract declares.
#[diagnostic::on_unimplemented(
    message = "no contract can declare `{Self}` as the detail of a fault",
    label = "does not derive `castile::FaultDetail`"
)]
pub trait DeclaredDetails {
    /// Returns the elements.
    fn elements() -> Vec<DeclaredElement>;
}

/// A header block, as an element that a contract declares.
#[diagnostic::on_unimplemented(
    message = "no contract can declare `{Self}` as a header block",
    label = "does not derive `castile::Header`"
)]
pub trait DeclaredHeader {
    /// Returns the element.
    fn element() -> DeclaredElement;
}

/// Returns the name of a built-in type from the form used in messages, such as `xs:int`.
const fn built_in(name: &'static str) -> Option<TypeName> {
    Some(TypeName::new(XSD_NAMESPACE, name.split_at("xs:".len()).1))
}

macro_rules! built_in {
    ($($type:ty),* $(,)?) => {
        $(built_in!($type = <$type as SimpleType>::NAME);)*
    };
    ($type:ty = $name:expr) => {
        impl Declared for $type {
            const KIND: TypeKind = TypeKind::Simple($name);
            const DECLARATION: &'static Declaration =
                &Declaration { id: TypeId::of::<Self>, name: built_in($name), documentation: "", definition: Definition::BuiltIn };
        }
    };
}

built_in!(
    String,
    bool,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    AnyUri,
    Base64Binary,
    Date,
    DateTime,
    Decimal,
    Duration,
    Entity,
    GDay,
    GMonth,
    GMonthDay,
    GYear,
    GYearMonth,
    HexBinary,
    Id,
    Idref,
    Integer,
    Language,
    Name,
    NcName,
    NegativeInteger,
    Nmtoken,
    NonNegativeInteger,
    NonPositiveInteger,
    NormalizedString,
    PositiveInteger,
    QName,
    StreamedBinary,
    Time,
    Token,
);
built_in!(Entities = "xs:ENTITIES");
built_in!(Idrefs = "xs:IDREFS");
built_in!(Nmtokens = "xs:NMTOKENS");
built_in!(AnyType = "xs:anyType");

impl<T: Declared> Declared for List<T> {
    const KIND: TypeKind = TypeKind::List(&T::KIND);
    const DECLARATION: &'static Declaration = &Declaration {
        id: TypeId::of::<Self>,
        name: None,
        documentation: "",
        definition: Definition::List(T::declaration),
    };
}

/// An element without content.
impl Declared for () {
    const KIND: TypeKind = TypeKind::Unnamed(Self::DECLARATION);
}

macro_rules! transparent {
    ($($holder:ident: $is_nillable:expr;)*) => {$(
        impl<T: Declared> Declared for $holder<T> {
            const IS_NILLABLE: bool = $is_nillable;

            const KIND: TypeKind = T::KIND;
            const DECLARATION: &'static Declaration = T::DECLARATION;
        }
    )*};
}

transparent! {
    Nillable: true;
    NillableWithAttributes: true;
    Box: T::IS_NILLABLE;
    Recursive: T::IS_NILLABLE;
}
