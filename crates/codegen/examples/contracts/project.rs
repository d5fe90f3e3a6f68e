//! The cargo project of a family, with messages and schemas beside it.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use castile_codegen::{Files, Generated, Options, Severity, generate_from};
use castile_wsdl::Definitions;
use castile_xsd::encoded::Encoding;
use castile_xsd::sample::Samples;
use castile_xsd::{Request, Resolver};
use serde_json::{Value, json};

use crate::cases::{Case, Kind, cases};
use crate::encoded::Encoded;
use crate::groups::{Group, elements};
use crate::{Error, contracts, encoded, given};

/// Writes the modules of a group, its messages and its schemas, and says what there is.
pub(crate) fn write_group(
    group: &Group,
    files: &Files,
    out: &Path,
    most: usize,
    options: &Options,
) -> Result<Value, Error> {
    let begun = Instant::now();
    let generated = generate(&group.path, files, out, &group.name, options)?;
    let took = begun.elapsed();
    let recorder = Recorder { files, references: RefCell::default() };
    let read =
        |path: &Path| castile_wsdl::read(&path.to_string_lossy(), &recorder).0.ok_or("a group is not a contract");
    let mut definitions = read(&group.path)?;

    let mut found = Vec::new();
    if group.has_operations {
        let encoded = Encoded::of(&definitions);
        found = cases(&generated.source, |fault| encoded.has_fault(fault))?;
        if let Some(path) = group.write_wrappers(&definitions)? {
            definitions = read(&path)?;
        }
    } else if let Some(path) = group.write_exchange(&definitions)? {
        definitions = read(&path)?;
        let source = generate(&path, files, out, &format!("{}_exchange", group.name), options)?.source;
        found = cases(&source, |_| false)?;
    }
    let messages = write_cases(group, &found, &definitions, out, most)?;
    Ok(json!({
        "name": group.name,
        "milliseconds": took.as_secs_f64() * 1000.0,
        "types": contracts::types(&generated.source),
        "lines": generated.source.lines().count(),
        "operations": contracts::operations(&generated.source),
        "cases": messages,
        "documents": write_documents(group, &definitions, out)?,
        "references": recorder.references.into_inner(),
    }))
}

fn generate(path: &Path, files: &Files, out: &Path, name: &str, options: &Options) -> Result<Generated, Error> {
    let generated = generate_from(path, files, options).map_err(|diagnostics| {
        let errors = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        let texts: Vec<String> = errors.map(ToString::to_string).collect();
        texts.join("\n")
    })?;
    std::fs::write(out.join(format!("src/{name}.rs")), &generated.source)?;
    // The group itself is there.
    for document in generated.documents.iter().skip(1) {
        std::fs::write(out.join("src").join(&document.file), &document.text)?;
    }
    // What the planner reckons is at least what the compiler makes of it.
    let checks =
        generated.sizes.iter().map(|(name, size)| format!("const _: () = assert!(size_of::<{name}>() <= {size});\n"));
    std::fs::write(out.join(format!("src/{name}_sizes.rs")), checks.collect::<String>())?;
    Ok(generated)
}

/// Writes the calls that read and write messages, and the messages: those of one case into one file, a zero byte behind
/// each.
fn write_cases(
    group: &Group,
    cases: &[Case],
    definitions: &Definitions,
    out: &Path,
    most: usize,
) -> Result<Vec<Value>, Error> {
    let (mut calls, mut costs, mut facts) = (String::new(), String::new(), Vec::new());
    let (elements, in_encoding) = (elements(definitions), Encoded::of(definitions));
    let given = given::messages(group)?;
    std::fs::create_dir_all(out.join("samples"))?;
    for (number, case) in cases.iter().enumerate() {
        let Case { operation, element, kind, .. } = case;
        let id = format!("{}-{number}", group.name);
        let (mut messages, mut count, mut left_out, mut problem) = (String::new(), 0, 0, None);
        let made = match kind.is_encoded() {
            true => {
                let time =
                    cases[..number].iter().filter(|other| other.element == *element && other.kind == *kind).count();
                in_encoding.messages(&definitions.schema, element, time, *kind == Kind::EncodedFault, most)
            }
            false => elements.get(element).map(|&id| Samples::new(&definitions.schema, id).take(most).collect()),
        };
        if made.is_none() {
            problem = Some("the element is not declared".to_owned());
        }
        for sample in made.into_iter().flatten() {
            match sample {
                Ok(sample) if !kind.is_encoded() && !is_message(&sample, &element.1) => left_out += 1,
                Ok(sample) => {
                    messages += &sample;
                    messages.push('\0');
                    count += 1;
                }
                Err(error) => problem = Some(error.to_string()),
            }
        }
        for message in given.get(element).into_iter().flatten() {
            match kind.is_encoded() {
                true => messages += &encoded::envelope(Encoding::Soap11, message),
                false => messages += message,
            }
            messages.push('\0');
            count += 1;
        }
        std::fs::write(out.join("samples").join(&id), messages)?;
        let run = case.round_trip();
        writeln!(calls, "    crate::round_trip::Case {{ id: {id:?}, run: |document| {run} }},")?;
        if let Some(cost) = case.cost() {
            writeln!(costs, "    crate::cost::Case {{ id: {id:?}, run: |message, writes, times| {cost} }},")?;
        }
        facts.push(json!({
            "id": id, "operation": operation, "namespace": element.0, "element": element.1, "samples": count,
            "left_out": left_out, "problem": problem, "encoded": kind.is_encoded(),
        }));
    }
    for (file, kind, calls) in [("cases", "round_trip", calls), ("costs", "cost", costs)] {
        let source = format!(
            "/// What reads and writes the messages of this module.\npub const {}: &[crate::{kind}::Case] = &[\n{calls}];\n",
            file.to_uppercase()
        );
        std::fs::write(out.join(format!("src/{}_{file}.rs", group.name)), source)?;
    }
    Ok(facts)
}

