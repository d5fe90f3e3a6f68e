//! Converts JSON to values in SOAP encoding: structs of accessors, arrays, and the nodes of a graph.

use castile_databinding::encoded::Shared;
use serde_json::Value as Json;

use super::super::{CONTENT, ID, ITEMS, REF, SIZES};
use super::{At, Constraints, JsonError, Object, Reading, items, of_base, value};
use crate::types::{ElementType, EncodedArray, EncodedStruct};
use crate::value::{ArrayValue, EncodedValue, Node, Slot, Value};

pub(super) fn structure(
    json: &Json,
    of: &'static EncodedStruct,
    others: &[&str],
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<EncodedValue, JsonError> {
    let mut object = Object::of(json, at)?;
    // The struct may be a node of a graph.
    object.take(ID);
    for name in others {
        object.take(name);
    }
    let mut accessors = Vec::with_capacity(of.accessors.len());
    for (element, accessor) in of.table.iter().zip(&of.accessors) {
        let at = At::Member(at, element.name);
        let of = crate::read::type_of(element);
        let one = |json: &Json, reading: &mut Reading, at: &At<'_>| match json {
            Json::Null => Ok(None),
            json => value(json, of, Constraints::of(element), reading, at).map(Some),
        };
        let read = match (object.take(element.name), accessor.is_repeated) {
            (None, false) => Ok(Slot::Absent),
            (Some(json), false) => one(json, reading, &at).map(|value| value.map_or(Slot::Absent, Slot::One)),
            (None, true) => Ok(Slot::Accessors(Vec::new())),
            (Some(Json::Array(all)), true) => items(all, reading, &at, one).map(Slot::Accessors),
            (Some(json), true) => one(json, reading, &at).map(|value| Slot::Accessors(vec![value])),
        };
        accessors.push(reading.record(read)?.unwrap_or(Slot::Absent));
    }
    object.finish(of.table.iter().map(|element| element.name.to_owned()), None, reading, at)?;
    Ok(EncodedValue { of, accessors })
}

pub(super) fn array(
    json: &Json,
    of: &'static EncodedArray,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<ArrayValue, JsonError> {
    let (sizes, all) = match json {
        Json::Array(items) if of.array.rank == 1 => (vec![items.len()], items),
        Json::Object(members) if of.array.rank > 1 => {
            let sizes: Option<Vec<usize>> = members.get(SIZES).and_then(Json::as_array).and_then(|sizes| {
                sizes.iter().map(|size| size.as_u64().and_then(|size| usize::try_from(size).ok())).collect()
            });
            let items = members.get(ITEMS).and_then(Json::as_array);
            let (Some(sizes), Some(items)) = (sizes, items) else {
                return Err(
                    at.wrong(format!("expected {SIZES} with an array of sizes, and {ITEMS} with an array of items"))
                );
            };
            (sizes, items)
        }
        json if of.array.rank == 1 => return Err(at.instead(json, "an array")),
        json => return Err(at.instead(json, &format!("an object with {SIZES} and {ITEMS}"))),
    };
    let count = sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size));
    if sizes.len() != of.array.rank || count != Some(all.len()) {
        let message = format!("found {} items, expected the number that {SIZES} gives", all.len());
        return Err(at.wrong(message));
    }
    let item = crate::read::type_of(&of.array.item);
    let items = items(all, reading, at, |json, reading, at| match json {
        Json::Null => Ok(None),
        json => value(json, item, Constraints::of(&of.array.item), reading, at).map(Some),
    });
    Ok(ArrayValue { of, dimensions: sizes, items: items? })
}

/// Reads a node of a graph. A node with a number may be referred to.
pub(super) fn node(
    json: &Json,
    of: &'static ElementType,
    constraints: Constraints,
    reading: &mut Reading,
    at: &At<'_>,
) -> Result<Value, JsonError> {
    if let Some(number) = json.get(REF).and_then(Json::as_u64) {
        return match reading.nodes.get(&number) {
            None => Err(at.wrong(format!("no value before has the {ID} {number}"))),
            Some((_, known)) if !known.is_same(of) => {
                let (found, expected) = (known.name(), of.name());
                Err(at.wrong(format!("found the {ID} {number} of a value of {found}, expected one of {expected}")))
            }
            Some((node, _)) => Ok(Value::Shared(node.clone())),
        };
    }
    let number = json.get(ID).and_then(Json::as_u64);
    // A value that is not an object is in the member `$`.
    let bare = match json {
        Json::Object(members) if members.len() == 1 + usize::from(members.contains_key(ID)) => {
            members.get(CONTENT).unwrap_or(json)
        }
        json => json,
    };
    let mut failed = None;
    let node = Shared::cyclic(|me| {
        if let Some(number) = number {
            reading.nodes.insert(number, (me, of));
        }
        Node(of_base(bare, of, constraints, reading, at).unwrap_or_else(|error| {
            failed = Some(error);
            Value::Empty
        }))
    });
    if let Some(error) = failed {
        return Err(error);
    }
    if let Some(number) = number {
        reading.nodes.insert(number, (node.clone(), of));
    }
    Ok(Value::Shared(node))
}
