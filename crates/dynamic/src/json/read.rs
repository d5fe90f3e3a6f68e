//! Converts JSON to values.

mod encoded;
mod reading;

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use castile_databinding::datatypes::{self, Invalid, QName, Scope, Unscoped};
use castile_databinding::facets::Check;
use castile_databinding::schema::{Element, ValueConstraint, XSI_NAMESPACE};
use castile_databinding::{Any, AnyAttribute, AnyPiece, AnyType, ExpandedName, Lexical, Recursive, deeper};
use castile_xml::XMLNS_NAMESPACE;
use castile_xml::escape::{is_char, push_text};
use serde_json::{Map, Value as Json};

use self::reading::Reading;
use super::{CONTENT, DIGITS, ID, Key, NIL, TYPE, XML, expanded, members, type_text};
use crate::simple::{SimpleType, SimpleTypeKind};
use crate::types::{
    Base, Complex, Content, Derived, ElementType, Group, GroupKind, Nil, Occurrence, Particle, Particles, Presence,
    Struct, Term,
};
use crate::value::{
    ContentValue, DerivedValue, GroupContent, GroupValue, Others, SimpleValue, Slot, StructValue, Value,
};

/// The message for a missing required member.
const MISSING: &str = "it is required, but missing";
/// The start of the message for a choice without any of its members.
const NONE_OF: &str = "found none of ";

/// The reason why JSON is not a value of a type: the path, and what was found and expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The path, such as `order.items[0].quantity`. Empty for the whole value.
    pub path: String,
    /// The problem.
    pub message: String,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for JsonError {}

impl JsonError {
    /// Adds a step to the start of the path: a name, or `[0]`.
    pub(crate) fn within(self, place: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        JsonError { path: format!("{place}{separator}{}", self.path), ..self }
    }
}

/// A position in the JSON.
#[derive(Clone, Copy)]
enum At<'p> {
    Root,
    Member(&'p At<'p>, &'p str),
    Item(&'p At<'p>, usize),
}

impl At<'_> {
    fn wrong(&self, message: impl Into<String>) -> JsonError {
        JsonError { path: self.to_string(), message: message.into() }
    }

    fn instead(&self, found: &Json, expected: &str) -> JsonError {
        let found = match found {
            Json::Null => "null",
            Json::Bool(_) => "a truth value",
            Json::Number(_) => "a number",
            Json::String(_) => "a text",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        };
        self.wrong(format!("found {found}, expected {expected}"))
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Root => Ok(()),
            At::Member(At::Root, name) => f.write_str(name),
            At::Member(outer, name) => write!(f, "{outer}.{name}"),
            At::Item(outer, number) => write!(f, "{outer}[{number}]"),
        }
    }
}

/// What a simple value is checked against.
#[derive(Clone, Copy)]
pub(crate) struct Constraints {
    facets: Option<&'static dyn Check>,
    /// The fixed value, if there is one.
    fixed: Option<&'static str>,
}

impl Constraints {
    pub(crate) const NONE: Constraints = Constraints { facets: None, fixed: None };

    pub(crate) fn new(facets: Option<&'static dyn Check>, constraint: Option<ValueConstraint>) -> Self {
        let fixed = constraint.and_then(|constraint| match constraint {
            ValueConstraint::Fixed(fixed) => Some(fixed),
            ValueConstraint::Default(_) => None,
        });
        Constraints { facets, fixed }
    }

    pub(crate) fn of(element: &'static Element) -> Self {
        Constraints::new(element.facets, element.constraint)
    }

    /// Returns the checks for the content of an element. The type's own `facets`, if any, take precedence.
    pub(crate) fn or(self, facets: Option<&'static dyn Check>) -> Self {
        Constraints { facets: facets.or(self.facets), ..self }
    }
}

