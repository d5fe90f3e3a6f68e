//! Signed attachments (WS-Security: SOAP Messages with Attachments Profile 1.1.1 §5).

use std::collections::{BTreeMap, BTreeSet};

use castile_budget::Share;
use castile_mime::{Attachments, ContentId, MediaType, PartHead, SpoolVisitor};
use castile_soap::Offloading;
use castile_xml::c14n::{Form, Method, Sink, Subset, write_all};
use castile_xml::{Charset, Memory, Reader, decode, excerpt};

use super::memory;
use super::sign::EXCLUSIVE_10;
use crate::crypto::{self, Digest};
use crate::included::OpenDigest;
use crate::limits::Limits;
use crate::verify::{AttachmentDigest, Unverified, VerifiedContent, VerifiedSignature};
use crate::{DigestAlgorithm, Error, ErrorKind};

/// What the signatures of a message say about its attachments. The signatures themselves are valid.
pub(super) struct SignedAttachments {
    /// The digests that they state, in document order.
    stated: Vec<AttachmentDigest>,
    /// The digests of content with parts.
    contents: Vec<OpenDigest>,
    /// How many bytes of text are kept for them.
    kept: usize,
    /// Whether there may be no other attachments.
    must_be_all: bool,
    rules: ContentRules,
}

/// What holds for the content of all attachments of a message.
#[derive(Clone, Copy)]
pub(super) struct ContentRules {
    pub(super) limits: Limits,
    /// Whether values in XML may use prefixes whose declarations are not signed.
    pub(super) allows_unsigned_prefixes: bool,
}

impl SignedAttachments {
    pub(super) fn new(unverified: Vec<Unverified>, must_be_all: bool, rules: ContentRules) -> Self {
        let mut all = SignedAttachments { stated: Vec::new(), contents: Vec::new(), kept: 0, must_be_all, rules };
        for Unverified { attachments, contents } in unverified {
            all.stated.extend(attachments);
            all.contents.extend(contents);
        }
        all.kept = all.contents.iter().map(OpenDigest::kept).sum();
        all
    }

    fn is_empty(&self) -> bool {
        self.stated.is_empty() && self.contents.is_empty()
    }

    /// Stores the attachments, and compares their digests. Completes what `signatures` say about them. `attachments` is `None` if the
    /// caller has only the message. Long work is offloaded, if it can be.
    pub(super) async fn verify(
        self,
        attachments: Option<&mut Attachments>,
        offload: Option<&Offloading>,
        signatures: &mut [VerifiedSignature],
    ) -> Result<(), Error> {
        let Some(attachments) = attachments else {
            let stated = self.stated.iter().map(|stated| (stated.offset, &stated.uri));
            let contents = self.contents.iter().map(|content| (content.offset, &content.uri));
            let Some((offset, uri)) = stated.chain(contents).min() else { return Ok(()) };
            let message = format!(
                "the reference \"{}\" is to an attachment, and the message was given without its attachments",
                excerpt(uri, 100)
            );
            return Err(Error::new(ErrorKind::Reference, message).at(offset));
        };
        // Attachments that nothing has to be known about are read as they arrive.
        if self.is_empty() && !self.must_be_all {
            return Ok(());
        }
        let mut kept = attachments.memory_share();
        charge(&mut kept, self.kept)?;
        let mut digests = Digests::new(&self, attachments.memory_share(), offload);
        attachments.spool(&mut digests).await?;
        let Digests { done, mut left, .. } = digests;
        for stated in &self.stated {
            let failed = |kind, message: String| Err(Error::new(kind, message).at(stated.offset));
            let uri = excerpt(&stated.uri, 100);
            let Some(digested) = done.get(&stated.id) else {
                return failed(ErrorKind::Reference, format!("no attachment is what the reference \"{uri}\" means"));
            };
            let mut computed = digested.digests.iter().filter(|(algorithm, _)| *algorithm == stated.algorithm);
            if computed.next().is_none_or(|(_, digest)| *digest != stated.digest) {
                let message = format!("the attachment of the reference \"{uri}\" was changed: it has another digest");
                return failed(ErrorKind::Digest, message);
            }
        }
        for reference in signatures.iter_mut().flat_map(|signature| &mut signature.references) {
            if let VerifiedContent::Attachment { id, is_exact } = &mut reference.content {
                *is_exact = done.get(id).is_some_and(|digested| digested.is_exact);
            }
        }
        for content in self.contents {
            content.verify(attachments, &mut left, offload).await?;
        }
        Ok(())
    }
}

