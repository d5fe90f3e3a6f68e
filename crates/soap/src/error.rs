use std::borrow::Cow;
use std::fmt;

use castile_budget::Exhausted;
use castile_databinding::datatypes::QName;
use castile_databinding::encoded::Encoding;
use castile_xml::{Limits, Location};

use crate::addressing::Refusal;
use crate::fault::Fault;

/// The namespaces of SOAP 1.2's subcodes for RPC faults (Part 2 §4.4), and for encoding faults (§3.2).
pub(crate) const RPC: &str = "http://www.w3.org/2003/05/soap-rpc";
const ENCODING: &str = Encoding::Soap12.namespace();

/// An error while reading or writing a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    message: String,
    /// The byte offset in the message, until it is converted to path, line and column.
    offset: Option<usize>,
    source: Option<castile_databinding::Error>,
    /// The header blocks that were not understood.
    not_understood: Vec<QName>,
    /// Whether the error is in a header block.
    is_in_header: bool,
    /// The subcode that SOAP 1.2 defines for the error: its namespace and its local name.
    subcode: Option<(&'static str, &'static str)>,
    /// The WS-Addressing fault of the error.
    addressing: Option<Refusal>,
    /// The fault that anybody may have made.
    unverified: Option<Box<Fault>>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The namespace of the envelope is not that of a supported SOAP version (SOAP 1.1 §4.1.2, SOAP 1.2 Part 1 §2.8).
    VersionMismatch,
    /// A header block that must be understood is not (SOAP 1.1 §4.2.3, SOAP 1.2 Part 1 §2.4).
    MustUnderstand,
    /// The encoding of the payload is unknown (SOAP 1.2 Part 1 §5.4.6).
    DataEncodingUnknown,
    /// The WS-Addressing header blocks are invalid or missing (WS-Addressing 1.0 SOAP Binding §6.4).
    Addressing,
    /// The body contains no operation of the service.
    UnknownOperation,
    /// The document is not well-formed, is not an envelope, or its payload violates the contract.
    Document,
    /// The package of the message is invalid, or one of its parts is.
    Package,
    /// The system failed: it has no random numbers for a package, or no temporary file for waiting parts.
    System,
    /// A value can't be written as XML.
    Unwritable,
    /// The memory budget doesn't allow the message or its values now. It may allow them later.
    Exhausted,
    /// An answer doesn't have the security that the client requires, or a request can't be secured.
    Security,
    /// An answer is a fault without the security that the client requires. Anybody may have made it.
    /// [`Error::unverified_fault`] is what it says.
    UnsecuredFault,
}

impl Error {
    /// Returns whether the error is at this byte offset.
    pub(crate) fn is_at(&self, offset: usize) -> bool {
        let of_source = self.0.source.as_ref().map(castile_databinding::Error::offset);
        self.0.offset.or(of_source) == Some(offset)
    }

