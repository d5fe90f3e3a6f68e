//! SOAP encoding (SOAP 1.1 §5, SOAP 1.2 Part 2 §2 and §3): values form a graph whose nodes can be referred to.
//!
//! A struct has accessors, which are identified by name. They may be in any order, absent or nil. An array has items, which
//! are identified by position. An element may refer to another element, which has the value. A [`Decoder`](crate::Decoder)
//! reads that element in place of the reference.
//!
//! The types are in `array` and `shared`. `read` has the decoder's part: accessors, `read::array` for arrays, `read::references`
//! for references, and `read::unrolled` for references in elements that are stored as XML. `write` has the encoder's part.
//!
//! ```
//! use castile_databinding::encoded::ArrayType;
//! use castile_databinding::schema::{Element, TypeName};
//! use castile_databinding::{Decoder, Encoder, Error, FromXml, ToXml};
//! use castile_xml::{Limits, Reader};
//!
//! struct Numbers(Vec<Option<i32>>);
//!
//! static NUMBERS: ArrayType = ArrayType {
//!     item: Element::new("", "item", 0),
//!     item_type: TypeName::new("http://www.w3.org/2001/XMLSchema", "int"),
//!     ranks: "",
//!     rank: 1,
//! };
//!
//! impl FromXml for Numbers {
//!     fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
//!         decoder.items(element, &NUMBERS).map(Numbers)
//!     }
//! }
//!
//! static ROOT: Element = Element::new("", "numbers", 1);
//! let message = b"<numbers><item>1</item><item href='#one'/><item id='one'>2</item></numbers>";
//! let mut reader = Reader::new(message, Limits::default())?;
//! reader.next()?;
//! let Numbers(numbers) = Decoder::new(reader).root(&ROOT)?;
//! assert_eq!(numbers, [Some(1), Some(2), Some(2)]);
//! # Ok::<(), Error>(())
//! ```

mod array;
mod graph;
mod item_type;
pub(crate) mod read;
mod shared;
mod write;
mod written;

pub use array::{Array, ArrayType};
pub use castile_datatypes::Encoding;
pub(crate) use graph::Graph;
pub(crate) use item_type::ItemType;
pub(crate) use read::{is_of_references, may_refer};
pub use shared::Shared;
pub(crate) use written::Written;

/// The namespace of the encoding of SOAP 1.1 (§5), with `arrayType`, `offset` and `position`.
pub(crate) const SOAP11: &str = Encoding::Soap11.namespace();
/// The namespace of the encoding of SOAP 1.2 (Part 2 §3), with `id`, `ref`, `itemType` and `arraySize`.
pub(crate) const SOAP12: &str = Encoding::Soap12.namespace();
/// The namespace of `rpc:result` (SOAP 1.2 Part 2 §4.2.1).
pub(crate) const RPC: &str = "http://www.w3.org/2003/05/soap-rpc";
