//! The description of a service, as data in generated code.

use std::sync::atomic::{AtomicUsize, Ordering};

use castile_databinding::schema::{Element, First};

use crate::addressing::Declared;
use crate::error::Named;
use crate::version::Version;

/// A WSDL service, as generated code describes it.
#[derive(Debug)]
pub struct Description {
    /// The name of the `wsdl:service`.
    pub name: &'static str,
    /// The target namespace of the contract.
    pub namespace: &'static str,
    /// The documentation in the contract, empty if there is none.
    pub documentation: &'static str,
    /// The documents of the contract: the WSDL first, then the documents that it imports.
    pub documents: &'static [Document],
    /// The `location` of the `soap:address` in [`documents`](Self::documents), which is replaced when the documents are served.
    pub address: &'static str,
    /// The operations of the port type, in the contract's order.
    pub operations: &'static [Operation],
    /// The default version of SOAP for clients.
    pub version: Version,
    /// Whether the contract declares that messages are MTOM (`OptimizedMimeSerialization` of WS-MTOMPolicy).
    pub is_mtom: bool,
    /// What the contract declares about WS-Addressing.
    pub addressing: Declared,
    /// The content of the service's page for people, if it was generated.
    pub page: Option<Page>,
}

impl Description {
    /// Creates a description with only these properties.
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

    /// Sets the documents of the contract, and the address that they contain.
    pub const fn with_documents(mut self, documents: &'static [Document], address: &'static str) -> Self {
        self.documents = documents;
        self.address = address;
        self
    }

    /// Sets the documentation.
    pub const fn with_documentation(mut self, documentation: &'static str) -> Self {
        self.documentation = documentation;
        self
    }

    /// Sets the version of SOAP that clients use by default.
    pub const fn with_version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Declares that messages are MTOM.
    pub const fn with_mtom(mut self) -> Self {
        self.is_mtom = true;
        self
    }

    /// Sets what the contract declares about WS-Addressing.
    pub const fn with_addressing(mut self, declared: Declared) -> Self {
        self.addressing = declared;
        self
    }

    /// Sets the content of the page for people.
    pub const fn with_page(mut self, page: Page) -> Self {
        self.page = Some(page);
        self
    }
}

/// The content of a service's page for people: documentation, types and example messages. The generator writes it into a file next
/// to the source. The format of the text is internal and changes with the generator.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    text: Text,
    service: usize,
}

impl Page {
    /// Creates the page of the service with this index in a generated text.
    pub const fn new(text: &'static str, service: usize) -> Self {
        Page { text: Text::Static(text), service }
    }

    /// Creates the page of the only service of a text that is generated on demand.
    #[doc(hidden)]
    pub const fn made(make: fn() -> &'static str) -> Self {
        Page { text: Text::Generated(make), service: 0 }
    }

    /// Returns the text, which describes all services of the contract.
    pub fn text(self) -> &'static str {
        self.text.get()
    }

    /// Returns the index of the service in the text.
    pub const fn service(self) -> usize {
        self.service
    }
}

/// A document of a contract, as its author wrote it.
#[derive(Debug)]
pub struct Document {
    /// The query of a URL that requests this document, after the `?`: `wsdl`, or `xsd=1`.
    pub query: &'static str,
    text: Text,
    /// The locations of the imported and included documents (`location`, `schemaLocation`), each with the query of that document.
    /// They are replaced when this document is served.
    pub imports: &'static [(&'static str, &'static str)],
}

/// The text of a document or a page.
#[derive(Clone, Copy, Debug)]
enum Text {
    Static(&'static str),
    /// The text is generated from the types of a program.
    Generated(fn() -> &'static str),
}

impl Text {
    fn get(self) -> &'static str {
        match self {
            Text::Static(text) => text,
            Text::Generated(make) => make(),
        }
    }
}

impl Document {
    /// Creates a document that is identified by `query`, with its imports.
    pub const fn new(
        query: &'static str,
        text: &'static str,
        imports: &'static [(&'static str, &'static str)],
    ) -> Self {
        Document { query, text: Text::Static(text), imports }
    }

    /// Creates a WSDL document without imports.
    pub const fn wsdl(text: &'static str) -> Self {
        Document::new("wsdl", text, &[])
    }

    /// Creates a WSDL document without imports that is generated on demand.
    #[doc(hidden)]
    pub const fn made(make: fn() -> &'static str) -> Self {
        Document { query: "wsdl", text: Text::Generated(make), imports: &[] }
    }