    /// Creates an error at a byte offset of the message.
    pub(crate) fn at(offset: usize, kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { offset: Some(offset), ..Inner::new(kind, message.into()) }))
    }

    /// Creates an error without a place in the message.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner::new(kind, message.into())))
    }

    /// Creates an error about the security of a message, for implementations of [`MessageSecurity`](crate::MessageSecurity).
    pub fn of_security(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Security, message)
    }

    /// Creates an error about a fault without security, for implementations of
    /// [`MessageSecurity`](crate::MessageSecurity). The text of the error also has the beginning of what the fault says.
    pub fn of_unsecured_fault(message: impl fmt::Display, fault: Fault) -> Self {
        let mut error = Error::new(ErrorKind::UnsecuredFault, format!("{message}; unverified: {fault}"));
        error.0.unverified = Some(Box::new(fault));
        error
    }

    /// Returns what is in the fault of an error of kind [`ErrorKind::UnsecuredFault`]. Anybody may have made it: it is for people who
    /// look for the cause, and nothing must be done because of it.
    pub fn unverified_fault(&self) -> Option<&Fault> {
        self.0.unverified.as_deref()
    }

    /// Creates an error about the message as a whole.
    #[doc(hidden)]
    pub fn of_message(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Document, message)
    }

    /// Creates a WS-Addressing fault at a byte offset of the message, with an explanation.
    pub(crate) fn of_addressing(offset: usize, refusal: Refusal, why: impl Into<String>) -> Self {
        let mut error = Error::at(offset, ErrorKind::Addressing, why);
        error.0.addressing = Some(refusal);
        error
    }

    /// Takes the WS-Addressing fault of the error, if it has one.
    pub(crate) fn take_refusal(&mut self) -> Option<Refusal> {
        self.0.addressing.take()
    }

    /// Adds what may be the reason.
    pub(crate) fn with_reason(mut self, reason: &str) -> Self {
        self.0.message = format!("{}: {reason}", self.0.message);
        self
    }

    /// Sets the header blocks that were not understood.
    pub(crate) fn of_header(mut self, not_understood: Vec<QName>) -> Self {
        self.0.not_understood = not_understood;
        self
    }

    /// Marks the error as being in a header block.
    pub(crate) fn in_header(mut self) -> Self {
        self.0.is_in_header = true;
        self
    }

    /// Returns whether the error is in a header block.
    pub(crate) fn is_in_header(&self) -> bool {
        self.0.is_in_header
    }

    /// Returns the names of the first header blocks that must be understood and are not.
    pub fn not_understood(&self) -> &[QName] {
        &self.0.not_understood
    }

    /// Sets the subcode that SOAP 1.2 defines for the error.
    pub(crate) fn with_subcode(mut self, namespace: &'static str, local: &'static str) -> Self {
        self.0.subcode = Some((namespace, local));
        self
    }

    /// Sets the subcode that SOAP 1.2 defines for invalid arguments of an RPC call (Part 2 §3.2, §4.4).
    pub(crate) fn of_call(self) -> Self {
        use castile_databinding::ErrorKind as Kind;
        match self.source_kind() {
            Some(Kind::MissingId) => self.with_subcode(ENCODING, "MissingID"),
            Some(Kind::DuplicateId) => self.with_subcode(ENCODING, "DuplicateID"),
            Some(Kind::Structure | Kind::Lexical) => self.with_subcode(RPC, "BadArguments"),
            _ => self,
        }
    }

    /// Returns the subcode that SOAP 1.2 defines for the error.
    pub(crate) fn subcode(&self) -> Option<QName> {
        let (namespace, local) = self.0.subcode?;
        Some(QName { namespace: namespace.into(), local: local.to_owned(), prefix: String::new() })
    }

    /// Returns the kind of the decoding error, if it is one.
    pub(crate) fn source_kind(&self) -> Option<castile_databinding::ErrorKind> {
        self.0.source.as_ref().map(castile_databinding::Error::kind)
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns whether the reader found invalid bytes. The message may be in another encoding.
    pub(crate) fn is_of_encoding(&self) -> bool {
        use castile_databinding::ErrorKind::Xml;
        self.0.source.as_ref().is_some_and(|source| source.kind() == Xml(castile_xml::ErrorKind::Encoding))
    }

    /// Returns the decoding error with its place, if it is one.
    pub fn decoding(&self) -> Option<&castile_databinding::Error> {
        self.0.source.as_ref()
    }

    /// Returns whether a lenient decoder could read the message.
    pub(crate) fn is_deviation(&self) -> bool {
        self.0.source.as_ref().is_some_and(castile_databinding::Error::is_deviation)
    }

    /// Adds path, line and column, if the error has a place in the document.
    pub(crate) fn locate(mut self, message: &[u8], limits: Limits) -> Self {
        if let Some(source) = self.0.source.take() {
            let source = source.locate(message, limits, Some("Body"));
            self.0.message = source.to_string();
            self.0.source = Some(source);
        }
        if let Some(offset) = self.0.offset.take() {
            let location = Location::of(message, offset, limits, Some("Body"));
            let colon = if location.path.is_empty() { "" } else { ": " };
            self.0.message = format!("{}{colon}{} ({location})", location.path, self.0.message);
        }
        self
    }
}

impl Inner {
    fn new(kind: ErrorKind, message: String) -> Self {
        Inner {
            kind,
            message,
            offset: None,
            source: None,
            not_understood: Vec::new(),
            is_in_header: false,
            subcode: None,
            addressing: None,
            unverified: None,
        }
    }
}

impl From<castile_databinding::Error> for Error {
    fn from(error: castile_databinding::Error) -> Self {
        let kind = match error.kind() {
            castile_databinding::ErrorKind::Unwritable => ErrorKind::Unwritable,
            castile_databinding::ErrorKind::Exhausted => ErrorKind::Exhausted,
            _ => ErrorKind::Document,
        };
        let message = error.to_string();
        Error(Box::new(Inner { source: Some(error), ..Inner::new(kind, message) }))
    }
}

impl From<castile_mime::Error> for Error {
    fn from(error: castile_mime::Error) -> Self {
        use castile_mime::ErrorKind::{Exhausted, Passed, System, Unverified, Unwritable};
        let kind = match error.kind() {
            Exhausted => ErrorKind::Exhausted,
            Unwritable => ErrorKind::Unwritable,
            System | Passed | Unverified => ErrorKind::System,
            _ => ErrorKind::Package,
        };
        let mut message = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            message = format!("{message}: {source}");
        }
        Error::new(kind, message)
    }
}

impl From<Exhausted> for Error {
    fn from(exhausted: Exhausted) -> Self {
        Error::new(ErrorKind::Exhausted, format!("there is too little memory: {exhausted}"))
    }
}

impl From<castile_xml::Error> for Error {
    fn from(error: castile_xml::Error) -> Self {
        castile_databinding::Error::from(error).into()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&castile_xml::visible(&self.0.message))
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message already contains the text of the decoding error itself.
        self.0.source.as_ref().and_then(std::error::Error::source)
    }
}
/// Shows the namespace of an element in error messages.
pub(crate) struct Named<'a>(pub(crate) &'a str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("no namespace"),
            namespace => write!(f, "{namespace:?}"),
        }
    }
}

/// How much of an error message is sent, in bytes. Names and texts that it quotes may be as long as the message.
const MAX_MESSAGE_LENGTH: usize = 4_000;

/// Shortens a long error message. Keeps its beginning, and its end with the place of the error.
pub(crate) fn shorten(text: &str) -> Cow<'_, str> {
    let Some(more) = text.len().checked_sub(MAX_MESSAGE_LENGTH).filter(|&more| more > 0) else { return text.into() };
    let start = &text[..text.floor_char_boundary(MAX_MESSAGE_LENGTH * 3 / 4)];
    let end = &text[text.ceil_char_boundary(text.len() - MAX_MESSAGE_LENGTH / 4)..];
    format!("{start}… ({more} more bytes) …{end}").into()
}
