//! Faults (SOAP 1.1 §4.4, SOAP 1.2 Part 1 §5.4).

mod headers;
mod reason;

use std::borrow::Cow;
use std::fmt;

use castile_databinding::datatypes::QName;
use castile_databinding::declared::{DeclaredDetails, DeclaredElement};
use castile_databinding::schema::Element;
use castile_databinding::{Decoder, Encoder};
use castile_xml::excerpt;

use crate::addressing::{fault_detail, is_of_addressing};
use crate::{Error, ErrorKind, Version};

pub(crate) use headers::Beside;
pub use reason::{Reason, ReasonText};

/// What is said where memory is not granted.
const TOO_LITTLE_MEMORY: &str = "too little memory is left for this message at this time, try again later";

/// What a service answers instead of a result: a value on the wire, never an error of the engine.
///
/// It has all that a fault of SOAP 1.2 has. SOAP 1.1 has one name for `code` and `subcodes`, which is the last of the
/// subcodes where there are any, and neither a node nor a reason in several languages.
///
/// Header blocks and headers of HTTP may go with it. They don't count where faults are compared.
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
    /// Who is to blame: `faultcode`, `Code`.
    pub code: FaultCode,
    /// What it was, each name more exact than the one before: `Subcode`, and codes of SOAP 1.1 with a dot, such as
    /// `Client.Authentication`.
    pub subcodes: Vec<QName>,
    /// What happened, for people: `faultstring`, `Reason`.
    pub reason: Reason,
    /// Who found it: `Node`, a URI.
    pub node: Option<Box<str>>,
    /// In which role: `faultactor`, `Role`, a URI.
    pub role: Option<Box<str>>,
    /// What the application says about it: `detail`.
    pub detail: Detail<D>,
    /// What goes beside it. Boxed, since faults are in the results of all methods.
    pub(crate) beside: Option<Box<Beside>>,
}

/// A fault is what stands in the body.
impl<D: PartialEq> PartialEq for Fault<D> {
    fn eq(&self, other: &Self) -> bool {
        let Fault { code, subcodes, reason, node, role, detail, beside: _ } = self;
        (code, subcodes, reason, node, role, detail)
            == (&other.code, &other.subcodes, &other.reason, &other.node, &other.role, &other.detail)
    }
}

impl<D: Eq> Eq for Fault<D> {}

/// Who is to blame (SOAP 1.1 §4.4.1, SOAP 1.2 Part 1 §5.4.6, by the names of SOAP 1.2).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultCode {
    /// The envelope is of an unknown version.
    VersionMismatch,
    /// A header block that must be understood was not.
    MustUnderstand,
    /// The payload is in an encoding that is not known. SOAP 1.1 has no such code: `Client` is written there.
    DataEncodingUnknown,
    /// The message was wrong; sent again unchanged it will fail again. `Client` in SOAP 1.1.
    Sender,
    /// The message was right and could not be processed; it may succeed later. `Server` in SOAP 1.1.
    Receiver,
    /// Another code. SOAP 1.2 has no others: there it is written as a subcode of `Receiver`.
    Other(Box<QName>),
}

/// The detail of a fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail<D> {
    /// There is none.
    #[default]
    None,
    /// There is none since a header block is what is wrong: SOAP 1.1 has not even an empty `detail` then (§4.4). No fault that
    /// came says so.
    OfHeader,
    /// One that the contract declares.
    Declared(D),
    /// Another one, as it came: the XML between the tags of `detail`. Its elements declare what they take from around it, until that
    /// takes more than twice the detail and 64 KiB; text directly in `detail` declares nothing.
    Other(String),
}

