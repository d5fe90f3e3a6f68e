//! `castile sample`: example messages of the operations of a contract.

use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castile_dynamic::{Contract, Operation, Options, Service};
use castile_wsdl::{BindingMessage, BindingOperation, Definitions, Sampler};
use castile_xml::tree::Document;
use castile_xml::visible_lines;
use castile_xsd::{Schema, TypeId, XSD_NAMESPACE};

use crate::contracts::contract::{self, Selection};
use crate::contracts::shape::{self, Shape};
use crate::contracts::typed::{self, Occurs, Typed};
use crate::contracts::{envelope, source};
use crate::{errors, indented, outcome};

/// The limit of steps for all messages. A message that begins below it may take a million more.
const MAX_STEPS: usize = 10_000_000;

/// Print example messages of the operations of a service
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract: a WSDL 1.1 file or a bundle; `-` is standard input
    #[arg(value_name = "WSDL")]
    wsdl: PathBuf,
    /// The operation, by its name in the contract. If several operations share a name, NAME.2 is the second
    #[arg(value_name = "OPERATION", conflicts_with = "all")]
    operation: Option<String>,
    /// Print messages of all operations
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// The service to use if several have the operation
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// Print the response instead of the request
    #[arg(long)]
    response: bool,
    /// Print the faults that the contract declares
    #[arg(long, conflicts_with_all = ["response", "comments"])]
    fault: bool,
    /// Print the content of the body as JSON; for a fault, the content of its detail
    #[arg(long)]
    json: bool,
    /// Add a comment to each element with its type, how often it may occur, and whether it may be nil
    #[arg(long, conflicts_with = "json")]
    comments: bool,
    /// Write a file for each operation to this folder
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace files even if their content has changed
    #[arg(long, requires = "out")]
    force: bool,
}

/// Prints or writes the requested messages.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut options = Options::default();
    options.documents = true;
    let contract = contract::open(&arguments.wsdl, &arguments.catalogs, &options)?;
    let chosen = chosen(&contract, &arguments)?;
    let mut samples: Vec<(String, Sample)> = Vec::new();
    let mut missing = 0;
    let steps = Cell::new(0);
    let mut names = HashMap::new();
    for (number, (service, operation)) in chosen.iter().enumerate() {
        if steps.get() > MAX_STEPS {
            let rest = chosen.len() - number;
            missing += rest;
            let left = errors::counted(rest, "operation");
            let say = format!(
                "no sample of {left}, because the messages of the operations before are large: name an operation"
            );
            outcome::print_message("error", say);
            break;
        }
        let name = own_name(&mut names, service.description().name, operation.label());
        let made = match arguments.fault {
            true => faults(&contract, service, operation, &name, arguments.json, &mut names, &steps),
            false => sample(&contract, service, operation, &arguments, &steps)
                .map(|sample| sample.map(|sample| (name, sample)).into_iter().collect()),
        };
        match made {
            Ok(made) if made.is_empty() && !arguments.all => {
                let what = if arguments.fault { "declares no fault" } else { "has no response" };
                bail!("{} {what}", operation.name());
            }
            Ok(made) => samples.extend(made),
            Err(error) if arguments.all => {
                missing += 1;
                outcome::print_message("error", errors::in_full(&error));
            }
            Err(error) => return Err(error),
        }
    }
    match &arguments.out {
        Some(folder) => write(folder, &samples, arguments.force)?,
        None => print(&samples, arguments.all || arguments.fault, arguments.json)?,
    }
    match missing {
        0 => Ok(()),
        _ => Err(outcome::incomplete(anyhow::anyhow!("some messages are missing"))),
    }
}

/// Returns an unused name that is valid as a file name. Operations of two services, or of one, may share a name.
fn own_name(names: &mut Names, service: &str, operation: &str) -> String {
    let operation = file_name(operation);
    match names.contains_key(&operation) {
        false => numbered(names, operation),
        true => numbered(names, format!("{}.{operation}", file_name(service))),
    }
}

