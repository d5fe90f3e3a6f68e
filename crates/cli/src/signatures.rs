//! Signatures: `castile sign`, `castile verify` and `castile sec explain`.

pub(crate) mod advice;
pub(crate) mod explain;
pub(crate) mod messages;
pub(crate) mod sign;
pub(crate) mod verify;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, anyhow, bail};
use castile_wss::{Certificate, Error, Limits, PrivateKey, RevocationList, Signer, Trust};
use castile_xml::{Charset, excerpt};

use crate::errors::{self, WARNING};

/// A document is held in memory.
const MAX_SIZE: u64 = 256 << 20;

/// Reads a file, or standard input for `-`.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let shown = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let unreadable = || format!("{shown} can't be read");
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_SIZE + 1).read_to_end(&mut bytes).with_context(unreadable)?;
    } else {
        let file = std::fs::File::open(path).with_context(unreadable)?;
        file.take(MAX_SIZE + 1).read_to_end(&mut bytes).with_context(unreadable)?;
    }
    if bytes.len() as u64 > MAX_SIZE {
        bail!("{shown} has more than {} MiB, which is the limit", MAX_SIZE >> 20);
    }
    Ok(bytes)
}

/// Checks that a file is a message or a document, and no certificate or key.
fn expect_xml(bytes: &[u8], path: &Path) -> anyhow::Result<()> {
    let found = match (bytes.trim_ascii_start().strip_prefix(b"-----BEGIN "), bytes) {
        (Some(label), _) => {
            let label: String = label.iter().take_while(|byte| **byte != b'-').map(|byte| char::from(*byte)).collect();
            format!("a PEM file with {}", excerpt(&label, 60))
        }
        // A long sequence, which no text begins with.
        (None, [0x30, 0x80..=0xff, ..]) => "a certificate, a key or PKCS#12 in DER".to_owned(),
        (None, _) => return Ok(()),
    };
    bail!(
        "{} is {found}, expected a message or a document: certificates and keys are given with options such as --cert",
        path.display()
    )
}

/// Returns the line and the column of an error in a document.
fn place(document: &[u8], charset: Option<Charset>, error: &Error) -> Option<(usize, usize)> {
    let offset = error.offset()?;
    let text = castile_xml::decode(document, charset).ok()?;
    let castile_xml::Location { line, column, .. } =
        castile_xml::Location::of(text.as_bytes(), offset.min(text.len()), castile_xml::Limits::default(), None);
    Some((line, column))
}

/// Returns an error about a file with its place in it, and what to do.
fn of_file(path: &Path, place: Option<(usize, usize)>, what: &str, error: &Error) -> anyhow::Error {
    let place = place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
    let problem = anyhow!("{}{place} {what}: {}", path.display(), error.message());
    with_advice(problem, advice::Options::Documents)
}

/// Adds what to do about an error.
pub(crate) fn with_advice(error: anyhow::Error, options: advice::Options) -> anyhow::Error {
    let text = errors::in_full(&error);
    match advice::advice(&text, options) {
        Some(advice) => anyhow!("{text}\nnote: {advice}"),
        None => error,
    }
}

/// Returns the limits of documents, which are files of the caller.
fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.document.message_size = MAX_SIZE as usize;
    limits.document.text_length = MAX_SIZE as usize;
    limits.ids = 1_000_000;
    limits.content = 8 * MAX_SIZE as usize;
    limits
}

/// Reads the certificates in a PEM file, or the one in a DER file.
fn certificates(path: &Path) -> anyhow::Result<Vec<Certificate>> {
    let bytes = read(path)?;
    let certificates = match bytes.starts_with(&[0x30]) {
        true => Certificate::from_der(&bytes).map(|certificate| vec![certificate]),
        false => Certificate::from_pem_bundle(&bytes),
    };
    certificates.map_err(|error| unusable(path, &error))
}

/// Returns an error about a file with a key or with certificates.
fn unusable(path: &Path, error: &Error) -> anyhow::Error {
    with_advice(anyhow!("{}: {error}", path.display()), advice::Options::Documents)
}

/// Returns the certificate of a key, each from a file. Warns if receivers will refuse it.
fn certificate_of(
    (key, of_key): (&PrivateKey, &Path),
    (certificates, of_certificate): (&[Certificate], &Path),
) -> anyhow::Result<Certificate> {
    let of_certificate = of_certificate.display();
    let certificate = Certificate::of_key(key, certificates).map_err(|error| {
        anyhow!(
            "the key in {} and the certificate in {of_certificate} don't belong together: {error}",
            of_key.display()
        )
    })?;
    let (now, date) = (SystemTime::now(), humantime::format_rfc3339_seconds);
    let problem = match certificate {
        certificate if now > certificate.not_after() => format!("expired at {}", date(certificate.not_after())),
        certificate if now < certificate.not_before() => {
            format!("is not valid before {}", date(certificate.not_before()))
        }
        _ => return Ok(certificate.clone()),
    };
    let subject = certificate.subject();
    note!(
        "{WARNING}warning{WARNING:#}: the certificate of {} in {of_certificate} {problem}: receivers refuse it",
        excerpt(&subject, 200)
    );
    Ok(certificate.clone())
}

/// Adds the certificates in files to a trust.
fn with_certificates(trust: Trust, files: &[PathBuf], add: fn(Trust, Certificate) -> Trust) -> anyhow::Result<Trust> {
    files.iter().try_fold(trust, |trust, path| Ok(certificates(path)?.into_iter().fold(trust, add)))
}

/// Adds the lists of revoked certificates in files to a trust.
fn with_revocation_lists(trust: Trust, files: &[PathBuf]) -> anyhow::Result<Trust> {
    files.iter().try_fold(trust, |trust, path| {
        let bytes = read(path)?;
        let lists = match bytes.starts_with(&[0x30]) {
            true => RevocationList::from_der(&bytes).map(|list| vec![list]),
            false => RevocationList::from_pem_bundle(&bytes),
        };
        let lists = lists.map_err(|error| unusable(path, &error))?;
        Ok(lists.into_iter().fold(trust, Trust::with_revocation_list))
    })
}

/// Returns who made a signature, as a text.
pub(crate) fn shown_signer(signer: &Signer) -> String {
    match signer {
        Signer::Certificate(certificate) => certificate.subject(),
        Signer::Key(name) => format!("the owner of the key {name}"),
        Signer::Secret(name) => format!("somebody who knows the secret {name}"),
        Signer::Anyone => "somebody who is not trusted".to_owned(),
        Signer::Subject(id) => format!("the subject of the assertion {id}"),
        _ => "somebody".to_owned(),
    }
}
