//! Reads `rules.toml` and the files of answers.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use castile_soap::FaultCode;
use castile_wsdl::Attachment;
use serde_json::{Map, Value as Json};
use toml_edit::{Document, Item, Table, TableLike, Value as Toml};

use super::toml::{
    RuleProblem, RuleProblems, code, expect_file_name, expect_keys, subcodes, text, unknown_keys, value, within,
};
use super::{Condition, Outcome, Rule, StoreAccess};
use crate::contracts::mock::answer::{self, Answer, AnswerProblem, Detail, FaultTemplate, Node};
use crate::contracts::mock::data::{Data, RULES};
use crate::contracts::mock::extras::{self, Attached, Blocks, Extras};
use crate::contracts::mock::json;
use crate::contracts::mock::placeholder::{Names, Text};
use crate::contracts::mock::store::{Action, Store};

/// The maximum number of rules.
const MAX_RULES: usize = 10_000;
/// The maximum number of attachments of an answer.
const MAX_ATTACHMENTS: usize = 1_000;
/// The keys of the tables for prefixes and for initial store entries.
const PREFIXES: &str = "prefixes";
const ENTRY: &str = "entry";

/// An operation that rules may be for, with the data they need.
pub(in crate::contracts::mock) struct RuleTarget<'o> {
    pub(in crate::contracts::mock) service: &'o str,
    pub(in crate::contracts::mock) names: Names<'o>,
    /// Returns a sample response.
    pub(in crate::contracts::mock) sample: &'o dyn Fn() -> Option<Json>,
    /// Returns a sample of a fault detail, by the name of its element.
    pub(in crate::contracts::mock) fault_sample: &'o dyn Fn(&str) -> Option<Json>,
    /// The response's message parts that are attachments.
    pub(in crate::contracts::mock) attachments: &'o [Attachment],
}

/// Reads the rules and answers of a folder, and collects their problems.
pub(in crate::contracts::mock) struct Reader<'d> {
    data: &'d Data,
    pub(in crate::contracts::mock) problems: Vec<String>,
    /// Whether requests that violate the contract are rejected.
    is_strict: bool,
    /// The answer files that are used.
    used: BTreeSet<String>,
}

impl<'d> Reader<'d> {
    pub(in crate::contracts::mock) fn new(data: &'d Data, is_strict: bool) -> Self {
        Reader { data, problems: Vec::new(), is_strict, used: BTreeSet::new() }
    }

