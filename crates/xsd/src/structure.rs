//! A table of which elements and attributes are allowed where in a schema document: the schema for schemas (XSD 1.0
//! Part 1 Appendix A). Attribute values are checked where they are parsed.
//!
//! Misplaced elements are reported here, once. All later steps skip them.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use castile_xml::tree::{Element, ElementId as NodeId, Node, is_ncname};

use crate::{Diagnostics, ExpandedName, FileId, Location, Severity, XSD_NAMESPACE};

/// The name that diagnostics use for Appendix A, whose rules have no names.
pub(crate) const RULE: &str = "schema-for-schemas";

/// The misplaced elements of each document.
#[derive(Debug, Default)]
pub(crate) struct Misplaced {
    elements: HashSet<(FileId, NodeId)>,
    checked: HashSet<(FileId, NodeId)>,
}

impl Misplaced {
    pub(crate) fn contains(&self, file: FileId, element: Element<'_>) -> bool {
        self.elements.contains(&(file, element.id()))
    }

    /// Checks a `<schema>` and its content. It is checked once, however often it is included.
    pub(crate) fn check(&mut self, schema: Element<'_>, file: FileId, diagnostics: &mut Diagnostics) {
        if !self.checked.insert((file, schema.id())) {
            return;
        }
        let mut ids: HashMap<&str, Element<'_>> = HashMap::new();
        let mut open = vec![(schema, "schema")];
        while let Some((element, rule)) = open.pop() {
            let rule = &GRAMMAR[rule];
            let mark = diagnostics.mark();
            let mut check = Check { element, rule, file, diagnostics };
            check.attributes();
            check.id(&mut ids);
            let (inner, misplaced) = check.content();
            // An error in `<schema>` or `<annotation>` itself doesn't affect a component.
            if matches!(element.local(), "schema" | "annotation") {
                diagnostics.forgive(mark);
            }
            open.extend(inner.into_iter().rev());
            self.elements.extend(misplaced.into_iter().map(|id| (file, id)));
        }
    }
}

/// What an element may contain.
struct Rule {
    attributes: Vec<&'static str>,
    content: Vec<Slot>,
    /// Whether any content is allowed.
    open: bool,
}

/// A part of a content model: a choice of elements, which occurs at most once or any number of times.
struct Slot {
    /// The local name, and the name of its rule.
    names: Vec<(&'static str, &'static str)>,
    many: bool,
    /// Whether nothing may follow.
    last: bool,
}

