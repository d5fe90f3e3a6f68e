"""Counts checks, and calls a service through zeep in the ways that the checks need."""

from contextlib import contextmanager

import zeep
from zeep.plugins import HistoryPlugin

ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"
XSI_NIL = "{http://www.w3.org/2001/XMLSchema-instance}nil"


class Checks:
    """The checks so far. A failed check is reported and doesn't end the run."""

    def __init__(self, lenient):
        self.lenient = lenient
        self.passed = 0
        self.failed = 0

    @contextmanager
    def check(self, name):
        """Runs the block as one check, which fails when the block raises."""
        try:
            yield
        except Exception as error:
            self.failed += 1
            told = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
            print(f"FAILED {name}: {short(told)}")
        else:
            self.passed += 1

    def equal(self, name, call, expected):
        """Checks that `call` returns the expected value."""
        with self.check(name):
            assert_equal(call(), expected)


class Service:
    """One service, with the contract from its ?wsdl."""

    def __init__(self, address):
        self.address = address
        self.history = HistoryPlugin()
        self.client = zeep.Client(f"{address}?wsdl", plugins=[self.history])
        self.proxy = self.client.service
        self.called = set()

    def call(self, operation, *args, **kwargs):
        """Calls an operation and returns plain Python values: dicts, lists, numbers, strings."""
        self.called.add(operation)
        return plain(self.proxy[operation](*args, **kwargs))

    def operations(self):
        """Returns the names of all operations, as zeep reads them from the contract."""
        return set(self.proxy._operations)

    def stated_address(self):
        """Returns the soap:address of the contract."""
        return self.proxy._binding_options["address"]

    def texts(self, local):
        """Returns the texts of the elements of this name in the last answer, unchanged: zeep reads "" as None."""
        assert not any(self.nils(local)), f"found a nil {local}, expected none"
        return [element.text or "" for element in self.received(local)]

    def nils(self, local):
        """Returns which of those elements are nil: zeep reads a nil structure as one whose members are None."""
        return [element.get(XSI_NIL) in ("true", "1") for element in self.received(local)]

    def received(self, local):
        return list(self.history.last_received["envelope"].iter(f"{{*}}{local}"))

    def post(self, operation, message, action=None):
        """Posts a message unchanged and lets zeep read the answer, which may raise a Fault."""
        binding = self.proxy._binding
        known = binding.get(operation)
        action = known.soapaction if action is None else action
        headers = {"Content-Type": "text/xml; charset=utf-8", "SOAPAction": f'"{action}"'}
        response = self.client.transport.post(self.stated_address(), message.encode(), headers)
        return response.status_code, plain_reply(binding, self.client, known, response)


def plain_reply(binding, client, operation, response):
    try:
        return plain(binding.process_reply(client, operation, response))
    except zeep.exceptions.Fault as fault:
        return fault


def plain(value):
    """Converts zeep's value objects to dicts and lists."""
    return zeep.helpers.serialize_object(value, dict)


def envelope(namespace, body, header="", envelope_namespace=ENVELOPE):
    """Returns a message. The body is XML text whose default namespace is the contract's."""
    return f'<S:Envelope xmlns:S="{envelope_namespace}" xmlns="{namespace}">{header}<S:Body>{body}</S:Body></S:Envelope>'


def refused(checks, service, name, operation, message, code="Client", action=None):
    """Checks that a message is answered with HTTP status 500 and a sender fault with a reason."""
    with checks.check(f"{name} is refused"):
        status, answer = service.post(operation, message, action)
        assert isinstance(answer, zeep.exceptions.Fault), f"found the answer {short(repr(answer))}, expected a fault"
        assert status == 500, f"found HTTP status {status}, expected 500"
        assert answer.message, "found an empty faultstring, expected a reason"
        found = (answer.code or "").rpartition(":")[2]
        if not checks.lenient:
            assert found == code, f"found the fault code {found} ({answer.message}), expected {code}"


def assert_equal(found, expected):
    """Fails with the first difference, instead of both values."""
    place = difference(found, expected, "")
    assert place is None, place


def difference(found, expected, path):
    if isinstance(expected, dict) and isinstance(found, dict) and found.keys() == expected.keys():
        places = (difference(found[key], expected[key], f"{path}/{key}") for key in expected)
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        places = (difference(f, e, f"{path}[{i}]") for i, (f, e) in enumerate(zip(found, expected)))
    else:
        return None if same(found, expected) else f"{path or 'answer'}: found {short(repr(found))}, expected {short(repr(expected))}"
    return next((place for place in places if place), None)


def same(found, expected):
    if isinstance(expected, float):
        # repr distinguishes -0.0 from 0.0 and treats NaN as equal to NaN.
        return isinstance(found, float) and repr(found) == repr(expected)
    return type(found) is type(expected) and found == expected


def short(text):
    return text if len(text) <= 400 else f"{text[:400]}… ({len(text)} characters)"