/// Returns the digest of a part that is to be sent.
pub(super) fn digest(
    id: &ContentId,
    content_type: &str,
    content: &[u8],
    algorithm: DigestAlgorithm,
    rules: ContentRules,
) -> Result<Vec<u8>, Error> {
    let digest = || {
        let mut digester = Digester::new(Some(content_type), &[algorithm], rules.limits.content)?;
        match digester.form {
            ContentForm::Document { .. } => digester.push_document(content, rules)?,
            _ => digester.push(content)?,
        }
        let mut digests = digester.finish().digests;
        digests.pop().ok_or_else(|| Error::new(ErrorKind::Crypto, "no digest was computed"))
    };
    let digest = digest().map_err(|error| error_in(id, &error))?;
    Ok(digest.1)
}

/// Returns the digest of an attachment that is stored, and whether its bytes are what is digested. `left` is how many bytes of canonical
/// content there may still be.
pub(super) async fn digest_stored(
    attachments: &Attachments,
    (id, content_type): (&ContentId, Option<&str>),
    algorithm: DigestAlgorithm,
    rules: ContentRules,
    left: &mut usize,
) -> Result<(Vec<u8>, bool), Error> {
    let mut digester = Digester::new(content_type, &[algorithm], *left)?;
    let is_document = matches!(digester.form, ContentForm::Document { .. });
    let (mut document, most) = (Vec::new(), rules.limits.document.message_size);
    let see = |data: &[u8]| match is_document {
        true if data.len() > most - document.len() => {
            Err(Error::new(ErrorKind::Limit, format!("XML of more than {most} bytes, which is the limit")))
        }
        true => {
            document.extend_from_slice(data);
            Ok(())
        }
        false => digester.push(data),
    };
    attachments.show(id, see).await?;
    if is_document {
        digester.push_document(&document, rules)?;
    }
    *left = digester.left;
    let Digested { mut digests, is_exact } = digester.finish();
    let digest = digests.pop().ok_or_else(|| Error::new(ErrorKind::Crypto, "no digest was computed"))?;
    Ok((digest.1, is_exact))
}

/// Computes the digests of attachments while they are stored.
struct Digests<'s> {
    signed: &'s SignedAttachments,
    /// The hash functions of each attachment, without repetition: many references to one cause no more work than one.
    algorithms: BTreeMap<&'s ContentId, Vec<DigestAlgorithm>>,
    /// Those that signed content has.
    included: BTreeSet<&'s ContentId>,
    /// The attachment that is arriving, if it is signed.
    current: Option<(ContentId, Digester)>,
    /// Its content, if it is XML.
    document: Vec<u8>,
    /// The charge for that.
    share: Option<Share>,
    offload: Option<&'s Offloading>,
    /// How many bytes of canonical content there may still be.
    left: usize,
    done: BTreeMap<ContentId, Digested>,
}

/// An attachment that has arrived.
struct Digested {
    digests: Vec<(DigestAlgorithm, Vec<u8>)>,
    /// Whether its bytes are what was digested.
    is_exact: bool,
}

impl<'s> Digests<'s> {
    fn new(signed: &'s SignedAttachments, share: Option<Share>, offload: Option<&'s Offloading>) -> Self {
        let mut algorithms: BTreeMap<&ContentId, Vec<DigestAlgorithm>> = BTreeMap::new();
        for stated in &signed.stated {
            let algorithms = algorithms.entry(&stated.id).or_default();
            if !algorithms.contains(&stated.algorithm) {
                algorithms.push(stated.algorithm);
            }
        }
        let left = signed.rules.limits.content;
        let included = signed.contents.iter().flat_map(|content| &content.parts).map(|(id, _)| id).collect();
        Digests {
            signed,
            algorithms,
            included,
            current: None,
            document: Vec::new(),
            share,
            offload,
            left,
            done: BTreeMap::new(),
        }
    }

    /// Appends to the content of an attachment that is XML. The capacity of the vector is charged.
    fn collect(&mut self, data: &[u8]) -> Result<(), Error> {
        let most = self.signed.rules.limits.document.message_size;
        let (length, room) = (self.document.len(), self.document.capacity());
        if data.len() > most.saturating_sub(length) {
            let message = format!("XML of more than {most} bytes, which is the limit");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let needed = length + data.len();
        if needed > room {
            let wanted = (2 * room).clamp(needed, most.max(needed));
            charge(&mut self.share, wanted - room)?;
            self.document.reserve_exact(wanted - length);
        }
        self.document.extend_from_slice(data);
        Ok(())
    }
}

impl SpoolVisitor for Digests<'_> {
    type Error = Error;

