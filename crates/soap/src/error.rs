use std::fmt;

use castile_budget::Exhausted;
use castile_databinding::datatypes::QName;
use castile_databinding::encoded::Encoding;
use castile_xml::{Limits, Location};

use crate::addressing::Refusal;

/// The namespaces of the names that SOAP 1.2 has for faults of calls (Part 2 §4.4), and of its encoding (§3.2).
pub(crate) const RPC: &str = "http://www.w3.org/2003/05/soap-rpc";
const ENCODING: &str = Encoding::Soap12.namespace();

/// Why a message is not the one that was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    message: String,
    /// Where in the message, as long as path, line and column are not worked out.
    offset: Option<usize>,
    source: Option<castile_databinding::Error>,
    /// The header blocks that were not understood.
    not_understood: Vec<QName>,
    /// Whether it was found in a header block.
    is_in_header: bool,
    /// A name that SOAP 1.2 has for it beside the fault code: its namespace, and the name.
    subcode: Option<(&'static str, &'static str)>,
    /// The fault of WS-Addressing that it is.
    addressing: Option<Refusal>,
}

/// What a message broke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The envelope is in the namespace of no SOAP version that is spoken (SOAP 1.1 §4.1.2, SOAP 1.2 Part 1 §2.8).
    VersionMismatch,
    /// A header block must be understood and is not (SOAP 1.1 §4.2.3, SOAP 1.2 Part 1 §2.4).
    MustUnderstand,
    /// The payload is in an encoding that is not known (SOAP 1.2 Part 1 §5.4.6).
    DataEncodingUnknown,
    /// What the message says of addresses and actions is wrong or missing (WS-Addressing 1.0 SOAP Binding §6.4).
    Addressing,
    /// The body holds no operation of the service.
    UnknownOperation,
    /// The document is not well-formed, not an envelope, or its payload not what the contract says.
    Document,
    /// The package that the message came in is broken, or a part is not what it should be.
    Package,
    /// The system failed: random numbers for a package, or the temporary file for parts that must wait.
    System,
    /// A value can't be written as XML.
    Unwritable,
    /// The memory for the message, or for what is made of it, is not granted at this time. It may be later.
    Exhausted,
}

impl Error {
    /// Whether it is about what stands at this byte of the message.
    pub(crate) fn is_at(&self, offset: usize) -> bool {
        let of_source = self.0.source.as_ref().map(castile_databinding::Error::offset);
        self.0.offset.or(of_source) == Some(offset)
    }

    /// An error at a byte of the message.
    pub(crate) fn at(offset: usize, kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner { offset: Some(offset), ..Inner::new(kind, message.into()) }))
    }

    /// An error that has no place in a message.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner::new(kind, message.into())))
    }

    /// An error of a message as a whole.
    #[doc(hidden)]
    pub fn of_message(message: impl Into<String>) -> Self {
        Error::new(ErrorKind::Document, message)
    }

    /// A fault of WS-Addressing at a byte of the message, and why in words.
    pub(crate) fn of_addressing(offset: usize, refusal: Refusal, why: impl Into<String>) -> Self {
        let mut error = Error::at(offset, ErrorKind::Addressing, why);
        error.0.addressing = Some(refusal);
        error
    }

    /// The fault of WS-Addressing that it is, if it is one.
    pub(crate) fn take_refusal(&mut self) -> Option<Refusal> {
        self.0.addressing.take()
    }

    /// This error with the header blocks that were not understood.
    pub(crate) fn of_header(mut self, not_understood: Vec<QName>) -> Self {
        self.0.not_understood = not_understood;
        self
    }

    /// This error, found in a header block.
    pub(crate) fn in_header(mut self) -> Self {
        self.0.is_in_header = true;
        self
    }

    /// Whether it was found in a header block.
    pub(crate) fn is_in_header(&self) -> bool {
        self.0.is_in_header
    }

    /// The header blocks that must be understood and are not, the first few of them.
    pub fn not_understood(&self) -> &[QName] {
        &self.0.not_understood
    }

    /// This error with a name that SOAP 1.2 has for it.
    pub(crate) fn with_subcode(mut self, namespace: &'static str, local: &'static str) -> Self {
        self.0.subcode = Some((namespace, local));
        self
    }

    /// This error with the name that SOAP 1.2 has for what is wrong with the arguments of a call (Part 2 §3.2, §4.4).
    pub(crate) fn of_call(self) -> Self {
        use castile_databinding::ErrorKind as Kind;
        match self.source_kind() {
            Some(Kind::MissingId) => self.with_subcode(ENCODING, "MissingID"),
            Some(Kind::DuplicateId) => self.with_subcode(ENCODING, "DuplicateID"),
            Some(Kind::Structure | Kind::Lexical) => self.with_subcode(RPC, "BadArguments"),
            _ => self,
        }
    }

    /// The name that SOAP 1.2 has for it beside the fault code.
    pub(crate) fn subcode(&self) -> Option<QName> {
        let (namespace, local) = self.0.subcode?;
        Some(QName { namespace: namespace.into(), local: local.to_owned(), prefix: String::new() })
    }

    /// What was wrong with the payload, if it was that.
    pub(crate) fn source_kind(&self) -> Option<castile_databinding::ErrorKind> {
        self.0.source.as_ref().map(castile_databinding::Error::kind)
    }

    /// What the message broke.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Whether the bytes were not what the reader takes: they may be in another encoding.
    pub(crate) fn is_of_encoding(&self) -> bool {
        use castile_databinding::ErrorKind::Xml;
        self.0.source.as_ref().is_some_and(|source| source.kind() == Xml(castile_xml::ErrorKind::Encoding))
    }

    /// What the decoder said of a document that is not what was expected, with the place in it.
    pub fn decoding(&self) -> Option<&castile_databinding::Error> {
        self.0.source.as_ref()
    }

    /// Whether the message could be read by a decoder that is lenient.
    pub(crate) fn is_deviation(&self) -> bool {
        self.0.source.as_ref().is_some_and(castile_databinding::Error::is_deviation)
    }

    /// This error with path, line and column, where it has a place in the document that was read.
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
        use castile_mime::ErrorKind::{Exhausted, Passed, System, Unwritable};
        let kind = match error.kind() {
            Exhausted => ErrorKind::Exhausted,
            Unwritable => ErrorKind::Unwritable,
            System | Passed => ErrorKind::System,
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
        // Its own words are the message already.
        self.0.source.as_ref().and_then(std::error::Error::source)
    }
}
/// The namespace of an element, for messages.
pub(crate) struct Named<'a>(pub(crate) &'a str);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("no namespace"),
            namespace => write!(f, "{namespace:?}"),
        }
    }
}
