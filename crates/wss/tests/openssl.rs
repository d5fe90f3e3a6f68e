//! What the feature `openssl` adds, and what is said without it. `openssl/make` has made the files.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs;
use std::path::Path;

use castile_wss::document::DocumentVerifier;
use castile_wss::{
    Algorithms, Certificate, DigestAlgorithm, ErrorKind, PrivateKey, PublicKey, SignatureAlgorithm, Trust,
};

const CURVES: [&str; 3] = ["brainpoolP256r1", "brainpoolP384r1", "brainpoolP512r1"];

fn file(name: &str) -> Vec<u8> {
    fs::read(Path::new("tests/openssl").join(name)).unwrap()
}

fn rsa() -> PrivateKey {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    PrivateKey::from_pem(key.serialize_pem().as_bytes()).unwrap()
}

/// Keys that nothing here can use say what they are.
#[test]
fn other_keys_are_refused_by_name() {
    let error = PrivateKey::from_pem(&file("secp256k1.key")).unwrap_err();
    let message = "a key on the curve 1.3.132.0.10, which is not supported";
    assert_eq!((error.kind(), error.message()), (ErrorKind::Key, message));
    let error = PublicKey::from_pem(&file("explicit.pem")).unwrap_err();
    assert_eq!(error.message(), "a key on a curve without a name, which is not supported");
    let unreadable = "the private key can't be read, or can't be used to sign: DSA is only verified";
    assert_eq!(PrivateKey::from_der(&file("encrypted.der")).unwrap_err().message(), unreadable);
    let short = PrivateKey::from_pem(&file("rsa1024.key")).unwrap_err();
    assert!(short.message().starts_with("a private key for RSA of 1024 bits, where 2048 are the least"), "{short}");
    if cfg!(feature = "openssl") {
        assert_eq!(PrivateKey::from_pem(&file("dsa.key")).unwrap_err().message(), unreadable);
    }
}

#[cfg(not(feature = "openssl"))]
#[test]
fn keys_that_need_the_feature_say_so() {
    let feature = "which needs the feature `openssl` of castile-wss";
    for curve in CURVES {
        let expected = format!("a key for ECDSA on {curve}, {feature}");
        for name in [format!("{curve}.key"), format!("{curve}.sec1.key")] {
            assert_eq!(PrivateKey::from_pem(&file(&name)).unwrap_err().message(), expected);
        }
        assert_eq!(Certificate::from_pem(&file(&format!("{curve}.pem"))).unwrap_err().message(), expected);
        let error = DocumentVerifier::new(Trust::new()).verify(&file(&format!("{curve}.xml"))).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Key, expected.as_str()));
    }
    for (name, kind) in [("dsa.key", "DSA"), ("ed448.key", "Ed448")] {
        let error = PrivateKey::from_pem(&file(name)).unwrap_err();
        assert_eq!(error.message(), format!("a key for {kind}, {feature}"));
    }
    let error = PublicKey::from_pem(&file("dsa-sha1.pem")).unwrap_err();
    assert_eq!(error.message(), format!("a key for DSA, {feature}"));
    // The key is only described by what is not supported.
    let trust = Trust::new().with_anyone();
    let verifier = DocumentVerifier::new(trust).with_algorithms(Algorithms::default().with_legacy());
    let error = verifier.verify(&file("dsa-sha1.xml")).unwrap_err();
    assert_eq!(error.message(), "the key is described by <DSAKeyValue>, which is not supported");
    let error = rsa().with_legacy_algorithm(SignatureAlgorithm::RsaPkcs1(DigestAlgorithm::Sha1)).unwrap_err();
    let expected = format!("the private key can't sign by RSA with SHA-1, {feature}");
    assert_eq!((error.kind(), error.message()), (ErrorKind::Key, expected.as_str()));
}

#[test]
fn keys_sign_by_weak_algorithms_only_if_told_so() {
    for algorithm in
        [SignatureAlgorithm::RsaPkcs1(DigestAlgorithm::Sha1), SignatureAlgorithm::RsaPss(DigestAlgorithm::Sha224)]
    {
        let error = rsa().with_algorithm(algorithm).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Disallowed, "{error}");
    }
}

