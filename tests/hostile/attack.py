"""Attacks as data: reads the tables of attacks/*.toml. README.md describes the format."""

import gzip
import re
import ssl
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import signed

FOLDER = Path(__file__).parent / "attacks"
CRATES = Path(__file__).resolve().parents[2] / "crates"
# The folders that arguments and files may name.
FOLDERS = {"{contracts}": CRATES / "suites/contracts", "{keys}": CRATES / "cli/tests/sign"}

ENVELOPES = {
    "1.1": "http://schemas.xmlsoap.org/soap/envelope/",
    "1.2": "http://www.w3.org/2003/05/soap-envelope",
}
SCALES = {
    "B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "B/s": 1, "KB/s": 1e3,
    "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1, "min": 60,
}

# The default limits of an attack. Reading takes 1 to 20 ns per byte, and a request with its connection 50 µs.
DEFAULTS = {
    "cpu_per_byte": "50 ns",
    "cpu_per_request": "1 ms",
    "cpu_per_second": "200 ms",
    "probe": "50 ms",
    "within": "60 s",
}
# In addition to 3 times what is sent at a time.
MEMORY = 32_000_000
# Other processes use this machine too: a figure that exceeds its limit by less than this factor may be noise.
MUCH = 1.5

SERVED = {
    "name", "why", "path", "query", "type", "action", "headers", "soap", "header", "payload", "body", "variants", "steps", "connections", "ramp",
    "times", "keep", "again", "seconds", "within", "limit", "descriptors", "flags", "slow", "answers", "says", "says_not", "cpu_per_byte", "cpu_per_request",
    "cpu_per_second", "memory", "mock", "probe", "reason", "probe_size", "tls", "ends_within", "exits", "chunked", "method", "length",
}
COMMAND = {
    "name", "why", "command", "files", "answers_with", "serves", "within", "cpu", "memory", "output", "exits", "terminal", "lacks",
    "slow", "variants",
}


class Attack:
    """One attack. Missing fields have defaults."""

    def __init__(self, table, file):
        known = COMMAND if "command" in table else SERVED
        for key in table.keys() - known:
            raise SystemExit(f"{file}: {table.get('name')}: found {key!r}, expected one of {', '.join(sorted(known))}")
        self.table = table
        self.name = f"{file.stem}/{table['name']}"
        self.is_command = "command" in table
        self.slow = table.get("slow", False)

    def __getitem__(self, key):
        return self.table.get(key, DEFAULTS.get(key))

    def get(self, key, default):
        return self.table.get(key, default)

    def quantity(self, key, default=None):
        """Returns a number with its unit, in bytes or seconds."""
        value = self[key]
        return quantity(default if value is None else value)

    def variants(self):
        """Returns the values of `{v}`, one for each request."""
        return self.get("variants", [""])

    def body(self, variant):
        """Returns the body of the request."""
        if "body" in self.table:
            return build(self["body"], variant)
        payload = build(self.get("payload", []), variant)
        header = build(self.get("header", []), variant)
        header = b"<s:Header>" + header + b"</s:Header>" if header else b""
        envelope = ENVELOPES[self.get("soap", "1.1")].encode()
        return b'<s:Envelope xmlns:s="' + envelope + b'">' + header + b"<s:Body>" + payload + b"</s:Body></s:Envelope>"

    def head(self, length, variant):
        """Returns the head of the request, for a body of this length."""
        soap12 = self.get("soap", "1.1") == "1.2"
        content_type = self.get("type", "application/soap+xml; charset=utf-8" if soap12 else "text/xml; charset=utf-8")
        lines = [f"{self.get('method', 'POST')} {self.get('path', '/interop/base')}{self.get('query', '')} HTTP/1.1", "Host: 127.0.0.1"]
        lines.append(f"Content-Type: {content_type}")
        if not soap12:
            lines.append(f"SOAPAction: \"{self.get('action', '')}\"")
        lines.append("Transfer-Encoding: chunked" if self.get("chunked", False) else f"Content-Length: {self.get('length', length)}")
        head = build(["\r\n".join(lines), "\r\n", *self.get("headers", []), "\r\n"], variant)
        return head

    def request(self, variant):
        """Returns the complete request: head and body."""
        body = self.body(variant)
        if self.get("chunked", False):
            size = 60_000
            chunks = [body[at : at + size] for at in range(0, len(body), size)]
            body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
        return self.head(len(body), variant), body


