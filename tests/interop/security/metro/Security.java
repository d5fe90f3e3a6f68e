import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;

/** The contract of a scenario with its policies, by which Metro is configured, and the stores that the policies name. */
final class Security {
    private static final String INCLUDE = " sp:IncludeToken='http://docs.oasis-open.org/ws-sx/ws-securitypolicy/200702/IncludeToken/";

    private final Path folder;
    private final Path contract;
    private final String scenario;
    private final Keys keys;

    Security(String folder, String contract, String scenario) {
        this.folder = Path.of(folder);
        this.contract = Path.of(contract);
        this.scenario = scenario;
        keys = new Keys(folder, "rsa");
    }

    /** Returns the contract for a client that signs with the key of `owner`. */
    Path ofClient(String owner) throws GeneralSecurityException, IOException {
        return contract("http://schemas.sun.com/2006/03/wss/client", owner, "server", "");
    }

    /** Returns the contract for a server. */
    Path ofServer() throws GeneralSecurityException, IOException {
        String passwords = Scenario.hasPassword(scenario) ? "<c:Validator name='usernameValidator' classname='Users'/>" : "";
        return contract("http://schemas.sun.com/2006/03/wss/server", "server", "client", passwords);
    }

    private Path contract(String configuration, String owner, String peer, String validators) throws GeneralSecurityException, IOException {
        String stores = "";
        if (Scenario.isSigned(scenario)) {
            stores = store("KeyStore", keys.of(owner), owner, "alias='" + owner + "'")
                + store("TrustStore", keys.trusted(peer), "trusts-" + peer, "peeralias='" + peer + "'");
        }
        // There are no lists of revoked certificates.
        stores += "<c:ValidatorConfiguration c:revocationEnabled='false'>" + validators + "</c:ValidatorConfiguration>";
        String signed = Scenario.isSigned(scenario) ? "<sp:SignedParts>" + signed() + "</sp:SignedParts>" : "";
        String policies = policy("binding", binding() + stores, configuration) + policy("message", signed, configuration);
        String message = "<wsdl:message name=\"order\">";
        String made = Files.readString(contract)
            .replace(message, policies + message)
            .replaceAll("(<wsdl:binding [^>]*>)", "$1" + reference("binding"))
            .replaceAll("(<wsdl:(input|output)>)(<soap)", "$1" + reference("message") + "$3")
            .replaceAll("(<wsdl:fault name=\"soldOut\">)(<soap)", "$1" + reference("message") + "$2");
        Path file = folder.resolve("metro-" + scenario + "-" + owner + ".wsdl");
        Files.writeString(file, made);
        return file;
    }

    private static String policy(String id, String assertions, String configuration) {
        return "<wsp:Policy wsu:Id='" + id + "' xmlns:wsp='http://schemas.xmlsoap.org/ws/2004/09/policy' xmlns:c='" + configuration + "'"
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
        if (Scenario.hasPassword(scenario)) {
            String form = scenario.equals("text") ? "" : "<sp:HashPassword/>";
            user = nested(scenario.equals("both") ? "SignedSupportingTokens" : "SupportingTokens", "<sp:UsernameToken" + INCLUDE
                + "AlwaysToRecipient'><wsp:Policy>" + form + "<sp:WssUsernameToken10/></wsp:Policy></sp:UsernameToken>");
        }
        if (!Scenario.isSigned(scenario)) {
            // A time stamp would need a binding, and a transport binding TLS.
            return user;
        }
        String addressing = scenario.equals("addressing")
            ? "<wsam:Addressing xmlns:wsam='http://www.w3.org/2007/05/addressing/metadata'><wsp:Policy/></wsam:Addressing>" : "";
        return addressing + nested("AsymmetricBinding", nested("InitiatorToken", token("AlwaysToRecipient"))
            + nested("RecipientToken", token("AlwaysToInitiator")) + algorithms() + nested("Layout", "<sp:Lax/>")
            + "<sp:IncludeTimestamp/><sp:OnlySignEntireHeadersAndBody/>")
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
        return "<sp:AlgorithmSuite" + attribute + "><wsp:Policy>" + suite + "</wsp:Policy></sp:AlgorithmSuite>";
    }

    private String signed() {
        return "<sp:Body/>" + (scenario.equals("addressing") ? "<sp:Header Namespace='http://www.w3.org/2005/08/addressing'/>" : "");
    }

    private String store(String element, KeyStore store, String name, String alias) throws GeneralSecurityException, IOException {
        Path file = folder.resolve("metro-" + name + ".p12");
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, Keys.PASSWORD.toCharArray());
        }
        return "<c:" + element + " location='" + file + "' type='PKCS12' storepass='" + Keys.PASSWORD + "' " + alias + "/>";
    }
}
