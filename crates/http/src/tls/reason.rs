//! Readable reasons for TLS failures: what was found and what was expected.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::{Duration, SystemTime};

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, InvalidMessage, PeerIncompatible};

use super::chain::AS_AUTHORITY;

/// The error of webpki for a certificate before version 3, the only version with extensions (RFC 5280 §4.1.2.1).
const OF_OLD_VERSION: &str = "UnsupportedCertVersion";

/// The error when the peer speaks HTTP without TLS.
#[derive(Debug)]
pub(crate) struct PlainHttp;

impl fmt::Display for PlainHttp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("found plain HTTP, expected TLS")
    }
}

impl Error for PlainHttp {}

/// Iterates over an error and its causes.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        let error = *error;
        // The `source` of an `io::Error` skips the error that it wraps.
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        }
    })
}

/// Returns why TLS with the peer failed, if the error contains the reason.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> Option<String> {
    causes(error).find_map(|error| {
        if let Some(error) = error.downcast_ref::<crate::Error>() {
            return Some(error.to_string());
        }
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return Some(of(error));
        }
        error.downcast_ref::<PlainHttp>().map(ToString::to_string)
    })
}

/// Returns advice for a client whose server speaks no allowed version or algorithm.
#[cfg(feature = "client")]
pub(crate) fn advice(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let is_of_old_servers = match causes(error).find_map(|error| error.downcast_ref::<rustls::Error>())? {
        rustls::Error::PeerIncompatible(_) => true,
        // OpenSSL would not trust an untrusted server either.
        rustls::Error::InvalidCertificate(error) => is_of_old_keys(error),
        rustls::Error::AlertReceived(alert) => matches!(
            alert,
            AlertDescription::ProtocolVersion
                | AlertDescription::HandshakeFailure
                | AlertDescription::InsufficientSecurity
        ),
        _ => false,
    };
    is_of_old_servers.then_some("unsafe versions of TLS require `TlsOptions::legacy` (feature `openssl`)")
}

/// Returns whether a certificate may be rejected because its key or algorithm is too old.
#[cfg(feature = "client")]
fn is_of_old_keys(error: &CertificateError) -> bool {
    matches!(
        error,
        CertificateError::BadSignature
            | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
            | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
    )
}

/// Describes an error of TLS.
pub(crate) fn of(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(error) => of_certificate(error),
        rustls::Error::AlertReceived(alert) => {
            let meaning = of_alert(*alert).map_or_else(String::new, |meaning| format!(": {meaning}"));
            format!("the other end sent the alert {alert:?}{meaning}")
        }
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "found bytes that are not TLS, expected a handshake".to_owned()
        }
        rustls::Error::NoCertificatesPresented => "found no client certificate, expected one".to_owned(),
        rustls::Error::PeerIncompatible(incompatible) => of_incompatible(incompatible),
        // Our own message.
        rustls::Error::General(said) => said.clone(),
        other => other.to_string(),
    }
}

fn of_certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => "the certificate is not issued by a trusted authority".to_owned(),
        CertificateError::ExpiredContext { time, not_after } => {
            format!("the certificate expired at {}, and the current time is {}", date(*not_after), date(*time))
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            format!("the certificate is valid from {} on, and the current time is {}", date(*not_before), date(*time))
        }
        CertificateError::ExpiredRevocationListContext { time, next_update } => {
            format!("the revocation list expired at {}, and the current time is {}", date(*next_update), date(*time))
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<String> = presented.iter().map(|name| format!("{:?}", name_of(name))).collect();
            let found = if names.is_empty() { "no name".to_owned() } else { names.join(", ") };
            format!("the certificate is for {found}, expected {:?}", expected.to_str())
        }
        CertificateError::Revoked => "the certificate is revoked".to_owned(),
        CertificateError::UnknownRevocationStatus => "no revocation list covers the certificate".to_owned(),
        // A key that is too short doesn't match any signature.
        CertificateError::BadSignature => {
            "found a signature that was not made with the key of its certificate, or an RSA key of less than 2,048 \
             bits"
                .to_owned()
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { .. } => {
            "the certificate is signed with an algorithm that is not allowed, such as SHA-1".to_owned()
        }
        CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "the certificate has, or is signed with, a kind of key that is not allowed".to_owned()
        }
        CertificateError::Other(other) if other.to_string() == AS_AUTHORITY => {
            "the certificate is that of an authority, which is only accepted for a server if it is itself one of the \
             roots"
                .to_owned()
        }
        CertificateError::Other(other) if other.to_string() == OF_OLD_VERSION => {
            "found an X.509 certificate of version 1 or 2, expected version 3, which has extensions: `openssl x509 \
             -req` makes one with -extfile"
                .to_owned()
        }
        CertificateError::BadEncoding => "expected an X.509 certificate in DER".to_owned(),
        // The wrapper of rustls adds no information.
        CertificateError::Other(other) => other.to_string(),
        other => other.to_string(),
    }
}

/// Returns the bare name, which rustls shows as `DnsName("…")`.
fn name_of(presented: &str) -> &str {
    let inner = presented.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.map_or(presented, |inner| inner.trim_matches('"'))
}

