//! Booleans and text (XSD Part 2 §3.2.1, §3.2.2, §3.2.17, §3.3.1 to §3.3.12).

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use castile_xml::tree::is_ncname;
use castile_xml::{is_name_char, is_name_start_char};

use crate::{Invalid, SimpleType, WhiteSpace, collapse, plain_text};

impl SimpleType for String {
    const NAME: &'static str = "xs:string";

    fn parse(text: &str) -> Result<Self, Option<String>> {
        Ok(text.to_owned())
    }

    #[inline]
    fn parse_prefix(input: &str, at: usize) -> Option<(Self, usize)> {
        plain_text(input, at).map(|(text, end)| (text.to_owned(), end))
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) -> bool {
        castile_xml::escape::push_text(out, self).is_ok()
    }
}

impl SimpleType for bool {
    const NAME: &'static str = "xs:boolean";
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        match collapse(text) {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(None),
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(if *self { b"true" } else { b"false" });
        true
    }
}

macro_rules! text {
    ($($(#[$doc:meta])* $type:ident $name:literal $white_space:ident, $accepts:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(String);

        impl $type {
            /// Creates a value from a text, after normalising its white space.
            ///
            /// # Errors
            /// The text is not in the lexical space of the type.
            pub fn new(text: impl Into<String>) -> Result<Self, Invalid> {
                let text = text.into();
                let normalised = match WhiteSpace::$white_space.normalise(&text) {
                    Cow::Borrowed(normalised) if normalised.len() == text.len() => None,
                    other => Some(other.into_owned()),
                };
                let text = normalised.unwrap_or(text);
                let accepts: fn(&str) -> bool = $accepts;
                if accepts(&text) { Ok($type(text)) } else { Err(Invalid::text(&text, $name, None)) }
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl SimpleType for $type {
            const NAME: &'static str = $name;

            fn parse(text: &str) -> Result<Self, Option<String>> {
                let text = WhiteSpace::$white_space.normalise(text);
                let accepts: fn(&str) -> bool = $accepts;
                if accepts(&text) { Ok($type(text.into_owned())) } else { Err(None) }
            }

            fn write(&self, out: &mut Vec<u8>) -> bool {
                self.0.write(out)
            }
        }

        impl Deref for $type {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.0
            }
        }

        impl std::str::FromStr for $type {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                $type::new(text)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl PartialEq<str> for $type {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
            }
        }

        impl PartialEq<&str> for $type {
            fn eq(&self, other: &&str) -> bool {
                self.0 == *other
            }
        }
    )*};
}

/// Implements conversions to types that accept any text, after normalising its white space.
macro_rules! from_any_text {
    ($($type:ident $white_space:ident)*) => {$(
        impl From<&str> for $type {
            fn from(text: &str) -> Self {
                $type(WhiteSpace::$white_space.normalise(text).into_owned())
            }
        }

        impl From<String> for $type {
            fn from(text: String) -> Self {
                match WhiteSpace::$white_space.normalise(&text) {
                    Cow::Borrowed(normalised) if normalised.len() == text.len() => $type(text),
                    normalised => $type(normalised.into_owned()),
                }
            }
        }
    )*};
}

/// Implements conversions to types that reject some texts.
macro_rules! from_some_texts {
    ($($type:ident)*) => {$(
        impl TryFrom<&str> for $type {
            type Error = Invalid;

            fn try_from(text: &str) -> Result<Self, Invalid> {
                $type::new(text)
            }
        }

        impl TryFrom<String> for $type {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                $type::new(text)
            }
        }
    )*};
}

from_any_text! { NormalizedString Replace Token Collapse AnyUri Collapse }
from_some_texts! { Language Nmtoken Name NcName Id Idref Entity }

text! {
    /// `xs:normalizedString` (XSD Part 2 §3.3.1): text without tabs and line ends.
    #[derive(Default)]
    NormalizedString "xs:normalizedString" Replace, |_| true;
    /// `xs:token` (XSD Part 2 §3.3.2): words separated by single spaces.
    #[derive(Default)]
    Token "xs:token" Collapse, |_| true;
    /// `xs:language` (XSD Part 2 §3.3.3): a language tag, such as `de-CH`.
    Language "xs:language" Collapse, is_language;
    /// `xs:NMTOKEN` (XSD Part 2 §3.3.4): a text of name characters.
    Nmtoken "xs:NMTOKEN" Collapse, |text| !text.is_empty() && text.chars().all(|c| c == ':' || is_name_char(c));
    /// `xs:Name` (XSD Part 2 §3.3.6): a name, which may contain colons.
    Name "xs:Name" Collapse, is_name;
    /// `xs:NCName` (XSD Part 2 §3.3.7): a name without colons.
    NcName "xs:NCName" Collapse, is_ncname;
    /// `xs:ID` (XSD Part 2 §3.3.8): the identifier of an element in a document.
    Id "xs:ID" Collapse, is_ncname;
    /// `xs:IDREF` (XSD Part 2 §3.3.9): a reference to an [`Id`].
    Idref "xs:IDREF" Collapse, is_ncname;
    /// `xs:ENTITY` (XSD Part 2 §3.3.11): the name of an unparsed entity.
    Entity "xs:ENTITY" Collapse, is_ncname;
    /// `xs:anyURI` (XSD Part 2 §3.2.17): a URI reference, which may contain characters beyond ASCII.
    ///
    /// Any text is accepted, as in XSD 1.1: URIs in use violate the RFCs, and a relative reference may be any text.
    #[derive(Default)]
    AnyUri "xs:anyURI" Collapse, |_| true;
}

fn is_language(text: &str) -> bool {
    let fits = |part: &str, is_allowed: fn(&u8) -> bool| {
        (1..=8).contains(&part.len()) && part.as_bytes().iter().all(is_allowed)
    };
    let mut parts = text.split('-');
    parts.next().is_some_and(|first| fits(first, u8::is_ascii_alphabetic))
        && parts.all(|part| fits(part, u8::is_ascii_alphanumeric))
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|first| first == ':' || is_name_start_char(first))
        && chars.all(|c| c == ':' || is_name_char(c))
}
