"""Checks what two peers actually send each other: that an attachment is sent as one, and that a message has addressing
headers.

The values alone don't show that: a value is the same inside the document and in a separate part.
"""

import contextlib
import http.client
import http.server
import re
import threading
import urllib.parse

SECONDS = 60
ADDRESSING = re.compile(rb"http://www\.w3\.org/2005/08/addressing|http://schemas\.xmlsoap\.org/ws/2004/08/addressing")
# Headers that apply to one connection only.
HOP_BY_HOP = ("host", "connection", "transfer-encoding", "content-length", "expect", "upgrade", "http2-settings", "keep-alive")
# Contract: the condition for each non-empty message, by its content type and its bytes, and its name.
WANTED = {
    "mtom": (lambda kind, _: re.match(r'(?is)multipart/related\b.*application/xop\+xml', kind), "a package of XOP"),
    "swa": (lambda kind, _: re.match(r'(?is)multipart/related\b.*text/xml', kind), "a package with attachments"),
    "addressing": (lambda _, body: ADDRESSING.search(body), "message addressing properties"),
}


class Tap:
    """Forwards requests to a server, and records messages that don't meet the condition."""

    def __init__(self, contract):
        self.is_right, self.name = WANTED[contract]
        self.problems = set()
        self.count = 0

    def look(self, side, kind, body):
        self.count += 1
        if body and not self.is_right(kind or "", body):
            self.problems.add(f"{side}: a message of {(kind or 'no type').split(';')[0]} without {self.name}")

    def wrong(self, is_answered):
        """Returns what is wrong with the messages, which includes that none came where a call was answered."""
        if is_answered and not self.count:
            return [f"the messages took another way, so nobody saw whether they have {self.name}"]
        return sorted(self.problems)

    @contextlib.contextmanager
    def before(self, url):
        """Listens until the block is left. Yields the address to call instead of `url`."""
        target = urllib.parse.urlsplit(url)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(self, target.netloc))
        server.daemon_threads = True
        # A peer may close its connections at any time.
        server.handle_error = lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield target._replace(netloc=f"127.0.0.1:{server.server_port}").geturl()
        finally:
            server.shutdown()
            server.server_close()


def handler(tap, netloc):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"])) if "Content-Length" in self.headers else self.chunks()
            tap.look("request", self.headers["Content-Type"], body)
            connection = http.client.HTTPConnection(netloc, timeout=SECONDS)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP}
            connection.request("POST", self.path, body, headers)
            response = connection.getresponse()
            answer = response.read()
            connection.close()
            tap.look("response", response.headers["Content-Type"], answer)
            self.send_response_only(response.status)
            for name, value in response.headers.items():
                if name.lower() not in HOP_BY_HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def chunks(self):
            """Returns the body of a request in chunks (RFC 9112 §7.1)."""
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return body

        def log_message(self, *_):
            pass

    return Handler
