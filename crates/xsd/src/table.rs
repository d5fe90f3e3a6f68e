use std::collections::HashMap;

use crate::{ExpandedName, Location};

/// Components of one kind while documents are parsed.
///
/// A component may be referred to before it is defined. The reference creates a slot, which the definition fills later,
/// so ids never change.
#[derive(Debug)]
pub(crate) struct Table<T> {
    slots: Vec<Option<T>>,
    names: HashMap<ExpandedName, u32>,
    /// All references by name, to report those to missing components.
    references: Vec<(u32, Location)>,
    /// The slots of global components, in the order of their definitions.
    globals: Vec<u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), names: HashMap::new(), references: Vec::new(), globals: Vec::new() }
    }
}

impl<T> Table<T> {
    /// Returns the slot of the global component `name`, and records a reference to it at `location`.
    pub(crate) fn refer(&mut self, name: &ExpandedName, location: Location) -> u32 {
        let slot = self.named(name);
        self.references.push((slot, location));
        slot
    }

    /// Returns the slot of the global component `name`.
    pub(crate) fn named(&mut self, name: &ExpandedName) -> u32 {
        if let Some(&slot) = self.names.get(name) {
            return slot;
        }
        let slot = self.reserve();
        self.names.insert(name.clone(), slot);
        slot
    }

    /// Creates a slot for a component without a name.
    pub(crate) fn reserve(&mut self) -> u32 {
        self.slots.push(None);
        self.slots.len() as u32 - 1
    }

    /// Returns the number of slots.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Fills a slot.
    pub(crate) fn define(&mut self, slot: u32, component: T) {
        self.slots[slot as usize] = Some(component);
    }

    /// Fills the slot of a global component.
    pub(crate) fn define_global(&mut self, slot: u32, component: T) {
        self.define(slot, component);
        self.globals.push(slot);
    }

    /// Returns the namespaces of names that are referred to but not defined so far.
    pub(crate) fn undefined_namespaces(&self) -> impl Iterator<Item = &str> {
        self.names.iter().filter(|&(_, &slot)| self.slots[slot as usize].is_none()).map(|(name, _)| name.namespace())
    }

    /// Returns the components, the names, the globals in order and the references to missing components. Empty slots
    /// are filled by `missing`.
    pub(crate) fn finish(self, missing: impl Fn(Option<&ExpandedName>) -> T) -> Finished<T> {
        let Self { slots, mut names, references, globals } = self;
        let name_of: HashMap<u32, ExpandedName> = names.iter().map(|(name, &slot)| (slot, name.clone())).collect();
        let dangling = references
            .into_iter()
            .filter(|&(slot, _)| slots[slot as usize].is_none())
            .filter_map(|(slot, location)| Some((slot, name_of.get(&slot)?.clone(), location)))
            .collect();
        names.retain(|_, slot| slots[*slot as usize].is_some());
        let components = slots
            .into_iter()
            .enumerate()
            .map(|(slot, component)| component.unwrap_or_else(|| missing(name_of.get(&(slot as u32)))))
            .collect();
        Finished { components, names, globals, dangling }
    }
}

/// A [`Table`] with all slots filled.
pub(crate) struct Finished<T> {
    pub(crate) components: Vec<T>,
    pub(crate) names: HashMap<ExpandedName, u32>,
    pub(crate) globals: Vec<u32>,
    pub(crate) dangling: Vec<(u32, ExpandedName, Location)>,
}