/// (rule, attributes, content), in the notation of a DTD.
///
/// `a!` means that nothing may follow `a`. `a@b` is the element `a` with the rule called `a@b`. No element is required
/// here. Each element may also have an `id`, and attributes of other namespaces.
const TABLE: &[(&str, &str, &str)] = &[
    (
        "schema",
        "attributeFormDefault blockDefault elementFormDefault finalDefault targetNamespace version",
        "(include|import|redefine|annotation)* (simpleType@global|complexType@global|group@global|attributeGroup@global|element@global|attribute@global|notation|annotation)*",
    ),
    ("include", "schemaLocation", "annotation?"),
    ("import", "namespace schemaLocation", "annotation?"),
    (
        "redefine",
        "schemaLocation",
        "(annotation|simpleType@global|complexType@global|group@global|attributeGroup@global)*",
    ),
    ("annotation", "", "(appinfo|documentation)*"),
    ("appinfo", "source", "ANY"),
    ("documentation", "source", "ANY"),
    ("notation", "name public system", "annotation?"),
    (
        "element@global",
        "abstract block default final fixed name nillable substitutionGroup type",
        "annotation? (simpleType|complexType)? (unique|key|keyref)*",
    ),
    (
        "element",
        "block default fixed form maxOccurs minOccurs name nillable type",
        "annotation? (simpleType|complexType)? (unique|key|keyref)*",
    ),
    ("element@ref", "maxOccurs minOccurs ref", "annotation?"),
    ("attribute@global", "default fixed name type", "annotation? simpleType?"),
    ("attribute", "default fixed form name type use", "annotation? simpleType?"),
    ("attribute@ref", "default fixed ref use", "annotation?"),
    ("complexType@global", "abstract block final mixed name", COMPLEX),
    ("complexType", "mixed", COMPLEX),
    ("simpleContent", "", "annotation? (restriction@simpleContent|extension@simpleContent)?"),
    ("complexContent", "mixed", "annotation? (restriction@complexContent|extension@complexContent)?"),
    (
        "restriction@simpleContent",
        "base",
        "annotation? simpleType? (length|minLength|maxLength|pattern|enumeration|whiteSpace|maxInclusive|maxExclusive|minInclusive|minExclusive|totalDigits|fractionDigits)* (attribute|attributeGroup)* anyAttribute?",
    ),
    ("extension@simpleContent", "base", "annotation? (attribute|attributeGroup)* anyAttribute?"),
    (
        "restriction@complexContent",
        "base",
        "annotation? (group|all|choice|sequence)? (attribute|attributeGroup)* anyAttribute?",
    ),
    (
        "extension@complexContent",
        "base",
        "annotation? (group|all|choice|sequence)? (attribute|attributeGroup)* anyAttribute?",
    ),
    ("simpleType@global", "final name", "annotation? (restriction|list|union)?"),
    ("simpleType", "", "annotation? (restriction|list|union)?"),
    (
        "restriction",
        "base",
        "annotation? simpleType? (length|minLength|maxLength|pattern|enumeration|whiteSpace|maxInclusive|maxExclusive|minInclusive|minExclusive|totalDigits|fractionDigits)*",
    ),
    ("list", "itemType", "annotation? simpleType?"),
    ("union", "memberTypes", "annotation? simpleType*"),
    ("length", "fixed value", "annotation?"),
    ("minLength", "fixed value", "annotation?"),
    ("maxLength", "fixed value", "annotation?"),
    ("pattern", "value", "annotation?"),
    ("enumeration", "value", "annotation?"),
    ("whiteSpace", "fixed value", "annotation?"),
    ("maxInclusive", "fixed value", "annotation?"),
    ("maxExclusive", "fixed value", "annotation?"),
    ("minInclusive", "fixed value", "annotation?"),
    ("minExclusive", "fixed value", "annotation?"),
    ("totalDigits", "fixed value", "annotation?"),
    ("fractionDigits", "fixed value", "annotation?"),
    ("group@global", "name", "annotation? (all@group|choice@group|sequence@group)?"),
    ("all@group", "", "annotation? element*"),
    ("choice@group", "", "annotation? (element|group|choice|sequence|any)*"),
    ("sequence@group", "", "annotation? (element|group|choice|sequence|any)*"),
    ("group", "maxOccurs minOccurs ref", "annotation?"),
    ("all", "maxOccurs minOccurs", "annotation? element*"),
    ("choice", "maxOccurs minOccurs", "annotation? (element|group|choice|sequence|any)*"),
    ("sequence", "maxOccurs minOccurs", "annotation? (element|group|choice|sequence|any)*"),
    ("any", "maxOccurs minOccurs namespace processContents", "annotation?"),
    ("attributeGroup@global", "name", "annotation? (attribute|attributeGroup)* anyAttribute?"),
    ("attributeGroup", "ref", "annotation?"),
    ("anyAttribute", "namespace processContents", "annotation?"),
    ("unique", "name", "annotation? selector? field*"),
    ("key", "name", "annotation? selector? field*"),
    ("keyref", "name refer", "annotation? selector? field*"),
    ("selector", "xpath", "annotation?"),
    ("field", "xpath", "annotation?"),
];

const COMPLEX: &str = "annotation? (simpleContent|complexContent)! (group|all|choice|sequence)? (attribute|attributeGroup)* anyAttribute?";

static GRAMMAR: LazyLock<HashMap<&'static str, Rule>> = LazyLock::new(|| {
    let rule = |attributes: &'static str, content: &'static str| Rule {
        attributes: attributes.split_whitespace().collect(),
        content: content.split_whitespace().filter(|&word| word != "ANY").map(Slot::parse).collect(),
        open: content == "ANY",
    };
    TABLE.iter().map(|&(name, attributes, content)| (name, rule(attributes, content))).collect()
});

impl Slot {
    fn parse(text: &'static str) -> Slot {
        let body = text.trim_end_matches(['?', '*', '!']);
        let names = body.trim_matches(['(', ')']).split('|');
        Slot {
            names: names.map(|rule| (rule.split('@').next().unwrap_or_default(), rule)).collect(),
            many: text.ends_with('*'),
            last: text.ends_with('!'),
        }
    }

    fn rule(&self, element: Element<'_>) -> Option<&'static str> {
        let (_, rule) = self.names.iter().find(|(local, _)| *local == element.local())?;
        // A reference may have fewer attributes and children than a declaration.
        Some(match *rule {
            "element" if element.attribute("ref").is_some() => "element@ref",
            "attribute" if element.attribute("ref").is_some() => "attribute@ref",
            rule => rule,
        })
    }
}

struct Check<'c, 'd> {
    element: Element<'d>,
    rule: &'static Rule,
    file: FileId,
    diagnostics: &'c mut Diagnostics,
}

impl<'d> Check<'_, 'd> {
    fn report(&mut self, severity: Severity, offset: usize, message: String, note: String) {
        let location = Location::at(self.file, offset);
        let diagnostic = self.diagnostics.add(severity, location, message).with_rule(RULE);
        diagnostic.note = Some(note).filter(|note| !note.is_empty());
    }

