//! What generated code says of a service, as data.

use std::sync::atomic::{AtomicUsize, Ordering};

use castile_databinding::schema::{Element, First};

use crate::Version;
use crate::addressing::Declared;
use crate::error::Named;

/// A WSDL service as it was generated.
#[derive(Debug)]
pub struct Description {
    /// The name of the `wsdl:service`.
    pub name: &'static str,
    /// The target namespace of the contract.
    pub namespace: &'static str,
    /// What the contract says about itself, empty if nothing.
    pub documentation: &'static str,
    /// The contract itself: the WSDL, and behind it the documents that it imports.
    pub documents: &'static [Document],
    /// The `location` of the `soap:address` in [`documents`](Self::documents), to be replaced when they are served.
    pub address: &'static str,
    /// The operations of the port type, in the contract's order.
    pub operations: &'static [Operation],
    /// The version of SOAP that clients speak unless they are told otherwise.
    pub version: Version,
    /// Whether the contract says that messages are MTOM (`OptimizedMimeSerialization` of WS-MTOMPolicy).
    pub is_mtom: bool,
    /// What the contract says of WS-Addressing.
    pub addressing: Declared,
    /// What a page for people shows, if that was generated.
    pub page: Option<Page>,
}

impl Description {
    /// A service of which no more is known.
    pub const fn new(name: &'static str, namespace: &'static str, operations: &'static [Operation]) -> Self {
        Description {
            name,
            namespace,
            documentation: "",
            documents: &[],
            address: "",
            operations,
            version: Version::Soap11,
            is_mtom: false,
            addressing: Declared::NOTHING,
            page: None,
        }
    }

    /// This service with its contract, and the address that stands in that.
    pub const fn with_documents(mut self, documents: &'static [Document], address: &'static str) -> Self {
        self.documents = documents;
        self.address = address;
        self
    }

    /// This service with what the contract says about it.
    pub const fn with_documentation(mut self, documentation: &'static str) -> Self {
        self.documentation = documentation;
        self
    }

    /// This service with the version of SOAP that its clients speak.
    pub const fn with_version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// This service with messages that are MTOM.
    pub const fn with_mtom(mut self) -> Self {
        self.is_mtom = true;
        self
    }

    /// This service with what its contract says of WS-Addressing.
    pub const fn with_addressing(mut self, declared: Declared) -> Self {
        self.addressing = declared;
        self
    }

    /// This service with what a page for people shows of it.
    pub const fn with_page(mut self, page: Page) -> Self {
        self.page = Some(page);
        self
    }
}

/// What a page for people shows of a service: documentation, types and example messages, as the generator wrote them into a
/// file beside the source. The text has a form of its own, which changes as the generator does.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    text: Text,
    service: usize,
}

impl Page {
    /// What a text that was generated says of the service of this number in it.
    pub const fn new(text: &'static str, service: usize) -> Self {
        Page { text: Text::Known(text), service }
    }

    /// What is known of the only service of a text that is made when somebody asks for it.
    #[doc(hidden)]
    pub const fn made(make: fn() -> &'static str) -> Self {
        Page { text: Text::Made(make), service: 0 }
    }

    /// The text, of all services of a contract.
    pub fn text(self) -> &'static str {
        self.text.get()
    }

    /// The number of the service in the text.
    pub const fn service(self) -> usize {
        self.service
    }
}

/// A document of a contract, as its author wrote it.
#[derive(Debug)]
pub struct Document {
    /// What a client asks for it by, behind the `?` of a URL: `wsdl`, or `xsd=1`.
    pub query: &'static str,
    text: Text,
    /// The locations of the documents that it imports or includes (`location`, `schemaLocation`), to be replaced when it is
    /// served, and what those documents are asked for by.
    pub imports: &'static [(&'static str, &'static str)],
}

/// The text of a document or a page.
#[derive(Clone, Copy, Debug)]
enum Text {
    Known(&'static str),
    /// It is made of what the types of a program say of themselves.
    Made(fn() -> &'static str),
}

impl Text {
    fn get(self) -> &'static str {
        match self {
            Text::Known(text) => text,
            Text::Made(make) => make(),
        }
    }
}

impl Document {
    /// A document that others are told from by `query`, with what it imports.
    pub const fn new(
        query: &'static str,
        text: &'static str,
        imports: &'static [(&'static str, &'static str)],
    ) -> Self {
        Document { query, text: Text::Known(text), imports }
    }