def attacks():
    """Returns all attacks, in the order of their files."""
    found = []
    for file in sorted(FOLDER.glob("*.toml")):
        with open(file, "rb") as stream:
            tables = tomllib.load(stream)
        for key in tables.keys() - {"attack"}:
            raise SystemExit(f"{file}: found {key!r}, expected [[attack]]")
        found += [Attack(table, file) for table in tables["attack"]]
    names = [attack.name for attack in found]
    for name in names:
        if names.count(name) > 1:
            raise SystemExit(f"{name} is listed twice")
    return found


def placed(text):
    """Replaces the names of folders."""
    for name, folder in FOLDERS.items():
        text = text.replace(name, str(folder))
    return text


def quantity(text):
    """Converts `16 MB` to bytes, and `50 ms` to seconds. A number without a unit is an error."""
    match = re.fullmatch(r"([\d_.]+) ?([A-Za-zµ/]+)", str(text))
    if match is None or match[2] not in SCALES:
        raise SystemExit(f"found {text!r}, expected a number with one of the units {', '.join(SCALES)}")
    return float(match[1]) * SCALES[match[2]]


def build(pieces, variant=""):
    """Builds bytes from pieces: texts, and tables that repeat or encode other pieces. `{v}` is the variant."""
    if isinstance(pieces, (str, dict)):
        pieces = [pieces]
    return b"".join(piece_bytes(piece, variant) for piece in pieces)


def piece_bytes(piece, variant):
    match piece:
        case str():
            return piece.replace("{v}", variant).encode("utf-8", "surrogatepass")
        case {"hex": text}:
            return bytes.fromhex(text.replace("{v}", variant))
        case {"after": time}:
            return after(quantity(time))
        case {"client_hello": name}:
            return client_hello(name)
        case {"path": count, "names": names}:
            return signed.path(count, names)
        case {"includes": includes, "signatures": signatures, "references": references, "parts": [first, second]}:
            parts = build(first, variant), build(second, variant)
            return signed.package(FOLDERS["{keys}"], includes, signatures, references, *parts)
        case {"gzip": pieces}:
            return gzip.compress(build(pieces, variant), 6)
        case {"encode": encoding, "of": pieces}:
            return build(pieces, variant).decode().encode(encoding)
        case {"repeat": pieces, "size": size}:
            once = build(pieces, variant)
            if b"{n}" in once:
                # Later numbers have more digits, so this count is an upper limit.
                return numbered(once, range(int(quantity(size)) // (len(once) + 4)))
            return once * (int(quantity(size)) // len(once))
        case {"repeat": pieces, "times": times, **others}:
            once = build(pieces, variant)
            numbers = range(times - 1, -1, -1) if others.get("backwards") else range(times)
            return numbered(once, numbers) if b"{n" in once else once * times
        case _:
            raise SystemExit(f"found {piece!r}, expected a text, or a table with hex, client_hello, path, includes, after, gzip, encode or repeat")


def after(seconds):
    """Returns the time this long after now, as XML Schema writes it."""
    time = datetime.now(UTC) + timedelta(seconds=seconds)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ").encode()


def client_hello(name):
    """Returns the first message of a TLS client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()


def numbered(once, numbers):
    """Repeats a text, where `{n}` is the number of the repetition and `{n+1}` the next one."""
    parts = re.split(rb"\{(n(?:\+1)?)\}", once)
    texts, places = parts[::2], parts[1::2]
    form = b"%d".join(text.replace(b"%", b"%%") for text in texts)
    offsets = [1 if place == b"n+1" else 0 for place in places]
    return b"".join(form % tuple(number + offset for offset in offsets) for number in numbers)
