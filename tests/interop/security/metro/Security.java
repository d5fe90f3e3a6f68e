import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;

/** The contract of a scenario with its policies, by which Metro is configured, and the stores that the policies name. */
final class Security {
    static final String USER = "bookkeeper";
    static final String PASSWORD = "secret-password";
    private static final String STORE_PASSWORD = "of no use";
    private static final String INCLUDE = " sp:IncludeToken='http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/";

    private final Path folder;
    private final Path contract;
    private final String scenario;

    Security(String folder, String contract, String scenario) {
        this.folder = Path.of(folder);
        this.contract = Path.of(contract);
        this.scenario = scenario;
    }

    boolean isSigned() {
        return !scenario.equals("text") && !scenario.equals("digest");
    }

    boolean hasPassword() {
        return !isSigned() || scenario.equals("both") || scenario.equals("beside");
    }

    /** Returns the contract for a client that signs with the key of `owner`. */
    Path ofClient(String owner) throws GeneralSecurityException, IOException {
        return contract("http://schemas.sun.com/2006/03/wss/client", owner, "server", "");
    }

    /** Returns the contract for a server. */
    Path ofServer() throws GeneralSecurityException, IOException {
        String passwords = hasPassword() ? "<c:Validator name='usernameValidator' classname='Users'/>" : "";
        return contract("http://schemas.sun.com/2006/03/wss/server", "server", "client", passwords);
    }

    private Path contract(String configuration, String owner, String peer, String validators) throws GeneralSecurityException, IOException {
        String stores = "";
        if (isSigned()) {
            stores = "<c:KeyStore location='" + keys(owner) + "' type='PKCS12' storepass='" + STORE_PASSWORD + "' alias='" + owner + "'/>"
                + "<c:TrustStore location='" + trusted(peer) + "' type='PKCS12' storepass='" + STORE_PASSWORD + "' peeralias='" + peer + "'/>";
        }
        // There are no lists of revoked certificates.
        stores += "<c:ValidatorConfiguration c:revocationEnabled='false'>" + validators + "</c:ValidatorConfiguration>";
        String policies = policy("binding", binding() + stores) + policy("message", isSigned() ? "<sp:SignedParts>" + signed() + "</sp:SignedParts>" : "");
        String made = Files.readString(contract)
            .replace("<wsdl:message name=\"order\">", policies.replace("xmlns:c=''", "xmlns:c='" + configuration + "'") + "<wsdl:message name=\"order\">")
            .replaceAll("(<wsdl:binding [^>]*>)", "$1" + reference("binding"))
            .replaceAll("(<wsdl:(input|output)>)(<soap)", "$1" + reference("message") + "$3")
            .replaceAll("(<wsdl:fault name=\"soldOut\">)(<soap)", "$1" + reference("message") + "$2");
        Path file = folder.resolve("metro-" + scenario + "-" + owner + ".wsdl");
        Files.writeString(file, made);
        return file;
    }

    private static String policy(String id, String assertions) {
        return "<wsp:Policy wsu:Id='" + id + "' xmlns:wsp='http://schemas.xmlsoap.org/ws/2004/09/policy' xmlns:c=''"
            + " xmlns:wsu='http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd'"
            + " xmlns:sp='http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702'>" + assertions + "</wsp:Policy>";
    }

    private static String reference(String id) {
        return "<wsp:PolicyReference xmlns:wsp='http://schemas.xmlsoap.org/ws/2004/09/policy' URI='#" + id + "'/>";
    }

    private static String nested(String name, String assertions) {
        return "<sp:" + name + "><wsp:Policy>" + assertions + "</wsp:Policy></sp:" + name + ">";
    }

