//! `castile gen`: writes the source that a build script would generate from a contract to files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castile_codegen::{Diagnostic, FaultTypes, Files, Generated, Options, Severity};
use castile_xml::visible;
use sha2::{Digest, Sha256};

use crate::contracts::{problems, source};
use crate::{errors, outcome, output};

/// Generate Rust code from a contract: what the build script generates, as files to check in
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The contract: a WSDL 1.1 file, a bundle, or an XML Schema, whose elements become documents; `-` is standard input
    #[arg(value_name = "WSDL")]
    wsdl: PathBuf,
    /// Where to write the source: a folder, for a file named after the contract, or a file that ends in `.rs`. The contract is written
    /// beside it, because the server serves it. With `-`, only the source is written, to standard output
    #[arg(short, long, value_name = "DIR|FILE")]
    out: PathBuf,
    /// Generate only this operation and the types it uses; may be repeated
    #[arg(long = "operation", value_name = "NAME")]
    operations: Vec<String>,
    /// Generate the operations of this port type, which has no SOAP binding, as SOAP 1.1 over HTTP; may be repeated
    #[arg(long = "port-type", value_name = "NAME")]
    port_types: Vec<String>,
    /// Also generate this type and all types derived from it, even if no operation uses it; may be repeated. Such types can be values of
    /// xs:anyType
    #[arg(long = "type", value_name = "NAME")]
    types: Vec<String>,
    /// Which faults get types: those that operations declare and all types derived from them, only the declared ones, or none. Other faults
    /// are XML
    #[arg(long, value_enum, default_value_t = Faults::All)]
    faults: Faults,
    /// Fail if the contract has any error, if an operation can't be generated, or if there is nothing to generate. By default, the parts
    /// with errors and everything that depends on them are left out
    #[arg(long)]
    strict: bool,
    /// Generate the client [default: client and server]
    #[arg(long)]
    client: bool,
    /// Generate the server, with the trait to implement [default: client and server]
    #[arg(long)]
    server: bool,
    /// Check values against the facets of their types when messages are read: lengths, patterns, bounds, enumerations. Reading such a value
    /// takes up to 4 times as long
    #[arg(long)]
    facets: bool,
    /// Generate code for lenient services and clients. They skip unknown elements and text, and accept elements out of order or in another
    /// namespace. Without this option such messages are rejected, and there is less code to compile
    #[arg(long)]
    lenient: bool,
    /// Write the data for a web page about the services: operations, types, example messages. Servers with the feature `page` show it
    #[arg(long)]
    page: bool,
    /// Represent the request and the response of this operation as raw XML instead of typed values; may be repeated
    #[arg(long, value_name = "NAME")]
    raw: Vec<String>,
    /// Make this repeated element, given as TYPE/ELEMENT, either a list or a stream that produces values while the message is sent; may be
    /// repeated
    #[arg(long = "stream", value_name = "TYPE/ELEMENT")]
    streams: Vec<String>,
    /// Make binary values with a declared media type (xmime:expectedContentTypes) references to attachments, which are streamed when read
    /// and sent
    #[arg(long)]
    stream_binaries: bool,
    /// Also derive this trait for every type, such as serde::Serialize; Eq and Hash only where all parts of a type have them. May be
    /// repeated
    #[arg(long = "derive", value_name = "PATH")]
    derives: Vec<String>,
    /// Add this attribute to every type, written without #[ and ]; may be repeated
    #[arg(long = "attribute", value_name = "ATTRIBUTE")]
    attributes: Vec<String>,
    /// Also derive this trait for one type: Order=PartialOrd. May be repeated
    #[arg(long = "derive-for", value_name = "TYPE=PATH", value_parser = split_at_first_equals)]
    own_derives: Vec<(String, String)>,
    /// Add this attribute to one type: 'Order=doc(hidden)'. May be repeated
    #[arg(long = "attribute-for", value_name = "TYPE=ATTRIBUTE", value_parser = split_at_first_equals)]
    own_attributes: Vec<(String, String)>,
    /// Rename a type, or one of its elements, attributes or values: Order=PurchaseOrder, Order/lineItem=line. May be repeated
    #[arg(long = "rename", value_name = "TYPE[/MEMBER]=NAME", value_parser = split_at_last_equals)]
    renames: Vec<(String, String)>,
    /// Use a Rust type for a simple type: xs:decimal=rust_decimal::Decimal. May be repeated
    #[arg(long = "map", value_name = "TYPE=PATH", value_parser = split_at_last_equals)]
    maps: Vec<(String, String)>,
    /// Set the module name of a namespace; may be repeated
    #[arg(long = "module", value_name = "NAMESPACE=NAME", value_parser = split_at_last_equals)]
    modules: Vec<(String, String)>,
    #[command(flatten)]
    catalogs: source::Catalogs,
    /// Show notes as well as errors and warnings: what was skipped without harm
    #[arg(long)]
    notes: bool,
    /// Show only errors
    #[arg(short, long, conflicts_with = "notes")]
    quiet: bool,
}

