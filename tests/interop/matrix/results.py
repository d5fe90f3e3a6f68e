"""The actual results, the expected ones, and the reasons for failures.

The run writes results.tsv. known.tsv is written by people: a reason for each row that did not pass. In it, `*` stands for any
contract, version, client, server or operation, and the first row that matches counts.
"""

import fnmatch
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
RESULTS = HERE / "results.tsv"
KNOWN = HERE / "known.tsv"
HEAD = "contract\tSOAP\tclient\tserver\toperation\toutcome\tcases\tseen"
LONGEST_NOTE = 300
ABSENT = ("absent", "", "")


class Results:
    """For each operation its outcome, the cases that failed, and the observations; and the versions of peers."""

    def __init__(self):
        self.rows = {}
        self.versions = {}

    def add(self, contract, version, client, server, operation, outcome, cases, note):
        self.rows[contract, version, client, server, operation] = (outcome, cases, note)


class Known:
    """The reasons of known.tsv."""

    def __init__(self):
        self.rows = [line.split("\t") for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
        for row in self.rows:
            if len(row) != 7 or row[0] not in ("failed", "not possible"):
                sys.exit(f"{KNOWN.name}: not a row of seven columns: {row}")

    def not_possible(self, *key):
        """Returns why an operation can't be called at all; None if it can."""
        return self._find("not possible", key)

    def why(self, key):
        """Returns why an operation fails; None if no reason is listed."""
        return self._find("failed", key)

    def _find(self, outcome, key):
        for row in self.rows:
            if row[0] == outcome and all(map(fnmatch.fnmatchcase, key, row[1:6])):
                return row[6]
        return None


def tidy(note, base):
    """Returns a note without the parts that differ from run to run."""
    note = note.replace(base, "URL")
    note = re.sub(r" \(line \d+, column \d+\)|lineNumber: \d+; columnNumber: \d+; ", "", note)
    note = note.replace(str(HERE.parents[2]), "")
    note = " ".join(note.split())
    return note if len(note) <= LONGEST_NOTE else note[:LONGEST_NOTE] + "…"


def read():
    found = Results()
    if not RESULTS.exists():
        return found
    for line in RESULTS.read_text().splitlines():
        if line.startswith("# "):
            name, version = line[2:].split(": ", 1)
            found.versions[name] = version
        elif line != HEAD:
            found.add(*line.split("\t"))
    return found


def write(seen, names):
    """Replaces the expected results of these peers by the actual ones."""
    kept = read()
    kept.rows = {key: row for key, row in kept.rows.items() if not concerns(key, names)} | seen.rows
    kept.versions |= seen.versions
    lines = [f"# {name}: {version}" for name, version in sorted(kept.versions.items())]
    lines.append(HEAD)
    lines += ["\t".join([*key, *row]) for key, row in sorted(kept.rows.items())]
    RESULTS.write_text("\n".join(lines) + "\n")


def concerns(key, names):
    """Returns whether a row concerns only these peers."""
    return {key[2], key[3]} <= set(names)


def compare(seen, names):
    """Prints the unexpected results. Returns the exit code."""
    expected, known = read(), Known()
    problems = []
    for key in sorted(expected.rows.keys() | seen.rows.keys()):
        if not concerns(key, names):
            continue
        was, now = expected.rows.get(key, ABSENT), seen.rows.get(key, ABSENT)
        if was[:2] != now[:2]:
            problems.append(f"{' '.join(key)}: {' '.join(now[:2])}, expected {' '.join(was[:2])}: {now[2] or was[2]}")
        if now[0] == "failed" and not known.why(key):
            problems.append(f"{' '.join(key)}: no reason in {KNOWN.name} for: {now[2]}")
    for name, version in seen.versions.items():
        if expected.versions.get(name) != version:
            print(f"note: {name} is {version}, and results.tsv is of {expected.versions.get(name)}")
    print("\n".join(problems))
    counts = [sum(row[0] == outcome for row in seen.rows.values()) for outcome in ("passed", "failed", "not possible")]
    print(f"{counts[0]} operations work, {counts[1]} fail, {counts[2]} are not possible; {len(problems)} differ from what is expected")
    return 1 if problems else 0
