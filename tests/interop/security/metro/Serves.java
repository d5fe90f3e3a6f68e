import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.soap.SOAPException;
import jakarta.xml.soap.SOAPFactory;
import jakarta.xml.soap.SOAPFault;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceProvider;
import jakarta.xml.ws.soap.SOAPBinding;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import java.util.logging.LogManager;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMResult;
import javax.xml.transform.stream.StreamSource;
import org.w3c.dom.Document;

/** Metro serves the scenarios with WS-Security by WSIT: FOLDER CONTRACT SCENARIO,… PORT. ../run describes the URLs. */
public final class Serves {
    static final String SECURED = "urn:castile:secured";

    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        // Services of one name can't be registered twice.
        System.setProperty("com.sun.xml.ws.monitoring.endpoint", "false");
        for (String scenario : arguments[2].split(",")) {
            String contract = new Security(arguments[0], arguments[1], scenario).ofServer().toUri().toString();
            for (String version : List.of("11", "12")) {
                boolean isSoap12 = version.equals("12");
                Endpoint endpoint = Endpoint.create(isSoap12 ? SOAPBinding.SOAP12HTTP_BINDING : SOAPBinding.SOAP11HTTP_BINDING,
                    isSoap12 ? new Shop12() : new Shop11());
                endpoint.setMetadata(List.of(new StreamSource(contract)));
                endpoint.setProperties(Map.of(Endpoint.WSDL_SERVICE, new QName(SECURED, "Secured"),
                    Endpoint.WSDL_PORT, new QName(SECURED, "Orders" + version)));
                endpoint.publish("http://127.0.0.1:" + arguments[3] + "/" + scenario + "/" + version);
            }
        }
        System.out.println("listening on http://127.0.0.1:" + arguments[3]);
    }

    /** Returns the text of the only element with this name. */
    static String text(DOMResult payload, String name) {
        return ((Document) payload.getNode()).getElementsByTagNameNS(SECURED, name).item(0).getTextContent();
    }

    /** Returns the text as it is written in XML. */
    static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\r", "&#13;");
    }

    private static SOAPFaultException soldOut(String version) throws SOAPException {
        boolean isSoap12 = version.equals(SOAPConstants.SOAP_1_2_PROTOCOL);
        QName code = isSoap12 ? SOAPConstants.SOAP_SENDER_FAULT : new QName(SOAPConstants.URI_NS_SOAP_1_1_ENVELOPE, "Client");
        SOAPFault fault = SOAPFactory.newInstance(version).createFault("order less", code);
        fault.addDetail().addDetailEntry(new QName(SECURED, "soldOut")).addChildElement("left", "", SECURED).setTextContent("100");
        return new SOAPFaultException(fault);
    }

    @WebServiceProvider
    @ServiceMode(Service.Mode.PAYLOAD)
    public static class Shop11 implements Provider<Source> {
        String version() {
            return SOAPConstants.SOAP_1_1_PROTOCOL;
        }

        @Override
        public Source invoke(Source request) {
            try {
                DOMResult order = new DOMResult();
                TransformerFactory.newInstance().newTransformer().transform(request, order);
                if (Integer.parseInt(text(order, "quantity")) > 100) {
                    throw soldOut(version());
                }
                return new StreamSource(new StringReader("<orderResponse xmlns='" + SECURED + "'><customer>" + escaped(text(order, "customer"))
                    + "</customer><number>7</number><note>" + escaped(text(order, "note")) + "</note></orderResponse>"));
            } catch (TransformerException | SOAPException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    @WebServiceProvider
    @ServiceMode(Service.Mode.PAYLOAD)
    public static final class Shop12 extends Shop11 {
        @Override
        String version() {
            return SOAPConstants.SOAP_1_2_PROTOCOL;
        }
    }
}