/// Splits at the last `=`, because namespaces may contain `=`.
fn split_at_last_equals(text: &str) -> Result<(String, String), String> {
    let parts = text.rsplit_once('=').map(|(of, name)| (of.to_owned(), name.to_owned()));
    parts.ok_or_else(|| "a `=` was expected".to_owned())
}

/// Splits at the first `=` after a namespace, because attributes may contain `=`.
fn split_at_first_equals(text: &str) -> Result<(String, String), String> {
    let local = text.strip_prefix('{').and_then(|rest| rest.find('}')).map_or(0, |end| end + 2);
    let (of, said) = text[local..].split_once('=').ok_or_else(|| "a `=` was expected".to_owned())?;
    Ok((format!("{}{of}", &text[..local]), said.to_owned()))
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Faults {
    None,
    Declared,
    All,
}

/// Writes the source unless the contract has an error.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<()> {
    let (wsdl, files, _) = arguments.catalogs.contract_or_schema(&arguments.wsdl)?;
    let mut options = Options::default();
    if arguments.client || arguments.server {
        (options.client, options.server) = (arguments.client, arguments.server);
    }
    options.operations = arguments.operations;
    options.port_types = arguments.port_types;
    options.strict = arguments.strict;
    options.types = arguments.types;
    options.faults = match arguments.faults {
        Faults::None => FaultTypes::None,
        Faults::Declared => FaultTypes::Declared,
        Faults::All => FaultTypes::All,
    };
    options.facets = arguments.facets;
    options.lenient = arguments.lenient;
    options.page = arguments.page;
    options.raw = arguments.raw;
    options.streams = arguments.streams;
    options.stream_binaries = arguments.stream_binaries;
    options.derives = arguments.derives;
    options.attributes = arguments.attributes;
    for (of, name) in arguments.renames {
        // A namespace may contain slashes.
        let local = of.rfind('}').map_or(0, |end| end + 1);
        match of[local..].find('/') {
            Some(slash) => {
                let (of, member) = of.split_at(local + slash);
                options.of_type(of).members.insert(member[1..].to_owned(), name);
            }
            None => options.of_type(of).name = Some(name),
        }
    }
    for (of, derive) in arguments.own_derives {
        options.of_type(of).derives.push(derive);
    }
    for (of, attribute) in arguments.own_attributes {
        options.of_type(of).attributes.push(attribute);
    }
    for (of, rust) in arguments.maps {
        options.of_type(of).rust = Some(rust);
    }
    options.modules = arguments.modules.into_iter().collect();
    let shown = wsdl.display().to_string();
    let (generated, mut diagnostics) = match castile_codegen::generate_from(&wsdl, &files, &options) {
        Ok(generated) => {
            let diagnostics = generated.diagnostics.clone();
            (Some(generated), diagnostics)
        }
        Err(mut diagnostics) => {
            propose_types(&mut diagnostics, &wsdl, &files, &options.types);
            (None, diagnostics)
        }
    };
    if arguments.quiet {
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
    }
    problems::report(&shown, &diagnostics, problems::min_severity(arguments.notes))?;
    // If nothing was generated, the diagnostics have an error, which was returned above.
    let Some(generated) = generated else { bail!("{shown} can't be generated") };
    debug_assert!(diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error));
    if arguments.out.as_os_str() == "-" {
        output::text(&generated.source);
    } else {
        let written = write(&arguments.out, &generated)?;
        for (file, lines) in written.into_iter().filter(|_| !arguments.quiet) {
            let lines = lines.map(|lines| format!("  {}", errors::counted(lines, "line"))).unwrap_or_default();
            out!("{}{lines}", visible(&file.display().to_string()));
        }
        if let Some(warning) = file_name_warning(&arguments.out).filter(|_| !arguments.quiet) {
            let style = errors::WARNING;
            note!("{style}warning{style:#}: {}", visible(&warning));
        }
    }
    if let Some(summary) = generated.summary.filter(|_| !arguments.quiet) {
        let style = errors::WARNING;
        note!("{style}warning{style:#}: {}", visible(&summary));
    }
    Ok(())
}

