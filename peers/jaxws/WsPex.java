package peer;

import jakarta.jws.WebService;
import javax.xml.datatype.XMLGregorianCalendar;
import peer.wspex.*;

/** WSpex: echoes, and an order that is made up anew for each request. */
@WebService(endpointInterface = "peer.wspex.TestService", targetNamespace = "urn:wspex:TestService", serviceName = "WSpex",
    portName = "TestService")
public final class WsPex implements TestService {
    private static final int LINES = 50;
    private static final XMLGregorianCalendar MOMENT = Moment.of("2005-03-29T11:11:11");

    @Override public void echoVoid() {}

    @Override public int echoInteger(int params) { return params; }

    @Override public float echoFloat(float parameters) { return parameters; }

    @Override public String echoString(String value) { return value; }

    @Override public XMLGregorianCalendar echoDate(XMLGregorianCalendar parameters) { return parameters; }

    @Override public Struct echoStruct(Struct parameters) { return parameters; }

    @Override public Synthetic echoSynthetic(Synthetic s) { return s; }

    @Override public ItemArrayType echoArray(ItemArrayType items) { return items; }

    @Override public EchoOrderResponse echoOrder(EchoOrderRequest request) {
        EchoOrderResponse response = new EchoOrderResponse();
        response.setEchoOrderResponse(request.getEchoOrderRequest());
        return response;
    }

    @Override public Order getOrder(int orderId, int customerId) {
        Customer customer = new Customer();
        customer.setCustomerId(customerId);
        customer.setContactFirstName("FirstName 1");
        customer.setContactLastName("LastName 1");
        customer.setContactPhone("1");
        customer.setLastActivityDate(MOMENT);
        customer.setCreditCardNumber("1");
        customer.setCreditCardExpirationDate("1");
        customer.setBillingAddress(address("Bill"));
        customer.setShippingAddress(address("Ship"));
        ArrayOfLineItem lines = new ArrayOfLineItem();
        for (int number = 0; number < LINES; number++) {
            LineItem line = new LineItem();
            line.setOrderId(orderId);
            line.setItemId(number + 1);
            line.setProductId(number);
            line.setProductDescription("Test Product " + number);
            line.setOrderQuantity(1);
            line.setUnitPrice(1);
            lines.getLineItem().add(line);
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

    private static Address address(String use) {
        Address address = new Address();
        address.setFirstName(use + " FirstName 1");
        address.setLastName(use + " LastName 1");
        // The benchmark's own spelling.
        address.setAddress1(use + " StreetAddres 1");
        address.setAddress2("Street Address Line 2 1");
        address.setCity("City 1");
        address.setState("State 1");
        address.setZip("12345");
        return address;
    }
}
