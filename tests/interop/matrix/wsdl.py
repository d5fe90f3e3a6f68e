"""Writes the contracts in contracts/: the operations of operations.json and the types of types.xsd in each style of binding.

    python3 tests/interop/matrix/wsdl.py [--check]

With --check nothing is written; it fails if a contract differs from what would be written. A contract has one port type, Echo, and a
binding and port for each version of SOAP that it supports. The names of request and response values are `value` and `answer`: JAX-WS
would make one in/out parameter of two values of the same name, and ext/soap would take a part `result` for SOAP 1.2's rpc:result.
"""

import base64
import json
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent / "contracts"
NAMESPACE = "urn:castile:interop"
VERSIONS = {"11": "soap", "12": "soap12"}
ENCODINGS = {"11": "http://schemas.xmlsoap.org/soap/encoding/", "12": "http://www.w3.org/2003/05/soap-encoding"}
# Name: style, use, versions.
CONTRACTS = {
    "wrapped": ("document", "literal", ("11", "12")),
    "bare": ("document", "literal", ("11", "12")),
    "rpc": ("rpc", "literal", ("11", "12")),
    "encoded": ("rpc", "encoded", ("11", "12")),
    "mtom": ("document", "literal", ("11", "12")),
    "swa": ("rpc", "literal", ("11",)),
    "addressing": ("document", "literal", ("11", "12")),
}
# The operations of contracts that don't test values.
CHOSEN = {
    "mtom": ("echoData",),
    "swa": ("echoFile",),
    "addressing": ("echoString", "echoStruct", "echoVoid", "fail", "notify", "lastNotice"),
}
MEDIA_TYPE = "application/octet-stream"



def main():
    stale = []
    for name in CONTRACTS:
        path = FOLDER / f"{name}.wsdl"
        text = contract(name, operations(name))
        if "--check" not in sys.argv:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(path.name)
    if stale:
        sys.exit(f"not what wsdl.py writes: {', '.join(stale)}")


def operations(contract):
    """Returns the operations of a contract, with their cases."""
    use, chosen = CONTRACTS[contract][1], CHOSEN.get(contract)
    found = []
    for one in json.loads((FOLDER / "operations.json").read_text()):
        if one["name"] in chosen if chosen else one.get("use", use) == use and "only" not in one:
            found.append({**one, "cases": {name: filled(value) for name, value in one["cases"].items()}})
    return found


def filled(value):
    """Returns a value with its bytes, of which the case has only the number."""
    if isinstance(value, dict):
        if "$bytes" in value:
            return base64.b64encode(bytes(index * 7 % 251 for index in range(value["$bytes"]))).decode()
        return {name: filled(inner) for name, inner in value.items()}
    return value


def is_wrapped(contract):
    return CONTRACTS[contract][0] == "document" and contract != "bare"


def contract(name, operations, versions=None):
    """Returns the contract of this name with these operations, and ports for these versions of SOAP."""
    style, use, all_versions = CONTRACTS[name]
    versions = versions or all_versions
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<!-- Written by wsdl.py: {style} style, {use}" + (f", {name}" if style == "document" or name in CHOSEN else "") + ". -->",
        f'<wsdl:definitions name="{name.title()}" targetNamespace="{NAMESPACE}" xmlns:tns="{NAMESPACE}"',
        '    xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"',
        '    xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/" xmlns:mime="http://schemas.xmlsoap.org/wsdl/mime/"',
        '    xmlns:xs="http://www.w3.org/2001/XMLSchema">',
        "  <wsdl:types>",
        *types(name, operations),
        "  </wsdl:types>",
    ]
    for operation in operations:
        lines += messages(name, operation)
    lines += [
        *(f'  <wsdl:message name="{part}"><wsdl:part name="{part}" {of}/></wsdl:message>' for part, of in parts(use)),
        '  <wsdl:portType name="Echo">',
    ]
    for operation in operations:
        lines += port_type_operation(operation)
    lines.append("  </wsdl:portType>")
    for version in versions:
        lines += binding(name, style, use, version, operations)
    lines.append(f'  <wsdl:service name="{name.title()}">')
    for version in versions:
        port = f"{name.title()}{version}"
        lines += [
            f'    <wsdl:port name="{port}" binding="tns:{port}">',
            f'      <{VERSIONS[version]}:address location="http://localhost:8080/{name}"/>',
            "    </wsdl:port>",
        ]
    return "\n".join([*lines, "  </wsdl:service>", "</wsdl:definitions>", ""])


def types(name, operations):
    """Returns the schema, with the elements of document style messages."""
    if CONTRACTS[name][1] == "encoded":
        return [f"    {line}" for line in encoded_types()]
    *schema, end = inside("types.xsd")
    for operation in operations if CONTRACTS[name][0] == "document" else []:
        for element, inner in values(name, operation):
            schema += wrapper(element, inner) if is_wrapped(name) else [f'  <xs:element name="{element}" type="{inner[1]}"/>']
    return [f"    {line}" for line in [*schema, end]]


def inside(name):
    """Returns the lines of a schema, without the comment before it."""
    return (FOLDER / name).read_text().split("-->\n", 1)[1].splitlines()


