package peer;

import java.util.Calendar;
import peer.wstest.*;

/** WSTest 1.1: echoes, and an order that is made up anew for each request. */
public final class WsTest implements TestServiceSoap_PortType {
    private static final int LINES = 50;
    // 2005-07-01T12:00:00Z.
    private static final Calendar MOMENT = Moment.of(1120219200000L);

    @Override public EchoVoidResponse echoVoid(EchoVoid request) { return new EchoVoidResponse(); }

    @Override public EchoStructResponse echoStruct(EchoStruct request) { return new EchoStructResponse(request.getArray()); }

    @Override public EchoListResponse echoList(EchoList request) { return new EchoListResponse(request.getList()); }

    @Override public GetOrderResponse getOrder(GetOrder request) {
        return new GetOrderResponse(order(request.getOrderId(), request.getCustomerId()));
    }

    private static Order order(int orderId, int customerId) {
        Customer customer = new Customer();
        customer.setCustomerId(customerId);
        customer.setContactFirstName("FirstName " + customerId);
        customer.setContactLastName("LastName " + customerId);
        customer.setContactPhone("425-882-8080");
        customer.setLastActivityDate(MOMENT);
        customer.setCreditCardNumber("892374389740");
        customer.setCreditCardExpirationDate("12/12/2012");
        // "Bil1" with a digit is the benchmark's own.
        customer.setBillingAddress(address("Bill", "Bil1", customerId));
        customer.setShippingAddress(address("Ship", "Ship", customerId));
        String description = "Test Product " + customerId;
        LineItem[] lines = new LineItem[LINES];
        for (int index = 0; index < LINES; index++) {
            LineItem line = new LineItem();
            line.setOrderId(orderId);
            line.setItemId(index + 1);
            line.setProductId(index + 1);
            line.setProductDescription(description);
            line.setOrderQuantity(1);
            line.setUnitPrice(5);
            lines[index] = line;
        }
        Order order = new Order();
        order.setOrderId(orderId);
        order.setOrderStatus(1);
        order.setOrderDate(MOMENT);
        order.setOrderTotalAmount(50);
        order.setCustomer(customer);
        order.setLineItems(lines);
        return order;
    }

    private static Address address(String use, String useInLastName, int customerId) {
        Address address = new Address();
        address.setFirstName(use + " FirstName " + customerId);
        address.setLastName(useInLastName + " LastName " + customerId);
        address.setAddress1(use + " StreetAddress " + customerId);
        address.setAddress2("Street Address Line 2 " + customerId);
        address.setCity("City " + customerId);
        address.setState("State " + customerId);
        address.setZip("12345");
        return address;
    }
}
