"""Drives an attack: its steps, on as many connections as it needs."""

import asyncio
import contextlib
import socket
import struct
import time
from collections import Counter

from attack import build, quantity

CHUNK = 1 << 18
# The stored part of an answer, for the table and for `says`.
KEPT = 100_000
# Attackers whose connection was closed connect again.
PAUSE = 0.5
NEW = ["post", "read"]


class Closed(Exception):
    """The server has closed the connection."""


class Drive:
    """A running attack on a port."""

    def __init__(self, attack, port):
        self.attack = attack
        self.port = port
        self.sent = 0
        self.received = 0
        self.requests = 0
        self.answers = Counter()
        self.said = {}
        self.begun = None
        self.over = asyncio.Event()
        self.made = {}

    async def run(self, costs_too_much):
        """Attacks until it costs too much. Returns how long that took, and whether it was completed."""
        seconds = self.attack.table.get("seconds")
        patience = quantity(seconds) if seconds else self.attack.quantity("within")
        # Bodies are made before the clock starts.
        for variant in self.attack.variants():
            self.request(variant)
        self.begun = begun = time.monotonic()
        tasks = [asyncio.create_task(self.attacker(number)) for number in range(self.attack.get("connections", 1))]
        pending = tasks
        while pending and time.monotonic() - begun < patience:
            _, pending = await asyncio.wait(pending, timeout=min(0.1, max(0.0, patience - (time.monotonic() - begun))))
            if costs_too_much(self):
                break
        taken = time.monotonic() - begun
        self.over.set()
        ended = not pending or taken >= patience and seconds is not None
        for task in pending:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result
        return taken, ended

    def request(self, variant):
        if variant not in self.made:
            # Of large bodies, only one is stored at a time.
            if sum(len(body) for _, body in self.made.values()) > 64_000_000:
                self.made.clear()
            self.made[variant] = self.attack.request(variant)
        return self.made[variant]

    async def attacker(self, number):
        """One attacker: sends all variants, as many times as the attack says, or until it is over."""
        times = self.attack.get("times", 1)
        again = self.attack.get("again", self.attack.table.get("seconds") is not None)
        keep = self.attack.get("keep", False)
        done = 0
        connection = None
        # If all of them connected immediately, they would only fill the system's queue of new connections.
        ramp = quantity(self.attack.get("ramp", "0 s"))
        await asyncio.sleep(ramp * number / self.attack.get("connections", 1))
        try:
            while not self.over.is_set() and (again or done < times):
                for variant in self.attack.variants():
                    if connection is None:
                        connection = Connection(self, number)
                    try:
                        await connection.play(self.attack.get("steps", NEW), variant)
                    except (Closed, OSError, asyncio.IncompleteReadError) as error:
                        self.answers[self.named(error)] += 1
                        connection.drop()
                        connection = None
                        if again:
                            await asyncio.sleep(PAUSE)
                        continue
                    if not keep:
                        connection.drop()
                        connection = None
                done += 1
        finally:
            if connection is not None:
                connection.drop()

    @staticmethod
    def named(error):
        if isinstance(error, ConnectionRefusedError):
            return "refused"
        return "reset" if isinstance(error, ConnectionError) else "closed"


