//! Computes what depends on the whole plan: tags, and which types have defaults.

use std::collections::{BTreeSet, HashMap, HashSet};

use castile_xml::XML_NAMESPACE;
use castile_xml::escape::push_attribute;

use crate::names::Ident;
use crate::plan::{
    Base, Content, DefaultValue, Element, EncodedValue, Enumeration, Field, Item, Made, Nil, Occurrence, Path, Payload,
    Presence, Role, Root, Service, Struct, Term, TypeName, TypedRoot,
};
use crate::tags::Tags;

use super::Planner;
use super::namespaces::NamespaceSets;

/// The types of `castile::datatypes` that have a default value, such as zero or an empty text.
const DATATYPES_WITH_DEFAULT: [&str; 11] = [
    "AnyUri",
    "Base64Binary",
    "Decimal",
    "Duration",
    "HexBinary",
    "Integer",
    "NonNegativeInteger",
    "NonPositiveInteger",
    "NormalizedString",
    "StreamedBinary",
    "Token",
];

const XSD_NAMESPACE: &str = "http://www.w3.org/2001/XMLSchema";
/// A placeholder for the encoding namespace, which is known when a message is written.
const SOAP_ENCODING: &str = "http://schemas.xmlsoap.org/soap/encoding/";
/// Additional namespace declarations of a payload in SOAP encoding.
const ENCODED_DECLARATIONS: &str =
    " xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";

/// Completes the plan with tags and defaults.
pub(super) fn finish(
    mut items: Vec<Item>,
    mut services: Vec<Service>,
    documents: &mut [TypedRoot],
    namespaces: Vec<String>,
    own: &HashMap<Path, Box<str>>,
    planner: &mut Planner<'_>,
) -> (Vec<Item>, Vec<Service>, Vec<String>) {
    let attribute_namespaces = std::mem::take(&mut planner.attribute_namespaces);
    let more = attribute_namespaces.iter().filter(|namespace| *namespace != XML_NAMESPACE).cloned();
    let namespaces = by_use(namespaces.into_iter().chain(more).collect());
    let values_are_names = items.iter().any(has_names);
    let tags = Tags::new(namespaces.clone(), &attribute_namespaces, values_are_names);
    for item in &mut items {
        add_tags(item, &tags);
    }
    let below = NamespaceSets::new(&items);
    let set_tags = |root: &mut Root, base: &Base, planner: &mut Planner<'_>| {
        let Element { namespace, name, .. } = &root.element;
        if matches!(base, Base::Item(path) if own.contains_key(path)) {
            // The tags of a type of the program have no prefix.
            root.start = planner.copy(&own_start(namespace, name));
            root.end = format!("</{name}>");
            return;
        }
        let names = root.type_name.iter().map(|name| name.namespace.clone()).chain([namespace.clone()]);
        let mut declared: BTreeSet<String> = names.collect();
        below.add(base, &mut declared);
        if root.is_encoded {
            // These two namespaces have fixed prefixes.
            declared.retain(|namespace| !matches!(namespace.as_str(), XSD_NAMESPACE | SOAP_ENCODING));
        }
        root.start = planner.copy(&tags.root(namespace, name, &declared));
        if root.is_encoded {
            root.start.pop();
            root.start += ENCODED_DECLARATIONS;
            if let Some(type_name) = &root.type_name {
                root.start += &format!(" xsi:type=\"{}\"", type_tag(type_name, &tags));
            }
            root.start.push('>');
        }
        root.end = format!("</{}>", tags.name(namespace, name));
    };
    let headers = services.iter_mut().flat_map(|service| &mut service.headers);
    for TypedRoot { root, base, .. } in headers.chain(documents) {
        set_tags(root, base, planner);
    }
    for operation in services.iter_mut().flat_map(|service| &mut service.operations) {
        for message in std::iter::once(&mut operation.request).chain(&mut operation.response) {
            match &mut message.payload {
                Payload::Element(root) => set_tags(root, &message.base, planner),
                Payload::Content { start, .. } => {
                    let mut declared = BTreeSet::new();
                    below.add(&message.base, &mut declared);
                    *start = planner.copy(&tags.start("soap:Body", &declared));
                }
                Payload::Nothing => {}
            }
        }
        let faults = operation.faults.iter_mut().flat_map(|faults| &mut faults.variants);
        faults.for_each(|fault| set_tags(&mut fault.root, &fault.base, planner));
    }
    add_defaults(&mut items);
    (items, services, namespaces)
}

