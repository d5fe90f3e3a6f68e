//! `castile sec explain`: what the signatures of a message or a document say, and where they are wrong.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, anyhow, bail};
use castile_wss::message::Assertion;
use castile_wss::{
    Algorithms, Certificate, ExplainedPart, ExplainedReference, ExplainedSecurity, ExplainedSignature, Explanation,
    Signer, VerifiedContent,
};
use castile_xml::{Limits, Location, excerpt, visible};

use super::verify::TrustArguments;
use super::{read, shown_signer};
use crate::package::{StoredMessage, at_once};
use crate::{errors, outcome, output};

const RIGHT: Style = AnsiColor::Green.on_default().bold();
/// How much of a canonical form is shown around a difference, in bytes.
const AROUND: usize = 40;

/// Work with signed messages
#[derive(clap::Args)]
pub(crate) struct Security {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Explain(Arguments),
}

/// Explain the signatures of a message or a document: what is signed by whom, what isn't, and what differs
///
/// A message may be a package with its attachments.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The message or document, or a MIME package of an envelope and its attachments; `-` is standard input
    #[arg(value_name = "MESSAGE")]
    message: PathBuf,
    /// The Content-Type of a message whose file doesn't begin with one
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    #[command(flatten)]
    trust: TrustArguments,
    /// Check times and certificates at this time, such as 2026-11-29T12:00:00Z, and not now
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_rfc3339_weak)]
    at: Option<SystemTime>,
    /// Print the canonical form of the content of a reference, such as #body-1, and nothing else
    #[arg(long, value_name = "URI", conflicts_with = "expected")]
    canonical: Option<String>,
    /// Show where the canonical form of a reference differs from the one in this file, which the sender digested
    #[arg(long, value_name = "URI=FILE")]
    expected: Option<String>,
}

/// What is printed.
enum Answer {
    Explanation(Explanation),
    Canonical(String),
    Comparison { ours: String, theirs: Vec<u8> },
}

/// Explains. The exit code says whether all signatures are right and trusted.
pub(crate) fn run(security: &Security) -> ExitCode {
    let Security { command: Command::Explain(arguments) } = security;
    let time = arguments.at.unwrap_or_else(SystemTime::now);
    outcome::run(answer(arguments, time).map(Some), |answer| {
        Ok(match answer {
            Answer::Explanation(explanation) => print(&explanation, time),
            Answer::Canonical(text) => {
                output::text(&text);
                0
            }
            Answer::Comparison { ours, theirs } => compare(&ours, &theirs),
        })
    })
}

fn answer(arguments: &Arguments, time: SystemTime) -> anyhow::Result<Answer> {
    let Arguments { message, content_type, trust, canonical: wanted, expected, .. } = arguments;
    let stored = StoredMessage::of(read(message)?, content_type.as_deref());
    let unexplained = || format!("{} can't be explained", message.display());
    let mut received = stored.and_then(|stored| Ok(stored.received()?)).with_context(unexplained)?;
    let trust = trust.read()?;
    let explanation = castile_wss::explain_message(&mut received, &trust, time);
    let explanation = at_once(explanation).with_context(unexplained)?;
    if let Some(uri) = wanted {
        return Ok(Answer::Canonical(canonical(&explanation, uri)?));
    }
    let Some(expected) = expected else { return Ok(Answer::Explanation(explanation)) };
    let Some((uri, file)) = expected.rsplit_once('=') else {
        bail!("found --expected {expected}, expected URI=FILE");
    };
    Ok(Answer::Comparison { ours: canonical(&explanation, uri)?, theirs: read(file.as_ref())? })
}

/// Prints the explanation, and returns the exit code.
fn print(explanation: &Explanation, time: SystemTime) -> u8 {
    print_message(explanation, time);
    let mut is_right = !explanation.signatures.is_empty();
    is_right &= explanation.security.iter().all(|security| security.problem.is_none());
    for (number, signature) in explanation.signatures.iter().enumerate() {
        is_right &= match signature {
            Ok(signature) => print_signature(explanation, number + 1, signature),
            Err(error) => {
                out!("\nsignature {}: {}", number + 1, wrong(&error.to_string()));
                false
            }
        };
    }
    u8::from(!is_right)
}

