//! The tables that generated code brings: what the schema says, as data.

use std::any::Any;
use std::fmt;

use castile_xml::SlotId;

use crate::datatypes::is_derived;
use crate::expected::Expected;
use crate::facets::Check;

/// The namespace of `xsi:nil` and `xsi:type` (XSD Part 1 §2.6).
pub const XSI_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema-instance";
/// The namespace of the built-in types (XSD Part 2 §3.1).
pub const XSD_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema";

/// An element declaration with its occurrence: a particle whose term is an element (XSD Part 1 §3.3, §3.9).
#[derive(Debug)]
pub struct Element {
    /// The namespace name, empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
    /// How often it comes at least.
    pub min_occurs: u32,
    /// How often it comes at most; `None` is unbounded.
    pub max_occurs: Option<u32>,
    /// The number of the slot in which its tags are cached.
    pub slot: u16,
    /// The value of the element if it is empty, or the only one that it may have.
    pub constraint: Option<ValueConstraint>,
    /// What its value must be beside being one of its Rust type.
    pub facets: Option<&'static dyn Check>,
    /// Which simple types `xsi:type` may name, if those aren't the built-in ones that its Rust type tells.
    pub types: Option<&'static SimpleTypes>,
    /// Of which type its values are, where that is known at run time only.
    run_time: Option<&'static dyn RunTimeType>,
    /// Whether there is neither a constraint nor a facet: one comparison for what most elements don't have.
    is_bare: bool,
    /// The [hash](castile_xml::name_hash) of its local name.
    name_hash: u32,
}

impl Element {
    /// An element that comes exactly once. Numbers of slots are given within a contract, from 0; large contracts have more
    /// elements than there are slots, and those that share one lie far apart.
    pub const fn new(namespace: &'static str, name: &'static str, slot: u16) -> Self {
        Element {
            namespace,
            name,
            min_occurs: 1,
            max_occurs: Some(1),
            slot: slot % SlotId::COUNT,
            constraint: None,
            facets: None,
            types: None,
            run_time: None,
            is_bare: true,
            name_hash: castile_xml::name_hash(name),
        }
    }

    /// An element that comes at most once.
    pub const fn optional(namespace: &'static str, name: &'static str, slot: u16) -> Self {
        Element { min_occurs: 0, ..Element::new(namespace, name, slot) }
    }

    /// An element that comes any number of times.
    pub const fn repeated(namespace: &'static str, name: &'static str, slot: u16) -> Self {
        Element { min_occurs: 0, max_occurs: None, ..Element::new(namespace, name, slot) }
    }

    /// This element with another occurrence.
    pub const fn occurs(mut self, min: u32, max: Option<u32>) -> Self {
        self.min_occurs = min;
        self.max_occurs = max;
        self
    }

    /// This element with a value for when it is empty.
    pub const fn default(mut self, value: &'static str) -> Self {
        self.is_bare = false;
        self.constraint = Some(ValueConstraint::Default(value));
        self
    }

    /// This element with the only value that it may have.
    pub const fn fixed(mut self, value: &'static str) -> Self {
        self.is_bare = false;
        self.constraint = Some(ValueConstraint::Fixed(value));
        self
    }

    /// This element with the facets of its type.
    pub const fn facets(mut self, facets: &'static dyn Check) -> Self {
        self.is_bare = false;
        self.facets = Some(facets);
        self
    }

    /// This element with the simple types that `xsi:type` may name.
    pub const fn types(mut self, types: &'static SimpleTypes) -> Self {
        self.types = Some(types);
        self
    }

    /// This element with the type of its values, for whoever finds it by the element.
    #[doc(hidden)]
    pub const fn run_time(mut self, of: &'static dyn RunTimeType) -> Self {
        self.run_time = Some(of);
        self
    }

    /// The type that [`run_time`](Self::run_time) has given it.
    #[doc(hidden)]
    #[inline]
    pub fn run_time_type(&self) -> Option<&'static dyn RunTimeType> {
        self.run_time
    }

    /// Whether any text that is a value will do.
    #[inline]
    pub(crate) fn is_bare(&self) -> bool {
        self.is_bare
    }

    /// Where its tags are cached.
    #[inline]
    pub(crate) fn slot_id(&'static self) -> SlotId {
        SlotId { index: self.slot, owner: self.identity() }
    }

    /// What tells it from all others.
    #[inline]
    pub(crate) fn identity(&'static self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// The [hash](castile_xml::name_hash) of its local name.
    #[inline]
    pub(crate) fn name_hash(&self) -> u32 {
        self.name_hash
    }

    /// Which element of `table` has this [identity](Self::identity).
    #[inline]
    pub(crate) fn position(table: &'static [Element], identity: usize) -> Option<usize> {
        let index = identity.checked_sub(table.as_ptr().addr())? / size_of::<Element>();
        (table.get(index)?.identity() == identity).then_some(index)
    }

    /// Whether it has this name: in no namespace if that is empty.
    #[inline]
    pub fn is(&self, namespace: &str, name: &str) -> bool {
        self.name == name && is_same(self.namespace, namespace)
    }
}

