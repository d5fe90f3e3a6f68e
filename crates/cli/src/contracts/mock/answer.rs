//! Answers from files and rules. They are checked against the contract when the mock starts, and filled for each request.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use castile_databinding::datatypes::QName;
use castile_databinding::schema::Element;
use castile_dynamic::{JsonError, Operation, Value, ValueTemplate};
use castile_soap::FaultCode;
use castile_xml::tree::Document;
use serde_json::{Map, Value as Json};

use super::placeholder::{Facts, Names, Piece, Placeholder, RemainingSize, Text, UNCLOSED, size, text_of};
use crate::contracts::envelope;
use crate::contracts::path::{self, Step};
use crate::contracts::template::Template;

/// Values to try for placeholders of unknown type when an answer is checked.
const SAMPLE_VALUES: [&str; 6] = ["a sample", "42", "true", "2004-02-29T23:59:59Z", "2004-02-29", ""];

/// The body of a response, with or without placeholders.
#[derive(Debug)]
pub(super) enum Answer {
    Fixed(Arc<Value>),
    Json(Node, Option<JsonForm>),
    Xml(Xml, Option<ValueTemplate>),
}

/// A part of a JSON template.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A value without placeholders.
    Literal(Json),
    /// A text that consists of one placeholder, which may be replaced by any kind of value.
    Placeholder(Placeholder),
    Text(Text),
    Array(Vec<Node>),
    Object(Vec<(String, Node)>),
}

/// A parsed JSON template, and its placeholders in order.
#[derive(Debug)]
pub(super) struct JsonForm {
    form: ValueTemplate,
    placeholders: Vec<Node>,
}

/// An XML template.
#[derive(Debug)]
pub(super) struct Xml {
    template: Template<usize>,
    /// The texts with placeholders, in order. Each is the whole text between two tags, or a whole attribute value.
    texts: Vec<Text>,
}

/// A problem of an answer, and its place if known.
#[derive(Debug)]
pub(super) struct AnswerProblem {
    /// A path in the JSON or XML; empty for the whole document.
    pub(super) path: String,
    /// The line and column in the XML.
    pub(super) position: Option<(usize, usize)>,
    pub(super) message: String,
}

impl From<String> for AnswerProblem {
    fn from(message: String) -> Self {
        AnswerProblem { path: String::new(), position: None, message }
    }
}

impl From<JsonError> for AnswerProblem {
    fn from(JsonError { path, message }: JsonError) -> Self {
        AnswerProblem { path, position: None, message }
    }
}

impl From<castile_soap::Error> for AnswerProblem {
    fn from(error: castile_soap::Error) -> Self {
        let decoding = error.decoding();
        let location = decoding.and_then(|error| error.location());
        let position = location.map(|location| (location.line, location.column));
        let path = location.map(|location| location.path.clone()).unwrap_or_default();
        let message = decoding.map_or_else(|| error.to_string(), |error| error.message().to_owned());
        AnswerProblem { path, position, message }
    }
}

impl Answer {
    /// Parses a JSON answer. `sample` returns a sample response, which provides values for placeholders.
    pub(super) fn of_json(
        json: &Json,
        names: Names<'_>,
        sample: impl FnOnce() -> Option<Json>,
    ) -> Result<Self, AnswerProblem> {
        let node = Node::new(json, names, &mut String::new())?;
        if let Node::Literal(json) = &node {
            return Ok(Answer::Fixed(Arc::new(names.operation.response_from_json(json)?)));
        }
        let read = |json: &Json| names.operation.response_from_json(json);
        let texts = node.check(sample().as_ref(), |json| read(json).map(|_| ()))?;
        let root = names.operation.soap().response.as_ref();
        let form = root.zip(texts).and_then(|(root, texts)| {
            let form = ValueTemplate::new(root, &texts, |texts| read(&node.with(&mut texts.iter().copied())).ok())?;
            Some(JsonForm { form, placeholders: node.placeholders() })
        });
        Ok(Answer::Json(node, form))
    }

