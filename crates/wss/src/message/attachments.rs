//! Signed attachments (WS-Security: SOAP Messages with Attachments Profile 1.1.1 §5).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use castile_budget::Share;
use castile_mime::{Attachments, ContentId, Inspector, MediaType, PartHead};
use castile_soap::Offloading;
use castile_xml::c14n::{Form, Method, Sink, Subset, write_all};
use castile_xml::{Charset, Memory, Reader, decode, excerpt};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::memory;
use crate::canonical::EXCLUSIVE_10;
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

    /// Stores the attachments, and compares their digests. Completes what `signatures` say about them. If they are streamed, this is done
    /// later, while they are read. `attachments` is `None` if the caller has only the message. Long work is offloaded, if it can be.
    pub(super) async fn verify(
        self,
        attachments: Option<&mut Attachments>,
        is_streamed: bool,
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
        // Content with parts is digested when all of them are there, in the order of the content.
        let is_streamed = is_streamed && self.contents.is_empty();
        let digested = Arc::new(Mutex::new(Digested { left: self.rules.limits.content, is_exact: BTreeMap::new() }));
        let SignedAttachments { stated, contents, must_be_all, rules, .. } = self;
        let included = contents.iter().flat_map(|content| &content.parts).map(|(id, _)| id.clone()).collect();
        let digests = Digests {
            stated,
            included,
            must_be_all,
            rules,
            current: Current::Nothing,
            document: Vec::new(),
            share: attachments.memory_share(),
            offload: offload.cloned(),
            digested: digested.clone(),
        };
        attachments.inspect(digests).await?;
        if !is_streamed {
            attachments.spool().await?;
        }
        let mut left = {
            let digested = lock(&digested);
            for reference in signatures.iter_mut().flat_map(|signature| &mut signature.references) {
                if let VerifiedContent::Attachment { id, is_exact } = &mut reference.content {
                    *is_exact = digested.is_exact.get(id).is_some_and(|is_exact| *is_exact);
                }
            }
            digested.left
        };
        for content in contents {
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
        let (mut digests, _) = digester.finish();
        digests.pop().ok_or_else(|| Error::new(ErrorKind::Crypto, "no digest was computed"))
    };
    let digest = digest().map_err(|error| error_in(id, &error))?;
    Ok(digest.1)
}

/// The digest of an attachment that is explained.
pub(super) struct StoredDigest {
    pub(super) computed: Vec<u8>,
    /// Whether its bytes are what is digested.
    pub(super) is_exact: bool,
    /// What is digested, unless it is too long to be kept.
    pub(super) canonical: Option<Bytes>,
    /// The first prefix that a value uses and whose declaration is not in the canonical form.
    pub(super) unsigned_prefix: Option<String>,
}

/// Returns the digest of an attachment that is stored. `kept` is how many bytes of canonical content may still be kept, and `left` how
/// many there may still be.
pub(super) async fn digest_stored(
    attachments: &Attachments,
    (id, content_type): (&ContentId, Option<&str>),
    algorithm: DigestAlgorithm,
    rules: ContentRules,
    (kept, left): (&mut usize, &mut usize),
) -> Result<StoredDigest, Error> {
    let mut digester = Digester::new(content_type, &[algorithm], *left)?;
    digester.kept = Some(Kept { bytes: Vec::new(), most: *kept });
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
    let unsigned_prefix = if is_document { digester.canonical_form(&document, rules)? } else { None };
    *left = digester.left;
    let canonical = digester.kept.take().map(|kept| Bytes::from(kept.bytes));
    *kept -= canonical.as_ref().map_or(0, Bytes::len);
    let (mut digests, is_exact) = digester.finish();
    let (_, computed) = digests.pop().ok_or_else(|| Error::new(ErrorKind::Crypto, "no digest was computed"))?;
    Ok(StoredDigest { computed, is_exact, canonical, unsigned_prefix })
}

/// Compares the digests of attachments while they arrive.
struct Digests {
    /// The digests that the signatures state.
    stated: Vec<AttachmentDigest>,
    /// The attachments that signed content has.
    included: BTreeSet<ContentId>,
    must_be_all: bool,
    rules: ContentRules,
    current: Current,
    /// The content of the current one, if it is XML.
    document: Vec<u8>,
    /// The charge for that.
    share: Option<Share>,
    offload: Option<Offloading>,
    digested: Arc<Mutex<Digested>>,
}

