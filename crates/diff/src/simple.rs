//! Compares simple types: their values and restrictions.

use std::collections::HashSet;

use castile_xsd::components::{Facet, FacetKind, Variety};
use castile_xsd::{Builtin, ExpandedName, Schema, TypeId};

use crate::change::Effect;
use crate::kinds;
use crate::pairs::paired;
use crate::types::{Position, Types, full_name, type_name};

const NO_VALUE: &str = "{w} may write text that is not a valid value for {r}";

impl Types<'_> {
    /// Compares two simple types.
    pub(crate) fn simple(&mut self, old: TypeId, new: TypeId, here: Position) {
        let variety = |schema: &Schema, id: TypeId| schema[id].as_simple().map(|simple| simple.variety.clone());
        match (variety(self.old, old), variety(self.new, new)) {
            (Some(Variety::Atomic), Some(Variety::Atomic)) => {
                let (one, other) = (self.old.builtin(old), self.new.builtin(new));
                if one != other {
                    let effect = Effect::of(!is_within(one, other), !is_within(other, one), NO_VALUE);
                    self.add(kinds::TYPE, here, (type_name(self.old, old), type_name(self.new, new)), effect);
                }
            }
            (Some(Variety::List { item }), Some(Variety::List { item: other })) => {
                self.pair(item, other, here.node, here.direction);
            }
            (Some(Variety::Union { members }), Some(Variety::Union { members: others })) => {
                self.unions(&members, &others, here);
            }
            _ => {
                let change = (type_name(self.old, old), type_name(self.new, new));
                return self.add(kinds::TYPE, here, change, Effect::both(NO_VALUE));
            }
        }
        self.facets(old, new, here);
        self.enumerations(old, new, here);
        self.patterns(old, new, here);
    }

    /// Compares the members of unions. They are paired by name; anonymous members are paired by their base, in order.
    fn unions(&mut self, old: &[TypeId], new: &[TypeId], here: Position) {
        self.work += old.len() + new.len();
        let names = |schema: &Schema, members: &[TypeId]| -> Vec<ExpandedName> {
            members.iter().map(|id| full_name(schema, *id)).collect()
        };
        let (partners, added) = paired(&names(self.old, old), &names(self.new, new));
        for (member, partner) in old.iter().zip(partners) {
            match partner {
                Some(partner) => self.pair(*member, new[partner], here.node, here.direction),
                None => {
                    let change = (type_name(self.old, *member), "gone");
                    self.add(kinds::MEMBER_REMOVED, here, change, Effect::old_to_new(NO_VALUE));
                }
            }
        }
        for index in added {
            let called = type_name(self.new, new[index]);
            self.add(kinds::MEMBER_ADDED, here, ("absent", called), Effect::new_to_old(NO_VALUE));
        }
    }

    /// Compares facets that are a length, a bound or a number of digits.
    fn facets(&mut self, old: TypeId, new: TypeId, here: Position) {
        let of = |schema: &Schema, id: TypeId| -> Vec<(FacetKind, String)> {
            let is_other = |kind| matches!(kind, FacetKind::Pattern | FacetKind::Enumeration | FacetKind::WhiteSpace);
            let facets = schema.facets(id).into_iter().filter(|facet| !is_other(facet.kind));
            facets.map(|facet| (facet.kind, facet.value.trim().to_owned())).collect()
        };
        let (old, new) = (of(self.old, old), of(self.new, new));
        let mut kinds: Vec<FacetKind> = old.iter().chain(&new).map(|(kind, _)| *kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            let value = |list: &[(FacetKind, String)]| {
                list.iter().find(|(known, _)| *known == kind).map(|(_, value)| value.clone())
            };
            let (was, is) = (value(&old), value(&new));
            let (is_tighter, is_looser) = match (&was, &is) {
                (Some(was), Some(is)) if was == is => continue,
                (Some(was), Some(is)) => tightened(kind, was, is),
                (None, _) => (true, false),
                (_, None) => (false, true),
            };
            if !is_tighter && !is_looser {
                continue;
            }
            let as_text =
                |value: Option<String>| value.map_or_else(|| format!("no {kind}"), |value| format!("{kind} {value}"));
            let of_change = if is_tighter { kinds::TIGHTENED } else { kinds::LOOSENED };
            let effect = Effect::of(is_tighter, is_looser, "{w} may write a value that {r} reject");
            self.add(of_change, here, (as_text(was), as_text(is)), effect);
        }
    }

    fn enumerations(&mut self, old: TypeId, new: TypeId, here: Position) {
        let (old_schema, new_schema) = (self.old, self.new);
        let (values, others) = (old_schema.enumeration(old), new_schema.enumeration(new));
        self.work += values.len() + others.len();
        let why = "{w} may write a value that {r} reject";
        match (values.is_empty(), others.is_empty()) {
            (true, true) => return,
            (true, false) => {
                let change = ("any value", format!("one of {}", listed(&others)));
                return self.add(kinds::TIGHTENED, here, change, Effect::old_to_new(why));
            }
            (false, true) => {
                let change = (format!("one of {}", listed(&values)), "any value");
                return self.add(kinds::LOOSENED, here, change, Effect::new_to_old(why));
            }
            _ => {}
        }
        let missing = |from: &[&Facet], of: &[&Facet]| -> Vec<String> {
            let known: HashSet<&str> = of.iter().map(|facet| facet.value.as_str()).collect();
            let missing = from.iter().filter(|facet| !known.contains(facet.value.as_str()));
            missing.map(|facet| facet.value.clone()).collect()
        };
        for value in missing(&values, &others) {
            self.add(kinds::VALUE_REMOVED, here, (format!("{value:?}"), "gone"), Effect::old_to_new(why));
        }
        for value in missing(&others, &values) {
            self.add(kinds::VALUE_ADDED, here, ("absent", format!("{value:?}")), Effect::new_to_old(why));
        }
    }

    /// Compares patterns. Which of two patterns is stricter can't be determined.
    fn patterns(&mut self, old: TypeId, new: TypeId, here: Position) {
        let (was, is) = (self.old.patterns(old), self.new.patterns(new));
        if was == is {
            return;
        }
        let as_text = |patterns: &[Vec<&str>]| match patterns {
            [] => "none".to_owned(),
            steps => steps.iter().map(|step| step.join(" or ")).collect::<Vec<_>>().join(" and "),
        };
        let effect = Effect::of(!is.is_empty(), !was.is_empty(), "{w} may write a value that {r} reject");
        self.add(kinds::PATTERN_FACET, here, (as_text(&was), as_text(&is)), effect);
    }
}

