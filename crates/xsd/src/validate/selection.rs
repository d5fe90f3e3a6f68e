//! Matches the paths of identity constraints (§3.11.4): elements for selectors, and values for fields.
//!
//! Matching is driven by the start and end of elements, of a document that is read or of one that is written.

use std::collections::HashSet;
use std::rc::Rc;

use super::path::Path;
use crate::ExpandedName;
use crate::components::{self, IdentityConstraint, IdentityConstraintCategory as Category};

/// Maximum number of open selected elements. Each start tag is matched against the fields of all of them.
pub(super) const MAX_OPEN: usize = 1_000;

/// An identity constraint with parsed paths.
#[derive(Debug)]
pub(crate) struct Constraint {
    pub(crate) name: ExpandedName,
    pub(crate) category: Category,
    selector: Vec<Path>,
    fields: Vec<Vec<Path>>,
    /// Whether a keyref refers to it.
    pub(super) is_referred: bool,
}

impl Constraint {
    pub(crate) fn new(constraint: &IdentityConstraint, referred: &HashSet<ExpandedName>) -> Self {
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

/// The constraints of open elements, and what was found for each field.
#[derive(Debug, Default)]
pub(crate) struct Selection<F> {
    scopes: Vec<Scope>,
    /// Open elements that selectors matched, innermost last.
    targets: Vec<Target<F>>,
    /// Open elements that fields matched, innermost last.
    waiting: Vec<Waiting>,
    /// The attributes of the last started element that fields match.
    attributes: Vec<PendingAttribute>,
}

/// An element that has constraints.
#[derive(Debug)]
struct Scope {
    depth: usize,
    constraints: Rc<[Constraint]>,
}

/// An element that a selector matched.
#[derive(Debug)]
pub(crate) struct Target<F> {
    depth: usize,
    pub(crate) offset: usize,
    /// The index of the open element with constraints, and the index of the constraint.
    pub(crate) scope: usize,
    pub(crate) constraint: usize,
    pub(crate) fields: Vec<F>,
}

#[derive(Debug)]
struct Waiting {
    depth: usize,
    target: usize,
    field: usize,
}

/// An attribute that a path of a field matches.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PendingAttribute {
    target: usize,
    field: usize,
    path: usize,
}

impl<F: Clone + Default> Selection<F> {
    /// Handles the start of an element at `depth`, from 0. `name` returns the names of open elements by depth. Returns
    /// false if too many selected elements are open.
    pub(crate) fn start<'n>(
        &mut self,
        (depth, offset): (usize, usize),
        constraints: Option<Rc<[Constraint]>>,
        name: impl Fn(usize) -> (&'n str, &'n str),
    ) -> bool {
        self.scopes.extend(constraints.map(|constraints| Scope { depth, constraints }));
        self.attributes.clear();
        let leads = |path: &Path, from: usize| path.matches(depth - from, |index| name(from + 1 + index));
        let mut is_enough = true;
        for (number, scope) in self.scopes.iter().enumerate() {
            for (index, constraint) in scope.constraints.iter().enumerate() {
                if constraint.selector.iter().any(|path| leads(path, scope.depth)) {
                    if self.targets.len() == MAX_OPEN {
                        is_enough = false;
                        break;
                    }
                    let fields = vec![F::default(); constraint.fields.len()];
                    self.targets.push(Target { depth, offset, scope: number, constraint: index, fields });
                }
            }
        }
        for (number, target) in self.targets.iter().enumerate() {
            let constraint = &self.scopes[target.scope].constraints[target.constraint];
            for (index, paths) in constraint.fields.iter().enumerate() {
                let mut is_element = false;
                for (at, path) in paths.iter().enumerate().filter(|(_, path)| leads(path, target.depth)) {
                    match path.attribute {
                        Some(_) => self.attributes.push(PendingAttribute { target: number, field: index, path: at }),
                        None => is_element = true,
                    }
                }
                // If several paths lead to an element it is still one node.
                if is_element {
                    self.waiting.push(Waiting { depth, target: number, field: index });
                }
            }
        }
        is_enough
    }

    /// Calls `take` for the fields that lead to this attribute of the last started element.
    pub(crate) fn attribute(&mut self, namespace: &str, local: &str, mut take: impl FnMut(&mut F, &Constraint)) {
        let mut last = None;
        for &PendingAttribute { target, field, path } in &self.attributes {
            let target_of = &mut self.targets[target];
            let constraint = &self.scopes[target_of.scope].constraints[target_of.constraint];
            let test = constraint.fields[field][path].attribute.as_ref();
            if last != Some((target, field)) && test.is_some_and(|test| test.matches(namespace, local)) {
                take(&mut target_of.fields[field], constraint);
                last = Some((target, field));
            }
        }
    }

    /// Calls `take` for the fields that lead to the element at `depth`, which ends.
    pub(crate) fn element(&mut self, depth: usize, mut take: impl FnMut(&mut F, &Constraint)) {
        while let Some(waiting) = self.waiting.pop_if(|waiting| waiting.depth == depth) {
            let target = &mut self.targets[waiting.target];
            let constraint = &self.scopes[target.scope].constraints[target.constraint];
            take(&mut target.fields[waiting.field], constraint);
        }
    }

    /// Returns true if a field leads to the element at `depth`.
    pub(crate) fn is_field(&self, depth: usize) -> bool {
        self.waiting.last().is_some_and(|waiting| waiting.depth == depth)
    }

    /// Returns whether this attribute of the last started element is a field: `Some(true)` if it is a field of a key.
    pub(crate) fn is_field_attribute(&self, namespace: &str, local: &str) -> Option<bool> {
        let constraint = |asked: &PendingAttribute| {
            let target = &self.targets[asked.target];
            let constraint = &self.scopes[target.scope].constraints[target.constraint];
            let test = constraint.fields[asked.field][asked.path].attribute.as_ref();
            test.is_some_and(|test| test.matches(namespace, local)).then_some(constraint)
        };
        self.attributes.iter().filter_map(constraint).map(|constraint| constraint.category == Category::Key).max()
    }

    /// Returns whether an element at `depth`, below the open ones, is a field or on the path to one: `Some(true)` for a
    /// key.
    pub(crate) fn is_on_path<'n>(&self, depth: usize, name: impl Fn(usize) -> (&'n str, &'n str)) -> Option<bool> {
        let leads = |target: &&Target<F>| {
            let constraint = &self.scopes[target.scope].constraints[target.constraint];
            let name = |index| name(target.depth + 1 + index);
            constraint.fields.iter().flatten().any(|path| path.begins_with(depth - target.depth, name))
        };
        let categories = self.targets.iter().filter(leads);
        categories
            .map(|target| self.scopes[target.scope].constraints[target.constraint].category == Category::Key)
            .max()
    }

    /// Returns the cost of starting an element: the number of constraints and of open selected elements.
    pub(crate) fn open(&self) -> usize {
        self.targets.len() + self.scopes.iter().map(|scope| scope.constraints.len()).sum::<usize>()
    }

    /// Removes and returns a selected element at `depth`, which ends. All its fields are known.
    pub(crate) fn end_target(&mut self, depth: usize) -> Option<Target<F>> {
        self.targets.pop_if(|target| target.depth == depth)
    }

    /// Returns true if the element at `depth`, which ends, had constraints.
    pub(crate) fn end_scope(&mut self, depth: usize) -> bool {
        self.scopes.pop_if(|scope| scope.depth == depth).is_some()
    }
}
