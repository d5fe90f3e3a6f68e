//! Detects schemas of one namespace that define the same names differently. That is usual if a contract combines two
//! versions of a schema. Every other toolkit uses one of them.

use std::collections::{HashMap, HashSet};

use super::{Definitions, SymbolSpace};
use crate::components::{ElementId, TypeId};
use crate::{Diagnostics, ExpandedName, Location};

/// A name that a second schema defines differently.
#[derive(Debug)]
pub(super) struct Clash {
    pub(super) kind: SymbolSpace,
    pub(super) name: ExpandedName,
    pub(super) slot: u32,
    /// The schema whose definition is used, and the other one.
    pub(super) schemas: (usize, usize),
    pub(super) first: Location,
    pub(super) second: Location,
}

/// The components with two definitions, in schemas that seem to be versions of one schema. Inconsistencies between the
/// versions are not reported.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    pub(crate) types: HashSet<TypeId>,
    pub(crate) elements: HashSet<ElementId>,
}

impl Definitions {
    /// Reports names with two definitions. For two schemas with several such names there is one report.
    pub(crate) fn report(&mut self, diagnostics: &mut Diagnostics) -> Versions {
        let mut versions = Versions::default();
        let mut pairs: Vec<Vec<Clash>> = Vec::new();
        let mut index: HashMap<(usize, usize), usize> = HashMap::new();
        for clash in std::mem::take(&mut self.clashes) {
            let pair = *index.entry(clash.schemas).or_insert(pairs.len());
            match pairs.get_mut(pair) {
                Some(clashes) => clashes.push(clash),
                None => pairs.push(vec![clash]),
            }
        }
        for clashes in pairs {
            match clashes.as_slice() {
                [] => {}
                [one] => {
                    let message = format!("{} {} is defined twice, with different content", one.kind.name(), one.name);
                    let first = diagnostics.sources.describe(one.first);
                    diagnostics
                        .warning(one.second, message)
                        .with_note(format!("the first one, which is used, is in {first}"));
                }
                [one, ..] => {
                    two_versions(one, clashes.len(), diagnostics);
                    for clash in &clashes {
                        match clash.kind {
                            SymbolSpace::Type => drop(versions.types.insert(TypeId(clash.slot))),
                            SymbolSpace::Element => drop(versions.elements.insert(ElementId(clash.slot))),
                            _ => {}
                        }
                    }
                }
            }
        }
        versions
    }
}

fn two_versions(one: &Clash, count: usize, diagnostics: &mut Diagnostics) {
    let sources = &diagnostics.sources;
    let (first, second) = (sources.name(one.first.file), sources.name(one.second.file));
    let schemas = match first == second {
        true => format!("two schemas of {first}"),
        false => format!("{first} and {second}"),
    };
    let namespace = match one.name.namespace() {
        "" => "no namespace",
        namespace => namespace,
    };
    let message = format!(
        "{schemas} define {count} components of {namespace} twice, with different content: they seem to be two \
         versions of one schema"
    );
    let note = format!(
        "the components of the first are used, such as {} {} in {}; restrictions of these types are not checked",
        one.kind.name(),
        one.name.local(),
        sources.describe(one.first)
    );
    diagnostics.warning(one.second, message).with_note(note);
}