/// Whether a sample is a message that an operation takes: neither nil nor another element in place of its own.
fn is_message(sample: &str, local: &str) -> bool {
    // Samples are written without another `>` in a start tag.
    let start = sample.split('>').next().unwrap_or_default();
    let name = start.trim_start_matches('<').split([' ', '/']).next().unwrap_or_default();
    name.rsplit(':').next() == Some(local) && !start.contains(":nil=\"true\"")
}

/// Writes the documents of a contract in UTF-8, for a validator.
fn write_documents(group: &Group, definitions: &Definitions, out: &Path) -> Result<Vec<Value>, Error> {
    let folder = out.join("documents");
    std::fs::create_dir_all(&folder)?;
    let mut facts = Vec::new();
    for (number, (name, text)) in definitions.sources.names().zip(definitions.sources.texts()).enumerate() {
        let file = format!("{}-{number}.xml", group.name);
        std::fs::write(folder.join(&file), text)?;
        facts.push(json!({ "name": name, "file": file }));
    }
    Ok(facts)
}

/// Writes what holds the modules together.
pub(crate) fn write(groups: &[Group], castile: &Path, out: &Path) -> Result<(), Error> {
    let [soap, xml] = ["soap", "xml"].map(|name| castile.with_file_name(name));
    let manifest = format!(
        "[package]\nname = \"contracts\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[features]\nround-trips = []\ncosts = []\n\n\
         [[bin]]\nname = \"round_trips\"\npath = \"src/main.rs\"\nrequired-features = [\"round-trips\"]\n\n\
         [[bin]]\nname = \"costs\"\npath = \"src/costs.rs\"\nrequired-features = [\"costs\"]\n\n\
         [dependencies]\ncastile = {{ path = {castile:?} }}\n\
         castile-soap = {{ path = {soap:?} }}\ncastile-xml = {{ path = {xml:?} }}\n\n\
         [profile.dev]\ndebug = false\nincremental = false\n\n[workspace]\n"
    );
    std::fs::write(out.join("Cargo.toml"), manifest)?;
    let mut library = "//! What was generated from a family of contracts.\n\n#[cfg(feature = \"round-trips\")]\npub mod round_trip;\n\
                       #[cfg(feature = \"costs\")]\npub mod cost;\n"
        .to_owned();
    let mut names = Vec::new();
    for group in groups {
        let name = &group.name;
        let module = if group.has_operations { name.clone() } else { format!("{name}_exchange") };
        let cases = format!(
            "    #[cfg(feature = \"round-trips\")]\n    include!(\"{name}_cases.rs\");\n    \
             #[cfg(feature = \"round-trips\")]\n    include!(\"{module}_sizes.rs\");\n    \
             #[cfg(feature = \"costs\")]\n    include!(\"{name}_costs.rs\");\n"
        );
        if group.has_operations {
            names.push(module);
            writeln!(library, "pub mod {name} {{\n    include!(\"{name}.rs\");\n{cases}}}")?;
        } else {
            writeln!(library, "pub mod {name} {{\n    include!(\"{name}.rs\");\n}}")?;
            if out.join(format!("src/{module}.rs")).is_file() {
                let gate = "#[cfg(any(feature = \"round-trips\", feature = \"costs\"))]";
                writeln!(library, "{gate}\npub mod {module} {{\n    include!(\"{module}.rs\");\n{cases}}}")?;
                names.push(module);
            }
        }
    }
    std::fs::write(out.join("src/lib.rs"), library)?;
    std::fs::write(out.join("src/round_trip.rs"), include_str!("round_trip.rs.txt"))?;
    std::fs::write(out.join("src/cost.rs"), include_str!("cost.rs.txt"))?;
    for (file, cases, kind) in [("main", "CASES", "round_trip"), ("costs", "COSTS", "cost")] {
        let all: Vec<String> = names.iter().map(|name| format!("contracts::{name}::{cases}")).collect();
        let all = all.join(", ");
        let main = format!("fn main() -> std::io::Result<()> {{\n    contracts::{kind}::run(&[{all}])\n}}\n");
        std::fs::write(out.join(format!("src/{file}.rs")), main)?;
    }
    Ok(())
}

/// Files that remember what was asked for.
struct Recorder<'a> {
    files: &'a Files,
    references: RefCell<HashSet<Reference>>,
}

/// The document that asks, the location and the namespace that it asks for, and the document that was found.
type Reference = (String, Option<String>, String, Option<String>);

impl Resolver for Recorder<'_> {
    fn locate(&self, request: &Request<'_>) -> Option<String> {
        let found = self.files.locate(request);
        self.references.borrow_mut().insert((
            request.base.to_owned(),
            request.location.map(str::to_owned),
            request.namespace.to_owned(),
            found.clone(),
        ));
        found
    }

    fn read(&self, uri: &str) -> Result<Vec<u8>, String> {
        self.files.read(uri)
    }
}
