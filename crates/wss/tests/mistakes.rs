//! What a program that signs does wrong is said before anything is sent.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use castile_soap::{MessageSecurity, Written};
use castile_wss::document::{DocumentSigner, DocumentVerifier};
use castile_wss::message::{ClientSecurity, OutgoingSecurity, Part, Policy};
use castile_wss::{
    Certificate, Error, ErrorKind, PrivateKey, PublicKey, RevocationList, Secret, SignatureAlgorithm, SigningKey, Trust,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};

const ORDER: &str = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><x:note xmlns:x='urn:x'>tea</x:note></s:Header><s:Body><order/></s:Body></s:Envelope>";

/// A key, its certificate, and that of its issuer, as PEM.
struct Owner {
    key: String,
    certificate: String,
    issuer: String,
}

impl Owner {
    fn new(name: &str, algorithm: &'static rcgen::SignatureAlgorithm) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, format!("issuer of {name}"));
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate_for(algorithm).unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::ExplicitNoCa;
        let certificate = params.signed_by(&key, &issuer).unwrap().pem();
        Owner { key: key.serialize_pem(), certificate, issuer: issuer.pem() }
    }

    fn key(&self) -> PrivateKey {
        PrivateKey::from_pem(self.key.as_bytes()).unwrap()
    }

    fn certificate(&self) -> Certificate {
        Certificate::from_pem(self.certificate.as_bytes()).unwrap()
    }
}

fn secured(security: &OutgoingSecurity) -> Result<Vec<u8>, Error> {
    security.secure(ORDER.as_bytes()).now_or_never().unwrap()
}

fn sign(signer: &DocumentSigner) -> Result<Vec<u8>, Error> {
    signer.sign(b"<order/>").now_or_never().unwrap()
}

fn refused<T>(result: Result<T, Error>, kind: ErrorKind, text: &str) {
    let error = result.err().unwrap_or_else(|| panic!("accepted, where an error was expected: {text}"));
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, text));
}

#[test]
fn a_key_has_its_own_certificate() {
    for algorithm in [&rcgen::PKCS_ED25519, &rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_RSA_SHA256] {
        let [ann, bob] = ["ann", "bob"].map(|name| Owner::new(name, algorithm));
        let chains = [
            ann.certificate.clone(),
            format!("{}{}", ann.certificate, ann.issuer),
            format!("{}{}", ann.issuer, ann.certificate),
        ];
        for chain in chains {
            let certificates = Certificate::from_pem_bundle(chain.as_bytes()).unwrap();
            assert_eq!(Certificate::of_key(&ann.key(), &certificates), Ok(&ann.certificate()));
            let security = OutgoingSecurity::from_pem(ann.key.as_bytes(), chain.as_bytes()).unwrap().with_timestamp();
            let message = secured(&security).unwrap();
            let policy = Policy::signed_by(Trust::from_pem(ann.certificate.as_bytes()).unwrap());
            assert!(policy.verify(&message).now_or_never().unwrap().is_ok());
            let signed = sign(&DocumentSigner::new(ann.key()).with_certificates(certificates.clone())).unwrap();
            let trust = Trust::new().with_authority(Certificate::from_pem(ann.issuer.as_bytes()).unwrap());
            assert!(DocumentVerifier::new(trust).verify(&signed).is_ok());
            let several = format!("{} certificates, the first of CN=", certificates.len());
            let found = if certificates.len() == 1 { "the certificate of CN=ann" } else { &several };
            let from_pem = OutgoingSecurity::from_pem(bob.key.as_bytes(), chain.as_bytes()).unwrap_err();
            assert!(from_pem.message().starts_with(found), "{from_pem}");
            let signer = DocumentSigner::new(bob.key()).with_certificates(certificates);
            assert_eq!(sign(&signer), Err(from_pem));
        }
        let text = "the certificate of CN=ann, where the certificate of the key that signs was expected";
        let security = OutgoingSecurity::new().with_signature(bob.key()).with_certificate(ann.certificate());
        refused(secured(&security), ErrorKind::Key, text);
    }
}

/// A key that is elsewhere.
#[derive(Debug)]
struct Remote(PrivateKey);

impl SigningKey for Remote {
    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }

    fn sign<'a>(&'a self, data: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
        self.0.sign(data)
    }
}

