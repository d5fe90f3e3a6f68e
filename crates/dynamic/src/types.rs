//! The types of a contract, as the decoder and the encoder use them.
//!
//! They are made once for a contract and stay in memory until the process ends, because decoder tables are static.

use std::fmt;
use std::ptr;
use std::sync::OnceLock;

use castile_databinding::encoded::ArrayType;
use castile_databinding::facets::Check;
use castile_databinding::model::Order;
use castile_databinding::schema::{Attributes, Content as Children, Element, First, RunTimeType, TypeName, Wildcard};
use castile_databinding::{AnyType, FromXml};

use crate::simple::SimpleType;

/// The type of an element.
#[derive(Debug)]
pub(crate) struct ElementType {
    pub(crate) base: Base,
    pub(crate) nil: Nil,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nil {
    Never,
    Plain,
    /// It may be nil, and its attributes are kept then.
    WithAttributes,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Base {
    Simple(&'static SimpleType),
    Complex(&'static LazyType),
    AnyType,
    Nothing,
    /// A node of a graph in SOAP encoding.
    Shared(&'static ElementType),
}

/// A complex type that is made when it is first needed. Types refer to each other through lazy types, because they may be
/// circular.
pub(crate) struct LazyType {
    pub(crate) name: &'static str,
    is_derived: bool,
    make: Box<dyn Fn() -> Complex + Send + Sync>,
    complex: OnceLock<Complex>,
}

impl LazyType {
    pub(crate) fn new(name: &'static str, is_derived: bool, make: Box<dyn Fn() -> Complex + Send + Sync>) -> Self {
        LazyType { name, is_derived, make, complex: OnceLock::new() }
    }

    /// Returns true if the type has derived types.
    pub(crate) fn is_derived(&self) -> bool {
        self.is_derived
    }

    /// Returns the type. A maker must not call this while it holds the lock, because it would wait for itself.
    pub(crate) fn get(&self) -> &Complex {
        self.complex.get_or_init(&self.make)
    }
}

impl fmt::Debug for LazyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LazyType").field(&self.name).finish()
    }
}

#[derive(Debug)]
pub(crate) enum Complex {
    Struct(Struct),
    Derived(Derived),
    EncodedStruct(EncodedStruct),
    EncodedArray(EncodedArray),
}

/// A complex type.
#[derive(Debug)]
pub(crate) struct Struct {
    pub(crate) name: &'static str,
    /// The name, if `xsi:type` can only be this name.
    pub(crate) type_name: Option<TypeName>,
    pub(crate) table: &'static Attributes,
    /// The declared attributes, in the order of the table.
    pub(crate) attributes: Vec<Attribute>,
    /// The order in which they are written.
    pub(crate) written: Vec<usize>,
    /// Whether other attributes are allowed.
    pub(crate) has_others: bool,
    /// The possible children, for a lenient decoder.
    pub(crate) children: &'static Children,
    pub(crate) content: Content,
}

#[derive(Debug)]
pub(crate) struct Attribute {
    pub(crate) of: &'static SimpleType,
    pub(crate) presence: Presence,
    /// The name as written in a tag.
    pub(crate) tag: &'static str,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Presence {
    Required,
    Optional,
    Default,
    /// It can only have this value, which is written like this.
    Fixed {
        written: &'static str,
        is_required: bool,
    },
}

#[derive(Debug)]
pub(crate) enum Content {
    Simple { of: &'static SimpleType, facets: Option<&'static dyn Check> },
    Sequence(Particles),
    All(Particles),
    Mixed(&'static Group),
}

/// Particles, and the table of those that are elements.
#[derive(Debug)]
pub(crate) struct Particles {
    pub(crate) table: &'static [Element],
    pub(crate) list: Vec<Particle>,
    /// The representation of each particle in JSON.
    pub(crate) keys: Vec<Key>,
    /// The number of particles, including those in groups.
    pub(crate) size: usize,
    /// The nesting depth of groups.
    pub(crate) depth: usize,
}

/// How a particle is represented in a JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// As a member with this name.
    Member(&'static str),
    /// As members of the surrounding object, for the members of a group.
    Flat,
}

#[derive(Debug)]
pub(crate) struct Particle {
    pub(crate) min: u32,
    pub(crate) max: Option<u32>,
    pub(crate) term: Term,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occurrence {
    Required,
    Optional,
    Repeated,
}

impl Particle {
    pub(crate) fn occurrence(&self) -> Occurrence {
        match (self.min, self.max) {
            (1, Some(1)) => Occurrence::Required,
            (0, Some(1)) => Occurrence::Optional,
            _ => Occurrence::Repeated,
        }
    }
}

#[derive(Debug)]
pub(crate) enum Term {
    Element {
        /// The index in the table.
        index: usize,
        start: &'static str,
        end: &'static str,
        /// Whether another element of this name may follow.
        is_counted: bool,
    },
    Group(&'static Group),
    /// The wildcard, and a list with it for use as the start of a group.
    Any(&'static Wildcard, &'static [First]),
}

/// A model group inside a type.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) first: &'static [First],
    pub(crate) all: &'static [First],
    pub(crate) kind: GroupKind,
}

impl Group {
    pub(crate) fn particles(&self) -> &Particles {
        let (GroupKind::Sequence(particles)
        | GroupKind::All(particles)
        | GroupKind::Choice(particles)
        | GroupKind::MixedPart(particles, _)) = &self.kind;
        particles
    }
}

#[derive(Debug)]
pub(crate) enum GroupKind {
    Sequence(Particles),
    All(Particles),
    Choice(Particles),
    /// A piece of mixed content: text, or one of these particles.
    MixedPart(Particles, Option<Order>),
}

/// A type with all types derived from it.
#[derive(Debug)]
pub(crate) struct Derived {
    pub(crate) names: &'static [TypeName],
    pub(crate) is_abstract: bool,
    pub(crate) variants: Vec<Variant>,
}

#[derive(Debug)]
pub(crate) struct Variant {
    pub(crate) of: &'static ElementType,
    /// The name as written in `xsi:type`. The type itself needs none.
    pub(crate) tag: Option<&'static str>,
    /// The name in JSON.
    pub(crate) key: &'static str,
}

/// A struct in SOAP encoding.
#[derive(Debug)]
pub(crate) struct EncodedStruct {
    pub(crate) name: &'static str,
    pub(crate) type_name: Option<TypeName>,
    pub(crate) is_call: bool,
    /// The accessor that has the result of the call.
    pub(crate) result: Option<&'static str>,
    pub(crate) table: &'static [Element],
    pub(crate) accessors: Vec<Accessor>,
}

#[derive(Debug)]
pub(crate) struct Accessor {
    pub(crate) is_repeated: bool,
    /// Whether it is left out, not nil, if it has no value.
    pub(crate) is_optional: bool,
    pub(crate) start: &'static str,
    pub(crate) end: &'static str,
}

/// An array in SOAP encoding.
#[derive(Debug)]
pub(crate) struct EncodedArray {
    pub(crate) array: &'static ArrayType,
    /// The type of the items as written in `arrayType`.
    pub(crate) tag: &'static str,
    pub(crate) start: &'static str,
    pub(crate) end: &'static str,
}

static OPEN: Children = Children::Open;
static NONE: Attributes = Attributes::NONE;

impl ElementType {
    /// Returns its name for error messages.
    pub(crate) fn name(&self) -> &'static str {
        match self.inner().base {
            Base::Simple(of) => of.name,
            Base::Complex(lazy) => lazy.name,
            Base::AnyType | Base::Shared(_) => "any type",
            Base::Nothing => "no type",
        }
    }

    /// Returns true if both have the same values. Simple and complex types exist only once, so they are compared by
    /// address.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self.inner().base, other.inner().base) {
            (Base::Simple(one), Base::Simple(other)) => ptr::eq(one, other),
            (Base::Complex(one), Base::Complex(other)) => ptr::eq(one, other),
            (Base::AnyType, Base::AnyType) | (Base::Nothing, Base::Nothing) => true,
            _ => false,
        }
    }

    /// Returns the inner type of a shared type.
    fn inner(&self) -> &Self {
        match self.base {
            Base::Shared(inner) => inner,
            _ => self,
        }
    }
}

impl RunTimeType for ElementType {
    fn is_nillable(&self) -> bool {
        self.nil != Nil::Never
    }

    fn attributes(&self) -> &'static Attributes {
        match self.inner().base {
            Base::Simple(_) | Base::Nothing => &NONE,
            Base::Complex(lazy) => match lazy.get() {
                Complex::Struct(of) => of.table,
                Complex::Derived(_) | Complex::EncodedStruct(_) | Complex::EncodedArray(_) => AnyType::ATTRIBUTES,
            },
            Base::AnyType | Base::Shared(_) => AnyType::ATTRIBUTES,
        }
    }

    fn type_name(&self) -> Option<TypeName> {
        match self.inner().base {
            Base::Simple(of) => of.type_name(),
            Base::Complex(lazy) => match lazy.get() {
                Complex::Struct(Struct { type_name, .. }) | Complex::EncodedStruct(EncodedStruct { type_name, .. }) => {
                    *type_name
                }
                Complex::Derived(_) | Complex::EncodedArray(_) => None,
            },
            Base::AnyType | Base::Nothing | Base::Shared(_) => None,
        }
    }

    fn type_is_fixed(&self) -> bool {
        match self.base {
            Base::Simple(_) => true,
            Base::Complex(lazy) => {
                matches!(lazy.get(), Complex::EncodedStruct(EncodedStruct { type_name: Some(_), .. }))
            }
            // It is unknown until the tag is examined, because it may have an id.
            Base::Shared(_) | Base::AnyType | Base::Nothing => false,
        }
    }

    fn content(&self) -> &'static Children {
        match self.inner().base {
            Base::Complex(lazy) => match lazy.get() {
                Complex::Struct(of) => of.children,
                Complex::Derived(_) | Complex::EncodedStruct(_) | Complex::EncodedArray(_) => &OPEN,
            },
            _ => &OPEN,
        }
    }
}
