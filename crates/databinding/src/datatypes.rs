//! The built-in datatypes (XSD Part 2): conversions between texts and values.

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

/// A simple type: the conversions between its values and their text. [`simple_type!`](crate::simple_type) implements the
/// traits for elements with such values.
pub trait SimpleType: Sized + PartialEq + Send + Sync + 'static {
    /// The name for messages, such as `xs:int`.
    const NAME: &'static str;
    /// Whether values are names or contain names, and so depend on namespace declarations: `xs:QName`, `xs:NOTATION`, and
    /// types made of them.
    const HAS_NAMES: bool = false;
    /// The conversions to and from bytes, for types whose values may travel beside the document ([`xop`](crate::xop)):
    /// `xs:base64Binary`.
    #[doc(hidden)]
    const BINARY: Option<Binary<Self>> = None;
    /// Whether the text of every value needs no escaping in an attribute. This is the case for numbers, dates, times and
    /// booleans.
    const IS_PLAIN: bool = false;

    /// Whether the type is declared by a contract. A contract may declare thousands of types, so they get less code than the
    /// built-in ones, and don't use [`parse_prefix`](Self::parse_prefix).
    #[doc(hidden)]
    const IS_OF_CONTRACT: bool = false;

    /// Parses a text whose white space is not normalised.
    ///
    /// # Errors
    /// The text is not in the lexical space. The error says what is wrong, if that is known.
    fn parse(text: &str) -> Result<Self, Option<String>>;

    /// Parses a text that may contain names. `scope` has the namespace declarations around it. Types with names must
    /// implement this.
    ///
    /// # Errors
    /// The text is not in the lexical space. The error says what is wrong, if that is known.
    #[inline]
    fn parse_in(text: &str, scope: &dyn Scope) -> Result<Self, Option<String>> {
        let _ = scope;
        Self::parse(text)
    }

    /// Returns the value of a text that [`parse`](Self::parse) rejects only because of facets that the type itself checks: a
    /// value that is not in an enumeration, or that the members of a union exclude.
    #[doc(hidden)]
    fn parse_beyond_facets(text: &str) -> Option<Self> {
        let _ = text;
        None
    }

    /// Parses the value that begins at `at` and ends at a `<`. Returns it with the offset of its end. The result must be
    /// `None` if [`parse`](Self::parse) would return something else, or if a byte before the `<` is not plain character data.
    /// The caller then uses [`parse`](Self::parse).
    #[doc(hidden)]
    #[inline]
    fn parse_prefix(input: &str, at: usize) -> Option<(Self, usize)> {
        let (text, end) = plain_text(input, at)?;
        Some((Self::parse(text).ok()?, end))
    }

    /// Returns the maximum heap memory of a text's value in bytes, excluding a copy of the text. It is called before the
    /// value is created.
    #[inline]
    fn heap_of(text: &str) -> usize {
        let _ = text;
        0
    }

    /// Appends the text of the value. Returns `false` if it contains a character that XML can't represent, or if the value is
    /// invalid.
    fn write(&self, out: &mut Vec<u8>) -> bool;

    /// Appends the text of the value, with prefixes for the names in it. Types with names must implement this.
    #[inline]
    fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
        let _ = prefixes;
        self.write(out)
    }
}

/// The functions that [`simple_type`](crate::simple_type) calls to read elements.
#[doc(hidden)]
pub mod elements {
    use super::SimpleType;
    use crate::Error;
    use crate::from_xml::Decoder;
    use crate::schema::{Element, TypeName};

    /// Returns the type that `xsi:type` may name.
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

/// Returns the character data from `at` to the next tag, if it needs no processing.
#[cfg_attr(not(debug_assertions), inline(always))]
fn plain_text(input: &str, at: usize) -> Option<(&str, usize)> {
    let end = castile_xml::scan::end_of_character_data(input.as_bytes(), at);
    (input.as_bytes().get(end) == Some(&b'<')).then(|| (&input[at..end], end))
}

/// Removes white space at both ends, as all types except the string types require (XSD Part 2 §4.3.6).
fn collapse(text: &str) -> &str {
    // Few texts begin or end with white space. Searching for it character by character costs more than parsing most values.
    if let [first, .., last] | [first @ last] = text.as_bytes()
        && *first > b' '
        && *last > b' '
    {
        return text;
    }
    text.trim_matches([' ', '\t', '\n', '\r'])
}

/// Splits a text at white space.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    // All white space is ASCII, so bytes suffice, and no characters need to be decoded.
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

/// Implements `Display` and `FromStr` for a type whose text needs no escaping.
macro_rules! text_form {
    ($type:ty) => {
        impl std::fmt::Display for $type {
            /// Writes the text of the value; nothing if the value is invalid.
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

/// Implements equality, order and hash by the position on the time line.
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

/// Implements the conversions of a newtype of bytes.
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
