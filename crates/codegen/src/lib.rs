//! The service model to Rust source.
//!
//! A build script calls [`compile`], and the crate takes in what came out with `castile::include_contract!`:
//!
//! ```no_run
//! // build.rs
//! castile_codegen::compile("contracts/orders.wsdl");
//! ```
//!
//! What is written is types, tables and thin glue; the decisions are in `castile`. Only what the operations reach is
//! written. [`generate`] gives the source without touching files.

mod cost;
mod documents;
mod names;
mod options;
mod page;
mod plan;
mod planner;
mod render;
mod tags;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use castile_wsdl::Definitions;
pub use castile_wsdl::{Diagnostic, Severity};
use castile_xml::visible;
pub use castile_xsd::{Catalog, Files};
pub use cost::Cost;
pub use documents::Document;
pub use options::TypeOptions;
use plan::Plan;
use render::Beside;

/// What is generated.
///
/// A file beside a contract may say the same: `orders.castile.toml` beside `orders.wsdl`, with these fields as keys and a table
/// `type` for those of [`TypeOptions`].
///
/// ```toml
/// facets = true
/// derives = ["serde::Serialize", "Eq", "Hash"]
///
/// [modules]
/// "http://www.onvif.org/ver10/schema" = "onvif"
///
/// [type.Order]
/// name = "PurchaseOrder"
/// members = { lineItem = "line" }
///
/// [type."xs:decimal"]
/// rust = "rust_decimal::Decimal"
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The trait to be implemented, and the server.
    pub server: bool,
    /// The client.
    pub client: bool,
    /// The operations, by their names in the contract, with the types that they reach. None stands for all.
    pub operations: Vec<String>,
    /// The port types, by their names in the contract, whose operations are generated though no binding says how they are
    /// spoken: as SOAP 1.1 over HTTP, with literal messages and without an action. One that has a binding of SOAP is
    /// generated as that says.
    pub port_types: Vec<String>,
    /// Types that are generated though no operation names them, by their local names or as `{namespace}local`, each with all
    /// types that are derived from it: those that come where the contract has `xs:anyType`.
    pub types: Vec<String>,
    /// Which faults have types.
    pub faults: FaultTypes,
    /// Whether any error of the contract refuses all of it. Else what an error is in is left out, with all that depends on
    /// it, and the error is a warning; it stays an error where nothing else is left, or where what is left out was asked for. A contract of which nothing is
    /// generated is refused, too.
    pub strict: bool,
    /// Whether values are held against the facets of their types while they are read, and values that an enumeration
    /// doesn't list are refused. Structure and lexical spaces are always checked.
    pub facets: bool,
    /// Whether a service or a client that is lenient passes over elements and text which a type doesn't have, and takes elements
    /// out of order or of another namespace. The tables for this take time to compile. Without them such a message is refused.
    pub lenient: bool,
    /// Whether a server has a page for people: what that shows is written into a file beside the source. The feature `page` of
    /// `castile` serves it.
    pub page: bool,
    /// The operations, by their names in the contract, whose requests and responses are `castile::Raw`: XML as it came and
    /// as it is to be sent, of which nothing is read into values. Types that only they reach are left out.
    pub raw: Vec<String>,
    /// The repeated elements, as `TYPE/ELEMENT` by their names in the contract, whose values are `castile::Items`: all of them,
    /// or a stream that makes them while the message is sent.
    pub streams: Vec<String>,
    /// Whether `xs:base64Binary` that says what media types it has (`xmime:expectedContentTypes`) is a
    /// `castile::datatypes::StreamedBinary`: a reference to an attachment, which is read and sent as it comes.
    pub stream_binaries: bool,
    /// What every type derives beside `Clone`, `Debug` and `PartialEq`, as paths: `serde::Serialize`. `Eq` and `Hash` are derived
    /// where all that is in a type has them.
    pub derives: Vec<String>,
    /// Attributes that every type has, without `#[` and `]`: `serde(rename_all = "camelCase")`.
    pub attributes: Vec<String>,
    /// What is said of single types, by names as for [`of_type`](Self::of_type).
    pub of_types: BTreeMap<String, TypeOptions>,
    /// What the modules of namespaces other than the contract's own are called.
    pub modules: BTreeMap<String, String>,
    /// Where imported documents are kept: OASIS XML catalogs, or tables of `URL<TAB>path`. Nothing is fetched.
    pub catalogs: Vec<PathBuf>,
}

