//! Rules for schemas: those of the Basic Profile (§4.3), and constructs that code generators have problems with.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use castile_xml::tree::Element;
use castile_xsd::{FileId, Location, XSD_NAMESPACE};

use super::contract::{Documents, Name, SOAP_ENCODING, WSDL, named, refers, within};
use super::findings::Findings;
use super::rules;

/// By default, xjc generates no enum for an enumeration with more values.
const MAX_ENUMERATION: usize = 256;
const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";

pub(super) fn check(documents: &Documents, findings: &mut Findings<'_>) {
    let mut names = JavaNames::default();
    let arrays = arrays(documents);
    let targets = documents.schemas().map(|(_, schema)| schema.attribute("targetNamespace"));
    let has_xml = targets.flatten().any(|target| target.trim() == XML_NAMESPACE);
    for (file, schema) in documents.schemas() {
        if schema.parent().is_some() {
            target_namespace(file, schema, findings);
        }
        let known = known_namespaces(schema);
        for element in within(schema, |_| false).filter(|one| one.namespace() == XSD_NAMESPACE) {
            if !findings.spend(1) {
                return;
            }
            references(file, element, (&known, has_xml), findings);
            match element.local() {
                "element" => self::element(file, element, &arrays, findings),
                "complexType" => properties(file, element, findings),
                "simpleType" => enumeration(file, element, findings),
                "redefine" => findings.at(&rules::REDEFINE, file, element, "xs:redefine is used"),
                "group" if element.attribute("ref").is_some() => {
                    let name = element.attribute("ref").unwrap_or_default();
                    findings.at(&rules::GROUP, file, element, format!("the group {name} is used"));
                }
                _ => {}
            }
        }
        names.schema(file, schema, findings);
    }
}

fn target_namespace(file: FileId, schema: Element<'_>, findings: &mut Findings<'_>) {
    let has_target = schema.attribute("targetNamespace").is_some_and(|target| !target.trim().is_empty());
    let is_component = |one: Element<'_>| !matches!(one.local(), "import" | "annotation");
    if !has_target && schema.elements().any(is_component) {
        findings.at(&rules::R2105, file, schema, "the schema has no targetNamespace");
    }
}

/// Returns the namespaces that a schema may refer to.
fn known_namespaces(schema: Element<'_>) -> HashSet<&str> {
    let imports = schema.elements().filter(|one| one.is(XSD_NAMESPACE, "import"));
    let mut known: HashSet<&str> =
        imports.map(|import| import.attribute("namespace").unwrap_or_default().trim()).collect();
    // Names without a namespace belong to the including schema.
    known.extend([XSD_NAMESPACE, "", schema.attribute("targetNamespace").unwrap_or_default().trim()]);
    known
}

fn references(
    file: FileId,
    element: Element<'_>,
    (known, has_xml): (&HashSet<&str>, bool),
    findings: &mut Findings<'_>,
) {
    for attribute in element.attributes() {
        if attribute.namespace() == WSDL && attribute.local() == "arrayType" {
            findings.at_attribute(&rules::R2111, file, attribute, format!("the items are {}", attribute.value()));
        }
        if !attribute.namespace().is_empty()
            || !matches!(
                attribute.local(),
                "type" | "base" | "ref" | "itemType" | "memberTypes" | "substitutionGroup" | "refer"
            )
        {
            continue;
        }
        for text in attribute.value().split_whitespace() {
            let Ok((namespace, local)) = element.resolve_qname(text) else { continue };
            if namespace == SOAP_ENCODING && local == "Array" && attribute.local() == "base" {
                findings.at_attribute(&rules::R2110, file, attribute, "a type is derived from soapenc:Array");
            }
            // These have their own rules.
            let is_dataset = namespace == XSD_NAMESPACE && local == "schema" && attribute.local() == "ref";
            if is_dataset && element.local() == "element" {
                findings.at_attribute(&rules::DATASET, file, attribute, "an element has a schema as its content");
            } else if namespace == XML_NAMESPACE {
                if !has_xml {
                    findings.at_attribute(
                        &rules::XML_ATTRIBUTE,
                        file,
                        attribute,
                        format!("there is a reference to {text}"),
                    );
                }
            } else if !known.contains(namespace) {
                let message = format!("{text} is in namespace {namespace:?}, which the schema doesn't import");
                findings.at_attribute(&rules::R2102, file, attribute, message);
            }
        }
    }
}