/// The attachment that is arriving, if it is signed.
#[derive(Default)]
enum Current {
    #[default]
    Nothing,
    Arriving(ContentId, Digester),
    /// It has arrived, and is XML.
    Reading(ContentId, BoxFuture<'static, Result<Read, Error>>),
}

/// XML that was read.
struct Read {
    digester: Digester,
    result: Result<(), Error>,
    /// How much of the charge is no longer needed.
    charged: usize,
}

/// What is known of the attachments that have arrived.
struct Digested {
    /// How many bytes of canonical content there may still be.
    left: usize,
    /// Whether the bytes of each are what was digested.
    is_exact: BTreeMap<ContentId, bool>,
}

impl Digests {
    /// Begins to digest an attachment, if it is signed.
    fn digest(&mut self, head: &PartHead) -> Result<(), Error> {
        let id = head.content_id();
        // Many references to one attachment cause no more work than one.
        let mut algorithms = Vec::new();
        for stated in self.stated.iter().filter(|stated| Some(&stated.id) == id) {
            if !algorithms.contains(&stated.algorithm) {
                algorithms.push(stated.algorithm);
            }
        }
        match id {
            Some(id) if !algorithms.is_empty() => {
                let digester = Digester::new(head.content_type(), &algorithms, lock(&self.digested).left);
                self.current = Current::Arriving(id.clone(), digester.map_err(|error| error_in(id, &error))?);
                Ok(())
            }
            Some(id) if self.included.contains(id) => Ok(()),
            _ if !self.must_be_all => Ok(()),
            id => {
                let shown = id.map_or("without a Content-ID", ContentId::as_str);
                let message = format!("the attachment \"{}\" is not signed", excerpt(shown, 60));
                Err(Error::new(ErrorKind::Unsigned, message))
            }
        }
    }

    fn push(&mut self, data: &[u8]) -> Result<(), Error> {
        let Current::Arriving(id, digester) = &mut self.current else { return Ok(()) };
        let pushed = match digester.form {
            ContentForm::Document { .. } => collect(&mut self.document, data, &mut self.share, self.rules),
            _ => digester.push(data),
        };
        pushed.map_err(|error| error_in(id, &error))
    }

    /// Begins to read the attachment that has arrived, which is XML.
    fn read(&mut self, mut digester: Digester) -> Result<BoxFuture<'static, Result<Read, Error>>, Error> {
        let document = std::mem::take(&mut self.document);
        let (length, rules, offload) = (document.len(), self.rules, self.offload.clone());
        let needed = memory::needed_by_document(length);
        charge(&mut self.share, needed)?;
        let charged = needed + document.capacity();
        let read = move || {
            let result = digester.push_document(&document, rules);
            Read { digester, result, charged }
        };
        Ok(async move { memory::run(offload.as_ref(), length, read).await }.boxed())
    }

    /// Completes the digests of the attachment that has arrived.
    fn poll_compare(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            match std::mem::take(&mut self.current) {
                Current::Nothing => return Poll::Ready(Ok(())),
                Current::Arriving(id, digester) => match digester.form {
                    ContentForm::Document { .. } => {
                        let read = self.read(digester).map_err(|error| error_in(&id, &error))?;
                        self.current = Current::Reading(id, read);
                    }
                    _ => return Poll::Ready(self.compare(id, digester)),
                },
                Current::Reading(id, mut reading) => {
                    let Poll::Ready(read) = reading.as_mut().poll(context) else {
                        self.current = Current::Reading(id, reading);
                        return Poll::Pending;
                    };
                    let Read { digester, result, charged } = read?;
                    if let Some(share) = &mut self.share {
                        share.shrink(charged);
                    }
                    result.map_err(|error| error_in(&id, &error))?;
                    return Poll::Ready(self.compare(id, digester));
                }
            }
        }
    }

    /// Compares the digests of an attachment with those that the signatures state.
    fn compare(&self, id: ContentId, digester: Digester) -> Result<(), Error> {
        let left = digester.left;
        let (digests, is_exact) = digester.finish();
        for stated in self.stated.iter().filter(|stated| stated.id == id) {
            let mut computed = digests.iter().filter(|(algorithm, _)| *algorithm == stated.algorithm);
            if computed.next().is_none_or(|(_, digest)| *digest != stated.digest) {
                let uri = excerpt(&stated.uri, 100);
                let message = format!("the attachment of the reference \"{uri}\" was changed: it has another digest");
                return Err(Error::new(ErrorKind::Digest, message).at(stated.offset));
            }
        }
        let mut digested = lock(&self.digested);
        digested.left = left;
        digested.is_exact.insert(id, is_exact);
        Ok(())
    }

    /// Checks that all signed attachments have arrived.
    fn check_complete(&self) -> Result<(), Error> {
        let digested = lock(&self.digested);
        match self.stated.iter().find(|stated| !digested.is_exact.contains_key(&stated.id)) {
            None => Ok(()),
            Some(AttachmentDigest { uri, offset, .. }) => {
                let message = format!("no attachment is what the reference \"{}\" means", excerpt(uri, 100));
                Err(Error::new(ErrorKind::Reference, message).at(*offset))
            }
        }
    }
}

