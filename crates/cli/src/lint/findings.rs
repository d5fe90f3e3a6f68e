//! What was found, each with its place. Of each rule a number is kept and the rest is counted.

use std::collections::{HashMap, HashSet};

use castile_wsdl::{Diagnostic, Severity};
use castile_xml::tree::{Attribute, Element};
use castile_xsd::{FileId, Location, Sources};

use super::rules::{self, Rule};

/// So many findings of a rule are kept.
const MOST: usize = 100;
/// So many elements, attributes and references are looked at: what refers to one thing again and again may make any number of
/// them.
const MOST_WORK: usize = 20_000_000;

/// A finding.
#[derive(Debug)]
pub(super) struct Finding {
    /// The id of its rule.
    pub(super) rule: &'static str,
    pub(super) diagnostic: Diagnostic,
    pub(super) mend: Option<&'static str>,
}

/// All that was found.
pub(super) struct Findings<'s> {
    sources: &'s Sources,
    allowed: HashSet<&'s str>,
    pub(super) list: Vec<Finding>,
    /// How many there were of each rule.
    pub(super) counts: HashMap<&'static str, usize>,
    /// How many there were of each severity: errors, warnings, notes.
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

    /// Counts work. False once it is too much, and that is told.
    pub(super) fn spend(&mut self, work: usize) -> bool {
        self.work = self.work.saturating_add(work);
        if self.work <= MOST_WORK {
            return true;
        }
        self.cut(&format!("more than {MOST_WORK} references and elements are to be checked"));
        false
    }

    /// Tells that not all was checked.
    pub(super) fn cut(&mut self, why: &str) {
        if let Some(file) = self.sources.first() {
            self.add(&rules::LIMIT, Location::file(file), why);
        }
    }

    /// What the front end found.
    pub(super) fn problem(&mut self, mut diagnostic: Diagnostic) {
        let rule = diagnostic.rule.unwrap_or(rules::CONTRACT);
        // Those of this command tell it with the place in the binding.
        if rules::find(rule).is_some() {
            return;
        }
        diagnostic.rule = Some(rule);
        if self.counts(rule, diagnostic.severity) {
            self.list.push(Finding { rule, diagnostic, mend: rules::mend_of_front_end(rule) });
        }
    }

    /// A breach of a rule. Each is told once at a place.
    pub(super) fn add(&mut self, rule: &'static Rule, location: Location, message: impl Into<String>) {
        if !self.seen.insert((rule.id, location)) || !self.counts(rule.id, rule.severity) {
            return;
        }
        let mut diagnostic = self.sources.diagnostic(rule.severity, location, message);
        diagnostic.rule = Some(rule.id);
        self.list.push(Finding { rule: rule.id, diagnostic, mend: Some(rule.mend) });
    }

    /// A breach at a tag.
    pub(super) fn at(&mut self, rule: &'static Rule, file: FileId, element: Element<'_>, message: impl Into<String>) {
        self.add(rule, Location::of(file, element), message);
    }

    /// A breach at an attribute.
    pub(super) fn at_attribute(
        &mut self,
        rule: &'static Rule,
        file: FileId,
        attribute: Attribute<'_>,
        message: impl Into<String>,
    ) {
        self.add(rule, Location::at(file, attribute.offset()), message);
    }

    /// Counts a finding. True if it is one to keep.
    fn counts(&mut self, rule: &'static str, severity: Severity) -> bool {
        if self.allowed.contains(rule) {
            return false;
        }
        self.totals[slot(severity)] += 1;
        let count = self.counts.entry(rule).or_insert(0);
        *count += 1;
        *count <= MOST
    }

    /// Brings them into the order in which they are shown: the worst first, then by rule and place. What the front end says is left out
    /// where a rule says it of the same place, and says that it is as bad.
    pub(super) fn finish(&mut self) {
        let place = |one: &Finding| (one.diagnostic.file.clone(), one.diagnostic.line, one.diagnostic.column);
        let mut told: HashMap<_, Severity> = HashMap::new();
        for one in self.list.iter().filter(|one| rules::find(one.rule).is_some()) {
            let worst = told.entry(place(one)).or_insert(one.diagnostic.severity);
            *worst = (*worst).max(one.diagnostic.severity);
        }
        let is_told = |one: &Finding| {
            let is_of_front_end = one.rule == rules::CONTRACT && one.diagnostic.line > 0;
            is_of_front_end && told.get(&place(one)).is_some_and(|worst| *worst >= one.diagnostic.severity)
        };
        let (left_out, list): (Vec<_>, Vec<_>) = std::mem::take(&mut self.list).into_iter().partition(is_told);
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

    /// How many there are of each severity: errors, warnings, notes.
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
    fn what_is_counted_and_not_kept_is_as_bad_as_it_is() {
        let sources = Sources::default();
        let mut findings = Findings::new(&sources, &[]);
        for _ in 0..MOST + 5 {
            findings.problem(Diagnostic::of_document(Severity::Error, "contract.wsdl", "it is broken"));
        }
        findings.finish();
        assert_eq!((findings.list.len(), findings.totals()), (MOST, [MOST + 5, 0, 0]));
    }
}
