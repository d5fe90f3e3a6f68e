//! Which prefixes tags are written with.
//!
//! They are fixed for a contract, so that tags are constants. Everything is declared on the payload's own element: what
//! stands below declares nothing.

use std::collections::BTreeSet;

use castile_xml::escape::push_attribute;

/// The prefixes of a contract's namespaces.
#[derive(Debug)]
pub(crate) struct Tags {
    /// The namespace that needs no prefix: the first one, unless some elements are in no namespace and so must have
    /// the bare names to themselves.
    default: Option<String>,
    others: Vec<String>,
}

impl Tags {
    /// The plan for elements in these namespaces, the most important first; the empty one is none.
    pub(crate) fn new(namespaces: Vec<String>) -> Self {
        if namespaces.iter().any(String::is_empty) {
            let others = namespaces.into_iter().filter(|namespace| !namespace.is_empty()).collect();
            return Tags { default: None, others };
        }
        let mut namespaces = namespaces.into_iter();
        Tags { default: namespaces.next(), others: namespaces.collect() }
    }

    /// The name of an element as it stands in its tags.
    pub(crate) fn name(&self, namespace: &str, local: &str) -> String {
        match self.prefix(namespace) {
            Some(number) => format!("ns{number}:{local}"),
            None => local.to_owned(),
        }
    }

    /// The start tag of a payload with the declarations of all `namespaces` that stand in it.
    pub(crate) fn root(&self, namespace: &str, local: &str, namespaces: &BTreeSet<String>) -> String {
        let mut tag = format!("<{}", self.name(namespace, local)).into_bytes();
        for namespace in namespaces.iter().filter(|namespace| !namespace.is_empty()) {
            let declaration = match self.prefix(namespace) {
                Some(number) => format!(" xmlns:ns{number}=\""),
                None => " xmlns=\"".to_owned(),
            };
            tag.extend_from_slice(declaration.as_bytes());
            // A namespace name came out of XML, so XML can carry it.
            let _ = push_attribute(&mut tag, namespace);
            tag.push(b'"');
        }
        tag.push(b'>');
        String::from_utf8_lossy(&tag).into_owned()
    }

    /// The number in the prefix; `None` for names that stand bare.
    fn prefix(&self, namespace: &str) -> Option<usize> {
        if namespace.is_empty() || self.default.as_deref() == Some(namespace) {
            return None;
        }
        self.others.iter().position(|other| other == namespace).map(|index| index + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(namespaces: &[&str]) -> BTreeSet<String> {
        namespaces.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_namespace_needs_no_prefix() {
        let tags = Tags::new(vec!["urn:a".into()]);
        assert_eq!(tags.root("urn:a", "x", &set(&["urn:a"])), "<x xmlns=\"urn:a\">");
        assert_eq!(tags.name("urn:a", "y"), "y");
    }

    #[test]
    fn unqualified_names_have_the_bare_names_to_themselves() {
        let tags = Tags::new(vec!["urn:a&b".into(), String::new()]);
        assert_eq!(tags.root("urn:a&b", "x", &set(&["urn:a&b", ""])), "<ns1:x xmlns:ns1=\"urn:a&amp;b\">");
        assert_eq!(tags.name("", "y"), "y");
    }

    #[test]
    fn further_namespaces_have_prefixes() {
        let tags = Tags::new(vec!["urn:a".into(), "urn:b".into()]);
        assert_eq!(tags.root("urn:b", "x", &set(&["urn:a", "urn:b"])), "<ns1:x xmlns=\"urn:a\" xmlns:ns1=\"urn:b\">");
    }
}