    /// Parses an XML answer: the content of the body, or an envelope.
    pub(super) fn of_xml(text: &str, names: Names<'_>) -> Result<Self, AnswerProblem> {
        let xml = Xml::new(text, names)?;
        if xml.is_literal() {
            return Ok(Answer::Fixed(Arc::new(names.operation.response_from_xml(text)?)));
        }
        let read = |text: &str| names.operation.response_from_xml(text);
        let texts = xml.check(|text| read(text).map(|_| ()))?;
        let with = |texts: &[&str]| xml.with(|number| texts.get(number).copied().unwrap_or_default());
        let root = names.operation.soap().response.as_ref();
        let form = root
            .zip(texts)
            .and_then(|(root, texts)| ValueTemplate::new(root, &texts, |texts| read(&with(texts).ok()?).ok()));
        Ok(Answer::Xml(xml, form))
    }

    /// Makes the answer to a request. A form gives the same result as filling and parsing the template, but faster.
    pub(super) fn make(&self, operation: &'static Operation, facts: &Facts<'_>) -> Result<Arc<Value>, String> {
        let filled = match self {
            Answer::Fixed(value) => return Ok(value.clone()),
            Answer::Json(_, Some(form)) => form.fill(facts)?,
            Answer::Xml(xml, Some(form)) => form.fill(&xml.filled(facts)?),
            Answer::Json(_, None) | Answer::Xml(_, None) => None,
        };
        filled.map_or_else(|| self.read(operation, facts), Ok)
    }

    /// Makes the answer to a request by filling the template and parsing it.
    fn read(&self, operation: &'static Operation, facts: &Facts<'_>) -> Result<Arc<Value>, String> {
        match self {
            Answer::Fixed(value) => Ok(value.clone()),
            Answer::Json(node, _) => {
                let json = node.fill(facts, &mut RemainingSize::new())?.unwrap_or(Json::Null);
                operation.response_from_json(&json).map(Arc::new).map_err(|error| error.to_string())
            }
            Answer::Xml(xml, _) => {
                let text = xml.fill(facts, &mut RemainingSize::new())?;
                operation.response_from_xml(&text).map(Arc::new).map_err(|error| error.to_string())
            }
        }
    }

    /// Returns what the answer needs from the request.
    pub(super) fn needs(&self) -> Needs {
        match self {
            Answer::Fixed(_) => Needs::default(),
            Answer::Json(node, _) => node.needs(),
            Answer::Xml(xml, _) => xml.needs(),
        }
    }
}

/// What an answer or rule needs from a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    pub(super) value: bool,
    pub(super) tree: bool,
    /// The address to which the request was sent.
    pub(super) url: bool,
}

impl Needs {
    fn of(placeholder: &Placeholder) -> Self {
        Needs {
            value: matches!(placeholder, Placeholder::Request(_)),
            tree: matches!(placeholder, Placeholder::XPath(_)),
            url: matches!(placeholder, Placeholder::Url(_)),
        }
    }

    pub(super) fn of_text(text: &Text) -> Self {
        let places = text
            .0
            .iter()
            .filter_map(|piece| if let Piece::Placeholder(placeholder) = piece { Some(placeholder) } else { None });
        places.map(Needs::of).collect()
    }
}

impl FromIterator<Needs> for Needs {
    fn from_iter<I: IntoIterator<Item = Needs>>(all: I) -> Self {
        all.into_iter().fold(Needs::default(), |one, other| Needs {
            value: one.value || other.value,
            tree: one.tree || other.tree,
            url: one.url || other.url,
        })
    }
}

impl Node {
    /// Finds the placeholders in a value at `path`.
    pub(super) fn new(json: &Json, names: Names<'_>, path: &mut String) -> Result<Self, AnswerProblem> {
        let before = path.len();
        let node = match json {
            Json::String(text) if text.contains("{{") => {
                let wrong = |message| AnswerProblem { path: path.clone(), position: None, message };
                let text = names.text(text).map_err(wrong)?;
                match &text.0[..] {
                    [Piece::Placeholder(placeholder)] => Node::Placeholder(placeholder.clone()),
                    _ => Node::Text(text),
                }
            }
            Json::Array(items) => {
                let mut nodes = Vec::with_capacity(items.len());
                for (number, item) in items.iter().enumerate() {
                    *path += &format!("[{number}]");
                    nodes.push(Node::new(item, names, path)?);
                    path.truncate(before);
                }
                match nodes.iter().all(Node::is_literal) {
                    true => Node::Literal(json.clone()),
                    false => Node::Array(nodes),
                }
            }
            Json::Object(members) => {
                let mut nodes = Vec::with_capacity(members.len());
                for (name, member) in members {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    *path += name;
                    nodes.push((name.clone(), Node::new(member, names, path)?));
                    path.truncate(before);
                }
                match nodes.iter().all(|(_, node)| node.is_literal()) {
                    true => Node::Literal(json.clone()),
                    false => Node::Object(nodes),
                }
            }
            json => Node::Literal(json.clone()),
        };
        Ok(node)
    }