    fn begin(&mut self, head: &PartHead) -> Result<(), Error> {
        let id = head.content_id();
        let Some((id, algorithms)) = id.and_then(|id| Some((id, self.algorithms.get(id)?))) else {
            let is_refused = self.signed.must_be_all && !id.is_some_and(|id| self.included.contains(id));
            return match is_refused {
                true => {
                    let shown = id.map_or("without a Content-ID", ContentId::as_str);
                    let message = format!("the attachment \"{}\" is not signed", excerpt(shown, 60));
                    Err(Error::new(ErrorKind::Unsigned, message))
                }
                false => Ok(()),
            };
        };
        let digester = Digester::new(head.content_type(), algorithms, self.left);
        self.current = Some((id.clone(), digester.map_err(|error| error_in(id, &error))?));
        Ok(())
    }

    fn data(&mut self, data: &[u8]) -> Result<(), Error> {
        let Some((id, mut digester)) = self.current.take() else { return Ok(()) };
        let pushed = match digester.form {
            ContentForm::Document { .. } => self.collect(data),
            _ => digester.push(data),
        };
        pushed.map_err(|error| error_in(&id, &error))?;
        self.current = Some((id, digester));
        Ok(())
    }

    async fn end(&mut self) -> Result<(), Error> {
        let Some((id, mut digester)) = self.current.take() else { return Ok(()) };
        if let ContentForm::Document { .. } = digester.form {
            let document = std::mem::take(&mut self.document);
            let (length, rules) = (document.len(), self.signed.rules);
            let charged = memory::needed_by_document(length);
            charge(&mut self.share, charged).map_err(|error| error_in(&id, &error))?;
            let charged = charged + document.capacity();
            let read = move || {
                let pushed = digester.push_document(&document, rules);
                (digester, pushed)
            };
            let (digested, pushed) = memory::run(self.offload, length, read).await?;
            digester = digested;
            if let Some(share) = &mut self.share {
                share.shrink(charged);
            }
            pushed.map_err(|error| error_in(&id, &error))?;
        }
        self.left = digester.left;
        self.done.insert(id, digester.finish());
        Ok(())
    }
}

/// Computes the digests of the content of one attachment, in the form that its media type requires (§5.4.2).
struct Digester {
    form: ContentForm,
    digests: Vec<(DigestAlgorithm, Box<dyn Digest>)>,
    /// How many bytes of canonical content there may still be.
    left: usize,
    /// Whether there were more.
    is_full: bool,
    is_exact: bool,
}

/// How content becomes canonical.
enum ContentForm {
    /// It is as it is.
    Bytes,
    /// A text, whose lines end with CRLF.
    Text {
        /// Whether the last byte was a carriage return, for which a line end was written.
        is_after_return: bool,
    },
    /// An XML document: exclusive canonicalization without comments.
    Document {
        /// The parameter of the media type.
        charset: Option<String>,
    },
}

impl ContentForm {
    fn of(content_type: Option<&str>) -> Result<Self, Error> {
        // Without a media type it is text/plain (RFC 2045 §5.2).
        let media_type = MediaType::parse(content_type.unwrap_or("text/plain"))?;
        let essence = media_type.essence();
        let is_xml = essence == "text/xml" || essence == "application/xml" || essence.ends_with("+xml");
        Ok(match essence.starts_with("text/") {
            _ if is_xml => ContentForm::Document { charset: media_type.parameter("charset").map(str::to_owned) },
            true => ContentForm::Text { is_after_return: false },
            false => ContentForm::Bytes,
        })
    }
}

impl Digester {
    fn new(content_type: Option<&str>, algorithms: &[DigestAlgorithm], left: usize) -> Result<Self, Error> {
        let form = ContentForm::of(content_type)?;
        let digests = algorithms.iter().map(|algorithm| Ok((*algorithm, crypto::digest(*algorithm)?)));
        let digests = digests.collect::<Result<_, Error>>()?;
        Ok(Digester { form, digests, left, is_full: false, is_exact: true })
    }

    /// Digests the next bytes of content that is not XML.
    fn push(&mut self, data: &[u8]) -> Result<(), Error> {
        match self.form {
            ContentForm::Text { is_after_return } => {
                let is_after_return = self.push_text(data, is_after_return);
                self.form = ContentForm::Text { is_after_return };
            }
            _ => self.update(data),
        }
        match self.is_full {
            false => Ok(()),
            true => {
                Err(Error::new(ErrorKind::Limit, "with it, signed attachments are longer than the limit of content"))
            }
        }
    }

