//! Signed documents: what is signed verifies, and nothing else does.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_wss::document::{DocumentSigner, DocumentVerifier, Place};
use castile_wss::{
    Algorithms, Certificate, DigestAlgorithm, Error, ErrorKind, PrivateKey, PublicKey, Secret, SignatureAlgorithm,
    Signer, SigningKey, Trust, VerifiedContent,
};
use castile_xml::c14n::{self, Version};
use futures_util::FutureExt;
use rcgen::{CertificateParams, KeyPair, PublicKeyData, SignatureAlgorithm as KeyAlgorithm};

const INVOICE: &str = "<invoice xmlns='urn:invoice' xmlns:x='urn:x' Id='i1'>\n  <!-- draft --><total x:currency='EUR'>12 &lt; 13</total>\n  <issuer/>\n</invoice>";

/// A key with its certificate, which an authority issued.
struct Owner {
    key: KeyPair,
    certificate: Certificate,
    authority: Certificate,
}

impl Owner {
    fn new(algorithm: &'static KeyAlgorithm) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, "Authority");
        let authority_key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&authority_key).unwrap();
        let issuer = rcgen::Issuer::new(params, authority_key);
        let key = KeyPair::generate_for(algorithm).unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(rcgen::DnType::CommonName, "Owner");
        let certificate = params.signed_by(&key, &issuer).unwrap();
        Owner {
            key,
            certificate: Certificate::from_der(certificate.der()).unwrap(),
            authority: Certificate::from_der(authority.der()).unwrap(),
        }
    }

    fn key(&self) -> PrivateKey {
        PrivateKey::from_pem(self.key.serialize_pem().as_bytes()).unwrap()
    }

    fn signer(&self) -> DocumentSigner {
        DocumentSigner::new(self.key()).with_certificates(vec![self.certificate.clone()])
    }

    fn trust(&self) -> Trust {
        Trust::new().with_authority(self.authority.clone())
    }
}

fn signed(document: impl Future<Output = Result<Vec<u8>, Error>>) -> String {
    String::from_utf8(document.now_or_never().unwrap().unwrap()).unwrap()
}

fn refused(trust: Trust, document: &str) -> (ErrorKind, String) {
    let error = DocumentVerifier::new(trust).verify(document.as_bytes()).expect_err(document);
    (error.kind(), error.to_string())
}

/// Signs with a key, and adds the certificate of another one, which a signer refuses.
fn forged(key: impl SigningKey + 'static, certificate: &Certificate) -> String {
    let certificate = STANDARD.encode(certificate.der());
    let signed = signed(DocumentSigner::new(key).with_key_name("k").sign(INVOICE.as_bytes()));
    let name = "<ds:KeyName>k</ds:KeyName>";
    assert!(signed.contains(name));
    let data = format!("<ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data>");
    signed.replace(name, &data)
}

