"""Checks our contracts against the published messages with libxml2, which is independent of Castile.

    python check.py [WORKLOADS]

Every contract must contain a valid schema and documentation. If the directory WORKLOADS is present (by default `../shared/workloads`
beside the project), the sample messages must be valid for the contract. A contract that has a reference WSDL must be equivalent to
it: elements, types, operations, SOAP actions.
"""

import sys
from copy import deepcopy
from pathlib import Path

from lxml import etree

ROOT = Path(__file__).resolve().parents[3]
CONTRACTS = ROOT / "crates/suites/contracts"

XS = "{http://www.w3.org/2001/XMLSchema}"
WSDL = "{http://schemas.xmlsoap.org/wsdl/}"
SOAP = "{http://schemas.xmlsoap.org/wsdl/soap/}"
ENVELOPE = "{http://schemas.xmlsoap.org/soap/envelope/}"

# Contract, sample messages, reference. The samples named round2-* belong to the second version of Benchmark1, which is another
# contract: it wraps the structured arrays differently.
SUITES = [
    ("benchmark1", "benchmark1/samples/axis2-*.xml", "benchmark1/Benchmark.wsdl"),
    ("wstest", "wstest/samples/*.xml", None),
    ("codec", "codec/*.xml", "codec/codec.wsdl"),
]


def main():
    workloads = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/workloads"
    present = workloads.is_dir()
    if not present:
        print(f"skipped: {workloads} is absent, so no sample and no reference is compared")

    problems = []
    for name, samples, reference in SUITES:
        contract = etree.parse(CONTRACTS / f"{name}.wsdl")
        schema = etree.XMLSchema(standalone(contract.find(f".//{XS}schema")))
        problems += [f"{name}: {what}" for what in undocumented(contract)]
        if not present:
            print(f"{name}: valid schema")
            continue

        files = sorted(workloads.glob(samples))
        if not files:
            problems.append(f"{name}: no sample matches {samples}")
        for file in files:
            for message in etree.parse(file).find(f"{ENVELOPE}Body"):
                if not schema.validate(message):
                    problems.append(f"{name}: {file.name}: {schema.error_log.last_error.message}")
        compared = ""
        if reference:
            problems += [f"{name}: {what}" for what in differences(facts(contract), facts(etree.parse(workloads / reference)))]
            compared = f", compared with {reference}"
        print(f"{name}: valid schema, {len(files)} samples{compared}")

    for problem in problems:
        print(f"FAILED {problem}")
    sys.exit(1 if problems else 0)


def standalone(schema):
    """Returns the schema of a contract as a separate document. lxml would lose prefixes that occur only in attribute values."""
    root = etree.Element(schema.tag, schema.attrib, nsmap=schema.nsmap)
    root.extend(deepcopy(component) for component in schema)
    return root


def undocumented(contract):
    """Returns the services, port types, operations and named schema components without documentation."""
    named = [contract.find(f"{WSDL}service"), contract.find(f"{WSDL}portType"), *contract.iterfind(f"{WSDL}portType/{WSDL}operation")]
    for component in named:
        if not component.findtext(f"{WSDL}documentation"):
            yield f"{etree.QName(component).localname} {component.get('name')} has no documentation"
    for component in contract.find(f".//{XS}schema"):
        if not component.findtext(f"{XS}annotation/{XS}documentation"):
            yield f"{etree.QName(component).localname} {component.get('name')} has no documentation"


def facts(contract):
    """Returns the facts of a contract, without what its author may choose: order, prefixes, names of messages, wording, address."""
    root = contract.getroot()
    schema = root.find(f".//{XS}schema")
    said = {
        "target namespace": root.get("targetNamespace"),
        "schema namespace": schema.get("targetNamespace"),
        "elementFormDefault": schema.get("elementFormDefault"),
    }
    for component in schema.iterchildren(f"{XS}element", f"{XS}complexType"):
        said[f"{etree.QName(component).localname} {component.get('name')}"] = shape(component)

    elements = {}
    for message in root.iterfind(f"{WSDL}message"):
        elements[message.get("name")] = [expand(part, part.get("element")) for part in message.iterfind(f"{WSDL}part")]
    for operation in root.iterfind(f"{WSDL}portType/{WSDL}operation"):
        for direction in ("input", "output"):
            message = operation.find(f"{WSDL}{direction}").get("message").split(":")[-1]
            said[f"{direction} of {operation.get('name')}"] = elements[message]

    binding = root.find(f"{WSDL}binding")
    said["transport"] = binding.find(f"{SOAP}binding").get("transport")
    style = binding.find(f"{SOAP}binding").get("style", "document")
    for operation in binding.iterfind(f"{WSDL}operation"):
        soap = operation.find(f"{SOAP}operation")
        use = [body.get("use") for body in operation.iter(f"{SOAP}body")]
        said[f"binding of {operation.get('name')}"] = (soap.get("soapAction"), soap.get("style", style), use)
    for port in root.iterfind(f"{WSDL}service/{WSDL}port"):
        said[f"port {port.get('name')}"] = f"of service {port.getparent().get('name')}"
    return said


def shape(component):
    """Returns a schema component as nested tuples, with defaults filled in and empty sequences removed."""
    if component.tag == f"{XS}annotation":
        return None
    attributes = dict(component.attrib)
    for name in ("type", "base"):
        if name in attributes:
            attributes[name] = expand(component, attributes[name])
    if component.tag == f"{XS}element" and component.getparent().tag != f"{XS}schema":
        attributes.setdefault("minOccurs", "1")
        attributes.setdefault("maxOccurs", "1")
        attributes.setdefault("nillable", "false")
    children = [shape(child) for child in component.iterchildren(etree.Element)]
    children = [child for child in children if child is not None]
    if component.tag in (f"{XS}sequence", f"{XS}all") and not children:
        return None
    if component.tag == f"{XS}all":
        children.sort(key=repr)
    return (etree.QName(component).localname, tuple(sorted(attributes.items())), tuple(children))


def expand(element, name):
    """Expands a prefixed name to {namespace}local, with the declarations in scope at `element`."""
    prefix, _, local = name.rpartition(":")
    return f"{{{element.nsmap[prefix or None]}}}{local}"


def differences(ours, theirs):
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            yield f"{key} is {ours.get(key)}, the reference has {theirs.get(key)}"


if __name__ == "__main__":
    main()
