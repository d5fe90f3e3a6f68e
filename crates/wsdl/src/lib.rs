//! Reads WSDL documents into the service model (WSDL 1.1, and its SOAP 1.1, SOAP 1.2, HTTP and MIME bindings).
//!
//! [`read`] reads a WSDL document and everything that it imports, including schemas. It returns [`Definitions`] with
//! resolved references, and every problem that it found. [`read_file`] does this for files.
//!
//! ```
//! use castile_wsdl::{PartContent, Protocol, Style};
//! use castile_xsd::components::Term;
//!
//! # let folder = std::env::temp_dir().join(format!("castile-wsdl-example-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("echo.wsdl");
//! # std::fs::write(&path, r#"<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" targetNamespace="urn:e" xmlns:t="urn:e"
//! #   xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:xs="http://www.w3.org/2001/XMLSchema">
//! #   <types><xs:schema targetNamespace="urn:e" elementFormDefault="qualified">
//! #     <xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="text" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
//! #     <xs:element name="echoResponse"><xs:complexType><xs:sequence><xs:element name="text" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
//! #   </xs:schema></types>
//! #   <message name="in"><part name="parameters" element="t:echo"/></message>
//! #   <message name="out"><part name="parameters" element="t:echoResponse"/></message>
//! #   <portType name="Echo"><operation name="echo"><input message="t:in"/><output message="t:out"/></operation></portType>
//! #   <binding name="Echo" type="t:Echo"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
//! #     <operation name="echo"><soap:operation soapAction="urn:echo"/>
//! #       <input><soap:body use="literal"/></input><output><soap:body use="literal"/></output></operation></binding>
//! #   <service name="Echo"><port name="Echo" binding="t:Echo"><soap:address location="http://localhost/echo"/></port></service>
//! # </definitions>"#)?;
//! let (definitions, diagnostics) = castile_wsdl::read_file(&path);
//! for diagnostic in &diagnostics {
//!     eprintln!("{diagnostic}");
//! }
//! let definitions = definitions.expect("the document is a WSDL");
//! let schema = &definitions.schema;
//! for service in &definitions.services {
//!     for port in &service.ports {
//!         let binding = &definitions[port.binding];
//!         let Protocol::Soap { version, .. } = &binding.protocol else { continue };
//!         println!("{} at {:?}: {version:?}", service.name.local(), port.address);
//!         for operation in &binding.operations {
//!             assert_eq!(operation.style, Style::Document);
//!             println!("  {} {:?} wrapped: {}", operation.name, operation.soap_action, operation.wrapped.is_some());
//!             for message in operation.input.iter().chain(&operation.output) {
//!                 for part in &message.body {
//!                     // A document part is a global element; its type's content is flattened: bases first, groups in place.
//!                     let PartContent::Element(element) = part.content else { continue };
//!                     println!("    {}", schema[element].name);
//!                     let content = schema.content(schema[element].type_id);
//!                     let Some(Term::Group(group)) = content.particle().map(|particle| &particle.term) else { continue };
//!                     for particle in &group.particles {
//!                         if let Term::Element(child) = &particle.term {
//!                             let child = &schema[*child];
//!                             println!("      {} {:?}", child.name, child.type_id.builtin());
//! #                           assert_eq!(child.name.to_string(), "{urn:e}text");
//!                         }
//!                     }
//!                 }
//!             }
//!             for fault in &operation.faults {
//!                 println!("    fault {}: {:?}", fault.name, fault.part);
//!             }
//!         }
//!     }
//! }
//! # assert!(definitions.services[0].ports[0].address.is_some() && diagnostics.is_empty());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod addressing;
mod bindings;
mod context;
mod documents;
mod extensions;
mod model;
mod names;
mod policy;
mod read;
mod sample;
mod wrapped;

use std::path::Path;

pub use castile_xsd::{Bundle, Catalog, Defect, Diagnostic, Files, Resolver, Severity};
pub use extensions::is_policy;
pub use model::{
    Addressing, Attachment, Binding, BindingFault, BindingId, BindingMessage, BindingOperation, Definitions, Extension,
    HTTP_TRANSPORT, Header, LeftOut, Message, MessageId, Operation, OperationMessage, Part, PartContent, Pattern, Port,
    PortType, PortTypeId, Protocol, Responses, Service, Style, Use, Version, Wrapped,
};
pub use policy::{Assertion, Policies};
pub use read::read;
pub use sample::Sampler;

/// Reads the contract in the file `path`, a WSDL document or a [`Bundle`], and everything that it imports from other
/// files. It never uses the network.
///
/// Returns no definitions only if the document itself can't be read or is not a WSDL document.
#[must_use]
pub fn read_file(path: &Path) -> (Option<Definitions>, Vec<Diagnostic>) {
    open(path, &Files::new())
}

/// Reads the contract in the file `path`, and everything that it imports. `files` finds imported documents by its
/// catalogs. A [`Bundle`] doesn't need it.
///
/// Returns no definitions only if the document itself can't be read or is not a WSDL document.
#[must_use]
pub fn open(path: &Path, files: &Files) -> (Option<Definitions>, Vec<Diagnostic>) {
    let name = path.to_string_lossy();
    if let Ok(bytes) = files.read(&name)
        && Bundle::is_bundle(&bytes)
    {
        return match Bundle::read(&name, &bytes) {
            (Some(bundle), _) => read(bundle.main(), &bundle),
            (None, diagnostics) => (None, diagnostics),
        };
    }
    read(&name, files)
}

/// Turns errors into warnings. The broken parts and everything that depends on them are [left out](LeftOut) of the
/// definitions.
///
/// Use it for contracts that [can be used](Definitions::is_usable) without these parts.
pub fn forgive(diagnostics: &mut [Diagnostic]) {
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.severity == Severity::Error) {
        diagnostic.severity = Severity::Warning;
    }
}

/// Returns a message that no operation has this name, with the names that exist.
#[must_use]
pub fn unknown_operation(name: &str, known: &[&str]) -> String {
    match known.is_empty() {
        true => format!("found operation {name:?}, but no SOAP binding has operations"),
        false => format!("found operation {name:?}, expected one of {}", castile_xsd::candidates(name, known)),
    }
}

/// Bundles the contract `uri` and everything that it imports. `resolver` finds the documents.
///
/// Returns the bundle with the problems of the contract. There is no bundle only if the document itself can't be read
/// or is not a WSDL document.
#[must_use]
pub fn bundle(uri: &str, resolver: &dyn Resolver) -> (Option<Bundle>, Vec<Diagnostic>) {
    let recorder = castile_xsd::Recorder::new(resolver);
    let (definitions, diagnostics) = read(uri, &recorder);
    (definitions.and_then(|_| recorder.bundle(uri)), diagnostics)
}
