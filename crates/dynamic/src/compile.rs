//! Makes types from a plan at run time: the tables that generated code would have.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use castile_databinding::datatypes::{Datatype, QName, Unscoped, Value, WhiteSpace};
use castile_databinding::encoded::ArrayType;
use castile_databinding::facets::{Check, Facets, Pattern};
use castile_databinding::model::{self, Order};
use castile_databinding::schema::{
    self, Attributes, Content as Children, Element, First, Namespaces, SimpleTypes, TypeName, Wildcard,
};
use castile_databinding::{Lexical, deeper};
use castile_plan::plan::{self, Item, ParticleKind, Path, Plan};
use castile_xml::escape;
use castile_xsd::components::Compositor;

use crate::leak::{leak, leak_all, leak_text};
use crate::simple::{Declared, FacetedValue, Listed, Member, Restriction, Rule, SimpleType, SimpleTypeKind};
use crate::types::{
    Accessor, Attribute, Base, Complex, Content, Derived, ElementType, EncodedArray, EncodedStruct, Group, GroupKind,
    LazyType, Nil, Particle, Particles, Presence, Struct, Term, Variant,
};
use crate::{json, plan_cache};

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

// The following limits are for plans that are read from a file, which may contain anything. Plans of contracts stay
// below them.

/// Maximum nesting of unions, facets and groups while they are made.
const DEPTH: usize = 1_000;

/// Maximum nesting of groups. A decoder's tables have what groups start with, and the decoder recurses into them
/// without checking the stack.
const MAX_NESTED: usize = 128;

/// Maximum number of particles in a type. Those of groups count as often as they are used.
const MAX_PARTICLES: usize = 1_000_000;

/// Maximum number of types and restrictions that are tried for a text. They count as often as they are used.
const MAX_TRIED: usize = 10_000;

/// Maximum number of types and restrictions tried for all values in the facets of a type.
const MAX_PARSED: usize = 10_000_000;

/// Maximum number of dimensions of an array, which is the limit of the decoder.
const MAX_DIMENSIONS: usize = 1_000;

/// A complex type of a plan.
#[derive(Clone, Copy)]
pub(crate) enum Planned {
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
            let place = maker.lazy_type(path);
            // Getting the type of a place locks the maker again.
            drop(maker);
            place.map(LazyType::get);
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
    pub(crate) fn complex(mut self, name: &'static str, of: Planned) -> Complex {
        match of {
            Planned::Struct(of) => Complex::Struct(self.structure(name, of)),
            Planned::Derived(of) => Complex::Derived(self.derived(of)),
            Planned::EncodedStruct(of) => Complex::EncodedStruct(self.encoded(name, of)),
            Planned::EncodedArray(of) => Complex::EncodedArray(self.array(of)),
        }
    }

    /// Returns the place of a complex type, or `None` for a simple type.
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
        let place = leak(LazyType::new(path.ident.as_str(), of, self.types));
        self.made.lazy_types.insert(path, place);
        Some(place)
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
                Some(place) => Base::Complex(place),
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

    // ---- simple types ----

    fn simple(&mut self, base: &plan::Base) -> &'static SimpleType {
        if let Some(known) = self.made.simple.get(base) {
            return known;
        }
        // While a type is being made, a reference to itself leads to the type for text.
        let text = self.types.text;
        self.made.simple.insert(base.clone(), text);
        let made = match base {
            plan::Base::Primitive(name) | plan::Base::Datatype(name) => Some(SimpleType::built_in(datatype(name))),
            plan::Base::List(item) => {
                // A list can't contain lists (XML Schema Part 1 §3.14.6), but a plan from a file may have them.
                let item = match **item {
                    plan::Base::List(_) => text,
                    _ => self.simple(item),
                };
                let item = if item.has_lists { text } else { item };
                Some(SimpleType::new("list", SimpleTypeKind::List(item), item.has_names))
            }
            plan::Base::Item(path) => match self.types.item(path) {
                Some((_, Item::Enumeration(of))) => Some(self.enumeration(of)),
                Some((_, Item::Union(of))) => self.deeper(|maker| maker.union(of)),
                _ => None,
            },
            // Options for this crate can't name Rust types.
            _ => None,
        };
        let made = made.map_or(text, leak);
        self.made.simple.insert(base.clone(), made);
        made
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

