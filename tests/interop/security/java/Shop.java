import jakarta.activation.DataHandler;
import jakarta.annotation.Resource;
import jakarta.xml.soap.SOAPConstants;
import jakarta.xml.soap.SOAPException;
import jakarta.xml.soap.SOAPFactory;
import jakarta.xml.soap.SOAPFault;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceContext;
import jakarta.xml.ws.WebServiceProvider;
import jakarta.xml.ws.handler.MessageContext;
import jakarta.xml.ws.soap.SOAPFaultException;
import java.io.StringReader;
import java.util.Map;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMResult;
import javax.xml.transform.stream.StreamSource;
import org.w3c.dom.Document;

/** The shop, with SOAP 1.1. It sells at most 100 at once, and sends attachments back. */
@WebServiceProvider
@ServiceMode(Service.Mode.PAYLOAD)
public class Shop implements Provider<Source> {
    static final String SECURED = "urn:castile:secured";

    @Resource
    private WebServiceContext context;

    /** The shop, with SOAP 1.2. */
    @WebServiceProvider
    @ServiceMode(Service.Mode.PAYLOAD)
    public static final class Soap12 extends Shop {
        @Override
        String version() {
            return SOAPConstants.SOAP_1_2_PROTOCOL;
        }
    }

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
            Map<String, DataHandler> attached = attachments(MessageContext.INBOUND_MESSAGE_ATTACHMENTS);
            if (attached != null && !attached.isEmpty()) {
                attachments(MessageContext.OUTBOUND_MESSAGE_ATTACHMENTS).putAll(attached);
            }
            return new StreamSource(new StringReader("<orderResponse xmlns='" + SECURED + "'><customer>" + escaped(text(order, "customer"))
                + "</customer><number>7</number><note>" + escaped(text(order, "note")) + "</note></orderResponse>"));
        } catch (TransformerException | SOAPException error) {
            throw new IllegalStateException(error);
        }
    }

    @SuppressWarnings("unchecked")
    private Map<String, DataHandler> attachments(String property) {
        return (Map<String, DataHandler>) context.getMessageContext().get(property);
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
}
