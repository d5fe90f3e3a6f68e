import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import java.util.logging.LogManager;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMResult;
import javax.xml.transform.stream.StreamSource;

/** Metro calls a service with WS-Security by WSIT: FOLDER CONTRACT SCENARIO,… URL. ../run describes the URLs and what is printed. */
public final class Calls {
    // ../run says what Metro can't sign.
    private static final String NOTE = " \u00e9 \u20ac <&> \"'\t|\n ";

    private final String url;
    private final String version;
    private final String scenario;
    private final Security security;
    // Metro writes times in seconds, and its ids are always the same. Two equal messages of one second have one signature, and are refused
    // as one that is sent twice.
    private int orders;

    private Calls(String folder, String contract, String url, String version, String scenario) {
        this.url = url;
        this.version = version;
        this.scenario = scenario;
        security = new Security(folder, contract, scenario);
    }

    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        for (String version : List.of("11", "12")) {
            for (String scenario : arguments[2].split(",")) {
                new Calls(arguments[0], arguments[1], arguments[3], version, scenario).run();
            }
        }
        System.exit(0);
    }

    private void run() {
        tell("order", right(order("plain", "client", Security.PASSWORD, 0)));
        tell("fault", soldOut(order("plain", "client", Security.PASSWORD, 200)));
        if (security.isSigned()) {
            tell("altered request", refused(order("altered-request", "client", Security.PASSWORD, 0)));
            tell("altered answer", refused(order("altered-answer", "client", Security.PASSWORD, 0)));
            tell("stranger", refused(order("refused", "stranger", Security.PASSWORD, 0)));
        }
        if (!scenario.equals("text")) {
            tell("sent twice", refused(order("twice", "client", Security.PASSWORD, 0)));
        }
        if (security.hasPassword()) {
            tell("wrong password", refused(order("refused", "client", "wrong horse", 0)));
        }
    }

    /** Returns what the answer has, or an exception. */
    private Object order(String treatment, String owner, String password, int quantity) {
        try {
            Service service = Service.create(security.ofClient(owner).toUri().toURL(), new QName(Serves.SECURED, "Secured"));
            Dispatch<Source> dispatch = service.createDispatch(new QName(Serves.SECURED, "Orders" + version), Source.class, Service.Mode.PAYLOAD);
            Map<String, Object> context = dispatch.getRequestContext();
            context.put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, url + "/" + treatment + "/" + scenario + "/" + version);
            context.put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
            context.put(BindingProvider.SOAPACTION_URI_PROPERTY, Serves.SECURED + ":order");
            if (security.hasPassword()) {
                context.put(BindingProvider.USERNAME_PROPERTY, Security.USER);
                context.put(BindingProvider.PASSWORD_PROPERTY, password);
            }
            String order = "<order xmlns='" + Serves.SECURED + "'><customer>Ada</customer><quantity>" + (quantity + ++orders) + "</quantity><note>"
                + Serves.escaped(NOTE) + "</note></order>";
            DOMResult answer = new DOMResult();
            TransformerFactory.newInstance().newTransformer().transform(dispatch.invoke(new StreamSource(new StringReader(order))), answer);
            return List.of(Serves.text(answer, "customer"), Serves.text(answer, "number"), Serves.text(answer, "note"));
        } catch (Exception error) {
            return error;
        }
    }

    private void tell(String name, String wrong) {
        System.out.println(version + "\t" + scenario + ": " + name + "\t" + wrong.replaceAll("[\\n\\t]", " "));
    }

    private static String right(Object outcome) {
        return outcome.equals(List.of("Ada", "7", NOTE)) ? "" : told(outcome);
    }

    private static String soldOut(Object outcome) {
        boolean isFault = outcome instanceof SOAPFaultException fault && fault.getFault().hasDetail()
            && fault.getFault().getDetail().getTextContent().equals("100");
        return isFault ? "" : told(outcome);
    }

    private static String refused(Object outcome) {
        return outcome instanceof Exception ? "" : "accepted: " + outcome;
    }

    private static String told(Object outcome) {
        if (!(outcome instanceof Exception error)) {
            return outcome.toString();
        }
        StringBuilder told = new StringBuilder();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            told.append(cause).append("; ");
        }
        return told.toString();
    }
}
