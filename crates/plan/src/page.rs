//! The data of a server's page for people: a text that describes the services of a contract, in a file beside the
//! server's source.
//!
//! A line that begins with a tab is content of the preceding key. A key may have a value on its line. Because of the
//! tab, content is never mistaken for a key, whatever the contract contains.
//!
//! ```text
//! service Orders
//! operation place
//! documentation
//! 	Places an order.
//! input
//! 	0e	place		Place	0
//! request
//! 	<place xmlns="urn:orders">…
//! type Place	urn:orders
//! rows
//! 	0e	item	1..*	string
//! ```
//!
//! The keys `documentation`, `input`, `output`, `headers` and `faults` of an operation have rows. Its keys `blocks`,
//! `request` and `answer` have XML: the header blocks and the contents of the bodies. The keys of a type are
//! `documentation` and `rows`. Types are numbered in order.
//!
//! The columns of a row are separated by tabs: the depth with the letter of the row's kind, the name, the occurrence,
//! the type, the number of the type if it is described, notes, and the documentation. Empty columns at the end are left
//! out.
#![allow(clippy::tabs_in_doc_comments, reason = "the format has tabs")]

mod types;

use std::cell::Cell;
use std::collections::HashMap;

use castile_wsdl::{
    BindingMessage, BindingOperation, Definitions, Header, Part, PartContent, Sampler, Style, Use, Version,
};
use castile_xsd::TypeId;
use castile_xsd::encoded::Encoding;

use crate::indented;
use crate::plan::{Plan, Service};
use types::Row;

/// Maximum length of the text up to which it is complete. After that, it has no more examples and rows.
const MAX_TEXT: usize = 16 << 20;
/// Maximum length of the documentation of an operation or a type, and of a row, in characters.
const MAX_DOCUMENTATION: usize = 4_000;
const MAX_IN_ROW: usize = 200;
/// Maximum length of an example before it is made again with fewer optional parts, and maximum length of an example
/// that is shown.
const LONG_EXAMPLE: usize = 2_000;
const MAX_EXAMPLE: usize = 32_000;
/// Maximum number of steps taken for examples, including discarded ones, and maximum number of bytes made. After that
/// no more examples are made.
const MAX_STEPS: usize = 20_000_000;
const MAX_EXAMPLE_BYTES: usize = 64 << 20;
/// From this depth an example leaves out optional parts.
const DEPTH: usize = 4;

/// Returns the text for all services of a plan, which was made from these definitions.
pub fn page(definitions: &Definitions, plan: &Plan) -> String {
    let (out, types, numbers, steps) = Default::default();
    let mut writer = Writer { definitions, out, types, numbers, steps, made: 0 };
    for service in &plan.services {
        writer.service(service);
    }
    // Describing a type may add other types.
    let mut number = 0;
    while let Some(&type_id) = writer.types.get(number) {
        writer.type_of(type_id);
        number += 1;
    }
    writer.out
}

struct Writer<'d> {
    definitions: &'d Definitions,
    out: String,
    /// The types that are described, and their numbers.
    types: Vec<TypeId>,
    numbers: HashMap<TypeId, usize>,
    /// The steps taken for examples, and their total length.
    steps: Cell<usize>,
    made: usize,
}

