//! The service model to a plan: which types and operations there are, what they are called, and how their values hold together.
//!
//! `castile-codegen` renders a plan as Rust. Types that are known at run time are made of one, too.
//!
//! This crate is for other crates of Castile: its API changes with them.

#![allow(missing_docs, reason = "what the parts of a plan are is said where it isn't told by their names")]

mod documents;
mod indented;
#[cfg(feature = "serde")]
mod kept;
pub mod names;
mod options;
mod page;
pub mod plan;
mod planner;
pub mod tags;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use castile_wsdl::{Definitions, Diagnostic, Severity};
use castile_xsd::{Bundle, Files};
pub use documents::{Document, documents};
pub use indented::indented;
pub use options::{TypeOptions, file_beside};
pub use page::page;
pub use plan::Plan;
pub use planner::{grown, is_of_security};

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

/// Reads a contract and plans what is made of it.
///
/// # Errors
/// All problems of the contract, with their places; one at least is an error.
pub fn planned(
    path: &Path,
    files: &Files,
    options: &Options,
) -> Result<(Definitions, Plan, Vec<Diagnostic>), Vec<Diagnostic>> {
    of_read(castile_wsdl::open(path, files), options)
}

/// Reads the contract that is in a bundle and plans what is made of it.
///
/// # Errors
/// All problems of the contract, with their places; one at least is an error.
pub fn planned_of(bundle: &Bundle, options: &Options) -> Result<(Definitions, Plan, Vec<Diagnostic>), Vec<Diagnostic>> {
    of_read(castile_wsdl::read(bundle.main(), bundle), options)
}

fn of_read(
    (definitions, mut diagnostics): (Option<Definitions>, Vec<Diagnostic>),
    options: &Options,
) -> Result<(Definitions, Plan, Vec<Diagnostic>), Vec<Diagnostic>> {
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
pub fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (rest, end) = stem.split_at(stem.floor_char_boundary(stem.len().saturating_sub(".wsdl".len())));
    let is_twice = !rest.is_empty() && end.eq_ignore_ascii_case(".wsdl");
    if is_twice { rest.to_owned() } else { stem.into_owned() }
}
