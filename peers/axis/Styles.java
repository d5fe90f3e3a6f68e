package peer;

import java.io.InputStream;
import java.io.OutputStream;
import org.apache.axis.MessageContext;
import org.apache.axis.attachments.AttachmentPart;
import org.apache.axis.utils.XMLUtils;
import org.w3c.dom.Document;
import org.w3c.dom.Element;

/** The document styles: XML that nobody binds, text in a CDATA section, an attachment that is read to its end. */
public final class Styles {
    private static final String NAMESPACE = "urn:axis-styles";

    public Element[] submit(Element[] bodies) throws Exception {
        Element asked = bodies[0];
        switch (asked.getLocalName()) {
            case "document":
                return answer("receipt", "status");
            case "submitString":
                asked.getFirstChild().getFirstChild().getNodeValue();
                return answer("submitStringResponse", "return");
            case "submitAttachment":
                readAttachment();
                return answer("submitAttachmentResponse", "return");
            default:
                throw new IllegalArgumentException("found " + asked + ", expected a document or how it is submitted");
        }
    }

    private static void readAttachment() throws Exception {
        Object first = MessageContext.getCurrentContext().getRequestMessage().getAttachmentsImpl().getAttachments().iterator().next();
        try (InputStream content = ((AttachmentPart) first).getDataHandler().getInputStream()) {
            content.transferTo(OutputStream.nullOutputStream());
        }
    }

    private static Element[] answer(String element, String child) throws Exception {
        Document document = XMLUtils.newDocument();
        Element answer = document.createElementNS(NAMESPACE, element);
        Element status = document.createElementNS(NAMESPACE, child);
        status.appendChild(document.createTextNode("OK"));
        answer.appendChild(status);
        return new Element[] {answer};
    }
}
