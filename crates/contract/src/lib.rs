//! A contract of what the types and the service of a program say of themselves: WSDL 1.1 with the schemas in it.
//!
//! This crate is for other crates of Castile: its API changes with them.

mod collect;
mod lines;
mod page;
mod schema;
mod wsdl;

use std::fmt;

use castile_databinding::declared::{DeclaredElement, Reference};
use castile_soap::Version;

/// A service as a trait of a program has it.
#[derive(Debug)]
pub struct Contract {
    /// The name of the `wsdl:service`.
    pub name: &'static str,
    /// The target namespace.
    pub namespace: &'static str,
    /// The name of the `wsdl:portType`.
    pub port_type: &'static str,
    /// Empty for none.
    pub documentation: &'static str,
    /// The versions of SOAP that it speaks, of which each has a port.
    pub versions: &'static [Version],
    /// Where it is.
    pub address: &'static str,
    /// What it does.
    pub operations: &'static [Operation],
}

/// An operation.
#[derive(Debug)]
pub struct Operation {
    /// The name in the port type.
    pub name: &'static str,
    /// The `soapAction`; may be empty.
    pub action: &'static str,
    /// Empty for none.
    pub documentation: &'static str,
    /// What it takes.
    pub request: Message,
    /// What it answers; `None` if it doesn't.
    pub response: Option<Message>,
    /// What its faults can say.
    pub faults: fn() -> Vec<DeclaredElement>,
}

/// A message.
#[derive(Debug)]
pub struct Message {
    /// What is in the body.
    pub body: Body,
    /// The header blocks.
    pub headers: &'static [fn() -> DeclaredElement],
}

/// What is in the body of a message.
#[derive(Debug)]
pub enum Body {
    /// An element, which the schema declares.
    Element(DeclaredElement),
    /// An element that is called as the operation, around parts that the message declares (WSDL 1.1 §3.5): those that this type
    /// has as elements.
    Parts(Reference),
}

/// The WSDL of a service.
///
/// # Errors
/// What can't be declared: two types that have one name and differ, a type that is flattened into itself.
pub fn write(contract: &Contract) -> Result<String, Error> {
    wsdl::write(contract)
}

/// The WSDL of a service as it is served; a comment that says so where there is none.
pub fn document(contract: &Contract) -> String {
    write(contract)
        .unwrap_or_else(|error| format!("<!-- there is no contract: {} -->\n", error.message.replace("--", "- -")))
}

/// What a page for people shows of a service, in the form that the generator has for it.
pub fn page(contract: &Contract) -> String {
    page::page(contract)
}

/// Why there is no contract.
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
