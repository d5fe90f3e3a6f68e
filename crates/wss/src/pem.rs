//! What a file has in place of the PEM that was expected, and the command that converts it.

use crate::{Error, ErrorKind};

/// What was expected.
#[derive(Clone, Copy)]
pub(crate) enum Expected {
    PrivateKey,
    Certificate,
}

/// Returns the error for a file in which it is not.
pub(crate) fn absent(file: &[u8], expected: Expected) -> Error {
    let (name, from_pkcs12, from_der) = match expected {
        Expected::PrivateKey => (
            "private key",
            "openssl pkcs12 -in FILE -nocerts -nodes -out key.pem",
            "openssl pkey -inform DER -in FILE -out key.pem",
        ),
        Expected::Certificate => (
            "certificate",
            "openssl pkcs12 -in FILE -nokeys -out certificate.pem",
            "openssl x509 -inform DER -in FILE -out certificate.pem",
        ),
    };
    let found = match label(file) {
        _ if is_pkcs12(file) => format!(", but PKCS#12 (.p12, .pfx): `{from_pkcs12}` converts it"),
        _ if file.first() == Some(&0x30) => format!(", but DER: `{from_der}` converts it"),
        Some("PKCS7") => {
            ", but PKCS#7 (.p7b): `openssl pkcs7 -print_certs -in FILE -out certificate.pem` converts it".to_owned()
        }
        Some(label) if label.ends_with("PRIVATE KEY") => match expected {
            Expected::PrivateKey if contains(file, b"ENCRYPTED") => {
                ", but one that is encrypted: `openssl pkey -in FILE -out key.pem` decrypts it".to_owned()
            }
            Expected::PrivateKey => ", but one that can't be read".to_owned(),
            Expected::Certificate => ", but a private key".to_owned(),
        },
        Some("CERTIFICATE") => match expected {
            Expected::Certificate => ", but one that can't be read".to_owned(),
            Expected::PrivateKey => ", but a certificate".to_owned(),
        },
        Some("PUBLIC KEY") => ", but a public key".to_owned(),
        _ => String::new(),
    };
    let message = format!("no {name} in PEM was found{found}");
    Error::new(ErrorKind::Key, message)
}

/// Returns the label of the first section.
fn label(file: &[u8]) -> Option<&str> {
    const BEGIN: &[u8] = b"-----BEGIN ";
    let start = memchr::memmem::find(file, BEGIN)? + BEGIN.len();
    let end = start + memchr::memmem::find(&file[start..], b"-----")?;
    std::str::from_utf8(&file[start..end]).ok()
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
