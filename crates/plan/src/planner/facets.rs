//! Plans the facets of simple types: a restriction for each type that has some.

use castile_xsd::TypeId;
use castile_xsd::components::{Facet as SchemaFacet, FacetKind, SimpleType, Variety, WhiteSpace};

use super::Planner;
use crate::plan::{Base, Facet, Item, Path, Restriction, Rule};

impl Planner<'_> {
    /// Returns the restriction for a simple type, if it has one beyond its Rust type and facets are checked.
    pub(super) fn facets(&mut self, type_id: TypeId) -> Option<Path> {
        if !self.checks_facets || type_id.builtin().is_some() {
            return None;
        }
        if let Some(known) = self.restrictions.get(&type_id) {
            return known.clone();
        }
        let simple = self.schema[type_id].as_simple()?;
        let found = self.restriction(type_id, simple);
        self.restrictions.insert(type_id, found.clone());
        found
    }

    fn restriction(&mut self, type_id: TypeId, simple: &SimpleType) -> Option<Path> {
        let name = self.simple_name(type_id);
        if let Err(problem) = self.schema.simple_type_definition(type_id) {
            let message = format!("the facets of {name} are not checked: {problem}");
            return self.refuse(simple.location, message);
        }
        if simple.variety == Variety::Atomic && self.lists_texts(type_id) {
            // An enumeration rejects unlisted values itself, and it doesn't list values that other facets exclude.
            return None;
        }
        let base = self.simple(type_id);
        let of = match &simple.variety {
            Variety::Atomic => None,
            Variety::List { item } => self.facets(*item).map(|item| self.add(type_id, &name, &base, Rule::Items(item))),
            Variety::Union { members } => match self.member_bases(members).as_slice() {
                [(one, members)] => self.one_of(&name, one, members),
                _ => None,
            },
        };
        let facets = self.own_facets(type_id, &base);
        if facets.is_empty() {
            return of;
        }
        Some(self.add(type_id, &name, &base, Rule::Facets { facets, of }))
    }

    /// Returns the restriction that a text satisfies one of the `members` of a union, all of which have the Rust type
    /// `base`. As in the schema, the first member that accepts the text decides.
    pub(super) fn one_of(&mut self, name: &str, base: &Base, members: &[TypeId]) -> Option<Path> {
        let [first, ..] = *members else { return None };
        if !self.checks_facets {
            return None;
        }
        let mut paths = Vec::new();
        for &member in members {
            let own = self.simple(member);
            paths.push(match self.facets(member) {
                Some(path) => path,
                // This member accepts all values.
                None if own == *base => return None,
                None => {
                    let name = self.simple_name(member);
                    self.add(member, &name, &own, Rule::Facets { facets: Vec::new(), of: None })
                }
            });
        }
        match paths.as_slice() {
            [only] => Some(only.clone()),
            _ => Some(self.add(first, name, base, Rule::AnyOf(paths))),
        }
    }

    fn add(&mut self, type_id: TypeId, name: &str, base: &Base, rule: Rule) -> Path {
        let module = self.reserved.get(&type_id).map_or(self.module, |path| path.module);
        let what = match rule {
            Rule::Facets { .. } => "facets",
            Rule::Items(_) => "items",
            Rule::AnyOf(_) => "members",
        };
        let path = Path { module, ident: self.names[module].table(&format!("{name} {what}")) };
        let restriction = Restriction { path: path.clone(), name: name.to_owned(), base: base.clone(), rule };
        self.items.push(Item::Restriction(restriction));
        path
    }

    /// Returns the facets of a type and of all its bases.
    fn own_facets(&mut self, type_id: TypeId, base: &Base) -> Vec<Facet> {
        let schema = self.schema;
        let all = schema.facets(type_id);
        if !self.count(all.len()) {
            return Vec::new();
        }
        let of_kind = |kind| all.iter().find(|facet| facet.kind == kind);
        let mut facets: Vec<Facet> = Vec::new();
        for (kind, field) in [
            (FacetKind::Length, "length"),
            (FacetKind::MinLength, "min_length"),
            (FacetKind::MaxLength, "max_length"),
            (FacetKind::TotalDigits, "total_digits"),
            (FacetKind::FractionDigits, "fraction_digits"),
        ] {
            // A number that doesn't fit is greater than any length.
            let number = |facet: &&SchemaFacet| facet.value.trim().parse().unwrap_or(u64::MAX);
            facets.extend(of_kind(kind).map(|facet| Facet::Number(field, number(facet))));
        }
        let patterns = schema.patterns(type_id);
        if !patterns.is_empty() {
            let mut step =
                |alternatives: Vec<&str>| alternatives.into_iter().map(|pattern| self.copy(pattern)).collect();
            facets.push(Facet::Patterns(patterns.into_iter().map(&mut step).collect()));
        }
        for (kind, field) in [
            (FacetKind::MinInclusive, "min_inclusive"),
            (FacetKind::MinExclusive, "min_exclusive"),
            (FacetKind::MaxInclusive, "max_inclusive"),
            (FacetKind::MaxExclusive, "max_exclusive"),
        ] {
            facets.extend(of_kind(kind).map(|facet| Facet::Bound(field, self.copy(&facet.value))));
        }
        let enumeration = schema.enumeration(type_id);
        if !enumeration.is_empty() {
            let is_name = matches!(base, Base::Datatype("QName" | "Notation"));
            let name = |facet: &SchemaFacet| {
                let name = facet.name()?;
                Some((self.copy(name.namespace()), self.copy(name.local())))
            };
            facets.push(if is_name {
                Facet::Names(enumeration.into_iter().filter_map(name).collect())
            } else if self.has_names(base) {
                // These texts need the namespace declarations of the contract.
                let scoped = |facet: &SchemaFacet| (self.copy(&facet.value), facet.namespaces.clone());
                Facet::Scoped(enumeration.into_iter().map(scoped).collect())
            } else {
                Facet::Enumeration(enumeration.into_iter().map(|facet| self.copy(&facet.value)).collect())
            });
        }
        let white_space = match schema.white_space(type_id) {
            WhiteSpace::Preserve => Some("Preserve"),
            WhiteSpace::Replace => Some("Replace"),
            WhiteSpace::Collapse => None,
        };
        if !facets.is_empty() {
            facets.extend(white_space.map(Facet::WhiteSpace));
        }
        facets
    }
}
