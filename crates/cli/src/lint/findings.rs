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

/// What the front end says of operations that rules of the Basic Profile tell with the place in the binding.
const TOLD_BY_RULES: [&str; 2] = [" is document/literal and message ", " is rpc and message "];

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
        if rule == rules::CONTRACT && TOLD_BY_RULES.iter().any(|part| diagnostic.message.contains(part)) {
            return;
        }
        diagnostic.rule = Some(rule);
        if self.counts(rule) {
            self.list.push(Finding { rule, diagnostic, mend: None });
        }
    }

    /// A breach of a rule. Each is told once at a place.
    pub(super) fn add(&mut self, rule: &'static Rule, location: Location, message: impl Into<String>) {
        if !self.seen.insert((rule.id, location)) || !self.counts(rule.id) {
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
    fn counts(&mut self, rule: &'static str) -> bool {
        if self.allowed.contains(rule) {
            return false;
        }
        let count = self.counts.entry(rule).or_insert(0);
        *count += 1;
        *count <= MOST
    }

    /// Brings them into the order in which they are shown: the worst first, then by rule and place. What the front end says is left out
    /// where a rule says it of the same place.
    pub(super) fn finish(&mut self) {
        let place = |one: &Finding| (one.diagnostic.file.clone(), one.diagnostic.line, one.diagnostic.column);
        let told: HashSet<_> = self.list.iter().filter(|one| one.mend.is_some()).map(place).collect();
        let before = self.list.len();
        self.list.retain(|one| one.rule != rules::CONTRACT || one.diagnostic.line == 0 || !told.contains(&place(one)));
        if let Some(count) = self.counts.get_mut(rules::CONTRACT) {
            *count -= before - self.list.len();
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
        let mut totals = [0; 3];
        let mut kept: HashMap<&str, usize> = HashMap::new();
        let slot = |severity| match severity {
            Severity::Error => 0,
            Severity::Warning => 1,
            Severity::Note => 2,
        };
        for finding in &self.list {
            totals[slot(finding.diagnostic.severity)] += 1;
            *kept.entry(finding.rule).or_insert(0) += 1;
        }
        // Those that were not kept are as bad as their rule says.
        for (rule, count) in &self.counts {
            let severity = rules::find(rule).map_or(Severity::Warning, |rule| rule.severity);
            totals[slot(severity)] += count - kept.get(rule).copied().unwrap_or_default();
        }
        totals
    }
}
