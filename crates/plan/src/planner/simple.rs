//! Plans simple types: built-in types, enumerations, lists and unions.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use castile_xsd::components::{Facet, FacetKind, Owner, SimpleType, TypeDefinition, Variety, WhiteSpace};
use castile_xsd::{Builtin, TypeId};

use super::{Key, Planner};
use crate::names::{Ident, Scope};
use crate::plan::{Base, Enumeration, EnumerationVariant, Item, Member, Union};

impl Planner<'_> {
    /// Returns the Rust type for values of a simple type.
    pub(super) fn simple(&mut self, type_id: TypeId) -> Base {
        if let Some(path) = self.paths.get(&Key::Type(type_id)) {
            return Base::Item(path.clone());
        }
        if let Some(rust) = self.rust_types.get(&type_id) {
            return Base::Rust(rust.clone());
        }
        let schema = self.schema;
        let TypeDefinition::Simple(simple) = &schema[type_id] else { return Base::Primitive("String") };
        if let Some(builtin) = type_id.builtin() {
            return of_builtin(builtin);
        }
        match &simple.variety {
            Variety::List { item } => Base::List(Box::new(self.simple(*item))),
            Variety::Union { members } => self.union(type_id, simple, members),
            Variety::Atomic => {
                if self.lists_texts(type_id) {
                    return self.enumeration(type_id, simple);
                }
                self.simple(schema.builtin(type_id).into())
            }
        }
    }

    fn enumeration(&mut self, type_id: TypeId, simple: &SimpleType) -> Base {
        let name = self.simple_name(type_id);
        let (path, outside) = self.enter(type_id, Key::Type(type_id), &name);
        self.module = outside;
        let schema = self.schema;
        let mut names = Scope::default();
        let other = names.variant("Other");
        let mut variants: Vec<EnumerationVariant> = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        // Values that other facets exclude are not values of the type.
        let is_other = |facet: &&Facet| !matches!(facet.kind, FacetKind::Enumeration | FacetKind::WhiteSpace);
        let has_others = schema.facets(type_id).iter().any(is_other);
        for facet in schema.enumeration(type_id) {
            if !self.count(1) {
                break;
            }
            let is_excluded = has_others && matches!(self.values.read(type_id, &facet.value, facet), Some(Err(_)));
            if is_excluded || !seen.insert(facet.value.as_str()) {
                continue;
            }
            let documentation = facet.annotation.documentation.clone();
            variants.push(EnumerationVariant {
                ident: names.value(&facet.value),
                documentation: self.text(&[&documentation]).unwrap_or_else(|| described(&facet.value)),
                value: self.copy(&facet.value),
            });
        }
        self.enumerations.insert(path.clone());
        let documentation = self.simple_documentation(simple, &name);
        self.items.push(Item::Enumeration(Enumeration {
            path: path.clone(),
            documentation,
            name,
            collapses: schema.white_space(type_id) == WhiteSpace::Collapse,
            variants,
            other,
            is_strict: self.checks_facets,
        }));
        Base::Item(path)
    }

    fn union(&mut self, type_id: TypeId, simple: &SimpleType, members: &[TypeId]) -> Base {
        let bases = self.member_bases(members);
        match bases.as_slice() {
            [] => return Base::Primitive("String"),
            [(one, _)] => return one.clone(),
            _ => {}
        }
        let name = self.simple_name(type_id);
        let (path, outside) = self.enter(type_id, Key::Type(type_id), &name);
        self.module = outside;
        let mut names = Scope::default();
        let members = bases.into_iter().map(|(base, members)| Member {
            ident: self.member_name(&base, members[0], &mut names),
            is_enumeration: self.is_enumeration(&base),
            facets: self.one_of(&name, &base, &members),
            base,
        });
        let members: Vec<Member> = members.collect();
        let has_names = members.iter().any(|member| self.has_names(&member.base));
        self.count(members.len());
        if has_names {
            self.unions_of_names.insert(path.clone());
        }
        let documentation = self.simple_documentation(simple, &name);
        self.items.push(Item::Union(Union {
            path: path.clone(),
            documentation,
            name,
            members,
            has_facets: self.checks_facets,
            has_names,
        }));
        Base::Item(path)
    }

    /// Returns true if values of a simple type may be or contain qualified names.
    pub(super) fn has_names(&self, base: &Base) -> bool {
        match base {
            Base::List(item) => self.has_names(item),
            Base::Item(path) => self.unions_of_names.contains(path),
            _ => base.is_name(),
        }
    }

    /// Returns the distinct Rust types of a union's members, with the members that have each.
    pub(super) fn member_bases(&mut self, members: &[TypeId]) -> Vec<(Base, Vec<TypeId>)> {
        let mut types = Vec::new();
        self.members(members, &mut types);
        let mut bases: Vec<(Base, Vec<TypeId>)> = Vec::new();
        let mut known: HashMap<Base, usize> = HashMap::new();
        for member in types {
            let base = self.simple(member);
            match known.entry(base) {
                Entry::Occupied(index) => bases[*index.get()].1.push(member),
                Entry::Vacant(entry) => {
                    bases.push((entry.key().clone(), vec![member]));
                    entry.insert(bases.len() - 1);
                }
            }
        }
        // Members after a type that accepts every text are never reached, except where facets restrict that type.
        if let Some(end) = bases.iter().position(|(base, _)| *base == Base::Primitive("String")) {
            let rest: Vec<TypeId> = bases.drain(end + 1..).flat_map(|(_, members)| members).collect();
            bases[end].1.extend(rest);
        }
        bases
    }

    /// Collects the members of a union. Nested unions are replaced by their members, unless they have facets of their
    /// own.
    fn members(&self, members: &[TypeId], found: &mut Vec<TypeId>) {
        for &member in members {
            match &self.schema[member] {
                TypeDefinition::Simple(SimpleType { variety: Variety::Union { members }, .. })
                    if self.schema.facets(member).is_empty() =>
                {
                    self.members(members, found);
                }
                _ => found.push(member),
            }
        }
    }

    fn member_name(&self, base: &Base, member: TypeId, names: &mut Scope) -> Ident {
        match base {
            Base::Item(path) => names.variant(&path.ident.to_string()),
            _ => match self.schema[member].name() {
                Some(name) => names.variant(name.local()),
                None if matches!(base, Base::List(_)) => names.variant("List"),
                None => names.variant(self.schema.builtin(member).name()),
            },
        }
    }

    /// Returns true if an atomic type is an enumeration of texts.
    pub(super) fn lists_texts(&self, type_id: TypeId) -> bool {
        let is_text = self.schema.builtin(type_id).primitive() == Builtin::String;
        is_text && !self.schema.enumeration(type_id).is_empty()
    }

    fn is_enumeration(&self, base: &Base) -> bool {
        matches!(base, Base::Item(path) if self.enumerations.contains(path))
    }

    /// Returns the name of a simple type. An anonymous type is named after the component that contains it.
    pub(super) fn simple_name(&self, type_id: TypeId) -> String {
        let definition = &self.schema[type_id];
        match (definition.name(), definition.owner()) {
            (Some(name), _) => name.local().to_owned(),
            (None, Some(Owner::Element(owner))) => self.schema[owner].name.local().to_owned(),
            (None, Some(Owner::Attribute(owner))) => self.schema[owner].name.local().to_owned(),
            (None, Some(Owner::Type(owner))) if owner != type_id => self.simple_name(owner),
            (None, _) => "Value".to_owned(),
        }
    }

    fn simple_documentation(&mut self, simple: &SimpleType, name: &str) -> String {
        let owner = match simple.owner {
            Some(Owner::Element(owner)) => self.schema[owner].annotation.documentation.clone(),
            Some(Owner::Attribute(owner)) => self.schema[owner].annotation.documentation.clone(),
            _ => None,
        };
        self.text(&[&simple.annotation.documentation, &owner]).unwrap_or_else(|| match &simple.name {
            Some(name) => format!("The type `{}`.", name.local()),
            None => format!("A value of `{name}`."),
        })
    }
}