#[test]
fn every_kind_of_key_signs() {
    use DigestAlgorithm::{Sha256, Sha384, Sha512};
    use SignatureAlgorithm::{Ecdsa, Ed25519, RsaPkcs1, RsaPss};
    for (kind, algorithms) in [
        (
            &rcgen::PKCS_RSA_SHA256,
            &[RsaPkcs1(Sha256), RsaPkcs1(Sha384), RsaPkcs1(Sha512), RsaPss(Sha256), RsaPss(Sha384), RsaPss(Sha512)][..],
        ),
        (&rcgen::PKCS_ECDSA_P256_SHA256, &[Ecdsa(Sha256)]),
        (&rcgen::PKCS_ECDSA_P384_SHA384, &[Ecdsa(Sha384)]),
        (&rcgen::PKCS_ECDSA_P521_SHA512, &[Ecdsa(Sha512)]),
        (&rcgen::PKCS_ED25519, &[Ed25519]),
    ] {
        let owner = Owner::new(kind);
        for &algorithm in algorithms {
            let signer = DocumentSigner::new(owner.key().with_algorithm(algorithm).unwrap());
            let document = signed(signer.with_certificates(vec![owner.certificate.clone()]).sign(INVOICE.as_bytes()));
            let verified = DocumentVerifier::new(owner.trust()).verify(document.as_bytes()).unwrap();
            let [signature] = verified.signatures() else { panic!("{document}") };
            assert_eq!(signature.algorithm, algorithm);
            assert_eq!(signature.signer, Signer::Certificate(owner.certificate.clone()));
            assert!(verified.covers_document());
            // The key alone is enough.
            let key = PublicKey::from_der(&owner.key.subject_public_key_info()).unwrap();
            assert_eq!(owner.certificate.public_key(), &key);
            let alone = signed(DocumentSigner::new(owner.key()).with_key_name("k").sign(INVOICE.as_bytes()));
            let verified = DocumentVerifier::new(Trust::new().with_key("k", key)).verify(alone.as_bytes()).unwrap();
            assert_eq!(verified.signatures()[0].signer, Signer::Key("k".to_owned()));
        }
    }
}

