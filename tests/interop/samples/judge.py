"""Validates instances that were made from schemas with libxml2, which is independent of Castile.

    python judge.py SAMPLES [SCHEMA…]

SAMPLES is the program that makes them (`cargo build -p castile-xsd --example samples`). Without a SCHEMA, all
schemas of the corpus that libxml2 can load are used (tests/corpus/fetch gets it). Every instance must be valid.
Elements without a possible instance are counted: their types are abstract and have no concrete type.

A strict wildcard for which nothing is declared is filled with an element that has an xsi:type (Part 1 §3.10.4).
libxml2 requires a declaration nevertheless, so sample.xsd declares the element.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

from lxml import etree

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/corpus"))

from corpus import find  # noqa: E402

CORPUS = find() / "wsdl"
XS = "{http://www.w3.org/2001/XMLSchema}"
UNDECLARED = "Element '{urn:sample}sample': No matching global element declaration available, but demanded"


def main():
    program, *schemas = sys.argv[1:]
    schemas = [Path(schema) for schema in schemas] or sorted(CORPUS.rglob("*.xsd"))
    if not schemas:
        print("skipped: the corpus is absent; tests/corpus/fetch gets it")
        return
    counts, problems = Counter(), []
    for path in schemas:
        try:
            schema = etree.XMLSchema(etree.parse(path))
        except (etree.XMLSchemaParseError, etree.XMLSyntaxError):
            counts["schemas that libxml2 can't load"] += 1
            continue
        counts["schemas"] += 1
        name = str(path.relative_to(CORPUS)) if path.is_relative_to(CORPUS) else str(path)
        made = subprocess.run([program, path], capture_output=True, text=True, timeout=120)
        if made.returncode:
            problems.append(f"{name}: {made.stderr}")
            continue
        counts["elements without an instance"] += made.stderr.count("no sample: ")
        invalid = Counter()
        for sample in made.stdout.split("\0")[:-1]:
            counts["samples"] += 1
            problem = problem_of(schema, sample)
            if problem and problem.startswith(UNDECLARED):
                counts["samples with an element that isn't declared"] += 1
                problem = problem_of(with_declaration(path), sample)
            if problem:
                invalid[problem] += 1
        problems += [f"{name}: {count} times: {message}" for message, count in invalid.most_common(3)]
    for what, count in sorted(counts.items()):
        print(f"{count} {what}")
    if not counts["samples"]:
        problems.append(f"found no sample that libxml2 can judge in {len(schemas)} schemas")
    if problems:
        sys.exit("\n".join(problems))


def problem_of(schema, sample):
    return None if schema.validate(etree.fromstring(sample)) else schema.error_log[0].message


def with_declaration(path):
    """Returns the schema in a file together with the declarations of sample.xsd."""
    schemas = etree.Element(f"{XS}schema", targetNamespace="urn:judge")
    for each in (path, Path(__file__).parent / "sample.xsd"):
        namespace = etree.parse(each).getroot().get("targetNamespace")
        within = {"namespace": namespace} if namespace else {}
        etree.SubElement(schemas, f"{XS}import", within, schemaLocation=each.resolve().as_uri())
    return etree.XMLSchema(schemas)


if __name__ == "__main__":
    main()
