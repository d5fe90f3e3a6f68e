//! The namespace declarations around a payload.

use castile_databinding::Encoder;
use castile_xml::Reader;

use crate::version::Version;

/// The prefixes that are bound around an element; the empty prefix is the default namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope(Vec<(String, String)>);

impl Scope {
    /// Returns the declarations in scope around the element that was opened last.
    pub(super) fn around(reader: &Reader<'_>) -> Self {
        let own = reader.declarations().count();
        let mut scope = Scope::default();
        for (prefix, namespace) in reader.namespaces().skip(own) {
            // Inner declarations hide outer ones.
            if scope.0.iter().all(|(known, _)| known != prefix) {
                scope.0.push((prefix.to_owned(), namespace.to_owned()));
            }
        }
        scope
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(prefix, namespace)| (prefix.as_str(), namespace.as_str()))
    }

    /// Writes the start tag of a body with these declarations, in an envelope with the prefix `soap`. Returns the end tag.
    pub(super) fn write_body(&self, version: Version, out: &mut Encoder) -> String {
        let namespace = version.namespace();
        let is_taken = |prefix: &str| self.iter().any(|(other, bound)| other == prefix && bound != namespace);
        let mut prefix = "soap".to_owned();
        let mut number = 0;
        while is_taken(&prefix) {
            prefix = format!("soap{number}");
            number += 1;
        }
        out.raw("<");
        out.raw(&prefix);
        out.raw(":Body");
        if prefix != "soap" {
            out.attribute(&format!("xmlns:{prefix}"), &namespace.to_owned());
        }
        for (declared, bound) in self.0.iter().filter(|(declared, _)| *declared != prefix) {
            match declared.as_str() {
                "" => out.attribute("xmlns", bound),
                declared => out.attribute(&format!("xmlns:{declared}"), bound),
            }
        }
        out.raw(">");
        format!("</{prefix}:Body>")
    }
}
