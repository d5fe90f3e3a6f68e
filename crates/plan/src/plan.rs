//! What is to be written: Rust names, types and tags, decided. Rendering knows no WSDL and no XSD.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

pub use castile_wsdl::Version;
use castile_wsdl::{Addressing, BindingId};
#[cfg(feature = "serde")]
use serde::{Deserialize, Serialize};

#[cfg(feature = "serde")]
use crate::kept;
use crate::names::{Ident, ServiceNames};

/// A module of generated code.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Plan {
    /// The namespaces of elements, the most used first.
    pub namespaces: Vec<String>,
    /// The module itself, and those in it.
    pub modules: Vec<Module>,
    pub items: Vec<Item>,
    pub services: Vec<Service>,
    /// The documents of a schema that stands by itself.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documents: Vec<TypedRoot>,
    /// What can be read item by item.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub repeats: Vec<Repeats>,
    /// The complex types for which types of the program stand, by their paths.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub own: HashMap<Path, Box<str>>,
    /// Those, and the items that nothing else leads to: they are planned, and not generated.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub unwritten: HashSet<Path>,
    /// What types derive beside what all do.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub extras: HashMap<Path, Extras>,
    /// How many bytes values of each type take, headers and what faults say included.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub sizes: Vec<(Path, usize)>,
    /// The operations that the services lack.
    pub left_out: Vec<LeftOut>,
    /// The services, ports and bindings that the contract lacks: what each is, and its name.
    pub lacks: Vec<String>,
}

impl Plan {
    /// Whether nothing of a contract is left that can be used.
    pub fn is_nothing(&self) -> bool {
        self.services.is_empty() && (self.items.is_empty() || !self.left_out.is_empty() || !self.lacks.is_empty())
    }

    /// How many of the operations there are, and what is left out with the reasons; nothing if it is nothing.
    pub fn summary(&self) -> Option<String> {
        const SHOWN: usize = 20;
        let operations = self.services.iter().map(|service| service.operations.len()).sum::<usize>();
        let total = operations + self.left_out.len();
        let plural = if total == 1 { "" } else { "s" };
        let left_out = self.left_out.iter().map(|one| (one.label.as_str(), one.reason.as_deref()));
        let mut all = left_out.chain(self.lacks.iter().map(|name| (name.as_str(), None))).peekable();
        let mut names = String::new();
        for _ in 0..SHOWN {
            let Some((name, reason)) = all.next() else { break };
            if !names.is_empty() {
                names.push_str(", ");
            }
            names.push_str(name);
            // What several in a row are left out for stands behind the last of them.
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

    /// How many bytes values of each type take, by the path of the type in the module.
    pub fn named_sizes(&self) -> Vec<(String, usize)> {
        let name = |path: &Path| match path.module {
            0 => path.ident.to_string(),
            module => format!("{}::{}", self.modules[module].ident, path.ident),
        };
        self.sizes.iter().map(|(path, size)| (name(path), *size)).collect()
    }
}

/// An operation that a service lacks.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct LeftOut {
    pub name: String,
    /// What it is called among those of its binding that are intact; else its name.
    pub label: String,
    /// The first reason, where there is room for it among the diagnostics.
    pub reason: Option<String>,
}

/// The beginning of a text.
fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 200;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// What a type has beside what all types have.
#[derive(Debug, Default)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Extras {
    /// Paths of macros.
    pub derives: Vec<String>,
    /// What stands in the brackets of attributes.
    pub attributes: Vec<String>,
}

/// A module for the types of one namespace.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Module {
    pub namespace: String,
    pub ident: Ident,
}

/// Where a type is: the number of its module, and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Path {
    pub module: usize,
    pub ident: Ident,
}

