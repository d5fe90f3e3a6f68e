//! Templates for values that differ only in some of their texts.

use std::sync::{Arc, Mutex, PoisonError};

use castile_databinding::{datatypes, deeper};
use castile_soap::{Root, Version, message};
use serde_json::Value as Json;

use crate::json::{Constraints, parse, simple_from_json};
use crate::simple::SimpleType;
use crate::types::{Content, GroupKind, Particles, Term};
use crate::value::{ContentValue, GroupContent, GroupValue, SimpleValue, Slot, StructValue, Value};

/// Maximum number of placeholders. Finding each of them requires reading the value again.
const MAX_PLACEHOLDERS: usize = 256;

/// Maximum work for finding the placeholders: the size of the value as XML in bytes, multiplied by the number of placeholders.
const MAX_READ: usize = 16 << 20;

/// Maximum number of values that are stored for reuse.
const MAX_REUSABLE: usize = 4;

/// Maximum size in bytes of a reusable value without its texts, and of its texts.
const MAX_REUSABLE_SIZE: usize = 64 << 10;

/// Texts that are tried at a placeholder to find its position in the value.
const PROBES: [&str; 8] =
    ["another", "43", "44.5", "false", "2004-03-01T00:00:00Z", "2004-03-01", "urn:another", "QUJD"];

/// A value with placeholders, each of which is a value of a simple type. Filling the placeholders gives the same result as reading
/// the value, in a fraction of the time.
#[derive(Debug)]
pub struct ValueTemplate {
    value: Value,
    placeholders: Vec<Placeholder>,
    /// Values that were returned before. A value that is no longer in use is filled again, which is cheaper than
    /// cloning.
    reusable: Mutex<Vec<Arc<Value>>>,
    /// Whether the value is small enough to be reused.
    is_small: bool,
}

#[derive(Clone, Debug)]
struct Placeholder {
    path: Vec<usize>,
    of: &'static SimpleType,
    constraints: Constraints,
}

impl ValueTemplate {
    /// Creates the template of payloads of `root`. `read` returns the value for given texts at the placeholders. `texts` are
    /// valid examples.
    ///
    /// Returns `None` in these cases:
    ///
    /// - A placeholder is not a whole simple value, or its position is ambiguous: changing the text changes nothing, or
    ///   several values.
    /// - A placeholder is a qualified name, because names depend on prefixes.
    /// - Finding the placeholders would take too much work for the size of the value.
    pub fn new(root: &'static Root, texts: &[String], read: impl Fn(&[&str]) -> Option<Value>) -> Option<Self> {
        if texts.is_empty() || texts.len() > MAX_PLACEHOLDERS {
            return None;
        }
        let constraints = Constraints::of(&root.element);
        let mut given: Vec<&str> = texts.iter().map(String::as_str).collect();
        let value = read(&given)?;
        let size = message::write(Version::Soap11, root, &value, Vec::new()).ok()?.len();
        if size.saturating_mul(texts.len()) > MAX_READ {
            return None;
        }
        let leaves = leaves(&value, constraints);
        let mut placeholders: Vec<Placeholder> = Vec::with_capacity(texts.len());
        for (number, text) in texts.iter().enumerate() {
            let placeholder = PROBES.iter().filter(|other| *other != text).find_map(|other| {
                given[number] = other;
                find_placeholder((&value, text), (&read(&given)?, other), &leaves, constraints)
            });
            given[number] = text;
            let placeholder = placeholder?;
            if placeholders.iter().any(|known| known.path == placeholder.path) {
                return None;
            }
            placeholders.push(placeholder);
        }
        Some(ValueTemplate { value, placeholders, reusable: Mutex::default(), is_small: size <= MAX_REUSABLE_SIZE })
    }

