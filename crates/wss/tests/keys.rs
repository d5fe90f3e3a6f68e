//! Every form in which a signature can describe its key: it is used if that key is trusted, or refused by name.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_wss::message::{CertificateForm, OutgoingSecurity, Policy, VerifiedMessage};
use castile_wss::{Certificate, Error, ErrorKind, PrivateKey, PublicKey, Signer, Trust};
use futures_util::FutureExt;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, PublicKeyData, SerialNumber};

const ORDER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><order xmlns='urn:o'>Tea</order></s:Body></s:Envelope>";
const DSIG11: &str = "http://www.w3.org/2009/xmldsig11#";
const OASIS: &str = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-";
const WSS11: &str = "http://docs.oasis-open.org/wss/oasis-wss-";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// A signer with a certificate of an authority, and somebody else with the same names.
struct Parties {
    key: KeyPair,
    certificate: Certificate,
    authority: Certificate,
    stranger: Certificate,
}

impl Parties {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "authority");
        let of_authority = KeyPair::generate().unwrap();
        let authority = read(&params.self_signed(&of_authority).unwrap());
        let issuer = Issuer::new(params, of_authority);
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::ExplicitNoCa;
        params.serial_number = Some(SerialNumber::from(7));
        params.distinguished_name.push(DnType::CommonName, "ann");
        let key = KeyPair::generate().unwrap();
        let certificate = read(&params.signed_by(&key, &issuer).unwrap());
        let stranger = read(&params.self_signed(&KeyPair::generate().unwrap()).unwrap());
        Parties { key, certificate, authority, stranger }
    }

    fn message(&self, form: CertificateForm) -> String {
        let security = OutgoingSecurity::new()
            .with_timestamp()
            .with_clock(now)
            .with_signature(PrivateKey::from_pem(self.key.serialize_pem().as_bytes()).unwrap())
            .with_certificate(self.certificate.clone())
            .with_certificate_form(form);
        String::from_utf8(security.secure(ORDER.as_bytes()).now_or_never().unwrap().unwrap()).unwrap()
    }

    /// Returns what a message that is signed with this form says about its key.
    fn key_info(&self, form: CertificateForm) -> String {
        let message = self.message(form);
        let start = message.find("<ds:KeyInfo>").unwrap() + "<ds:KeyInfo>".len();
        message[start..message.find("</ds:KeyInfo>").unwrap()].to_owned()
    }

    /// Verifies a message whose key is described by this. It is in no signature.
    fn verify(&self, key_info: &str, trust: Trust) -> Result<VerifiedMessage, Error> {
        let message = self.message(CertificateForm::IssuerSerial);
        let start = message.find("<ds:KeyInfo>").unwrap() + "<ds:KeyInfo>".len();
        let end = message.find("</ds:KeyInfo>").unwrap();
        let message = format!("{}{key_info}{}", &message[..start], &message[end..]);
        Policy::signed_by(trust).with_clock(now).verify(message.as_bytes()).now_or_never().unwrap()
    }
}

fn read(certificate: &rcgen::Certificate) -> Certificate {
    Certificate::from_der(certificate.der()).unwrap()
}

/// Returns a value in DER, of less than 64 KiB.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[tag, 0x82], &length[..], content].concat()
}

fn reference(content: &str) -> String {
    format!("<wsse:SecurityTokenReference>{content}</wsse:SecurityTokenReference>")
}

fn data(content: &str) -> String {
    format!("<ds:X509Data>{content}</ds:X509Data>")
}

fn token(kind: &str, content: &[u8]) -> String {
    let content = STANDARD.encode(content);
    format!(
        "<wsse:BinarySecurityToken ValueType=\"{OASIS}x509-token-profile-1.0#{kind}\">{content}</wsse:BinarySecurityToken>"
    )
}

fn embedded(content: &str) -> String {
    reference(&format!("<wsse:Embedded>{content}</wsse:Embedded>"))
}

fn identifier(kind: &str, content: &str) -> String {
    reference(&format!("<wsse:KeyIdentifier ValueType=\"{kind}\">{content}</wsse:KeyIdentifier>"))
}

/// How the signer is known if these are trusted: the certificate, its authority, its key, or somebody else.
#[derive(Clone, Copy)]
struct Found {
    certificate: Result<(), ErrorKind>,
    authority: Result<(), ErrorKind>,
    key: Result<(), ErrorKind>,
    stranger: ErrorKind,
}

