//! `<redefine>` (§4.2.2).
//!
//! The redefining definition takes over the name. Its references to that name lead to the redefined definition, which
//! becomes anonymous. Redefinitions of redefinitions form a chain, outermost first.

use std::collections::HashMap;

use castile_xml::tree::{Element, ElementId as NodeId};

use super::Components;
use crate::{ExpandedName, FileId};

/// A symbol space of global components (§2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SymbolSpace {
    Type,
    Element,
    Attribute,
    Group,
    AttributeGroup,
    Notation,
}

impl SymbolSpace {
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
    /// Returns the slot of a global name.
    pub(crate) fn slot(&mut self, kind: SymbolSpace, name: &ExpandedName) -> u32 {
        match kind {
            SymbolSpace::Type => self.types.named(name),
            SymbolSpace::Element => self.elements.named(name),
            SymbolSpace::Attribute => self.attributes.named(name),
            SymbolSpace::Group => self.groups.named(name),
            SymbolSpace::AttributeGroup => self.attribute_groups.named(name),
            SymbolSpace::Notation => 0,
        }
    }

    fn reserve(&mut self, kind: SymbolSpace) -> u32 {
        match kind {
            SymbolSpace::Type => self.types.reserve(),
            SymbolSpace::Group => self.groups.reserve(),
            // Only types, groups and attribute groups can be redefined.
            _ => self.attribute_groups.reserve(),
        }
    }
}

/// All redefinitions of the loaded documents.
#[derive(Debug, Default)]
pub(crate) struct Redefinitions {
    /// The slots of each redefined name, outermost first. The last slot is that of the original definition.
    chains: HashMap<(SymbolSpace, ExpandedName), Vec<u32>>,
    /// Redefining element → its slot and the slot of the redefined definition.
    by_element: HashMap<(FileId, NodeId), (u32, u32)>,
    /// Slot of an original definition → slot of its redefinition.
    owners: HashMap<(SymbolSpace, u32), u32>,
}

impl Redefinitions {
    /// Records a redefinition. Outer redefinitions must be added before inner ones.
    pub(crate) fn add(
        &mut self,
        element: Element<'_>,
        file: FileId,
        target_namespace: &str,
        components: &mut Components,
    ) {
        let kind = match element.local() {
            "simpleType" | "complexType" => SymbolSpace::Type,
            "group" => SymbolSpace::Group,
            "attributeGroup" => SymbolSpace::AttributeGroup,
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

    /// Returns the slots of a redefining element and of the redefined definition.
    pub(super) fn slots(&self, element: Element<'_>, file: FileId) -> Option<(u32, u32)> {
        self.by_element.get(&(file, element.id())).copied()
    }

    /// Returns the slot for the original definition of a redefined name.
    pub(super) fn original(&self, kind: SymbolSpace, name: &ExpandedName) -> Option<u32> {
        self.chains.get(&(kind, name.clone())).and_then(|chain| chain.last()).copied()
    }

    /// Returns the slot of the redefinition that the original definition in `slot` belongs to.
    pub(super) fn owner(&self, kind: SymbolSpace, slot: u32) -> Option<u32> {
        self.owners.get(&(kind, slot)).copied()
    }
}
