//! Shows a report to people.

use anstyle::{AnsiColor, Style};
use castile_xml::{excerpt, visible};

use super::report::{
    Assertion, Confirmation, Digest, Found, Key, Owner, Part, Reference, Report, Security, Signature, Username,
};
use super::times::Verdict;
use crate::errors;
use crate::signatures::advice::{self, advice};

const RIGHT: Style = AnsiColor::Green.on_default().bold();
/// How many attributes of an assertion are shown.
const MAX_ATTRIBUTES: usize = 20;

/// What is said of an algorithm that is not allowed.
const WEAK: &str = "weak: refused without --legacy";

/// How to get a message as it was sent.
const AS_SENT: &str = "Give it as it was sent: `castile call --save-request` and `--save-answer` write such files";

pub(super) fn show(report: &Report) {
    let Report { kind, parts, attachments, security, signatures, masked, at, .. } = report;
    out!("a {kind} with {}", errors::counted(signatures.len(), "signature"));
    if !masked.is_empty() {
        let names = shown(&masked.join(", "));
        out!("  {}: *** stands for what was hidden ({names}), and can't be verified. {AS_SENT}", wrong("masked"));
    }
    parts.iter().for_each(|part| show_part("  ", part));
    for (number, attachment) in attachments.iter().enumerate() {
        let name = match &attachment.content_id {
            Some(id) => format!("attachment {}", excerpt(id, 60)),
            None => format!("attachment {} without a Content-ID", number + 1),
        };
        out!("  {name:20} {}", signed_by(&attachment.signed_by));
    }
    let options = if *kind == "message" { advice::Options::Messages } else { advice::Options::Documents };
    security.iter().for_each(|security| show_security(security, at));
    for (number, signature) in signatures.iter().enumerate() {
        match signature {
            Found::Signature(signature) => show_signature(number + 1, signature, options),
            Found::Unreadable { problem } => {
                out!("\nsignature {}: {}", number + 1, wrong(problem));
                show_advice("  ", problem, options);
            }
        }
    }
}

fn show_part(indent: &str, part: &Part) {
    out!("{indent}{:20} {}", visible(&part.name), signed_by(&part.signed_by));
}

/// Returns by which signatures something is signed.
fn signed_by(signatures: &[usize]) -> String {
    let by: Vec<String> = signatures.iter().map(ToString::to_string).collect();
    match by.is_empty() {
        true => "not signed".to_owned(),
        false => format!("signed by signature {}", by.join(" and ")),
    }
}

/// Shows what to do about a problem.
fn show_advice(indent: &str, problem: &str, options: advice::Options) {
    if let Some(advice) = advice(problem, options) {
        out!("{indent}{advice}");
    }
}

/// Returns for whom a header block is.
fn receiver(role: Option<&str>) -> String {
    match role {
        Some(role) => format!("the role {}", excerpt(role, 200)),
        None => "the ultimate receiver".to_owned(),
    }
}

fn show_security(security: &Security, at: &str) {
    out!("  Security for {}", receiver(security.role.as_deref()));
    if let Some(timestamp) = &security.timestamp {
        let created = timestamp.created.as_deref().unwrap_or("at an unknown time");
        let expires = timestamp.expires.as_deref().unwrap_or("never");
        out!("    made {created}, expires {expires}; it is {at}: {}", judged(&timestamp.verdict));
    }
    if let Some(problem) = &security.problem {
        out!("    {}", wrong(problem));
        show_advice("    ", problem, advice::Options::Messages);
    }
    for part in &security.parts {
        show_part("    ", part);
        if let Some(username) = security.username.as_ref().filter(|username| username.range == part.range) {
            show_username(username);
        }
        if let Some(assertion) = security.assertions.iter().find(|assertion| assertion.range == part.range) {
            show_assertion(assertion);
        }
    }
    let is_part = |assertion: &&Assertion| security.parts.iter().any(|part| part.range == assertion.range);
    for assertion in security.assertions.iter().filter(|assertion| !is_part(assertion)) {
        out!("    Assertion inside a reference to it");
        show_assertion(assertion);
    }
}

fn show_username(username: &Username) {
    let password = match username.password {
        Some("digest") => "a digest of the password",
        Some(_) => "the password as text",
        None => "no password",
    };
    let nonce = if username.nonce { "with a nonce" } else { "without a nonce" };
    let created = username.created.as_ref().map_or_else(|| "without a time".to_owned(), |time| format!("made {time}"));
    let verdict = username.verdict.as_ref().map(|verdict| format!(": {}", judged(verdict))).unwrap_or_default();
    out!("      {}, {password}, {nonce}, {created}{verdict}", excerpt(&username.name, 200));
}

