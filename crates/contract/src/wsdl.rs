//! Writes messages, port type, bindings and service.

use std::collections::BTreeMap;

use castile_databinding::declared::{
    ComplexDefinition, ContentDefinition, Declaration, DeclaredElement, Definition, ElementDeclaration, Reference,
    TermDeclaration,
};
use castile_databinding::schema::{TypeName, XSD_NAMESPACE};
use castile_soap::Version;

use crate::collect::{OtherSchemaItem, Types};
use crate::lines::{Attributes, Lines};
use crate::schema::{Prefixes, Schema, XML_NAMESPACE};
use crate::{Body, Contract, Error, Message, Operation, collect};

const WSDL: &str = "http://schemas.xmlsoap.org/wsdl/";
const SOAP: &str = "http://schemas.xmlsoap.org/wsdl/soap/";
const SOAP12: &str = "http://schemas.xmlsoap.org/wsdl/soap12/";
const HTTP: &str = "http://schemas.xmlsoap.org/soap/http";

pub(crate) fn write(contract: &Contract) -> Result<String, Error> {
    let types = collect::types(contract)?;
    let (elements, global_attributes) = globals(contract, &types)?;
    let mut namespaces = vec![contract.namespace];
    let others = types.keys().chain(elements.keys()).chain(global_attributes.keys());
    for namespace in others.filter(|namespace| !namespace.is_empty()) {
        if !namespaces.contains(namespace) {
            namespaces.push(namespace);
        }
    }
    let prefixes = Prefixes(namespaces);
    let mut out = Lines::default();
    out.declaration();
    let mut attributes: Attributes<'_> = vec![
        ("name", contract.name.to_owned()),
        ("targetNamespace", contract.namespace.to_owned()),
        ("xmlns:wsdl", WSDL.to_owned()),
        ("xmlns:xs", XSD_NAMESPACE.to_owned()),
    ];
    for version in contract.versions {
        let (prefix, namespace) = binding_of(*version);
        attributes.push((if prefix == "soap" { "xmlns:soap" } else { "xmlns:soap12" }, namespace.to_owned()));
    }
    let declared: Vec<(String, &str)> = prefixes
        .0
        .iter()
        .filter_map(|namespace| Some((format!("xmlns:{}", prefixes.prefix(namespace)?), *namespace)))
        .collect();
    attributes.extend(declared.iter().map(|(name, namespace)| (name.as_str(), (*namespace).to_owned())));
    out.element("wsdl:definitions", &attributes, |out| {
        out.text("wsdl:documentation", contract.documentation);
        let mut all: Vec<&'static str> = prefixes.0.clone();
        if types.contains_key("") || elements.contains_key("") {
            all.push("");
        }
        all.retain(|namespace| {
            types.contains_key(namespace)
                || elements.contains_key(namespace)
                || global_attributes.contains_key(namespace)
        });
        if !all.is_empty() {
            out.element("wsdl:types", &[], |out| {
                all.iter().try_for_each(|namespace| {
                    let elements = elements.get(namespace).map_or(&[][..], |elements| elements);
                    let attributes = global_attributes.get(namespace).map_or(&[][..], |attributes| attributes);
                    let unnamed = Default::default();
                    Schema { namespace, elements, attributes, types: &types, prefixes: &prefixes, unnamed }.write(out)
                })
            })?;
        }
        messages(contract, &prefixes, out)?;
        port_type(contract, out)?;
        contract.versions.iter().try_for_each(|version| binding(contract, *version, out))?;
        service(contract, out)
    })?;
    out.finish()
}

/// The global declarations of the schemas other than types, by namespace.
type Globals<T> = BTreeMap<&'static str, Vec<T>>;

/// A global attribute of a schema.
type GlobalAttribute = (TypeName, Reference);

