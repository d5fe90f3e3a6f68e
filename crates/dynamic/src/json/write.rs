//! Converts values to JSON.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io;

use castile_databinding::datatypes::{self, QName, SimpleType as _};
use castile_databinding::encoded::Shared;
use castile_databinding::{AnyAttribute, AnyPiece, AnyType, ExpandedName};
use serde::ser::{Error as _, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::{CONTENT, DIGITS, FILE, ID, ITEMS, JsonError, NIL, REF, SIZES, TYPE, XML, expanded, type_text};
use crate::types::{Content, Key, Particles, Presence};
use crate::value::{
    ArrayValue, ContentValue, DerivedValue, EncodedValue, GroupContent, GroupValue, Node, SimpleValue, Slot,
    StructValue, Value,
};

/// Maximum nesting depth of JSON: several levels for each of the 512 levels of XML. References may nest deeper.
const MAX_DEPTH: usize = 8 * 512;
/// Maximum nesting depth of a tree. Dropping a tree or walking through it recurses.
const MAX_TREE_DEPTH: usize = 512;

/// Approximate memory of values in a tree: each value, an object with its first members, and a further member.
const VALUE: usize = 32;
const OBJECT: usize = 512;
const MEMBER: usize = 96;

/// The state of writing a value.
struct Writing {
    /// The numbers of the nodes written so far, by address.
    nodes: HashMap<usize, usize>,
    depth: usize,
    max_depth: usize,
    /// The remaining memory budget.
    budget: usize,
}

impl Writing {
    fn new() -> Self {
        Writing { nodes: HashMap::new(), depth: 0, max_depth: MAX_DEPTH, budget: usize::MAX }
    }
}

thread_local! {
    static WRITING: RefCell<Writing> = RefCell::new(Writing::new());
    static FILES: RefCell<Option<Files>> = const { RefCell::new(None) };
}

/// Takes the bytes of a value. Returns the name of the file that stores them, or `None` if they stay in the JSON.
type Files = Box<dyn FnMut(&[u8]) -> io::Result<Option<String>>>;

/// Calls `write`, and passes the bytes of each `xs:base64Binary` that this thread writes as JSON in it to `files`.
///
/// If `files` returns the name of a file, the value is written as `{"$file": "NAME"}`.
pub fn with_files<T>(files: impl FnMut(&[u8]) -> io::Result<Option<String>> + 'static, write: impl FnOnce() -> T) -> T {
    /// Restores the previous function, even after a panic.
    struct Before(Option<Files>);

    impl Drop for Before {
        fn drop(&mut self) {
            FILES.set(self.0.take());
        }
    }

    let _before = Before(FILES.replace(Some(Box::new(files))));
    write()
}

/// Returns the name of the file that stores these bytes, if there is one.
fn file_of(bytes: &[u8]) -> io::Result<Option<String>> {
    // The cell is not borrowed during the call.
    let Some(mut files) = FILES.take() else { return Ok(None) };
    let name = files(bytes);
    FILES.set(Some(files));
    name
}

/// A level of the value that is being written. Dropping it ends the level; dropping the outermost one resets the state.
struct Level;

impl Level {
    /// Enters a level for a value that needs this much memory.
    fn enter<E: serde::ser::Error>(size: usize) -> Result<Self, E> {
        let level = WRITING.with_borrow_mut(|writing| {
            if writing.depth == writing.max_depth {
                return Err(E::custom(format!("it nests deeper than {} levels as JSON", writing.max_depth)));
            }
            writing.depth += 1;
            Ok(Level)
        })?;
        take(size)?;
        Ok(level)
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        WRITING.with_borrow_mut(|writing| {
            writing.depth -= 1;
            if writing.depth == 0 {
                *writing = Writing::new();
            }
        });
    }
}

/// Reduces the memory budget. Fails if it is exhausted.
fn take<E: serde::ser::Error>(size: usize) -> Result<(), E> {
    WRITING.with_borrow_mut(|writing| match writing.budget.checked_sub(size) {
        Some(room) => {
            writing.budget = room;
            Ok(())
        }
        None => Err(E::custom("it is too large as JSON")),
    })
}

/// Writes a member of an object.
fn entry<M: SerializeMap>(map: &mut M, name: &str, value: &(impl Serialize + ?Sized)) -> Result<(), M::Error> {
    take(MEMBER + name.len())?;
    map.serialize_entry(name, value)
}

/// Writes a member of an object whose value is an array.
fn entries<M: SerializeMap>(map: &mut M, name: &str, items: &(impl Serialize + ?Sized)) -> Result<(), M::Error> {
    let _level = Level::enter(VALUE)?;
    entry(map, name, items)
}

impl Value {
    /// Returns the value as a JSON tree that uses approximately at most `most` bytes of memory, not counting its texts,
    /// which the message has as well.
    ///
    /// # Errors
    /// The tree would use more memory, or would be nested too deep to be visited recursively.
    pub fn to_json(&self, most: usize) -> Result<serde_json::Value, JsonError> {
        WRITING.with_borrow_mut(|writing| {
            (writing.max_depth, writing.budget) = (MAX_TREE_DEPTH, most);
        });
        let wrong = |error: serde_json::Error| JsonError { path: String::new(), message: error.to_string() };
        serde_json::to_value(self).map_err(wrong)
    }

    /// Returns the approximate memory of the value itself.
    fn size(&self) -> usize {
        match self {
            Value::Nil(_) | Value::Simple(_) | Value::Array(_) | Value::Empty => VALUE,
            Value::Struct(_) | Value::Derived(_) | Value::Encoded(_) | Value::Shared(_) | Value::Any(_) => OBJECT,
        }
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Value::Derived(value) = self
            && value.is_type_implied()
        {
            return castile_databinding::deeper::<Value, _>(|| value.value.serialize(serializer));
        }
        let write = || match self {
            Value::Nil(attributes) if attributes.0.is_empty() => serializer.serialize_unit(),
            Value::Simple(SimpleValue { value, .. }) => Simple(value).serialize(serializer),
            Value::Array(value) => value.serialize(serializer),
            Value::Any(value) => Any(value).serialize(serializer),
            Value::Struct(value) if value.is_plain() => match &value.content {
                ContentValue::Simple(value) => Simple(value).serialize(serializer),
                ContentValue::Particles(_) | ContentValue::Mixed(_) => serializer.collect_map::<&str, (), _>([]),
            },
            value => {
                let mut map = serializer.serialize_map(None)?;
                value.members(&mut map)?;
                map.end()
            }
        };
        let _level = Level::enter(self.size())?;
        castile_databinding::deeper::<Value, _>(write)
    }
}

impl StructValue {
    /// Returns true if it consists only of its value.
    fn is_plain(&self) -> bool {
        matches!(self.content, ContentValue::Simple(_)) && self.others.0.is_empty() && self.written().next().is_none()
    }

    /// Returns the present attributes with their names.
    fn written(&self) -> impl Iterator<Item = (String, &datatypes::Value)> {
        let declared = self.of.table.declared.iter().zip(&self.of.attributes).zip(&self.attributes);
        declared.filter_map(|((declared, of), value)| match (of.presence, value) {
            (Presence::Fixed { .. }, _) | (_, None) => None,
            (_, Some(value)) => Some((format!("@{}", expanded(declared.namespace, declared.name)), value)),
        })
    }
}

impl DerivedValue {
    /// Returns true if its type need not be declared.
    fn is_type_implied(&self) -> bool {
        self.of.is_some_and(|variant| variant.tag.is_none())
    }

    /// Returns the name of its type.
    fn type_name(&self) -> Option<&'static str> {
        self.of.filter(|variant| variant.tag.is_some()).map(|variant| variant.key)
    }
}

