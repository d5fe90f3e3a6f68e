//! The messages of all operations, from files, from templates, or made from the schema.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};
use castile_wss::message::ClientSecurity;
use castile_xml::tree::{Document, Position};
use castile_xsd::validate::Problem;

use super::feed::{Feed, FeedCursor};
use super::judge::{self, Judge};
use super::service::{Operation, Service};
use super::template::{Placeholder, Template};
use super::{feed_values, sample};
use crate::contracts::envelope::{self, Fragment};
use crate::contracts::shape::Shape;

/// The data that all users share.
#[derive(Debug)]
pub(super) struct Mix {
    pub(super) service: Service,
    /// The messages of each operation, and the index of the next one.
    messages: Vec<(Vec<Message>, AtomicUsize)>,
    /// The header fields of each operation's requests.
    headers: Vec<Template>,
    /// The operations in the order in which a user calls them.
    pub(super) round: Arc<[usize]>,
    pub(super) feed: Option<(Feed, FeedCursor)>,
    /// Whether a row of the feed is used for a whole round.
    pub(super) row_per_round: bool,
    /// The names of extracted values.
    pub(super) values: Vec<String>,
    /// What is added to requests, and what answers must have.
    pub(super) security: Option<ClientSecurity>,
    /// Whether anything is added to requests.
    pub(super) secures_requests: bool,
    pub(super) judge: Judge,
}

/// A message of an operation.
#[derive(Debug)]
pub(super) struct Message {
    /// A description of where the message is from.
    pub(super) source: String,
    /// The whole envelope.
    pub(super) template: Template,
    /// `None` if the message isn't from a file.
    origin: Option<Origin>,
}

impl Message {
    /// Returns whether the file contained the whole envelope.
    fn is_whole(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| !origin.is_payload)
    }
}

/// The position of a file's text in the envelope.
#[derive(Debug)]
struct Origin {
    /// The range in the envelope's template.
    range: Range<usize>,
    /// Where the range begins in the file.
    position: Position,
    /// Whether the file contained only the payload.
    is_payload: bool,
}

/// The sources of messages.
#[derive(Debug)]
pub(super) struct Sources<'a> {
    /// Files or folders, optionally with an operation: `OP=FILE`.
    pub(super) messages: &'a [PathBuf],
    pub(super) templates: &'a [PathBuf],
    /// Header blocks, as XML.
    pub(super) blocks: &'a [String],
    /// The names of extracted values.
    pub(super) values: &'a [String],
    pub(super) feed: Option<&'a Feed>,
}

impl Mix {
    pub(super) fn new(
        service: Service,
        messages: Vec<Vec<Message>>,
        headers: Vec<Template>,
        feed: Option<(Feed, FeedCursor)>,
        row_per_round: bool,
        values: Vec<String>,
        judge: Judge,
    ) -> Self {
        Mix {
            headers,
            round: round(&service.operations.iter().map(|operation| operation.weight).collect::<Vec<_>>()),
            messages: messages.into_iter().map(|messages| (messages, AtomicUsize::new(0))).collect(),
            service,
            feed,
            row_per_round,
            values,
            security: None,
            secures_requests: false,
            judge,
        }
    }

    /// Returns the next message of an operation. All users take messages from the same sequence.
    pub(super) fn message(&self, operation: usize) -> &Message {
        let (messages, next) = &self.messages[operation];
        &messages[next.fetch_add(1, Ordering::Relaxed) % messages.len()]
    }

    /// Returns the header fields of an operation's requests.
    pub(super) fn headers(&self, operation: usize) -> &Template {
        &self.headers[operation]
    }

    /// Returns all messages, each with the number of its operation.
    pub(super) fn messages(&self) -> impl Iterator<Item = (usize, &Message)> {
        self.messages
            .iter()
            .enumerate()
            .flat_map(|(number, (messages, _))| messages.iter().map(move |one| (number, one)))
    }
}

/// Returns a round in which each operation occurs as often as its weight. First occurrences keep the given order, and further ones are
/// spread evenly.
fn round(weights: &[u32]) -> Arc<[usize]> {
    let divisor = weights.iter().copied().fold(0, |mut a, mut b| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    });
    let mut turns: Vec<(f64, usize)> = Vec::new();
    for (operation, weight) in weights.iter().enumerate() {
        let weight = weight / divisor.max(1);
        turns.extend((0..weight).map(|turn| (f64::from(turn) / f64::from(weight), operation)));
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    turns.into_iter().map(|(_, operation)| operation).collect()
}

