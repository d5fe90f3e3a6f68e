//! Loads a schema document and all documents that it needs: it follows imports, includes and redefinitions. Each
//! document is read once. Declarations are made only after all documents are loaded (§4.2).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use castile_xml::tree::{Document, Element, ElementId as NodeId};

use crate::limits::BYTES_OF_TEXT;
use crate::parse::{Components, Defaults, Definitions, Parser, Redefinitions};
use crate::structure::Misplaced;
use crate::{
    Diagnostics, FileId, Limits, Location, Reference, Request, Resolver, Schema, Severity, XSD_NAMESPACE, encoding,
    resolve, wellknown,
};

/// A parsed document with its name in diagnostics.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The document tree.
    pub document: Arc<Document>,
    /// The document's id in locations.
    pub file: FileId,
    /// The document's URI, which its references are relative to.
    pub uri: Arc<str>,
}

/// Collects schema documents, loaded by URI or embedded in WSDL documents, and builds one [`Schema`] from them.
pub struct Loader<'r> {
    resolver: &'r dyn Resolver,
    limits: Limits,
    /// The problems found so far.
    pub diagnostics: Diagnostics,
    /// Total size of all documents in bytes.
    bytes: usize,
    /// How many imports and includes were followed. A document that is included into several namespaces counts its
    /// references again for each namespace, and for each further namespace one more per 64 bytes of its text.
    followed: usize,
    /// Whether a limit was exceeded. This is reported once.
    is_full: bool,
    opened: HashMap<String, Option<Opened>>,
    /// Documents by their text: copies of one document at several locations are loaded once.
    by_text: HashMap<Arc<str>, Opened>,
    schemas: Vec<SchemaDocument>,
    seen: HashSet<(FileId, NodeId, Arc<str>)>,
    /// The schemas that were added for any namespace.
    added: HashSet<(FileId, NodeId)>,
    /// The target namespaces of all schemas.
    namespaces: HashSet<Arc<str>>,
    /// Imports whose location led to no document, or that have no location.
    pending: Vec<Pending>,
    /// The documents that were found by namespace.
    by_namespace: HashMap<String, FileId>,
}

/// A `<schema>` element and the namespace that its declarations belong to.
struct SchemaDocument {
    opened: Opened,
    root: NodeId,
    target_namespace: Arc<str>,
    chameleon: bool,
}

struct Pending {
    base: Opened,
    namespace: String,
    location: Option<String>,
    origin: Location,
}

impl<'r> Loader<'r> {
    /// Creates a loader without documents. `resolver` finds the documents that are requested.
    #[must_use]
    pub fn new(resolver: &'r dyn Resolver) -> Self {
        Self::within(resolver, Limits::default())
    }

    /// Creates a loader with the given limits.
    #[must_use]
    pub fn within(resolver: &'r dyn Resolver, limits: Limits) -> Self {
        Self {
            resolver,
            limits,
            diagnostics: Diagnostics::within(&limits),
            bytes: 0,
            followed: 0,
            is_full: false,
            opened: HashMap::new(),
            by_text: HashMap::new(),
            schemas: Vec::new(),
            seen: HashSet::new(),
            added: HashSet::new(),
            namespaces: HashSet::new(),
            pending: Vec::new(),
            by_namespace: HashMap::new(),
        }
    }

    /// Returns the URI of the document that `request` asks for.
    #[must_use]
    pub fn locate(&self, request: &Request<'_>) -> Option<String> {
        self.resolver.locate(request).or_else(|| wellknown::locate(request))
    }

    /// Returns a hint for a location that leads to no document.
    #[must_use]
    pub fn where_it_may_be(&self, request: &Request<'_>) -> String {
        let Request { base, location, namespace } = *request;
        if let Some(nearly) = self.resolver.suggest(request) {
            return format!("did you mean {nearly}?");
        }
        let what = namespace_in_words(namespace);
        match [base, location.unwrap_or_default()].iter().any(|uri| uri.contains("://")) {
            true => format!(
                "documents are not fetched: map it to a file of {what} in a catalog, or put all documents into one \
                 file with `castile bundle --fetch`"
            ),
            false => format!("it was resolved against {base}; a catalog can map it to a file of {what}"),
        }
    }

