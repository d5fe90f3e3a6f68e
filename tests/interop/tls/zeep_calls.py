"""Calls EchoVoid at a URL with zeep: with the right certificate, with none, with one of another authority, and trusting another
authority.

The working directory has the certificates.
"""

import sys

import requests
import zeep

URL = sys.argv[1]
CLIENT = ("client.pem", "client.key")


def call(trusted, certificate):
    session = requests.Session()
    # The environment may name authorities, which would be trusted instead of these.
    session.trust_env = False
    session.verify, session.cert = trusted, certificate
    transport = zeep.Transport(session=session, timeout=10, operation_timeout=10)
    client = zeep.Client(f"{URL}?wsdl", transport=transport)
    client.create_service(next(iter(client.wsdl.bindings)), URL).EchoVoid()
    return "answered"


for name, trusted, certificate in [
    ("client", "roots.pem", CLIENT),
    ("none", "roots.pem", None),
    ("stranger", "roots.pem", ("stranger.pem", "stranger.key")),
    ("of another authority", "others.pem", CLIENT),
]:
    try:
        print(f"{name}: {call(trusted, certificate)}")
    except Exception as error:
        print(f"{name}: {error}")
