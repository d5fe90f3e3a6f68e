//! Values as JSON.

use std::cell::RefCell;
use std::collections::HashMap;

use castile_databinding::datatypes::{self, QName, SimpleType as _};
use castile_databinding::encoded::Shared;
use castile_databinding::{AnyAttribute, AnyPiece, AnyType, ExpandedName};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::{CONTENT, DIGITS, ID, ITEMS, Key, NIL, REF, SIZES, TYPE, XML, expanded, type_text};
use crate::types::{Content, GroupKind, Particles, Presence};
use crate::value::{
    ArrayValue, ContentValue, DerivedValue, EncodedValue, GroupContent, GroupValue, Node, SimpleValue, Slot,
    StructValue, Value,
};

thread_local! {
    /// The nodes that were written since the outermost value was begun, by their addresses.
    static NODES: RefCell<HashMap<usize, usize>> = RefCell::default();
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        castile_databinding::deeper::<Value, _>(|| match self {
            Value::Nil(attributes) if attributes.0.is_empty() => serializer.serialize_unit(),
            Value::Simple(SimpleValue { value, .. }) => Simple(value).serialize(serializer),
            Value::Array(value) => value.serialize(serializer),
            Value::Any(value) => Any(value).serialize(serializer),
            Value::Struct(value) if value.is_plain() => match &value.content {
                ContentValue::Simple(value) => Simple(value).serialize(serializer),
                ContentValue::Particles(_) | ContentValue::Mixed(_) => serializer.collect_map::<&str, (), _>([]),
            },
            Value::Derived(value) if value.says_nothing() => value.value.serialize(serializer),
            value => {
                let mut map = serializer.serialize_map(None)?;
                value.members(&mut map)?;
                map.end()
            }
        })
    }
}

impl StructValue {
    /// Whether it is nothing but its value.
    fn is_plain(&self) -> bool {
        matches!(self.content, ContentValue::Simple(_)) && self.others.0.is_empty() && self.written().next().is_none()
    }

    /// The attributes that are there, with their names.
    fn written(&self) -> impl Iterator<Item = (String, &datatypes::Value)> {
        let declared = self.of.table.declared.iter().zip(&self.of.attributes).zip(&self.attributes);
        declared.filter_map(|((declared, of), value)| match (of.presence, value) {
            (Presence::Fixed { .. }, _) | (_, None) => None,
            (_, Some(value)) => Some((format!("@{}", expanded(declared.namespace, declared.name)), value)),
        })
    }
}

impl DerivedValue {
    /// Whether the type that it is of need not be said.
    fn says_nothing(&self) -> bool {
        self.of.is_some_and(|variant| variant.tag.is_none())
    }

    /// What its type is called.
    fn type_name(&self) -> Option<&'static str> {
        self.of.filter(|variant| variant.tag.is_some()).map(|variant| variant.key)
    }
}

impl Value {
    /// Writes what an object has that stands for it.
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Value::Nil(attributes) => {
                others(&attributes.0, map)?;
                map.serialize_entry(NIL, &true)
            }
            Value::Struct(value) => value.members(map),
            Value::Derived(value) => {
                if let Some(name) = value.type_name() {
                    map.serialize_entry(TYPE, name)?;
                }
                match &value.value {
                    Value::Struct(_) | Value::Encoded(_) | Value::Any(_) => value.value.members(map),
                    value => map.serialize_entry(CONTENT, value),
                }
            }
            Value::Encoded(value) => value.members(map),
            Value::Shared(value) => shared(value, map),
            Value::Any(value) => Any(value).members(map),
            Value::Simple(_) | Value::Array(_) => map.serialize_entry(CONTENT, self),
            Value::Empty => Ok(()),
        }
    }
}

/// A node of a graph: the first time with a number, then as a reference to that.
fn shared<M: SerializeMap>(value: &Shared<Node>, map: &mut M) -> Result<(), M::Error> {
    let Some(held) = value.upgrade() else { return map.serialize_entry(NIL, &true) };
    let Some(Node(inner)) = held.get() else { return map.serialize_entry(NIL, &true) };
    let address = std::ptr::from_ref(inner).addr();
    let (number, is_new, is_outermost) = NODES.with_borrow_mut(|nodes| {
        let next = nodes.len() + 1;
        match nodes.get(&address) {
            Some(number) => (*number, false, false),
            None => {
                nodes.insert(address, next);
                (next, true, next == 1)
            }
        }
    });
    if !is_new {
        return map.serialize_entry(REF, &number);
    }
    let written = map.serialize_entry(ID, &number).and_then(|()| match inner {
        Value::Struct(_) | Value::Encoded(_) | Value::Derived(_) => inner.members(map),
        inner => map.serialize_entry(CONTENT, inner),
    });
    if is_outermost {
        NODES.with_borrow_mut(HashMap::clear);
    }
    written
}

fn others<M: SerializeMap>(attributes: &[AnyAttribute], map: &mut M) -> Result<(), M::Error> {
    attributes.iter().try_for_each(|AnyAttribute { name, value }| {
        map.serialize_entry(&format!("@{}", expanded(&name.namespace, &name.local)), value)
    })
}

impl StructValue {
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (name, value) in self.written() {
            map.serialize_entry(&name, &Simple(value))?;
        }
        others(&self.others.0, map)?;
        match (&self.content, &self.of.content) {
            (ContentValue::Simple(value), _) => map.serialize_entry(CONTENT, &Simple(value)),
            (ContentValue::Particles(slots), Content::Sequence(particles) | Content::All(particles)) => {
                members(slots, particles, map)
            }
            (ContentValue::Mixed(pieces), _) => map.serialize_entry(CONTENT, pieces),
            (ContentValue::Particles(_), Content::Simple { .. } | Content::Mixed(_)) => Ok(()),
        }
    }
}

