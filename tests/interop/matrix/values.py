"""Values of the contracts: as JSON in operations.json and in the reports of peers, as XML in Castile's reports.

A complex value is an object of its children and attributes by name; a repeated child is a list; "$type" names a derived type.
A value that JSON can't represent is a string in the type's lexical form. Two values are equal if the schema says so: `10.50`
equals the decimal `10.5`, and a time equals the same instant in a different time zone.
"""

import base64
import datetime
import decimal
import math
import re
import struct
import xml.etree.ElementTree as ElementTree
from xml.sax.saxutils import escape, quoteattr

XS = "{http://www.w3.org/2001/XMLSchema}"
XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
WSDL = "{http://schemas.xmlsoap.org/wsdl/}"
SOAPENC = "{http://schemas.xmlsoap.org/soap/encoding/}"
NAMESPACE = "urn:castile:interop"


class Field:
    """An element or attribute of a complex type."""

    def __init__(self, node):
        self.name = node.get("name")
        self.type = node.get("type")
        self.is_attribute = node.tag == f"{XS}attribute"
        self.is_list = node.get("maxOccurs") == "unbounded"
        self.is_nillable = node.get("nillable") == "true"


class Schema:
    """The complex types of the contracts: fields of structs, items of arrays. In SOAP encoding elements have no namespace."""

    def __init__(self, folder, use):
        self.is_encoded = use == "encoded"
        roots = [ElementTree.parse(path).getroot() for path in sorted(folder.glob("*.xsd"))]
        self.nodes = {node.get("name"): node for root in roots for node in root.iter(f"{XS}complexType")}

    def item(self, type_):
        """Returns the type of the items of an array; None for other types."""
        node = self.nodes.get(type_.removeprefix("tns:"))
        attribute = None if node is None else node.find(f".//{XS}attribute[@{WSDL}arrayType]")
        return None if attribute is None else attribute.get(f"{WSDL}arrayType").removesuffix("[]")

    def fields(self, type_):
        """Returns the fields of a type, inherited ones first; None for a simple type."""
        node = self.nodes.get(type_.removeprefix("tns:"))
        if node is None:
            return None
        extension = node.find(f".//{XS}extension")
        inherited = [] if extension is None else self.fields(extension.get("base"))
        own = [*node.iter(f"{XS}element"), *node.iter(f"{XS}attribute")]
        return inherited + [Field(field) for field in own]

    def to_xml(self, type_, value, name="value"):
        """Returns a value as an element whose children have the prefix t."""
        names = {"t": NAMESPACE, "tns": NAMESPACE, "xsi": XSI[1:-1], "xs": XS[1:-1], "soapenc": SOAPENC[1:-1]}
        declarations = "".join(f' xmlns:{prefix}="{name}"' for prefix, name in names.items())
        return self._element(name, type_, value, declarations)

    def _element(self, name, type_, value, attributes=""):
        if value is None:
            return f'<{name}{attributes} xsi:nil="true"/>'
        if isinstance(value, dict) and "$type" in value:
            type_ = value["$type"]
            attributes += f' xsi:type="t:{type_}"'
        if isinstance(value, list):
            item = self.item(type_)
            content = "".join(self._element("item", item, each) for each in value)
            return f'<{name}{attributes} soapenc:arrayType="{item}[{len(value)}]">{content}</{name}>'
        fields = self.fields(type_)
        if fields is None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            return f"<{name}{attributes}>{escape(text)}</{name}>"
        content = ""
        for field in fields:
            if field.name not in value:
                continue
            inner = value[field.name]
            if field.is_attribute:
                attributes += f" {field.name}={quoteattr(str(inner))}"
            else:
                for item in inner if field.is_list else [inner]:
                    content += self._element(self._prefixed(field.name, "t:"), field.type, item)
        return f"<{name}{attributes}>{content}</{name}>"

    def _prefixed(self, name, prefix):
        return name if self.is_encoded else prefix + name

    def from_xml(self, type_, element):
        """Returns the value of an element."""
        if element.get(f"{XSI}nil") in ("true", "1"):
            return None
        item = self.item(type_)
        if item:
            return [self.from_xml(item, each) for each in element]
        derived = element.get(f"{XSI}type")
        derived = derived and derived.rpartition(":")[2]
        is_derived = derived in self.nodes and derived != type_.removeprefix("tns:")
        fields = self.fields(derived if is_derived else type_)
        if fields is None:
            return element.text or ""
        value = {"$type": derived} if is_derived else {}
        for field in fields:
            if field.is_attribute:
                if field.name in element.attrib:
                    value[field.name] = element.get(field.name)
                continue
            found = element.findall(self._prefixed(field.name, f"{{{NAMESPACE}}}"))
            if field.is_list:
                value[field.name] = [self.from_xml(field.type, item) for item in found]
            elif found:
                value[field.name] = self.from_xml(field.type, found[0])
        return value

    def differences(self, type_, expected, found, path=""):
        """Returns the differences between an expected and an actual value, a line for each."""
        if isinstance(expected, list):
            yield from self._differences_of_list(self.item(type_), expected, found, path)
            return
        if isinstance(expected, dict):
            yield from self._differences_of_complex(type_, expected, found, path)
            return
        if expected is None:
            same = found is None
        else:
            try:
                same = simple(type_, expected) == simple(type_, found)
            except (ValueError, TypeError, LookupError, ArithmeticError):
                same = False
        if not same:
            yield f"{path}{found!r}, expected {expected!r}"

    def _differences_of_list(self, type_, expected, found, path):
        # Some interfaces return an object for a list with one item, and None for an empty list. That is no difference in what
        # was sent.
        found = found if isinstance(found, list) else [] if found is None else [found]
        if len(expected) != len(found):
            yield f"{path}: {len(found)} items, expected {len(expected)}"
            return
        for index, (one, other) in enumerate(zip(expected, found)):
            yield from self.differences(type_, one, other, f"{path}[{index}]: ")

    def _differences_of_complex(self, type_, expected, found, path):
        if not isinstance(found, dict):
            yield f"{path}{found!r}, expected the type {type_}"
            return
        declared = type_.removeprefix("tns:")
        derived, wanted = found.get("$type", declared), expected.get("$type", declared)
        if derived != wanted:
            yield f"{path}the type {derived}, expected {wanted}"
            return
        fields = self.fields(derived)
        for unknown in sorted(found.keys() - {field.name for field in fields} - {"$type"}):
            yield f"{path}{unknown}: {found[unknown]!r}, expected nothing of this name"
        for field in fields:
            wanted, got = expected.get(field.name), found.get(field.name)
            inside = f"{path}{field.name}: "
            if field.is_list:
                yield from self._differences_of_list(field.type, wanted or [], got, f"{path}{field.name}")
            elif wanted is None and got is not None:
                yield f"{inside}{got!r}, expected {'nil' if field.name in expected else 'none'}"
            elif wanted is not None:
                yield from self.differences(field.type, wanted, got, inside)


