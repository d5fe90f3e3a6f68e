import castile.everything.Amount;
import castile.everything.Circle;
import castile.everything.DivisionByZero;
import castile.everything.EverythingSoapStub;
import castile.everything.Everything_ServiceLocator;
import castile.everything.Line;
import castile.everything.Order;
import castile.everything.Payment;
import castile.everything.Shape;
import castile.everything.Square;
import castile.everything.Status;
import castile.everything.holders.LineArrayHolder;
import castile.everything.holders.LineSizesHolder;
import java.math.BigDecimal;
import java.net.URI;
import java.net.URL;
import java.text.SimpleDateFormat;
import java.time.ZonedDateTime;
import java.util.Calendar;
import java.util.GregorianCalendar;
import java.util.TimeZone;
import java.util.logging.LogManager;
import javax.xml.rpc.holders.BigDecimalHolder;
import javax.xml.rpc.holders.StringHolder;
import org.apache.axis.AxisFault;
import org.apache.axis.client.Call;
import org.apache.axis.message.SOAPHeaderElement;
import org.apache.axis.soap.SOAPConstants;
import org.apache.axis.types.UnsignedInt;

/** Calls every operation through the stubs that Axis's WSDL2Java made, at the URL that is the argument. */
public final class Calls extends Cases {
    private static final int[] SIZES = {1, 2};
    private final EverythingSoapStub port;
    private final String envelope;
    private final Calendar at = GregorianCalendar.from(ZonedDateTime.parse("2026-01-02T00:00:00Z"));

    private Calls(String version, SOAPConstants constants, EverythingSoapStub port) {
        super(version);
        envelope = constants.getEnvelopeURI();
        this.port = port;
    }

    public static void main(String[] arguments) throws Exception {
        // What goes wrong is told, and Axis would log it as well.
        LogManager.getLogManager().reset();
        URL url = URI.create(arguments[0]).toURL();
        new Calls("11", SOAPConstants.SOAP11_CONSTANTS, new EverythingSoapStub(url, new Everything_ServiceLocator())).all();
        new Calls("12", SOAPConstants.SOAP12_CONSTANTS, new EverythingSoapStub(url, new Service12())).all();
    }

    /** Calls with SOAP 1.2, for which Axis generates no stub. */
    private static final class Service12 extends Everything_ServiceLocator {
        @Override
        public javax.xml.rpc.Call createCall() {
            return new Call(this) {
                @Override
                public void setSOAPVersion(SOAPConstants ignored) {
                    super.setSOAPVersion(SOAPConstants.SOAP12_CONSTANTS);
                }
            };
        }
    }

    private void all() {
        tell("echoOrder", this::order);
        tell("echoOrder of little", this::littleOrder);
        tell("echoShapes", this::shapes);
        tell("echoBytes", () -> equal(port.echoBytes(BYTES, at), BYTES));
        tell("divide", () -> equal(port.divide(1, 4), 0.25));
        tell("divide by zero", () -> {
            DivisionByZero fault = fault(DivisionByZero.class, () -> port.divide(3, 0));
            equal(fault.getFaultCode().getNamespaceURI(), envelope);
            equal(fault.getFaultString(), "nothing is divided by zero");
            equal(fault.getDividend(), 3);
        });
        tell("key", () -> {
            SOAPHeaderElement session = new SOAPHeaderElement(OWN, "session");
            // By itself Axis writes the role `next` of SOAP 1.1 in SOAP 1.2 as well, where it is nobody's.
            session.setActor(null);
            session.addChildElement("key", "", OWN).addTextNode("sesame");
            port.setHeader(session);
            try {
                equal(port.key(), "sesame");
            } finally {
                port.clearHeaders();
            }
        });
        tell("key without session", () -> equal(port.key(), null));
        tell("echoLine", () -> {
            Line found = echo("ABC-1", null);
            equal(found.getSku(), "ABC-1");
            equal(found.getPrice(), PRICE);
            equal(found.getSizes(), SIZES);
            equal(found.getPart(), null);
        });
        tell("echoLine with a part", () -> {
            Line found = echo("ABC-1", new Line[] {line("XYZ-9")});
            equal(found.getSku(), "ABC-1");
            equal(found.getPart().length, 1);
            equal(found.getPart(0).getSku(), "XYZ-9");
        });
        tell("echoLine of a wrong sku", () -> {
            String text = fault(AxisFault.class, () -> echo("wrong", null)).getFaultString();
            equal(text.contains(PATTERN), true);
        });
        tell("ping", port::ping);
        tell("notify", () -> {
            port.notify("notice " + envelope);
            equal(first(port::lastNotice), "notice " + envelope);
        });
    }

