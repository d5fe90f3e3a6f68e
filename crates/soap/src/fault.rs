//! Faults (SOAP 1.1 §4.4, SOAP 1.2 Part 1 §5.4).

mod addressing;
mod headers;
mod reason;
mod slot;
mod view;

use std::fmt;

use castile_databinding::datatypes::QName;
use castile_databinding::declared::{DeclaredDetails, DeclaredElement};
use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Encoder};
use castile_xml::excerpt;

use crate::error::{Error, ErrorKind, shorten};
pub use crate::fault_code::FaultCode;
use crate::version::Version;

pub(crate) use headers::FaultExtras;
pub use reason::{Reason, ReasonText};
pub(crate) use slot::{DecodesDetail, DetailSlot, elements_of};
pub(crate) use view::{Part, View};

/// The reason of the fault when the memory budget is exhausted.
const TOO_LITTLE_MEMORY: &str = "too little memory is left for this message, try again later";

/// A fault that a service returns instead of a response. A fault is a value; it is not an error of the library.
///
/// A `Fault` can represent everything in a SOAP 1.2 fault. SOAP 1.1 writes a single name for `code` and `subcodes`, which is the
/// last subcode if there is one. It writes no node, and the reason in one language only.
///
/// A fault can have header blocks and HTTP headers. They are ignored when faults are compared.
///
/// `D` is the type of the details that the contract declares for the operation.
///
/// ```
/// use castile_soap::{Fault, Reason};
///
/// let fault: Fault = Fault::sender("Colour").with_reason(Reason::new("en", "Colour").with("de", "Farbe")).with_role("urn:role");
/// assert_eq!(fault.reason.as_str(), "Colour");
/// ```
#[derive(Clone, Debug)]
pub struct Fault<D = NoDetail> {
    /// The fault code: `faultcode`, `Code`.
    pub code: FaultCode,
    /// More specific codes, each more specific than the one before: `Subcode`. In SOAP 1.1, codes with a dot, such as
    /// `Client.Authentication`.
    pub subcodes: Vec<QName>,
    /// The explanation for people: `faultstring`, `Reason`.
    pub reason: Reason,
    /// The node that raised the fault, a URI: `Node`.
    pub node: Option<Box<str>>,
    /// The role in which the node raised the fault, a URI: `faultactor`, `Role`.
    pub role: Option<Box<str>>,
    /// Application-specific details: `detail`.
    pub detail: Detail<D>,
    /// Header blocks, HTTP headers and attachments. Boxed, because faults are in the results of all methods.
    pub(crate) extras: Option<Box<FaultExtras>>,
}

/// Compares the content of the fault elements only.
impl<D: PartialEq> PartialEq for Fault<D> {
    fn eq(&self, other: &Self) -> bool {
        let Fault { code, subcodes, reason, node, role, detail, extras: _ } = self;
        (code, subcodes, reason, node, role, detail)
            == (&other.code, &other.subcodes, &other.reason, &other.node, &other.role, &other.detail)
    }
}

impl<D: Eq> Eq for Fault<D> {}

/// The detail of a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail<D> {
    /// No detail.
    #[default]
    None,
    /// No detail, because a header block is invalid. SOAP 1.1 then doesn't write an empty `detail` either (§4.4). Received faults
    /// never have this value.
    OfHeader,
    /// A detail that the contract declares.
    Declared(D),
    /// Any other detail, as the XML between the tags of `detail`. Its elements also declare the namespaces that they use from
    /// outside, unless the XML would then be longer than twice the detail plus 64 KiB. Text directly inside `detail` has no
    /// declarations.
    Other(String),
}

/// The details that a contract declares for an operation. The generator implements this trait for operations with `wsdl:fault`s.
pub trait FaultDetail: Sized + Send + 'static {
    /// The elements that can be in the detail.
    const ELEMENTS: &'static [Element];
    /// How many of these elements, counted from the end, are header blocks. A detail about a header is written into the header, and
    /// there is no `detail` then (SOAP 1.1 §4.4).
    const HEADER_BLOCKS: usize = 0;

    /// Reads `ELEMENTS[index]`, whose start tag was already read.
    ///
    /// # Errors
    /// Returns an error if the content of the element is invalid.
    fn read(decoder: &mut Decoder<'_>, index: usize) -> Result<Self, castile_databinding::Error>;

    /// Writes the element, including its tags.
    fn write(&self, out: &mut Encoder);

    /// Returns the index of this detail in [`ELEMENTS`](Self::ELEMENTS).
    fn index(&self) -> usize;

    /// Returns whether the detail is a header block.
    fn is_header(&self) -> bool {
        self.index() + Self::HEADER_BLOCKS >= Self::ELEMENTS.len()
    }
}

