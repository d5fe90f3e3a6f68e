import jakarta.annotation.Resource;
import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.soap.SOAPException;
import jakarta.xml.soap.SOAPFactory;
import jakarta.xml.soap.SOAPFault;
import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceContext;
import jakarta.xml.ws.WebServiceProvider;
import jakarta.xml.ws.handler.MessageContext;
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
import org.apache.cxf.jaxws.EndpointImpl;
import org.w3c.dom.Document;

/** CXF on Jetty serves the scenarios with WS-Security by WSS4J: FOLDER SCENARIO,… PORT. ../run describes the URLs. */
public final class Serves {
    private static final String SECURED = "urn:castile:secured";

    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        for (String scenario : arguments[1].split(",")) {
            for (String version : List.of("11", "12")) {
                Security security = new Security(arguments[0], scenario, version);
                Object shop = version.equals("12") ? new Shop12() : new Shop11();
                if (security.hasMtom()) {
                    shop = new PhotoShop(version.equals("12") ? SOAPConstants.SOAP_1_2_PROTOCOL : SOAPConstants.SOAP_1_1_PROTOCOL);
                }
                String binding = version.equals("12") ? SOAPBinding.SOAP12HTTP_BINDING : SOAPBinding.SOAP11HTTP_BINDING;
                EndpointImpl endpoint = (EndpointImpl) Endpoint.create(binding, shop, security.features());
                security.ofServer(endpoint);
                // How assertions name this service.
                endpoint.setProperties(Map.of("security.audience-restrictions", SECURED));
                endpoint.publish("http://127.0.0.1:" + arguments[2] + "/" + scenario + "/" + version);
            }
        }
        System.out.println("listening on http://127.0.0.1:" + arguments[2]);
    }

    /** Returns the text of the only element with this name. */
    static String text(DOMResult payload, String name) {
        return ((Document) payload.getNode()).getElementsByTagNameNS(SECURED, name).item(0).getTextContent();
    }

    /** Returns the text as it is written in XML. */
    static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace("\r", "&#13;");
    }

    static SOAPFaultException soldOut(String version) throws SOAPException {
        boolean isSoap12 = version.equals(SOAPConstants.SOAP_1_2_PROTOCOL);
        QName code = isSoap12 ? SOAPConstants.SOAP_SENDER_FAULT : new QName(SOAPConstants.URI_NS_SOAP_1_1_ENVELOPE, "Client");
        SOAPFault fault = SOAPFactory.newInstance(version).createFault("order less", code);
        fault.addDetail().addDetailEntry(new QName(SECURED, "soldOut")).addChildElement("left", "", SECURED).setTextContent("100");
        return new SOAPFaultException(fault);
    }

    @WebServiceProvider
    @ServiceMode(Service.Mode.PAYLOAD)
    public static class Shop11 implements Provider<Source> {
        @Resource
        private WebServiceContext context;

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
                MessageContext messages = context.getMessageContext();
                messages.put(MessageContext.OUTBOUND_MESSAGE_ATTACHMENTS, messages.get(MessageContext.INBOUND_MESSAGE_ATTACHMENTS));
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
