//! The findings, each with its place. A limited number is stored for each rule, and the others are only counted.

use std::collections::{HashMap, HashSet};

use castile_wsdl::{Diagnostic, Severity};
use castile_xml::tree::{Attribute, Element};
use castile_xsd::{FileId, Location, Sources};

use super::rules::{self, Rule};

/// The maximum number of stored findings for a rule.
const MAX_FINDINGS: usize = 100;
/// The maximum number of checked elements, attributes and references. References to the same component can multiply without limit.
const MAX_WORK: usize = 20_000_000;

/// A finding.
#[derive(Debug)]
pub(super) struct Finding {
    /// The id of the rule.
    pub(super) rule: &'static str,
    pub(super) diagnostic: Diagnostic,
    pub(super) mend: Option<&'static str>,
}

/// All findings.
pub(super) struct Findings<'s> {
    sources: &'s Sources,
    allowed: HashSet<&'s str>,
    pub(super) list: Vec<Finding>,
    /// The number of findings of each rule.
    pub(super) counts: HashMap<&'static str, usize>,
    /// The number of errors, warnings and notes.
    totals: [usize; 3],
    seen: HashSet<(&'static str, Location)>,
    work: usize,
}

impl<'s> Findings<'s> {
    pub(super) fn new(sources: &'s Sources, allowed: &'s [String]) -> Self {
        Self {
            sources,
            allowed: allowed.iter().map(String::as_str).collect(),
            list: Vec::new(),
            counts: HashMap::new(),
            totals: [0; 3],
            seen: HashSet::new(),
            work: 0,
        }
    }

    /// Adds to the work counter. Returns false if the limit is exceeded, which is reported.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        self.work = self.work.saturating_add(work);
        if self.work <= MAX_WORK {
            return true;
        }
        self.note_incomplete(&format!("the contract has more than {MAX_WORK} references and elements to check"));
        false
    }

    /// Reports that not everything was checked.
    pub(super) fn note_incomplete(&mut self, why: &str) {
        if let Some(file) = self.sources.first() {
            self.add(&rules::LIMIT, Location::file(file), why);
        }
    }

    /// Adds a problem that the front end found.
    pub(super) fn problem(&mut self, mut diagnostic: Diagnostic) {
        let rule = diagnostic.rule.unwrap_or(rules::CONTRACT);
        // The lint's own rules report it with the place in the binding.
        if rules::find(rule).is_some() {
            return;
        }
        diagnostic.rule = Some(rule);
        if self.count(rule, diagnostic.severity) {
            self.list.push(Finding { rule, diagnostic, mend: rules::mend_of_front_end(rule) });
        }
    }

    /// Adds a violation of a rule. Each rule is reported once per place.
    pub(super) fn add(&mut self, rule: &'static Rule, location: Location, message: impl Into<String>) {
        if !self.seen.insert((rule.id, location)) || !self.count(rule.id, rule.severity) {
            return;
        }
        let mut diagnostic = self.sources.diagnostic(rule.severity, location, message);
        diagnostic.rule = Some(rule.id);
        self.list.push(Finding { rule: rule.id, diagnostic, mend: Some(rule.mend) });
    }

    /// Adds a violation at an element.
    pub(super) fn at(&mut self, rule: &'static Rule, file: FileId, element: Element<'_>, message: impl Into<String>) {
        self.add(rule, Location::of(file, element), message);
    }

    /// Adds a violation at an attribute.
    pub(super) fn at_attribute(
        &mut self,
        rule: &'static Rule,
        file: FileId,
        attribute: Attribute<'_>,
        message: impl Into<String>,
    ) {
        self.add(rule, Location::at(file, attribute.offset()), message);
    }

    /// Counts a finding. Returns whether to store it.
    fn count(&mut self, rule: &'static str, severity: Severity) -> bool {
        if self.allowed.contains(rule) {
            return false;
        }
        self.totals[slot(severity)] += 1;
        let count = self.counts.entry(rule).or_insert(0);
        *count += 1;
        *count <= MAX_FINDINGS
    }

    /// Sorts the findings for display: the worst first, then by rule and place. A problem of the front end is removed if a rule reports the
    /// same place with at least the same severity.
    pub(super) fn finish(&mut self) {
        let place = |one: &Finding| (one.diagnostic.file.clone(), one.diagnostic.line, one.diagnostic.column);
        let mut worst_of: HashMap<_, Severity> = HashMap::new();
        for one in self.list.iter().filter(|one| rules::find(one.rule).is_some()) {
            let worst = worst_of.entry(place(one)).or_insert(one.diagnostic.severity);
            *worst = (*worst).max(one.diagnostic.severity);
        }
        let is_listed_before = |one: &Finding| {
            let is_of_front_end = one.rule == rules::CONTRACT && one.diagnostic.line > 0;
            is_of_front_end && worst_of.get(&place(one)).is_some_and(|worst| *worst >= one.diagnostic.severity)
        };
        let (left_out, list): (Vec<_>, Vec<_>) = std::mem::take(&mut self.list).into_iter().partition(is_listed_before);
        self.list = list;
        for one in left_out {
            self.totals[slot(one.diagnostic.severity)] -= 1;
            if let Some(count) = self.counts.get_mut(one.rule) {
                *count -= 1;
            }
        }
        let order: HashMap<&str, usize> = rules::ALL.iter().map(|rule| rule.id).zip(1..).collect();
        let files: HashMap<&str, usize> = self.sources.names().zip(0..).collect();
        self.list.sort_by_cached_key(|one| {
            let place = &one.diagnostic;
            let file = files.get(&*place.file).copied().unwrap_or_default();
            let rule = order.get(one.rule).copied().unwrap_or_default();
            (std::cmp::Reverse(place.severity), rule, one.rule, file, place.line, place.column)
        });
    }

    /// Returns the number of errors, warnings and notes.
    pub(super) fn totals(&self) -> [usize; 3] {
        self.totals
    }
}

fn slot(severity: Severity) -> usize {
    match severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Note => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_that_are_only_counted_keep_their_severity() {
        let sources = Sources::default();
        let mut findings = Findings::new(&sources, &[]);
        for _ in 0..MAX_FINDINGS + 5 {
            findings.problem(Diagnostic::of_document(Severity::Error, "contract.wsdl", "it is broken"));
        }
        findings.finish();
        assert_eq!((findings.list.len(), findings.totals()), (MAX_FINDINGS, [MAX_FINDINGS + 5, 0, 0]));
    }
}
