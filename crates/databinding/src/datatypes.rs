//! The built-in datatypes (XSD Part 2): lexical space ↔ values.

mod base64_binary;
mod calendar;
mod conversions;
mod date;
mod date_time;
mod decimal;
mod duration;
mod hex_binary;
mod hierarchy;
mod integer;
mod invalid;
mod list;
mod numbers;
mod qname;
mod streamed_binary;
mod text;
mod value;
mod white_space;

pub use base64_binary::Base64Binary;
pub use date::{Date, GDay, GMonth, GMonthDay, GYear, GYearMonth, Time};
pub use date_time::DateTime;
pub use decimal::Decimal;
pub use duration::Duration;
pub use hex_binary::HexBinary;
pub use hierarchy::base_of;
pub(crate) use hierarchy::is_derived;
pub use integer::{Integer, NegativeInteger, NonNegativeInteger, NonPositiveInteger, PositiveInteger};
pub use invalid::{Invalid, quoted};
pub use list::{Entities, Idrefs, List, Nmtokens};
pub use qname::{Notation, Prefixes, QName, Scope, Unscoped, text_of};
pub(crate) use qname::{declares, is_free_in};
pub use streamed_binary::StreamedBinary;
pub use text::{AnyUri, Entity, Id, Idref, Language, Name, NcName, Nmtoken, NormalizedString, Token};
pub use value::{Datatype, Value};
pub use white_space::WhiteSpace;

use crate::xop::Binary;

/// A simple type: text ↔ value. [`simple_type!`](crate::simple_type) lets elements have its values.
pub trait SimpleType: Sized + PartialEq + Send + Sync + 'static {
    /// The name for messages: `xs:int`.
    const NAME: &'static str;
    /// Whether values are names or have names in them, and so need namespace declarations: `xs:QName`, `xs:NOTATION` and
    /// types made of them.
    const HAS_NAMES: bool = false;
    /// How values are made of bytes, and bytes of values, for types whose values may be beside the document
    /// ([`xop`](crate::xop)): `xs:base64Binary`.
    #[doc(hidden)]
    const BINARY: Option<Binary<Self>> = None;
    /// Whether texts consist of characters that stand for themselves in attributes as they do in content: those of numbers,
    /// moments and booleans do.
    const IS_PLAIN: bool = false;

    /// Whether the type is one of a contract, which may have thousands: there is less code for each of these than for
    /// the built-in ones, and no [`parse_prefix`](Self::parse_prefix).
    #[doc(hidden)]
    const IS_OF_CONTRACT: bool = false;

    /// The value of a text, its white space as it was read.
    ///
    /// # Errors
    /// That the text is not in the lexical space, and what is wrong with it where that can be told.
    fn parse(text: &str) -> Result<Self, Option<String>>;

    /// The value of a text that stands where these declarations are in scope. Types with names must have this.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse).
    #[inline]
    fn parse_in(text: &str, scope: &dyn Scope) -> Result<Self, Option<String>> {
        let _ = scope;
        Self::parse(text)
    }

    /// The value of a text that [`parse`](Self::parse) refuses only for facets that it checks itself: one that an
    /// enumeration doesn't list, or one that members of a union exclude.
    #[doc(hidden)]
    fn parse_beyond_facets(text: &str) -> Option<Self> {
        let _ = text;
        None
    }

    /// The value that stands at `at` and ends at a `<`, and where that is. `None` leaves the matter to
    /// [`parse`](Self::parse), and must be the answer wherever that would give something else, and wherever a byte
    /// before the `<` is not plain character data.
    #[doc(hidden)]
    #[inline]
    fn parse_prefix(input: &str, at: usize) -> Option<(Self, usize)> {
        let (text, end) = plain_text(input, at)?;
        Some((Self::parse(text).ok()?, end))
    }

    /// How many bytes of memory the value of a text takes at most, beside its own and a copy of the text. It is asked before
    /// the value is made.
    #[inline]
    fn heap_of(text: &str) -> usize {
        let _ = text;
        0
    }

    /// Appends the text. `false` if the value holds a character that XML can't carry, or is none of the type's.
    fn write(&self, out: &mut Vec<u8>) -> bool;

    /// Writes the value with prefixes for the names in it. Types with names must have this.
    #[inline]
    fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
        let _ = prefixes;
        self.write(out)
    }
}