def simple(type_, value):
    """Returns a value of a simple type in a canonical form."""
    if value is None:
        raise ValueError("absent")
    if type_ == "xs:boolean":
        return {"true": True, "1": True, "false": False, "0": False}[str(value).lower()]
    if type_ in ("xs:float", "xs:double"):
        return floating(type_, value)
    if type_ == "xs:decimal":
        return decimal.Decimal(value if isinstance(value, str) else repr(value))
    if type_ == "xs:dateTime":
        return moment(value)
    if type_ == "xs:date":
        return datetime.date.fromisoformat(value[:10])
    if type_ == "xs:base64Binary":
        return base64.b64decode(value, validate=True)
    if type_ == "xs:hexBinary":
        return bytes.fromhex(value)
    if type_ == "xs:string" or not type_.startswith("xs:"):
        if not isinstance(value, str):
            raise ValueError("not a string")
        return value
    if isinstance(value, float) or not re.fullmatch(r"[+-]?\d+", str(value)):
        raise ValueError("not an integer")
    return int(value)


def floating(type_, value):
    number = {"INF": math.inf, "-INF": -math.inf, "NaN": math.nan}.get(value)
    if number is None:
        number = float(value)
        if type_ == "xs:float":
            number = struct.unpack("f", struct.pack("f", number))[0]
    return "NaN" if math.isnan(number) else number


def moment(value):
    """Returns a dateTime. One with a zone never equals one without."""
    # Python parses up to six digits of a fraction; some peers write none or nine.
    text = re.sub(r"\.(\d+)", lambda match: "." + match[1][:6].ljust(6, "0"), value).replace("Z", "+00:00")
    parsed = datetime.datetime.fromisoformat(text)
    return ("local", parsed) if parsed.tzinfo is None else ("utc", parsed.astimezone(datetime.timezone.utc))
