//! What the policies of a contract assert, wherever they hang.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use crate::extensions::is_policy;
use crate::model::{Definitions, Extension};
use castile_xml::tree::{Document, Element};
use castile_xsd::{FileId, Location};

/// What a policy asks for.
#[derive(Debug, Clone)]
pub struct Assertion {
    /// The namespace of its element.
    pub namespace: String,
    /// Its local name behind those of the assertions that it stands in: `TransportBinding/AlgorithmSuite/Basic256`.
    pub path: String,
    /// Whether it may be left out: it says so, or there is an alternative to it.
    pub is_optional: bool,
    /// Where it stands.
    pub location: Location,
}

impl Assertion {
    /// Its local name.
    pub fn local(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Whether it stands in one of this local name.
    pub fn is_in(&self, local: &str) -> bool {
        self.path.split('/').rev().skip(1).any(|outer| outer == local)
    }
}

/// How deep policies are looked into, and how many assertions of one place are taken.
const DEEPEST: usize = 32;
const MOST: usize = 1_000;
/// So many elements of policies are looked at in all: policies that refer to one another again and again stand for any number.
const MOST_STEPS: usize = 2_000_000;
/// So many bytes are read in the time that an element takes.
const BYTES_A_STEP: usize = 64;

/// The policies that references name.
pub struct Policies<'d> {
    named: HashMap<Id, &'d Extension>,
    known: RefCell<HashMap<Id, Known>>,
    steps: Cell<usize>,
    /// How often something was left out since it stands too deep.
    cuts: Cell<usize>,
}

/// The id of a policy, in the document that it stands in: a reference to one that is within a document means its own.
type Id = (FileId, String);

/// What a policy asserts that was followed before; nothing yet while it is followed.
#[derive(Clone, Default)]
struct Known {
    found: Rc<Vec<Assertion>>,
    /// How deep it was looked into, if that was not deep enough.
    cut_at: Option<usize>,
}

impl<'d> Policies<'d> {
    /// The policies of a contract.
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
        Self { named, known: RefCell::default(), steps: Cell::new(0), cuts: Cell::new(0) }
    }

    /// Whether not all was looked at, for it is too much.
    pub fn is_cut(&self) -> bool {
        self.steps.get() > MOST_STEPS
    }

    /// False once it is too much.
    fn spend(&self, steps: usize) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps));
        !self.is_cut()
    }

    /// What the policies among these extensions assert, with those that they refer to.
    pub fn assertions(&self, extensions: &[Extension]) -> Vec<Assertion> {
        let mut found = Vec::new();
        for extension in extensions.iter().filter(|one| is_policy(one.name.namespace())) {
            self.of_extension(extension, DEEPEST, &mut found);
        }
        found
    }

    fn of_extension(&self, extension: &Extension, deepest: usize, found: &mut Vec<Assertion>) {
        if !self.spend(extension.source.len() / BYTES_A_STEP) {
            return;
        }
        let Some(document) = extension.document() else { return };
        if let Some(element) = document.root().elements().next() {
            let place = Place { extension, document: &document, within: String::new(), is_optional: false };
            self.collect(element, &place, deepest, found);
        }
    }

    /// What the policy of an id in a document asserts.
    fn of_named(&self, file: FileId, id: &str, deepest: usize) -> Rc<Vec<Assertion>> {
        let id = (file, id.to_owned());
        if let Some(known) = self.known.borrow().get(&id)
            && known.cut_at.is_none_or(|cut_at| cut_at >= deepest)
        {
            // What was cut is cut where it is taken, too.
            self.cuts.set(self.cuts.get() + usize::from(known.cut_at.is_some()));
            return Rc::clone(&known.found);
        }
        let Some(extension) = self.named.get(&id) else { return Rc::default() };
        self.known.borrow_mut().insert(id.clone(), Known::default());
        let cuts = self.cuts.get();
        let mut found = Vec::new();
        self.of_extension(extension, deepest, &mut found);
        let cut_at = (self.cuts.get() > cuts).then_some(deepest);
        let known = Known { found: Rc::new(found), cut_at };
        let found = Rc::clone(&known.found);
        self.known.borrow_mut().insert(id, known);
        found
    }

    fn collect(&self, element: Element<'_>, place: &Place<'_>, deepest: usize, found: &mut Vec<Assertion>) {
        if deepest == 0 {
            self.cuts.set(self.cuts.get() + 1);
            return;
        }
        if found.len() >= MOST || !self.spend(1) {
            return;
        }
        let children = |place: &Place<'_>, found: &mut Vec<Assertion>| {
            element.elements().for_each(|child| self.collect(child, place, deepest - 1, found));
        };
        match (is_policy(element.namespace()), element.local()) {
            (true, "PolicyReference") => {
                let id = element.attribute("URI").and_then(|uri| uri.trim().strip_prefix('#'));
                let file = place.extension.location.file;
                for one in id.map(|id| self.of_named(file, id, deepest - 1)).iter().flat_map(|known| known.iter()) {
                    if found.len() >= MOST || !self.spend(1) {
                        break;
                    }
                    let is_optional = one.is_optional || place.is_optional;
                    found.push(Assertion { path: place.step(&one.path), is_optional, ..one.clone() });
                }
            }
            (true, "ExactlyOne") => {
                let is_optional = place.is_optional || element.elements().nth(1).is_some();
                children(&Place { is_optional, within: place.within.clone(), ..*place }, found);
            }
            (true, _) => children(place, found),
            (false, local) => {
                let optional = element.attributes().find(|one| one.local() == "Optional" && is_policy(one.namespace()));
                let says_so = optional.is_some_and(|one| matches!(one.value().trim(), "true" | "1"));
                let is_optional = place.is_optional || says_so;
                let path = place.step(local);
                found.push(Assertion {
                    namespace: element.namespace().to_owned(),
                    path: path.clone(),
                    is_optional,
                    location: place.extension.location_in(place.document, element.offset()),
                });
                children(&Place { is_optional, within: path, ..*place }, found);
            }
        }
    }
}

/// Where in a policy.
struct Place<'p> {
    extension: &'p Extension,
    document: &'p Document,
    /// The local names of the assertions around.
    within: String,
    is_optional: bool,
}

impl Place<'_> {
    /// The path of an assertion here.
    fn step(&self, local: &str) -> String {
        let separator = if self.within.is_empty() { "" } else { "/" };
        format!("{}{separator}{local}", self.within)
    }
}
