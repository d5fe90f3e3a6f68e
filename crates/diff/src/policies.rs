//! Compares the assertions of policies, except those of WS-Addressing.

use std::collections::HashSet;

use castile_wsdl::{Definitions, Extension};

use crate::change::{Breaks, Changes};
use crate::kinds;
use crate::pairs::pairs;
use castile_wsdl::{Assertion, Policies};

/// The policies of both contracts.
pub(crate) struct PolicyPair<'d> {
    old: Policies<'d>,
    new: Policies<'d>,
}

impl<'d> PolicyPair<'d> {
    pub(crate) fn of(old: &'d Definitions, new: &'d Definitions) -> Self {
        PolicyPair { old: Policies::of(old), new: Policies::of(new) }
    }

    /// Compares the assertions of the policies in these extensions. `(group, path)` is the position in the report.
    pub(crate) fn compare(
        &self,
        old: &[&[Extension]],
        new: &[&[Extension]],
        (group, path): (&str, &str),
        changes: &mut Changes,
    ) {
        let (old, new) = (assertions(&self.old, old), assertions(&self.new, new));
        let key = |one: &Assertion| format!("{{{}}}{}{}", one.namespace, one.path, one.is_optional);
        // If an assertion is reported, the assertions inside it are not.
        let mut seen: HashSet<(bool, String)> = HashSet::new();
        let mut is_within = |is_new: bool, path: &str| {
            let outer = path.rsplit_once('/').map(|(outer, _)| (is_new, outer.to_owned()));
            seen.insert((is_new, path.to_owned()));
            outer.is_some_and(|outer| seen.contains(&outer))
        };
        for pair in pairs((&old, &new), key, |_| None) {
            let requirement = |one: &Assertion| if one.is_optional { "optional" } else { "required" };
            let path = |one: &Assertion| format!("{path}: {}", one.path);
            match pair {
                (Some(old), None) if !is_within(false, &old.path) => {
                    let why = "old servers require it, but new clients don't comply";
                    let breaks = if old.is_optional { Breaks::none() } else { Breaks::new_clients(why) };
                    changes.add(kinds::ASSERTION_REMOVED, (group, &path(old)), (requirement(old), "gone"), breaks);
                }
                (None, Some(new)) if !is_within(true, &new.path) => {
                    let why = "new servers require it, but old clients don't comply";
                    let breaks = if new.is_optional { Breaks::none() } else { Breaks::old_clients(why) };
                    changes.add(kinds::ASSERTION_ADDED, (group, &path(new)), ("absent", requirement(new)), breaks);
                }
                _ => {}
            }
        }
    }
}

fn assertions(policies: &Policies<'_>, extensions: &[&[Extension]]) -> Vec<Assertion> {
    let mut all: Vec<Assertion> = extensions.iter().flat_map(|one| policies.assertions(one)).collect();
    all.retain(|one| !matches!(one.local(), "Addressing" | "UsingAddressing") && !one.is_in("Addressing"));
    all
}
