// WSpex: what it gets goes back through the types of the contract. getOrder isn't measured, and answered with a fault.

#include <utility>

#include "wspexH.h"

namespace wspex {

int __ns1__echoVoid(soap *, _ns1__echoVoid *, _ns1__echoVoidResponse &) { return SOAP_OK; }

// Its own word for a member that is called return is return_.
#define ECHO(operation, member)                                                                                                \
    int __ns1__##operation(soap *, _ns1__##operation *request, _ns1__##operation##Response &response) {                        \
        response.return_ = std::move(request->member);                                                                         \
        return SOAP_OK;                                                                                                        \
    }

ECHO(echoInteger, params)
ECHO(echoFloat, parameters)
ECHO(echoString, value)
ECHO(echoDate, parameters)
ECHO(echoStruct, parameters)
ECHO(echoSynthetic, s)
ECHO(echoArray, items)

int __ns1__echoOrder(soap *, _ns1__EchoOrderRequest *request, _ns1__EchoOrderResponse &response) {
    response.echoOrderResponse = request->echoOrderRequest;
    return SOAP_OK;
}

int __ns1__getOrder(soap *soap, _ns1__getOrder *, _ns1__getOrderResponse &) {
    return soap_receiver_fault(soap, "getOrder is not measured", nullptr);
}

} // namespace wspex