    fn is_literal(&self) -> bool {
        matches!(self, Node::Literal(_))
    }

    /// Fills the placeholders of a value. A member or item whose placeholder has no value is omitted.
    pub(super) fn fill(&self, facts: &Facts<'_>, remaining: &mut RemainingSize) -> Result<Option<Json>, String> {
        Ok(Some(match self {
            Node::Literal(json) => {
                remaining.take(size(json))?;
                json.clone()
            }
            Node::Placeholder(placeholder) => match facts.json(placeholder)? {
                None => return Ok(None),
                Some(json) => {
                    remaining.take(size(&json))?;
                    json.into_owned()
                }
            },
            Node::Text(text) => Json::String(facts.fill(text, remaining)?),
            Node::Array(nodes) => {
                let filled = nodes.iter().filter_map(|node| node.fill(facts, remaining).transpose());
                Json::Array(filled.collect::<Result<_, _>>()?)
            }
            Node::Object(nodes) => {
                let mut members = Map::new();
                for (name, node) in nodes {
                    remaining.take(size(&Json::Null) + name.len())?;
                    if let Some(member) = node.fill(facts, remaining)? {
                        members.insert(name.clone(), member);
                    }
                }
                Json::Object(members)
            }
        }))
    }

    /// Returns the placeholders in order.
    fn placeholders(&self) -> Vec<Node> {
        match self {
            Node::Literal(_) => Vec::new(),
            Node::Placeholder(_) | Node::Text(_) => vec![self.clone()],
            Node::Array(nodes) => nodes.iter().flat_map(Node::placeholders).collect(),
            Node::Object(nodes) => nodes.iter().flat_map(|(_, node)| node.placeholders()).collect(),
        }
    }

    /// Replaces the placeholders by texts.
    fn with(&self, texts: &mut dyn Iterator<Item = &str>) -> Json {
        match self {
            Node::Literal(json) => json.clone(),
            Node::Placeholder(_) | Node::Text(_) => Json::String(texts.next().unwrap_or_default().to_owned()),
            Node::Array(nodes) => Json::Array(nodes.iter().map(|node| node.with(texts)).collect()),
            Node::Object(nodes) => {
                Json::Object(nodes.iter().map(|(name, node)| (name.clone(), node.with(texts))).collect())
            }
        }
    }