/// The detail type of operations whose contract declares no details. It has no values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoDetail {}

impl DeclaredDetails for NoDetail {
    fn elements() -> Vec<DeclaredElement> {
        Vec::new()
    }
}

impl FaultDetail for NoDetail {
    const ELEMENTS: &'static [Element] = &[];

    fn read(_: &mut Decoder<'_>, _: usize) -> Result<Self, castile_databinding::Error> {
        unreachable!("there is no element to read")
    }

    fn write(&self, _: &mut Encoder) {
        match *self {}
    }

    fn index(&self) -> usize {
        match *self {}
    }
}

impl<D> Fault<D> {
    /// Creates a fault with a code and a reason in English.
    pub fn new(code: FaultCode, reason: impl Into<String>) -> Self {
        Fault {
            code,
            subcodes: Vec::new(),
            reason: Reason::new("en", reason),
            node: None,
            role: None,
            detail: Detail::None,
            extras: None,
        }
    }

    /// Creates a fault for an invalid request.
    pub fn sender(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Sender, reason)
    }

    /// Creates a fault for a valid request that can't be processed.
    pub fn receiver(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Receiver, reason)
    }

    /// Adds a subcode.
    pub fn with_subcode(mut self, name: QName) -> Self {
        self.subcodes.push(name);
        self
    }

    /// Sets the reason, which can be in several languages.
    pub fn with_reason(self, reason: Reason) -> Self {
        Fault { reason, ..self }
    }

    /// Sets the node that raised the fault, a URI.
    pub fn with_node(self, node: impl Into<Box<str>>) -> Self {
        Fault { node: Some(node.into()), ..self }
    }

    /// Sets the role in which the node raised the fault, a URI.
    pub fn with_role(self, role: impl Into<Box<str>>) -> Self {
        Fault { role: Some(role.into()), ..self }
    }

    /// Sets the detail.
    pub fn with_detail(mut self, detail: D) -> Self {
        self.detail = Detail::Declared(detail);
        self
    }

    /// Marks the fault as being about a header block, for layers that check header blocks.
    pub fn about_header(mut self) -> Self {
        self.detail = Detail::OfHeader;
        self
    }
}

impl View<'_> {
    /// Writes the fault as the payload of a message.
    pub(crate) fn write(&self, version: Version, out: &mut Encoder) {
        out.encode(version.encoding());
        out.raw("<soap:Fault>");
        match version {
            Version::Soap11 => self.write_soap11(out),
            Version::Soap12 => self.write_soap12(out),
        }
        out.raw("</soap:Fault>");
    }

    /// Writes the fault in SOAP 1.1 (§4.4).
    fn write_soap11(&self, out: &mut Encoder) {
        let code = match self.code {
            FaultCode::Other(name) => Some(&**name),
            _ => None,
        };
        let name = CodeName { version: Version::Soap11, code: self.code, name: self.subcodes.last().or(code) };
        name.write("<faultcode>", "</faultcode>", out);
        write_text("<faultstring>", self.reason.as_str(), "</faultstring>", out);
        if let Some(role) = self.role {
            write_text("<faultactor>", role, "</faultactor>", out);
        }
        match self.detail {
            // Without a `detail`, the fault would be about something other than the body (§4.4).
            Part::None if !self.has_no_detail() => out.raw("<detail/>"),
            // A detail about a header block is not written into the body.
            _ if self.addressing_detail().is_some() => {}
            _ => self.write_detail("<detail>", "</detail>", out),
        }
    }

    /// Returns whether this is the fault of an exhausted memory budget, which a handler may have passed on.
    pub(crate) fn is_of_memory(&self) -> bool {
        *self.code == FaultCode::Receiver && self.reason.as_str() == TOO_LITTLE_MEMORY
    }

    /// Returns whether the fault is about the envelope or a header block.
    fn has_no_detail(&self) -> bool {
        matches!(self.code, FaultCode::VersionMismatch | FaultCode::MustUnderstand) || self.is_of_addressing()
    }

    /// Writes the fault in SOAP 1.2 (Part 1 §5.4).
    fn write_soap12(&self, out: &mut Encoder) {
        let name = |name| CodeName { version: Version::Soap12, code: self.code, name };
        out.raw("<soap:Code>");
        name(None).write("<soap:Value>", "</soap:Value>", out);
        let other = match self.code {
            FaultCode::Other(name) => Some(&**name),
            _ => None,
        };
        let subcodes = || other.into_iter().chain(self.subcodes);
        for subcode in subcodes() {
            out.raw("<soap:Subcode>");
            name(Some(subcode)).write("<soap:Value>", "</soap:Value>", out);
        }
        for _ in subcodes() {
            out.raw("</soap:Subcode>");
        }
        out.raw("</soap:Code><soap:Reason>");
        for ReasonText { language, text } in self.reason.texts() {
            out.raw("<soap:Text");
            out.attribute("xml:lang", &printable(language));
            write_text(">", text, "</soap:Text>", out);
        }
        out.raw("</soap:Reason>");
        if let Some(node) = self.node {
            write_text("<soap:Node>", node, "</soap:Node>", out);
        }
        if let Some(role) = self.role {
            write_text("<soap:Role>", role, "</soap:Role>", out);
        }
        self.write_detail("<soap:Detail>", "</soap:Detail>", out);
    }

    fn write_detail(&self, start: &str, end: &str, out: &mut Encoder) {
        match self.detail {
            Part::None | Part::OfHeader => {}
            // This detail is written into the header.
            Part::Declared(detail) if detail.is_header() => {}
            Part::Declared(detail) => {
                out.raw(start);
                detail.write(out);
                out.raw(end);
            }
            Part::Other(xml) => {
                out.raw(start);
                out.raw(xml);
                out.raw(end);
            }
        }
    }
}

