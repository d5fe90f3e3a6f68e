//! `castile verify`: verifies the signatures of XML documents.

mod extract;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, bail};
use castile_wss::document::{DocumentVerifier, VerifiedDocument};
use castile_wss::{Algorithms, Error, PublicKey, Secret, Trust, VerifiedContent};
use castile_xml::visible;
use serde::Serialize;

use super::advice::{self, advice};
use super::{expect_xml, limits, place, read, shown_signer, unusable, with_certificates, with_revocation_lists};
use crate::{errors, outcome, output};
use extract::Extract;

const VALID: Style = AnsiColor::Green.on_default().bold();

/// Verify the signatures of XML documents (XML Signature)
///
/// All signatures of a document must be valid, and be made by somebody who is trusted. Nothing is fetched.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The documents; `-` is standard input
    #[arg(value_name = "DOCUMENT", required = true)]
    documents: Vec<PathBuf>,
    #[command(flatten)]
    trust: TrustArguments,
    /// Also accept SHA-1, SHA-224 and DSA, and RSA keys of at least 1024 bits
    #[arg(long)]
    legacy: bool,
    /// An attribute that is an id, besides Id and xml:id; may be repeated
    #[arg(long, value_name = "NAME")]
    id_attribute: Vec<String>,
    /// The file with the content that a detached signature refers to by this URI; may be repeated
    #[arg(long, value_name = "URI=FILE")]
    content: Vec<String>,
    /// Check certificates at this time, such as 2026-11-29T12:00:00Z
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_rfc3339_weak)]
    at: Option<SystemTime>,
    /// Write what is signed to a new file, without the signature in it. URI says which, such as #invoice-17, if it is not all; may be
    /// repeated
    #[arg(long, value_name = "[URI=]FILE")]
    extract: Vec<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// Whose signatures are accepted.
#[derive(clap::Args)]
#[group(id = "trust")]
pub(crate) struct TrustArguments {
    /// Trust these certificates, as PEM, and all that were issued with them; may be repeated
    #[arg(long, value_name = "FILE")]
    ca: Vec<PathBuf>,
    /// Trust these certificates, whoever issued them; may be repeated
    #[arg(long, value_name = "FILE")]
    cert: Vec<PathBuf>,
    /// Trust a public key, as PEM; NAME=FILE gives it the name by which signatures refer to it; may be repeated
    #[arg(long, value_name = "[NAME=]FILE")]
    key: Vec<String>,
    /// Trust those who know the shared secret in this file, for HMAC; NAME=FILE gives it a name; may be repeated
    #[arg(long, value_name = "[NAME=]FILE")]
    secret: Vec<String>,
    /// Accept every key that a signature brings with it: this proves only that the document is what was signed by somebody
    #[arg(long)]
    anyone: bool,
    /// Certificates that may be needed between that of a signature and a trusted one, or that it only describes; may be repeated
    #[arg(long, value_name = "FILE")]
    intermediate: Vec<PathBuf>,
    /// Refuse the certificates in these lists of their authorities (CRL), as PEM or DER. Each authority then needs a list; may be repeated
    #[arg(long, value_name = "FILE")]
    crl: Vec<PathBuf>,
}

impl TrustArguments {
    /// Returns whether somebody is trusted.
    fn is_given(&self) -> bool {
        let Self { ca, cert, key, secret, anyone, intermediate: _, crl: _ } = self;
        *anyone || !(ca.is_empty() && cert.is_empty() && key.is_empty() && secret.is_empty())
    }

    /// Reads the keys and certificates.
    pub(super) fn read(&self) -> anyhow::Result<Trust> {
        let trust = with_certificates(Trust::new(), &self.ca, Trust::with_authority)?;
        let trust = with_certificates(trust, &self.cert, Trust::with_certificate)?;
        let trust = with_certificates(trust, &self.intermediate, Trust::with_intermediate)?;
        let mut trust = with_revocation_lists(trust, &self.crl)?;
        for key in &self.key {
            let (name, path) = named(key);
            let key = PublicKey::from_pem(&read(&path)?).map_err(|error| unusable(&path, &error))?;
            trust = trust.with_key(name, key);
        }
        for secret in &self.secret {
            let (name, path) = named(secret);
            trust = trust.with_secret(name, Secret::new(read(&path)?));
        }
        Ok(if self.anyone { trust.with_anyone() } else { trust })
    }
}

/// The result for one document.
#[derive(Serialize)]
struct Verdict {
    file: String,
    valid: bool,
    /// Whether a signature covers the root element.
    covers_document: bool,
    /// Whether the root element is itself a signature, of what it contains or of other content.
    #[serde(skip)]
    is_signature: bool,
    signatures: Vec<ReportedSignature>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ReportedProblem>,
}

#[derive(Serialize)]
struct ReportedSignature {
    signer: String,
    algorithm: String,
    references: Vec<ReportedReference>,
}

#[derive(Serialize)]
struct ReportedReference {
    uri: String,
    /// `document`, `element` or `external`.
    content: &'static str,
    /// The byte range of the element, in UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[usize; 2]>,
    /// The byte range of the signature in it, which is not signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    without: Option<[usize; 2]>,
}

#[derive(Serialize)]
struct ReportedProblem {
    kind: String,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

/// Verifies all documents, and reports each.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    outcome::run(prepare(arguments).map(Some), |(verifier, extracts)| verify_all(&verifier, &extracts, arguments))
}

