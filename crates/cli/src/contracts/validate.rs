//! `castile validate`: checks messages and documents against a contract and reports all problems.

mod contract;
mod message;
mod package;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, bail};
use bytes::Bytes;
use castile_wsdl::Severity;
use castile_wss::message::Policy;
use castile_xml::visible;
use castile_xsd::validate::{Problem, Validator};
use castile_xsd::{Location, Sources};
use serde::Serialize;

use crate::contracts::{problems, source};
use crate::package::StoredMessage;
use crate::signatures::advice::{Options, advice};
use crate::signatures::messages::{self, Incoming, Peer, Users};
use crate::{errors, outcome, output};
use contract::{Contract, Expectation};
use package::Package;

const VALID: Style = AnsiColor::Green.on_default().bold();
/// A message is held in memory with its attachments.
const MAX_SIZE: u64 = 256 << 20;

/// Check messages against a contract, and report all problems
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The messages: envelopes, MIME packages of an envelope and its attachments, or XML documents; `-` is standard input
    #[arg(value_name = "MESSAGE", required = true)]
    messages: Vec<PathBuf>,
    /// The contract: a WSDL 1.1 file, a bundle, or an XML Schema; `-` is standard input
    #[arg(long, value_name = "WSDL")]
    contract: PathBuf,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// Expect messages of this operation
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,
    /// Expect requests
    #[arg(long, conflicts_with = "response")]
    request: bool,
    /// Expect responses or faults
    #[arg(long)]
    response: bool,
    /// The Content-Type of messages whose file doesn't begin with one
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    /// The maximum number of problems to report for each message
    #[arg(long, value_name = "COUNT", default_value = "100", value_parser = max_problems)]
    most: u16,
    #[command(flatten)]
    security: Incoming,
    #[command(flatten)]
    users: Users,
    #[command(flatten)]
    peer: Peer,
    /// Check the time stamps and certificates of signed messages at this time, such as 2026-11-29T12:00:00Z, and not now
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_rfc3339_weak, help_heading = "Message security")]
    at: Option<SystemTime>,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

fn max_problems(text: &str) -> Result<u16, String> {
    let most = text.parse().ok().filter(|most| (1..=10_000).contains(most));
    most.ok_or_else(|| "expected a whole number from 1 to 10000".to_owned())
}

/// The result for one message.
#[derive(Serialize)]
struct Verdict {
    file: String,
    valid: bool,
    /// The kind of message: `request`, `response`, `fault` or `document`; `None` if it can't be determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'static str>,
    problems: Vec<ReportedProblem>,
}

/// A problem in the JSON output.
#[derive(Serialize)]
struct ReportedProblem {
    rule: &'static str,
    path: String,
    line: u32,
    column: u32,
    message: String,
}

/// The text of a message, and its problems.
struct Judged {
    text: String,
    kind: Option<&'static str>,
    operation: Option<String>,
    version: Option<&'static str>,
    problems: Vec<Problem>,
    /// Whether its security was wrong at the time of the check only.
    is_late: bool,
    /// What to do about its security.
    advice: Option<&'static str>,
}

/// What messages are checked against.
struct Judge {
    contract: Contract,
    /// The security that they must have.
    policy: Option<Policy>,
}

/// Validates all messages and reports the problems of each.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    outcome::run(prepare(arguments).map(Some), |judge| judge.all(arguments))
}

fn expectation(arguments: &Arguments) -> Expectation<'_> {
    Expectation {
        operation: arguments.operation.as_deref(),
        request: arguments.request,
        response: arguments.response,
        most: usize::from(arguments.most),
    }
}

