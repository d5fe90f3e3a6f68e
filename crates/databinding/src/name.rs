use std::fmt;
use std::sync::Arc;

use crate::schema::is_same;

/// The name of an element or attribute with its namespace (Namespaces in XML 1.0 §2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ExpandedName {
    /// The namespace name, empty for none. The names of one message share it.
    pub namespace: Arc<str>,
    /// The local name.
    pub local: String,
}

impl ExpandedName {
    /// Creates a name. An empty `namespace` means no namespace.
    pub fn new(namespace: impl Into<Arc<str>>, local: impl Into<String>) -> Self {
        ExpandedName { namespace: namespace.into(), local: local.into() }
    }

    /// Whether the name is equal to this one. An empty `namespace` means no namespace.
    #[inline]
    pub fn is(&self, namespace: &str, local: &str) -> bool {
        self.local == local && is_same(&self.namespace, namespace)
    }
}

impl fmt::Display for ExpandedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.namespace {
            "" => f.write_str(&self.local),
            namespace => write!(f, "{{{namespace}}}{}", self.local),
        }
    }
}
