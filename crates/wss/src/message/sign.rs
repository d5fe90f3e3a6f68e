//! Adds security to messages that are sent.

mod block;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use castile_mime::Packaging;
use castile_xml::{Charset, decode, excerpt};

use super::envelope::{Envelope, MAX_ID_PREFIXES, end_of_name};
use super::part::{Part, PartsToSign};
use super::sent_parts::SentParts;
use super::username::UsernameToken;
use crate::assertion::SentAssertion;
use crate::canonical::{Canonical, EXCLUSIVE_10, Elsewhere, Wanted, signature_value};
use crate::certificate::Certificate;
use crate::crypto::{self, SigningKey};
use crate::index::{IdAttributes, Index, absent};
use crate::known::KnownContent;
use crate::limits::Limits;
use crate::signature::{SentReference, Template, TransformText, uri_of};
use crate::uris::{EXCLUSIVE, STR_TRANSFORM, WSSE, WSU};
use crate::verify::Source;
use crate::{DigestAlgorithm, Error, ErrorKind, PrivateKey};
use block::{Edit, SecurityBlock, edited};

/// What is added to messages that are sent: a time stamp, a user name, a signature.
#[derive(Clone)]
pub struct OutgoingSecurity {
    lifetime: Option<Duration>,
    username: Option<UsernameToken>,
    assertion: Option<Vec<u8>>,
    has_key_of_subject: bool,
    key: Option<Arc<dyn SigningKey>>,
    certificate: Option<Certificate>,
    issuers: Vec<Certificate>,
    form: CertificateForm,
    signed: PartsToSign,
    digest: DigestAlgorithm,
    role: Option<String>,
    must_understand: bool,
    limits: Limits,
    clock: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

/// How a signature in a message says which certificate it was made with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CertificateForm {
    /// The certificate itself is in the message, as a `BinarySecurityToken`.
    #[default]
    Token,
    /// By the name of its issuer and its serial number.
    IssuerSerial,
    /// By its extension `SubjectKeyIdentifier`.
    KeyIdentifier,
    /// By its SHA-1 digest.
    Thumbprint,
    /// The certificate and those of [its issuers](OutgoingSecurity::with_issuers) are in the message, as one `BinarySecurityToken`
    /// (`X509PKIPathv1`), for receivers that lack those between it and an authority.
    Path,
}

