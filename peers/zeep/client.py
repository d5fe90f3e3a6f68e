"""zeep as a client: client.py URL CASE. For each line of standard input, which is a number, so many calls over one connection;
then a line with the items of the answers."""

import sys

import zeep

STRUCTS = 100
LINES = 50


def main(url, case):
    client = zeep.Client(f"{url}?wsdl")
    call = {"EchoVoid": echo_void, "EchoStruct100": echo_struct, "GetOrder": get_order}[case](client)
    for line in sys.stdin:
        print(sum(call() for _ in range(int(line))), flush=True)


def echo_void(client):
    def call():
        expect(client.service.EchoVoid() is None, "nothing")
        return 0

    return call


def echo_struct(client):
    struct = client.get_type("{uri:WSTestWeb-TestService}TestStruct")
    array = client.get_type("{uri:WSTestWeb-TestService}COfTestStruct")
    sent = array(l=[struct(i=number, f=float(number), s="wstest") for number in range(1, STRUCTS + 1)])

    def call():
        found = client.service.EchoStruct(sent)
        expect(len(found) == STRUCTS, "100 structs")
        for place in (0, -1):
            one, other = sent.l[place], found[place]
            expect((one.i, one.f, one.s) == (other.i, other.f, other.s), "the struct that was sent")
        return len(found)

    return call


def get_order(client):
    def call():
        order = client.service.GetOrder(1, 2)
        lines = order.LineItems.LineItem
        expect((order.OrderId, order.Customer.CustomerId) == (1, 2), "order 1 of customer 2")
        expect(len(lines) == LINES, "50 lines")
        for number in (1, LINES):
            line = lines[number - 1]
            found = (line.ItemId, line.UnitPrice, line.ProductDescription)
            expect(found == (number, 5, "Test Product 2"), "the line of this number")
        return len(lines)

    return call


def expect(right, what):
    if not right:
        sys.exit(f"the answer is not as expected: {what}")


if __name__ == "__main__":
    main(*sys.argv[1:])
