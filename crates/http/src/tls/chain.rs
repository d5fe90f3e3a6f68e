//! How many certificates are looked at, before anybody searches a way through them.
//!
//! A search tries each certificate as the issuer of each other one of its name, and reads all of them every time. Ten certificates that
//! call themselves and their issuer the same take it seconds, and none of them needs a signature that is worth anything.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_name;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme};

/// The most certificates of a client, its own included, and the most bytes of them: the connection keeps them.
const CLIENT_CERTIFICATES: usize = 10;
const CLIENT_BYTES: usize = 16 << 10;

/// The most certificates of a server, its own included, and the most bytes of them.
const SERVER_CERTIFICATES: usize = 16;
const SERVER_BYTES: usize = 64 << 10;

/// The most certificates of issuers of one name. There are two where an authority is certified by itself and by another one.
const OF_ONE_NAME: usize = 2;

/// What webpki says of a certificate of an authority that a server shows as its own.
pub(super) const AS_AUTHORITY: &str = "CaUsedAsEndEntity";

/// What the searched chain may be.
#[derive(Clone, Copy)]
struct Most {
    certificates: usize,
    bytes: usize,
}

/// The certificates of issuers among which a way is searched: each once.
fn issuers<'c>(
    end: &CertificateDer<'_>,
    shown: &'c [CertificateDer<'c>],
    most: Most,
) -> Result<Vec<CertificateDer<'c>>, Error> {
    let bytes = end.len() + shown.iter().map(|certificate| certificate.len()).sum::<usize>();
    if shown.len() >= most.certificates || bytes > most.bytes {
        let found = shown.len() + 1;
        let Most { certificates, bytes: allowed } = most;
        return Err(Error::General(format!(
            "found {found} certificates of {bytes} bytes, expected {certificates} of {allowed} bytes at most"
        )));
    }
    let mut issuers: Vec<CertificateDer<'c>> = Vec::new();
    let mut names: Vec<Vec<u8>> = Vec::new();
    for certificate in shown {
        if issuers.contains(certificate) {
            continue;
        }
        let mut read = RootCertStore::empty();
        // What can't be read issues nothing.
        if read.add(certificate.clone().into_owned()).is_err() {
            continue;
        }
        let name = read.roots.first().map(|root| root.subject.to_vec()).unwrap_or_default();
        if names.iter().filter(|other| **other == name).count() >= OF_ONE_NAME {
            return Err(Error::General(format!(
                "found more than {OF_ONE_NAME} certificates of issuers of one name, expected a chain"
            )));
        }
        names.push(name);
        issuers.push(certificate.clone());
    }
    Ok(issuers)
}

/// A verifier of clients that looks at few certificates.
#[derive(Debug)]
pub(crate) struct FewOfClients(pub(crate) Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for FewOfClients {
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
        let most = Most { certificates: CLIENT_CERTIFICATES, bytes: CLIENT_BYTES };
        self.0.verify_client_cert(end, &issuers(end, shown, most)?, now)
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

/// A verifier of servers that looks at few certificates, and takes a certificate that is itself among the trusted ones.
#[derive(Debug)]
pub(crate) struct FewOfServers {
    pub(crate) inner: Arc<dyn ServerCertVerifier>,
    pub(crate) trusted: Vec<CertificateDer<'static>>,
}

impl FewOfServers {
    /// Whether a certificate was refused only because it is that of an authority, and is one of those that are trusted. So is each that
    /// a server made for itself by the defaults of OpenSSL or Go. Dates are judged before that (webpki), the name is not.
    fn is_refused_as_authority(&self, end: &CertificateDer<'_>, error: &Error) -> bool {
        let Error::InvalidCertificate(CertificateError::Other(other)) = error else { return false };
        other.to_string() == AS_AUTHORITY && self.trusted.contains(end)
    }
}

impl ServerCertVerifier for FewOfServers {
    fn verify_server_cert(
        &self,
        end: &CertificateDer<'_>,
        shown: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let most = Most { certificates: SERVER_CERTIFICATES, bytes: SERVER_BYTES };
        match self.inner.verify_server_cert(end, &issuers(end, shown, most)?, name, ocsp, now) {
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