#[test]
fn keys_without_a_known_certificate() {
    let ann = Owner::new("ann", &rcgen::PKCS_ED25519);
    // It doesn't say which key it is.
    let security = OutgoingSecurity::new().with_signature(Remote(ann.key())).with_certificate(ann.certificate());
    assert!(secured(&security).is_ok());
    let security = OutgoingSecurity::new().with_signature(Secret::new("tea")).with_certificate(ann.certificate());
    refused(secured(&security), ErrorKind::Key, "a certificate and a shared secret, where a private key was expected");
    refused(
        Certificate::of_key(&ann.key(), &[]),
        ErrorKind::Key,
        "no certificate, where the certificate of the key that signs was expected",
    );
}

#[test]
fn what_is_to_be_signed_is_there() {
    let named = |local: &str| Part::Header { namespace: "urn:x".to_owned(), local: local.to_owned() };
    let security = || OutgoingSecurity::new().with_timestamp().with_signature(Secret::new("tea"));
    let policy = Policy::signed_by(Trust::new().with_secret("s", Secret::new("tea"))).without_replay_cache();
    for parts in [vec![Part::Body, named("note")], vec![Part::Body, Part::Addressing, Part::Attachments, named("note")]]
    {
        let message = secured(&security().with_signed(parts)).unwrap();
        let policy = policy.clone().with_signed([Part::Body, named("note")]).without_timestamp();
        let verified = policy.verify(&message).now_or_never().unwrap().unwrap();
        assert_eq!(verified.accepted_signature().unwrap().references.len(), 2);
    }
    for (part, found) in [
        (named("Note"), "the header block {urn:x}Note"),
        (Part::Header { namespace: "urn:y".to_owned(), local: "note".to_owned() }, "the header block {urn:y}note"),
        (Part::Username, "the user name"),
        (Part::Assertion, "the assertion"),
    ] {
        let text = format!("{found} is to be signed, and the message has none");
        refused(secured(&security().with_signed([Part::Body, part.clone()])), ErrorKind::Reference, &text);
        assert!(secured(&security().with_signed([Part::Body]).with_signed_if_present([part])).is_ok());
    }
    let untimed = OutgoingSecurity::new().with_signature(Secret::new("tea"));
    assert!(secured(&untimed).is_ok());
    refused(
        secured(&untimed.with_signed([Part::Body, Part::Timestamp])),
        ErrorKind::Reference,
        "the time stamp is to be signed, and the message has none",
    );
    // A part that is added is signed where it is.
    let message = secured(&security().with_signed_if_present([named("note")])).unwrap();
    let policy = policy.with_signed([Part::Body, named("note")]);
    assert!(policy.verify(&message).now_or_never().unwrap().is_ok());
    let unsigned = secured(&security()).unwrap();
    assert_eq!(policy.verify(&unsigned).now_or_never().unwrap().unwrap_err().kind(), ErrorKind::Unsigned);
}

#[test]
fn requests_that_nobody_confirms_are_not_sent() {
    let policy = Policy::signed_by(Trust::new().with_secret("s", Secret::new("tea")));
    let client = |requests: OutgoingSecurity| {
        let security = ClientSecurity::new(requests).with_answer_policy(policy.clone()).with_signature_confirmation();
        security.secure(&Written::new(ORDER.to_owned())).now_or_never().unwrap()
    };
    let signing = OutgoingSecurity::new().with_timestamp().with_signature(Secret::new("tea"));
    assert!(client(signing.clone()).is_ok());
    for requests in [
        OutgoingSecurity::new().with_timestamp(),
        signing.clone().with_signed([Part::Timestamp]),
        signing.with_signed([Part::Timestamp, Part::Addressing]),
    ] {
        let error = client(requests).unwrap_err().to_string();
        assert!(error.contains("no signature covers the body of the request"), "{error}");
    }
}