impl OutgoingSecurity {
    /// Adds nothing yet.
    #[must_use]
    pub fn new() -> Self {
        OutgoingSecurity {
            lifetime: None,
            username: None,
            assertion: None,
            has_key_of_subject: false,
            key: None,
            certificate: None,
            issuers: Vec::new(),
            form: CertificateForm::Token,
            signed: PartsToSign::default(),
            digest: DigestAlgorithm::Sha256,
            role: None,
            must_understand: true,
            limits: Limits::default(),
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Adds a signature with the private key in a text with PEM sections, whose certificate is among those in another one, in whichever
    /// order. The others may be of its [issuers](Self::with_issuers).
    ///
    /// # Errors
    /// [`ErrorKind::Key`](crate::ErrorKind::Key) if there is no key, or no certificate of this key.
    pub fn from_pem(key: &[u8], certificates: &[u8]) -> Result<Self, Error> {
        let key = PrivateKey::from_pem(key)?;
        let certificates = Certificate::from_pem_bundle(certificates)?;
        let certificate = Certificate::of_key(&key, &certificates)?.clone();
        Ok(OutgoingSecurity::new().with_signature(key).with_certificate(certificate).with_issuers(certificates))
    }

    /// Adds a time stamp. Messages expire after 300 s.
    #[must_use]
    pub fn with_timestamp(self) -> Self {
        self.with_lifetime(Duration::from_secs(300))
    }

    /// Adds a time stamp. Messages expire after this time.
    #[must_use]
    pub fn with_lifetime(self, lifetime: Duration) -> Self {
        OutgoingSecurity { lifetime: Some(lifetime), ..self }
    }

    /// Adds a user name.
    #[must_use]
    pub fn with_username(self, username: UsernameToken) -> Self {
        OutgoingSecurity { username: Some(username), ..self }
    }

    /// Adds a SAML assertion that others made: an XML document in UTF-8, or in the encoding that it declares. Its root element is
    /// sent as it is. A signature of the message also signs it, by the STR-Transform, unless [`Part::Assertion`] is not among
    /// the [signed parts](Self::with_signed).
    #[must_use]
    pub fn with_assertion(self, assertion: impl Into<Vec<u8>>) -> Self {
        OutgoingSecurity { assertion: Some(assertion.into()), ..self }
    }

    /// Has the signature refer to the assertion for its key, as holder-of-key needs it. The key must be the one that the
    /// assertion names for its subject. A certificate is not sent then.
    #[must_use]
    pub fn with_key_of_subject(self) -> Self {
        OutgoingSecurity { has_key_of_subject: true, ..self }
    }

    /// Adds a signature with a private key or a secret.
    #[must_use]
    pub fn with_signature(self, key: impl SigningKey + 'static) -> Self {
        OutgoingSecurity { key: Some(Arc::new(key)), ..self }
    }

    /// Sets the certificate of the key. It is sent with each message, unless another form is set. The certificate of another key is an
    /// error when a message is secured; [`Certificate::of_key`] finds the right one among several.
    #[must_use]
    pub fn with_certificate(self, certificate: Certificate) -> Self {
        OutgoingSecurity { certificate: Some(certificate), ..self }
    }

    /// Sets certificates among which are those of the issuers of the [certificate](Self::with_certificate), in any order. They are sent in
    /// the form [`CertificateForm::Path`]; others among them are not.
    #[must_use]
    pub fn with_issuers(self, issuers: Vec<Certificate>) -> Self {
        OutgoingSecurity { issuers, ..self }
    }

    /// Sets how a signature says which certificate it was made with.
    #[must_use]
    pub fn with_certificate_form(self, form: CertificateForm) -> Self {
        OutgoingSecurity { form, ..self }
    }

    /// Sets the parts that are signed. A message that lacks one of them is not sent, so that no header block goes unsigned because its
    /// name is written differently here; but there may be no attachments and no header blocks of WS-Addressing. All parts that were set
    /// before are replaced, also those of [`with_signed_if_present`](Self::with_signed_if_present). The default is the body, and the
    /// time stamp, the user name, the assertion, the header blocks of WS-Addressing and the attachments of messages that have them.
    #[must_use]
    pub fn with_signed(self, parts: impl IntoIterator<Item = Part>) -> Self {
        OutgoingSecurity { signed: PartsToSign::named(parts), ..self }
    }

    /// Adds parts that are signed in messages that have them, such as a header block of some of the messages.
    #[must_use]
    pub fn with_signed_if_present(mut self, parts: impl IntoIterator<Item = Part>) -> Self {
        self.signed.add_if_present(parts);
        self
    }

    /// Sets the hash function of the digests. The default is SHA-256. By default, receivers refuse SHA-1 and SHA-224.
    #[must_use]
    pub fn with_digest(self, digest: DigestAlgorithm) -> Self {
        OutgoingSecurity { digest, ..self }
    }

    /// Sets the role that the header block is for, a URI. The default is the ultimate receiver.
    #[must_use]
    pub fn with_role(self, role: impl Into<String>) -> Self {
        OutgoingSecurity { role: Some(role.into()), ..self }
    }

    /// Sets whether a receiver must understand the header block. The default is that it must.
    #[must_use]
    pub fn with_must_understand(self, must_understand: bool) -> Self {
        OutgoingSecurity { must_understand, ..self }
    }

    /// Sets the limits of messages.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        OutgoingSecurity { limits, ..self }
    }

    /// Sets the clock, for receivers whose clock is wrong, and for tests.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        OutgoingSecurity { clock: Arc::new(clock), ..self }
    }