    /// Checks a template with sample values, or else with each of several values, at its placeholders. If none of the values fits a
    /// placeholder, the template can't be checked before it is filled. If all placeholders are valid texts, returns the texts.
    pub(super) fn check(
        &self,
        sample: Option<&Json>,
        read: impl Fn(&Json) -> Result<(), JsonError>,
    ) -> Result<Option<Vec<String>>, AnswerProblem> {
        let mut tried = HashMap::new();
        loop {
            let mut places = Vec::new();
            let json = self.sampled(sample, &tried, &mut String::new(), &mut places);
            let Err(error) = read(&json) else { return Ok(places.into_iter().map(|(_, text)| text).collect()) };
            let is_there = |(placeholder, _): &&(String, Option<String>)| {
                error
                    .path
                    .strip_prefix(placeholder.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            };
            let Some((placeholder, _)) = places.iter().find(is_there) else { return Err(error.into()) };
            // Each iteration tries the next value for a placeholder, or ends.
            let number = tried.entry(placeholder.clone()).or_insert(0);
            if *number == SAMPLE_VALUES.len() {
                return Ok(None);
            }
            *number += 1;
        }
    }

    /// Fills the template with sample values, or with the tried values by path. Adds the path of each placeholder to `places`, with its
    /// value if that is a text.
    fn sampled(
        &self,
        sample: Option<&Json>,
        tried: &HashMap<String, usize>,
        path: &mut String,
        places: &mut Vec<(String, Option<String>)>,
    ) -> Json {
        let before = path.len();
        let inside = |step: Step| sample.and_then(|sample| path::find(sample, &[step]));
        match self {
            Node::Literal(json) => json.clone(),
            Node::Placeholder(_) | Node::Text(_) => {
                let number = tried.get(path.as_str()).copied().unwrap_or_default();
                let value = match number.checked_sub(1).and_then(|number| SAMPLE_VALUES.get(number)) {
                    Some(text) => Json::String((*text).to_owned()),
                    None => sample.cloned().unwrap_or_else(|| Json::String(String::new())),
                };
                places.push((path.clone(), text_of(&value)));
                value
            }
            Node::Array(nodes) => {
                let sampled = nodes.iter().enumerate().map(|(number, node)| {
                    *path += &format!("[{number}]");
                    // A sample has one item, which stands for all items.
                    let sampled = node.sampled(inside(Step::Item(0)), tried, path, places);
                    path.truncate(before);
                    sampled
                });
                Json::Array(sampled.collect())
            }
            Node::Object(nodes) => {
                let sampled = nodes.iter().map(|(name, node)| {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    *path += name;
                    let sampled = node.sampled(inside(Step::Member(name.clone())), tried, path, places);
                    path.truncate(before);
                    (name.clone(), sampled)
                });
                Json::Object(sampled.collect())
            }
        }
    }

    pub(super) fn needs(&self) -> Needs {
        match self {
            Node::Literal(_) => Needs::default(),
            Node::Placeholder(placeholder) => Needs::of(placeholder),
            Node::Text(text) => Needs::of_text(text),
            Node::Array(nodes) => nodes.iter().map(Node::needs).collect(),
            Node::Object(nodes) => nodes.iter().map(|(_, node)| node.needs()).collect(),
        }
    }
}

impl JsonForm {
    /// Returns the value, if it can be made without parsing the filled template. That isn't possible if a placeholder has no value, because
    /// it is omitted.
    fn fill(&self, facts: &Facts<'_>) -> Result<Option<Arc<Value>>, String> {
        let mut remaining = RemainingSize::new();
        let mut texts = Vec::with_capacity(self.placeholders.len());
        for placeholder in &self.placeholders {
            let json = match placeholder {
                Node::Placeholder(placeholder) => facts.json(placeholder)?,
                Node::Text(text) => Some(Cow::Owned(Json::String(facts.fill(text, &mut remaining)?))),
                Node::Literal(_) | Node::Array(_) | Node::Object(_) => None,
            };
            let Some(json) = json else { return Ok(None) };
            remaining.take(size(&json))?;
            texts.push(json);
        }
        Ok(self.form.fill(&texts))
    }
}

impl Xml {
    /// Finds the placeholders of a document.
    pub(super) fn new(text: &str, names: Names<'_>) -> Result<Self, AnswerProblem> {
        let document = Document::parse(text).map_err(|error| {
            let position = error.position();
            let position = Some((position.line as usize, position.column as usize));
            AnswerProblem { path: String::new(), position, message: error.message().to_string() }
        })?;
        if text[..document.root().offset()].contains("<!DOCTYPE") {
            return Err("found a document type declaration, which is not allowed in messages".to_owned().into());
        }
        let mut texts = Vec::new();
        let template = Template::of_texts(text.to_owned(), |pieces| {
            texts.push(names.pieces(pieces)?);
            Ok(texts.len() - 1)
        });
        let wrong = |(at, message)| AnswerProblem { path: String::new(), position: Some(position(text, at)), message };
        let template = template.map_err(wrong)?;
        if let Some(at) = template.unclosed() {
            return Err(wrong((at, UNCLOSED.to_owned())));
        }
        Ok(Xml { template, texts })
    }

    /// Returns whether the template has no placeholders.
    pub(super) fn is_literal(&self) -> bool {
        self.texts.is_empty()
    }

    pub(super) fn needs(&self) -> Needs {
        self.texts.iter().map(Needs::of_text).collect()
    }

