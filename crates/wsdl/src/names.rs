//! Looks up messages, port types, bindings and services by name (WSDL 1.1 §2.1.1).

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use castile_xml::tree::Element;
use castile_xsd::{Defect, Diagnostics, ExpandedName, Location, Opened};

use crate::context::Context;
use crate::extensions::wsdl_children;

/// A symbol space of WSDL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SymbolSpace {
    Message,
    PortType,
    Binding,
    Service,
}

impl SymbolSpace {
    fn name(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::PortType => "port type",
            Self::Binding => "binding",
            Self::Service => "service",
        }
    }
}

/// The definitions read so far.
#[derive(Debug, Default)]
pub(crate) struct Names {
    read: HashMap<(SymbolSpace, ExpandedName), First>,
    /// All names that the documents define, to distinguish missing definitions from broken ones.
    defined: HashSet<(SymbolSpace, ExpandedName)>,
    /// For each local name, the smallest name that has it.
    by_local: HashMap<(SymbolSpace, String), ExpandedName>,
}

#[derive(Debug)]
struct First {
    id: u32,
    location: Location,
    /// The text without white space, to distinguish copies from conflicts.
    text: String,
}

impl Names {
    pub(crate) fn of(documents: &[Opened]) -> Self {
        let mut defined = HashSet::new();
        for opened in documents {
            let root = opened.document.root();
            let target_namespace = root.attribute("targetNamespace").unwrap_or_default().trim();
            for child in wsdl_children(root) {
                let kind = match child.local() {
                    "message" => SymbolSpace::Message,
                    "portType" => SymbolSpace::PortType,
                    "binding" => SymbolSpace::Binding,
                    _ => continue,
                };
                let local = child.attribute("name").unwrap_or_default().trim();
                defined.insert((kind, ExpandedName::new(target_namespace, local)));
            }
        }
        let mut by_local: HashMap<(SymbolSpace, String), ExpandedName> = HashMap::new();
        for (kind, name) in &defined {
            let known = by_local.entry((*kind, name.local().to_owned())).or_insert_with(|| name.clone());
            *known = known.clone().min(name.clone());
        }
        Self { read: HashMap::new(), defined, by_local }
    }

    /// Adds a definition.
    ///
    /// If the name is already defined, that is reported, and the id of the first definition is returned. If the two
    /// definitions differ, a defect is returned too, because it is unclear which one is intended.
    pub(crate) fn add(
        &mut self,
        kind: SymbolSpace,
        name: &ExpandedName,
        id: u32,
        (element, location): (Element<'_>, Location),
        diagnostics: &mut Diagnostics,
    ) -> Result<(), (u32, Option<Defect>)> {
        let text: String = element.source().split_whitespace().collect();
        match self.read.entry((kind, name.clone())) {
            Entry::Vacant(entry) => {
                entry.insert(First { id, location, text });
                Ok(())
            }
            Entry::Occupied(entry) => {
                let first = entry.get();
                let mark = diagnostics.mark();
                let note = diagnostics.the_first(first.location);
                diagnostics.error(location, format!("{} {name} is defined twice", kind.name())).with_note(note);
                let defect = diagnostics.defect_since(mark).filter(|_| first.text != text);
                diagnostics.forgive(mark);
                Err((first.id, defect))
            }
        }
    }

    /// Resolves the reference in an attribute of `element`.
    pub(crate) fn resolve(
        &self,
        kind: SymbolSpace,
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
        if let Some(first) = self.read.get(&key) {
            return Some(first.id);
        }
        // The definition exists, and its error was reported.
        if self.defined.contains(&key) {
            diagnostics.depends(context.location(element), format!("{} {} is broken", kind.name(), key.1.local()));
            return None;
        }
        let name = key.1;
        let message = format!("{} {name} is not defined", kind.name());
        // WSDL 1.1 §2.1.1 requires QNames, but some contracts use a name without its prefix.
        let ours = ExpandedName::new(context.target_namespace.as_str(), name.local());
        if let Some(first) = self.read.get(&(kind, ours.clone())).filter(|_| !value.contains(':')) {
            diagnostics.warning(context.location(element), message).with_note(format!("{ours} is taken"));
            return Some(first.id);
        }
        let similar = self.by_local.get(&(kind, name.local().to_owned()));
        diagnostics.error(context.location(element), message).note = similar.map(|other| format!("there is {other}"));
        None
    }
}