/// A type of generated code.
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

    /// What stands for its particles: fields of a struct, variants of a choice.
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

    /// The types that its values have in them, with how they hold them where there is a choice.
    pub fn references_mut(&mut self) -> Vec<(Path, Option<&mut Held>)> {
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
                            fields.iter_mut().filter_map(|field| Some((of_field(field)?, Some(&mut field.held)))),
                        );
                    }
                }
            }
            Item::Choice(Choice { variants, .. }) => {
                found.extend(variants.iter_mut().filter_map(|field| Some((of_field(field)?, Some(&mut field.held)))));
            }
            Item::Derived(Derived { variants, .. }) => {
                let variants = variants.iter_mut();
                found.extend(variants.filter_map(|variant| Some((of_base(&variant.base)?, Some(&mut variant.held)))));
            }
            Item::Union(Union { members, .. }) => {
                found.extend(members.iter().filter_map(|member| Some((of_base(&member.base)?, None))));
            }
            Item::EncodedStruct(EncodedStruct { accessors, .. }) => {
                let accessors = accessors.iter_mut().filter(|accessor| !accessor.value.is_shared);
                found.extend(accessors.filter_map(|one| Some((of_base(&one.value.base)?, Some(&mut one.held)))));
            }
            Item::EncodedArray(EncodedArray { value, held, .. }) => {
                found.extend(of_base(&value.base).filter(|_| !value.is_shared).map(|path| (path, Some(held))));
            }
            Item::Enumeration(_) | Item::Restriction(_) | Item::NamedTypes(_) => {}
        }
        found
    }
}

/// A complex type, or a group of several elements inside one.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Struct {
    pub path: Path,
    /// The table of its children.
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub role: Role,
    pub attributes: Vec<Attribute>,
    /// The table of its attributes, if it has any.
    pub attribute_table: Option<Ident>,
    /// What takes other attributes.
    pub any_attributes: Option<(Ident, Wildcard)>,
    pub content: Content,
    pub made: Made,
}

/// How a program makes a value of a struct without naming all fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Made {
    /// It names them all.
    #[default]
    Whole,
    /// Every field has the default value of its Rust type.
    ByDefault,
    /// Every field has a default value, some of them that of the contract.
    ByDefaultOfContract,
    /// It says what must be there.
    OfParts,
}

/// The value of an attribute that is absent, as Rust has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum DefaultValue {
    Text(String),
    /// A number or a truth value.
    Literal(String),
    Variant(Path, Ident),
}

impl DefaultValue {
    /// Whether Rust has it as the default value of the type.
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
    /// The value of an element. Its name is there if `xsi:type` may name no other.
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

/// What stands between the tags of an element.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Content {
    /// A value of a simple type.
    Simple { ident: Ident, value: Base, facets: Option<Path> },
    /// One after another: `xs:sequence`.
    Sequence(Vec<Field>),
    /// Each once at most, in any order: `xs:all`.
    All(Vec<Field>),
    /// Text and elements: a list of these.
    Mixed { ident: Ident, piece: Path },
}

/// An attribute of a type.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Attribute {
    pub ident: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    /// Empty for none.
    pub namespace: String,
    pub name: String,
    pub base: Base,
    pub facets: Option<Path>,
    pub presence: Presence,
    /// What a new value has, if it has a default that can be written in Rust.
    pub default: Option<DefaultValue>,
    /// Of a type of a program: it has no other value than its default, and has a field nonetheless.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub is_fixed: bool,
    /// The type of a program that reads its value, and writes something in its place.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub adapter: Option<Base>,
    /// The name as it stands in the tag.
    pub tag: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Presence {
    Required,
    Optional,
    /// If it is absent this is its value.
    Default(String),
    /// It has no other value, so there is no field.
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
    pub held: Held,
    /// Whether its values may be made while they are sent.
    pub streams: bool,
    /// The type of a program that reads its values, and writes something in their place.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub adapter: Option<Base>,
}

/// How a value is held by the one around it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Held {
    #[default]
    InPlace,
    /// In a `Box`, since it is large.
    Boxed,
    /// In a `Recursive`: a circle of types ends here, or what is in it nests deeply.
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
        /// The name as it stands in its tags.
        tag: String,
        /// Whether another element of this name may follow, so that its number tells where it ends.
        counted: bool,
    },
    /// A group that has a type of its own.
    Group(Path),
    /// Any element.
    Any(Wildcard),
}

/// How a field holds its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Occurrence {
    Required,
    Optional,
    Repeated,
}

/// An element declaration as the run-time tables have it; its occurrence is that of the field.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Element {
    /// Empty for none.
    pub namespace: String,
    pub name: String,
    pub slot: u16,
    pub constraint: Option<ValueConstraint>,
    pub facets: Option<Path>,
    /// The simple types that `xsi:type` may name, if its Rust type doesn't tell.
    pub types: Option<Path>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum ValueConstraint {
    Default(String),
    Fixed(String),
}