    /// Fills the texts, in order. A placeholder without a value becomes an empty text.
    fn filled(&self, facts: &Facts<'_>) -> Result<Vec<Cow<'static, Json>>, String> {
        let texts = self.texts_with(facts, &mut RemainingSize::new())?;
        Ok(texts.into_iter().map(|text| Cow::Owned(Json::String(text))).collect())
    }

    pub(super) fn fill(&self, facts: &Facts<'_>, remaining: &mut RemainingSize) -> Result<String, String> {
        let texts = self.texts_with(facts, remaining)?;
        self.with(|number| texts.get(number).map_or("", String::as_str))
    }

    fn texts_with(&self, facts: &Facts<'_>, remaining: &mut RemainingSize) -> Result<Vec<String>, String> {
        remaining.take(self.template.text().len())?;
        self.texts.iter().map(|text| facts.fill(text, remaining)).collect()
    }

    fn with<'v>(&self, value: impl Fn(usize) -> &'v str) -> Result<String, String> {
        let mut out = Vec::new();
        let written = self.template.write(&mut out, |placeholder| Some(value(placeholder)));
        written.map_err(|_| "the value of a placeholder has characters that are not allowed in XML".to_owned())?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// Checks a template by trying several values at its placeholders. If none of the values fits a placeholder, the template can't be
    /// checked before it is filled. Otherwise, returns the values that fit.
    pub(super) fn check(
        &self,
        read: impl Fn(&str) -> Result<(), castile_soap::Error>,
    ) -> Result<Option<Vec<String>>, AnswerProblem> {
        let mut tried = vec![0; self.texts.len()];
        // Each iteration tries the next value for a placeholder, or ends.
        for _ in 0..=SAMPLE_VALUES.len() * self.texts.len() {
            let value = |placeholder: usize| {
                tried.get(placeholder).and_then(|tried| SAMPLE_VALUES.get(*tried)).copied().unwrap_or_default()
            };
            let text = self.with(value)?;
            let Err(error) = read(&text) else {
                return Ok(Some((0..self.texts.len()).map(|placeholder| value(placeholder).to_owned()).collect()));
            };
            let wrong = AnswerProblem::from(error);
            let Some((line, column)) = wrong.position else { return Err(wrong) };
            let origin = self.template.origin(offset(&text, line, column), |placeholder| Some(value(placeholder)));
            match self.placeholder_at(origin) {
                Some(placeholder) if tried[placeholder] + 1 < SAMPLE_VALUES.len() => tried[placeholder] += 1,
                Some(_) => return Ok(None),
                None => return Err(AnswerProblem { position: Some(position(self.template.text(), origin)), ..wrong }),
            }
        }
        Ok(None)
    }

    /// Returns the index of the placeholder in the element or tag at an offset.
    fn placeholder_at(&self, offset: usize) -> Option<usize> {
        let text = self.template.text();
        let offset = text.floor_char_boundary(offset);
        let start = text[..offset].rfind('<').unwrap_or(0);
        let start = if text[offset..].starts_with('<') && !text[offset..].starts_with("</") { offset } else { start };
        let end = text[start + 1..].find('<').map_or(text.len(), |end| start + 1 + end);
        self.template.starts().position(|at| (start..end).contains(&at))
    }
}

/// Returns an error if an element has the local name of a declared one, but another namespace.
pub(super) fn expect_namespace<'e>(
    text: &str,
    declared: impl Iterator<Item = &'e Element>,
) -> Result<(), AnswerProblem> {
    let document = Document::parse(text).map_err(|error| error.message().to_string())?;
    let (namespace, local) = (document.root().namespace(), document.root().local());
    let alike: Vec<&Element> = declared.filter(|element| element.name == local).collect();
    match alike.first() {
        Some(known) if alike.iter().all(|element| element.namespace != namespace) => {
            Err(format!("found <{local}> in namespace {namespace:?}, expected namespace {:?}", known.namespace).into())
        }
        _ => Ok(()),
    }
}

/// Returns the offset of a line and column, both counted from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let in_line = text[start..].char_indices().nth(column.saturating_sub(1));
    in_line.map_or(text.len(), |(at, _)| start + at)
}

/// Returns the line and column of an offset, both counted from 1.
pub(super) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// A fault, with or without placeholders.
#[derive(Debug)]
pub(super) struct FaultTemplate {
    pub(super) code: FaultCode,
    pub(super) subcodes: Vec<QName>,
    pub(super) reason: Text,
    pub(super) detail: Option<Detail>,
}

