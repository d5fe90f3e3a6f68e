"""Calls the 19 operations of benchmark1.wsdl. Its documentation has the rules for the answers."""

from math import sqrt

from checks import Service, assert_equal, envelope, refused
from zeep.xsd import Nil

NAMESPACE = "http://www.extreme.indiana.edu/wsdl/Benchmark1"
MAX_SIZE = 100_000

# The suffixes of operation names, and value number i by the rule of the contract.
SCALARS = {
    "Strings": lambda i: f"s{i}",
    "Ints": lambda i: i,
    "Doubles": float,
}
STRUCTURES = {
    "MeshInterfaceObjects": lambda i: {"x": i, "y": i, "value": sqrt(i)},
    "SimpleEvents": lambda i: {"sequenceNumber": i, "timestamp": sqrt(i), "message": f"Message #{i}"},
}

# Texts that incorrect writers or readers change. U+000D must be sent as a character reference.
TEXTS = ["", "<&>\"'", "]]>", "  two  spaces  ", "\ttab\nline\r\nreturn\r", "žluťoučký kůň", "漢字かな", "🦀", "&amp;", "x" * 10_000]
INTS = [0, -1, 1, 2147483647, -2147483648]
# zeep writes an infinity as `inf`, which isn't a lexical form of xs:double, so these three are given as texts.
DOUBLES = [-0.0, 0.1, -1.5, 1e22, 1e-7, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 123456789.123456789]
DOUBLE_TEXTS = {"INF": float("inf"), "-INF": float("-inf"), "NaN": float("nan")}


def run(checks, address):
    service = Service(address)
    checks.equal("benchmark1: the address in the contract", service.stated_address, address)
    checks.equal("echoVoid", lambda: service.call("echoVoid"), None)
    for size in (1, 100):
        echo(checks, service, size)
        receive(checks, service, size)
        send(checks, service, size)
    edges(checks, service)
    sizes(checks, service)
    bad_messages(checks, service)
    checks.equal("benchmark1: operations called", lambda: sorted(service.called), sorted(service.operations()))
    checks.equal("benchmark1: operations", lambda: len(service.operations()), 19)


def echo(checks, service, size):
    data = bytes_of(size)
    checks.equal(f"echoBase64-{size}", lambda: service.call("echoBase64", data), data)
    for kind, value in SCALARS.items():
        values = [value(i) for i in range(size)]
        checks.equal(f"echo{kind}-{size}", lambda: service.call(f"echo{kind}", values), values)
    objects = values_of("MeshInterfaceObjects", size)
    checks.equal(f"echoMeshInterfaceObjects-{size}", lambda: service.call("echoMeshInterfaceObjects", objects), objects)
    events = values_of("SimpleEvents", size)
    checks.equal(f"echoSimpleEvents-{size}", lambda: items(service.call("echoSimpleEvents", {"item": events})), events)


def receive(checks, service, size):
    checks.equal(f"receiveBase64-{size}", lambda: service.call("receiveBase64", bytes_of(size)), size)
    for kind, value in SCALARS.items():
        values = [value(i) for i in range(size)]
        checks.equal(f"receive{kind}-{size}", lambda: service.call(f"receive{kind}", values), size)
    for kind in STRUCTURES:
        array = {"item": values_of(kind, size)}
        checks.equal(f"receive{kind}-{size}", lambda: service.call(f"receive{kind}", array), size)


def send(checks, service, size):
    checks.equal(f"sendBase64-{size}", lambda: service.call("sendBase64", size), bytes_of(size))
    for kind, value in SCALARS.items():
        checks.equal(f"send{kind}-{size}", lambda: service.call(f"send{kind}", size), [value(i) for i in range(size)])
    for kind in STRUCTURES:
        checks.equal(f"send{kind}-{size}", lambda: items(service.call(f"send{kind}", size)), values_of(kind, size))


