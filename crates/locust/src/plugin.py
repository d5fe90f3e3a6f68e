"""A locustfile for a Locust master whose workers are Castile's.

    castile locust-plugin > castile.py
    locust -f castile.py --master --castile-report report
    castile load CONTRACT --operation OP --url URL --locust MASTER

Castile's users do what the options of `castile load` say, whatever class of users the master gives them. In a test in which Python workers take
part as well, import this file from a locustfile with classes of users of your own.

Workers send whole distributions. `/castile` of the web interface, and the end of the test, show exact percentiles. With --castile-report, the
report of `castile load` for all of Castile's workers together is written when a test has ended and each worker that isn't missing has made its
last report, or some seconds later, and again if more comes. The folder has the report of the last test, and what its workers measured:
shares.json, from which `castile merge` makes other reports.
"""

import json
import logging
import os
import shutil
import subprocess
import sys
import time

import gevent
from gevent.lock import BoundedSemaphore
from locust import User, constant, events, task
from locust.runners import STATE_MISSING, MasterRunner, WorkerRunner

KIND = "castile"
QUANTILES = (0.5, 0.9, 0.99, 0.999, 1)
# A message that isn't within these limits is not taken: the port of a master is open to everybody who reaches it, and `castile merge` leaves
# out a worker with one wrong number.
MOST_WORKERS = 10_000
MOST_PARTS = 1_000
MOST_REASONS = 100
LONGEST_NAME = 200
LONGEST_REASON = 4_000
LONGEST_DESCRIPTION = 1_000_000
# The buckets of a worker's histogram.
MOST_VALUES = 30_000
# A count of a message, and a sum of many.
LARGEST_COUNT = 1 << 40
LARGEST_SUM = 1 << 46
# Nanoseconds: the end of the last bucket of a worker's histogram.
LONGEST_TIME = 1 << 42
# Seconds since 1970, and seconds of a test.
LATEST = 100_000_000_000
LONGEST_TEST = 366 * 86_400
# By how many seconds a worker's test may be longer than the master's.
SLACK = 600
# A time that was longer on its way, in seconds, doesn't compare clocks.
LONGEST_TRIP = 60
# How many seconds the report waits for the last reports of workers.
PATIENCE = 10

logger = logging.getLogger(KIND)


class Castile(User):
    """A user of Castile. In a Python worker it does nothing."""

    wait_time = constant(1)

    @task
    def nothing(self):
        pass


class Report:
    """A message of a worker. It is checked as a whole before any of it is counted."""

    def __init__(self, data):
        self.begun = number(data["begun_s"], LATEST)
        self.now = number(data["now_s"], LATEST)
        if not 0 <= self.now - self.begun < LONGEST_TEST:
            raise ValueError(f"found a test from {self.begun} s to {self.now} s")
        self.master, self.held = number(data["master_s"], LATEST), number(data["held_s"], LATEST)
        self.cpu, self.peak = number(data["cpu_s"], LATEST), number(data["peak_cores"], LATEST)
        self.sequence, self.in_flight = counted(data["sequence"]), counted(data["in_flight"])
        self.is_last = bool(data["is_last"])
        # All reports have one, because any of them may be lost.
        self.description = json.loads(data["description"][:LONGEST_DESCRIPTION])
        if not isinstance(self.description, dict):
            raise TypeError("found a description that isn't an object")
        # Python reads more than JSON has.
        json.dumps(self.description, allow_nan=False, ensure_ascii=False).encode()
        self.record = checked(data["record"])
        # A second of the clock may have been repeated or left out.
        first, last = max(int(self.begun) - 1, 0), int(self.now) + 1
        self.seconds = {}
        for second, counts in data["seconds"].items():
            if not first <= int(second) <= last:
                raise ValueError(f"found the second {second}, expected one from {first} to {last}")
            self.seconds[int(second)] = {name: counted(counts[name]) for name in ("requests", "errors", "users")}
        for name in ("requests", "errors"):
            counted(sum(counts[name] for counts in self.seconds.values()), self.record[name])


def number(value, most):
    value = float(value)
    if not 0 <= value < most:
        raise ValueError(f"found {value}, expected a number from 0 to {most}")
    return value