/// The detail of a fault.
#[derive(Debug)]
pub(super) enum Detail {
    Json(Node),
    Xml(Xml),
}

impl Detail {
    /// Parses a JSON detail: a member for each element, or the output of `castile sample --fault --json` for one fault.
    pub(super) fn of_json(
        json: &Json,
        names: Names<'_>,
        sample: impl Fn(&str) -> Option<Json>,
    ) -> Result<Self, AnswerProblem> {
        let json = unprinted(json, names.operation)?;
        let node = Node::new(json, names, &mut String::new())?;
        let mut samples = Map::new();
        if let Json::Object(members) = json {
            samples.extend(members.keys().filter_map(|name| sample(name).map(|sample| (name.clone(), sample))));
        }
        let read = |json: &Json| names.operation.fault_detail_from_json(json).map(|_| ());
        node.check(Some(&Json::Object(samples)), read)?;
        Ok(Detail::Json(node))
    }

    /// Parses an XML detail: one element, or an envelope with a fault that has one detail element.
    pub(super) fn of_xml(text: &str, names: Names<'_>) -> Result<Self, AnswerProblem> {
        // Parsed first, to report malformed XML with its position.
        let xml = Xml::new(text, names)?;
        if let Some(detail) = envelope::fault_detail(text).map_err(|error| error.to_string())? {
            let [element] = &detail[..] else {
                let count = detail.len();
                return Err(
                    format!("the detail of the fault in the envelope has {count} elements, expected one").into()
                );
            };
            // The detail is at another position in the file.
            let read = Detail::of_xml(&element.xml(), names);
            return read.map_err(|wrong| AnswerProblem { position: None, ..wrong });
        }
        expect_namespace(text, names.operation.faults())?;
        xml.check(|text| names.operation.check_fault_detail(text))?;
        Ok(Detail::Xml(xml))
    }

    fn make(
        &self,
        operation: &'static Operation,
        facts: &Facts<'_>,
        remaining: &mut RemainingSize,
    ) -> Result<String, String> {
        match self {
            Detail::Json(node) => {
                let json = node.fill(facts, remaining)?.unwrap_or(Json::Null);
                operation.fault_detail_from_json(&json).map_err(|error| error.to_string())
            }
            Detail::Xml(xml) => {
                let text = xml.fill(facts, remaining)?;
                let document = Document::parse(&text).map_err(|error| error.to_string())?;
                Ok(document.root().source().to_owned())
            }
        }
    }
}

/// Returns the inner detail if each member is named after a message, as in the output of `castile sample --fault --json`.
fn unprinted<'j>(json: &'j Json, operation: &Operation) -> Result<&'j Json, AnswerProblem> {
    let Json::Object(members) = json else { return Ok(json) };
    let is_declared = |name: &String| operation.faults().any(|element| element.name == name.as_str());
    let printed = |(name, held): (&String, &Json)| {
        !is_declared(name) && held.as_object().is_some_and(|held| held.keys().any(is_declared))
    };
    if !members.iter().all(printed) {
        return Ok(json);
    }
    let mut held = members.values();
    match (held.next(), held.next()) {
        (Some(held), None) => Ok(held),
        (Some(_), Some(_)) => {
            let names: Vec<&str> = members.keys().map(String::as_str).collect();
            Err(format!("found the faults {}, expected the content of one of them", names.join(" and ")).into())
        }
        (None, _) => Ok(json),
    }
}

impl FaultTemplate {
    /// Makes the fault that answers a request.
    pub(super) fn make(&self, operation: &'static Operation, facts: &Facts<'_>) -> Result<castile_soap::Fault, String> {
        let mut remaining = RemainingSize::new();
        let mut fault = castile_soap::Fault::new(self.code.clone(), facts.fill(&self.reason, &mut remaining)?);
        fault.subcodes.clone_from(&self.subcodes);
        if let Some(detail) = &self.detail {
            fault.detail = castile_soap::Detail::Other(detail.make(operation, facts, &mut remaining)?);
        }
        Ok(fault)
    }