/// Which namespaces a wildcard takes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Wildcard {
    Any,
    Not(String),
    OneOf(Vec<String>),
}

impl Wildcard {
    /// Whether it takes elements of a namespace, which is empty for none.
    pub fn allows(&self, namespace: &str) -> bool {
        match self {
            Wildcard::Any => true,
            Wildcard::Not(target) => !namespace.is_empty() && namespace != target,
            Wildcard::OneOf(list) => list.iter().any(|listed| listed == namespace),
        }
    }
}

/// Whether an element may be there and have no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Nil {
    Never,
    Plain,
    /// It may, and its attributes are there nonetheless.
    WithAttributes,
}

/// The type of one value of a field.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Value {
    pub base: Base,
    pub nil: Nil,
}

/// A type that has a name in Rust.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// One of the language: `i32`, `String`.
    Primitive(&'static str),
    /// One of `castile::datatypes`.
    Datatype(&'static str),
    /// One that the program brings, by its path.
    Rust(Box<str>),
    /// Values of another type with white space between.
    List(Box<Base>),
    /// A value of any type.
    AnyType,
    /// No value: `()`.
    Nothing,
    /// A payload as XML.
    Raw,
    /// A node of a graph in SOAP encoding.
    Shared(Box<Base>),
    /// One of the contract.
    Item(Path),
}

impl Base {
    /// Whether its values are names, whose prefixes mean what is declared where they stand.
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

/// A group of which one element, or one group, is there.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Choice {
    pub path: Path,
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    /// The variant for text, if it is a piece of mixed content.
    pub text: Option<Ident>,
    /// In which order elements may come in mixed content, if not in any.
    #[cfg_attr(feature = "serde", serde(with = "kept::order"))]
    pub order: Option<Particle>,
    pub variants: Vec<Field>,
}

/// A particle of mixed content, whose pieces don't say themselves where they may stand.
#[derive(Debug)]
pub struct Particle {
    pub min: u32,
    pub max: Option<u32>,
    pub kind: ParticleKind,
}

#[derive(Debug)]
pub enum ParticleKind {
    /// An element, by its number in the table of the pieces.
    Element(usize),
    Any(Wildcard),
    Sequence(Vec<Particle>),
    Choice(Vec<Particle>),
    All(Vec<Particle>),
}

/// A type with all that are derived from it.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Derived {
    pub path: Path,
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    /// Whether the type itself has no values, so that each says which it is of.
    pub is_abstract: bool,
    /// The type itself comes first, unless it is abstract.
    pub variants: Vec<DerivedVariant>,
    /// The variant for types that the contract doesn't have. Without one they are refused.
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
    pub held: Held,
    /// The name as it stands in `xsi:type`; the type itself needs none.
    pub tag: Option<String>,
}

/// A simple type whose values are listed.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Enumeration {
    pub path: Path,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    /// What the contract calls it.
    pub name: String,
    /// Whether white space around the value doesn't count.
    pub collapses: bool,
    pub variants: Vec<EnumerationVariant>,
    /// The variant for values that are not listed.
    pub other: Ident,
    /// Whether those are refused.
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

/// A simple type whose values are those of others.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Union {
    pub path: Path,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub name: String,
    pub members: Vec<Member>,
    /// Whether facets may look at its values.
    pub has_facets: bool,
    /// Whether its values may be names, or have names in them.
    pub has_names: bool,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Member {
    pub ident: Ident,
    pub base: Base,
    /// Whether it is an enumeration, of which only listed values count while other members come.
    pub is_enumeration: bool,
    pub facets: Option<Path>,
}

/// What values of a simple type must be beside being of their Rust type: a static, to which tables refer.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Restriction {
    pub path: Path,
    /// What the contract calls the type.
    pub name: String,
    pub base: Base,
    pub rule: Rule,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Rule {
    /// Facets, and another restriction that is looked at before.
    Facets { facets: Vec<Facet>, of: Option<Path> },
    /// The items of the list hold to this.
    Items(Path),
    /// The text holds to one of these.
    AnyOf(Vec<Path>),
}

/// One of the names that Castile itself knows. Behind a name of its own serde doesn't take it for a text of its input.
pub type Name = &'static str;

