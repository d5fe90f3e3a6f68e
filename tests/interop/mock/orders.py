"""Places, gets, lists and cancels orders with zeep, on a service that `castile mock` serves.

    python tests/interop/mock/orders.py URL
"""

import sys

import zeep


def refused(call):
    try:
        call()
    except zeep.exceptions.Fault as fault:
        return fault
    raise AssertionError("found a response, expected a fault")


def main():
    service = zeep.Client(sys.argv[1] + "/orders?wsdl").service
    assert not service.ListOrders()
    items = [{"name": "tea", "quantity": 2}, {"name": "<milk>", "quantity": 1}]
    first = service.Place(order={"customer": "Ann & Bob", "item": items, "priority": "high"})
    second = service.Place(order={"customer": "Eve"})
    assert first != second
    order = service.GetOrder(number=first)
    assert order.customer == "Ann & Bob" and order.number == first, order
    assert [(item.name, item.quantity) for item in order.item] == [("tea", 2), ("<milk>", 1)], order
    service.Cancel(number=first)
    assert [order.customer for order in service.ListOrders()] == ["Eve"]
    fault = refused(lambda: service.GetOrder(number=first))
    assert fault.message == f"no order {first}" and fault.detail[0][0].text == first, fault
    print("zeep: 7 calls")


main()
