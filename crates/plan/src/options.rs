//! Options for what is generated, and the file with options beside a contract.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use castile_wsdl::{Diagnostic, Severity};
use castile_xsd::{Location, Sources};
use toml_edit::{Document, Item, Key, TableLike};

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

/// Options for one type of a contract.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TypeOptions {
    /// The name of the type in Rust.
    pub name: Option<String>,
    /// The path of a Rust type that is used instead of a generated one.
    ///
    /// For a simple type it must implement `castile::datatypes::SimpleType`. Types of other crates do if the
    /// corresponding feature of Castile is enabled: `rust_decimal::Decimal`. For a complex type it must derive
    /// `castile::Xml`, and the compiler checks that it matches the contract: `crate::Order`.
    pub rust: Option<String>,
    /// Traits that it derives in addition to those of all types.
    pub derives: Vec<String>,
    /// Attributes that it has in addition to those of all types, without `#[` and `]`.
    pub attributes: Vec<String>,
    /// Rust names for its elements, attributes or values, by their names in the contract.
    pub members: BTreeMap<String, String>,
}

impl Options {
    /// Returns the options of a type. `name` is a local name, `{namespace}local` or the Rust name of a type of the
    /// contract, or the name of a built-in type such as `xs:decimal`.
    pub fn of_type(&mut self, name: impl Into<String>) -> &mut TypeOptions {
        self.of_types.entry(name.into()).or_default()
    }

    /// Returns these options merged with those in the file beside the contract at `path`, if there is one.
    ///
    /// Lists are joined. A flag is on if either turns it on, but `server` and `client` are off if either turns them
    /// off. For all other values, these options take precedence.
    pub fn with_options_file(&self, path: &Path) -> Result<Options, Vec<Diagnostic>> {
        let mut options = self.clone();
        let file = options_file(path);
        let shown = file.display().to_string();
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(options),
            Err(error) => {
                let message = format!("{shown} can't be read: {error}");
                return Err(vec![Diagnostic::of_document(Severity::Error, &shown, message)]);
            }
        };
        let mut sources = Sources::default();
        let id = sources.add(&shown, text.as_str().into());
        let at = |InvalidOption { span: place, message }: InvalidOption| {
            let location =
                Location { file: id, offset: place.as_ref().and_then(|place| u32::try_from(place.start).ok()) };
            let mut diagnostic = sources.diagnostic(Severity::Error, location, message);
            let meant = place.and_then(|place| text.get(place)?.lines().next()).unwrap_or_default();
            diagnostic.length = meant.chars().count();
            diagnostic
        };
        let document = match Document::parse(text.as_str()) {
            Ok(document) => document,
            Err(error) => {
                return Err(vec![at(InvalidOption { span: error.span(), message: error.message().to_owned() })]);
            }
        };
        let mut problems = Vec::new();
        for (key, item) in document.as_table() {
            if let Err(wrong) = options.set(key, item, &file, document.as_table()) {
                problems.push(at(wrong));
            }
        }
        if problems.is_empty() { Ok(options) } else { Err(problems) }
    }

    /// Sets the option for a key of a table.
    fn set(&mut self, key: &str, item: &Item, file: &Path, of: &dyn TableLike) -> Result<(), InvalidOption> {
        match key {
            "server" => self.server &= boolean(key, item)?,
            "client" => self.client &= boolean(key, item)?,
            "strict" => self.strict |= boolean(key, item)?,
            "facets" => self.facets |= boolean(key, item)?,
            "lenient" => self.lenient |= boolean(key, item)?,
            "page" => self.page |= boolean(key, item)?,
            "stream_binaries" => self.stream_binaries |= boolean(key, item)?,
            "operations" => self.operations.extend(texts(key, item)?),
            "port_types" => self.port_types.extend(texts(key, item)?),
            "types" => self.types.extend(texts(key, item)?),
            "raw" => self.raw.extend(texts(key, item)?),
            "streams" => self.streams.extend(texts(key, item)?),
            "derives" => self.derives.extend(texts(key, item)?),
            "attributes" => self.attributes.extend(texts(key, item)?),
            "catalogs" => {
                let folder = file.parent().unwrap_or(Path::new(""));
                self.catalogs.extend(texts(key, item)?.into_iter().map(|path| folder.join(path)));
            }
            "faults" => {
                let faults = match text(key, item)?.as_str() {
                    "none" => FaultTypes::None,
                    "declared" => FaultTypes::Declared,
                    "all" => FaultTypes::All,
                    other => {
                        let expected = "where \"none\", \"declared\" or \"all\" was expected";
                        return Err(InvalidOption {
                            span: item.span(),
                            message: format!("faults is {other:?}, {expected}"),
                        });
                    }
                };
                if self.faults == FaultTypes::default() {
                    self.faults = faults;
                }
            }
            "modules" => {
                for (namespace, name) in table(key, item)?.iter() {
                    let name = text(namespace, name)?;
                    self.modules.entry(namespace.to_owned()).or_insert(name);
                }
            }
            "type" => {
                for (name, item) in table(key, item)?.iter() {
                    self.of_type(name).set(name, table(name, item)?)?;
                }
            }
            _ => return Err(InvalidOption::key(of, key, format!("there is no option {key}"))),
        }
        Ok(())
    }
}