    /// Returns a message in UTF-8 with what is to be added. It is for messages without attachments.
    ///
    /// # Errors
    /// The message is not an envelope, it has a `Security` for the same role, or shares an id with the assertion; the assertion is not
    /// one, or is missing; the certificate doesn't have what is to identify it; or the key fails.
    pub async fn secure(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(self.secured(message, None, SentParts::default(), None).await?.message.into_bytes())
    }

    /// Returns the message of a package in UTF-8 with what is to be added. The signature also covers the content of `parts`, which are sent
    /// with the message, unless [`Part::Attachments`] is not among the [signed parts](Self::with_signed). Line ends of a text, and the
    /// spelling of XML, may change on the way, according to the media type of a part (SwA Profile 1.1.1 §5.4.2).
    ///
    /// In MTOM, what is signed has the base64 text of the parts in place of the elements `xop:Include`. Parts for which none of them in the
    /// signed body stands are signed as attachments.
    ///
    /// # Errors
    /// A part that is to be signed is a stream. It has the media type of XML and is not well-formed, has a document type declaration,
    /// or has values with prefixes whose declarations would not be signed. In MTOM, an `xop:Include` is outside the body, is not the only
    /// content of its element, or stands for a stream or for no part. The errors of [`secure`](Self::secure).
    pub fn secure_package<'a>(
        &'a self,
        message: &'a [u8],
        packaging: Packaging,
        parts: &[castile_mime::Part],
    ) -> impl Future<Output = Result<Vec<u8>, Error>> + Send + use<'a> {
        let parts = SentParts::of(Some(packaging), parts);
        async move { Ok(self.secured(message, None, parts, None).await?.message.into_bytes()) }
    }

    /// Returns a message with what is to be added. What of it is known to be canonical is not read. An answer may confirm the signature
    /// values of its request.
    pub(super) async fn secured(
        &self,
        message: &[u8],
        known: Option<Range<usize>>,
        parts: SentParts,
        confirmed: Option<&[Vec<u8>]>,
    ) -> Result<SecuredMessage, Error> {
        let text = decode(message, Some(Charset::UTF_8))?;
        if self.adds_nothing() && confirmed.is_none() {
            return Ok(SecuredMessage { message: text.into_owned(), value: None });
        }
        let Some(range) = known.filter(|_| self.key.is_some() && text.len() == message.len()) else {
            return self.marked(&text, None, parts, confirmed).await;
        };
        let limit = self.limits.document.message_size;
        if message.len() > limit {
            let message = format!("a message of {} bytes, where {limit} are the limit", message.len());
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let (marked, known) = KnownContent::take(&text, range)?;
        let secured = self.marked(&marked, Some(&known), parts, confirmed).await?;
        Ok(SecuredMessage { message: known.put_back(&secured.message)?, ..secured })
    }

    /// Returns whether a message is sent as it is, even one that has a `Security`.
    fn adds_nothing(&self) -> bool {
        let OutgoingSecurity { lifetime, username, assertion, key, has_key_of_subject, .. } = self;
        lifetime.is_none() && username.is_none() && assertion.is_none() && key.is_none() && !has_key_of_subject
    }

    /// Returns a message with what is to be added. A marker in it may stand for known content.
    async fn marked(
        &self,
        text: &str,
        known: Option<&KnownContent<'_>>,
        parts: SentParts,
        confirmed: Option<&[Vec<u8>]>,
    ) -> Result<SecuredMessage, Error> {
        if self.key.is_none() && confirmed.is_some() {
            return Err(Error::new(ErrorKind::Key, "an answer that confirms signatures, and no key to sign it with"));
        }
        if self.key.is_none() && self.has_key_of_subject {
            return Err(Error::new(ErrorKind::Key, "a signature with the key of an assertion's subject, and no key"));
        }
        let limits = self.limits;
        let (envelope, index) = Envelope::read(text, None, limits)?;
        if let Some(block) = envelope.security(WSSE, self.role.as_deref())? {
            let message = "the message has a <Security> for this role";
            return Err(Error::new(ErrorKind::Unsupported, message).at(block.range.start));
        }
        let assertion = self.assertion.as_ref().map(|bytes| SentAssertion::read(bytes, limits)).transpose()?;
        if let Some(id) = assertion.as_ref().and_then(|assertion| index.shared_id(&assertion.index)) {
            let message =
                format!("the message and the assertion both have an element with the id \"{}\"", excerpt(id, 60));
            return Err(Error::new(ErrorKind::Reference, message));
        }
        let mut ids = Ids { index: &index, assertion: assertion.as_ref().map(|one| &one.index), used: BTreeSet::new() };
        let mut block = self.block(&envelope, assertion.as_ref(), &mut ids)?;
        block.confirm(confirmed, &mut ids);
        if block.content.is_empty() && self.key.is_none() {
            return Ok(SecuredMessage { message: text.to_owned(), value: None });
        }
        let (mut parts_with_ids, mut edits) = (Vec::new(), Vec::new());
        if self.key.is_some() {
            self.check_presence(&envelope)?;
            (parts_with_ids, edits) = self.parts_with_ids(text, &envelope, &id_prefix(&envelope)?, &mut ids);
        }
        let unsigned = Unsigned { text, envelope: &envelope, edits, block };
        let Some(key) = &self.key else {
            return Ok(SecuredMessage { message: unsigned.with_signature("").0, value: None });
        };
        let references = self.references(&unsigned, parts_with_ids, &parts, known)?;
        self.signed_message(&**key, &unsigned, &references).await
    }

    /// Returns what the signature of a message refers to.
    fn references(
        &self,
        unsigned: &Unsigned<'_>,
        parts_with_ids: Vec<(SignedPart, usize)>,
        parts: &SentParts,
        known: Option<&KnownContent<'_>>,
    ) -> Result<Vec<SentReference<'static>>, Error> {
        let Unsigned { text, edits, block, .. } = unsigned;
        let mut references = Vec::new();
        if let Some((id, timestamp)) = block.signed_timestamp() {
            references.push(self.written(id, timestamp)?);
        }
        if !block.references.is_empty() {
            let text = unsigned.with_signature("").0;
            let parts = self.find_parts(&text, &block.references)?;
            references.extend(self.digests(&text, parts, Elsewhere::default())?);
        }
        // The block makes no difference for what is outside it.
        let with_ids = edited(text, edits.iter());
        let includes = parts.includes(&with_ids, self.limits)?;
        let elsewhere = Elsewhere { includes: includes.as_ref(), known };
        if !parts_with_ids.is_empty() {
            references.extend(self.digests(&with_ids, parts_with_ids, elsewhere)?);
        }
        if self.signed.contains(&Part::Attachments) {
            let of_body = includes.filter(|_| self.signed.contains(&Part::Body));
            references.extend(parts.references(of_body.as_ref(), self.digest, self.limits)?);
        }
        match references.is_empty() {
            true => {
                let message = "a signature of nothing: no part that is to be signed is in the message";
                Err(Error::new(ErrorKind::Reference, message))
            }
            false => Ok(references),
        }
    }

    /// Returns a message with the signature that refers to this.
    async fn signed_message(
        &self,
        key: &dyn SigningKey,
        unsigned: &Unsigned<'_>,
        references: &[SentReference<'static>],
    ) -> Result<SecuredMessage, Error> {
        let template = Template {
            prefix: "ds",
            canonicalization: EXCLUSIVE_10,
            algorithm: uri_of(key.algorithm())?,
            digest: self.digest,
            has_canonical_info: true,
        };
        let info = template.signed_info(references);
        let key_info = template.key_info(&unsigned.block.key_info);
        let value = match info.contains('&') {
            false => key.sign(info.as_bytes()).await?,
            // What is escaped may be written in another way there.
            true => {
                let without_value = template.signature(&info, &[], &key_info, "");
                let (document, at) = unsigned.with_signature(&without_value);
                let signed_info = at + without_value.find(&info).unwrap_or_default();
                let source = Source::Message(&document, self.limits.document, None);
                signature_value(key, source, signed_info, template.canonicalization).await?
            }
        };
        let message = unsigned.with_signature(&template.signature(&info, &value, &key_info, "")).0;
        Ok(SecuredMessage { message, value: Some(value) })
    }

    /// Returns whether a signature covers the part, if a message has it.
    pub(super) fn signs(&self, part: &Part) -> bool {
        self.key.is_some() && self.signed.contains(part)
    }

    /// Checks that the parts are there that have to be.
    fn check_presence(&self, envelope: &Envelope<'_>) -> Result<(), Error> {
        let is_there = |part: &Part| match part {
            Part::Timestamp => self.lifetime.is_some(),
            Part::Username => self.username.is_some(),
            Part::Assertion => self.assertion.is_some(),
            part => !envelope.ranges(part).is_empty(),
        };
        match self.signed.absent(is_there) {
            None => Ok(()),
            Some(part) => {
                let message = format!("{part} is to be signed, and the message has none");
                Err(Error::new(ErrorKind::Reference, message))
            }
        }
    }

    /// Returns the parts of the message that are signed, and the changes that give them ids. Each has the offset that it has with these
    /// changes. `prefix` is for new ids.
    fn parts_with_ids(
        &self,
        text: &str,
        envelope: &Envelope<'_>,
        prefix: &str,
        ids: &mut Ids<'_>,
    ) -> (Vec<(SignedPart, usize)>, Vec<Edit>) {
        let mut ranges: Vec<&Range<usize>> = Vec::new();
        for part in self.signed.iter() {
            ranges.extend(envelope.ranges(part).into_iter().map(|(range, _)| range));
        }
        ranges.sort_by_key(|range| range.start);
        ranges.dedup();
        let (mut edits, mut added) = (Vec::new(), 0);
        let named = ranges.into_iter().map(|range| {
            let offset = range.start + added;
            let id = match ids.index.id_at(range.start) {
                Some(id) => id.to_owned(),
                None => {
                    let id = ids.fresh(if *range == envelope.body { "body" } else { "block" });
                    let at = range.start + end_of_name(&text[range.clone()]);
                    let text = format!(" xmlns:{prefix}=\"{WSU}\" {prefix}:Id=\"{id}\"");
                    added += text.len();
                    edits.push(Edit { range: at..at, text });
                    id
                }
            };
            (SignedPart::Element(id), offset)
        });
        (named.collect(), edits)
    }

    /// Computes the digest of an element that is written in canonical form.
    fn written(&self, id: &str, element: &str) -> Result<SentReference<'static>, Error> {
        let mut digest = crypto::digest(self.digest)?;
        digest.update(element.as_bytes());
        let transforms = vec![TransformText::new(EXCLUSIVE)];
        Ok(SentReference { uri: format!("#{id}").into(), transforms, digest: digest.finish() })
    }

    /// Finds elements by their ids.
    fn find_parts(&self, text: &str, parts: &[SignedPart]) -> Result<Vec<(SignedPart, usize)>, Error> {
        let source = Source::Message(text, self.limits.document, None);
        let mut ids: Vec<&str> = parts.iter().map(SignedPart::id).collect();
        ids.sort_unstable();
        ids.dedup();
        let places = Index::places(&mut source.reader()?, &IdAttributes::OF_MESSAGES, &ids)?;
        let place = |part: &SignedPart| Ok((part.clone(), places.get(part.id()).copied().ok_or_else(absent)?));
        parts.iter().map(place).collect()
    }

    /// Computes the digests of elements at these offsets. Prefixes that only values use are in the canonical forms, too.
    fn digests(
        &self,
        text: &str,
        parts: Vec<(SignedPart, usize)>,
        elsewhere: Elsewhere<'_>,
    ) -> Result<Vec<SentReference<'static>>, Error> {
        let source = Source::Message(text, self.limits.document, None);
        let wanted = |(part, apex): &(SignedPart, usize)| match part {
            SignedPart::Element(_) => Wanted::part(Some(*apex)),
            SignedPart::Token { is_signed, .. } => Wanted::token(*apex, !is_signed),
        };
        let wanted: Vec<Wanted> = parts.iter().map(wanted).collect();
        let canonical = Canonical::of(source, &wanted, EXCLUSIVE_10, self.digest, elsewhere)?;
        let references = parts.iter().zip(canonical).map(|((part, _), Canonical { digest, prefixes })| {
            let (id, transform) = match part {
                SignedPart::Element(id) => (id, TransformText { prefixes, ..TransformText::new(EXCLUSIVE) }),
                SignedPart::Token { reference, .. } => {
                    (reference, TransformText { uri: STR_TRANSFORM, prefixes, token: Some(EXCLUSIVE) })
                }
            };
            SentReference { uri: format!("#{id}").into(), transforms: vec![transform], digest }
        });
        Ok(references.collect())
    }
}

