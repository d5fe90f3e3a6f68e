"""Calls the 4 operations of wstest.wsdl. Its documentation has the rules for the answers."""

import struct
from datetime import datetime, timezone

from checks import Service, assert_equal, envelope, refused
from zeep.xsd import Nil

NAMESPACE = "uri:WSTestWeb-TestService"
DATE = datetime(2005, 7, 1, 12, tzinfo=timezone.utc)
LINES = 50


def run(checks, address):
    service = Service(address)
    checks.equal("wstest: the address in the contract", service.stated_address, address)
    checks.equal("EchoVoid", lambda: service.call("EchoVoid"), None)
    for size in (1, 20, 100):
        structs = [struct_of(i) for i in range(1, size + 1)]
        checks.equal(f"EchoStruct{size}", lambda: echo_struct(service, structs), structs)
        nodes = list_of(size)
        checks.equal(f"EchoList{size}", lambda: service.call("EchoList", nodes), with_ends(nodes))
    edges(checks, service)
    for order_id, customer_id in ((1, 2), (0, 0), (-7, 2147483647)):
        checks.equal(f"GetOrder {order_id} of {customer_id}", lambda: service.call("GetOrder", order_id, customer_id), order(order_id, customer_id))
    bad_messages(checks, service)
    checks.equal("wstest: operations called", lambda: sorted(service.called), sorted(service.operations()))
    checks.equal("wstest: operations", lambda: len(service.operations()), 4)


def edges(checks, service):
    """Values and forms at the limits of the contract."""
    structs = [
        {"i": -1, "f": None, "s": None},
        {"i": -2147483648, "f": -0.5, "s": "<&>\"' ]]>"},
        {"i": 2147483647, "f": None, "s": "漢字 🦀"},
        {"i": 0, "f": single(3.4028235e38), "s": None},
        {"i": 0, "f": single(0.1), "s": " spaces "},
        {"i": 0, "f": single(1.1754944e-38), "s": "\r\nlines\r"},
        {"i": 0, "f": float("inf"), "s": "INF"},
    ]
    checks.equal("EchoStruct of nil floats and strings and of extremes", lambda: echo_struct(service, structs), structs)
    with checks.check("EchoStruct of an empty string, which is not nil"):
        service.call("EchoStruct", {"l": [{"i": 1, "f": 1.0, "s": ""}]})
        assert_equal(service.texts("s"), [""])

    checks.equal("EchoList of no node", lambda: service.call("EchoList"), None)
    with checks.check("EchoList of no node answers no node"):
        assert_equal(service.texts("EchoListResult"), [])
    node = {"i": 1, "f": Nil, "s": Nil, "Next": {"i": -2, "f": 2.5, "s": "<&>"}}
    expected = {"i": 1, "f": None, "s": None, "Next": {"i": -2, "f": 2.5, "s": "<&>", "Next": None}}
    checks.equal("EchoList with nil values", lambda: service.call("EchoList", node), expected)


def bad_messages(checks, service):
    """Messages that violate the contract are answered with a fault that zeep understands."""

    def refuse(name, operation, body):
        refused(checks, service, name, operation, envelope(NAMESPACE, body))

    refuse("an unknown element", "EchoVoid", "<EchoNothing/>")
    refuse("a float that is none", "EchoStruct", "<EchoStruct><array><l><i>1</i><f>one</f><s/></l></array></EchoStruct>")
    refuse("an int that is none", "GetOrder", "<GetOrder><orderId>one</orderId><customerId>2</customerId></GetOrder>")
    if checks.lenient:
        return
    refuse("elements in the wrong order", "GetOrder", "<GetOrder><customerId>2</customerId><orderId>1</orderId></GetOrder>")
    refuse("an array without an element", "EchoStruct", "<EchoStruct><array/></EchoStruct>")
    refuse("the base's element after the extension's", "EchoList", "<EchoList><list><i>1</i><f>1</f><Next><i>2</i><f>2</f><s/></Next><s/></list></EchoList>")
    refuse("a nil int", "EchoStruct", f'<EchoStruct xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><array><l><i xsi:nil="true"/><f>1</f><s/></l></array></EchoStruct>')


def echo_struct(service, structs):
    """Sends structs, and returns those of the answer with floats rounded to 32 bits."""
    sent = [{key: Nil if value is None else written(value) for key, value in s.items()} for s in structs]
    answer = service.call("EchoStruct", {"l": sent})
    return [s | {"f": None if s["f"] is None else single(s["f"])} for s in answer]


def written(value):
    """Returns the lexical form of an infinity; zeep itself writes Python's form."""
    return "INF" if value == float("inf") else value


def single(value):
    """Returns the nearest 32-bit number, which is what is sent."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def struct_of(i):
    return {"i": i, "f": float(i), "s": "wstest"}


def list_of(size):
    node = None
    for i in range(size, 0, -1):
        node = struct_of(i) | ({"Next": node} if node else {})
    return node


def with_ends(node):
    """Returns the list as zeep returns it: the last node has a Next that is None."""
    return node | {"Next": with_ends(node["Next"]) if "Next" in node else None}


def order(order_id, customer_id):
    line = {"OrderId": order_id, "ProductDescription": f"Test Product {customer_id}", "OrderQuantity": 1, "UnitPrice": 5.0}
    return {
        "OrderId": order_id,
        "OrderStatus": 1,
        "OrderDate": DATE,
        "OrderTotalAmount": 50.0,
        "Customer": {
            "CustomerId": customer_id,
            "ContactFirstName": f"FirstName {customer_id}",
            "ContactLastName": f"LastName {customer_id}",
            "ContactPhone": "425-882-8080",
            "LastActivityDate": DATE,
            "CreditCardNumber": "892374389740",
            "CreditCardExpirationDate": "12/12/2012",
            # "Bil1" with a digit is the benchmark's own spelling.
            "BillingAddress": address("Bill", "Bil1", customer_id),
            "ShippingAddress": address("Ship", "Ship", customer_id),
        },
        "LineItems": {"LineItem": [line | {"ItemId": k, "ProductId": k} for k in range(1, LINES + 1)]},
    }


def address(use, use_in_last_name, customer_id):
    return {
        "FirstName": f"{use} FirstName {customer_id}",
        "LastName": f"{use_in_last_name} LastName {customer_id}",
        "Address1": f"{use} StreetAddress {customer_id}",
        "Address2": f"Street Address Line 2 {customer_id}",
        "City": f"City {customer_id}",
        "State": f"State {customer_id}",
        "Zip": "12345",
    }