impl Value {
    /// Writes the members of the object that represents it.
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match self {
            Value::Nil(attributes) => {
                others(&attributes.0, map)?;
                entry(map, NIL, &true)
            }
            Value::Struct(value) => value.members(map),
            Value::Derived(value) => {
                if let Some(name) = value.type_name() {
                    entry(map, TYPE, name)?;
                }
                match &value.value {
                    Value::Struct(_) | Value::Encoded(_) | Value::Any(_) => value.value.members(map),
                    value => entry(map, CONTENT, value),
                }
            }
            Value::Encoded(value) => value.members(map),
            Value::Shared(value) => shared(value, map),
            Value::Any(value) => Any(value).members(map),
            Value::Simple(_) | Value::Array(_) => entry(map, CONTENT, self),
            Value::Empty => Ok(()),
        }
    }
}

/// Writes a node of a graph: with a number the first time, then as a reference to that number.
fn shared<M: SerializeMap>(value: &Shared<Node>, map: &mut M) -> Result<(), M::Error> {
    let Some(held) = value.upgrade() else { return entry(map, NIL, &true) };
    let Some(Node(inner)) = held.get() else { return entry(map, NIL, &true) };
    let address = std::ptr::from_ref(inner).addr();
    let (number, is_new) = WRITING.with_borrow_mut(|Writing { nodes, .. }| {
        let next = nodes.len() + 1;
        let number = *nodes.entry(address).or_insert(next);
        (number, number == next)
    });
    if !is_new {
        return entry(map, REF, &number);
    }
    entry(map, ID, &number)?;
    match inner {
        Value::Struct(_) | Value::Encoded(_) | Value::Derived(_) => inner.members(map),
        inner => entry(map, CONTENT, inner),
    }
}