fn element(file: FileId, element: Element<'_>, arrays: &HashSet<Name>, findings: &mut Findings<'_>) {
    let name = named(element);
    if name.strip_prefix("ArrayOf").is_some_and(|rest| rest.starts_with(char::is_uppercase)) {
        findings.at(&rules::R2112, file, element, format!("an element has the name {name}"));
    }
    let of_array = || {
        let own = element.elements().find(|one| one.is(XSD_NAMESPACE, "complexType"));
        own.map_or_else(|| refers(element, "type").is_some_and(|name| arrays.contains(&name)), is_array)
    };
    if is_repeated(element) && of_array() {
        let message = format!("{name} is repeated, and contains only one repeated element");
        findings.at(&rules::NESTED_ARRAY, file, element, message);
    }
}

fn is_repeated(element: Element<'_>) -> bool {
    element.attribute("maxOccurs").is_some_and(|most| !matches!(most.trim(), "0" | "1"))
}

/// Returns whether svcutil takes a type for an array: a sequence of one repeated element, and nothing else.
fn is_array(complex_type: Element<'_>) -> bool {
    let mut content = complex_type.elements().filter(|one| one.local() != "annotation");
    let (Some(sequence), None) = (content.next(), content.next()) else { return false };
    let mut items = sequence.elements().filter(|one| one.local() != "annotation");
    let (Some(item), None) = (items.next(), items.next()) else { return false };
    sequence.is(XSD_NAMESPACE, "sequence")
        && !is_repeated(sequence)
        && item.is(XSD_NAMESPACE, "element")
        && is_repeated(item)
        && complex_type.attribute("mixed").is_none_or(|mixed| !matches!(mixed.trim(), "true" | "1"))
}

/// Returns the named types that svcutil takes for arrays.
fn arrays(documents: &Documents) -> HashSet<Name> {
    let mut arrays = HashSet::new();
    for (_, schema) in documents.schemas() {
        let target = schema.attribute("targetNamespace").unwrap_or_default().trim();
        let types = schema.elements().filter(|one| one.is(XSD_NAMESPACE, "complexType"));
        arrays.extend(types.filter(|one| is_array(*one)).map(|one| (target.to_owned(), named(one).to_owned())));
    }
    arrays
}

fn enumeration(file: FileId, simple_type: Element<'_>, findings: &mut Findings<'_>) {
    let restrictions = simple_type.elements().filter(|one| one.is(XSD_NAMESPACE, "restriction"));
    let values = restrictions.flat_map(Element::elements).filter(|one| one.local() == "enumeration").count();
    if values > MAX_ENUMERATION {
        let name = named(simple_type);
        findings.at(&rules::LARGE_ENUMERATION, file, simple_type, format!("{name} has {values} values"));
    }
}

/// Checks for members of a type that would become the same Java property. Members of groups and base types aren't checked.
fn properties(file: FileId, complex_type: Element<'_>, findings: &mut Findings<'_>) {
    let is_inner =
        |one: Element<'_>| one.id() != complex_type.id() && matches!(one.local(), "complexType" | "simpleType");
    let mut known: HashMap<String, (&str, &str)> = HashMap::new();
    for member in within(complex_type, is_inner).filter(|one| one.namespace() == XSD_NAMESPACE) {
        let (kind, name) = match member.local() {
            "element" => ("element", member_name(member)),
            "attribute" if member.attribute("use") != Some("prohibited") => ("attribute", member_name(member)),
            "simpleContent" => ("text", "value"),
            _ => continue,
        };
        if name.is_empty() {
            continue;
        }
        let java = java_name(name);
        match known.get(&java) {
            // Elements with the same name become one list.
            Some(first) if *first == (kind, name) => {}
            Some((first_kind, first)) => {
                let message = format!("the {kind} {name} and the {first_kind} {first} both get the property {java:?}");
                findings.at(&rules::JAVA_PROPERTY, file, member, message);
            }
            None => {
                known.insert(java, (kind, name));
            }
        }
    }
}