fn prepare(arguments: &Arguments) -> anyhow::Result<Judge> {
    let is_input = |file: &&PathBuf| **file == Path::new("-");
    match (arguments.messages.iter().filter(is_input).count(), is_input(&&arguments.contract)) {
        (2.., _) => bail!("only one of the messages can be read from standard input: save the others to files"),
        (1, true) => {
            bail!("the contract and a message can't both be read from standard input: save one of them to a file")
        }
        _ => {}
    }
    let contract = Contract::open(&arguments.contract, &arguments.catalogs)?;
    contract.expect(&expectation(arguments))?;
    for file in arguments.messages.iter().filter(|file| **file != Path::new("-")) {
        let found = std::fs::metadata(file).with_context(|| format!("{} can't be read", file.display()))?;
        if found.is_dir() {
            bail!("{} is a folder, expected a file", file.display());
        }
    }
    let policy = arguments.security.policy_at(&arguments.users, &arguments.peer, arguments.at)?;
    Ok(Judge { contract, policy })
}

impl Judge {
    /// Validates all messages. The exit code says whether all are valid.
    fn all(&self, arguments: &Arguments) -> anyhow::Result<u8> {
        let asked = expectation(arguments);
        // The validator compiles the schema once for all messages.
        let mut validator =
            Validator::new(self.contract.schema()).with_limits(message::limits()).with_max_problems(asked.most);
        let mut verdicts = Vec::new();
        let (mut invalid, mut unjudged, mut late, mut help) = (0, 0, false, None);
        for file in &arguments.messages {
            let judged = match self.one(&mut validator, &asked, file, arguments.content_type.as_deref()) {
                Ok(judged) => judged,
                Err(error) => {
                    unjudged += 1;
                    outcome::print_message(
                        "error",
                        format_args!("{} can't be validated: {}", file.display(), errors::in_full(&error)),
                    );
                    continue;
                }
            };
            invalid += usize::from(!judged.problems.is_empty());
            late |= judged.is_late;
            help = help.or(judged.advice);
            match arguments.json {
                true => verdicts.push(verdict(file, judged)),
                false => print(file, &judged, asked.most),
            }
        }
        if arguments.json {
            output::text(&output::json(&verdicts)?);
        }
        if late && arguments.at.is_none() {
            note!("note: times are checked now: --at TIME checks stored messages as of then");
        } else if let Some(advice) = help {
            note!("note: {advice}");
        }
        if arguments.messages.len() > 1 {
            match (invalid, arguments.messages.len()) {
                (0, all) if unjudged == 0 => note!("all {all} messages are valid"),
                (_, all) => note!("{invalid} of {all} messages are not valid"),
            }
        }
        match unjudged {
            0 => Ok(u8::from(invalid > 0)),
            _ => Err(outcome::incomplete(anyhow::anyhow!("not all messages were validated"))),
        }
    }

    fn one(
        &self,
        validator: &mut Validator<'_>,
        asked: &Expectation<'_>,
        file: &Path,
        content_type: Option<&str>,
    ) -> anyhow::Result<Judged> {
        let stored = match StoredMessage::of(bytes(file)?, content_type) {
            Ok(stored) => stored,
            Err(error) => return Ok(unreadable("MIME", &error)),
        };
        let insecure = self.policy.as_ref().and_then(|policy| insecure(policy, &stored));
        let mut package = match Package::read(&stored) {
            Ok(package) => package,
            Err(error) => return Ok(unreadable("MIME", &error.into())),
        };
        let text = match castile_xml::decode(&package.root, package.charset) {
            Ok(text) => text.into_owned(),
            Err(error) => return Ok(unreadable("well-formed", &error.into())),
        };
        package.root = Bytes::new();
        drop(stored);
        let message::Found { kind, operation, version, mut problems } =
            message::judge(&self.contract, validator, asked, &text, &package)?;
        let is_late = insecure.as_ref().is_some_and(|insecure| insecure.is_late);
        let advice = insecure.as_ref().and_then(|insecure| advice(&insecure.message, Options::Messages));
        problems.extend(insecure.map(|Insecure { message, offset, .. }| problem(&text, message, offset)));
        Ok(Judged { text, kind, operation, version, problems, is_late, advice })
    }
}