#[cfg(feature = "openssl")]
mod with {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use castile_wss::document::DocumentSigner;
    use castile_wss::message::{CertificateForm, OutgoingSecurity, Policy};
    use castile_wss::{Curve, Error, Signer, SigningKey};
    use futures_util::FutureExt;
    use futures_util::future::{BoxFuture, ready};
    use openssl::asn1::Asn1Time;
    use openssl::bn::{BigNum, BigNumContext};
    use openssl::ec::{EcGroup, EcKey};
    use openssl::hash::MessageDigest;
    use openssl::nid::Nid;
    use openssl::pkey::{PKey, Private};
    use openssl::x509::extension::BasicConstraints;
    use openssl::x509::{X509, X509Name, X509NameBuilder};

    use super::*;

    const NIDS: [Nid; 3] = [Nid::BRAINPOOL_P256R1, Nid::BRAINPOOL_P384R1, Nid::BRAINPOOL_P512R1];
    const INVOICE: &[u8] = b"<invoice xmlns='urn:invoice'><total>12</total></invoice>";

    fn text(name: &str) -> String {
        String::from_utf8(file(name)).unwrap()
    }

    fn group(nid: Nid) -> EcGroup {
        EcGroup::from_curve_name(nid).unwrap()
    }

    /// Returns a new key on a curve.
    fn generated(nid: Nid) -> PKey<Private> {
        PKey::from_ec_key(EcKey::generate(&group(nid)).unwrap()).unwrap()
    }

    fn private(key: &PKey<Private>) -> PrivateKey {
        PrivateKey::from_der(&key.private_key_to_pkcs8().unwrap()).unwrap()
    }

    fn public(key: &PKey<Private>) -> PublicKey {
        PublicKey::from_der(&key.public_key_to_der().unwrap()).unwrap()
    }

    fn named(name: &str) -> X509Name {
        let mut builder = X509NameBuilder::new().unwrap();
        builder.append_entry_by_text("CN", name).unwrap();
        builder.build()
    }

    /// Issues a certificate for a key. It is that of an authority if it has the name of one.
    fn issued(key: &PKey<Private>, name: &str, issuer: (&PKey<Private>, &str), digest: MessageDigest) -> Certificate {
        let mut builder = X509::builder().unwrap();
        builder.set_version(2).unwrap();
        builder.set_serial_number(&BigNum::from_u32(7).unwrap().to_asn1_integer().unwrap()).unwrap();
        builder.set_subject_name(&named(name)).unwrap();
        builder.set_issuer_name(&named(issuer.1)).unwrap();
        builder.set_not_before(&Asn1Time::days_from_now(0).unwrap()).unwrap();
        builder.set_not_after(&Asn1Time::days_from_now(1).unwrap()).unwrap();
        builder.set_pubkey(key).unwrap();
        let mut constraints = BasicConstraints::new();
        if name.starts_with("Authority") {
            constraints.ca();
        }
        builder.append_extension(constraints.critical().build().unwrap()).unwrap();
        builder.sign(issuer.0, digest).unwrap();
        Certificate::from_der(&builder.build().to_der().unwrap()).unwrap()
    }

    fn signed(signer: &DocumentSigner) -> String {
        String::from_utf8(signer.sign(INVOICE).now_or_never().unwrap().unwrap()).unwrap()
    }

    fn verify(trust: Trust, document: &str) -> Result<(Signer, SignatureAlgorithm), Error> {
        verify_by(Algorithms::default(), trust, document)
    }

    fn verify_by(algorithms: Algorithms, trust: Trust, document: &str) -> Result<(Signer, SignatureAlgorithm), Error> {
        let verified = DocumentVerifier::new(trust).with_algorithms(algorithms).verify(document.as_bytes())?;
        assert!(verified.covers_document());
        let [signature] = verified.signatures() else { panic!("{document}") };
        Ok((signature.signer.clone(), signature.algorithm))
    }

    fn refused(trust: Trust, document: &str) -> ErrorKind {
        verify(trust, document).expect_err(document).kind()
    }