/// Returns a warning if the file name isn't a valid module name, with the line that includes the file.
fn file_name_warning(out: &Path) -> Option<String> {
    let stem = out.file_stem().filter(|_| is_source(out))?.to_str()?;
    let is_name = !stem.starts_with(|c: char| c.is_numeric()) && stem.chars().all(|c| c.is_alphanumeric() || c == '_');
    let file = out.file_name()?.to_str()?;
    let module = castile_codegen::module_name(stem);
    (!is_name)
        .then(|| format!("{stem} is not a valid module name: include the file with `#[path = {file:?}] mod {module};`"))
}

/// Returns whether the path is a source file rather than a folder.
fn is_source(out: &Path) -> bool {
    out.extension().is_some_and(|extension| extension == "rs") && !out.is_dir()
}

/// The maximum number of proposed names.
const MAX_PROPOSED: usize = 5;

/// Adds similar names to each diagnostic about an unknown type, and the command that lists all types.
fn propose_types(diagnostics: &mut [Diagnostic], wsdl: &Path, files: &Files, asked: &[String]) {
    let is_of =
        |diagnostic: &Diagnostic, name: &str| diagnostic.message.starts_with(&format!("there is no type {name},"));
    if !asked.iter().any(|name| diagnostics.iter().any(|diagnostic| is_of(diagnostic, name))) {
        return;
    }
    // The contract is read again only in this case.
    let (Some(definitions), _) = castile_wsdl::open(wsdl, files) else { return };
    let schema = &definitions.schema;
    let known: Vec<_> = schema.global_types().filter_map(|id| schema[id].name()).collect();
    let quoted = output::shell_quoted(&wsdl.display().to_string());
    let all = format!("`castile describe {quoted} --all` shows all {}", errors::counted(known.len(), "type"));
    for name in asked {
        let names: Vec<String> = match name.starts_with('{') {
            true => known.iter().map(ToString::to_string).collect(),
            false => known.iter().map(|known| known.local().to_owned()).collect(),
        };
        let near = castile_xsd::similar(name, names.iter().map(|name| &**name), MAX_PROPOSED);
        let note = match &*near {
            [] => all.clone(),
            [one] => format!("did you mean {one}? {all}"),
            several => format!("did you mean one of {}? {all}", several.join(", ")),
        };
        for diagnostic in diagnostics.iter_mut().filter(|diagnostic| is_of(diagnostic, name)) {
            diagnostic.note = Some(note.clone());
        }
    }
}

