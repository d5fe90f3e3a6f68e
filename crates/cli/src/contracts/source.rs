//! The contract arguments of commands: a WSDL or a bundle, with catalogs for its imports.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use castile_soap::Version;
use castile_wsdl::{Bundle, Catalog, Definitions, Files, Severity};
use castile_xml::tree::Document;

use crate::output;

/// Where the documents that a contract imports are.
#[derive(clap::Args)]
pub(crate) struct Catalogs {
    /// Where imported documents are stored: an OASIS XML catalog, or a file with lines of URL, tab, path; may be repeated
    #[arg(long = "catalog", value_name = "FILE")]
    catalogs: Vec<PathBuf>,
}

impl Catalogs {
    /// Returns a resolver that finds documents through the catalogs, and never uses the network.
    pub(crate) fn files(&self) -> anyhow::Result<Files> {
        let mut files = Files::new();
        for path in &self.catalogs {
            let (catalog, problems) = Catalog::read(path);
            crate::contracts::problems::report(&path.display().to_string(), &problems, Severity::Note)?;
            files.add_catalog(catalog);
        }
        Ok(files)
    }

    /// Returns the path of a contract, and a resolver that contains the contract if it is read from standard input.
    ///
    /// # Errors
    /// The document can't be read, or isn't a contract.
    pub(crate) fn contract(&self, given: &Path) -> anyhow::Result<(PathBuf, Files)> {
        let (path, files, kind) = self.contract_or_schema(given)?;
        expect_kind(&path, &kind)?;
        Ok((path, files))
    }

    /// Returns the path of a contract or schema, a resolver that contains it if it is read from standard input, and its kind.
    ///
    /// # Errors
    /// The document can't be read, or is clearly neither a contract nor a schema.
    pub(crate) fn contract_or_schema(&self, given: &Path) -> anyhow::Result<(PathBuf, Files, Kind)> {
        let mut files = self.files()?;
        let (path, kind) = match given == Path::new("-") {
            true => standard_input(&mut files)?,
            false => (given.to_owned(), kind(given)?),
        };
        Ok((path, files, kind))
    }
}

/// The kind of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A bundle, a WSDL, or a document whose reader reports the best error.
    Contract,
    /// An XML Schema.
    Schema {
        /// The `targetNamespace`, or an empty string.
        target_namespace: String,
    },
}

/// Returns the kind of the document in a file.
///
/// # Errors
/// The file can't be read, or is clearly neither a contract nor a schema.
pub(crate) fn kind(path: &Path) -> anyhow::Result<Kind> {
    let shown = path.display();
    let text = path.to_string_lossy();
    if is_url(&text) {
        bail!(
            "{shown} is a URL, expected a file: `castile bundle {} --fetch -o service.castile` makes one",
            output::shell_quoted(&text)
        );
    }
    expect_file(&text)?;
    let bytes = std::fs::read(path).with_context(|| format!("{shown} can't be read"))?;
    kind_of(&shown.to_string(), &bytes)
}

/// Reads a document from standard input and adds it to `files` under the returned path. Its imports are resolved relative to the working
/// directory.
///
/// # Errors
/// The document can't be read, or is clearly neither a contract nor a schema.
pub(crate) fn standard_input(files: &mut Files) -> anyhow::Result<(PathBuf, Kind)> {
    const NAME: &str = "standard input";
    let mut bytes = Vec::new();
    // With one byte over the limit, the reader reports that the document is too large.
    let most = castile_xsd::Limits::default().document_bytes as u64 + 1;
    std::io::stdin().lock().take(most).read_to_end(&mut bytes).context("standard input can't be read")?;
    let kind = kind_of(NAME, &bytes)?;
    files.add_document(NAME, bytes);
    Ok((PathBuf::from(NAME), kind))
}

/// Returns the kind of the file `name` from its bytes.
pub(crate) fn kind_of(name: &str, bytes: &[u8]) -> anyhow::Result<Kind> {
    // The reader reports documents that aren't text or not well-formed, with the position.
    let Ok(text) = castile_xsd::decode(bytes) else { return Ok(Kind::Contract) };
    if is_html(&text) {
        bail!("{name} is an HTML page, expected a WSDL: a sign-in or error page may have been saved in its place");
    }
    if Bundle::is_bundle(bytes) {
        return Ok(Kind::Contract);
    }
    let Ok(document) = Document::parse(&text) else { return Ok(Kind::Contract) };
    let root = document.root();
    match root.namespace() {
        castile_xsd::XSD_NAMESPACE => Ok(Kind::Schema {
            target_namespace: root.attribute("targetNamespace").unwrap_or_default().trim().to_owned(),
        }),
        "http://www.w3.org/ns/wsdl" => {
            bail!(
                "{name} is WSDL 2.0, expected WSDL 1.1: most services that offer 2.0 offer 1.1 as well, under `?wsdl`"
            )
        }
        "http://wadl.dev.java.net/2009/02" => bail!("{name} is WADL, which describes REST services, expected a WSDL"),
        namespace if namespace.contains("soap") && root.local() == "Envelope" => {
            bail!("{name} is a SOAP message, expected the WSDL that describes it")
        }
        _ => Ok(Kind::Contract),
    }
}