/// Returns the start tag of an element with its default namespace.
fn own_start(namespace: &str, name: &str) -> String {
    let mut tag = format!("<{name} xmlns=\"").into_bytes();
    // The namespace is from an XML document, so it has only characters that XML allows.
    let _ = push_attribute(&mut tag, namespace);
    tag.extend_from_slice(b"\">");
    String::from_utf8_lossy(&tag).into_owned()
}

/// Returns true if values of a type may be qualified names, or have them in attributes or elements of a simple type.
fn has_names(item: &Item) -> bool {
    let mut elements = item.fields().iter().filter_map(|field| match &field.term {
        Term::Element { value, .. } => Some(&value.base),
        Term::Group(_) | Term::Any(_) => None,
    });
    elements.any(Base::is_name)
        || match item {
            Item::Struct(Struct { attributes, content, .. }) => {
                attributes.iter().any(|attribute| attribute.base.is_name())
                    || matches!(content, Content::Simple { value, .. } if value.is_name())
            }
            Item::Derived(planned) => planned.variants.iter().any(|variant| variant.base.is_name()),
            Item::Union(planned) => planned.has_names,
            Item::Choice(_) | Item::Enumeration(_) | Item::Restriction(_) | Item::NamedTypes(_) => false,
            // Accessors always have names without a prefix.
            Item::EncodedStruct(_) | Item::EncodedArray(_) => false,
        }
}

fn add_tags(item: &mut Item, tags: &Tags) {
    for field in item.fields_mut() {
        if let Term::Element { element, tag, .. } = &mut field.term {
            *tag = tags.name(&element.namespace, &element.name);
        }
    }
    match item {
        Item::Struct(planned) => {
            for attribute in &mut planned.attributes {
                attribute.tag = tags.attribute(&attribute.namespace, &attribute.name);
            }
        }
        Item::Derived(planned) => {
            for variant in &mut planned.variants {
                if let Some(tag) = &mut variant.tag {
                    *tag = tags.name(&variant.name.namespace, &variant.name.name);
                }
            }
        }
        Item::EncodedStruct(planned) => {
            for accessor in &mut planned.accessors {
                accessor.start = encoded_start(&accessor.element, &accessor.value, tags);
            }
        }
        Item::EncodedArray(planned) => {
            planned.start = encoded_start(&planned.item, &planned.value, tags);
            planned.tag = type_tag(&planned.item_type, tags);
        }
        Item::Choice(_) | Item::Enumeration(_) | Item::Union(_) | Item::Restriction(_) | Item::NamedTypes(_) => {}
    }
}

/// Returns the start tag of an accessor, which has no namespace, with its type if it is always the same.
fn encoded_start(element: &Element, value: &EncodedValue, tags: &Tags) -> String {
    match &value.type_name {
        None => format!("<{}>", element.name),
        Some(type_name) => format!("<{} xsi:type=\"{}\">", element.name, type_tag(type_name, tags)),
    }
}

/// Returns the name of a type as written in a value. Messages in SOAP encoding have a fixed prefix for built-in types.
fn type_tag(type_name: &TypeName, tags: &Tags) -> String {
    match type_name.namespace.as_str() {
        XSD_NAMESPACE => format!("xsd:{}", type_name.name),
        SOAP_ENCODING => format!("soapenc:{}", type_name.name),
        namespace => tags.name(namespace, &type_name.name),
    }
}