/// Returns the global elements and attributes. First the elements of messages, in the order of the operations. Then the elements
/// and attributes that types of other namespaces use.
fn globals(contract: &Contract, types: &Types) -> Result<(Globals<DeclaredElement>, Globals<GlobalAttribute>), Error> {
    let mut found = Globals::<DeclaredElement>::new();
    let add = |found: &mut Globals<DeclaredElement>, part: DeclaredElement| {
        let of_namespace = found.entry(part.name.namespace).or_default();
        match of_namespace.iter().find(|known| known.name.name == part.name.name) {
            None => of_namespace.push(part),
            Some(known) if is_same((known.of)(), (part.of)()) && known.is_nillable == part.is_nillable => {}
            Some(_) => {
                return Err(Error::new(format!(
                    "two elements of different types have the name <{}> in the namespace {:?}",
                    part.name.name, part.name.namespace
                )));
            }
        }
        Ok(())
    };
    for Operation { request, response, faults, .. } in contract.operations {
        for Message { body, headers } in std::iter::once(request).chain(response) {
            if let Body::Element(part) = body {
                add(&mut found, *part)?;
            }
            headers.iter().try_for_each(|element| add(&mut found, element()))?;
        }
        faults().into_iter().try_for_each(|detail| add(&mut found, detail))?;
    }
    let mut elsewhere = Vec::new();
    let roots: Vec<DeclaredElement> = found.values().flatten().copied().collect();
    for root in roots.iter().filter(|root| (root.of)().name.is_none()) {
        collect::items_of_other_schemas((root.of)(), root.name.namespace, &mut |other| elsewhere.push(other));
    }
    for (namespace, declared) in types {
        for declaration in declared.values() {
            collect::items_of_other_schemas(declaration, namespace, &mut |other| elsewhere.push(other));
        }
    }
    let mut attributes = Globals::<GlobalAttribute>::new();
    for other in elsewhere {
        match other {
            OtherSchemaItem::Element(element) => add(&mut found, element)?,
            OtherSchemaItem::Attribute(name, _) if name.namespace == XML_NAMESPACE => {}
            OtherSchemaItem::Attribute(name, of) => {
                let of_namespace = attributes.entry(name.namespace).or_default();
                match of_namespace.iter().find(|(known, _)| known.name == name.name) {
                    None => of_namespace.push((name, of)),
                    Some((_, known)) if is_same(known(), of()) => {}
                    Some(_) => {
                        return Err(Error::new(format!(
                            "two attributes of different types have the name {} in the namespace {:?}",
                            name.name, name.namespace
                        )));
                    }
                }
            }
        }
    }
    Ok((found, attributes))
}

/// Returns whether two declarations are of the same type. A built-in type can have several declarations.
fn is_same(one: &Declaration, other: &Declaration) -> bool {
    match (one.name, other.name) {
        (Some(one), Some(other)) => (one.namespace, one.name) == (other.namespace, other.name),
        _ => std::ptr::eq(one, other),
    }
}

/// Returns the name of the request message.
fn request_of(operation: &Operation) -> String {
    format!("{}_Input", operation.name)
}

fn response_of(operation: &Operation) -> String {
    format!("{}_Output", operation.name)
}

fn fault_of(operation: &Operation, part: &DeclaredElement) -> String {
    format!("{}_{}_Fault", operation.name, part.name.name)
}

fn messages(contract: &Contract, prefixes: &Prefixes, out: &mut Lines) -> Result<(), Error> {
    for operation in contract.operations {
        message(&request_of(operation), &operation.request, prefixes, out)?;
        if let Some(response) = &operation.response {
            message(&response_of(operation), response, prefixes, out)?;
        }
        for part in (operation.faults)() {
            let part_of = |out: &mut Lines| {
                let element = prefixes.name(part.name);
                out.empty("wsdl:part", &[("name", "fault".to_owned()), ("element", element)]);
                Ok(())
            };
            out.element("wsdl:message", &[("name", fault_of(operation, &part))], part_of)?;
        }
    }
    Ok(())
}

