//! Qualified names as values (XSD Part 2 §3.2.18, §3.2.19). Their meaning depends on the declarations in scope.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use castile_xml::tree::is_ncname;
use castile_xml::{Reader, XML_NAMESPACE, tree};

use super::{Invalid, SimpleType, collapse};

/// The namespace declarations in scope of a text.
pub trait Scope {
    /// Returns the namespace of `prefix`, or `None` if it is not declared. For the empty prefix it returns the default
    /// namespace, which is empty if there is none.
    fn namespace(&self, prefix: &str) -> Option<&str>;

    /// Returns the namespace of `prefix` as a shared text, for values that store it. The implementations for readers return
    /// the same allocation for equal namespaces of a document.
    fn kept_namespace(&self, prefix: &str) -> Option<Arc<str>> {
        self.namespace(prefix).map(Arc::from)
    }
}

impl Scope for Reader<'_> {
    fn namespace(&self, prefix: &str) -> Option<&str> {
        self.resolve(prefix)
    }

    fn kept_namespace(&self, prefix: &str) -> Option<Arc<str>> {
        self.kept_resolved(prefix)
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

/// `xs:QName` (XSD Part 2 §3.2.18): a name in a namespace. Equality and hash ignore the prefix.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct QName {
    /// The namespace name, empty for none. The names of one message share it.
    pub namespace: Arc<str>,
    /// The local name.
    pub local: String,
    /// The preferred prefix, empty for none. Another prefix is written if this one is not available.
    pub prefix: String,
}

impl QName {
    /// Creates a name without a preferred prefix.
    ///
    /// # Errors
    /// `local` is not an `xs:NCName`.
    pub fn new(namespace: impl Into<Arc<str>>, local: impl Into<String>) -> Result<Self, Invalid> {
        let name = QName { namespace: namespace.into(), local: local.into(), prefix: String::new() };
        if is_ncname(&name.local) { Ok(name) } else { Err(Invalid::text(&name.local, "xs:NCName", None)) }
    }
}

impl PartialEq for QName {
    fn eq(&self, other: &Self) -> bool {
        (&self.namespace, &self.local) == (&other.namespace, &other.local)
    }
}

impl Eq for QName {}

impl Hash for QName {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.namespace, &self.local).hash(state);
    }
}

impl fmt::Display for QName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.local)
        } else {
            write!(f, "{{{}}}{}", self.namespace, self.local)
        }
    }
}

crate::simple_type!(QName);

impl SimpleType for QName {
    const NAME: &'static str = "xs:QName";
    const HAS_NAMES: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        Self::parse_in(text, &super::Unscoped)
    }

    fn parse_in(text: &str, scope: &dyn Scope) -> Result<Self, Option<String>> {
        let text = collapse(text);
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        if !is_ncname(local) || (text.contains(':') && !is_ncname(prefix)) {
            return Err(None);
        }
        let Some(namespace) = scope.kept_namespace(prefix).filter(|_| prefix != "xmlns") else {
            return Err(Some(format!("no namespace is declared for its prefix \"{prefix}\"")));
        };
        Ok(QName { namespace, local: local.to_owned(), prefix: prefix.to_owned() })
    }

    fn parse_prefix(_: &str, _: usize) -> Option<(Self, usize)> {
        None
    }

    /// A name can be written only if its namespace can be declared.
    fn write(&self, _: &mut Vec<u8>) -> bool {
        false
    }

    fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
        if !is_ncname(&self.local) {
            return false;
        }
        let Some(prefix) = prefixes.prefix(&self.namespace, &self.prefix) else { return false };
        if !prefix.is_empty() {
            out.extend_from_slice(prefix.as_bytes());
            out.push(b':');
        }
        out.extend_from_slice(self.local.as_bytes());
        true
    }
}

/// `xs:NOTATION` (XSD Part 2 §3.2.19): the name of a notation that the schema declares.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Notation(pub QName);

impl From<QName> for Notation {
    fn from(name: QName) -> Self {
        Notation(name)
    }
}

impl fmt::Display for Notation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

crate::simple_type!(Notation);

impl SimpleType for Notation {
    const NAME: &'static str = "xs:NOTATION";
    const HAS_NAMES: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        QName::parse(text).map(Notation)
    }

    fn parse_in(text: &str, scope: &dyn Scope) -> Result<Self, Option<String>> {
        QName::parse_in(text, scope).map(Notation)
    }

    fn parse_prefix(_: &str, _: usize) -> Option<(Self, usize)> {
        None
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        self.0.write(out)
    }

    fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
        self.0.write_in(out, prefixes)
    }
}

/// Returns the text of a value for display. Names have their preferred prefixes.
pub fn text_of<T: SimpleType>(value: &T) -> String {
    let mut text = Vec::new();
    // If a part can't be written, the rest is shown.
    let _ = value.write_in(&mut text, &mut Prefixes::as_they_came());
    String::from_utf8_lossy(&text).into_owned()
}

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
    pub(crate) fn new(tag: &'a str, payload: &'a str, has_default: bool) -> Self {
        Prefixes { payload: Some(payload), has_default, ..Self::of(tag) }
    }

    /// Creates an assignment for display.
    fn as_they_came() -> Self {
        Self::of("")
    }

    fn of(tag: &'a str) -> Self {
        Prefixes { tag, payload: None, has_default: false, declared: HashMap::new(), taken: HashSet::new(), last: 0 }
    }

    /// Returns the declarations that the tag needs: namespace names and prefixes, sorted by prefix.
    pub(crate) fn into_declared(self) -> Vec<(String, String)> {
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
pub(crate) fn is_free_in(tag: &str, prefix: &str) -> bool {
    let in_tag = [format!("<{prefix}:"), format!(" {prefix}:")];
    !declares(tag, prefix) && in_tag.iter().all(|taken| !tag.contains(taken.as_str()))
}

/// The prefixes in constant markup and their namespaces. A namespace that depends on the version of SOAP is empty here.
const FIXED: [(&str, &str); 5] = [
    ("soap", ""),
    ("soapenc", ""),
    ("xop", crate::xop::NAMESPACE),
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
pub(crate) fn declares(tag: &str, prefix: &str) -> bool {
    tag.contains(&format!(" xmlns:{prefix}="))
}
