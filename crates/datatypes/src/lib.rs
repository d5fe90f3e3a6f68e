//! XML Schema's datatypes (XSD Part 2), their facets, and content models (XSD Part 1).
//!
//! A [`SimpleType`] converts between texts and values. The types at the root of this crate are the built-in ones that have
//! no equivalent in Rust; the others are `String`, `bool`, and Rust's numbers. [`facets`] restrict the values of a type,
//! and [`model`] decides which element may come next. The crate knows names and texts, but no elements with values: those
//! are read and written by `castile-databinding`.
//!
//! ```
//! use castile_datatypes::{Decimal, SimpleType};
//!
//! let price = Decimal::parse(" 10.50\n").unwrap();
//! assert_eq!(price.to_string(), "10.50");
//! assert!(Decimal::parse("1e3").is_err());
//! ```

mod base64_binary;
mod binary;
mod calendar;
mod conversions;
mod date;
mod date_time;
mod decimal;
mod duration;
mod encoding;
pub mod facets;
mod forms;
mod hex_binary;
mod hierarchy;
mod integer;
mod invalid;
mod list;
mod macros;
pub mod model;
mod numbers;
pub mod prefixes;
mod qname;
mod scope;
#[cfg(feature = "serde")]
mod serialised;
mod simple_type;
mod streamed_binary;
mod text;
mod value;
mod white_space;

pub use base64_binary::Base64Binary;
pub use binary::{Binary, Reference};
pub use date::{Date, GDay, GMonth, GMonthDay, GYear, GYearMonth, Time};
pub use date_time::DateTime;
pub use decimal::Decimal;
pub use duration::Duration;
pub use encoding::Encoding;
use forms::{bytes_form, text_form, time_line};
pub use hex_binary::HexBinary;
pub use hierarchy::{base_of, is_derived};
pub use integer::{Integer, NegativeInteger, NonNegativeInteger, NonPositiveInteger, PositiveInteger};
pub use invalid::{Invalid, quoted};
pub use list::{Entities, Idrefs, List, Nmtokens};
pub use prefixes::Prefixes;
pub use qname::{Notation, QName};
pub use scope::{Scope, Unscoped};
pub(crate) use simple_type::parse;
use simple_type::plain_text;
pub use simple_type::{SimpleType, text_of};
pub use streamed_binary::StreamedBinary;
pub use text::{AnyUri, Entity, Id, Idref, Language, Name, NcName, Nmtoken, NormalizedString, Token};
pub use value::{Datatype, Value};
pub use white_space::WhiteSpace;
use white_space::collapse;
pub(crate) use white_space::words;