    fn enumeration(&mut self, of: &'static plan::Enumeration) -> SimpleType {
        let listed = of.variants.iter().map(|variant| variant.value.as_str()).collect();
        let white_space = if of.collapses { WhiteSpace::Collapse } else { WhiteSpace::Preserve };
        let kind = SimpleTypeKind::Enumeration { listed: Listed::new(listed), white_space, is_strict: of.is_strict };
        SimpleType::new(&of.name, kind, false)
    }

    fn union(&mut self, of: &'static plan::Union) -> Option<SimpleType> {
        let members = of
            .members
            .iter()
            .map(|member| Member { of: self.simple(&member.base), facets: self.restriction(member.facets.as_ref()) });
        let kind = SimpleTypeKind::Union { members: members.collect(), has_facets: of.has_facets };
        let made = SimpleType::new(&of.name, kind, of.has_names);
        (made.size <= MAX_TRIED).then_some(made)
    }

    fn facets(&mut self, path: Option<&Path>) -> Option<&'static dyn Check> {
        self.restriction(path).map(|known| -> &'static dyn Check { known })
    }

    fn restriction(&mut self, path: Option<&Path>) -> Option<&'static Restriction> {
        let (path, item) = self.types.item(path?)?;
        if let Some(known) = self.made.checks.get(path) {
            return *known;
        }
        let Item::Restriction(of) = item else { return None };
        self.made.checks.insert(path, None);
        let made = leak(self.deeper(|maker| maker.own_restriction(of))?);
        self.made.checks.insert(path, Some(made));
        Some(made)
    }

    fn own_restriction(&mut self, of: &'static plan::Restriction) -> Option<Restriction> {
        let base = match (&of.rule, &of.base) {
            (plan::Rule::Items(_), base) if !matches!(base, plan::Base::List(_)) => {
                plan::Base::List(Box::new(base.clone()))
            }
            (_, base) => base.clone(),
        };
        let simple = self.simple(&base);
        let rule = match &of.rule {
            plan::Rule::Facets { facets, of: before } => {
                if facets.iter().map(values).sum::<usize>().saturating_mul(simple.size) > MAX_PARSED {
                    return None;
                }
                let before = self.restriction(before.as_ref());
                Rule::Facets { facets: Box::new(self::facets(facets, simple)), before }
            }
            plan::Rule::Items(item) => Rule::Items(self.restriction(Some(item))?),
            plan::Rule::AnyOf(members) => {
                let members = members.iter().map(|member| self.restriction(Some(member)));
                Rule::AnyOf(members.collect::<Option<_>>()?)
            }
        };
        let made = Restriction::new(&of.name, simple, rule);
        (made.size <= MAX_TRIED).then_some(made)
    }

    fn named(&mut self, path: &Path) -> Option<&'static SimpleTypes> {
        let (path, item) = self.types.item(path)?;
        if let Some(known) = self.made.named.get(path) {
            return Some(known);
        }
        let Item::NamedTypes(plan::NamedTypes { name, builtin, of_contract, .. }) = item else { return None };
        let of_contract = of_contract.iter().map(|(namespace, names)| (namespace.as_str(), names.as_str()));
        let of_contract = leak_all(of_contract.collect());
        let made = leak(SimpleTypes::new(name, builtin, of_contract));
        self.made.named.insert(path, made);
        Some(made)
    }

    // ---- complex types ----

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

    fn particles(&mut self, fields: &'static [plan::Field], compositor: Compositor) -> Particles {
        let mut table = Vec::new();
        for field in fields {
            // A new property of a particle is an error here, until it is used or left out on purpose.
            let plan::Field {
                term,
                min_occurs: _,
                max_occurs: _,
                ident: _,
                documentation: _,
                storage: _,
                streams: _,
                adapter: _,
            } = field;
            if let plan::Term::Element { element, value, .. } = term {
                let nil = match value.nil {
                    plan::Nil::Never => Nil::Never,
                    plan::Nil::Plain => Nil::Plain,
                    plan::Nil::WithAttributes => Nil::WithAttributes,
                };
                let of = self.element_type(&value.base, nil);
                let (min, max) = occurrence(field);
                table.push(self.element(element, of).occurs(min, max));
            }
        }
        let table = leak_all(table);
        let (mut size, mut depth) = (fields.len(), 0);
        let mut groups = Vec::new();
        for field in fields {
            let group = match &field.term {
                // An `xs:all` contains only elements (XML Schema Part 1 §3.8.6), but a plan from a file may have groups
                // in it.
                plan::Term::Group(path) if compositor != Compositor::All => self.group(path),
                _ => None,
            };
            // The depth of the group itself is checked, because the group may have been made before.
            let group = group.filter(|group| {
                let particles = group.particles();
                size + particles.size <= MAX_PARTICLES && particles.depth < MAX_NESTED
            });
            if let Some(group) = group {
                size += group.particles().size;
                depth = depth.max(group.particles().depth + 1);
            }
            groups.push(group);
        }
        let has_wildcards = fields.iter().any(|field| matches!(field.term, plan::Term::Any(_)));
        let firsts = match compositor == Compositor::Sequence && has_wildcards {
            true => leak_all(groups.iter().flatten().map(|group| First::Group(group.first)).collect()),
            false => &[],
        };
        let mut list = Vec::new();
        let (mut elements, mut groups_so_far) = (0, 0);
        for (field, group) in fields.iter().zip(groups) {
            let (min, max) = occurrence(field);
            let term = match &field.term {
                plan::Term::Any(_) if compositor == Compositor::All => continue,
                plan::Term::Element { tag, counted, .. } => {
                    elements += 1;
                    let (start, end) = leak_text(format!("<{tag}></{tag}>")).split_at(tag.len() + 2);
                    Term::Element { index: elements - 1, start, end, is_counted: *counted }
                }
                plan::Term::Group(_) => match group {
                    Some(group) => {
                        groups_so_far += 1;
                        Term::Group(group)
                    }
                    None => continue,
                },
                plan::Term::Any(any) => {
                    let before = match compositor {
                        Compositor::Sequence => {
                            let elements = table.get(elements..).unwrap_or_default();
                            before(any, elements, firsts.get(groups_so_far..).unwrap_or_default())
                        }
                        _ => &[],
                    };
                    let first = leak_all(vec![First::Wildcard(leak(self.wildcard(any)))]);
                    let mut wildcard = self.wildcard(any);
                    if (min, max) != (1, Some(1)) {
                        wildcard = wildcard.before(before);
                    }
                    if !matches!((min, max), (0 | 1, Some(1))) {
                        wildcard = wildcard.occurs(min, max);
                    }
                    Term::Any(leak(wildcard), first)
                }
            };
            list.push(Particle { min, max, term });
        }
        let keys = json::keys(table, &list, leak_text);
        Particles { table, list, keys, size, depth }
    }

    fn wildcard(&mut self, any: &'static plan::Wildcard) -> Wildcard {
        Wildcard::new(match any {
            plan::Wildcard::Any => Namespaces::Any,
            plan::Wildcard::Not(target) => Namespaces::Not(target),
            plan::Wildcard::OneOf(list) => Namespaces::OneOf(leak_all(list.iter().map(String::as_str).collect())),
        })
    }

    // ---- groups ----

    /// Returns what the elements of a type may start with, one of which is the first element in a body.
    pub(crate) fn first_of(&mut self, path: &Path) -> &'static [First] {
        let Some((path, Item::Struct(of))) = self.types.item(path) else { return &[] };
        if let Some(known) = self.made.firsts.get(path) {
            return known;
        }
        let first = self.own_first(of);
        self.made.firsts.insert(path, first);
        first
    }

    fn own_first(&mut self, of: &'static plan::Struct) -> &'static [First] {
        match &of.content {
            plan::Content::Sequence(fields) => first_of_sequence(&self.particles(fields, Compositor::Sequence)),
            plan::Content::All(fields) => {
                let particles = self.particles(fields, Compositor::All);
                first_of_all(&particles, |group| group.first)
            }
            plan::Content::Simple { .. } | plan::Content::Mixed { .. } => &[],
        }
    }

    pub(crate) fn group(&mut self, path: &Path) -> Option<&'static Group> {
        let (path, item) = self.types.item(path)?;
        if let Some(known) = self.made.groups.get(path) {
            return *known;
        }
        self.made.groups.insert(path, None);
        let group = leak(self.deeper(|maker| maker.own_group(path.ident.as_str(), item))?);
        self.made.groups.insert(path, Some(group));
        Some(group)
    }

    fn own_group(&mut self, name: &'static str, item: &'static Item) -> Option<Group> {
        let group = match item {
            Item::Choice(of) => {
                let particles = self.particles(&of.variants, Compositor::Choice);
                let first = first_of_all(&particles, |group| group.first);
                let all = first_of_all(&particles, |group| group.all);
                let kind = match &of.text {
                    None => GroupKind::Choice(particles),
                    Some(_) => {
                        let order = of.order.as_ref().map(|order| self.order(order, particles.table));
                        GroupKind::MixedPart(particles, order)
                    }
                };
                Group { name, first, all, kind }
            }
            Item::Struct(of) => {
                let (fields, compositor) = match &of.content {
                    plan::Content::Sequence(fields) => (fields, Compositor::Sequence),
                    plan::Content::All(fields) => (fields, Compositor::All),
                    plan::Content::Simple { .. } | plan::Content::Mixed { .. } => return None,
                };
                let particles = self.particles(fields, compositor);
                let first = first_of_sequence(&particles);
                let all = first_of_all(&particles, |group| group.all);
                let kind = match compositor {
                    Compositor::Sequence => GroupKind::Sequence(particles),
                    _ => GroupKind::All(particles),
                };
                Group { name, first, all, kind }
            }
            _ => return None,
        };
        Some(group)
    }

    /// Returns the order of the pieces of mixed content. `table` has their elements.
    fn order(&mut self, particle: &'static plan::Particle, table: &'static [Element]) -> Order {
        /// The stack required for a model. It recurses into its particles without checking the stack.
        type OfModel = [u64; 1024];
        let mut leaves = Vec::new();
        let particle = self.ordered(particle, table, &mut leaves);
        deeper::<OfModel, _>(move || Order::new(&particle, leaves))
    }

    fn ordered(
        &mut self,
        particle: &'static plan::Particle,
        table: &'static [Element],
        leaves: &mut Vec<First>,
    ) -> model::Particle {
        let plan::Particle { min, max, kind } = particle;
        let mut ordered = |particles: &'static [plan::Particle]| -> Vec<model::Particle> {
            let inner = particles.iter();
            inner.map(|inner| deeper::<model::Particle, _>(|| self.ordered(inner, table, leaves))).collect()
        };
        match kind {
            ParticleKind::Element(number) => {
                leaves.push(First::Elements(table.get(*number).map(std::slice::from_ref).unwrap_or_default()));
                model::Particle::leaf(*min, *max)
            }
            ParticleKind::Any(any) => {
                leaves.push(First::Wildcard(leak(self.wildcard(any))));
                model::Particle::leaf(*min, *max)
            }
            ParticleKind::Sequence(particles) => model::Particle::sequence(*min, *max, ordered(particles)),
            ParticleKind::Choice(particles) => model::Particle::choice(*min, *max, ordered(particles)),
            ParticleKind::All(particles) => model::Particle::all(*min, *max, ordered(particles)),
        }
    }

    /// Returns the possible children, for a lenient decoder.
    fn children(&mut self, fields: &'static [plan::Field], particles: &Particles, is_sequence: bool) -> Children {
        let mut names = HashSet::new();
        let are_told_by_names =
            fields.iter().all(|field| field.element().is_some_and(|element| names.insert(&element.name)));
        match is_sequence && are_told_by_names {
            true => Children::Sequence(particles.table),
            false => Children::Among(first_of_all(particles, |group| group.all)),
        }
    }

    // ---- derived types and SOAP encoding ----

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
            let key = if is_one { name } else { leak_text(json::type_text(namespace, name)) };
            let base = self.base(&variant.base);
            // In a plan from a file a type may be derived from itself.
            let is_concrete = match base {
                Base::Complex(place) => !place.is_derived(),
                Base::Shared(_) => false,
                Base::Simple(_) | Base::AnyType | Base::Nothing => true,
            };
            let base = if is_concrete { base } else { Base::Nothing };
            Variant { of: leak(ElementType { base, nil: Nil::Never }), tag: variant.tag.as_deref(), key }
        });
        let variants = variants.collect();
        Derived { names: leak_all(names), is_abstract: of.is_abstract, variants }
    }

    fn encoded_type(&mut self, value: &'static plan::EncodedValue) -> &'static ElementType {
        let inner = self.element_type(&value.base, Nil::Never);
        match (value.is_shared, inner.base) {
            (false, _) | (true, Base::Shared(_)) => inner,
            (true, _) => leak(ElementType { base: Base::Shared(inner), nil: Nil::Never }),
        }
    }

    fn encoded(&mut self, name: &'static str, of: &'static plan::EncodedStruct) -> EncodedStruct {
        let (type_name, is_call, result) = match &of.role {
            plan::EncodedRole::Value(name) => (name.as_ref().map(|name| self.type_name(name)), false, None),
            plan::EncodedRole::Call { result } => (None, true, result.as_deref()),
        };
        let mut table = Vec::new();
        let mut accessors = Vec::new();
        for accessor in &of.accessors {
            let plan::Accessor { element, value, is_repeated, is_optional, start, .. } = accessor;
            let of = self.encoded_type(value);
            table.push(self.element(element, of));
            accessors.push(Accessor {
                is_repeated: *is_repeated,
                is_optional: *is_optional,
                start,
                end: leak_text(format!("</{}>", element.name)),
            });
        }
        EncodedStruct { name, type_name, is_call, result, table: leak_all(table), accessors }
    }

    fn array(&mut self, of: &'static plan::EncodedArray) -> EncodedArray {
        let item = self.encoded_type(&of.value);
        let array = leak(ArrayType {
            item: self.element(&of.item, item),
            item_type: self.type_name(&of.item_type),
            ranks: &of.ranks,
            // A plan from a file may have any number here.
            rank: of.rank.min(MAX_DIMENSIONS),
        });
        let end = format!("</{}>", of.item.name);
        EncodedArray { array, tag: &of.tag, start: &of.start, end: leak_text(end) }
    }
}

