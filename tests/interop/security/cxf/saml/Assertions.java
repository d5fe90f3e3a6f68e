import java.security.cert.X509Certificate;
import java.util.List;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.CallbackHandler;
import org.apache.cxf.helpers.DOMUtils;
import org.apache.wss4j.common.crypto.Crypto;
import org.apache.wss4j.common.ext.WSSecurityException;
import org.apache.wss4j.common.saml.SAMLCallback;
import org.apache.wss4j.common.saml.SamlAssertionWrapper;
import org.apache.wss4j.common.saml.bean.AttributeBean;
import org.apache.wss4j.common.saml.bean.AttributeStatementBean;
import org.apache.wss4j.common.saml.bean.AudienceRestrictionBean;
import org.apache.wss4j.common.saml.bean.ConditionsBean;
import org.apache.wss4j.common.saml.bean.KeyInfoBean;
import org.apache.wss4j.common.saml.bean.SubjectBean;
import org.apache.wss4j.common.saml.bean.Version;
import org.w3c.dom.Element;

/** What the token service states in an assertion of a scenario. */
final class Assertions implements CallbackHandler {
    private static final String ISSUER = "https://sts.example";
    private static final int MINUTES = 10;

    private final String scenario;
    private final X509Certificate subject;
    private final Crypto issuer;
    private final String issuerName;
    private final Crypto sender;
    private final String senderName;
    private final String password;

    Assertions(String scenario, X509Certificate subject, Crypto issuer, String issuerName, Crypto sender, String senderName, String password) {
        this.scenario = scenario;
        this.subject = subject;
        this.issuer = issuer;
        this.issuerName = issuerName;
        this.sender = sender;
        this.senderName = senderName;
        this.password = password;
    }

    @Override
    public void handle(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            SAMLCallback asked = (SAMLCallback) callback;
            asked.setAssertionElement(assertion());
            // With sender-vouches, the message is signed with this key.
            asked.setIssuerCrypto(sender);
            asked.setIssuerKeyName(senderName);
            asked.setIssuerKeyPassword(password);
        }
    }

    private Element assertion() {
        try {
            SamlAssertionWrapper assertion = new SamlAssertionWrapper(stated());
            assertion.signAssertion(issuerName, password, issuer, false, null, "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
                "http://www.w3.org/2001/04/xmlenc#sha256");
            return assertion.toDOM(DOMUtils.newDocument());
        } catch (WSSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    private SAMLCallback stated() {
        boolean isSaml1 = scenario.equals("saml1");
        String method = switch (scenario) {
            case "bearer" -> "bearer";
            case "vouches" -> "sender-vouches";
            default -> "holder-of-key";
        };
        SubjectBean about = new SubjectBean(Cases.USER, null, "urn:oasis:names:tc:SAML:" + (isSaml1 ? "1.0" : "2.0") + ":cm:" + method);
        if (method.equals("holder-of-key")) {
            KeyInfoBean key = new KeyInfoBean();
            key.setCertificate(subject);
            key.setCertIdentifer(KeyInfoBean.CERT_IDENTIFIER.X509_CERT);
            about.setKeyInfo(key);
        }
        AttributeBean role = new AttributeBean();
        role.setSimpleName("role");
        role.setQualifiedName(isSaml1 ? "urn:castile:attributes" : "role");
        role.addAttributeValue("buyer");
        AttributeStatementBean attributes = new AttributeStatementBean();
        attributes.setSubject(about);
        attributes.setSamlAttributes(List.of(role));
        AudienceRestrictionBean audience = new AudienceRestrictionBean();
        audience.setAudienceURIs(List.of(Order.SECURED));
        ConditionsBean conditions = new ConditionsBean();
        conditions.setTokenPeriodMinutes(MINUTES);
        conditions.setAudienceRestrictions(List.of(audience));
        SAMLCallback stated = new SAMLCallback();
        stated.setSamlVersion(isSaml1 ? Version.SAML_11 : Version.SAML_20);
        stated.setIssuer(ISSUER);
        stated.setSubject(about);
        stated.setAttributeStatementData(List.of(attributes));
        stated.setConditions(conditions);
        return stated;
    }
}
