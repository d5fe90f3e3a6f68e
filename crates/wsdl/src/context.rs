//! The document that is being read, and the defects of its components.

use castile_xml::tree::Element;
use castile_xsd::{Defect, Diagnostics, ExpandedName, FileId, Location};

use crate::model::LeftOut;

/// Returns an entry for a component with a defect, which is left out.
pub(crate) fn left_out(element: Element<'_>, defect: Option<Defect>) -> Option<LeftOut> {
    let name = match element.attribute("name").unwrap_or_default().trim() {
        "" => format!("a {} without a name", element.local()),
        name => format!("{} {name}", element.local()),
    };
    Some(LeftOut { name, defect: defect? })
}

/// Stores only the first of several defects.
pub(crate) trait First {
    fn add(&mut self, defect: Option<Defect>);
}

impl First for Option<Defect> {
    fn add(&mut self, defect: Option<Defect>) {
        *self = self.take().or(defect);
    }
}

/// The document that is being read.
pub(crate) struct Context {
    pub(crate) file: FileId,
    pub(crate) target_namespace: String,
}

impl Context {
    pub(crate) fn location(&self, element: Element<'_>) -> Location {
        Location::of(self.file, element)
    }

    /// Returns the `name` attribute as written.
    pub(crate) fn local_name(&self, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<String> {
        let name = element.attribute("name").map(str::trim).filter(|name| !name.is_empty());
        if name.is_none() {
            diagnostics.error(self.location(element), format!("<{}> has no `name`", element.local()));
        }
        name.map(str::to_owned)
    }

    pub(crate) fn name(&self, element: Element<'_>, diagnostics: &mut Diagnostics) -> Option<ExpandedName> {
        let local = self.local_name(element, diagnostics)?;
        Some(ExpandedName::new(self.target_namespace.as_str(), local))
    }
}