#[test]
fn a_key_signs_only_with_its_algorithms() {
    let key = Owner::new(&rcgen::PKCS_ECDSA_P256_SHA256).key();
    let error = key.with_algorithm(SignatureAlgorithm::RsaPkcs1(DigestAlgorithm::Sha256)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    for (pem, expected) in [
        ("", "no private key in PEM was found"),
        (
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----",
            "no private key in PEM was found, but one that is encrypted",
        ),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "the private key can't be read"),
    ] {
        let error = PrivateKey::from_pem(pem.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
    }
}

#[test]
fn every_canonicalization_digest_and_prefix_signs() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    for version in [Version::Canonical10, Version::Canonical11, Version::Exclusive10] {
        for with_comments in [false, true] {
            for digest in
                [DigestAlgorithm::Sha256, DigestAlgorithm::Sha384, DigestAlgorithm::Sha512, DigestAlgorithm::Sha3_256]
            {
                for prefix in ["ds", "", "x"] {
                    let signer = owner
                        .signer()
                        .with_canonicalization(c14n::Algorithm { version, with_comments })
                        .with_digest(digest)
                        .with_prefix(prefix);
                    for document in [
                        signed(signer.sign(INVOICE.as_bytes())),
                        signed(signer.sign_element(INVOICE.as_bytes(), "i1")),
                        signed(signer.sign_enveloping(INVOICE.as_bytes())),
                        signed(signer.sign_detached(&[("https://example.com/a", b"a"), ("b", b"b")])),
                    ] {
                        let verifier = DocumentVerifier::new(owner.trust())
                            .with_content("https://example.com/a", *b"a")
                            .with_content("b", *b"b");
                        let verified = verifier.verify(document.as_bytes());
                        assert!(
                            verified.is_ok(),
                            "{version:?} {with_comments} {digest} {prefix}: {verified:?} {document}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn signatures_are_where_they_are_wanted() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    let place = |local: &str, is_after: bool| {
        let (namespace, local) = (Some("urn:invoice".to_owned()), local.to_owned());
        if is_after { Place::After { namespace, local } } else { Place::EndOf { namespace, local } }
    };
    for (place, before, after) in [
        (Place::EndOfRoot, "<issuer/>\n<", "</ds:Signature></invoice>"),
        (place("issuer", false), "<issuer><", "</ds:Signature></issuer>\n"),
        (place("issuer", true), "<issuer/><", "</ds:Signature>\n</invoice>"),
        (place("total", true), "</total><", "</ds:Signature>\n  <issuer/>"),
    ] {
        let document = signed(owner.signer().with_place(place).sign(INVOICE.as_bytes()));
        let (start, end) = (document.find("<ds:Signature").unwrap(), document.find("</ds:Signature>").unwrap());
        assert!(document[..start + 1].ends_with(before), "{document}");
        assert!(document[end..].starts_with(after), "{document}");
        assert!(DocumentVerifier::new(owner.trust()).verify(document.as_bytes()).unwrap().covers_document());
    }
    for (place, kind, message) in [
        (place("nothing", false), ErrorKind::Reference, "no element <nothing>"),
        (place("invoice", true), ErrorKind::Reference, "after the root element"),
    ] {
        let error = owner.signer().with_place(place).sign(INVOICE.as_bytes()).now_or_never().unwrap().unwrap_err();
        assert!(error.kind() == kind && error.message().contains(message), "{error}");
    }
    let error = owner.signer().sign_element(INVOICE.as_bytes(), "i2").now_or_never().unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Reference);
}

#[test]
fn documents_are_written_in_utf_8() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    for (document, start) in [
        (
            &b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>"[..],
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><a>\u{e9}<",
        ),
        (b"<?xml version='1.0'?><a>\xc3\xa9</a>", "<?xml version='1.0'?><a>\u{e9}<"),
        (b"\xef\xbb\xbf<a/>", "\u{feff}<a><"),
        (b"\xfe\xff\0<\0a\0/\0>", "<a><"),
        (b"<!DOCTYPE a [<!ENTITY e '1'>]><a>&e;</a>", "<!DOCTYPE a [<!ENTITY e '1'>]><a>&e;<"),
    ] {
        let document = signed(owner.signer().sign(document));
        assert!(document.starts_with(start), "{document}");
        let verifier = DocumentVerifier::new(owner.trust());
        assert!(verifier.clone().with_doctype().verify(document.as_bytes()).is_ok());
        assert_eq!(verifier.verify(document.as_bytes()).is_err(), document.contains("DOCTYPE"));
    }
}

/// What a prefix in a value means is signed, too.
#[test]
fn meanings_of_values_are_signed() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    let document = "<r Id='r1' xmlns='urn:d' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:p='urn:a'><x:q xmlns:x='urn:x' xsi:type='p:payment'/><x:q xmlns:x='urn:x' xsi:type='t'/></r>";
    for document in [
        signed(owner.signer().sign(document.as_bytes())),
        signed(owner.signer().sign_element(document.as_bytes(), "r1")),
        signed(owner.signer().sign_enveloping(document.as_bytes())),
    ] {
        let verifier = DocumentVerifier::new(owner.trust()).with_unsigned_prefixes();
        assert!(verifier.verify(document.as_bytes()).is_ok());
        for (from, to) in [("'urn:a'", "'urn:evil'"), ("'urn:d'", "'urn:evil'")] {
            let changed = document.replace(from, to);
            assert_eq!(
                verifier.verify(changed.as_bytes()).unwrap_err().kind(),
                ErrorKind::Digest,
                "{from}: {document}"
            );
        }
    }
}

/// Values without a prefix, whose type is a qualified name, have a meaning that nobody sees in them.
#[test]
fn nobody_declares_a_default_namespace_later() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    for (document, from, to) in [
        ("<p:r xmlns:p='urn:p' Id='i'><p:k>x</p:k></p:r>", "<p:k>", "<p:k xmlns='urn:evil'>"),
        ("<p:r xmlns:p='urn:p' Id='i'><p:k>x</p:k></p:r>", "<p:r ", "<p:r xmlns='urn:evil' "),
        ("<p:r xmlns:p='urn:p' Id='i' xmlns='urn:t'><p:k>x</p:k></p:r>", "xmlns='urn:t'", "xmlns='urn:evil'"),
        ("<p:r xmlns:p='urn:p' Id='i'><p:k xmlns='urn:t'>x</p:k></p:r>", "xmlns='urn:t'", "xmlns='urn:evil'"),
        ("<p:r xmlns:p='urn:p' Id='i'><p:k xmlns='urn:t'>x</p:k></p:r>", " xmlns='urn:t'", ""),
    ] {
        for signed in [
            signed(owner.signer().sign(document.as_bytes())),
            signed(owner.signer().sign_element(document.as_bytes(), "i")),
            signed(owner.signer().sign_enveloping(document.as_bytes())),
        ] {
            let verifier = DocumentVerifier::new(owner.trust()).with_unsigned_prefixes();
            assert!(verifier.verify(signed.as_bytes()).is_ok(), "{signed}");
            let changed = signed.replacen(from, to, 1);
            assert_ne!(signed, changed);
            assert_eq!(verifier.verify(changed.as_bytes()).unwrap_err().kind(), ErrorKind::Digest, "{changed}");
        }
    }
}

/// What was signed can be read alone.
#[test]
fn signed_content_is_extracted() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    let extracted = |document: &str| {
        let verified = DocumentVerifier::new(owner.trust()).verify(document.as_bytes()).unwrap();
        verified.extract(&verified.signatures()[0].references[0]).unwrap().unwrap()
    };
    let document =
        "<d xmlns='urn:d' xmlns:p='urn:p' xmlns:q='urn:q'><i Id='i' t='q:x' b='1' a='2'><p:x/>&#65;</i><i/></d>";
    let part = signed(owner.signer().sign_element(document.as_bytes(), "i"));
    let expected =
        "<i xmlns=\"urn:d\" xmlns:p=\"urn:p\" xmlns:q=\"urn:q\" Id=\"i\" a=\"2\" b=\"1\" t=\"q:x\"><p:x></p:x>A</i>";
    assert_eq!(extracted(&part).replace(" xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\"", ""), expected);
    // The default namespace is signed, and its values may need it.
    let document = "<p:i Id='i' xmlns:p='urn:p' xmlns='urn:t'><p:k>x</p:k></p:i>";
    let part = signed(owner.signer().sign_element(document.as_bytes(), "i"));
    assert!(extracted(&part).contains(" xmlns=\"urn:t\""), "{}", extracted(&part));
    // Who adds a declaration around it changes nothing that is read, if the signer hasn't signed that there is none.
    let document = "<p:d xmlns:p='urn:p'><p:i Id='i' t='q'/></p:d>";
    let part = signed_without_list(&owner, &signed(owner.signer().sign_element(document.as_bytes(), "i")));
    let part = part.replacen("<p:d ", "<p:d xmlns='urn:evil' ", 1);
    assert!(!extracted(&part).contains("urn:evil"), "{}", extracted(&part));
    // The signature in it is left out.
    let whole = signed(owner.signer().sign(b"<a> <b/></a>"));
    assert_eq!(extracted(&whole), "<a> <b></b></a>");
}

