"""Validates messages with libxml2, which is independent of Castile.

    python judge.py PROJECT MODULE

PROJECT is a folder that `crates/codegen/examples/contracts` wrote and whose program was run. Prints the results as JSON.
"""

import json
import sys
from collections import Counter
from copy import deepcopy
from functools import cache
from pathlib import Path

import encoded
from lxml import etree

XS = "{http://www.w3.org/2001/XMLSchema}"
XSI = "{http://www.w3.org/2001/XMLSchema-instance}"
UNKNOWN = ["does not resolve to a type definition", "No matching global element declaration"]
PARSER = etree.XMLParser(huge_tree=True, no_network=True, resolve_entities="internal")


def main():
    project, name = Path(sys.argv[1]), sys.argv[2]
    module = next(module for module in json.loads((project / "facts.json").read_text())["modules"] if module["name"] == name)
    folder, files = write_schemas(project, module)
    whole, reason = load(folder / "whole.xsd")
    # If the complete schema can't be loaded, some of its namespaces may be.
    loaded = {}
    found = {"loaded": whole is not None, "reason": reason, "judged": 0, "judged again": 0, "invalid": [], "lost": [], "compared": 0}
    for case in module["cases"]:
        if case["encoded"]:
            judge_encoded(project, folder / "encoded", files.get(case["namespace"]), case, found)
            continue
        samples, agains = ((project / folder / case["id"]).read_text().split("\0")[:-1] for folder in ("samples", "again"))
        schema = whole
        if whole is None and case["namespace"] in files:
            if case["namespace"] not in loaded:
                loaded[case["namespace"]] = load(folder / files[case["namespace"]])[0]
            schema = loaded[case["namespace"]]
        for number, (sample, again) in enumerate(zip(samples, agains, strict=True)):
            sample = etree.fromstring(sample, PARSER)
            is_judged = schema is not None
            if is_judged:
                is_valid = schema.validate(sample)
                # A part of the schema lacks what only the rest declares.
                is_judged = is_valid or schema is whole or not any(what in schema.error_log[0].message for what in UNKNOWN)
            if is_judged:
                found["judged"] += 1
                if not is_valid:
                    found["invalid"].append([case["id"], number, "sample", schema.error_log[0].message])
                    continue
            if not again:
                continue
            again = etree.fromstring(again, PARSER)
            if is_judged:
                found["judged again"] += 1
                if not schema.validate(again):
                    found["invalid"].append([case["id"], number, "written", schema.error_log[0].message])
            found["compared"] += 1
            lost = content(sample) - content(again)
            if lost:
                found["lost"].append([case["id"], number, "/".join(next(iter(lost)))])
    print(json.dumps(found))


def judge_encoded(project, schemas, file, case, found):
    """Validates messages in SOAP encoding with extended schemas, and stores them for Castile's validator. `file` has the namespace of
    the case, if the complete schema can't be loaded."""
    schema, declared = cached(schemas / "whole.xsd"), declarations(schemas)
    is_whole = schema is not None
    if not is_whole and file:
        schema = cached(schemas / file)
    unrolled = {}
    for kind, what, counter in (("samples", "sample", "judged"), ("again", "written", "judged again")):
        messages = (project / kind / case["id"]).read_text().split("\0")[:-1]
        messages = [etree.fromstring(message, PARSER) if message else None for message in messages]
        unrolled[kind] = [None if message is None else encoded.unroll(message, declared) for message in messages]
        for number, (message, document) in enumerate(zip(messages, unrolled[kind])):
            if message is None:
                continue
            problem = encoded.wrong_value(message)
            if schema is not None:
                is_valid = schema.validate(document)
                # A part of the schema lacks what only the rest declares.
                if is_valid or is_whole or not any(name in schema.error_log[0].message for name in UNKNOWN):
                    found[counter] += 1
                    problem = problem or (None if is_valid else schema.error_log[0].message)
            if problem:
                found["invalid"].append([case["id"], number, what, problem])
        out = project / "unrolled" / kind
        out.mkdir(parents=True, exist_ok=True)
        texts = ("" if document is None else etree.tostring(document, encoding="unicode") for document in unrolled[kind])
        (out / case["id"]).write_text("".join(f"{text}\0" for text in texts))
    for number, (sample, again) in enumerate(zip(unrolled["samples"], unrolled["again"], strict=True)):
        if again is None:
            continue
        found["compared"] += 1
        # Nil and absent are equivalent.
        lost = content(encoded.without_nil(sample)) - content(encoded.without_nil(again))
        if lost:
            found["lost"].append([case["id"], number, "/".join(next(iter(lost)))])


@cache
def cached(path):
    return load(path)[0]


@cache
def declarations(folder):
    """Returns the names of the global elements in the schemas of a folder, and their namespaces."""
    names, namespaces = set(), set()
    for path in folder.glob("schema-*.xsd"):
        root = etree.parse(path).getroot()
        target = root.get("targetNamespace", "")
        namespaces.add(target)
        names |= {f"{{{target}}}{element.get('name')}" for element in root.iterchildren(f"{XS}element")}
    return names, namespaces


