//! Identity constraints (§3.11.4, cvc-identity-constraint): what their paths lead to is found while the document is
//! read, so only the values of fields are kept.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use castile_databinding::datatypes::Value;

use super::keys::{Key, Keys};
use super::path::Path;
use super::problem::Problems;
use super::values::MOST_KEPT;
use crate::ExpandedName;
use crate::components::{self, IdentityConstraint, IdentityConstraintCategory as Category};

/// How many selected elements may be open at a time: each start tag asks what the fields of all of them lead to.
const MOST_OPEN: usize = 1_000;

/// An identity constraint with its paths read.
#[derive(Debug)]
pub(super) struct Constraint {
    name: ExpandedName,
    category: Category,
    selector: Vec<Path>,
    fields: Vec<Vec<Path>>,
    /// Whether any keyref refers to it.
    is_referred: bool,
}

impl Constraint {
    pub(super) fn new(constraint: &IdentityConstraint, referred: &HashSet<ExpandedName>) -> Self {
        let paths = |path: &components::Path| Path::alternatives(&path.text, &path.namespaces);
        Constraint {
            name: constraint.name.clone(),
            category: constraint.category.clone(),
            selector: paths(&constraint.selector),
            fields: constraint.fields.iter().map(paths).collect(),
            is_referred: referred.contains(&constraint.name),
        }
    }
}

/// What is known of the constraints of the elements that are open.
#[derive(Debug, Default)]
pub(super) struct Identity {
    scopes: Vec<Scope>,
    /// Elements that selectors led to, the innermost last.
    targets: Vec<Target>,
    /// Elements that fields led to, the innermost last.
    waiting: Vec<Waiting>,
    kept: usize,
}

/// An element that has constraints.
#[derive(Debug)]
struct Scope {
    depth: usize,
    constraints: Rc<[Constraint]>,
    tables: Vec<Table>,
    /// The keys of elements within, by the name of the constraint.
    within: HashMap<ExpandedName, Keys>,
}

#[derive(Debug, Default)]
struct Table {
    keys: Keys,
    /// Of a keyref: what it refers to, and where.
    references: Vec<(Key, usize)>,
}

#[derive(Debug)]
struct Target {
    depth: usize,
    offset: usize,
    scope: usize,
    constraint: usize,
    fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq)]
enum Field {
    Absent,
    Found(Value),
    /// It is there, and has no value that could be compared; that is told elsewhere.
    Unknown,
    /// A nillable element.
    Nillable,
}

#[derive(Debug)]
struct Waiting {
    depth: usize,
    target: usize,
    field: usize,
}

/// The value of an element or attribute that a field may lead to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FieldValue {
    Value(Value),
    /// It is not valid, or nil.
    Unknown,
    /// It has no simple type.
    NotSimple,
}

/// An attribute of the element that begins.
#[derive(Debug)]
pub(super) struct FieldAttribute {
    pub(super) namespace: String,
    pub(super) local: String,
    pub(super) value: FieldValue,
}

impl Identity {
    /// Whether there is anything to look at.
    pub(super) fn is_idle(&self) -> bool {
        self.scopes.is_empty()
    }

