//! Limits the number of certificates before a chain is searched among them.
//!
//! The search tries each certificate as the issuer of each other one with its name, and parses all of them every time.
//! Ten certificates with the same subject and issuer take it seconds, and none of them needs a valid signature.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};

/// The most certificates that a client may send, including its own, and their total size. The connection stores them.
const CLIENT_CERTIFICATES: usize = 10;
const CLIENT_BYTES: usize = 16 << 10;

/// The most certificates that a server may send, including its own, and their total size.
const SERVER_CERTIFICATES: usize = 16;
const SERVER_BYTES: usize = 64 << 10;

/// The most issuer certificates with one name. An authority has two if it is certified by itself and by another
/// authority.
const MAX_ISSUERS_OF_NAME: usize = 2;

/// The error of webpki if the server's own certificate is the certificate of an authority.
pub(super) const AS_AUTHORITY: &str = "CaUsedAsEndEntity";

/// The limits of a chain.
#[derive(Clone, Copy)]
struct ChainLimits {
    certificates: usize,
    bytes: usize,
}

/// Returns the issuer certificates that the search may use, without duplicates.
fn issuers<'c>(
    end: &CertificateDer<'_>,
    shown: &'c [CertificateDer<'c>],
    limits: ChainLimits,
) -> Result<Vec<CertificateDer<'c>>, Error> {
    let bytes = end.len() + shown.iter().map(|certificate| certificate.len()).sum::<usize>();
    if shown.len() >= limits.certificates || bytes > limits.bytes {
        let found = shown.len() + 1;
        let ChainLimits { certificates, bytes: allowed } = limits;
        return Err(Error::General(format!(
            "found {found} certificates of {bytes} bytes, expected at most {certificates} of {allowed} bytes"
        )));
    }
    let mut issuers: Vec<CertificateDer<'c>> = Vec::new();
    let mut names: Vec<Vec<u8>> = Vec::new();
    for certificate in shown {
        if issuers.contains(certificate) {
            continue;
        }
        let mut read = RootCertStore::empty();
        // A certificate that can't be parsed is no issuer.
        if read.add(certificate.clone().into_owned()).is_err() {
            continue;
        }
        let name = read.roots.first().map(|root| root.subject.to_vec()).unwrap_or_default();
        if names.iter().filter(|other| **other == name).count() >= MAX_ISSUERS_OF_NAME {
            return Err(Error::General(format!(
                "found more than {MAX_ISSUERS_OF_NAME} certificates of issuers with the same name, expected a chain"
            )));
        }
        names.push(name);
        issuers.push(certificate.clone());
    }
    Ok(issuers)
}

/// A verifier of client certificates that limits their number.
#[derive(Debug)]
pub(crate) struct LimitedClientVerifier(pub(crate) Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for LimitedClientVerifier {
    fn offer_client_auth(&self) -> bool {
        self.0.offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.0.client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        end: &CertificateDer<'_>,
        shown: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        let limits = ChainLimits { certificates: CLIENT_CERTIFICATES, bytes: CLIENT_BYTES };
        self.0.verify_client_cert(end, &issuers(end, shown, limits)?, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        self.0.requires_raw_public_keys()
    }
}

/// A verifier of server certificates that limits their number. It also accepts a certificate that is itself a trusted
/// one.
#[derive(Debug)]
pub(crate) struct LimitedServerVerifier {
    pub(crate) inner: Arc<dyn ServerCertVerifier>,
    pub(crate) trusted: Vec<CertificateDer<'static>>,
}

impl LimitedServerVerifier {
    /// Returns whether a certificate was rejected only because it belongs to an authority, although it is one of the
    /// trusted ones. Self-signed certificates that OpenSSL or Go make by default are of this kind. webpki checks dates
    /// before this, but not the name.
    fn is_refused_as_authority(&self, end: &CertificateDer<'_>, error: &Error) -> bool {
        let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
        other.to_string() == AS_AUTHORITY && self.trusted.contains(end)
    }
}

impl ServerCertVerifier for LimitedServerVerifier {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        shown: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let limits = ChainLimits { certificates: SERVER_CERTIFICATES, bytes: SERVER_BYTES };
        match self.inner.verify_server_cert(end, &issuers(end, shown, limits)?, name, ocsp, now) {
            Err(error) if self.is_refused_as_authority(end, &error) => {
                verify_server_name(&ParsedCertificate::try_from(end)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            judged => judged,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }

    fn requires_raw_public_keys(&self) -> bool {
        self.inner.requires_raw_public_keys()
    }

    fn root_hint_subjects(&self) -> Option<&[DistinguishedName]> {
        self.inner.root_hint_subjects()
    }
}