fn others<M: SerializeMap>(attributes: &[AnyAttribute], map: &mut M) -> Result<(), M::Error> {
    attributes.iter().try_for_each(|AnyAttribute { name, value }| {
        entry(map, &format!("@{}", expanded(&name.namespace, &name.local)), value)
    })
}

impl StructValue {
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        for (name, value) in self.written() {
            entry(map, &name, &Simple(value))?;
        }
        others(&self.others.0, map)?;
        match (&self.content, &self.of.content) {
            (ContentValue::Simple(value), _) => entry(map, CONTENT, &Simple(value)),
            (ContentValue::Particles(slots), Content::Sequence(particles) | Content::All(particles)) => {
                members(slots, particles, map)
            }
            (ContentValue::Mixed(pieces), _) => entries(map, CONTENT, pieces),
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
        (Slot::One(value), Key::Member(name)) => entry(map, name, value),
        (Slot::Many(values), Key::Member(_)) if values.is_empty() => Ok(()),
        (Slot::Many(values), Key::Member(name)) => entries(map, name, values),
        (Slot::Group(group), Key::Member(name)) => entry(map, name, group),
        (Slot::Groups(groups), Key::Member(_)) if groups.is_empty() => Ok(()),
        (Slot::Groups(groups), Key::Member(name)) => entries(map, name, groups),
        (Slot::Any(any), Key::Member(name)) => entry(map, name, &*any.xml()),
        (Slot::Elements(elements), Key::Member(_)) if elements.is_empty() => Ok(()),
        (Slot::Elements(elements), Key::Member(name)) => {
            let elements: Vec<String> = elements.iter().map(|any| any.xml().into_owned()).collect();
            entries(map, name, &elements)
        }
        (Slot::Accessors(values), Key::Member(name)) => entries(map, name, values),
    }
}

impl GroupValue {
    fn members<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let particles = self.of.particles();
        castile_databinding::deeper::<GroupValue, _>(|| match &self.content {
            GroupContent::Particles(slots) => members(slots, particles, map),
            GroupContent::Choice(number, slot) => match particles.keys.get(*number) {
                Some(key) => member(slot, key, map),
                None => Ok(()),
            },
            GroupContent::Text(_) => Ok(()),
        })
    }
}

/// Serializes a piece of mixed content as a string, or as an object with one element.
impl Serialize for GroupValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let GroupContent::Text(text) = &self.content {
            return serializer.serialize_str(text);
        }
        let _level = Level::enter(OBJECT)?;
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
        take(VALUE * self.items.len())?;
        if self.of.array.rank == 1 {
            return self.items.serialize(serializer);
        }
        let mut map = serializer.serialize_map(Some(2))?;
        entry(&mut map, SIZES, &self.dimensions)?;
        entry(&mut map, ITEMS, &self.items)?;
        map.end()
    }
}

/// A value of any type. It is written as a string if it has only text.
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
            entry(map, TYPE, &type_text(namespace, local))?;
        }
        others(attributes, map)?;
        match self.0.elements().next() {
            None => entry(map, CONTENT, &self.0.text()),
            Some(_) => entry(map, CONTENT, &content.iter().map(MixedPart).collect::<Vec<_>>()),
        }
    }
}

/// Text, or an element as XML.
struct MixedPart(AnyPiece);

impl Serialize for MixedPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            AnyPiece::Text(text) => serializer.serialize_str(text),
            AnyPiece::Element(any) => {
                take(OBJECT)?;
                serializer.collect_map([(XML, &*any.xml())])
            }
        }
    }
}

/// A simple value. It is written as a number or Boolean if JSON can represent it, or else as a string.
struct Simple<'v>(&'v datatypes::Value);

impl Serialize for Simple<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use datatypes::Value;
        match self.0 {
            Value::Boolean(value) => serializer.serialize_bool(*value),
            Value::Decimal(value) => number(&value.to_string(), serializer),
            Value::Float(value) => number(&text_of(value), serializer),
            Value::Double(value) if value.is_finite() => serializer.serialize_f64(*value),
            Value::Base64Binary(bytes) => match file_of(&bytes.0).map_err(S::Error::custom)? {
                Some(name) => serializer.collect_map([(FILE, name)]),
                None => serializer.collect_str(bytes),
            },
            Value::QName(name) => name_of(name, serializer),
            Value::Notation(name) => name_of(&name.0, serializer),
            Value::List(items) => {
                take(VALUE * items.len())?;
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

/// Writes a number, or a string if the number has more digits than a binary number preserves.
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