/// Which faults have types. What has none is kept as XML: the detail of a fault, or `Other` where a value of a derived type may
/// stand.
///
/// The types of faults are those that the operations of the contract declare, all that these are derived from, and all that is
/// derived from one of them. A contract whose faults hold their causes reaches each of them from each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultTypes {
    /// No operation has typed faults. Where the contract has a type of faults in something else, it is that type, and what is
    /// derived from it is XML.
    None,
    /// Operations have the faults that they declare. Types derived from those, which no operation that is generated declares, are
    /// XML wherever they stand.
    Declared,
    /// Operations have the faults that they declare, and all types that are derived from them.
    #[default]
    All,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            server: true,
            client: true,
            operations: Vec::new(),
            port_types: Vec::new(),
            types: Vec::new(),
            faults: FaultTypes::default(),
            strict: false,
            facets: false,
            lenient: false,
            page: false,
            raw: Vec::new(),
            streams: Vec::new(),
            stream_binaries: false,
            derives: Vec::new(),
            attributes: Vec::new(),
            of_types: BTreeMap::new(),
            modules: BTreeMap::new(),
            catalogs: Vec::new(),
        }
    }
}

/// What came out of a contract.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The source of a module. What serves includes the documents of the contract from files beside it.
    pub source: String,
    /// The contract, and behind it the documents that it imports.
    pub documents: Vec<Document>,
    /// What a page for people shows, if there is one.
    pub page: Option<Page>,
    /// What the module may be called: the name of the contract in Rust's way, `event_vs` of `event-vs.wsdl`.
    pub module: String,
    /// All files that were read.
    pub files: Vec<String>,
    /// The types of the module, by their paths in it, and how many bytes each takes at most on a 64-bit machine.
    pub sizes: Vec<(String, usize)>,
    /// What could be better in the contract, or was left out.
    pub diagnostics: Vec<Diagnostic>,
    /// How many of the operations are generated and what is left out, in one line. None if nothing is left out.
    pub summary: Option<String>,
}

/// What a page for people shows of the services of a contract, for a server to have from a file beside its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The name of the file: `orders.page` of `orders.wsdl`.
    pub file: String,
    /// The text.
    pub text: String,
}

/// Generates a module from the WSDL file at `path`.
///
/// What is broken or can't be generated is left out with a warning, unless the options are [strict](Options::strict); a
/// contract without a service that can be generated gives its types.
///
/// # Errors
/// All problems of the contract, with their places; one at least is an error.
pub fn generate(path: &Path, options: &Options) -> Result<Generated, Vec<Diagnostic>> {
    let options = &options.with_file_beside(path)?;
    let mut files = Files::new();
    let mut problems = Vec::new();
    for path in &options.catalogs {
        let (catalog, of_catalog) = Catalog::read(path);
        files.add_catalog(catalog);
        problems.extend(of_catalog);
    }
    if problems.iter().any(|problem| problem.severity == Severity::Error) {
        return Err(problems);
    }
    let mut generated = generated(path, &files, options)?;
    problems.append(&mut generated.diagnostics);
    generated.diagnostics = problems;
    Ok(generated)
}

/// Generates code for the contract at `path`; `files` knows what is imported, whatever catalogs the options name.
///
/// # Errors
/// As for [`generate`].
pub fn generate_from(path: &Path, files: &Files, options: &Options) -> Result<Generated, Vec<Diagnostic>> {
    generated(path, files, &options.with_file_beside(path)?)
}