/// The details that a contract declares for an operation. Generated for operations with `wsdl:fault`s.
pub trait FaultDetail: Sized + Send + 'static {
    /// The elements that a detail can be.
    const ELEMENTS: &'static [Element];
    /// How many of them, the last ones, are header blocks: what a fault says about a header stands in the header, and
    /// there is no `detail` then (SOAP 1.1 §4.4).
    const HEADER_BLOCKS: usize = 0;

    /// Reads `ELEMENTS[index]`, whose start tag was read.
    ///
    /// # Errors
    /// What the document has instead.
    fn read(decoder: &mut Decoder<'_>, index: usize) -> Result<Self, castile_databinding::Error>;

    /// Writes the element, its tags included.
    fn write(&self, out: &mut Encoder);

    /// Which of [`ELEMENTS`](Self::ELEMENTS) it is.
    fn index(&self) -> usize;

    /// Whether the element is a header block.
    fn is_header(&self) -> bool {
        self.index() + Self::HEADER_BLOCKS >= Self::ELEMENTS.len()
    }
}

/// The details of an operation whose contract declares none: there is no value of this type.
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
        unreachable!("there is no element to be read")
    }

    fn write(&self, _: &mut Encoder) {
        match *self {}
    }

    fn index(&self) -> usize {
        match *self {}
    }
}

impl<D> Fault<D> {
    /// A fault with a code and a reason in English, and no more.
    pub fn new(code: FaultCode, reason: impl Into<String>) -> Self {
        Fault {
            code,
            subcodes: Vec::new(),
            reason: Reason::new("en", reason),
            node: None,
            role: None,
            detail: Detail::None,
            beside: None,
        }
    }

    /// The request was wrong.
    pub fn sender(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Sender, reason)
    }

    /// The request was right, and could not be done.
    pub fn receiver(reason: impl Into<String>) -> Self {
        Fault::new(FaultCode::Receiver, reason)
    }

    /// This fault with one more subcode.
    pub fn with_subcode(mut self, name: QName) -> Self {
        self.subcodes.push(name);
        self
    }

    /// This fault with another reason, in several languages.
    pub fn with_reason(self, reason: Reason) -> Self {
        Fault { reason, ..self }
    }

    /// This fault as one that a node has found, a URI.
    pub fn with_node(self, node: impl Into<Box<str>>) -> Self {
        Fault { node: Some(node.into()), ..self }
    }

    /// This fault as one that was found in a role, a URI.
    pub fn with_role(self, role: impl Into<Box<str>>) -> Self {
        Fault { role: Some(role.into()), ..self }
    }

    /// This fault with a detail.
    pub fn with_detail(mut self, detail: D) -> Self {
        self.detail = Detail::Declared(detail);
        self
    }

    /// This fault as one about a header block, for layers that check one.
    pub fn about_header(mut self) -> Self {
        self.detail = Detail::OfHeader;
        self
    }
}

impl<D: FaultDetail> Fault<D> {
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

    /// SOAP 1.1 §4.4.
    fn write_soap11(&self, out: &mut Encoder) {
        let code = match &self.code {
            FaultCode::Other(name) => Some(&**name),
            _ => None,
        };
        let name = CodeName { version: Version::Soap11, code: &self.code, name: self.subcodes.last().or(code) };
        name.write("<faultcode>", "</faultcode>", out);
        write_text("<faultstring>", self.reason.as_str(), "</faultstring>", out);
        if let Some(role) = &self.role {
            write_text("<faultactor>", role, "</faultactor>", out);
        }
        match &self.detail {
            // Without a detail it would say that the body was processed (§4.4).
            Detail::None if !self.has_no_detail() => out.raw("<detail/>"),
            // What is wrong with a header doesn't stand in the body.
            _ if fault_detail(self).is_some() => {}
            _ => self.write_detail("<detail>", "</detail>", out),
        }
    }

    /// Whether it is what the engine says where memory is not granted, which a handler may have passed on.
    pub(crate) fn is_of_memory(&self) -> bool {
        self.code == FaultCode::Receiver && self.reason.as_str() == TOO_LITTLE_MEMORY
    }

    /// Whether the fault is about the envelope or a header block.
    fn has_no_detail(&self) -> bool {
        matches!(self.code, FaultCode::VersionMismatch | FaultCode::MustUnderstand) || is_of_addressing(self)
    }

