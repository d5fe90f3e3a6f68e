//! Helpers for all parts of the parser: children, attributes, references, annotations.

use castile_xml::tree::{Element, QNameError, is_ncname};

use super::{Parser, SymbolSpace};
use crate::components::{Annotation, DerivationSet, ValueConstraint};
use crate::{Diagnostic, ExpandedName, Location, XSD_NAMESPACE, structure};

/// The defaults that the attributes of `<schema>` declare for a document (§3.15.2).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Defaults {
    pub(crate) qualified_elements: bool,
    pub(crate) qualified_attributes: bool,
    pub(crate) block: DerivationSet,
    pub(crate) final_: DerivationSet,
}

/// The values that `block` and `final` may list.
pub(super) const ELEMENT_BLOCK: &[&str] = &["extension", "restriction", "substitution"];
pub(super) const COMPLEX: &[&str] = &["extension", "restriction"];
pub(super) const SIMPLE_FINAL: &[&str] = &["list", "union", "restriction"];

/// Maximum nesting depth of types and groups. It allows functions that visit them to recurse.
const MAX_NESTING: usize = 100;

impl Parser<'_> {
    pub(crate) fn read_defaults(&mut self, schema: Element<'_>) {
        let mark = self.diagnostics.mark();
        self.defaults = Defaults {
            qualified_elements: self.form(schema, "elementFormDefault").unwrap_or(false),
            qualified_attributes: self.form(schema, "attributeFormDefault").unwrap_or(false),
            block: self.derivation_set(schema, "blockDefault", DerivationSet::default(), ELEMENT_BLOCK),
            final_: self.derivation_set(
                schema,
                "finalDefault",
                DerivationSet::default(),
                &["extension", "restriction", "list", "union"],
            ),
        };
        self.defaults_defect = self.diagnostics.defect_since(mark).map(|defect| defect.location);
    }

    pub(super) fn location(&self, element: Element<'_>) -> Location {
        Location::of(self.file, element)
    }

    /// Returns the location of an attribute of `element`.
    pub(super) fn location_of(&self, element: Element<'_>, attribute: &str) -> Location {
        match element.find_attribute("", attribute) {
            Some(attribute) => Location::at(self.file, attribute.offset()),
            None => self.location(element),
        }
    }

    /// Adds an error in an attribute of `element`.
    pub(super) fn error_in(
        &mut self,
        element: Element<'_>,
        attribute: &str,
        message: impl Into<String>,
    ) -> &mut Diagnostic {
        let location = self.location_of(element, attribute);
        self.diagnostics.error(location, message)
    }

    pub(super) fn error(&mut self, element: Element<'_>, message: impl Into<String>) -> &mut Diagnostic {
        let location = self.location(element);
        self.diagnostics.error(location, message)
    }

    /// Returns the child elements in the XML Schema namespace that are not misplaced.
    pub(super) fn children<'d>(&self, element: Element<'d>) -> Vec<Element<'d>> {
        let belongs = |child: &Element<'d>| {
            child.namespace() == XSD_NAMESPACE
                && child.local() != "annotation"
                && !self.misplaced.contains(self.file, *child)
        };
        element.elements().filter(belongs).collect()
    }

    pub(super) fn warning(&mut self, element: Element<'_>, message: impl Into<String>) -> &mut Diagnostic {
        let location = self.location(element);
        self.diagnostics.warning(location, message)
    }

    /// Adds an error for an element that contains a type and also names one in an attribute.
    pub(super) fn two_types(&mut self, element: Element<'_>, attribute: &str, rule: &'static str) {
        let parent = element.parent().map_or("", Element::local);
        let message = format!("<{parent}> has `{attribute}` and an inner type, expected one of them");
        self.error(element, message).with_rule(rule);
    }

    /// Calls `inner` one nesting level deeper, unless the limit is reached.
    pub(super) fn nested<T>(&mut self, element: Element<'_>, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_NESTING {
            self.error(element, format!("types and groups nest more than {MAX_NESTING} deep"));
            return None;
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        Some(result)
    }

    /// Returns the `name` attribute as a name in the target namespace.
    pub(super) fn name_of(&mut self, element: Element<'_>) -> Option<ExpandedName> {
        match element.attribute("name").map(str::trim) {
            Some(name) if is_ncname(name) => Some(ExpandedName::new(self.target_namespace.clone(), name)),
            Some(name) => {
                self.error_in(
                    element,
                    "name",
                    format!("{name:?} is not a name, expected letters, digits, '.', '-' or '_'"),
                )
                .with_rule(structure::RULE);
                None
            }
            None => {
                self.error(element, format!("<{}> has no `name`", element.local()));
                None
            }
        }
    }

    /// Resolves a QName in an attribute of `element`.
    pub(super) fn resolve(&mut self, element: Element<'_>, attribute: &str, value: &str) -> Option<ExpandedName> {
        match element.resolve_qname(value) {
            Ok(("", local)) if self.chameleon => Some(ExpandedName::new(self.target_namespace.clone(), local)),
            Ok((namespace, local)) => Some(ExpandedName::new(namespace, local)),
            Err(error) => {
                let note = match &error {
                    QNameError::UndeclaredPrefix(prefix) => Some(format!("add xmlns:{prefix}=\"…\"")),
                    QNameError::NotAQName(_) => None,
                };
                self.error_in(element, attribute, error.to_string()).with_rule("src-qname").note = note;
                None
            }
        }
    }

    /// Returns the slot of the global component that an attribute of `element` names.
    pub(super) fn reference(&mut self, element: Element<'_>, attribute: &str, kind: SymbolSpace) -> Option<u32> {
        let name = self.resolve(element, attribute, element.attribute(attribute)?)?;
        Some(self.refer(element, attribute, &name, kind))
    }

    /// Returns the slot of the global component `name`, and records the reference in an attribute of `element`.
    pub(super) fn refer(
        &mut self,
        element: Element<'_>,
        attribute: &str,
        name: &ExpandedName,
        kind: SymbolSpace,
    ) -> u32 {
        if let Some((of, redefined, original)) = &self.redefining
            && *of == kind
            && redefined == name
        {
            return *original;
        }
        let location = self.location_of(element, attribute);
        let namespace = name.namespace();
        if namespace != XSD_NAMESPACE && namespace != &*self.target_namespace && !self.imported.contains(namespace) {
            let what =
                if namespace.is_empty() { "no namespace".to_owned() } else { format!("namespace {namespace:?}") };
            let message = format!("there is a reference to {} {name}, but {what} is not imported here", kind.name());
            self.diagnostics.warning(location, message).with_rule("src-resolve").with_note(match namespace {
                "" => "add <import/>".to_owned(),
                _ => format!("add <import namespace={namespace:?}/>"),
            });
            self.imported.insert(namespace.to_owned());
        }
        let components = &mut *self.components;
        match kind {
            SymbolSpace::Type => components.types.refer(name, location),
            SymbolSpace::Element => components.elements.refer(name, location),
            SymbolSpace::Attribute => components.attributes.refer(name, location),
            SymbolSpace::Group => components.groups.refer(name, location),
            SymbolSpace::AttributeGroup => components.attribute_groups.refer(name, location),
            SymbolSpace::Notation => 0,
        }
    }

    pub(super) fn boolean(&mut self, element: Element<'_>, attribute: &str) -> bool {
        match element.attribute(attribute).map(str::trim) {
            None | Some("false" | "0") => false,
            Some("true" | "1") => true,
            Some(other) => {
                self.error_in(element, attribute, format!("{attribute} is {other:?}, expected true or false"))
                    .with_rule(structure::RULE);
                false
            }
        }
    }

    /// Parses `form` or one of its defaults. Returns true for qualified.
    pub(super) fn form(&mut self, element: Element<'_>, attribute: &str) -> Option<bool> {
        match element.attribute(attribute)?.trim() {
            "qualified" => Some(true),
            "unqualified" => Some(false),
            other => {
                self.error_in(
                    element,
                    attribute,
                    format!("{attribute} is {other:?}, expected qualified or unqualified"),
                )
                .with_rule(structure::RULE);
                None
            }
        }
    }

    pub(super) fn derivation_set(
        &mut self,
        element: Element<'_>,
        attribute: &str,
        default: DerivationSet,
        allowed: &[&str],
    ) -> DerivationSet {
        // Methods of the default that don't apply here are for other components (§3.3.2, {disallowed substitutions}).
        let Some(value) = element.attribute(attribute) else { return default.limited_to(allowed) };
        if value.trim() == "#all" {
            return DerivationSet::ALL.limited_to(allowed);
        }
        let mut set = DerivationSet::default();
        for word in value.split_ascii_whitespace() {
            if !allowed.contains(&word) {
                let message =
                    format!("{attribute} has {word:?}, expected #all alone, or some of {}", allowed.join(", "));
                self.error_in(element, attribute, message).with_rule(structure::RULE);
                continue;
            }
            set.insert(word);
        }
        set
    }

    pub(super) fn value_constraint(&mut self, element: Element<'_>) -> Option<ValueConstraint> {
        match (element.attribute("default"), element.attribute("fixed")) {
            (Some(_), Some(fixed)) => {
                self.error_in(element, "fixed", "found both `default` and `fixed`, expected one of them")
                    .with_rule("src-element");
                Some(ValueConstraint::Fixed(fixed.to_owned()))
            }
            (Some(default), None) => Some(ValueConstraint::Default(default.to_owned())),
            (None, Some(fixed)) => Some(ValueConstraint::Fixed(fixed.to_owned())),
            (None, None) => None,
        }
    }

    /// Returns the annotation of a component, including its attributes of other namespaces.
    pub(super) fn annotation(&self, element: Element<'_>) -> Annotation {
        let mut annotation = annotation(element.elements().filter(|child| child.is(XSD_NAMESPACE, "annotation")));
        let foreign = element.attributes().filter(|attribute| !attribute.namespace().is_empty());
        annotation.attributes = foreign
            .map(|attribute| {
                (ExpandedName::new(attribute.namespace(), attribute.local()), attribute.value().to_owned())
            })
            .collect();
        annotation
    }
}

