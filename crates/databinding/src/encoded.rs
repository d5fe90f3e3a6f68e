//! SOAP encoding (SOAP 1.1 §5, SOAP 1.2 Part 2 §2 and §3): values form a graph whose nodes can be referred to.
//!
//! A struct has accessors, which are identified by name. They may be in any order, absent or nil. An array has items, which
//! are identified by position. An element may refer to another element, which has the value. A [`Decoder`](crate::Decoder)
//! reads that element in place of the reference.
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
mod shared;
mod write;

pub use array::{Array, ArrayType};
pub use shared::Shared;
pub(crate) use write::Written;

/// The namespace of the encoding of SOAP 1.1 (§5), with `arrayType`, `offset` and `position`.
pub(crate) const SOAP11: &str = "http://schemas.xmlsoap.org/soap/encoding/";
/// The namespace of the encoding of SOAP 1.2 (Part 2 §3), with `id`, `ref`, `itemType` and `arraySize`.
pub(crate) const SOAP12: &str = "http://www.w3.org/2003/05/soap-encoding";
/// The namespace of `rpc:result` (SOAP 1.2 Part 2 §4.2.1).
pub(crate) const RPC: &str = "http://www.w3.org/2003/05/soap-rpc";

/// The version of SOAP encoding that values are written in. Both versions are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// SOAP 1.1 §5: `id` and `href`, `soapenc:arrayType`.
    #[default]
    Soap11,
    /// SOAP 1.2 Part 2 §3: `enc:id` and `enc:ref`, `enc:itemType` and `enc:arraySize`.
    Soap12,
}

impl Encoding {
    /// Returns the URI of the encoding, which is also its namespace.
    pub const fn namespace(self) -> &'static str {
        match self {
            Encoding::Soap11 => SOAP11,
            Encoding::Soap12 => SOAP12,
        }
    }

    /// Returns the attributes for the element of a call, or for another independent element: a declaration of `soapenc`, and
    /// the envelope's `encodingStyle`, with the prefix `soap`.
    pub const fn attributes(self) -> &'static str {
        match self {
            Encoding::Soap11 => {
                " xmlns:soapenc=\"http://schemas.xmlsoap.org/soap/encoding/\" soap:encodingStyle=\"http://schemas.xmlsoap.org/soap/encoding/\""
            }
            Encoding::Soap12 => {
                " xmlns:soapenc=\"http://www.w3.org/2003/05/soap-encoding\" soap:encodingStyle=\"http://www.w3.org/2003/05/soap-encoding\""
            }
        }
    }
}
