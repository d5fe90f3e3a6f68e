package castile.interop;

import com.google.gson.JsonObject;
import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Holder;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.WebServiceFeature;
import jakarta.xml.ws.soap.AddressingFeature;
import jakarta.xml.ws.soap.MTOMFeature;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.Path;
import javax.xml.namespace.QName;

/** Apache CXF through interfaces that its wsdl2java generated, and the contract as it is served. */
public final class CxfClient extends Client {
    public static void main(String[] arguments) throws Exception {
        new CxfClient().run(arguments[0]);
        // Threads of its transport would keep the process for a while.
        System.exit(0);
    }

    @Override
    Object port(JsonObject job) throws Exception {
        String contract = job.get("contract").getAsString();
        String name = Character.toUpperCase(contract.charAt(0)) + contract.substring(1);
        String wsdl = job.get("wsdl").getAsString();
        URI uri = wsdl.startsWith("http") ? URI.create(wsdl) : Path.of(wsdl).toUri();
        Service service = Service.create(uri.toURL(), new QName(CxfServer.NAMESPACE, name));
        QName port = new QName(CxfServer.NAMESPACE, name + job.get("version").getAsString());
        WebServiceFeature[] features = switch (contract) {
            case "mtom" -> new WebServiceFeature[] {new MTOMFeature()};
            case "addressing" -> new WebServiceFeature[] {new AddressingFeature(true, true)};
            default -> new WebServiceFeature[] {};
        };
        Object proxy = service.getPort(port, Class.forName("castile.interop." + contract + ".Echo"), features);
        ((BindingProvider) proxy).getRequestContext()
            .put(BindingProvider.ENDPOINT_ADDRESS_PROPERTY, job.get("url").getAsString());
        return proxy;
    }

    @Override
    String[] callWithHeader(Object port, Method method, String value, String token) throws Exception {
        Holder<String> receipt = new Holder<>();
        Object result = method.invoke(port, value, token, receipt);
        return new String[] {(String) result, receipt.value};
    }

    @Override
    Object detail(Throwable thrown) {
        try {
            return thrown.getClass().getMethod("getFaultInfo").invoke(thrown);
        } catch (ReflectiveOperationException isNotDeclared) {
            return null;
        }
    }
}