#[test]
fn trust_decides_about_every_form() {
    use ErrorKind::{Signature, UnknownKey, Untrusted};
    let parties = Parties::new();
    let Parties { key, certificate, authority, stranger } = &parties;
    let encoded = STANDARD.encode(certificate.der());
    let path = der(0x30, &[authority.der(), certificate.der()].concat());
    let issuer_serial = "<ds:X509IssuerSerial><ds:X509IssuerName>CN=authority</ds:X509IssuerName><ds:X509SerialNumber>7</ds:X509SerialNumber></ds:X509IssuerSerial>";
    let by_identifier = parties.key_info(CertificateForm::KeyIdentifier);
    let subject_key =
        by_identifier.split('>').find_map(|text| text.strip_suffix("</wsse:KeyIdentifier")).unwrap().to_owned();
    let digest = STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, certificate.der()));
    let point = STANDARD.encode(key.der_bytes());
    let value = STANDARD.encode(key.subject_public_key_info());

    // A certificate that is there itself may be one of an authority.
    let whole = Found { certificate: Ok(()), authority: Ok(()), key: Ok(()), stranger: Untrusted };
    // One that is only described must be known. The stranger has the same subject, but another issuer and another key.
    let described =
        Found { certificate: Ok(()), authority: Err(UnknownKey), key: Err(UnknownKey), stranger: UnknownKey };
    // The certificate of the stranger is found, whose key is another.
    let by_subject = Found { stranger: Signature, ..described };
    let by_name = Found { certificate: Err(UnknownKey), key: Ok(()), ..described };
    let by_value = Found { certificate: Ok(()), key: Ok(()), ..described };
    // What is not supported is named, if nothing else leads to a key.
    let partly = Found {
        authority: Err(ErrorKind::Unsupported),
        key: Err(ErrorKind::Unsupported),
        stranger: ErrorKind::Unsupported,
        ..described
    };
    let cases = [
        ("X509Certificate", data(&format!("<ds:X509Certificate>{encoded}</ds:X509Certificate>")), whole),
        (
            "X509Data with all of it",
            data(&format!(
                "{issuer_serial}<ds:X509Certificate>{encoded}</ds:X509Certificate><ds:X509SKI>{subject_key}</ds:X509SKI>"
            )),
            whole,
        ),
        ("X509IssuerSerial", data(issuer_serial), described),
        ("X509IssuerSerial, referred to", reference(&data(issuer_serial)), described),
        ("X509SKI", data(&format!("<ds:X509SKI>{subject_key}</ds:X509SKI>")), described),
        ("X509SubjectName", data("<ds:X509SubjectName>CN=ann</ds:X509SubjectName>"), by_subject),
        (
            "X509Digest",
            data(&format!(
                "<d:X509Digest xmlns:d=\"{DSIG11}\" Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\">{digest}</d:X509Digest>"
            )),
            described,
        ),
        ("issuer and serial number", parties.key_info(CertificateForm::IssuerSerial), described),
        ("key identifier", by_identifier, described),
        ("thumbprint", parties.key_info(CertificateForm::Thumbprint), described),
        (
            "a certificate as key identifier",
            identifier(&format!("{OASIS}x509-token-profile-1.0#X509v3"), &encoded),
            whole,
        ),
        ("an embedded certificate", embedded(&token("X509v3", certificate.der())), whole),
        ("an embedded path", embedded(&token("X509PKIPathv1", &path)), whole),
        ("KeyName", "<ds:KeyName>ann</ds:KeyName>".to_owned(), by_name),
        ("KeyName, referred to", reference("<ds:KeyName>ann</ds:KeyName>"), by_name),
        (
            "ECKeyValue",
            format!(
                "<ds:KeyValue><d:ECKeyValue xmlns:d=\"{DSIG11}\"><d:NamedCurve URI=\"urn:oid:1.2.840.10045.3.1.7\"/><d:PublicKey>{point}</d:PublicKey></d:ECKeyValue></ds:KeyValue>"
            ),
            by_value,
        ),
        (
            "DEREncodedKeyValue",
            format!("<d:DEREncodedKeyValue xmlns:d=\"{DSIG11}\">{value}</d:DEREncodedKeyValue>"),
            by_value,
        ),
        (
            "several descriptions",
            format!("<ds:KeyName>nobody</ds:KeyName><ds:PGPData/>{}", data(issuer_serial)),
            partly,
        ),
    ];
    for (name, key_info, found) in cases {
        let public = PublicKey::from_der(&key.subject_public_key_info()).unwrap();
        let signers = [
            (
                Trust::new().with_certificate(certificate.clone()),
                found.certificate,
                Signer::Certificate(certificate.clone()),
            ),
            (Trust::new().with_authority(authority.clone()), found.authority, Signer::Certificate(certificate.clone())),
            (Trust::new().with_key("ann", public), found.key, Signer::Key("ann".to_owned())),
            (Trust::new().with_certificate(stranger.clone()), Err(found.stranger), Signer::Anyone),
        ];
        for (number, (trust, expected, signer)) in signers.into_iter().enumerate() {
            let verified = parties.verify(&key_info, trust);
            let verified = verified.map(|verified| verified.signer().cloned());
            match expected {
                Ok(()) => assert_eq!(verified, Ok(Some(signer)), "{name}, {number}"),
                Err(kind) => assert_eq!(verified.map_err(|error| error.kind()), Err(kind), "{name}, {number}"),
            }
        }
    }
}

