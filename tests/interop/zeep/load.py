"""Reads every contract of the corpus with Castile and with zeep, and prints how long each takes.

    python tests/interop/zeep/load.py [--tool FILE] [--runs N] [FAMILY…]

Needs zeep (see requirements.txt) and cargo. FILE is the example load of castile-wsdl, if it is already built. Both find imports with the
catalogs of the corpus, and nothing is fetched. The times are those of one process each, the best of N (5), without its start. Fails if zeep
reads a contract in which Castile finds errors, except for those of tests/contracts/broken.tsv. Times are printed but never judged.
"""

import argparse
import logging
import os
import statistics
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

import zeep
from zeep.transports import Transport

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/corpus"))

from corpus import find  # noqa: E402

CORPUS = find()
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
SLOWEST = 10
# W3C's own schema of XML Signature has a document type declaration with entities.
SETTINGS = zeep.Settings(forbid_entities=False)


class Offline(Transport):
    """Loads documents from catalogs, without network access."""

    def __init__(self, catalogs):
        super().__init__()
        self.places = {}
        for catalog in catalogs:
            for line in catalog.read_text().splitlines():
                url, place = line.split("\t")[:2]
                self.places.setdefault(url, catalog.parent / place)

    def load(self, url):
        place = self.places.get(url) or self.places.get(url.rstrip("/") + "/") or url.removeprefix("file://")
        if "://" in str(place):
            raise OSError(f"{url} is in no catalog")
        path = Path(place)
        return (path if path.is_file() else Path(urllib.parse.unquote(str(path)))).read_bytes()


def main():
    if not (CORPUS / "wsdl").is_dir():
        print("skipped: the corpus is absent; tests/corpus/fetch gets it")
        return
    logging.disable(logging.CRITICAL)
    parser = argparse.ArgumentParser()
    parser.add_argument("families", nargs="*")
    parser.add_argument("--tool", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    families = arguments.families or sorted(folder.name for folder in (CORPUS / "wsdl").iterdir() if folder.is_dir())
    tool = arguments.tool or TARGET / "release/examples/load"
    if not arguments.tool:
        subprocess.run(["cargo", "build", "--release", "-p", "castile-wsdl", "--example", "load"], cwd=ROOT, check=True)
    broken = {line.split("\t")[0] for line in (ROOT / "tests/contracts/broken.tsv").read_text().splitlines()}
    rows, failures = [], []
    for family in families:
        folder = CORPUS / "wsdl" / family
        catalogs = [path for path in (folder / "catalog.tsv", CORPUS / "wellknown/catalog.tsv") if path.is_file()]
        for name, ours, errors in castile(tool.resolve(), folder, catalogs):
            theirs = by_zeep(folder / name, catalogs, arguments.runs)
            rows.append((f"{family}/{name}", ours if not errors else None, theirs))
            if errors and theirs is not None and f"{family}/{name}" not in broken:
                failures.append(f"{family}/{name}")
    print_table(rows)
    for failure in failures:
        print(f"FAILED: zeep reads {failure}, Castile finds errors in it")
    sys.exit(1 if failures else 0)


def castile(tool, folder, catalogs):
    """Returns each file with its milliseconds and the number of errors in it."""
    paths = sorted(path for path in folder.rglob("*") if path.name.lower().endswith((".wsdl", ".wsdl.xml")))
    paths = "".join(f"{path}\n" for path in paths)
    done = subprocess.run([tool, *catalogs], input=paths, check=True, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        path, milliseconds, errors = line.split("\t")
        yield str(Path(path).relative_to(folder)), float(milliseconds), int(errors)


def by_zeep(path, catalogs, runs):
    """Returns the milliseconds that zeep takes, or None if it fails."""
    best = None
    for _ in range(runs):
        begun = time.perf_counter()
        try:
            zeep.Client(str(path), transport=Offline(catalogs), settings=SETTINGS)
        except Exception:  # noqa: BLE001 - whatever it says, it did not read the contract
            return None
        took = (time.perf_counter() - begun) * 1000
        best = took if best is None else min(best, took)
    return best


def print_table(rows):
    both = [row for row in rows if row[1] is not None and row[2] is not None]
    print(f"{len(rows)} contracts; Castile reads {sum(row[1] is not None for row in rows)}, zeep {sum(row[2] is not None for row in rows)}")
    ratios = sorted((theirs / ours, name, ours, theirs) for name, ours, theirs in both)
    print(f"zeep takes {statistics.median(ratio for ratio, *_ in ratios):.1f} times as long, the median of {len(both)}")
    print(f"all together: {sum(row[1] for row in both):.0f} ms and {sum(row[2] for row in both):.0f} ms")
    print(f"\n| least of all | Castile ms | zeep ms | ratio |\n|---|--:|--:|--:|")
    for ratio, name, ours, theirs in ratios[:SLOWEST]:
        print(f"| {name} | {ours:.1f} | {theirs:.1f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