/// A facet as the run-time type has it.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Facet {
    WhiteSpace(#[cfg_attr(feature = "serde", serde(with = "kept::name"))] Name),
    /// The field for a number, and the number.
    Number(#[cfg_attr(feature = "serde", serde(with = "kept::name"))] Name, u64),
    /// For each step of derivation, its alternatives.
    Patterns(Vec<Vec<String>>),
    /// The field for a value, and the value as a text.
    Bound(#[cfg_attr(feature = "serde", serde(with = "kept::name"))] Name, String),
    Enumeration(Vec<String>),
    /// An enumeration of names: namespaces and local names.
    Names(Vec<(String, String)>),
    /// An enumeration whose values have names in them: texts, with the prefixes and namespaces that they were written under.
    Scoped(Vec<(String, Vec<(String, String)>)>),
}

/// The simple types that may be named in place of one: a static, to which tables refer.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct NamedTypes {
    pub path: Path,
    /// What messages call that one.
    pub name: String,
    /// Built-in ones, with a blank between them; those that are derived from these may be named, too.
    pub builtin: String,
    /// Namespaces of the contract, and in each all names, with a blank between them.
    pub of_contract: Vec<(String, String)>,
}

/// A struct in SOAP encoding (SOAP 1.1 §5.4.1): its accessors may come in any order, be absent or nil.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EncodedStruct {
    pub path: Path,
    /// The table of its accessors.
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub role: EncodedRole,
    pub accessors: Vec<Accessor>,
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum EncodedRole {
    /// A value, with the name of its type if that has one.
    Value(Option<TypeName>),
    /// The element of a call or of its answer. The one that has the result of the call is named.
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
    pub held: Held,
    /// Whether it may come more than once.
    pub is_repeated: bool,
    /// Whether it is left out if it has no value, and not nil.
    pub is_optional: bool,
    /// The start tag, with the type that is known beforehand.
    pub start: String,
}

/// What a value in SOAP encoding is.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EncodedValue {
    pub base: Base,
    /// Whether the value may refer to itself, so that it is a node of a graph.
    pub is_shared: bool,
    /// The type to be written, unless the value says which it is of.
    pub type_name: Option<TypeName>,
    pub facets: Option<Path>,
}

/// An array in SOAP encoding (SOAP 1.1 §5.4.2).
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct EncodedArray {
    pub path: Path,
    /// The table that says what it has.
    pub table: Ident,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub item: Element,
    pub value: EncodedValue,
    pub held: Held,
    /// The type of the items, or of the innermost ones.
    pub item_type: TypeName,
    /// Which arrays the items are, if they have no type with a name: `[]`.
    pub ranks: String,
    pub rank: usize,
    /// The type of the items as it stands in `arrayType`, and the start tag of an item.
    pub tag: String,
    pub start: String,
}

/// Where a service is, in a version of SOAP.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Port {
    pub name: String,
    #[cfg_attr(feature = "serde", serde(with = "kept::version"))]
    pub version: Version,
    /// Empty if the contract says none.
    pub address: String,
}

/// A port type with its SOAP binding.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Service {
    /// The name of the `wsdl:service`.
    pub name: String,
    /// Where the contract has its operations, if it is one that was read.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub binding: Option<BindingId>,
    pub namespace: String,
    /// The versions of SOAP that it speaks, the one that its clients speak unless they are told first.
    #[cfg_attr(feature = "serde", serde(with = "kept::versions"))]
    pub versions: Vec<Version>,
    /// What it says of WS-Addressing.
    #[cfg_attr(feature = "serde", serde(with = "kept::addressing"))]
    pub addressing: Option<Addressing>,
    /// Where it is, the port that speaks for the others first.
    pub ports: Vec<Port>,
    pub documentation: String,
    pub names: ServiceNames,
    pub port_type_documentation: String,
    pub operations: Vec<Operation>,
    /// Those of its messages that no service before has, each once.
    pub headers: Vec<TypedRoot>,
    /// Whether the contract says that messages are MTOM.
    pub is_mtom: bool,
}