/// The names in use, each with the number for its next duplicate.
type Names = HashMap<String, usize>;

/// Returns the name, with a number appended if it is taken.
fn numbered(names: &mut Names, name: String) -> String {
    let Some(next) = names.get(&name) else {
        names.insert(name.clone(), 2);
        return name;
    };
    let mut number = *next;
    loop {
        let numbered = format!("{name}.{number}");
        number += 1;
        if !names.contains_key(&numbered) {
            names.insert(numbered.clone(), 2);
            names.insert(name, number);
            return numbered;
        }
    }
}

/// A message: an envelope, or the content of its body or of its fault's detail. It is kept as text, because a value takes many times the
/// memory.
enum Sample {
    Xml(String),
    Json(String),
}

/// Returns the requested operations with their services.
fn chosen(contract: &Contract, arguments: &Arguments) -> anyhow::Result<Vec<(Service, &'static Operation)>> {
    let wanted = Selection { service: arguments.service.as_deref(), port: None };
    if let Some(operation) = &arguments.operation {
        return Ok(vec![contract::find(contract, wanted, operation)?]);
    }
    let services = contract::services(contract, wanted)?;
    let all = services.into_iter().flat_map(|service| service.operations().iter().map(|one| (*service, one)));
    let all: Vec<_> = all.collect();
    if !arguments.all && all.len() != 1 {
        let known: Vec<&str> = all.iter().map(|(_, operation)| operation.label()).collect();
        bail!("found no operation, expected --all or one of {}", known.join(", "));
    }
    Ok(all)
}

/// Returns a message of an operation, or `None` if a response is requested and the operation has none.
fn sample(
    contract: &Contract,
    service: &Service,
    operation: &'static Operation,
    arguments: &Arguments,
    steps: &Cell<usize>,
) -> anyhow::Result<Option<Sample>> {
    let name = operation.name();
    let (definitions, bound) =
        contract.bound(service, operation).with_context(|| format!("the contract has no operation {name}"))?;
    let Some((message, shape)) = message(bound, arguments.response) else { return Ok(None) };
    let version = service.description().version;
    let what = if arguments.response { "response" } else { "request" };
    let sampler = shape::sampler(definitions).counting(steps, MAX_STEPS);
    let payload = shape.sample(sampler, version);
    let payload = payload.with_context(|| format!("no sample can be made for the {what} of {name}"))?;
    if arguments.json {
        let value = match arguments.response {
            true => operation.response_from_xml(&payload),
            false => operation.request_from_xml(&payload),
        };
        let value = value.with_context(|| format!("the sample of the {what} of {name} can't be read"))?;
        return Ok(Some(Sample::Json(indented::json(&value)?)));
    }
    let blocks = blocks(definitions, sampler, message, what, name)?;
    let mut text = castile_plan::indented(&envelope::write(version, &blocks, &payload));
    if arguments.comments {
        text = commented(&text, &definitions.schema, &shape)?;
    }
    Ok(Some(Sample::Xml(text)))
}

/// Returns the body of a sample request as a template for the user to fill in.
pub(crate) fn template(contract: &Contract, service: &Service, operation: &Operation) -> anyhow::Result<String> {
    let name = operation.name();
    let (definitions, bound) =
        contract.bound(service, operation).with_context(|| format!("the contract has no operation {name}"))?;
    let (_, shape) = message(bound, false).with_context(|| format!("{name} has no request"))?;
    let version = service.description().version;
    let payload = shape.sample(shape::sampler(definitions), version);
    let payload = payload.with_context(|| format!("no sample can be made for the request of {name}"))?;
    let text = castile_plan::indented(&envelope::write(version, &[], &payload));
    commented(&text, &definitions.schema, &shape)
}