    #[test]
    fn keys_on_brainpool_curves_sign_documents() {
        use DigestAlgorithm::{Sha256, Sha384, Sha512};
        for (nid, own) in NIDS.into_iter().zip([Sha256, Sha384, Sha512]) {
            let [authority, owner] = [generated(nid), generated(nid)];
            let digests = [
                (Sha256, MessageDigest::sha256()),
                (Sha384, MessageDigest::sha384()),
                (Sha512, MessageDigest::sha512()),
            ];
            for (digest, of_certificate) in digests {
                let certificate = issued(&owner, "Owner", (&authority, "Authority"), of_certificate);
                let root = issued(&authority, "Authority", (&authority, "Authority"), of_certificate);
                for der in
                    [owner.private_key_to_pkcs8().unwrap(), owner.ec_key().unwrap().private_key_to_der().unwrap()]
                {
                    let key = PrivateKey::from_der(&der).unwrap();
                    assert_eq!(key.algorithm(), SignatureAlgorithm::Ecdsa(own));
                    let key = key.with_algorithm(SignatureAlgorithm::Ecdsa(digest)).unwrap();
                    let signer = DocumentSigner::new(key).with_certificates(vec![certificate.clone()]);
                    let document = signed(&signer);
                    let expected = (Signer::Certificate(certificate.clone()), SignatureAlgorithm::Ecdsa(digest));
                    for trust in
                        [Trust::new().with_certificate(certificate.clone()), Trust::new().with_authority(root.clone())]
                    {
                        assert_eq!(verify(trust, &document).unwrap(), expected);
                    }
                    // The key is trusted, whoever issued a certificate for it.
                    let by_key = (Signer::Key("k".to_owned()), SignatureAlgorithm::Ecdsa(digest));
                    assert_eq!(verify(Trust::new().with_key("k", public(&owner)), &document).unwrap(), by_key);
                    let other = Trust::new().with_key("k", public(&authority));
                    assert_eq!(refused(other, &document), ErrorKind::Untrusted);
                }
            }
        }
    }

    #[test]
    fn keys_on_brainpool_curves_sign_messages() {
        let message = "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Body><o:order xmlns:o='urn:o'/></s:Body></s:Envelope>";
        for curve in CURVES {
            let certificate = Certificate::from_pem(&file(&format!("{curve}.pem"))).unwrap();
            let authority = Certificate::from_pem(&file(&format!("{curve}-ca.pem"))).unwrap();
            for form in [CertificateForm::Token, CertificateForm::IssuerSerial, CertificateForm::Thumbprint] {
                let security = OutgoingSecurity::new()
                    .with_timestamp()
                    .with_signature(PrivateKey::from_pem(&file(&format!("{curve}.key"))).unwrap())
                    .with_certificate(certificate.clone())
                    .with_certificate_form(form);
                let secured = security.secure(message.as_bytes()).now_or_never().unwrap().unwrap();
                let trust = Trust::new().with_authority(authority.clone()).with_intermediate(certificate.clone());
                let policy = Policy::signed_by(trust);
                let verified = policy.verify(&secured).now_or_never().unwrap().unwrap();
                assert_eq!(verified.signer(), Some(&Signer::Certificate(certificate.clone())));
                let changed = String::from_utf8(secured).unwrap().replace("<o:order", "<o:other");
                assert!(policy.verify(changed.as_bytes()).now_or_never().unwrap().is_err());
            }
        }
    }

    #[test]
    fn documents_of_xmlsec1_are_verified() {
        for (curve, bits) in CURVES.into_iter().zip([256, 384, 512]) {
            let document = text(&format!("{curve}.xml"));
            let certificate = Certificate::from_pem(&file(&format!("{curve}.pem"))).unwrap();
            let authority = Certificate::from_pem(&file(&format!("{curve}-ca.pem"))).unwrap();
            for trust in
                [Trust::new().with_certificate(certificate.clone()), Trust::new().with_authority(authority.clone())]
            {
                let (signer, algorithm) = verify(trust.clone(), &document).unwrap();
                assert_eq!(signer, Signer::Certificate(certificate.clone()));
                assert_eq!(algorithm.uri().unwrap().rsplit('#').next(), Some(&*format!("ecdsa-sha{bits}")));
                assert_eq!(refused(trust.clone(), &document.replace(">12<", ">13<")), ErrorKind::Digest);
                let other =
                    document.replace("<Transforms>", "<Transforms >").replace("sha256\"/><Dig", "sha256\" /><Dig");
                assert!(verify(trust.clone(), &other).is_ok());
                let digest = document.replace("<DigestValue>", "<DigestValue>AAAA");
                assert_eq!(refused(trust, &digest), ErrorKind::Signature);
            }
            // Another authority of this name issued nothing.
            let key = generated(NIDS[0]);
            let other = issued(&key, "Authority", (&key, "Authority"), MessageDigest::sha256());
            assert_eq!(refused(Trust::new().with_authority(other), &document), ErrorKind::Untrusted);
        }
    }