/// Returns the canonical form of the first reference with this URI.
fn canonical(explanation: &Explanation, uri: &str) -> anyhow::Result<String> {
    let mut known = Vec::new();
    for reference in explanation.signatures.iter().flatten().flat_map(|signature| &signature.references) {
        if reference.uri == uri {
            let content = reference.content.as_ref().map_err(|error| anyhow!("{error}"))?;
            return content
                .canonical
                .clone()
                .ok_or_else(|| anyhow!("{uri} is not an element of the message or document"));
        }
        known.push(format!("\"{}\"", excerpt(&reference.uri, 60)));
    }
    match known.is_empty() {
        true => bail!("there is no signature, expected one with a reference to \"{uri}\""),
        false => bail!("no reference has the URI \"{uri}\", expected one of {}", known.join(", ")),
    }
}

/// Shows where the canonical form differs from what the sender digested.
fn compare(ours: &str, theirs: &[u8]) -> u8 {
    let same = ours.bytes().zip(theirs).take_while(|(ours, theirs)| ours == *theirs).count();
    if same == ours.len() && same == theirs.len() {
        out!("both canonical forms are equal: {} bytes", ours.len());
        return 0;
    }
    let around = |text: &[u8]| {
        let (start, end) = (same.saturating_sub(AROUND), (same + AROUND).min(text.len()));
        visible(&String::from_utf8_lossy(text.get(start..end).unwrap_or_default())).into_owned()
    };
    out!("the canonical forms differ first at byte {same}:");
    out!("  here      …{}… ({} bytes)", around(ours.as_bytes()), ours.len());
    out!("  expected  …{}… ({} bytes)", around(theirs), theirs.len());
    1
}

fn print_message(explanation: &Explanation, time: SystemTime) {
    let Explanation { parts, attachments, security, signatures, .. } = explanation;
    let kind = if parts.is_empty() { "a document" } else { "a message" };
    out!("{kind} with {}", errors::counted(signatures.len(), "signature"));
    let inside = |part: &ExplainedPart| security.iter().position(|security| security.contains(&part.range));
    for part in parts.iter().filter(|part| inside(part).is_none()) {
        out!("  {:20} {}", visible(&part.name), signed_by(&part.signed_by));
    }
    for (number, attachment) in attachments.iter().enumerate() {
        let name = match &attachment.id {
            Some(id) => format!("attachment {}", excerpt(id.as_str(), 60)),
            None => format!("attachment {} without a Content-ID", number + 1),
        };
        out!("  {name:20} {}", signed_by(&attachment.signed_by));
    }
    for (number, one) in security.iter().enumerate() {
        out!("  Security for {}", receiver(one));
        if let Some((created, expires)) = one.times {
            let now = humantime::format_rfc3339_seconds(time);
            let created = created.map_or_else(|| "at an unknown time".to_owned(), |time| time.to_string());
            let expires = expires.map_or_else(|| "never".to_owned(), |time| time.to_string());
            out!("    made {created}, expires {expires}; it is {now}");
        }
        if let Some(problem) = &one.problem {
            out!("    {}", wrong(&problem.to_string()));
        }
        for part in parts.iter().filter(|part| inside(part) == Some(number)) {
            out!("    {:20} {}", visible(&part.name), signed_by(&part.signed_by));
            if let Some(assertion) = one.assertions.iter().find(|assertion| assertion.range == part.range) {
                print_assertion(assertion);
            }
        }
    }
}

/// Returns by which signatures something is signed.
fn signed_by(signatures: &[usize]) -> String {
    let by: Vec<String> = signatures.iter().map(|number| (number + 1).to_string()).collect();
    match by.is_empty() {
        true => "not signed".to_owned(),
        false => format!("signed by signature {}", by.join(" and ")),
    }
}

/// Returns for whom a header block is.
fn receiver(security: &ExplainedSecurity) -> String {
    match &security.role {
        Some(role) => format!("the role {}", excerpt(role, 200)),
        None => "the ultimate receiver".to_owned(),
    }
}

/// Prints what an assertion claims.
fn print_assertion(assertion: &Assertion) {
    let subject = assertion.subject.name.as_deref().unwrap_or("somebody");
    out!("      {} of {}, about {}", assertion.version, excerpt(&assertion.issuer, 200), excerpt(subject, 200));
    let shown = |moment: Option<String>| moment.unwrap_or_else(|| "an unknown time".to_owned());
    let begins = shown(assertion.not_before.map(|moment| moment.to_string()));
    let ends = shown(assertion.not_on_or_after.map(|moment| moment.to_string()));
    out!("      valid from {begins} until {ends}");
    for audiences in &assertion.audiences {
        out!("      for {}", excerpt(&audiences.join(" or "), 200));
    }
    let methods: Vec<&str> = assertion.confirmation_methods.iter().map(|method| method.name()).collect();
    match methods.is_empty() {
        true => out!("      its subject can't be confirmed"),
        false => out!("      its subject is confirmed by {}", methods.join(" or ")),
    }
}