/// Returns samples of the header blocks of a message.
fn blocks(
    definitions: &Definitions,
    sampler: Sampler<'_>,
    message: &BindingMessage,
    what: &str,
    name: &str,
) -> anyhow::Result<Vec<String>> {
    let blocks = shape::blocks(message).into_iter().map(|id| {
        let made = sampler.element(id);
        made.with_context(|| {
            let block = &definitions.schema[id].name;
            format!("no sample can be made of {block}, a header block of the {what} of {name}")
        })
    });
    blocks.collect()
}

/// Returns a message for each fault that an operation declares, with its name.
fn faults(
    contract: &Contract,
    service: &Service,
    operation: &'static Operation,
    name: &str,
    is_json: bool,
    names: &mut Names,
    steps: &Cell<usize>,
) -> anyhow::Result<Vec<(String, Sample)>> {
    let (definitions, bound) =
        contract.bound(service, operation).with_context(|| format!("the contract has no operation {name}"))?;
    let version = service.description().version;
    let samples = shape::faults(definitions, bound).map(|(fault, detail)| {
        let detail = detail.sample(shape::sampler(definitions).counting(steps, MAX_STEPS), version);
        let detail = detail.with_context(|| format!("no sample can be made of {fault}, a fault of {name}"))?;
        let sample = match is_json {
            true => Sample::Json(indented::json(&operation.fault_detail(&detail))?),
            false => Sample::Xml(castile_plan::indented(&envelope::of_fault(version, &detail))),
        };
        Ok((numbered(names, format!("{name}.{}", file_name(fault))), sample))
    });
    samples.collect()
}

/// Returns a message of an operation and the shape of its content.
pub(crate) fn message(bound: &BindingOperation, is_response: bool) -> Option<(&BindingMessage, Shape)> {
    let message = if is_response { &bound.output } else { &bound.input };
    let message = message.as_ref()?;
    let shape = match is_response {
        true => Shape::of_response(bound, message),
        false => Shape::of_request(bound, message),
    };
    Some((message, shape))
}

/// Adds a comment about its type to each element of an envelope, at the end of the line where the element begins.
fn commented(text: &str, schema: &Schema, shape: &Shape) -> anyhow::Result<String> {
    let document = Document::parse(text)?;
    let mut comments: Vec<(usize, String)> = Vec::new();
    typed::walk(schema, shape, &document, |Typed { element, type_id, occurs, is_nillable, others, .. }| {
        let values = type_id.and_then(|id| listed(schema, id));
        // `--` is not allowed in a comment.
        let others = Some(others.join(" or ")).filter(|others| !others.is_empty() && !others.contains("--"));
        let others = others.map(|others| format!("or {others}"));
        let nillable = is_nillable.then(|| "nillable".to_owned());
        let parts =
            [type_id.and_then(|id| type_name(schema, id)), values, occurs.and_then(occurrence), nillable, others];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            let offset = element.offset();
            let end = text[offset..].find('\n').map_or(text.len(), |end| offset + end);
            comments.push((end, format!(" <!-- {} -->", parts.join(", "))));
        }
    })?;
    comments.sort_by_key(|(end, _)| *end);
    // Elements in mixed content may share a line; only the first one gets a comment.
    comments.dedup_by_key(|(end, _)| *end);
    let (mut out, mut copied) = (String::with_capacity(text.len()), 0);
    for (end, comment) in comments {
        out.push_str(&text[copied..end]);
        out.push_str(&comment);
        copied = end;
    }
    out.push_str(&text[copied..]);
    Ok(out)
}

/// Returns the name of a type. An anonymous type is described by its named base, unless that is `xs:anyType`.
fn type_name(schema: &Schema, id: TypeId) -> Option<String> {
    let (name, kind) = match schema[id].name() {
        Some(name) => (name, ""),
        None => (schema.bases(id).find_map(|base| schema[base].name())?, "a kind of "),
    };
    let is_built_in = name.namespace() == XSD_NAMESPACE;
    // `--` is not allowed in a comment.
    if name.local().contains("--") || is_built_in && name.local() == "anyType" && !kind.is_empty() {
        return None;
    }
    Some(format!("{kind}{}{}", if is_built_in { "xs:" } else { "" }, name.local()))
}

