use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::paths::normalise;
use crate::{Catalog, similar};

/// Finds and reads the documents that other documents import. This crate opens files and connections only through it.
pub trait Resolver {
    /// Returns the URI of the document that `request` asks for, or `None` if this resolver has no such document.
    ///
    /// Two requests for one document must return the same URI, because cycles are detected by URI.
    fn locate(&self, request: &Request<'_>) -> Option<String>;

    /// Returns the bytes of the document at `uri`, which `locate` returned. The error is the reason why it can't be
    /// read.
    fn read(&self, uri: &str) -> Result<Vec<u8>, String>;

    /// Returns an existing location that is similar to the one in `request`, for a hint when that one leads to no
    /// document.
    fn suggest(&self, _request: &Request<'_>) -> Option<String> {
        None
    }
}

/// The reference that an `import`, `include` or `redefine` makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// The URI of the document that contains the reference.
    pub base: &'a str,
    /// The `schemaLocation` or `location` as written. An import may leave it out.
    pub location: Option<&'a str>,
    /// The namespace of the requested document; empty for no namespace.
    pub namespace: &'a str,
}

/// Finds documents in the local file system: relative to the referring document, or where a catalog maps them. It never
/// uses the network.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// The catalogs, which are searched in order.
    catalogs: Vec<Catalog>,
    /// Documents that are not files, by URI.
    documents: HashMap<String, Vec<u8>>,
}

impl Files {
    /// Creates a resolver that resolves relative locations and `file:` URIs only.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds `catalog` after the catalogs that were added before.
    pub fn add_catalog(&mut self, catalog: Catalog) -> &mut Self {
        self.catalogs.push(catalog);
        self
    }

    /// Adds a document that is not a file under this URI.
    pub fn add_document(&mut self, uri: impl Into<String>, bytes: impl Into<Vec<u8>>) -> &mut Self {
        self.documents.insert(uri.into(), bytes.into());
        self
    }

    /// Returns the URL that a catalog maps to the document at `path`.
    fn origin(&self, path: &str) -> Option<String> {
        self.catalogs.iter().find_map(|catalog| catalog.origin(path)).filter(|uri| uri.contains("://"))
    }

    /// Returns the file that a catalog maps `uri` to.
    #[must_use]
    pub fn catalogued(&self, uri: &str) -> Option<String> {
        self.mapped(uri).map(|path| spelled(&path))
    }

    fn mapped(&self, uri: &str) -> Option<PathBuf> {
        let found = self.catalogs.iter().find_map(|catalog| catalog.resolve(uri))?;
        // A catalog may map to a URL, which is ignored because nothing is fetched.
        (!found.contains("://")).then(|| PathBuf::from(found))
    }

    fn local(base: &str, location: &str) -> Option<PathBuf> {
        if let Some(path) = location.strip_prefix("file:") {
            return existing(Path::new(path.strip_prefix("//").unwrap_or(path)));
        }
        // A scheme has more than one letter; a single letter is a drive.
        if location.split_once(':').is_some_and(|(scheme, _)| scheme.len() > 1 && !scheme.contains(['/', '.'])) {
            return None;
        }
        let folder = Path::new(base).parent().unwrap_or(Path::new(""));
        let location = location.split(['#', '?']).next().unwrap_or_default().replace('\\', "/");
        // An absolute path (`/schema/a.xsd`) is searched for in the parent folders, as in an unpacked archive of the
        // site.
        match location.strip_prefix('/') {
            None => existing(&folder.join(&location)),
            Some(below) => existing(Path::new(&location))
                .or_else(|| folder.ancestors().find_map(|ancestor| existing(&ancestor.join(below)))),
        }
    }
}

impl Resolver for Files {
    fn locate(&self, request: &Request<'_>) -> Option<String> {
        let location = request.location.map(str::trim).filter(|location| !location.is_empty());
        let path = match location {
            Some(location) => self
                .mapped(location)
                .or_else(|| self.mapped(&join(&self.origin(request.base)?, location)))
                .or_else(|| Self::local(request.base, location)),
            None => self.mapped(request.namespace),
        };
        path.map(|path| spelled(&path))
    }

    fn read(&self, uri: &str) -> Result<Vec<u8>, String> {
        match self.documents.get(uri) {
            Some(bytes) => Ok(bytes.clone()),
            None => std::fs::read(uri).map_err(|error| error.to_string()),
        }
    }

    fn suggest(&self, request: &Request<'_>) -> Option<String> {
        /// How many files of a folder are compared.
        const MAX_COMPARED: usize = 10_000;
        let location = Path::new(request.location?.trim());
        let (folder, name) = (location.parent()?, location.file_name()?.to_str()?);
        let beside = Path::new(request.base).parent()?.join(folder);
        let beside = if beside.as_os_str().is_empty() { Path::new(".") } else { &beside };
        let entries =
            std::fs::read_dir(beside).ok()?.take(MAX_COMPARED).flatten().filter(|entry| entry.path().is_file());
        let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        let name = similar(name, names.iter().map(String::as_str), 1).pop()?;
        Some(folder.join(name).to_string_lossy().into_owned())
    }
}