/// Returns the document as somebody signs its element `<p:i>` who omits the list of prefixes.
fn signed_without_list(owner: &Owner, document: &str) -> String {
    let canonical = |document: &str, start: &str| {
        let document = document.as_bytes();
        let mut reader = castile_xml::Reader::new(document, castile_xml::Limits::default()).unwrap();
        let exclusive = c14n::Algorithm { version: Version::Exclusive10, with_comments: false };
        let apex = document.windows(start.len()).position(|at| at == start.as_bytes());
        let mut out = String::new();
        let subset = c14n::Subset { apex, without: None };
        c14n::Method::new(exclusive).write(&mut reader, subset, |piece| out.push_str(piece)).unwrap();
        out
    };
    let with = |document: &str, tag: &str, value: &[u8]| {
        let (before, rest) = document.split_once(tag).unwrap();
        let (_, behind) = rest.split_once('<').unwrap();
        format!("{before}{tag}{}<{behind}", STANDARD.encode(value))
    };
    let (before, rest) = document.split_once("><ec:InclusiveNamespaces").unwrap();
    let (_, behind) = rest.split_once("</ds:Transform>").unwrap();
    let document = format!("{before}/>{behind}");
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, canonical(&document, "<p:i").as_bytes());
    let document = with(&document, "<ds:DigestValue>", digest.as_ref());
    let value = owner.key().sign(canonical(&document, "<ds:SignedInfo").as_bytes()).now_or_never().unwrap().unwrap();
    with(&document, "<ds:SignatureValue>", &value)
}

