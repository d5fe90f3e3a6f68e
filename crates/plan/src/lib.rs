//! Turns the service model into a plan: which types and operations there are, their names, and how values contain each
//! other.
//!
//! `castile-codegen` renders a plan as Rust. `castile-dynamic` makes types from a plan at run time.
//!
//! This crate is internal to Castile, so its API may change at any time.

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

/// Options for what is generated.
///
/// A file beside a contract can set the same options: `orders.castile.toml` beside `orders.wsdl`. Its keys are these
/// fields. Its table `type` sets [`TypeOptions`].
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
    /// Whether to generate the server: a trait to implement, and its dispatch.
    pub server: bool,
    /// Whether to generate the client.
    pub client: bool,
    /// The operations to generate, by their names in the contract, with the types that they use. An empty list means
    /// all operations.
    pub operations: Vec<String>,
    /// Port types, by their names in the contract, whose operations are generated although the contract has no binding
    /// for them.
    ///
    /// They are bound to SOAP 1.1 over HTTP, with literal messages and without actions. If a port type has a SOAP
    /// binding, that binding is used.
    pub port_types: Vec<String>,
    /// Types that are generated although no operation refers to them, with all types derived from them. Use it for
    /// types that occur where the contract has `xs:anyType`. Names are local names or `{namespace}local`.
    pub types: Vec<String>,
    /// Which faults have types.
    pub faults: FaultTypes,
    /// Whether any error in the contract rejects the whole contract.
    ///
    /// Without it, the parts with errors and everything that depends on them are left out, and the errors become
    /// warnings. They remain errors if nothing else is left, or if a requested part is left out. A contract for which
    /// nothing is generated is rejected, too.
    pub strict: bool,
    /// Whether values are checked against the facets of their types when they are read, and values that are not in an
    /// enumeration are rejected. Structure and lexical spaces are always checked.
    pub facets: bool,
    /// Whether to generate tables for lenient services and clients.
    ///
    /// With them, a lenient service or client ignores elements and text that a type doesn't have, and accepts elements
    /// out of order or in another namespace. Without them such a message is rejected. The tables take time to compile.
    pub lenient: bool,
    /// Whether to write the data for a server's page for people into a file beside the source. The feature `page` of
    /// `castile` serves the page.
    pub page: bool,
    /// Operations, by their names in the contract, whose requests and responses are `castile::Raw`: unparsed XML. Types
    /// that only these operations use are left out.
    pub raw: Vec<String>,
    /// Repeated elements whose values are `castile::Items`: all values, or a stream that produces them while the
    /// message is sent. Each is `TYPE/ELEMENT` by the names in the contract.
    pub streams: Vec<String>,
    /// Whether an `xs:base64Binary` that declares its media types (`xmime:expectedContentTypes`) is a
    /// `castile::datatypes::StreamedBinary`: a reference to an attachment, which is streamed when it is read and sent.
    pub stream_binaries: bool,
    /// Traits that every type derives besides `Clone`, `Debug` and `PartialEq`, as paths: `serde::Serialize`. `Eq` and
    /// `Hash` are derived only where all parts of the type implement them.
    pub derives: Vec<String>,
    /// Attributes for every type, without `#[` and `]`: `serde(rename_all = "camelCase")`.
    pub attributes: Vec<String>,
    /// Options for single types, by names as in [`of_type`](Self::of_type).
    pub of_types: BTreeMap<String, TypeOptions>,
    /// Names for the modules of namespaces other than the contract's own.
    pub modules: BTreeMap<String, String>,
    /// Catalogs that map imported documents to files: OASIS XML catalogs, or tables of `URL<TAB>path`. Nothing is
    /// fetched.
    pub catalogs: Vec<PathBuf>,
}

/// Which faults have types. A fault without a type is stored as XML: in the detail of a fault, or as `Other` where a
/// value of a derived type is allowed.
///
/// Fault types are the types that the operations of the contract declare as faults, all their bases, and all types
/// derived from any of these. In a contract whose faults contain their causes, each fault type may refer to each other
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FaultTypes {
    /// No operation has typed faults. Where a fault type is used elsewhere in the contract, it is generated without its
    /// derived types, which are stored as XML.
    None,
    /// Operations have the faults that they declare. Derived types are stored as XML, unless a generated operation
    /// declares them.
    Declared,
    /// Operations have the faults that they declare, and all types derived from these.
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

/// Reads a contract and plans what is generated for it.
///
/// # Errors
/// Returns all problems of the contract with their positions. At least one is an error.
pub fn planned(
    path: &Path,
    files: &Files,
    options: &Options,
) -> Result<(Definitions, Plan, Vec<Diagnostic>), Vec<Diagnostic>> {
    of_read(castile_wsdl::open(path, files), options)
}

/// Reads the contract in a bundle and plans what is generated for it.
///
/// # Errors
/// Returns all problems of the contract with their positions. At least one is an error.
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

/// Returns the file name of a contract without its extensions: `orders` for `orders.wsdl`, `orders.wsdl.xml` and
/// `orders.castile`.
pub fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (rest, end) = stem.split_at(stem.floor_char_boundary(stem.len().saturating_sub(".wsdl".len())));
    let is_twice = !rest.is_empty() && end.eq_ignore_ascii_case(".wsdl");
    if is_twice { rest.to_owned() } else { stem.into_owned() }
}
