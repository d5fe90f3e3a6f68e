package peer;

import jakarta.xml.ws.BindingProvider;
import java.net.URI;
import java.util.List;
import peer.wstest.*;

/** The client that JAX-WS makes of the contract of WSTest: URL CASE. */
public final class Client {
    private static final int STRUCTS = 100;
    private static final int LINES = 50;

    private Client() {}

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0];
        TestServiceSoap port = new TestService(URI.create(url + "?wsdl").toURL()).getTestServiceSoap();
        ((BindingProvider) port).getRequestContext().put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, url);
        Calls.Call call = switch (arguments[1]) {
            case "EchoVoid" -> () -> {
                port.echoVoid();
                return 0;
            };
            case "EchoStruct100" -> {
                COfTestStruct array = array();
                yield () -> structs(array.getL(), port.echoStruct(array).getL());
            }
            case "GetOrder" -> () -> lines(port.getOrder(1, 2));
            default -> throw new IllegalArgumentException("no client calls " + arguments[1]);
        };
        Calls.run(call);
        // What a stack keeps running would keep the process.
        System.exit(0);
    }

    private static COfTestStruct array() {
        COfTestStruct array = new COfTestStruct();
        for (int number = 1; number <= STRUCTS; number++) {
            TestStruct struct = new TestStruct();
            struct.setI(number);
            struct.setF((float) number);
            struct.setS("wstest");
            array.getL().add(struct);
        }
        return array;
    }

    private static int structs(List<TestStruct> sent, List<TestStruct> found) throws Exception {
        Calls.expect(found.size() == STRUCTS, "100 structs");
        for (int place : new int[] {0, STRUCTS - 1}) {
            TestStruct one = sent.get(place);
            TestStruct other = found.get(place);
            boolean same = one.getI() == other.getI() && one.getF().equals(other.getF()) && one.getS().equals(other.getS());
            Calls.expect(same, "the struct that was sent");
        }
        return found.size();
    }

    private static int lines(Order order) throws Exception {
        List<LineItem> lines = order.getLineItems().getLineItem();
        Calls.expect(order.getOrderId() == 1 && order.getCustomer().getCustomerId() == 2, "order 1 of customer 2");
        Calls.expect(lines.size() == LINES, "50 lines");
        for (int number : new int[] {1, LINES}) {
            LineItem line = lines.get(number - 1);
            boolean same = line.getItemId() == number && line.getUnitPrice() == 5 && line.getProductDescription().equals("Test Product 2");
            Calls.expect(same, "the line of this number");
        }
        return lines.size();
    }
}
