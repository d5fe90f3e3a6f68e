//! Makes instances satisfy identity constraints (§3.11.4): fields of keys are present and unique, and references lead
//! to keys.
//!
//! An instance is made twice. The first time, choices and the values of fields are recorded. Then invalid values are
//! replaced, and the second time the choices are repeated with these values. An instance that can't be corrected is
//! discarded.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use castile_datatypes::Value;
use castile_datatypes::facets::SimpleTypeDefinition;

use super::steps::BYTES_PER_STEP;
use super::values::{self, Text, Unprefixed};
use crate::components::IdentityConstraintCategory as Category;
use crate::validate::keys::Key;
use crate::validate::selection::{Constraint, Selection, Target};
use crate::{ElementId, ExpandedName, Schema, TypeId};

/// How many other values are tried for a field, and how many keys for a reference.
const ATTEMPTS: usize = 64;
/// The cost of storing a key or a reference.
const STEPS_PER_KEY: usize = 4;

/// The identity constraints in the current instance.
pub(super) struct Keys<'s> {
    schema: &'s Schema,
    /// Whether any element of the schema has identity constraints.
    pub(super) are_there: bool,
    constraints: HashMap<ElementId, Rc<[Constraint]>>,
    types: HashMap<TypeId, Other>,
    state: State,
    /// How many values were written, including those that are not fields.
    written: usize,
    /// Replacements of values, by the number of the value. `None` means that the value is left out.
    replaced: HashMap<usize, Option<Text>>,
    found: Found,
    /// Steps since they were last taken.
    steps: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Identity constraints are ignored.
    Idle,
    /// Fields are recorded.
    Recording,
    /// Values are replaced.
    Replacing,
}

/// What was recorded in an instance.
#[derive(Default)]
struct Found {
    selection: Selection<Option<usize>>,
    /// The names of the open elements.
    names: Vec<ExpandedName>,
    scopes: Vec<Scope>,
    scopes_begun: usize,
    fields: Vec<Field>,
    keys: Vec<Tuple>,
    /// The values of the keys of each constraint, with the last key that has them.
    used: HashMap<ExpandedName, HashMap<Key, usize>>,
    /// References, and the keys that they refer to.
    references: Vec<(Vec<usize>, usize)>,
    has_changed: bool,
    is_broken: bool,
}

/// An open element with constraints.
struct Scope {
    number: usize,
    constraints: Rc<[Constraint]>,
    /// The number of keys when the element started.
    keys_before: usize,
    /// References, by the index of their constraint.
    references: Vec<(usize, Vec<usize>)>,
}

/// The value of a field.
struct Field {
    /// The number of the value in the instance; `None` for a value that is not written.
    number: Option<usize>,
    type_id: TypeId,
    value: Option<Value>,
    text: Text,
    is_fixed: bool,
    is_optional: bool,
    /// The keys that contain the field.
    keys: Vec<usize>,
}

/// The fields of an element that a key or a unique constraint selects.
struct Tuple {
    name: ExpandedName,
    /// The scope that it belongs to, and the number of scopes around it.
    scope: usize,
    depth: usize,
    fields: Vec<usize>,
}

/// The source of further values of a type.
struct Other {
    definition: Option<Rc<SimpleTypeDefinition>>,
    texts: Vec<Text>,
    next: usize,
}

/// A value that is about to be written.
pub(super) struct Written<'n> {
    /// The name of an attribute; `None` for the content of an element.
    pub(super) attribute: Option<&'n ExpandedName>,
    pub(super) type_id: TypeId,
    /// Whether the value is fixed, or is a default that applies.
    pub(super) is_fixed: bool,
    pub(super) is_optional: bool,
}

impl<'s> Keys<'s> {
    pub(super) fn new(schema: &'s Schema) -> Self {
        Keys {
            schema,
            are_there: schema.elements().any(|(_, element)| !element.identity_constraints.is_empty()),
            constraints: HashMap::new(),
            types: HashMap::new(),
            state: State::Idle,
            written: 0,
            replaced: HashMap::new(),
            found: Found::default(),
            steps: 0,
        }
    }

    /// Starts an instance and records its fields.
    pub(super) fn record(&mut self) {
        (self.state, self.written, self.found) = (State::Recording, 0, Found::default());
        self.replaced.clear();
    }

    /// Starts the instance again, with replaced values.
    pub(super) fn replace(&mut self) {
        (self.state, self.written) = (State::Replacing, 0);
    }

    /// Returns the number of steps since the last call.
    pub(super) fn take_steps(&mut self) -> usize {
        std::mem::take(&mut self.steps)
    }

    // ---- events of the writer ----