/// A type that is known at run time only, of the values of an element.
#[doc(hidden)]
pub trait RunTimeType: Any + fmt::Debug + Send + Sync {
    /// Whether the element may be nil ([`FromXml::NILLABLE`](crate::FromXml::NILLABLE)).
    fn is_nillable(&self) -> bool;

    /// The attributes that the element may have ([`FromXml::ATTRIBUTES`](crate::FromXml::ATTRIBUTES)).
    fn attributes(&self) -> &'static Attributes;

    /// The name of the type ([`FromXml::TYPE`](crate::FromXml::TYPE)).
    fn type_name(&self) -> Option<TypeName>;

    /// Whether the value is the same whatever else `xsi:type` says ([`FromXml::TYPE_IS_FIXED`](crate::FromXml::TYPE_IS_FIXED)).
    fn type_is_fixed(&self) -> bool;

    /// What children the element may have ([`FromXml::CONTENT`](crate::FromXml::CONTENT)).
    fn content(&self) -> &'static Content;
}

/// The value of an element that is empty or of an attribute that is absent (XSD Part 1 §3.2.1, §3.3.1), as a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueConstraint {
    /// This, unless there is another.
    Default(&'static str),
    /// This, and there may be no other.
    Fixed(&'static str),
}

impl ValueConstraint {
    /// The value.
    pub const fn value(self) -> &'static str {
        match self {
            ValueConstraint::Default(value) | ValueConstraint::Fixed(value) => value,
        }
    }
}

/// An attribute that a type has (XSD Part 1 §3.2, §3.5).
#[derive(Debug)]
pub struct Attribute {
    /// The namespace name, empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
    /// Its value if it is absent, or the only one that it may have.
    pub constraint: Option<ValueConstraint>,
    /// What its value must be beside being one of its Rust type.
    pub facets: Option<&'static dyn Check>,
}

impl Attribute {
    /// An attribute.
    pub const fn new(namespace: &'static str, name: &'static str) -> Self {
        Attribute { namespace, name, constraint: None, facets: None }
    }

    /// Whether it has this name: in no namespace if that is empty.
    #[inline]
    pub(crate) fn is(&self, namespace: &str, name: &str) -> bool {
        self.name == name && is_same(self.namespace, namespace)
    }

    /// This attribute with a value for when it is absent.
    pub const fn default(mut self, value: &'static str) -> Self {
        self.constraint = Some(ValueConstraint::Default(value));
        self
    }

    /// This attribute with the only value that it may have.
    pub const fn fixed(mut self, value: &'static str) -> Self {
        self.constraint = Some(ValueConstraint::Fixed(value));
        self
    }
    /// This attribute with the facets of its type.
    pub const fn facets(mut self, facets: &'static dyn Check) -> Self {
        self.facets = Some(facets);
        self
    }
}

/// The attributes that a type has.
#[derive(Debug)]
pub struct Attributes {
    /// Those that are declared.
    pub declared: &'static [Attribute],
    /// What others there may be.
    pub wildcard: Option<Wildcard>,
}

impl Attributes {
    /// No attributes.
    pub const NONE: Attributes = Attributes::new(&[]);
    /// Any attributes.
    pub const ANY: Attributes = Attributes::new(&[]).and(Wildcard::new(Namespaces::Any));

    /// These attributes and no others.
    pub const fn new(declared: &'static [Attribute]) -> Self {
        Attributes { declared, wildcard: None }
    }

    /// These, and what the wildcard takes.
    pub const fn and(mut self, wildcard: Wildcard) -> Self {
        self.wildcard = Some(wildcard);
        self
    }

    /// Whether an attribute of this name may be there.
    pub(crate) fn takes(&self, namespace: &str, name: &str) -> bool {
        self.declares(namespace, name) || self.allows(namespace)
    }

    /// Whether the wildcard takes attributes of a namespace.
    pub(crate) fn allows(&self, namespace: &str) -> bool {
        self.wildcard.as_ref().is_some_and(|wildcard| wildcard.namespaces.allow(namespace))
    }

