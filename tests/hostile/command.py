"""Attacks on commands: hostile contracts and files, and servers with unexpected answers."""

import asyncio
import contextlib
import os
import pty
import re
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from attack import FOLDERS, MUCH, build, quantity
from target import cpu_time, peak_memory

CPU = "3 s"
# Colours may reach a terminal, but no other control sequences.
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# Sequences that draw a progress line: back to its start, and clear it.
PROGRESS = re.compile(r"\r|\x1b\[[0-9]*[KAJG]|\x1b\[\?25[hl]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def run_command(attack, castile):
    """Runs the command of an attack. Returns a row of the table."""
    with tempfile.TemporaryDirectory() as folder, hostile_server(attack.get("serves", None)) as server:
        folder = Path(folder)
        for name, pieces in attack.get("files", {}).items():
            (folder / name).write_bytes(placed(build(pieces), server.port))
        inputs = set(folder.iterdir())
        arguments = [placed(argument.encode(), server.port).decode() for argument in attack["command"]]
        result = run([castile.resolve(), *arguments], folder, attack)
        output = result["output"]
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file not in inputs:
                output += file.read_text(errors="replace")
        sent = server.sent or sum(file.stat().st_size for file in inputs)
    row = {
        "attack": attack.name, "sent": sent, "seconds": result["seconds"], "cpu": result["cpu"], "memory": result["memory"],
        "cpu_per_byte": result["cpu"] / sent if sent else None, "answers": {f"exit {result['exit']}": 1}, "exit": result["exit"],
        "output": result["output"][:2000], "output_size": len(output),
    }
    # As of a server, without a bystander.
    row |= {"cpu_bound": attack.quantity("cpu", CPU), "memory_bound": attack.quantity("memory", "200 MB"), "memory_idle": 0, "probes": 0}
    row["problems"] = list(problems(attack, row, result, output))
    return row


def problems(attack, row, result, output):
    if row["exit"] is None:
        yield f"it is not over after {row['seconds']:.1f} s"
    elif row["exit"] < 0:
        yield f"it was ended by signal {-row['exit']}: {result['output'][-200:]!r}"
    elif row["exit"] not in attack.get("exits", [2]):
        yield f"it ended with {row['exit']}, expected {attack.get('exits', [2])}: {result['output'][-200:]!r}"
    elif "\nUsage: " in result["output"]:
        # A wrong command line would end just as quickly, without meeting the attack.
        yield f"it was called wrongly: {result['output'][-200:]!r}"
    cpu, memory, size = row["cpu_bound"], row["memory_bound"], attack.quantity("output", "100 KB")
    if row["cpu"] > cpu:
        yield f"processor time of {row['cpu']:.1f} s, expected at most {cpu:.1f} s"
    if row["memory"] > memory:
        yield f"memory of {row['memory'] / 1e6:.0f} MB, expected at most {memory / 1e6:.0f} MB"
    if row["output_size"] > size:
        yield f"output of {row['output_size']:,} characters, expected at most {size:,.0f}"
    for pattern in attack.get("lacks", []):
        if found := re.search(pattern, output, re.MULTILINE):
            yield f"what it writes holds {found[0][:100]!r}"
    if found := CONTROL.search(PROGRESS.sub("", COLOUR.sub("", result["output"].replace("\r\n", "\n")))):
        yield f"it writes the control character {found[0]!r} to the terminal"


def run(command, folder, attack):
    """Runs a command with a terminal, or with its output in a file, and kills it when it exceeds its time."""
    if attack.get("terminal", False):
        reading, writing = pty.openpty()
    else:
        file = tempfile.TemporaryFile()
        reading, writing = None, file.fileno()
    begun = time.monotonic()
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=writing, stderr=writing)
    output = bytearray()
    if reading is not None:
        os.close(writing)
        reader = threading.Thread(target=read_all, args=(reading, output), daemon=True)
        reader.start()
    peak, status = 0, None
    while status is None:
        # After it is waited for, only `usage` has its memory, which includes that of its parent before exec.
        peak = max(peak, peak_memory(process.pid))
        pid, waited, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            status = os.waitstatus_to_exitcode(waited)
            late = False
        elif time.monotonic() - begun > attack.quantity("within") or cpu_time(process.pid) > MUCH * attack.quantity("cpu", CPU):
            process.kill()
            _, _, usage = os.wait4(process.pid, 0)
            status, late = -9, True
        else:
            time.sleep(0.005)
    process.returncode = status
    if reading is not None:
        reader.join(2)
    else:
        file.seek(0)
        output += file.read()
    return {
        "seconds": time.monotonic() - begun, "cpu": usage.ru_utime + usage.ru_stime, "memory": peak, "exit": None if late else status,
        "output": output.decode(errors="replace"),
    }


def read_all(terminal, output):
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 65_536):
            output += piece


def placed(data, port):
    """Replaces `{port}` by the port of the hostile server, and the names of folders."""
    data = data.replace(b"{port}", str(port).encode())
    for name, folder in FOLDERS.items():
        data = data.replace(name.encode(), bytes(folder))
    return data


@contextlib.contextmanager
def hostile_server(steps):
    server = HostileServer(steps)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    server.ready.wait()
    try:
        yield server
    finally:
        server.loop.call_soon_threadsafe(server.over.set)
        thread.join()


class HostileServer:
    """Does the same steps on each connection: when a request has arrived, it sends its data."""

    def __init__(self, steps):
        self.steps = steps or []
        self.sent = 0
        self.port = 0
        self.ready = threading.Event()

    def run(self):
        asyncio.run(self.serve())

    async def serve(self):
        self.loop = asyncio.get_running_loop()
        self.over = asyncio.Event()
        tasks = set()

        async def accept(reader, writer):
            task = asyncio.current_task()
            tasks.add(task)
            try:
                await self.answer(reader, writer)
            except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError):
                pass
            finally:
                tasks.discard(task)
                writer.transport.abort()

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.ready.set()
        await self.over.wait()
        server.close()
        for task in list(tasks):
            task.cancel()

    async def answer(self, reader, writer):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            await reader.readexactly(int(length[1]) if length else 0)
            for step in self.steps:
                if step == "close":
                    return
                if "send" in step:
                    await self.write(writer, build(step["send"]))
                elif "drip" in step:
                    data, rate = build(step["drip"]), quantity(step["rate"])
                    size = max(1, int(rate / 10))
                    for at in range(0, len(data), size):
                        await self.write(writer, data[at : at + size])
                        await asyncio.sleep(size / rate)
                elif "forever" in step:
                    piece = build({"repeat": step["forever"], "size": "256 KB"})
                    while True:
                        await self.write(writer, piece)
                else:
                    raise SystemExit(f"{step!r} is not a step of a server")

    async def write(self, writer, data):
        data = placed(data, self.port)
        for at in range(0, len(data), 65_536):
            writer.write(data[at : at + 65_536])
            await writer.drain()
            self.sent += len(data[at : at + 65_536])