/// The code of a fault, as a version of SOAP writes it.
struct CodeName<'a> {
    version: Version,
    code: &'a FaultCode,
    /// A name that is written instead of the code's own name.
    name: Option<&'a QName>,
}

impl CodeName<'_> {
    fn write(&self, start: &str, end: &str, out: &mut Encoder) {
        let local = match self.name {
            None => self.version.fault_code(self.code),
            Some(name) if *name.namespace == *self.version.namespace() => &name.local,
            Some(name) => return out.element(start, name, end),
        };
        out.raw(start);
        out.raw("soap:");
        out.text(local);
        out.raw(end);
    }
}

fn write_text(start: &str, text: &str, end: &str, out: &mut Encoder) {
    out.raw(start);
    out.text(&printable(text));
    out.raw(end);
}

/// Replaces characters that XML doesn't allow. A reason may quote them from a message, and a fault must always be writable.
fn printable(text: &str) -> String {
    text.chars().map(|c| if castile_xml::escape::is_char(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// The only table that maps errors of the library to fault codes.
impl<D> From<Error> for Fault<D> {
    fn from(mut error: Error) -> Self {
        if let Some(refusal) = error.take_refusal() {
            return refusal.into_fault(&shorten(&error.to_string()));
        }
        let code = match error.kind() {
            ErrorKind::VersionMismatch => FaultCode::VersionMismatch,
            ErrorKind::MustUnderstand => FaultCode::MustUnderstand,
            ErrorKind::DataEncodingUnknown => FaultCode::DataEncodingUnknown,
            ErrorKind::UnknownOperation | ErrorKind::Document | ErrorKind::Addressing | ErrorKind::Package => {
                FaultCode::Sender
            }
            ErrorKind::Unwritable | ErrorKind::System => FaultCode::Receiver,
            // Whoever made that answer must not write into this fault, which may be signed.
            ErrorKind::Security | ErrorKind::UnsecuredFault => {
                return Fault::new(
                    FaultCode::Receiver,
                    "an answer of another service doesn't have the security that is required",
                );
            }
            // The client must not learn how much memory there is or is in use.
            ErrorKind::Exhausted => return Fault::new(FaultCode::Receiver, TOO_LITTLE_MEMORY),
        };
        let fault = Fault::new(code, shorten(&error.to_string()));
        if error.is_in_header() { fault.about_header() } else { fault }
    }
}

/// Lets a handler pass on errors of attachments with `?`.
impl<D> From<castile_mime::Error> for Fault<D> {
    fn from(error: castile_mime::Error) -> Self {
        Error::from(error).into()
    }
}

/// Shows the fault in one line. Control characters are escaped and long texts are truncated; the fields have the full texts.
impl<D> fmt::Display for Fault<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The maximum length of a name and of the reason, in bytes.
        const NAME: usize = 100;
        const REASON: usize = 1_000;
        /// The maximum number of subcodes.
        const SUBCODES: usize = 10;
        let code = match &self.code {
            FaultCode::Other(name) => &name.local,
            code => Version::Soap12.fault_code(code),
        };
        f.write_str(&excerpt(code, NAME))?;
        for name in self.subcodes.iter().take(SUBCODES) {
            write!(f, "/{}", excerpt(&name.local, NAME))?;
        }
        if let Some(more @ 1..) = self.subcodes.len().checked_sub(SUBCODES) {
            write!(f, "… ({more} more)")?;
        }
        write!(f, ": {}", excerpt(self.reason.as_str(), REASON))
    }
}

impl<D: fmt::Debug> std::error::Error for Fault<D> {}
