//! The plan: Rust names, types and tags. Rendering it needs no knowledge of WSDL or XSD.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

pub use castile_wsdl::Version;
use castile_wsdl::{Addressing, BindingId};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

use crate::names::{Ident, ServiceNames};
#[cfg(feature = "serde")]
use crate::serialized;

/// The plan of a generated module.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Plan {
    /// The namespaces of elements, most used first.
    pub namespaces: Vec<String>,
    /// The module itself, and its submodules.
    pub modules: Vec<Module>,
    pub items: Vec<Item>,
    pub services: Vec<Service>,
    /// The documents of a standalone schema.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documents: Vec<TypedRoot>,
    /// The elements that can be read item by item.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub repeats: Vec<Repeats>,
    /// The complex types that are replaced by types of the program, with the paths of the latter.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub own: HashMap<Path, Box<str>>,
    /// The replaced types, and the items that only they refer to. They are planned but not generated.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub unwritten: HashSet<Path>,
    /// Derives and attributes of types in addition to those that all types have.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub extras: HashMap<Path, Extras>,
    /// The size of values of each type in bytes, including header blocks and fault details.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub sizes: Vec<(Path, usize)>,
    /// The operations that were left out of services.
    pub left_out: Vec<LeftOut>,
    /// The services, ports and bindings that were left out: the kind and name of each.
    pub missing: Vec<String>,
}

impl Plan {
    /// Returns true if nothing usable is left of a contract.
    pub fn is_nothing(&self) -> bool {
        self.services.is_empty() && (self.items.is_empty() || !self.left_out.is_empty() || !self.missing.is_empty())
    }

    /// Returns how many operations are included, and what is left out with the reasons. Returns `None` if nothing is
    /// left out.
    pub fn summary(&self) -> Option<String> {
        const SHOWN: usize = 20;
        let operations = self.services.iter().map(|service| service.operations.len()).sum::<usize>();
        let total = operations + self.left_out.len();
        let plural = if total == 1 { "" } else { "s" };
        let left_out = self.left_out.iter().map(|one| (one.label.as_str(), one.reason.as_deref()));
        let mut all = left_out.chain(self.missing.iter().map(|name| (name.as_str(), None))).peekable();
        let mut names = String::new();
        for _ in 0..SHOWN {
            let Some((name, reason)) = all.next() else { break };
            if !names.is_empty() {
                names.push_str(", ");
            }
            names.push_str(name);
            // If consecutive operations are left out for the same reason, the reason is written after the last of them.
            if let Some(reason) = reason.filter(|reason| all.peek().is_none_or(|(_, next)| *next != Some(*reason))) {
                // Writing to a string can't fail.
                let _ = write!(names, " ({})", shortened(reason));
            }
        }
        let more = match all.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = Some(names).filter(|names| !names.is_empty())?;
        Some(format!("{operations} of {total} operation{plural}; left out: {names}{more}"))
    }

    /// Returns the size of values of each type in bytes, by the path of the type in the module.
    pub fn named_sizes(&self) -> Vec<(String, usize)> {
        let name = |path: &Path| match path.module {
            0 => path.ident.to_string(),
            module => format!("{}::{}", self.modules[module].ident, path.ident),
        };
        self.sizes.iter().map(|(path, size)| (name(path), *size)).collect()
    }
}

/// An operation that was left out of a service.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct LeftOut {
    pub name: String,
    /// Its unique label in its binding if its binding is usable, or else its name.
    pub label: String,
    /// The first reason, if it wasn't lost because of the limit on diagnostics.
    pub reason: Option<String>,
}

/// Shortens a text.
fn shortened(text: &str) -> Cow<'_, str> {
    const MAX_LENGTH: usize = 200;
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// What a type has in addition to what all types have.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Extras {
    /// Paths of derive macros.
    pub derives: Vec<String>,
    /// The contents of attributes, without the brackets.
    pub attributes: Vec<String>,
}

/// A module for the types of one namespace.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Module {
    pub namespace: String,
    pub ident: Ident,
}

/// The position of a type: the number of its module, and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Path {
    pub module: usize,
    pub ident: Ident,
}

/// An item of generated code.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Item {
    Struct(Struct),
    Choice(Choice),
    Derived(Derived),
    Enumeration(Enumeration),
    Union(Union),
    Restriction(Restriction),
    NamedTypes(NamedTypes),
    EncodedStruct(EncodedStruct),
    EncodedArray(EncodedArray),
}

