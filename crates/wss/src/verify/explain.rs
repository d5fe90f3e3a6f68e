//! What a signature says, and whether it is right, without stopping at the first problem.

use std::cell::Cell;
use std::ops::Range;

use super::{DigestSink, Resolved, Verification};
use crate::explain::{ExplainedContent, ExplainedReference, ExplainedSignature};
use crate::signature::{Reference, Signature};
use crate::trust::Trust;
use crate::{Error, ErrorKind};

impl Verification<'_> {
    /// Explains a signature. Nothing of it is accepted by that. `left` is how many bytes of content there may still be.
    pub(crate) fn explain(
        &self,
        range: &Range<usize>,
        signature: &Signature,
        trust: &Trust,
        left: &Cell<Option<usize>>,
    ) -> ExplainedSignature {
        // Whether the value is right can be told for any key that the signature brings with it.
        let anyone = trust.clone().with_anyone();
        let signed_info = self.signed_info(signature);
        let value = match (self.key(signature, &anyone), &signed_info) {
            (Ok((key, _)), Ok(signed_info)) => self.check_value(&key, signature, signed_info),
            (Err(error), _) => Err(error),
            (_, Err(error)) => Err(error.clone()),
        };
        ExplainedSignature {
            range: range.clone(),
            algorithm: signature.algorithm,
            signer: self.key(signature, trust).map(|(_, signer)| signer),
            claimed: signature.certificate().cloned(),
            value,
            signed_info: signed_info.map(|text| String::from_utf8_lossy(&text).into_owned()),
            references: self.explain_references(signature, range, left),
        }
    }

    /// Only the message is read, without its attachments.
    fn resolve_inside(
        &self,
        reference: &Reference,
        range: &Range<usize>,
        left: &Cell<Option<usize>>,
    ) -> Result<Resolved, Error> {
        match self.attachment(reference)? {
            None => self.resolve(reference, range, left),
            Some(_) => {
                let message = "it is an attachment, and only the message was given";
                Err(Error::new(ErrorKind::Reference, message).at(reference.offset))
            }
        }
    }

    /// All content is digested in one pass over the document, as when a signature is verified.
    fn explain_references(
        &self,
        signature: &Signature,
        range: &Range<usize>,
        left: &Cell<Option<usize>>,
    ) -> Vec<ExplainedReference> {
        let mut resolved: Vec<_> =
            signature.references.iter().map(|reference| self.resolve_inside(reference, range, left)).collect();
        for resolved in resolved.iter_mut().flatten().filter(|resolved| resolved.subset.is_some()) {
            resolved.sink.shown = Some(Vec::new());
        }
        let digested = self.digest_inside(resolved.iter_mut().flatten(), left);
        let explained = signature.references.iter().zip(resolved).map(|(reference, resolved)| {
            let content = resolved.and_then(|resolved| {
                digested.clone()?;
                let DigestSink { digest, shown, omitted, .. } = resolved.sink;
                Ok(ExplainedContent {
                    place: resolved.content,
                    canonical: shown.map(|text| String::from_utf8_lossy(&text).into_owned()),
                    computed: digest.finish(),
                    unsigned_prefix: omitted.map(|(prefix, _)| prefix),
                })
            });
            ExplainedReference {
                uri: reference.uri.clone().unwrap_or_default(),
                offset: reference.offset,
                algorithm: reference.algorithm,
                stated: reference.digest.clone(),
                content,
            }
        });
        explained.collect()
    }
}