/// Shows what an assertion claims.
fn show_assertion(assertion: &Assertion) {
    let subject = assertion.subject.as_deref().unwrap_or("somebody");
    let Assertion { version, issued, .. } = assertion;
    out!("      {version} of {}, about {}", excerpt(&assertion.issuer, 200), excerpt(subject, 200));
    let own = match assertion.signature {
        Some(number) => format!("its own signature is signature {number}"),
        None => "it has no signature of its issuer".to_owned(),
    };
    out!("      id {}, issued {issued}; {own}", excerpt(&assertion.id, 100));
    let begins = assertion.not_before.as_deref().unwrap_or("an unknown time");
    let ends = assertion.not_on_or_after.as_deref().unwrap_or("an unknown time");
    out!("      valid from {begins} until {ends}: {}", judged(&assertion.verdict));
    for audiences in &assertion.audiences {
        out!("      for {}", excerpt(&audiences.join(" or "), 200));
    }
    if assertion.one_use {
        out!("      for one use");
    }
    if let Some(condition) = &assertion.unknown_condition {
        let message = format!("it has the condition {}, which is not known: it is refused", excerpt(condition, 60));
        out!("      {}", wrong(&message));
    }
    match assertion.confirmations.is_empty() {
        true => out!("      its subject can't be confirmed"),
        false => assertion.confirmations.iter().for_each(show_confirmation),
    }
    for attribute in assertion.attributes.iter().take(MAX_ATTRIBUTES) {
        let values = attribute.values.iter().map(|value| value.as_deref().unwrap_or("elements"));
        let values: Vec<&str> = values.take(MAX_ATTRIBUTES).collect();
        out!("      {} = {}", excerpt(&attribute.name, 100), excerpt(&values.join(", "), 200));
    }
    if let Some(more @ 1..) = assertion.attributes.len().checked_sub(MAX_ATTRIBUTES) {
        out!("      and {}", errors::counted(more, "attribute more"));
    }
}

fn show_confirmation(confirmation: &Confirmation) {
    let mut line = format!("its subject is confirmed by {}", excerpt(&confirmation.method, 100));
    if !confirmation.keys.is_empty() {
        let keys: Vec<String> = confirmation.keys.iter().map(named).collect();
        line += &format!(", with {}", keys.join(" or "));
    }
    if let Some(begins) = &confirmation.not_before {
        line += &format!(", from {begins}");
    }
    if let Some(ends) = &confirmation.not_on_or_after {
        line += &format!(", until {ends}");
    }
    if let Some(recipient) = &confirmation.recipient {
        line += &format!(", at {}", excerpt(recipient, 200));
    }
    out!("      {line}");
}

fn show_signature(number: usize, signature: &Signature, options: advice::Options) {
    let Signature { line, column, algorithm, .. } = signature;
    let mut weak = if signature.weak { format!(", {}", wrong(WEAK)) } else { String::new() };
    if let Some(bits) = signature.short_key {
        weak += &format!(", {}", wrong(&format!("a key of {bits} bits is {WEAK}")));
    }
    let of = signature.receiver.as_ref().map(|role| format!(", for {}", receiver(role.as_deref())));
    out!("\nsignature {number} (line {line}, column {column}){}: {algorithm}{weak}", of.unwrap_or_default());
    for key in &signature.keys {
        match key {
            Key::Certificate(owner) => out!("  certificate  {}", described(owner)),
            key => out!("  names        {}", named(key)),
        }
    }
    if signature.keys.is_empty() {
        out!("  names        no key: its receiver has to know which it is");
    }
    match (&signature.signer, &signature.signer_problem) {
        (Some(signer), _) if signature.trusted => {
            out!("  signer       {}, {RIGHT}trusted{RIGHT:#}", visible(signer));
        }
        (Some(signer), _) => out!("  signer       {}", visible(signer)),
        (None, problem) => out!("  signer       {}", wrong(problem.as_deref().unwrap_or_default())),
    }
    match &signature.value_problem {
        None => out!("  value        {RIGHT}right{RIGHT:#}"),
        Some(problem) => out!("  value        {}", wrong(problem)),
    }
    if signature.indented {
        out!("    {}", indented("it"));
    }
    signature.references.iter().for_each(|reference| show_reference(reference, options));
}