def counted(value, most=LARGEST_COUNT):
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"found {value!r}, expected a number from 0 to {most}")
    return value


DISTRIBUTIONS = ("latency", "service", "lag")
COUNTS = ("requests", "errors", "not_sent", "warmup_errors", "verified", "bytes_out", "bytes_in", "matches")


def checked(record, is_part=False):
    """Returns a record of a message with what is known of it: counts, distributions, reasons, and the same of each operation."""
    whole = {name: counted(record[name]) for name in COUNTS}
    if whole["warmup_errors"] > whole["errors"]:
        raise ValueError("found more errors of the warm-up than errors")
    for name in DISTRIBUTIONS:
        numbers = record[name]
        # Thousands of numbers are checked without a loop of Python.
        if set(map(type, numbers)) - {int} or len(numbers) % 2 or min(numbers, default=0) < 0:
            raise ValueError(f"found a {name} that isn't values with their counts")
        counted(max(numbers[::2], default=0), LONGEST_TIME - 1)
        counted(sum(numbers[1::2]), LARGEST_COUNT if name == "lag" else whole["requests"])
        whole[name] = numbers
    whole["reasons"] = [(str(reason["text"])[:LONGEST_REASON], counted(reason["count"])) for reason in record["reasons"]]
    counted(sum(count for _, count in whole["reasons"]), whole["errors"])
    parts = record["parts"]
    counted(len(parts), 0 if is_part else MOST_PARTS)
    whole["parts"] = [checked(part, True) for part in parts]
    exhausted = record["exhausted"]
    whole["exhausted"] = str(exhausted)[:LONGEST_REASON] if exhausted else None
    return whole


class Worker:
    """What one worker has reported of the current test."""

    def __init__(self, name, begun):
        self.name = name
        self.description = None
        self.record = empty()
        self.seconds = {}
        self.begun = begun
        self.ended = begun
        self.cpu = self.peak = 0.0
        self.in_flight = 0
        self.next = 0
        self.lost_reports = 0
        # How far its clock is ahead, and the shortest round trip, which knows that best.
        self.clock, self.round_trip = 0.0, None
        self.is_last = False

    def compare(self, report, now):
        """Compares the clocks: a report has the last time that came from here, how long ago that was, and the worker's own time."""
        round_trip = now - report.master - report.held
        if self.round_trip is None:
            # Until a better one comes.
            self.round_trip, self.clock = LONGEST_TRIP, report.now - now
        if 0 <= round_trip < self.round_trip:
            self.round_trip = round_trip
            self.clock = report.now - (now - round_trip / 2)

    def add(self, report):
        expect_sums(self.record, report.record)
        self.compare(report, time.time())
        self.description = report.description
        self.lost_reports = min(self.lost_reports + max(report.sequence - self.next, 0), LARGEST_COUNT)
        self.next = report.sequence + 1
        self.ended = max(self.ended, report.now)
        self.cpu, self.peak = report.cpu, report.peak
        self.in_flight = report.in_flight
        self.is_last = report.is_last
        add(self.record, report.record)
        for second, counts in report.seconds.items():
            mine = self.seconds.setdefault(second, {"requests": 0, "errors": 0, "users": 0})
            for name in ("requests", "errors"):
                mine[name] += counts[name]
            mine["users"] = max(mine["users"], counts["users"])

    def share(self):
        """Returns what `castile merge` reads."""
        return {
            "name": self.name,
            "description": self.description,
            "record": flat(self.record),
            "parts": [flat(part) for part in self.record["parts"]],
            "begun_s": self.begun,
            "ended_s": self.ended,
            "seconds": self.seconds,
            "clock_s": self.clock,
            "in_flight": self.in_flight,
            "cpu_s": self.cpu,
            "peak_cores": self.peak,
            "lost_reports": self.lost_reports,
            "is_lost": not self.is_last,
        }


def empty():
    counts, distributions = dict.fromkeys(COUNTS, 0), {name: {} for name in DISTRIBUTIONS}
    return counts | distributions | {"reasons": {}, "parts": [], "exhausted": None}