/// The id of the `Object` is a new one.
#[test]
fn what_is_enveloped_may_have_the_id_of_an_object() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    for (document, id) in [
        ("<a/>", "object"),
        ("<a Id='object'/>", "object-1"),
        ("<a xml:id='object'><b Id='object-1'/></a>", "object-2"),
    ] {
        let signature = signed(owner.signer().sign_enveloping(document.as_bytes()));
        let verified = DocumentVerifier::new(owner.trust()).verify(signature.as_bytes()).unwrap();
        assert_eq!(verified.signatures()[0].references[0].uri, format!("#{id}"));
    }
}

#[test]
fn verified_content_is_where_it_is_said_to_be() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    let document = "<r><a Id='a1'>1</a><b Id='b1'>2</b></r>";
    let once = signed(owner.signer().sign_element(document.as_bytes(), "a1"));
    let verified = DocumentVerifier::new(owner.trust()).verify(once.as_bytes()).unwrap();
    assert!(!verified.covers_document());
    let [signature] = verified.signatures() else { panic!("{once}") };
    let VerifiedContent::Element { range, without: None } = &signature.references[0].content else {
        panic!("{signature:?}")
    };
    assert_eq!(&verified.text()[range.clone()], "<a Id='a1'>1</a>");
    assert!(verified.text()[signature.range.clone()].starts_with("<ds:Signature"));
    // A second signature is beside the first.
    let twice = signed(owner.signer().sign_element(once.as_bytes(), "b1"));
    let verified = DocumentVerifier::new(owner.trust()).verify(twice.as_bytes()).unwrap();
    let uris: Vec<&str> = verified.signatures().iter().map(|signature| signature.references[0].uri.as_str()).collect();
    assert_eq!(uris, ["#a1", "#b1"]);
}

/// Every byte is changed in several ways, left out and doubled. What is accepted still says the same.
#[test]
fn changed_documents_are_refused() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    let exclusive = c14n::Method::new(c14n::Algorithm { version: Version::Exclusive10, with_comments: false });
    let verifier = DocumentVerifier::new(owner.trust());
    let document = signed(owner.signer().sign(INVOICE.as_bytes())).into_bytes();
    // What is signed, as far as the document's canonical form tells.
    let content = |document: &[u8]| -> Option<String> {
        let verified = verifier.verify(document).ok()?;
        assert!(verified.covers_document() && verified.signatures().len() == 1);
        let mut reader = castile_xml::Reader::new(verified.text().as_bytes(), castile_xml::Limits::default()).unwrap();
        let mut content = String::new();
        let without = Some(verified.signatures()[0].range.start);
        let subset = c14n::Subset { apex: None, without };
        exclusive.write(&mut reader, subset, |piece| content.push_str(piece)).unwrap();
        Some(content)
    };
    let expected = content(&document).unwrap();
    let (mut accepted, mut tried) = (0, 0);
    let mut random = fastrand::Rng::with_seed(7);
    for at in 0..document.len() {
        for change in 0..6 {
            let mut changed = document.clone();
            match change {
                0 => drop(changed.remove(at)),
                1 => changed.insert(at, document[at]),
                2 => changed[at] ^= 1 << random.u8(0..8),
                3 => changed[at] = b" <>&\"'/=:aA0-!"[random.usize(0..14)],
                4 => changed.swap(at, random.usize(0..document.len())),
                _ => {
                    let end = (at + random.usize(1..60)).min(document.len());
                    let piece = document[at..end].to_vec();
                    let to = random.usize(0..document.len());
                    drop(changed.splice(to..to, piece));
                }
            }
            tried += 1;
            if changed != document
                && let Some(content) = content(&changed)
            {
                assert_eq!(content, expected, "{}", String::from_utf8_lossy(&changed));
                accepted += 1;
            }
        }
    }
    // White space in tags, comments and line ends in base64 change nothing.
    assert!(accepted > 10 && accepted < tried / 10, "{accepted} of {tried}");
}

