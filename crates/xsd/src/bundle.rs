//! One file of a contract and all that it imports.
//!
//! ```xml
//! <bundle xmlns="urn:castile:bundle" main="http://www.example.com/orders.wsdl">
//!   <document uri="http://www.example.com/orders.wsdl"><![CDATA[…]]>
//!     <reference location="orders.xsd" namespace="urn:orders" uri="http://www.example.com/orders.xsd"/>
//!   </document>
//!   <document uri="http://www.example.com/orders.xsd"><![CDATA[…]]></document>
//!   <made by="…" of="…">…</made>
//! </bundle>
//! ```
//!
//! Each document stands as it was found, in UTF-8, with what became of each of its references: a bundle is read without
//! looking anything up. The same contract gives the same file, byte for byte.
//!
//! Behind the documents may stand what a program made of them ([`Made`]), so that it need not do so again.

mod record;

use std::collections::HashMap;
use std::fmt::Write;

use castile_xml::tree::{Document, Element};

pub use record::Recorder;

use crate::{Diagnostic, Diagnostics, Location, Request, Resolver, encoding};

const NAMESPACE: &str = "urn:castile:bundle";

/// A contract and all that it imports: a [`Resolver`] that needs nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    main: String,
    documents: Vec<Bundled>,
    /// URI → index of `documents`
    by_uri: HashMap<String, usize>,
    /// (base, location, namespace) → URI
    references: HashMap<(String, Option<String>, String), String>,
    /// What was made of the documents. Nobody but who made it knows what it is worth.
    pub made: Option<Made>,
}

/// What a program made of the documents of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The program that made it, and whatever it needs to know again.
    pub by: String,
    /// What tells the documents that it was made of from others.
    pub of: String,
    /// A text that XML can carry, without white space at its ends.
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Bundled {
    uri: String,
    text: String,
}

impl Bundle {
    fn new(main: String) -> Self {
        Self { main, documents: Vec::new(), by_uri: HashMap::new(), references: HashMap::new(), made: None }
    }

    fn add(&mut self, uri: String, text: String) {
        self.by_uri.entry(uri.clone()).or_insert(self.documents.len());
        self.documents.push(Bundled { uri, text });
    }

    /// The URI of the contract itself.
    #[must_use]
    pub fn main(&self) -> &str {
        &self.main
    }

    /// The URIs of all documents, the contract's first.
    pub fn uris(&self) -> impl ExactSizeIterator<Item = &str> {
        self.documents.iter().map(|document| &*document.uri)
    }

    /// Hands out all that tells the documents and their references from others, piece by piece.
    pub fn identity(&self, mut piece: impl FnMut(&[u8])) {
        let mut text = |text: &str| {
            piece(&(text.len() as u64).to_le_bytes());
            piece(text.as_bytes());
        };
        text(&self.main);
        for document in &self.documents {
            text(&document.uri);
            text(&document.text);
        }
        let mut references: Vec<_> = self.references.iter().collect();
        references.sort();
        for ((base, location, namespace), uri) in references {
            text(base);
            text(location.as_deref().unwrap_or("\0"));
            text(namespace);
            text(uri);
        }
    }

