import jakarta.xml.ws.Endpoint;
import jakarta.xml.ws.Provider;
import jakarta.xml.ws.Service;
import jakarta.xml.ws.ServiceMode;
import jakarta.xml.ws.WebServiceProvider;
import java.io.FileInputStream;
import java.io.StringReader;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import javax.xml.transform.Source;
import javax.xml.transform.stream.StreamSource;
import org.apache.cxf.BusFactory;
import org.apache.cxf.configuration.jsse.TLSServerParameters;
import org.apache.cxf.configuration.security.ClientAuthentication;
import org.apache.cxf.transport.http_jetty.JettyHTTPServerEngineFactory;

/** CXF on Jetty answers echoVoid at a port, to clients with a certificate of roots.p12, in the working directory, alone. */
public final class CxfServes {
    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store("server"), "secret-password".toCharArray());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store("roots"));
        ClientAuthentication authentication = new ClientAuthentication();
        authentication.setWant(true);
        authentication.setRequired(true);
        TLSServerParameters tls = new TLSServerParameters();
        tls.setKeyManagers(keys.getKeyManagers());
        tls.setTrustManagers(trust.getTrustManagers());
        tls.setClientAuthentication(authentication);
        BusFactory.getDefaultBus().getExtension(JettyHTTPServerEngineFactory.class).setTLSServerParametersForPort("localhost", port, tls);
        Endpoint.publish("https://localhost:" + port + "/wspex", new EchoVoid());
        System.out.println("listening on https://localhost:" + port);
    }

    @WebServiceProvider
    @ServiceMode(Service.Mode.PAYLOAD)
    public static final class EchoVoid implements Provider<Source> {
        @Override
        public Source invoke(Source request) {
            return new StreamSource(new StringReader("<echoVoidResponse xmlns='urn:wspex:TestService'/>"));
        }
    }

    private static KeyStore store(String name) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (FileInputStream file = new FileInputStream(name + ".p12")) {
            store.load(file, "secret-password".toCharArray());
        }
        return store;
    }
}
