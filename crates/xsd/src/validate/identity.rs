//! Identity constraints (§3.11.4, cvc-identity-constraint). Paths are matched while the document is read, so only the
//! values of fields are stored.

use std::collections::HashMap;
use std::rc::Rc;

use castile_datatypes::Value;

use super::keys::{Key, Keys};
use super::problem::Problems;
use super::selection::{Constraint, MAX_OPEN, Selection, Target};
use super::values::MAX_STORED;
use crate::ExpandedName;
use crate::components::IdentityConstraintCategory as Category;

/// The state of the constraints of open elements.
#[derive(Debug, Default)]
pub(super) struct Identity {
    selection: Selection<Field>,
    /// What was found so far for each scope.
    scopes: Vec<Scope>,
    stored: usize,
}

/// What was found within an element that has constraints.
#[derive(Debug)]
struct Scope {
    constraints: Rc<[Constraint]>,
    tables: Vec<Table>,
    /// The keys of elements within, by the name of the constraint.
    within: HashMap<ExpandedName, Keys>,
}

#[derive(Debug, Default)]
struct Table {
    keys: Keys,
    /// For a keyref: the referenced keys, with their offsets.
    references: Vec<(Key, usize)>,
}

#[derive(Debug, Clone, Default, PartialEq)]
enum Field {
    #[default]
    Absent,
    Found(Value),
    /// The field is present, but has no value that can be compared. That is reported elsewhere.
    Unknown,
    /// The field is a nillable element.
    Nillable,
}

/// The value of an element or attribute that a field may lead to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FieldValue {
    Value(Value),
    /// The value is invalid, or the element is nil.
    Unknown,
    /// The element has no simple type.
    NotSimple,
}

/// An attribute of the element that starts.
#[derive(Debug)]
pub(super) struct FieldAttribute {
    pub(super) namespace: String,
    pub(super) local: String,
    pub(super) value: FieldValue,
}

impl Identity {
    /// Returns true if no open element has constraints.
    pub(super) fn is_idle(&self) -> bool {
        self.scopes.is_empty()
    }

