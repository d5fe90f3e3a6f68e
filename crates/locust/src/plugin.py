"""A locustfile for a Locust master whose workers are Castile's.

    castile locust-plugin > castile.py
    locust -f castile.py --master --castile-report report
    castile load CONTRACT --operation OP --url URL --locust MASTER

Castile's users do what the options of `castile load` say, whatever class of users the master gives them. In a test in which Python workers take
part as well, import this file from a locustfile with classes of users of your own.

Workers send whole distributions. `/castile` of the web interface, and the end of the test, show exact percentiles. With --castile-report, the
report of `castile load` for all of Castile's workers together is written when the test ends.
"""

import json
import logging
import os
import subprocess
import sys
import tempfile
import time

import gevent
from locust import User, constant, events, task
from locust.runners import MasterRunner, WorkerRunner

KIND = "castile"
QUANTILES = (0.5, 0.9, 0.99, 0.999, 1)
# What doesn't look like a worker's report is not taken: the port of a master is open to everybody who reaches it.
MOST_WORKERS = 10_000
LONGEST_TEXT = 1_000_000

logger = logging.getLogger(KIND)


class Castile(User):
    """A user of Castile. In a Python worker it does nothing."""

    wait_time = constant(1)

    @task
    def nothing(self):
        pass


class Worker:
    """What one worker has reported of the current test."""

    def __init__(self, name, report):
        self.name = name
        self.description = None
        self.record = {}
        self.seconds = {}
        self.begun = float(report["begun_s"])
        self.ended = self.begun
        self.cpu = 0.0
        self.in_flight = 0
        self.next = 0
        self.lost_reports = 0
        # How far its clock is ahead, and the shortest round trip, which knows that best.
        self.clock, self.round_trip = 0.0, None
        self.is_last = False

    def compare(self, report, now):
        """Compares the clocks: the worker says the last time that it got from here, how long ago that was, and its own time."""
        round_trip = now - float(report["master_s"]) - float(report["held_s"])
        if round_trip >= 0 and (self.round_trip is None or round_trip < self.round_trip):
            self.round_trip = round_trip
            self.clock = float(report["now_s"]) - (now - round_trip / 2)

    def add(self, report):
        self.compare(report, time.time())
        if report.get("description"):
            self.description = str(report["description"])[:LONGEST_TEXT]
        sequence = int(report["sequence"])
        self.lost_reports += max(sequence - self.next, 0)
        self.next = sequence + 1
        self.ended = float(report["now_s"])
        self.cpu = float(report["cpu_s"])
        self.in_flight = int(report["in_flight"])
        self.is_last = bool(report["is_last"])
        add(self.record, report["record"])
        for second, counts in report["seconds"].items():
            mine = self.seconds.setdefault(int(second), {"requests": 0, "errors": 0, "users": 0})
            for name in ("requests", "errors"):
                mine[name] += int(counts[name])
            mine["users"] = max(mine["users"], int(counts["users"]))

    def share(self, description):
        """Returns what `castile merge` reads."""
        return {
            "name": self.name,
            "description": json.loads(description),
            "record": flat(self.record),
            "begun_s": self.begun,
            "ended_s": self.ended,
            "seconds": self.seconds,
            "clock_s": self.clock,
            "in_flight": self.in_flight,
            "cpu_s": self.cpu,
            "is_lost": not self.is_last,
        }


DISTRIBUTIONS = ("latency", "service", "lag")


def add(record, more):
    """Adds a record to another: counts, distributions as values with their counts, reasons, and the same of each operation."""
    for name in DISTRIBUTIONS:
        mine = record.setdefault(name, {})
        numbers = more[name]
        if set(map(type, numbers)) - {int}:
            raise TypeError(f"{name} has something else than numbers")
        known = mine.get
        for value, count in zip(numbers[::2], numbers[1::2], strict=True):
            mine[value] = known(value, 0) + count
    reasons = record.setdefault("reasons", {})
    for reason in more["reasons"]:
        reasons[str(reason["text"])] = reasons.get(str(reason["text"]), 0) + int(reason["count"])
    parts = record.setdefault("parts", [])
    for number, part in enumerate(more["parts"]):
        if number == len(parts):
            parts.append({})
        add(parts[number], part)
    record["exhausted"] = record.get("exhausted") or more["exhausted"]
    for name, number in more.items():
        if isinstance(number, int):
            record[name] = record.get(name, 0) + number


