//! Canonical forms of what is signed, and of what says so.

use std::collections::BTreeSet;

use castile_xml::Token;
use castile_xml::c14n::{Algorithm, Form, Method, Sink, Subset, Version, write_all};

use crate::crypto::{self, Digest, SigningKey};
use crate::included::update_with;
use crate::message::SentIncludes;
use crate::verify::Source;
use crate::{DigestAlgorithm, Error, ErrorKind};

/// The digest of an element, or of a whole document.
pub(crate) struct Canonical {
    pub(crate) digest: Vec<u8>,
    /// The `PrefixList` of exclusive canonicalization. It has all prefixes in scope, and those that are declared inside and
    /// that only values use: their declarations would not be signed.
    pub(crate) prefixes: String,
}

impl Canonical {
    /// Digests the element at `apex`, or the document. The canonical form has no comments. It has the texts of parts in place of the
    /// elements that stand for them.
    pub(crate) fn of(
        source: Source<'_>,
        apex: Option<usize>,
        algorithm: Algorithm,
        digest: DigestAlgorithm,
        includes: Option<&SentIncludes<'_>>,
    ) -> Result<Self, Error> {
        let mut prefixes = BTreeSet::new();
        if algorithm.version == Version::Exclusive10 {
            prefixes = prefixes_at(source, apex)?;
        }
        let form = |prefixes: &BTreeSet<String>| {
            Content::new(digest, false, includes)?.read(source, apex, algorithm, prefixes)
        };
        Canonical::with_omitted(form(&prefixes)?, prefixes, form)
    }

    /// Digests the token at `apex`, in place of a reference to it (the STR-Transform, WS-Security §8.3). Prefixes are listed only
    /// if `lists_omitted`, because not every stack reads a `PrefixList` there.
    pub(crate) fn of_token(
        source: Source<'_>,
        apex: usize,
        algorithm: Algorithm,
        digest: DigestAlgorithm,
        lists_omitted: bool,
    ) -> Result<Self, Error> {
        let form = |prefixes: &BTreeSet<String>| {
            Content::new(digest, true, None)?.read(source, Some(apex), algorithm, prefixes)
        };
        let mut content = form(&BTreeSet::new())?;
        if !lists_omitted {
            content.omitted.clear();
        }
        Canonical::with_omitted(content, BTreeSet::new(), form)
    }

    /// Makes the content again with the prefixes that were omitted, if there are any.
    fn with_omitted<'p>(
        mut content: Content<'p>,
        mut prefixes: BTreeSet<String>,
        again: impl FnOnce(&BTreeSet<String>) -> Result<Content<'p>, Error>,
    ) -> Result<Self, Error> {
        if !content.omitted.is_empty() {
            prefixes.append(&mut content.omitted);
            content = again(&prefixes)?;
        }
        let prefixes: Vec<String> = prefixes.into_iter().collect();
        Ok(Canonical { digest: content.digest.finish(), prefixes: prefixes.join(" ") })
    }
}

/// Passes the start tag of a token that replaces a reference to it. Such a token declares that it has no default namespace,
/// unless it has one (WS-Security §8.3).
pub(crate) fn start_of_token(tag: &str, mut out: impl FnMut(&str)) {
    let end = tag.find([' ', '>']).unwrap_or(tag.len());
    let (name, rest) = tag.split_at(end);
    out(name);
    if !rest.starts_with(" xmlns=") {
        out(" xmlns=\"\"");
    }
    out(rest);
}

/// Makes the value of a signature whose `SignedInfo` is at this offset. It is where it will be verified, because its canonical
/// form may depend on what is around it.
pub(crate) async fn signature_value(
    key: &dyn SigningKey,
    source: Source<'_>,
    signed_info: usize,
    algorithm: Algorithm,
) -> Result<Vec<u8>, Error> {
    let mut canonical = Vec::new();
    let subset = Subset { apex: Some(signed_info), without: None };
    Method::new(algorithm).write(&mut source.reader()?, subset, |piece| canonical.extend(piece.as_bytes()))?;
    key.sign(&canonical).await
}

/// Returns the prefixes in scope at an element, as a `PrefixList` has them.
fn prefixes_at(source: Source<'_>, apex: Option<usize>) -> Result<BTreeSet<String>, Error> {
    let Some(apex) = apex else { return Ok(BTreeSet::new()) };
    let mut reader = source.reader()?;
    loop {
        match reader.next()? {
            Token::StartTag(tag) if tag.offset == apex => break,
            Token::End => return Err(Error::new(ErrorKind::Reference, "an element to be signed is not there").at(apex)),
            _ => {}
        }
    }
    let is_bound = |prefix: &str| reader.resolve(prefix).is_some_and(|name| !name.is_empty());
    let prefixes = reader.namespaces().map(|(prefix, _)| prefix).filter(|prefix| *prefix != "xml" && is_bound(prefix));
    Ok(prefixes.map(|prefix| if prefix.is_empty() { "#default" } else { prefix }.to_owned()).collect())
}

/// Content whose digest is computed.
struct Content<'p> {
    digest: Box<dyn Digest>,
    omitted: BTreeSet<String>,
    /// Whether the next text is the start tag of a token that replaces a reference to it.
    is_token: bool,
    /// The elements that stand for parts.
    includes: Option<&'p SentIncludes<'p>>,
    /// Why a part can't be digested.
    failed: Option<Error>,
}

impl<'p> Content<'p> {
    fn new(digest: DigestAlgorithm, is_token: bool, includes: Option<&'p SentIncludes<'p>>) -> Result<Self, Error> {
        let digest = crypto::digest(digest)?;
        Ok(Content { digest, omitted: BTreeSet::new(), is_token, includes, failed: None })
    }

    /// Reads the content to its end.
    fn read(
        mut self,
        source: Source<'_>,
        apex: Option<usize>,
        algorithm: Algorithm,
        prefixes: &BTreeSet<String>,
    ) -> Result<Self, Error> {
        let list: Vec<&str> = prefixes.iter().map(String::as_str).collect();
        let method = Method::new(algorithm).without_comments().with_inclusive_namespaces(&list.join(" "));
        let subset = Subset { apex, without: None };
        write_all(&mut source.reader()?, vec![Form { method: &method, subset, out: &mut self }])?;
        self.failed.take().map_or(Ok(self), Err)
    }
}

impl Sink for &mut Content<'_> {
    fn text(&mut self, piece: &str) {
        match std::mem::take(&mut self.is_token) {
            true => start_of_token(piece, |piece| self.digest.update(piece.as_bytes())),
            false => self.digest.update(piece.as_bytes()),
        }
    }

    fn replaces(&mut self, offset: usize) -> bool {
        let Some(content) = self.includes.and_then(|includes| includes.at(offset)) else { return false };
        let digested = content.and_then(|content| update_with(&mut *self.digest, content));
        self.failed = self.failed.take().or(digested.err());
        true
    }

    fn wants_omitted_prefixes(&self) -> bool {
        true
    }

    fn omitted_prefix(&mut self, prefix: &str, _: usize) {
        if !self.omitted.contains(prefix) {
            self.omitted.insert(prefix.to_owned());
        }
    }
}
