use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path};

use castile_xml::escape::is_char;

use super::Bundle;
use crate::resolver::join;
use crate::{Request, Resolver, encoding};

/// A resolver that forwards to another resolver and records the results. After it was used to read a contract, it has
/// all documents that the contract needs.
pub struct Recorder<'r> {
    resolver: &'r dyn Resolver,
    log: RefCell<Log>,
}

#[derive(Default)]
struct Log {
    /// URI and text of the documents, in the order in which they were read.
    documents: Vec<(String, String)>,
    /// The URIs in `documents`.
    read: HashSet<String>,
    /// The URI that each reference leads to. The key is the base, the location and the namespace of the request.
    references: HashMap<(String, Option<String>, String), String>,
    /// For the URI of each document that was requested by a URL, or by a location relative to one: this URL.
    requested_by: HashMap<String, String>,
}

impl<'r> Recorder<'r> {
    /// Creates a recorder that has recorded nothing yet.
    #[must_use]
    pub fn new(resolver: &'r dyn Resolver) -> Self {
        Self { resolver, log: RefCell::default() }
    }

    /// Returns the recorded documents as a bundle of the contract `main`, or `None` if `main` was not read.
    ///
    /// A document is named by the URL that it was requested by. A file that was not requested by a URL is named by its
    /// path relative to the contract, so that a bundle doesn't reveal paths of the machine that it was made on.
    #[must_use]
    pub fn bundle(self, main: &str) -> Option<Bundle> {
        let Log { documents, references, requested_by, .. } = self.log.into_inner();
        let at = documents.iter().position(|(uri, _)| uri == main)?;
        let mut names: HashMap<String, String> = HashMap::new();
        let mut taken: HashMap<String, u32> = HashMap::new();
        let mut bundle = Bundle::new(String::new());
        let order = std::iter::once(at).chain((0..documents.len()).filter(|&index| index != at));
        for (uri, text) in order.map(|index| &documents[index]) {
            let mut name = match requested_by.get(uri) {
                Some(url) => url.clone(),
                None => as_xml(&relative_to(main, uri)),
            };
            // A number is added to a name that is taken. The result may be the name of another document, and so be taken, too.
            while let Some(times) = taken.get_mut(&name) {
                *times += 1;
                name = format!("{name}#{times}");
            }
            taken.insert(name.clone(), 1);
            names.insert(uri.clone(), name.clone());
            bundle.add(name, in_utf8(text));
        }
        let named = |uri: &str| names.get(uri).cloned();
        let references = references.into_iter().filter_map(|((base, location, namespace), uri)| {
            // References from and to documents that were not recorded, such as built-in schemas, are left out. They are
            // resolved again when the bundle is read.
            Some(((named(&base)?, location, namespace), named(&uri)?))
        });
        bundle.references = references.collect();
        bundle.main = named(main)?;
        Some(bundle)
    }
}

impl Resolver for Recorder<'_> {
    fn locate(&self, request: &Request<'_>) -> Option<String> {
        let uri = self.resolver.locate(request)?;
        let mut log = self.log.borrow_mut();
        let location = request.location.map(str::to_owned);
        let url = location.as_deref().map(str::trim).and_then(|location| match log.requested_by.get(request.base) {
            Some(base) => Some(join(base, location)),
            None => location.contains("://").then(|| location.to_owned()),
        });
        if let Some(url) = url {
            log.requested_by.entry(uri.clone()).or_insert(url);
        }
        log.references.insert((request.base.to_owned(), location, request.namespace.to_owned()), uri.clone());
        Some(uri)
    }

    fn read(&self, uri: &str) -> Result<Vec<u8>, String> {
        let bytes = self.resolver.read(uri)?;
        // A text with characters that XML can't contain is not recorded, because it would make the bundle invalid.
        if let Ok(text) = encoding::decode(&bytes)
            && text.chars().all(is_char)
        {
            let mut log = self.log.borrow_mut();
            if log.read.insert(uri.to_owned()) {
                log.documents.push((uri.to_owned(), text.into_owned()));
            }
        }
        Ok(bytes)
    }

    fn suggest(&self, request: &Request<'_>) -> Option<String> {
        self.resolver.suggest(request)
    }
}

/// Percent-encodes the characters of a file name that XML can't contain.
fn as_xml(name: &str) -> String {
    let escape = |c: char| if is_char(c) { c.to_string() } else { format!("%{:02X}", u32::from(c)) };
    name.chars().map(escape).collect()
}

/// Returns a path relative to the folder of another path. A URL is returned unchanged.
fn relative_to(main: &str, uri: &str) -> String {
    if uri.contains("://") {
        return uri.to_owned();
    }
    let folder: Vec<Component<'_>> = Path::new(main).parent().into_iter().flat_map(Path::components).collect();
    let path: Vec<Component<'_>> = Path::new(uri).components().collect();
    let common = folder.iter().zip(&path).take_while(|(one, other)| one == other).count();
    let up = folder[common..].iter().map(|_| "..".to_owned());
    let down = path[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Converts line ends to `\n`, replaces an XML declaration by one for UTF-8, and removes white space at the end.
fn in_utf8(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let declared = text.strip_prefix("<?xml").filter(|rest| rest.starts_with([' ', '\t', '\n']));
    let text = match declared.and_then(|rest| rest.split_once("?>")) {
        Some((_, rest)) => format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{rest}"),
        None => text,
    };
    text.trim_end().to_owned()
}
