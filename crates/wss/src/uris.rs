//! Names of WS-Security (OASIS, 2004 and 2006) and of its token profiles.

pub(crate) const WSSE: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd";
pub(crate) const WSSE11: &str = "http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd";
pub(crate) const WSU: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd";
pub(crate) const WSA: &str = "http://www.w3.org/2005/08/addressing";
pub(crate) const WSA_2004: &str = "http://schemas.xmlsoap.org/ws/2004/08/addressing";
pub(crate) const XMLENC: &str = "http://www.w3.org/2001/04/xmlenc#";
pub(crate) const SAML1: &str = "urn:oasis:names:tc:SAML:1.0:assertion";
pub(crate) const SAML2: &str = "urn:oasis:names:tc:SAML:2.0:assertion";
pub(crate) const SAML2_PROTOCOL: &str = "urn:oasis:names:tc:SAML:2.0:protocol";

pub(crate) const ENVELOPED: &str = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
pub(crate) const XPATH: &str = "http://www.w3.org/TR/1999/REC-xpath-19991116";
pub(crate) const EXCLUSIVE: &str = "http://www.w3.org/2001/10/xml-exc-c14n#";

pub(crate) const STR_TRANSFORM: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#STR-Transform";
/// Signs the content of an attachment (SwA Profile 1.1.1 §5.3.1).
pub(crate) const SWA_CONTENT: &str =
    "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform";
/// Also signs its head (§5.3.2).
pub(crate) const SWA_COMPLETE: &str =
    "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Complete-Signature-Transform";
pub(crate) const BASE64_BINARY: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#Base64Binary";
pub(crate) const X509_V3: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509v3";
pub(crate) const X509_PATH: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509PKIPathv1";
pub(crate) const X509_KEY_IDENTIFIER: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509SubjectKeyIdentifier";
pub(crate) const THUMBPRINT_SHA1: &str =
    "http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1";
pub(crate) const SAML1_ID: &str = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.0#SAMLAssertionID";
pub(crate) const SAML2_ID: &str = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.1#SAMLID";
pub(crate) const SAML1_TOKEN: &str = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.1#SAMLV1.1";
pub(crate) const SAML2_TOKEN: &str = "http://docs.oasis-open.org/wss/oasis-wss-saml-token-profile-1.1#SAMLV2.0";
pub(crate) const PASSWORD_TEXT: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordText";
pub(crate) const PASSWORD_DIGEST: &str =
    "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-username-token-profile-1.0#PasswordDigest";