    #[test]
    fn authorities_on_brainpool_curves_issue_through_others() {
        let p256 = Nid::X9_62_PRIME256V1;
        let [root, middle, owner] = [generated(NIDS[2]), generated(p256), generated(NIDS[0])];
        let root_certificate = issued(&root, "Authority 1", (&root, "Authority 1"), MessageDigest::sha512());
        let middle_certificate = issued(&middle, "Authority 2", (&root, "Authority 1"), MessageDigest::sha512());
        let certificate = issued(&owner, "Owner", (&middle, "Authority 2"), MessageDigest::sha256());
        let signer = DocumentSigner::new(private(&owner));
        let document = signed(&signer.clone().with_certificates(vec![certificate.clone(), middle_certificate.clone()]));
        let trust = Trust::new().with_authority(root_certificate);
        assert!(verify(trust.clone(), &document).is_ok());
        // One that somebody else issued in the name of the authority.
        let stranger = generated(NIDS[2]);
        let forged = issued(&middle, "Authority 2", (&stranger, "Authority 1"), MessageDigest::sha512());
        let document = signed(&signer.clone().with_certificates(vec![certificate, forged]));
        assert_eq!(refused(trust.clone(), &document), ErrorKind::Untrusted);
        // SHA-1 and SHA-224 are no hash functions of certificates.
        for digest in [MessageDigest::sha1(), MessageDigest::sha224()] {
            let weak = issued(&owner, "Owner", (&root, "Authority 1"), digest);
            let document = signed(&signer.clone().with_certificates(vec![weak]));
            assert_eq!(refused(trust.clone(), &document), ErrorKind::Untrusted);
        }
    }

    #[test]
    fn a_key_on_another_curve_is_another_key() {
        let [brainpool, nist] = [generated(NIDS[0]), generated(Nid::X9_62_PRIME256V1)];
        for (one, other) in [(&brainpool, &nist), (&nist, &brainpool)] {
            let document = signed(&DocumentSigner::new(private(one)).with_key_name("k"));
            assert!(verify(Trust::new().with_key("k", public(one)), &document).is_ok());
            assert_eq!(refused(Trust::new().with_key("k", public(other)), &document), ErrorKind::Signature);
        }
        // A point of one curve isn't one of the other.
        let document = signed(&DocumentSigner::new(private(&brainpool)).with_key_name("k"));
        let PublicKey::Ec { point, .. } = public(&nist) else { panic!() };
        for point in [point, [&[4][..], &[0; 64]].concat()] {
            let key = PublicKey::ec(Curve::BrainpoolP256r1, &point).unwrap();
            assert_eq!(refused(Trust::new().with_key("k", key), &document), ErrorKind::Signature);
        }
        // Points that are compressed, hybrid, infinite or too short.
        let PublicKey::Ec { point, .. } = public(&brainpool) else { panic!() };
        for point in [&point[..33], &[&[6], &point[1..]].concat(), &[0], &[], &point[..64]] {
            assert_eq!(PublicKey::ec(Curve::BrainpoolP256r1, point).unwrap_err().kind(), ErrorKind::Key);
        }
    }

    /// Replaces the value of a signature.
    fn with_value(document: &str, value: &[u8]) -> String {
        let start = document.find("SignatureValue>").unwrap() + "SignatureValue>".len();
        let end = start + document[start..].find("</").unwrap();
        format!("{}{}{}", &document[..start], STANDARD.encode(value), &document[end..])
    }

    fn value(document: &str) -> Vec<u8> {
        let (_, rest) = document.split_once("SignatureValue>").unwrap();
        let value: String = rest.split_once("</").unwrap().0.split_whitespace().collect();
        STANDARD.decode(value).unwrap()
    }