fn prepare(arguments: &Arguments) -> anyhow::Result<(DocumentVerifier, Vec<Extract>)> {
    if arguments.documents.len() > 1 && !arguments.extract.is_empty() {
        bail!("found --extract and several documents, expected one document");
    }
    for document in arguments.documents.iter().filter(|document| *document != Path::new("-")) {
        std::fs::metadata(document).with_context(|| format!("{} can't be read", document.display()))?;
    }
    let extracts = arguments.extract.iter().map(|given| Extract::parse(given)).collect::<Result<_, _>>()?;
    Ok((verifier(arguments)?, extracts))
}

fn verifier(arguments: &Arguments) -> anyhow::Result<DocumentVerifier> {
    if !arguments.trust.is_given() {
        bail!("nobody is trusted, expected --ca, --cert, --key, --secret or --anyone");
    }
    let mut trust = arguments.trust.read()?;
    if let Some(time) = arguments.at {
        trust = trust.with_time(time);
    }
    let mut verifier = DocumentVerifier::new(trust).with_limits(limits());
    if arguments.legacy {
        verifier = verifier.with_algorithms(Algorithms::default().with_legacy());
    }
    for content in &arguments.content {
        let Some((uri, path)) = content.rsplit_once('=') else { bail!("found --content {content}, expected URI=FILE") };
        verifier = verifier.with_content(uri, read(path.as_ref())?);
    }
    Ok(arguments.id_attribute.iter().cloned().fold(verifier, DocumentVerifier::with_id_attribute))
}

/// Splits `NAME=FILE`. Without a name, the file is the name.
fn named(text: &str) -> (String, PathBuf) {
    match text.split_once('=') {
        Some((name, path)) => (name.to_owned(), path.into()),
        None => (text.to_owned(), text.into()),
    }
}

/// Verifies all documents. The exit code says whether all are valid.
fn verify_all(verifier: &DocumentVerifier, extracts: &[Extract], arguments: &Arguments) -> anyhow::Result<u8> {
    let mut verdicts = Vec::new();
    for path in &arguments.documents {
        let document = read(path).map_err(outcome::incomplete)?;
        expect_xml(&document, path)?;
        let verified = verifier.verify(&document);
        let files = match &verified {
            Ok(verified) => extracts.iter().map(|extract| extract.write(verified)).collect::<Result<Vec<_>, _>>()?,
            Err(_) => Vec::new(),
        };
        let verdict = verdict(path.display().to_string(), &document, verified);
        if !arguments.json {
            print(&verdict);
            outcome::list(&files);
        }
        verdicts.push(verdict);
    }
    if arguments.json {
        output::text(&output::json(&verdicts)?);
    }
    Ok(u8::from(verdicts.iter().any(|verdict| !verdict.valid)))
}

fn verdict(file: String, document: &[u8], result: Result<VerifiedDocument, Error>) -> Verdict {
    match result {
        Ok(verified) => {
            let signatures = verified.signatures().iter().map(|signature| ReportedSignature {
                signer: shown_signer(&signature.signer),
                algorithm: signature.algorithm.to_string(),
                references: signature
                    .references
                    .iter()
                    .map(|reference| {
                        let (content, range, without) = match &reference.content {
                            VerifiedContent::Document { without } => ("document", None, without.as_ref()),
                            VerifiedContent::Element { range, without } => ("element", Some(range), without.as_ref()),
                            _ => ("external", None, None),
                        };
                        let [range, without] =
                            [range, without].map(|range| range.map(|range| [range.start, range.end]));
                        ReportedReference { uri: reference.uri.clone(), content, range, without }
                    })
                    .collect(),
            });
            let is_signature = verified.signatures().iter().any(|signature| signature.range == verified.root());
            let (signatures, covers_document) = (signatures.collect(), verified.covers_document());
            Verdict { file, valid: true, covers_document, is_signature, signatures, problem: None }
        }
        Err(error) => {
            let (line, column) = place(document, None, &error).unzip();
            let problem = ReportedProblem {
                kind: format!("{:?}", error.kind()),
                message: error.message().to_owned(),
                line,
                column,
            };
            let signatures = Vec::new();
            Verdict {
                file,
                valid: false,
                covers_document: false,
                is_signature: false,
                signatures,
                problem: Some(problem),
            }
        }
    }
}

fn print(verdict: &Verdict) {
    let file = visible(&verdict.file);
    if let Some(ReportedProblem { message, line, column, .. }) = &verdict.problem {
        let style = errors::ERROR;
        let place = line.zip(*column).map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        out!("{file}{place}: {style}not valid{style:#}: {}", visible(message));
        if let Some(advice) = advice(message, advice::Options::Documents) {
            note!("note: {advice}");
        }
        return;
    }
    let count = errors::counted(verdict.signatures.len(), "signature");
    out!("{file}: {VALID}valid{VALID:#}, {count}");
    for ReportedSignature { signer, algorithm, references } in &verdict.signatures {
        let contents: Vec<String> = references
            .iter()
            .map(|reference| match (reference.content, reference.uri.as_str()) {
                ("document", _) => "the document".to_owned(),
                ("element", uri) => format!("the element {uri}"),
                (_, uri) => format!("the content {uri}"),
            })
            .collect();
        out!("  {} signed {} with {algorithm}", visible(signer), visible(&contents.join(", ")));
    }
    if !verdict.covers_document && !verdict.is_signature {
        note!(
            "{}warning{:#}: the signatures of {file} don't cover the whole document",
            errors::WARNING,
            errors::WARNING
        );
    }
}
