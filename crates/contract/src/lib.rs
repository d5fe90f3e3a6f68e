//! Writes a contract from the types and service traits of a program: WSDL 1.1 with embedded schemas.
//!
//! This crate is internal to Castile. Its API changes with the other crates.

mod collect;
mod lines;
mod page;
mod schema;
mod wsdl;

use std::fmt;

use castile_databinding::declared::{DeclaredElement, Reference};
use castile_soap::Version;

/// A service that a trait of the program defines.
#[derive(Debug)]
pub struct Contract {
    /// The name of the `wsdl:service`.
    pub name: &'static str,
    /// The target namespace.
    pub namespace: &'static str,
    /// The name of the `wsdl:portType`.
    pub port_type: &'static str,
    /// The documentation, or an empty string.
    pub documentation: &'static str,
    /// The versions of SOAP. The service has a port for each of them.
    pub versions: &'static [Version],
    /// The address of the service.
    pub address: &'static str,
    /// The operations of the service.
    pub operations: &'static [Operation],
}

/// An operation.
#[derive(Debug)]
pub struct Operation {
    /// The name in the port type.
    pub name: &'static str,
    /// The `soapAction`; may be empty.
    pub action: &'static str,
    /// The documentation, or an empty string.
    pub documentation: &'static str,
    /// The request message.
    pub request: Message,
    /// The response message; `None` for a one-way operation.
    pub response: Option<Message>,
    /// Returns the elements that the details of faults can have.
    pub faults: fn() -> Vec<DeclaredElement>,
}

/// A message of an operation.
#[derive(Debug)]
pub struct Message {
    /// The content of the body.
    pub body: Body,
    /// The header blocks.
    pub headers: &'static [fn() -> DeclaredElement],
}

/// The content of the body of a message.
#[derive(Debug)]
pub enum Body {
    /// An element, which the schema declares.
    Element(DeclaredElement),
    /// An element with the name of the operation that wraps the parts of the message (WSDL 1.1 §3.5). The elements of this type are
    /// the parts.
    Parts(Reference),
}

/// Returns the WSDL of a service.
///
/// # Errors
/// Returns an error if a type can't be declared: two different types with the same name, or a type that is flattened into itself.
pub fn write(contract: &Contract) -> Result<String, Error> {
    wsdl::write(contract)
}

/// Returns the WSDL of a service for clients, or an XML comment with the error if there is none.
pub fn document(contract: &Contract) -> String {
    write(contract)
        .unwrap_or_else(|error| format!("<!-- there is no contract: {} -->\n", error.message.replace("--", "- -")))
}

/// Returns the content of the service's page for people, in the format of the generator.
pub fn page(contract: &Contract) -> String {
    page::page(contract)
}

/// The reason why the contract can't be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    fn new(message: String) -> Self {
        Error { message }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
