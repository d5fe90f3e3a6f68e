"""Ports for servers that can't choose a free one themselves.

    python3 tests/interop/ports.py [COUNT]      # prints them

They are below those that Linux gives by default to connections and to servers on port 0. So hardly another program gets one before it is
used.
"""

import random
import socket
import sys


def free_ports(count):
    found = set()
    while len(found) < count:
        port = random.randrange(20_000, 32_000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        found.add(port)
    return list(found)


def free_port():
    return free_ports(1)[0]


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1]) if sys.argv[1:] else 1))