    pub(super) fn start(&mut self, name: &ExpandedName, id: Option<ElementId>) {
        if self.state != State::Recording {
            return;
        }
        let schema = self.schema;
        let constraints = id.filter(|&id| !schema[id].identity_constraints.is_empty()).map(|id| {
            let none = HashSet::new();
            let made = || schema[id].identity_constraints.iter().map(|one| Constraint::new(one, &none)).collect();
            self.constraints.entry(id).or_insert_with(made).clone()
        });
        let found = &mut self.found;
        found.names.push(name.clone());
        if let Some(constraints) = &constraints {
            let (number, keys_before) = (found.scopes_begun, found.keys.len());
            found.scopes.push(Scope { number, constraints: constraints.clone(), keys_before, references: Vec::new() });
            found.scopes_begun += 1;
        }
        let names = &found.names;
        let name = |depth: usize| names.get(depth).map_or(("", ""), |name| (name.namespace(), name.local()));
        found.is_broken |= !found.selection.start((names.len() - 1, 0), constraints, name);
        self.steps += found.selection.open();
    }

    /// Returns the value to write instead of `text`, or `None` if it is left out.
    pub(super) fn value(&mut self, written: &Written<'_>, text: Text) -> Option<Text> {
        let number = self.written;
        match self.state {
            State::Idle => return Some(text),
            State::Replacing => {
                self.written += 1;
                return self.replaced.remove(&number).unwrap_or(Some(text));
            }
            State::Recording => self.written += 1,
        }
        self.field(written, Some(number), &text);
        Some(text)
    }

    /// Records a value of the element that is fixed or not written.
    pub(super) fn unwritten(&mut self, type_id: TypeId, text: &str) {
        if self.state == State::Recording {
            let written = Written { attribute: None, type_id, is_fixed: true, is_optional: false };
            self.field(&written, None, &Text::Plain(text.to_owned()));
        }
    }

    /// Records that the element is nil.
    pub(super) fn nil(&mut self) {
        if self.state == State::Recording {
            self.found.selection.element(self.found.names.len() - 1, |_, _| {});
        }
    }

    /// Records an attribute that has no declaration.
    pub(super) fn undeclared(&mut self, namespace: &str, local: &str) {
        if self.state == State::Recording {
            let is_broken = &mut self.found.is_broken;
            self.found.selection.attribute(namespace, local, |_, _| *is_broken = true);
        }
    }

    fn field(&mut self, written: &Written<'_>, number: Option<usize>, text: &Text) {
        let found = &mut self.found;
        let id = found.fields.len();
        let (mut is_needed, mut is_second) = (false, false);
        let take = |field: &mut Option<usize>, _: &Constraint| {
            is_needed = true;
            is_second |= field.replace(id).is_some();
        };
        match written.attribute {
            Some(name) => found.selection.attribute(name.namespace(), name.local(), take),
            None => found.selection.element(found.names.len() - 1, take),
        }
        self.steps += 1;
        if is_needed {
            found.is_broken |= is_second;
            let value = self.value_of(written.type_id, text);
            let Written { type_id, is_fixed, is_optional, .. } = *written;
            let text = text.clone();
            let keys = Vec::new();
            self.found.fields.push(Field { number, type_id, value, text, is_fixed, is_optional, keys });
        }
    }

    pub(super) fn end(&mut self) {
        if self.state != State::Recording {
            return;
        }
        let depth = self.found.names.len() - 1;
        // A field that is still waiting at the end tag leads to an element without a simple value.
        let is_broken = &mut self.found.is_broken;
        self.found.selection.element(depth, |_, _| *is_broken = true);
        while let Some(target) = self.found.selection.end_target(depth) {
            self.selected(target);
        }
        if self.found.selection.end_scope(depth)
            && let Some(scope) = self.found.scopes.pop()
        {
            self.close(scope);
        }
        self.found.names.pop();
    }

    // ---- required parts ----

    /// Returns true if this attribute of the current element must be present: if it is a field of a key, or if it is a
    /// field and has a default.
    pub(super) fn needs_attribute(&self, name: &ExpandedName, has_default: bool) -> bool {
        let asked = || self.found.selection.is_field_attribute(name.namespace(), name.local());
        self.state == State::Recording && asked().is_some_and(|is_key| is_key || has_default)
    }

    /// Returns how often a child with this name should occur, given the chosen `count`. An element that is a field
    /// occurs at most once, and exactly once if it is a field of a key.
    pub(super) fn occurrence(&mut self, name: &ExpandedName, count: u32) -> u32 {
        if self.state != State::Recording || self.found.scopes.is_empty() {
            return count;
        }
        self.steps += self.found.selection.open();
        let names = &self.found.names;
        let name_at = |depth: usize| {
            let name = names.get(depth).unwrap_or(name);
            (name.namespace(), name.local())
        };
        match self.found.selection.is_on_path(names.len(), name_at) {
            Some(true) => 1,
            Some(false) => count.min(1),
            None => count,
        }
    }

