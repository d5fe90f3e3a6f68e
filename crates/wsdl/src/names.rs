//! Messages, port types, bindings and services by name (WSDL 1.1 §2.1.1).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use castile_xml::tree::Element;
use castile_xsd::{Diagnostics, ExpandedName, Location, Opened};

use crate::extensions::wsdl_children;
use crate::read::Context;

/// A symbol space of WSDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Message,
    PortType,
    Binding,
    Service,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::PortType => "port type",
            Self::Binding => "binding",
            Self::Service => "service",
        }
    }
}

/// What is defined so far.
#[derive(Debug, Default)]
pub(crate) struct Names {
    read: HashMap<(Kind, ExpandedName), (u32, Location)>,
    /// All that the documents define, to tell what is missing from what is there and broken.
    defined: HashSet<(Kind, ExpandedName)>,
    /// The least of those that have a local name.
    by_local: HashMap<(Kind, String), ExpandedName>,
}

impl Names {
    pub(crate) fn of(documents: &[Opened]) -> Self {
        let mut defined = HashSet::new();
        for opened in documents {
            let root = opened.document.root();
            let target_namespace = root.attribute("targetNamespace").unwrap_or_default().trim();
            for child in wsdl_children(root) {
                let kind = match child.local() {
                    "message" => Kind::Message,
                    "portType" => Kind::PortType,
                    "binding" => Kind::Binding,
                    _ => continue,
                };
                let local = child.attribute("name").unwrap_or_default().trim();
                defined.insert((kind, ExpandedName::new(target_namespace, local)));
            }
        }
        let mut by_local: HashMap<(Kind, String), ExpandedName> = HashMap::new();
        for (kind, name) in &defined {
            let known = by_local.entry((*kind, name.local().to_owned())).or_insert_with(|| name.clone());
            *known = known.clone().min(name.clone());
        }
        Self { read: HashMap::new(), defined, by_local }
    }

    pub(crate) fn add(
        &mut self,
        kind: Kind,
        name: &ExpandedName,
        id: u32,
        location: Location,
        diagnostics: &mut Diagnostics,
    ) -> Option<()> {
        match self.read.entry((kind, name.clone())) {
            Entry::Vacant(entry) => {
                entry.insert((id, location));
                Some(())
            }
            Entry::Occupied(entry) => {
                let note = diagnostics.the_first(entry.get().1);
                diagnostics.error(location, format!("{} {name} is defined twice", kind.name())).with_note(note);
                None
            }
        }
    }

    /// What an attribute of `element` refers to.
    pub(crate) fn resolve(
        &self,
        kind: Kind,
        context: &Context,
        element: Element<'_>,
        attribute: &str,
        diagnostics: &mut Diagnostics,
    ) -> Option<u32> {
        let Some(value) = element.attribute(attribute) else {
            let message = format!("<{}> has no `{attribute}`, expected the name of a {}", element.local(), kind.name());
            diagnostics.error(context.location(element), message);
            return None;
        };
        let name = match ExpandedName::of_qname(element, value) {
            Ok(name) => name,
            Err(error) => {
                diagnostics.error(context.location(element), error.to_string());
                return None;
            }
        };
        let key = (kind, name);
        if let Some(&(id, _)) = self.read.get(&key) {
            return Some(id);
        }
        // What is wrong with it has been said.
        if self.defined.contains(&key) {
            return None;
        }
        let name = key.1;
        let message = format!("{} {name} is not defined", kind.name());
        // WSDL 1.1 §2.1.1 asks for QNames, and some contracts give a name without its prefix.
        let ours = ExpandedName::new(context.target_namespace.as_str(), name.local());
        if let Some(&(id, _)) = self.read.get(&(kind, ours.clone())).filter(|_| !value.contains(':')) {
            diagnostics.warning(context.location(element), message).with_note(format!("{ours} is taken"));
            return Some(id);
        }
        let similar = self.by_local.get(&(kind, name.local().to_owned()));
        diagnostics.error(context.location(element), message).note = similar.map(|other| format!("there is {other}"));
        None
    }
}
