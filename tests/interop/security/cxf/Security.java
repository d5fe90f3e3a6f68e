import jakarta.xml.ws.WebServiceFeature;
import jakarta.xml.ws.soap.AddressingFeature;
import jakarta.xml.ws.soap.MTOMFeature;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.cxf.interceptor.InterceptorProvider;
import org.apache.cxf.ws.security.wss4j.DefaultCryptoCoverageChecker;
import org.apache.cxf.ws.security.wss4j.WSS4JInInterceptor;
import org.apache.cxf.ws.security.wss4j.WSS4JOutInterceptor;
import org.apache.wss4j.common.ConfigurationConstants;
import org.apache.wss4j.common.crypto.Merlin;
import org.apache.wss4j.common.ext.WSPasswordCallback;

/** The interceptors of a scenario, for a client or a server, with the keys and certificates of a folder. */
final class Security {
    private static final String WSU = DefaultCryptoCoverageChecker.WSU_NS;
    private static final String WSSE = DefaultCryptoCoverageChecker.WSSE_NS;
    private static final String WSA = DefaultCryptoCoverageChecker.WSA_NS;
    private static final String MORE = "http://www.w3.org/2001/04/xmldsig-more#";

    private final String scenario;
    private final boolean isSoap12;
    private final Keys keys;

    Security(String folder, String scenario, String version) {
        this.scenario = scenario;
        isSoap12 = version.equals("12");
        keys = new Keys(folder, switch (scenario) {
            case "ecdsa" -> "ec";
            case "ed25519" -> "ed25519";
            default -> "rsa";
        });
    }

    /** Whether answers have a signature. */
    private boolean answersAreSigned() {
        return Scenario.isSigned(scenario) || Scenario.hasAssertion(scenario);
    }

    /** Whether messages have a photo as a part. */
    boolean hasMtom() {
        return scenario.equals("mtom");
    }

    /** The media type of what is attached, or null. */
    String attachedType() {
        return switch (scenario) {
            case "attached-text" -> "text/plain; charset=utf-8";
            case "attached-xml" -> "text/xml";
            case "attached-bytes" -> "application/octet-stream";
            default -> null;
        };
    }

    /** What of JAX-WS the scenario needs. */
    WebServiceFeature[] features() {
        return switch (scenario) {
            case "addressing" -> new WebServiceFeature[] {new AddressingFeature(true)};
            case "mtom" -> new WebServiceFeature[] {new MTOMFeature(true)};
            default -> new WebServiceFeature[0];
        };
    }

    /**
     * Secures what a client sends by the key of `owner`, with an assertion by `issuer` if there is one, and requires that the server secures
     * its answers.
     */
    void ofClient(InterceptorProvider client, String owner, String password, String issuer) throws Exception {
        client.getOutInterceptors().add(Scenario.hasAssertion(scenario) ? outWithAssertion(owner, issuer) : out(owner, Scenario.hasPassword(scenario), password));
        in(client, "server", actions(false, answersAreSigned()), answersAreSigned(), false);
    }

    /** Requires that clients secure what they send, and secures answers and faults. */
    void ofServer(InterceptorProvider server) throws Exception {
        if (Scenario.hasAssertion(scenario)) {
            inWithAssertion(server);
        } else {
            in(server, "client", actions(Scenario.hasPassword(scenario), Scenario.isSigned(scenario)), Scenario.isSigned(scenario), Scenario.hasPassword(scenario));
        }
        server.getOutInterceptors().add(out("server", false, null));
        server.getOutFaultInterceptors().add(out("server", false, null));
    }

    private WSS4JOutInterceptor out(String owner, boolean withUser, String password) throws Exception {
        Map<String, Object> options = new HashMap<>();
        options.put(ConfigurationConstants.ACTION, actions(withUser, answersAreSigned()));
        options.put(ConfigurationConstants.PW_CALLBACK_REF, passwords(password));
        if (withUser) {
            options.put(ConfigurationConstants.USER, Cases.USER);
            options.put(ConfigurationConstants.PASSWORD_TYPE, scenario.equals("text") ? "PasswordText" : "PasswordDigest");
        }
        if (hasMtom()) {
            // A certificate in a part would have to be read before anybody is known to have sent it.
            options.put(ConfigurationConstants.STORE_BYTES_IN_ATTACHMENT, "false");
        }
        if (answersAreSigned()) {
            options.put(ConfigurationConstants.SIGNATURE_USER, owner);
            options.put(ConfigurationConstants.SIG_PROP_REF_ID, "crypto");
            options.put("crypto", crypto(owner, null));
            options.put(ConfigurationConstants.SIG_ALGO, switch (scenario) {
                case "pss" -> "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1";
                case "ecdsa" -> MORE + "ecdsa-sha256";
                case "ed25519" -> "http://www.w3.org/2021/04/xmldsig-more#eddsa-ed25519";
                case "sha1" -> "http://www.w3.org/2000/09/xmldsig#rsa-sha1";
                default -> MORE + "rsa-sha256";
            });
            options.put(ConfigurationConstants.SIG_DIGEST_ALGO, scenario.equals("sha1")
                ? "http://www.w3.org/2000/09/xmldsig#sha1" : "http://www.w3.org/2001/04/xmlenc#sha256");
            if (scenario.equals("inclusive")) {
                options.put(ConfigurationConstants.SIG_C14N_ALGO, "http://www.w3.org/TR/2001/REC-xml-c14n-20010315");
            }
            options.put(ConfigurationConstants.SIG_KEY_ID, switch (scenario) {
                case "issuer" -> "IssuerSerial";
                case "identifier" -> "SKIKeyIdentifier";
                case "thumbprint" -> "Thumbprint";
                case "embedded" -> "X509KeyIdentifier";
                default -> "DirectReference";
            });
            options.put(ConfigurationConstants.USE_SINGLE_CERTIFICATE, String.valueOf(!scenario.equals("path")));
            String parts = "{Element}{" + envelope() + "}Body;{Element}{" + WSU + "}Timestamp";
            if (withUser && scenario.equals("both")) {
                parts += ";{Element}{" + WSSE + "}UsernameToken";
            }
            if (scenario.equals("str")) {
                parts += ";STRTransform";
            }
            if (attachedType() != null) {
                parts += ";{}cid:Attachments";
            }
            options.put(ConfigurationConstants.SIGNATURE_PARTS, parts);
            if (scenario.equals("addressing")) {
                String[] blocks = {"To", "Action", "MessageID", "RelatesTo", "From", "ReplyTo", "FaultTo"};
                String optional = Stream.of(blocks).map(block -> "{Element}{" + WSA + "}" + block).collect(Collectors.joining(";"));
                options.put(ConfigurationConstants.OPTIONAL_SIGNATURE_PARTS, optional);
            }
        }
        return new WSS4JOutInterceptor(options);
    }

