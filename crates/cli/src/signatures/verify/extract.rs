//! Files with what was signed, for `--extract`.

use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, bail};
use castile_wss::VerifiedContent;
use castile_wss::document::VerifiedDocument;
use castile_xml::excerpt;

use crate::outcome;

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
        let is_inside = |content: &VerifiedContent| {
            matches!(content, VerifiedContent::Document { .. } | VerifiedContent::Element { .. })
        };
        let mut found: Vec<_> =
            references.filter(|reference| is_wanted(&reference.uri) && is_inside(&reference.content)).collect();
        // Several may have signed the same.
        found.dedup_by_key(|reference| &reference.content);
        let [reference] = found.as_slice() else {
            let known: Vec<String> = found.iter().map(|one| format!("\"{}\"", excerpt(&one.uri, 60))).collect();
            match (&self.uri, known.is_empty()) {
                (Some(uri), true) => bail!("no signature is over \"{}\" in the document", excerpt(uri, 60)),
                (None, true) => bail!("the signatures are over nothing in the document"),
                (_, false) => {
                    bail!("several contents are signed, expected --extract URI=FILE with one of {}", known.join(", "))
                }
            }
        };
        let text = document.extract(reference)?.unwrap_or_default();
        // Two options may name one file.
        let written = File::create_new(&self.file).and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| format!("can't write {}", self.file.display())).map_err(outcome::incomplete)?;
        Ok(self.file.clone())
    }
}
