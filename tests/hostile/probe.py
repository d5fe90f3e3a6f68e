"""A bystander, which measures how an attack affects other clients. It calls echoVoid as a new client every 10 ms, whatever happened to
earlier calls, and reports how long each call took.

    probe.py PORT QUIET-PORT [SIZE] [--tls] [--refused]

With --tls it uses TLS for the first server, and calls every 50 ms, since a handshake takes it long. With --refused the first server is a
mock at the path /, which requires signatures and refuses the calls. With SIZE its messages have this many bytes. It then calls every 250 ms,
and after a 503 it tries again as Retry-After says, which counts towards the time. Each time it calls two servers, the second of which is not
attacked: the time of that one is due to the machine and to the bystander itself. It is a separate process, so that neither the attackers nor
their interpreter's lock are measured. After the first call of each server it writes a line. It continues until standard input ends, and
writes a line for each call: the port, when the call began on the monotonic clock, and seconds to its answer, or `inf`.
"""

import asyncio
import os
import re
import ssl
import sys
import time

PATIENCE = 2
AT_A_TIME = 600

BODY = (
    b'<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>'
    b'<t:echoVoid xmlns:t="http://soapinterop.org/"/></s:Body></s:Envelope>'
)
HEAD = (
    "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/xml; charset=utf-8\r\n"
    'SOAPAction: "http://soapinterop.org/"\r\nConnection: close\r\nContent-Length: {}\r\n\r\n'
)


# The ports that use TLS, and their settings.
TLS = {}
# The ports where calls are refused.
REFUSED = set()


def unverified():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def answer(port, request):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=TLS.get(port))
    try:
        writer.write(request)
        return await reader.read()
    finally:
        writer.transport.abort()


async def call(port, request, tries_again):
    said = await answer(port, request)
    while tries_again and said.startswith(b"HTTP/1.1 503 "):
        after = re.search(rb"(?i)\r\nretry-after: (\d+)\r\n", said)
        if not after:
            raise ValueError("503 without Retry-After")
        await asyncio.sleep(float(after[1]))
        said = await answer(port, request)
    status, content = (b"500", b"InvalidSecurity") if port in REFUSED else (b"200", b"echoVoidResponse")
    if not said.startswith(b"HTTP/1.1 " + status) or content not in said:
        raise ValueError(said[:100])


async def timed(port, request, is_large, results):
    begun = time.monotonic()
    try:
        await asyncio.wait_for(call(port, request, is_large), PATIENCE)
        results.append((port, begun, time.monotonic() - begun))
    except (OSError, ValueError, TimeoutError, asyncio.TimeoutError):
        results.append((port, begun, float("inf")))


async def main():
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    ports = [int(port) for port in arguments[:2]]
    is_large = len(arguments) > 2
    if "--tls" in sys.argv:
        TLS[ports[0]] = unverified()
    if "--refused" in sys.argv:
        REFUSED.add(ports[0])
    # White space after the root element is part of the message.
    body = BODY.ljust(int(arguments[2])) if is_large else BODY
    paths = {port: "/" if port in REFUSED else "/interop/base" for port in ports}
    requests = {port: HEAD.format(path, len(body)).encode() + body for port, path in paths.items()}
    every = 0.25 if is_large else 0.05 if TLS else 0.01
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(sys.stdin, over.set)
    results, running = [], set()
    await asyncio.gather(*(timed(port, requests[port], is_large, results) for port in ports))
    print("begun", flush=True)
    while not over.is_set():
        for port in ports if len(running) < AT_A_TIME else []:
            task = asyncio.create_task(timed(port, requests[port], is_large, results))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.sleep(every)
    loop.remove_reader(sys.stdin)
    if running:
        await asyncio.wait(running)
    sys.stdout.write("".join(f"{port} {begun} {taken}\n" for port, begun, taken in results))


try:
    # It sleeps nearly always. Without a higher priority, it would measure the other processes that want a core.
    os.nice(-10)
except PermissionError:
    pass
asyncio.run(main())