impl Inspector for Digests {
    fn begin(&mut self, head: &PartHead) -> Result<(), castile_mime::Error> {
        self.digest(head).map_err(castile_mime::Error::refused)
    }

    fn data(&mut self, data: &[u8]) -> Result<(), castile_mime::Error> {
        self.push(data).map_err(castile_mime::Error::refused)
    }

    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<Result<(), castile_mime::Error>> {
        self.poll_compare(context).map_err(castile_mime::Error::refused)
    }

    fn finish(&mut self) -> Result<(), castile_mime::Error> {
        self.check_complete().map_err(castile_mime::Error::refused)
    }
}

/// Appends to an attachment that is XML. The capacity of the vector is charged.
fn collect(document: &mut Vec<u8>, data: &[u8], share: &mut Option<Share>, rules: ContentRules) -> Result<(), Error> {
    let most = rules.limits.document.message_size;
    let (length, room) = (document.len(), document.capacity());
    if data.len() > most.saturating_sub(length) {
        let message = format!("XML of more than {most} bytes, which is the limit");
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let needed = length + data.len();
    if needed > room {
        let wanted = (2 * room).clamp(needed, most.max(needed));
        charge(share, wanted - room)?;
        document.reserve_exact(wanted - length);
    }
    document.extend_from_slice(data);
    Ok(())
}

fn lock(digested: &Mutex<Digested>) -> MutexGuard<'_, Digested> {
    digested.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// The canonical content, if somebody wants to see it.
    kept: Option<Kept>,
}

/// Canonical content that is kept, up to a number of bytes.
struct Kept {
    bytes: Vec<u8>,
    most: usize,
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
        Ok(Digester { form, digests, left, is_full: false, is_exact: true, kept: None })
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
        let Some(prefix) = self.canonical_form(content, rules)? else { return Ok(()) };
        let message = format!(
            "a value uses the prefix \"{}\", whose declaration a signature doesn't cover, so that it may come to mean something else",
            excerpt(&prefix, 60)
        );
        Err(Error::new(ErrorKind::UnsignedPrefix, message))
    }

    /// Digests a whole document. Returns the first prefix that a value uses and whose declaration is not in the canonical form, unless
    /// that is allowed.
    fn canonical_form(&mut self, content: &[u8], rules: ContentRules) -> Result<Option<String>, Error> {
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
        let mut out = XmlSink { digester: self, rest: Some(content), wants_omitted, omitted: None };
        write_all(&mut reader, vec![Form { method: &method, subset: Subset::default(), out: &mut out }])?;
        let XmlSink { rest, omitted, .. } = out;
        self.is_exact = rest.is_some_and(<[u8]>::is_empty);
        Ok(omitted)
    }

    fn update(&mut self, data: &[u8]) {
        match self.left.checked_sub(data.len()) {
            Some(left) => self.left = left,
            None => self.is_full = true,
        }
        for (_, digest) in &mut self.digests {
            digest.update(data);
        }
        if let Some(Kept { bytes, most }) = &mut self.kept {
            match data.len() > *most - bytes.len() {
                true => self.kept = None,
                false => bytes.extend_from_slice(data),
            }
        }
    }

    /// Returns the digests, and whether they are of the bytes as they are.
    fn finish(self) -> (Vec<(DigestAlgorithm, Vec<u8>)>, bool) {
        let is_unfinished = matches!(self.form, ContentForm::Text { is_after_return: true });
        let digests = self.digests.into_iter().map(|(algorithm, digest)| (algorithm, digest.finish()));
        (digests.collect(), self.is_exact && !is_unfinished)
    }
}

/// Receives the canonical form of a document.
struct XmlSink<'d, 'c> {
    digester: &'d mut Digester,
    /// What of the document is still to come, if it is equal so far.
    rest: Option<&'c [u8]>,
    wants_omitted: bool,
    /// The first prefix that a value uses and whose declaration is not in the canonical form.
    omitted: Option<String>,
}

impl Sink for &mut XmlSink<'_, '_> {
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
