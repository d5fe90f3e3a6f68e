//! Certificates that an authority has revoked, or that are not for signatures.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod common;

use std::time::{Duration, SystemTime};

use castile_wss::document::{DocumentSigner, DocumentVerifier};
use castile_wss::{Certificate, PrivateKey, RevocationList, Trust};
use futures_util::FutureExt;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CustomExtension, DnType, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber,
};

use common::key_value;

struct Authority {
    certificate: Certificate,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        Self::with_extensions(name, Vec::new())
    }

    fn with_extensions(name: &str, custom_extensions: Vec<CustomExtension>) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.custom_extensions = custom_extensions;
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = Certificate::from_der(params.self_signed(&key).unwrap().der()).unwrap();
        Authority { certificate, issuer: Issuer::new(params, key) }
    }

    /// Signs a document with a certificate of this authority.
    fn signed(&self, serial: u64, usages: &[KeyUsagePurpose]) -> Vec<u8> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, format!("signer {serial}"));
        params.is_ca = IsCa::ExplicitNoCa;
        params.serial_number = Some(SerialNumber::from(serial));
        params.key_usages = usages.to_vec();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let signer = DocumentSigner::new(PrivateKey::from_der(key.serialized_der()).unwrap())
            .with_certificates(vec![Certificate::from_der(certificate.der()).unwrap()]);
        signer.sign(b"<order/>").now_or_never().unwrap().unwrap()
    }

    /// Makes a list that is up to date until `until`.
    fn list(&self, revoked: &[u64], until: SystemTime) -> RevocationList {
        let now = SystemTime::now() - Duration::from_secs(3_600);
        let revoked = revoked.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: now.into(),
            reason_code: None,
            invalidity_date: None,
        });
        let list = CertificateRevocationListParams {
            this_update: now.into(),
            next_update: until.into(),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let list = list.signed_by(&self.issuer).unwrap();
        let from_pem = RevocationList::from_pem_bundle(list.pem().unwrap().as_bytes()).unwrap();
        assert_eq!(from_pem.len(), 1);
        RevocationList::from_der(list.der()).unwrap()
    }
}

fn problem(document: &[u8], trust: &Trust) -> Option<String> {
    DocumentVerifier::new(trust.clone()).verify(document).err().map(|error| error.message().to_owned())
}

#[test]
fn revoked_certificates_are_refused() {
    let (authority, other) = (Authority::new("authority"), Authority::new("other"));
    let later = SystemTime::now() + Duration::from_secs(3_600);
    let trust = Trust::new().with_authority(authority.certificate.clone()).with_authority(other.certificate.clone());
    let [good, bad] = [7, 8].map(|serial| authority.signed(serial, &[]));
    assert_eq!(problem(&bad, &trust), None);
    let listed = trust.clone().with_revocation_list(authority.list(&[8, 9], later));
    assert_eq!(problem(&good, &listed), None);
    assert!(problem(&bad, &listed).unwrap().ends_with("it is revoked"));
    // Once there is a list, nobody is without.
    let unlisted = problem(&other.signed(7, &[]), &listed).unwrap();
    assert!(unlisted.contains("there is no list of revoked certificates by its issuer"), "{unlisted}");
    let old = SystemTime::now() - Duration::from_secs(60);
    let out_of_date = problem(&good, &trust.clone().with_revocation_list(authority.list(&[8], old))).unwrap();
    assert!(out_of_date.ends_with("a list of revoked certificates is out of date"), "{out_of_date}");
    // A list that somebody else made says nothing.
    let forged = Authority::new("authority").list(&[7], later);
    let forged = problem(&good, &trust.with_revocation_list(forged)).unwrap();
    assert!(!forged.ends_with("is revoked"), "{forged}");
}

/// A certificate that is trusted by itself needs no list, and is refused if it is in one.
#[test]
fn revoked_certificates_are_refused_that_are_trusted_by_themselves() {
    let authority = Authority::new("authority");
    let later = SystemTime::now() + Duration::from_secs(3_600);
    let lists = [authority.list(&[9], later), authority.list(&[7], later)];
    let revoked = |trust: Trust| lists.iter().fold(trust, |trust, list| trust.with_revocation_list(list.clone()));
    for (serial, is_revoked) in [(7, true), (8, false), (9, true)] {
        let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        let mut params = CertificateParams::default();
        params.serial_number = Some(SerialNumber::from(serial));
        let certificate = params.signed_by(&key, &authority.issuer).unwrap();
        let certificate = Certificate::from_der(certificate.der()).unwrap();
        let signer = DocumentSigner::new(PrivateKey::from_der(key.serialized_der()).unwrap());
        let trust = Trust::new().with_certificate(certificate.clone());
        // With the certificate, with its key only, and with nothing about the key.
        let forms = [
            signer.clone().with_certificates(vec![certificate.clone()]),
            signer.clone().with_key_name("name"),
            signer.clone(),
        ];
        for signer in forms {
            let signed = signer.sign(b"<order/>").now_or_never().unwrap().unwrap();
            let signed = String::from_utf8(signed).unwrap();
            let signed = signed.replace("<ds:KeyName>name</ds:KeyName>", &key_value(&key));
            assert_eq!(problem(signed.as_bytes(), &trust), None, "{signed}");
            let problem = problem(signed.as_bytes(), &revoked(trust.clone()));
            assert_eq!(problem.is_some_and(|problem| problem.ends_with("is revoked")), is_revoked, "{signed}");
        }
    }
}