#[test]
fn strangers_are_not_trusted() {
    let (owner, stranger) = (Owner::new(&rcgen::PKCS_ED25519), Owner::new(&rcgen::PKCS_ED25519));
    let document = signed(stranger.signer().sign(INVOICE.as_bytes()));
    let (kind, message) = refused(owner.trust(), &document);
    assert!(
        kind == ErrorKind::Untrusted && message.contains("CN=Owner") && message.contains("did not issue it"),
        "{message}"
    );
    assert_eq!(refused(Trust::new(), &document).0, ErrorKind::Untrusted);
    assert!(DocumentVerifier::new(Trust::new().with_anyone()).verify(document.as_bytes()).is_ok());
    assert!(
        DocumentVerifier::new(Trust::new().with_certificate(stranger.certificate.clone()))
            .verify(document.as_bytes())
            .is_ok()
    );
    // The owner's certificate on a stranger's signature.
    assert_eq!(refused(owner.trust(), &forged(stranger.key(), &owner.certificate)).0, ErrorKind::Signature);
    // Without any description of the key.
    let document = signed(DocumentSigner::new(owner.key()).sign(INVOICE.as_bytes()));
    assert_eq!(refused(owner.trust(), &document).0, ErrorKind::UnknownKey);
    assert!(
        DocumentVerifier::new(Trust::new().with_certificate(owner.certificate.clone()))
            .verify(document.as_bytes())
            .is_ok()
    );
    // Before and after the certificate is valid.
    let document = signed(owner.signer().sign(INVOICE.as_bytes()));
    for trust in [owner.trust(), Trust::new().with_certificate(owner.certificate.clone())] {
        for (seconds, expected) in [(0, "not valid"), (253_370_764_801, "expired")] {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            let (kind, message) = refused(trust.clone().with_time(time), &document);
            assert!(kind == ErrorKind::Untrusted && message.contains(expected), "{message}");
        }
    }
}

/// A public key is known to everybody, so it must never be taken for a secret (CVE-2016-10555 is one of many).
#[test]
fn public_keys_are_no_secrets() {
    let owner = Owner::new(&rcgen::PKCS_ED25519);
    for secret in [owner.key.der_bytes(), owner.certificate.der()] {
        let forged = forged(Secret::new(secret), &owner.certificate);
        let trust = owner
            .trust()
            .with_certificate(owner.certificate.clone())
            .with_key("k", owner.certificate.public_key().clone());
        assert_eq!(refused(trust, &forged).0, ErrorKind::UnknownKey);
    }
    // And a secret is no public key.
    let trust = Trust::new().with_secret("s", Secret::new(*b"secret"));
    assert_eq!(refused(trust, &signed(owner.signer().sign(INVOICE.as_bytes()))).0, ErrorKind::Untrusted);
}

#[test]
fn secrets_are_chosen_by_name() {
    let [one, other] = [b"one", b"two"].map(|secret| Secret::new(*secret));
    let both = Trust::new().with_secret("one", one.clone()).with_secret("two", other);
    let named = signed(DocumentSigner::new(one.clone()).with_key_name("one").sign(INVOICE.as_bytes()));
    let verified = DocumentVerifier::new(both.clone()).verify(named.as_bytes()).unwrap();
    assert_eq!(verified.signatures()[0].signer, Signer::Secret("one".to_owned()));
    let unnamed = signed(DocumentSigner::new(one.clone()).sign(INVOICE.as_bytes()));
    assert_eq!(refused(both.clone(), &unnamed).0, ErrorKind::UnknownKey);
    assert_eq!(refused(both, &named.replace(">one<", ">two<")).0, ErrorKind::Signature);
    assert_eq!(format!("{one:?}"), "Secret");
}

