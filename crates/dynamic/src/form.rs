//! Values that are the same again and again, but for some of their texts.

use castile_databinding::datatypes;
use castile_soap::Root;
use serde_json::Value as Json;

use crate::json::{Held, parse, simple_from_json};
use crate::simple::SimpleType;
use crate::types::{Content, GroupKind, Particles, Term};
use crate::value::{ContentValue, GroupContent, GroupValue, SimpleValue, Slot, Value};

/// More places than this are not looked for: each is found by reading the value again.
const MOST_PLACES: usize = 256;

/// What is tried at a place, beside what stands there, to find out where in the value it is.
const TRIED: [&str; 8] =
    ["another", "43", "44.5", "false", "2004-03-01T00:00:00Z", "2004-03-01", "urn:another", "QUJD"];

/// A value with places, each of which is one value of a simple type. To fill them takes a fraction of what it takes to read the value, and
/// gives the same.
#[derive(Clone, Debug)]
pub struct Form {
    value: Value,
    /// In the order of the places.
    places: Vec<Place>,
    /// The places by their leaves, in the order of these.
    by_leaf: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    /// Which of the values of simple types it is, in the order in which [`each_leaf`] meets them.
    leaf: usize,
    of: &'static SimpleType,
    held: Held,
}

impl Form {
    /// The form of payloads of `root`, which `read` makes of the texts at some places. `texts` are some that can be read.
    ///
    /// There is none if a place may be more than the whole of a simple value, or if nobody knows: where another text makes no
    /// difference, or more than one. Names are no texts of a form, since they have prefixes.
    pub fn new(root: &'static Root, texts: &[String], read: impl Fn(&[&str]) -> Option<Value>) -> Option<Self> {
        let held = Held::of(&root.element);
        if texts.is_empty() || texts.len() > MOST_PLACES {
            return None;
        }
        let mut given: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut value = read(&given)?;
        let leaves = leaves(&mut value, held);
        let mut places = Vec::with_capacity(texts.len());
        for (number, text) in texts.iter().enumerate() {
            let place = TRIED.iter().filter(|other| *other != text).find_map(|other| {
                given[number] = other;
                place(&value, held, &leaves, text, read(&given)?, other)
            });
            given[number] = text;
            places.push(place?);
        }
        let mut by_leaf: Vec<usize> = (0..places.len()).collect();
        by_leaf.sort_by_key(|place| places[*place].leaf);
        let is_twice = |pair: &[usize]| places[pair[0]].leaf == places[pair[1]].leaf;
        let is_clear = !by_leaf.windows(2).any(is_twice);
        is_clear.then_some(Form { value, places, by_leaf })
    }

    /// The value with other texts, in JSON, at its places. `None` if it isn't known without reading all of it: where one is no text that
    /// can stand there, or an empty one.
    #[must_use]
    pub fn fill(&self, texts: &[impl AsRef<Json>]) -> Option<Value> {
        let mut filled = Vec::with_capacity(self.places.len());
        for (place, json) in self.places.iter().zip(texts) {
            let json = json.as_ref();
            match json {
                Json::String(text) if text.is_empty() || text.bytes().any(|byte| byte < b' ') => return None,
                Json::String(text) if text.contains(['\u{FFFE}', '\u{FFFF}']) => return None,
                Json::String(_) | Json::Number(_) | Json::Bool(_) => {}
                Json::Null | Json::Array(_) | Json::Object(_) => return None,
            }
            filled.push(Some(simple_from_json(json, place.of, place.held).ok()?));
        }
        let mut value = self.value.clone();
        let mut next = self.by_leaf.iter();
        let mut awaited = next.next();
        let mut number = 0;
        each_leaf(&mut value, Held::NOTHING, &mut |leaf, _, _| {
            if let Some(place) = awaited.filter(|place| self.places[**place].leaf == number) {
                if let Some(text) = filled.get_mut(*place).and_then(Option::take) {
                    *leaf = text;
                }
                awaited = next.next();
            }
            number += 1;
        });
        awaited.is_none().then_some(value)
    }
}