def load(path):
    """Returns a schema, or why libxml2 can't load it."""
    try:
        return etree.XMLSchema(etree.parse(path)), None
    except etree.LxmlError as error:
        return None, str(error)


def content(root):
    """Returns the content of a document without its order and values: elements, attributes, and which elements have text."""
    counts = Counter()
    open_ = [(root, (root.tag,))]
    while open_:
        element, path = open_.pop()
        counts[path] += 1
        counts.update(path + ("@" + name,) for name in element.keys() if not name.startswith(XSI))
        texts = [element.text] + [child.tail for child in element]
        if any(text and text.strip() for text in texts):
            counts[path + ("text()",)] += 1
        open_ += [(child, path + (child.tag,)) for child in element.iterchildren(etree.Element)]
    return counts


def write_schemas(project, module):
    """Writes the schemas of a contract as files that refer to each other. There is one file for each namespace, which includes all of
    that namespace, because libxml2 reads only one document for an imported namespace."""
    folder = project / "schemas" / module["name"]
    folder.mkdir(parents=True, exist_ok=True)
    found = {(base, location, namespace): uri for base, location, namespace, uri in module["references"]}
    schemas, by_document = [], {}
    for document in module["documents"]:
        root = etree.parse(project / "documents" / document["file"], PARSER).getroot()
        for schema in [root] if root.tag == f"{XS}schema" else root.iter(f"{XS}schema"):
            number = len(schemas)
            schemas.append((document["name"], standalone(schema)))
            by_document.setdefault(document["name"], number)
    namespaces = sorted({schema.get("targetNamespace", "") for _, schema in schemas})
    files = {namespace: f"namespace-{number}.xsd" for number, namespace in enumerate(namespaces)}

    included, defined = set(), set()
    for base, schema in schemas:
        own = schema.get("targetNamespace", "")
        # Contracts that are generated together may define the same component several times, identically.
        for component in list(schema.iterchildren(etree.Element)):
            kind = component.tag.replace("simpleType", "complexType")
            if component.get("name") and (own, kind, component.get("name")) in defined:
                schema.remove(component)
            defined.add((own, kind, component.get("name")))
        imported = set()
        for reference in list(schema.iterchildren(f"{XS}import", f"{XS}include", f"{XS}redefine")):
            if reference.tag == f"{XS}import":
                namespace = reference.get("namespace", "")
                # It has no effect, and libxml2 rejects it.
                if namespace == own:
                    schema.remove(reference)
                    continue
                imported.add(namespace)
                reference.attrib.pop("schemaLocation", None)
                if namespace in files:
                    reference.set("schemaLocation", files[namespace])
                continue
            number = by_document.get(found.get((base, reference.get("schemaLocation"), own)))
            if number is None:
                schema.remove(reference)
                continue
            target = schemas[number][1].get("targetNamespace", "")
            if reference.tag == f"{XS}redefine" or target != own:
                included.add(number)
            reference.set("schemaLocation", f"schema-{number}.xsd")
        # Many schemas refer to namespaces that they don't import.
        declared = {namespace for element in schema.iter(etree.Element) for namespace in element.nsmap.values()}
        for namespace in sorted(declared - imported - {own}):
            if namespace in files:
                place = next((i for i, child in enumerate(schema) if child.tag not in (f"{XS}annotation", f"{XS}import", f"{XS}include", f"{XS}redefine")), len(schema))
                schema.insert(place, etree.Element(f"{XS}import", namespace=namespace, schemaLocation=files[namespace]))
    write(folder, schemas, files, included)
    if any(case["encoded"] for case in module["cases"]):
        encoded.loosen([schema for _, schema in schemas])
        (folder / "encoded").mkdir(exist_ok=True)
        write(folder / "encoded", schemas, files, included)
    return folder, files


def write(folder, schemas, files, included):
    for number, (_, schema) in enumerate(schemas):
        etree.ElementTree(schema).write(folder / f"schema-{number}.xsd")
    for namespace, file in files.items():
        of = {"targetNamespace": namespace} if namespace else {}
        whole = etree.Element(f"{XS}schema", of)
        for number, (_, schema) in enumerate(schemas):
            if schema.get("targetNamespace", "") == namespace and number not in included:
                etree.SubElement(whole, f"{XS}include", schemaLocation=f"schema-{number}.xsd")
        etree.ElementTree(whole).write(folder / file)
    whole = etree.Element(f"{XS}schema", targetNamespace="urn:castile:whole")
    for namespace, file in files.items():
        of = {"namespace": namespace} if namespace else {}
        etree.SubElement(whole, f"{XS}import", of, schemaLocation=file)
    etree.ElementTree(whole).write(folder / "whole.xsd")


def standalone(schema):
    """Returns a schema as a separate document. lxml would lose prefixes that occur only in attribute values."""
    root = etree.Element(schema.tag, schema.attrib, nsmap=schema.nsmap)
    root.extend(deepcopy(component) for component in schema.iterchildren(etree.Element))
    return root


if __name__ == "__main__":
    main()
