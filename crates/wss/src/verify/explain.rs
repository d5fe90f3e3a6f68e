//! What a signature says, and whether it is right, without stopping at the first problem.

use std::ops::Range;

use bytes::Bytes;
use castile_mime::ContentId;

use super::{DigestSink, Resolved, Target, Verification, VerifiedContent, identity};
use crate::explain::{ExplainedContent, ExplainedKey, ExplainedReference, ExplainedSignature, without_space};
use crate::included::PartsInside;
use crate::key::PublicKey;
use crate::signature::Signature;
use crate::trust::{Trust, VerifyingKey};
use crate::{Error, ErrorKind};

/// Maximum number of keys of an assertion that a signature is compared with.
const MAX_KEYS: usize = 8;

/// Content that parts of the package belong to, which are still to be read.
pub(crate) enum OpenContent {
    Attachment(ContentId),
    /// Content with `xop:Include` elements.
    Included {
        place: VerifiedContent,
        /// The canonical text before the first part.
        start: String,
        /// The parts, each with the canonical text after it.
        parts: Vec<(ContentId, String)>,
        unsigned_prefix: Option<String>,
    },
}

/// A signature that is explained, and the content that is still open, with the numbers of its references.
pub(crate) type Explained = (ExplainedSignature, Vec<(usize, OpenContent)>);

impl Verification<'_> {
    /// Explains a signature. Nothing of it is accepted by that. `subjects` are the assertions whose subject may have its key, with the
    /// keys that they name.
    pub(crate) fn explain(
        &self,
        range: &Range<usize>,
        signature: &Signature,
        subjects: &[(String, Vec<PublicKey>)],
        trust: &Trust,
    ) -> Explained {
        let signed_info = self.signed_info(signature);
        let is_by = |key: &PublicKey| {
            let key = VerifyingKey::Public(key.clone());
            signed_info.as_ref().is_ok_and(|signed_info| self.check_value(&key, signature, signed_info).is_ok())
        };
        let subjects: Vec<(&String, &PublicKey)> = subjects
            .iter()
            .filter_map(|(id, keys)| Some((id, keys.iter().take(MAX_KEYS).find(|key| is_by(key))?)))
            .collect();
        // It was made with the key that its value is right for, which need not be another one that it names. If nobody who is
        // trusted has made it, that can be told for any key that it brings with it.
        let anyone = trust.clone().with_anyone();
        let (key, signer) = match (self.key(signature, trust), subjects.first()) {
            (Ok((key, signer)), _) => (Ok(key), Ok(signer)),
            (Err(error), Some((_, key))) => (Ok(VerifyingKey::Public((*key).clone())), Err(error)),
            (Err(error), None) => (self.key(signature, &anyone).map(|(key, _)| key), Err(error)),
        };
        let modulus_bits = match &key {
            Ok(VerifyingKey::Public(key)) => key.modulus_bits().map(|(_, bits)| bits),
            _ => None,
        };
        let mut is_indented = false;
        let value = match (&key, &signed_info) {
            (Ok(key), Ok(signed_info)) => {
                let value = self.check_value(key, signature, signed_info);
                let flat = value.is_err().then(|| without_space(&String::from_utf8_lossy(signed_info))).flatten();
                is_indented = flat.is_some_and(|flat| self.check_value(key, signature, flat.as_bytes()).is_ok());
                value
            }
            (Err(error), _) => Err(error.clone()),
            (_, Err(error)) => Err(error.clone()),
        };
        let identity = match (&key, &signed_info) {
            (Ok(key), Ok(signed_info)) if value.is_ok() => identity(signed_info, key, &signature.value).ok(),
            _ => None,
        };
        let (references, open) = self.explain_references(signature, range);
        let explained = ExplainedSignature {
            range: range.clone(),
            algorithm: signature.algorithm,
            signer,
            keys: signature.hints.iter().map(ExplainedKey::of).collect(),
            subjects: subjects.iter().map(|(id, _)| (*id).clone()).collect(),
            claimed: signature.certificate().cloned(),
            modulus_bits,
            value,
            is_indented,
            signed_info: signed_info.map(|text| String::from_utf8_lossy(&text).into_owned()),
            references,
            identity,
        };
        (explained, open)
    }

    /// All content is digested in one pass over the document, as when a signature is verified.
    fn explain_references(
        &self,
        signature: &Signature,
        range: &Range<usize>,
    ) -> (Vec<ExplainedReference>, Vec<(usize, OpenContent)>) {
        let mut targets: Vec<_> = signature.references.iter().map(|reference| self.target(reference, range)).collect();
        let contents = targets.iter_mut().flatten().filter_map(|target| match target {
            Target::Content(resolved) => {
                resolved.sink.shown = resolved.subset.is_some().then(Vec::new);
                Some(resolved)
            }
            Target::Attachment(_) => None,
        });
        let digested = self.digest_inside(contents);
        let (mut explained, mut open) = (Vec::new(), Vec::new());
        for (number, (reference, target)) in signature.references.iter().zip(targets).enumerate() {
            let content = target.and_then(|target| {
                digested.clone()?;
                self.content(target)
            });
            let content = match content {
                Ok(Content::Complete(content)) => Ok(content),
                Ok(Content::Open(content)) => {
                    open.push((number, content));
                    let message = "it is an attachment, and only the message was given";
                    Err(Error::new(ErrorKind::Reference, message).at(reference.offset))
                }
                Err(error) => Err(error),
            };
            explained.push(ExplainedReference {
                uri: reference.uri.clone().unwrap_or_default(),
                offset: reference.offset,
                algorithm: reference.algorithm,
                stated: reference.digest.clone(),
                content,
            });
        }
        (explained, open)
    }

    /// Returns the content that a reference leads to, which is digested as far as it is there.
    fn content(&self, target: Target) -> Result<Content, Error> {
        let Resolved { sink, content: place, .. } = match target {
            Target::Content(resolved) => resolved,
            Target::Attachment(id) => return Ok(Content::Open(OpenContent::Attachment(id))),
        };
        let DigestSink { digest, shown, omitted, gaps, .. } = sink;
        let mut canonical = shown;
        let unsigned_prefix = omitted.map(|(prefix, _)| prefix);
        if let (false, Some(PartsInside { includes, .. }), Some(text)) = (gaps.is_empty(), &self.parts, &mut canonical)
        {
            let parts = includes.parts(gaps)?;
            let after: usize = parts.iter().map(|(_, text)| text.len()).sum();
            text.truncate(text.len().saturating_sub(after));
            let start = String::from_utf8_lossy(text).into_owned();
            return Ok(Content::Open(OpenContent::Included { place, start, parts, unsigned_prefix }));
        }
        let canonical = canonical.map(Bytes::from);
        let known = ExplainedContent::new(place, digest.finish());
        Ok(Content::Complete(ExplainedContent { canonical, unsigned_prefix, ..known }))
    }
}

/// Content that a reference leads to.
enum Content {
    Complete(ExplainedContent),
    Open(OpenContent),
}
