//! `castile sign`: signs an XML document.

use std::path::{Path, PathBuf};

use anyhow::bail;
use castile_wss::document::{DocumentSigner, Place};
use castile_wss::{DigestAlgorithm, PrivateKey, Secret, SignatureAlgorithm};
use castile_xml::c14n::{self, Version};
use clap::ValueEnum;
use futures_util::FutureExt;

use super::{certificate_of, certificates, limits, of_file, place, read, unusable};
use crate::{outcome, output};

/// Sign an XML document (XML Signature)
///
/// The signature is put at the end of the root element, and covers the whole document. `castile verify` checks it.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The document; `-` is standard input
    #[arg(value_name = "DOCUMENT")]
    document: PathBuf,
    /// The private key, as PEM: RSA, ECDSA or Ed25519
    #[arg(long, value_name = "FILE", required_unless_present = "secret")]
    key: Option<PathBuf>,
    /// A file with a shared secret, for HMAC
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    secret: Option<PathBuf>,
    /// The certificate of the key, as PEM, and those of its issuers, to be sent with the signature
    #[arg(long, value_name = "FILE", conflicts_with = "secret")]
    cert: Option<PathBuf>,
    /// A name for the key, to be sent with the signature
    #[arg(long, value_name = "NAME")]
    key_name: Option<String>,
    /// Where to write the signed document; standard output by default
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Sign only the element with this id
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// An attribute that is an id, besides Id and xml:id; may be repeated
    #[arg(long, value_name = "NAME")]
    id_attribute: Vec<String>,
    /// Put the signature at the end of the first element with this name: `name`, or `{namespace}name`
    #[arg(long, value_name = "NAME", conflicts_with_all = ["after", "enveloping"])]
    inside: Option<String>,
    /// Put the signature after the first element with this name
    #[arg(long, value_name = "NAME", conflicts_with = "enveloping")]
    after: Option<String>,
    /// Put the document into the signature, and not the other way around
    #[arg(long, conflicts_with = "id")]
    enveloping: bool,
    /// Write only a signature of the file's bytes, which refers to them by this URI
    #[arg(long, value_name = "URI", conflicts_with_all = ["id", "inside", "after", "enveloping"])]
    detached: Option<String>,
    /// How the document is made canonical
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Canonicalization::Exclusive)]
    c14n: Canonicalization,
    /// The hash function of the digests; also that of the signature, for RSA
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Digest::Sha256)]
    digest: Digest,
    /// Allow SHA-1, for receivers that have nothing better
    #[arg(long)]
    legacy: bool,
    /// Sign by RSA-PSS
    #[arg(long, conflicts_with = "secret")]
    pss: bool,
    /// The prefix of the elements of the signature; empty for a default namespace
    #[arg(long, value_name = "PREFIX", default_value = "ds")]
    prefix: String,
}

#[derive(Clone, Copy, ValueEnum)]
enum Canonicalization {
    /// Exclusive XML Canonicalization 1.0
    Exclusive,
    /// Canonical XML 1.0
    Inclusive,
    /// Canonical XML 1.1
    #[value(name = "inclusive-1.1")]
    Inclusive11,
}

#[derive(Clone, Copy, ValueEnum)]
enum Digest {
    /// Only with --legacy
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

/// Signs the document, and writes it.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let out = arguments.out.as_deref().filter(|out| *out != Path::new("-"));
    if let Some(out) = out {
        outcome::expect_place(out)?;
        if std::fs::metadata(out).is_ok_and(|file| file.len() > 0) {
            bail!("{} exists, and would be replaced: choose another output file", out.display());
        }
    }
    let signer = signer(arguments)?;
    let document = read(&arguments.document)?;
    let signed = async {
        match (&arguments.detached, &arguments.id) {
            (Some(uri), _) => signer.sign_detached(&[(uri.as_str(), document.as_slice())]).await,
            (None, Some(id)) => signer.sign_element(&document, id).await,
            (None, None) if arguments.enveloping => signer.sign_enveloping(&document).await,
            (None, None) => signer.sign(&document).await,
        }
    };
    let signed = signed.now_or_never().unwrap_or_else(|| unreachable!("keys in files are always ready"));
    let signed = signed
        .map_err(|error| of_file(&arguments.document, place(&document, None, &error), "can't be signed", &error))?;
    let signed = String::from_utf8(signed)?;
    match out {
        None => output::bytes(signed.as_bytes()),
        Some(out) => {
            outcome::write(out, &signed).map_err(outcome::incomplete)?;
            outcome::list(&[out.to_owned()]);
        }
    }
    Ok(())
}

fn signer(arguments: &Arguments) -> anyhow::Result<DocumentSigner> {
    let digest = match arguments.digest {
        Digest::Sha1 if !arguments.legacy => {
            bail!("found --digest sha1, which is only for receivers that have nothing better, expected --legacy, too")
        }
        Digest::Sha1 => DigestAlgorithm::Sha1,
        Digest::Sha256 => DigestAlgorithm::Sha256,
        Digest::Sha384 => DigestAlgorithm::Sha384,
        Digest::Sha512 => DigestAlgorithm::Sha512,
    };
    let signer = match (&arguments.key, &arguments.secret) {
        (Some(path), _) => {
            let of_key = |error| unusable(path, &error);
            let mut key = PrivateKey::from_pem(&read(path)?).map_err(of_key)?;
            let algorithm = match arguments.pss {
                true => Some(SignatureAlgorithm::RsaPss(digest)),
                false => key.is_rsa().then_some(SignatureAlgorithm::RsaPkcs1(digest)),
            };
            if let Some(algorithm) = algorithm {
                let choose =
                    if arguments.legacy { PrivateKey::with_legacy_algorithm } else { PrivateKey::with_algorithm };
                key = choose(key, algorithm).map_err(of_key)?;
            }
            match &arguments.cert {
                Some(of_certificate) => {
                    let certificates = certificates(of_certificate)?;
                    certificate_of((&key, path), (&certificates, of_certificate))?;
                    DocumentSigner::new(key).with_certificates(certificates)
                }
                None => DocumentSigner::new(key),
            }
        }
        (None, Some(path)) => DocumentSigner::new(Secret::new(read(path)?)),
        (None, None) => bail!("found no key, expected --key or --secret"),
    };
    let version = match arguments.c14n {
        Canonicalization::Exclusive => Version::Exclusive10,
        Canonicalization::Inclusive => Version::Canonical10,
        Canonicalization::Inclusive11 => Version::Canonical11,
    };
    let mut signer = signer
        .with_digest(digest)
        .with_canonicalization(c14n::Algorithm { version, with_comments: false })
        .with_prefix(arguments.prefix.clone())
        .with_limits(limits())
        .with_place(place_of_signature(arguments));
    if let Some(name) = &arguments.key_name {
        signer = signer.with_key_name(name.clone());
    }
    Ok(arguments.id_attribute.iter().cloned().fold(signer, DocumentSigner::with_id_attribute))
}

fn place_of_signature(arguments: &Arguments) -> Place {
    match (&arguments.inside, &arguments.after) {
        (Some(name), _) => {
            let (namespace, local) = parsed(name);
            Place::EndOf { namespace, local }
        }
        (None, Some(name)) => {
            let (namespace, local) = parsed(name);
            Place::After { namespace, local }
        }
        (None, None) => Place::EndOfRoot,
    }
}

/// Parses `name`, in any namespace, or `{namespace}name`.
fn parsed(name: &str) -> (Option<String>, String) {
    match name.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        Some((namespace, local)) => (Some(namespace.to_owned()), local.to_owned()),
        None => (None, name.to_owned()),
    }
}