    fn attributes(&mut self) {
        let allowed = &self.rule.attributes;
        for attribute in self.element.attributes() {
            let known = match attribute.namespace() {
                "" => attribute.local() == "id" || allowed.contains(&attribute.local()),
                XSD_NAMESPACE => false,
                _ => true,
            };
            if known {
                continue;
            }
            let local = attribute.local();
            let message = format!("<{}> has an attribute `{local}`, which is ignored", self.element.local());
            let note = format!("allowed attributes are {}", list(allowed, "and"));
            self.report(Severity::Warning, attribute.offset(), message, note);
        }
    }

    /// Checks `id`, which has type ID: its value must be unique in the schema. IDs inside `<appinfo>` and
    /// `<documentation>` are not checked.
    fn id(&mut self, ids: &mut HashMap<&'d str, Element<'d>>) {
        let Some(attribute) = self.element.find_attribute("", "id") else { return };
        let id = attribute.value().trim();
        if !is_ncname(id) {
            let message = format!("id is {id:?}, expected a name: letters, digits, '.', '-' or '_'");
            self.report(Severity::Warning, attribute.offset(), message, String::new());
            return;
        }
        match ids.get(id) {
            Some(first) => {
                let message = format!("id {id:?} occurs more than once");
                let note = format!("the first is that of <{}> in line {}", first.local(), first.position().line);
                self.report(Severity::Warning, attribute.offset(), message, note);
            }
            None => {
                ids.insert(id, self.element);
            }
        }
    }

    /// Checks the children. Returns the child elements with their rules, and the misplaced ones.
    fn content(&mut self) -> (Vec<(Element<'d>, &'static str)>, Vec<NodeId>) {
        let (mut inner, mut misplaced) = (Vec::new(), Vec::new());
        if self.rule.open {
            return (inner, misplaced);
        }
        let slots = &self.rule.content;
        let mut next = 0;
        for node in self.element.children() {
            let child = match node {
                Node::Element(child) if child.namespace() == XSD_NAMESPACE => child,
                Node::Element(child) => {
                    self.unexpected_namespace(child);
                    continue;
                }
                Node::Text(text) => {
                    self.text(text);
                    continue;
                }
            };
            let found = (next..slots.len()).find_map(|index| Some((index, slots[index].rule(child)?)));
            if let Some((index, rule)) = found {
                next = match () {
                    () if slots[index].last => slots.len(),
                    () if slots[index].many => index,
                    () => index + 1,
                };
                inner.push((child, rule));
                continue;
            }
            // `late` is the rule of a child that belongs before an earlier one. An annotation, or a late import,
            // include or redefine, is kept, because its meaning is clear. Any other child is misplaced.
            let late = slots[..next.min(slots.len())].iter().find_map(|slot| slot.rule(child));
            match child.local() {
                "annotation" => {
                    let message = "expected at most one annotation, as the first child of its component".to_owned();
                    self.report(Severity::Warning, child.offset(), message, String::new());
                    inner.push((child, "annotation"));
                }
                "import" | "include" | "redefine" if late.is_some() => {
                    let message =
                        format!("<{}> comes after a definition, expected before all definitions", child.local());
                    self.report(Severity::Warning, child.offset(), message, String::new());
                    inner.extend(late.map(|rule| (child, rule)));
                }
                local => {
                    let names: Vec<&str> =
                        slots[next..].iter().flat_map(|slot| &slot.names).map(|name| name.0).collect();
                    let parent = self.element.local();
                    let expected = match names.as_slice() {
                        [] => "nothing".to_owned(),
                        names => list(names, "or"),
                    };
                    let message = format!("unexpected <{local}> in <{parent}>, expected {expected}");
                    let note = if late.is_some() { "the order and the number of the children matter" } else { "" };
                    self.report(Severity::Error, child.offset(), message, note.to_owned());
                    misplaced.push(child.id());
                }
            }
        }
        (inner, misplaced)
    }

    fn unexpected_namespace(&mut self, child: Element<'_>) {
        let name = ExpandedName::new(child.namespace(), child.local());
        let message = format!("<{}> has an element {name} that doesn't belong to XML Schema", self.element.local());
        let note = "it is ignored; expected it in <appinfo>".to_owned();
        self.report(Severity::Warning, child.offset(), message, note);
    }

    fn text(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            let text: String = text.chars().take(20).collect();
            let message = format!("<{}> has text {text:?}, expected elements only", self.element.local());
            self.report(Severity::Error, self.element.offset(), message, String::new());
        }
    }
}

fn list(names: &[&str], word: &str) -> String {
    match names {
        [] => "none".to_owned(),
        [one] => format!("`{one}`"),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(|name| format!("`{name}`")).collect();
            format!("{} {word} `{last}`", first.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_is_named_is_there() {
        for rule in GRAMMAR.values() {
            for (local, name) in rule.content.iter().flat_map(|slot| &slot.names) {
                assert!(GRAMMAR.contains_key(name), "{name}");
                assert!(name.starts_with(local));
            }
        }
        assert_eq!(GRAMMAR.len(), TABLE.len());
    }
}
