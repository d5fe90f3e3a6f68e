//! Conversion between XML tokens and typed values, as called by generated code (XML Schema Part 1 content models, Part 2
//! datatypes).
//!
//! Generated types implement [`ComplexType`] in a few lines each; all decisions are made in this crate. The order of the
//! calls is the content model: [`Decoder::required`], [`Decoder::optional`] and [`Decoder::repeated`] read a sequence,
//! [`Decoder::one_of`] reads `xs:all` and `xs:choice`. The tables of [`schema`] hold names and occurrence.
//!
//! ```
//! use castile_databinding::schema::Element;
//! use castile_databinding::{ComplexType, Decoder, Encoder, Error};
//!
//! struct Point { x: i32, y: Option<i32> }
//!
//! static POINT: [Element; 2] = [Element::new("urn:p", "x", 1), Element::new("urn:p", "y", 2).occurs(0, Some(1))];
//!
//! impl ComplexType for Point {
//!     fn read(decoder: &mut Decoder<'_>) -> Result<Self, Error> {
//!         Ok(Point { x: decoder.required(&POINT, 0)?, y: decoder.optional(&POINT, 1)? })
//!     }
//!
//!     fn write(&self, out: &mut Encoder) {
//!         out.element("<x>", &self.x, "</x>");
//!         out.optional("<y>", &self.y, "</y>");
//!     }
//! }
//! ```

mod adapter;
mod any;
mod boxed;
mod complex_type;
pub mod datatypes;
pub mod declared;
mod deviations;
pub mod document;
#[doc(hidden)]
pub mod elements;
pub mod encoded;
mod error;
mod expected;
mod fragment;
mod from_xml;
mod group;
mod items;
mod macros;
pub mod model;
mod name;
mod nillable;
mod recursive;
pub mod schema;
#[cfg(feature = "serde")]
mod serialised;
mod stack;
mod streamed;
mod to_xml;
pub mod xop;

#[doc(hidden)]
pub use castile_datatypes::facet_value;
pub use castile_datatypes::{facets, union_value};
/// Used by the macro [`enumeration`].
#[doc(hidden)]
pub use castile_xml::escape;

#[doc(hidden)]
pub use adapter::Adapted;
pub use adapter::Adapter;
pub use any::{Any, AnyAttribute, AnyContent, AnyElements, AnyElementsIter, AnyPiece, AnyType};
#[doc(hidden)]
pub use boxed::Boxed;
pub use complex_type::ComplexType;
pub use deviations::Deviations;
pub use encoded::read::Parts;
pub use error::{Error, ErrorKind};
pub use from_xml::{Decoder, FromXml};
#[doc(hidden)]
pub use from_xml::{Lexical, RootType};
pub use group::{Group, Mixed};
pub use items::Items;
pub use name::ExpandedName;
pub use nillable::{Nillable, NillableWithAttributes};
pub use recursive::Recursive;
#[doc(hidden)]
pub use stack::deeper;
pub use streamed::{BoxError, Streamed};
pub use to_xml::{Encoder, ToXml};
