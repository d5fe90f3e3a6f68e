//! Qualified names as values (XSD Part 2 §3.2.18, §3.2.19). Their meaning depends on the declarations in scope.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use castile_xml::tree::is_ncname;

use crate::{Invalid, Prefixes, Scope, SimpleType, Unscoped, collapse};

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

impl SimpleType for QName {
    const NAME: &'static str = "xs:QName";
    const HAS_NAMES: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        Self::parse_in(text, &Unscoped)
    }

    fn parse_in(text: &str, scope: &dyn Scope) -> Result<Self, Option<String>> {
        let text = collapse(text);
        let (prefix, local) = text.split_once(':').unwrap_or(("", text));
        if !is_ncname(local) || (text.contains(':') && !is_ncname(prefix)) {
            return Err(None);
        }
        let Some(namespace) = scope.shared_namespace(prefix).filter(|_| prefix != "xmlns") else {
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