/// Why a message doesn't fulfil a policy.
struct Insecure {
    message: String,
    /// The offset in its text.
    offset: usize,
    is_late: bool,
}

/// Returns why a message with its attachments doesn't fulfil a policy.
fn insecure(policy: &Policy, stored: &StoredMessage) -> Option<Insecure> {
    let mut received = match stored.received() {
        Ok(received) => received,
        Err(error) => {
            let message = format!("its security can't be checked: {error}");
            return Some(Insecure { message, offset: 0, is_late: false });
        }
    };
    let error = messages::verify(policy, &mut received).err()?;
    Some(Insecure {
        message: error.message().to_owned(),
        offset: error.offset().unwrap_or(0),
        is_late: error.kind() == castile_wss::ErrorKind::Time,
    })
}

/// Returns the problem of a message that doesn't fulfil a policy.
fn problem(text: &str, message: String, offset: usize) -> Problem {
    let offset = offset.min(text.len());
    let castile_xml::Location { line, column, path, .. } =
        castile_xml::Location::of(text.as_bytes(), offset, message::limits(), None);
    let whole = |number| u32::try_from(number).unwrap_or(u32::MAX);
    Problem { rule: "WS-Security", path, line: whole(line), column: whole(column), offset, message }
}

/// The result for a message whose text can't be read.
fn unreadable(rule: &'static str, error: &anyhow::Error) -> Judged {
    let message = errors::in_full(error);
    let problem = Problem { rule, path: String::new(), line: 1, column: 1, offset: 0, message };
    Judged {
        text: String::new(),
        kind: None,
        operation: None,
        version: None,
        problems: vec![problem],
        is_late: false,
        advice: None,
    }
}

fn bytes(file: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(MAX_SIZE + 1).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(file)?.take(MAX_SIZE + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > MAX_SIZE {
        bail!("it has more than {} MiB, which is the limit", MAX_SIZE >> 20);
    }
    Ok(bytes)
}

fn verdict(file: &Path, judged: Judged) -> Verdict {
    let reported = judged.problems.into_iter().map(|problem| {
        let Problem { rule, path, line, column, message, .. } = problem;
        ReportedProblem { rule, path, line, column, message }
    });
    let problems: Vec<ReportedProblem> = reported.collect();
    Verdict {
        file: file.display().to_string(),
        valid: problems.is_empty(),
        kind: judged.kind,
        operation: judged.operation,
        version: judged.version,
        problems,
    }
}

/// Prints the problems in the style of compiler diagnostics, and one line about the whole message.
fn print(file: &Path, judged: &Judged, most: usize) {
    let shown = match file == Path::new("-") {
        true => "standard input".to_owned(),
        false => file.display().to_string(),
    };
    let mut sources = Sources::default();
    let id = sources.add(&shown, judged.text.as_str().into());
    for Problem { rule, path, message, offset, .. } in &judged.problems {
        let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let location = Location { file: id, offset: u32::try_from(*offset).ok() };
        let mut diagnostic = sources.diagnostic(Severity::Error, location, format!("{place}{message}"));
        diagnostic.rule = Some(rule);
        out!("{}\n", problems::rendered(&diagnostic));
    }
    let what = match (judged.kind, &judged.operation) {
        (Some(kind), Some(operation)) => format!(", a {kind} of {}", visible(operation)),
        (Some(kind), None) => format!(", a {kind}"),
        _ => String::new(),
    };
    let version = judged.version.map(|version| format!(" in SOAP {version}")).unwrap_or_default();
    let shown = visible(&shown);
    match judged.problems.len() {
        0 => out!("{shown}: {VALID}valid{VALID:#}{what}{version}"),
        count => {
            let style = errors::ERROR;
            let more = if count == most { " at least" } else { "" };
            out!("{shown}: {style}{}{more}{style:#}{what}{version}", errors::counted(count, "problem"));
        }
    }
}