impl Service {
    /// Where it is; empty if the contract doesn't say.
    pub fn address(&self) -> &str {
        self.ports.first().map_or("", |port| &port.address)
    }
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Operation {
    pub name: String,
    /// What it is called among those of its binding, of which two may have one name ([`castile_wsdl::Binding::labels`]).
    pub label: String,
    /// Which it is of its port type.
    pub number: usize,
    pub ident: Ident,
    pub documentation: String,
    pub action: String,
    /// The actions of WS-Addressing.
    pub request_action: String,
    /// Empty if the request is not answered.
    pub response_action: String,
    pub request: Message,
    /// `None` if the request is not answered.
    pub response: Option<Message>,
    pub faults: Option<Faults>,
}

/// What a message holds.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Message {
    /// The type of its payload.
    pub base: Base,
    pub payload: Payload,
    /// The types of the header blocks that it is declared to have and that are understood.
    pub headers: Vec<RootType>,
}

/// What the body of a message holds.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum Payload {
    /// One element.
    Element(Root),
    /// No element.
    Nothing,
    /// What a struct has, its elements one after another. The start tag is that of the body.
    Content { path: Path, start: String },
}

impl Payload {
    /// What requests begin with: the namespace and the name of their element, or nothing. `None` for those that a server
    /// tells by nothing else.
    pub fn to_a_server(&self) -> Option<Option<(&str, &str)>> {
        match self {
            Payload::Element(Root { element, .. }) => Some(Some((&element.namespace, &element.name))),
            Payload::Nothing => Some(None),
            Payload::Content { .. } => None,
        }
    }
}

/// An element that stands by itself: a header block that messages are declared to have, or a document.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct TypedRoot {
    pub of: RootType,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub base: Base,
    pub root: Root,
}

/// The Rust type of an element that stands by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub enum RootType {
    /// That of its value, which no other such element has.
    Own(Path),
    /// A struct around its value.
    Wrapper(Ident),
}

/// Elements that come any number of times in one place within a document or a message.
#[derive(Debug)]
pub struct Repeats {
    /// What they are in.
    pub of: RootType,
    /// The namespaces and names of the elements on the way to them.
    pub through: Vec<(String, String)>,
    pub element: Element,
    pub value: Value,
}

/// An element with the tags that it is written with as a payload.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Root {
    pub element: Element,
    /// Whether it is in SOAP encoding.
    pub is_encoded: bool,
    /// Whether it is what a call in literal use has around its parts.
    pub wraps_parts: bool,
    /// The type to be written, if it is in SOAP encoding and no call, unless the value says which it is of.
    pub type_name: Option<TypeName>,
    pub start: String,
    pub end: String,
}

impl Root {
    /// Whether it is the same element with the same tags. Any number will do to know tags again by.
    fn is_like(&self, other: &Root) -> bool {
        // The type to be written stands in the tag.
        let Root { element, is_encoded, wraps_parts, type_name: _, start, end } = self;
        let Element { namespace, name, slot: _, constraint, facets, types } = element;
        let of_other = &other.element;
        (namespace, name, constraint) == (&of_other.namespace, &of_other.name, &of_other.constraint)
            && (facets, types) == (&of_other.facets, &of_other.types)
            && (is_encoded, wraps_parts) == (&other.is_encoded, &other.wraps_parts)
            && (start, end) == (&other.start, &other.end)
    }
}

/// The details that an operation's faults can have.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct Faults {
    pub ident: Ident,
    pub variants: Vec<FaultVariant>,
    /// How many of the variants stand in the detail; those behind them are header blocks.
    pub details: usize,
}

impl Faults {
    /// Whether one type will do for both: they say the same, and it is written and read in the same way. Actions are a matter of
    /// operations, and documentation changes no type.
    pub fn are_like(&self, other: &Faults) -> bool {
        let mut pairs = self.variants.iter().zip(&other.variants);
        self.details == other.details
            && self.variants.len() == other.variants.len()
            && pairs.all(|(one, other)| {
                (&one.ident, &one.base, one.held) == (&other.ident, &other.base, other.held)
                    && one.root.is_like(&other.root)
            })
    }
}

#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(Deserialize, Serialize))]
pub struct FaultVariant {
    pub ident: Ident,
    /// The action of WS-Addressing; a header block has none.
    pub action: Option<String>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub documentation: String,
    pub base: Base,
    pub held: Held,
    pub root: Root,
}