    /// Digests text. Each carriage return with a line feed, and each of them alone, is a line end. Returns whether the last byte is
    /// a carriage return.
    fn push_text(&mut self, mut data: &[u8], mut is_after_return: bool) -> bool {
        while let Some(first) = data.first() {
            if std::mem::take(&mut is_after_return) {
                if *first == b'\n' {
                    data = &data[1..];
                    continue;
                }
                self.is_exact = false;
            }
            let end = data.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(data.len());
            let (line, rest) = data.split_at(end);
            self.update(line);
            data = match rest.split_first() {
                Some((line_end, rest)) => {
                    self.update(b"\r\n");
                    is_after_return = *line_end == b'\r';
                    self.is_exact &= is_after_return;
                    rest
                }
                None => rest,
            };
        }
        is_after_return
    }

    /// Digests a whole document.
    fn push_document(&mut self, content: &[u8], rules: ContentRules) -> Result<(), Error> {
        let text = decode(content, None)?;
        if let ContentForm::Document { charset: Some(label) } = &self.form {
            // The head is not signed. Those who read the document may heed its charset or not, so that it must make no difference.
            let charset = Charset::of_label(label);
            let is_same =
                charset.is_some_and(|charset| decode(content, Some(charset)).is_ok_and(|other| other == text));
            if !is_same {
                let message = format!("its charset \"{}\" is not that of the document", excerpt(label, 60));
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        }
        // A reader of messages refuses a document type declaration, which no signature covers.
        let mut reader = Reader::decoded(&text, rules.limits.document, &mut Memory::default())?;
        let method = Method::new(EXCLUSIVE_10);
        let wants_omitted = !rules.allows_unsigned_prefixes;
        let mut out = Canonical { digester: self, rest: Some(content), wants_omitted, omitted: None };
        write_all(&mut reader, vec![Form { method: &method, subset: Subset::default(), out: &mut out }])?;
        let Canonical { rest, omitted, .. } = out;
        if let Some(prefix) = omitted {
            let message = format!(
                "a value uses the prefix \"{}\", whose declaration a signature doesn't cover, so that it may come to mean something else",
                excerpt(&prefix, 60)
            );
            return Err(Error::new(ErrorKind::UnsignedPrefix, message));
        }
        self.is_exact = rest.is_some_and(<[u8]>::is_empty);
        Ok(())
    }

    fn update(&mut self, data: &[u8]) {
        match self.left.checked_sub(data.len()) {
            Some(left) => self.left = left,
            None => self.is_full = true,
        }
        for (_, digest) in &mut self.digests {
            digest.update(data);
        }
    }

    fn finish(self) -> Digested {
        let is_unfinished = matches!(self.form, ContentForm::Text { is_after_return: true });
        let digests = self.digests.into_iter().map(|(algorithm, digest)| (algorithm, digest.finish()));
        Digested { digests: digests.collect(), is_exact: self.is_exact && !is_unfinished }
    }
}

/// Receives the canonical form of a document.
struct Canonical<'d, 'c> {
    digester: &'d mut Digester,
    /// What of the document is still to come, if it is equal so far.
    rest: Option<&'c [u8]>,
    wants_omitted: bool,
    /// The first prefix that a value uses and whose declaration is not in the canonical form.
    omitted: Option<String>,
}

impl Sink for &mut Canonical<'_, '_> {
    fn text(&mut self, piece: &str) {
        self.rest = self.rest.and_then(|rest| rest.strip_prefix(piece.as_bytes()));
        self.digester.update(piece.as_bytes());
    }

    fn is_full(&self) -> bool {
        self.digester.is_full
    }

    fn wants_omitted_prefixes(&self) -> bool {
        self.wants_omitted && self.omitted.is_none()
    }

    fn omitted_prefix(&mut self, prefix: &str, _: usize) {
        self.omitted.get_or_insert_with(|| prefix.to_owned());
    }
}

fn charge(share: &mut Option<Share>, bytes: usize) -> Result<(), Error> {
    share.as_mut().map_or(Ok(()), |share| share.grow(bytes)).map_err(memory::exhausted)
}

/// Returns an error about an attachment. The offset in it is not one of the message.
fn error_in(id: &ContentId, error: &Error) -> Error {
    Error::new(error.kind(), format!("the attachment \"{}\": {error}", excerpt(id.as_str(), 60)))
}