impl Item {
    pub fn path(&self) -> &Path {
        match self {
            Item::Struct(Struct { path, .. })
            | Item::Choice(Choice { path, .. })
            | Item::Derived(Derived { path, .. })
            | Item::Enumeration(Enumeration { path, .. })
            | Item::Union(Union { path, .. })
            | Item::Restriction(Restriction { path, .. })
            | Item::NamedTypes(NamedTypes { path, .. })
            | Item::EncodedStruct(EncodedStruct { path, .. })
            | Item::EncodedArray(EncodedArray { path, .. }) => path,
        }
    }

    /// Returns the fields of a struct or the variants of a choice.
    pub fn fields(&self) -> &[Field] {
        match self {
            Item::Struct(Struct { content: Content::Sequence(fields) | Content::All(fields), .. }) => fields,
            Item::Choice(choice) => &choice.variants,
            _ => &[],
        }
    }

    pub fn fields_mut(&mut self) -> &mut [Field] {
        match self {
            Item::Struct(Struct { content: Content::Sequence(fields) | Content::All(fields), .. }) => fields,
            Item::Choice(choice) => &mut choice.variants,
            _ => &mut [],
        }
    }

    /// Returns the types that values of the item contain. If there is a choice how a value is held, it is returned too.
    pub fn references_mut(&mut self) -> Vec<(Path, Option<&mut Storage>)> {
        let of_base = |base: &Base| match base {
            Base::Item(path) => Some(path.clone()),
            _ => None,
        };
        let of_field = |field: &'_ Field| match &field.term {
            Term::Element { value, .. } => of_base(&value.base),
            Term::Group(path) => Some(path.clone()),
            Term::Any(_) => None,
        };
        let mut found = Vec::new();
        match self {
            Item::Struct(Struct { attributes, content, .. }) => {
                found.extend(attributes.iter().filter_map(|attribute| Some((of_base(&attribute.base)?, None))));
                match content {
                    Content::Simple { value, .. } => found.extend(of_base(value).map(|path| (path, None))),
                    Content::Mixed { piece, .. } => found.push((piece.clone(), None)),
                    Content::Sequence(fields) | Content::All(fields) => {
                        found.extend(
                            fields.iter_mut().filter_map(|field| Some((of_field(field)?, Some(&mut field.storage)))),
                        );
                    }
                }
            }
            Item::Choice(Choice { variants, .. }) => {
                found
                    .extend(variants.iter_mut().filter_map(|field| Some((of_field(field)?, Some(&mut field.storage)))));
            }
            Item::Derived(Derived { variants, .. }) => {
                let variants = variants.iter_mut();
                found
                    .extend(variants.filter_map(|variant| Some((of_base(&variant.base)?, Some(&mut variant.storage)))));
            }
            Item::Union(Union { members, .. }) => {
                found.extend(members.iter().filter_map(|member| Some((of_base(&member.base)?, None))));
            }
            Item::EncodedStruct(EncodedStruct { accessors, .. }) => {
                let accessors = accessors.iter_mut().filter(|accessor| !accessor.value.is_shared);
                found.extend(accessors.filter_map(|one| Some((of_base(&one.value.base)?, Some(&mut one.storage)))));
            }
            Item::EncodedArray(EncodedArray { value, storage, .. }) => {
                found.extend(of_base(&value.base).filter(|_| !value.is_shared).map(|path| (path, Some(storage))));
            }
            Item::Enumeration(_) | Item::Restriction(_) | Item::NamedTypes(_) => {}
        }
        found
    }
}

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
    /// Whether it is an attribute in a type of a program that only allows its fixed value but has a field for it.
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

/// A particle: a field of a struct or a variant of a choice.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Field {
    pub ident: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub min_occurs: u32,
    pub max_occurs: Option<u32>,
    pub term: Term,
    pub storage: Storage,
    /// Whether its values may be produced while they are sent.
    pub streams: bool,
    /// A type of the program that reads and writes the values as another type.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub adapter: Option<Base>,
}

/// How a value is stored in the value that contains it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Storage {
    #[default]
    InPlace,
    /// In a `Box`, because it is large.
    Boxed,
    /// In a `Recursive`, because it closes a circle of types or because its types nest deeply.
    Recursive,
}

impl Field {
    pub fn occurrence(&self) -> Occurrence {
        match (self.min_occurs, self.max_occurs) {
            (1, Some(1)) => Occurrence::Required,
            (0, Some(1)) => Occurrence::Optional,
            _ => Occurrence::Repeated,
        }
    }