/// Returns the values of an enumeration, if they are few and short.
fn listed(schema: &Schema, id: TypeId) -> Option<String> {
    const MAX_VALUES: usize = 8;
    const MAX_LENGTH: usize = 100;
    let values = schema.enumeration(id);
    if values.is_empty() || values.len() > MAX_VALUES {
        return None;
    }
    let listed_values: Vec<&str> = values.iter().map(|facet| facet.value.as_str()).collect();
    let listed_values = listed_values.join(" | ");
    let fits_in_a_comment =
        listed_values.len() <= MAX_LENGTH && !listed_values.contains("--") && !listed_values.contains(char::is_control);
    fits_in_a_comment.then(|| format!("one of {listed_values}"))
}

/// Returns how often an element may occur, or `None` for exactly once.
fn occurrence(occurs: Occurs) -> Option<String> {
    Some(match occurs {
        (1, Some(1)) => return None,
        (0, Some(1)) => "optional".to_owned(),
        (0, None) => "any number".to_owned(),
        (least, None) => format!("{least} or more"),
        (least, Some(most)) => format!("{least} to {most}"),
    })
}

fn print(samples: &[(String, Sample)], are_named: bool, is_json: bool) -> anyhow::Result<()> {
    if samples.is_empty() && is_json {
        out!("{{}}");
    }
    for (number, (name, sample)) in (1..).zip(samples) {
        match sample {
            Sample::Xml(text) => {
                if are_named {
                    let before = if number == 1 { "" } else { "\n" };
                    out!("{before}<!-- {name} -->");
                }
                out!("{}", visible_lines(text));
            }
            // All messages together form one JSON document.
            Sample::Json(text) if are_named => {
                let (before, behind) =
                    (if number == 1 { "{\n" } else { "" }, if number == samples.len() { "\n}" } else { "," });
                let member = format!("{}: {}", serde_json::to_string(name)?, text.replace('\n', "\n  "));
                out!("{before}  {}{behind}", visible_lines(&member));
            }
            Sample::Json(text) => out!("{}", visible_lines(text)),
        }
    }
    Ok(())
}

/// Writes a file for each sample. A file with other content is replaced only if `replaces` is set.
fn write(folder: &Path, samples: &[(String, Sample)], replaces: bool) -> anyhow::Result<()> {
    outcome::expect_folder(folder)?;
    let files = samples.iter().map(|(name, sample)| {
        Ok(match sample {
            Sample::Xml(text) => (folder.join(format!("{name}.xml")), format!("{text}\n")),
            Sample::Json(text) => (folder.join(format!("{name}.json")), format!("{text}\n")),
        })
    });
    let files: Vec<(PathBuf, String)> = files.collect::<anyhow::Result<_>>()?;
    for (path, text) in &files {
        let is_other = || std::fs::read(path).map_or_else(|_| path.exists(), |found| found != text.as_bytes());
        if !replaces && is_other() {
            bail!("{} exists with different content: --force overwrites it", path.display());
        }
    }
    outcome::make_folder(folder)?;
    for (path, text) in files {
        outcome::list(&[outcome::write(&path, &text).map_err(outcome::incomplete)?]);
    }
    Ok(())
}

/// Converts a name of the contract to a file name that can't lead to another folder.
pub(crate) fn file_name(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    match plain.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_names_of_their_own() {
        let mut names = Names::new();
        let mut own = |service: &str, operation: &str| own_name(&mut names, service, operation);
        let all = [own("S", "A"), own("S", "A"), own("S", "A"), own("T", "A"), own("S", "A.B")];
        assert_eq!(all, ["A", "S.A", "S.A.2", "T.A", "A.B"]);
        // Names may contain dots: `A.B.C` may be a fault of A or of A.B.
        let faults = ["A.B.C", "A.B.C", "A.B.C"].map(|name| numbered(&mut names, name.to_owned()));
        assert_eq!(faults, ["A.B.C", "A.B.C.2", "A.B.C.3"]);
    }
}