/// Determines which types have a default.
///
/// A type has a default if the types of all its required fields have one; circles only lead through optional fields.
/// Other types are constructed from their required parts.
fn add_defaults(items: &mut [Item]) {
    add_default_values(items);
    let mut known: HashSet<Path> = HashSet::new();
    loop {
        let before = known.len();
        for item in items.iter_mut() {
            let Item::Struct(planned) = item else { continue };
            if planned.made != Made::Whole {
                continue;
            }
            let content = match &planned.content {
                Content::Simple { value, .. } => has_default(value, &known),
                Content::Sequence(fields) | Content::All(fields) => {
                    fields.iter().all(|field| field_has_default(field, &known))
                }
                Content::Mixed { .. } => true,
            };
            let attributes = planned.attributes.iter().all(|attribute| match attribute.presence {
                Presence::Required => has_default(&attribute.base, &known),
                Presence::Optional | Presence::Fixed { .. } => true,
                Presence::Default(_) => attribute.default.is_some(),
            });
            // An empty group would be absent when it is read again, so it has no default.
            if content && attributes && (planned.role != Role::Group || !planned_is_empty(&planned.content)) {
                let mut defaults = planned.attributes.iter().filter_map(|attribute| attribute.default.as_ref());
                let says_more = defaults.any(|default| !default.is_that_of_its_type());
                planned.made = if says_more { Made::ByDefaultOfContract } else { Made::ByDefault };
                known.insert(planned.path.clone());
            }
        }
        if known.len() == before {
            break;
        }
    }
    for item in items {
        let Item::Struct(planned) = item else { continue };
        if planned.made == Made::Whole && (planned.role != Role::Group || !planned_is_empty(&planned.content)) {
            planned.made = Made::OfParts;
        }
    }
}

/// Determines the default values of attributes.
fn add_default_values(items: &mut [Item]) {
    let enumerations = items.iter().filter_map(|item| match item {
        Item::Enumeration(Enumeration { path, variants, .. }) => {
            let values = variants.iter().map(|variant| (variant.value.clone(), variant.ident.clone()));
            Some((path.clone(), values.collect()))
        }
        _ => None,
    });
    let enumerations: HashMap<Path, HashMap<String, Ident>> = enumerations.collect();
    for item in items {
        let Item::Struct(planned) = item else { continue };
        for attribute in &mut planned.attributes {
            let Presence::Default(value) = &attribute.presence else { continue };
            attribute.default = match &attribute.base {
                Base::Primitive("String") => Some(DefaultValue::Text(value.clone())),
                Base::Primitive(name) => literal(name, value.trim()).map(DefaultValue::Literal),
                Base::Item(path) => {
                    let variant = enumerations.get(path).and_then(|values| values.get(value.trim()));
                    variant.map(|variant| DefaultValue::Variant(path.clone(), variant.clone()))
                }
                _ => None,
            };
        }
    }
}

/// Returns a number or a Boolean value as Rust code, or `None` if that isn't possible.
fn literal(name: &str, value: &str) -> Option<String> {
    match (name, value) {
        ("bool", "true" | "1") => Some("true".to_owned()),
        ("bool", "false" | "0") => Some("false".to_owned()),
        ("bool", _) => None,
        ("f32" | "f64", _) => value.parse::<f64>().ok().filter(|number| number.is_finite()).map(|it| format!("{it:?}")),
        _ => value.parse::<i128>().ok().map(|number| number.to_string()),
    }
}

fn planned_is_empty(content: &Content) -> bool {
    matches!(content, Content::Sequence(fields) | Content::All(fields)
        if fields.iter().all(|field| field.occurrence() != Occurrence::Required))
}

fn field_has_default(field: &Field, known: &HashSet<Path>) -> bool {
    if field.occurrence() != Occurrence::Required {
        return true;
    }
    match &field.term {
        Term::Element { value, .. } => value.nil != Nil::Never || has_default(&value.base, known),
        Term::Group(path) => known.contains(path),
        Term::Any(_) => false,
    }
}

fn has_default(base: &Base, known: &HashSet<Path>) -> bool {
    match base {
        Base::Primitive(_) | Base::List(_) | Base::AnyType | Base::Nothing => true,
        Base::Raw | Base::Rust(_) | Base::Shared(_) => false,
        Base::Datatype(name) => DATATYPES_WITH_DEFAULT.contains(name),
        Base::Item(path) => known.contains(path),
    }
}

/// Sorts namespaces by their number of elements, in descending order. Equal ones stay in the order of the contract.
fn by_use(namespaces: Vec<String>) -> Vec<String> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    let mut index: HashMap<String, usize> = HashMap::new();
    for namespace in namespaces {
        match index.get(&namespace) {
            Some(&known) => counted[known].1 += 1,
            None => {
                index.insert(namespace.clone(), counted.len());
                counted.push((namespace, 1));
            }
        }
    }
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counted.into_iter().map(|(namespace, _)| namespace).collect()
}