/// A message that is still to get its signature.
struct Unsigned<'m> {
    text: &'m str,
    envelope: &'m Envelope<'m>,
    /// What gives ids to the parts that are signed.
    edits: Vec<Edit>,
    block: SecurityBlock,
}

impl Unsigned<'_> {
    /// Returns the message with the block and a signature, and the offset of the signature.
    fn with_signature(&self, signature: &str) -> (String, usize) {
        self.block.insert(self.text, self.envelope, &self.edits, signature)
    }
}

/// A message that is to be sent.
pub(super) struct SecuredMessage {
    pub(super) message: String,
    /// The value of its signature, if it has one.
    pub(super) value: Option<Vec<u8>>,
}

/// What is signed.
#[derive(Clone)]
enum SignedPart {
    /// The element with this id.
    Element(String),
    /// A token that has a signature itself or not, and a reference to it, each by its id.
    Token { reference: String, token: String, is_signed: bool },
}

impl SignedPart {
    /// Returns the id of the element that is digested.
    fn id(&self) -> &str {
        match self {
            SignedPart::Element(id) => id,
            SignedPart::Token { token, .. } => token,
        }
    }
}

/// Ids that the message doesn't have.
struct Ids<'i> {
    index: &'i Index,
    /// The ids in the assertion that is sent.
    assertion: Option<&'i Index>,
    used: BTreeSet<String>,
}