    /// Reads the document `uri`, which is requested at `from`. Returns `None` and adds an error to the diagnostics if
    /// it can't be read. A document is read once, however often it is opened.
    pub fn open(&mut self, uri: &str, from: Option<Location>) -> Option<Opened> {
        if let Some(known) = self.opened.get(uri) {
            return known.clone();
        }
        // Built-in documents don't count towards the limit.
        let (count, limit) = (self.by_text.len(), self.limits.documents);
        let is_own = !uri.starts_with(wellknown::SCHEME);
        if is_own && count >= limit && !self.is_within(count + 1, limit, "documents", from) {
            return None;
        }
        let opened = self.read(uri, from);
        self.opened.insert(uri.to_owned(), opened.clone());
        opened
    }

    /// Opens the document `uri`, which the document `from` references at `place`.
    pub fn open_import(&mut self, uri: &str, from: FileId, by: Reference, place: Location) -> Option<Opened> {
        let opened = self.open(uri, Some(place))?;
        self.diagnostics.sources.add_import(from, by, opened.file);
        Some(opened)
    }

    fn read(&mut self, uri: &str, from: Option<Location>) -> Option<Opened> {
        let bytes = match wellknown::read(uri) {
            Some(text) => Ok(text.into()),
            None => self.resolver.read(uri),
        };
        let text = bytes.and_then(|bytes| encoding::decode(&bytes).map(std::borrow::Cow::into_owned));
        let text = match text {
            Ok(text) => text,
            Err(message) => {
                let place = from.unwrap_or_else(|| Location::file(self.diagnostics.sources.add(uri, "".into())));
                self.diagnostics.error(place, format!("{uri} can't be read: {message}"));
                return None;
            }
        };
        // A document that is at several locations counts once for each.
        self.bytes = self.bytes.saturating_add(text.len());
        if !self.is_within(self.bytes, self.limits.document_bytes, "document_bytes", from) {
            return None;
        }
        if let Some(opened) = self.by_text.get(text.as_str()) {
            return Some(opened.clone());
        }
        match Document::parse(&text) {
            Ok(document) => {
                let file = self.diagnostics.sources.add(uri, document.text().clone());
                let opened = Opened { document: Arc::new(document), file, uri: uri.into() };
                self.by_text.insert(opened.document.text().clone(), opened.clone());
                Some(opened)
            }
            Err(error) => {
                let file = self.diagnostics.sources.add(uri, text.into());
                self.diagnostics.error(Location::at(file, error.offset()), error.message());
                None
            }
        }
    }

    /// Returns true if `count` is within the `limit` called `name`. Otherwise reports the limit, unless one was
    /// reported before.
    fn is_within(&mut self, count: usize, limit: usize, name: &str, from: Option<Location>) -> bool {
        if count <= limit {
            return true;
        }
        if !std::mem::replace(&mut self.is_full, true) {
            let what = match name {
                "document_bytes" => "bytes in its documents",
                "documents" => "documents",
                "schemas" => "schemas, where included documents count for each namespace",
                _ => "types, elements, attributes and groups, or imports and includes with the text that they repeat",
            };
            let message = format!("the contract has {count} {what}, expected at most {limit}");
            let place = from.unwrap_or(crate::components::NOWHERE);
            let note = format!("this is the limit `{name}`; the rest is not read");
            self.diagnostics.limit_exceeded(place, message).with_note(note);
        }
        false
    }

    /// Adds the schema document `uri`.
    pub fn document(&mut self, uri: &str) {
        if let Some(opened) = self.open(uri, None) {
            let root = opened.document.root().id();
            self.schema(&opened, root);
        }
    }