    pub fn element(&self) -> Option<&Element> {
        match &self.term {
            Term::Element { element, .. } => Some(element),
            _ => None,
        }
    }
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Term {
    /// An element.
    Element {
        element: Element,
        value: Value,
        /// The name as written in its tags.
        tag: String,
        /// Whether another element of this name may follow, so that the number of elements determines where the field
        /// ends.
        counted: bool,
    },
    /// A group with a type of its own.
    Group(Path),
    /// Any element.
    Any(Wildcard),
}

/// How many values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Occurrence {
    Required,
    Optional,
    Repeated,
}

/// An element declaration in the form of the run-time tables. Its occurrence is that of the field.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Element {
    /// Empty for no namespace.
    pub namespace: String,
    pub name: String,
    pub slot: u16,
    pub constraint: Option<ValueConstraint>,
    pub facets: Option<Path>,
    /// The simple types that `xsi:type` may name, if they don't follow from the Rust type.
    pub types: Option<Path>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum ValueConstraint {
    Default(String),
    Fixed(String),
}

/// The namespaces that a wildcard allows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Wildcard {
    Any,
    Not(String),
    OneOf(Vec<String>),
}

impl Wildcard {
    /// Returns true if it allows elements of this namespace, which is empty for no namespace.
    pub fn allows(&self, namespace: &str) -> bool {
        match self {
            Wildcard::Any => true,
            Wildcard::Not(target) => !namespace.is_empty() && namespace != target,
            Wildcard::OneOf(list) => list.iter().any(|listed| listed == namespace),
        }
    }
}

/// Whether an element may be nil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Nil {
    Never,
    Plain,
    /// It may be nil, and its attributes are kept then.
    WithAttributes,
}

/// The type of one value of a field.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Value {
    pub base: Base,
    pub nil: Nil,
}

