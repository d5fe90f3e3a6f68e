"""Renders docs/interop.md from results.tsv and known.tsv; `python3 page.py` only does that."""

import results
import wsdl

PAGE = results.HERE.parents[2] / "docs/interop.md"
OURS = "castile"
VERSIONS = {"11": "1.1", "12": "1.2"}

HEAD = """\
# Interoperation

Castile and other SOAP engines, unmodified, call each other with the same contracts. `tests/interop/run --bless` generates this page
from `tests/interop/matrix/results.tsv`, which has the result of each call. CI runs all calls again and fails if a result differs, for
better or worse. `tests/interop/README.md` describes the tests.

| peer | version | client | server |
|---|---|---|---|
"""

LEGEND = """
A cell covers all cases of an operation: **yes** means that all cases work, **but** lists the cases that don't, **no** means that no case
works, and **–** that the operation can't be tried. The number refers to the reasons below. If the results of SOAP 1.1 and 1.2 differ, both
are shown. A case works if the returned value equals the value that was sent and has the same type. Absent, nil and empty are three
different values, and the digits of numbers must be equal.
"""


def write():
    found, known = results.read(), results.Known()
    peers = sorted({name for key in found.rows for name in key[2:4]} - {OURS})
    notes = Notes()
    lines = [HEAD.rstrip("\n")]
    for name in [OURS, *peers]:
        sides = ["yes" if any(key[side] == name for key in found.rows) else "none" for side in (2, 3)]
        lines.append(f"| {name} | {found.versions.get(name, '')} | {sides[0]} | {sides[1]} |")
    lines += LEGEND.splitlines()
    for contract, (style, use, _) in wsdl.CONTRACTS.items():
        lines += ["", f"## {title(contract, style, use)}", ""]
        lines += table(contract, found, known, peers, notes)
    lines += ["", "## Reasons", ""]
    lines += [f"{number}. {text}" for text, number in notes.numbers.items()]
    lines += ["", "## Peers among themselves", "", CONTROL, "", *control(found)]
    lines += ["", *BESIDE.splitlines()]
    PAGE.write_text("\n".join(lines) + "\n")


CONTROL = """\
Each peer that has a client and a server also calls itself with the same programs, and some peers call each other. This shows which failures
above are the peer's own. The table has the number of operations that work, of those that were tried."""


BESIDE = """\
## Beside the matrix

**vSphere.** A generated client and `castile call` work with vcsim, govmomi's simulator of a vCenter, over TLS and with VMware's contract of
920 operations ([tests/interop/vsphere](../tests/interop/vsphere/run)). `castile call` uses a bundle of the contract, a URL, and a cookie
file that stores the session. It performs these steps:

- log in, and get a declared fault for a wrong password;
- read properties of all machines page by page, with a selection of a derived type;
- change a machine with a value of `xs:anyType`;
- log out.

vcsim accepts a value of `xs:anyType` only if the prefix of its type is `xsd`. So Castile writes this prefix for types of XML Schema.

**ONVIF.** `castile mock` simulates a camera with two ONVIF contracts, for devices and for media. It uses a dozen rules and four files of
answers ([tests/interop/onvif](../tests/interop/onvif/run)). Clients set and read a hostname, a clock and users. The mock sends faults with
ONVIF's subcodes, and one operation asks for a WS-Security login. `castile call` makes 24 calls. zeep reads the contract from the mock and
makes six calls."""


class Notes:
    """Reasons, numbered in the order of their first use."""

    def __init__(self):
        self.numbers = {}

    def number(self, text):
        return self.numbers.setdefault(text, len(self.numbers) + 1)


def title(contract, style, use):
    words = {"mtom": "MTOM", "swa": "SOAP with attachments", "addressing": "WS-Addressing"}
    return f"{style.title()}/{use}" + (f", {words.get(contract, contract)}" if style == "document" or contract in words else "")


def table(contract, found, known, peers, notes):
    pairs = [(client, server) for peer in peers for client, server in ((peer, OURS), (OURS, peer))]
    pairs = [pair for pair in pairs if any(key[2:4] == pair for key in found.rows)]
    yield "| operation | " + " | ".join(f"{client} → {server}" for client, server in pairs) + " |"
    yield "|---" * (len(pairs) + 1) + "|"
    for operation in wsdl.operations(contract):
        if operation["cases"]:
            cells = [cell(contract, pair, operation, found, known, notes) for pair in pairs]
            yield f"| {operation['name']} | " + " | ".join(cells) + " |"


def cell(contract, pair, operation, found, known, notes):
    words = {}
    for version in wsdl.CONTRACTS[contract][2]:
        key = (contract, version, *pair, operation["name"])
        if key in found.rows:
            words[version] = word(key, found.rows[key], operation, known, notes)
    if len(set(words.values())) == 1 and len(words) == len(wsdl.CONTRACTS[contract][2]):
        return next(iter(words.values()))
    return ", ".join(f"{VERSIONS[version]} {text}" for version, text in words.items())


def word(key, row, operation, known, notes):
    outcome, cases, _ = row
    if outcome == "passed":
        return "yes"
    if outcome == "not possible":
        return f"– ({notes.number(known.not_possible(*key))})"
    some = "no" if len(cases.split()) == len(operation["cases"]) else f"but {', '.join(cases.split())}"
    return f"{some} ({notes.number(known.why(key) or 'not yet known')})"


def control(found):
    yield "| call | " + " | ".join(wsdl.CONTRACTS) + " |"
    yield "|---" * (len(wsdl.CONTRACTS) + 1) + "|"
    for pair in sorted({key[2:4] for key in found.rows if OURS not in key[2:4] or key[2] == key[3]}):
        counts = []
        for contract in wsdl.CONTRACTS:
            rows = [row for key, row in found.rows.items() if key[0] == contract and key[2:4] == pair]
            tried = [row for row in rows if row[0] != "not possible"]
            counts.append(f"{sum(row[0] == 'passed' for row in tried)} of {len(tried)}" if tried else "")
        if any(counts):
            yield f"| {pair[0]} → {pair[1]} | " + " | ".join(counts) + " |"


if __name__ == "__main__":
    write()
