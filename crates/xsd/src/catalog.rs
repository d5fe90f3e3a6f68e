//! Catalogs, which map URIs to documents: OASIS XML Catalogs 1.1, and tables of `URL<TAB>path`.
//!
//! ```xml
//! <catalog xmlns="urn:oasis:names:tc:entity:xmlns:xml:catalog">
//!   <uri name="urn:orders" uri="orders.xsd"/>
//!   <rewriteURI uriStartString="http://www.example.com/schemas/" rewritePrefix="schemas/"/>
//!   <nextCatalog catalog="more/catalog.xml"/>
//! </catalog>
//! ```

mod read;

use std::collections::HashMap;
use std::path::Path;

use crate::paths::normalise;
use crate::{Diagnostic, Diagnostics, FileId};

/// Maps URIs, and namespaces that are imported without a location, to documents.
///
/// Entries for system identifiers and entries for URIs are both searched, because the location of a schema is used as
/// either. Entries for public identifiers are ignored, because contracts have no public identifiers.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    files: Vec<File>,
}

/// A catalog file with its entries by kind.
#[derive(Debug, Clone, Default)]
struct File {
    uris: Entries,
    systems: Entries,
    /// Indexes into `files` of the next catalogs, in order.
    next: Vec<usize>,
}

/// The entries for URIs, or those for system identifiers (§6.5).
#[derive(Debug, Clone, Default)]
struct Entries {
    exact: HashMap<String, String>,
    /// The reverse mapping.
    origins: HashMap<String, String>,
    /// (start, replacement).
    rewrite: Vec<(String, String)>,
    suffix: Vec<(String, String)>,
    /// (start, index of the catalog to search instead).
    delegate: Vec<(String, usize)>,
}

impl Catalog {
    /// Reads a catalog and the catalogs that it names. The diagnostics have an error for each part that can't be read;
    /// the rest of the catalog can be used.
    #[must_use]
    pub fn read(path: &Path) -> (Self, Vec<Diagnostic>) {
        let mut diagnostics = Diagnostics::default();
        let catalog = read::read(path, &mut diagnostics);
        (catalog, diagnostics.finish().1)
    }

    /// Returns the location of the document for `uri`: a path, or another URI. `http` and `https` are treated as equal.
    #[must_use]
    pub fn resolve(&self, uri: &str) -> Option<String> {
        let other = match uri.split_once("://") {
            Some(("http", rest)) => format!("https://{rest}"),
            Some(("https", rest)) => format!("http://{rest}"),
            _ => return self.resolve_in(0, uri),
        };
        self.resolve_in(0, uri).or_else(|| self.resolve_in(0, &other))
    }

    /// Returns the URI whose document is at `path`, found through single entries and rewrite rules. References in that
    /// document are relative to this URI.
    pub(crate) fn origin(&self, path: &str) -> Option<String> {
        let entries = self.files.iter().flat_map(|file| [&file.uris, &file.systems]);
        let exact = entries.clone().find_map(|entries| entries.origins.get(path).cloned());
        exact.or_else(|| {
            let mut starts = entries.flat_map(|entries| &entries.rewrite);
            starts.find_map(|(start, to)| path.strip_prefix(to.as_str()).map(|rest| format!("{start}{rest}")))
        })
    }

    /// Resolves `uri` (§7.2.2): in a file first, then in the catalogs that it delegates to or, without any, in the next
    /// ones.
    fn resolve_in(&self, first: usize, uri: &str) -> Option<String> {
        let mut open = vec![first];
        let mut asked = vec![false; self.files.len()];
        while let Some(index) = open.pop() {
            let Some(file) = self.files.get(index) else { continue };
            if std::mem::replace(&mut asked[index], true) {
                continue;
            }
            let found = file.uris.find(uri).or_else(|| file.systems.find(uri));
            if found.is_some() {
                return found;
            }
            let delegates: Vec<usize> = file.uris.delegates(uri).chain(file.systems.delegates(uri)).collect();
            if !delegates.is_empty() {
                // Only the catalogs delegated to are searched from here on (§7.2.2, 6).
                open = delegates;
                open.reverse();
                continue;
            }
            open.extend(file.next.iter().rev());
        }
        None
    }
}

impl Entries {
    /// Adds an entry. If a name has several entries, the first one counts.
    fn add(&mut self, name: String, to: String) {
        self.origins.entry(to.clone()).or_insert_with(|| name.clone());
        self.exact.entry(name).or_insert(to);
    }

    fn find(&self, uri: &str) -> Option<String> {
        let exact = self.exact.get(uri).cloned();
        exact
            .or_else(|| {
                let starts = self.rewrite.iter().filter(|(start, _)| uri.starts_with(start.as_str()));
                let (start, to) = starts.rev().max_by_key(|(start, _)| start.len())?;
                Some(format!("{to}{}", &uri[start.len()..]))
            })
            .or_else(|| {
                let ends = self.suffix.iter().filter(|(end, _)| uri.ends_with(end.as_str()));
                ends.rev().max_by_key(|(end, _)| end.len()).map(|(_, to)| to.clone())
            })
    }

    /// Returns the catalogs to search instead, longest match first.
    fn delegates(&self, uri: &str) -> impl Iterator<Item = usize> {
        let mut found: Vec<_> = self.delegate.iter().filter(|(start, _)| uri.starts_with(start.as_str())).collect();
        found.sort_by_key(|(start, _)| std::cmp::Reverse(start.len()));
        found.into_iter().map(|&(_, index)| index)
    }
}

/// Resolves `reference` relative to a file or folder. A URI is returned unchanged.
fn resolved(base: &str, reference: &str) -> String {
    let reference = reference.trim();
    if let Some(path) = reference.strip_prefix("file:") {
        return path.strip_prefix("//").unwrap_or(path).to_owned();
    }
    if reference.contains("://") || reference.starts_with("urn:") || reference.starts_with('/') {
        return reference.to_owned();
    }
    // A reference relative to a URI gives a URI.
    let folder = base.rfind('/').map_or("", |at| &base[..=at]);
    if base.contains("://") {
        return format!("{folder}{reference}");
    }
    let path = normalise(&Path::new(folder).join(reference));
    // The replacement prefix of a rewrite rule keeps its trailing slash.
    let slash = if reference.ends_with('/') && !path.to_string_lossy().ends_with('/') { "/" } else { "" };
    format!("{}{slash}", path.to_string_lossy())
}
