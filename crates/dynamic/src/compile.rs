//! Makes types from a plan at run time: the tables that generated code would have.

mod encoded;
mod particles;
mod simple;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use castile_databinding::datatypes::Datatype;
use castile_databinding::deeper;
use castile_databinding::schema::{self, Attributes, Content as Children, Element, First, SimpleTypes, TypeName};
use castile_plan::plan::{self, Item, Path, Plan};
use castile_xml::escape;
use castile_xsd::components::Compositor;

use crate::json::type_text;
use crate::leak::{leak, leak_all, leak_text};
use crate::plan_cache;
use crate::simple::{Restriction, SimpleType};
use crate::types::{
    Attribute, Base, Complex, Content, Derived, ElementType, Group, LazyType, Nil, Particles, Presence, Struct, Variant,
};

/// The types of a plan. A type is made when it is first needed. Like the plan, it stays in memory until the process
/// ends.
pub(crate) struct Types {
    items: HashMap<&'static Path, Slot>,
    /// The header blocks of all services, by type.
    headers: HashMap<HeaderKey, &'static plan::TypedRoot>,
    text: &'static SimpleType,
    made: Mutex<Made>,
}

/// The source of an item.
enum Slot {
    Planned(&'static Item),
    /// The serialized item from a bundle, which is decoded when it is first needed.
    Serialized(&'static [u8], OnceLock<Option<&'static Item>>),
}

/// The type of a header block: a type of the contract, or a struct that wraps its value.
#[derive(PartialEq, Eq, Hash)]
enum HeaderKey {
    Own(&'static Path),
    Wrapper(&'static str),
}

impl HeaderKey {
    fn of(header: &'static plan::RootType) -> Self {
        match header {
            plan::RootType::Own(path) => HeaderKey::Own(path),
            plan::RootType::Wrapper(ident) => HeaderKey::Wrapper(ident.as_str()),
        }
    }
}

/// The types made so far.
#[derive(Default)]
struct Made {
    lazy_types: HashMap<&'static Path, &'static LazyType>,
    simple: HashMap<plan::Base, &'static SimpleType>,
    /// `None` while a restriction is being made. A restriction that refers to itself gets no check there.
    checks: HashMap<&'static Path, Option<&'static Restriction>>,
    /// `None` while a group is being made.
    groups: HashMap<&'static Path, Option<&'static Group>>,
    named: HashMap<&'static Path, &'static SimpleTypes>,
    /// What bodies without a wrapper element may start with.
    firsts: HashMap<&'static Path, &'static [First]>,
    /// The number of restrictions, groups and simple types that are being made.
    depth: usize,
}

/// Maximum nesting of unions, facets and groups while they are made. Plans of contracts stay below it; a plan that is
/// read from a file may contain anything.
const DEPTH: usize = 1_000;

/// A complex type of a plan.
#[derive(Clone, Copy)]
enum Planned {
    Struct(&'static plan::Struct),
    Derived(&'static plan::Derived),
    EncodedStruct(&'static plan::EncodedStruct),
    EncodedArray(&'static plan::EncodedArray),
}

/// Makes types, and holds the lock on them.
pub(crate) struct Maker {
    types: &'static Types,
    made: MutexGuard<'static, Made>,
}

impl Types {
    pub(crate) fn new(plan: &'static Plan, kept: Vec<(Path, &'static [u8])>) -> Self {
        let planned = plan.items.iter().map(|item| (item.path(), Slot::Planned(item)));
        let kept = leak_all(kept).iter().map(|(path, bytes)| (path, Slot::Serialized(bytes, OnceLock::new())));
        let items = planned.chain(kept).collect();
        let mut headers = HashMap::new();
        for block in plan.services.iter().flat_map(|service| &service.headers) {
            headers.entry(HeaderKey::of(&block.of)).or_insert(block);
        }
        Types { items, headers, text: leak(SimpleType::built_in(Datatype::String)), made: Mutex::default() }
    }

    /// Makes all types.
    #[cfg(test)]
    pub(crate) fn make(&'static self) {
        for path in self.items.keys() {
            let mut maker = self.maker();
            maker.simple(&plan::Base::Item((*path).clone()));
            maker.facets(Some(path));
            maker.group(path);
            let lazy = maker.lazy_type(path);
            // Getting a type locks the maker again.
            drop(maker);
            lazy.map(LazyType::get);
        }
    }

    /// Returns an item, and its path with a static lifetime.
    fn item(&'static self, path: &Path) -> Option<(&'static Path, &'static Item)> {
        let (&path, slot) = self.items.get_key_value(path)?;
        let item = match slot {
            Slot::Planned(item) => item,
            Slot::Serialized(bytes, item) => (*item.get_or_init(|| plan_cache::item(bytes).map(leak)))?,
        };
        Some((path, item))
    }

    /// Locks the types. Other threads wait until the maker is dropped.
    pub(crate) fn maker(&'static self) -> Maker {
        Maker { types: self, made: self.made.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl Maker {
    /// Makes a complex type.
    fn complex(mut self, name: &'static str, of: Planned) -> Complex {
        match of {
            Planned::Struct(of) => Complex::Struct(self.structure(name, of)),
            Planned::Derived(of) => Complex::Derived(self.derived(of)),
            Planned::EncodedStruct(of) => Complex::EncodedStruct(self.encoded(name, of)),
            Planned::EncodedArray(of) => Complex::EncodedArray(self.array(of)),
        }
    }

    /// Returns a complex type, or `None` for a simple type.
    fn lazy_type(&mut self, path: &Path) -> Option<&'static LazyType> {
        let (path, item) = self.types.item(path)?;
        if let Some(known) = self.made.lazy_types.get(path) {
            return Some(known);
        }
        let of = match item {
            Item::Struct(of) if matches!(of.role, plan::Role::Type(_)) => Planned::Struct(of),
            Item::Derived(of) => Planned::Derived(of),
            Item::EncodedStruct(of) => Planned::EncodedStruct(of),
            Item::EncodedArray(of) => Planned::EncodedArray(of),
            _ => return None,
        };
        let (name, types) = (path.ident.as_str(), self.types);
        let is_derived = matches!(of, Planned::Derived(_));
        let lazy = leak(LazyType::new(name, is_derived, Box::new(move || types.maker().complex(name, of))));
        self.made.lazy_types.insert(path, lazy);
        Some(lazy)
    }

    pub(crate) fn base(&mut self, base: &plan::Base) -> Base {
        match base {
            plan::Base::AnyType | plan::Base::Raw => Base::AnyType,
            plan::Base::Nothing => Base::Nothing,
            plan::Base::Shared(value) => {
                // A shared value is one node. A plan from a file may nest several.
                let mut inner = value;
                while let plan::Base::Shared(value) = &**inner {
                    inner = value;
                }
                Base::Shared(self.element_type(inner, Nil::Never))
            }
            plan::Base::Item(path) => match self.lazy_type(path) {
                Some(lazy) => Base::Complex(lazy),
                None => Base::Simple(self.simple(base)),
            },
            plan::Base::Primitive(_) | plan::Base::Datatype(_) | plan::Base::Rust(_) | plan::Base::List(_) => {
                Base::Simple(self.simple(base))
            }
        }
    }

    pub(crate) fn element_type(&mut self, base: &plan::Base, nil: Nil) -> &'static ElementType {
        let base = self.base(base);
        leak(ElementType { base, nil })
    }

    /// Makes an element with this type.
    pub(crate) fn element(&mut self, element: &'static plan::Element, of: &'static ElementType) -> Element {
        let plan::Element { namespace, name, slot, constraint, facets, types } = element;
        let mut made = Element::new(namespace, name, *slot).run_time(of);
        made = match constraint {
            None => made,
            Some(plan::ValueConstraint::Default(value)) => made.default(value),
            Some(plan::ValueConstraint::Fixed(value)) => made.fixed(value),
        };
        if let Some(facets) = self.facets(facets.as_ref()) {
            made = made.facets(facets);
        }
        if let Some(types) = types.as_ref().and_then(|path| self.named(path)) {
            made = made.types(types);
        }
        made
    }

    /// Returns the header block with this type, if a service has it.
    pub(crate) fn header(&self, of: &'static plan::RootType) -> Option<&'static plan::TypedRoot> {
        self.types.headers.get(&HeaderKey::of(of)).copied()
    }

    /// Makes something nested, unless the limit is reached.
    fn deeper<T>(&mut self, make: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.made.depth >= DEPTH {
            return None;
        }
        self.made.depth += 1;
        let made = deeper::<Complex, _>(|| make(self));
        self.made.depth -= 1;
        made
    }

    fn structure(&mut self, name: &'static str, of: &'static plan::Struct) -> Struct {
        let type_name = match &of.role {
            plan::Role::Type(name) => name.as_ref().map(|name| self.type_name(name)),
            plan::Role::Group => None,
        };
        let attributes = of.attributes.iter().map(|attribute| self.attribute(attribute)).collect();
        let (content, children) = match &of.content {
            plan::Content::Simple { value, facets, .. } => {
                let (of, facets) = (self.simple(value), self.facets(facets.as_ref()));
                (Content::Simple { of, facets }, Children::Open)
            }
            plan::Content::Mixed { piece, .. } => match self.group(piece) {
                Some(piece) => (Content::Mixed(piece), Children::Open),
                None => (Content::Sequence(NOTHING), Children::Open),
            },
            plan::Content::Sequence(fields) => {
                let particles = self.particles(fields, Compositor::Sequence);
                let children = self.children(fields, &particles, true);
                (Content::Sequence(particles), children)
            }
            plan::Content::All(fields) => {
                let particles = self.particles(fields, Compositor::All);
                let children = self.children(fields, &particles, false);
                (Content::All(particles), children)
            }
        };
        Struct {
            name,
            type_name,
            table: self.attribute_table(of),
            attributes,
            written: of.attributes_as_written().into_iter().map(|(number, _)| number).collect(),
            has_others: of.any_attributes.is_some(),
            children: leak(children),
            content,
        }
    }

    fn attribute_table(&mut self, of: &'static plan::Struct) -> &'static Attributes {
        if of.attributes.is_empty() && of.any_attributes.is_none() {
            static NONE: Attributes = Attributes::NONE;
            return &NONE;
        }
        let mut declared = Vec::new();
        for attribute in &of.attributes {
            let mut made = schema::Attribute::new(&attribute.namespace, &attribute.name);
            made = match &attribute.presence {
                plan::Presence::Default(value) => made.default(value),
                plan::Presence::Fixed { value, .. } => made.fixed(value),
                plan::Presence::Required | plan::Presence::Optional => made,
            };
            if let Some(facets) = self.facets(attribute.facets.as_ref()) {
                made = made.facets(facets);
            }
            declared.push(made);
        }
        let mut table = Attributes::new(leak_all(declared));
        if let Some((_, any)) = &of.any_attributes {
            table = table.and(self.wildcard(any));
        }
        leak(table)
    }

    fn attribute(&mut self, attribute: &'static plan::Attribute) -> Attribute {
        let plan::Attribute { base, presence, tag, .. } = attribute;
        let presence = match presence {
            plan::Presence::Required => Presence::Required,
            plan::Presence::Optional => Presence::Optional,
            plan::Presence::Default(_) => Presence::Default,
            plan::Presence::Fixed { value, required } => {
                let mut written = format!(" {tag}=\"").into_bytes();
                // The value is from an XML document, so it has only characters that XML allows.
                let _ = escape::push_attribute(&mut written, value);
                written.push(b'"');
                let written = leak_text(String::from_utf8_lossy(&written).into_owned());
                Presence::Fixed { written, is_required: *required }
            }
        };
        Attribute { of: self.simple(base), presence, tag }
    }

    fn type_name(&mut self, name: &'static plan::TypeName) -> TypeName {
        TypeName::new(&name.namespace, &name.name)
    }

    fn derived(&mut self, of: &'static plan::Derived) -> Derived {
        let names = of.variants.iter().map(|variant| self.type_name(&variant.name)).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for variant in &of.variants {
            *counts.entry(&variant.name.name).or_default() += 1;
        }
        let variants = of.variants.iter().map(|variant| {
            let plan::TypeName { namespace, name } = &variant.name;
            let is_one = counts.get(name.as_str()) == Some(&1);
            let key = if is_one { name } else { leak_text(type_text(namespace, name)) };
            let base = self.base(&variant.base);
            // In a plan from a file a type may be derived from itself.
            let is_concrete = match base {
                Base::Complex(lazy) => !lazy.is_derived(),
                Base::Shared(_) => false,
                Base::Simple(_) | Base::AnyType | Base::Nothing => true,
            };
            let base = if is_concrete { base } else { Base::Nothing };
            Variant { of: leak(ElementType { base, nil: Nil::Never }), tag: variant.tag.as_deref(), key }
        });
        let variants = variants.collect();
        Derived { names: leak_all(names), is_abstract: of.is_abstract, variants }
    }
}

const NOTHING: Particles = Particles { table: &[], list: Vec::new(), keys: Vec::new(), size: 0, depth: 0 };
