//! The seam between messages and whatever carries them: a [`Service`] turns a request message into a reply.

use bytes::Bytes;
use futures_util::future::BoxFuture;

use crate::Version;

/// A SOAP service: messages in, messages out. Generated servers implement it; `castile-http` carries it.
pub trait Service: Send + Sync + 'static {
    /// What the service offers, known before any message comes.
    fn description(&self) -> &'static Description;

    /// Answers one request message.
    ///
    /// `action` is the value of the `SOAPAction` header without its quotes, empty if there was none (SOAP 1.1 §6.1.1).
    /// Every failure, a handler's panic included, is a fault in the [`Reply`].
    fn call(&self, action: &str, message: Bytes) -> BoxFuture<'static, Reply>;
}

/// The answer to one request.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The SOAP version the answer is written in.
    pub version: Version,
    /// Whether the message is a fault, which HTTP carries as status 500 (SOAP 1.1 §6.2).
    pub is_fault: bool,
    /// The envelope.
    pub message: Bytes,
}

/// A WSDL service as it was generated.
#[derive(Debug)]
pub struct Description {
    /// The name of the `wsdl:service`.
    pub name: &'static str,
    /// The target namespace of the contract.
    pub namespace: &'static str,
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
    /// Namespace and local name of the element that the body of a request holds.
    pub request: (&'static str, &'static str),
}
