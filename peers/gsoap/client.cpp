// gSOAP's generated client: client URL CASE. For each line of standard input, which is a number, so many calls over one connection;
// then a line with the items of the answers.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "wstest.nsmap"
#include "wstestH.h"

namespace wstest {

namespace {

const size_t STRUCTS = 100;
const size_t LINES = 50;

// What of a request is not sent yet: gSOAP hands over a chunked request in four pieces, which are to leave in one. They do when
// the answer is waited for.
std::string joined;

int join(soap *, const char *piece, size_t length) {
    joined.append(piece, length);
    return SOAP_OK;
}

size_t (*receive)(soap *, char *, size_t);

size_t flush_and_receive(soap *soap, char *buffer, size_t length) {
    for (size_t sent = 0; sent < joined.size();) {
        ssize_t more = send(soap->socket, joined.data() + sent, joined.size() - sent, MSG_NOSIGNAL);
        if (more <= 0) {
            break;
        }
        sent += static_cast<size_t>(more);
    }
    joined.clear();
    return receive(soap, buffer, length);
}

[[noreturn]] void fail(soap *soap, const char *what) {
    std::fprintf(stderr, "expected %s\n", what);
    soap_print_fault(soap, stderr);
    std::exit(EXIT_FAILURE);
}

void expect(soap *soap, bool right, const char *what) {
    if (!right) {
        fail(soap, what);
    }
}

size_t echo_void(soap *soap, const char *url) {
    _ns1__EchoVoid request;
    _ns1__EchoVoidResponse response;
    expect(soap, soap_call___ns1__EchoVoid(soap, url, nullptr, &request, response) == SOAP_OK, "an answer");
    return 0;
}

// What is sent each time; it lives as long as the process, so it isn't the run time's.
_ns1__EchoStruct hundred_structs() {
    ns1__COfTestStruct *array = new ns1__COfTestStruct;
    for (size_t number = 1; number <= STRUCTS; ++number) {
        ns1__TestStruct *one = new ns1__TestStruct;
        one->i = static_cast<int>(number);
        one->f = new float(static_cast<float>(number));
        one->s = new std::string("wstest");
        array->l.push_back(one);
    }
    _ns1__EchoStruct request;
    request.array = array;
    return request;
}

size_t echo_struct(soap *soap, const char *url, _ns1__EchoStruct *request) {
    _ns1__EchoStructResponse response;
    expect(soap, soap_call___ns1__EchoStruct(soap, url, nullptr, request, response) == SOAP_OK, "an answer");
    const auto &sent = request->array->l;
    const auto &found = response.EchoStructResult->l;
    expect(soap, found.size() == STRUCTS, "100 structs");
    for (size_t place : {size_t(0), STRUCTS - 1}) {
        bool same = found[place]->i == sent[place]->i && *found[place]->f == *sent[place]->f && *found[place]->s == *sent[place]->s;
        expect(soap, same, "the struct that was sent");
    }
    return found.size();
}

size_t get_order(soap *soap, const char *url) {
    _ns1__GetOrder request;
    request.orderId = 1;
    request.customerId = 2;
    _ns1__GetOrderResponse response;
    expect(soap, soap_call___ns1__GetOrder(soap, url, nullptr, &request, response) == SOAP_OK, "an answer");
    const ns1__Order *order = response.GetOrderResult;
    expect(soap, order->OrderId == 1 && order->Customer->CustomerId == 2, "order 1 of customer 2");
    const auto &lines = order->LineItems->LineItem;
    expect(soap, lines.size() == LINES, "50 lines");
    for (size_t number : {size_t(1), LINES}) {
        const ns1__LineItem *line = lines[number - 1];
        bool same = line->ItemId == static_cast<int>(number) && line->UnitPrice == 5 && line->ProductDescription == "Test Product 2";
        expect(soap, same, "the line of this number");
    }
    return lines.size();
}

std::function<size_t(soap *, const char *)> call_of(const std::string &name) {
    if (name == "EchoVoid") {
        return echo_void;
    }
    if (name == "EchoStruct100") {
        _ns1__EchoStruct request = hundred_structs();
        return [request](soap *soap, const char *url) mutable { return echo_struct(soap, url, &request); };
    }
    if (name == "GetOrder") {
        return get_order;
    }
    std::cerr << "no client calls " << name << '\n';
    std::exit(EXIT_FAILURE);
}

} // namespace

void run(const char *url, const std::string &name) {
    auto call = call_of(name);
    // No references between elements are looked for or written, and requests go out while they are made.
    soap *soap = soap_new2(SOAP_IO_KEEPALIVE | SOAP_XML_TREE, SOAP_IO_KEEPALIVE | SOAP_IO_CHUNK | SOAP_XML_TREE);
    soap_set_namespaces(soap, wstest_namespaces);
    // As many requests as there are.
    soap->max_keep_alive = 0;
    soap->fsend = join;
    receive = soap->frecv;
    soap->frecv = flush_and_receive;
    for (size_t calls; std::cin >> calls;) {
        size_t items = 0;
        for (; calls > 0; --calls) {
            items += call(soap, url);
            soap_destroy(soap);
            soap_end(soap);
        }
        std::cout << items << std::endl;
    }
}

} // namespace wstest

int main(int, char **arguments) { wstest::run(arguments[1], arguments[2]); }
