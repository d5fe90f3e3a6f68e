//! Findings as text and as JSON.

use std::collections::HashMap;
use std::fmt::Write;

use castile_wsdl::Severity;
use castile_xml::visible;
use serde::Serialize;

use super::findings::{Finding, Findings};
use crate::contracts::problems::rendered;
use crate::errors::{ERROR, MARGIN, NOTE, WARNING, counted};

/// The maximum number of further places that are listed for a rule.
const MAX_LISTED: usize = 5;

/// Formats the findings as text: the first of each rule with the places of the others, or all in full.
pub(super) fn text(findings: &Findings<'_>, contract: &str, all: bool) -> String {
    let mut out = String::new();
    let mut alike: Vec<Vec<&Finding>> = Vec::new();
    for finding in &findings.list {
        match alike.last_mut().filter(|last| !all && last[0].rule == finding.rule && is_of(last[0], finding)) {
            Some(last) => last.push(finding),
            None => alike.push(vec![finding]),
        }
    }
    let mut shown: HashMap<&str, usize> = HashMap::new();
    for one in &alike {
        *shown.entry(one[0].rule).or_insert(0) += one.len();
    }
    for one in alike {
        let first = one[0];
        // Writing to a `String` can't fail.
        let _ = write!(out, "{}", rendered(&first.diagnostic));
        if let Some(mend) = first.mend {
            let _ = write!(out, "\n{MARGIN}  = mend{MARGIN:#}: {mend}");
        }
        if one.len() > 1 {
            let place = |one: &&Finding| {
                let place = &one.diagnostic;
                format!("{}:{}:{}", visible(&place.file), place.line, place.column)
            };
            let mut places: Vec<String> = one[1..].iter().take(MAX_LISTED).map(place).collect();
            let more = one.len() - 1 - places.len();
            if more > 0 {
                places.push(format!("and {more} more (--all shows them)"));
            }
            let _ = write!(out, "\n{MARGIN}  = also{MARGIN:#}: {}", places.join(", "));
        }
        out.push_str("\n\n");
    }
    let mut cut: Vec<(&str, usize)> = findings.counts.iter().map(|(rule, count)| (*rule, *count)).collect();
    cut.retain(|(rule, count)| *count > shown.get(rule).copied().unwrap_or_default());
    cut.sort_unstable();
    for (rule, count) in cut {
        let shown = shown.get(rule).copied().unwrap_or_default();
        let _ = writeln!(out, "{rule}: {} more, which are only counted", count - shown);
    }
    let [errors, warnings, notes] = findings.totals();
    let kinds = [(errors, "error", ERROR), (warnings, "warning", WARNING), (notes, "note", NOTE)];
    let summary: Vec<String> = kinds
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, name, style)| format!("{style}{}{style:#}", counted(count, name)))
        .collect();
    let summary = if summary.is_empty() { "nothing found".to_owned() } else { summary.join(", ") };
    let _ = writeln!(out, "{}: {summary}", visible(contract));
    out
}

/// Returns whether two findings are listed together. Errors, and front end problems without a rule, must have the same message.
fn is_of(first: &Finding, other: &Finding) -> bool {
    let (first, other) = (&first.diagnostic, &other.diagnostic);
    first.severity == other.severity
        && (first.severity != Severity::Error && first.rule != Some(super::rules::CONTRACT)
            || first.message == other.message)
}

/// The version of the JSON form.
const FORMAT: u32 = 1;

#[derive(Serialize)]
pub(super) struct Report<'f> {
    format: u32,
    contract: &'f str,
    errors: usize,
    warnings: usize,
    notes: usize,
    findings: Vec<ReportFinding<'f>>,
    /// The number of findings of each rule, including those that aren't in `findings`.
    counts: std::collections::BTreeMap<&'f str, usize>,
}

#[derive(Serialize)]
struct ReportFinding<'f> {
    rule: &'f str,
    severity: &'static str,
    file: &'f str,
    line: u32,
    column: u32,
    message: &'f str,
    note: Option<&'f str>,
    meaning: Option<&'static str>,
    mend: Option<&'static str>,
}

/// Returns the findings for JSON output.
pub(super) fn report<'f>(findings: &'f Findings<'_>, contract: &'f str) -> Report<'f> {
    let [errors, warnings, notes] = findings.totals();
    let one = |finding: &'f Finding| {
        let place = &finding.diagnostic;
        ReportFinding {
            rule: finding.rule,
            severity: match place.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            file: &place.file,
            line: place.line,
            column: place.column,
            message: &place.message,
            note: place.note.as_deref(),
            meaning: super::rules::find(finding.rule).map(|rule| rule.meaning),
            mend: finding.mend,
        }
    };
    Report {
        format: FORMAT,
        contract,
        errors,
        warnings,
        notes,
        findings: findings.list.iter().map(one).collect(),
        counts: findings.counts.iter().map(|(rule, count)| (*rule, *count)).collect(),
    }
}
