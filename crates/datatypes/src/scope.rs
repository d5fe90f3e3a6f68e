use std::sync::Arc;

use castile_xml::{Reader, tree};

/// The namespace declarations in scope of a text.
pub trait Scope {
    /// Returns the namespace of `prefix`, or `None` if it is not declared. For the empty prefix it returns the default
    /// namespace, which is empty if there is none.
    fn namespace(&self, prefix: &str) -> Option<&str>;

    /// Returns the namespace of `prefix` as a shared text, for values that store it. The implementations for readers return
    /// the same allocation for equal namespaces of a document.
    fn shared_namespace(&self, prefix: &str) -> Option<Arc<str>> {
        self.namespace(prefix).map(Arc::from)
    }
}

impl Scope for Reader<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        self.resolve(prefix)
    }

    fn shared_namespace(&self, prefix: &str) -> Option<Arc<str>> {
        self.resolve_shared(prefix)
    }
}

impl Scope for castile_xml::Scope {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        self.resolve(prefix).filter(|namespace| prefix.is_empty() || !namespace.is_empty())
    }
}

impl Scope for tree::Element<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        match (self.namespace_of(prefix), prefix) {
            (None, "") => Some(""),
            (namespace, _) => namespace,
        }
    }
}

/// The scope without any declarations. No names can be read in it.
#[derive(Clone, Copy, Debug)]
pub struct Unscoped;

impl Scope for Unscoped {
    fn namespace(&self, _: &str) -> Option<&str> {
        None
    }
}
