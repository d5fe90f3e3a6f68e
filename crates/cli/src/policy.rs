//! What the policies of a contract assert, wherever they hang.

use std::collections::HashMap;

use castile_wsdl::{Definitions, Extension, is_policy};
use castile_xml::tree::{Document, Element};
use castile_xsd::Location;

/// What a policy asks for.
#[derive(Debug, Clone)]
pub(crate) struct Assertion {
    pub(crate) namespace: String,
    /// Its local name behind those of the assertions that it stands in: `TransportBinding/AlgorithmSuite/Basic256`.
    pub(crate) path: String,
    /// Whether it may be left out: it says so, or there is an alternative to it.
    pub(crate) is_optional: bool,
    pub(crate) location: Location,
}

impl Assertion {
    /// Its local name.
    pub(crate) fn local(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Whether it stands in one of this local name.
    pub(crate) fn is_in(&self, local: &str) -> bool {
        self.path.split('/').rev().skip(1).any(|outer| outer == local)
    }
}

/// How deep policies are looked into, and how many assertions of one place are taken.
const DEEPEST: usize = 32;
const MOST: usize = 1_000;

/// The policies that references name.
pub(crate) struct Policies<'d> {
    named: HashMap<String, &'d Extension>,
}

impl<'d> Policies<'d> {
    pub(crate) fn of(definitions: &'d Definitions) -> Self {
        let mut named = HashMap::new();
        for extension in definitions.extensions.iter().filter(|one| is_policy(one.name.namespace())) {
            let Some(document) = extension.document() else { continue };
            let Some(policy) = document.root().elements().next() else { continue };
            let id = policy.attributes().find(|one| one.local().eq_ignore_ascii_case("id"));
            if let Some(id) = id {
                named.entry(id.value().trim().to_owned()).or_insert(extension);
            }
        }
        Self { named }
    }

    /// What the policies among these extensions assert, with those that they refer to.
    pub(crate) fn assertions(&self, extensions: &[Extension]) -> Vec<Assertion> {
        let mut found = Vec::new();
        for extension in extensions.iter().filter(|one| is_policy(one.name.namespace())) {
            self.of_extension(extension, DEEPEST, &mut found);
        }
        found
    }

    fn of_extension(&self, extension: &Extension, deepest: usize, found: &mut Vec<Assertion>) {
        let Some(document) = extension.document() else { return };
        if let Some(element) = document.root().elements().next() {
            let place = Place { extension, document: &document, within: String::new(), is_optional: false };
            self.collect(element, &place, deepest, found);
        }
    }

    fn collect(&self, element: Element<'_>, place: &Place<'_>, deepest: usize, found: &mut Vec<Assertion>) {
        if deepest == 0 || found.len() >= MOST {
            return;
        }
        let children = |place: &Place<'_>, found: &mut Vec<Assertion>| {
            element.elements().for_each(|child| self.collect(child, place, deepest - 1, found));
        };
        match (is_policy(element.namespace()), element.local()) {
            (true, "PolicyReference") => {
                let id = element.attribute("URI").and_then(|uri| uri.trim().strip_prefix('#'));
                if let Some(named) = id.and_then(|id| self.named.get(id)) {
                    self.of_extension(named, deepest - 1, found);
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
                let separator = if place.within.is_empty() { "" } else { "/" };
                let path = format!("{}{separator}{local}", place.within);
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
