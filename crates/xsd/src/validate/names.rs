//! Numbers for the names in a schema.

use std::collections::HashMap;
use std::sync::Arc;

use crate::{ExpandedName, Schema};

/// The number of the name of an element or attribute of the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NameId(u32);

impl NameId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Numbers by namespace, then by local name, so that a lookup copies nothing.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_namespace: HashMap<Arc<str>, HashMap<Arc<str>, NameId>>,
    count: u32,
}

impl Names {
    pub(super) fn of(schema: &Schema) -> Self {
        let mut names = Names::default();
        schema.elements().for_each(|(_, element)| names.add(&element.name));
        schema.attributes.iter().for_each(|attribute| names.add(&attribute.name));
        names
    }

    fn add(&mut self, name: &ExpandedName) {
        let (namespace, local) = (name.namespace(), name.local());
        if self.find(namespace, local).is_none() {
            let id = NameId(self.count);
            self.count += 1;
            self.by_namespace.entry(namespace.into()).or_default().insert(local.into(), id);
        }
    }

    /// Returns the number of a name, or `None` if the schema has no such name.
    pub(super) fn find(&self, namespace: &str, local: &str) -> Option<NameId> {
        self.by_namespace.get(namespace)?.get(local).copied()
    }

    /// Returns the number of a name of the schema.
    pub(super) fn get(&self, name: &ExpandedName) -> Option<NameId> {
        self.find(name.namespace(), name.local())
    }

    pub(super) fn len(&self) -> usize {
        self.count as usize
    }
}