impl Ids<'_> {
    fn fresh(&mut self, kind: &str) -> String {
        let mut number = 1;
        loop {
            let id = format!("{kind}-{number}");
            let mut known = [Some(self.index), self.assertion].into_iter().flatten();
            if known.all(|index| index.element(&id).is_none()) && self.used.insert(id.clone()) {
                return id;
            }
            number += 1;
        }
    }
}

/// Returns a prefix that the message declares nowhere, or only for the namespace of ids.
fn id_prefix(envelope: &Envelope<'_>) -> Result<String, Error> {
    if envelope.id_prefixes.len() == MAX_ID_PREFIXES {
        return Ok(format!("wsu{}", crypto::random_name()?));
    }
    let is_free = |prefix: &String| envelope.id_prefixes.get(prefix).copied().unwrap_or(true);
    let mut prefixes = std::iter::once("wsu".to_owned()).chain((1..).map(|number| format!("wsu{number}")));
    Ok(prefixes.find(is_free).unwrap_or_default())
}

impl Default for OutgoingSecurity {
    fn default() -> Self {
        OutgoingSecurity::new()
    }
}

impl fmt::Debug for OutgoingSecurity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingSecurity")
            .field("lifetime", &self.lifetime)
            .field("username", &self.username)
            .field("assertion", &self.assertion.is_some())
            .field("key", &self.key)
            .field("certificate", &self.certificate)
            .field("issuers", &self.issuers)
            .field("form", &self.form)
            .field("signed", &self.signed)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}