    private void in(InterceptorProvider provider, String sender, String actions, boolean isSigned, boolean withUser) throws Exception {
        Map<String, Object> options = new HashMap<>();
        options.put(ConfigurationConstants.ACTION, actions);
        options.put(ConfigurationConstants.PW_CALLBACK_REF, passwords(Cases.PASSWORD));
        if (isSigned) {
            options.put(ConfigurationConstants.SIG_VER_PROP_REF_ID, "crypto");
            options.put("crypto", crypto(null, sender));
        }
        provider.getInInterceptors().add(new WSS4JInInterceptor(options));
        if (isSigned) {
            provider.getInInterceptors().add(coverage(withUser && scenario.equals("both")));
        }
    }

    private DefaultCryptoCoverageChecker coverage(boolean ofUser) {
        DefaultCryptoCoverageChecker checker = new DefaultCryptoCoverageChecker();
        checker.setSignBody(true);
        checker.setSignTimestamp(true);
        checker.setEncryptUsernameToken(false);
        checker.setSignAddressingHeaders(scenario.equals("addressing"));
        checker.setSignUsernameToken(ofUser);
        return checker;
    }

    private WSS4JOutInterceptor outWithAssertion(String owner, String issuer) throws Exception {
        Map<String, Object> options = new HashMap<>();
        options.put(ConfigurationConstants.ACTION, "Timestamp " + (Scenario.isSigned(scenario) ? "SAMLTokenSigned" : "SAMLTokenUnsigned"));
        options.put(ConfigurationConstants.PW_CALLBACK_REF, passwords(null));
        options.put(ConfigurationConstants.SAML_CALLBACK_REF, assertions(owner, issuer));
        options.put(ConfigurationConstants.SIGNATURE_USER, owner);
        options.put(ConfigurationConstants.SIG_PROP_REF_ID, "crypto");
        options.put("crypto", crypto(owner, null));
        options.put(ConfigurationConstants.SIG_ALGO, MORE + "rsa-sha256");
        options.put(ConfigurationConstants.SIG_DIGEST_ALGO, "http://www.w3.org/2001/04/xmlenc#sha256");
        options.put(ConfigurationConstants.SIG_KEY_ID, "DirectReference");
        options.put(ConfigurationConstants.SIGNATURE_PARTS, "{Element}{" + envelope() + "}Body;{Element}{" + WSU + "}Timestamp");
        return new WSS4JOutInterceptor(options);
    }

    private void inWithAssertion(InterceptorProvider server) throws Exception {
        Map<String, Object> options = new HashMap<>();
        options.put(ConfigurationConstants.ACTION, "Timestamp " + (Scenario.isSigned(scenario) ? "Signature " : "") + "SAMLTokenSigned");
        options.put(ConfigurationConstants.PW_CALLBACK_REF, passwords(null));
        options.put(ConfigurationConstants.SIG_VER_PROP_REF_ID, "crypto");
        options.put("crypto", crypto(null, "client"));
        server.getInInterceptors().add(new WSS4JInInterceptor(options));
        if (Scenario.isSigned(scenario)) {
            server.getInInterceptors().add(coverage(false));
        }
    }

    /** Has what an issuer with a key of this name states about the client, for a message that `sender` signs. */
    CallbackHandler assertions(String sender, String issuer) throws Exception {
        // OpenSAML, which it needs, is only there for the scenarios with assertions.
        return (CallbackHandler) Class.forName("Assertions").getDeclaredConstructors()[0].newInstance(
            scenario, keys.certificate("client"), crypto(issuer, null), issuer, crypto(sender, null), sender, Keys.PASSWORD);
    }

    private static String actions(boolean withUser, boolean isSigned) {
        return (withUser ? "UsernameToken " : "") + "Timestamp" + (isSigned ? " Signature" : "");
    }

    private String envelope() {
        return isSoap12 ? DefaultCryptoCoverageChecker.SOAP12_NS : DefaultCryptoCoverageChecker.SOAP_NS;
    }

    private static CallbackHandler passwords(String password) {
        return callbacks -> {
            for (Callback callback : callbacks) {
                WSPasswordCallback asked = (WSPasswordCallback) callback;
                asked.setPassword(asked.getIdentifier().equals(Cases.USER) ? password : Keys.PASSWORD);
            }
        };
    }

    /** A store with the key of `owner`, and one with the authority and the certificate of `sender`, each if it is not null. */
    private Merlin crypto(String owner, String sender) throws Exception {
        Merlin crypto = new Merlin();
        if (owner != null) {
            crypto.setKeyStore(keys.of(owner));
        }
        if (sender != null) {
            crypto.setTrustStore(keys.trusted(sender));
        }
        return crypto;
    }
}