impl TypeOptions {
    fn set(&mut self, of: &str, said: &dyn TableLike) -> Result<(), InvalidOption> {
        for (key, item) in said.iter() {
            match key {
                "name" => self.name = self.name.take().or(Some(text(key, item)?)),
                "rust" => self.rust = self.rust.take().or(Some(text(key, item)?)),
                "derives" => self.derives.extend(texts(key, item)?),
                "attributes" => self.attributes.extend(texts(key, item)?),
                "members" => {
                    for (member, name) in table(key, item)?.iter() {
                        let name = text(member, name)?;
                        self.members.entry(member.to_owned()).or_insert(name);
                    }
                }
                _ => return Err(InvalidOption::key(said, key, format!("there is no option {key} of the type {of}"))),
            }
        }
        Ok(())
    }
}

/// Returns the path of the file with options for the contract at `path`: `orders.castile.toml` beside `orders.wsdl`.
pub fn options_file(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}.castile.toml", stem(path)))
}

/// Returns the file name of a contract without its extensions: `orders` for `orders.wsdl`, `orders.wsdl.xml` and
/// `orders.castile`.
pub fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let (rest, end) = stem.split_at(stem.floor_char_boundary(stem.len().saturating_sub(".wsdl".len())));
    let is_twice = !rest.is_empty() && end.eq_ignore_ascii_case(".wsdl");
    if is_twice { rest.to_owned() } else { stem.into_owned() }
}

/// An error in the file, with its byte range.
struct InvalidOption {
    span: Option<Range<usize>>,
    message: String,
}

impl InvalidOption {
    /// Creates an error in a key.
    fn key(table: &dyn TableLike, key: &str, message: String) -> Self {
        InvalidOption { span: table.key(key).and_then(Key::span), message }
    }

    /// Creates an error for a value of the wrong type.
    fn value(key: &str, item: &Item, expected: &str) -> Self {
        let message = format!("{key} is {}, where {expected} was expected", item.type_name());
        InvalidOption { span: item.span(), message }
    }
}

fn boolean(key: &str, item: &Item) -> Result<bool, InvalidOption> {
    item.as_bool().ok_or_else(|| InvalidOption::value(key, item, "true or false"))
}

fn text(key: &str, item: &Item) -> Result<String, InvalidOption> {
    item.as_str().map(str::to_owned).ok_or_else(|| InvalidOption::value(key, item, "a string"))
}

fn texts(key: &str, item: &Item) -> Result<Vec<String>, InvalidOption> {
    let wrong = || InvalidOption::value(key, item, "an array of strings");
    let array = item.as_array().ok_or_else(wrong)?;
    array.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

fn table<'i>(key: &str, item: &'i Item) -> Result<&'i dyn TableLike, InvalidOption> {
    item.as_table_like().ok_or_else(|| InvalidOption::value(key, item, "a table"))
}
