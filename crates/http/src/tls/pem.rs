//! Certificates, keys and revocation lists in PEM (RFC 7468).

use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

use crate::error::{Error, ErrorKind};

/// The size limit of a PEM file, in bytes. Revocation lists of large authorities have tens of megabytes.
const MAX_PEM: u64 = 256 << 20;

/// PEM text in a file or in memory. A file is read when it is needed, and again when TLS is reloaded.
#[derive(Clone)]
pub struct Pem(Source);

#[derive(Clone)]
enum Source {
    File(PathBuf),
    Bytes(Arc<[u8]>),
}

impl Pem {
    /// Refers to PEM text in a file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Pem(Source::File(path.into()))
    }

    /// Uses PEM text in memory.
    pub fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Pem(Source::Bytes(bytes.as_ref().into()))
    }

    /// Reads all certificates, at least one.
    pub(crate) fn certificates(&self) -> Result<Vec<CertificateDer<'static>>, Error> {
        self.all("certificate")
    }

    /// Reads all revocation lists, at least one.
    pub(crate) fn revocation_lists(&self) -> Result<Vec<CertificateRevocationListDer<'static>>, Error> {
        self.all("certificate revocation list")
    }

    /// Reads the first private key.
    pub(crate) fn private_key(&self) -> Result<PrivateKeyDer<'static>, Error> {
        const KEY: &str = "private key that is not encrypted";
        Ok(self.all(KEY)?.swap_remove(0))
    }

    /// Creates the error for a certificate or list that can't be used. `index` counts from 0.
    pub(crate) fn unusable(&self, index: usize, error: &rustls::Error) -> Error {
        let message = format!("item {} in {self} can't be used: {}", index + 1, super::reason::of(error));
        Error::new(ErrorKind::Tls, message)
    }

    fn all<T: PemObject>(&self, what: &str) -> Result<Vec<T>, Error> {
        let text = self
            .read()
            .map_err(|error| Error::new(ErrorKind::Tls, format!("{self} can't be read: {error}")).because(error))?;
        let found: Result<Vec<T>, _> = T::pem_slice_iter(&text).collect();
        match found {
            Ok(found) if found.is_empty() => {
                let message = format!("found no {what} in {self}: it contains {}", sections(&text));
                Err(Error::new(ErrorKind::Tls, message))
            }
            Ok(found) => Ok(found),
            Err(error) => Err(Error::new(ErrorKind::Tls, format!("{self} is broken: {}", broken(&error)))),
        }
    }

    /// Returns the text.
    ///
    /// # Errors
    /// The file can't be read, isn't a regular file or has more than 256 MiB.
    pub fn read(&self) -> io::Result<Cow<'_, [u8]>> {
        match &self.0 {
            Source::Bytes(bytes) => Ok(bytes.as_ref().into()),
            Source::File(path) => {
                // Reading a pipe could block forever.
                if !std::fs::metadata(path)?.is_file() {
                    return Err(io::Error::other("it is not a regular file"));
                }
                let mut text = Vec::new();
                File::open(path)?.take(MAX_PEM + 1).read_to_end(&mut text)?;
                if text.len() as u64 > MAX_PEM {
                    return Err(io::Error::other(format!("it has more than {} MiB", MAX_PEM >> 20)));
                }
                Ok(text.into())
            }
        }
    }
}

/// Shows the source of the text.
impl fmt::Display for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Bytes(bytes) => write!(f, "PEM of {} bytes", bytes.len()),
        }
    }
}

/// The text is left out, because it may be a key.
impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pem({self})")
    }
}

/// Lists the labels of the sections in a text, for an error about a missing one.
fn sections(text: &[u8]) -> String {
    const SHOWN: usize = 4;
    let labels = text.split(|byte| matches!(byte, b'\n' | b'\r')).filter_map(|line| {
        let label = line.strip_prefix(b"-----BEGIN ")?;
        Some(
            castile_xml::excerpt(&String::from_utf8_lossy(label.trim_ascii_end().trim_ascii()), 40)
                .replace("-----", ""),
        )
    });
    let labels: Vec<String> = labels.collect();
    match labels.len() {
        0 if text.is_empty() => "nothing".to_owned(),
        0 => format!("{} bytes without a line -----BEGIN …-----", text.len()),
        1..=SHOWN => labels.join(", "),
        more => format!("{} and {} more", labels[..SHOWN].join(", "), more - SHOWN),
    }
}

/// Describes why a text is invalid. Its lines are not quoted, because they may be those of a key.
fn broken(error: &pem::Error) -> String {
    match error {
        pem::Error::MissingSectionEnd { end_marker } => {
            format!("found no line -----END {}-----", castile_xml::excerpt(&String::from_utf8_lossy(end_marker), 40))
        }
        pem::Error::IllegalSectionStart { .. } => "a line begins with -----BEGIN and doesn't end in -----".to_owned(),
        pem::Error::Base64Decode(_) => "the text between BEGIN and END is not base64".to_owned(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_show_what_was_found() {
        let cases = [
            ("", "found no certificate in PEM of LEN bytes: it contains nothing"),
            ("text", "found no certificate in PEM of LEN bytes: it contains 4 bytes without a line -----BEGIN …-----"),
            (
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n-----BEGIN X-----\n-----END X-----",
                "found no certificate in PEM of LEN bytes: it contains PRIVATE KEY, X",
            ),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n",
                "PEM of LEN bytes is broken: found no line -----END CERTIFICATE-----",
            ),
            (
                "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
                "PEM of LEN bytes is broken: the text between BEGIN and END is not base64",
            ),
            ("-----BEGIN \n", "PEM of LEN bytes is broken: a line begins with -----BEGIN and doesn't end in -----"),
        ];
        for (text, expected) in cases {
            let expected = expected.replace("LEN", &text.len().to_string());
            assert_eq!(Pem::bytes(text).certificates().unwrap_err().to_string(), expected);
        }
        let missing = Pem::file("no/such.pem").private_key().unwrap_err().to_string();
        assert!(missing.starts_with("no/such.pem can't be read: No such file"), "{missing}");
    }

    #[test]
    fn only_files_are_read() {
        let folder = std::env::temp_dir();
        let error = Pem::file(&folder).certificates().unwrap_err().to_string();
        assert_eq!(error, format!("{} can't be read: it is not a regular file", folder.display()));
    }

    #[test]
    fn a_key_is_not_shown() {
        let key = "-----BEGIN PRIVATE KEY-----\nsecret-password\n";
        let (pem, error) = (Pem::bytes(key), Pem::bytes(key).private_key().unwrap_err());
        assert!(!format!("{pem:?}{error:?}").contains("secret-password"));
    }
}
