//! `castile sec explain`: what the signatures of a message or a document say, and where they are wrong.

mod hints;
mod report;
mod show;
mod times;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, anyhow, bail};
use bytes::Bytes;
use castile_wss::{Algorithms, Explainer, Explanation};
use castile_xml::{excerpt, visible};

use super::verify::TrustArguments;
use super::{expect_xml, of_file, place, read};
use crate::package::{StoredMessage, at_once};
use crate::{outcome, output};
use report::Report;

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
    /// Also accept SHA-1, SHA-224 and DSA
    #[arg(long)]
    legacy: bool,
    /// An attribute of a document that is an id, besides Id and xml:id; may be repeated
    #[arg(long, value_name = "NAME")]
    id_attribute: Vec<String>,
    /// Check times and certificates at this time, such as 2026-11-29T12:00:00Z, and not now
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_rfc3339_weak)]
    at: Option<SystemTime>,
    /// Print the canonical form of the content of a reference, such as #body-1, and nothing else
    #[arg(long, value_name = "URI", conflicts_with = "expected")]
    canonical: Option<String>,
    /// Show where the canonical form of a reference differs from the one in this file, which the sender digested
    #[arg(long, value_name = "URI=FILE")]
    expected: Option<String>,
    /// Write JSON
    #[arg(long, conflicts_with_all = ["canonical", "expected"])]
    json: bool,
}

/// What is printed.
enum Answer {
    Explanation(Box<Report>),
    Canonical(Bytes),
    Comparison { ours: Bytes, theirs: Vec<u8> },
}

/// Explains. The exit code says whether all signatures are right and trusted. Times don't matter for it: a stored message is an old one.
pub(crate) fn run(security: &Security) -> ExitCode {
    let Security { command: Command::Explain(arguments) } = security;
    let time = arguments.at.unwrap_or_else(SystemTime::now);
    outcome::run(answer(arguments, time).map(Some), |answer| {
        Ok(match answer {
            Answer::Explanation(report) => {
                match arguments.json {
                    true => output::text(&output::json(&report)?),
                    false => show::show(&report),
                }
                if let (None, Some(created)) = (arguments.at, report.late()) {
                    note!("note: --at {} judges the times as of when the message was made", visible(created));
                }
                u8::from(!report.right)
            }
            Answer::Canonical(bytes) => {
                output::bytes(&bytes);
                0
            }
            Answer::Comparison { ours, theirs } => compare(&ours, &theirs),
        })
    })
}

fn answer(arguments: &Arguments, time: SystemTime) -> anyhow::Result<Answer> {
    let Arguments { message, content_type, trust, legacy, id_attribute, canonical: wanted, expected, .. } = arguments;
    let bytes = read(message)?;
    expect_xml(&bytes, message)?;
    let stored = StoredMessage::of(bytes, content_type.as_deref());
    let mut received = stored
        .and_then(|stored| Ok(stored.received()?))
        .with_context(|| format!("{} can't be explained", message.display()))?;
    let explainer = Explainer::new(trust.read()?, time);
    let explainer = id_attribute.iter().cloned().fold(explainer, Explainer::with_id_attribute);
    let explanation = at_once(explainer.explain_message(&mut received)).map_err(|error| {
        let place = place(&received.message, received.charset, &error);
        of_file(message, place, "can't be explained", &error)
    })?;
    if let (Some(name), false) = (id_attribute.first(), explanation.parts.is_empty()) {
        bail!(
            "found --id-attribute {name} and a message, expected a document: WS-Security says which ids a message has"
        );
    }
    if let Some(uri) = wanted {
        return Ok(Answer::Canonical(canonical(&explanation, uri)?));
    }
    let Some(expected) = expected else {
        let allowed = if *legacy { Algorithms::default().with_legacy() } else { Algorithms::default() };
        return Ok(Answer::Explanation(Box::new(Report::of(&explanation, time, allowed))));
    };
    let Some((uri, file)) = expected.rsplit_once('=') else {
        bail!("found --expected {expected}, expected URI=FILE");
    };
    Ok(Answer::Comparison { ours: canonical(&explanation, uri)?, theirs: read(file.as_ref())? })
}

/// Returns the canonical form of the first reference with this URI.
fn canonical(explanation: &Explanation, uri: &str) -> anyhow::Result<Bytes> {
    let mut known = Vec::new();
    for reference in explanation.signatures.iter().flatten().flat_map(|signature| &signature.references) {
        if reference.uri == uri {
            let content = reference.content.as_ref().map_err(|error| anyhow!("{error}"))?;
            return content
                .canonical
                .clone()
                .ok_or_else(|| anyhow!("{uri} is not in the message or document, or too long to be kept"));
        }
        known.push(format!("\"{}\"", excerpt(&reference.uri, 60)));
    }
    match known.is_empty() {
        true => bail!("there is no signature, expected one with a reference to \"{uri}\""),
        false => bail!("no reference has the URI \"{uri}\", expected one of {}", known.join(", ")),
    }
}

/// Shows where the canonical form differs from what the sender digested.
fn compare(ours: &[u8], theirs: &[u8]) -> u8 {
    let same = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    if same == ours.len() && same == theirs.len() {
        out!("both canonical forms are equal: {} bytes", ours.len());
        return 0;
    }
    let around = |text: &[u8]| {
        let (start, end) = (same.saturating_sub(AROUND), (same + AROUND).min(text.len()));
        visible(&String::from_utf8_lossy(text.get(start..end).unwrap_or_default())).into_owned()
    };
    out!("the canonical forms differ first at byte {same}:");
    out!("  here      …{}… ({} bytes)", around(ours), ours.len());
    out!("  expected  …{}… ({} bytes)", around(theirs), theirs.len());
    1
}
