//! Certificates for tests, made on demand.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(unreachable_pub, reason = "every test file has a copy of its own")]
#![allow(dead_code, reason = "and uses a part of it")]

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, CertifiedIssuer, DnType, IsCa, KeyIdMethod,
    KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};

/// An authority. Clients that have its [`root`](Self::root) trust it.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Returns its own certificate in PEM.
    pub fn root(&self) -> String {
        self.0.pem()
    }

    /// Issues a certificate for `name`, changed by `change`, and its key.
    pub fn issue(&self, name: &str, change: impl FnOnce(&mut CertificateParams)) -> Issued {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Issued { der: certificate.der().to_vec(), chain: certificate.pem(), key: key.serialize_pem() }
    }

    /// Returns a list that revokes the certificate with this serial number.
    pub fn revoke(&self, serial: u64) -> String {
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(4000, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: vec![RevokedCertParams {
                serial_number: SerialNumber::from(serial),
                revocation_time: date_time_ymd(2020, 1, 1),
                reason_code: None,
                invalidity_date: None,
            }],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.0).unwrap().pem().unwrap()
    }
}

/// A certificate and its key, in PEM.
pub struct Issued {
    pub der: Vec<u8>,
    pub chain: String,
    pub key: String,
}