fn members<M: SerializeMap>(slots: &[Slot], particles: &Particles, map: &mut M) -> Result<(), M::Error> {
    slots.iter().zip(&particles.keys).try_for_each(|(slot, key)| member(slot, key, map))
}

fn member<M: SerializeMap>(slot: &Slot, key: &Key, map: &mut M) -> Result<(), M::Error> {
    match (slot, key) {
        (Slot::Absent, _) => Ok(()),
        (Slot::Group(group), Key::Flat) => group.members(map),
        (_, Key::Flat) => Ok(()),
        (Slot::One(value), Key::Member(name)) => map.serialize_entry(name, value),
        (Slot::Many(values), Key::Member(_)) if values.is_empty() => Ok(()),
        (Slot::Many(values), Key::Member(name)) => map.serialize_entry(name, values),
        (Slot::Group(group), Key::Member(name)) => map.serialize_entry(name, group),
        (Slot::Groups(groups), Key::Member(_)) if groups.is_empty() => Ok(()),
        (Slot::Groups(groups), Key::Member(name)) => map.serialize_entry(name, groups),
        (Slot::Any(any), Key::Member(name)) => map.serialize_entry(name, &*any.xml()),
        (Slot::Elements(elements), Key::Member(_)) if elements.is_empty() => Ok(()),
        (Slot::Elements(elements), Key::Member(name)) => {
            let elements: Vec<String> = elements.iter().map(|any| any.xml().into_owned()).collect();
            map.serialize_entry(name, &elements)
        }
        (Slot::Accessors(values), Key::Member(name)) => map.serialize_entry(name, values),
    }
}

impl GroupValue {
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let (GroupKind::Sequence(particles)
        | GroupKind::All(particles)
        | GroupKind::Choice(particles)
        | GroupKind::Piece(particles, _)) = &self.of.kind;
        match &self.content {
            GroupContent::Particles(slots) => members(slots, particles, map),
            GroupContent::Choice(number, slot) => match particles.keys.get(*number) {
                Some(key) => member(slot, key, map),
                None => Ok(()),
            },
            GroupContent::Text(_) => Ok(()),
        }
    }
}

/// A piece of mixed content is a text, or an object with one element.
impl Serialize for GroupValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let GroupContent::Text(text) = &self.content {
            return serializer.serialize_str(text);
        }
        let mut map = serializer.serialize_map(None)?;
        self.members(&mut map)?;
        map.end()
    }
}

impl EncodedValue {
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (slot, element) in self.accessors.iter().zip(self.of.table) {
            member(slot, &Key::Member(element.name), map)?;
        }
        Ok(())
    }
}

impl Serialize for ArrayValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.of.array.rank == 1 {
            return self.items.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry(SIZES, &self.dimensions)?;
        map.serialize_entry(ITEMS, &self.items)?;
        map.end()
    }
}

/// A value of any type: a text where it is nothing else.
struct Any<'v>(&'v AnyType);

impl Serialize for Any<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let AnyType { type_name, attributes, .. } = self.0;
        if type_name.is_none() && attributes.is_empty() && self.0.elements().next().is_none() {
            return serializer.serialize_str(&self.0.text());
        }
        let mut map = serializer.serialize_map(None)?;
        self.members(&mut map)?;
        map.end()
    }
}

impl Any<'_> {
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let AnyType { type_name, attributes, content } = self.0;
        if let Some(ExpandedName { namespace, local }) = type_name {
            map.serialize_entry(TYPE, &type_text(namespace, local))?;
        }
        others(attributes, map)?;
        match self.0.elements().next() {
            None => map.serialize_entry(CONTENT, &self.0.text()),
            Some(_) => map.serialize_entry(CONTENT, &content.iter().map(Piece).collect::<Vec<_>>()),
        }
    }
}

/// Text, or an element as XML.
struct Piece(AnyPiece);

impl Serialize for Piece {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            AnyPiece::Text(text) => serializer.serialize_str(text),
            AnyPiece::Element(any) => serializer.collect_map([(XML, &*any.xml())]),
        }
    }
}

/// A value of a simple type: a number or a truth value where JSON has it, else its text.
struct Simple<'v>(&'v datatypes::Value);

impl Serialize for Simple<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use datatypes::Value;
        match self.0 {
            Value::Boolean(value) => serializer.serialize_bool(*value),
            Value::Decimal(value) => number(&value.to_string(), serializer),
            Value::Float(value) => number(&text_of(value), serializer),
            Value::Double(value) if value.is_finite() => serializer.serialize_f64(*value),
            Value::QName(name) => name_of(name, serializer),
            Value::Notation(name) => name_of(&name.0, serializer),
            Value::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(&Simple(item)))?;
                list.end()
            }
            value => serializer.collect_str(value),
        }
    }
}

fn text_of(value: &f32) -> String {
    let mut out = Vec::new();
    value.write(&mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// A number, if whoever reads it as a binary one gets all of its digits.
fn number<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits > DIGITS || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return serializer.serialize_str(text);
    }
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(whole), _) => serializer.serialize_i64(whole),
        (_, Ok(number)) if number.is_finite() => serializer.serialize_f64(number),
        _ => serializer.serialize_str(text),
    }
}

fn name_of<S: Serializer>(name: &QName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&expanded(&name.namespace, &name.local))
}