impl fmt::Debug for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Constraints").field("has_facets", &self.facets.is_some()).field("fixed", &self.fixed).finish()
    }
}

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
        Base::Complex(place) => deeper::<StructValue, _>(|| match place.get() {
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

// ---- simple types ----

fn simple(
    json: &Json,
    of: &'static SimpleType,
    constraints: Constraints,
    at: &At<'_>,
) -> Result<datatypes::Value, JsonError> {
    let items = match (json, &of.kind) {
        (Json::Array(items), SimpleTypeKind::List(item)) => Some((items, *item)),
        _ => None,
    };
    let (text, value) = match items {
        Some((items, item)) => {
            let values = items.iter().enumerate();
            let values = values.map(|(number, json)| item_of(json, item, &At::Item(at, number)));
            let values: Vec<datatypes::Value> = values.collect::<Result<_, _>>()?;
            let value = datatypes::Value::List(values);
            (value.to_string(), value)
        }
        None => {
            let text = text(json, of, at)?;
            let value = parse(&text, of).map_err(|problem| match similar_value(&text, of) {
                Some(meant) => at.wrong(format!("{}; did you mean {meant:?}?", problem.message())),
                None => at.wrong(problem.message()),
            })?;
            (text, value)
        }
    };
    // Patterns on qualified names apply to the prefix too, but names in JSON have no prefix.
    if let Some(facets) = constraints.facets.filter(|_| !of.has_names) {
        facets.check(&text, &value).map_err(|problem| at.wrong(problem.message()))?;
    }
    match constraints.fixed {
        Some(fixed) if !Lexical::is_fixed(&of, &value, fixed) => {
            Err(at.wrong(format!("found {text:?}, where only {fixed:?} was expected")))
        }
        _ => Ok(value),
    }
}

/// Returns the enumeration value that a misspelled text probably stands for.
fn similar_value(text: &str, of: &SimpleType) -> Option<&'static str> {
    let SimpleTypeKind::Enumeration { listed, .. } = &of.kind else { return None };
    castile_xsd::similar(text, listed.values.iter().copied(), 1).first().copied()
}

/// Reads an item of a list. It can't contain white space, which would split it.
fn item_of(json: &Json, of: &'static SimpleType, at: &At<'_>) -> Result<datatypes::Value, JsonError> {
    let value = simple(json, of, Constraints::NONE, at)?;
    match &value {
        datatypes::Value::String(text) => one_word(text, at)?,
        datatypes::Value::List(_) => return Err(at.instead(json, of.name)),
        _ => {}
    }
    Ok(value)
}

fn one_word(text: &str, at: &At<'_>) -> Result<(), JsonError> {
    match text.split_ascii_whitespace().count() {
        1 => Ok(()),
        _ => Err(at.wrong(format!("found {text:?}, expected an item of a list, which is one word"))),
    }
}

/// Returns a text if XML can contain all its characters (XML 1.0 §2.2).
fn xml_text(text: &str, at: &At<'_>) -> Result<String, JsonError> {
    match text.chars().find(|c| !is_char(*c)) {
        None => Ok(text.to_owned()),
        Some(c) => Err(at.wrong(format!("found the character U+{:04X}, which is not allowed in XML", u32::from(c)))),
    }
}

/// Returns the text that JSON represents.
fn text(json: &Json, of: &SimpleType, at: &At<'_>) -> Result<String, JsonError> {
    match json {
        Json::String(text) => xml_text(text, at),
        Json::Bool(value) => Ok(value.to_string()),
        Json::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            None => Ok(number.to_string()),
            Some(value) if loses_digits(value) && !of.is_binary_number => {
                Err(at.wrong(format!("found the number {number}, which may lose digits: write it as a text")))
            }
            Some(value) => Ok(value.to_string()),
        },
        // A list type whose items have no type here.
        Json::Array(items) if of.has_lists => {
            let items = items.iter().enumerate().map(|(number, item)| {
                let at = At::Item(at, number);
                if item.is_array() {
                    return Err(at.instead(item, of.name));
                }
                let text = text(item, of, &at)?;
                one_word(&text, &at)?;
                Ok(text)
            });
            Ok(items.collect::<Result<Vec<String>, _>>()?.join(" "))
        }
        json => Err(at.instead(json, of.name)),
    }
}

/// Returns true if a number may have been written with more digits than its binary form represents.
fn loses_digits(value: f64) -> bool {
    /// Above this limit adjacent integers have the same binary form.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    /// Maximum number of decimal places in a binary number.
    const DECIMAL_PLACES: usize = 1074;
    if value.abs() >= EXACT {
        return true;
    }
    let shortest = value.to_string();
    let digits = shortest.trim_start_matches(['-', '0', '.']).bytes().filter(u8::is_ascii_digit).count();
    digits > DIGITS && format!("{value:.DECIMAL_PLACES$}").trim_end_matches('0').trim_end_matches('.') != shortest
}

