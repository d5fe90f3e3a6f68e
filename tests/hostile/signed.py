"""Signed messages and certificates, for attackers who have a key. Ed25519 is RFC 8032, certificates are RFC 5280."""

import base64
import functools
import hashlib
from datetime import UTC, datetime

SOAP = "http://schemas.xmlsoap.org/soap/envelope/"
OASIS = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-"
WSSE, WSU = OASIS + "wssecurity-secext-1.0.xsd", OASIS + "wssecurity-utility-1.0.xsd"
DSIG = "http://www.w3.org/2000/09/xmldsig#"
XOP = "http://www.w3.org/2004/08/xop/include"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"

# The field, the order of the group and the curve.
P, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def added(one, two):
    """Adds two points in extended coordinates."""
    x1, y1, z1, t1 = one
    x2, y2, z2, t2 = two
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * D * t1 * t2 % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def base_point():
    y = 4 * pow(5, -1, P) % P
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    x = P - x if x % 2 else x
    return x, y, 1, x * y % P


BASE = base_point()


def multiplied(number):
    """Returns a multiple of the base point, encoded."""
    result, power = (0, 1, 1, 0), BASE
    while number:
        if number & 1:
            result = added(result, power)
        number, power = number >> 1, added(power, power)
    x, y, z, _ = result
    inverse = pow(z, -1, P)
    return (y * inverse % P | (x * inverse % P & 1) << 255).to_bytes(32, "little")


class Key:
    """A private key, made of 32 bytes."""

    def __init__(self, seed):
        digest = hashlib.sha512(seed).digest()
        self.scalar = int.from_bytes(digest[:32], "little") & (2**254 - 8) | 2**254
        self.prefix = digest[32:]
        self.public = multiplied(self.scalar)

    def sign(self, data):
        def number(*parts):
            return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little") % ORDER

        nonce = number(self.prefix, data)
        point = multiplied(nonce)
        proof = (nonce + number(point, self.public, data) * self.scalar) % ORDER
        return point + proof.to_bytes(32, "little")


@functools.cache
def key_of_pem(file):
    """Reads a key in PKCS #8, whose seed is always at the same place."""
    return Key(der_of_pem(file)[16:48])


def der_of_pem(file):
    lines = [line for line in file.read_text().splitlines() if not line.startswith("-")]
    return base64.b64decode("".join(lines))


@functools.cache
def numbered_key(number):
    return Key(hashlib.sha256(b"%d" % number).digest())


def der(tag, *content):
    content = b"".join(content)
    length = len(content)
    if length < 128:
        return bytes([tag, length]) + content
    octets = (length.bit_length() + 7) // 8
    return bytes([tag, 128 + octets]) + length.to_bytes(octets, "big") + content


ED25519 = der(0x30, bytes.fromhex("06032b6570"))


def name(common):
    """Returns a name in the form of the authority in `{keys}`."""
    parts = [("06035504" + "0a", "Tea Ltd"), ("06035504" + "03", common)]
    return der(0x30, *[der(0x31, der(0x30, bytes.fromhex(oid), der(0x0C, text.encode()))) for oid, text in parts])


def certificate(number, subject, issuer, issuer_key):
    """Returns a certificate. Those but the first are of authorities."""
    authority = b"" if number == 0 else bytes.fromhex("0101ff")
    basic = der(0x30, bytes.fromhex("0603551d13"), bytes.fromhex("0101ff"), der(0x04, der(0x30, authority)))
    to_be_signed = der(
        0x30,
        bytes.fromhex("a003020102"),
        der(0x02, (4096 + number).to_bytes(2, "big")),
        ED25519,
        issuer,
        der(0x30, der(0x17, b"200101000000Z"), der(0x17, b"490101000000Z")),
        subject,
        der(0x30, ED25519, der(0x03, b"\0", numbered_key(number).public)),
        der(0xA3, der(0x30, basic)),
    )
    return der(0x30, to_be_signed, ED25519, der(0x03, b"\0", issuer_key.sign(to_be_signed)))