/// A Rust type for values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// A primitive type or `String`: `i32`, `String`.
    Primitive(&'static str),
    /// A type in `castile::datatypes`.
    Datatype(&'static str),
    /// A type of the program, by its path.
    Rust(Box<str>),
    /// A list: values of another type, separated by white space.
    List(Box<Base>),
    /// A value of any type.
    AnyType,
    /// No value: `()`.
    Nothing,
    /// A payload as XML.
    Raw,
    /// A node of a graph in SOAP encoding.
    Shared(Box<Base>),
    /// A type generated for the contract.
    Item(Path),
}

impl Base {
    /// Returns true if its values are qualified names, which depend on the namespace declarations in scope.
    pub fn is_name(&self) -> bool {
        match self {
            Base::Datatype(name) => matches!(*name, "QName" | "Notation"),
            Base::List(item) => item.is_name(),
            Base::Primitive(_)
            | Base::Rust(_)
            | Base::AnyType
            | Base::Nothing
            | Base::Raw
            | Base::Shared(_)
            | Base::Item(_) => false,
        }
    }
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

/// A particle of mixed content. It defines the order of pieces, which is not part of their types.
#[derive(Debug)]
pub struct Particle {
    pub min: u32,
    pub max: Option<u32>,
    pub kind: ParticleKind,
}

#[derive(Debug)]
pub enum ParticleKind {
    /// An element, by its index in the table of the pieces.
    Element(usize),
    Any(Wildcard),
    Sequence(Vec<Particle>),
    Choice(Vec<Particle>),
    All(Vec<Particle>),
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

/// A simple type with an enumeration.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Enumeration {
    pub path: Path,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    /// The name in the contract.
    pub name: String,
    /// Whether white space around the value is ignored.
    pub collapses: bool,
    pub variants: Vec<EnumerationVariant>,
    /// The variant for values that are not in the enumeration.
    pub other: Ident,
    /// Whether such values are rejected.
    pub is_strict: bool,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EnumerationVariant {
    pub ident: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub value: String,
}

/// A simple type that is a union of others.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Union {
    pub path: Path,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub name: String,
    pub members: Vec<Member>,
    /// Whether facets may be checked against its values.
    pub has_facets: bool,
    /// Whether its values may be or contain qualified names.
    pub has_names: bool,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Member {
    pub ident: Ident,
    pub base: Base,
    /// Whether it is an enumeration followed by other members, so that it only accepts listed values.
    pub is_enumeration: bool,
    pub facets: Option<Path>,
}

/// Constraints on values of a simple type in addition to its Rust type: a static that tables refer to.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Restriction {
    pub path: Path,
    /// The name of the type in the contract.
    pub name: String,
    pub base: Base,
    pub rule: Rule,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Rule {
    /// Facets, and a restriction that is checked before them.
    Facets { facets: Vec<Facet>, of: Option<Path> },
    /// Each item of the list must satisfy this restriction.
    Items(Path),
    /// The text must satisfy one of these restrictions.
    AnyOf(Vec<Path>),
}

/// One of a fixed set of names. It has a type alias because serde would otherwise borrow a `&'static str` from its
/// input.
pub type Name = &'static str;

/// A facet in the form of the run-time type.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Facet {
    WhiteSpace(#[cfg_attr(feature = "serde", serde(with = "serialized::name"))] Name),
    /// The field for a number, and the number.
    Number(#[cfg_attr(feature = "serde", serde(with = "serialized::name"))] Name, u64),
    /// The alternative patterns of each derivation step.
    Patterns(Vec<Vec<String>>),
    /// The field for a value, and the value as text.
    Bound(#[cfg_attr(feature = "serde", serde(with = "serialized::name"))] Name, String),
    Enumeration(Vec<String>),
    /// An enumeration of qualified names: namespaces and local names.
    Names(Vec<(String, String)>),
    /// An enumeration whose values contain qualified names: each text with its prefixes and namespaces.
    Scoped(Vec<(String, Vec<(String, String)>)>),
}

/// The simple types that `xsi:type` may name instead of a type: a static that tables refer to.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct NamedTypes {
    pub path: Path,
    /// The name of the declared type, for error messages.
    pub name: String,
    /// The built-in types, separated by spaces. Types derived from them are allowed, too.
    pub builtin: String,
    /// The types of the contract: for each namespace, the names separated by spaces.
    pub of_contract: Vec<(String, String)>,
}

/// A struct in SOAP encoding (SOAP 1.1 §5.4.1). Its accessors may be in any order, absent or nil.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EncodedStruct {
    pub path: Path,
    /// The name of the table of its accessors.
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub role: EncodedRole,
    pub accessors: Vec<Accessor>,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum EncodedRole {
    /// A value, with the name of its type, if it has one.
    Value(Option<TypeName>),
    /// The element of a call or of its answer. The accessor that has the result of the call is named.
    Call { result: Option<String> },
}

/// An accessor of a struct.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Accessor {
    pub ident: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub element: Element,
    pub value: EncodedValue,
    pub storage: Storage,
    /// Whether it may occur more than once.
    pub is_repeated: bool,
    /// Whether it is left out, not nil, if it has no value.
    pub is_optional: bool,
    /// The start tag, with the type if it is always the same.
    pub start: String,
}

/// The type of a value in SOAP encoding.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EncodedValue {
    pub base: Base,
    /// Whether the value may refer to itself, which makes it a node of a graph.
    pub is_shared: bool,
    /// The type to write, unless the value itself determines it.
    pub type_name: Option<TypeName>,
    pub facets: Option<Path>,
}

/// An array in SOAP encoding (SOAP 1.1 §5.4.2).
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EncodedArray {
    pub path: Path,
    /// The name of its table.
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub item: Element,
    pub value: EncodedValue,
    pub storage: Storage,
    /// The type of the items, or of the innermost ones.
    pub item_type: TypeName,
    /// The brackets of the items' arrays if their type has no name: `[]`.
    pub ranks: String,
    pub rank: usize,
    /// The type of the items as written in `arrayType`, and the start tag of an item.
    pub tag: String,
    pub start: String,
}

/// The address of a service for a SOAP version.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Port {
    pub name: String,
    #[cfg_attr(feature = "serde", serde(with = "serialized::version"))]
    pub version: Version,
    /// Empty if the contract has no address.
    pub address: String,
}

/// A port type with its SOAP binding.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Service {
    /// The name of the `wsdl:service`.
    pub name: String,
    /// The binding in the contract, if the service comes from a contract that was read.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub binding: Option<BindingId>,
    pub namespace: String,
    /// The SOAP versions that it supports. The first one is the default for clients.
    #[cfg_attr(feature = "serde", serde(with = "serialized::versions"))]
    pub versions: Vec<Version>,
    /// Its WS-Addressing declaration.
    #[cfg_attr(feature = "serde", serde(with = "serialized::addressing"))]
    pub addressing: Option<Addressing>,
    /// The addresses. The first port represents the others.
    pub ports: Vec<Port>,
    pub documentation: String,
    pub names: ServiceNames,
    pub port_type_documentation: String,
    pub operations: Vec<Operation>,
    /// The header blocks of its messages that no previous service has, each once.
    pub headers: Vec<TypedRoot>,
    /// Whether the contract declares that messages are MTOM.
    pub is_mtom: bool,
}

