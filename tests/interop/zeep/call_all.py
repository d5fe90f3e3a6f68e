"""Calls every operation of both contracts with unmodified zeep, and checks every answer.

    python call_all.py [--lenient] BASE

BASE is the address of a server (`castile serve`, or ../php/serve) with the services at BASE/benchmark1 and BASE/wstest.
zeep reads their contracts from their ?wsdl. With --lenient, some checks are left out: those that pass only if the
server validates messages and returns sender faults for bad ones. ext/soap, for one, accepts 1.5 for an int. The output
ends with the line `N passed, N failed`; the exit code is 0 if none failed.
"""

import argparse
import sys

import benchmark1
import wstest
from checks import Checks


def main():
    parser = argparse.ArgumentParser(description="call every operation of benchmark1 and wstest with zeep")
    parser.add_argument("base", help="where the services are, such as http://127.0.0.1:8080")
    parser.add_argument("--lenient", action="store_true", help="don't ask for schema checks and exact fault codes")
    arguments = parser.parse_args()
    base = arguments.base.rstrip("/")

    # zeep needs about ten stack frames for each level of EchoList.
    sys.setrecursionlimit(20_000)

    checks = Checks(lenient=arguments.lenient)
    benchmark1.run(checks, f"{base}/benchmark1")
    wstest.run(checks, f"{base}/wstest")
    print(f"{checks.passed} passed, {checks.failed} failed")
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
