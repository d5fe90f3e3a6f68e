//! Canonical forms of what is signed, and of what says so.

use std::collections::{BTreeMap, BTreeSet};

use castile_xml::c14n::{Algorithm, Form, Method, Sink, Subset, Version};
use castile_xml::{Reader, Token};

use crate::crypto::{self, Digest, SigningKey};
use crate::included::update_with;
use crate::index::absent;
use crate::known::KnownContent;
use crate::message::SentIncludes;
use crate::verify::Source;
use crate::{DigestAlgorithm, Error};

/// The canonicalization of what Castile signs, unless told otherwise.
pub(crate) const EXCLUSIVE_10: Algorithm = Algorithm { version: Version::Exclusive10, with_comments: false };

/// What of a message is not in its text while it is signed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Elsewhere<'e> {
    /// The parts that elements stand for.
    pub(crate) includes: Option<&'e SentIncludes<'e>>,
    /// The content that a marker stands for.
    pub(crate) known: Option<&'e KnownContent<'e>>,
}

/// Content that is to be signed.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// Where its element begins. `None` for the whole document.
    apex: Option<usize>,
    form: WantedForm,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WantedForm {
    /// Its own form. Prefixes that only values use are listed.
    Own,
    /// The form of a token, in place of a reference to it (the STR-Transform, WS-Security §8.3). Prefixes are listed only if
    /// `lists_omitted`, because not every stack reads a `PrefixList` there.
    Token { lists_omitted: bool },
}

impl Wanted {
    /// The element at `apex`, or the whole document.
    pub(crate) fn part(apex: Option<usize>) -> Self {
        Wanted { apex, form: WantedForm::Own }
    }

    /// The token at `apex`, in place of a reference to it.
    pub(crate) fn token(apex: usize, lists_omitted: bool) -> Self {
        Wanted { apex: Some(apex), form: WantedForm::Token { lists_omitted } }
    }
}

/// The digest of content. The canonical form has no comments.
pub(crate) struct Canonical {
    pub(crate) digest: Vec<u8>,
    /// The `PrefixList` of exclusive canonicalization. It has the default namespace, all prefixes in scope, and those that are declared
    /// inside and that only values use: their declarations would not be signed.
    pub(crate) prefixes: String,
}

