"""Calls every operation with zeep, at the URL given as an argument."""

import datetime
import sys
import time
from decimal import Decimal

import zeep
import zeep.exceptions

OWN = "{urn:castile:everything}"
LINE = {"sku": "ABC-1", "price": Decimal("1.50"), "sizes": [1, 2], "part": []}
AT = datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc)

# How many times lastNotice is called, and the seconds between the calls.
TRIES = 100
PAUSE = 0.02


def main():
    client = zeep.Client(f"{sys.argv[1]}?wsdl")
    for version, port in (("11", "EverythingSoap"), ("12", "EverythingSoap12")):
        calls = Calls(client, client.bind("Everything", port), "Sender" if version == "12" else "Client")
        for name, call in (
            ("echoOrder", calls.order),
            ("echoOrder of little", calls.little_order),
            ("echoShapes", calls.shapes),
            ("echoBytes", lambda: equal(calls.service.echoBytes(b"\x00\xff", AT), b"\x00\xff")),
            ("divide", lambda: equal(calls.service.divide(1, 4), 0.25)),
            ("divide by zero", calls.division_by_zero),
            ("key", calls.key),
            ("key without session", lambda: equal(calls.service.key(), None)),
            ("echoLine", lambda: calls.line([])),
            ("echoLine with a part", lambda: calls.line([LINE])),
            ("echoLine of a wrong sku", calls.wrong_line),
            ("ping", lambda: equal(calls.service.ping(), None)),
            ("notify", lambda: calls.notice(f"notice {version}")),
        ):
            wrong = ""
            try:
                call()
            except Exception as error:
                wrong = " ".join(f"{type(error).__name__}: {error}".split())
            print(version, name, wrong, sep="\t")


class Calls:
    def __init__(self, client, service, code):
        self.code = code
        self.client = client
        self.service = service

    def order(self):
        found = self.service.echoOrder({
            "number": 7,
            "currency": "USD",
            "customer": "Ann & Co",
            "when": datetime.date(2026, 2, 3),
            "line": [LINE, {"sku": "XYZ-9", "price": Decimal("2"), "part": [LINE]}],
            "tags": {"tag": ["a", "b"]},
            "note": None,
            "status": "Sent",
            "payment": {"invoice": {"_value_1": Decimal("12"), "unit": "EUR"}},
        })
        equal((found.number, found.currency), (7, "USD"))
        equal(found.customer, "Ann & Co")
        equal(found.when, datetime.date(2026, 2, 3))
        equal([line.sku for line in found.line], ["ABC-1", "XYZ-9"])
        equal(str(found.line[0].price), "1.50")
        equal([line.sizes for line in found.line], [[1, 2], None])
        equal(found.line[1].part[0].sizes, [1, 2])
        equal(found.tags.tag, ["a", "b"])
        equal(found.note, None)
        equal(found.status, "Sent")
        equal((found.payment.card, found.payment.invoice._value_1, found.payment.invoice.unit), (None, Decimal("12"), "EUR"))

    def little_order(self):
        found = self.service.echoOrder(
            {"number": 1, "customer": "", "tags": {}, "note": "soon", "status": "New", "payment": {"card": "4711"}})
        equal((found.number, found.currency), (1, "EUR"))
        # zeep returns None for an empty element.
        equal(found.customer, None)
        equal((found.when, found.line), (None, []))
        # It does the same for an element whose children are all optional and absent.
        equal(found.tags, None)
        equal((found.note, found.status), ("soon", "New"))
        equal((found.payment.card, found.payment.invoice), ("4711", None))

    def shapes(self):
        circle = self.client.get_type(f"{OWN}Circle")(label="c", radius=1.5)
        square = self.client.get_type(f"{OWN}Square")(side=2)
        shape = self.client.get_type(f"{OWN}Shape")(label="s")
        found = self.service.echoShapes([circle, square, shape])
        equal([type(shape).__name__ for shape in found], ["Circle", "Square", "Shape"])
        equal((found[0].radius, found[1].side), (1.5, 2))
        equal((found[0].label, found[2].label), ("c", "s"))

    def division_by_zero(self):
        fault = fault_of(lambda: self.service.divide(3, 0))
        equal(fault.code.rpartition(":")[2], self.code)
        equal(fault.message, "nothing is divided by zero")
        equal(self.client.wsdl.types.deserialize(fault.detail[0]).dividend, 3)

    def key(self):
        session = self.client.get_element(f"{OWN}session")(key="sesame")
        equal(self.service.key(_soapheaders=[session]), "sesame")

    def line(self, parts):
        found = self.service.echoLine(**{**LINE, "part": parts})
        equal((found.sku, str(found.price), found.sizes), ("ABC-1", "1.50", [1, 2]))
        equal([part.sku for part in found.part], [part["sku"] for part in parts])

    def wrong_line(self):
        fault = fault_of(lambda: self.service.echoLine(**{**LINE, "sku": "wrong"}))
        equal("doesn't match the pattern" in fault.message, True)

    def notice(self, text):
        equal(self.service.notify(text), None)
        for _ in range(TRIES):
            found = self.service.lastNotice()
            if found is not None:
                break
            time.sleep(PAUSE)
        equal(found, text)


def fault_of(call):
    try:
        call()
    except zeep.exceptions.Fault as fault:
        return fault
    raise AssertionError("an answer, expected a fault")


def equal(found, expected):
    assert found == expected, f"found {found!r}, expected {expected!r}"


main()