/// A scope for names that are written as `{namespace}local`.
struct Braces<'t>(&'t str);

impl Scope for Braces<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        (prefix == "n").then_some(self.0)
    }
}

pub(crate) fn parse(text: &str, of: &SimpleType) -> Result<datatypes::Value, Invalid> {
    let read = match text.strip_prefix('{').and_then(|rest| rest.split_once('}')).filter(|_| of.has_names) {
        Some(("", local)) => Lexical::parse_in(&of, local, &NoNamespace),
        Some((namespace, local)) => Lexical::parse_in(&of, &format!("n:{local}"), &Braces(namespace)),
        None if of.has_names => Lexical::parse_in(&of, text, &NoNamespace),
        None => Lexical::parse_in(&of, text, &Unscoped),
    };
    read.map_err(|problem| Invalid::text(text, of.name, problem))
}

/// A scope in which names without braces are in no namespace.
struct NoNamespace;

impl Scope for NoNamespace {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        prefix.is_empty().then_some("")
    }
}

// ---- any ----

/// Parses a name in a key.
fn name(text: &str) -> ExpandedName {
    match text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((namespace, local)) => ExpandedName::new(namespace, local),
        None => match text.strip_prefix("xs:") {
            Some(local) => ExpandedName::new(castile_databinding::schema::XSD_NAMESPACE, local),
            None => ExpandedName::new("", text),
        },
    }
}

fn scalar(json: &Json, at: &At<'_>) -> Result<String, JsonError> {
    match json {
        Json::String(text) => xml_text(text, at),
        Json::Bool(value) => Ok(value.to_string()),
        Json::Number(number) => Ok(number.to_string()),
        json => Err(at.instead(json, "a text")),
    }
}

/// Reads an attribute that is not declared.
fn other(key: &str, json: &Json, at: &At<'_>) -> Result<AnyAttribute, JsonError> {
    let at = At::Member(at, key);
    let Some(name) = key.strip_prefix('@') else {
        return Err(at.wrong("found a member that is not an attribute, expected a name that begins with @"));
    };
    let name = self::name(name);
    if QName::new(name.namespace.clone(), name.local.clone()).is_err() {
        return Err(at.wrong(format!("{:?} is not the name of an attribute", name.local)));
    }
    let expected = match (&*xml_text(&name.namespace, &at)?, name.local.as_str()) {
        ("", "xmlns") | (XMLNS_NAMESPACE, _) => {
            "no namespace declaration, because names contain their namespace".to_owned()
        }
        (XSI_NAMESPACE, "type") => format!("{TYPE} for the type of an element"),
        (XSI_NAMESPACE, "nil") => format!("{NIL} for an element that is nil"),
        // The spelling of a name is unique, so that no attribute can occur twice.
        (namespace, local) => format!("@{}", expanded(namespace, local)),
    };
    if expected != key {
        return Err(at.wrong(format!("found an attribute {key}, expected {expected}")));
    }
    Ok(AnyAttribute { name, value: scalar(json, &at)? })
}

fn any(json: &Json, at: &At<'_>) -> Result<AnyType, JsonError> {
    let members = match json {
        Json::Null => return Ok(AnyType::default()),
        Json::Object(members) => members,
        json => return Ok(AnyType::from(scalar(json, at)?.as_str())),
    };
    let mut made = AnyType::default();
    for (key, json) in members {
        let outer = at;
        let at = At::Member(outer, key);
        match key.as_str() {
            TYPE => {
                let name = name(&scalar(json, &at)?);
                if QName::new(name.namespace.clone(), name.local.clone()).is_err() {
                    return Err(at.wrong(format!("{:?} is not the name of a type", name.local)));
                }
                made.type_name = Some(name);
            }
            // The element may be a node of a graph.
            ID => {}
            CONTENT => {
                let pieces = match json {
                    Json::Array(pieces) => pieces.as_slice(),
                    json => std::slice::from_ref(json),
                };
                for (number, json) in pieces.iter().enumerate() {
                    let at = At::Item(&at, number);
                    made.content.push(&match json {
                        Json::Object(members) if members.len() == 1 && members.contains_key(XML) => {
                            AnyPiece::Element(xml(&members[XML], &at)?)
                        }
                        json => AnyPiece::Text(scalar(json, &at)?),
                    });
                }
            }
            key => made.attributes.push(other(key, json, outer)?),
        }
    }
    Ok(made)
}

