import java.io.FileReader;
import java.util.ArrayList;
import java.util.List;

import javax.xml.parsers.DocumentBuilderFactory;

import com.google.gson.Gson;
import com.google.gson.JsonObject;
import jakarta.xml.bind.JAXBContext;
import org.apache.cxf.endpoint.Client;
import org.apache.cxf.jaxb.JAXBDataBinding;
import org.apache.cxf.jaxws.endpoint.dynamic.JaxWsDynamicClientFactory;
import org.apache.cxf.service.model.BindingOperationInfo;
import org.apache.cxf.service.model.MessagePartInfo;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

/** Calls what a plan lists with CXF's dynamic client: classes of the contract's schema by JAXB, and values that JAXB reads of a sample. */
public final class Cxf {
    private static final Gson GSON = new Gson();

    public static void main(String[] arguments) throws Exception {
        JsonObject plan = GSON.fromJson(new FileReader(arguments[0]), JsonObject.class);
        ClassLoader own = Thread.currentThread().getContextClassLoader();
        for (var each : plan.getAsJsonArray("jobs")) {
            JsonObject job = each.getAsJsonObject();
            for (var url : job.getAsJsonArray("urls")) {
                Thread.currentThread().setContextClassLoader(own);
                Client client;
                try {
                    client = JaxWsDynamicClientFactory.newInstance().createClient(url.getAsString());
                } catch (Throwable error) {
                    say(job, "?wsdl", error);
                    continue;
                }
                for (BindingOperationInfo operation : client.getEndpoint().getBinding().getBindingInfo().getOperations()) {
                    String name = operation.getName().getLocalPart();
                    if (!job.getAsJsonObject("operations").has(name)) {
                        continue;
                    }
                    try {
                        call(client, operation, job.getAsJsonObject("operations").getAsJsonObject(name).get("xml").getAsString());
                        say(job, name, null);
                    } catch (Throwable error) {
                        say(job, name, error);
                    }
                }
                client.destroy();
            }
        }
        System.exit(0);
    }

    private static void call(Client client, BindingOperationInfo operation, String file) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setNamespaceAware(true);
        Element envelope = factory.newDocumentBuilder().parse(file).getDocumentElement();
        List<Element> inside = new ArrayList<>();
        for (Element part : children(envelope)) {
            // Those of the header, and of the body.
            inside.addAll(children(part));
        }
        JAXBContext context = ((JAXBDataBinding) client.getEndpoint().getService().getDataBinding()).getContext();
        List<Object> values = new ArrayList<>();
        for (MessagePartInfo part : operation.getInput().getMessageInfo().getMessageParts()) {
            List<Element> candidates = new ArrayList<>(inside);
            if (!part.isElement()) {
                candidates.clear();
                inside.forEach(element -> candidates.addAll(children(element)));
            }
            Object value = null;
            for (Element element : candidates) {
                if (element.getLocalName().equals(part.getConcreteName().getLocalPart())) {
                    value = context.createUnmarshaller().unmarshal(element, part.getTypeClass()).getValue();
                }
            }
            values.add(value);
        }
        client.invoke(operation, values.toArray());
    }

    private static List<Element> children(Node node) {
        List<Element> found = new ArrayList<>();
        for (Node child = node.getFirstChild(); child != null; child = child.getNextSibling()) {
            if (child instanceof Element element) {
                found.add(element);
            }
        }
        return found;
    }

    private static void say(JsonObject job, String operation, Throwable error) {
        JsonObject line = new JsonObject();
        line.add("contract", job.get("contract"));
        line.addProperty("operation", operation);
        Throwable cause = error;
        while (cause != null && cause.getCause() != null) {
            cause = cause.getCause();
        }
        line.addProperty("error", cause == null ? null : cause.getClass().getSimpleName() + ": " + cause.getMessage());
        System.out.println(new com.google.gson.GsonBuilder().serializeNulls().create().toJson(line));
    }
}