    /// Adds the `<schema>` element `root`, which is a document element or part of a WSDL, and everything that it
    /// imports.
    pub fn schema(&mut self, opened: &Opened, root: NodeId) {
        let mut queue = Vec::new();
        self.add(opened, root, None, None, &mut queue);
        self.follow(queue);
    }

    /// Follows an `import` element of a WSDL: a schema document of `namespace` at `location`.
    pub fn import(&mut self, base: &Opened, namespace: &str, location: Option<&str>, place: Location) {
        let mut queue = Vec::new();
        self.request(base, namespace, location, place, &mut queue);
        self.follow(queue);
    }

    /// Builds the components of all documents and resolves their references.
    #[must_use]
    pub fn finish(mut self) -> (Schema, Diagnostics) {
        self.follow_pending();
        let mut components = Components::default();
        crate::schema::define_builtins(&mut components);
        let mut redefinitions = Redefinitions::default();
        for schema in &self.schemas {
            let root = schema.opened.document.element(schema.root);
            for redefine in root.elements().filter(|child| child.is(XSD_NAMESPACE, "redefine")) {
                for child in redefine.elements() {
                    redefinitions.add(child, schema.opened.file, &schema.target_namespace, &mut components);
                }
            }
        }
        let mut definitions = Definitions::default();
        let mut misplaced = Misplaced::default();
        let mut too_many = None;
        let mut next = 0;
        'all: while next < self.schemas.len() {
            for (index, schema) in self.schemas.iter().enumerate().skip(next) {
                if components.len() > self.limits.components {
                    too_many = Some((components.len(), Location::file(schema.opened.file)));
                    break 'all;
                }
                let root = schema.opened.document.element(schema.root);
                misplaced.check(root, schema.opened.file, &mut self.diagnostics);
                let mut parser = Parser {
                    components: &mut components,
                    diagnostics: &mut self.diagnostics,
                    redefinitions: &redefinitions,
                    definitions: &mut definitions,
                    misplaced: &misplaced,
                    file: schema.opened.file,
                    schema: index,
                    target_namespace: schema.target_namespace.clone(),
                    chameleon: schema.chameleon,
                    defaults: Defaults::default(),
                    defaults_defect: None,
                    imported: imports(root),
                    redefining: None,
                    depth: 0,
                };
                parser.read_defaults(root);
                parser.schema(root);
            }
            next = self.schemas.len();
            // Many contracts use SOAP's array type without importing its namespace.
            for namespace in components.undefined_namespaces() {
                self.need(&namespace);
            }
        }
        if let Some((count, place)) = too_many {
            self.is_within(count, self.limits.components, "components", Some(place));
        }
        let versions = definitions.report(&mut self.diagnostics);
        let schema = resolve::resolve(components, &versions, self.limits, &mut self.diagnostics);
        (schema, self.diagnostics)
    }

    /// Adds the built-in schema of `namespace`, if there is one and no document of that namespace was added.
    pub fn need(&mut self, namespace: &str) {
        let request = Request { base: "", location: None, namespace };
        if self.namespaces.contains(namespace) {
            return;
        }
        if let Some(uri) = wellknown::locate(&request) {
            self.document(&uri);
        }
    }

    /// Follows imports and includes until none are left.
    fn follow(&mut self, mut queue: Vec<usize>) {
        while let Some(index) = queue.pop() {
            let (opened, root) = (self.schemas[index].opened.clone(), self.schemas[index].root);
            let target = self.schemas[index].target_namespace.clone();
            let document = opened.document.clone();
            for child in document.element(root).elements().filter(|child| child.namespace() == XSD_NAMESPACE) {
                let location = child.attribute("schemaLocation").map(str::trim).filter(|location| !location.is_empty());
                let place = Location::of(opened.file, child);
                if matches!(child.local(), "import" | "include" | "redefine") {
                    self.followed += 1;
                    if !self.is_within(self.followed, self.limits.components, "components", Some(place)) {
                        return;
                    }
                }
                match child.local() {
                    "import" => {
                        let namespace = child.attribute("namespace").unwrap_or_default().trim();
                        if *namespace == *target {
                            let message = format!("namespace {namespace:?} imports itself");
                            self.diagnostics
                                .warning(place, message)
                                .with_rule("src-import")
                                .with_note("documents of one namespace include each other");
                        }
                        self.request(&opened, namespace, location, place, &mut queue);
                    }
                    "include" | "redefine" => self.include(&opened, child, location, &target, place, &mut queue),
                    _ => {}
                }
            }
        }
    }

    fn request(
        &mut self,
        from: &Opened,
        namespace: &str,
        location: Option<&str>,
        place: Location,
        queue: &mut Vec<usize>,
    ) {
        if namespace == XSD_NAMESPACE {
            return;
        }
        let location = location.map(str::trim).filter(|location| !location.is_empty());
        let request = Request { base: &from.uri, location, namespace };
        let found = location.and_then(|location| Some((location, self.resolver.locate(&request)?)));
        match found {
            Some((location, uri)) => {
                let by = Reference::Location(location.to_owned());
                if let Some(opened) = self.open_import(&uri, from.file, by, place) {
                    self.add_import(&opened, namespace, place, queue);
                }
            }
            None => self.pending.push(Pending {
                base: from.clone(),
                namespace: namespace.to_owned(),
                location: location.map(str::to_owned),
                origin: place,
            }),
        }
    }

    /// Adds an imported document: a schema document, or a WSDL that contains schemas of the namespace.
    fn add_import(&mut self, opened: &Opened, namespace: &str, place: Location, queue: &mut Vec<usize>) {
        let root = opened.document.root();
        if root.namespace() == XSD_NAMESPACE || root.local() == "schema" {
            self.add(opened, root.id(), None, Some((namespace, place)), queue);
            return;
        }
        let types = root.elements().filter(|child| child.local() == "types");
        let inner: Vec<_> = types
            .flat_map(Element::elements)
            .filter(|schema| schema.is(XSD_NAMESPACE, "schema"))
            .filter(|schema| schema.attribute("targetNamespace").unwrap_or_default() == namespace)
            .map(Element::id)
            .collect();
        if inner.is_empty() {
            let message = format!("{} is not a schema: its document element is <{}>", opened.uri, root.local());
            self.diagnostics.error(place, message);
        }
        for schema in inner {
            self.add(opened, schema, None, None, queue);
        }
    }

    fn include(
        &mut self,
        from: &Opened,
        child: Element<'_>,
        location: Option<&str>,
        target: &Arc<str>,
        place: Location,
        queue: &mut Vec<usize>,
    ) {
        let Some(location) = location else {
            self.diagnostics.error(place, format!("<{}> has no schemaLocation", child.local()));
            return;
        };
        let request = Request { base: &from.uri, location: Some(location), namespace: target };
        let Some(uri) = self.resolver.locate(&request) else {
            // §4.2.1: an include may lead nowhere, and so may a redefinition that redefines nothing. References to the
            // missing components are reported as errors of their own.
            let redefines = child.local() == "redefine" && child.elements().any(|inner| inner.local() != "annotation");
            let severity = if redefines { Severity::Error } else { Severity::Warning };
            let note = self.where_it_may_be(&request);
            self.diagnostics.add(severity, place, format!("{location} is not found")).with_note(note);
            return;
        };
        let by = Reference::Location(location.to_owned());
        if let Some(opened) = self.open_import(&uri, from.file, by, place) {
            let root = opened.document.root().id();
            self.add(&opened, root, Some((target, place)), None, queue);
        }
    }

    /// Adds a `<schema>` element that is included into a namespace, imported, or neither.
    fn add(
        &mut self,
        opened: &Opened,
        root: NodeId,
        included: Option<(&Arc<str>, Location)>,
        imported: Option<(&str, Location)>,
        queue: &mut Vec<usize>,
    ) {
        let element = opened.document.element(root);
        let here = Location::of(opened.file, element);
        if !element.is(XSD_NAMESPACE, "schema") {
            let message = format!("<{}> of namespace {:?} is not a schema", element.local(), element.namespace());
            let expected = format!("expected <schema> of namespace {XSD_NAMESPACE:?}");
            self.diagnostics.error(here, message).with_note(expected);
            return;
        }
        let own: Arc<str> = element.attribute("targetNamespace").unwrap_or_default().trim().into();
        if element.attribute("targetNamespace").is_some_and(|namespace| namespace.trim().is_empty()) {
            self.diagnostics.warning(here, "targetNamespace is empty").with_note("omit it for no namespace");
        }
        let target = match included {
            Some((target, _)) if own.is_empty() => target.clone(),
            Some((target, place)) if own != *target => {
                let message = format!("{} has namespace {own:?}, expected {target:?}", opened.uri);
                self.diagnostics
                    .error(place, message)
                    .with_note("a document of another namespace is imported, not included");
                own.clone()
            }
            _ => own.clone(),
        };
        if let Some((namespace, place)) = imported
            && *namespace != *own
        {
            let message = format!("{} has namespace {own:?}, expected {namespace:?}", opened.uri);
            self.diagnostics.error(place, message);
        }
        if self.seen.insert((opened.file, root, target.clone())) {
            let place = included.map(|(_, place)| place).or(imported.map(|(_, place)| place)).unwrap_or(here);
            let count = self.schemas.len() + 1;
            if !self.is_within(count, self.limits.schemas, "schemas", Some(place)) {
                return;
            }
            if !self.added.insert((opened.file, root)) {
                self.followed += opened.document.text().len() / BYTES_OF_TEXT;
                if !self.is_within(self.followed, self.limits.components, "components", Some(place)) {
                    return;
                }
            }
            self.namespaces.insert(target.clone());
            let chameleon = own.is_empty() && !target.is_empty();
            self.schemas.push(SchemaDocument { opened: opened.clone(), root, target_namespace: target, chameleon });
            queue.push(self.schemas.len() - 1);
        }
    }

    /// Follows imports without a usable location. The namespace may be provided by another document, known to the
    /// resolver, or built in.
    fn follow_pending(&mut self) {
        while let Some(pending) = self.pending.pop() {
            let Pending { base, location, origin, .. } = &pending;
            let by = match location {
                Some(location) => Reference::Location(location.clone()),
                None => Reference::Namespace(pending.namespace.clone()),
            };
            if self.namespaces.contains(pending.namespace.as_str()) {
                if let Some(file) = self.by_namespace.get(&pending.namespace) {
                    self.diagnostics.sources.add_import(base.file, by, *file);
                }
                continue;
            }
            let request = Request { base: &base.uri, location: None, namespace: &pending.namespace };
            if let Some(uri) = self.locate(&request) {
                if let Some(opened) = self.open_import(&uri, base.file, by, *origin) {
                    self.by_namespace.insert(pending.namespace.clone(), opened.file);
                    let mut queue = Vec::new();
                    self.add_import(&opened, &pending.namespace, pending.origin, &mut queue);
                    self.follow(queue);
                }
                continue;
            }
            let request = Request { location: location.as_deref(), ..request };
            let (message, note) = match location {
                Some(location) => (format!("{location} is not found"), self.where_it_may_be(&request)),
                None => {
                    let message = format!("no document of {} was found", namespace_in_words(request.namespace));
                    (message, "the import has no schemaLocation".to_owned())
                }
            };
            // An import may lead nowhere (§4.2.3). References into its namespace are reported as errors of their own.
            self.diagnostics.warning(pending.origin, message).with_note(note);
        }
    }
}

fn namespace_in_words(namespace: &str) -> String {
    match namespace {
        "" => "no namespace".to_owned(),
        namespace => format!("namespace {namespace:?}"),
    }
}

/// Returns the namespaces that a schema document may refer to, besides its own.
fn imports(schema: Element<'_>) -> HashSet<String> {
    schema
        .elements()
        .filter(|child| child.is(XSD_NAMESPACE, "import"))
        .map(|child| child.attribute("namespace").unwrap_or_default().trim().to_owned())
        .collect()
}
