//! What is said of single types, and the file beside a contract that says all of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use castile_wsdl::{Diagnostic, Severity};
use castile_xsd::{Location, Sources};
use toml_edit::{Document, Item, Key, TableLike};

use crate::{FaultTypes, Options};

/// What a program says of one type of a contract.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TypeOptions {
    /// What the type is called in Rust.
    pub name: Option<String>,
    /// The Rust type that stands for it, as a path. For a simple type it must be a `castile::datatypes::SimpleType`, as the types of
    /// other crates are whose feature of Castile is on: `rust_decimal::Decimal`. For a complex type it derives `castile::Xml`, and the
    /// compiler checks that it is what the contract says: `crate::Order`.
    pub rust: Option<String>,
    /// What it derives beside what all types do.
    pub derives: Vec<String>,
    /// Attributes that it has beside those of all types, without `#[` and `]`.
    pub attributes: Vec<String>,
    /// What its elements, attributes or values are called in Rust, by what they are called in the contract.
    pub members: BTreeMap<String, String>,
}

impl Options {
    /// What is said of a type: one of the contract by its local name, as `{namespace}local` or as it is called in Rust, or a
    /// built-in one, such as `xs:decimal`.
    pub fn of_type(&mut self, name: impl Into<String>) -> &mut TypeOptions {
        self.of_types.entry(name.into()).or_default()
    }

    /// These options, and what the file beside the contract at `path` says, if there is one. Lists and truth
    /// values add up; names are as these options say.
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

    /// Takes over what a table says with one of its keys.
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

/// The file with options for the contract at `path`: `orders.castile.toml` beside `orders.wsdl`.
pub fn file_beside(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}.castile.toml", crate::stem(path)))
}

/// What is wrong in the file, and which bytes of it are meant.
struct Wrong {
    place: Option<Range<usize>>,
    message: String,
}

impl Wrong {
    /// A key is wrong.
    fn key(table: &dyn TableLike, key: &str, message: String) -> Self {
        Wrong { place: table.key(key).and_then(Key::span), message }
    }

    /// A value is of another type.
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