def encoded_types():
    """Merges both schemas into one, with the imports that arrays need."""
    head, *arrays = inside("arrays.xsd")
    *types, _ = inside("types.xsd")
    start = next(index for index, line in enumerate(types) if "<xs:simpleType" in line)
    until = next(index for index, line in enumerate(arrays) if "<xs:complexType" in line)
    return [head, *arrays[:until], *types[start:], *arrays[until:]]


def values(name, operation):
    """Returns (element, (child, type) or None) for request and response."""
    kind, type_ = operation.get("kind"), operation.get("type")
    nothing = None if is_wrapped(name) else ("", "tns:Nothing")
    takes = nothing if kind in ("void", "notice") else ("value", type_)
    gives = nothing if kind == "void" else ("answer", type_)
    request, response = ("", "Response") if is_wrapped(name) else ("In", "Out")
    yield operation["name"] + request, takes
    if kind != "one-way":
        yield operation["name"] + response, gives


def wrapper(element, inner):
    child = [f'        <xs:element name="{inner[0]}" type="{inner[1]}"/>'] if inner else []
    content = ["      <xs:sequence>", *child, "      </xs:sequence>"] if child else ["      <xs:sequence/>"]
    return [f'  <xs:element name="{element}">', "    <xs:complexType>", *content, "    </xs:complexType>", "  </xs:element>"]


# The parts that are attachments.
FILES = {"Request": "file", "Response": "copy"}


def messages(name, operation):
    for (element, inner), message in zip(values(name, operation), ("Request", "Response")):
        head = f'  <wsdl:message name="{operation["name"]}{message}"'
        if CONTRACTS[name][0] == "document":
            yield f'{head}><wsdl:part name="{"parameters" if is_wrapped(name) else "body"}" element="tns:{element}"/></wsdl:message>'
        elif inner and inner[0]:
            file = f'<wsdl:part name="{FILES[message]}" type="xs:base64Binary"/>' if operation.get("kind") == "file" else ""
            yield f'{head}><wsdl:part name="{inner[0]}" type="{inner[1]}"/>{file}</wsdl:message>'
        else:
            yield f"{head}/>"


def parts(use):
    """Returns the parts of header blocks and faults: elements, or types if they are encoded."""
    types = {"token": "xs:string", "receipt": "xs:string", "refusal": "tns:Refusal"}
    return [(part, f'type="{type_}"' if use == "encoded" else f'element="tns:{part}"') for part, type_ in types.items()]


def multipart(body, file):
    """Returns a message of a body and an attachment (WSDL 1.1 §5)."""
    yield "        <mime:multipartRelated>"
    yield f"          <mime:part>{body}</mime:part>"
    yield f'          <mime:part><mime:content part="{file}" type="{MEDIA_TYPE}"/></mime:part>'
    yield "        </mime:multipartRelated>"


def port_type_operation(operation):
    name, kind = operation["name"], operation.get("kind")
    yield f'    <wsdl:operation name="{name}">'
    yield f'      <wsdl:input message="tns:{name}Request"/>'
    if kind != "one-way":
        yield f'      <wsdl:output message="tns:{name}Response"/>'
    if kind == "fault":
        yield '      <wsdl:fault name="refusal" message="tns:refusal"/>'
    yield "    </wsdl:operation>"


def binding(name, style, use, version, operations):
    soap, port = VERSIONS[version], f"{name.title()}{version}"
    namespace = f' namespace="{NAMESPACE}"' if style == "rpc" else ""
    encoding = ""
    if use == "encoded":
        encoding = f' namespace="{NAMESPACE}" encodingStyle="{ENCODINGS[version]}"'
    yield f'  <wsdl:binding name="{port}" type="tns:Echo">'
    if name == "addressing":
        yield '    <wsaw:UsingAddressing xmlns:wsaw="http://www.w3.org/2006/05/addressing/wsdl" wsdl:required="true"/>'
    yield f'    <{soap}:binding style="{style}" transport="http://schemas.xmlsoap.org/soap/http"/>'
    for operation in operations:
        kind = operation.get("kind")
        yield f'    <wsdl:operation name="{operation["name"]}">'
        yield f'      <{soap}:operation soapAction="{NAMESPACE}/{operation["name"]}"/>'
        for direction, header in (("input", "token"), ("output", "receipt")):
            if direction == "output" and kind == "one-way":
                continue
            yield f"      <wsdl:{direction}>"
            if kind == "header":
                yield f'        <{soap}:header message="tns:{header}" part="{header}" use="{use}"{encoding}/>'
            body = f'<{soap}:body use="{use}"{encoding or namespace}'
            if kind == "file":
                value, file = ("value", "file") if direction == "input" else ("answer", "copy")
                yield from multipart(f'{body} parts="{value}"/>', file)
            else:
                yield f"        {body}/>"
            yield f"      </wsdl:{direction}>"
        if kind == "fault":
            yield '      <wsdl:fault name="refusal">'
            yield f'        <{soap}:fault name="refusal" use="{use}"{encoding}/>'
            yield "      </wsdl:fault>"
        yield "    </wsdl:operation>"
    yield "  </wsdl:binding>"


if __name__ == "__main__":
    main()