    /// Returns the text in UTF-8.
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
    /// The payload of requests.
    pub request: Root,
    /// The payload of responses; `None` for an operation without a response (WSDL 1.1 §2.4.1).
    pub response: Option<Root>,
    /// The header blocks that the contract declares for requests. They are understood.
    pub request_header: &'static [&'static Element],
    /// The header blocks that the contract declares for responses. They are understood.
    pub response_header: &'static [&'static Element],
    /// The size of recent responses.
    pub response_size: SizeHint,
}

/// The WS-Addressing actions of an operation's messages: those that the contract declares (`wsam:Action`, `wsaw:Action`), otherwise
/// the `soapAction` of a request, otherwise those of the default action pattern (1.0 Metadata §4.4).
#[derive(Debug)]
pub struct Actions {
    /// The action of a request.
    pub request: &'static str,
    /// The action of a response; empty for an operation without one.
    pub response: &'static str,
    /// The actions of faults, one for each declared detail. Details that are header blocks have no action.
    pub faults: &'static [&'static str],
}

impl Operation {
    /// Creates an operation without a response, header blocks, or actions other than `action`.
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

    /// Sets the WS-Addressing actions of the request and the response.
    pub const fn with_actions(mut self, request: &'static str, response: &'static str) -> Self {
        (self.actions.request, self.actions.response) = (request, response);
        self
    }

    /// Sets the actions of the faults, in the order of [`FaultDetail::ELEMENTS`](crate::FaultDetail::ELEMENTS).
    pub const fn with_fault_actions(mut self, faults: &'static [&'static str]) -> Self {
        self.actions.faults = faults;
        self
    }

    /// Sets the response.
    pub const fn with_response(mut self, response: Root) -> Self {
        self.response = Some(response);
        self
    }

    /// Sets the header blocks that are understood in requests and in responses.
    pub const fn with_headers(
        mut self,
        request: &'static [&'static Element],
        response: &'static [&'static Element],
    ) -> Self {
        self.request_header = request;
        self.response_header = response;
        self
    }

    /// Returns whether this is an action of the operation, either the `soapAction` or the one of WS-Addressing.
    pub(crate) fn has_action(&self, action: &str) -> bool {
        self.action == action || self.actions.request == action
    }
}

/// The payload of a message: one element, or the whole content of the body.
#[derive(Debug)]
pub struct Root {
    /// The declaration of the element.
    pub element: Element,
    /// The start tag to be written, with the declarations of all namespaces that are used inside the element.
    pub start: &'static str,
    /// The end tag to be written.
    pub end: &'static str,
    /// The elements with which the body may begin, if `element` is the body itself and contains one value. An empty slice is an
    /// empty body.
    pub body: Option<&'static [First]>,
    /// Whether the payload is in SOAP encoding (SOAP 1.1 §5, SOAP 1.2 Part 2 §3). It may then refer to elements after it in the
    /// body, and its start tag gets the attributes of the version's encoding.
    pub is_encoded: bool,
    /// Whether the element wraps the parts of an RPC call in literal use (WSDL 1.1 §3.5). If it is nil, there are no parts.
    pub wraps_parts: bool,
}

impl Root {
    /// Creates the payload of a body that contains one element.
    pub const fn new(element: Element, start: &'static str, end: &'static str) -> Self {
        Root { element, start, end, body: None, is_encoded: false, wraps_parts: false }
    }

    /// Sets SOAP encoding.
    pub const fn encoded(mut self) -> Self {
        self.is_encoded = true;
        self
    }

    /// Marks the element as the wrapper of an RPC call in literal use.
    pub const fn wrapping_parts(mut self) -> Self {
        self.wraps_parts = true;
        self
    }

    /// Creates a payload that is the body itself, for bodies with no element or several elements. `start` is the start tag of the
    /// body, with the prefix `soap`.
    pub const fn of_body(start: &'static str, first: &'static [First]) -> Self {
        // The tags of this element are not cached, so it needs no slot of its own.
        let element = Element::new("", "Body", u16::MAX);
        Root { element, start, end: "</soap:Body>", body: Some(first), is_encoded: false, wraps_parts: false }
    }

