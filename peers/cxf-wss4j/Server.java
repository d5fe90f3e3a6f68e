package peer;

import jakarta.xml.ws.Endpoint;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.cxf.jaxws.EndpointImpl;
import org.apache.cxf.ws.security.wss4j.DefaultCryptoCoverageChecker;
import org.apache.cxf.ws.security.wss4j.WSS4JInInterceptor;
import org.apache.cxf.ws.security.wss4j.WSS4JOutInterceptor;
import org.apache.wss4j.common.ConfigurationConstants;
import org.apache.wss4j.common.ext.WSPasswordCallback;

/** Apache CXF on its own Jetty, with WS-Security by WSS4J: PORT. */
public final class Server {
    private static final String USER = "seismologist";
    private static final String PASSWORD = "of the seismic suite";

    private Server() {}

    public static void main(String[] arguments) throws Exception {
        String base = "http://127.0.0.1:" + arguments[0];
        Endpoint.publish(base + "/seismic", new Seismic());

        EndpointImpl username = (EndpointImpl) Endpoint.create(new Seismic());
        username.getInInterceptors().add(new WSS4JInInterceptor(of(ConfigurationConstants.USERNAME_TOKEN)));
        username.publish(base + "/seismic-username");

        EndpointImpl sign = (EndpointImpl) Endpoint.create(new Seismic());
        sign.getInInterceptors().add(new WSS4JInInterceptor(verifying()));
        // Without it, a signature over anything would do.
        DefaultCryptoCoverageChecker checker = new DefaultCryptoCoverageChecker();
        checker.setSignBody(true);
        checker.setSignTimestamp(true);
        sign.getInInterceptors().add(checker);
        sign.getOutInterceptors().add(new WSS4JOutInterceptor(signing()));
        sign.publish(base + "/seismic-sign");
        System.out.println("listening on " + base);
    }

    private static Map<String, Object> verifying() {
        Map<String, Object> options = of(ConfigurationConstants.TIMESTAMP + " " + ConfigurationConstants.SIGNATURE);
        options.put(ConfigurationConstants.SIG_VER_PROP_REF_ID, "trusted");
        options.put("trusted", store("truststore", "client"));
        // The bench prepares some messages when it starts.
        options.put(ConfigurationConstants.TTL_TIMESTAMP, String.valueOf(24 * 60 * 60));
        return options;
    }

    private static Map<String, Object> signing() {
        Map<String, Object> options = of(ConfigurationConstants.TIMESTAMP + " " + ConfigurationConstants.SIGNATURE);
        options.put(ConfigurationConstants.SIGNATURE_USER, "service");
        options.put(ConfigurationConstants.SIG_PROP_REF_ID, "own");
        options.put("own", store("keystore", "service"));
        options.put(ConfigurationConstants.SIG_ALGO, "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256");
        options.put(ConfigurationConstants.SIG_DIGEST_ALGO, "http://www.w3.org/2001/04/xmlenc#sha256");
        options.put(ConfigurationConstants.SIG_KEY_ID, "DirectReference");
        options.put(ConfigurationConstants.SIGNATURE_PARTS, "{Element}{" + DefaultCryptoCoverageChecker.SOAP_NS + "}Body;{Element}{"
            + DefaultCryptoCoverageChecker.WSU_NS + "}Timestamp");
        return options;
    }

    private static Map<String, Object> of(String actions) {
        Map<String, Object> options = new HashMap<>();
        options.put(ConfigurationConstants.ACTION, actions);
        options.put(ConfigurationConstants.PW_CALLBACK_REF, (CallbackHandler) callbacks -> {
            for (Callback callback : callbacks) {
                WSPasswordCallback asked = (WSPasswordCallback) callback;
                switch (asked.getIdentifier()) {
                    case USER -> asked.setPassword(PASSWORD);
                    case "service" -> asked.setPassword(Keys.PASSWORD);
                    default -> { }
                }
            }
        });
        return options;
    }

    private static Properties store(String kind, String name) {
        Properties properties = new Properties();
        String merlin = "org.apache.wss4j.crypto.merlin." + kind;
        properties.put("org.apache.wss4j.crypto.provider", "org.apache.wss4j.common.crypto.Merlin");
        properties.put(merlin + ".file", "target/" + name + ".p12");
        properties.put(merlin + ".type", "PKCS12");
        properties.put(merlin + ".password", Keys.PASSWORD);
        return properties;
    }
}
