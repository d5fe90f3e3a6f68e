//! Problems of contracts, printed to standard error like compiler diagnostics.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write;

use anstyle::Style;
use castile_wsdl::{Diagnostic, Severity};
use castile_xml::visible;

use crate::errors::{ERROR, MARGIN, NOTE, WARNING, counted};
use crate::output;

const BOLD: Style = Style::new().bold();

/// Prints the problems with at least this severity, and the number of each kind. Errors come last, so that they stay visible. Warnings and
/// notes with the same text are shown once, with the places of the others.
///
/// # Errors
/// There is an error among the problems.
pub(crate) fn report(of: &str, diagnostics: &[Diagnostic], least: Severity) -> anyhow::Result<()> {
    let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
    let (errors, others): (Vec<_>, Vec<_>) = diagnostics.iter().partition(is_error);
    let matters = |diagnostic: &&Diagnostic| diagnostic.severity >= least;
    for alike in folded(others.into_iter().filter(matters)) {
        let names = differing(&alike).map(|names| format!("\n{MARGIN}  = {names}")).unwrap_or_default();
        let also =
            further_places(&alike[1..]).map(|also| format!("\n{MARGIN}  = also{MARGIN:#}: {also}")).unwrap_or_default();
        note!("{}{names}{also}\n", rendered(alike[0]));
    }
    for error in errors {
        note!("{}\n", rendered(error));
    }
    let kinds = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")];
    let counts = kinds.into_iter().filter_map(|(severity, name)| {
        let count = diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
        (count > 0).then(|| counted(count, name))
    });
    let mut counts = counts.collect::<Vec<_>>().join(", ");
    if least == Severity::Error && diagnostics.iter().any(|diagnostic| diagnostic.severity < least) {
        counts.push_str(&format!(" (`castile describe {} --problems` shows all)", output::shell_quoted(of)));
    }
    let of = visible(of);
    match diagnostics.iter().map(|diagnostic| diagnostic.severity).max() {
        Some(Severity::Error) => anyhow::bail!("{of} has {counts}"),
        Some(Severity::Warning) => note!("{WARNING}warning{WARNING:#}: {of} has {counts}"),
        Some(Severity::Note) if least == Severity::Note => {
            note!("{NOTE}note{NOTE:#}: {of} has {counts}");
        }
        _ => {}
    }
    Ok(())
}

/// Prints a warning if a contract has defects, whose parts are left out.
pub(crate) fn warn_of_defects(of: &str, defects: usize) {
    if defects > 0 {
        let (count, quoted) = (counted(defects, "defect"), output::shell_quoted(of));
        note!(
            "{WARNING}warning{WARNING:#}: {} has {count}, and the affected parts are left out: `castile describe {} --problems` \
             shows more",
            visible(of),
            visible(&quoted)
        );
    }
}

/// Prints a warning with the summary of what the plan leaves out.
pub(crate) fn warn_of_what_is_left_out(of: &str, summary: &str) {
    note!("{WARNING}warning{WARNING:#}: {}: {}", visible(of), visible(summary));
}

/// Groups problems that are equal except for names, in the order of the first of each group.
fn folded<'d>(diagnostics: impl Iterator<Item = &'d Diagnostic>) -> Vec<Vec<&'d Diagnostic>> {
    let mut places = HashMap::new();
    let mut folded: Vec<Vec<&Diagnostic>> = Vec::new();
    for diagnostic in diagnostics {
        let Diagnostic { severity, rule, message, note, .. } = diagnostic;
        // A problem without a rule is specific to the names in it.
        let (kind, _) = if rule.is_some() { without_names(message) } else { (message.clone(), Vec::new()) };
        match places.entry((severity, rule, kind, note)) {
            Entry::Vacant(entry) => {
                entry.insert(folded.len());
                folded.push(vec![diagnostic]);
            }
            Entry::Occupied(entry) => folded[*entry.get()].push(diagnostic),
        }
    }
    folded
}

/// Splits a message into the text without expanded names, `{namespace}local`, and their local names.
fn without_names(message: &str) -> (String, Vec<&str>) {
    let (mut text, mut names, mut rest) = (String::new(), Vec::new(), message);
    while let Some((before, namespace)) = rest.split_once('{') {
        let Some((_, after)) = namespace.split_once('}') else { break };
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
        let end = after.find(|c| !is_of_name(c)).unwrap_or(after.len());
        text += before;
        text += "{}";
        names.push(&after[..end]);
        rest = &after[end..];
    }
    (text + rest, names)
}