    private void order() throws Exception {
        Line second = line("XYZ-9");
        second.setSizes(null);
        second.setPart(new Line[] {line("ABC-1")});
        Order order = new Order();
        order.setNumber(new UnsignedInt(7));
        order.setCurrency("USD");
        order.setCustomer("Ann & Co");
        order.setWhen(date().parse("2026-02-03"));
        order.setLine(new Line[] {line("ABC-1"), second});
        order.setTags(new String[] {"a", "b"});
        order.setStatus(Status.Sent);
        Amount amount = new Amount("12");
        amount.setUnit("EUR");
        order.setPayment(new Payment(null, amount));

        Order found = port.echoOrder(order);
        equal(found.getNumber(), new UnsignedInt(7));
        equal(found.getCurrency(), "USD");
        equal(found.getCustomer(), "Ann & Co");
        equal(date().format(found.getWhen()), "2026-02-03");
        equal(found.getLine().length, 2);
        equal(found.getLine(0).getSku(), "ABC-1");
        equal(found.getLine(0).getPrice(), PRICE);
        equal(found.getLine(1).getSku(), "XYZ-9");
        equal(found.getLine(1).getSizes(), null);
        equal(found.getLine(1).getPart(0).getSizes(), SIZES);
        equal(found.getTags(), new String[] {"a", "b"});
        equal(found.getNote(), null);
        equal(found.getStatus(), Status.Sent);
        equal(found.getPayment().getCard(), null);
        equal(found.getPayment().getInvoice().get_value(), new BigDecimal("12"));
        equal(found.getPayment().getInvoice().getUnit(), "EUR");
    }

    private void littleOrder() throws Exception {
        Order order = new Order();
        order.setNumber(new UnsignedInt(1));
        order.setCustomer("");
        order.setTags(new String[0]);
        order.setNote("soon");
        order.setStatus(Status.New);
        order.setPayment(new Payment("4711", null));

        Order found = port.echoOrder(order);
        equal(found.getNumber(), new UnsignedInt(1));
        equal(found.getCurrency(), "EUR");
        equal(found.getCustomer(), "");
        equal(found.getWhen(), null);
        equal(found.getLine(), null);
        equal(found.getTags(), new String[0]);
        equal(found.getNote(), "soon");
        equal(found.getStatus(), Status.New);
        equal(found.getPayment().getCard(), "4711");
        equal(found.getPayment().getInvoice(), null);
    }

    private void shapes() throws Exception {
        Shape[] found = port.echoShapes(new Shape[] {new Circle("c", 1.5), new Square(null, 2), new Shape("s")});
        equal(found.length, 3);
        equal(((Circle) found[0]).getRadius(), 1.5);
        equal(found[0].getLabel(), "c");
        equal(((Square) found[1]).getSide(), 2);
        equal(found[2].getClass(), Shape.class);
        equal(found[2].getLabel(), "s");
    }

    private static Line line(String sku) {
        return new Line(sku, PRICE, SIZES, null);
    }

    /** A line as it comes back: Axis takes the message for a wrapper, and its elements for parameters. */
    private Line echo(String sku, Line[] parts) throws Exception {
        var code = new StringHolder(sku);
        var price = new BigDecimalHolder(PRICE);
        var sizes = new LineSizesHolder(SIZES);
        var part = new LineArrayHolder(parts);
        port.echoLine(code, price, sizes, part);
        return new Line(code.value, price.value, sizes.value, part.value);
    }

    private static SimpleDateFormat date() {
        SimpleDateFormat format = new SimpleDateFormat("yyyy-MM-dd");
        format.setTimeZone(TimeZone.getTimeZone("UTC"));
        return format;
    }
}