def expect_sums(record, more):
    """Checks that the sum of a record and another is one that a worker can have."""
    for name in COUNTS:
        counted(record[name] + more[name], LARGEST_SUM)
    # The others are limited by the number of requests.
    counted(sum(record["lag"].values()) + sum(more["lag"][1::2]), LARGEST_SUM)
    for name in DISTRIBUTIONS:
        mine = record[name]
        counted(len(mine) + sum(value not in mine for value in more[name][::2]), MOST_VALUES)
    for mine, part in zip(record["parts"], more["parts"]):
        expect_sums(mine, part)
    for part in more["parts"][len(record["parts"]) :]:
        expect_sums(empty(), part)


def add(record, more):
    """Adds a checked record to the sum of others, which has dictionaries of its values and reasons."""
    for name in COUNTS:
        record[name] += more[name]
    for name in DISTRIBUTIONS:
        mine, numbers = record[name], more[name]
        known = mine.get
        for value, times in zip(numbers[::2], numbers[1::2], strict=True):
            mine[value] = known(value, 0) + times
    reasons = record["reasons"]
    for text, times in more["reasons"]:
        if text not in reasons and len(reasons) >= MOST_REASONS:
            text = "other reasons"
        reasons[text] = reasons.get(text, 0) + times
    for index, part in enumerate(more["parts"]):
        if index == len(record["parts"]):
            record["parts"].append(empty())
        add(record["parts"][index], part)
    record["exhausted"] = record["exhausted"] or more["exhausted"]


def flat(record):
    """Returns a record as it is written, without its parts."""
    lists = {name: [number for pair in sorted(record[name].items()) for number in pair] for name in DISTRIBUTIONS}
    reasons = [{"text": text, "count": count} for text, count in record["reasons"].items()]
    return record | lists | {"reasons": reasons, "parts": []}


def percentiles(distribution):
    """Returns milliseconds at each of QUANTILES."""
    total, found, count = sum(distribution.values()), [], 0
    wanted = list(QUANTILES)
    for value, times in sorted(distribution.items()):
        count += times
        while wanted and count >= wanted[0] * total:
            found.append(value / 1e6)
            wanted.pop(0)
    return found