#[test]
fn other_forms_are_refused_by_name() {
    use ErrorKind::{Limit, Malformed, Reference, Unsupported};
    let parties = Parties::new();
    let trust = || Trust::new().with_certificate(parties.certificate.clone());
    let encoded = STANDARD.encode(parties.certificate.der());
    let named = |element: &str| format!("the key is described by <{element}>, which is not supported");
    let xenc = "xmlns:x=\"http://www.w3.org/2001/04/xmlenc#\"";
    let wsc = "xmlns:c=\"http://docs.oasis-open.org/ws-sx/ws-secureconversation/200512\"";
    let saml = "xmlns:a=\"urn:oasis:names:tc:SAML:2.0:assertion\"";
    let of_kind = |kind: &str| {
        format!("the key is described by <wsse:KeyIdentifier> of the type \"{kind}\", which is not supported")
    };
    let encrypted = format!("{WSS11}soap-message-security-1.1#EncryptedKeySHA1");
    let kerberos = format!("{WSS11}kerberos-token-profile-1.1#Kerberosv5APREQSHA1");
    let reading = |uri: &str| reference(&format!("<wsse:Reference URI=\"{uri}\"/>"));
    let twice = token("X509v3", parties.certificate.der()).repeat(2);
    let cases = [
        ("<ds:RetrievalMethod URI=\"#k\"/>".to_owned(), Unsupported, named("ds:RetrievalMethod")),
        (format!("<d:KeyInfoReference xmlns:d=\"{DSIG11}\" URI=\"#k\"/>"), Unsupported, named("d:KeyInfoReference")),
        ("<ds:PGPData/>".to_owned(), Unsupported, named("ds:PGPData")),
        ("<ds:SPKIData/>".to_owned(), Unsupported, named("ds:SPKIData")),
        ("<ds:MgmtData/>".to_owned(), Unsupported, named("ds:MgmtData")),
        (format!("<x:EncryptedKey {xenc}/>"), Unsupported, named("x:EncryptedKey")),
        ("<ds:KeyValue><k xmlns=\"urn:k\"/></ds:KeyValue>".to_owned(), Unsupported, named("k")),
        (identifier(&encrypted, "AAAA"), Unsupported, of_kind(&encrypted)),
        (identifier(&kerberos, "AAAA"), Unsupported, of_kind(&kerberos)),
        (embedded(&format!("<x:EncryptedKey {xenc}/>")), Unsupported, named("x:EncryptedKey")),
        (embedded(&format!("<c:SecurityContextToken {wsc}/>")), Unsupported, named("c:SecurityContextToken")),
        (embedded(&format!("<c:DerivedKeyToken {wsc}/>")), Unsupported, named("c:DerivedKeyToken")),
        (embedded("<wsse:UsernameToken/>"), Unsupported, named("wsse:UsernameToken")),
        (embedded(&format!("<a:EncryptedAssertion {saml}/>")), Unsupported, named("a:EncryptedAssertion")),
        (embedded(&token("Kerberosv5", b"AAAA")), Unsupported, "the token".to_owned()),
        (reading("http://127.0.0.1/token"), Unsupported, "the token outside the message".to_owned()),
        (reading("cid:token"), Unsupported, "the token outside the message".to_owned()),
        (reading("#nowhere"), Reference, "no token of the message has the id \"nowhere\"".to_owned()),
        (reading("#body-1"), Reference, "no token of the message has the id \"body-1\"".to_owned()),
        (reference(""), Malformed, "to 0 tokens".to_owned()),
        (embedded(""), Malformed, "to 0 tokens".to_owned()),
        (embedded(&twice), Malformed, "to 2 tokens".to_owned()),
        (
            reference(&data("<ds:X509SKI>AAAA</ds:X509SKI><ds:X509SubjectName>CN=ann</ds:X509SubjectName>")),
            Malformed,
            "to 2 tokens".to_owned(),
        ),
        (
            embedded(&format!("<ds:X509Certificate>{encoded}</ds:X509Certificate>")),
            Unsupported,
            named("ds:X509Certificate"),
        ),
        (
            format!("<ds:KeyName>{}</ds:KeyName>", "x").repeat(17),
            Limit,
            "more than 16 keys and certificates".to_owned(),
        ),
        (
            embedded(&token("X509PKIPathv1", &der(0x30, &parties.certificate.der().repeat(18)))),
            Limit,
            "a path of more than 16 certificates".to_owned(),
        ),
        (embedded(&twice.repeat(9)), Limit, "more than 16 keys and certificates".to_owned()),
    ];
    for (key_info, kind, text) in cases {
        let error = parties.verify(&key_info, trust()).unwrap_err();
        assert!(error.kind() == kind && error.message().contains(&text), "{key_info}: {:?} {error}", error.kind());
    }
}