fn generated(path: &Path, files: &Files, options: &Options) -> Result<Generated, Vec<Diagnostic>> {
    let (definitions, plan, diagnostics) = planned(path, files, options)?;
    let main = definitions.sources.names().next().unwrap_or_default();
    let summary = plan.summary();
    let stem = stem(path);
    let documents = documents::documents(&definitions.sources, &stem);
    let page = (options.page && options.server && !plan.services.is_empty())
        .then(|| Page { file: format!("{stem}.page"), text: page::page(&definitions, &plan) });
    let beside = Beside { documents: &documents, page: page.as_ref().map(|page| page.file.as_str()) };
    let source = render::render(&plan, beside, options).map_err(|bugs| as_errors(main, bugs))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // A name of a file may have line feeds in it.
    let name = visible(&name);
    let source = format!("// @generated by castile-codegen from {name}. Do not edit.\n\n{source}");
    // The schemas that the library brings are no files, and cargo would take them for files that were deleted.
    let files = definitions.sources.names().filter(|name| Path::new(name).is_file());
    let mut files: Vec<String> = files.map(str::to_owned).collect();
    // A bundle is one file, whatever the documents in it are called.
    if Path::new(main) != path {
        files = vec![path.to_string_lossy().into_owned()];
    }
    let beside = options::file_beside(path);
    if beside.is_file() {
        files.push(beside.to_string_lossy().into_owned());
    }
    let module = names::Scope::default().lower(&stem).as_str().trim_start_matches("r#").to_owned();
    Ok(Generated { source, documents, page, module, files, sizes: plan.named_sizes(), diagnostics, summary })
}

/// What makes the code large that is generated for the contract at `path`, the largest first: types, operations, faults.
///
/// # Errors
/// As for [`generate`].
pub fn cost(path: &Path, files: &Files, options: &Options) -> Result<Vec<Cost>, Vec<Diagnostic>> {
    let options = &options.with_file_beside(path)?;
    let (definitions, mut plan, _) = planned(path, files, options)?;
    let main = definitions.sources.names().next().unwrap_or_default();
    let documents = documents::documents(&definitions.sources, &stem(path));
    let beside = Beside { documents: &documents, page: None };
    let (of_items, of_services) = render::lines(&plan, beside, options).map_err(|bugs| as_errors(main, bugs))?;
    Ok(cost::costs(&mut plan, &of_items, of_services))
}

fn as_errors(file: &str, bugs: Vec<String>) -> Vec<Diagnostic> {
    bugs.into_iter().map(|bug| Diagnostic::of_document(Severity::Error, file, bug)).collect()
}

/// Reads a contract and plans what is generated of it.
fn planned(
    path: &Path,
    files: &Files,
    options: &Options,
) -> Result<(Definitions, Plan, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (definitions, mut diagnostics) = castile_wsdl::open(path, files);
    let Some(mut definitions) = definitions else { return Err(diagnostics) };
    let main = definitions.sources.names().next().unwrap_or_default().to_owned();
    let mut of_plan = Vec::new();
    for name in &options.port_types {
        if let Err(known) = definitions.bind(name) {
            let message = format!("there is no port type {name}, which was asked for");
            let mut diagnostic = Diagnostic::of_document(Severity::Error, &main, message);
            diagnostic.with_note(format!("it has {known}"));
            of_plan.push(diagnostic);
        }
    }
    let is_broken = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    let plan = planner::plan(&definitions, options, is_broken, &mut of_plan);
    if !options.strict && definitions.is_usable() && !plan.is_nothing() {
        castile_wsdl::forgive(&mut diagnostics);
    }
    diagnostics.append(&mut of_plan);
    if let Some(summary) = plan.summary().filter(|_| options.strict) {
        diagnostics.push(Diagnostic::of_document(Severity::Error, &main, summary));
    }
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(diagnostics);
    }
    Ok((definitions, plan, diagnostics))
}

/// What a contract is called without what says that it is one: `orders` of `orders.wsdl`, `orders.wsdl.xml` and
/// `orders.castile`.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (rest, end) = stem.split_at(stem.floor_char_boundary(stem.len().saturating_sub(".wsdl".len())));
    let is_twice = !rest.is_empty() && end.eq_ignore_ascii_case(".wsdl");
    if is_twice { rest.to_owned() } else { stem.into_owned() }
}

/// Compiles the contract at `path`, relative to the package, into the build script's output directory. To be called
/// from a build script.
///
/// Problems of the contract are printed as the compiler's own, and end the build script if one is an error. What is left out
/// of a contract that is broken in parts is a warning, unless the options are [strict](Options::strict).
pub fn compile(path: impl AsRef<Path>) {
    compile_with(path, &Options::default());
}

