//! Adapters for types of other crates.

use std::fmt;
use std::marker::PhantomData;

use castile_datatypes::{Prefixes, Scope, SimpleType};

use crate::error::{Error, ErrorKind};
use crate::from_xml::{Decoder, FromXml};
use crate::schema::{Attributes, Content, Element, TypeName};

/// Converts values of a type of another crate to and from a type that has an XML form.
///
/// A field with `#[xml(with = …)]` is read and written through its adapter.
///
/// ```
/// use std::net::IpAddr;
/// use castile_databinding::Adapter;
///
/// struct AsText;
///
/// impl Adapter<IpAddr> for AsText {
///     type Xml = String;
///
///     fn from_xml(xml: String) -> Result<IpAddr, String> {
///         xml.trim().parse().map_err(|_| format!("{xml:?} is no IP address"))
///     }
///
///     fn to_xml(value: &IpAddr) -> String {
///         value.to_string()
///     }
/// }
/// ```
pub trait Adapter<T> {
    /// The type that is read and written: a type of XML Schema, or one that derives `castile::Xml`.
    type Xml;

    /// Converts a value that was read.
    ///
    /// # Errors
    /// A sentence without a full stop that says what is wrong. The offset is added by the decoder.
    fn from_xml(xml: Self::Xml) -> Result<T, String>;

    /// Converts a value that will be written.
    fn to_xml(value: &T) -> Self::Xml;
}

/// A value read through an adapter.
#[doc(hidden)]
pub struct Adapted<A, T>(T, PhantomData<fn() -> A>);

impl<A: Adapter<T>, T> Adapted<A, T> {
    /// Returns the value.
    #[inline]
    pub fn value(self) -> T {
        self.0
    }

    /// Converts a value that will be written.
    #[inline]
    pub fn of(value: &T) -> A::Xml {
        A::to_xml(value)
    }
}

impl<A, T: fmt::Debug> fmt::Debug for Adapted<A, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Adapted").field(&self.0).finish()
    }
}

impl<A, T: PartialEq> PartialEq for Adapted<A, T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<A, T> FromXml for Adapted<A, T>
where
    A: Adapter<T, Xml: FromXml> + 'static,
    T: Send + Sync + 'static,
{
    const NILLABLE: bool = A::Xml::NILLABLE;
    const ATTRIBUTES: &'static Attributes = A::Xml::ATTRIBUTES;
    const TYPE: Option<TypeName> = A::Xml::TYPE;
    const TYPE_IS_FIXED: bool = A::Xml::TYPE_IS_FIXED;
    const CONTENT: &'static Content = A::Xml::CONTENT;

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let offset = decoder.reader().offset();
        let xml = A::Xml::content(decoder, element)?;
        match A::from_xml(xml) {
            Ok(value) => Ok(Adapted(value, PhantomData)),
            Err(problem) => Err(Error::new(ErrorKind::Lexical, offset, problem)),
        }
    }
}

impl<A, T> SimpleType for Adapted<A, T>
where
    A: Adapter<T, Xml: SimpleType> + 'static,
    T: PartialEq + Send + Sync + 'static,
{
    const NAME: &'static str = A::Xml::NAME;
    const HAS_NAMES: bool = A::Xml::HAS_NAMES;
    const IS_OF_CONTRACT: bool = true;

    fn parse(text: &str) -> Result<Self, Option<String>> {
        A::from_xml(A::Xml::parse(text)?).map(|value| Adapted(value, PhantomData)).map_err(Some)
    }

    fn parse_in(text: &str, scope: &dyn Scope) -> Result<Self, Option<String>> {
        A::from_xml(A::Xml::parse_in(text, scope)?).map(|value| Adapted(value, PhantomData)).map_err(Some)
    }

    fn heap_size(text: &str) -> usize {
        A::Xml::heap_size(text)
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        A::to_xml(&self.0).write(out)
    }

    fn write_in(&self, out: &mut Vec<u8>, prefixes: &mut Prefixes<'_>) -> bool {
        A::to_xml(&self.0).write_in(out, prefixes)
    }
}