    /// A WSDL that imports nothing.
    pub const fn wsdl(text: &'static str) -> Self {
        Document::new("wsdl", text, &[])
    }

    /// A WSDL that imports nothing, and is made when somebody asks for it.
    #[doc(hidden)]
    pub const fn made(make: fn() -> &'static str) -> Self {
        Document { query: "wsdl", text: Text::Made(make), imports: &[] }
    }

    /// The text, in UTF-8.
    pub fn text(&self) -> &'static str {
        self.text.get()
    }
}

/// A WSDL operation with its SOAP binding.
#[derive(Debug)]
pub struct Operation {
    /// The name in the port type.
    pub name: &'static str,
    /// The `soapAction` of the binding; may be empty.
    pub action: &'static str,
    /// The actions of WS-Addressing.
    pub actions: Actions,
    /// What the body of a request holds.
    pub request: Root,
    /// What the body of a response holds; `None` for an operation without one (WSDL 1.1 §2.4.1).
    pub response: Option<Root>,
    /// The header blocks that requests are declared to have and that are understood.
    pub request_header: &'static [&'static Element],
    /// The header blocks that responses are declared to have and that are understood.
    pub response_header: &'static [&'static Element],
    /// How large responses have been.
    pub response_size: SizeHint,
}

/// The actions that messages of an operation have in WS-Addressing: those that the contract says (`wsam:Action`,
/// `wsaw:Action`), else the `soapAction` of a request, else those of the pattern (1.0 Metadata §4.4).
#[derive(Debug)]
pub struct Actions {
    /// That of a request.
    pub request: &'static str,
    /// That of a response; empty for an operation without one.
    pub response: &'static str,
    /// Those of faults, for each detail that the operation declares; header blocks have none.
    pub faults: &'static [&'static str],
}

impl Operation {
    /// An operation of which the contract says no more: it has no response, no header blocks and no actions beside
    /// `action`.
    pub const fn new(name: &'static str, action: &'static str, request: Root) -> Self {
        Operation {
            name,
            action,
            actions: Actions { request: action, response: "", faults: &[] },
            request,
            response: None,
            request_header: &[],
            response_header: &[],
            response_size: SizeHint::new(),
        }
    }

    /// This operation with the actions of WS-Addressing.
    pub const fn with_actions(mut self, request: &'static str, response: &'static str) -> Self {
        (self.actions.request, self.actions.response) = (request, response);
        self
    }

    /// This operation with the actions of its faults, in the order of [`FaultDetail::ELEMENTS`](crate::FaultDetail::ELEMENTS).
    pub const fn with_fault_actions(mut self, faults: &'static [&'static str]) -> Self {
        self.actions.faults = faults;
        self
    }

    /// This operation with a response.
    pub const fn with_response(mut self, response: Root) -> Self {
        self.response = Some(response);
        self
    }

    /// This operation with header blocks that are understood, those of requests and those of responses.
    pub const fn with_headers(
        mut self,
        request: &'static [&'static Element],
        response: &'static [&'static Element],
    ) -> Self {
        self.request_header = request;
        self.response_header = response;
        self
    }

    /// Whether an action, of the protocol or of WS-Addressing, is this operation's.
    pub(crate) fn is_meant_by(&self, action: &str) -> bool {
        self.action == action || self.actions.request == action
    }
}

/// The payload of a message: an element, or all that the body holds.
#[derive(Debug)]
pub struct Root {
    /// Its declaration.
    pub element: Element,
    /// The start tag to be written, with the declarations of all namespaces that stand below it.
    pub start: &'static str,
    /// The end tag to be written.
    pub end: &'static str,
    /// Present if `element` is the body itself, which holds one value: what it begins with. Nothing is for an empty body.
    pub body: Option<&'static [First]>,
    /// Whether it is in SOAP encoding (SOAP 1.1 §5, SOAP 1.2 Part 2 §3): then it refers to what stands behind it in the
    /// body, and its start tag gets what the encoding of the version needs.
    pub is_encoded: bool,
    /// Whether it is what a call in literal use has around its parts (WSDL 1.1 §3.5): that it is nil says that there are none.
    pub wraps_parts: bool,
}

