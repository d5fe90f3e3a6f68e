"""Has instances that were made from schemas judged by libxml2, which knows nothing of Castile.

    python judge.py SAMPLES [SCHEMA…]

SAMPLES is the program that makes them (`cargo build -p castile-xsd --example samples`). Without a SCHEMA all of the
corpus are taken (tests/corpus/fetch gets it) that libxml2 can load. Every instance must be
valid. Elements for which no instance can be made are counted: their types are abstract and have no other.
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
            if not schema.validate(etree.fromstring(sample)):
                invalid[schema.error_log[0].message] += 1
        problems += [f"{name}: {count} times: {message}" for message, count in invalid.most_common(3)]
    for what, count in sorted(counts.items()):
        print(f"{count} {what}")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
