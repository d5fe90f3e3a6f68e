//! The parts that are sent with a message.

use std::collections::BTreeMap;

use bytes::Bytes;
use castile_mime::{ContentId, Packaging, Part};
use castile_xml::excerpt;

use super::attachments::{self, ContentRules};
use super::envelope::Envelope;
use crate::included::Includes;
use crate::limits::Limits;
use crate::signature::{SentReference, TransformText};
use crate::uris::SWA_CONTENT;
use crate::{DigestAlgorithm, Error, ErrorKind};

/// The parts that are sent with a message. Those that are streams can't be shared between threads, so that only what is in memory is
/// held.
#[derive(Default)]
pub(super) struct SentParts {
    packaging: Option<Packaging>,
    parts: Vec<SentPart>,
}

struct SentPart {
    id: ContentId,
    content_type: String,
    /// `None` for a stream.
    content: Option<Bytes>,
}

/// The parts that elements of a message stand for.
pub(crate) struct SentIncludes<'p> {
    includes: Includes,
    contents: BTreeMap<&'p ContentId, Option<&'p Bytes>>,
}

impl SentParts {
    pub(super) fn of(packaging: Option<Packaging>, parts: &[Part]) -> Self {
        let parts = parts.iter().map(|part| SentPart {
            id: part.id().clone(),
            content_type: part.content_type().to_owned(),
            content: part.content().bytes().cloned(),
        });
        SentParts { packaging, parts: parts.collect() }
    }

    /// Finds the elements of a message that stand for parts.
    ///
    /// # Errors
    /// One of them is not as XOP requires.
    pub(super) fn includes(&self, text: &str, limits: Limits) -> Result<Option<SentIncludes<'_>>, Error> {
        if self.packaging != Some(Packaging::Mtom) {
            return Ok(None);
        }
        let (envelope, _) = Envelope::read(text, self.packaging, limits)?;
        let contents = self.parts.iter().map(|part| (&part.id, part.content.as_ref())).collect();
        Ok(envelope.includes.map(|includes| SentIncludes { includes, contents }))
    }

    /// Returns the references to the parts, as attachments. Those that the signed body has are signed already.
    ///
    /// # Errors
    /// One of them is a stream, or XML that can't be signed.
    pub(super) fn references(
        &self,
        body: Option<&SentIncludes<'_>>,
        digest: DigestAlgorithm,
        limits: Limits,
    ) -> Result<Vec<SentReference<'static>>, Error> {
        let rules = ContentRules { limits, allows_unsigned_prefixes: false };
        let is_apart = |part: &&SentPart| !body.is_some_and(|body| body.includes.body_has(&part.id));
        let references = self.parts.iter().filter(is_apart).map(|SentPart { id, content_type, content }| {
            let content = content.as_ref().ok_or_else(|| streamed(id))?;
            let digest = attachments::digest(id, content_type, content, digest, rules)?;
            Ok(SentReference { uri: id.to_url().into(), transforms: vec![TransformText::new(SWA_CONTENT)], digest })
        });
        references.collect()
    }
}

impl SentIncludes<'_> {
    /// Returns the offset of the first element from this offset on.
    pub(crate) fn next_from(&self, offset: usize) -> Option<usize> {
        self.includes.next_from(offset)
    }

    /// Returns the content of the part that the element at this offset stands for. `None` if it stands for none.
    ///
    /// # Errors
    /// The element is not as XOP requires; or there is no such part, or it is a stream.
    pub(crate) fn at(&self, offset: usize) -> Option<Result<&Bytes, Error>> {
        let number = self.includes.number_at(offset)?;
        Some(self.includes.part(number).and_then(|id| match self.contents.get(id) {
            Some(Some(content)) => Ok(*content),
            Some(None) => Err(streamed(id)),
            None => {
                let message = format!("no part is what <Include> with \"{}\" means", excerpt(id.as_str(), 60));
                Err(Error::new(ErrorKind::Reference, message).at(offset))
            }
        }))
    }
}

fn streamed(id: &ContentId) -> Error {
    let id = excerpt(id.as_str(), 60);
    let message =
        format!("the attachment \"{id}\" is sent as a stream, whose content can't be signed before it is sent");
    Error::new(ErrorKind::Unsupported, message)
}