    /// An element at `depth`, from 0, has begun. `name` tells the names of those that are open by their depth.
    pub(super) fn start<'n>(
        &mut self,
        (depth, offset): (usize, usize),
        constraints: Option<Rc<[Constraint]>>,
        attributes: &[FieldAttribute],
        name: impl Fn(usize) -> (&'n str, &'n str),
        problems: &mut Problems,
    ) {
        if let Some(constraints) = constraints {
            let tables = constraints.iter().map(|_| Table::default()).collect();
            self.scopes.push(Scope { depth, constraints, tables, within: HashMap::new() });
        }
        let leads = |path: &Path, from: usize| path.leads_to(depth - from, |index| name(from + 1 + index));
        for (number, scope) in self.scopes.iter().enumerate() {
            for (index, constraint) in scope.constraints.iter().enumerate() {
                if constraint.selector.iter().any(|path| leads(path, scope.depth)) {
                    if self.targets.len() == MOST_OPEN {
                        let message = format!("more than {MOST_OPEN} selected elements are open");
                        problems.add("cvc-identity-constraint", offset, message);
                        break;
                    }
                    let fields = vec![Field::Absent; constraint.fields.len()];
                    self.targets.push(Target { depth, offset, scope: number, constraint: index, fields });
                }
            }
        }
        for (number, target) in self.targets.iter_mut().enumerate() {
            let constraint = &self.scopes[target.scope].constraints[target.constraint];
            for (index, (paths, field)) in constraint.fields.iter().zip(&mut target.fields).enumerate() {
                // What several paths lead to is one node all the same.
                let met: Vec<&Path> = paths.iter().filter(|path| leads(path, target.depth)).collect();
                let tests = || met.iter().filter_map(|path| path.attribute.as_ref());
                for one in attributes.iter().filter(|one| tests().any(|test| test.matches(&one.namespace, &one.local)))
                {
                    field.take(one.value.clone(), constraint, offset, problems);
                }
                let is_element = met.iter().any(|path| path.attribute.is_none());
                if is_element {
                    self.waiting.push(Waiting { depth, target: number, field: index });
                }
            }
        }
    }

    /// Whether the value of the element at `depth` is asked for.
    pub(super) fn is_asked(&self, depth: usize) -> bool {
        self.waiting.last().is_some_and(|waiting| waiting.depth == depth)
    }

    /// The element at `depth` has ended, with this value.
    pub(super) fn end(
        &mut self,
        (depth, offset): (usize, usize),
        value: &FieldValue,
        is_nillable: bool,
        problems: &mut Problems,
    ) {
        while let Some(waiting) = self.waiting.pop_if(|waiting| waiting.depth == depth) {
            let target = &mut self.targets[waiting.target];
            let constraint = &self.scopes[target.scope].constraints[target.constraint];
            let field = &mut target.fields[waiting.field];
            field.take(value.clone(), constraint, offset, problems);
            if is_nillable && constraint.category == Category::Key {
                *field = Field::Nillable;
            }
        }
        while let Some(target) = self.targets.pop_if(|target| target.depth == depth) {
            self.selected(target, problems);
        }
        while let Some(scope) = self.scopes.pop_if(|scope| scope.depth == depth) {
            self.close(scope, problems);
        }
    }

    /// All fields of an element that a selector led to are known.
    fn selected(&mut self, target: Target, problems: &mut Problems) {
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
        self.kept += 1;
        if self.kept > MOST_KEPT {
            let message = format!("there are more than {MOST_KEPT} keys and references to them");
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
                    let message = format!("{key} is there already, and {kind} {name} lets it occur once");
                    problems.add(rule, target.offset, message);
                }
                table.keys.insert(key);
            }
        }
    }

    /// The element with these constraints has ended: references are looked up, and keys handed to those around it.
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
                    let message = format!("{key} is none of {refer}, to which keyref {name} refers");
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
    /// A path leads to an element or attribute with this value.
    fn take(&mut self, value: FieldValue, constraint: &Constraint, offset: usize, problems: &mut Problems) {
        let problem = match (&self, value) {
            (Field::Absent, FieldValue::Value(value)) => {
                *self = Field::Found(value);
                return;
            }
            (Field::Absent, FieldValue::Unknown) => None,
            (Field::Absent, FieldValue::NotSimple) => Some("leads to an element that has no simple value"),
            (Field::Unknown, _) => None,
            _ => Some("leads to two values, expected one at most"),
        };
        *self = Field::Unknown;
        if let Some(problem) = problem {
            let message = format!("a field of {} {problem}", constraint.name.local());
            problems.add("cvc-identity-constraint.3", offset, message);
        }
    }
}
