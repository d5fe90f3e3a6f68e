//! What types of a program say of themselves, for the contract that is written from them.
//!
//! The tables of [`schema`](crate::schema) say what a decoder needs. A contract says more: the names of types, what they are
//! derived from, documentation.

mod alike;
mod extends;
mod fits;
mod members;

use std::any::TypeId;

use crate::any::AnyType;
use crate::datatypes::*;
use crate::nillable::{Nillable, NillableWithAttributes};
use crate::recursive::Recursive;
use crate::schema::{Attributes, Element, Namespaces, TypeName, XSD_NAMESPACE};

pub use alike::is_same;
pub use extends::{NotExtended, extends, is_derived_from};
pub use fits::{ExpectedAttribute, ExpectedContent, ExpectedElement, ExpectedKind, ExpectedName, ExpectedType, fits};
pub use members::{
    And, AttributeSaid, AttributeUses, Flattened, Members, Of, Optional, Particle, Row, Takes, Types, UNBOUNDED,
    Wildcard,
};

/// A type that a contract can declare.
///
/// Derived code says of a complex type what no constant here has: its name, what isn't as usual, and the types of its members. It says
/// these as types and references, which take the compiler less than other values do. What is made of them is made here, where a contract
/// is asked for.
#[diagnostic::on_unimplemented(
    message = "no contract can declare `{Self}`",
    label = "is neither a type of XML Schema nor one that derives `castile::Xml`",
    note = "a type of your own derives `castile::Xml`; one of another crate takes an adapter: `#[xml(with = …)]`"
)]
pub trait Declared: Sized + 'static {
    /// Whether elements of the type may be nil.
    const IS_NILLABLE: bool = false;
    /// The namespace and the local name of a complex type; both empty for one without.
    const NAME: (&'static str, &'static str) = ("", "");
    /// Of a complex type. Empty for none.
    const DOCUMENTATION: &'static str = "";
    /// The type that a complex type extends.
    const BASE: Option<&'static Declaration> = None;
    /// The attributes of a complex type: their types, and their names.
    const ATTRIBUTES: (&'static Row, &'static Attributes) = (<()>::ROW, &Attributes::NONE);
    /// What is said of each attribute: its default, whether it has no other value, and documentation. Empty where nothing is.
    const SAID_OF_ATTRIBUTES: &'static [AttributeSaid] = &[];
    /// The namespaces of other attributes of a complex type, if there may be some.
    const ANY_ATTRIBUTES: Option<Namespaces> = None;
    /// What is in the content of a complex type, in its order: types, and the names of elements, their occurrence and their defaults.
    const MEMBERS: (&'static Row, &'static [Element]) = (<()>::ROW, &[]);
    /// The documentation of each member. Empty where nothing is said.
    const SAID_OF_MEMBERS: &'static [&'static str] = &[];
    /// What is between the tags of a complex type.
    const CONTENT: ContentDefinition = ContentDefinition::sequence::<Self>();
    /// What tells it from other types.
    const KIND: Kind = Kind::Named(TypeName::new(Self::NAME.0, Self::NAME.1));
    /// How it is declared.
    const DECLARATION: &'static Declaration = &Declaration::complex::<Self>();

    /// How it is declared, for those to whom it may refer: a constant in itself has no value.
    fn declaration() -> &'static Declaration {
        Self::DECLARATION
    }
}

