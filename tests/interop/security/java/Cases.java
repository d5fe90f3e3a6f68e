import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.StringReader;
import java.util.List;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMResult;
import javax.xml.transform.stream.StreamSource;

/** The cases of a scenario with one version of SOAP, for the clients on JAX-WS. ../run describes what is printed. */
abstract class Cases {
    static final String USER = "bookkeeper";
    static final String PASSWORD = "secret-password";

    final String version;
    final String scenario;
    private final String note;

    Cases(String version, String scenario, String note) {
        this.version = version;
        this.scenario = scenario;
        this.note = note;
    }

    /**
     * Orders in one of the ways that the script offers between client and server, with a signature by `owner` and an assertion by `issuer`.
     * Returns what the answer has.
     */
    abstract Object order(String treatment, String owner, String password, int quantity, String issuer) throws Exception;

    final void run() {
        tell("order", right(tried("plain", "client", PASSWORD, 2, "issuer")));
        tell("fault", soldOut(tried("plain", "client", PASSWORD, 200, "issuer")));
        boolean isSigned = Scenario.isSigned(scenario);
        if (isSigned) {
            tell("altered request", refused(tried("altered-request", "client", PASSWORD, 2, "issuer")));
            tell("stranger", refused(tried("refused", "stranger", PASSWORD, 2, "issuer")));
        }
        if (isSigned || Scenario.hasAssertion(scenario)) {
            tell("altered answer", refused(tried("altered-answer", "client", PASSWORD, 2, "issuer")));
        }
        if (isSigned || scenario.equals("digest")) {
            tell("sent twice", refused(tried("twice", "client", PASSWORD, 2, "issuer")));
        }
        if (Scenario.hasPassword(scenario)) {
            tell("wrong password", refused(tried("refused", "client", "wrong horse", 2, "issuer")));
        }
        if (Scenario.hasAssertion(scenario)) {
            tell("altered assertion", refused(tried("altered-assertion", "client", PASSWORD, 2, "issuer")));
            tell("another issuer", refused(tried("refused", "client", PASSWORD, 2, "stranger")));
        }
    }

    /** Sends an order, and returns what the answer has. */
    final List<String> invoke(Dispatch<Source> dispatch, int quantity) throws TransformerException {
        String order = "<order xmlns='" + Shop.SECURED + "'><customer>Ada</customer><quantity>" + quantity + "</quantity><note>"
            + Shop.escaped(note) + "</note></order>";
        DOMResult answer = new DOMResult();
        TransformerFactory.newInstance().newTransformer().transform(dispatch.invoke(new StreamSource(new StringReader(order))), answer);
        return List.of(Shop.text(answer, "customer"), Shop.text(answer, "number"), Shop.text(answer, "note"));
    }

    private Object tried(String treatment, String owner, String password, int quantity, String issuer) {
        try {
            return order(treatment, owner, password, quantity, issuer);
        } catch (Exception error) {
            return error;
        }
    }

    private void tell(String name, String wrong) {
        System.out.println(version + "\t" + scenario + ": " + name + "\t" + wrong.replaceAll("[\\n\\t]", " "));
    }

    private String right(Object outcome) {
        return outcome.equals(List.of("Ada", "7", note)) ? "" : told(outcome);
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