def flat(record):
    """Returns a record as it is written."""
    lists = {name: [number for pair in sorted(record[name].items()) for number in pair] for name in DISTRIBUTIONS}
    reasons = [{"text": text, "count": count} for text, count in record["reasons"].items()]
    return record | lists | {"reasons": reasons, "parts": [flat(part) for part in record["parts"]]}


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
        self.is_written = True

    def start(self, **_):
        # A test whose last reports never came has no report yet.
        self.finish()
        self.workers = {}
        self.is_written = False

    def hear(self, environment, msg, **_):
        # Locust discards what it gets from a worker of an earlier master, too.
        if msg.node_id not in environment.runner.clients:
            return
        try:
            # A worker that was lost and came back has begun again.
            key = (msg.node_id, msg.data["begun_s"])
            if key not in self.workers and len(self.workers) < MOST_WORKERS:
                self.workers[key] = Worker(str(msg.node_id), msg.data)
            if key in self.workers:
                self.workers[key].add(msg.data)
                self.say_time(msg.node_id)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            logger.warning("found a report of %s that isn't one of Castile: %r", msg.node_id, error)

    def greet(self, client_id, **_):
        # A Python worker isn't ready for messages of a plugin yet.
        gevent.spawn_later(1, self.say_time, client_id)

    def say_time(self, client_id):
        self.environment.runner.send_message(KIND, {"time": time.time()}, client_id)

    def shown(self):
        """Returns the percentiles of all workers together."""
        whole = {}
        for worker in self.workers.values():
            for value, count in worker.record["latency"].items():
                whole[value] = whole.get(value, 0) + count
        return percentiles(whole)

    def stop(self, **_):
        # If the master quits, the last reports come after this event.
        if all(worker.is_last for worker in self.workers.values()):
            self.finish()

    def finish(self, **_):
        if self.is_written or not self.workers:
            return
        self.is_written = True
        names = [f"{quantile:.1%}".replace(".0%", "%") for quantile in QUANTILES]
        shown = ", ".join(f"{name} {time:.3f} ms" for name, time in zip(names, self.shown()))
        logger.info("exact percentiles of %d workers of Castile: %s", len(self.workers), shown)
        for worker in self.workers.values():
            if worker.lost_reports:
                logger.warning("%d reports of %s were lost on the way", worker.lost_reports, worker.name)
            if not worker.is_last:
                logger.warning("the worker %s was lost", worker.name)
        options = self.environment.parsed_options
        if options.castile_report:
            self.write(options.castile_command, options.castile_report)

    def write(self, command, folder):
        # The report with a description may have been lost, but all workers drive the same.
        known = next((worker.description for worker in self.workers.values() if worker.description), "null")
        shares = [worker.share(worker.description or known) for worker in self.workers.values()]
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "shares.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(shares, file)
            # The exit code says whether answers were wrong, which is the master's to judge.
            try:
                subprocess.run([command, "merge", path, "--out", folder], stdout=sys.stderr, check=False)
            except OSError as error:
                logger.error("there is no report, because %s can't be started: %s", command, error)


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
    master = Master(environment)
    runner.register_message(KIND, master.hear)
    environment.events.worker_connect.add_listener(master.greet)
    environment.events.test_start.add_listener(master.start)
    environment.events.test_stop.add_listener(master.stop)
    environment.events.quit.add_listener(master.finish)
    if web_ui:

        @web_ui.app.route("/castile")
        def castile():
            shown = master.shown()
            return {"workers": sorted({name for name, _ in master.workers}), "milliseconds": dict(zip(map(str, QUANTILES), shown))}