impl Sources<'_> {
    /// Returns the messages of each operation: the given ones, or else a sample.
    ///
    /// # Errors
    /// A file isn't a message, belongs to no operation of this load, or its feed has a value of another type.
    pub(super) fn messages(&self, service: &Service) -> anyhow::Result<Vec<Vec<Message>>> {
        let mut found: Vec<Vec<Message>> = service.operations.iter().map(|_| Vec::new()).collect();
        for (given, is_template) in
            self.messages.iter().map(|given| (given, false)).chain(self.templates.iter().map(|given| (given, true)))
        {
            let (named, path) = named(service, given);
            for path in files(path)? {
                let (operation, message) = self.read(service, named, &path, is_template)?;
                found[operation].push(message);
            }
        }
        for (operation, messages) in service.operations.iter().zip(&mut found) {
            if messages.is_empty() {
                let payload = sample::payload(service, operation)?;
                let blocks = sample::blocks(service, operation, self.blocks)?;
                let text = envelope::write(service.version, &blocks, &payload);
                let source = format!("the sample of {}", operation.name);
                let template = self.template(service, operation, &source, text)?;
                messages.push(Message { source, template, origin: None });
            }
        }
        Ok(found)
    }

    /// Returns the header fields of each operation's requests: the given ones, with content type and action.
    ///
    /// # Errors
    /// A placeholder has no source.
    pub(super) fn headers(&self, service: &Service, own: &str) -> anyhow::Result<Vec<Template>> {
        let lines = |operation: &Operation| {
            let lines = judge::header_lines(service.version, &operation.action, own);
            let template = Template::of_lines(lines, |name| self.placeholder(name));
            template.map_err(|wrong| anyhow::anyhow!("--header: {wrong}"))
        };
        service.operations.iter().map(lines).collect()
    }

    fn read(
        &self,
        service: &Service,
        named: Option<usize>,
        path: &Path,
        is_template: bool,
    ) -> anyhow::Result<(usize, Message)> {
        let shown = path.display().to_string();
        let bytes = std::fs::read(path).with_context(|| format!("{shown} can't be read"))?;
        let Fragment { text: own, position } = envelope::fragment(&bytes, &shown)?;
        let document = Document::parse(&own).with_context(|| shown.clone())?;
        let root = document.root();
        let is_whole = root.local() == "Envelope" && envelope::is_envelope(root.namespace()).is_some();
        let text = match is_whole {
            false => envelope::write(service.version, self.blocks, &own),
            true if envelope::is_envelope(root.namespace()) != Some(service.version) => {
                bail!("{shown} is an envelope of a different SOAP version than the port uses: see --port")
            }
            true if !self.blocks.is_empty() => {
                bail!("{shown} is a complete envelope, to which --soap-header can't add, expected a payload")
            }
            true => own.clone(),
        };
        let start = text.rfind(&own).unwrap_or_default();
        let origin = Origin { range: start..start + own.len(), position, is_payload: !is_whole };
        let operation = match named {
            Some(operation) => operation,
            None => operation_by_payload(service, &text, &shown)?,
        };
        let template = match is_template {
            true => self.template(service, &service.operations[operation], &shown, text)?,
            false => Template::plain(text),
        };
        Ok((operation, Message { source: shown, template, origin: Some(origin) }))
    }

    /// Returns the source of a placeholder.
    fn placeholder(&self, name: &str) -> Result<Placeholder, String> {
        let column = self.feed.and_then(|feed| feed.column(name)).map(Placeholder::Column);
        let value = self.values.iter().position(|value| value == name).map(Placeholder::Extracted);
        column.or(value).ok_or_else(|| {
            let columns = self.feed.map(Feed::columns).unwrap_or_default();
            let known: Vec<&str> = columns.iter().chain(self.values).map(|name| &**name).collect();
            match known.is_empty() {
                true => format!("{{{{{name}}}}} has neither a --feed nor an --extract"),
                false => format!("found {{{{{name}}}}}, expected one of {}", known.join(", ")),
            }
        })
    }

    /// Parses the envelope as a template, and checks the types of the feed's values.
    fn template(
        &self,
        service: &Service,
        operation: &Operation,
        source: &str,
        text: String,
    ) -> anyhow::Result<Template> {
        let template = Template::new(text.clone(), |name| self.placeholder(name))
            .map_err(|wrong| anyhow::anyhow!("{source}: {wrong}"))?;
        if let Some(feed) = self.feed.filter(|_| template.uses_feed()) {
            feed_values::check(service.definitions, &operation.input, &text, feed)?;
        }
        Ok(template)
    }
}

/// Splits `OP=FILE` if the part before `=` is an operation of this load.
fn named<'p>(service: &Service, given: &'p Path) -> (Option<usize>, &'p Path) {
    let named = given.to_str().and_then(|text| {
        let (name, path) = text.split_once('=')?;
        let operation = service.operations.iter().position(|operation| operation.name == name)?;
        Some((operation, Path::new(path)))
    });
    match named {
        Some((operation, path)) => (Some(operation), path),
        None => (None, given),
    }
}