def edges(checks, service):
    """Values and forms at the limits of the contract."""
    for text in TEXTS:
        with checks.check(f"echoStrings of {text[:20]!r}"):
            service.call("echoStrings", [text])
            assert_equal(service.texts("echoStringsReturn"), [text])
    with checks.check("echoStrings of all texts at once"):
        service.call("echoStrings", TEXTS)
        assert_equal(service.texts("echoStringsReturn"), TEXTS)
    checks.equal("receiveStrings of empty strings", lambda: service.call("receiveStrings", ["", "", ""]), 3)
    checks.equal("echoInts of the least and the greatest", lambda: service.call("echoInts", INTS), INTS)
    checks.equal("echoDoubles of extremes", lambda: service.call("echoDoubles", DOUBLES), DOUBLES)
    checks.equal("echoDoubles of INF, -INF and NaN", lambda: service.call("echoDoubles", list(DOUBLE_TEXTS)), list(DOUBLE_TEXTS.values()))
    with checks.check("echoDoubles writes INF, -INF and NaN as XML Schema does"):
        assert_equal(service.texts("echoDoublesReturn"), list(DOUBLE_TEXTS))

    with checks.check("echoBase64 of no bytes"):
        service.call("echoBase64", b"")
        assert_equal(service.texts("echoBase64Return"), [""])
    checks.equal("receiveBase64 of no bytes", lambda: service.call("receiveBase64", b""), 0)
    for size in (2, 3, 256, 1_000_000):
        checks.equal(f"echoBase64 of {size} bytes", lambda: service.call("echoBase64", bytes_of(size)), bytes_of(size))

    objects = [{"x": -1, "y": -2147483648, "value": -0.5}, {"x": 0, "y": 2147483647, "value": 1e300}]
    checks.equal("echoMeshInterfaceObjects of negatives", lambda: service.call("echoMeshInterfaceObjects", objects), objects)
    events = [{"sequenceNumber": -5, "timestamp": 1e-300, "message": text} for text in TEXTS if text]
    checks.equal("echoSimpleEvents of all texts", lambda: items(service.call("echoSimpleEvents", {"item": events})), events)

    event = STRUCTURES["SimpleEvents"](7)
    checks.equal("echoSimpleEvents of none", lambda: items(service.call("echoSimpleEvents", {"item": []})), [])
    with checks.check("echoSimpleEvents with a nil entry"):
        answer = items(service.call("echoSimpleEvents", {"item": [event, Nil, event]}))
        assert_equal(service.nils("item"), [False, True, False])
        assert_equal([answer[0], answer[2]], [event, event])
    for kind in STRUCTURES:
        value = STRUCTURES[kind](3)
        checks.equal(f"receive{kind} of none", lambda: service.call(f"receive{kind}", {"item": []}), 0)
        checks.equal(f"receive{kind} with a nil entry", lambda: service.call(f"receive{kind}", {"item": [Nil, value]}), 2)

    def post(operation, body, **kwargs):
        return service.post(operation, envelope(NAMESPACE, body, **kwargs))[1]

    # xs:all permits any order of the members.
    body = "<echoMeshInterfaceObjectsRequest><input><value>0.5</value><x>1</x><y>2</y></input></echoMeshInterfaceObjectsRequest>"
    checks.equal("members of xs:all in another order", lambda: post("echoMeshInterfaceObjects", body), [{"x": 1, "y": 2, "value": 0.5}])
    body = "\n  <echoInts>\n    <input> 7 </input><!-- comment -->\n    <input>&#x38;</input><?instruction?>\n  </echoInts>\n"
    checks.equal("white space, comments and references", lambda: post("echoInts", body), [7, 8])
    header = '<S:Header><note xmlns="urn:unknown">not for you</note></S:Header>'
    checks.equal("an unknown header that need not be understood", lambda: post("echoInts", "<echoInts><input>1</input></echoInts>", header=header), [1])
    message = envelope(NAMESPACE, "<echoInts><input>1</input></echoInts>")
    checks.equal("an empty SOAPAction", lambda: service.post("echoInts", message, action="")[1], [1])


def sizes(checks, service):
    """The limits of the send operations."""
    with checks.check("sendBase64 of none"):
        service.call("sendBase64", 0)
        assert_equal(service.texts("sendBase64Return"), [""])
    for kind in STRUCTURES:
        checks.equal(f"send{kind} of none", lambda: items(service.call(f"send{kind}", 0)), [])
    checks.equal("sendInts of the most", lambda: service.call("sendInts", MAX_SIZE), list(range(MAX_SIZE)))
    for kind, least in {"Base64": 0, **dict.fromkeys(SCALARS, 1), **dict.fromkeys(STRUCTURES, 0)}.items():
        request = f"send{kind}" + ("Request" if kind in STRUCTURES else "")
        for size in (least - 1, -2147483648, MAX_SIZE + 1, 2147483647):
            message = envelope(NAMESPACE, f"<{request}><size>{size}</size></{request}>")
            refused(checks, service, f"send{kind} of {size}", f"send{kind}", message)


def bad_messages(checks, service):
    """Messages that violate the contract are answered with a fault that zeep understands."""
    good = "<echoInts><input>1</input></echoInts>"

    def refuse(name, body, operation="echoInts", code="Client", action=None, **kwargs):
        refused(checks, service, name, operation, envelope(NAMESPACE, body, **kwargs), code, action)

    refuse("an unknown element", "<echoNothing/>")
    refuse("an unknown element and action", "<echoNothing/>", action="echoNothing")
    refuse("the right name in another namespace", '<echoInts xmlns="urn:other"><input>1</input></echoInts>')
    refuse("an int that is none", "<echoInts><input>ten</input></echoInts>")
    refuse("an empty body", "")
    refuse("a header that must be understood", good, code="MustUnderstand", header='<S:Header><key xmlns="urn:unknown" S:mustUnderstand="1"/></S:Header>')
    refuse("an envelope of no known version", good, code="VersionMismatch", envelope_namespace="urn:envelope")
    refused(checks, service, "a message cut short", "echoInts", envelope(NAMESPACE, good)[:-20])
    refused(checks, service, "a document type", "echoInts", "<!DOCTYPE x>" + envelope(NAMESPACE, good))
    if checks.lenient:
        return
    refuse("an int out of range", "<echoInts><input>2147483648</input></echoInts>")
    refuse("an int with a fraction", "<echoInts><input>1.5</input></echoInts>")
    refuse("an empty int", "<echoInts><input/></echoInts>")
    refuse("a missing element", "<echoInts/>")
    refuse("an element too many", "<echoInts><input>1</input><other/></echoInts>")
    refuse("text between elements", "<echoInts>1<input>1</input></echoInts>")
    refuse("a child in another namespace", '<echoInts><input xmlns="urn:other">1</input></echoInts>')
    refuse("bytes that aren't base64", "<echoBase64><input>$$$</input></echoBase64>", "echoBase64")
    mesh = "echoMeshInterfaceObjects"
    refuse("a missing member of xs:all", f"<{mesh}Request><input><x>1</x><y>1</y></input></{mesh}Request>", mesh)
    refuse("a member of xs:all twice", f"<{mesh}Request><input><x>1</x><y>1</y><value>1</value><x>1</x></input></{mesh}Request>", mesh)


def values_of(kind, size):
    return [STRUCTURES[kind](i) for i in range(size)]


def bytes_of(size):
    return bytes(i % 256 for i in range(size))


def items(array):
    """Returns the items of an array type, which zeep returns as a list, or as None if there are none."""
    return array or []
