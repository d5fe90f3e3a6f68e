import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.soap.SOAPBinding;
import java.util.List;
import java.util.Map;
import java.util.logging.LogManager;
import org.apache.cxf.jaxws.EndpointImpl;

/** CXF on Jetty serves the scenarios with WS-Security by WSS4J: FOLDER SCENARIO,… PORT. ../run describes the URLs. */
public final class Serves {
    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        for (String scenario : arguments[1].split(",")) {
            for (String version : List.of("11", "12")) {
                Security security = new Security(arguments[0], scenario, version);
                boolean isSoap12 = version.equals("12");
                Object shop = isSoap12 ? new Shop.Soap12() : new Shop();
                if (security.hasMtom()) {
                    shop = new PhotoShop(isSoap12 ? SOAPConstants.SOAP_1_2_PROTOCOL : SOAPConstants.SOAP_1_1_PROTOCOL);
                }
                String binding = isSoap12 ? SOAPBinding.SOAP12HTTP_BINDING : SOAPBinding.SOAP11HTTP_BINDING;
                EndpointImpl endpoint = (EndpointImpl) Endpoint.create(binding, shop, security.features());
                security.ofServer(endpoint);
                // How assertions name this service.
                endpoint.setProperties(Map.of("security.audience-restrictions", Shop.SECURED));
                endpoint.publish("http://127.0.0.1:" + arguments[2] + "/" + scenario + "/" + version);
            }
        }
        System.out.println("listening on http://127.0.0.1:" + arguments[2]);
    }
}
