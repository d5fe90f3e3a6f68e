"""The process that is attacked, and its use of resources."""

import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import time

from attack import placed

TICKS = os.sysconf("SC_CLK_TCK")
# The certificates of `castile bench --tls`.
CERTIFICATES = pathlib.Path(__file__).resolve().parents[2] / "crates/cli/src/tls/bench"


class Server:
    """A separate `castile serve`, or `castile mock` with the arguments `mock`, on a free port of the loopback interface."""

    def __init__(self, castile, flags=(), limit=None, descriptors=None, tls=False, mock=None):
        self.log = tempfile.TemporaryFile()
        what = ["serve"] if mock is None else ["mock", *map(placed, mock), "--verbose"]
        command = [castile, *what, "--addr", "127.0.0.1:0", *flags]
        if tls:
            command += ["--tls-cert", CERTIFICATES / "certificate.pem", "--tls-key", CERTIFICATES / "key.pem"]

        def confine():
            # Set before it starts, because it checks how much memory it may have.
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
            if descriptors is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

        self.process = subprocess.Popen(
            command, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, preexec_fn=confine
        )
        self.pid = self.process.pid
        self.port = self.await_port()
        self.idle = peak_memory(self.pid)
        self.peak = self.idle

    def await_port(self):
        for _ in range(6000):
            match = re.search(r"listening on https?://127\.0\.0\.1:(\d+)", self.output())
            if match:
                return int(match[1])
            if self.process.poll() is not None:
                break
            time.sleep(0.01)
        raise SystemExit(f"castile does not listen:\n{self.output()}")

    def output(self):
        # The process writes at the position of this file descriptor, so that must not be moved.
        size = os.fstat(self.log.fileno()).st_size
        return os.pread(self.log.fileno(), size, 0).decode(errors="replace")

    def sample(self):
        """Records the peak of memory, which is lost when a process aborts."""
        self.peak = max(self.peak, peak_memory(self.pid))

    def cpu(self):
        return cpu_time(self.pid)

    def spins(self):
        """Returns whether the process still works without requests. Work that was begun may take 2 s."""
        for _ in range(8):
            before = self.cpu()
            time.sleep(0.25)
            # Other processes may use both cores, so a single low share shows nothing.
            if self.cpu() - before <= 0.02:
                return False
        return True

    def end(self, patience):
        """Ends the process with SIGTERM and returns its exit code; None if it had to be killed."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return None


def cpu_time(pid):
    """Returns the processor time of a process in seconds, including its threads that have ended. The
    resolution is 10 ms."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_memory(pid):
    """Returns the peak resident memory in bytes."""
    try:
        with open(f"/proc/{pid}/status") as file:
            match = re.search(r"VmHWM:\s+(\d+) kB", file.read())
    except OSError:
        match = None
    return int(match[1]) * 1024 if match else 0