/// What tells a type from others, without what is in it: that may be the type itself.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A built-in type, or a restriction of one: `xs:int`.
    Simple(&'static str),
    /// A text that is one of these: `enumeration` and the value.
    Listed(&'static [(&'static str, &'static str)]),
    /// Values of another simple type with white space between.
    List(&'static Kind),
    /// A simple type of the program, and what it restricts.
    Restriction(TypeName, &'static Kind),
    /// A complex type.
    Named(TypeName),
    /// A complex type without a name.
    Unnamed(&'static Declaration),
}

/// Gives the declaration of a type, which may have that in itself which refers to it.
pub type Reference = fn() -> &'static Declaration;

/// A type as a contract declares it (XSD Part 1 §3.4, §3.14).
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// Tells it from others: there may be several copies of one.
    pub id: fn() -> TypeId,
    /// The name; `None` for a list, which says what it is where it stands.
    pub name: Option<TypeName>,
    /// Empty for none.
    pub documentation: &'static str,
    /// What its values are.
    pub definition: Definition,
}

/// What the values of a type are.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant, reason = "each is a static, and most are complex types")]
pub enum Definition {
    /// XML Schema itself has the type.
    BuiltIn,
    /// Values of another simple type that hold to facets: the name of each, and its value.
    Restriction {
        /// The type that is restricted.
        base: Reference,
        /// What values must be beside.
        facets: &'static [(&'static str, &'static str)],
    },
    /// Values of another simple type with white space between.
    List(Reference),
    /// Values of one of these.
    Union(&'static [Reference]),
    /// Attributes and content.
    Complex(ComplexDefinition),
}

/// A complex type.
#[derive(Clone, Copy, Debug)]
pub struct ComplexDefinition {
    /// The type that it extends. `attributes` and `content` have those of that type, too, its elements first.
    pub base: Option<&'static Declaration>,
    /// For an enum of types that extend each other: the type of values without `xsi:type`, which has the same name.
    pub itself: Option<&'static Declaration>,
    /// The types that extend it and that its values may have.
    pub extended_by: &'static [Reference],
    /// Whether its values may be of other types that extend it, too.
    pub is_open: bool,
    /// Whether only types that extend it have values.
    pub is_abstract: bool,
    /// Its attributes.
    pub attributes: AttributeUses,
    /// The namespaces of other attributes, if there may be some.
    pub any_attributes: Option<Namespaces>,
    /// What is between the tags.
    pub content: ContentDefinition,
}

/// What is between the tags of an element.
#[derive(Clone, Copy, Debug)]
pub enum ContentDefinition {
    /// A value of a simple type.
    Simple(Reference, Kind),
    /// Elements.
    Elements(ParticleDeclaration),
    /// Text and elements.
    Mixed(ParticleDeclaration),
}

/// An attribute (XSD Part 1 §3.2).
#[derive(Clone, Copy, Debug)]
pub struct AttributeDeclaration {
    /// The namespace; empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
    /// The type of its value.
    pub of: Reference,
    /// What tells the type from others.
    pub kind: Kind,
    /// Whether it must be there.
    pub is_required: bool,
    /// The value if it is absent.
    pub default: Option<&'static str>,
    /// Whether it has no other value.
    pub is_fixed: bool,
    /// Empty for none.
    pub documentation: &'static str,
}

/// A particle (XSD Part 1 §3.9).
#[derive(Clone, Copy, Debug)]
pub struct ParticleDeclaration {
    /// How often it comes at least.
    pub min_occurs: u32,
    /// How often it comes at most; `None` is unbounded.
    pub max_occurs: Option<u32>,
    /// What comes.
    pub term: TermDeclaration,
}

/// What a particle is of.
#[derive(Clone, Copy, Debug)]
pub enum TermDeclaration {
    /// An element.
    Element(ElementDeclaration),
    /// Any element of these namespaces.
    Any(Namespaces),
    /// One after another.
    Sequence(Members),
    /// One of these.
    Choice(Members),
    /// Each once at most, in any order.
    All(Members),
    /// What the content of this type is, without an element around it.
    ContentOf(Reference, Kind),
}

/// An element within a type (XSD Part 1 §3.3).
#[derive(Clone, Copy, Debug)]
pub struct ElementDeclaration {
    /// The namespace; empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
    /// The type of its value.
    pub of: Reference,
    /// What tells the type from others.
    pub kind: Kind,
    /// Whether it may be nil.
    pub is_nillable: bool,
    /// The value if it is empty.
    pub default: Option<&'static str>,
    /// Whether it has no other value.
    pub is_fixed: bool,
    /// Empty for none.
    pub documentation: &'static str,
}

impl Declaration {
    /// A complex type.
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

    /// A complex type that others extend. `itself` is the one that has its values without `xsi:type`; without one it is abstract.
    /// Where it `is_open`, there may be others than those that are listed.
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

    /// A simple type.
    pub const fn simple<T: Declared>(name: TypeName, documentation: &'static str, definition: Definition) -> Self {
        Declaration { id: TypeId::of::<T>, name: Some(name), documentation, definition }
    }

    /// Whether it is the other one, or a copy of it.
    pub fn is(&self, other: &Declaration) -> bool {
        (self.id)() == (other.id)()
    }
}

impl ContentDefinition {
    /// Elements one after another.
    pub const fn sequence<T: Declared>() -> Self {
        ContentDefinition::Elements(ParticleDeclaration::once(TermDeclaration::Sequence(Members::of::<T>())))
    }

    /// One of these elements.
    pub const fn choice<T: Declared>() -> Self {
        ContentDefinition::Elements(ParticleDeclaration::once(TermDeclaration::Choice(Members::of::<T>())))
    }

    /// Elements in any order.
    pub const fn all<T: Declared>() -> Self {
        ContentDefinition::Elements(ParticleDeclaration::once(TermDeclaration::All(Members::of::<T>())))
    }

    /// Text, and elements that are the content of a type, as often as they like.
    pub const fn mixed<T: Declared>() -> Self {
        ContentDefinition::Mixed(ParticleDeclaration::content_of::<T>().occurs(0, None))
    }

    /// A value.
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

/// An element that a contract declares for messages.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredElement {
    /// Its name.
    pub name: TypeName,
    /// The type of its value.
    pub of: Reference,
    /// Whether it may be nil.
    pub is_nillable: bool,
}

/// What faults can say, as elements that a contract declares.
#[diagnostic::on_unimplemented(
    message = "no contract can declare `{Self}` as what a fault says",
    label = "derives no `castile::FaultDetail`"
)]
pub trait DeclaredDetails {
    /// The elements.
    fn elements() -> Vec<DeclaredElement>;
}

/// A header block, as an element that a contract declares.
#[diagnostic::on_unimplemented(
    message = "no contract can declare `{Self}` as a header block",
    label = "does not derive `castile::Header`"
)]
pub trait DeclaredHeader {
    /// The element.
    fn element() -> DeclaredElement;
}

