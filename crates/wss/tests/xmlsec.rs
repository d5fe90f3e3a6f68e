//! The signatures of xmlsec's tests. Castile accepts those whose algorithms and transforms it supports. It refuses the
//! others, each with a reason: `xmlsec.expected` has what it finds, and `xmlsec.openssl.expected` what it finds with the
//! feature `openssl`. `BLESS=1` writes the one that belongs to the features.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use castile_wss::document::DocumentVerifier;
use castile_wss::{Algorithms, Certificate, ErrorKind, PublicKey, Secret, Trust};

#[castile_corpus::needs("corpus/conformance/security/xmlsec-tests.tar.xz")]
#[test]
fn signatures_are_verified_or_refused_with_a_reason() {
    let folder = unpacked();
    let mut found = String::new();
    let mut tally: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for line in include_str!("xmlsec.tsv").lines().filter(|line| !line.starts_with('#')) {
        let [expected, file, options] = line.splitn(3, '\t').collect::<Vec<_>>().try_into().unwrap();
        let verdict = match fs::read(folder.join(file).with_extension("xml")) {
            Err(_) => "no such file".to_owned(),
            Ok(document) => match verify(&folder, options, &document) {
                Ok(verdict) => verdict.to_owned(),
                Err(error) => {
                    // A signature that is valid may be refused, but never for what it signs or for how it was made.
                    // One is encoded as it must not be.
                    let is_wrong = matches!(error.kind(), ErrorKind::Digest | ErrorKind::Signature)
                        && !options.contains("--enable-asn1-signatures-hack");
                    assert!(expected == "invalid" || !is_wrong, "{file} {options}: {error}");
                    format!("{:?}\t{}", error.kind(), error.message())
                }
            },
        };
        assert!(expected == "valid" || verdict != "valid", "{file} {options} is accepted");
        *tally.entry((expected, verdict.split('\t').next().unwrap().to_owned())).or_default() += 1;
        writeln!(found, "{expected}\t{file}\t{verdict}").unwrap();
    }
    for ((expected, verdict), count) in tally {
        writeln!(found, "# {count} that are {expected} for xmlsec: {verdict}").unwrap();
    }
    let path = Path::new(match cfg!(feature = "openssl") {
        true => "tests/xmlsec.openssl.expected",
        false => "tests/xmlsec.expected",
    });
    if std::env::var_os("BLESS").is_some() {
        fs::write(path, &found).unwrap();
    }
    assert_eq!(found, fs::read_to_string(path).unwrap());
}

/// Verifies a document with the keys that the options of xmlsec1 name. A signature that is not trusted may be valid otherwise:
/// the tests of xmlsec have signers with certificates of authorities, and of version 1.
fn verify(folder: &Path, options: &str, document: &[u8]) -> Result<&'static str, castile_wss::Error> {
    match verifier(folder, options, document)?.verify(document) {
        Ok(_) => Ok("valid"),
        Err(error) if error.kind() == ErrorKind::Untrusted => {
            let untrusted = verifier(folder, &format!("{options} --insecure"), document)?;
            untrusted.verify(document).map(|_| "valid, but not trusted").map_err(|_| error)
        }
        Err(error) => Err(error),
    }
}

/// Returns a verifier with the keys that the options of xmlsec1 give it.
fn verifier(folder: &Path, options: &str, document: &[u8]) -> Result<DocumentVerifier, castile_wss::Error> {
    let options = options
        .replace("$pub_key_format", "pem")
        .replace("$rsa_pub_key_suffix", "")
        .replace("./", "")
        .replace("$pub_key_option", "--pubkey-pem");
    let read = |path: &str| fs::read(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    // Some have one form only.
    let certificate = |path: &str| match folder.join(path).is_file() {
        true => Certificate::from_pem(&read(path)),
        false => Certificate::from_der(&read(&path.replace(".pem", ".der"))),
    };
    // Some have a key whose name is not that of the file.
    let text = String::from_utf8_lossy(document);
    let key_name =
        text.split_once("<KeyName>").and_then(|(_, rest)| rest.split_once('<')).map_or("key", |(name, _)| name);
    let mut trust = Trust::new();
    let mut contents = Vec::new();
    // xmlsec accepts a public key that the signature brings with it, and a certificate only if told so.
    let is_anyone = options.contains("--insecure") || options.contains("key-value");
    let mut words = options.split_whitespace();
    while let Some(word) = words.next() {
        let (option, name) = word.split_once(':').unwrap_or((word, key_name));
        trust = match option {
            "--trusted-pem" => trust.with_authority(certificate(words.next().unwrap())?),
            "--untrusted-pem" => trust.with_intermediate(certificate(words.next().unwrap())?),
            // Its certificate has to be trusted, too.
            "--pubkey-cert-pem" if options.contains("--verify-keys") => {
                trust.with_intermediate(certificate(words.next().unwrap())?)
            }
            "--pubkey-cert-pem" => {
                let certificate = certificate(words.next().unwrap())?;
                trust.with_key(name, certificate.public_key().clone())
            }
            "--pubkey-pem" => trust.with_key(name, PublicKey::from_pem(&read(words.next().unwrap()))?),
            "--hmackey" => trust.with_secret(name, Secret::new(read(words.next().unwrap()))),
            "--verification-gmt-time" => {
                let time = words.next().unwrap().replacen('+', "T", 1) + "Z";
                trust.with_time(time.parse::<jiff::Timestamp>().unwrap().into())
            }
            _ => {
                contents.extend(match word {
                    "$url_map_xml_stylesheet_2005" => {
                        Some(("http://www.w3.org/TR/xml-stylesheet", "xml-stylesheet-2005"))
                    }
                    "$url_map_xml_stylesheet_2018" => {
                        Some(("http://www.w3.org/TR/xml-stylesheet", "xml-stylesheet-2018"))
                    }
                    "$url_map_rfc3161" => Some(("http://www.ietf.org/rfc/rfc3161.txt", "rfc3161.txt")),
                    _ => None,
                });
                trust
            }
        };
    }
    let trust = if is_anyone { trust.with_anyone() } else { trust };
    let verifier = DocumentVerifier::new(trust)
        .with_algorithms(Algorithms::default().with_legacy())
        .with_id_attribute("ID")
        .with_doctype();
    Ok(contents
        .into_iter()
        .fold(verifier, |verifier, (uri, file)| verifier.with_content(uri, read(&format!("external-data/{file}")))))
}

fn unpacked() -> PathBuf {
    let archive = castile_corpus::path!("corpus/conformance/security/xmlsec-tests.tar.xz");
    // The name has the archive's size, so a different archive is unpacked again.
    let length = fs::metadata(archive).unwrap().len();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("xmlsec-{length}"));
    if !folder.is_dir() {
        let partial = folder.with_extension(format!("partial-{}", std::process::id()));
        fs::create_dir_all(&partial).unwrap();
        let tar = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(&partial).status();
        assert!(tar.as_ref().is_ok_and(|status| status.success()), "tar can't unpack {archive}: {tar:?}");
        fs::rename(&partial, &folder).unwrap();
    }
    folder
}
