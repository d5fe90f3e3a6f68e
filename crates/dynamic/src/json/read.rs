//! Converts JSON to values.

mod any;
mod encoded;
mod error;
mod object;
mod reading;
mod simple;

use castile_databinding::datatypes;
use castile_databinding::schema::{Element, ValueConstraint};
use castile_databinding::{Recursive, deeper};
use castile_xml::escape::push_text;
use serde_json::{Map, Value as Json};

use self::any::{any, other, xml};
pub use self::error::JsonError;
use self::error::{At, MISSING, NONE_OF};
use self::object::{Object, items};
use self::reading::Reading;
pub(crate) use self::simple::{Constraints, parse};
use self::simple::{scalar, simple, xml_text};
use super::{CONTENT, ID, NIL, TYPE, expanded, members, type_text};
use crate::simple::SimpleType;
use crate::types::{
    Base, Complex, Content, Derived, ElementType, Group, GroupKind, Key, Nil, Occurrence, Particle, Particles,
    Presence, Struct, Term,
};
use crate::value::{
    ContentValue, DerivedValue, GroupContent, GroupValue, Others, SimpleValue, Slot, StructValue, Value,
};

/// Reads a simple value from JSON.
pub(crate) fn simple_from_json(
    json: &Json,
    of: &'static SimpleType,
    constraints: Constraints,
) -> Result<datatypes::Value, JsonError> {
    simple(json, of, constraints, &At::Root)
}

/// Reads a text from the member with this name, and escapes it for use between tags.
pub(crate) fn escaped_from_json(json: &Json, name: &str) -> Result<String, JsonError> {
    let text = scalar(json, &At::Member(&At::Root, name))?;
    let mut escaped = Vec::with_capacity(text.len());
    // All characters were checked before.
    let _ = push_text(&mut escaped, &text);
    Ok(String::from_utf8_lossy(&escaped).into_owned())
}

impl Value {
    /// Reads the value of an element from JSON.
    pub(crate) fn from_json(json: &Json, element: &'static Element) -> Result<Self, JsonError> {
        value(json, crate::read::type_of(element), Constraints::of(element), &mut Reading::to_first(), &At::Root)
    }

    /// Returns all problems in JSON as the value of an element. They include the problem that
    /// [`from_json`](Self::from_json) returns.
    pub(crate) fn problems_of_json(json: &Json, element: &'static Element) -> Vec<JsonError> {
        let mut reading = Reading::to_end();
        let read = value(json, crate::read::type_of(element), Constraints::of(element), &mut reading, &At::Root);
        reading.problems(read.err())
    }
}