    /// Whether there is an attribute of this name among those that are declared.
    pub(crate) fn declares(&self, namespace: &str, name: &str) -> bool {
        self.declared.iter().any(|attribute| attribute.is(namespace, name))
    }

    /// Which of those that are declared has this name; those from number `first` on are looked at before the others.
    #[inline]
    pub(crate) fn position(&self, namespace: &str, name: &str, first: usize) -> Option<usize> {
        match self.declared.get(first) {
            Some(attribute) if attribute.is(namespace, name) => Some(first),
            _ => self.position_elsewhere(namespace, name, first),
        }
    }

    fn position_elsewhere(&self, namespace: &str, name: &str, first: usize) -> Option<usize> {
        let is_it = |attribute: &Attribute| attribute.is(namespace, name);
        let (before, behind) = self.declared.split_at_checked(first)?;
        let found = behind.iter().position(is_it).map(|index| first + index);
        found.or_else(|| before.iter().position(is_it))
    }
}

/// Any elements, or any attributes, of some namespaces (XSD Part 1 §3.10), with an occurrence.
#[derive(Debug)]
pub struct Wildcard {
    /// Which namespaces.
    pub namespaces: Namespaces,
    /// How often an element comes at least.
    pub min_occurs: u32,
    /// How often one comes at most; `None` is unbounded.
    pub max_occurs: Option<u32>,
    /// What may follow, which it leaves: an element that both could take is that of the declaration, though a schema
    /// where that can be breaks *unique particle attribution* (§3.8.6).
    pub before: &'static [First],
}

impl Wildcard {
    /// A wildcard for exactly one element, or for attributes.
    pub const fn new(namespaces: Namespaces) -> Self {
        Wildcard { namespaces, min_occurs: 1, max_occurs: Some(1), before: &[] }
    }

    /// This wildcard before other elements of its namespaces.
    pub const fn before(mut self, others: &'static [First]) -> Self {
        self.before = others;
        self
    }

    /// Whether it takes an element of this name.
    pub(crate) fn takes(&self, namespace: &str, name: &str) -> bool {
        self.namespaces.allow(namespace) && !First::takes(self.before, namespace, name)
    }

    /// This wildcard with another occurrence.
    pub const fn occurs(mut self, min: u32, max: Option<u32>) -> Self {
        self.min_occurs = min;
        self.max_occurs = max;
        self
    }
}

/// Which namespaces a wildcard takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Namespaces {
    /// Any, and none: `##any`.
    Any,
    /// Any but this one, and not none: `##other`.
    Not(&'static str),
    /// These; the empty name is none.
    OneOf(&'static [&'static str]),
}

impl Namespaces {
    /// Whether names in `namespace` are taken, which is empty for none (XSD Part 1 §3.10.4).
    pub fn allow(&self, namespace: &str) -> bool {
        match self {
            Namespaces::Any => true,
            Namespaces::Not(target) => !namespace.is_empty() && namespace != *target,
            Namespaces::OneOf(list) => list.contains(&namespace),
        }
    }
}

impl fmt::Display for Namespaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |name: &str| if name.is_empty() { "no namespace".to_owned() } else { name.to_owned() };
        match self {
            Namespaces::Any => f.write_str("any namespace"),
            Namespaces::Not(target) => write!(f, "a namespace other than {}", named(target)),
            Namespaces::OneOf(list) => {
                let names: Vec<String> = list.iter().map(|name| named(name)).collect();
                f.write_str(&names.join(" or "))
            }
        }
    }
}