fn annotation<'d>(annotations: impl Iterator<Item = Element<'d>>) -> Annotation {
    let mut result = Annotation::default();
    for child in annotations.flat_map(Element::elements) {
        match child.local() {
            "documentation" => {
                let text = tidy(&child.text());
                match &mut result.documentation {
                    _ if text.is_empty() => {}
                    Some(before) => {
                        before.push_str("\n\n");
                        before.push_str(&text);
                    }
                    none => *none = Some(text),
                }
            }
            "appinfo" => result.appinfo.push(child.source().to_owned()),
            _ => {}
        }
    }
    result
}

/// Removes the indentation of the surrounding document and leading and trailing empty lines from documentation.
pub fn tidy(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| line.trim_end().replace('\t', "    ")).collect();
    let indent = |line: &String| line.len() - line.trim_start_matches(' ').len();
    // The first line follows the tag, so its indentation says nothing about the other lines.
    let common = lines.iter().skip(1).filter(|line| !line.is_empty()).map(indent).min().unwrap_or(0);
    let cut = |(index, line): (usize, &String)| match index {
        0 => line.trim_start().to_owned(),
        _ => line.get(common..).unwrap_or_default().to_owned(),
    };
    lines.iter().enumerate().map(cut).collect::<Vec<_>>().join("\n").trim_matches('\n').trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documentation_loses_its_indentation() {
        for (text, expected) in [
            ("", ""),
            (" one ", "one"),
            ("\n      one\n        two\n\n      three\n    ", "one\n  two\n\nthree"),
            ("one\n\t\ttwo\n\t\tthree", "one\ntwo\nthree"),
        ] {
            assert_eq!(tidy(text), expected);
        }
    }
}
