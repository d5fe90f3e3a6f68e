import castile.everything.Amount;
import castile.everything.Circle;
import castile.everything.DivideDivisionByZeroFault;
import castile.everything.Everything;
import castile.everything.Everything_Service;
import castile.everything.Line;
import castile.everything.Order;
import castile.everything.Payment;
import castile.everything.Session;
import castile.everything.Shape;
import castile.everything.Square;
import castile.everything.Status;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Holder;
import jakarta.xml.ws.WebServiceException;
import jakarta.xml.ws.soap.MTOMFeature;
import java.math.BigDecimal;
import java.net.URI;
import java.util.Arrays;
import java.util.List;
import java.util.logging.LogManager;
import javax.xml.datatype.DatatypeFactory;
import javax.xml.datatype.XMLGregorianCalendar;

/** Calls every operation through the classes that CXF's wsdl2java made, at the URL that is the argument. */
public final class Calls extends Cases {
    private static final int LONG = 10_000;
    private final Everything port;
    private final Everything optimised;
    private final String type;
    private final XMLGregorianCalendar at = DatatypeFactory.newInstance().newXMLGregorianCalendar("2026-01-02T00:00:00Z");

    private Calls(String version, Everything port, Everything optimised) throws Exception {
        super(version);
        this.port = port;
        this.optimised = optimised;
        type = version.equals("12") ? "application/soap+xml" : "text/xml";
        // SOAP 1.2 (Part 2 §7.5.2.2) has faults of the sender with the status 400, in which CXF looks for none unless it is told to.
        ((BindingProvider) port).getRequestContext().put("org.apache.cxf.transport.process_fault_on_http_400", true);
    }

    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        Everything_Service service = new Everything_Service(URI.create(arguments[0] + "?wsdl").toURL());
        MTOMFeature mtom = new MTOMFeature();
        new Calls("11", service.getEverythingSoap(), service.getEverythingSoap(mtom)).all();
        new Calls("12", service.getEverythingSoap12(), service.getEverythingSoap12(mtom)).all();
        // Threads of the transport would keep the program running.
        System.exit(0);
    }

    private void all() {
        tell("echoOrder", this::order);
        tell("echoOrder of little", this::littleOrder);
        tell("echoShapes", this::shapes);
        tell("echoBytes", () -> equal(port.echoBytes(BYTES, at), BYTES));
        tell("echoBytes by MTOM", this::mtom);
        tell("divide", () -> equal(port.divide(1, 4), 0.25));
        tell("divide by zero", () -> {
            DivideDivisionByZeroFault fault = fault(DivideDivisionByZeroFault.class, () -> port.divide(3, 0));
            equal(contentType(port).contains(type), true);
            equal(fault.getMessage(), "nothing is divided by zero");
            equal(fault.getFaultInfo().getDividend(), 3);
        });
        tell("key", () -> {
            Session session = new Session();
            session.setKey("sesame");
            equal(port.key(session), "sesame");
        });
        tell("key without session", () -> equal(port.key(null), null));
        tell("echoLine", () -> {
            Line found = echo("ABC-1", List.of());
            equal(found.getSku(), "ABC-1");
            equal(found.getPrice(), PRICE);
            equal(found.getSizes(), List.of(1, 2));
            equal(found.getPart(), List.of());
        });
        tell("echoLine with a part", () -> {
            Line found = echo("ABC-1", List.of(line("XYZ-9")));
            equal(found.getSku(), "ABC-1");
            equal(found.getPart().size(), 1);
            equal(found.getPart().get(0).getSku(), "XYZ-9");
        });
        tell("echoLine of a wrong sku", () -> {
            String text = fault(WebServiceException.class, () -> echo("wrong", List.of())).getMessage();
            equal(text.contains(PATTERN), true);
        });
        tell("ping", () -> port.ping());
        tell("notify", () -> {
            port.notify("notice " + type);
            equal(first(port::lastNotice), "notice " + type);
        });
    }

    private void order() throws Exception {
        Order order = new Order();
        order.setNumber(7);
        order.setCurrency("USD");
        order.setCustomer("Ann & Co");
        order.setWhen(DatatypeFactory.newInstance().newXMLGregorianCalendar("2026-02-03"));
        Line second = new Line();
        second.setSku("XYZ-9");
        second.setPrice(PRICE);
        second.getPart().add(line("ABC-1"));
        order.getLine().addAll(List.of(line("ABC-1"), second));
        order.setTags(new Order.Tags());
        order.getTags().getTag().addAll(List.of("a", "b"));
        order.setStatus(Status.SENT);
        Amount amount = new Amount();
        amount.setValue(new BigDecimal("12"));
        amount.setUnit("EUR");
        order.setPayment(new Payment());
        order.getPayment().setInvoice(amount);

        Order found = port.echoOrder(order);
        equal(found.getNumber(), 7L);
        equal(found.getCurrency(), "USD");
        equal(found.getCustomer(), "Ann & Co");
        equal(found.getWhen().toXMLFormat(), "2026-02-03");
        equal(found.getLine().stream().map(Line::getSku).toList(), List.of("ABC-1", "XYZ-9"));
        equal(found.getLine().get(0).getPrice(), PRICE);
        equal(found.getLine().get(1).getSizes(), List.of());
        equal(found.getLine().get(1).getPart().get(0).getSizes(), List.of(1, 2));
        equal(found.getTags().getTag(), List.of("a", "b"));
        equal(found.getNote(), null);
        equal(found.getStatus(), Status.SENT);
        equal(found.getPayment().getCard(), null);
        equal(found.getPayment().getInvoice().getValue(), new BigDecimal("12"));
        equal(found.getPayment().getInvoice().getUnit(), "EUR");
    }

    private void littleOrder() {
        Order order = new Order();
        order.setNumber(1);
        order.setCustomer("");
        order.setTags(new Order.Tags());
        order.setNote("soon");
        order.setStatus(Status.NEW);
        order.setPayment(new Payment());
        order.getPayment().setCard("4711");

        Order found = port.echoOrder(order);
        equal(found.getNumber(), 1L);
        equal(found.getCurrency(), "EUR");
        equal(found.getCustomer(), "");
        equal(found.getWhen(), null);
        equal(found.getLine(), List.of());
        equal(found.getTags().getTag(), List.of());
        equal(found.getNote(), "soon");
        equal(found.getStatus(), Status.NEW);
        equal(found.getPayment().getCard(), "4711");
        equal(found.getPayment().getInvoice(), null);
    }

    private void shapes() {
        Circle circle = new Circle();
        circle.setLabel("c");
        circle.setRadius(1.5);
        Square square = new Square();
        square.setSide(2);
        Shape shape = new Shape();
        shape.setLabel("s");
        var found = port.echoShapes(List.of(circle, square, shape));
        equal(found.size(), 3);
        equal(((Circle) found.get(0)).getRadius(), 1.5);
        equal(((Square) found.get(1)).getSide(), 2);
        equal(found.get(0).getLabel(), "c");
        equal(found.get(2).getClass(), Shape.class);
        equal(found.get(2).getLabel(), "s");
    }

    private void mtom() {
        byte[] bytes = new byte[LONG];
        Arrays.fill(bytes, (byte) 7);
        equal(optimised.echoBytes(bytes, at), bytes);
        equal(contentType(optimised).contains("application/xop+xml"), true);
        equal(contentType(optimised).contains(type), true);
    }

    private static String contentType(Everything port) {
        return ((BindingProvider) port).getResponseContext().get("Content-Type").toString();
    }

    private static Line line(String sku) {
        Line line = new Line();
        line.setSku(sku);
        line.setPrice(PRICE);
        line.getSizes().addAll(List.of(1, 2));
        return line;
    }

    /** A line as it comes back: CXF takes the message for a wrapper, and its elements for parameters. */
    private Line echo(String sku, List<Line> parts) {
        Line line = line(sku);
        var code = new Holder<>(line.getSku());
        var price = new Holder<>(line.getPrice());
        var sizes = new Holder<>(line.getSizes());
        var part = new Holder<>(parts);
        port.echoLine(code, price, sizes, part);
        Line found = new Line();
        found.setSku(code.value);
        found.setPrice(price.value);
        found.getSizes().addAll(sizes.value);
        if (part.value != null) {
            found.getPart().addAll(part.value);
        }
        return found;
    }
}
