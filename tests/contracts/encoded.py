"""Prepares messages in SOAP encoding for validation by an XML Schema.

Schemas can't express section 5 of SOAP 1.1: any accessor may be nil and none has a namespace, an array has items of one type
whatever their names, and a value may be an independent element. So the schemas of a contract are extended with these rules, and
messages are unrolled: references are replaced by the elements that they refer to, items are called `item`, and attributes of the
encoding are removed.
"""

import re
from copy import deepcopy

from lxml import etree

XS = "{http://www.w3.org/2001/XMLSchema}"
XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
WSDL = "{http://schemas.xmlsoap.org/wsdl/}"
ENVELOPES = ("{http://schemas.xmlsoap.org/soap/envelope/}", "{http://www.w3.org/2003/05/soap-envelope}")
ENCODINGS = ("{http://schemas.xmlsoap.org/soap/encoding/}", "{http://www.w3.org/2003/05/soap-encoding}")
RPC = "{http://www.w3.org/2003/05/soap-rpc}"
ARRAY = {encoding + name for encoding in ENCODINGS for name in ("arrayType", "arraySize", "itemType")}


# ---- schemas ----


def loosen(schemas):
    """Adds the general rules of SOAP encoding to schemas."""
    arrays = arrays_in(schemas)
    for schema in schemas:
        target = schema.get("targetNamespace", "")
        if f"{{{target}}}" in ENCODINGS:
            continue
        schema.attrib.pop("elementFormDefault", None)
        for type_ in list(schema.iter(f"{XS}complexType")):
            # A nil element needs no xsi:type.
            type_.attrib.pop("abstract", None)
            if type_.get("name") and (target, type_.get("name")) in arrays:
                become_array(type_)
        for element in schema.iter(f"{XS}element"):
            if element.getparent() is not schema and element.get("name"):
                element.attrib.pop("form", None)
                element.set("nillable", "true")


def arrays_in(schemas):
    """Returns the names of all types that are derived from `soapenc:Array`."""
    bases = {}
    for schema in schemas:
        for type_ in schema.iterchildren(f"{XS}complexType"):
            for derivation in type_.iterfind(f"{XS}complexContent/*[@base]"):
                name = (schema.get("targetNamespace", ""), type_.get("name"))
                bases[name] = resolve(derivation, derivation.get("base"))
    found = {(encoding[1:-1], "Array") for encoding in ENCODINGS}
    count = 0
    while count != len(found):
        count = len(found)
        found |= {name for name, base in bases.items() if base in found}
    return found


def become_array(type_):
    """Replaces the content of a type by a sequence of items."""
    said = next((one for one in type_.iter(f"{XS}attribute") if one.get(f"{WSDL}arrayType")), None)
    element = next(type_.iter(f"{XS}element"), None)
    ranks = ""
    if said is not None:
        item, ranks, _ = re.fullmatch(r"([^[]*)(.*?)(\[[^[]*\])", said.get(f"{WSDL}arrayType").strip()).groups()
        item = resolve(said, item)
    elif element is not None and element.get("type"):
        item = resolve(element, element.get("type"))
    else:
        item = (XS[1:-1], "anyType")
    if item == (XS[1:-1], "ur-type"):
        item = (XS[1:-1], "anyType")
    for child in list(type_):
        type_.remove(child)
    for attribute in set(type_.keys()) - {"name"}:
        type_.attrib.pop(attribute)
    for _ in range(ranks.count("[")):
        inner = items(type_)
        type_ = etree.SubElement(inner, f"{XS}complexType")
    items(type_, item)


def items(type_, item=None):
    of = {} if item is None else {"type": f"item:{item[1]}" if item[0] else item[1]}
    scope = {"item": item[0]} if item and item[0] else None
    sequence = etree.SubElement(type_, f"{XS}sequence")
    return etree.SubElement(
        sequence, f"{XS}element", {"name": "item", "nillable": "true", "minOccurs": "0", "maxOccurs": "unbounded", **of}, nsmap=scope
    )


