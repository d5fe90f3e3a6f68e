//! What a file has in place of the PEM that was expected, and the command that converts it.

use castile_xml::excerpt;

use crate::{Error, ErrorKind};

/// What was expected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    PrivateKey,
    Certificate,
    PublicKey,
    RevocationList,
}

impl Expected {
    fn name(self) -> &'static str {
        match self {
            Expected::PrivateKey => "private key",
            Expected::Certificate => "certificate",
            Expected::PublicKey => "public key",
            Expected::RevocationList => "list of revoked certificates",
        }
    }

    /// Returns what the section with this label has. The names of those that were not expected have an article.
    fn of_label(label: &str) -> Result<Self, Option<&'static str>> {
        match label {
            _ if label.ends_with("PRIVATE KEY") => Ok(Expected::PrivateKey),
            "CERTIFICATE" => Ok(Expected::Certificate),
            "PUBLIC KEY" => Ok(Expected::PublicKey),
            "X509 CRL" => Ok(Expected::RevocationList),
            "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST" => {
                Err(Some("a request (CSR), for which an authority issues the certificate"))
            }
            _ => Err(None),
        }
    }

    /// Returns the command that converts a file in DER.
    fn of_der(self) -> &'static str {
        match self {
            Expected::PrivateKey => "openssl pkey -inform DER -in FILE -out key.pem",
            Expected::Certificate => "openssl x509 -inform DER -in FILE -out certificate.pem",
            Expected::PublicKey => "openssl pkey -pubin -inform DER -in FILE -out public.pem",
            Expected::RevocationList => "openssl crl -inform DER -in FILE -out list.pem",
        }
    }

    /// Returns the command that takes it from a file that has something else in PEM.
    fn of_other(self, found: Expected) -> Option<&'static str> {
        match (self, found) {
            (Expected::PublicKey, Expected::PrivateKey) => Some("openssl pkey -in FILE -pubout -out public.pem"),
            (Expected::PublicKey, Expected::Certificate) => {
                Some("openssl x509 -in FILE -pubkey -noout -out public.pem")
            }
            _ => None,
        }
    }

    /// Returns the command that takes it from PKCS#12.
    fn of_pkcs12(self) -> Option<&'static str> {
        match self {
            Expected::PrivateKey => Some("openssl pkcs12 -in FILE -nocerts -nodes -out key.pem"),
            Expected::Certificate => Some("openssl pkcs12 -in FILE -nokeys -out certificate.pem"),
            Expected::PublicKey | Expected::RevocationList => None,
        }
    }
}

/// Returns the error for a file in which it is not.
pub(crate) fn absent(file: &[u8], expected: Expected) -> Error {
    let by = |command: Option<&str>| command.map(|command| format!(": `{command}` converts it")).unwrap_or_default();
    let found = match label(file) {
        _ if file.trim_ascii().is_empty() => ", but nothing: the file is empty".to_owned(),
        _ if is_pkcs12(file) => format!(", but PKCS#12 (.p12, .pfx){}", by(expected.of_pkcs12())),
        _ if file.first() == Some(&0x30) => format!(", but DER{}", by(Some(expected.of_der()))),
        Some("PKCS7") => {
            let command = "openssl pkcs7 -print_certs -in FILE -out certificate.pem";
            format!(", but PKCS#7 (.p7b){}", by((expected == Expected::Certificate).then_some(command)))
        }
        Some(label) => match Expected::of_label(label) {
            Ok(Expected::PrivateKey) if expected == Expected::PrivateKey && contains(file, b"ENCRYPTED") => {
                ", but one that is encrypted: `openssl pkey -in FILE -out key.pem` decrypts it".to_owned()
            }
            Ok(found) if found == expected => ", but one that can't be read".to_owned(),
            Ok(found) => format!(", but a {}{}", found.name(), by(expected.of_other(found))),
            Err(Some(found)) => format!(", but {found}"),
            Err(None) => format!(", but {}", excerpt(label, 60)),
        },
        None => String::new(),
    };
    Error::new(ErrorKind::Key, format!("no {} in PEM was found{found}", expected.name()))
}

/// Returns the label of the first section (RFC 7468 §3). `None` if it has other characters than labels have: what follows may be a key.
fn label(file: &[u8]) -> Option<&str> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    let start = memchr::memmem::find(file, BEGIN)? + BEGIN.len();
    let end = start + memchr::memmem::find(&file[start..], b"-----")?;
    let label = &file[start..end];
    let is_label = label.iter().all(|byte| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b' '));
    std::str::from_utf8(label).ok().filter(|_| is_label)
}

/// Returns whether a file begins as PKCS#12 does (RFC 7292 §4): a sequence, whose length may be absent, of the version 3 and another
/// sequence.
pub(crate) fn is_pkcs12(file: &[u8]) -> bool {
    let Some((&[0x30, length], rest)) = file.split_first_chunk() else { return false };
    let more = if length > 0x80 { usize::from(length - 0x80) } else { 0 };
    rest.get(more..).is_some_and(|content| content.starts_with(&[2, 1, 3, 0x30]))
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}