/// A certificate of a key with 1,024 bits, which nothing here makes.
#[test]
fn short_keys_are_refused_by_default() {
    let modulus: Vec<u8> = (0..128).map(|byte| byte | 0x80).collect();
    let key = PublicKey::rsa(&modulus, &[1, 0, 1]);
    let owner = Owner::new(&rcgen::PKCS_RSA_SHA256);
    let document = signed(DocumentSigner::new(owner.key()).with_key_name("k").sign(INVOICE.as_bytes()));
    let verifier = DocumentVerifier::new(Trust::new().with_key("k", key));
    let error = verifier.verify(document.as_bytes()).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Disallowed, "a key for RSA of 1024 bits, where 2048 are the least that is allowed")
    );
    let legacy = verifier.with_algorithms(Algorithms::default().with_legacy());
    assert_eq!(legacy.verify(document.as_bytes()).unwrap_err().kind(), ErrorKind::Signature);
}

/// Regression test: these keys were said to have made another signature. AWS-LC has no such algorithm for them.
#[test]
fn short_keys_are_not_for_each_algorithm() {
    use DigestAlgorithm::{Sha256, Sha384, Sha512};
    use SignatureAlgorithm::{RsaPkcs1, RsaPss};
    let modulus: Vec<u8> = (0..128).map(|byte| byte | 0x80).collect();
    let trust = Trust::new().with_key("k", PublicKey::rsa(&modulus, &[1, 0, 1]));
    let verifier = DocumentVerifier::new(trust).with_algorithms(Algorithms::default().with_legacy());
    let owner = Owner::new(&rcgen::PKCS_RSA_SHA256);
    for (algorithm, is_there) in [
        (RsaPkcs1(Sha256), true),
        (RsaPkcs1(Sha384), false),
        (RsaPkcs1(Sha512), true),
        (RsaPss(Sha256), false),
        (RsaPss(Sha384), false),
        (RsaPss(Sha512), false),
    ] {
        let signer = DocumentSigner::new(owner.key().with_algorithm(algorithm).unwrap()).with_key_name("k");
        let error = verifier.verify(signed(signer.sign(INVOICE.as_bytes())).as_bytes()).unwrap_err();
        match is_there || cfg!(feature = "openssl") {
            true => assert_eq!(error.kind(), ErrorKind::Signature, "{algorithm}"),
            false => {
                let needed = "which needs the feature `openssl` of castile-wss";
                let expected = format!("a signature by {algorithm} with a key for RSA of 1024 bits, {needed}");
                assert_eq!((error.kind(), error.message()), (ErrorKind::Unsupported, expected.as_str()));
            }
        }
    }
}

#[test]
fn weak_algorithms_are_refused_by_default() {
    let secret = Secret::new(*b"secret");
    let document =
        signed(DocumentSigner::new(secret.clone()).with_digest(DigestAlgorithm::Sha1).sign(INVOICE.as_bytes()));
    let trust = Trust::new().with_secret("s", secret);
    assert_eq!(refused(trust.clone(), &document).0, ErrorKind::Disallowed);
    let verifier = DocumentVerifier::new(trust).with_algorithms(Algorithms::default().with_legacy());
    assert!(verifier.verify(document.as_bytes()).is_ok());
}

/// A key may be on another machine, so that signing is spawned like any other call.
#[test]
fn signing_can_be_spawned() {
    fn is_send(_: impl Send) {}
    let signer = Owner::new(&rcgen::PKCS_ED25519).signer();
    is_send(signer.sign(b"<a/>"));
    is_send(signer.sign_element(b"<a/>", "a"));
    is_send(signer.sign_enveloping(b"<a/>"));
    is_send(signer.sign_detached(&[]));
}