/// Returns the parts for the header blocks of a message, each once and with a unique name.
fn header_parts(message: &Message) -> Vec<(String, DeclaredElement)> {
    let mut parts: Vec<(String, DeclaredElement)> = Vec::new();
    for element in message.headers.iter().map(|element| element()) {
        let TypeName { namespace, name } = element.name;
        if parts.iter().any(|(_, known)| (known.name.namespace, known.name.name) == (namespace, name)) {
            continue;
        }
        let alike = parts.iter().filter(|(_, known)| known.name.name == name).count();
        let part = if alike == 0 { name.to_owned() } else { format!("{name}.{}", alike + 1) };
        parts.push((part, element));
    }
    parts
}

/// Returns the name of the message with the header blocks.
fn headers_of(message: &str) -> String {
    format!("{message}_Headers")
}

fn message(name: &str, message: &Message, prefixes: &Prefixes, out: &mut Lines) -> Result<(), Error> {
    if !message.headers.is_empty() {
        out.element("wsdl:message", &[("name", headers_of(name))], |out| {
            for (part, element) in header_parts(message) {
                out.empty("wsdl:part", &[("name", part), ("element", prefixes.name(element.name))]);
            }
            Ok(())
        })?;
    }
    out.element("wsdl:message", &[("name", name.to_owned())], |out| {
        match message.body {
            Body::Element(part) => {
                let element = prefixes.name(part.name);
                out.empty("wsdl:part", &[("name", "parameters".to_owned()), ("element", element)]);
            }
            Body::Parts(of) => {
                for ElementDeclaration { name, of, .. } in parts(of)? {
                    let Some(of) = of().name else {
                        return Err(Error::new(format!(
                            "the part {name} has a type without a name, which a message of rpc style can't declare"
                        )));
                    };
                    out.empty("wsdl:part", &[("name", (*name).to_owned()), ("type", prefixes.name(of))]);
                }
            }
        }
        Ok(())
    })
}

/// Returns the parts of a message in rpc style: the elements of a type, each of which must occur once.
fn parts(of: Reference) -> Result<Vec<ElementDeclaration>, Error> {
    let wrong = |name: &str| {
        Error::new(format!(
            "{name} can't be a part of a message of rpc style (WSDL 1.1 §3.5): a part occurs once, as an element in \
             no namespace"
        ))
    };
    let Definition::Complex(complex) = &of().definition else { return Err(wrong("a simple type")) };
    let ComplexDefinition { content: ContentDefinition::Elements(content), .. } = complex else {
        return Err(wrong("a text"));
    };
    if !complex.attributes.is_empty() || complex.any_attributes.is_some() || complex.base.is_some() {
        return Err(wrong("a type that has attributes or extends another type"));
    }
    let TermDeclaration::Sequence(particles) = content.term else { return Err(wrong("a choice")) };
    let parts = particles.iter().map(|particle| match particle.term {
        TermDeclaration::Element(element) if element.is_nillable => Err(Error::new(format!(
            "the part {} may be nil, which a message of rpc style can't declare (R2211)",
            element.name
        ))),
        TermDeclaration::Element(element)
            if (particle.min_occurs, particle.max_occurs) == (1, Some(1)) && element.namespace.is_empty() =>
        {
            Ok(element)
        }
        TermDeclaration::Element(element) => Err(wrong(element.name)),
        _ => Err(wrong("a flattened field or a wildcard")),
    });
    parts.collect()
}

fn port_type(contract: &Contract, out: &mut Lines) -> Result<(), Error> {
    out.element("wsdl:portType", &[("name", contract.port_type.to_owned())], |out| {
        for operation in contract.operations {
            let message = |name: String| [("message", format!("tns:{name}"))];
            out.element("wsdl:operation", &[("name", operation.name.to_owned())], |out| {
                out.text("wsdl:documentation", operation.documentation);
                out.empty("wsdl:input", &message(request_of(operation)));
                if operation.response.is_some() {
                    out.empty("wsdl:output", &message(response_of(operation)));
                }
                for part in (operation.faults)() {
                    let [message] = message(fault_of(operation, &part));
                    out.empty("wsdl:fault", &[("name", part.name.name.to_owned()), message]);
                }
                Ok(())
            })?;
        }
        Ok(())
    })
}