impl Service {
    /// Returns the address, which is empty if the contract has none.
    pub fn address(&self) -> &str {
        self.ports.first().map_or("", |port| &port.address)
    }
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Operation {
    pub name: String,
    /// A unique label among the operations of its binding, since names can repeat ([`castile_wsdl::Binding::labels`]).
    pub label: String,
    /// Its index in the port type.
    pub number: usize,
    pub ident: Ident,
    pub documentation: String,
    pub action: String,
    /// The WS-Addressing action of requests.
    pub request_action: String,
    /// The WS-Addressing action of responses. Empty if there is no response.
    pub response_action: String,
    pub request: Message,
    /// `None` if there is no response.
    pub response: Option<Message>,
    pub faults: Option<Faults>,
}

/// The types in a message.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Message {
    /// The type of its payload.
    pub base: Base,
    pub payload: Payload,
    /// The types of the declared header blocks that are understood.
    pub headers: Vec<RootType>,
}

/// The content of a message's body.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Payload {
    /// One element.
    Element(Root),
    /// No element.
    Nothing,
    /// The elements of a struct, one after another. The start tag is that of the body.
    Content { path: Path, start: String },
}

impl Payload {
    /// Returns the namespace and name of a request's first element, or `Some(None)` for an empty body. Returns `None`
    /// for a payload that is the content of a struct.
    pub fn to_a_server(&self) -> Option<Option<(&str, &str)>> {
        match self {
            Payload::Element(Root { element, .. }) => Some(Some((&element.namespace, &element.name))),
            Payload::Nothing => Some(None),
            Payload::Content { .. } => None,
        }
    }
}

/// An independent element: a declared header block, or a document.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct TypedRoot {
    pub of: RootType,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub base: Base,
    pub root: Root,
}

/// The Rust type of an independent element.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum RootType {
    /// The type of its value, which no other such element has.
    Own(Path),
    /// A struct that wraps its value.
    Wrapper(Ident),
}

/// Repeated elements that occur in only one place in a document or a message.
#[derive(Debug)]
pub struct Repeats {
    /// The type of the document or message.
    pub of: RootType,
    /// The namespaces and names of the elements on the path to them.
    pub through: Vec<(String, String)>,
    pub element: Element,
    pub value: Value,
}

/// An element with its tags as the root of a payload.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Root {
    pub element: Element,
    /// Whether it is in SOAP encoding.
    pub is_encoded: bool,
    /// Whether it is the wrapper of the parts of a call in literal use.
    pub wraps_parts: bool,
    /// The type to write if it is a value in SOAP encoding, unless the value itself determines it.
    pub type_name: Option<TypeName>,
    pub start: String,
    pub end: String,
}

impl Root {
    /// Returns true if it is the same element with the same tags. Slots may differ, because they only index the tag
    /// cache.
    fn is_like(&self, other: &Root) -> bool {
        // The type to write is part of the tag.
        let Root { element, is_encoded, wraps_parts, type_name: _, start, end } = self;
        let Element { namespace, name, slot: _, constraint, facets, types } = element;
        let of_other = &other.element;
        (namespace, name, constraint) == (&of_other.namespace, &of_other.name, &of_other.constraint)
            && (facets, types) == (&of_other.facets, &of_other.types)
            && (is_encoded, wraps_parts) == (&other.is_encoded, &other.wraps_parts)
            && (start, end) == (&other.start, &other.end)
    }
}

/// The possible details of an operation's faults.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Faults {
    pub ident: Ident,
    pub variants: Vec<FaultVariant>,
    /// The number of variants that are details. The remaining ones are header blocks.
    pub details: usize,
}

impl Faults {
    /// Returns true if one type can be used for both, because they are written and read in the same way. Actions belong
    /// to operations, and documentation doesn't affect the type.
    pub fn are_like(&self, other: &Faults) -> bool {
        let mut pairs = self.variants.iter().zip(&other.variants);
        self.details == other.details
            && self.variants.len() == other.variants.len()
            && pairs.all(|(one, other)| {
                (&one.ident, &one.base, one.storage) == (&other.ident, &other.base, other.storage)
                    && one.root.is_like(&other.root)
            })
    }
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct FaultVariant {
    pub ident: Ident,
    /// The WS-Addressing action; `None` for a header block.
    pub action: Option<String>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub base: Base,
    pub storage: Storage,
    pub root: Root,
}