fn of_alert(alert: AlertDescription) -> Option<&'static str> {
    Some(match alert {
        AlertDescription::CertificateRequired => "it expects a client certificate and got none",
        AlertDescription::UnknownCA => "our certificate is not issued by an authority that it trusts",
        AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::AccessDenied => "it doesn't accept our certificate",
        AlertDescription::CertificateExpired => "our certificate is expired",
        AlertDescription::CertificateRevoked => "our certificate is revoked",
        AlertDescription::UnrecognisedName => "it doesn't know the server name",
        AlertDescription::ProtocolVersion => "it supports no version of TLS that is allowed here",
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => {
            "no cipher or key exchange is allowed on both sides, or it expects a client certificate"
        }
        _ => return None,
    })
}

fn of_incompatible(incompatible: &PeerIncompatible) -> String {
    let found = match incompatible {
        PeerIncompatible::ServerDoesNotSupportTls12Or13 | PeerIncompatible::Tls12NotOffered => "found TLS 1.1 or older",
        PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig | PeerIncompatible::Tls12NotOfferedOrEnabled => {
            "found a version of TLS that is not allowed here"
        }
        PeerIncompatible::NoCipherSuitesInCommon => "found no cipher suite that is allowed on both sides",
        PeerIncompatible::NoKxGroupsInCommon => "found no key exchange that is allowed on both sides",
        PeerIncompatible::NoSignatureSchemesInCommon
        | PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon => {
            "found no signature scheme that is allowed on both sides"
        }
        other => return format!("the other end is not compatible: {other:?}"),
    };
    found.to_owned()
}

/// Formats a time as in HTTP.
fn date(time: UnixTime) -> String {
    /// 9999-12-31: the last day that HTTP can express. Certificates without an expiry date have this one.
    const LAST: u64 = 253_402_214_400;
    match time.as_secs() {
        seconds @ ..LAST => httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)),
        _ => "a time after the year 9998".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;
    use rustls::server::ParsedCertificate;

    use super::*;

    #[test]
    fn names_are_shown_alone() {
        for (presented, expected) in [("DnsName(\"a.b\")", "a.b"), ("IpAddress(::1)", "::1"), ("other", "other")] {
            assert_eq!(name_of(presented), expected);
        }
    }

    #[test]
    fn any_time_can_be_shown() {
        for seconds in [0, 253_402_214_399, 253_402_214_400, 253_402_300_799, u64::MAX] {
            date(UnixTime::since_unix_epoch(Duration::from_secs(seconds)));
        }
    }

    /// Regression: the message was `Other(OtherError(UnsupportedCertVersion))`.
    #[test]
    fn an_expired_certificate_is_described() {
        const OLD: &str = "-----BEGIN CERTIFICATE-----\n\
            MIIBEzCBuwIUI4uw1ysDiV8lilyTd/xokr0CzFMwCgYIKoZIzj0EAwIwDDEKMAgG\n\
            A1UEAwwBYTAgFw0yNjExMjYxMzE2MzdaGA8yMTI2MTEwMjEzMTYzN1owDDEKMAgG\n\
            A1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGqsu6wSRQD4XvKh89Lv\n\
            WmoiHIFZDWb3JDcxv5VCXhHy0ha8TJAEfpNQKfT8V+5m8Kn0VW4qD+icH/IfhlCc\n\
            +JowCgYIKoZIzj0EAwIDRwAwRAIgC4r9g8qyU3jiAGTiXtASCsOY+BnJzuTlcmnR\n\
            fNm5VTkCIEboxQHzLqlrZeRdAQU3vUsPN9JJcju/C4/U0fzcJs5j\n\
            -----END CERTIFICATE-----";
        let old = CertificateDer::from_pem_slice(OLD.as_bytes()).unwrap();
        let error = ParsedCertificate::try_from(&old).err().unwrap();
        let expected = "found an X.509 certificate of version 1 or 2, expected version 3, which has extensions: \
            `openssl x509 -req` makes one with -extfile";
        assert_eq!(of(&error), expected);
    }

    /// Regression: the first was reported as a forgery, and the second as a list of all allowed algorithms in bytes.
    #[cfg(feature = "client")]
    #[test]
    fn old_keys_and_algorithms_are_described_with_advice() {
        for (error, expected) in [
            (CertificateError::BadSignature, "or an RSA key of less than 2,048 bits"),
            (
                CertificateError::UnsupportedSignatureAlgorithmContext {
                    signature_algorithm_id: vec![6, 9],
                    supported_algorithms: Vec::new(),
                },
                "signed with an algorithm that is not allowed, such as SHA-1",
            ),
            (
                CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
                    signature_algorithm_id: vec![6, 9],
                    public_key_algorithm_id: vec![6, 9],
                },
                "a kind of key that is not allowed",
            ),
        ] {
            let error = rustls::Error::InvalidCertificate(error);
            assert!(of(&error).ends_with(expected), "{}", of(&error));
            assert!(advice(&error).is_some(), "{error:?}");
        }
        for error in [CertificateError::UnknownIssuer, CertificateError::Revoked] {
            assert!(advice(&rustls::Error::InvalidCertificate(error)).is_none());
        }
    }

    #[test]
    fn a_reason_is_found_below_other_errors() {
        let alert = rustls::Error::AlertReceived(AlertDescription::CertificateRequired);
        let error = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, alert));
        let expected = "the other end sent the alert CertificateRequired: it expects a client certificate and got none";
        assert_eq!(reason(&error).as_deref(), Some(expected));
        assert_eq!(reason(&io::Error::other("another")), None);
    }
}
