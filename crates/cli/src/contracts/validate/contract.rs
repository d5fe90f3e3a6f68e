//! The contract for validating messages.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use anyhow::bail;
use castile_soap::Version;
use castile_wsdl::{BindingMessage, BindingOperation, Definitions, Files, Pattern, Protocol, Severity};
use castile_xsd::{ExpandedName, Schema};

use crate::contracts::shape::Shape;
use crate::contracts::{problems, source};

/// What the command line says about the messages.
pub(super) struct Expectation<'a> {
    pub(super) operation: Option<&'a str>,
    pub(super) request: bool,
    pub(super) response: bool,
    /// The maximum number of problems for a message.
    pub(super) most: usize,
}

impl Expectation<'_> {
    /// Returns whether only messages are expected, and no other documents.
    pub(super) fn expects_messages(&self) -> bool {
        self.operation.is_some() || self.request || self.response
    }

    pub(super) fn admits(&self, message: &Message) -> bool {
        let is_response = matches!(message.kind, Kind::Response);
        self.operation.is_none_or(|name| name == message.operation)
            && !(self.request && is_response)
            && (!self.response || is_response)
    }
}

/// A contract and its messages.
pub(super) struct Contract {
    path: PathBuf,
    files: Files,
    document: Document,
    pub(super) messages: Vec<Message>,
    typed: OnceCell<castile_dynamic::Contract>,
}

enum Document {
    Definitions(Box<Definitions>),
    Schema(Box<Schema>),
}

/// A request or a response of an operation.
pub(super) struct Message {
    pub(super) operation: String,
    pub(super) kind: Kind,
    pub(super) version: Version,
    pub(super) shape: Shape,
    /// The possible names of the first element in the body; `None` for any name.
    pub(super) roots: Option<Vec<ExpandedName>>,
    /// The names of the parts that are attachments.
    pub(super) attachments: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Response,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Response => "response",
        }
    }
}

impl Contract {
    /// Reads a WSDL, a bundle or a schema.
    pub(super) fn open(path: &Path, catalogs: &source::Catalogs) -> anyhow::Result<Self> {
        let mut files = catalogs.files()?;
        let (path, kind) = match path == Path::new("-") {
            true => source::standard_input(&mut files)?,
            false => (path.to_owned(), source::kind(path)?),
        };
        let shown = path.display().to_string();
        let (of, is_usable, mut diagnostics) = match kind {
            source::Kind::Schema { .. } => {
                let (schema, diagnostics) = castile_xsd::read(&path.to_string_lossy(), &files);
                let is_usable = !schema.is_truncated() && schema.global_elements().len() > 0;
                (Some(Document::Schema(Box::new(schema))), is_usable, diagnostics)
            }
            source::Kind::Contract => {
                let (definitions, diagnostics) = castile_wsdl::open(&path, &files);
                let is_usable = definitions.as_ref().is_some_and(Definitions::is_usable);
                (definitions.map(|definitions| Document::Definitions(Box::new(definitions))), is_usable, diagnostics)
            }
        };
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        match is_usable {
            true => problems::warn_of_defects(&shown, diagnostics.len()),
            false => problems::report(&shown, &diagnostics, Severity::Error)?,
        }
        let Some(of) = of else { bail!("{shown} is not a contract") };
        let messages = match &of {
            Document::Schema(_) => Vec::new(),
            Document::Definitions(definitions) => messages(definitions),
        };
        Ok(Contract { path, files, document: of, messages, typed: OnceCell::new() })
    }

    pub(super) fn schema(&self) -> &Schema {
        match &self.document {
            Document::Definitions(definitions) => &definitions.schema,
            Document::Schema(schema) => schema,
        }
    }

    /// Checks that the contract has the requested operation.
    pub(super) fn expect(&self, asked: &Expectation<'_>) -> anyhow::Result<()> {
        let Some(name) = asked.operation else { return Ok(()) };
        if self.messages.iter().any(|message| message.operation == name) {
            return Ok(());
        }
        let mut known: Vec<&str> = self.messages.iter().map(|message| &*message.operation).collect();
        known.dedup();
        bail!(castile_wsdl::unknown_operation(name, &known))
    }

    /// Returns the contract in the form that can read messages in SOAP encoding.
    pub(super) fn typed(&self) -> anyhow::Result<&castile_dynamic::Contract> {
        if let Some(typed) = self.typed.get() {
            return Ok(typed);
        }
        let mut options = castile_dynamic::Options::default();
        options.facets = true;
        let typed = castile_dynamic::Contract::open(&self.path, &self.files, &options).map_err(|diagnostics| {
            let error = diagnostics.into_iter().find(|diagnostic| diagnostic.severity == Severity::Error);
            anyhow::anyhow!("{}", error.map(|error| error.message).unwrap_or_default())
        })?;
        Ok(self.typed.get_or_init(|| typed))
    }
}

fn messages(definitions: &Definitions) -> Vec<Message> {
    let mut messages = Vec::new();
    for binding in &definitions.bindings {
        let Protocol::Soap { version, .. } = binding.protocol else { continue };
        let version = match version {
            castile_wsdl::Version::Soap11 => Version::Soap11,
            castile_wsdl::Version::Soap12 => Version::Soap12,
        };
        messages.extend(binding.operations.iter().flat_map(|operation| of_operation(definitions, operation, version)));
    }
    messages
}

fn of_operation(
    definitions: &Definitions,
    operation: &BindingOperation,
    version: Version,
) -> impl Iterator<Item = Message> {
    let message = |kind: Kind, message: &BindingMessage, shape: Shape| Message {
        operation: operation.name.clone(),
        kind,
        version,
        roots: shape.roots(definitions),
        shape,
        attachments: message.attachments.iter().map(|attachment| attachment.part.clone()).collect(),
    };
    // In an operation that the service initiates, the service sends the output and receives the input.
    let is_begun_by_service = matches!(operation.pattern, Pattern::Notification | Pattern::SolicitResponse);
    let (of_input, of_output) = match is_begun_by_service {
        false => (Kind::Request, Kind::Response),
        true => (Kind::Response, Kind::Request),
    };
    let input = operation.input.as_ref().map(|input| message(of_input, input, Shape::of_request(operation, input)));
    let output =
        operation.output.as_ref().map(|output| message(of_output, output, Shape::of_response(operation, output)));
    input.into_iter().chain(output)
}