    /// Returns the value with other texts, given as JSON, at its placeholders.
    ///
    /// Returns `None` if the value has to be read as a whole: if a text is invalid at its placeholder or is empty, or if the
    /// number of texts differs from the number of placeholders.
    #[must_use]
    pub fn fill(&self, texts: &[impl AsRef<Json>]) -> Option<Arc<Value>> {
        if texts.len() != self.placeholders.len() {
            return None;
        }
        let given = || self.reusable.lock().unwrap_or_else(PoisonError::into_inner);
        let is_free = |value: &Arc<Value>| Arc::strong_count(value) == 1;
        let free = {
            let mut given = given();
            given.iter().position(is_free).map(|number| given.swap_remove(number))
        };
        let mut shared = free.unwrap_or_else(|| Arc::new(self.value.clone()));
        let value = Arc::get_mut(&mut shared)?;
        for (Placeholder { path, of, constraints }, json) in self.placeholders.iter().zip(texts) {
            let json = json.as_ref();
            match json {
                Json::String(text) if text.is_empty() || text.bytes().any(|byte| byte < b' ') => return None,
                Json::String(_) | Json::Number(_) | Json::Bool(_) => {}
                Json::Null | Json::Array(_) | Json::Object(_) => return None,
            }
            *leaf(value, path)? = simple_from_json(json, of, *constraints).ok()?;
        }
        let length: usize = texts.iter().filter_map(|json| json.as_ref().as_str()).map(str::len).sum();
        let mut given = given();
        // Stored values are not charged to any reservation, so they are limited here.
        if self.is_small && given.len() < MAX_REUSABLE && length <= MAX_REUSABLE_SIZE {
            given.push(shared.clone());
        }
        Some(shared)
    }
}

/// Finds the position of a text in a value, given another value that was read with a different text.
fn find_placeholder(
    (value, text): (&Value, &str),
    (other, other_text): (&Value, &str),
    known: &[Leaf],
    constraints: Constraints,
) -> Option<Placeholder> {
    let others = leaves(other, constraints);
    if others.len() != known.len() {
        return None;
    }
    let mut different = known.iter().zip(&others).filter(|(one, other)| one.value != other.value);
    let (before, after) = different.next()?;
    if different.next().is_some() || before.of.has_names {
        return None;
    }
    // The text must be the whole value of the leaf, and nothing else may change.
    let is_all = |text: &str, leaf: &Leaf| parse(text, leaf.of).is_ok_and(|value| value == leaf.value);
    let mut changed = value.clone();
    leaf(&mut changed, &before.path)?.clone_from(&after.value);
    let is_it = is_all(text, before) && is_all(other_text, after) && changed == *other;
    is_it.then(|| Placeholder { path: before.path.clone(), of: before.of, constraints: before.constraints })
}

/// A simple value within another value.
struct Leaf {
    path: Vec<usize>,
    value: datatypes::Value,
    of: &'static SimpleType,
    constraints: Constraints,
}

/// Returns the simple values within a value. Content without a declared type is skipped: mixed content, wildcards and
/// SOAP encoding.
fn leaves(value: &Value, constraints: Constraints) -> Vec<Leaf> {
    let mut leaves = Leaves { path: Vec::new(), found: Vec::new() };
    leaves.of(value, constraints);
    leaves.found
}

struct Leaves {
    path: Vec<usize>,
    found: Vec<Leaf>,
}

impl Leaves {
    fn add(&mut self, value: &datatypes::Value, of: &'static SimpleType, constraints: Constraints) {
        self.found.push(Leaf { path: self.path.clone(), value: value.clone(), of, constraints });
    }

    /// Calls `find` for the value at this step.
    fn within(&mut self, step: usize, find: impl FnOnce(&mut Self)) {
        self.path.push(step);
        find(self);
        self.path.pop();
    }

    fn of(&mut self, value: &Value, constraints: Constraints) {
        match value {
            Value::Simple(SimpleValue { of, value }) => self.add(value, of, constraints),
            Value::Struct(value) => deeper::<Value, _>(|| self.of_struct(value, constraints)),
            Value::Derived(of) => self.of(&of.value, constraints),
            Value::Nil(_) | Value::Encoded(_) | Value::Array(_) | Value::Shared(_) | Value::Any(_) | Value::Empty => {}
        }
    }

