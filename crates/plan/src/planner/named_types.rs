//! Determines which simple types `xsi:type` may name on an element: its declared type and the types derived from it.

use std::collections::{BTreeSet, HashSet};

use castile_xsd::components::{SimpleType, TypeDefinition, Variety};
use castile_xsd::encoded::encoding_type;
use castile_xsd::{Builtin, TypeId};

use super::Planner;
use crate::plan::{Item, NamedTypes, Path};

/// Types whose names are allowed on an element.
#[derive(Default)]
struct Roots {
    /// Types that are allowed together with all types derived from them.
    whole: Vec<TypeId>,
    /// Types that are allowed by themselves.
    alone: Vec<TypeId>,
}

impl Planner<'_> {
    /// Returns the types that may be named on an element of a simple type. Returns `None` if they are the built-in
    /// types that follow from its Rust type.
    pub(super) fn named_types(&mut self, type_id: TypeId) -> Option<Path> {
        self.schema[type_id].as_simple()?;
        if let Some(known) = self.named_types.get(&type_id) {
            return known.clone();
        }
        let roots = self.roots(type_id);
        let is_builtin = type_id.builtin().is_some_and(|builtin| builtin != Builtin::AnySimpleType);
        let (builtin, of_contract, count) = self.derived_from(&roots);
        // The total may be quadratic, because each of many types may be derived from all others.
        self.count(count);
        let planned = (!is_builtin || !of_contract.is_empty()).then(|| {
            let name = self.simple_name(type_id);
            // Submodules can refer to items of the outer module.
            let path = Path { module: 0, ident: self.names[0].table(&format!("{name} types")) };
            let name = if type_id.builtin().is_some() { format!("xs:{name}") } else { name };
            self.items.push(Item::NamedTypes(NamedTypes { path: path.clone(), name, builtin, of_contract }));
            path
        });
        self.named_types.insert(type_id, planned.clone());
        planned
    }

    /// Returns a type and, for a union, its members, whose values are valid for the union (Part 1 §3.14.6).
    ///
    /// An anonymous type can't be named, so its base is allowed instead. Other types derived from the base are not
    /// allowed, because they are different types.
    fn roots(&self, type_id: TypeId) -> Roots {
        let (mut roots, mut open, mut seen) = (Roots::default(), vec![(type_id, true)], HashSet::new());
        while let Some((id, is_whole)) = open.pop() {
            let TypeDefinition::Simple(SimpleType { variety, base, name, .. }) = &self.schema[id] else { continue };
            if !seen.insert(id) {
                continue;
            }
            if name.is_some() {
                if is_whole { &mut roots.whole } else { &mut roots.alone }.push(id);
            }
            match variety {
                Variety::Union { members } => open.extend(members.iter().map(|&member| (member, is_whole))),
                Variety::Atomic if name.is_none() => open.push((*base, false)),
                Variety::Atomic | Variety::List { .. } => {}
            }
        }
        roots
    }

    /// Returns the built-in types among `whole` and `alone`, as written in a table; and all types of the contract that
    /// are among them or derived from `whole`, by namespace, with their number.
    fn derived_from(&self, Roots { whole, alone }: &Roots) -> (String, Vec<(String, String)>, usize) {
        let all = whole.iter().chain(alone);
        let builtin: BTreeSet<&str> = all.filter_map(|id| id.builtin()).map(Builtin::name).collect();
        let (mut open, mut seen) = (whole.clone(), HashSet::new());
        let mut named: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut name = |id: TypeId| {
            let name = self.schema[id].as_simple().and_then(|simple| simple.name.as_ref());
            let name = name.filter(|name| id.builtin().is_none() && encoding_type(name).is_none());
            named.extend(name.map(|name| (name.namespace(), name.local())));
        };
        alone.iter().for_each(|&id| name(id));
        while let Some(id) = open.pop() {
            if self.schema[id].as_simple().is_none() || !seen.insert(id) {
                continue;
            }
            name(id);
            open.extend(self.schema.derived_types(id));
            if let Some(of) = id.builtin() {
                let derived = Builtin::ALL.iter().filter(|builtin| builtin.is_derived_from(of));
                open.extend(derived.map(|builtin| TypeId::from(*builtin)));
            }
        }
        let count = named.len();
        let mut of_contract: Vec<(String, String)> = Vec::new();
        for (namespace, name) in named {
            match of_contract.last_mut() {
                Some((last, names)) if last == namespace => names.extend([" ", name]),
                _ => of_contract.push((namespace.to_owned(), name.to_owned())),
            }
        }
        (builtin.into_iter().collect::<Vec<_>>().join(" "), of_contract, count)
    }
}