impl Writer<'_> {
    fn service(&mut self, service: &Service) {
        let operations = service.binding.map_or(&[][..], |binding| &self.definitions[binding].operations);
        let bound: HashMap<usize, &BindingOperation> =
            operations.iter().map(|operation| (operation.operation, operation)).collect();
        self.key("service", &service.name);
        let version = service.versions.first().copied().unwrap_or(Version::Soap11);
        for operation in &service.operations {
            self.key("operation", &operation.name);
            if let Some(bound) = bound.get(&operation.number) {
                self.operation(bound, version);
            }
        }
    }

    fn operation(&mut self, operation: &BindingOperation, version: Version) {
        self.documentation(operation.documentation.as_ref());
        let name = &operation.name;
        if let Some(input) = &operation.input {
            let rows = self.message(operation, input, name);
            self.rows("input", &rows);
            let mut headers: Vec<&Header> = Vec::new();
            for header in &input.headers {
                // Some bindings name a header block twice. A literal block with a type has no name.
                let is_known = headers.iter().any(|known| known.part.content == header.part.content);
                if !is_known && (header.use_ == Use::Encoded || element(&header.part).is_some()) {
                    headers.push(header);
                }
            }
            let rows = headers.iter().map(|header| self.block(&header.part)).collect::<Vec<_>>();
            self.rows("headers", &rows);
            self.example("request", |sampler| body(sampler, operation, input, name, version));
            self.example("blocks", |sampler| {
                let understood = headers.iter().filter(|header| !crate::is_of_security(self.definitions, header));
                understood.filter_map(|header| element(&header.part)).map(|id| sampler.element(id).ok()).collect()
            });
        }
        if let Some(output) = &operation.output {
            let name = format!("{name}Response");
            let rows = self.message(operation, output, &name);
            self.rows("output", &rows);
            self.example("answer", |sampler| body(sampler, operation, output, &name, version));
        }
        let faults = operation.faults.iter().filter_map(|fault| {
            let mut row = self.block(fault.part.as_ref()?);
            row.documentation = fault.documentation.clone().or(row.documentation);
            Some(row)
        });
        let rows: Vec<Row> = faults.collect();
        self.rows("faults", &rows);
    }

    /// Returns rows for the body of a message. `name` is the name of the wrapper in rpc style.
    fn message(&mut self, operation: &BindingOperation, message: &BindingMessage, name: &str) -> Vec<Row> {
        let is_call = operation.style == Style::Rpc;
        let mut rows: Vec<Row> = is_call.then(|| Row::element(0, name)).into_iter().collect();
        for part in &message.body {
            match part.content {
                PartContent::Element(id) => self.whole_element(id, is_call.into(), &mut rows),
                PartContent::Type(type_id) => {
                    let mut row = Row::element(is_call.into(), &part.name);
                    row.of = self.reference(type_id);
                    rows.push(row);
                }
            }
        }
        rows
    }

    /// Returns a row for a header block or the detail of a fault.
    fn block(&mut self, part: &Part) -> Row {
        match part.content {
            PartContent::Element(id) => self.element(id, 0),
            PartContent::Type(type_id) => {
                let mut row = Row::element(0, &part.name);
                row.of = self.reference(type_id);
                row
            }
        }
    }

    // ---- text output ----

    fn key(&mut self, key: &str, value: &str) {
        self.out.push_str(key);
        if !value.is_empty() {
            self.out.push(' ');
            self.out.push_str(value);
        }
        self.out.push('\n');
    }

    fn content(&mut self, key: &str, text: &str) {
        if text.trim().is_empty() {
            return;
        }
        self.key(key, "");
        for line in text.split('\n') {
            self.out.push('\t');
            self.out.push_str(line);
            self.out.push('\n');
        }
    }

    fn documentation(&mut self, text: Option<&String>) {
        if let Some(text) = text {
            self.content("documentation", &shortened(text.trim(), MAX_DOCUMENTATION));
        }
    }

    fn rows(&mut self, key: &str, rows: &[Row]) {
        if !self.is_full() {
            let lines: Vec<String> = rows.iter().map(Row::line).collect();
            self.content(key, &lines.join("\n"));
        }
    }

    /// Writes an example, trying fewer and fewer optional parts. It is the first one that is short enough, or else the
    /// shortest one.
    fn example(&mut self, key: &str, make: impl Fn(Sampler<'_>) -> Option<String>) {
        let mut shortest: Option<String> = None;
        for depth in (0..=DEPTH).rev() {
            if self.is_full() || self.made > MAX_EXAMPLE_BYTES {
                return;
            }
            let sampler = Sampler::new(self.definitions, depth).counting(&self.steps, MAX_STEPS);
            let Some(example) = make(sampler) else { continue };
            self.made += example.len();
            let is_long = example.len() > LONG_EXAMPLE;
            if shortest.as_ref().is_none_or(|shortest| example.len() < shortest.len()) {
                shortest = Some(example);
            }
            if !is_long {
                break;
            }
        }
        if let Some(example) = shortest.filter(|example| example.len() <= MAX_EXAMPLE) {
            self.content(key, &indented(&example));
        }
    }

    fn is_full(&self) -> bool {
        self.out.len() > MAX_TEXT
    }
}

/// Returns the content of a body, or `None` if the schema allows no instance.
fn body(
    sampler: Sampler<'_>,
    operation: &BindingOperation,
    message: &BindingMessage,
    name: &str,
    version: Version,
) -> Option<String> {
    if operation.style == Style::Document {
        return message.body.iter().map(|part| sampler.element(element(part)?).ok()).collect();
    }
    let wrapper = castile_xsd::ExpandedName::new(message.namespace.clone().unwrap_or_default(), name);
    let parts: Vec<(String, PartContent)> = message.body.iter().map(|part| (part.name.clone(), part.content)).collect();
    let encoding = match version {
        Version::Soap11 => Encoding::Soap11,
        Version::Soap12 => Encoding::Soap12,
    };
    match message.use_ {
        Use::Literal => sampler.call(&wrapper, &parts).ok(),
        Use::Encoded => sampler.encoded_call(encoding, &wrapper, &parts).ok(),
    }
}

fn element(part: &Part) -> Option<castile_xsd::ElementId> {
    match part.content {
        PartContent::Element(id) => Some(id),
        PartContent::Type(_) => None,
    }
}

/// Shortens a text to `most` characters.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