@functools.cache
def chain(count, names):
    """Returns the certificate of a signer and those of authorities, each of which the next one signed.

    - `different`: each has a name of its own, and the last one claims to be signed by the authority in `{keys}`.
    - `equal`: all authorities have one name, so that each could have been signed by any other.
    - `pairs`: two each have one name, so that each could have been signed by any of two. Nobody has signed the last ones."""
    owners = {"different": lambda number: number, "equal": lambda number: 1, "pairs": lambda number: (number + 1) // 2}
    issuers = {"different": "Authority", "equal": "Authority 1", "pairs": "Nobody"}
    subjects = ["Signer"] + [f"Authority {owners[names](number)}" for number in range(1, count)]
    certificates = []
    for number, subject in enumerate(subjects):
        issuer = number + (2 if names == "pairs" and number else 1)
        issuer = subjects[issuer] if issuer < count else issuers[names]
        certificates.append(certificate(number, name(subject), name(issuer), numbered_key(number + 1)))
    return certificates


@functools.cache
def path(count, names):
    """Returns a PKIPath in base64."""
    return base64.b64encode(der(0x30, *reversed(chain(count, names))))


def package(keys, includes, signatures, references, first, second):
    """Returns a package with MTOM: a message and its parts. `includes` elements of the message stand for the second part, and one for the
    first. Each signature covers the time stamp and the body; its other references cover the elements for the second part again."""

    def body(first, second):
        again = f'<x xmlns:wsu="{WSU}" wsu:Id="x">{second * includes}</x>'
        payload = f'<t:echoVoid xmlns:t="http://soapinterop.org/">{first}{again}</t:echoVoid>'
        # The declaration is not repeated in the canonical form.
        whole = payload.replace(f' xmlns:wsu="{WSU}"', "")
        return f'<s:Body xmlns:s="{SOAP}" xmlns:wsu="{WSU}" wsu:Id="b">{whole}</s:Body>', again

    def reference(id, content):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        transform = f'<ds:Transform Algorithm="{EXCLUSIVE}"></ds:Transform>'
        return f'<ds:Reference URI="#{id}"><ds:Transforms>{transform}</ds:Transforms><ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod><ds:DigestValue>{digest}</ds:DigestValue></ds:Reference>'

    created = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    timestamp = f'<wsu:Timestamp xmlns:wsu="{WSU}" wsu:Id="t"><wsu:Created>{created}</wsu:Created></wsu:Timestamp>'
    whole, again = body(*[f"<a>{base64.b64encode(part).decode()}</a>" for part in (first, second)])
    signed = reference("t", timestamp) + reference("b", whole) + reference("x", again) * (references - 2)
    info = f'<ds:SignedInfo xmlns:ds="{DSIG}"><ds:CanonicalizationMethod Algorithm="{EXCLUSIVE}"></ds:CanonicalizationMethod><ds:SignatureMethod Algorithm="http://www.w3.org/2021/04/xmldsig-more#eddsa-ed25519"></ds:SignatureMethod>{signed}</ds:SignedInfo>'
    value = base64.b64encode(key_of_pem(keys / "key.pem").sign(info.encode())).decode()
    token = base64.b64encode(der_of_pem(keys / "cert.pem")).decode()
    token = f'<wsse:BinarySecurityToken xmlns:wsu="{WSU}" wsu:Id="c" ValueType="{OASIS}x509-token-profile-1.0#X509v3">{token}</wsse:BinarySecurityToken>'
    key_info = '<ds:KeyInfo><wsse:SecurityTokenReference><wsse:Reference URI="#c"/></wsse:SecurityTokenReference></ds:KeyInfo>'
    signature = f'<ds:Signature xmlns:ds="{DSIG}">{info}<ds:SignatureValue>{value}</ds:SignatureValue>{key_info}</ds:Signature>'
    header = f'<wsse:Security xmlns:wsse="{WSSE}">{timestamp}{token}{signature * signatures}</wsse:Security>'
    sent, _ = body(*[f'<a><xop:Include xmlns:xop="{XOP}" href="cid:{id}"/></a>' for id in ("1", "2")])
    message = f'<s:Envelope xmlns:s="{SOAP}"><s:Header>{header}</s:Header>{sent}</s:Envelope>'
    head = '--b\r\nContent-Type: application/xop+xml; type="text/xml"; charset=utf-8\r\n\r\n'
    parts = b"".join(b"\r\n--b\r\nContent-ID: <%d>\r\n\r\n" % id + part for id, part in ((1, first), (2, second)))
    return (head + message).encode() + parts + b"\r\n--b--\r\n"