    fn of_struct(&mut self, value: &StructValue, constraints: Constraints) {
        let of = value.of;
        let declared = of.attributes.iter().zip(of.table.declared);
        for (number, (value, (attribute, declared))) in value.attributes.iter().zip(declared).enumerate() {
            if let Some(value) = value {
                let constraints = Constraints::new(declared.facets, declared.constraint);
                self.within(number, |leaves| leaves.add(value, attribute.of, constraints));
            }
        }
        let attributes = value.attributes.len();
        match (&value.content, &of.content) {
            (ContentValue::Simple(value), Content::Simple { of, facets }) => {
                self.within(attributes, |leaves| leaves.add(value, of, constraints.or(*facets)));
            }
            (ContentValue::Particles(slots), Content::Sequence(particles) | Content::All(particles)) => {
                for (number, slot) in slots.iter().enumerate() {
                    self.within(attributes + number, |leaves| leaves.of_slot(slot, number, particles));
                }
            }
            _ => {}
        }
    }

    fn of_slot(&mut self, slot: &Slot, number: usize, particles: &'static Particles) {
        let element = match particles.list.get(number).map(|particle| &particle.term) {
            Some(Term::Element { index, .. }) => particles.table.get(*index),
            _ => None,
        };
        let constraints = element.map_or(Constraints::NONE, Constraints::of);
        match slot {
            Slot::One(value) => self.of(value, constraints),
            Slot::Many(values) => {
                for (number, value) in values.iter().enumerate() {
                    self.within(number, |leaves| leaves.of(value, constraints));
                }
            }
            Slot::Group(group) => deeper::<Value, _>(|| self.of_group(group)),
            Slot::Groups(groups) => {
                for (number, group) in groups.iter().enumerate() {
                    self.within(number, |leaves| deeper::<Value, _>(|| leaves.of_group(group)));
                }
            }
            Slot::Absent | Slot::Any(_) | Slot::Elements(_) | Slot::Accessors(_) => {}
        }
    }

    fn of_group(&mut self, group: &GroupValue) {
        match (&group.content, &group.of.kind) {
            (GroupContent::Particles(slots), GroupKind::Sequence(particles) | GroupKind::All(particles)) => {
                for (number, slot) in slots.iter().enumerate() {
                    self.within(number, |leaves| leaves.of_slot(slot, number, particles));
                }
            }
            (GroupContent::Choice(number, slot), GroupKind::Choice(particles)) => {
                self.of_slot(slot, *number, particles);
            }
            _ => {}
        }
    }
}

/// Returns the simple value at a path.
fn leaf<'v>(value: &'v mut Value, path: &[usize]) -> Option<&'v mut datatypes::Value> {
    deeper::<Value, _>(|| match value {
        Value::Simple(value) => Some(&mut value.value),
        Value::Derived(of) => leaf(&mut of.value, path),
        Value::Struct(of) => {
            let (step, rest) = path.split_first()?;
            // The fields must be borrowed separately.
            let of = &mut **of;
            match (step.checked_sub(of.attributes.len()), &mut of.content) {
                (None, _) => of.attributes[*step].as_mut(),
                (Some(_), ContentValue::Simple(value)) => Some(value),
                (Some(number), ContentValue::Particles(slots)) => leaf_of_slot(slots.get_mut(number)?, rest),
                (Some(_), ContentValue::Mixed(_)) => None,
            }
        }
        Value::Nil(_) | Value::Encoded(_) | Value::Array(_) | Value::Shared(_) | Value::Any(_) | Value::Empty => None,
    })
}

fn leaf_of_slot<'v>(slot: &'v mut Slot, path: &[usize]) -> Option<&'v mut datatypes::Value> {
    match slot {
        Slot::One(value) => leaf(value, path),
        Slot::Group(group) => leaf_of_group(group, path),
        Slot::Many(values) => path.split_first().and_then(|(step, rest)| leaf(values.get_mut(*step)?, rest)),
        Slot::Groups(groups) => path.split_first().and_then(|(step, rest)| leaf_of_group(groups.get_mut(*step)?, rest)),
        Slot::Absent | Slot::Any(_) | Slot::Elements(_) | Slot::Accessors(_) => None,
    }
}

fn leaf_of_group<'v>(group: &'v mut GroupValue, path: &[usize]) -> Option<&'v mut datatypes::Value> {
    deeper::<Value, _>(|| match &mut group.content {
        GroupContent::Particles(slots) => {
            path.split_first().and_then(|(step, rest)| leaf_of_slot(slots.get_mut(*step)?, rest))
        }
        GroupContent::Choice(_, slot) => leaf_of_slot(slot, path),
        GroupContent::Text(_) => None,
    })
}