fn value(
    json: &Json,
    of: &'static ElementType,
    constraints: Constraints,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<Value, JsonError> {
    if of.nil != Nil::Never {
        match json {
            Json::Null => return Ok(Value::Nil(Others::default())),
            Json::Object(members) if members.get(NIL) == Some(&Json::Bool(true)) => {
                let attributes = members.iter().filter(|(name, _)| *name != NIL);
                let attributes = attributes.map(|(name, json)| other(name, json, at)).collect::<Result<_, _>>()?;
                return Ok(Value::Nil(Others(attributes)));
            }
            _ => {}
        }
    }
    of_base(json, of, constraints, reading, at)
}

fn of_base(
    json: &Json,
    of: &'static ElementType,
    constraints: Constraints,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<Value, JsonError> {
    match of.base {
        Base::Simple(of) => {
            let value = simple(json, of, constraints, at)?;
            Ok(Value::Simple(SimpleValue { of, value }))
        }
        Base::AnyType => any(json, at).map(|any| Value::Any(Recursive::new(any))),
        Base::Nothing => match json {
            Json::Null => Ok(Value::Empty),
            Json::Object(members) if members.is_empty() => Ok(Value::Empty),
            json => Err(at.instead(json, "nothing: {} or null")),
        },
        Base::Shared(inner) => encoded::node(json, inner, constraints, reading, at),
        Base::Complex(lazy) => deeper::<StructValue, _>(|| match lazy.get() {
            Complex::Struct(of) => {
                structure(json, of, constraints, false, reading, at).map(|value| Value::Struct(Recursive::new(value)))
            }
            Complex::Derived(of) => {
                derived(json, of, constraints, reading, at).map(|value| Value::Derived(Recursive::new(value)))
            }
            Complex::EncodedStruct(of) => {
                encoded::structure(json, of, &[], reading, at).map(|value| Value::Encoded(Recursive::new(value)))
            }
            Complex::EncodedArray(of) => {
                encoded::array(json, of, reading, at).map(|value| Value::Array(Recursive::new(value)))
            }
        }),
    }
}

fn structure(
    json: &Json,
    of: &'static Struct,
    of_element: Constraints,
    is_typed: bool,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<StructValue, JsonError> {
    let empty = Json::Object(Map::new());
    let is_object = json.is_object();
    let mut object = Object::of(if is_object { json } else { &empty }, at)?;
    // The element may be a node of a graph.
    object.take(ID);
    if is_typed {
        object.take(TYPE);
    }
    // The index of the first problem that a misspelled member may have caused.
    let mut reason = None;
    let mut attributes = Vec::with_capacity(of.attributes.len());
    for (declared, attribute) in of.table.declared.iter().zip(&of.attributes) {
        let key = format!("@{}", expanded(declared.namespace, declared.name));
        let outer = at;
        let at = At::Member(at, &key);
        let found = match object.take(&key) {
            Some(json) => {
                let read = simple(json, attribute.of, Constraints::new(declared.facets, declared.constraint), &at);
                let Some(value) = reading.record(read)? else {
                    attributes.push(None);
                    continue;
                };
                Some(value)
            }
            None => None,
        };
        attributes.push(match (attribute.presence, found) {
            (Presence::Required, None) => {
                reason.get_or_insert(reading.stored());
                let missing = reading.record(Err(at.wrong(MISSING)));
                missing.map_err(|problem| object.reason(problem, of.names(), outer))?
            }
            (Presence::Default, None) => {
                let default = declared.constraint.map_or("", ValueConstraint::value);
                Some(parse(default, attribute.of).map_err(|problem| at.wrong(problem.message()))?)
            }
            // A fixed attribute has no other value.
            (Presence::Fixed { .. }, _) => None,
            (_, found) => found,
        });
    }
    let (stored_before, count) = (reading.stored(), reading.count());
    let content = match &of.content {
        Content::Simple { of: simple_type, facets } => {
            let of_content = At::Member(at, CONTENT);
            let (json, at) = match is_object {
                false => (json, at),
                true => match object.take(CONTENT) {
                    Some(json) => (json, &of_content),
                    None => (&Json::String(String::new()), &of_content),
                },
            };
            let read = simple(json, simple_type, of_element.or(*facets), at);
            reading.record(read)?.map_or(ContentValue::Mixed(Vec::new()), ContentValue::Simple)
        }
        _ if !is_object => return Err(at.instead(json, "an object")),
        Content::Sequence(particles) | Content::All(particles) => {
            let read = slots(&mut object, particles, reading, at);
            if reading.count() > count {
                reason.get_or_insert(stored_before);
            }
            ContentValue::Particles(read.map_err(|problem| object.reason(problem, of.names(), at))?)
        }
        Content::Mixed(piece) => {
            let pieces = match object.take(CONTENT) {
                None => &[][..],
                Some(Json::Array(pieces)) => pieces,
                Some(json) => std::slice::from_ref(json),
            };
            let pieces = items(pieces, reading, &At::Member(at, CONTENT), |json, reading, at| match json {
                Json::String(text) => {
                    xml_text(text, at).map(|text| GroupValue { of: piece, content: GroupContent::Text(text) })
                }
                json => group_object(json, piece, reading, at),
            });
            ContentValue::Mixed(pieces?)
        }
    };
    let mut others = Vec::new();
    if of.has_others {
        for (key, json) in object.rest().filter(|(key, _)| key.starts_with('@')).collect::<Vec<_>>() {
            others.extend(reading.record(other(key, json, at))?);
            object.take(key);
        }
    }
    object.finish(of.names(), reason, reading, at)?;
    Ok(StructValue { of, attributes, others: Others(others), content })
}

impl Struct {
    /// Returns the names of the members that an object for this type may have.
    fn names(&self) -> impl Iterator<Item = String> {
        let attributes = self.table.declared.iter();
        let attributes = attributes.map(|one| format!("@{}", expanded(one.namespace, one.name)));
        let content = match &self.content {
            Content::Simple { .. } | Content::Mixed(_) => vec![CONTENT],
            Content::Sequence(particles) | Content::All(particles) => members(particles),
        };
        content.into_iter().map(str::to_owned).chain(attributes)
    }
}

fn slots(
    object: &mut Object<'_>,
    particles: &'static Particles,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<Vec<Slot>, JsonError> {
    let Particles { table, list, keys, .. } = particles;
    let mut slots = Vec::with_capacity(list.len());
    for (particle, key) in list.iter().zip(keys) {
        let slot = slot(object, table, particle, key, reading, at);
        slots.push(reading.record(slot)?.unwrap_or(Slot::Absent));
    }
    Ok(slots)
}

fn slot(
    object: &mut Object<'_>,
    table: &'static [Element],
    particle: &'static Particle,
    key: &'static Key,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<Slot, JsonError> {
    let occurrence = particle.occurrence();
    let name = match (key, &particle.term) {
        (Key::Member(name), _) => *name,
        (Key::Flat, Term::Group(of)) => {
            let is_there = of.members().iter().any(|member| object.has(member));
            if occurrence == Occurrence::Optional && !is_there {
                return Ok(Slot::Absent);
            }
            return group(object, of, reading, at).map(|group| Slot::Group(Box::new(group)));
        }
        (Key::Flat, _) => return Ok(Slot::Absent),
    };
    let at = At::Member(at, name);
    let json = object.take(name);
    match (&particle.term, occurrence) {
        (Term::Element { index, .. }, Occurrence::Required | Occurrence::Optional) => {
            let element = &table[*index];
            let of = crate::read::type_of(element);
            match json {
                Some(Json::Null) if occurrence == Occurrence::Optional && of.nil == Nil::Never => Ok(Slot::Absent),
                None if occurrence == Occurrence::Optional => Ok(Slot::Absent),
                None => Err(at.wrong(MISSING)),
                Some(json) => value(json, of, Constraints::of(element), reading, &at).map(Slot::One),
            }
        }
        (Term::Element { index, .. }, Occurrence::Repeated) => {
            let element = &table[*index];
            let of = crate::read::type_of(element);
            let read = |json: &Json, reading: &mut Reading, at: &At<'_>| {
                value(json, of, Constraints::of(element), reading, at)
            };
            items(many(json, particle, &at)?, reading, &at, read).map(Slot::Many)
        }
        (Term::Group(of), Occurrence::Repeated) => {
            let read = |json: &Json, reading: &mut Reading, at: &At<'_>| group_object(json, of, reading, at);
            items(many(json, particle, &at)?, reading, &at, read).map(Slot::Groups)
        }
        (Term::Group(of), _) => match json {
            Some(json) => group_object(json, of, reading, &at).map(|group| Slot::Group(Box::new(group))),
            None if occurrence == Occurrence::Optional => Ok(Slot::Absent),
            None => Err(at.wrong(MISSING)),
        },
        (Term::Any(..), Occurrence::Repeated) => {
            let elements = items(many(json, particle, &at)?, reading, &at, |json, _, at| xml(json, at))?;
            Ok(Slot::Elements(elements.into_iter().collect()))
        }
        (Term::Any(..), _) => match json {
            Some(json) => xml(json, &at).map(Slot::Any),
            None if occurrence == Occurrence::Optional => Ok(Slot::Absent),
            None => Err(at.wrong(MISSING)),
        },
    }
}

/// Returns the items of a particle, from an array or a single value.
fn many<'j>(json: Option<&'j Json>, particle: &Particle, at: &At<'_>) -> Result<&'j [Json], JsonError> {
    let items = match json {
        None => &[][..],
        Some(Json::Array(items)) => items,
        Some(json) => std::slice::from_ref(json),
    };
    let Particle { min, max, .. } = *particle;
    match items.len() as u64 {
        count if count < u64::from(min) => Err(at.wrong(format!("found {count} items, expected at least {min}"))),
        count if max.is_some_and(|max| count > u64::from(max)) => {
            Err(at.wrong(format!("found {count} items, expected at most {}", max.unwrap_or_default())))
        }
        _ => Ok(items),
    }
}

fn group_object(json: &Json, of: &'static Group, reading: &mut Reading, at: &At<'_>) -> Result<GroupValue, JsonError> {
    let mut object = Object::of(json, at)?;
    let names = || of.members().into_iter().map(str::to_owned);
    let (stored_before, count) = (reading.stored(), reading.count());
    let read = group(&mut object, of, reading, at);
    let group = reading.record(read).map_err(|problem| object.reason(problem, names(), at))?;
    let reason = (reading.count() > count).then_some(stored_before);
    object.finish(names(), reason, reading, at)?;
    Ok(group.unwrap_or_else(|| GroupValue { of, content: GroupContent::Text(String::new()) }))
}

fn group(
    object: &mut Object<'_>,
    of: &'static Group,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<GroupValue, JsonError> {
    deeper::<GroupValue, _>(|| make_group(object, of, reading, at))
}

fn make_group(
    object: &mut Object<'_>,
    of: &'static Group,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<GroupValue, JsonError> {
    let particles = match &of.kind {
        GroupKind::Sequence(particles) | GroupKind::All(particles) => {
            let slots = slots(object, particles, reading, at)?;
            return Ok(GroupValue { of, content: GroupContent::Particles(slots) });
        }
        GroupKind::Choice(particles) | GroupKind::MixedPart(particles, _) => particles,
    };
    let Particles { table, list, keys, .. } = particles;
    let is_there = |number: usize| match (&keys[number], &list[number].term) {
        (Key::Member(name), _) => object.has(name),
        (Key::Flat, Term::Group(of)) => of.members().iter().any(|member| object.has(member)),
        (Key::Flat, _) => false,
    };
    let there: Vec<usize> = (0..list.len()).filter(|number| is_there(*number)).collect();
    let number = match there[..] {
        [number] => number,
        [] => match list.iter().position(|particle| particle.min == 0) {
            // An optional alternative may be empty.
            Some(number) => number,
            None => return Err(at.wrong(format!("{NONE_OF}{}, expected one", of.members().join(", ")))),
        },
        [one, another, ..] => {
            let [one, another] = [one, another].map(|number| match &keys[number] {
                Key::Member(name) => (*name).to_owned(),
                Key::Flat => match &list[number].term {
                    Term::Group(of) => of.members().join(", "),
                    _ => String::new(),
                },
            });
            return Err(at.wrong(format!("found both {one} and {another}, expected one of them")));
        }
    };
    let slot = slot(object, table, &list[number], &keys[number], reading, at)?;
    Ok(GroupValue { of, content: GroupContent::Choice(number, slot) })
}

fn derived(
    json: &Json,
    of: &'static Derived,
    constraints: Constraints,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<DerivedValue, JsonError> {
    let said = json.get(TYPE);
    let variant = match said {
        Some(said) => {
            let at = At::Member(at, TYPE);
            let said = scalar(said, &at)?;
            let found = of
                .variants
                .iter()
                .zip(of.names)
                .find(|(variant, name)| variant.key == said || type_text(name.namespace, name.name) == said);
            match found {
                Some((variant, _)) => Some(variant),
                // The name of a type that the contract doesn't have is written with its namespace.
                None if said.starts_with(['{']) || said.starts_with("xs:") => None,
                None => {
                    let known: Vec<&str> = of.variants.iter().map(|variant| variant.key).collect();
                    return Err(at.wrong(format!("found {said:?}, expected one of {}", known.join(", "))));
                }
            }
        }
        None if of.is_abstract => {
            let known: Vec<&str> = of.variants.iter().map(|variant| variant.key).collect();
            let message = format!("there is no {TYPE}, expected one of {}", known.join(", "));
            return Err(at.wrong(message));
        }
        None => of.variants.first(),
    };
    let Some(variant) = variant else {
        let value = Value::Any(Recursive::new(any(json, at)?));
        return Ok(DerivedValue { of: None, value });
    };
    let of_content = At::Member(at, CONTENT);
    let value = match (variant.of.base, said) {
        (Base::Complex(lazy), Some(_)) => match lazy.get() {
            Complex::Struct(of) => Value::Struct(Recursive::new(structure(json, of, constraints, true, reading, at)?)),
            Complex::EncodedStruct(of) => {
                Value::Encoded(Recursive::new(encoded::structure(json, of, &[TYPE], reading, at)?))
            }
            Complex::Derived(_) | Complex::EncodedArray(_) => {
                of_base(json.get(CONTENT).unwrap_or(&Json::Null), variant.of, constraints, reading, &of_content)?
            }
        },
        (Base::AnyType, _) | (_, None) => of_base(json, variant.of, constraints, reading, at)?,
        _ => of_base(json.get(CONTENT).unwrap_or(&Json::Null), variant.of, constraints, reading, &of_content)?,
    };
    Ok(DerivedValue { of: Some(variant), value })
}
