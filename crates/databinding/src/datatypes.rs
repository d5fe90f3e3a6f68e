//! The built-in datatypes (XSD Part 2): lexical space ↔ values.

mod base64_binary;
mod date_time;
mod numbers;
mod text;

pub use base64_binary::Base64Binary;
pub use date_time::DateTime;

use crate::Error;
use crate::from_xml::{Decoder, FromXml};
use crate::schema::Element;
use crate::to_xml::{Encoder, ToXml};

/// A simple type: text ↔ value.
pub trait SimpleType: Sized {
    /// The name for messages: `xs:int`.
    const NAME: &'static str;

    /// The value of a text, its white space as it was read.
    ///
    /// # Errors
    /// That the text is not in the lexical space, and what is wrong with it where that can be told.
    fn parse(text: &str) -> Result<Self, Option<String>>;

    /// The value that stands at `at` and ends at a `<`, and where that is. `None` leaves the matter to
    /// [`parse`](Self::parse), and must be the answer wherever that would give something else, and wherever a byte
    /// before the `<` is not plain character data.
    #[inline]
    fn parse_prefix(input: &str, at: usize) -> Option<(Self, usize)> {
        let (text, end) = plain_text(input, at)?;
        Some((Self::parse(text).ok()?, end))
    }

    /// Appends the text. `false` if the value holds a character that XML can't carry, or is none of the type's.
    fn write(&self, out: &mut Vec<u8>) -> bool;
}

impl<T: SimpleType> FromXml for T {
    #[inline]
    fn known(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        decoder.known_simple(element).map(Ok)
    }

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.simple(element)
    }
}

impl<T: SimpleType> ToXml for T {
    #[inline(always)]
    fn content(&self, out: &mut Encoder) {
        out.simple(self);
    }
}

/// The character data from `at` to the next tag, if it needs no work.
#[inline(always)]
fn plain_text(input: &str, at: usize) -> Option<(&str, usize)> {
    let end = castile_xml::scan::end_of_character_data(input.as_bytes(), at);
    (input.as_bytes().get(end) == Some(&b'<')).then(|| (&input[at..end], end))
}

/// White space at both ends cut off, as all types but the string family have it (XSD Part 2 §4.3.6).
fn collapse(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r'])
}