impl Canonical {
    /// Digests all this content. The document is read once, and again if values use prefixes that nothing else does. Parts, and
    /// known content, are digested in place of the elements and the marker that stand for them, except in tokens.
    pub(crate) fn of(
        source: Source<'_>,
        wanted: &[Wanted],
        algorithm: Algorithm,
        digest: DigestAlgorithm,
        elsewhere: Elsewhere<'_>,
    ) -> Result<Vec<Self>, Error> {
        let of =
            |wanted: &[(Wanted, BTreeSet<String>)]| RunningDigest::of(source, wanted, algorithm, digest, elsewhere);
        let mut scopes = BTreeMap::new();
        let is_exclusive = algorithm.version == Version::Exclusive10;
        if is_exclusive {
            let own = wanted.iter().filter(|wanted| wanted.form == WantedForm::Own);
            scopes = prefixes_at(source, &own.filter_map(|wanted| wanted.apex).collect(), elsewhere.known)?;
        }
        let own_prefixes = |wanted: &Wanted| {
            let mut prefixes = BTreeSet::new();
            if is_exclusive && wanted.form == WantedForm::Own {
                prefixes.extend(wanted.apex.and_then(|apex| scopes.get(&apex).cloned()).unwrap_or_default());
                // Also if there is none: somebody could declare it later, and names in values would mean something else.
                prefixes.insert("#default".to_owned());
            }
            prefixes
        };
        let mut wanted: Vec<_> = wanted.iter().map(|wanted| (*wanted, own_prefixes(wanted))).collect();
        let mut contents = of(&wanted)?;
        let (mut numbers, mut again) = (Vec::new(), Vec::new());
        for (number, (content, (wanted, prefixes))) in contents.iter_mut().zip(&mut wanted).enumerate() {
            let lists_omitted = wanted.form != WantedForm::Token { lists_omitted: false };
            if lists_omitted && !content.omitted.is_empty() {
                prefixes.append(&mut content.omitted);
                numbers.push(number);
                again.push((*wanted, prefixes.clone()));
            }
        }
        for (number, content) in numbers.into_iter().zip(of(&again)?) {
            contents[number] = content;
        }
        let finished = contents.into_iter().zip(wanted);
        let finished = finished.map(|(content, (_, prefixes))| Canonical {
            digest: content.digest.finish(),
            prefixes: prefix_list(&prefixes),
        });
        Ok(finished.collect())
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

/// Returns the prefixes in scope at each of these elements, as a `PrefixList` has them. An element around known content also gets
/// those in scope at the content, so that their declarations stay where they are, and the content needs none.
fn prefixes_at(
    source: Source<'_>,
    apexes: &BTreeSet<usize>,
    known: Option<&KnownContent<'_>>,
) -> Result<BTreeMap<usize, BTreeSet<String>>, Error> {
    let mut scopes: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
    let mut is_marker_due = known.is_some();
    let mut reader = source.reader()?;
    while scopes.len() < apexes.len() || is_marker_due {
        match reader.next()? {
            Token::StartTag(tag) if apexes.contains(&tag.offset) => {
                scopes.insert(tag.offset, prefixes_in_scope(&reader));
            }
            Token::Text(text) if known.is_some_and(|known| known.is_marked(&text)) => {
                is_marker_due = false;
                let prefixes = prefixes_in_scope(&reader);
                for offset in reader.open_offsets() {
                    if let Some(scope) = scopes.get_mut(&offset) {
                        scope.extend(prefixes.iter().cloned());
                    }
                }
            }
            Token::End => return Err(absent()),
            _ => {}
        }
    }
    Ok(scopes)
}

fn prefixes_in_scope(reader: &Reader<'_>) -> BTreeSet<String> {
    let is_bound = |prefix: &str| reader.resolve(prefix).is_some_and(|name| !name.is_empty());
    let prefixes = reader.namespaces().map(|(prefix, _)| prefix);
    prefixes.filter(|prefix| !matches!(*prefix, "" | "xml") && is_bound(prefix)).map(str::to_owned).collect()
}

fn prefix_list(prefixes: &BTreeSet<String>) -> String {
    prefixes.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Content whose digest is computed.
struct RunningDigest<'e> {
    digest: Box<dyn Digest>,
    omitted: BTreeSet<String>,
    /// Whether the next text is the start tag of a token that replaces a reference to it.
    is_token: bool,
    elsewhere: Elsewhere<'e>,
    /// Why a part can't be digested.
    failed: Option<Error>,
}

impl<'e> RunningDigest<'e> {
    /// Digests content, each with its `PrefixList`.
    fn of(
        source: Source<'_>,
        wanted: &[(Wanted, BTreeSet<String>)],
        algorithm: Algorithm,
        digest: DigestAlgorithm,
        elsewhere: Elsewhere<'e>,
    ) -> Result<Vec<Self>, Error> {
        let (mut contents, mut methods) = (Vec::new(), Vec::new());
        for (wanted, prefixes) in wanted {
            let method = Method::new(algorithm).without_comments();
            methods.push(method.with_inclusive_namespaces(&prefix_list(prefixes)));
            let is_token = wanted.form != WantedForm::Own;
            let elsewhere = if is_token { Elsewhere::default() } else { elsewhere };
            let digest = crypto::digest(digest)?;
            contents.push(RunningDigest { digest, omitted: BTreeSet::new(), is_token, elsewhere, failed: None });
        }
        let forms = wanted.iter().zip(&methods).zip(&mut contents).map(|(((wanted, _), method), out)| Form {
            method,
            subset: Subset { apex: wanted.apex, without: None },
            out,
        });
        source.write_all(forms.collect())?;
        match contents.iter_mut().find_map(|content| content.failed.take()) {
            None => Ok(contents),
            Some(error) => Err(error),
        }
    }
}

impl Sink for &mut RunningDigest<'_> {
    fn text(&mut self, piece: &str) {
        let mut update = |piece: &str| self.digest.update(piece.as_bytes());
        match (std::mem::take(&mut self.is_token), self.elsewhere.known) {
            (true, _) => start_of_token(piece, update),
            (false, Some(known)) => known.pass(piece, update),
            (false, None) => update(piece),
        }
    }

    fn next_replaced(&self, offset: usize) -> Option<usize> {
        self.elsewhere.includes?.next_from(offset)
    }

    fn replace(&mut self, offset: usize) {
        let Some(content) = self.elsewhere.includes.and_then(|includes| includes.at(offset)) else { return };
        let digested = content.and_then(|content| update_with(&mut *self.digest, content));
        self.failed = self.failed.take().or(digested.err());
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