/// Reads an element as XML.
fn xml(json: &Json, at: &At<'_>) -> Result<Any, JsonError> {
    let Json::String(text) = json else { return Err(at.instead(json, "an element as XML")) };
    Any::parse(text).map_err(|error| at.wrong(format!("it is not an XML element: {error}")))
}

// ---- complex types ----

/// An object whose members must all be used.
struct Object<'j> {
    members: &'j Map<String, Json>,
    used: BTreeSet<&'j str>,
}

impl<'j> Object<'j> {
    fn of(json: &'j Json, at: &At<'_>) -> Result<Self, JsonError> {
        match json {
            Json::Object(members) => Ok(Object { members, used: BTreeSet::new() }),
            json => Err(at.instead(json, "an object")),
        }
    }

    fn take(&mut self, name: &str) -> Option<&'j Json> {
        let (name, json) = self.members.get_key_value(name)?;
        self.used.insert(name);
        Some(json)
    }

    fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    fn rest(&self) -> impl Iterator<Item = (&'j str, &'j Json)> {
        self.members.iter().map(|(name, json)| (name.as_str(), json)).filter(|(name, _)| !self.used.contains(name))
    }

    /// Reports unused members. Their problems are inserted before the problems from `reason` on, which they may have
    /// caused.
    fn finish(
        &self,
        expected: impl Iterator<Item = String>,
        reason: Option<usize>,
        reading: &mut Reading,
        at: &At<'_>,
    ) -> Result<(), JsonError> {
        let mut rest = self.rest().map(|(name, _)| name).peekable();
        if rest.peek().is_none() {
            return Ok(());
        }
        let expected: Vec<String> = expected.collect();
        let known: HashSet<&str> = expected.iter().map(String::as_str).collect();
        let mut before = reason.unwrap_or_else(|| reading.stored());
        // A known member may be unused only because of another problem.
        for name in rest.filter(|name| reason.is_none() || !known.contains(name)) {
            if reading.insert(before, || unknown(name, &expected, at))? {
                before += 1;
                if let Some(meant) = similar_name(name, &expected).filter(|meant| !self.has(meant)) {
                    reading.take_back(before, meant, at);
                }
            }
        }
        Ok(())
    }

    /// Returns the problem to report. If a member is missing, a misspelled member is the likely cause and is reported
    /// instead.
    fn reason(&self, problem: JsonError, expected: impl Iterator<Item = String>, at: &At<'_>) -> JsonError {
        let expected: Vec<String> = expected.collect();
        let is_unknown = |name: &&String| !matches!(name.as_str(), TYPE | ID | NIL) && !expected.contains(name);
        match self.members.keys().find(is_unknown) {
            Some(name) => unknown(name, &expected, at),
            None => problem,
        }
    }
}

/// Returns the expected name that a misspelled name probably stands for.
fn similar_name<'e>(name: &str, expected: &'e [String]) -> Option<&'e str> {
    castile_xsd::similar(name, expected.iter().map(String::as_str), 1).first().copied()
}

fn unknown(name: &str, expected: &[String], at: &At<'_>) -> JsonError {
    /// Maximum number of names that are listed.
    const SHOWN: usize = 12;
    if let Some(similar) = similar_name(name, expected) {
        return At::Member(at, name).wrong(format!("there is no such member; did you mean {similar}?"));
    }
    let mut shown = expected.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>();
    if expected.len() > SHOWN {
        shown.push("…");
    }
    let expected = if shown.is_empty() { "none".to_owned() } else { shown.join(", ") };
    At::Member(at, name).wrong(format!("there is no such member; there are {expected}"))
}

/// Reads the items of an array, leaving out those with problems.
fn items<T>(
    items: &[Json],
    reading: &mut Reading,
    at: &At<'_>,
    mut read: impl FnMut(&Json, &mut Reading, &At<'_>) -> Result<T, JsonError>,
) -> Result<Vec<T>, JsonError> {
    let mut values = Vec::with_capacity(items.len());
    for (number, json) in items.iter().enumerate() {
        let value = read(json, reading, &At::Item(at, number));
        values.extend(reading.record(value)?);
    }
    Ok(values)
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
    deeper::<GroupValue, _>(|| own_group(object, of, reading, at))
}

fn own_group(
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
        (Base::Complex(place), Some(_)) => match place.get() {
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