/// Returns true if values of `one` are also valid as values of `other`: it is derived from `other`, or `other` accepts
/// any text.
fn is_within(one: Builtin, other: Builtin) -> bool {
    let takes_all = matches!(other, Builtin::String | Builtin::AnySimpleType | Builtin::AnyType);
    let bases = std::iter::successors(Some(one), |one| (one.base() != *one).then(|| one.base()));
    takes_all || bases.into_iter().any(|base| base == other)
}

/// Returns whether the new facet excludes values that were allowed, and whether it allows values that were excluded.
fn tightened(kind: FacetKind, was: &str, is: &str) -> (bool, bool) {
    // Integers are compared first, because a double can't represent all values of a long.
    let order = match (was.parse::<i128>(), is.parse::<i128>()) {
        (Ok(old), Ok(new)) => Some(new.cmp(&old)),
        _ => was.parse::<f64>().ok().zip(is.parse::<f64>().ok()).and_then(|(old, new)| new.partial_cmp(&old)),
    };
    let Some(order) = order else { return (true, true) };
    match kind {
        FacetKind::MinLength | FacetKind::MinInclusive | FacetKind::MinExclusive => (order.is_gt(), order.is_lt()),
        FacetKind::Length => (order.is_ne(), order.is_ne()),
        _ => (order.is_lt(), order.is_gt()),
    }
}

fn listed(values: &[&Facet]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = values.iter().take(SHOWN).map(|facet| format!("{:?}", facet.value)).collect();
    let more = if values.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