impl Root {
    /// A body that holds one element.
    pub const fn new(element: Element, start: &'static str, end: &'static str) -> Self {
        Root { element, start, end, body: None, is_encoded: false, wraps_parts: false }
    }

    /// This payload in SOAP encoding.
    pub const fn encoded(mut self) -> Self {
        self.is_encoded = true;
        self
    }

    /// This payload as what a call in literal use has around its parts.
    pub const fn wrapping_parts(mut self) -> Self {
        self.wraps_parts = true;
        self
    }

    /// A body that is itself the element around a value: it holds no element, or several. `start` is its start tag, its
    /// prefix `soap`.
    pub const fn of_body(start: &'static str, first: &'static [First]) -> Self {
        // Its tags are not learned, so the slot is nobody's.
        let element = Element::new("", "Body", u16::MAX);
        Root { element, start, end: "</soap:Body>", body: Some(first), is_encoded: false, wraps_parts: false }
    }

    /// Whether a body that begins with an element of this name, or is empty, holds such a payload.
    pub(crate) fn begins(&self, payload: Option<(&str, &str)>) -> bool {
        match (self.body, payload) {
            (None, Some((namespace, local))) => self.element.is(namespace, local),
            (Some(first), Some((namespace, local))) => First::takes(first, namespace, local),
            (None, None) => false,
            (Some(first), None) => first.is_empty(),
        }
    }

    /// The element of this local name that a body may begin with, in whatever namespace, for messages.
    #[cold]
    pub(crate) fn named(&self, local: &str) -> Option<&Element> {
        match self.body {
            None => Some(&self.element).filter(|element| element.name == local),
            Some(first) => First::named(first, local),
        }
    }

    /// What a body begins with, for messages.
    #[cold]
    pub(crate) fn expected(&self) -> String {
        match self.body {
            None => format!("<{}> of {}", self.element.name, Named(self.element.namespace)),
            Some([]) => "nothing".to_owned(),
            Some(first) => First::list(first),
        }
    }
}

/// A guess how much room a message takes: the last one's size.
#[derive(Debug, Default)]
pub struct SizeHint {
    last: AtomicUsize,
    expected: AtomicUsize,
}

/// No more room than this is guessed, so that one large message doesn't make all later ones reserve as much.
const LARGEST_HINT: usize = 64 << 10;
/// The part of what is expected that a smaller message takes off, as its divisor.
const FORGOTTEN: usize = 8;
/// Room that every message gets.
const SLACK: usize = 256;

impl SizeHint {
    /// No guess yet.
    pub const fn new() -> Self {
        SizeHint { last: AtomicUsize::new(0), expected: AtomicUsize::new(0) }
    }

    pub(crate) fn buffer(&self) -> Vec<u8> {
        Vec::with_capacity(self.last().min(LARGEST_HINT) + SLACK)
    }

    /// The size of the last message.
    pub(crate) fn last(&self) -> usize {
        self.last.load(Ordering::Relaxed)
    }

    /// What one may have, with all that goes with it: the size of the largest one, which is forgotten bit by bit while
    /// others are smaller.
    pub(crate) fn expected(&self) -> usize {
        self.expected.load(Ordering::Relaxed)
    }

    pub(crate) fn note(&self, size: usize) {
        if self.last.load(Ordering::Relaxed) != size {
            self.last.store(size, Ordering::Relaxed);
        }
        if self.expected() != size {
            self.expect(size);
        }
    }

    /// That a message has more than `size` bytes, before it is known how many.
    pub(crate) fn note_more(&self, size: usize) {
        self.last.store(size.saturating_add(1), Ordering::Relaxed);
        self.expected.fetch_max(size.saturating_add(1), Ordering::Relaxed);
    }

    pub(crate) fn expect(&self, size: usize) {
        let expected = self.expected();
        self.expected.store(size.max(expected - expected / FORGOTTEN), Ordering::Relaxed);
    }
}
