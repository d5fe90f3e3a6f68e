//! What generated code says of a service, as data.

use std::sync::atomic::{AtomicUsize, Ordering};

use castile_databinding::schema::Element;

/// A WSDL service as it was generated.
#[derive(Debug)]
pub struct Description {
    /// The name of the `wsdl:service`.
    pub name: &'static str,
    /// The target namespace of the contract.
    pub namespace: &'static str,
    /// What the contract says about itself, empty if nothing.
    pub documentation: &'static str,
    /// The contract itself, as its author wrote it.
    pub wsdl: &'static str,
    /// The `location` of the `soap:address` in [`wsdl`](Self::wsdl), to be replaced when the contract is served.
    pub address: &'static str,
    /// The operations of the port type, in the contract's order.
    pub operations: &'static [Operation],
}

/// A WSDL operation with its SOAP binding.
#[derive(Debug)]
pub struct Operation {
    /// The name in the port type.
    pub name: &'static str,
    /// The `soapAction` of the binding; may be empty.
    pub action: &'static str,
    /// The element that the body of a request holds.
    pub request: Root,
    /// The element that the body of a response holds.
    pub response: Root,
    /// How large responses have been.
    pub response_size: SizeHint,
}

/// An element that is the payload of a message.
#[derive(Debug)]
pub struct Root {
    /// Its declaration.
    pub element: Element,
    /// The start tag to be written, with the declarations of all namespaces that stand below it.
    pub start: &'static str,
    /// The end tag to be written.
    pub end: &'static str,
}

/// A guess how much room a message takes: the last one's size.
#[derive(Debug, Default)]
pub struct SizeHint(AtomicUsize);

/// A hint is never more than this, so that one large message doesn't make all later ones reserve as much.
const LARGEST_HINT: usize = 64 << 10;
/// Room that every message gets.
const SLACK: usize = 256;

impl SizeHint {
    /// No guess yet.
    pub const fn new() -> Self {
        SizeHint(AtomicUsize::new(0))
    }

    pub(crate) fn buffer(&self) -> Vec<u8> {
        Vec::with_capacity(self.0.load(Ordering::Relaxed) + SLACK)
    }

    pub(crate) fn note(&self, size: usize) {
        let size = size.min(LARGEST_HINT);
        if self.0.load(Ordering::Relaxed) != size {
            self.0.store(size, Ordering::Relaxed);
        }
    }
}
