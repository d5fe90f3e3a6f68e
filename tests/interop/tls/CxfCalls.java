import jakarta.xml.ws.BindingProvider;
import jakarta.xml.ws.Dispatch;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.soap.SOAPBinding;
import java.io.FileInputStream;
import java.io.StringReader;
import java.security.KeyStore;
import java.util.logging.LogManager;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.stream.StreamSource;
import org.apache.cxf.configuration.jsse.TLSClientParameters;
import org.apache.cxf.jaxws.DispatchImpl;
import org.apache.cxf.transport.http.HTTPConduit;

/** CXF calls EchoVoid at a URL as zeep_calls.py does. The working directory has the stores. */
public final class CxfCalls {
    private static final String NAMESPACE = "uri:WSTestWeb-TestService";

    public static void main(String[] arguments) throws Exception {
        LogManager.getLogManager().reset();
        String[][] cases = {
            {"client", "roots", "client"},
            {"none", "roots", null},
            {"stranger", "roots", "stranger"},
            {"of another authority", "others", "client"},
        };
        for (String[] one : cases) {
            try {
                call(arguments[0], one[1], one[2]);
                System.out.println(one[0] + ": answered");
            } catch (Exception error) {
                Throwable cause = error;
                StringBuilder told = new StringBuilder();
                for (; cause != null; cause = cause.getCause()) {
                    told.append(cause).append("; ");
                }
                System.out.println(one[0] + ": " + told.toString().replace('\n', ' '));
            }
        }
        // Threads of its transport would keep the process for a while.
        System.exit(0);
    }

    private static void call(String url, String trusted, String certificate) throws Exception {
        QName port = new QName(NAMESPACE, "port");
        Service service = Service.create(new QName(NAMESPACE, "service"));
        service.addPort(port, SOAPBinding.SOAP11HTTP_BINDING, url);
        Dispatch<Source> dispatch = service.createDispatch(port, Source.class, Service.Mode.PAYLOAD);
        dispatch.getRequestContext().put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        dispatch.getRequestContext().put(BindingProvider.SOAPACTION_URI_PROPERTY, NAMESPACE + "/EchoVoid");
        TLSClientParameters tls = new TLSClientParameters();
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store(trusted));
        tls.setTrustManagers(trust.getTrustManagers());
        tls.setKeyManagers(new KeyManager[0]);
        if (certificate != null) {
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(store(certificate), "secret-password".toCharArray());
            tls.setKeyManagers(keys.getKeyManagers());
        }
        ((HTTPConduit) ((DispatchImpl<Source>) dispatch).getClient().getConduit()).setTlsClientParameters(tls);
        dispatch.invoke(new StreamSource(new StringReader("<EchoVoid xmlns='" + NAMESPACE + "'/>")));
    }

    private static KeyStore store(String name) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (FileInputStream file = new FileInputStream(name + ".p12")) {
            store.load(file, "secret-password".toCharArray());
        }
        return store;
    }
}