/// Returns a file, or the XML files of a folder sorted by name.
fn files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let shown = path.display();
    let entries = std::fs::read_dir(path).with_context(|| format!("{shown} can't be read"))?;
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "xml"));
    files.sort();
    if files.is_empty() {
        bail!("{shown} has no file whose name ends in .xml");
    }
    Ok(files)
}

/// Returns the operation of a message, which its payload determines.
fn operation_by_payload(service: &Service, text: &str, shown: &str) -> anyhow::Result<usize> {
    let document = Document::parse(text)?;
    let (body, _) = envelope::parts(&document).with_context(|| shown.to_owned())?;
    let root = body.first().map(|element| envelope::name(*element));
    let fits = |operation: &Operation| match (operation.input.roots(service.definitions), &root) {
        (Some(roots), Some(root)) => roots.contains(root),
        (Some(roots), None) => roots.is_empty(),
        (None, _) => true,
    };
    let mut fitting = (0..service.operations.len()).filter(|number| fits(&service.operations[*number]));
    match (fitting.next(), fitting.next()) {
        (Some(one), None) => Ok(one),
        // With one operation, any message may be sent to it.
        (None, _) if service.operations.len() == 1 => Ok(0),
        (several, _) => {
            let root = root.map_or("nothing".to_owned(), |root| root.to_string());
            let names: Vec<_> = service.operations.iter().map(|operation| &*operation.name).collect();
            let which = if several.is_some() { "more than one" } else { "none" };
            bail!("{shown} contains {root}, which {which} of {} accepts: write OPERATION={shown}", names.join(", "))
        }
    }
}

/// Returns warnings about messages that violate the schema, as far as this is known before placeholders are filled. Such messages may be
/// intended.
pub(super) fn warnings(mix: &Mix) -> Vec<String> {
    let definitions = mix.service.definitions;
    let mut doubts = Vec::new();
    for (number, message) in mix.messages() {
        let shape: &Shape = &mix.service.operations[number].input;
        let value = |placeholder| match (&mix.feed, placeholder) {
            (Some((feed, _)), Placeholder::Column(column)) => Some(feed.value(0, column)),
            _ => None,
        };
        let mut text = Vec::new();
        if message.template.write(&mut text, value).is_err() {
            continue;
        }
        let text = String::from_utf8_lossy(&text);
        if let Some(problem) = judge::problems_of_header(definitions, &text).into_iter().next() {
            let path = problem.path.strip_prefix("Envelope/Header/").unwrap_or(&problem.path);
            let of = if message.is_whole() { &message.source } else { "--soap-header" };
            let doubt = format!("{of}: not a valid header block: {path}: {} [{}]", problem.message, problem.rule);
            // Most messages have the same header blocks.
            if !doubts.contains(&doubt) {
                doubts.push(doubt);
            }
        }
        if let Some(problem) = judge::problems(definitions, shape, &text).into_iter().next() {
            let (source, name) = (&message.source, &mix.service.operations[number].name);
            doubts.push(match &message.origin {
                None => format!("{source} is not a valid message of {name}: {problem}"),
                Some(origin) => {
                    let offset = message.template.origin(problem.offset, value);
                    let position = origin.position(message.template.text(), offset);
                    format!(
                        "{source}:{}:{}: not a valid message of {name}: {}",
                        position.line,
                        position.column,
                        origin.describe(&problem)
                    )
                }
            });
        }
    }
    doubts
}

impl Origin {
    /// Returns the position in the file for an offset in the envelope.
    fn position(&self, envelope: &str, offset: usize) -> Position {
        let offset = offset.clamp(self.range.start, self.range.end);
        let before = &envelope[self.range.start..offset];
        let lines = before.matches('\n').count() as u32;
        let in_line = before.rsplit('\n').next().unwrap_or_default().chars().count() as u32;
        match lines {
            0 => Position { column: self.position.column + in_line, ..self.position },
            _ => Position { line: self.position.line + lines, column: in_line + 1 },
        }
    }

    /// Formats a problem without its position in the envelope. Its path is the one in the file.
    fn describe(&self, problem: &Problem) -> String {
        let path = match self.is_payload {
            true => problem.path.strip_prefix("Envelope/Body/").unwrap_or(&problem.path),
            false => &problem.path,
        };
        let path = if path.is_empty() { String::new() } else { format!("{path}: ") };
        format!("{path}{} [{}]", problem.message, problem.rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_has_each_operation_according_to_its_weight() {
        let of = |weights: &[u32]| round(weights).to_vec();
        assert_eq!(of(&[1]), [0]);
        assert_eq!(of(&[30]), [0]);
        assert_eq!(of(&[1, 1, 1]), [0, 1, 2]);
        assert_eq!(of(&[1, 3]), [0, 1, 1, 1]);
        assert_eq!(of(&[2, 1]), [0, 1, 0]);
        assert_eq!(of(&[70, 30]), [0, 1, 0, 0, 1, 0, 0, 1, 0, 0]);
    }
}
