import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import java.util.List;
import java.util.Map;
import java.util.logging.LogManager;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;

/** Metro calls a service with WS-Security by WSIT: FOLDER CONTRACT SCENARIO,… URL. ../run describes the URLs and what is printed. */
public final class Calls extends Cases {
    // ../run says what Metro can't sign.
    private static final String NOTE = " \u00e9 \u20ac <&> \"'\t|\n ";

    private final String url;
    private final Security security;
    // Metro writes times in seconds, and its ids are always the same. Two equal messages of one second have one signature, and are refused
    // as one that is sent twice.
    private int orders;

    private Calls(String folder, String contract, String url, String version, String scenario) {
        super(version, scenario, NOTE);
        this.url = url;
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

    @Override
    Object order(String treatment, String owner, String password, int quantity, String issuer) throws Exception {
        Service service = Service.create(security.ofClient(owner).toUri().toURL(), new QName(Shop.SECURED, "Secured"));
        QName port = new QName(Shop.SECURED, "Orders" + version);
        Dispatch<Source> dispatch = service.createDispatch(port, Source.class, Service.Mode.PAYLOAD);
        Map<String, Object> context = dispatch.getRequestContext();
        context.put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, url + "/" + treatment + "/" + scenario + "/" + version);
        context.put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        context.put(BindingProvider.SOAPACTION_URI_PROPERTY, Shop.SECURED + ":order");
        if (Scenario.hasPassword(scenario)) {
            context.put(BindingProvider.USERNAME_PROPERTY, USER);
            context.put(BindingProvider.PASSWORD_PROPERTY, password);
        }
        return invoke(dispatch, quantity + ++orders);
    }
}
