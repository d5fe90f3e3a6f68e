//! Bundles: a contract and all documents that it imports, in one file.
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
//! A bundle has each document as it was found, converted to UTF-8, and the URI that each of its references leads to.
//! Reading a bundle needs no lookups. Equal contracts give equal files, byte for byte.
//!
//! After the documents, a bundle may store data that a program computed from them ([`Made`]), so that the program need
//! not compute it again.

mod record;

use std::collections::HashMap;
use std::fmt::Write;

use castile_xml::tree::{Document, Element};

pub use record::Recorder;

use crate::{Diagnostic, Diagnostics, Location, Request, Resolver, encoding};

const NAMESPACE: &str = "urn:castile:bundle";

/// A contract and all documents that it imports. A bundle is a [`Resolver`] for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    main: String,
    documents: Vec<Bundled>,
    /// URI → index in `documents`.
    by_uri: HashMap<String, usize>,
    /// (base, location, namespace) → URI.
    references: HashMap<(String, Option<String>, String), String>,
    /// Data computed from the documents. Only the program that stored it can check whether it is still valid.
    pub made: Option<Made>,
}

/// Data that a program computed from the documents of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The program that computed the data, and other details that it needs to recognize it.
    pub by: String,
    /// The fingerprint of the documents that the data was computed from.
    pub of: String,
    /// The data: text that XML can contain, without leading or trailing white space.
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

    /// Returns the URI of the contract itself.
    #[must_use]
    pub fn main(&self) -> &str {
        &self.main
    }

    /// Returns the URIs of all documents, starting with the contract.
    pub fn uris(&self) -> impl ExactSizeIterator<Item = &str> {
        self.documents.iter().map(|document| &*document.uri)
    }

    /// Passes the bytes that identify the documents and their references to `piece`, in several chunks, for a hash.
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

    /// Returns true if `bytes` start like a bundle.
    #[must_use]
    pub fn is_bundle(bytes: &[u8]) -> bool {
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(500)]);
        let head = head.trim_start_matches('\u{FEFF}');
        head.contains("<bundle") && head.contains(NAMESPACE)
    }

    /// Returns the bundle as the text of a file.
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

    /// Reads the bundle in the file `name`. Returns `None` if the file has errors, which are in the diagnostics.
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
            // The line break and the references before the end tag add white space after the document's text, but never
            // before it.
            let mut text = document.text();
            text.truncate(text.trim_end().len());
            bundle.add(uri, text);
        }
        if bundle.find(&bundle.main).is_none() {
            return Err((
                root,
                format!("the bundle has no document {}, which its `main` names as the contract", bundle.main),
            ));
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
        let document = self.find(uri).ok_or_else(|| "the bundle has no such document".to_owned())?;
        Ok(document.text.clone().into_bytes())
    }
}

/// Escapes text for an attribute value in double quotes.
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
