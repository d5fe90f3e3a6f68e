"""Renders docs/interop.md from results.tsv and known.tsv; `python3 page.py` does it by itself."""

import results
import wsdl

PAGE = results.HERE.parents[2] / "docs/interop.md"
OURS = "castile"
VERSIONS = {"11": "1.1", "12": "1.2"}

HEAD = """\
# Interoperation

Castile and engines that other people wrote, unmodified, call each other over the same contracts. This page is made by
`tests/interop/run --bless` from `tests/interop/matrix/results.tsv`, which holds what was seen in each call; CI runs all of it
again and fails where anything differs, for better or worse. `tests/interop/README.md` says how.

| peer | version | client | server |
|---|---|---|---|
"""

LEGEND = """
A cell is about all cases of an operation: **yes**, all of them work; **but** lists those that don't; **no**, none does; **–**, it
can't be tried. The number leads to the reason below. Where the versions of SOAP differ, both are given. An operation works if what
came back is the value that was sent, of the same type: absent, nil and empty are three things, and digits count.
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
Each peer that has both sides also calls itself with the same programs, and some call each other, which shows what of the above is
the peer's own: the operations that work, of those that were tried."""


BESIDE = """\
## Beside the matrix

**vSphere.** A generated client and then `castile call` work with vcsim, govmomi's simulator of a vCenter, over TLS and by VMware's contract
of 920 operations ([tests/interop/vsphere](../tests/interop/vsphere/run)). `castile call` has a bundle of the contract, a URL and a file of
cookies, which keeps the session: it logs in, gets a declared fault for a wrong password, reads properties of all machines page by page with
a selection of a derived type, changes a machine with a value of any type, and logs out. vcsim takes such a value if the prefix of its type
is `xsd`, so that is what Castile writes for types of XML Schema.

**ONVIF.** `castile mock` is a camera of two contracts of ONVIF, for devices and for media, with a dozen rules and four files of answers
([tests/interop/onvif](../tests/interop/onvif/run)): a hostname, a clock and users that clients set and get, faults with ONVIF's subcodes,
and a login of WS-Security that one operation asks for. `castile call` makes 22 calls, and zeep reads the contract from the mock and makes
four."""


class Notes:
    """Reasons, numbered as they are first met."""

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