fn described(value: &str) -> String {
    if value.trim().is_empty() { "The empty value.".to_owned() } else { format!("The value `{value}`.") }
}

fn of_builtin(builtin: Builtin) -> Base {
    match builtin {
        Builtin::AnyType | Builtin::AnySimpleType | Builtin::String => Base::Primitive("String"),
        Builtin::Boolean => Base::Primitive("bool"),
        Builtin::Float => Base::Primitive("f32"),
        Builtin::Double => Base::Primitive("f64"),
        Builtin::Byte => Base::Primitive("i8"),
        Builtin::Short => Base::Primitive("i16"),
        Builtin::Int => Base::Primitive("i32"),
        Builtin::Long => Base::Primitive("i64"),
        Builtin::UnsignedByte => Base::Primitive("u8"),
        Builtin::UnsignedShort => Base::Primitive("u16"),
        Builtin::UnsignedInt => Base::Primitive("u32"),
        Builtin::UnsignedLong => Base::Primitive("u64"),
        Builtin::Decimal => Base::Datatype("Decimal"),
        Builtin::Duration => Base::Datatype("Duration"),
        Builtin::DateTime => Base::Datatype("DateTime"),
        Builtin::Time => Base::Datatype("Time"),
        Builtin::Date => Base::Datatype("Date"),
        Builtin::GYearMonth => Base::Datatype("GYearMonth"),
        Builtin::GYear => Base::Datatype("GYear"),
        Builtin::GMonthDay => Base::Datatype("GMonthDay"),
        Builtin::GDay => Base::Datatype("GDay"),
        Builtin::GMonth => Base::Datatype("GMonth"),
        Builtin::HexBinary => Base::Datatype("HexBinary"),
        Builtin::Base64Binary => Base::Datatype("Base64Binary"),
        Builtin::AnyUri => Base::Datatype("AnyUri"),
        Builtin::QName => Base::Datatype("QName"),
        Builtin::Notation => Base::Datatype("Notation"),
        Builtin::NormalizedString => Base::Datatype("NormalizedString"),
        Builtin::Token => Base::Datatype("Token"),
        Builtin::Language => Base::Datatype("Language"),
        Builtin::Nmtoken => Base::Datatype("Nmtoken"),
        Builtin::Nmtokens => Base::Datatype("Nmtokens"),
        Builtin::Name => Base::Datatype("Name"),
        Builtin::NcName => Base::Datatype("NcName"),
        Builtin::Id => Base::Datatype("Id"),
        Builtin::Idref => Base::Datatype("Idref"),
        Builtin::Idrefs => Base::Datatype("Idrefs"),
        Builtin::Entity => Base::Datatype("Entity"),
        Builtin::Entities => Base::Datatype("Entities"),
        Builtin::Integer => Base::Datatype("Integer"),
        Builtin::NonPositiveInteger => Base::Datatype("NonPositiveInteger"),
        Builtin::NegativeInteger => Base::Datatype("NegativeInteger"),
        Builtin::NonNegativeInteger => Base::Datatype("NonNegativeInteger"),
        Builtin::PositiveInteger => Base::Datatype("PositiveInteger"),
    }
}