    // ---- keys and references ----

    fn selected(&mut self, target: Target<Option<usize>>) {
        let found = &mut self.found;
        let Some(scope) = found.scopes.get_mut(target.scope) else { return };
        let Some(constraint) = scope.constraints.get(target.constraint) else { return };
        let Some(fields) = target.fields.into_iter().collect::<Option<Vec<usize>>>() else {
            found.is_broken |= constraint.category == Category::Key;
            return;
        };
        self.steps += STEPS_PER_KEY + fields.len();
        if let Category::Keyref { .. } = constraint.category {
            scope.references.push((target.constraint, fields));
            return;
        }
        let (name, scope, id) = (constraint.name.clone(), scope.number, found.keys.len());
        for &field in &fields {
            found.fields[field].keys.push(id);
        }
        found.keys.push(Tuple { name, scope, depth: target.scope, fields });
        if let Some(other) = self.equal(id) {
            // Equal values are allowed for keys of different scopes.
            let is_within = self.found.keys[other].scope == scope;
            let differs = self.differ(id);
            self.found.is_broken |= is_within && !differs;
        }
        self.claim(id);
    }

    /// Returns another key of the same constraint with equal values.
    fn equal(&self, id: usize) -> Option<usize> {
        let found = &self.found;
        let tuple = &found.keys[id];
        let key = key_of(&found.fields, &tuple.fields)?;
        found.used.get(&tuple.name)?.get(&key).copied().filter(|&other| other != id)
    }

    fn claim(&mut self, id: usize) {
        let found = &mut self.found;
        let tuple = &found.keys[id];
        if let Some(key) = key_of(&found.fields, &tuple.fields) {
            found.used.entry(tuple.name.clone()).or_default().insert(key, id);
        }
    }

    /// Changes a field of the key, so that no other key has the same values. Returns false if that isn't possible.
    fn differ(&mut self, id: usize) -> bool {
        for field in self.found.keys[id].fields.clone() {
            let Field { type_id, is_fixed, ref keys, .. } = self.found.fields[field];
            if is_fixed || keys.len() > 1 {
                continue;
            }
            for number in 0..2 * ATTEMPTS {
                self.steps += 1;
                // Enumeration values may be used again, for keys of different scopes.
                let is_again = number == ATTEMPTS;
                let Some(text) = self.other(type_id, is_again) else { break };
                let Some(value) = self.value_of(type_id, &text) else { continue };
                let before = self.found.fields[field].value.replace(value);
                if self.equal(id).is_none() {
                    self.set(field, text);
                    return true;
                }
                self.found.fields[field].value = before;
            }
        }
        false
    }

    /// Returns the next text for a type, which may be invalid.
    fn other(&mut self, type_id: TypeId, is_again: bool) -> Option<Text> {
        self.add_type(type_id);
        let other = self.types.get_mut(&type_id)?;
        let number = if is_again { 0 } else { other.next };
        other.next = number + 1;
        match (other.texts.get(number), other.texts.first()?) {
            (Some(text), _) => Some(text.clone()),
            (None, Text::Plain(first)) => Some(Text::Plain(values::further(first, number - other.texts.len()))),
            (None, Text::Name(_)) => None,
        }
    }

    fn add_type(&mut self, type_id: TypeId) {
        let schema = self.schema;
        self.types.entry(type_id).or_insert_with(|| Other {
            definition: schema.simple_type_definition(type_id).ok().map(Rc::new),
            texts: values::values(schema, type_id).0,
            next: 0,
        });
    }

    fn value_of(&mut self, type_id: TypeId, text: &Text) -> Option<Value> {
        match text {
            Text::Name(name) => Some(Value::String(name.to_string())),
            Text::Plain(text) => {
                self.add_type(type_id);
                self.steps += text.len() / BYTES_PER_STEP;
                self.types.get(&type_id)?.definition.as_ref()?.read(text, &Unprefixed).ok()
            }
        }
    }

    fn set(&mut self, field: usize, text: Text) {
        let Field { number, .. } = self.found.fields[field];
        if let Some(number) = number {
            self.replaced.insert(number, Some(text.clone()));
        }
        self.found.fields[field].text = text;
        self.found.has_changed = true;
    }

