use std::fmt;
use std::sync::Arc;

use castile_xml::tree::{Element, QNameError};

/// A namespace name and a local name (Namespaces in XML 1.0 §2.1). Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpandedName {
    namespace: Arc<str>,
    local: Arc<str>,
}

impl ExpandedName {
    /// Creates the name `local` in `namespace`. An empty namespace means no namespace.
    pub fn new(namespace: impl Into<Arc<str>>, local: impl Into<Arc<str>>) -> Self {
        Self { namespace: namespace.into(), local: local.into() }
    }

    /// Resolves a QName in an attribute value or in the content of `element`.
    pub fn of_qname(element: Element<'_>, value: &str) -> Result<Self, QNameError> {
        element.resolve_qname(value).map(|(namespace, local)| Self::new(namespace, local))
    }

    /// Returns the namespace name, which is empty for no namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the local name.
    #[must_use]
    pub fn local(&self) -> &str {
        &self.local
    }
}

/// Formats as `{namespace}local`, or as `local` if the name is in no namespace.
impl fmt::Display for ExpandedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.namespace {
            "" => f.write_str(&self.local),
            namespace => write!(f, "{{{namespace}}}{}", self.local),
        }
    }
}

impl fmt::Debug for ExpandedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
