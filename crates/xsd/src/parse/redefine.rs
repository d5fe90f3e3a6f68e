//! `<redefine>` (§4.2.2): the redefining definition takes the name, and its references to that name lead to the
//! definition it redefines, which becomes anonymous. Redefinitions of redefinitions form a chain, outermost first.

use std::collections::HashMap;

use castile_xml::tree::{Element, ElementId as NodeId};

use super::Components;
use crate::{ExpandedName, FileId};

/// A symbol space of global components (§2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Type,
    Element,
    Attribute,
    Group,
    AttributeGroup,
    Notation,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Element => "element",
            Self::Attribute => "attribute",
            Self::Group => "group",
            Self::AttributeGroup => "attribute group",
            Self::Notation => "notation",
        }
    }
}

impl Components {
    /// The slot that a global name stands for.
    pub(crate) fn slot(&mut self, kind: Kind, name: &ExpandedName) -> u32 {
        match kind {
            Kind::Type => self.types.named(name),
            Kind::Element => self.elements.named(name),
            Kind::Attribute => self.attributes.named(name),
            Kind::Group => self.groups.named(name),
            Kind::AttributeGroup => self.attribute_groups.named(name),
            Kind::Notation => 0,
        }
    }

    fn reserve(&mut self, kind: Kind) -> u32 {
        match kind {
            Kind::Type => self.types.reserve(),
            Kind::Group => self.groups.reserve(),
            // Only these three can be redefined.
            _ => self.attribute_groups.reserve(),
        }
    }
}

/// All redefinitions of the documents at hand.
#[derive(Debug, Default)]
pub(crate) struct Redefinitions {
    /// The slots of each redefined name, outermost first; the last is the original's.
    chains: HashMap<(Kind, ExpandedName), Vec<u32>>,
    /// The element that redefines → its slot and that of the definition it redefines.
    by_element: HashMap<(FileId, NodeId), (u32, u32)>,
    /// The slot of an original definition → that of what redefines it.
    owners: HashMap<(Kind, u32), u32>,
}

impl Redefinitions {
    /// Notes a redefinition. The outer one must come before the inner one.
    pub(crate) fn add(
        &mut self,
        element: Element<'_>,
        file: FileId,
        target_namespace: &str,
        components: &mut Components,
    ) {
        let kind = match element.local() {
            "simpleType" | "complexType" => Kind::Type,
            "group" => Kind::Group,
            "attributeGroup" => Kind::AttributeGroup,
            _ => return,
        };
        let Some(local) = element.attribute("name") else { return };
        let name = ExpandedName::new(target_namespace, local.trim());
        let original = components.reserve(kind);
        let first = components.slot(kind, &name);
        let chain = self.chains.entry((kind, name)).or_insert_with(|| vec![first]);
        let slot = chain[chain.len() - 1];
        chain.push(original);
        self.owners.insert((kind, original), slot);
        self.by_element.insert((file, element.id()), (slot, original));
    }

    /// The slot of a redefining element and of what it redefines.
    pub(super) fn slots(&self, element: Element<'_>, file: FileId) -> Option<(u32, u32)> {
        self.by_element.get(&(file, element.id())).copied()
    }

    /// The slot that the original definition of a redefined name goes to.
    pub(super) fn original(&self, kind: Kind, name: &ExpandedName) -> Option<u32> {
        self.chains.get(&(kind, name.clone())).and_then(|chain| chain.last()).copied()
    }

    /// The redefining definition that an original one, by its slot, belongs to.
    pub(super) fn owner(&self, kind: Kind, slot: u32) -> Option<u32> {
        self.owners.get(&(kind, slot)).copied()
    }
}