/// Returns the number of problems in a group and the differing names, if the names differ.
fn differing(alike: &[&Diagnostic]) -> Option<String> {
    if alike.iter().all(|one| one.message == alike[0].message) {
        return None;
    }
    let mut names: Vec<String> = Vec::new();
    for name in alike.iter().map(|one| without_names(&one.message).1.join(" and ")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let names: Vec<_> = names.iter().map(|name| visible(name)).collect();
    Some(format!("{} of this kind{MARGIN:#}: {}", alike.len(), names.join(", ")))
}

/// The maximum number of further places listed for equal problems.
const MAX_LISTED: usize = 5;

/// Returns the further places of a problem.
fn further_places(others: &[&Diagnostic]) -> Option<String> {
    let place = |one: &&Diagnostic| format!("{}:{}:{}", visible(&one.file), one.line, one.column);
    let mut places: Vec<_> = others.iter().take(MAX_LISTED).map(place).collect();
    if others.len() > MAX_LISTED {
        places.push(format!("and {} more", others.len() - MAX_LISTED));
    }
    (!places.is_empty()).then(|| places.join(", "))
}

/// Returns the minimum severity to show; notes are only shown on request.
pub(crate) fn min_severity(notes: bool) -> Severity {
    if notes { Severity::Note } else { Severity::Warning }
}

/// Formats a diagnostic as `Display` does, with colours.
pub(crate) fn rendered(diagnostic: &Diagnostic) -> String {
    let style = match diagnostic.severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Note => NOTE,
    };
    let text = diagnostic.to_string();
    let mut lines = text.lines();
    let mut out = String::new();
    // The message follows the first `: `, because neither severity nor rule contains one.
    if let Some((kind, message)) = lines.next().and_then(|line| line.split_once(": ")) {
        // Writing to a `String` can't fail.
        let _ = write!(out, "{style}{kind}{style:#}{BOLD}: {message}{BOLD:#}");
    }
    for line in lines {
        let margin = line.len() - line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit()).len();
        let marked = ["-->", "|", "="].iter().find(|mark| line[margin..].starts_with(**mark));
        let (left, right) = line.split_at(margin + marked.map_or(0, |mark| mark.len()));
        let is_carets = right.trim_start().starts_with('^');
        let (on, off) = if is_carets { (format!("{style}"), format!("{style:#}")) } else { Default::default() };
        let _ = write!(out, "\n{MARGIN}{left}{MARGIN:#}{on}{right}{off}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_messages_are_shown_once() {
        let problem = |line, message: &str| Diagnostic {
            line,
            column: 3,
            ..Diagnostic::of_document(Severity::Warning, "a.xsd", message)
        };
        let all: Vec<_> = (1..=9).map(|line| problem(line, if line == 2 { "other" } else { "same" })).collect();
        let folded = folded(all.iter());
        let lines: Vec<Vec<u32>> = folded.iter().map(|alike| alike.iter().map(|one| one.line).collect()).collect();
        assert_eq!(lines, [vec![1, 3, 4, 5, 6, 7, 8, 9], vec![2]]);
        let expected = "a.xsd:3:3, a.xsd:4:3, a.xsd:5:3, a.xsd:6:3, a.xsd:7:3, and 2 more";
        assert_eq!(
            (further_places(&folded[0][1..]).as_deref(), further_places(&folded[1][1..])),
            (Some(expected), None)
        );
    }

    /// ONVIF's contract had 29 groups of the same problem.
    #[test]
    fn messages_that_differ_only_in_a_name_are_shown_once_with_all_names() {
        let problem = |rule, name: &str| Diagnostic {
            rule,
            ..Diagnostic::of_document(Severity::Warning, "a.xsd", format!("<any> and element {{urn:a}}{name} compete"))
        };
        let all = ["A", "B", "B", "C"].map(|name| problem(Some("cos-nonambig"), name));
        let of_one_kind = folded(all.iter());
        assert_eq!(of_one_kind.len(), 1);
        let printed = anstream::adapter::strip_str(&differing(&of_one_kind[0]).unwrap()).to_string();
        assert_eq!((&*printed, differing(&of_one_kind[0][1..3])), ("4 of this kind: A, B, C", None));
        let other = ["A", "B"].map(|name| problem(None, name));
        assert_eq!(folded(other.iter()).len(), 2);
    }

    #[test]
    fn without_colours_it_is_the_diagnostic_itself() {
        let documents = castile_xsd::Documents::new().with(
            "a.xsd",
            "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>\n\n\n\n\n\n\n\n<xs:element name='a' type='b: c'/></xs:schema>",
        );
        let (_, diagnostics) = castile_xsd::read("a.xsd", &documents);
        let whole = Diagnostic::of_document(Severity::Warning, "a.xsd", "all: of it");
        for diagnostic in diagnostics.iter().chain([&whole]) {
            let rendered = rendered(diagnostic);
            assert!(rendered.contains("\u{1b}["), "{rendered}");
            assert_eq!(anstream::adapter::strip_str(&rendered).to_string(), diagnostic.to_string());
        }
        assert!(!diagnostics.is_empty());
    }
}