/// Returns an error if the text is a URL with a scheme that can't be fetched.
fn expect_file(text: &str) -> anyhow::Result<()> {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    };
    match text.split_once("://") {
        Some((scheme, _)) if is_scheme(scheme) && !is_url(text) && !Path::new(text).exists() => {
            bail!("found the scheme {scheme} of {text}, expected a file, or a URL of http or https")
        }
        _ => Ok(()),
    }
}

/// Returns an error unless the file is a contract.
pub(crate) fn expect_contract(path: &Path) -> anyhow::Result<()> {
    expect_kind(path, &kind(path)?)
}

fn expect_kind(path: &Path, kind: &Kind) -> anyhow::Result<()> {
    if *kind != Kind::Contract {
        let shown = path.display();
        bail!(
            "{shown} is an XML Schema, expected a WSDL: `castile describe {}` shows its content",
            output::shell_quoted(&path.to_string_lossy())
        );
    }
    Ok(())
}

/// Returns the prefixes that the root element of a contract declares.
pub(crate) fn prefixes(definitions: &Definitions) -> Vec<(String, String)> {
    let document = definitions.sources.texts().next().and_then(|text| Document::parse(text).ok());
    let declared = document.iter().flat_map(|document| document.root().namespaces());
    let named = declared.filter(|(prefix, _)| !prefix.is_empty());
    named.map(|(prefix, namespace)| (prefix.to_owned(), namespace.to_owned())).collect()
}

/// Returns the prefixes that expressions on messages may use: those of the contract's root element, `soap` for the envelope, `tns` for the
/// target namespace.
pub(crate) fn prefixes_of_messages(definitions: &Definitions, version: Version) -> Vec<(String, String)> {
    let mut known = vec![
        ("soap".to_owned(), version.namespace().to_owned()),
        ("tns".to_owned(), definitions.target_namespace.clone()),
    ];
    for (prefix, namespace) in prefixes(definitions) {
        if known.iter().all(|(other, _)| *other != prefix) {
            known.push((prefix, namespace));
        }
    }
    known
}

/// Returns whether an argument or a location is a URL that can be fetched.
pub(crate) fn is_url(text: &str) -> bool {
    let has = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    has("http://") || has("https://")
}

/// Returns whether a document begins like an HTML page, which is often not well-formed XML.
pub(crate) fn is_html(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    // A declaration and comments may come first.
    while let Some(end) = match rest {
        _ if rest.starts_with("<?") => rest.find("?>").map(|at| at + 2),
        _ if rest.starts_with("<!--") => rest.find("-->").map(|at| at + 3),
        _ => None,
    } {
        rest = rest[end..].trim_start();
    }
    let head: String = rest.chars().take(20).collect::<String>().to_ascii_lowercase();
    let head = head.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    head.starts_with("<!doctype html") || head.strip_prefix("<html").is_some_and(|rest| !rest.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_that_are_not_contracts_are_recognised() {
        for (text, expected) in [
            ("<!-- a --><!DOCTYPE HTML PUBLIC 'x'><html>", "HTML page"),
            ("\u{feff}<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'/>", "HTML page"),
            ("<description xmlns='http://www.w3.org/ns/wsdl'/>", "WSDL 2.0"),
            ("<application xmlns='http://wadl.dev.java.net/2009/02'/>", "WADL"),
            ("<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'/>", "SOAP message"),
        ] {
            let error = kind_of("a", text.as_bytes()).expect_err(text);
            assert!(error.to_string().contains(expected), "{text}: {error}");
        }
        for (text, expected) in [
            ("<definitions xmlns='http://schemas.xmlsoap.org/wsdl/'/>", Kind::Contract),
            (
                "<schema xmlns='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:t'/>",
                Kind::Schema { target_namespace: "urn:t".to_owned() },
            ),
            ("<html:a xmlns:html='urn:x'/>", Kind::Contract),
            ("<broken", Kind::Contract),
            ("", Kind::Contract),
        ] {
            assert_eq!(kind_of("a", text.as_bytes()).expect(text), expected, "{text}");
        }
    }
}
