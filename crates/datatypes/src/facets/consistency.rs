//! Checks that the facets of a restriction are consistent with each other and with those of its base (the constraints on
//! schema components of XSD Part 2 §4.3).

use std::cmp::Ordering;
use std::fmt::Display;
use std::sync::Arc;

use super::Facets;
use crate::Value;

/// A facet with a number: its name and its getter.
type Count = (&'static str, fn(&Facets<Value>) -> Option<u64>);
/// A facet with a value of the type: its name and its getter.
type Bound = (&'static str, fn(&Facets<Value>) -> Option<&Value>);
/// Two bounds, and the order of the first to the second that is wrong.
type Rule = (Bound, Bound, fn(Ordering) -> bool);

const LENGTH: Count = ("length", |facets| facets.length);
const MIN_LENGTH: Count = ("minLength", |facets| facets.min_length);
const MAX_LENGTH: Count = ("maxLength", |facets| facets.max_length);
const TOTAL_DIGITS: Count = ("totalDigits", |facets| facets.total_digits);
const FRACTION_DIGITS: Count = ("fractionDigits", |facets| facets.fraction_digits);

const MIN_INCLUSIVE: Bound = ("minInclusive", |facets| facets.min_inclusive.as_ref());
const MIN_EXCLUSIVE: Bound = ("minExclusive", |facets| facets.min_exclusive.as_ref());
const MAX_INCLUSIVE: Bound = ("maxInclusive", |facets| facets.max_inclusive.as_ref());
const MAX_EXCLUSIVE: Bound = ("maxExclusive", |facets| facets.max_exclusive.as_ref());

/// A bound of the restriction, a bound of its base, and the order of the first to the second that is wrong.
const NARROWER: [Rule; 10] = [
    (MAX_INCLUSIVE, MAX_INCLUSIVE, Ordering::is_gt),
    (MAX_INCLUSIVE, MAX_EXCLUSIVE, Ordering::is_ge),
    (MAX_EXCLUSIVE, MAX_EXCLUSIVE, Ordering::is_gt),
    (MAX_EXCLUSIVE, MAX_INCLUSIVE, Ordering::is_gt),
    (MIN_INCLUSIVE, MIN_INCLUSIVE, Ordering::is_lt),
    (MIN_INCLUSIVE, MIN_EXCLUSIVE, Ordering::is_le),
    (MIN_EXCLUSIVE, MIN_EXCLUSIVE, Ordering::is_lt),
    (MIN_EXCLUSIVE, MIN_INCLUSIVE, Ordering::is_lt),
    // Within one step these may be equal, which leaves no values.
    (MIN_EXCLUSIVE, MAX_EXCLUSIVE, Ordering::is_ge),
    (MAX_EXCLUSIVE, MIN_EXCLUSIVE, Ordering::is_le),
];

/// A lower bound, an upper bound, and the order of the first to the second that is wrong.
const CROSSED: [Rule; 4] = [
    (MIN_INCLUSIVE, MAX_INCLUSIVE, Ordering::is_gt),
    (MIN_EXCLUSIVE, MAX_EXCLUSIVE, Ordering::is_gt),
    (MIN_INCLUSIVE, MAX_EXCLUSIVE, Ordering::is_ge),
    (MIN_EXCLUSIVE, MAX_INCLUSIVE, Ordering::is_ge),
];

/// Checks the facets of a restriction. `base` are the facets of all restrictions before it.
///
/// # Errors
/// The first two facets that contradict each other.
pub(super) fn check(facets: &Facets<Value>, base: &[Arc<Facets<Value>>]) -> Result<(), String> {
    lengths(facets, base)?;
    digits(facets, base)?;
    bounds(facets, base)
}

fn lengths(facets: &Facets<Value>, base: &[Arc<Facets<Value>>]) -> Result<(), String> {
    // In addition to `length`, the others may only repeat the value of the base (§4.3.1.4).
    for (name, get) in [MIN_LENGTH, MAX_LENGTH] {
        if facets.length.is_some() && get(facets).is_some() && get(facets) != inherited(base, get) {
            return Err(format!("length and {name} exclude each other"));
        }
    }
    if let (Some(length), Some(of_base)) = (facets.length, inherited(base, LENGTH.1))
        && length != of_base
    {
        return Err(format!("length {length} is not the {of_base} of the base type"));
    }
    narrows(facets, base, MIN_LENGTH, Ordering::is_lt)?;
    narrows(facets, base, MAX_LENGTH, Ordering::is_gt)?;
    let [length, min, max] = [LENGTH, MIN_LENGTH, MAX_LENGTH].map(|facet| effective(facets, base, facet));
    in_order(min, max)?;
    in_order(min, length)?;
    in_order(length, max)
}

fn digits(facets: &Facets<Value>, base: &[Arc<Facets<Value>>]) -> Result<(), String> {
    narrows(facets, base, TOTAL_DIGITS, Ordering::is_gt)?;
    narrows(facets, base, FRACTION_DIGITS, Ordering::is_gt)?;
    in_order(effective(facets, base, FRACTION_DIGITS), effective(facets, base, TOTAL_DIGITS))
}

fn bounds(facets: &Facets<Value>, base: &[Arc<Facets<Value>>]) -> Result<(), String> {
    for ((a, get_a), (b, get_b)) in [(MIN_INCLUSIVE, MIN_EXCLUSIVE), (MAX_INCLUSIVE, MAX_EXCLUSIVE)] {
        if get_a(facets).is_some() && get_b(facets).is_some() {
            return Err(format!("{a} and {b} exclude each other"));
        }
    }
    for ((name, get), (of_base, get_of_base), is_wrong) in NARROWER {
        if let (Some(bound), Some(limit)) = (get(facets), inherited(base, get_of_base))
            && bound.compare(limit).is_some_and(is_wrong)
        {
            return Err(format!("{name} {bound} is beyond {of_base} {limit} of the base type"));
        }
    }
    for (lower, upper, is_wrong) in CROSSED {
        if let (Some((lower, least)), Some((upper, most))) =
            (effective(facets, base, lower), effective(facets, base, upper))
            && least.compare(most).is_some_and(is_wrong)
        {
            return Err(format!("{lower} {least} and {upper} {most} leave no values"));
        }
    }
    Ok(())
}

/// Returns a facet of the restriction, or else of its base, with its name.
fn effective<'a, V>(
    facets: &'a Facets<Value>,
    base: &'a [Arc<Facets<Value>>],
    (name, get): (&'static str, impl Fn(&'a Facets<Value>) -> Option<V>),
) -> Option<(&'static str, V)> {
    Some((name, get(facets).or_else(|| base.iter().rev().map(|facets| &**facets).find_map(get))?))
}

/// Returns a facet of the last restriction that has it.
fn inherited<'a, V>(base: &'a [Arc<Facets<Value>>], get: fn(&'a Facets<Value>) -> Option<V>) -> Option<V> {
    base.iter().rev().map(|facets| &**facets).find_map(get)
}

/// Checks that a number is not wider than that of the base.
fn narrows(
    facets: &Facets<Value>,
    base: &[Arc<Facets<Value>>],
    (name, get): Count,
    is_wrong: fn(Ordering) -> bool,
) -> Result<(), String> {
    match (get(facets), inherited(base, get)) {
        (Some(count), Some(limit)) if is_wrong(count.cmp(&limit)) => {
            Err(format!("{name} {count} is beyond the {limit} of the base type"))
        }
        _ => Ok(()),
    }
}

fn in_order<V: Display + PartialOrd>(less: Option<(&str, V)>, more: Option<(&str, V)>) -> Result<(), String> {
    match (less, more) {
        (Some((name, less)), Some((other, more))) if less > more => {
            Err(format!("{name} {less} is more than {other} {more}"))
        }
        _ => Ok(()),
    }
}
