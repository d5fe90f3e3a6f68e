"""Checks signatures of documents against signxml, in both directions:

    judge.py CASTILE FOLDER

FOLDER has `invoice.xml`, and `NAME.key` with `NAME.pem` for the keys `rsa` and `ec`. signxml verifies what `castile sign` writes, and reads
what is signed. `castile verify` verifies what signxml signs. Both refuse a changed document.
"""

import subprocess
import sys
from pathlib import Path

import signxml
from lxml import etree
from signxml.verifier import SignatureConfiguration

FORMS = {
    "the document": [],
    "one element": ["--id", "i1"],
    "an element inside": ["--inside", "extension"],
    "the document in the signature": ["--enveloping"],
}
# signxml makes a document canonical before it reads the default of a reference.
CANONICAL = {"exclusive": "EXCLUSIVE_XML_CANONICALIZATION_1_0", "inclusive": "CANONICAL_XML_1_0", "inclusive-1.1": "CANONICAL_XML_1_1"}
METHODS = {"rsa": ["RSA_SHA256", "RSA_SHA384", "RSA_SHA512", "SHA256_RSA_MGF1"], "ec": ["ECDSA_SHA256", "ECDSA_SHA384"]}


def main():
    castile, folder = sys.argv[1], Path(sys.argv[2])
    invoice = folder / "invoice.xml"
    count = 0
    for key in METHODS:
        certificate = (folder / f"{key}.pem").read_text()
        for c14n in CANONICAL:
            for form, options in FORMS.items():
                what = f"{form} by {key}, {c14n}"
                command = [castile, "sign", invoice, "--key", folder / f"{key}.key", "--cert", folder / f"{key}.pem", "--c14n", c14n]
                signed = subprocess.run([*command, *options], check=True, stdout=subprocess.PIPE).stdout
                found = verified(signed, certificate)
                if found is None or b"12 &lt; 13" not in etree.tostring(found):
                    sys.exit(f"signxml doesn't find what is signed: {what}: {found}")
                if accepts(changed(signed), certificate):
                    sys.exit(f"signxml accepts a changed document: {what}")
                count += 1
    print(f"signxml accepts {count} documents of castile sign, and none of them changed")

    count = 0
    for key, methods in METHODS.items():
        certificate = (folder / f"{key}.pem").read_text()
        private = (folder / f"{key}.key").read_bytes()
        for method in methods:
            for c14n in CANONICAL.values():
                signer = signxml.XMLSigner(
                    signature_algorithm=signxml.SignatureMethod[method],
                    c14n_algorithm=signxml.CanonicalizationMethod[c14n],
                )
                root = signer.sign(etree.parse(invoice).getroot(), key=private, cert=certificate)
                signed = etree.tostring(root)
                what = f"a document that signxml signed by {method}, {c14n}"
                if not castile_accepts(castile, folder, signed):
                    sys.exit(f"castile refuses {what}")
                if castile_accepts(castile, folder, changed(signed)):
                    sys.exit(f"castile accepts {what}, changed")
                count += 1
    print(f"castile verify accepts {count} documents of signxml, and none of them changed")


def changed(signed):
    assert signed.count(b"&lt; 13") == 1, signed
    return signed.replace(b"&lt; 13", b"&lt; 14")


def verified(signed, certificate):
    """Returns the element that signxml found to be signed."""
    expected = SignatureConfiguration(expect_references=1)
    result = signxml.XMLVerifier().verify(signed, x509_cert=certificate, id_attribute="Id", expect_config=expected)
    return result.signed_xml


def accepts(signed, certificate):
    try:
        verified(signed, certificate)
    except signxml.exceptions.InvalidSignature:
        return False
    return True


def castile_accepts(castile, folder, signed):
    path = folder / "signxml.xml"
    path.write_bytes(signed)
    command = [castile, "verify", path, "--ca", folder / "ca.pem"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


main()
