//! Expanded names for display: with short prefixes, and without a prefix in the contract's own namespace.

use std::collections::{BTreeMap, HashMap, HashSet};

use castile_xml::XML_NAMESPACE;
use castile_xsd::XSD_NAMESPACE;

/// Assigns prefixes to namespaces when they are first used.
#[derive(Debug)]
pub(super) struct Names {
    target_namespace: String,
    prefixes: HashMap<String, String>,
    taken: HashSet<String>,
    /// The contract's own prefixes by namespace.
    declared: HashMap<String, String>,
    /// How often each word was requested as a prefix.
    times: HashMap<String, usize>,
    /// Prefix and namespace, in the order of first use.
    used: Vec<(String, String)>,
}

impl Names {
    /// Makes an assigner for a contract that declares these prefixes with their namespaces. Declared prefixes are preferred to invented
    /// ones.
    pub(super) fn new(target_namespace: &str, declared: &BTreeMap<String, String>) -> Self {
        // These two prefixes are well known, so they aren't listed.
        let known = [(XSD_NAMESPACE, "xs"), (XML_NAMESPACE, "xml")];
        let mut names = Self {
            target_namespace: target_namespace.to_owned(),
            prefixes: known.map(|(namespace, prefix)| (namespace.to_owned(), prefix.to_owned())).into(),
            taken: known.map(|(_, prefix)| prefix.to_owned()).into(),
            declared: HashMap::new(),
            times: HashMap::new(),
            used: Vec::new(),
        };
        for (prefix, namespace) in declared {
            if !names.prefixes.contains_key(namespace) && names.taken.insert(prefix.clone()) {
                names.declared.entry(namespace.clone()).or_insert_with(|| prefix.clone());
            }
        }
        names
    }

    /// Returns `prefix:local`, or only `local` in the contract's namespace and in no namespace.
    pub(super) fn short(&mut self, name: &str) -> String {
        let (namespace, local) = split(name);
        if namespace.is_empty() || namespace == self.target_namespace {
            return local.to_owned();
        }
        if let Some(prefix) = self.prefixes.get(namespace) {
            return format!("{prefix}:{local}");
        }
        let declared = self.declared.get(namespace).cloned();
        let prefix = declared.unwrap_or_else(|| self.invent_prefix(namespace));
        self.prefixes.insert(namespace.to_owned(), prefix.clone());
        self.used.push((prefix.clone(), namespace.to_owned()));
        format!("{prefix}:{local}")
    }

    /// Invents a unique prefix.
    fn invent_prefix(&mut self, namespace: &str) -> String {
        let wanted = prefix_of(namespace);
        let times = self.times.entry(wanted.clone()).or_insert(0);
        loop {
            *times += 1;
            let prefix = if *times == 1 { wanted.clone() } else { format!("{wanted}{times}") };
            if self.taken.insert(prefix.clone()) {
                return prefix;
            }
        }
    }

    /// Returns the assigned prefixes with their namespaces.
    pub(super) fn used(&self) -> &[(String, String)] {
        &self.used
    }
}

/// Splits `{namespace}local` into namespace and local name. The namespace is empty if there is none.
pub(super) fn split(name: &str) -> (&str, &str) {
    let parts = name.strip_prefix('{').and_then(|rest| rest.rsplit_once('}'));
    parts.unwrap_or(("", name))
}

/// Returns the last meaningful word of a namespace: `types` for `http://example.com/services/2006/types`.
fn prefix_of(namespace: &str) -> String {
    let says_something = |word: &&str| {
        let lower = word.to_ascii_lowercase();
        let number = lower.strip_prefix("ver").or(lower.strip_prefix('v')).unwrap_or(&lower);
        let is_version = number.chars().all(|c| c.is_ascii_digit());
        !is_version
            && !matches!(&*lower, "xsd" | "wsdl" | "schema" | "schemas" | "com" | "org" | "www" | "http" | "urn")
    };
    let words = namespace.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
    let words = words.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()));
    words.rev().find(says_something).unwrap_or("ns").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_short_and_differ() {
        let declared = [("o", "urn:own"), ("types", "urn:other"), ("xs", "urn:not-xml-schema"), ("p", "urn:own")];
        let declared = declared.map(|(prefix, namespace)| (prefix.to_owned(), namespace.to_owned())).into();
        let mut names = Names::new("urn:t", &declared);
        assert_eq!((names.short("{urn:own}A"), names.short("{urn:other}B")), ("o:A".to_owned(), "types:B".to_owned()));
        for (name, expected) in [
            ("{urn:t}a", "a"),
            ("a", "a"),
            ("{http://www.w3.org/2001/XMLSchema}int", "xs:int"),
            ("{http://example.com/services/2006/types}A", "types2:A"),
            ("{http://example.org/types/v2.1/}A", "types3:A"),
            ("{http://example.com/services/2006/types}B", "types2:B"),
            ("{urn:xs}A", "xs2:A"),
            ("{http://www.onvif.org/ver10/schema}A", "onvif:A"),
            ("{http://1/2}A", "ns:A"),
            ("{http://1/3}A", "ns2:A"),
        ] {
            assert_eq!(names.short(name), expected, "{name}");
        }
        assert_eq!(names.used()[2], ("types2".to_owned(), "http://example.com/services/2006/types".to_owned()));
    }
}