/// Returns the local name of an element or attribute declaration or reference.
fn member_name(member: Element<'_>) -> &str {
    let reference = member.attribute("ref").map(|name| name.trim().rsplit(':').next().unwrap_or_default());
    reference.unwrap_or_else(|| named(member))
}

/// Converts a name as xjc does (JAXB 2.2 appendix D): words begin after punctuation and digits, and each is capitalised.
fn java_name(name: &str) -> String {
    let mut java = String::with_capacity(name.len());
    let mut begins = true;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            begins = true;
        } else if begins {
            java.extend(c.to_uppercase());
            begins = c.is_ascii_digit();
        } else {
            java.push(c);
            begins = c.is_ascii_digit();
        }
    }
    java
}

/// The Java names of global declarations: classes, and methods of the ObjectFactory.
#[derive(Default)]
struct JavaNames {
    /// The first declaration with each name, by namespace, whether it is a class, and the Java name.
    known: HashMap<(String, bool, String), String>,
}

impl JavaNames {
    fn schema(&mut self, file: FileId, schema: Element<'_>, findings: &mut Findings<'_>) {
        let target = schema.attribute("targetNamespace").unwrap_or_default().trim();
        for component in schema.elements().filter(|one| one.namespace() == XSD_NAMESPACE) {
            let has_own_type = || component.elements().any(|one| one.is(XSD_NAMESPACE, "complexType"));
            let is_class = match component.local() {
                "complexType" => true,
                "element" => has_own_type(),
                _ => continue,
            };
            let (name, kind) = (named(component), component.local());
            if name.is_empty() {
                continue;
            }
            let (subject, place) = (format!("{kind} {name}"), Location::of(file, component));
            self.add((target, is_class, &java_name(name)), subject, place, findings);
            if is_class {
                self.members(target, component, file, findings);
            }
        }
    }

    /// Adds the ObjectFactory methods of elements that are both optional and nillable. Only a JAXBElement distinguishes absent from nil,
    /// and the factory creates it.
    fn members(&mut self, target: &str, class: Element<'_>, file: FileId, findings: &mut Findings<'_>) {
        let own = class.elements().find(|one| one.is(XSD_NAMESPACE, "complexType")).unwrap_or(class);
        let is_inner = |one: Element<'_>| one.id() != own.id() && one.local() == "complexType";
        for member in within(own, is_inner).filter(|one| one.is(XSD_NAMESPACE, "element")) {
            let is =
                |name: &str, values: &[&str]| member.attribute(name).is_some_and(|text| values.contains(&text.trim()));
            let name = named(member);
            if is("nillable", &["true", "1"]) && is("minOccurs", &["0"]) && !is_repeated(member) && !name.is_empty() {
                let java = java_name(named(class)) + &java_name(name);
                let subject = format!("element {name} of {}", named(class));
                self.add((target, false, &java), subject, Location::of(file, member), findings);
            }
        }
    }

    fn add(
        &mut self,
        (target, is_class, java): (&str, bool, &str),
        subject: String,
        place: Location,
        findings: &mut Findings<'_>,
    ) {
        match self.known.entry((target.to_owned(), is_class, java.to_owned())) {
            // Duplicate components are reported elsewhere.
            Entry::Occupied(known) if *known.get() == subject => {}
            Entry::Occupied(known) => {
                let what = if is_class { "class" } else { "method of the ObjectFactory" };
                let message = format!("{subject} and {} both get the {what} {java:?}", known.get());
                findings.add(&rules::JAVA_CLASS, place, message);
            }
            Entry::Vacant(entry) => {
                entry.insert(subject);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_java_as_xjc_makes_them() {
        for (name, java) in [
            ("order", "Order"),
            ("order_line", "OrderLine"),
            ("order-line", "OrderLine"),
            ("orderLine", "OrderLine"),
            ("orderline", "Orderline"),
            ("line2item", "Line2Item"),
            ("ID", "ID"),
            ("", ""),
        ] {
            assert_eq!(java_name(name), java, "{name}");
        }
    }
}