/// What makes elements of the values of simple types: [`simple_type`](crate::simple_type) calls these.
#[doc(hidden)]
pub mod elements {
    use super::SimpleType;
    use crate::Error;
    use crate::from_xml::Decoder;
    use crate::schema::{Element, TypeName};

    /// The type that `xsi:type` may name.
    pub const fn type_name<T: SimpleType>() -> Option<TypeName> {
        TypeName::of_builtin(T::NAME)
    }

    #[inline]
    pub fn known<T: SimpleType>(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<T, Error>> {
        if T::IS_OF_CONTRACT { decoder.cached_by_text(element, false) } else { decoder.cached_simple(element) }
    }

    #[inline]
    pub fn cached_restricted<T: SimpleType>(
        decoder: &mut Decoder<'_>,
        element: &'static Element,
    ) -> Option<Result<T, Error>> {
        if T::IS_OF_CONTRACT { decoder.cached_by_text(element, true) } else { decoder.cached_restricted(element) }
    }
}

/// The character data from `at` to the next tag, if it needs no work.
#[cfg_attr(not(debug_assertions), inline(always))]
fn plain_text(input: &str, at: usize) -> Option<(&str, usize)> {
    let end = castile_xml::scan::end_of_character_data(input.as_bytes(), at);
    (input.as_bytes().get(end) == Some(&b'<')).then(|| (&input[at..end], end))
}

/// White space at both ends cut off, as all types but the string family have it (XSD Part 2 §4.3.6).
fn collapse(text: &str) -> &str {
    // Few texts begin or end with white space, and looking for it character by character costs more than most values.
    if let [first, .., last] | [first @ last] = text.as_bytes()
        && *first > b' '
        && *last > b' '
    {
        return text;
    }
    text.trim_matches([' ', '\t', '\n', '\r'])
}

/// What white space divides a text into.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    // By bytes: all white space is ASCII, and characters would have to be decoded.
    let is_white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.bytes().position(|byte| !is_white(&byte))?;
        let length = rest[start..].bytes().position(|byte| is_white(&byte)).unwrap_or(rest.len() - start);
        let word = &rest[start..start + length];
        rest = &rest[start + length..];
        Some(word)
    })
}

/// `Display` and `FromStr` of a type whose text needs no escaping.
macro_rules! text_form {
    ($type:ty) => {
        impl std::fmt::Display for $type {
            /// The text as it is written; empty for a value that can't be.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut out = Vec::new();
                $crate::datatypes::SimpleType::write(self, &mut out);
                f.write_str(&String::from_utf8_lossy(&out))
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::datatypes::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::datatypes::Invalid::or_value(text)
            }
        }
    };
}

/// Equality, order and hash of a type by its place on the line of time.
macro_rules! time_line {
    ($type:ty, |$value:ident| $instant:expr) => {
        impl $type {
            fn on_time_line(&self) -> $crate::datatypes::calendar::Instant {
                let $value = self;
                $instant
            }
        }

        impl PartialEq for $type {
            fn eq(&self, other: &Self) -> bool {
                self.on_time_line() == other.on_time_line()
            }
        }

        impl Eq for $type {}

        impl PartialOrd for $type {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                self.on_time_line().order(other.on_time_line())
            }
        }

        impl std::hash::Hash for $type {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                self.on_time_line().hash(state);
            }
        }
    };
}

/// Conversions of a type that is bytes.
macro_rules! bytes_form {
    ($type:ident) => {
        impl std::ops::Deref for $type {
            type Target = [u8];

            fn deref(&self) -> &[u8] {
                &self.0
            }
        }

        impl AsRef<[u8]> for $type {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }

        impl From<Vec<u8>> for $type {
            fn from(bytes: Vec<u8>) -> Self {
                $type(bytes)
            }
        }

        impl From<&[u8]> for $type {
            fn from(bytes: &[u8]) -> Self {
                $type(bytes.to_vec())
            }
        }

        impl From<$type> for Vec<u8> {
            fn from(value: $type) -> Self {
                value.0
            }
        }
    };
}

use {bytes_form, text_form, time_line};
