//! Keys: the values of the fields of an identity constraint, for lookups.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};

use castile_datatypes::Value;

/// The values of all fields. They are compared as values: `1.0` equals `1` if both are numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key(pub(crate) Vec<Value>);

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.iter().for_each(|value| hash(value, state));
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.0.iter().enumerate() {
            write!(f, "{}\"{value}\"", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// Hashes a value. Equal values have equal hashes.
fn hash<H: Hasher>(value: &Value, state: &mut H) {
    match value {
        Value::String(value) => value.hash(state),
        Value::Boolean(value) => value.hash(state),
        Value::Decimal(value) => value.hash(state),
        // Zero has two signs, and NaN has many bit patterns.
        Value::Float(value) => (if *value == 0.0 || value.is_nan() { 0 } else { value.to_bits() }).hash(state),
        Value::Double(value) => (if *value == 0.0 || value.is_nan() { 0 } else { value.to_bits() }).hash(state),
        Value::Duration(value) => value.hash(state),
        Value::DateTime(value) => value.hash(state),
        Value::Time(value) => value.hash(state),
        Value::Date(value) => value.hash(state),
        Value::GYearMonth(value) => value.hash(state),
        Value::GYear(value) => value.hash(state),
        Value::GMonthDay(value) => value.hash(state),
        Value::GDay(value) => value.hash(state),
        Value::GMonth(value) => value.hash(state),
        Value::HexBinary(value) => value.hash(state),
        Value::Base64Binary(value) => value.hash(state),
        Value::AnyUri(value) => value.hash(state),
        Value::QName(value) => value.hash(state),
        Value::Notation(value) => value.hash(state),
        Value::List(items) => items.iter().for_each(|item| hash(item, state)),
    }
}

/// The keys within an element.
#[derive(Debug, Default)]
pub(super) struct Keys(HashMap<Key, Multiplicity>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Multiplicity {
    One,
    /// Two descendants have the key in tables of their own, so a reference leads to neither.
    Several,
}

impl Keys {
    /// Adds a key. Returns false if it already exists.
    pub(super) fn insert(&mut self, key: Key) -> bool {
        self.0.insert(key, Multiplicity::One).is_none()
    }

    /// Returns true if exactly one element has this key.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.0.get(key) == Some(&Multiplicity::One)
    }

    /// Adds the keys within a child (§3.11.5).
    pub(super) fn join(&mut self, mut other: Keys) {
        if self.0.len() < other.0.len() {
            std::mem::swap(self, &mut other);
        }
        for (key, standing) in other.0 {
            self.0.entry(key).and_modify(|known| *known = Multiplicity::Several).or_insert(standing);
        }
    }

    /// Adds the keys within children. The element's own keys take precedence.
    pub(super) fn join_below(&mut self, mut other: Keys) {
        // The smaller map is moved into the larger one. Otherwise all keys would be moved again for each surrounding
        // element.
        if self.0.len() < other.0.len() {
            std::mem::swap(self, &mut other);
            self.0.extend(other.0);
            return;
        }
        for (key, standing) in other.0 {
            self.0.entry(key).or_insert(standing);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn keys(numbers: impl Iterator<Item = usize>) -> Keys {
        let mut keys = Keys::default();
        for number in numbers {
            keys.insert(Key(vec![Value::String(number.to_string())]));
        }
        keys
    }

    #[test]
    fn keys_of_an_element_go_before_those_below() {
        for (own, below) in [(3, 10), (10, 3)] {
            let mut children = keys(0..below);
            // Each of these keys exists twice.
            children.join(keys(0..below));
            let mut all = keys(0..own);
            all.join_below(children);
            assert_eq!(all.0.len(), 10);
            assert!((0..10).all(|number| all.has(&Key(vec![Value::String(number.to_string())])) == (number < own)));
        }
    }

    /// All keys were moved once for each surrounding element: 400 million times here.
    #[test]
    fn keys_deep_below_are_not_moved_for_each_element_around() {
        let begun = Instant::now();
        let mut below = keys(0..20_000);
        for number in 0..20_000 {
            let mut own = keys(std::iter::once(20_000 + number));
            own.join_below(below);
            below = own;
        }
        assert_eq!(below.0.len(), 40_000);
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}