#[test]
fn files_of_another_form_are_named() {
    let ann = Owner::new("ann", &rcgen::PKCS_ECDSA_P256_SHA256);
    let der = KeyPair::from_pem(&ann.key).unwrap().serialize_der();
    let certificate = ann.certificate().der().to_vec();
    let of_key = |file: &[u8]| PrivateKey::from_pem(file).err().map(|error| error.to_string());
    let of_certificate = |file: &[u8]| {
        let bundle = Certificate::from_pem_bundle(file).err().map(|error| error.to_string());
        assert_eq!(Certificate::from_pem(file).err().map(|error| error.to_string()), bundle);
        bundle
    };
    let section = |label: &str| format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n").into_bytes();
    let pkcs12 = [
        &[0x30, 0x82, 9, 9, 2, 1, 3, 0x30, 0x82][..],
        &[0x30, 0x80, 2, 1, 3, 0x30, 0x80],
        &[0x30, 0x10, 2, 1, 3, 0x30, 0x0b],
    ];
    for pkcs12 in pkcs12 {
        let expected = |name: &str, options: &str| {
            Some(format!(
                "no {name} in PEM was found, but PKCS#12 (.p12, .pfx): `openssl pkcs12 -in FILE {options}` converts it"
            ))
        };
        assert_eq!(of_key(pkcs12), expected("private key", "-nocerts -nodes -out key.pem"));
        assert_eq!(PrivateKey::from_der(pkcs12).unwrap_err().to_string(), of_key(pkcs12).unwrap());
        assert_eq!(of_certificate(pkcs12), expected("certificate", "-nokeys -out certificate.pem"));
        assert_eq!(Certificate::from_der(pkcs12).unwrap_err().to_string(), of_certificate(pkcs12).unwrap());
    }
    for (file, found) in [
        (der.clone(), ", but DER: `openssl pkey -inform DER -in FILE -out key.pem` converts it"),
        (
            section("ENCRYPTED PRIVATE KEY"),
            ", but one that is encrypted: `openssl pkey -in FILE -out key.pem` decrypts it",
        ),
        (
            b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"
                .to_vec(),
            ", but one that is encrypted: `openssl pkey -in FILE -out key.pem` decrypts it",
        ),
        (ann.certificate.clone().into_bytes(), ", but a certificate"),
        (section("PUBLIC KEY"), ", but a public key"),
        (b"-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----\n".to_vec(), ", but one that can't be read"),
        (b"-----BEGIN ".to_vec(), ""),
        // Regression: with a dash too few, the label went on to the next dashes, and the key was in the error.
        (ann.key.replacen("-----\n", "----\n", 1).into_bytes(), ""),
        (b"tea".to_vec(), ""),
        (b"\n".to_vec(), ", but nothing: the file is empty"),
    ] {
        assert_eq!(of_key(&file), Some(format!("no private key in PEM was found{found}")));
    }
    for (file, found) in [
        (certificate, ", but DER: `openssl x509 -inform DER -in FILE -out certificate.pem` converts it"),
        (
            section("PKCS7"),
            ", but PKCS#7 (.p7b): `openssl pkcs7 -print_certs -in FILE -out certificate.pem` converts it",
        ),
        (ann.key.clone().into_bytes(), ", but a private key"),
        (section("CERTIFICATE REQUEST"), ", but a request (CSR), for which an authority issues the certificate"),
        (section("X509 CRL"), ", but a list of revoked certificates"),
        (section("SSH2 KEY"), ", but SSH2 KEY"),
        (vec![0x30], ", but DER: `openssl x509 -inform DER -in FILE -out certificate.pem` converts it"),
    ] {
        assert_eq!(of_certificate(&file), Some(format!("no certificate in PEM was found{found}")));
    }
    for (file, found) in [
        (
            ann.certificate.clone().into_bytes(),
            ", but a certificate: `openssl x509 -in FILE -pubkey -noout -out public.pem` converts it",
        ),
        (
            ann.key.clone().into_bytes(),
            ", but a private key: `openssl pkey -in FILE -pubout -out public.pem` converts it",
        ),
    ] {
        let error = PublicKey::from_pem(&file).unwrap_err().to_string();
        assert_eq!(error, format!("no public key in PEM was found{found}"));
    }
    for (file, found) in [
        (vec![0x30], ", but DER: `openssl crl -inform DER -in FILE -out list.pem` converts it"),
        (ann.certificate.clone().into_bytes(), ", but a certificate"),
    ] {
        let expected = Some(format!("no list of revoked certificates in PEM was found{found}"));
        assert_eq!(RevocationList::from_pem(&file).err().map(|error| error.to_string()), expected);
        assert_eq!(RevocationList::from_pem_bundle(&file).err().map(|error| error.to_string()), expected);
    }
    assert!(PrivateKey::from_der(&der).is_ok());
}
