import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.soap.SOAPBinding;
import java.util.List;
import java.util.Map;
import java.util.logging.LogManager;
import javax.xml.namespace.QName;
import javax.xml.transform.stream.StreamSource;

/** Metro serves the scenarios with WS-Security by WSIT: FOLDER CONTRACT SCENARIO,… PORT. ../run describes the URLs. */
public final class Serves {
    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        // Services of one name can't be registered twice.
        System.setProperty("com.sun.xml.ws.monitoring.endpoint", "false");
        for (String scenario : arguments[2].split(",")) {
            String contract = new Security(arguments[0], arguments[1], scenario).ofServer().toUri().toString();
            for (String version : List.of("11", "12")) {
                boolean isSoap12 = version.equals("12");
                Endpoint endpoint = Endpoint.create(isSoap12 ? SOAPBinding.SOAP12HTTP_BINDING : SOAPBinding.SOAP11HTTP_BINDING,
                    isSoap12 ? new Shop.Soap12() : new Shop());
                endpoint.setMetadata(List.of(new StreamSource(contract)));
                endpoint.setProperties(Map.of(Endpoint.WSDL_SERVICE, new QName(Shop.SECURED, "Secured"),
                    Endpoint.WSDL_PORT, new QName(Shop.SECURED, "Orders" + version)));
                endpoint.publish("http://127.0.0.1:" + arguments[3] + "/" + scenario + "/" + version);
            }
        }
        System.out.println("listening on http://127.0.0.1:" + arguments[3]);
    }
}
