use std::collections::HashMap;
use std::path::Path;

use castile_xml::XML_NAMESPACE;
use castile_xml::tree::{Document, Element};

use super::{Catalog, Entries, File, FileId, resolved};
use crate::{Diagnostics, Location, encoding};

const NAMESPACE: &str = "urn:oasis:names:tc:entity:xmlns:xml:catalog";

/// Maximum number of files in a catalog, including those that it names.
const MAX_FILES: usize = 1_000;

/// Reads `path` and the catalogs that it names, each once.
pub(super) fn read(path: &Path, diagnostics: &mut Diagnostics) -> Catalog {
    let mut reading = Reading { paths: HashMap::new(), queue: Vec::new(), diagnostics };
    reading.index(&path.to_string_lossy(), None);
    let mut files = Vec::new();
    while files.len() < reading.queue.len() {
        let (path, from) = reading.queue[files.len()].clone();
        let file = reading.file(&path, from);
        files.push(file);
    }
    Catalog { files }
}

struct Reading<'d> {
    paths: HashMap<String, usize>,
    queue: Vec<(String, Option<Location>)>,
    diagnostics: &'d mut Diagnostics,
}

impl Reading<'_> {
    /// Returns the index of the catalog at `path`, which is queued for reading.
    fn index(&mut self, path: &str, from: Option<Location>) -> Option<usize> {
        if let Some(&index) = self.paths.get(path) {
            return Some(index);
        }
        if self.queue.len() >= MAX_FILES {
            let place = from.unwrap_or(Location::file(FileId::BUILTIN));
            self.diagnostics.error(place, format!("more than {MAX_FILES} catalogs refer to each other"));
            return None;
        }
        let index = self.queue.len();
        self.paths.insert(path.to_owned(), index);
        self.queue.push((path.to_owned(), from));
        Some(index)
    }

    fn file(&mut self, path: &str, from: Option<Location>) -> File {
        let bytes = std::fs::read(path).map_err(|error| error.to_string());
        let text = bytes.and_then(|bytes| encoding::decode(&bytes).map(std::borrow::Cow::into_owned));
        let text = match text {
            Ok(text) => text,
            Err(message) => {
                let place = from.unwrap_or_else(|| Location::file(self.diagnostics.sources.add(path, "".into())));
                self.diagnostics.error(place, format!("catalog {path} can't be read: {message}"));
                return File::default();
            }
        };
        let id = self.diagnostics.sources.add(path, text.as_str().into());
        if text.trim_start().starts_with('<') { self.xml(path, &text, id) } else { self.table(path, &text, id) }
    }

    /// Reads a table. Each line is `URL<TAB>path`; text after another tab and lines that begin with `#` are ignored.
    fn table(&mut self, path: &str, text: &str, id: FileId) -> File {
        let mut file = File::default();
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let place = Location::at(id, offset);
            offset += line.len();
            let line = line.trim_end_matches(['\n', '\r']);
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let mut fields = line.split('\t');
            match (fields.next(), fields.next()) {
                (Some(uri), Some(to)) if !uri.is_empty() && !to.is_empty() => {
                    file.uris.add(uri.to_owned(), resolved(path, to));
                }
                _ => {
                    self.diagnostics.error(place, "the line has no tab, expected a URL, a tab and a path");
                }
            }
        }
        file
    }

    fn xml(&mut self, path: &str, text: &str, id: FileId) -> File {
        let mut file = File::default();
        let document = match Document::parse(text) {
            Ok(document) => document,
            Err(error) => {
                self.diagnostics.error(Location::at(id, error.offset()), error.message());
                return file;
            }
        };
        let root = document.root();
        if !root.is(NAMESPACE, "catalog") {
            let message =
                format!("the document element is <{}>, expected <catalog> of namespace {NAMESPACE:?}", root.local());
            self.diagnostics.error(Location::of(id, root), message);
            return file;
        }
        let mut open = vec![(root, base_of(root, path))];
        while let Some((element, base)) = open.pop() {
            for child in element.elements().filter(|child| child.namespace() == NAMESPACE) {
                let base = base_of(child, &base);
                match child.local() {
                    "group" => open.push((child, base)),
                    _ => self.entry(child, &base, id, &mut file),
                }
            }
        }
        file
    }

    fn entry(&mut self, element: Element<'_>, base: &str, id: FileId, file: &mut File) {
        let place = Location::of(id, element);
        let File { uris, systems, next } = file;
        let local = element.local();
        let (name, to) = match local {
            "uri" => ("name", "uri"),
            "system" => ("systemId", "uri"),
            "rewriteURI" => ("uriStartString", "rewritePrefix"),
            "rewriteSystem" => ("systemIdStartString", "rewritePrefix"),
            "uriSuffix" => ("uriSuffix", "uri"),
            "systemSuffix" => ("systemIdSuffix", "uri"),
            "delegateURI" => ("uriStartString", "catalog"),
            "delegateSystem" => ("systemIdStartString", "catalog"),
            "nextCatalog" => ("catalog", "catalog"),
            // Contracts have no public identifiers.
            "public" | "delegatePublic" => return,
            _ => {
                self.diagnostics.warning(place, format!("<{local}> is not a catalog entry and is ignored"));
                return;
            }
        };
        let (Some(name), Some(to)) = (element.attribute(name), element.attribute(to)) else {
            self.diagnostics.error(place, format!("<{local}> lacks an attribute, expected `{name}` and `{to}`"));
            return;
        };
        let (name, to) = (name.trim().to_owned(), resolved(base, to));
        let entries: &mut Entries = if local.to_ascii_lowercase().contains("system") { systems } else { uris };
        match local {
            "uri" | "system" => entries.add(name, to),
            "rewriteURI" | "rewriteSystem" => entries.rewrite.push((name, to)),
            "uriSuffix" | "systemSuffix" => entries.suffix.push((name, to)),
            "nextCatalog" => next.extend(self.index(&to, Some(place))),
            _ => entries.delegate.extend(self.index(&to, Some(place)).map(|index| (name, index))),
        }
    }
}

/// Returns the base URI of references in `element` (`xml:base`).
fn base_of(element: Element<'_>, base: &str) -> String {
    match element.find_attribute(XML_NAMESPACE, "base") {
        Some(own) => resolved(base, own.value()),
        None => base.to_owned(),
    }
}