/// Documents held in memory by URI, for tests and bundles.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    documents: HashMap<String, Vec<u8>>,
}

impl Documents {
    /// Creates a resolver without documents.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document.
    #[must_use]
    pub fn with(mut self, uri: &str, document: impl Into<Vec<u8>>) -> Self {
        self.documents.insert(uri.to_owned(), document.into());
        self
    }
}

impl Resolver for Documents {
    fn locate(&self, request: &Request<'_>) -> Option<String> {
        let location = request.location?;
        let folder = Path::new(request.base).parent().unwrap_or(Path::new(""));
        let relative = spelled(&folder.join(location));
        [location.to_owned(), relative].into_iter().find(|uri| self.documents.contains_key(uri))
    }

    fn read(&self, uri: &str) -> Result<Vec<u8>, String> {
        self.documents.get(uri).cloned().ok_or_else(|| "no such document".to_owned())
    }
}

/// Resolves `reference` against the base URL `base` (RFC 3986 §5.2).
#[must_use]
pub fn join(base: &str, reference: &str) -> String {
    let is_of_scheme = |character: char| character.is_ascii_alphanumeric() || "+-.".contains(character);
    let is_scheme =
        |text: &str| text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(is_of_scheme);
    if reference.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme)) {
        return reference.to_owned();
    }
    let scheme = base.find("://").map_or(0, |at| at + "://".len());
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{}{rest}", &base[..scheme]);
    }
    let base = base.split(['#', '?']).next().unwrap_or_default();
    let root = base[scheme..].find('/').map_or(base.len(), |at| scheme + at);
    let folder = base[root..].rfind('/').map_or("/", |at| &base[root..=root + at]);
    let (reference, tail) = reference.split_at(reference.find(['#', '?']).unwrap_or(reference.len()));
    if reference.is_empty() {
        return format!("{base}{tail}");
    }
    let path = if reference.starts_with('/') { reference.to_owned() } else { format!("{folder}{reference}") };
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => {
                segments.pop();
            }
            segment => segments.push(segment),
        }
    }
    format!("{}/{}{tail}", &base[..root], segments.join("/"))
}

/// Returns the normalized path as the name of a document.
fn spelled(path: &Path) -> String {
    normalise(path).to_string_lossy().into_owned()
}

/// Returns the path or its percent-decoded form, whichever is an existing file.
fn existing(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned());
    }
    let text = path.to_str()?;
    match percent_decoded(text) {
        Cow::Owned(decoded) if Path::new(&decoded).is_file() => Some(decoded.into()),
        _ => None,
    }
}

fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_document_has_one_uri() {
        let documents = Documents::new().with("a/b.xsd", "").with("http://h/c.xsd", "");
        for (base, location, expected) in [
            ("a/x.wsdl", "b.xsd", Some("a/b.xsd")),
            ("a/c/x.wsdl", "../b.xsd", Some("a/b.xsd")),
            ("x.wsdl", "./a/./b.xsd", Some("a/b.xsd")),
            ("x.wsdl", "http://h/c.xsd", Some("http://h/c.xsd")),
            ("x.wsdl", "c.xsd", None),
        ] {
            let request = Request { base, location: Some(location), namespace: "" };
            assert_eq!(documents.locate(&request).as_deref(), expected, "{base} {location}");
        }
    }

    #[test]
    fn references_are_relative_to_urls() {
        for (base, reference, expected) in [
            ("http://h/a/b.wsdl", "c.xsd", "http://h/a/c.xsd"),
            ("http://h/a/b.wsdl?singleWsdl#x", "../c.xsd", "http://h/c.xsd"),
            ("http://h/a/b.wsdl", "../../../c.xsd", "http://h/c.xsd"),
            ("http://h/a/b.svc?wsdl", "b.svc?xsd=../xsd0", "http://h/a/b.svc?xsd=../xsd0"),
            ("http://h/a/b.svc?wsdl", "?xsd=xsd0", "http://h/a/b.svc?xsd=xsd0"),
            ("http://h/a/b.wsdl", "./d/./c.xsd", "http://h/a/d/c.xsd"),
            ("http://h/a/b.wsdl", "/c.xsd", "http://h/c.xsd"),
            ("http://h/a/b.wsdl", "//other/c.xsd", "http://other/c.xsd"),
            ("http://h", "c.xsd", "http://h/c.xsd"),
            ("http://h/a/b.wsdl", "https://other/c.xsd", "https://other/c.xsd"),
            ("http://h/a/b.wsdl", "urn:c", "urn:c"),
            ("http://h/a/b.wsdl", "c.xsd#.:", "http://h/a/c.xsd#.:"),
            ("http://h/a/b.wsdl", "1c:d", "http://h/a/1c:d"),
        ] {
            assert_eq!(join(base, reference), expected, "{base} {reference}");
        }
    }

    #[test]
    fn escapes_are_decoded_to_bytes() {
        assert_eq!(percent_decoded("a%20b%C3%A9%zz%"), "a bé%zz%");
    }
}
