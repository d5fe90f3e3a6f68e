//! SOAP encoding (SOAP 1.1 §5, SOAP 1.2 Part 2 §2 and §3): values as a graph, whose nodes may be referred to.
//!
//! A struct has accessors, which are told apart by their names and may come in any order, be absent or nil. An array has
//! items, which are told apart by their places. An element may refer to another one, which has the value; how references
//! are followed is said in [`Decoder`](crate::Decoder).
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

/// The namespace of SOAP 1.1's encoding (§5), in which `arrayType`, `offset` and `position` are.
pub(crate) const SOAP11: &str = "http://schemas.xmlsoap.org/soap/encoding/";
/// The namespace of SOAP 1.2's encoding (Part 2 §3), in which `id`, `ref`, `itemType` and `arraySize` are.
pub(crate) const SOAP12: &str = "http://www.w3.org/2003/05/soap-encoding";
/// The namespace of `rpc:result` (SOAP 1.2 Part 2 §4.2.1).
pub(crate) const RPC: &str = "http://www.w3.org/2003/05/soap-rpc";

/// Whose rules values are written by. Those of both are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// SOAP 1.1 §5: `id` and `href`, `soapenc:arrayType`.
    #[default]
    Soap11,
    /// SOAP 1.2 Part 2 §3: `enc:id` and `enc:ref`, `enc:itemType` and `enc:arraySize`.
    Soap12,
}

impl Encoding {
    /// The name of the encoding, which is that of its namespace too.
    pub const fn namespace(self) -> &'static str {
        match self {
            Encoding::Soap11 => SOAP11,
            Encoding::Soap12 => SOAP12,
        }
    }

    /// What the element of a call, or another one that stands by itself, says of its encoding: a declaration of `soapenc`,
    /// and `encodingStyle` of the envelope, whose prefix is `soap`.
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
