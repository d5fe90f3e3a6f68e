import jakarta.activation.DataHandler;
import jakarta.mail.util.ByteArrayDataSource;
import jakarta.xml.bind.JAXBContext;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.handler.MessageContext;
import jakarta.xml.ws.soap.SOAPBinding;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.logging.LogManager;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.jaxws.DispatchImpl;
import org.apache.cxf.transport.http.HTTPConduit;

/** CXF calls a service with WS-Security by WSS4J: FOLDER SCENARIO,… URL. ../run describes the URLs and what is printed. */
public final class Calls extends Cases {
    private static final String NOTE = " \u00e9 \u20ac \ud834\udd1e <&> \"'\t|\r\n ";

    private final String url;
    private final Security security;

    private Calls(String folder, String url, String version, String scenario) {
        super(version, scenario, NOTE);
        this.url = url;
        security = new Security(folder, scenario, version);
    }

    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        for (String version : List.of("11", "12")) {
            for (String scenario : arguments[1].split(",")) {
                new Calls(arguments[0], arguments[2], version, scenario).run();
            }
        }
        // Threads of its transport would keep the process for a while.
        System.exit(0);
    }

    @Override
    @SuppressWarnings("unchecked")
    Object order(String treatment, String owner, String password, int quantity, String issuer) throws Exception {
        QName port = new QName(Shop.SECURED, "port");
        Service service = Service.create(new QName(Shop.SECURED, "Secured"));
        String binding = version.equals("12") ? SOAPBinding.SOAP12HTTP_BINDING : SOAPBinding.SOAP11HTTP_BINDING;
        service.addPort(port, binding, url + "/" + treatment + "/" + scenario + "/" + version);
        JAXBContext types = JAXBContext.newInstance(Order.class, OrderResponse.class);
        Dispatch<?> dispatch = security.hasMtom() ? service.createDispatch(port, types, Service.Mode.PAYLOAD, security.features())
            : service.createDispatch(port, Source.class, Service.Mode.PAYLOAD, security.features());
        Map<String, Object> context = dispatch.getRequestContext();
        context.put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        context.put(BindingProvider.SOAPACTION_URI_PROPERTY, Shop.SECURED + ":order");
        // SOAP 1.2 (Part 2 §7.5.2.2) has faults of the sender with the status 400, in which CXF otherwise looks for none.
        context.put("org.apache.cxf.transport.process_fault_on_http_400", true);
        Client client = ((DispatchImpl<?>) dispatch).getClient();
        // The proxy reads no chunks.
        ((HTTPConduit) client.getConduit()).getClient().setAllowChunking(false);
        security.ofClient(client, owner, password, issuer);
        if (security.hasMtom()) {
            return orderWithPhoto((Dispatch<Object>) dispatch, quantity);
        }
        byte[] attached = attached();
        if (attached != null) {
            DataHandler content = new DataHandler(new ByteArrayDataSource(attached, security.attachedType()));
            context.put(MessageContext.OUTBOUND_MESSAGE_ATTACHMENTS, new HashMap<>(Map.of("what@is.attached", content)));
        }
        List<String> answer = invoke((Dispatch<Source>) dispatch, quantity);
        checkAttached(dispatch, attached);
        return answer;
    }

    /** Content whose canonical form is another one, but for bytes. */
    private byte[] attached() {
        return switch (scenario) {
            case "attached-text" -> "A note of Ada \nin two lines\n".getBytes(StandardCharsets.UTF_8);
            case "attached-xml" -> "<?xml version=\"1.0\"?>\n<note to='b' about=\"a\"><!-- none -->A note of Ada <empty/></note>\n"
                .getBytes(StandardCharsets.UTF_8);
            case "attached-bytes" -> "A photo of Ada \0\r\n\n\u00ff".getBytes(StandardCharsets.ISO_8859_1);
            default -> null;
        };
    }

    @SuppressWarnings("unchecked")
    private static void checkAttached(Dispatch<?> dispatch, byte[] expected) throws IOException {
        Object found = dispatch.getResponseContext().get(MessageContext.INBOUND_MESSAGE_ATTACHMENTS);
        Collection<DataHandler> parts = found == null ? List.of() : ((Map<String, DataHandler>) found).values();
        if (parts.size() != (expected == null ? 0 : 1)) {
            throw new IllegalStateException("the answer has " + parts.size() + " attachments");
        }
        for (DataHandler part : parts) {
            if (!Arrays.equals(part.getInputStream().readAllBytes(), expected)) {
                throw new IllegalStateException("the attachment of the answer is another one");
            }
        }
    }

    private static Object orderWithPhoto(Dispatch<Object> dispatch, int quantity) throws Exception {
        Order order = new Order();
        order.customer = "Ada";
        order.quantity = quantity;
        order.note = NOTE;
        order.photo = "A photo of Ada ".repeat(200).getBytes(StandardCharsets.US_ASCII);
        OrderResponse answer = (OrderResponse) dispatch.invoke(order);
        if (!Arrays.equals(answer.photo, order.photo)) {
            return new IllegalStateException("the photo in the answer is another one");
        }
        return List.of(answer.customer, String.valueOf(answer.number), answer.note);
    }
}
