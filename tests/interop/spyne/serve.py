"""A SOAP service of Python's spyne, which also writes its contract. For `castile load`.

    python tests/interop/spyne/serve.py PORT

Serves on 127.0.0.1:PORT until it is killed, and prints when it is ready; the contract is at /?wsdl.
"""

import sys
from wsgiref.simple_server import WSGIRequestHandler, make_server

from spyne import Application, ComplexModel, Decimal, Fault, Integer, Iterable, ServiceBase, Unicode, rpc
from spyne.protocol.soap import Soap11
from spyne.server.wsgi import WsgiApplication


class Order(ComplexModel):
    __namespace__ = "urn:castile:orders"
    id = Integer(min_occurs=1)
    customer = Unicode(min_occurs=1)
    total = Decimal(min_occurs=1)


class Orders(ServiceBase):
    @rpc(Integer(min_occurs=1), Unicode(min_occurs=1), _returns=Order)
    def get_order(ctx, id, customer):
        if id < 0:
            raise Fault("Client", f"there is no order {id}")
        return Order(id=id, customer=customer, total=id * 10)

    @rpc(Integer(min_occurs=1), _returns=Iterable(Order))
    def list_orders(ctx, count):
        return [Order(id=number, customer="list", total=1) for number in range(min(count, 100))]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


if __name__ == "__main__":
    application = Application([Orders], "urn:castile:orders", in_protocol=Soap11(validator="lxml"), out_protocol=Soap11())
    server = make_server("127.0.0.1", int(sys.argv[1]), WsgiApplication(application), handler_class=Quiet)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
