//! Faults (SOAP 1.1 §4.4).

use std::fmt;

use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Encoder};

use crate::{Error, ErrorKind, Version};

/// What a service answers instead of a result: a value on the wire, never an error of the engine.
///
/// `D` is the type of the details that the contract declares for the operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault<D = NoDetail> {
    /// Who is to blame: `faultcode`.
    pub code: FaultCode,
    /// What happened, for people: `faultstring`.
    pub reason: String,
    /// Who found it: `faultactor`, a URI.
    pub role: Option<String>,
    /// What the application says about it: `detail`.
    pub detail: Detail<D>,
}

/// Who is to blame (SOAP 1.1 §4.4.1, by the names of SOAP 1.2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultCode {
    /// The envelope is of an unknown version.
    VersionMismatch,
    /// A header block that must be understood was not.
    MustUnderstand,
    /// The message was wrong; sent again unchanged it will fail again. `Client` in SOAP 1.1.
    Sender,
    /// The message was right and could not be processed; it may succeed later. `Server` in SOAP 1.1.
    Receiver,
    /// Another code, by its local name.
    Other(String),
}

/// The detail of a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Detail<D> {
    /// There is none.
    #[default]
    None,
    /// One that the contract declares.
    Declared(D),
    /// Another one, as it came: the XML between the tags of `detail`.
    Other(String),
}

/// The details that a contract declares for an operation. Generated for operations with `wsdl:fault`s.
pub trait FaultDetail: Sized + Send + 'static {
    /// The elements that a detail can be.
    const ELEMENTS: &'static [Element];

    /// Reads `ELEMENTS[index]`, whose start tag was read.
    ///
    /// # Errors
    /// What the document has instead.
    fn read(decoder: &mut Decoder<'_>, index: usize) -> Result<Self, castile_databinding::Error>;

    /// Writes the element, its tags included.
    fn write(&self, out: &mut Encoder);
}

/// The details of an operation whose contract declares none: there is no value of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoDetail {}

impl FaultDetail for NoDetail {
    const ELEMENTS: &'static [Element] = &[];

    fn read(_: &mut Decoder<'_>, _: usize) -> Result<Self, castile_databinding::Error> {
        unreachable!("there is no element to be read")
    }

    fn write(&self, _: &mut Encoder) {
        match *self {}
    }
}

impl<D> Fault<D> {
    /// A fault without role and detail.
    pub fn new(code: FaultCode, reason: impl Into<String>) -> Self {
        Fault { code, reason: reason.into(), role: None, detail: Detail::None }
    }

    /// The request was wrong.
    pub fn sender(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Sender, reason)
    }

    /// The request was right, and could not be done.
    pub fn receiver(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Receiver, reason)
    }

    /// The same fault with a detail.
    pub fn with_detail(mut self, detail: D) -> Self {
        self.detail = Detail::Declared(detail);
        self
    }
}

impl<D: FaultDetail> Fault<D> {
    /// Writes the fault as the payload of a message.
    pub(crate) fn write(&self, version: Version, out: &mut Encoder) {
        out.raw("<soap:Fault><faultcode>soap:");
        out.text(version.fault_code(&self.code));
        out.raw("</faultcode><faultstring>");
        out.text(&printable(&self.reason));
        out.raw("</faultstring>");
        if let Some(role) = &self.role {
            out.raw("<faultactor>");
            out.text(&printable(role));
            out.raw("</faultactor>");
        }
        match &self.detail {
            Detail::None => {}
            Detail::Declared(detail) => {
                out.raw("<detail>");
                detail.write(out);
                out.raw("</detail>");
            }
            Detail::Other(xml) => {
                out.raw("<detail>");
                out.raw(xml);
                out.raw("</detail>");
            }
        }
        out.raw("</soap:Fault>");
    }
}

/// Reasons quote what came in; what XML can't carry is replaced, so that a fault can always be written.
fn printable(text: &str) -> String {
    text.chars().map(|c| if castile_xml::escape::is_char(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// The one table from errors of the engine to fault codes.
impl<D> From<Error> for Fault<D> {
    fn from(error: Error) -> Self {
        let code = match error.kind() {
            ErrorKind::VersionMismatch => FaultCode::VersionMismatch,
            ErrorKind::MustUnderstand => FaultCode::MustUnderstand,
            ErrorKind::UnknownOperation | ErrorKind::Document => FaultCode::Sender,
            ErrorKind::Unwritable => FaultCode::Receiver,
        };
        Fault::new(code, error.to_string())
    }
}

impl<D> fmt::Display for Fault<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", Version::Soap11.fault_code(&self.code), self.reason)
    }
}

impl<D: fmt::Debug> std::error::Error for Fault<D> {}