/// The name of a built-in type that messages call by a prefix: `xs:int`.
const fn built_in(name: &'static str) -> Option<TypeName> {
    Some(TypeName::new(XSD_NAMESPACE, name.split_at("xs:".len()).1))
}

macro_rules! built_in {
    ($($type:ty),* $(,)?) => {
        $(built_in!($type = <$type as SimpleType>::NAME);)*
    };
    ($type:ty = $name:expr) => {
        impl Declared for $type {
            const KIND: Kind = Kind::Simple($name);
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
    const KIND: Kind = Kind::List(&T::KIND);
    const DECLARATION: &'static Declaration = &Declaration {
        id: TypeId::of::<Self>,
        name: None,
        documentation: "",
        definition: Definition::List(T::declaration),
    };
}

/// An element without content.
impl Declared for () {
    const KIND: Kind = Kind::Unnamed(Self::DECLARATION);
}

macro_rules! as_what_it_holds {
    ($($holder:ident: $is_nillable:expr;)*) => {$(
        impl<T: Declared> Declared for $holder<T> {
            const IS_NILLABLE: bool = $is_nillable;

            const KIND: Kind = T::KIND;
            const DECLARATION: &'static Declaration = T::DECLARATION;
        }
    )*};
}

as_what_it_holds! {
    Nillable: true;
    NillableWithAttributes: true;
    Box: T::IS_NILLABLE;
    Recursive: T::IS_NILLABLE;
}
