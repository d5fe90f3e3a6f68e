//! Which simple types `xsi:type` may name on an element: its own, and those that are derived from it.

use std::collections::{BTreeSet, HashSet};

use castile_xsd::components::{SimpleType, TypeDefinition, Variety};
use castile_xsd::encoded::encoding_type;
use castile_xsd::{Builtin, TypeId};

use super::Planner;
use crate::plan::{Item, NamedTypes, Path};

impl Planner<'_> {
    /// The types that may be named on an element of a simple type, if those aren't the built-in ones that its Rust type tells.
    pub(super) fn named_types(&mut self, type_id: TypeId) -> Option<Path> {
        self.schema[type_id].as_simple()?;
        if let Some(known) = self.named_types.get(&type_id) {
            return known.clone();
        }
        let roots = self.roots(type_id);
        let is_builtin = type_id.builtin().is_some_and(|builtin| builtin != Builtin::AnySimpleType);
        let (builtin, of_contract, count) = self.derived_from(&roots);
        // Each of many types may be derived from all others.
        self.count(count);
        let planned = (!is_builtin || !of_contract.is_empty()).then(|| {
            let name = self.simple_name(type_id);
            // Modules see what is around them.
            let path = Path { module: 0, ident: self.names[0].table(&format!("{name} types")) };
            let name = if type_id.builtin().is_some() { format!("xs:{name}") } else { name };
            self.items.push(Item::NamedTypes(NamedTypes { path: path.clone(), name, builtin, of_contract }));
            path
        });
        self.named_types.insert(type_id, planned.clone());
        planned
    }

    /// A type and, if it is a union, its members: values of these are its own (Part 1 §3.14.6). One without a name can't be
    /// named, and is meant where what it restricts is.
    fn roots(&self, type_id: TypeId) -> Vec<TypeId> {
        let (mut roots, mut open, mut seen) = (Vec::new(), vec![type_id], HashSet::new());
        while let Some(id) = open.pop() {
            let TypeDefinition::Simple(SimpleType { variety, base, name, .. }) = &self.schema[id] else { continue };
            if !seen.insert(id) {
                continue;
            }
            if name.is_some() {
                roots.push(id);
            }
            match variety {
                Variety::Union { members } => open.extend(members),
                Variety::Atomic if name.is_none() => open.push(*base),
                Variety::Atomic | Variety::List { .. } => {}
            }
        }
        roots
    }

    /// The built-in ones of some types, as they stand in a table; and all of the contract that are among these types or derived
    /// from them, as namespaces and names, with their number.
    fn derived_from(&self, roots: &[TypeId]) -> (String, Vec<(String, String)>, usize) {
        let builtin: BTreeSet<&str> = roots.iter().filter_map(|id| id.builtin()).map(Builtin::name).collect();
        let (mut open, mut seen) = (roots.to_vec(), HashSet::new());
        let mut named: BTreeSet<(&str, &str)> = BTreeSet::new();
        while let Some(id) = open.pop() {
            let Some(simple) = self.schema[id].as_simple() else { continue };
            if !seen.insert(id) {
                continue;
            }
            open.extend(self.schema.derived_types(id));
            match id.builtin() {
                Some(of) => {
                    let derived = Builtin::ALL.iter().filter(|builtin| builtin.is_derived_from(of));
                    open.extend(derived.map(|builtin| TypeId::from(*builtin)));
                }
                None => named.extend(
                    simple
                        .name
                        .iter()
                        .filter(|name| encoding_type(name).is_none())
                        .map(|name| (name.namespace(), name.local())),
                ),
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
