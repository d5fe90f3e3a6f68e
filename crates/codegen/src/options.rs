//! What is said of single types, and the file beside a contract that says all of it.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use castile_wsdl::{Diagnostic, Severity};
use toml_edit::{Document, Item, TableLike};

use crate::{FaultTypes, Options};

/// What a program says of one type of a contract.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct TypeOptions {
    /// What the type is called in Rust.
    pub name: Option<String>,
    /// The Rust type that stands for a simple type, as a path: `rust_decimal::Decimal`. It must be a
    /// `castile::datatypes::SimpleType`, as the types of other crates are whose feature of Castile is on.
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

    /// These options, and what the file beside the contract at `path` says, if there is one. Where both say something of one
    /// thing, it is as these options say.
    pub(crate) fn with_file_beside(&self, path: &Path) -> Result<Options, Vec<Diagnostic>> {
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
        let at = |offset: usize, message: String| {
            let line = text[..text.floor_char_boundary(offset)].matches('\n').count() + 1;
            Diagnostic { line: line as _, ..Diagnostic::of_document(Severity::Error, &shown, message) }
        };
        let document = match Document::parse(text.as_str()) {
            Ok(document) => document,
            Err(error) => return Err(vec![at(error.span().map_or(0, |span| span.start), error.message().to_owned())]),
        };
        let mut problems = Vec::new();
        for (key, item) in document.as_table() {
            if let Err(message) = options.set(key, item, &file) {
                let offset = document.as_table().key(key).and_then(|key| key.span()).map_or(0, |span| span.start);
                problems.push(at(offset, message));
            }
        }
        if problems.is_empty() { Ok(options) } else { Err(problems) }
    }

    fn set(&mut self, key: &str, item: &Item, file: &Path) -> Result<(), String> {
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
                        return Err(format!(
                            "faults is {other:?}, where \"none\", \"declared\" or \"all\" was expected"
                        ));
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
            _ => return Err(format!("there is no option {key}")),
        }
        Ok(())
    }
}

impl TypeOptions {
    fn set(&mut self, of: &str, said: &dyn TableLike) -> Result<(), String> {
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
                _ => return Err(format!("there is no option {key} of the type {of}")),
            }
        }
        Ok(())
    }
}

/// The file with options for the contract at `path`: `orders.castile.toml` beside `orders.wsdl`.
pub(crate) fn file_beside(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}.castile.toml", crate::stem(path)))
}

fn truth(key: &str, item: &Item) -> Result<bool, String> {
    item.as_bool().ok_or_else(|| format!("{key} is {}, where true or false was expected", item.type_name()))
}

fn text(key: &str, item: &Item) -> Result<String, String> {
    let text = item.as_str().map(str::to_owned);
    text.ok_or_else(|| format!("{key} is {}, where a string was expected", item.type_name()))
}

fn texts(key: &str, item: &Item) -> Result<Vec<String>, String> {
    let wrong = || format!("{key} is {}, where an array of strings was expected", item.type_name());
    let array = item.as_array().ok_or_else(wrong)?;
    array.iter().map(|value| value.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
}

fn table<'i>(key: &str, item: &'i Item) -> Result<&'i dyn TableLike, String> {
    item.as_table_like().ok_or_else(|| format!("{key} is {}, where a table was expected", item.type_name()))
}