    /// Closes an element with constraints. Its references are changed to refer to keys within it.
    fn close(&mut self, scope: Scope) {
        let mut candidates: HashMap<usize, Rc<[usize]>> = HashMap::new();
        for (turn, (constraint, fields)) in scope.references.into_iter().enumerate() {
            let Category::Keyref { refer } = &scope.constraints[constraint].category else { continue };
            let keys = match candidates.get(&constraint) {
                Some(known) => known.clone(),
                None => {
                    self.steps += self.found.keys.len() - scope.keys_before;
                    let within = self.found.keys.iter().enumerate().skip(scope.keys_before);
                    let depth = self.found.scopes.len();
                    let within = within.filter(|(_, key)| key.name == *refer && key.depth >= depth).map(|(id, _)| id);
                    candidates.entry(constraint).or_insert(within.collect()).clone()
                }
            };
            self.refer(fields, refer, &keys, turn);
        }
    }

    /// Makes a reference refer to one of these keys. Different turns choose different keys.
    fn refer(&mut self, fields: Vec<usize>, name: &ExpandedName, keys: &[usize], turn: usize) {
        self.steps += 1;
        let own = key_of(&self.found.fields, &fields);
        let known = own.and_then(|own| self.found.used.get(name)?.get(&own).copied());
        if let Some(key) = known.filter(|key| keys.binary_search(key).is_ok()) {
            self.found.references.push((fields, key));
            return;
        }
        for &key in keys.iter().cycle().skip(turn % keys.len().max(1)).take(keys.len().min(ATTEMPTS)) {
            if self.copy(&fields, key) {
                self.found.references.push((fields, key));
                return;
            }
        }
        // A reference with an optional field is left out, unless the field is also part of a key.
        let optional = fields.iter().find(|&&field| {
            let field = &self.found.fields[field];
            field.is_optional && field.keys.is_empty()
        });
        match optional.and_then(|&field| self.found.fields[field].number) {
            Some(number) => {
                self.replaced.insert(number, None);
                self.found.has_changed = true;
            }
            None => self.found.is_broken = true,
        }
    }

    /// Copies the values of a key to the fields of a reference. Returns false if the fields can't have these values.
    fn copy(&mut self, fields: &[usize], key: usize) -> bool {
        let from = self.found.keys[key].fields.clone();
        self.steps += from.len();
        let before: Vec<(Text, Option<Value>)> = fields
            .iter()
            .map(|&field| (self.found.fields[field].text.clone(), self.found.fields[field].value.clone()))
            .collect();
        let mut is_possible = fields.len() == from.len();
        for (&field, &from) in fields.iter().zip(&from) {
            let (text, value) = (self.found.fields[from].text.clone(), self.found.fields[from].value.clone());
            let Field { type_id, is_fixed, .. } = self.found.fields[field];
            let is_same = self.found.fields[field].value == value;
            is_possible &= is_same || (!is_fixed && self.value_of(type_id, &text) == value);
            if !is_same {
                (self.found.fields[field].text, self.found.fields[field].value) = (text, value);
            }
        }
        // The fields of a reference may also be part of a key.
        let own: Vec<usize> = fields.iter().flat_map(|&field| self.found.fields[field].keys.iter().copied()).collect();
        is_possible &= own.iter().all(|&id| self.equal(id).is_none());
        for (&field, (text, value)) in fields.iter().zip(before) {
            if !is_possible {
                (self.found.fields[field].text, self.found.fields[field].value) = (text, value);
            } else if self.found.fields[field].value != value {
                let text = self.found.fields[field].text.clone();
                self.set(field, text);
            }
        }
        if is_possible {
            own.into_iter().for_each(|id| self.claim(id));
        }
        is_possible
    }

    // ---- end of the instance ----

    /// Returns true if the instance must be made again with replaced values, false if it is valid, and `None` if its
    /// constraints can't be satisfied.
    pub(super) fn mended(&mut self) -> Option<bool> {
        self.state = State::Idle;
        let found = &self.found;
        self.steps += found.keys.len() + found.references.len();
        let mut keys = HashSet::new();
        let is_one = |tuple: &Tuple| {
            let key = key_of(&found.fields, &tuple.fields);
            key.is_some_and(|key| keys.insert((tuple.name.clone(), tuple.scope, key)))
        };
        let are_keys = found.keys.iter().all(is_one);
        let refers = |(fields, key): &(Vec<usize>, usize)| {
            key_of(&found.fields, fields) == key_of(&found.fields, &found.keys[*key].fields)
        };
        let holds = are_keys && !found.is_broken && found.references.iter().all(refers);
        holds.then_some(found.has_changed)
    }
}

fn key_of(fields: &[Field], of: &[usize]) -> Option<Key> {
    of.iter().map(|&field| fields[field].value.clone()).collect::<Option<Vec<_>>>().map(Key)
}
