//! Determines the namespace prefixes in tags.
//!
//! Prefixes are fixed for a contract, so that tags are constants. All namespaces are declared on the root element of
//! the payload, and nowhere below it.

use std::collections::{BTreeSet, HashMap};

use castile_xml::XML_NAMESPACE;
use castile_xml::escape::push_attribute;

/// The prefixes of a contract's namespaces.
#[derive(Debug)]
pub struct Tags {
    /// The namespace without a prefix: the first one, unless names without a prefix must be in no namespace.
    default: Option<String>,
    /// The numbers of the other namespaces.
    others: HashMap<String, usize>,
    /// Whether the default namespace also has attributes, which always need a prefix.
    default_has_attributes: bool,
}

impl Tags {
    /// Creates prefixes for these namespaces, most important first; the empty one is no namespace.
    ///
    /// `of_attributes` are the namespaces of attributes. If values may be qualified names there is no default
    /// namespace, because names in no namespace couldn't be written in its scope.
    pub fn new(namespaces: Vec<String>, of_attributes: &BTreeSet<String>, values_are_names: bool) -> Self {
        if values_are_names || namespaces.iter().any(String::is_empty) {
            let others = numbered(namespaces.into_iter().filter(|namespace| !namespace.is_empty()));
            return Tags { default: None, others, default_has_attributes: false };
        }
        let mut namespaces = namespaces.into_iter();
        let default = namespaces.next();
        let default_has_attributes = default.as_ref().is_some_and(|default| of_attributes.contains(default));
        Tags { default, others: numbered(namespaces), default_has_attributes }
    }

    /// Returns the name of an element as written in its tags.
    pub fn name(&self, namespace: &str, local: &str) -> String {
        match self.prefix(namespace) {
            Some(number) => format!("ns{number}:{local}"),
            None => local.to_owned(),
        }
    }

    /// Returns the name of an attribute as written in a tag. No prefix means no namespace (Namespaces in XML 1.0 §6.2).
    pub fn attribute(&self, namespace: &str, local: &str) -> String {
        match self.prefix(namespace) {
            _ if namespace == XML_NAMESPACE => format!("xml:{local}"),
            Some(number) => format!("ns{number}:{local}"),
            None if namespace.is_empty() => local.to_owned(),
            None => format!("ns0:{local}"),
        }
    }

    /// Returns the start tag of a payload, which declares all `namespaces` in it.
    pub fn root(&self, namespace: &str, local: &str, namespaces: &BTreeSet<String>) -> String {
        self.start(&self.name(namespace, local), namespaces)
    }

    /// Returns the start tag of an element around a payload. Its name is `name`.
    pub fn start(&self, name: &str, namespaces: &BTreeSet<String>) -> String {
        let mut tag = format!("<{name}").into_bytes();
        let mut declare = |declaration: &str, namespace: &str| {
            tag.extend_from_slice(declaration.as_bytes());
            // The namespace name is from an XML document, so it has only characters that XML allows.
            let _ = push_attribute(&mut tag, namespace);
            tag.push(b'"');
        };
        for namespace in namespaces.iter().filter(|namespace| !namespace.is_empty() && *namespace != XML_NAMESPACE) {
            match self.prefix(namespace) {
                Some(number) => declare(&format!(" xmlns:ns{number}=\""), namespace),
                None => {
                    declare(" xmlns=\"", namespace);
                    if self.default_has_attributes {
                        declare(" xmlns:ns0=\"", namespace);
                    }
                }
            }
        }
        tag.push(b'>');
        String::from_utf8_lossy(&tag).into_owned()
    }

    /// Returns the number of a namespace's prefix, or `None` if names are written without a prefix.
    fn prefix(&self, namespace: &str) -> Option<usize> {
        if namespace.is_empty() || self.default.as_deref() == Some(namespace) {
            return None;
        }
        self.others.get(namespace).copied()
    }
}

/// Returns namespaces with their numbers, from 1.
fn numbered(namespaces: impl Iterator<Item = String>) -> HashMap<String, usize> {
    namespaces.zip(1..).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(namespaces: &[&str]) -> BTreeSet<String> {
        namespaces.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_namespace_needs_no_prefix() {
        let tags = Tags::new(vec!["urn:a".into()], &set(&[]), false);
        assert_eq!(tags.root("urn:a", "x", &set(&["urn:a"])), "<x xmlns=\"urn:a\">");
        assert_eq!(tags.name("urn:a", "y"), "y");
    }

    #[test]
    fn unqualified_names_have_the_bare_names_to_themselves() {
        let tags = Tags::new(vec!["urn:a&b".into(), String::new()], &set(&[]), false);
        assert_eq!(tags.root("urn:a&b", "x", &set(&["urn:a&b", ""])), "<ns1:x xmlns:ns1=\"urn:a&amp;b\">");
        assert_eq!(tags.name("", "y"), "y");
    }

    #[test]
    fn values_that_are_names_have_the_bare_names_to_themselves() {
        let tags = Tags::new(vec!["urn:a".into()], &set(&[]), true);
        assert_eq!(tags.root("urn:a", "x", &set(&["urn:a"])), "<ns1:x xmlns:ns1=\"urn:a\">");
    }

    #[test]
    fn further_namespaces_have_prefixes() {
        let tags = Tags::new(vec!["urn:a".into(), "urn:b".into()], &set(&["urn:a"]), false);
        assert_eq!(
            tags.root("urn:b", "x", &set(&["urn:a", "urn:b"])),
            "<ns1:x xmlns=\"urn:a\" xmlns:ns0=\"urn:a\" xmlns:ns1=\"urn:b\">"
        );
        assert_eq!(tags.attribute("urn:a", "x"), "ns0:x");
        assert_eq!(tags.attribute("urn:b", "x"), "ns1:x");
        assert_eq!(tags.attribute("", "x"), "x");
        assert_eq!(tags.attribute(XML_NAMESPACE, "lang"), "xml:lang");
    }
}
