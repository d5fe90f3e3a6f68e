"""zeep calls a service with WS-Security: call.py WSDL FOLDER SCENARIO,… URL. ../run describes the URLs and what is printed.

zeep signs by xmlsec, and verifies answers with the certificate of the server.
"""

import datetime
import sys

import requests
import xmlsec
import zeep
from zeep.exceptions import Fault
from zeep.wsse import utils
from zeep.wsse.compose import Compose
from zeep.wsse.signature import BinarySignature, Signature
from zeep.wsse.username import UsernameToken

USER = "bookkeeper"
PASSWORD = "secret-password"
NOTE = " \u00e9 \u20ac \U0001d11e <&> \"'\t|\r\n "
WSDL, FOLDER, SCENARIOS, URL = sys.argv[1:]
RSA, ECDSA = xmlsec.Transform.RSA_SHA256, xmlsec.Transform.ECDSA_SHA256
# Name: kind of the signature, method, kind of the key.
SIGNED = {
    "token": (BinarySignature, RSA, "rsa"),
    # zeep sends the certificate, too.
    "issuer": (Signature, RSA, "rsa"),
    # What zeep does by default.
    "sha1": (BinarySignature, None, "rsa"),
    "ecdsa": (BinarySignature, ECDSA, "ec"),
    # zeep signs no user name.
    "beside": (BinarySignature, RSA, "rsa"),
}


class Timestamp:
    """A time stamp, which zeep adds only to a user name."""

    def apply(self, envelope, headers):
        utils.get_security_header(envelope).append(timestamp())
        return envelope, headers

    def verify(self, envelope):
        pass


class Signing:
    """Signs as `kind` does, and verifies answers with the server's certificate instead of its own."""

    def __init__(self, name, owner):
        kind, method, key = SIGNED[name]
        path = f"{FOLDER}/{owner}-{key}"
        options = {"signature_method": method, "digest_method": xmlsec.Transform.SHA256} if method else {}
        self.signing = kind(f"{path}.key", f"{path}.pem", **options)
        server = f"{FOLDER}/server-{key}"
        self.verifying = Signature(f"{server}.key", f"{server}.pem")

    def apply(self, envelope, headers):
        return self.signing.apply(envelope, headers)

    def verify(self, envelope):
        return self.verifying.verify(envelope)


def timestamp():
    now = datetime.datetime.now(datetime.timezone.utc)
    moments = (now, now + datetime.timedelta(seconds=60))
    created, expires = (moment.strftime("%Y-%m-%dT%H:%M:%SZ") for moment in moments)
    return utils.WSU.Timestamp(utils.WSU.Created(created), utils.WSU.Expires(expires))


def username(name, password):
    options = {"use_digest": name != "text", "timestamp_token": timestamp()}
    return UsernameToken(USER, password, zulu_timestamp=True, **options)


def wsse(name, owner="client", password=PASSWORD):
    if name in ("text", "digest"):
        return username(name, password)
    if name == "beside":
        return Compose([username(name, password), Signing(name, owner)])
    return Compose([Timestamp(), Signing(name, owner)])


def order(version, name, treatment, security, quantity=2):
    """Returns what was wrong with the answer, or an error of zeep."""
    transport = zeep.Transport(session=SESSION, operation_timeout=30)
    client = zeep.Client(WSDL, transport=transport, wsse=security)
    service = client.create_service(f"{{urn:castile:secured}}Orders{version}", f"{URL}/{treatment}/{name}/{version}")
    try:
        answer = service.order(customer="Ada", quantity=quantity, note=NOTE)
    except Exception as error:
        return error
    return "" if (answer.customer, answer.number, answer.note) == ("Ada", 7, NOTE) else f"answered {answer}"


def sold_out(outcome):
    if not isinstance(outcome, Fault):
        return f"{outcome!r}, where a fault was expected"
    left = outcome.detail.findtext(".//{urn:castile:secured}left") if outcome.detail is not None else None
    return "" if left == "100" else f"a fault about something else: {outcome}"


def refused(outcome):
    return "" if isinstance(outcome, Exception) else "accepted"


def right(outcome):
    return repr(outcome) if isinstance(outcome, Exception) else outcome


def tell(version, name, case, wrong):
    print(version, f"{name}: {case}", wrong.replace("\n", " ").replace("\t", " "), sep="\t", flush=True)


SESSION = requests.Session()
SESSION.trust_env = False
for version in ("11", "12"):
    for name in SCENARIOS.split(","):
        tell(version, name, "order", right(order(version, name, "plain", wsse(name))))
        tell(version, name, "fault", sold_out(order(version, name, "plain", wsse(name), quantity=200)))
        if name in SIGNED:
            tell(version, name, "altered request", refused(order(version, name, "altered-request", wsse(name))))
            tell(version, name, "altered answer", refused(order(version, name, "altered-answer", wsse(name))))
            tell(version, name, "stranger", refused(order(version, name, "refused", wsse(name, owner="stranger"))))
        if name != "text":
            tell(version, name, "sent twice", refused(order(version, name, "twice", wsse(name))))
        if name in ("text", "digest", "beside"):
            tell(version, name, "wrong password", refused(order(version, name, "refused", wsse(name, password="wrong horse"))))
