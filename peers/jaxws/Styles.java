package peer;

import jakarta.xml.soap.AttachmentPart;
import jakarta.xml.soap.MessageFactory;
import jakarta.xml.soap.SOAPException;
import jakarta.xml.soap.SOAPMessage;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceException;
import jakarta.xml.ws.WebServiceProvider;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import javax.xml.namespace.QName;

/** The document styles: XML that nobody binds, text in a CDATA section, an attachment that is read to its end. */
@WebServiceProvider
@ServiceMode(Service.Mode.MESSAGE)
public final class Styles implements Provider<SOAPMessage> {
    private static final String NAMESPACE = "urn:axis-styles";

    private final MessageFactory messages;

    public Styles() throws SOAPException {
        messages = MessageFactory.newInstance();
    }

    @Override
    public SOAPMessage invoke(SOAPMessage request) {
        try {
            String asked = request.getSOAPBody().getFirstChild().getLocalName();
            return switch (asked) {
                case "document" -> answer("receipt", "status");
                case "submitString" -> {
                    request.getSOAPBody().getFirstChild().getTextContent();
                    yield answer("submitStringResponse", "return");
                }
                case "submitAttachment" -> {
                    AttachmentPart document = request.getAttachments().next();
                    try (InputStream content = document.getDataHandler().getInputStream()) {
                        content.transferTo(OutputStream.nullOutputStream());
                    }
                    yield answer("submitAttachmentResponse", "return");
                }
                default -> throw new WebServiceException("found " + asked + ", expected a document or how it is submitted");
            };
        } catch (SOAPException | IOException error) {
            throw new WebServiceException(error);
        }
    }

    private SOAPMessage answer(String element, String child) throws SOAPException {
        SOAPMessage answer = messages.createMessage();
        answer.getSOAPBody().addChildElement(new QName(NAMESPACE, element)).addChildElement(new QName(NAMESPACE, child))
            .addTextNode("OK");
        return answer;
    }
}
