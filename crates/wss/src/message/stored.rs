//! The parts of a package, to explain the signatures of its message.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_mime::{Attachments, ContentId};
use castile_xml::excerpt;

use super::attachments::{ContentRules, StoredDigest, digest_stored};
use crate::explain::ExplainedContent;
use crate::included::READING;
use crate::limits::Limits;
use crate::verify::VerifiedContent;
use crate::verify::explain::OpenContent;
use crate::{DigestAlgorithm, Error, ErrorKind, crypto};

/// The attachments of a message, which are stored.
pub(crate) struct StoredParts<'a> {
    attachments: &'a Attachments,
}

/// How many bytes there may still be: of canonical forms, and of attachments.
pub(crate) type Left = (usize, usize);

impl<'a> StoredParts<'a> {
    /// Stores all attachments.
    ///
    /// # Errors
    /// The package is not valid, or too large.
    pub(crate) async fn of(attachments: &'a mut Attachments) -> Result<Self, Error> {
        attachments.spool().await?;
        Ok(StoredParts { attachments })
    }

    /// Returns the Content-IDs of all of them.
    pub(crate) fn ids(&self) -> Vec<Option<ContentId>> {
        self.attachments.heads().map(|head| head.content_id().cloned()).collect()
    }

    /// Returns content that is in attachments, with its digest.
    ///
    /// # Errors
    /// An attachment is not there, or can't be made canonical.
    pub(crate) async fn content(
        &self,
        content: OpenContent,
        algorithm: DigestAlgorithm,
        (canonical, attached): &mut Left,
    ) -> Result<ExplainedContent, Error> {
        match content {
            OpenContent::Attachment(id) => {
                let mut heads = self.attachments.heads();
                let Some(head) = heads.find(|head| head.content_id() == Some(&id)) else { return Err(missing(&id)) };
                let rules = ContentRules { limits: Limits::default(), allows_unsigned_prefixes: false };
                let left = (canonical, attached);
                let digest = digest_stored(self.attachments, (&id, head.content_type()), algorithm, rules, left);
                let StoredDigest { computed, is_exact, canonical, unsigned_prefix } = digest.await?;
                let place = VerifiedContent::Attachment { id, is_exact };
                Ok(ExplainedContent { canonical, unsigned_prefix, ..ExplainedContent::new(place, computed) })
            }
            OpenContent::Included { place, start, parts, unsigned_prefix } => {
                let mut text = start;
                let mut included = Vec::new();
                for (id, after) in parts {
                    let mut content = Vec::new();
                    let see = |data: &[u8]| {
                        *canonical =
                            canonical.checked_sub((data.len().div_ceil(3) * 4).max(READING)).ok_or_else(|| {
                                Error::new(
                                    ErrorKind::Limit,
                                    "with its parts, it is longer than the limit of what is explained",
                                )
                            })?;
                        content.extend_from_slice(data);
                        Ok::<(), Error>(())
                    };
                    if !self.attachments.show(&id, see).await? {
                        return Err(missing(&id));
                    }
                    STANDARD.encode_string(&content, &mut text);
                    text.push_str(&after);
                    included.push(id);
                }
                let mut digest = crypto::digest(algorithm)?;
                digest.update(text.as_bytes());
                included.sort_unstable();
                included.dedup();
                let computed = digest.finish();
                let canonical = Some(text.into());
                Ok(ExplainedContent { canonical, unsigned_prefix, included, ..ExplainedContent::new(place, computed) })
            }
        }
    }
}

fn missing(id: &ContentId) -> Error {
    let message = format!("no attachment has the Content-ID \"{}\"", excerpt(id.as_str(), 60));
    Error::new(ErrorKind::Reference, message)
}
