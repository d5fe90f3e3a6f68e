// WSTest 1.1: echoes, and an order that is made up anew for each request.

#include <string>

#include "wstestH.h"

namespace wstest {

namespace {

const int LINES = 50;
// 2005-07-01T12:00:00Z.
const time_t MOMENT = 1120219200;

ns1__Address *address(soap *soap, const std::string &use, const std::string &use_in_last_name, const std::string &customer) {
    ns1__Address *address = soap_new_ns1__Address(soap, -1);
    address->FirstName = use + " FirstName " + customer;
    address->LastName = use_in_last_name + " LastName " + customer;
    address->Address1 = use + " StreetAddress " + customer;
    address->Address2 = "Street Address Line 2 " + customer;
    address->City = "City " + customer;
    address->State = "State " + customer;
    address->Zip = "12345";
    return address;
}

ns1__Customer *customer(soap *soap, int id) {
    std::string number = std::to_string(id);
    ns1__Customer *customer = soap_new_ns1__Customer(soap, -1);
    customer->CustomerId = id;
    customer->ContactFirstName = "FirstName " + number;
    customer->ContactLastName = "LastName " + number;
    customer->ContactPhone = "425-882-8080";
    customer->LastActivityDate = MOMENT;
    customer->CreditCardNumber = "892374389740";
    customer->CreditCardExpirationDate = "12/12/2012";
    // "Bil1" with a digit is the benchmark's own.
    customer->BillingAddress = address(soap, "Bill", "Bil1", number);
    customer->ShippingAddress = address(soap, "Ship", "Ship", number);
    return customer;
}

} // namespace

int __ns1__EchoVoid(soap *, _ns1__EchoVoid *, _ns1__EchoVoidResponse &) { return SOAP_OK; }

int __ns1__EchoStruct(soap *, _ns1__EchoStruct *request, _ns1__EchoStructResponse &response) {
    response.EchoStructResult = request->array;
    return SOAP_OK;
}

int __ns1__EchoList(soap *, _ns1__EchoList *request, _ns1__EchoListResponse &response) {
    response.EchoListResult = request->list;
    return SOAP_OK;
}

int __ns1__GetOrder(soap *soap, _ns1__GetOrder *request, _ns1__GetOrderResponse &response) {
    std::string description = "Test Product " + std::to_string(request->customerId);
    ns1__COfLineItem *lines = soap_new_ns1__COfLineItem(soap, -1);
    lines->LineItem.reserve(LINES);
    for (int number = 1; number <= LINES; ++number) {
        ns1__LineItem *line = soap_new_ns1__LineItem(soap, -1);
        line->OrderId = request->orderId;
        line->ItemId = number;
        line->ProductId = number;
        line->ProductDescription = description;
        line->OrderQuantity = 1;
        line->UnitPrice = 5;
        lines->LineItem.push_back(line);
    }
    ns1__Order *order = soap_new_ns1__Order(soap, -1);
    order->OrderId = request->orderId;
    order->OrderStatus = 1;
    order->OrderDate = MOMENT;
    order->OrderTotalAmount = 50;
    order->Customer = customer(soap, request->customerId);
    order->LineItems = lines;
    response.GetOrderResult = order;
    return SOAP_OK;
}

} // namespace wstest
