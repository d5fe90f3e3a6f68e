"""Shared code of the partners: what each must call, and how its results are judged.

A partner's program gets its input as arguments and writes a line for each case: the version of SOAP (11 or 12), the case, and what was
wrong, separated by tabs. The last field is empty if nothing was wrong.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "matrix"))
import peers

FOLDER = peers.TARGET / "code-first"
SECONDS_OF_A_TOOL = 300
SECONDS_OF_A_PROGRAM = 60
# The operations, some with further checks.
CASES = (
    "echoOrder",
    "echoOrder of little",
    "echoShapes",
    "echoBytes",
    "divide",
    "divide by zero",
    "key",
    "key without session",
    "echoLine",
    "echoLine with a part",
    "echoLine of a wrong sku",
    "ping",
    # Includes lastNotice, which returns what notify was sent. notify is one-way, so this may take a moment.
    "notify",
)
LONGEST_NOTE = 300
MTOM = "echoBytes by MTOM"
LOAD = "load"


def url():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} URL")
    return sys.argv[1]


def fresh(name):
    """Returns an empty folder for what is generated and compiled."""
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def needs(packages, *programs):
    """Exits with a hint what to install, if a program or a file is missing."""
    missing = [program for program in programs if not (shutil.which(program) or pathlib.Path(program).is_file())]
    if missing:
        sys.exit(f"missing: {', '.join(missing)}; apt-get install {packages}")


def run(command, folder):
    """Runs a tool in a folder, and prints its output if it fails."""
    done = subprocess.run([str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", timeout=SECONDS_OF_A_TOOL)
    if done.returncode:
        sys.exit(f"{done.stdout}\n{command[0]} ended with {done.returncode}")


class Judge:
    """Compares the results of a partner's programs with the cases that it must report, and with what is known to fail."""

    def __init__(self, name, known=HERE / "known.tsv", cases=CASES, seconds=SECONDS_OF_A_PROGRAM):
        self.name = name
        self.known = [line.split("\t")[1:] for line in known.read_text().splitlines() if line.startswith(f"{name}\t")]
        self.cases = cases
        self.seconds = seconds
        self.seen = collections.Counter()
        self.problems = []
        self.used = set()
        self.right = 0

    def run(self, command, versions=("11", "12"), more=()):
        """Runs a program that must report each case in each of these versions."""
        environment = {**os.environ, "NO_PROXY": "*", "no_proxy": "*", "TZ": "UTC"}
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8",
                              errors="replace", timeout=self.seconds, env=environment)
        if done.returncode:
            self.problems.append(f"{command[0]} ended with {done.returncode}")
        for line in done.stdout.splitlines():
            version, case, wrong = line.split("\t", 2)
            self.say(version, case, wrong)
        for version in versions:
            for case in (*self.cases, *more):
                if self.seen[version, case] != 1:
                    self.problems.append(f"{version} {case}: told {self.seen[version, case]} times, expected once")

    def say(self, version, case, wrong):
        """Records the result of one case."""
        self.seen[version, case] += 1
        if not wrong:
            self.right += 1
            return
        for number, (versions, cases, message, _) in enumerate(self.known):
            if version in versions.split("|") and case in cases.split("|") and re.search(message, wrong):
                self.used.add((number, version, case))
                return
        self.problems.append(f"{version} {case}: {wrong[:LONGEST_NOTE]}")

    def end(self):
        """Prints the results, and exits with 1 if any is not as expected."""
        sys.exit("".join(f"FAILED {self.name} {problem}\n" for problem in self.report(self.name)) or 0)

    def report(self, title):
        """Prints the results, and returns those that are not as expected."""
        for number, (versions, cases, message, why) in enumerate(self.known):
            for version in versions.split("|"):
                for case in cases.split("|"):
                    if (number, version, case) not in self.used:
                        self.problems.append(f"{version} {case}: known.tsv says `{message}` ({why}), and that does not happen")
        versions = sorted({version for version, _ in self.seen})
        print(f"{title}: {self.right} of {self.seen.total()} cases are right, with SOAP {', '.join(versions)}; "
              f"{len(self.used)} are known to fail", flush=True)
        return self.problems


def run_java(judge, peer, folder, url, **options):
    """Compiles the partner's program with what the peer's tool generated into a folder, and runs it."""
    peer.compile(folder / "classes", HERE / "java/Cases.java", HERE / judge.name / "Calls.java", *folder.rglob("*.java"))
    judge.run(peer.java_of(folder / "classes", "Calls", url), **options)