/// Where a text stands in a value, which is `other` with another text there.
fn place(value: &Value, held: Held, leaves: &[Leaf], text: &str, mut other: Value, other_text: &str) -> Option<Place> {
    let others = self::leaves(&mut other, held);
    if others.len() != leaves.len() {
        return None;
    }
    let mut different = leaves.iter().zip(&others).enumerate().filter(|(_, (one, other))| one.value != other.value);
    let (leaf, (before, after)) = different.next()?;
    if different.next().is_some() || before.of.has_names {
        return None;
    }
    // All of the leaf is what the text says, and nothing else has changed.
    let is_all = |text: &str, leaf: &Leaf| parse(text, leaf.of).is_ok_and(|value| value == leaf.value);
    let mut changed = value.clone();
    let mut number = 0;
    each_leaf(&mut changed, Held::NOTHING, &mut |value, _, _| {
        if number == leaf {
            value.clone_from(&after.value);
        }
        number += 1;
    });
    let is_it = is_all(text, before) && is_all(other_text, after) && changed == other;
    is_it.then_some(Place { leaf, of: before.of, held: before.held })
}

/// A value of a simple type within another value.
struct Leaf {
    value: datatypes::Value,
    of: &'static SimpleType,
    held: Held,
}

fn leaves(value: &mut Value, held: Held) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    each_leaf(value, held, &mut |value, of, held| leaves.push(Leaf { value: value.clone(), of, held }));
    leaves
}

type Each<'e> = dyn FnMut(&mut datatypes::Value, &'static SimpleType, Held) + 'e;

/// Meets the values of simple types within a value, always in the same order. What has no declared type is passed over: mixed content,
/// wildcards, and what is in SOAP encoding.
fn each_leaf(value: &mut Value, held: Held, each: &mut Each<'_>) {
    match value {
        Value::Simple(SimpleValue { of, value }) => each(value, of, held),
        Value::Struct(of_struct) => castile_databinding::deeper::<Value, _>(|| {
            let of = of_struct.of;
            let declared = of.attributes.iter().zip(of.table.declared);
            for (value, (attribute, declared)) in of_struct.attributes.iter_mut().zip(declared) {
                if let Some(value) = value {
                    each(value, attribute.of, Held::new(declared.facets, declared.constraint));
                }
            }
            match (&mut of_struct.content, &of.content) {
                (ContentValue::Simple(value), Content::Simple { of, facets }) => each(value, of, held.or(*facets)),
                (ContentValue::Particles(slots), Content::Sequence(particles) | Content::All(particles)) => {
                    each_of_slots(slots, particles, each);
                }
                _ => {}
            }
        }),
        Value::Derived(of) => each_leaf(&mut of.value, Held::NOTHING, each),
        Value::Nil(_) | Value::Encoded(_) | Value::Array(_) | Value::Shared(_) | Value::Any(_) | Value::Empty => {}
    }
}

fn each_of_slots(slots: &mut [Slot], particles: &'static Particles, each: &mut Each<'_>) {
    for (number, slot) in slots.iter_mut().enumerate() {
        each_of_slot(slot, number, particles, each);
    }
}

fn each_of_slot(slot: &mut Slot, number: usize, particles: &'static Particles, each: &mut Each<'_>) {
    let held = match particles.list.get(number).map(|particle| &particle.term) {
        Some(Term::Element { index, .. }) => particles.table.get(*index).map(Held::of),
        _ => None,
    };
    let held = held.unwrap_or(Held::NOTHING);
    match slot {
        Slot::One(value) => each_leaf(value, held, each),
        Slot::Many(values) => values.iter_mut().for_each(|value| each_leaf(value, held, each)),
        Slot::Group(group) => each_of_group(group, each),
        Slot::Groups(groups) => groups.iter_mut().for_each(|group| each_of_group(group, each)),
        Slot::Absent | Slot::Any(_) | Slot::Elements(_) | Slot::Accessors(_) => {}
    }
}

fn each_of_group(group: &mut GroupValue, each: &mut Each<'_>) {
    match (&mut group.content, &group.of.kind) {
        (GroupContent::Particles(slots), GroupKind::Sequence(particles) | GroupKind::All(particles)) => {
            castile_databinding::deeper::<Value, _>(|| each_of_slots(slots, particles, each));
        }
        (GroupContent::Choice(number, slot), GroupKind::Choice(particles)) => {
            castile_databinding::deeper::<Value, _>(|| each_of_slot(slot, *number, particles, each));
        }
        _ => {}
    }
}
