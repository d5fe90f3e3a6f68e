//! Reads schema documents into schema components (XML Schema 1.0 Part 1: Structures).
//!
//! [`read`] reads a schema document and all documents that it imports. It returns a [`Schema`] and every problem that
//! it found. A broken part doesn't affect the rest: each reference leads to a component. If the component is missing,
//! the reference leads to one that allows anything.
//!
//! ```
//! use castile_xsd::components::{Compositor, Term};
//! use castile_xsd::{Documents, ExpandedName};
//!
//! let documents = Documents::new().with(
//!     "order.xsd",
//!     r#"<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o" xmlns="urn:o">
//!          <xs:complexType name="Base">
//!            <xs:sequence><xs:element name="id" type="xs:int"/></xs:sequence>
//!          </xs:complexType>
//!          <xs:complexType name="Order">
//!            <xs:complexContent>
//!              <xs:extension base="Base">
//!                <xs:sequence><xs:element name="line" type="xs:string" maxOccurs="unbounded"/></xs:sequence>
//!                <xs:attribute name="rush" type="xs:boolean"/>
//!              </xs:extension>
//!            </xs:complexContent>
//!          </xs:complexType>
//!          <xs:element name="order" type="Order"/>
//!        </xs:schema>"#,
//! );
//! let (schema, diagnostics) = castile_xsd::read("order.xsd", &documents);
//! assert!(diagnostics.is_empty());
//!
//! let order = schema.find_element(&ExpandedName::new("urn:o", "order")).expect("it is declared");
//! let type_id = schema[order].type_id;
//! // The content of the base, then what the extension adds.
//! let content = schema.content(type_id);
//! let Some(Term::Group(group)) = content.particle().map(|particle| &particle.term) else { panic!() };
//! assert_eq!(group.compositor, Compositor::Sequence);
//! let mut names = Vec::new();
//! for particle in &group.particles {
//!     if let Term::Element(id) = &particle.term {
//!         names.push((schema[*id].name.local(), particle.is_repeated(), schema[*id].type_id.builtin()));
//!     }
//! }
//! use castile_xsd::Builtin;
//! assert_eq!(names, [("id", false, Some(Builtin::Int)), ("line", true, Some(Builtin::String))]);
//! let rush = &schema.attribute_uses(type_id)[0];
//! assert_eq!(schema[rush.attribute].name.local(), "rush");
//! ```

mod builtin;
mod bundle;
mod catalog;
mod check;
pub mod components;
mod definition;
mod diagnostic;
pub mod encoded;
mod encoding;
mod limits;
mod load;
mod name;
mod parse;
mod paths;
mod resolve;
mod resolver;
pub mod sample;
mod schema;
mod similar;
mod structure;
mod table;
pub mod validate;
mod wellknown;

pub use builtin::{Builtin, XSD_NAMESPACE};
pub use bundle::{Bundle, Made, Recorder};
pub use catalog::Catalog;
pub use components::{AttributeId, ElementId, TypeId};
pub use definition::ContractValues;
pub use diagnostic::{Defect, Diagnostic, Diagnostics, FileId, Location, Reference, Severity, Sources};
pub use encoding::decode;
pub use limits::Limits;
pub use load::{Loader, Opened};
pub use name::ExpandedName;
pub use parse::tidy;
pub use resolver::{Documents, Files, Request, Resolver, join};
pub use schema::Schema;
pub use similar::{candidates, edits, similar};
pub use wellknown::builtin_namespaces;

/// Reads the schema document `uri` and all documents that it imports and includes.
#[must_use]
pub fn read(uri: &str, resolver: &dyn Resolver) -> (Schema, Vec<Diagnostic>) {
    read_within(uri, resolver, Limits::default())
}

/// Reads the schema document `uri` and all documents that it imports and includes, within the given limits.
#[must_use]
pub fn read_within(uri: &str, resolver: &dyn Resolver, limits: Limits) -> (Schema, Vec<Diagnostic>) {
    let mut loader = Loader::within(resolver, limits);
    loader.document(uri);
    let (schema, diagnostics) = loader.finish();
    (schema, diagnostics.finish().1)
}