    #[test]
    fn malformed_values_are_refused() {
        for (curve, nid) in CURVES.into_iter().zip(NIDS) {
            let document = text(&format!("{curve}.xml"));
            let trust = Trust::new().with_certificate(Certificate::from_pem(&file(&format!("{curve}.pem"))).unwrap());
            let value = value(&document);
            let length = value.len() / 2;
            let (r, s) = value.split_at(length);
            let mut order = BigNum::new().unwrap();
            group(nid).order(&mut order, &mut BigNumContext::new().unwrap()).unwrap();
            let mut more = BigNum::new().unwrap();
            more.checked_add(&order, &BigNum::from_slice(s).unwrap()).unwrap();
            let order = order.to_vec();
            let (zero, ones) = (vec![0; length], vec![0xff; length]);
            let der = [&[0x30, 2 * length as u8 + 4, 2, length as u8][..], r, &[2, length as u8], s].concat();
            let padded = [&[0][..], r, &[0], s].concat();
            // Shorter and longer forms of the numbers are the same numbers.
            assert!(verify(trust.clone(), &with_value(&document, &padded)).is_ok());
            for wrong in [
                vec![],
                vec![1],
                value[1..].to_vec(),
                [&value[..], &[0]].concat(),
                [&value[..], &value].concat(),
                [s, r].concat(),
                [&zero[..], s].concat(),
                [r, &zero].concat(),
                [&zero[..], &zero].concat(),
                [&order[..], s].concat(),
                [r, &order].concat(),
                [&order[..], &order].concat(),
                [&ones[..], &ones].concat(),
                [&[0; 4096][..], &value].concat(),
                // The order more than what is right.
                [&[0][..], r, &more.to_vec_padded(length as i32 + 1).unwrap()].concat(),
                vec![0xff; 50_000],
                der,
            ] {
                assert_eq!(
                    refused(trust.clone(), &with_value(&document, &wrong)),
                    ErrorKind::Signature,
                    "{} bytes",
                    wrong.len()
                );
            }
            for at in 0..value.len() {
                let mut wrong = value.clone();
                wrong[at] ^= 1;
                assert_eq!(refused(trust.clone(), &with_value(&document, &wrong)), ErrorKind::Signature);
            }
        }
    }