    private String binding() {
        String user = "";
        if (hasPassword()) {
            String form = scenario.equals("text") ? "" : "<sp:HashPassword/>";
            user = nested(scenario.equals("both") ? "SignedSupportingTokens" : "SupportingTokens", "<sp:UsernameToken" + INCLUDE
                + "AlwaysToRecipient'><wsp:Policy>" + form + "<sp:WssUsernameToken10/></wsp:Policy></sp:UsernameToken>");
        }
        String options = nested("Layout", "<sp:Lax/>") + "<sp:IncludeTimestamp/>";
        if (!isSigned()) {
            // A time stamp would need a binding, and a transport binding TLS.
            return user;
        }
        String addressing = scenario.equals("addressing")
            ? "<wsam:Addressing xmlns:wsam='http://www.w3.org/2007/05/addressing/metadata'><wsp:Policy/></wsam:Addressing>" : "";
        return addressing + nested("AsymmetricBinding", nested("InitiatorToken", token("AlwaysToRecipient"))
            + nested("RecipientToken", token("AlwaysToInitiator")) + algorithms() + options + (scenario.equals("str") ? "<sp:ProtectTokens/>" : "")
            + "<sp:OnlySignEntireHeadersAndBody/>")
            + nested("Wss11", "<sp:MustSupportRefIssuerSerial/><sp:MustSupportRefKeyIdentifier/><sp:MustSupportRefThumbprint/>") + user;
    }

    private String token(String included) {
        String form = switch (scenario) {
            case "issuer" -> "<sp:RequireIssuerSerialReference/>";
            case "identifier" -> "<sp:RequireKeyIdentifierReference/>";
            case "thumbprint" -> "<sp:RequireThumbprintReference/>";
            default -> "";
        };
        return "<sp:X509Token" + INCLUDE + (form.isEmpty() ? included : "Never") + "'><wsp:Policy>" + form
            + "<sp:WssX509V3Token10/></wsp:Policy></sp:X509Token>";
    }

    private String algorithms() {
        // The suites of WS-SecurityPolicy have SHA-256 for digests alone. Metro's own attribute has it for signatures, by Java's name.
        String suite = scenario.equals("sha1") ? "<sp:Basic128Rsa15/>" : "<sp:Basic128Sha256Rsa15/>";
        String attribute = scenario.equals("sha1") ? "" : " signatureAlgorithm='SHA256withRSA'";
        return "<sp:AlgorithmSuite" + attribute + "><wsp:Policy>" + suite + (scenario.equals("inclusive") ? "<sp:InclusiveC14N/>" : "")
            + "</wsp:Policy></sp:AlgorithmSuite>";
    }

    private String signed() {
        return "<sp:Body/>" + (scenario.equals("addressing") ? "<sp:Header Namespace='http://www.w3.org/2005/08/addressing'/>" : "");
    }

    private Path keys(String owner) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        Certificate[] path = {certificate(owner + "-rsa"), certificate(owner.equals("stranger") ? "others" : "authority")};
        store.setKeyEntry(owner, key(owner + "-rsa"), STORE_PASSWORD.toCharArray(), path);
        return write(store, "metro-" + owner + ".p12");
    }

    /** A store with the authority, and the certificate of `peer`, which may be only described. */
    private Path trusted(String peer) throws GeneralSecurityException, IOException {
        KeyStore store = empty();
        store.setCertificateEntry("authority", certificate("authority"));
        store.setCertificateEntry(peer, certificate(peer + "-rsa"));
        return write(store, "metro-trusts-" + peer + ".p12");
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private Path write(KeyStore store, String name) throws GeneralSecurityException, IOException {
        Path file = folder.resolve(name);
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, STORE_PASSWORD.toCharArray());
        }
        return file;
    }

    private Certificate certificate(String name) throws GeneralSecurityException, IOException {
        try (InputStream file = Files.newInputStream(folder.resolve(name + ".pem"))) {
            return CertificateFactory.getInstance("X.509").generateCertificate(file);
        }
    }

    private PrivateKey key(String name) throws GeneralSecurityException, IOException {
        String text = Files.readString(folder.resolve(name + ".key")).replaceAll("-----[A-Z ]*-----|\\s", "");
        return KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(text)));
    }
}
