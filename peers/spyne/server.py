"""Spyne behind waitress: server.py PORT. Spyne writes its contract itself, so the types are declared here as ours has them."""

import logging
import sys
from datetime import datetime, timezone

from spyne import Application, ComplexModel, DateTime, Double, Float, Integer32, SelfReference, ServiceBase, Unicode, rpc
from spyne.protocol.soap import Soap11
from spyne.server.wsgi import WsgiApplication
from waitress import create_server

# More than any load has connections, so that none waits for another to close.
CONNECTIONS = 4096


def some(kind):
    """At least one of these elements."""
    return kind.customize(min_occurs=1, max_occurs="unbounded")


def one(kind):
    return kind.customize(min_occurs=1, nullable=False)


def any_number(kind):
    return kind.customize(min_occurs=0, max_occurs="unbounded")


INDIANA = "http://www.extreme.indiana.edu/wsdl/Benchmark1"


class MeshInterfaceObject(ComplexModel):
    __namespace__ = INDIANA
    _type_info = [("x", one(Integer32)), ("y", one(Integer32)), ("value", one(Double))]


class SimpleEvent(ComplexModel):
    __namespace__ = INDIANA
    _type_info = [("sequenceNumber", one(Integer32)), ("timestamp", one(Double)), ("message", one(Unicode))]


class ArrayOfSimpleEvent(ComplexModel):
    __namespace__ = INDIANA
    _type_info = [("item", any_number(SimpleEvent))]


class Benchmark(ServiceBase):
    @rpc()
    def echoVoid(ctx):
        pass

    @rpc(some(Integer32), _returns=some(Integer32), _out_variable_name="echoIntsReturn")
    def echoInts(ctx, input):
        return input

    @rpc(some(Double), _returns=some(Double), _out_variable_name="echoDoublesReturn")
    def echoDoubles(ctx, input):
        return input

    @rpc(some(Unicode), _returns=some(Unicode), _out_variable_name="echoStringsReturn")
    def echoStrings(ctx, input):
        return input

    @rpc(
        some(MeshInterfaceObject), _returns=some(MeshInterfaceObject), _in_message_name="echoMeshInterfaceObjectsRequest",
        _out_message_name="echoMeshInterfaceObjectsResponse", _out_variable_name="echoMeshInterfaceObjectReturn",
    )
    def echoMeshInterfaceObjects(ctx, input):
        return input

    @rpc(
        one(ArrayOfSimpleEvent), _returns=one(ArrayOfSimpleEvent), _in_message_name="echoSimpleEventsRequest",
        _out_message_name="echoSimpleEventsResponse", _out_variable_name="echoSimpleEventsReturn",
    )
    def echoSimpleEvents(ctx, input):
        return input


WSTEST = "uri:WSTestWeb-TestService"
MOMENT = datetime(2005, 7, 1, 12, tzinfo=timezone.utc)
LINES = 50


class TestStruct(ComplexModel):
    __namespace__ = WSTEST
    _type_info = [("i", one(Integer32)), ("f", Float(min_occurs=1)), ("s", Unicode(min_occurs=1))]


class COfTestStruct(ComplexModel):
    __namespace__ = WSTEST
    _type_info = [("l", some(TestStruct))]


class TestNode(TestStruct):
    __namespace__ = WSTEST
    _type_info = [("Next", SelfReference)]


class Address(ComplexModel):
    __namespace__ = WSTEST
    _type_info = [(name, one(Unicode)) for name in ("FirstName", "LastName", "Address1", "Address2", "City", "State", "Zip")]


class Customer(ComplexModel):
    __namespace__ = WSTEST
    _type_info = [
        ("CustomerId", one(Integer32)),
        ("ContactFirstName", one(Unicode)),
        ("ContactLastName", one(Unicode)),
        ("ContactPhone", one(Unicode)),
        ("LastActivityDate", one(DateTime)),
        ("CreditCardNumber", one(Unicode)),
        ("CreditCardExpirationDate", one(Unicode)),
        ("BillingAddress", one(Address)),
        ("ShippingAddress", one(Address)),
    ]