fn show_reference(reference: &Reference, options: advice::Options) {
    let uri = match reference.uri.as_str() {
        "" => "the document".to_owned(),
        uri => excerpt(uri, 60),
    };
    if let Some(problem) = &reference.problem {
        out!("  {uri}: {}", wrong(problem));
        show_advice("    ", problem, options);
        return;
    }
    let weak = if reference.weak { format!(" ({})", wrong(WEAK)) } else { String::new() };
    let element = reference.element.as_ref().map(|name| format!(", <{}>", excerpt(name, 60))).unwrap_or_default();
    let length = reference.length.map(|length| format!(", {length} bytes when canonical")).unwrap_or_default();
    let included = match reference.included.as_slice() {
        [] => String::new(),
        ids => {
            let shown: Vec<String> = ids.iter().map(|id| excerpt(id, 60)).collect();
            format!(", with the {} {}", if ids.len() == 1 { "attachment" } else { "attachments" }, shown.join(", "))
        }
    };
    let Reference { algorithm, stated, computed, .. } = reference;
    let is_equal = computed.as_ref().is_some_and(|computed| computed.base64 == stated.base64);
    let verdict = match (is_equal, reference.masked) {
        (true, _) => format!("{RIGHT}right{RIGHT:#}"),
        (false, true) => wrong("masked"),
        (false, false) => wrong("changed"),
    };
    out!("  {uri}{element}{length}{included}: {verdict}, {algorithm}{weak}");
    if let (false, Some(computed)) = (is_equal, computed) {
        let line = |Digest { base64, hexadecimal }: &Digest| format!("{base64} (hexadecimal {hexadecimal})");
        out!("    stated    {}", line(stated));
        out!("    computed  {}", line(computed));
    }
    if reference.hidden {
        let message =
            "it is no part of the message: an attacker may have hidden it, and put something else in its place";
        out!("    {}", wrong(message));
    }
    if reference.indented {
        out!("    {}", indented("the digest"));
    }
    if let Some(prefix) = &reference.unsigned_prefix {
        let message = format!("a value uses the prefix {}, whose declaration is not signed", excerpt(prefix, 60));
        out!("    {}", wrong(&message));
    }
}

fn indented(what: &str) -> String {
    format!("without the white space between elements {what} is right: somebody has indented the message. {AS_SENT}")
}

fn judged(Verdict { in_time, verdict }: &Verdict) -> String {
    if *in_time { verdict.clone() } else { wrong(verdict) }
}

fn shown(text: &str) -> String {
    visible(text).into_owned()
}

fn wrong(text: &str) -> String {
    let style = errors::ERROR;
    format!("{style}{}{style:#}", visible(text))
}

/// Returns which key is meant.
fn named(key: &Key) -> String {
    match key {
        Key::Certificate(owner) => format!("the certificate of {}", described(owner)),
        Key::IssuerSerial { issuer, serial_number } => {
            format!("the certificate with serial number {} by {}", excerpt(serial_number, 60), excerpt(issuer, 200))
        }
        Key::SubjectName(name) => format!("a certificate of {}", excerpt(name, 200)),
        Key::Identifier { base64, hexadecimal } => {
            let (base64, hexadecimal) = (excerpt(base64, 100), excerpt(hexadecimal, 100));
            format!("the certificate with the key identifier {base64} (hexadecimal {hexadecimal})")
        }
        Key::Thumbprint { algorithm, base64, hexadecimal } => {
            let (base64, hexadecimal) = (excerpt(base64, 100), excerpt(hexadecimal, 130));
            format!("the certificate with the {algorithm} digest {base64} (hexadecimal {hexadecimal})")
        }
        Key::Name(name) => format!("the key that is called {}", excerpt(name, 200)),
        Key::Value => "the key itself, without a certificate".to_owned(),
        Key::SubjectOfAssertion => "the key of the subject of an assertion".to_owned(),
        Key::MissingToken(id) => format!("the token {}, which is not there", excerpt(id, 60)),
        Key::Unsupported(element) => format!("{}, which is not supported", excerpt(element, 100)),
    }
}

fn described(owner: &Owner) -> String {
    let Owner { subject, issuer, serial_number, valid_from, valid_to } = owner;
    let (subject, issuer) = (excerpt(subject, 200), excerpt(issuer, 200));
    format!("{subject}, issued by {issuer}, serial number {serial_number}, valid from {valid_from} to {valid_to}")
}