const NOTHING: Particles = Particles { table: &[], list: Vec::new(), keys: Vec::new(), size: 0, depth: 0 };

/// Returns the occurrence of a particle, with a maximum of at least 1.
///
/// A plan from a file may have a maximum of 0. A group with only such particles would be repeated endlessly.
fn occurrence(field: &plan::Field) -> (u32, Option<u32>) {
    (field.min_occurs, field.max_occurs.map(|max| max.max(field.min_occurs).max(1)))
}

/// Returns what may follow a wildcard and could also match it: elements of the table, and the first elements of groups.
fn before(any: &'static plan::Wildcard, table: &'static [Element], groups: &'static [First]) -> &'static [First] {
    /// Larger tables are added without a check, because the check would be repeated for each wildcard.
    const CHECKED_ELEMENTS: usize = 100;
    let mut before = Vec::new();
    if table.len() > CHECKED_ELEMENTS || table.iter().any(|element| any.allows(element.namespace)) {
        before.push(First::Elements(table));
    }
    // A group beside a wildcard for other namespaces seldom has elements of other namespaces.
    if !groups.is_empty() && !matches!(any, plan::Wildcard::Not(_)) {
        before.push(First::Group(groups));
    }
    leak_all(before)
}

/// Returns what a choice of the particles may start with, which is also everything that they may contain.
fn first_of_all(particles: &Particles, of: impl Fn(&'static Group) -> &'static [First]) -> &'static [First] {
    let elements = (!particles.table.is_empty()).then_some(First::Elements(particles.table));
    leak_all(elements.into_iter().chain(others(&particles.list, of)).collect())
}

/// Returns what a sequence may start with: all particles up to and including the first required one.
fn first_of_sequence(particles: &Particles) -> &'static [First] {
    let Particles { table, list, .. } = particles;
    let end = list.iter().position(|particle| particle.min > 0).map_or(list.len(), |index| index + 1);
    let begins = &list[..end];
    let count = begins.iter().filter(|particle| matches!(particle.term, Term::Element { .. })).count();
    let elements = (count > 0).then_some(First::Elements(&table[..count]));
    leak_all(elements.into_iter().chain(others(begins, |group| group.first)).collect())
}

