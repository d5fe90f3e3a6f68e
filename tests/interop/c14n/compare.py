"""Compares our canonical forms with libxml2's, byte for byte: contracts, schemas and messages of the corpus.

    cargo build --workspace --example c14n
    target/interop-venv/bin/python tests/interop/c14n/compare.py

Every document in which libxml2 finds no error must have the same form. Documents with errors, such as relative
namespace names, are left out. So are documents with a document type declaration: libxml2 applies defaults only
together with external entities, which we don't fetch.
"""

import os
import pathlib
import subprocess
import sys

import lxml.etree

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/corpus"))

from corpus import find  # noqa: E402

CORPUS = find()
EXAMPLE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug" / "examples" / "c14n"
# Every STEPth document of the corpus is compared; all of them take minutes.
STEP = int(sys.argv[1]) if len(sys.argv) > 1 else 5

ALGORITHMS = {
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315": {"with_comments": False},
    "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments": {"with_comments": True},
    "http://www.w3.org/2001/10/xml-exc-c14n#": {"exclusive": True, "with_comments": False},
    "http://www.w3.org/2001/10/xml-exc-c14n#WithComments": {"exclusive": True, "with_comments": True},
}
PREFIXES = ["soap", "tns", "xsd"]


def main():
    files = sorted(path for path in CORPUS.rglob("*") if path.suffix in (".wsdl", ".xsd", ".xml"))[::STEP]
    if not files:
        print("skipped: the corpus is absent; tests/corpus/fetch gets it")
        return 0
    equal = different = left_out = 0
    for file in files:
        data = file.read_bytes()
        tree = None if b"<!DOCTYPE" in data else parse(data)
        if tree is None:
            left_out += 1
            continue
        for uri, options in ALGORITHMS.items():
            prefixes = PREFIXES if options.get("exclusive") else None
            theirs = lxml.etree.tostring(tree, method="c14n", inclusive_ns_prefixes=prefixes, **options)
            ours = subprocess.run([EXAMPLE, uri, file, " ".join(prefixes or [])], capture_output=True)
            if ours.stdout == theirs:
                equal += 1
            else:
                different += 1
                print(f"{file.relative_to(CORPUS)}: not the same by {uri}; {ours.stderr.decode()}")
    print(f"{equal} forms are equal, {different} differ, {left_out} documents left out")
    return 1 if different or not equal else 0


def parse(data):
    """Returns the document, or None if libxml2 reports an error in it, whether it recovers from it or not."""
    parser = lxml.etree.XMLParser(no_network=True, huge_tree=True)
    try:
        tree = lxml.etree.fromstring(data, parser).getroottree()
        # libxml2 doesn't escape "&" in the name of a namespace.
        lxml.etree.fromstring(lxml.etree.tostring(tree, method="c14n"), parser)
    except (lxml.etree.LxmlError, ValueError):
        return None
    return None if len(parser.error_log) else tree


if __name__ == "__main__":
    sys.exit(main())