    /// Returns whether a body that begins with this element, or that is empty, contains this payload.
    pub(crate) fn accepts(&self, payload: Option<(&str, &str)>) -> bool {
        match (self.body, payload) {
            (None, Some((namespace, local))) => self.element.is(namespace, local),
            (Some(first), Some((namespace, local))) => First::takes(first, namespace, local),
            (None, None) => false,
            (Some(first), None) => first.is_empty(),
        }
    }

    /// Returns the element with this local name with which the body may begin, in any namespace. For error messages.
    #[cold]
    pub(crate) fn named(&self, local: &str) -> Option<&Element> {
        match self.body {
            None => Some(&self.element).filter(|element| element.name == local),
            Some(first) => First::named(first, local),
        }
    }

    /// Describes the expected beginning of the body, for error messages.
    #[cold]
    pub(crate) fn expected(&self) -> String {
        match self.body {
            None => format!("<{}> of {}", self.element.name, Named(self.element.namespace)),
            Some([]) => "nothing".to_owned(),
            Some(first) => First::list(first),
        }
    }
}

/// An estimate of the size of a message, based on the size of recent messages.
// Aligned so that writing it disturbs nobody who reads the description beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct SizeHint {
    last: AtomicUsize,
    expected: AtomicUsize,
}

/// The largest estimate for a buffer, so that one large message doesn't enlarge the buffers of all later ones.
const MAX_HINT: usize = 64 << 10;
/// A smaller message reduces the expected size by this fraction (a divisor).
const DECAY_DIVISOR: usize = 8;
/// Additional capacity of every buffer, in bytes.
const SLACK: usize = 256;
/// A size that differs from the recorded one by no more than this fraction (a divisor), and half of the slack, isn't recorded. All
/// cores would write sizes that differ a little.
const SIMILAR_DIVISOR: usize = 16;

impl SizeHint {
    /// Creates a hint without an estimate.
    pub const fn new() -> Self {
        SizeHint { last: AtomicUsize::new(0), expected: AtomicUsize::new(0) }
    }

    pub(crate) fn buffer(&self) -> Vec<u8> {
        let last = self.last().min(MAX_HINT);
        Vec::with_capacity(last + last / SIMILAR_DIVISOR + SLACK)
    }

    /// Returns about the size of the last message.
    pub(crate) fn last(&self) -> usize {
        self.last.load(Ordering::Relaxed)
    }

    /// Returns the expected size of a message with its parts: the largest recent size, which decays while messages are smaller.
    pub(crate) fn expected(&self) -> usize {
        self.expected.load(Ordering::Relaxed)
    }

    /// Records the size of a message. About the size of messages of up to `most` bytes is enough.
    pub(crate) fn record(&self, size: usize, most: usize) {
        let is_known = |recorded: usize| {
            let similar = recorded / SIMILAR_DIVISOR + SLACK / 2;
            size == recorded || recorded <= most && size.abs_diff(recorded) <= similar
        };
        if !is_known(self.last()) {
            self.last.store(size, Ordering::Relaxed);
        }
        if !is_known(self.expected()) {
            self.expect(size);
        }
    }

    /// Records that a message has more than `size` bytes, before its size is known.
    pub(crate) fn record_at_least(&self, size: usize) {
        self.last.store(size.saturating_add(1), Ordering::Relaxed);
        self.expected.fetch_max(size.saturating_add(1), Ordering::Relaxed);
    }

    pub(crate) fn expect(&self, size: usize) {
        let expected = self.expected();
        self.expected.store(size.max(expected - expected / DECAY_DIVISOR), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_that_differ_a_little_are_recorded_once() {
        let hint = SizeHint::new();
        let recorded = |size, most| {
            hint.record(size, most);
            (hint.last(), hint.expected())
        };
        assert_eq!(recorded(11_000, 20_000), (11_000, 11_000));
        for size in [11_700, 10_300, 11_001] {
            assert_eq!(recorded(size, 20_000), (11_000, 11_000));
            assert!(hint.buffer().capacity() >= size, "it isn't enlarged for {size}");
        }
        assert_eq!(recorded(12_000, 20_000), (12_000, 12_000));
        // Whether a message is large is known exactly.
        assert_eq!(recorded(11_900, 11_950), (11_900, 11_900));
        assert_eq!(recorded(11_901, 0), (11_901, 11_901));
        assert_eq!(recorded(2_000, 20_000), (2_000, 11_901 - 11_901 / DECAY_DIVISOR));
    }
}