class Connection:
    def __init__(self, drive, number):
        self.drive = drive
        self.number = number
        self.reader = self.writer = self.sending = None

    async def play(self, steps, variant):
        if self.writer is None:
            slim = any("leave" in step or "sip" in step for step in steps if isinstance(step, dict))
            self.reader, self.writer = await connect(self.drive.port, slim)
        for step in steps:
            name, argument = (step, None) if isinstance(step, str) else next(iter(step.items()))
            others = {} if isinstance(step, str) else step
            if self.sending is not None and name != "read":
                await self.sending
                self.sending = None
            await getattr(self, f"step_{name}")(argument, others, variant)
        if self.sending is not None:
            await self.sending
            self.sending = None

    async def step_post(self, copies, _, variant):
        """Sends complete requests, one after the other. The next step doesn't wait until they are sent."""
        head, body = self.drive.request(variant)
        self.drive.requests += copies or 1
        self.sending = asyncio.create_task(self.write([head, body] * (copies or 1)))

    async def step_head(self, _, __, variant):
        """Sends the head of a request."""
        self.drive.requests += 1
        await self.write([self.drive.request(variant)[0]])

    async def step_part(self, size, _, variant):
        """Sends the head of a request, and this much of its body."""
        self.drive.requests += 1
        head, body = self.drive.request(variant)
        await self.write([head, body[: int(quantity(size))]])

    async def step_send(self, pieces, _, variant):
        """Sends these bytes."""
        await self.write([build(pieces, variant)])

    async def step_drip(self, what, options, variant):
        """Sends the body, or the complete request, slowly, until all is sent or the server closes. `from` bytes are sent
        immediately."""
        self.drive.requests += 1
        head, body = self.drive.request(variant)
        if what == "request":
            head, body = b"", head + body
        at_once = int(quantity(options.get("from", "0 B")))
        rate = quantity(options["rate"])
        size = max(1, int(rate))
        watch = asyncio.create_task(self.answer())
        try:
            # Not all at the same time.
            await asyncio.sleep(self.number % 97 / 97)
            await self.write([head, body[:at_once]])
            for at in range(at_once, len(body), size):
                if watch.done() or self.drive.over.is_set():
                    break
                await self.write([body[at : at + size]])
                await asyncio.wait([watch], timeout=size / rate)
            if watch.done():
                await watch
        finally:
            watch.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await watch

    async def step_read(self, count, _, __):
        """Reads one answer, or this many."""
        for _ in range(count or 1):
            await self.answer()
        if self.sending is not None:
            # It answered before it had read everything.
            if not self.sending.done():
                self.sending.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await self.sending
            self.sending = None

    async def step_drain(self, _, __, ___):
        """Reads answers until the server closes."""
        with contextlib.suppress(Closed):
            while True:
                await self.answer()

    async def step_leave(self, time, __, ___):
        """Reads nothing for a time, and then what has arrived."""
        await asyncio.sleep(quantity(time))

    async def step_sip(self, rate, _, __):
        """Reads slowly."""
        size = int(quantity(rate))
        while piece := await self.reader.read(size):
            self.drive.received += len(piece)
            await asyncio.sleep(len(piece) / size)
        raise Closed

    async def step_wait(self, time, __, ___):
        """Waits for a time, or until the server closes."""
        try:
            await asyncio.wait_for(self.answer(), quantity(time))
        except (TimeoutError, asyncio.TimeoutError):
            self.drive.answers["silence"] += 1

    async def step_finish(self, _, __, ___):
        """Closes the writing half."""
        self.writer.write_eof()

    async def step_reset(self, _, __, ___):
        """Resets the connection."""
        linger = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.drop()
        self.reader = self.writer = None
        self.drive.answers["left"] += 1

    async def write(self, parts):
        for part in parts:
            for at in range(0, len(part), CHUNK):
                piece = part[at : at + CHUNK]
                self.writer.write(piece)
                await self.writer.drain()
                self.drive.sent += len(piece)

    async def answer(self):
        """Reads one answer and counts it by its status."""
        while True:
            head = await self.head()
            status = head.split(b" ", 2)[1].decode("latin-1") if head.startswith(b"HTTP/1.1 ") else "no HTTP"
            if not status.startswith("1"):
                break
        kept = bytearray(head)
        fields = dict(line.split(b":", 1) for line in head.lower().split(b"\r\n") if b":" in line)
        if b"chunked" in fields.get(b"transfer-encoding", b""):
            while size := int((await self.reader.readline()).split(b";")[0] or b"0", 16):
                await self.take(size, kept)
                await self.reader.readline()
            await self.reader.readline()
        elif b"content-length" in fields:
            await self.take(int(fields[b"content-length"]), kept)
        elif status not in ("204", "304"):
            await self.take(None, kept)
        self.drive.answers[status] += 1
        self.drive.said.setdefault(status, bytes(kept).decode(errors="replace"))

    async def head(self):
        head = bytearray()
        while not head.endswith(b"\r\n\r\n"):
            line = await self.reader.readline()
            if not line:
                raise Closed
            head += line
        return bytes(head)

    async def take(self, size, kept):
        while size is None or size > 0:
            piece = await self.reader.read(CHUNK if size is None else min(CHUNK, size))
            if not piece:
                if size is None:
                    return
                raise Closed
            self.drive.received += len(piece)
            if len(kept) < KEPT:
                kept += piece[: KEPT - len(kept)]
            if size is not None:
                size -= len(piece)

    def drop(self):
        if self.sending is not None:
            self.sending.cancel()
        if self.writer is not None:
            self.writer.transport.abort()


async def connect(port, slim):
    """Connects; with `slim`, with the smallest receive buffer that the system permits."""
    if not slim:
        return await asyncio.open_connection("127.0.0.1", port)
    stream = socket.socket()
    stream.setblocking(False)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    await asyncio.get_running_loop().sock_connect(stream, ("127.0.0.1", port))
    return await asyncio.open_connection(sock=stream, limit=4_096)