class Master:
    """The reports of all workers of the current test."""

    def __init__(self, environment):
        self.environment = environment
        self.workers = {}
        # The keys of the workers of the test before.
        self.earlier = set()
        self.number = 0
        self.begun = time.monotonic()
        self.is_written = True
        # One report is written at a time.
        self.writing = BoundedSemaphore()

    def start(self, **_):
        # A test whose last reports never came may have no report yet.
        self.finish()
        self.earlier = set(self.workers)
        self.workers = {}
        self.number += 1
        self.begun = time.monotonic()
        self.is_written = False

    def receive(self, environment, msg, **_):
        # Locust discards what it gets from a worker of an earlier master, too.
        if msg.node_id not in environment.runner.clients:
            return
        try:
            report = Report(msg.data)
            if report.now - report.begun > time.monotonic() - self.begun + SLACK:
                raise ValueError(f"found a test of {report.now - report.begun} s, which is longer than the master's")
            # A worker that was lost and came back has begun again.
            key = (msg.node_id, report.begun)
            # The last report of an earlier test may come after the begin of the next.
            if key in self.earlier or (key not in self.workers and len(self.workers) >= MOST_WORKERS):
                return
            worker = self.workers.get(key) or Worker(str(msg.node_id)[:LONGEST_NAME], report.begun)
            worker.add(report)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
            logger.warning("found a report of %s that isn't one of Castile: %.200r", msg.node_id, error)
            return
        self.workers[key] = worker
        self.is_written = False
        self.send_time(msg.node_id)

    def greet(self, client_id, **_):
        # A Python worker isn't ready for messages of a plugin yet.
        gevent.spawn_later(1, self.send_time, client_id)

    def send_time(self, client_id):
        self.environment.runner.send_message(KIND, {"time": time.time()}, client_id)

    def shown(self):
        """Returns the percentiles of all workers together."""
        whole = {}
        for worker in self.workers.values():
            for value, count in worker.record["latency"].items():
                whole[value] = whole.get(value, 0) + count
        return percentiles(whole)

    def is_complete(self):
        """Returns whether each worker that isn't missing has made its last report."""
        clients = self.environment.runner.clients
        # Of a worker that was lost and came back, the last counts.
        last = {node: worker for (node, _), worker in self.workers.items()}
        is_gone = lambda node: node not in clients or clients[node].state == STATE_MISSING
        return all(worker.is_last or is_gone(node) for node, worker in last.items())

    def stop(self, **_):
        # If the master quits, the last reports come after this event.
        if self.is_complete():
            self.finish()
        gevent.spawn(self.watch, self.number)

    def watch(self, number):
        """Reports a test that has ended when all reports have come or can't be waited for, and again if more come."""
        ended = time.monotonic()
        while number == self.number:
            if self.is_complete() or time.monotonic() - ended > PATIENCE:
                self.finish()
            gevent.sleep(0.5)

    def finish(self, **_):
        # The master may quit meanwhile, and waits for it.
        with self.writing:
            if not self.is_written and self.workers:
                # Another report may come while this is written.
                self.is_written = True
                self.report()

    def report(self):
        names = [f"{quantile:.1%}".replace(".0%", "%") for quantile in QUANTILES]
        shown = ", ".join(f"{name} {time:.3f} ms" for name, time in zip(names, self.shown()))
        logger.info("exact percentiles of %d workers of Castile: %s", len(self.workers), shown)
        for worker in list(self.workers.values()):
            if worker.lost_reports:
                logger.warning("%d reports of %s were lost on the way", worker.lost_reports, worker.name)
            if not worker.is_last:
                logger.warning("the worker %s was lost", worker.name)
        options = self.environment.parsed_options
        if options.castile_report:
            self.write(options.castile_command, options.castile_report)

    def shares(self):
        """Returns what `castile merge` reads, in the order of names. Which report came first is chance."""
        return [worker.share() for worker in sorted(self.workers.values(), key=lambda worker: (worker.name, worker.begun))]

    def write(self, command, folder):
        path = os.path.join(folder, "shares.json")
        try:
            os.makedirs(folder, exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self.shares(), file)
            merged = subprocess.run([command, "merge", path, "--out", folder], stdout=sys.stderr, stderr=subprocess.PIPE, check=False)
        except OSError as error:
            logger.error("there is no report in %s: %s", folder, error)
            return
        for line in merged.stderr.decode(errors="replace").splitlines():
            logger.warning("castile merge: %s", line)
        # Whether wrong answers are a failure is the master's to judge.
        if merged.returncode not in (0, 1):
            logger.error("castile merge ended with %d; what the workers measured is in %s", merged.returncode, path)


@events.init_command_line_parser.add_listener
def options(parser):
    group = parser.add_argument_group("Castile")
    group.add_argument("--castile-report", metavar="DIR", default="", help="The folder for the report of Castile's workers")
    group.add_argument("--castile-command", metavar="FILE", default="castile", help="The program that writes the report")


@events.init.add_listener
def begin(environment, runner, web_ui=None, **_):
    if isinstance(runner, WorkerRunner):
        # It is greeted like one of Castile.
        runner.register_message(KIND, lambda **_: None)
    if not isinstance(runner, MasterRunner):
        return
    options = environment.parsed_options
    if options.castile_report and not shutil.which(options.castile_command):
        raise FileNotFoundError(f"--castile-report needs the program {options.castile_command}: --castile-command says where it is")
    master = Master(environment)
    runner.register_message(KIND, master.receive)
    environment.events.worker_connect.add_listener(master.greet)
    environment.events.test_start.add_listener(master.start)
    environment.events.test_stop.add_listener(master.stop)
    environment.events.quit.add_listener(master.finish)
    if web_ui:

        # Beside Locust's own pages, and behind the same login.
        base = (getattr(options, "web_base_path", None) or "").rstrip("/")

        @web_ui.app.route(f"{base}/castile")
        @web_ui.auth_required_if_enabled
        def castile():
            shown = master.shown()
            return {"workers": sorted({name for name, _ in master.workers}), "milliseconds": dict(zip(map(str, QUANTILES), shown))}