class LineItem(ComplexModel):
    __namespace__ = WSTEST
    _type_info = [
        ("OrderId", one(Integer32)),
        ("ItemId", one(Integer32)),
        ("ProductId", one(Integer32)),
        ("ProductDescription", one(Unicode)),
        ("OrderQuantity", one(Integer32)),
        ("UnitPrice", one(Float)),
    ]


class COfLineItem(ComplexModel):
    __namespace__ = WSTEST
    _type_info = [("LineItem", any_number(LineItem))]


class Order(ComplexModel):
    __namespace__ = WSTEST
    _type_info = [
        ("OrderId", one(Integer32)),
        ("OrderStatus", one(Integer32)),
        ("OrderDate", one(DateTime)),
        ("OrderTotalAmount", one(Float)),
        ("Customer", one(Customer)),
        ("LineItems", one(COfLineItem)),
    ]


class WSTest(ServiceBase):
    @rpc()
    def EchoVoid(ctx):
        pass

    @rpc(one(COfTestStruct), _returns=one(COfTestStruct), _out_variable_name="EchoStructResult")
    def EchoStruct(ctx, array):
        return array

    @rpc(TestNode, _returns=TestNode, _out_variable_name="EchoListResult")
    def EchoList(ctx, list):
        return list

    @rpc(one(Integer32), one(Integer32), _returns=one(Order), _out_variable_name="GetOrderResult")
    def GetOrder(ctx, orderId, customerId):
        return order(orderId, customerId)


def order(order_id, customer_id):
    def address(use, use_in_last_name):
        return Address(
            FirstName=f"{use} FirstName {customer_id}", LastName=f"{use_in_last_name} LastName {customer_id}",
            Address1=f"{use} StreetAddress {customer_id}", Address2=f"Street Address Line 2 {customer_id}",
            City=f"City {customer_id}", State=f"State {customer_id}", Zip="12345",
        )

    customer = Customer(
        CustomerId=customer_id, ContactFirstName=f"FirstName {customer_id}", ContactLastName=f"LastName {customer_id}",
        ContactPhone="425-882-8080", LastActivityDate=MOMENT, CreditCardNumber="892374389740",
        CreditCardExpirationDate="12/12/2012",
        # "Bil1" with a digit is the benchmark's own.
        BillingAddress=address("Bill", "Bil1"), ShippingAddress=address("Ship", "Ship"),
    )
    description = f"Test Product {customer_id}"
    lines = [
        LineItem(
            OrderId=order_id, ItemId=number, ProductId=number, ProductDescription=description,
            OrderQuantity=1, UnitPrice=5.0,
        )
        for number in range(1, LINES + 1)
    ]
    return Order(
        OrderId=order_id, OrderStatus=1, OrderDate=MOMENT, OrderTotalAmount=50.0, Customer=customer,
        LineItems=COfLineItem(LineItem=lines),
    )


def application(service, namespace):
    return WsgiApplication(Application([service], namespace, in_protocol=Soap11(), out_protocol=Soap11()))


SERVICES = {"/benchmark1": application(Benchmark, INDIANA), "/wstest": application(WSTest, WSTEST)}


def route(environment, start_response):
    service = SERVICES.get(environment["PATH_INFO"])
    if service is None:
        start_response("404 Not Found", [("Content-Length", "0")])
        return []
    return service(environment, start_response)


if __name__ == "__main__":
    # It would tell of each request that waits.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    # One thread: more of them only take turns at the interpreter's lock.
    server = create_server(route, host="127.0.0.1", port=int(sys.argv[1]), threads=1, connection_limit=CONNECTIONS)
    print(f"listening on http://127.0.0.1:{sys.argv[1]}", flush=True)
    server.run()