/// Prints a signature, and returns whether it is right and trusted.
fn print_signature(explanation: &Explanation, number: usize, signature: &ExplainedSignature) -> bool {
    let location = Location::of(explanation.text.as_bytes(), signature.range.start, Limits::default(), None);
    let weak = match Algorithms::default().allows_signature(signature.algorithm) {
        true => String::new(),
        false => format!(", {}", wrong("weak")),
    };
    let mut of = String::new();
    if let [_, _, ..] = explanation.security.as_slice() {
        let security = explanation.security.iter().find(|security| security.contains(&signature.range));
        of = security.map(|security| format!(", for {}", receiver(security))).unwrap_or_default();
    }
    out!("\nsignature {number} ({location}){of}: {}{weak}", signature.algorithm);
    if let Some(certificate) = &signature.claimed {
        out!("  certificate  {}", described(certificate));
    }
    let mut is_right = true;
    match &signature.signer {
        Ok(signer @ Signer::Anyone) => out!("  signer       {}", shown_signer(signer)),
        Ok(signer) => out!("  signer       {}, {RIGHT}trusted{RIGHT:#}", visible(&shown_signer(signer))),
        Err(error) => {
            is_right = false;
            out!("  signer       {}", wrong(error.message()));
        }
    }
    match &signature.value {
        Ok(()) => out!("  value        {RIGHT}right{RIGHT:#}"),
        Err(error) => {
            is_right = false;
            out!("  value        {}", wrong(error.message()));
        }
    }
    for reference in &signature.references {
        is_right &= print_reference(explanation, reference);
    }
    is_right
}

fn print_reference(explanation: &Explanation, reference: &ExplainedReference) -> bool {
    let uri = match reference.uri.as_str() {
        "" => "the document".to_owned(),
        uri => excerpt(uri, 60),
    };
    let weak = match Algorithms::default().allows_digest(reference.algorithm) {
        true => String::new(),
        false => format!(" ({})", wrong("weak")),
    };
    let content = match &reference.content {
        Ok(content) => content,
        Err(error) => {
            out!("  {uri}: {}", wrong(error.message()));
            return false;
        }
    };
    let element = match &content.place {
        VerifiedContent::Element { range, .. } => {
            let tag = &explanation.text[range.clone()];
            let end = tag.find([' ', '\t', '\r', '\n', '/', '>']).unwrap_or(tag.len());
            format!(", {}>", excerpt(&tag[..end], 60))
        }
        _ => String::new(),
    };
    let mut is_right = content.computed == reference.stated;
    let mut length =
        content.canonical.as_ref().map_or_else(String::new, |text| format!(", {} bytes when canonical", text.len()));
    if !content.included.is_empty() {
        let ids: Vec<String> = content.included.iter().map(|id| excerpt(id.as_str(), 60)).collect();
        let _ = write!(
            length,
            ", with {} {}",
            if ids.len() == 1 { "the attachment" } else { "the attachments" },
            ids.join(", ")
        );
    }
    match is_right {
        true => out!("  {uri}{element}{length}: {RIGHT}right{RIGHT:#}, {}{weak}", reference.algorithm),
        false => {
            out!("  {uri}{element}{length}: {}, {}{weak}", wrong("changed"), reference.algorithm);
            out!("    stated    {}", hexadecimal(&reference.stated));
            out!("    computed  {}", hexadecimal(&content.computed));
        }
    }
    if let Some(prefix) = &content.unsigned_prefix {
        is_right = false;
        out!(
            "    {}",
            wrong(&format!("a value uses the prefix {}, whose declaration is not signed", excerpt(prefix, 60)))
        );
    }
    is_right
}

fn wrong(text: &str) -> String {
    let style = errors::ERROR;
    format!("{style}{}{style:#}", visible(text))
}

fn described(certificate: &Certificate) -> String {
    let time = humantime::format_rfc3339_seconds;
    let (subject, issuer) = (excerpt(&certificate.subject(), 200), excerpt(&certificate.issuer(), 200));
    format!(
        "{subject}, issued by {issuer}, serial number {}, valid from {} to {}",
        certificate.serial_number(),
        time(certificate.not_before()),
        time(certificate.not_after())
    )
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
