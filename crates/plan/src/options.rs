//! Options for single types, and the file with options beside a contract.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use castile_wsdl::{Diagnostic, Severity};
use castile_xsd::{Location, Sources};
use toml_edit::{Document, Item, Key, TableLike};

use crate::{FaultTypes, Options};

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
    pub fn with_file_beside(&self, path: &Path) -> Result<Options, Vec<Diagnostic>> {
        let mut options = self.clone();
        let file = file_beside(path);
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
        let at = |Wrong { place, message }: Wrong| {
            let location =
                Location { file: id, offset: place.as_ref().and_then(|place| u32::try_from(place.start).ok()) };
            let mut diagnostic = sources.diagnostic(Severity::Error, location, message);
            let meant = place.and_then(|place| text.get(place)?.lines().next()).unwrap_or_default();
            diagnostic.length = meant.chars().count();
            diagnostic
        };
        let document = match Document::parse(text.as_str()) {
            Ok(document) => document,
            Err(error) => return Err(vec![at(Wrong { place: error.span(), message: error.message().to_owned() })]),
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
    fn set(&mut self, key: &str, item: &Item, file: &Path, of: &dyn TableLike) -> Result<(), Wrong> {
        match key {
            "server" => self.server &= truth(key, item)?,
            "client" => self.client &= truth(key, item)?,
            "strict" => self.strict |= truth(key, item)?,
            "facets" => self.facets |= truth(key, item)?,
            "lenient" => self.lenient |= truth(key, item)?,
            "page" => self.page |= truth(key, item)?,
            "stream_binaries" => self.stream_binaries |= truth(key, item)?,
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
                        return Err(Wrong { place: item.span(), message: format!("faults is {other:?}, {expected}") });
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
            _ => return Err(Wrong::key(of, key, format!("there is no option {key}"))),
        }
        Ok(())
    }
}

impl TypeOptions {
    fn set(&mut self, of: &str, said: &dyn TableLike) -> Result<(), Wrong> {
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
                _ => return Err(Wrong::key(said, key, format!("there is no option {key} of the type {of}"))),
            }
        }
        Ok(())
    }
}

/// Returns the path of the file with options for the contract at `path`: `orders.castile.toml` beside `orders.wsdl`.
pub fn file_beside(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}.castile.toml", crate::stem(path)))
}

/// An error in the file, with its byte range.
struct Wrong {
    place: Option<Range<usize>>,
    message: String,
}

impl Wrong {
    /// Creates an error in a key.
    fn key(table: &dyn TableLike, key: &str, message: String) -> Self {
        Wrong { place: table.key(key).and_then(Key::span), message }
    }

    /// Creates an error for a value of the wrong type.
    fn value(key: &str, item: &Item, expected: &str) -> Self {
        let message = format!("{key} is {}, where {expected} was expected", item.type_name());
        Wrong { place: item.span(), message }
    }
}

fn truth(key: &str, item: &Item) -> Result<bool, Wrong> {
    item.as_bool().ok_or_else(|| Wrong::value(key, item, "true or false"))
}

fn text(key: &str, item: &Item) -> Result<String, Wrong> {
    item.as_str().map(str::to_owned).ok_or_else(|| Wrong::value(key, item, "a string"))
}

fn texts(key: &str, item: &Item) -> Result<Vec<String>, Wrong> {
    let wrong = || Wrong::value(key, item, "an array of strings");
    let array = item.as_array().ok_or_else(wrong)?;
    array.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

fn table<'i>(key: &str, item: &'i Item) -> Result<&'i dyn TableLike, Wrong> {
    item.as_table_like().ok_or_else(|| Wrong::value(key, item, "a table"))
}