/// Returns the prefix and the namespace of a binding.
fn binding_of(version: Version) -> (&'static str, &'static str) {
    match version {
        Version::Soap12 => ("soap12", SOAP12),
        _ => ("soap", SOAP),
    }
}

/// The element names of a binding.
struct Names {
    binding: &'static str,
    operation: &'static str,
    body: &'static str,
    header: &'static str,
    fault: &'static str,
    address: &'static str,
}

fn names(version: Version) -> Names {
    match version {
        Version::Soap12 => Names {
            binding: "soap12:binding",
            operation: "soap12:operation",
            body: "soap12:body",
            header: "soap12:header",
            fault: "soap12:fault",
            address: "soap12:address",
        },
        _ => Names {
            binding: "soap:binding",
            operation: "soap:operation",
            body: "soap:body",
            header: "soap:header",
            fault: "soap:fault",
            address: "soap:address",
        },
    }
}

/// Returns the name of the binding and the port of a version.
fn binding_name(contract: &Contract, version: Version) -> String {
    let number = if matches!(version, Version::Soap12) && contract.versions.len() > 1 { "12" } else { "" };
    format!("{}Soap{number}", contract.name)
}

fn binding(contract: &Contract, version: Version, out: &mut Lines) -> Result<(), Error> {
    let names = names(version);
    let literal = || ("use", "literal".to_owned());
    let name = binding_name(contract, version);
    let attributes = [("name", name), ("type", format!("tns:{}", contract.port_type))];
    out.element("wsdl:binding", &attributes, |out| {
        out.empty(names.binding, &[("transport", HTTP.to_owned()), ("style", "document".to_owned())]);
        for operation in contract.operations {
            out.element("wsdl:operation", &[("name", operation.name.to_owned())], |out| {
                let is_rpc = matches!(operation.request.body, Body::Parts(_));
                let style = if is_rpc { "rpc" } else { "document" };
                out.empty(names.operation, &[("soapAction", operation.action.to_owned()), ("style", style.to_owned())]);
                let message = |out: &mut Lines, what, message: &Message, of: String| {
                    out.element(what, &[], |out| {
                        let mut attributes: Attributes<'_> = vec![literal()];
                        if is_rpc {
                            attributes.push(("namespace", contract.namespace.to_owned()));
                        }
                        out.empty(names.body, &attributes);
                        for (part, _) in header_parts(message) {
                            let message = ("message", format!("tns:{}", headers_of(&of)));
                            out.empty(names.header, &[message, ("part", part), literal()]);
                        }
                        Ok(())
                    })
                };
                message(out, "wsdl:input", &operation.request, request_of(operation))?;
                if let Some(response) = &operation.response {
                    message(out, "wsdl:output", response, response_of(operation))?;
                }
                for part in (operation.faults)() {
                    let name = ("name", part.name.name.to_owned());
                    out.element("wsdl:fault", std::slice::from_ref(&name), |out| {
                        out.empty(names.fault, &[name.clone(), literal()]);
                        Ok(())
                    })?;
                }
                Ok(())
            })?;
        }
        Ok(())
    })
}

fn service(contract: &Contract, out: &mut Lines) -> Result<(), Error> {
    out.element("wsdl:service", &[("name", contract.name.to_owned())], |out| {
        for version in contract.versions {
            let name = binding_name(contract, *version);
            out.element("wsdl:port", &[("name", name.clone()), ("binding", format!("tns:{name}"))], |out| {
                out.empty(names(*version).address, &[("location", contract.address.to_owned())]);
                Ok(())
            })?;
        }
        Ok(())
    })
}