/// Regression: an authority with a critical extension that nobody knows was trusted only as long as there was no list.
#[test]
fn authorities_of_all_forms_have_lists() {
    let later = SystemTime::now() + Duration::from_secs(3_600);
    let mut extension = CustomExtension::from_oid_content(&[1, 3, 6, 1, 4, 1, 99999, 1], vec![5, 0]);
    extension.set_criticality(true);
    let root = Authority::with_extensions("root", vec![extension]);
    let (good, bad) = (root.signed(7, &[]), root.signed(8, &[]));
    let trust = Trust::new().with_authority(root.certificate.clone());
    assert_eq!(problem(&good, &trust), None);
    let trust = trust.with_revocation_list(root.list(&[8], later));
    assert_eq!(problem(&good, &trust), None);
    assert!(problem(&bad, &trust).unwrap().ends_with("it is revoked"));
}

/// An authority that another one has issued may be trusted by itself, and be revoked all the same.
#[test]
fn revoked_authorities_are_refused() {
    let later = SystemTime::now() + Duration::from_secs(3_600);
    let root = Authority::new("root");
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "office");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.serial_number = Some(SerialNumber::from(70));
    let certificate = Certificate::from_der(params.signed_by(&key, &root.issuer).unwrap().der()).unwrap();
    let office = Authority { certificate, issuer: Issuer::new(params, key) };
    let signed = office.signed(7, &[]);
    let trust = Trust::new().with_authority(office.certificate.clone()).with_revocation_list(office.list(&[], later));
    assert_eq!(problem(&signed, &trust), None);
    let problem = problem(&signed, &trust.with_revocation_list(root.list(&[70], later))).unwrap();
    assert!(problem.ends_with("no authority is known that issued it and is not revoked"), "{problem}");
}

/// Regression test: lists were accepted in some of their orders only. An authority and the one that it issued have changed their keys, and
/// each key has its list. Nothing tells which list is of which key.
#[test]
fn every_order_of_lists_is_right() {
    let later = SystemTime::now() + Duration::from_secs(3_600);
    let (root, old_root) = (Authority::new("root"), Authority::new("root"));
    let between = |name: &str| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.serial_number = Some(SerialNumber::from(70));
        let certificate = params.signed_by(&key, &root.issuer).unwrap();
        Authority { certificate: Certificate::from_der(certificate.der()).unwrap(), issuer: Issuer::new(params, key) }
    };
    let (office, old_office) = (between("office"), between("office"));
    let signed = office.signed(7, &[]);
    // Authorities that have nothing to do with it have several lists, too, and come first.
    let others = ["a", "b", "c", "d", "e"].map(|name| Authority::new(name).list(&[], later));
    let trust = Trust::new().with_authority(root.certificate.clone()).with_intermediate(office.certificate.clone());
    let trust = others.iter().chain(&others).fold(trust, |trust, list| trust.with_revocation_list(list.clone()));
    assert!(problem(&signed, &Trust::new().with_authority(root.certificate.clone())).is_some());
    let good = [root.list(&[], later), old_root.list(&[], later), office.list(&[], later), old_office.list(&[], later)];
    let outcome = |lists: &[RevocationList; 4], order: [usize; 4]| {
        let trust =
            order.iter().fold(trust.clone(), |trust, number| trust.with_revocation_list(lists[*number].clone()));
        problem(&signed, &trust)
    };
    let orders = || {
        (0..256).map(|number| [number % 4, number / 4 % 4, number / 16 % 4, number / 64]).filter(|order| {
            let mut sorted = *order;
            sorted.sort_unstable();
            sorted == [0, 1, 2, 3]
        })
    };
    assert_eq!(orders().count(), 24);
    for order in orders() {
        assert_eq!(outcome(&good, order), None, "{order:?}");
    }
    let with = |number: usize, list: RevocationList| {
        let mut lists = good.clone();
        lists[number] = list;
        lists
    };
    let old = SystemTime::now() - Duration::from_secs(60);
    for (lists, expected) in [
        (with(0, root.list(&[70], later)), "one of its issuers is revoked"),
        (with(2, office.list(&[7], later)), "it is revoked"),
        (
            with(2, old_office.list(&[], later)),
            "the authority that a list of revoked certificates names did not sign it",
        ),
        (with(2, office.list(&[], old)), "a list of revoked certificates is out of date"),
    ] {
        for order in orders() {
            let problem = outcome(&lists, order).unwrap_or_else(|| panic!("accepted: {order:?}, {expected}"));
            assert!(
                problem.ends_with(expected)
                    || problem.ends_with("the authority that a list of revoked certificates names did not sign it"),
                "{problem}"
            );
        }
    }
    // One list of each is out of date, and another one is not.
    let renewed = [root.list(&[], old), root.list(&[], later), office.list(&[], old), office.list(&[], later)];
    for order in orders() {
        assert_eq!(outcome(&renewed, order), None, "{order:?}");
    }
}

#[test]
fn a_certificate_may_be_for_something_else() {
    use KeyUsagePurpose::{ContentCommitment, DigitalSignature, KeyEncipherment};
    let authority = Authority::new("authority");
    let trust = Trust::new().with_authority(authority.certificate.clone());
    for usages in [&[][..], &[DigitalSignature], &[ContentCommitment, KeyEncipherment]] {
        assert_eq!(problem(&authority.signed(7, usages), &trust), None, "{usages:?}");
    }
    let other = problem(&authority.signed(7, &[KeyEncipherment]), &trust).unwrap();
    assert_eq!(other, "the certificate of CN=signer 7 is not for signatures");
}

#[test]
fn lists_are_read_or_refused() {
    for wrong in [&b""[..], b"0\x00", b"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n"] {
        assert!(RevocationList::from_der(wrong).is_err());
        assert!(RevocationList::from_pem_bundle(wrong).is_err());
    }
}