    /// Returns the default answer of an operation: the file with its label, or else the file with its name.
    pub(in crate::contracts::mock) fn default_of(&mut self, target: &RuleTarget<'_>) -> Option<Outcome> {
        let files = |name: &str| ["json", "xml"].map(|extension| format!("{name}.{extension}"));
        let operation = target.names.operation;
        let is_there = |name: &&str| files(name).iter().any(|file| self.data.file(file).is_some());
        let name = [operation.label(), operation.name()].into_iter().find(is_there)?;
        let [json, xml] = files(name);
        let (has_json, has_xml) = (self.data.file(&json).is_some(), self.data.file(&xml).is_some());
        if has_json && has_xml {
            self.used.extend([json.clone(), xml]);
            let shown = self.data.shown(&json);
            self.problems.push(format!("{shown}: found also {name}.xml, expected only one answer of {name}"));
            return None;
        }
        let file = if has_json { json } else { xml };
        match self.answer(&file, target) {
            Ok(answer) => Some(Outcome::Response(answer)),
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    /// Reads an answer file.
    fn answer(&mut self, file: &str, target: &RuleTarget<'_>) -> Result<Answer, String> {
        self.used.insert(file.to_owned());
        let shown = self.data.shown(file);
        let Some(bytes) = self.data.file(file) else { return Err(format!("there is no file {shown}")) };
        if target.names.operation.soap().response.is_none() {
            return Err(format!("{shown}: {} has no response", target.names.operation.name()));
        }
        let read = match file.ends_with(".json") {
            true => from_json(bytes, |json| Answer::of_json(json, target.names, target.sample)),
            false => decoded(bytes).and_then(|text| Answer::of_xml(&text, target.names)),
        };
        read.map_err(|wrong| with_position(&shown, wrong))
    }

    /// Reads a file with the detail of a fault.
    fn detail(&mut self, file: &str, target: &RuleTarget<'_>) -> Result<Detail, String> {
        self.used.insert(file.to_owned());
        let shown = self.data.shown(file);
        let Some(bytes) = self.data.file(file) else { return Err(format!("there is no file {shown}")) };
        let read = match file.ends_with(".json") {
            true => from_json(bytes, |json| Detail::of_json(json, target.names, target.fault_sample)),
            false => decoded(bytes).and_then(|text| Detail::of_xml(&text, target.names)),
        };
        read.map_err(|wrong| with_position(&shown, wrong))
    }

    /// Parses the rules. Returns `None` if there are none or they can't be parsed.
    fn document(&mut self) -> Option<(&'d str, Document<&'d str>)> {
        let bytes = self.data.file(RULES)?;
        let shown = self.data.shown(RULES);
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.problems.push(format!("{shown}: found bytes that are not UTF-8"));
            return None;
        };
        match Document::parse(text) {
            Ok(document) => Some((text, document)),
            Err(error) => {
                self.add_problem(text, RuleProblem { range: error.span(), message: error.message().to_owned() });
                None
            }
        }
    }

    /// Adds a problem in the rules.
    fn add_problem(&mut self, text: &str, RuleProblem { range, message }: RuleProblem) {
        let shown = self.data.shown(RULES);
        self.problems.push(match range {
            None => format!("{shown}: {message}"),
            Some(range) => {
                let (line, column) = answer::position(text, range.start);
                format!("{shown}:{line}:{column}: {message}")
            }
        });
    }

    /// Returns the prefixes that the rules declare for expressions.
    pub(in crate::contracts::mock) fn prefixes(&mut self) -> Vec<(String, String)> {
        let Some((text, document)) = self.document() else { return Vec::new() };
        let mut prefixes = Vec::new();
        if let Some(item) = document.as_table().get(PREFIXES) {
            let declared =
                item.as_table_like().map(|table| table.iter().map(|(name, item)| (name, item, item.as_str())));
            match declared {
                None => {
                    self.add_problem(text, RuleProblem::value(PREFIXES, item, "a table of prefixes and namespaces"))
                }
                Some(declared) => {
                    for (prefix, item, namespace) in declared {
                        match namespace {
                            Some(namespace) => prefixes.push((prefix.to_owned(), namespace.to_owned())),
                            None => self.add_problem(text, RuleProblem::value(prefix, item, "a namespace as a string")),
                        }
                    }
                }
            }
        }
        prefixes
    }

    /// Returns the initial store.
    pub(in crate::contracts::mock) fn store(&mut self) -> Store {
        let mut store = Store::default();
        let Some((text, document)) = self.document() else { return store };
        let Some(item) = document.as_table().get(ENTRY) else { return store };
        match item.as_array_of_tables() {
            None => self.add_problem(text, RuleProblem::value(ENTRY, item, "tables, each with the header [[entry]]")),
            Some(tables) => {
                for table in tables {
                    if let Err(problem) = create(&mut store, table) {
                        self.add_problem(text, problem);
                    }
                }
            }
        }
        store
    }

    /// Returns the rules of each operation.
    pub(in crate::contracts::mock) fn rules(&mut self, operations: &[RuleTarget<'_>]) -> Vec<Vec<Rule>> {
        let mut rules: Vec<Vec<Rule>> = operations.iter().map(|_| Vec::new()).collect();
        let Some((text, document)) = self.document() else { return rules };
        for (key, item) in document.as_table() {
            let tables = match (key, item.as_array_of_tables()) {
                (PREFIXES | ENTRY, _) => continue,
                ("rule", Some(tables)) if tables.len() <= MAX_RULES => tables,
                ("rule", Some(_)) => {
                    self.add_problem(text, RuleProblem::at(item, format!("expected at most {MAX_RULES} rules")));
                    continue;
                }
                ("rule", None) => {
                    self.add_problem(text, RuleProblem::value(key, item, "tables, each with the header [[rule]]"));
                    continue;
                }
                _ => {
                    let range = document.as_table().key(key).and_then(toml_edit::Key::span);
                    let message = format!("found {key}, expected [[rule]], [[{ENTRY}]] or [{PREFIXES}]");
                    self.add_problem(text, RuleProblem { range, message });
                    continue;
                }
            };
            for table in tables {
                let mut problems = RuleProblems::default();
                for (number, rule) in self.rule(table, table.span(), operations, &mut problems) {
                    rules[number].push(rule);
                }
                problems.0.sort_by_key(|problem| problem.range.as_ref().map(|range| range.start));
                problems.0.into_iter().for_each(|problem| self.add_problem(text, problem));
            }
        }
        rules
    }

    /// Parses a rule, for each operation with its name. If it has problems, the returned rule may be incomplete.
    fn rule(
        &mut self,
        table: &dyn TableLike,
        range: Option<Range<usize>>,
        operations: &[RuleTarget<'_>],
        problems: &mut RuleProblems,
    ) -> Vec<(usize, Rule)> {
        const KEYS: [&str; 11] = [
            "operation",
            "service",
            "when",
            "xpath",
            "latency",
            "store",
            "otherwise",
            "answer",
            "headers",
            "attachments",
            "fault",
        ];
        problems.0.extend(unknown_keys(table, &KEYS));
        let Some(item) = table.get("operation") else {
            problems.0.push(RuleProblem { range, message: "found a rule without an operation".to_owned() });
            return Vec::new();
        };
        let service = table.get("service").map(|item| text("service", item)).transpose();
        let (Some(name), Some(service)) = (problems.record(text("operation", item)), problems.record(service)) else {
            return Vec::new();
        };
        let is_called_so =
            |target: &RuleTarget<'_>| [target.names.operation.name(), target.names.operation.label()].contains(&name);
        let is_meant =
            |target: &RuleTarget<'_>| is_called_so(target) && service.is_none_or(|service| service == target.service);
        let meant: Vec<usize> = (0..operations.len()).filter(|number| is_meant(&operations[*number])).collect();
        if meant.is_empty() {
            let of_service = operations.iter().filter(|target| service.is_none_or(|service| service == target.service));
            let mut known: Vec<&str> = of_service.map(|target| target.names.operation.label()).collect();
            known.dedup();
            problems.0.push(RuleProblem::at(item, castile_wsdl::unknown_operation(name, &known)));
        }
        meant.into_iter().map(|number| (number, self.rule_of(table, &operations[number], problems))).collect()
    }

    fn rule_of(&mut self, table: &dyn TableLike, target: &RuleTarget<'_>, problems: &mut RuleProblems) -> Rule {
        let mut conditions = Vec::new();
        if let Some(item) = table.get("when") {
            let fields =
                item.as_table_like().ok_or_else(|| RuleProblem::value("when", item, "a table of paths and values"));
            for (path, item) in problems.record(fields).into_iter().flat_map(TableLike::iter) {
                conditions.extend(problems.record(self.field(path, item, target)));
            }
        }
        if let Some(item) = table.get("xpath") {
            let expression = text("xpath", item)
                .and_then(|text| target.names.expression(text).map_err(|message| RuleProblem::at(item, message)));
            conditions.extend(problems.record(expression).map(Condition::XPath));
        }
        let latency = table.get("latency").and_then(|item| {
            let latency = text("latency", item).and_then(|latency| {
                latency.parse().map_err(|expected| RuleProblem::at(item, format!("found {latency:?}, {expected}")))
            });
            problems.record(latency)
        });
        let otherwise = table.get("otherwise");
        let store = match (table.get("store"), otherwise) {
            (Some(item), _) => {
                let otherwise = otherwise.and_then(|item| self.fault("otherwise", item, target, problems));
                stored(item, target, problems).map(|stored| StoreAccess { otherwise, ..stored })
            }
            (None, Some(item)) => {
                problems.0.push(RuleProblem::at(item, "found otherwise without store, expected both"));
                None
            }
            (None, None) => None,
        };
        let answer = match (table.get("answer"), table.get("fault")) {
            (Some(_), Some(item)) => {
                problems.0.push(RuleProblem::at(item, "found an answer and a fault, expected one of them"));
                None
            }
            (None, None) => None,
            (None, Some(item)) => self.fault("fault", item, target, problems).map(Outcome::Fault),
            (Some(item), None) => problems.record(self.response(item, target)).map(Outcome::Response),
        };
        let extras = self.extras(table, target, problems);
        Rule { conditions, latency, store, answer, extras }
    }

    /// Parses a condition on a value of the request.
    fn field(&self, path: &str, item: &Item, target: &RuleTarget<'_>) -> Result<Condition, RuleProblem> {
        let value = match value(item)? {
            // TOML makes nested tables of unquoted names with dots.
            Json::Object(members) if !members.is_empty() => {
                let quoted = leaf(path, &members);
                let expected = format!("a text or a number: a path with dots needs quotes, such as \"{quoted}\"");
                return Err(RuleProblem::value(path, item, &expected));
            }
            Json::Object(_) | Json::Array(_) => return Err(RuleProblem::value(path, item, "a text or a number")),
            value => value,
        };
        let steps = target.names.path(path).map_err(|message| RuleProblem::at(item, message))?;
        // Such a condition would never be true.
        if self.is_strict
            && let Err(message) = target.names.check_value(&steps, &value)
        {
            return Err(RuleProblem::at(item, format!("no request has this {path}: {message}")));
        }
        Ok(Condition::Field(steps, value))
    }

    /// Reads an answer: in a file, or in the rule itself.
    fn response(&mut self, item: &Item, target: &RuleTarget<'_>) -> Result<Answer, RuleProblem> {
        if let Some(file) = item.as_str() {
            expect_file_name(file, item)?;
            return self.answer(file, target).map_err(|problem| RuleProblem::at(item, problem));
        }
        let json = value(item)?;
        let is_empty = json.as_object().is_some_and(Map::is_empty);
        if target.names.operation.soap().response.is_none() && !is_empty {
            return Err(RuleProblem::at(item, format!("{} has no response", target.names.operation.name())));
        }
        Answer::of_json(&json, target.names, target.sample).map_err(within(item))
    }

    /// Reads the header blocks and attachments of an answer.
    fn extras(&mut self, table: &dyn TableLike, target: &RuleTarget<'_>, problems: &mut RuleProblems) -> Extras {
        let (has_fault, has_response) = (table.contains_key("fault"), target.names.operation.soap().response.is_some());
        let [headers, attachments] = ["headers", "attachments"].map(|key| {
            let item = table.get(key)?;
            let name = target.names.operation.name();
            let message = match (has_fault, has_response) {
                (true, _) => format!("found {key} with a fault, expected {key} with an answer"),
                (false, false) => format!("found {key}, but {name} has no response"),
                (false, true) => return Some(item),
            };
            problems.0.push(RuleProblem::at(item, message));
            None
        });
        let mut extras = Extras::default();
        match (headers, headers.and_then(Item::as_array)) {
            (None, _) => {}
            (Some(_), Some(several)) => {
                let items = several.iter().map(|one| Item::Value(one.clone()));
                extras.blocks.extend(items.filter_map(|item| problems.record(self.blocks(&item, target))));
            }
            (Some(item), None) => extras.blocks.extend(problems.record(self.blocks(item, target))),
        }
        if let Some(item) = attachments {
            extras.attachments = self.attachments(item, target, problems);
        }
        extras
    }

    /// Reads header blocks: one in a file, or a table of blocks.
    fn blocks(&mut self, item: &Item, target: &RuleTarget<'_>) -> Result<Blocks, RuleProblem> {
        let Some(file) = item.as_str() else {
            return Blocks::of_json(&value(item)?, target.names).map_err(within(item));
        };
        expect_file_name(file, item)?;
        self.used.insert(file.to_owned());
        let shown = self.data.shown(file);
        let bytes = self.data.file(file).ok_or_else(|| RuleProblem::at(item, format!("there is no file {shown}")))?;
        let read = match file.ends_with(".json") {
            true => from_json(bytes, |json| Blocks::of_json(json, target.names)),
            false => decoded(bytes).and_then(|text| Blocks::of_xml(&text, target.names)),
        };
        read.map_err(|wrong| RuleProblem::at(item, with_position(&shown, wrong)))
    }

    /// Reads the attachments; none if the item isn't an array. If one has problems, it may be replaced by a default.
    fn attachments(&mut self, item: &Item, target: &RuleTarget<'_>, problems: &mut RuleProblems) -> Vec<Attached> {
        const EXPECTED: &str = "an array of tables such as { file = \"photo.jpg\" }";
        let tables: Option<Vec<&dyn TableLike>> = match item {
            Item::ArrayOfTables(tables) => Some(tables.iter().map(|table| table as &dyn TableLike).collect()),
            Item::Value(Toml::Array(items)) => {
                items.iter().map(|item| item.as_inline_table().map(|table| table as &dyn TableLike)).collect()
            }
            _ => None,
        };
        let tables = tables.ok_or_else(|| RuleProblem::value("attachments", item, EXPECTED));
        let Some(tables) = problems.record(tables) else { return Vec::new() };
        if tables.len() > MAX_ATTACHMENTS {
            problems.0.push(RuleProblem::at(item, format!("expected at most {MAX_ATTACHMENTS} attachments")));
            return Vec::new();
        }
        let mut ids = BTreeSet::new();
        let mut attachments = Vec::with_capacity(tables.len());
        for table in tables {
            let Some(attached) = self.attachment(table, item, target, problems) else { continue };
            if let Some(id) = &attached.id
                && !ids.insert(id.as_str().to_owned())
            {
                let item = table.get("id").unwrap_or(item);
                problems.0.push(RuleProblem::at(item, format!("found the id {:?} twice", id.as_str())));
            }
            attachments.push(attached);
        }
        attachments
    }

    fn attachment(
        &mut self,
        table: &dyn TableLike,
        all: &Item,
        target: &RuleTarget<'_>,
        problems: &mut RuleProblems,
    ) -> Option<Attached> {
        problems.0.extend(unknown_keys(table, &["file", "part", "id", "type"]));
        let [file, part, id, given] = ["file", "part", "id", "type"].map(|key| {
            let item = table.get(key)?;
            Some((item, problems.record(text(key, item))?))
        });
        if table.get("file").is_none() {
            problems.0.push(RuleProblem::at(all, "found an attachment without a file"));
        }
        let content = file.and_then(|(item, file)| problems.record(self.attached_file(file, item)));
        let by_name = file.and_then(|(item, file)| Some((item, extras::media_type(file)?)));
        let media_type = given.or(by_name);
        if let (Some((item, file)), None, None) = (file, media_type, table.get("type")) {
            let message =
                "whose media type can't be derived from the name: expected a type, such as type = \"image/jpeg\"";
            problems.0.push(RuleProblem::at(item, format!("found {file:?}, {message}")));
        }
        let well_formed = media_type.filter(|(item, media_type)| {
            problems
                .record(extras::expect_media_type(media_type).map_err(|message| RuleProblem::at(item, message)))
                .is_some()
        });
        let known = part.and_then(|(item, part)| {
            let known = problems.record(declared(part, target).map_err(|message| RuleProblem::at(item, message)))?;
            Some((part, known))
        });
        if let (Some((part, known)), Some((item, media_type))) = (known, well_formed)
            && !extras::takes(known, media_type)
        {
            let expected = known.media_types.join(", ");
            let message = format!("found {media_type:?} for the part {part}, expected one of {expected}");
            problems.0.push(RuleProblem::at(item, message));
        }
        // The id is checked even if something else is wrong.
        let attached = Attached::new(
            content.unwrap_or_default(),
            well_formed.map_or("application/octet-stream", |(_, media_type)| media_type),
            id.map(|(_, id)| id),
            known.map(|(part, _)| part),
        );
        problems.record(
            attached.map_err(|message| RuleProblem::at(id.or(media_type).map_or(all, |(item, _)| item), message)),
        )
    }

    /// Reads a file that is attached to an answer.
    fn attached_file(&mut self, file: &str, item: &Item) -> Result<Bytes, RuleProblem> {
        if Path::new(file).file_name() != Some(file.as_ref()) || file.contains(['/', '\\']) {
            return Err(RuleProblem::at(item, format!("found {file:?}, expected a file in the folder of the rules")));
        }
        self.used.insert(file.to_owned());
        self.data.any_file(file).map_err(|problem| RuleProblem::at(item, problem))
    }

    /// Reads a fault; `None` if the item isn't a table. If it has problems, the returned fault may be incomplete.
    fn fault(
        &mut self,
        key: &str,
        item: &Item,
        target: &RuleTarget<'_>,
        problems: &mut RuleProblems,
    ) -> Option<FaultTemplate> {
        let table =
            item.as_table_like().ok_or_else(|| RuleProblem::value(key, item, "a table such as { reason = \"full\" }"));
        let table = problems.record(table)?;
        let mut fault =
            FaultTemplate { code: FaultCode::Receiver, subcodes: Vec::new(), reason: Text(Vec::new()), detail: None };
        for (key, item) in table.iter() {
            let read = self.fault_part(table, key, item, target, &mut fault);
            problems.record(read);
        }
        Some(fault)
    }

    /// Reads one key of a fault.
    fn fault_part(
        &mut self,
        table: &dyn TableLike,
        key: &str,
        item: &Item,
        target: &RuleTarget<'_>,
        fault: &mut FaultTemplate,
    ) -> Result<(), RuleProblem> {
        match key {
            "code" => fault.code = code(text(key, item)?).map_err(|message| RuleProblem::at(item, message))?,
            "subcodes" => fault.subcodes = subcodes(item)?,
            "reason" => {
                let reason = target.names.text(text(key, item)?);
                fault.reason = reason.map_err(|message| RuleProblem::at(item, message))?;
            }
            "detail" => {
                fault.detail = Some(match item.as_str() {
                    Some(file) => {
                        expect_file_name(file, item)?;
                        self.detail(file, target).map_err(|problem| RuleProblem::at(item, problem))?
                    }
                    None => Detail::of_json(&value(item)?, target.names, target.fault_sample).map_err(within(item))?,
                });
            }
            _ => {
                let range = table.key(key).and_then(toml_edit::Key::span);
                return Err(RuleProblem {
                    range,
                    message: format!("found {key}, expected code, subcodes, reason or detail"),
                });
            }
        }
        Ok(())
    }

    /// Returns problems for answer files that no operation and no rule uses, because their names may have typos.
    pub(in crate::contracts::mock) fn unused(&self, operations: &[&str]) -> Vec<String> {
        let unused = self.data.answers().filter(|name| !self.used.contains(*name));
        let messages = unused.map(|name| {
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            let expected = castile_xsd::candidates(stem, operations);
            format!("{} is not used: no rule refers to it, and operations are {expected}", self.data.shown(name))
        });
        messages.collect()
    }
}

/// Reads what a rule does with the store, except the fault for failures. Returns `None` if the action is unknown.
fn stored(item: &Item, target: &RuleTarget<'_>, problems: &mut RuleProblems) -> Option<StoreAccess> {
    let expected = Action::ALL.map(|(name, _)| name).join(", ");
    let table = problems.record(item.as_table_like().ok_or_else(|| RuleProblem::value("store", item, "a table")))?;
    let (mut actions, mut is_other) = (Vec::new(), false);
    for (key, item) in table.iter() {
        match Action::ALL.into_iter().find(|(name, _)| *name == key) {
            Some((name, action)) => actions.push((name, action, item)),
            None if matches!(key, "key" | "value") => {}
            None => {
                is_other = true;
                let range = table.key(key).and_then(toml_edit::Key::span);
                problems.0.push(RuleProblem {
                    range,
                    message: format!("found {key}, expected key, value or one of {expected}"),
                });
            }
        }
    }
    let kinds: Vec<Option<&str>> = actions.iter().map(|(name, _, item)| problems.record(text(name, item))).collect();
    let action = match actions[..] {
        [(_, action, _)] => Some(action),
        // The unknown key was reported before.
        [] if is_other => None,
        [] => {
            problems.0.push(RuleProblem::at(item, format!("found none of {expected}")));
            None
        }
        [_, (_, _, second), ..] => {
            let found = actions.iter().map(|(name, ..)| *name).collect::<Vec<_>>().join(" and ");
            problems.0.push(RuleProblem::at(second, format!("found {found}, expected one of {expected}")));
            None
        }
    };
    let (key_item, value_item) = (table.get("key"), table.get("value"));
    let key = key_item.and_then(|item| {
        let key =
            text("key", item).and_then(|key| target.names.text(key).map_err(|message| RuleProblem::at(item, message)));
        problems.record(key)
    });
    let value = value_item.and_then(|item| {
        let node =
            value(item).and_then(|value| Node::new(&value, target.names, &mut String::new()).map_err(within(item)));
        problems.record(node)
    });
    let action = action?;
    match (key_item, action) {
        (Some(item), Action::List) => problems.0.push(RuleProblem::at(item, "found a key, which list doesn't allow")),
        (None, Action::List) | (Some(_), _) => {}
        (None, _) => {
            problems.0.push(RuleProblem::at(item, "found no key, expected one such as key = \"{{request.number}}\""))
        }
    }
    let value = match (value_item, action) {
        (None, Action::Create | Action::Update) => {
            let request = Json::String("{{request}}".to_owned());
            problems.record(Node::new(&request, target.names, &mut String::new()).map_err(within(item)))
        }
        (Some(item), Action::Get | Action::Delete | Action::List) => {
            problems.0.push(RuleProblem::at(item, "found a value, which only create and update allow"));
            None
        }
        _ => value,
    };
    let kind = kinds.into_iter().next().flatten()?.to_owned();
    Some(StoreAccess { action, kind, key: key.unwrap_or(Text(Vec::new())), value, otherwise: None })
}

/// Returns the declared attachment of a response, by the name of its message part.
fn declared<'o>(part: &str, target: &RuleTarget<'o>) -> Result<&'o Attachment, String> {
    let parts: Vec<&str> = target.attachments.iter().map(|known| known.part.as_str()).collect();
    let name = target.names.operation.name();
    target.attachments.iter().find(|known| known.part == part).ok_or_else(|| match parts.is_empty() {
        true => format!("found the part {part:?}, but the response of {name} has no attachments"),
        false => format!("found the part {part:?}, expected one of {}", castile_xsd::candidates(part, &parts)),
    })
}

/// Creates the store entry that a table describes.
fn create(store: &mut Store, table: &Table) -> Result<(), RuleProblem> {
    const KEYS: [&str; 3] = ["store", "key", "value"];
    expect_keys(table, &KEYS)?;
    let field = |key| {
        let message = || format!("found an entry without {key}, expected {}", KEYS.join(", "));
        table.get(key).ok_or_else(|| RuleProblem { range: table.span(), message: message() })
    };
    let [kind, key, item] = [field("store")?, field("key")?, field("value")?];
    let created = store.perform(Action::Create, text("store", kind)?, text("key", key)?, Some(value(item)?));
    created.map(drop).map_err(|message| RuleProblem::at(key, message))
}

/// Returns the path to the first value in nested tables.
fn leaf(path: &str, members: &Map<String, Json>) -> String {
    let Some((name, member)) = members.iter().next() else { return path.to_owned() };
    let path = format!("{path}.{name}");
    member.as_object().map_or_else(|| path.clone(), |members| leaf(&path, members))
}

/// Parses JSON and converts it with `make`. Problems have their position in the text.
fn from_json<T>(bytes: &[u8], make: impl FnOnce(&Json) -> Result<T, AnswerProblem>) -> Result<T, AnswerProblem> {
    let read = serde_json::from_slice(bytes).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        AnswerProblem { path: String::new(), position: Some((error.line(), error.column())), message }
    });
    make(&read?).map_err(|wrong| {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let position = Some(answer::position(text, json::offset(text, &wrong.path)));
        AnswerProblem { position, ..wrong }
    })
}

fn decoded(bytes: &[u8]) -> Result<String, AnswerProblem> {
    Ok(answer::decoded(bytes)?.into_owned())
}

/// Formats a problem of a file.
fn with_position(shown: &str, AnswerProblem { path, position, message }: AnswerProblem) -> String {
    let position = position.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
    let colon = if path.is_empty() { "" } else { ": " };
    format!("{shown}{position}: {path}{colon}{message}")
}
