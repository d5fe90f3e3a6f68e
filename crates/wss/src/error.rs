use std::borrow::Cow;
use std::fmt;

/// An error while a signature is made or verified. It never has a key, a password or a nonce in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    offset: Option<usize>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The document is not well-formed, or a signature in it doesn't have the content that XML Signature §4 requires.
    Malformed,
    /// An algorithm, a transform or a kind of reference that is not supported.
    Unsupported,
    /// An algorithm that is not among the allowed [`Algorithms`](crate::Algorithms), or a key that is too short for it.
    Disallowed,
    /// A reference leads to nothing, or to an attachment of a message that was given without its attachments; or two elements have the same
    /// id.
    Reference,
    /// Referenced content doesn't have the digest that the signature states.
    Digest,
    /// The signature value was not made with the key for this content.
    Signature,
    /// No key is known that the signature may have been made with.
    UnknownKey,
    /// The certificate, or the issuer of an assertion, is not trusted; or the certificate is not valid at the time of verification.
    Untrusted,
    /// There is no signature, or not one of something that must be signed.
    Unsigned,
    /// A signed value uses a prefix whose declaration is not signed.
    UnsignedPrefix,
    /// A message has no `Security`.
    Unsecured,
    /// A message has no time, or one that is too old or in the future.
    Time,
    /// A message was received before.
    Replayed,
    /// A message has no user name, or not with the right password; or it has no assertion.
    Unauthenticated,
    /// An assertion is not for this service, has a condition that can't be checked, or its subject is not confirmed.
    Assertion,
    /// An answer doesn't confirm the signatures of its request, so it may be the answer to another one.
    Unconfirmed,
    /// An attachment of a message can't be read: the package is not valid, or it broke off.
    Attachment,
    /// A limit of [`Limits`](crate::Limits), a fixed limit, or one of the package of a message is exceeded; or a
    /// [`ReplayCache`](crate::message::ReplayCache) can't remember more messages.
    Limit,
    /// There is currently too little memory or disk space for the attachments of a message. There may be enough later.
    Exhausted,
    /// A key or a certificate can't be read, or can't be used for what was asked.
    Key,
    /// The cryptographic library or a remote key failed, or there is no thread for the work.
    Crypto,
}

impl Error {
    /// Creates an error of kind [`ErrorKind::Crypto`], for a [`SigningKey`](crate::SigningKey) that can't sign.
    #[cold]
    pub fn of_key(message: impl Into<Cow<'static, str>>) -> Self {
        Error::new(ErrorKind::Crypto, message)
    }

    pub(crate) fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), offset: None }))
    }

    /// Returns this error with the byte offset of the element that it is about.
    pub(crate) fn at(mut self, offset: usize) -> Self {
        self.0.offset.get_or_insert(offset);
        self
    }

    /// Returns this error with what it is about before its text.
    pub(crate) fn within(mut self, what: &str) -> Self {
        self.0.message = format!("{what}: {}", self.0.message).into();
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns what was found and what was expected.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the byte offset in the document, converted to UTF-8, of the element that the error is about.
    pub fn offset(&self) -> Option<usize> {
        self.0.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match self.0.offset {
            Some(offset) => write!(f, " (byte {offset})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

impl From<castile_mime::Error> for Error {
    fn from(error: castile_mime::Error) -> Self {
        // An inspector of this crate refused them.
        if let Some(reason) = std::error::Error::source(&error).and_then(|reason| reason.downcast_ref::<Error>()) {
            return reason.clone();
        }
        let kind = match error.kind() {
            castile_mime::ErrorKind::Limit => ErrorKind::Limit,
            castile_mime::ErrorKind::Exhausted => ErrorKind::Exhausted,
            _ => ErrorKind::Attachment,
        };
        Error::new(kind, format!("an attachment can't be read: {error}"))
    }
}

impl From<castile_xml::Error> for Error {
    fn from(error: castile_xml::Error) -> Self {
        let kind = match error.kind() {
            castile_xml::ErrorKind::Limit => ErrorKind::Limit,
            _ => ErrorKind::Malformed,
        };
        Error::new(kind, error.message().to_owned()).at(error.offset())
    }
}