    /// Handles the start of an element at `depth`, from 0. `name` returns the names of open elements by depth.
    pub(super) fn start<'n>(
        &mut self,
        (depth, offset): (usize, usize),
        constraints: Option<Rc<[Constraint]>>,
        attributes: &[FieldAttribute],
        name: impl Fn(usize) -> (&'n str, &'n str),
        problems: &mut Problems,
    ) {
        if let Some(constraints) = &constraints {
            let tables = constraints.iter().map(|_| Table::default()).collect();
            self.scopes.push(Scope { constraints: constraints.clone(), tables, within: HashMap::new() });
        }
        if !self.selection.start((depth, offset), constraints, name) {
            let message = format!("more than {MAX_OPEN} selected elements are open");
            problems.add("cvc-identity-constraint", offset, message);
        }
        for one in attributes {
            let take = |field: &mut Field, constraint: &Constraint| {
                field.take(one.value.clone(), constraint, offset, problems);
            };
            self.selection.attribute(&one.namespace, &one.local, take);
        }
    }

    /// Returns true if the value of the element at `depth` is needed.
    pub(super) fn is_needed(&self, depth: usize) -> bool {
        self.selection.is_field(depth)
    }

    /// Handles the end of the element at `depth`, with this value.
    pub(super) fn end(
        &mut self,
        (depth, offset): (usize, usize),
        value: &FieldValue,
        is_nillable: bool,
        problems: &mut Problems,
    ) {
        self.selection.element(depth, |field, constraint| {
            field.take(value.clone(), constraint, offset, problems);
            if is_nillable && constraint.category == Category::Key {
                *field = Field::Nillable;
            }
        });
        while let Some(target) = self.selection.end_target(depth) {
            self.selected(target, problems);
        }
        if self.selection.end_scope(depth)
            && let Some(scope) = self.scopes.pop()
        {
            self.close(scope, problems);
        }
    }

    /// Handles the end of a selected element, when all its fields are known.
    fn selected(&mut self, target: Target<Field>, problems: &mut Problems) {
        let scope = &mut self.scopes[target.scope];
        let (constraint, table) = (&scope.constraints[target.constraint], &mut scope.tables[target.constraint]);
        let name = constraint.name.local();
        if target.fields.contains(&Field::Unknown) {
            return;
        }
        let values = target.fields.iter().map(|field| match field {
            Field::Found(value) => Some(value.clone()),
            _ => None,
        });
        let Some(key) = values.collect::<Option<Vec<_>>>().map(Key) else {
            if constraint.category == Category::Key {
                let (rule, problem) = match target.fields.contains(&Field::Absent) {
                    true => ("cvc-identity-constraint.4.2.1", "lacks a field"),
                    false => ("cvc-identity-constraint.4.2.3", "has a nillable element for a field"),
                };
                problems.add(rule, target.offset, format!("this element {problem} of key {name}"));
            }
            return;
        };
        self.stored += 1;
        if self.stored > MAX_STORED {
            let message = format!("there are more than {MAX_STORED} keys and references to them");
            problems.add("cvc-identity-constraint", target.offset, message);
            return;
        }
        match &constraint.category {
            Category::Keyref { .. } => table.references.push((key, target.offset)),
            category => {
                if table.keys.has(&key) {
                    let (rule, kind) = match category {
                        Category::Key => ("cvc-identity-constraint.4.2.2", "key"),
                        _ => ("cvc-identity-constraint.4.1", "unique constraint"),
                    };
                    let message = format!("{key} occurs twice, but {kind} {name} allows it only once");
                    problems.add(rule, target.offset, message);
                }
                table.keys.insert(key);
            }
        }
    }

    /// Handles the end of an element with constraints: looks up references, and passes keys to the scopes around it.
    fn close(&mut self, mut scope: Scope, problems: &mut Problems) {
        let mut own: HashMap<ExpandedName, Keys> = HashMap::new();
        let mut references = Vec::new();
        for (constraint, table) in scope.constraints.iter().zip(std::mem::take(&mut scope.tables)) {
            match &constraint.category {
                Category::Keyref { refer } => references.push((constraint, refer, table.references)),
                _ if constraint.is_referred => {
                    let mut keys = table.keys;
                    keys.join_below(scope.within.remove(&constraint.name).unwrap_or_default());
                    own.insert(constraint.name.clone(), keys);
                }
                _ => {}
            }
        }
        own.extend(scope.within.drain());
        for (constraint, refer, references) in references {
            let keys = own.get(refer);
            for (key, offset) in references {
                if !keys.is_some_and(|keys| keys.has(&key)) {
                    let (name, refer) = (constraint.name.local(), refer.local());
                    let message = format!("{key} is not a value of {refer}, to which keyref {name} refers");
                    problems.add("cvc-identity-constraint.4.3", offset, message);
                }
            }
        }
        let Some((outer, others)) = self.scopes.split_last_mut() else { return };
        for (name, keys) in own {
            let refers = |scope: &Scope| {
                let to_it = |one: &Constraint| matches!(&one.category, Category::Keyref { refer } if *refer == name);
                scope.constraints.iter().any(to_it)
            };
            if refers(outer) || others.iter().any(refers) {
                outer.within.entry(name).or_default().join(keys);
            }
        }
    }
}

impl Field {
    /// Sets the value of the element or attribute that a path leads to.
    fn take(&mut self, value: FieldValue, constraint: &Constraint, offset: usize, problems: &mut Problems) {
        let problem = match (&self, value) {
            (Field::Absent, FieldValue::Value(value)) => {
                *self = Field::Found(value);
                return;
            }
            (Field::Absent, FieldValue::Unknown) => None,
            (Field::Absent, FieldValue::NotSimple) => Some("selects an element without a simple value"),
            (Field::Unknown, _) => None,
            _ => Some("selects two values, expected at most one"),
        };
        *self = Field::Unknown;
        if let Some(problem) = problem {
            let message = format!("a field of {} {problem}", constraint.name.local());
            problems.add("cvc-identity-constraint.3", offset, message);
        }
    }
}