/// Writes the source, and the documents of the contract that it includes. Returns the written files, with the number of lines for the
/// source.
fn write(out: &Path, generated: &Generated) -> anyhow::Result<Vec<(PathBuf, Option<usize>)>> {
    let source = if is_source(out) { out.to_owned() } else { out.join(format!("{}.rs", generated.module)) };
    let folder = source.parent().unwrap_or(Path::new(""));
    outcome::expect_folder(folder)?;
    let generated = &rename_contract_copy(generated.clone(), folder);

    // An empty file may be replaced.
    let known = std::fs::read_to_string(&source).ok().filter(|known| !known.is_empty());
    let is_foreign = |path: &Path| {
        format!("{} exists and was not generated by Castile: remove it, or choose another name", path.display())
    };
    if known.as_ref().is_some_and(|known| !known.starts_with("// @generated by castile")) {
        bail!(is_foreign(&source));
    }
    // `a-b.wsdl` and `a_b.wsdl` have the same module name.
    let (mark, _) = generated.source.split_once('\n').unwrap_or((&generated.source, ""));
    if let Some(other) = known.as_ref().and_then(|known| known.lines().next()).filter(|other| *other != mark) {
        let from =
            |mark: &str| mark.split(" from ").nth(1).unwrap_or(mark).trim_end_matches(". Do not edit.").to_owned();
        bail!(
            "{} was generated from {}, and the code generated from {} would overwrite it: remove it, or choose \
             another name",
            source.display(),
            visible(&from(other)),
            visible(&from(mark))
        );
    }
    let header: Vec<&str> = known.iter().flat_map(|known| known.lines().take_while(|line| !line.is_empty())).collect();
    let read: HashSet<PathBuf> =
        generated.files.iter().filter_map(|file| Path::new(file).canonicalize().ok()).collect();
    let mut documents = Vec::new();
    for (file, text) in included(generated) {
        let path = folder.join(file);
        let there = std::fs::read(&path).ok();
        if there.as_deref() == Some(text.as_bytes()) {
            continue;
        }
        if path.canonicalize().is_ok_and(|path| read.contains(&path)) {
            bail!("{} is an input, and a copy would overwrite it: choose another folder", path.display());
        }
        let is_as_recorded =
            there.is_some_and(|there| there.is_empty() || header.contains(&record(file, &there).as_str()));
        if path.exists() && !is_as_recorded {
            let was_recorded = header.iter().any(|line| line.starts_with(&record_of(file)));
            if was_recorded {
                bail!(
                    "{} was changed since it was generated, and would be overwritten: remove it, or choose another \
                     folder",
                    path.display()
                );
            }
            bail!(is_foreign(&path));
        }
        documents.push((path, text));
    }
    if !folder.as_os_str().is_empty() {
        outcome::make_folder(folder)?;
    }
    let put = |path: &Path, text: &str| {
        castile_report::write_whole(path, text)
            .with_context(|| format!("can't write {}", path.display()))
            .map_err(outcome::incomplete)
    };
    let text = text(generated);
    let mut written = vec![(source.clone(), Some(text.lines().count()))];
    // The source is written after the documents, so its records of them are true even if not all can be written.
    for (path, text) in documents {
        put(&path, text)?;
        written.push((path, None));
    }
    put(&source, &text)?;
    Ok(written)
}

/// Renames the served copy of the contract if it would overwrite the contract that was read with different text.
fn rename_contract_copy(mut generated: Generated, folder: &Path) -> Generated {
    let Some(main) = generated.documents.first_mut() else { return generated };
    let path = folder.join(&main.file);
    let is_read = generated.files.iter().any(|file| is_same(Path::new(file), &path));
    if is_read && std::fs::read(&path).is_ok_and(|there| there != main.text.as_bytes()) {
        let file = format!("{}.served.wsdl", main.file.trim_end_matches(".wsdl"));
        generated.source = generated.source.replace(&include_of(&main.file), &include_of(&file));
        main.file = file;
    }
    generated
}

/// Returns the text of the source file, with records of the documents that are written with it.
pub(crate) fn text(generated: &Generated) -> String {
    let (mark, code) = generated.source.split_once('\n').unwrap_or((&generated.source, ""));
    let records = included(generated).map(|(file, text)| record(file, text.as_bytes()) + "\n");
    format!("{mark}\n{}{code}", records.collect::<String>())
}

/// Returns the names and texts of the files that the source includes: documents, and the data of a page.
fn included(generated: &Generated) -> impl Iterator<Item = (&str, &str)> {
    let is_included = |(file, _): &(&str, &str)| generated.source.contains(&include_of(file));
    let documents = generated.documents.iter().map(|document| (&*document.file, &*document.text));
    let page = generated.page.iter().map(|page| (&*page.file, &*page.text));
    documents.chain(page).filter(is_included)
}

/// Returns the expression that includes a file.
fn include_of(file: &str) -> String {
    format!("include_str!({file:?})")
}

/// Returns the line in the source that records the hash of a document. Documents carry no mark of their own, and a user may edit one. A
/// document is replaced only if its hash matches.
fn record(file: &str, text: &[u8]) -> String {
    let hex: String = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
    record_of(file) + &hex
}

fn record_of(file: &str) -> String {
    format!("// SHA-256 of {}: ", visible(file))
}

/// Returns whether two paths lead to the same existing file.
pub(crate) fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}