    #[test]
    fn weak_algorithms_sign_and_verify_if_told_so() {
        use DigestAlgorithm::{Sha1, Sha224};
        use SignatureAlgorithm::{Ecdsa, RsaPkcs1, RsaPss};
        let legacy = Algorithms::default().with_legacy();
        let rsa = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap().serialize_pem();
        let p256 = String::from_utf8(generated(Nid::X9_62_PRIME256V1).private_key_to_pem_pkcs8().unwrap()).unwrap();
        let brainpool = text("brainpoolP256r1.key");
        for (pem, algorithms) in [
            (&rsa, &[RsaPkcs1(Sha1), RsaPkcs1(Sha224), RsaPss(Sha1), RsaPss(Sha224)][..]),
            (&p256, &[Ecdsa(Sha1), Ecdsa(Sha224)]),
            (&brainpool, &[Ecdsa(Sha1), Ecdsa(Sha224)]),
        ] {
            let loaded = PKey::private_key_from_pem(pem.as_bytes()).unwrap();
            let trust = Trust::new().with_key("k", public(&loaded));
            for &algorithm in algorithms {
                let key = PrivateKey::from_pem(pem.as_bytes()).unwrap();
                assert_eq!(key.with_algorithm(algorithm).unwrap_err().kind(), ErrorKind::Disallowed);
                let key = PrivateKey::from_pem(pem.as_bytes()).unwrap().with_legacy_algorithm(algorithm).unwrap();
                let document = signed(&DocumentSigner::new(key).with_key_name("k"));
                assert_eq!(refused(trust.clone(), &document), ErrorKind::Disallowed, "{algorithm}");
                let verified = verify_by(legacy, trust.clone(), &document).unwrap();
                assert_eq!(verified, (Signer::Key("k".to_owned()), algorithm));
                let wrong = with_value(&document, &vec![1; value(&document).len()]);
                let error = verify_by(legacy, trust.clone(), &wrong).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Signature, "{algorithm}");
            }
        }
    }

    /// A key with 1,024 bits, which nothing of this crate signs with.
    #[derive(Debug)]
    struct Short(PKey<Private>, SignatureAlgorithm);

    impl SigningKey for Short {
        fn algorithm(&self) -> SignatureAlgorithm {
            self.1
        }

        fn sign<'a>(&'a self, data: &'a [u8]) -> futures_util::future::BoxFuture<'a, Result<Vec<u8>, Error>> {
            use openssl::sign::{RsaPssSaltlen, Signer};
            let digest = match self.1.digest() {
                Some(DigestAlgorithm::Sha384) => MessageDigest::sha384(),
                _ => MessageDigest::sha256(),
            };
            let mut signer = Signer::new(digest, &self.0).unwrap();
            if matches!(self.1, SignatureAlgorithm::RsaPss(_)) {
                signer.set_rsa_padding(openssl::rsa::Padding::PKCS1_PSS).unwrap();
                signer.set_rsa_pss_saltlen(RsaPssSaltlen::DIGEST_LENGTH).unwrap();
            }
            Box::pin(std::future::ready(Ok(signer.sign_oneshot_to_vec(data).unwrap())))
        }
    }

    #[test]
    fn short_keys_verify_by_each_algorithm_if_told_so() {
        use DigestAlgorithm::{Sha256, Sha384};
        use SignatureAlgorithm::{RsaPkcs1, RsaPss};
        let key = PKey::from_rsa(openssl::rsa::Rsa::generate(1024).unwrap()).unwrap();
        let trust = Trust::new().with_key("k", public(&key));
        for algorithm in [RsaPkcs1(Sha256), RsaPkcs1(Sha384), RsaPss(Sha256), RsaPss(Sha384)] {
            let document = signed(&DocumentSigner::new(Short(key.clone(), algorithm)).with_key_name("k"));
            assert_eq!(refused(trust.clone(), &document), ErrorKind::Disallowed, "{algorithm}");
            let verified = verify_by(Algorithms::default().with_legacy(), trust.clone(), &document).unwrap();
            assert_eq!(verified, (Signer::Key("k".to_owned()), algorithm));
        }
    }

    #[test]
    fn other_hash_functions_and_ed448_sign_and_verify() {
        use DigestAlgorithm::{Sha3_256, Sha3_384, Sha3_512, Sha384, Sha512};
        use SignatureAlgorithm::{Ecdsa, Ed448, RsaPkcs1, RsaPss};
        let rsa = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap().serialize_pem();
        let p256 = String::from_utf8(generated(Nid::X9_62_PRIME256V1).private_key_to_pem_pkcs8().unwrap()).unwrap();
        for (pem, algorithms) in [
            (&rsa, &[RsaPss(Sha3_256), RsaPss(Sha3_384), RsaPss(Sha3_512)][..]),
            (&p256, &[Ecdsa(Sha384), Ecdsa(Sha512), Ecdsa(Sha3_256), Ecdsa(Sha3_512)]),
            (&text("brainpoolP512r1.key"), &[Ecdsa(Sha384), Ecdsa(Sha3_384)]),
            (&text("ed448.key"), &[Ed448]),
        ] {
            let trust = Trust::new().with_key("k", public(&PKey::private_key_from_pem(pem.as_bytes()).unwrap()));
            for &algorithm in algorithms {
                let key = PrivateKey::from_pem(pem.as_bytes()).unwrap().with_algorithm(algorithm).unwrap();
                let document = signed(&DocumentSigner::new(key).with_key_name("k"));
                assert_eq!(verify(trust.clone(), &document).unwrap().1, algorithm);
                let document = document.replace("<ds:SignedInfo>", "<ds:SignedInfo><!-- -->");
                assert!(verify(trust.clone(), &document).is_ok());
                for wrong in [vec![], vec![0; value(&document).len()], vec![0xff; 10_000]] {
                    let wrong = with_value(&document, &wrong);
                    assert_eq!(refused(trust.clone(), &wrong), ErrorKind::Signature, "{algorithm}");
                }
            }
        }
        // Not in XML Signature.
        let key = PrivateKey::from_pem(rsa.as_bytes()).unwrap();
        assert_eq!(key.with_algorithm(RsaPkcs1(Sha3_256)).unwrap_err().kind(), ErrorKind::Key);
    }

    #[test]
    fn dsa_is_verified_if_told_so() {
        let legacy = Algorithms::default().with_legacy();
        for name in ["dsa-sha1", "dsa-sha256"] {
            let document = text(&format!("{name}.xml"));
            let key = PublicKey::from_pem(&file(&format!("{name}.pem"))).unwrap();
            let trust = Trust::new().with_key("k", key.clone());
            assert_eq!(refused(trust.clone(), &document), ErrorKind::Disallowed);
            // The key is in the document, and is trusted because it is known.
            assert_eq!(verify_by(legacy, trust.clone(), &document).unwrap().0, Signer::Key("k".to_owned()));
            let stranger = verify_by(legacy, Trust::new(), &document).unwrap_err();
            assert_eq!(stranger.kind(), ErrorKind::UnknownKey);
            let PublicKey::Dsa { modulus, divisor, generator, value: public } = key else { panic!() };
            // Who chooses the generator has the private key for another one.
            let other = PublicKey::dsa(&modulus, &divisor, &public, &public).unwrap();
            let error = verify_by(legacy, Trust::new().with_key("k", other), &document).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnknownKey);
            let value = value(&document);
            let length = divisor.len();
            let (r, s) = value.split_at(length);
            let zero = vec![0; length];
            for wrong in [
                vec![],
                vec![7],
                value[1..].to_vec(),
                [&zero[..], s].concat(),
                [r, &zero].concat(),
                [&divisor[..], s].concat(),
                [r, &divisor].concat(),
                vec![0xff; 2 * length],
                vec![0xff; 50_000],
            ] {
                let error = verify_by(legacy, trust.clone(), &with_value(&document, &wrong)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Signature, "{} bytes", wrong.len());
            }
            for (modulus, divisor) in
                [(vec![0xff; 385], divisor.clone()), (modulus.clone(), vec![0xff; 33]), (vec![], vec![])]
            {
                let error = PublicKey::dsa(&modulus, &divisor, &generator, &public).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Key);
            }
            // Numbers that are not those of a key.
            let unnamed = document.replace("<KeyValue>", "<KeyName>k</KeyName><X").replace("</KeyValue>", "</X>");
            let unnamed = unnamed.replace("<X\n", "<X>\n");
            for (modulus, generator, public) in [
                (vec![0x80; modulus.len()], &generator, &public),
                (modulus.clone(), &vec![], &public),
                (modulus.clone(), &vec![1], &vec![1]),
                (modulus.clone(), &generator, &vec![]),
                (modulus.clone(), &generator, &modulus),
            ] {
                let key = PublicKey::dsa(&modulus, &divisor, generator, public).unwrap();
                let error = verify_by(legacy, Trust::new().with_key("k", key), &unnamed).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Signature, "{error}");
            }
        }
    }

    /// An RSA key of any length, as libraries don't make them.
    #[derive(Debug)]
    struct LongRsa {
        modulus: BigNum,
        private: BigNum,
        digest: DigestAlgorithm,
    }

    impl LongRsa {
        /// Returns a key whose modulus has some more or less than `bits` bits.
        fn new(bits: i32, exponent: &BigNum, digest: DigestAlgorithm) -> Self {
            let mut context = BigNumContext::new().unwrap();
            let number = || BigNum::new().unwrap();
            let one = BigNum::from_u32(1).unwrap();
            let (mut modulus, mut order) = (BigNum::from_u32(1).unwrap(), BigNum::from_u32(1).unwrap());
            let mut private = number();
            for _ in 0..8 {
                let (mut prime, mut less, mut product) = (number(), number(), number());
                // It must have no factor in common with the exponent.
                loop {
                    prime.generate_prime(bits / 8, false, None, None).unwrap();
                    less.checked_sub(&prime, &one).unwrap();
                    if private.mod_inverse(exponent, &less, &mut context).is_ok() {
                        break;
                    }
                }
                product.checked_mul(&modulus, &prime, &mut context).unwrap();
                (modulus, product) = (product, number());
                product.checked_mul(&order, &less, &mut context).unwrap();
                order = product;
            }
            private.mod_inverse(exponent, &order, &mut context).unwrap();
            LongRsa { modulus, private, digest }
        }
    }

    impl SigningKey for LongRsa {
        fn algorithm(&self) -> SignatureAlgorithm {
            SignatureAlgorithm::RsaPkcs1(self.digest)
        }

        fn sign<'a>(&'a self, data: &'a [u8]) -> BoxFuture<'a, Result<Vec<u8>, Error>> {
            // RFC 8017 §9.2.
            let (name, digest) = match self.digest {
                DigestAlgorithm::Sha224 => (4, openssl::sha::sha224(data).to_vec()),
                _ => (1, openssl::sha::sha256(data).to_vec()),
            };
            let size = digest.len() as u8;
            let info =
                [&[0x30, 17 + size, 0x30, 13, 6, 9][..], &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, name, 5, 0, 4, size]];
            let info = [&info.concat()[..], &digest].concat();
            let length = self.modulus.num_bytes() as usize;
            let padded = [&[0, 1], &vec![0xff; length - info.len() - 3][..], &[0], &info].concat();
            let (mut value, mut context) = (BigNum::new().unwrap(), BigNumContext::new().unwrap());
            let padded = BigNum::from_slice(&padded).unwrap();
            value.mod_exp(&padded, &self.private, &self.modulus, &mut context).unwrap();
            ready(Ok(value.to_vec_padded(length as i32).unwrap())).boxed()
        }
    }

    /// Long numbers cause much work. The signatures are right.
    #[test]
    fn long_rsa_keys_are_refused() {
        use DigestAlgorithm::{Sha224, Sha256};
        let exponent = |bytes: &[u8]| BigNum::from_slice(bytes).unwrap();
        let (usual, short) = (exponent(&[1, 0, 1]), exponent(&[0x80, 0, 0, 0, 0, 0, 0, 1]));
        let long = exponent(&[1, 0, 0, 0, 0, 0, 0, 0, 13]);
        for (digest, bits, exponent, is_accepted) in [
            // AWS-LC has no SHA-224.
            (Sha224, 2_056, &usual, true),
            (Sha224, 2_056, &short, true),
            (Sha224, 2_056, &long, false),
            (Sha224, 8_264, &usual, false),
            (Sha256, 2_056, &usual, true),
            (Sha256, 2_056, &long, false),
            (Sha256, 8_264, &usual, false),
        ] {
            let key = LongRsa::new(bits, exponent, digest);
            let public = PublicKey::rsa(&key.modulus.to_vec(), &exponent.to_vec());
            let document = signed(&DocumentSigner::new(key).with_key_name("k"));
            let verified =
                verify_by(Algorithms::default().with_legacy(), Trust::new().with_key("k", public), &document);
            let kind = verified.err().map(|error| error.kind());
            let expected = if is_accepted { None } else { Some(ErrorKind::Signature) };
            assert_eq!(kind, expected, "{digest:?}, {bits} bits, exponent {exponent}");
        }
    }

    #[test]
    fn private_keys_are_checked() {
        // The public key in it is that of another private key.
        let [one, other] = [generated(NIDS[0]), generated(NIDS[0])].map(|key| key.ec_key().unwrap());
        let mixed = EcKey::from_private_components(&group(NIDS[0]), one.private_key(), other.public_key()).unwrap();
        let mixed = PKey::from_ec_key(mixed).unwrap().private_key_to_pkcs8().unwrap();
        assert_eq!(PrivateKey::from_der(&mixed).unwrap_err().kind(), ErrorKind::Key);
        let short = PKey::from_rsa(openssl::rsa::Rsa::generate(1024).unwrap()).unwrap();
        let error = PrivateKey::from_der(&short.private_key_to_pkcs8().unwrap()).unwrap_err();
        assert!(error.message().starts_with("a private key for RSA of 1024 bits"), "{error}");
        let shown = format!("{:?}", private(&generated(NIDS[0])));
        assert_eq!(shown, "PrivateKey { algorithm: Ecdsa(Sha256), .. }");
    }
}