def resolve(element, name):
    prefix, _, local = name.strip().rpartition(":")
    return (element.nsmap.get(prefix or None, ""), local)


# ---- messages ----


def unroll(envelope, declared):
    """Returns the content of the body of a message, with all references replaced by their elements. `declared` are the global
    elements and the namespaces of the schemas. A value that contains itself is nil there."""
    body = next(child for child in envelope if child.tag in [f"{one}Body" for one in ENVELOPES])
    values = {}
    for element in body.iter(etree.Element):
        for name in ("id", f"{ENCODINGS[1]}id"):
            if element.get(name) is not None:
                values.setdefault(element.get(name), element)
    links = (link(element) for element in body.iter(etree.Element))
    return copy(next(body.iterchildren(etree.Element)), None, values, {one for one in links if one}, declared, [])


def link(element):
    """Returns the id that an element refers to."""
    href = element.get("href")
    return href[1:] if href and href.startswith("#") else element.get(f"{ENCODINGS[1]}ref")


def copy(element, name, values, linked, declared, around, parent=None):
    tag = name or element.tag
    target = element
    while link(target):
        target = values[link(target)]
    namespace, _, local = tag.rpartition("}")
    # Accessors have no namespace, but some engines write one.
    if around and namespace[1:] in declared[1] and tag not in declared[0]:
        tag = local
    # Created in its final place: lxml would remove declarations that values need from an element that is inserted later.
    if parent is None:
        result = etree.Element(tag, nsmap=target.nsmap)
    else:
        result = etree.SubElement(parent, tag, nsmap=target.nsmap)
    if any(target is one for one in around):
        result.set(f"{XSI}nil", "true")
        return result
    for key, value in target.items():
        is_id = key == "id" and (value in linked or re.fullmatch(r"id\d+", value))
        if key.startswith(ENVELOPES + ENCODINGS) or is_id:
            continue
        # The declaration in the contract counts: some engines don't know the names of its simple types.
        if key == f"{XSI}type" and f"{{{resolve(target, value)[0]}}}" in (XS, *ENCODINGS):
            continue
        result.set(key, value)
    is_array = not ARRAY.isdisjoint(target.keys())
    result.text = target.text
    for child in target.iterchildren(etree.Element):
        if child.tag.startswith(RPC):
            continue
        inner = copy(child, "item" if is_array else None, values, linked, declared, [*around, target], result)
        inner.tail = child.tail
    return result


def without_nil(root):
    """Returns a copy without the elements that are nil."""
    root = deepcopy(root)
    for element in list(root.iter(etree.Element)):
        if element.get(f"{XSI}nil") in ("true", "1") and element is not root:
            element.getparent().remove(element)
    return root


BUILTIN = etree.XMLSchema(
    etree.fromstring(
        f"<xs:schema xmlns:xs='{XS[1:-1]}'>"
        + "".join(
            f"<xs:element name='{name}' type='xs:{name}'/>"
            for name in """string boolean decimal float double duration dateTime time date gYearMonth gYear gMonthDay gDay gMonth
            hexBinary base64Binary anyURI QName normalizedString token language Name NCName NMTOKEN integer nonPositiveInteger
            negativeInteger long int short byte nonNegativeInteger unsignedLong unsignedInt unsignedShort unsignedByte
            positiveInteger""".split()
        )
        + "</xs:schema>"
    )
)


def wrong_value(envelope):
    """Returns the first value that isn't valid for the built-in type that it names."""
    for element in envelope.iter(etree.Element):
        said = element.get(f"{XSI}type")
        if said is None or link(element) or element.get(f"{XSI}nil"):
            continue
        namespace, local = resolve(element, said)
        if f"{{{namespace}}}" not in (XS, *ENCODINGS):
            continue
        value = etree.Element("base64Binary" if local == "base64" else local, nsmap=element.nsmap)
        value.text = element.text
        if not BUILTIN.validate(value) and "No matching global" not in BUILTIN.error_log[0].message:
            return f"{element.tag}: {BUILTIN.error_log[0].message}"
    return None