    /// Whether `bytes` are those of a bundle, by how they begin.
    #[must_use]
    pub fn is_bundle(bytes: &[u8]) -> bool {
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(500)]);
        let head = head.trim_start_matches('\u{FEFF}');
        head.contains("<bundle") && head.contains(NAMESPACE)
    }

    /// The file.
    #[must_use]
    pub fn write(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        // Writing to a string can't fail.
        let _ = writeln!(out, "<bundle xmlns=\"{NAMESPACE}\" main=\"{}\">", escaped(&self.main));
        let mut references: HashMap<&str, Vec<_>> = HashMap::new();
        for ((base, location, namespace), uri) in &self.references {
            references.entry(base).or_default().push((location, namespace, uri));
        }
        for document in &self.documents {
            let _ = write!(out, "  <document uri=\"{}\">", escaped(&document.uri));
            let _ = writeln!(out, "<![CDATA[{}]]>", document.text.replace("]]>", "]]]]><![CDATA[>"));
            let mut of_this = references.remove(&*document.uri).unwrap_or_default();
            of_this.sort();
            for (location, namespace, uri) in of_this {
                out.push_str("    <reference");
                if let Some(location) = location {
                    let _ = write!(out, " location=\"{}\"", escaped(location));
                }
                let _ = writeln!(out, " namespace=\"{}\" uri=\"{}\"/>", escaped(namespace), escaped(uri));
            }
            out.push_str("  </document>\n");
        }
        if let Some(Made { by, of, text }) = &self.made {
            let _ = writeln!(out, "  <made by=\"{}\" of=\"{}\">{}</made>", escaped(by), escaped(of), escaped(text));
        }
        out.push_str("</bundle>\n");
        out
    }

    /// Reads the file `name`. There is no bundle only if something is wrong with it, which the diagnostics say.
    #[must_use]
    pub fn read(name: &str, bytes: &[u8]) -> (Option<Self>, Vec<Diagnostic>) {
        let mut diagnostics = Diagnostics::default();
        let bundle = Self::parse(name, bytes, &mut diagnostics);
        (bundle, diagnostics.finish().1)
    }

    fn parse(name: &str, bytes: &[u8], diagnostics: &mut Diagnostics) -> Option<Self> {
        let text = match encoding::decode(bytes) {
            Ok(text) => text,
            Err(message) => {
                let file = diagnostics.sources.add(name, "".into());
                diagnostics.error(Location::file(file), format!("{name} can't be read: {message}"));
                return None;
            }
        };
        let document = match Document::parse(&text) {
            Ok(document) => document,
            Err(error) => {
                let file = diagnostics.sources.add(name, (&*text).into());
                diagnostics.error(Location::at(file, error.offset()), error.message());
                return None;
            }
        };
        let file = diagnostics.sources.add(name, document.text().clone());
        match Self::of(document.root()) {
            Ok(bundle) => Some(bundle),
            Err((element, message)) => {
                diagnostics.error(Location::of(file, element), message);
                None
            }
        }
    }

    fn of(root: Element<'_>) -> Result<Self, (Element<'_>, String)> {
        if !root.is(NAMESPACE, "bundle") {
            let message =
                format!("the document element is <{}>, expected <bundle> of namespace {NAMESPACE:?}", root.local());
            return Err((root, message));
        }
        let attribute = |element: Element<'_>, name: &str| element.attribute(name).map(str::to_owned);
        let main = attribute(root, "main").ok_or((root, "<bundle> has no `main`".to_owned()))?;
        let mut bundle = Self::new(main);
        for document in root.elements() {
            if document.local() == "made" {
                let (by, of) = (attribute(document, "by"), attribute(document, "of"));
                let text = document.text().trim().to_owned();
                bundle.made = by.zip(of).map(|(by, of)| Made { by, of, text });
                continue;
            }
            let uri = attribute(document, "uri").ok_or((document, "<document> has no `uri`".to_owned()))?;
            for reference in document.elements() {
                let to = attribute(reference, "uri").ok_or((reference, "<reference> has no `uri`".to_owned()))?;
                let namespace = attribute(reference, "namespace").unwrap_or_default();
                bundle.references.insert((uri.clone(), attribute(reference, "location"), namespace), to);
            }
            // White space stands around the references, and none before the document.
            let mut text = document.text();
            text.truncate(text.trim_end().len());
            bundle.add(uri, text);
        }
        if bundle.find(&bundle.main).is_none() {
            return Err((root, format!("the bundle has no document {}, which it says is the contract", bundle.main)));
        }
        Ok(bundle)
    }

    fn find(&self, uri: &str) -> Option<&Bundled> {
        self.by_uri.get(uri).map(|&index| &self.documents[index])
    }
}

impl Resolver for Bundle {
    fn locate(&self, request: &Request<'_>) -> Option<String> {
        let location = request.location.map(str::to_owned);
        self.references.get(&(request.base.to_owned(), location, request.namespace.to_owned())).cloned()
    }

    fn read(&self, uri: &str) -> Result<Vec<u8>, String> {
        let document = self.find(uri).ok_or_else(|| "no such document is in the bundle".to_owned())?;
        Ok(document.text.clone().into_bytes())
    }
}

/// For an attribute value in double quotes.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}