    /// SOAP 1.2 Part 1 §5.4.
    fn write_soap12(&self, out: &mut Encoder) {
        let name = |name| CodeName { version: Version::Soap12, code: &self.code, name };
        out.raw("<soap:Code>");
        name(None).write("<soap:Value>", "</soap:Value>", out);
        let other = match &self.code {
            FaultCode::Other(name) => Some(&**name),
            _ => None,
        };
        let subcodes = || other.into_iter().chain(&self.subcodes);
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
        if let Some(node) = &self.node {
            write_text("<soap:Node>", node, "</soap:Node>", out);
        }
        if let Some(role) = &self.role {
            write_text("<soap:Role>", role, "</soap:Role>", out);
        }
        self.write_detail("<soap:Detail>", "</soap:Detail>", out);
    }

    fn write_detail(&self, start: &str, end: &str, out: &mut Encoder) {
        match &self.detail {
            Detail::None | Detail::OfHeader => {}
            // It stands in the header.
            Detail::Declared(detail) if detail.is_header() => {}
            Detail::Declared(detail) => {
                out.raw(start);
                detail.write(out);
                out.raw(end);
            }
            Detail::Other(xml) => {
                out.raw(start);
                out.raw(xml);
                out.raw(end);
            }
        }
    }
}

/// The name of a fault, as a version writes it.
struct CodeName<'a> {
    version: Version,
    code: &'a FaultCode,
    /// A name instead of the code's own.
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

/// Reasons quote what came in; what XML can't carry is replaced, so that a fault can always be written.
fn printable(text: &str) -> String {
    text.chars().map(|c| if castile_xml::escape::is_char(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// The one table from errors of the engine to fault codes.
impl<D> From<Error> for Fault<D> {
    fn from(mut error: Error) -> Self {
        if let Some(refusal) = error.take_refusal() {
            return refusal.into_fault(&cut(&error.to_string()));
        }
        let code = match error.kind() {
            ErrorKind::VersionMismatch => FaultCode::VersionMismatch,
            ErrorKind::MustUnderstand => FaultCode::MustUnderstand,
            ErrorKind::DataEncodingUnknown => FaultCode::DataEncodingUnknown,
            ErrorKind::UnknownOperation | ErrorKind::Document | ErrorKind::Addressing | ErrorKind::Package => {
                FaultCode::Sender
            }
            ErrorKind::Unwritable | ErrorKind::System => FaultCode::Receiver,
            // How much memory there is, and is in use, is not for whoever asks.
            ErrorKind::Exhausted => return Fault::new(FaultCode::Receiver, TOO_LITTLE_MEMORY),
        };
        let fault = Fault::new(code, cut(&error.to_string()));
        if error.is_in_header() { fault.about_header() } else { fault }
    }
}

/// How much is said of what is wrong with a message, in bytes. Elements and what stands in them may have names and texts as
/// long as a message.
const SAID: usize = 4_000;

/// What is said of a message, without what is too long: its beginning and its end, where the place stands.
pub(crate) fn cut(text: &str) -> Cow<'_, str> {
    let Some(more) = text.len().checked_sub(SAID).filter(|&more| more > 0) else { return text.into() };
    let start = &text[..text.floor_char_boundary(SAID * 3 / 4)];
    let end = &text[text.ceil_char_boundary(text.len() - SAID / 4)..];
    format!("{start}… ({more} more bytes) …{end}").into()
}

/// So that a handler can pass on what is wrong with attachments.
impl<D> From<castile_mime::Error> for Fault<D> {
    fn from(error: castile_mime::Error) -> Self {
        Error::from(error).into()
    }
}

/// One line for messages: what strangers wrote is made visible, and cut where it gets long. The fields have all of it.
impl<D> fmt::Display for Fault<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// How much of a name and of the reason is shown, in bytes.
        const NAME: usize = 100;
        const REASON: usize = 1_000;
        /// How many subcodes are.
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
