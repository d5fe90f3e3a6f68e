//! Reads the assertions of a contract's policies, wherever they are attached.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::extensions::is_policy;
use crate::model::{Definitions, Extension};
use castile_xml::tree::{Document, Element};
use castile_xsd::{FileId, Location};

/// A requirement in a policy.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// The namespace of its element.
    pub namespace: String,
    /// Its local name, after those of the assertions that contain it: `TransportBinding/AlgorithmSuite/Basic256`.
    pub path: String,
    /// Whether it is marked as optional or has an alternative.
    pub is_optional: bool,
    /// The location in the document.
    pub location: Location,
}

impl Assertion {
    /// Returns its local name.
    pub fn local(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Returns true if an assertion with this local name contains it.
    pub fn is_in(&self, local: &str) -> bool {
        self.path.split('/').rev().skip(1).any(|outer| outer == local)
    }
}

/// Maximum depth of policies that are examined, and maximum number of assertions at one place.
const MAX_DEPTH: usize = 32;
const MAX_ASSERTIONS: usize = 1_000;
/// Maximum number of policy elements that are examined. It bounds the work for policies that refer to each other many
/// times.
const MAX_STEPS: usize = 2_000_000;
/// How many bytes are parsed in the time that an element takes.
const BYTES_PER_STEP: usize = 64;

/// The policies that references can name.
pub struct Policies<'d> {
    named: HashMap<Id, &'d Extension>,
    cache: RefCell<HashMap<Id, CachedPolicy>>,
    steps: Cell<usize>,
    /// How often an assertion was left out because of its depth.
    cuts: Cell<usize>,
}

/// The id of a policy and its document. A reference leads to a policy in the same document.
type Id = (FileId, String);

/// The cached assertions of a policy. They are empty while the policy is being read.
#[derive(Clone, Default)]
struct CachedPolicy {
    found: Rc<Vec<Assertion>>,
    /// The remaining depth with which it was read, if that was not sufficient.
    truncated_at: Option<usize>,
}

impl<'d> Policies<'d> {
    /// Collects the policies of a contract.
    pub fn of(definitions: &'d Definitions) -> Self {
        let mut named = HashMap::new();
        for extension in definitions.extensions.iter().filter(|one| is_policy(one.name.namespace())) {
            let Some(document) = extension.document() else { continue };
            let Some(policy) = document.root().elements().next() else { continue };
            let id = policy.attributes().find(|one| one.local().eq_ignore_ascii_case("id"));
            if let Some(id) = id {
                let id = id.value().trim().to_owned();
                named.entry((extension.location.file, id)).or_insert(extension);
            }
        }
        Self { named, cache: RefCell::default(), steps: Cell::new(0), cuts: Cell::new(0) }
    }

    /// Returns true if the work limit was exceeded, so that not all policies were examined.
    pub fn is_truncated(&self) -> bool {
        self.steps.get() > MAX_STEPS
    }

    /// Counts work. Returns false if the limit is exceeded.
    fn spend(&self, steps: usize) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps));
        !self.is_truncated()
    }

    /// Returns the assertions of the policies among these extensions, including referenced policies.
    pub fn assertions(&self, extensions: &[Extension]) -> Vec<Assertion> {
        let mut found = Vec::new();
        for extension in extensions.iter().filter(|one| is_policy(one.name.namespace())) {
            self.of_extension(extension, MAX_DEPTH, &mut found);
        }
        found
    }

    fn of_extension(&self, extension: &Extension, deepest: usize, found: &mut Vec<Assertion>) {
        if !self.spend(extension.source.len() / BYTES_PER_STEP) {
            return;
        }
        let Some(document) = extension.document() else { return };
        if let Some(element) = document.root().elements().next() {
            let position = Position { extension, document: &document, within: String::new(), is_optional: false };
            self.collect(element, &position, deepest, found);
        }
    }

    /// Returns the assertions of the policy with this id in a document.
    fn of_named(&self, file: FileId, id: &str, deepest: usize) -> Rc<Vec<Assertion>> {
        let id = (file, id.to_owned());
        if let Some(known) = self.cache.borrow().get(&id)
            && known.truncated_at.is_none_or(|truncated_at| truncated_at >= deepest)
        {
            // A result that was cut also counts as cut for the referring policy.
            self.cuts.set(self.cuts.get() + usize::from(known.truncated_at.is_some()));
            return Rc::clone(&known.found);
        }
        let Some(extension) = self.named.get(&id) else { return Rc::default() };
        self.cache.borrow_mut().insert(id.clone(), CachedPolicy::default());
        let cuts = self.cuts.get();
        let mut found = Vec::new();
        self.of_extension(extension, deepest, &mut found);
        let truncated_at = (self.cuts.get() > cuts).then_some(deepest);
        let known = CachedPolicy { found: Rc::new(found), truncated_at };
        let found = Rc::clone(&known.found);
        self.cache.borrow_mut().insert(id, known);
        found
    }

    fn collect(&self, element: Element<'_>, position: &Position<'_>, deepest: usize, found: &mut Vec<Assertion>) {
        if deepest == 0 {
            self.cuts.set(self.cuts.get() + 1);
            return;
        }
        if found.len() >= MAX_ASSERTIONS || !self.spend(1) {
            return;
        }
        let children = |position: &Position<'_>, found: &mut Vec<Assertion>| {
            element.elements().for_each(|child| self.collect(child, position, deepest - 1, found));
        };
        match (is_policy(element.namespace()), element.local()) {
            (true, "PolicyReference") => {
                let id = element.attribute("URI").and_then(|uri| uri.trim().strip_prefix('#'));
                let file = position.extension.location.file;
                for one in id.map(|id| self.of_named(file, id, deepest - 1)).iter().flat_map(|known| known.iter()) {
                    if found.len() >= MAX_ASSERTIONS || !self.spend(1) {
                        break;
                    }
                    let is_optional = one.is_optional || position.is_optional;
                    found.push(Assertion { path: position.step(&one.path), is_optional, ..one.clone() });
                }
            }
            (true, "ExactlyOne") => {
                let is_optional = position.is_optional || element.elements().nth(1).is_some();
                children(&Position { is_optional, within: position.within.clone(), ..*position }, found);
            }
            (true, _) => children(position, found),
            (false, local) => {
                let optional = element.attributes().find(|one| one.local() == "Optional" && is_policy(one.namespace()));
                let says_so = optional.is_some_and(|one| matches!(one.value().trim(), "true" | "1"));
                let is_optional = position.is_optional || says_so;
                let path = position.step(local);
                found.push(Assertion {
                    namespace: element.namespace().to_owned(),
                    path: path.clone(),
                    is_optional,
                    location: position.extension.location_in(position.document, element.offset()),
                });
                children(&Position { is_optional, within: path, ..*position }, found);
            }
        }
    }
}

/// A position in a policy.
struct Position<'p> {
    extension: &'p Extension,
    document: &'p Document,
    /// The local names of the surrounding assertions.
    within: String,
    is_optional: bool,
}

impl Position<'_> {
    /// Returns the path of an assertion at this position.
    fn step(&self, local: &str) -> String {
        let separator = if self.within.is_empty() { "" } else { "/" };
        format!("{}{separator}{local}", self.within)
    }
}
