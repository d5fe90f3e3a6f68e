//! Prefixes for names in values, and the prefixes that a start tag uses.

use std::collections::{HashMap, HashSet};

use castile_xml::XML_NAMESPACE;
use castile_xml::tree::is_ncname;

/// Assigns prefixes to the namespaces of names in one start tag, which will declare them.
#[derive(Debug)]
pub struct Prefixes<'a> {
    /// What was written of the tag.
    tag: &'a str,
    /// The start tag of the payload, whose prefixes the tags inside it use. `None` for display, where preferred prefixes are
    /// always used.
    payload: Option<&'a str>,
    /// Whether a default namespace is declared outside of the tag.
    has_default: bool,
    /// The assigned prefixes by namespace name.
    declared: HashMap<String, String>,
    taken: HashSet<String>,
    /// The number of the last prefix that was generated.
    last: usize,
}

impl<'a> Prefixes<'a> {
    /// Creates the assignment for a start tag. `payload` is the start tag of the payload, and `has_default` is whether a
    /// default namespace is declared outside of the tag.
    #[doc(hidden)]
    pub fn new(tag: &'a str, payload: &'a str, has_default: bool) -> Self {
        Prefixes { payload: Some(payload), has_default, ..Self::of(tag) }
    }

    /// Creates an assignment for display.
    pub(super) fn for_display() -> Self {
        Self::of("")
    }

    fn of(tag: &'a str) -> Self {
        Prefixes { tag, payload: None, has_default: false, declared: HashMap::new(), taken: HashSet::new(), last: 0 }
    }

    /// Returns the declarations that the tag needs: namespace names and prefixes, sorted by prefix.
    #[doc(hidden)]
    pub fn into_declared(self) -> Vec<(String, String)> {
        let mut declared: Vec<(String, String)> = self.declared.into_iter().collect();
        declared.sort_by(|(_, a), (_, b)| (a.len(), a).cmp(&(b.len(), b)));
        declared
    }

    /// Returns the prefix for a name in `namespace`: `wanted` if it is free; empty for no namespace. Returns `None` if a name
    /// without a namespace can't be written here, because there is a default namespace and the tag itself needs it.
    pub fn prefix(&mut self, namespace: &str, wanted: &str) -> Option<String> {
        if namespace == XML_NAMESPACE {
            return Some("xml".into());
        }
        if let Some(prefix) = self.declared.get(namespace) {
            return Some(prefix.clone());
        }
        if namespace.is_empty() {
            if self.has_default || self.tag.contains(" xmlns=") {
                let name = self.tag.split([' ', '>']).next().unwrap_or_default();
                if !name.contains(':') || self.tag.contains(" xmlns=") {
                    return None;
                }
                self.declared.insert(String::new(), String::new());
            }
            return Some(String::new());
        }
        let may_be = is_ncname(wanted) && !wanted.starts_with("xml") && !self.is_for_tags(wanted, namespace);
        let prefix = if may_be && self.is_free(wanted) { wanted.to_owned() } else { self.make_prefix() };
        self.taken.insert(prefix.clone());
        self.declared.insert(namespace.to_owned(), prefix.clone());
        Some(prefix)
    }

    fn make_prefix(&mut self) -> String {
        loop {
            self.last += 1;
            let prefix = format!("q{}", self.last);
            if self.is_free(&prefix) {
                return prefix;
            }
        }
    }

    /// Whether tags or values inside the element may use this prefix for another namespace.
    fn is_for_tags(&self, prefix: &str, namespace: &str) -> bool {
        let Some(payload) = self.payload else { return false };
        let is_fixed = |&(fixed, meant): &(&str, &str)| prefix == fixed && namespace != meant;
        FIXED.iter().any(is_fixed) || is_numbered(prefix) || declares(payload, prefix)
    }

    /// Whether the tag doesn't use the prefix.
    fn is_free(&self, prefix: &str) -> bool {
        !self.taken.contains(prefix) && is_free_in(self.tag, prefix)
    }
}

/// Whether a start tag doesn't use the prefix.
pub fn is_free_in(tag: &str, prefix: &str) -> bool {
    let in_tag = [format!("<{prefix}:"), format!(" {prefix}:")];
    !declares(tag, prefix) && in_tag.iter().all(|taken| !tag.contains(taken.as_str()))
}

/// The prefixes in constant markup and their namespaces. A namespace that depends on the version of SOAP is empty here.
const FIXED: [(&str, &str); 5] = [
    ("soap", ""),
    ("soapenc", ""),
    ("xop", "http://www.w3.org/2004/08/xop/include"),
    ("xsd", "http://www.w3.org/2001/XMLSchema"),
    ("xsi", "http://www.w3.org/2001/XMLSchema-instance"),
];

/// Whether a prefix has the form of a numbered prefix: of a namespace in generated tags, of an attribute or of a type.
fn is_numbered(prefix: &str) -> bool {
    let number = prefix.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let letters = &prefix[..prefix.len() - number.len()];
    matches!(letters, "ns" | "a" | "t") && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a start tag declares a prefix.
pub fn declares(tag: &str, prefix: &str) -> bool {
    tag.contains(&format!(" xmlns:{prefix}="))
}
