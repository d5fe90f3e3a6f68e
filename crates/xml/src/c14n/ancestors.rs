//! What an element inherits when it is taken out of its document (§2.4 of Canonical XML 1.0 and 1.1).

use crate::error::{Error, ErrorKind};
use crate::{Reader, XML_NAMESPACE};

use super::{Version, uri};

/// The attributes of the open elements in the namespace of `xml:`, outermost first.
#[derive(Default)]
pub(super) struct Ancestors {
    attributes: Vec<Attribute>,
}

struct Attribute {
    /// How many elements were open, its own included.
    depth: usize,
    /// The name as written. Its prefix is always `xml`.
    name: String,
    value: String,
}

/// The attributes that are written on the apex in addition to its own, or instead of them.
#[derive(Default)]
pub(super) struct Inherited<'a> {
    attributes: Vec<(&'a str, &'a str)>,
    /// The joined `xml:base`, if an ancestor has one. It replaces that of the apex. It is not written if it is empty.
    base: Option<String>,
}

impl Ancestors {
    /// Adds the attributes of the start tag that was read last.
    pub(super) fn open(&mut self, reader: &Reader<'_>) {
        let depth = reader.depth();
        let attributes = reader.attributes().filter(|attribute| attribute.namespace == XML_NAMESPACE);
        self.attributes.extend(attributes.map(|attribute| Attribute {
            depth,
            name: attribute.name.as_str().to_owned(),
            value: attribute.value.to_owned(),
        }));
    }

    /// Removes the attributes of elements that are closed when `depth` elements are open.
    pub(super) fn close(&mut self, depth: usize) {
        while self.attributes.last().is_some_and(|attribute| attribute.depth > depth) {
            self.attributes.pop();
        }
    }

    /// Returns what an element inherits. Its start tag is at `offset` and was read last.
    pub(super) fn inherited(
        &self,
        version: Version,
        reader: &Reader<'_>,
        offset: usize,
    ) -> Result<Inherited<'_>, Error> {
        if self.attributes.is_empty() {
            return Ok(Inherited::default());
        }
        let mut own: Vec<&str> = reader
            .attributes()
            .filter(|attribute| attribute.namespace == XML_NAMESPACE)
            .map(|attribute| attribute.name.as_str())
            .collect();
        own.sort_unstable();
        let is_inheritable = |name: &str| match version {
            Version::Canonical10 => true,
            Version::Canonical11 => matches!(name, "xml:lang" | "xml:space"),
            Version::Exclusive10 => false,
        };
        // Innermost first, so that the nearest attribute of each name is first after a stable sort.
        let nearest = self.attributes.iter().rev().map(|attribute| (attribute.name.as_str(), attribute.value.as_str()));
        let mut attributes: Vec<_> =
            nearest.filter(|(name, _)| is_inheritable(name) && own.binary_search(name).is_err()).collect();
        attributes.sort_by_key(|(name, _)| *name);
        attributes.dedup_by_key(|(name, _)| *name);
        let base = match version {
            Version::Canonical11 => self.base(reader, offset)?,
            Version::Canonical10 | Version::Exclusive10 => None,
        };
        Ok(Inherited { attributes, base })
    }

    /// Joins the values of `xml:base` from the innermost to the outermost element. `None` if no ancestor has one.
    fn base(&self, reader: &Reader<'_>, offset: usize) -> Result<Option<String>, Error> {
        let own = reader.attributes().find(|attribute| attribute.name.as_str() == "xml:base");
        let mut joined = own.map(|own| own.value.to_owned());
        let mut around = self.attributes.iter().rev().filter(|attribute| attribute.name == "xml:base").peekable();
        if around.peek().is_none() {
            return Ok(None);
        }
        let limit = reader.limits().name_length;
        for Attribute { value, .. } in around {
            let value = match joined {
                None => value.clone(),
                Some(inner) => uri::join(value, &inner),
            };
            // The joined value is copied for each ancestor, so its length is limited.
            if value.len() > limit {
                let message = format!("a joined xml:base longer than {limit} bytes, which is the limit for names");
                return Err(Error::new(ErrorKind::Limit, offset, message));
            }
            joined = Some(value);
        }
        Ok(joined)
    }
}

impl Inherited<'_> {
    /// Whether the apex's own attribute with this local name is replaced or dropped.
    pub(super) fn replaces(&self, local: &str) -> bool {
        local == "base" && self.base.is_some()
    }

    /// Returns names and values.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        let base = self.base.as_deref().filter(|base| !base.is_empty()).map(|base| ("xml:base", base));
        self.attributes.iter().copied().chain(base)
    }
}