    pub(super) fn needs(&self) -> Needs {
        let of_detail = match &self.detail {
            None => Needs::default(),
            Some(Detail::Json(node)) => node.needs(),
            Some(Detail::Xml(xml)) => xml.needs(),
        };
        [of_detail, Needs::of_text(&self.reason)].into_iter().collect()
    }
}

/// Decodes a file as XML does, without the byte order mark.
pub(super) fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    castile_xml::decode(bytes, None).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use castile_dynamic::{Contract, Options};
    use castile_xsd::Files;

    use super::*;

    /// Values from requests, both valid and invalid.
    const FILLED: [&str; 17] = [
        "",
        " ",
        "7",
        "-0",
        "+07",
        "007.50",
        "1e3",
        "26",
        "two words",
        " around ",
        "a\tb\r\nc",
        "<&>\"'",
        "]]>",
        "ü€😀",
        "&#38;",
        "\u{1}",
        "\u{FFFE}",
    ];

    /// A form gives the same answers as parsing its filled template.
    #[test]
    fn a_form_answers_as_its_template_does() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mock/orders.wsdl");
        let contract = Contract::open(&path, &Files::new(), &Options::default()).unwrap();
        let contract: &'static Contract = Box::leak(Box::new(contract));
        let mut known = 0;
        for (name, template, has_form) in [
            ("Price", r#"{"item": "item-{{stored.a}}", "price": "{{stored.a}}.50"}"#, true),
            (
                "Price",
                "<PriceResponse xmlns='urn:orders'><item>{{stored.a}}</item><price>1</price></PriceResponse>",
                true,
            ),
            (
                "Price",
                "<PriceResponse xmlns='urn:orders'>\n  <item>item-{{stored.a}}</item>\n  <price>\n    {{stored.a}}.50\n  </price>\n\
                 </PriceResponse>",
                true,
            ),
            (
                "GetOrder",
                "<o:GetOrderResponse xmlns:o='urn:orders'><o:order><o:customer>&lt;{{stored.a}}&#38;{{stored.a}} é</o:customer>\
                 <o:item><o:name>]]&gt;{{number}}> {{stored.a}}</o:name><o:quantity> 1{{stored.a}} </o:quantity></o:item>\
                 <o:number>{{stored.none}}-{{stored.a}}</o:number><o:placed>2026-11-{{stored.a}}T10:00:00Z</o:placed></o:order>\
                 </o:GetOrderResponse>",
                true,
            ),
            // Text with significant white space, and a part of a text.
            (
                "GetOrder",
                "<GetOrderResponse xmlns='urn:orders'><order><customer> a{{stored.a}}</customer><number>1</number></order>\
                 </GetOrderResponse>",
                false,
            ),
            (
                "GetOrder",
                "<GetOrderResponse xmlns='urn:orders'><order><customer>a<!-- b -->{{stored.a}}</customer><number>1</number></order>\
                 </GetOrderResponse>",
                false,
            ),
        ] {
            let operation =
                contract.services[0].operations().iter().find(|operation| operation.name() == name).unwrap();
            let names = Names { operation, prefixes: &[] };
            let answer = match template.starts_with('{') {
                true => Answer::of_json(&serde_json::from_str(template).unwrap(), names, || None),
                false => Answer::of_xml(template, names),
            };
            let answer = answer.unwrap();
            assert_eq!(matches!(answer, Answer::Json(_, Some(_)) | Answer::Xml(_, Some(_))), has_form, "{template}");
            for filled in FILLED {
                let stored = serde_json::json!({ "a": filled });
                let stored = Some(&stored);
                let facts = Facts { request: None, tree: None, stored, key: None, address: None, number: 7 };
                let of_form = match &answer {
                    Answer::Json(_, Some(form)) => form.fill(&facts),
                    Answer::Xml(xml, Some(form)) => xml.filled(&facts).map(|texts| form.fill(&texts)),
                    _ => Ok(None),
                };
                let read = answer.read(operation, &facts);
                assert_eq!(answer.make(operation, &facts), read, "{filled:?} in {template}");
                if let Some(value) = of_form.unwrap() {
                    known += 1;
                    assert_eq!(Ok(value), read, "{filled:?} in {template}");
                }
            }
        }
        assert!(known > 20, "{known}");
    }
}
