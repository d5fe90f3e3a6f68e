//! Files with what was signed, for `--extract`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use castile_wss::VerifiedContent;
use castile_wss::document::VerifiedDocument;
use castile_xml::c14n::{Algorithm, Method, Subset, Version};
use castile_xml::{Memory, Reader, excerpt};

use crate::outcome;
use crate::signatures::limits;

/// A file that is to be written.
pub(super) struct Extract {
    /// The URI of the reference; `None` if there is only one.
    uri: Option<String>,
    file: PathBuf,
}

impl Extract {
    /// Parses `[URI=]FILE`. A URI is empty, or begins with `#`.
    pub(super) fn parse(given: &str) -> anyhow::Result<Self> {
        let extract = match given.rsplit_once('=') {
            Some((uri, file)) if uri.is_empty() || uri.starts_with('#') => {
                Extract { uri: Some(uri.to_owned()), file: file.into() }
            }
            _ => Extract { uri: None, file: given.into() },
        };
        outcome::expect_place(&extract.file)?;
        if extract.file.exists() {
            bail!("{} exists already, and --extract overwrites no file", extract.file.display());
        }
        Ok(extract)
    }

    /// Writes the content, and returns the file.
    ///
    /// # Errors
    /// It is not clear which content is meant, or the file can't be written.
    pub(super) fn write(&self, document: &VerifiedDocument) -> anyhow::Result<PathBuf> {
        let references = document.signatures().iter().flat_map(|signature| &signature.references);
        let is_wanted = |uri: &str| self.uri.as_ref().is_none_or(|wanted| wanted == uri);
        let mut found: Vec<(&str, Subset)> = references
            .filter(|reference| is_wanted(&reference.uri))
            .filter_map(|reference| Some((reference.uri.as_str(), subset(&reference.content)?)))
            .collect();
        // Several may have signed the same.
        found.dedup();
        let [(_, subset)] = found.as_slice() else {
            let known: Vec<String> = found.iter().map(|(uri, _)| format!("\"{}\"", excerpt(uri, 60))).collect();
            match (&self.uri, known.is_empty()) {
                (Some(uri), true) => bail!("no signature is over \"{}\" in the document", excerpt(uri, 60)),
                (None, true) => bail!("the signatures are over nothing in the document"),
                (_, false) => {
                    bail!("several contents are signed, expected --extract URI=FILE with one of {}", known.join(", "))
                }
            }
        };
        let text = canonical(document.text(), *subset)?;
        // Two options may name one file.
        let written = File::create_new(&self.file).and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| format!("can't write {}", self.file.display())).map_err(outcome::incomplete)?;
        Ok(self.file.clone())
    }
}

/// Returns which element is signed. `None` if it is not in the document.
fn subset(content: &VerifiedContent) -> Option<Subset> {
    let (apex, without) = match content {
        VerifiedContent::Document { without } => (None, without),
        VerifiedContent::Element { range, without } => (Some(range.start), without),
        _ => return None,
    };
    Some(Subset { apex, without: without.as_ref().map(|signature| signature.start) })
}

/// Returns the content as a document of its own, which has the declarations that it needs and that values in it may need.
fn canonical(text: &str, subset: Subset) -> anyhow::Result<String> {
    let declared = text.split("xmlns:").skip(1).filter_map(|rest| rest.split(['=', ' ', '\t', '\r', '\n']).next());
    let prefixes: BTreeSet<&str> = declared.collect();
    let prefixes: Vec<&str> = prefixes.into_iter().chain(["#default"]).collect();
    let method = Method::new(Algorithm { version: Version::Exclusive10, with_comments: false });
    let method = method.with_inclusive_namespaces(&prefixes.join(" "));
    let mut reader = Reader::decoded(text, limits().document, &mut Memory::default())?;
    let mut content = String::new();
    method.write(&mut reader, subset, |piece| content.push_str(piece))?;
    Ok(content)
}