/// Returns what groups and wildcards among the particles may start with.
fn others(list: &[Particle], of: impl Fn(&'static Group) -> &'static [First]) -> impl Iterator<Item = First> {
    list.iter().filter_map(move |particle| match particle.term {
        Term::Element { .. } => None,
        Term::Group(group) => Some(First::Group(of(group))),
        Term::Any(_, first) => Some(First::Group(first)),
    })
}

/// Returns how many values of a facet are parsed by the type.
fn values(facet: &plan::Facet) -> usize {
    match facet {
        plan::Facet::WhiteSpace(_) | plan::Facet::Number(..) | plan::Facet::Patterns(_) | plan::Facet::Names(_) => 0,
        plan::Facet::Bound(..) => 1,
        plan::Facet::Enumeration(values) => values.len(),
        plan::Facet::Scoped(values) => values.len(),
    }
}

fn facets(facets: &[plan::Facet], of: &'static SimpleType) -> Facets<FacetedValue> {
    let parse = |text: &str| of.parse_in(text, &Unscoped).ok().map(|value| FacetedValue::new(value, of));
    let mut made = Facets::default();
    for facet in facets {
        match facet {
            plan::Facet::WhiteSpace(name) => {
                made.white_space = match *name {
                    "Preserve" => WhiteSpace::Preserve,
                    "Replace" => WhiteSpace::Replace,
                    _ => WhiteSpace::Collapse,
                };
            }
            plan::Facet::Number(field, number) => {
                let field = match *field {
                    "length" => &mut made.length,
                    "min_length" => &mut made.min_length,
                    "max_length" => &mut made.max_length,
                    "total_digits" => &mut made.total_digits,
                    _ => &mut made.fraction_digits,
                };
                *field = Some(*number);
            }
            plan::Facet::Patterns(steps) => {
                let patterns = steps.iter().filter_map(|alternatives| {
                    let alternatives: Vec<&str> = alternatives.iter().map(String::as_str).collect();
                    Pattern::new(&alternatives).ok()
                });
                made.patterns = patterns.collect();
            }
            plan::Facet::Bound(field, text) => {
                let field = match *field {
                    "min_inclusive" => &mut made.min_inclusive,
                    "min_exclusive" => &mut made.min_exclusive,
                    "max_inclusive" => &mut made.max_inclusive,
                    _ => &mut made.max_exclusive,
                };
                *field = parse(text);
            }
            plan::Facet::Enumeration(values) => {
                made.enumeration = values.iter().filter_map(|text| parse(text)).collect();
            }
            plan::Facet::Names(names) => {
                let names = names.iter().filter_map(|(namespace, local)| {
                    QName::new(namespace.as_str(), local).ok().map(|name| FacetedValue::new(name_value(of, name), of))
                });
                made.enumeration = names.collect();
            }
            plan::Facet::Scoped(values) => {
                let values = values.iter().filter_map(|(text, declared)| of.parse_in(text, &Declared(declared)).ok());
                made.enumeration = values.map(|value| FacetedValue::new(value, of)).collect();
            }
        }
    }
    made
}

fn name_value(of: &SimpleType, name: QName) -> Value {
    match of.kind {
        SimpleTypeKind::Datatype(Datatype::Notation) => Value::Notation(name.into()),
        _ => Value::QName(name),
    }
}

/// Returns the built-in type for a Rust type of generated code.
fn datatype(name: &str) -> Datatype {
    match name {
        "bool" => Datatype::Boolean,
        "f32" => Datatype::Float,
        "f64" => Datatype::Double,
        "i8" => Datatype::Byte,
        "i16" => Datatype::Short,
        "i32" => Datatype::Int,
        "i64" => Datatype::Long,
        "u8" => Datatype::UnsignedByte,
        "u16" => Datatype::UnsignedShort,
        "u32" => Datatype::UnsignedInt,
        "u64" => Datatype::UnsignedLong,
        "StreamedBinary" => Datatype::Base64Binary,
        name => {
            let is_it = |datatype: &&Datatype| datatype.name().eq_ignore_ascii_case(name);
            Datatype::ALL.iter().find(is_it).copied().unwrap_or(Datatype::String)
        }
    }
}