/// Compiles the contract at `path` as [`compile`] does, with [`Options`].
pub fn compile_with(path: impl AsRef<Path>, options: &Options) {
    let path = path.as_ref();
    rerun_if_changed(&path.display().to_string());
    for catalog in &options.catalogs {
        rerun_if_changed(&catalog.display().to_string());
    }
    match generate(path, options) {
        Ok(generated) => {
            for file in &generated.files {
                rerun_if_changed(file);
            }
            for warning in warnings(&generated.diagnostics) {
                println!("cargo:warning={warning}");
            }
            if let Some(summary) = &generated.summary {
                println!("cargo:warning={}: {}", visible(&path.display().to_string()), visible(summary));
            }
            if let Err(error) = write(path, &generated) {
                fail(&format!("the generated module can't be written: {error}"));
            }
        }
        Err(diagnostics) => {
            // They are printed as they are: `Display` escapes what a terminal could take for its own.
            let text: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            fail(&text.join("\n\n"));
        }
    }
}

/// Tells cargo of a file. One with a line feed in its name can't be told of, and must not be taken for two instructions.
fn rerun_if_changed(file: &str) {
    if !file.contains(['\n', '\r']) {
        println!("cargo:rerun-if-changed={file}");
    }
}

/// The warnings of a contract for those who build it: cargo says them again with each build, and most builders didn't write
/// the contract. So of those that name the same broken rule the first one stands for all.
fn warnings(diagnostics: &[Diagnostic]) -> Vec<String> {
    let warnings: Vec<&Diagnostic> =
        diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).collect();
    let mut said = Vec::new();
    for (index, Diagnostic { rule, file, line, message, .. }) in warnings.iter().enumerate() {
        let alike = |other: &&&Diagnostic| rule.is_some() && other.rule == *rule;
        if warnings[..index].iter().any(|earlier| alike(&earlier)) {
            continue;
        }
        let more = match warnings[index + 1..].iter().filter(alike).count() {
            0 => String::new(),
            more => format!(" (and {more} more of {}, which `castile gen` shows)", rule.unwrap_or_default()),
        };
        // Each is one line of what cargo reads.
        said.push(visible(&format!("{file}:{line}: {message}{more}")).into_owned());
    }
    said
}

fn write(path: &Path, generated: &Generated) -> std::io::Result<()> {
    let directory = std::env::var_os("OUT_DIR").map(PathBuf::from);
    let directory = directory.ok_or_else(|| std::io::Error::other("OUT_DIR is not set; this is for build scripts"))?;
    fs::write(directory.join(format!("{}.rs", stem(path))), &generated.source)?;
    let documents = generated.documents.iter().map(|document| (&document.file, &document.text));
    let page = generated.page.iter().map(|page| (&page.file, &page.text));
    documents.chain(page).try_for_each(|(file, text)| fs::write(directory.join(file), text))
}

/// Ends the build script: cargo shows what it printed.
fn fail(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_warnings_that_are_alike_one_is_said() {
        let warning = |rule, line| Diagnostic {
            rule,
            line,
            ..Diagnostic::of_document(Severity::Warning, "a.wsdl", format!("problem {line}"))
        };
        let error = Diagnostic::of_document(Severity::Error, "a.wsdl", "wrong");
        let all = [
            warning(Some("cos-nonambig"), 1),
            warning(None, 2),
            error,
            warning(Some("cos-nonambig"), 3),
            warning(Some("src-resolve"), 4),
            warning(None, 5),
            warning(Some("cos-nonambig"), 6),
        ];
        assert_eq!(
            warnings(&all),
            [
                "a.wsdl:1: problem 1 (and 2 more of cos-nonambig, which `castile gen` shows)",
                "a.wsdl:2: problem 2",
                "a.wsdl:4: problem 4",
                "a.wsdl:5: problem 5",
            ]
        );
    }

    #[test]
    fn a_warning_is_one_line_of_what_cargo_reads() {
        let of = |file, message| Diagnostic::of_document(Severity::Warning, file, message);
        let all = [of("a\ncargo:rustc-link-arg=x", "b\r\nc\u{1b}[2J")];
        assert_eq!(warnings(&all), ["a\\ncargo:rustc-link-arg=x:0: b\\r\\nc\\u{1b}[2J"]);
    }
}
