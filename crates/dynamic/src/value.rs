//! Values of the types of a contract.

use std::fmt;
use std::ptr;

use castile_databinding::encoded::Shared;
use castile_databinding::{Any, AnyAttribute, AnyElements, AnyType, Recursive, datatypes};

use crate::simple::SimpleType;
use crate::types::{EncodedArray, EncodedStruct, Group, Struct, Variant};

/// A value of a type of a contract that was read at run time. It knows its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An element that is nil, with its attributes.
    Nil(Others),
    /// A value of a simple type.
    Simple(SimpleValue),
    /// A value of a complex type.
    Struct(Recursive<StructValue>),
    /// A value of a type that has derived types.
    Derived(Recursive<DerivedValue>),
    /// A struct in SOAP encoding.
    Encoded(Recursive<EncodedValue>),
    /// An array in SOAP encoding.
    Array(Recursive<ArrayValue>),
    /// A node of a graph in SOAP encoding.
    Shared(Shared<Node>),
    /// A value of `xs:anyType`.
    Any(Recursive<AnyType>),
    /// No value.
    Empty,
}

/// Attributes that a type doesn't declare. Their order is not significant.
#[derive(Clone, Debug, Default)]
pub struct Others(pub Vec<AnyAttribute>);

impl PartialEq for Others {
    fn eq(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|attribute| other.0.contains(attribute))
    }
}

/// A value of a simple type.
#[derive(Clone)]
pub struct SimpleValue {
    pub(crate) of: &'static SimpleType,
    pub(crate) value: datatypes::Value,
}

/// A value of a complex type: its attributes and its content.
#[derive(Clone)]
pub struct StructValue {
    pub(crate) of: &'static Struct,
    /// The values in the order of the type; `None` for an absent attribute.
    pub(crate) attributes: Vec<Option<datatypes::Value>>,
    /// The attributes that match a wildcard.
    pub(crate) others: Others,
    pub(crate) content: ContentValue,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ContentValue {
    Simple(datatypes::Value),
    /// The content of each particle.
    Particles(Vec<Slot>),
    Mixed(Vec<GroupValue>),
}

/// The content of a particle.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Slot {
    Absent,
    One(Value),
    Many(Vec<Value>),
    Group(Box<GroupValue>),
    Groups(Vec<GroupValue>),
    Any(Any),
    Elements(AnyElements),
    /// Accessors in SOAP encoding; `None` for a nil accessor.
    Accessors(Vec<Option<Value>>),
}

/// A model group inside a type.
#[derive(Clone)]
pub(crate) struct GroupValue {
    pub(crate) of: &'static Group,
    pub(crate) content: GroupContent,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum GroupContent {
    Particles(Vec<Slot>),
    /// The index of the particle, and its content.
    Choice(usize, Slot),
    Text(String),
}

/// A value of a type that has derived types.
#[derive(Clone)]
pub struct DerivedValue {
    /// The type of the value; `None` for a type that the contract doesn't have.
    pub(crate) of: Option<&'static Variant>,
    pub(crate) value: Value,
}

/// A struct in SOAP encoding.
#[derive(Clone)]
pub struct EncodedValue {
    pub(crate) of: &'static EncodedStruct,
    pub(crate) accessors: Vec<Slot>,
}

/// An array in SOAP encoding. Its last dimension varies fastest.
#[derive(Clone)]
pub struct ArrayValue {
    pub(crate) of: &'static EncodedArray,
    pub(crate) dimensions: Vec<usize>,
    pub(crate) items: Vec<Option<Value>>,
}

/// The value of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node(pub(crate) Value);

/// Types of one contract exist only once, so they are compared by address.
macro_rules! of_one_type {
    ($($type:ident: $name:expr, $($field:ident),+;)*) => {$(
        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                is_same(self.of, other.of) $(&& self.$field == other.$field)+
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name: fn(&$type) -> &str = $name;
                f.debug_struct(name(self))$(.field(stringify!($field), &self.$field))+.finish()
            }
        }
    )*};
}

fn is_same<T: Copy + Into<Option<&'static U>>, U: 'static>(one: T, other: T) -> bool {
    match (one.into(), other.into()) {
        (Some(one), Some(other)) => ptr::eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

of_one_type! {
    SimpleValue: |value| value.of.name, value;
    StructValue: |value| value.of.name, attributes, others, content;
    GroupValue: |value| value.of.name, content;
    DerivedValue: |_| "Derived", value;
    EncodedValue: |value| value.of.name, accessors;
    ArrayValue: |_| "Array", dimensions, items;
}
