// Benchmark1: what it gets goes back through the types of the contract. What isn't measured is answered with a fault.

#include "benchmark1H.h"

namespace benchmark1 {

int __ns1__echoVoid(soap *, _ns1__echoVoid *, _ns1__echoVoidResponse &) { return SOAP_OK; }

int __ns1__echoStrings(soap *, _ns1__echoStrings *request, _ns1__echoStringsResponse &response) {
    response.echoStringsReturn.swap(request->input);
    return SOAP_OK;
}

int __ns1__echoInts(soap *, _ns1__echoInts *request, _ns1__echoIntsResponse &response) {
    response.echoIntsReturn.swap(request->input);
    return SOAP_OK;
}

int __ns1__echoDoubles(soap *, _ns1__echoDoubles *request, _ns1__echoDoublesResponse &response) {
    response.echoDoublesReturn.swap(request->input);
    return SOAP_OK;
}

int __ns1__echoMeshInterfaceObjects(soap *, _ns1__echoMeshInterfaceObjectsRequest *request,
                                    _ns1__echoMeshInterfaceObjectsResponse &response) {
    response.echoMeshInterfaceObjectReturn.swap(request->input);
    return SOAP_OK;
}

int __ns1__echoSimpleEvents(soap *, _ns1__echoSimpleEventsRequest *request, _ns1__echoSimpleEventsResponse &response) {
    response.echoSimpleEventsReturn = request->input;
    return SOAP_OK;
}

#define NOT_MEASURED(operation, request, response)                                                                             \
    int __ns1__##operation(soap *soap, _ns1__##request *, _ns1__##response &) {                                                \
        return soap_receiver_fault(soap, #operation " is not measured", nullptr);                                              \
    }

NOT_MEASURED(echoBase64, echoBase64, echoBase64Response)
NOT_MEASURED(receiveBase64, receiveBase64, receiveBase64Response)
NOT_MEASURED(receiveStrings, receiveStrings, receiveStringsResponse)
NOT_MEASURED(receiveInts, receiveInts, receiveIntsResponse)
NOT_MEASURED(receiveDoubles, receiveDoubles, receiveDoublesResponse)
NOT_MEASURED(receiveMeshInterfaceObjects, receiveMeshInterfaceObjectsRequest, receiveMeshInterfaceObjectsResponse)
NOT_MEASURED(receiveSimpleEvents, receiveSimpleEventsRequest, receiveSimpleEventsResponse)
NOT_MEASURED(sendBase64, sendBase64, sendBase64Response)
NOT_MEASURED(sendStrings, sendStrings, sendStringsResponse)
NOT_MEASURED(sendInts, sendInts, sendIntsResponse)
NOT_MEASURED(sendDoubles, sendDoubles, sendDoublesResponse)
NOT_MEASURED(sendMeshInterfaceObjects, sendMeshInterfaceObjectsRequest, sendMeshInterfaceObjectsResponse)
NOT_MEASURED(sendSimpleEvents, sendSimpleEventsRequest, sendSimpleEventsResponse)

} // namespace benchmark1
