package castile.interop;

import com.google.gson.JsonObject;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import org.apache.axis.client.Stub;
import org.apache.axis.message.SOAPHeaderElement;

/** Apache Axis through the stubs that its WSDL2Java generated. */
public final class AxisClient extends Client {
    public static void main(String[] arguments) throws Exception {
        new AxisClient().run(arguments[0]);
    }

    @Override
    Object port(JsonObject job) throws Exception {
        String contract = job.get("contract").getAsString();
        String name = Character.toUpperCase(contract.charAt(0)) + contract.substring(1);
        Object locator = Class.forName("castile.interop." + contract + "." + name + "Locator").getConstructor().newInstance();
        Method method = locator.getClass().getMethod("get" + name + job.get("version").getAsString(), URL.class);
        return method.invoke(locator, URI.create(job.get("url").getAsString()).toURL());
    }

    @Override
    String[] callWithHeader(Object port, Method method, String value, String token) throws Exception {
        Stub stub = (Stub) port;
        stub.setHeader(new SOAPHeaderElement(AxisServer.NAMESPACE, "token", token));
        try {
            Object result = method.invoke(port, value);
            SOAPHeaderElement receipt = stub._getCall().getMessageContext().getResponseMessage().getSOAPEnvelope()
                .getHeaderByName(AxisServer.NAMESPACE, "receipt");
            return new String[] {(String) result, receipt == null ? null : receipt.getValue()};
        } finally {
            stub.clearHeaders();
        }
    }

    @Override
    Object detail(Throwable thrown) {
        return thrown.getClass().getSimpleName().equals("Refusal") ? thrown : null;
    }
}