/// What a model group may begin with.
#[derive(Debug)]
pub enum First {
    /// Any of these.
    Elements(&'static [Element]),
    /// Whatever the wildcard takes.
    Wildcard(&'static Wildcard),
    /// What another group may begin with.
    Group(&'static [First]),
}

impl First {
    /// Whether an element is among what may come first.
    pub fn takes(first: &[First], namespace: &str, name: &str) -> bool {
        first.iter().any(|first| match first {
            First::Elements(table) => table.iter().any(|element| element.is(namespace, name)),
            First::Wildcard(wildcard) => wildcard.takes(namespace, name),
            First::Group(first) => First::takes(first, namespace, name),
        })
    }

    /// The first element of this local name among what may come first, in whatever namespace, for messages.
    #[cold]
    pub fn named<'f>(first: &'f [First], name: &str) -> Option<&'f Element> {
        first.iter().find_map(|first| match first {
            First::Elements(table) => table.iter().find(|element| element.name == name),
            First::Wildcard(_) => None,
            First::Group(first) => First::named(first, name),
        })
    }

    /// What may come first, for messages: `<a>, <b> or <c>`.
    #[cold]
    pub fn list(first: &[First]) -> String {
        Expected::first(first).to_string()
    }
}

/// What the children of an element may be, for a decoder that is lenient.
#[derive(Debug)]
pub enum Content {
    /// They are taken as they come: what is wrong with them is an error.
    Open,
    /// A sequence of these elements, whose local names differ, and of nothing else.
    Sequence(&'static [Element]),
    /// These, in an order that isn't said here.
    Among(&'static [First]),
}

/// What a complex type says of the elements that have its values.
#[derive(Debug)]
pub struct Model {
    /// The name, if the type is one that others aren't derived from and that `xsi:type` must name if it is there.
    pub name: Option<TypeName>,
    /// The attributes.
    pub attributes: &'static Attributes,
    /// The children, for a lenient decoder.
    pub content: Content,
}

impl Model {
    /// A type that has no name, and no attributes.
    pub const UNNAMED: Model = Model { name: None, attributes: &Attributes::NONE, content: Content::Open };

    /// A type of this name, without attributes.
    pub const fn named(namespace: &'static str, name: &'static str) -> Self {
        Model { name: Some(TypeName::new(namespace, name)), ..Model::UNNAMED }
    }

    /// This type with attributes.
    pub const fn attributes(mut self, attributes: &'static Attributes) -> Self {
        self.attributes = attributes;
        self
    }

    /// This type, whose children a lenient decoder puts in order.
    pub const fn content(mut self, content: Content) -> Self {
        self.content = content;
        self
    }
}

/// A type that `xsi:type` may name (XSD Part 1 §2.6.1).
#[derive(Clone, Copy, Debug)]
pub struct TypeName {
    /// The namespace name, empty for none.
    pub namespace: &'static str,
    /// The local name.
    pub name: &'static str,
}

impl TypeName {
    /// The type of this name.
    pub const fn new(namespace: &'static str, name: &'static str) -> Self {
        TypeName { namespace, name }
    }

    /// The built-in type that messages call so: `xs:int`. `None` if it is called otherwise.
    pub(crate) const fn of_builtin(name: &'static str) -> Option<Self> {
        match name.as_bytes() {
            [b'x', b's', b':', ..] => Some(TypeName::new(XSD_NAMESPACE, name.split_at("xs:".len()).1)),
            _ => None,
        }
    }

    /// Whether it is a built-in simple type.
    pub(crate) fn is_builtin(&self) -> bool {
        is_same(self.namespace, XSD_NAMESPACE)
    }
}

/// The simple types that `xsi:type` may name on an element of a simple type: this and those that are derived from it, the
/// members of a union among them (XSD Part 1 §3.3.4, §3.14.6).
///
/// ```
/// use castile_databinding::schema::{Element, SimpleTypes};
///
/// static CODE_TYPES: SimpleTypes = SimpleTypes::new("Code", "", &[("urn:orders", "Code ShortCode")]);
/// static CODE: Element = Element::new("urn:orders", "code", 0).types(&CODE_TYPES);
/// ```
#[derive(Debug)]
pub struct SimpleTypes {
    /// What the type of the element is called, for messages.
    name: &'static str,
    /// Local names of built-in types, with a blank between them: what is derived from these may be named, too.
    builtin: &'static str,
    /// Namespaces, each with the local names of all its types that may be named.
    of_contract: &'static [(&'static str, &'static str)],
}

impl SimpleTypes {
    /// Those of an element whose type is called `name`: built-in ones and those that are derived from these, and types of a
    /// contract, as namespaces and local names. Between names there is a blank.
    pub const fn new(
        name: &'static str,
        builtin: &'static str,
        of_contract: &'static [(&'static str, &'static str)],
    ) -> Self {
        SimpleTypes { name, builtin, of_contract }
    }

    /// What the type of the element is called.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// Whether this type may be named.
    pub(crate) fn allow(&self, namespace: &str, name: &str) -> bool {
        if is_same(namespace, XSD_NAMESPACE) {
            return self.builtin.split(' ').any(|from| is_derived(name, from));
        }
        let mut of_contract = self.of_contract.iter().filter(|(one, _)| is_same(one, namespace));
        of_contract.any(|(_, names)| names.split(' ').any(|one| one == name))
    }
}

/// Whether two texts are the same. Empty ones are not looked at: what is in no namespace has `""` as that, which begins at no
/// place in memory, and a processor that skips what isn't asked for there (AVX-512's masks, on AMD's) takes a hundred times as
/// long as for a name.
#[inline]
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}
