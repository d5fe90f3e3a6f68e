use crate::Error;
use crate::from_xml::{Decoder, FromXml};
use crate::schema::{Attributes, Content, Element, TypeName};
use crate::to_xml::{Encoder, ToXml};

/// The value of an element that may be there and have none: `xsi:nil="true"` (XSD Part 1 §2.6.2).
///
/// It is not [`Option`], which stands for an element that may be absent. `Option<Nillable<T>>` tells absent, nil and
/// empty apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nillable<T> {
    /// The element is there and has no value.
    #[default]
    Nil,
    /// The element has a value.
    Value(T),
}

impl<T> Nillable<T> {
    /// The value, `None` for nil.
    pub fn value(self) -> Option<T> {
        match self {
            Nillable::Nil => None,
            Nillable::Value(value) => Some(value),
        }
    }

    /// A reference to the value, `None` for nil.
    pub fn as_ref(&self) -> Option<&T> {
        match self {
            Nillable::Nil => None,
            Nillable::Value(value) => Some(value),
        }
    }
}

impl<T> From<T> for Nillable<T> {
    fn from(value: T) -> Self {
        Nillable::Value(value)
    }
}

impl From<&str> for Nillable<String> {
    fn from(value: &str) -> Self {
        Nillable::Value(value.to_owned())
    }
}

impl<T: FromXml> FromXml for Nillable<T> {
    const NILLABLE: bool = true;
    const ATTRIBUTES: &'static Attributes = T::ATTRIBUTES;
    const TYPE: Option<TypeName> = T::TYPE;
    const CONTENT: &'static Content = T::CONTENT;

    #[inline(always)]
    fn known(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        T::known(decoder, element).map(|value| value.map(Nillable::Value))
    }

    #[inline]
    fn known_restricted(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Self> {
        T::known_restricted(decoder, element).map(Nillable::Value)
    }

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        if decoder.is_nil() {
            decoder.nil_content(element)?;
            return Ok(Nillable::Nil);
        }
        T::content(decoder, element).map(Nillable::Value)
    }
}

impl<T: ToXml> ToXml for Nillable<T> {
    const HAS_ATTRIBUTES: bool = T::HAS_ATTRIBUTES;

    fn attributes(&self, out: &mut Encoder) {
        if let Nillable::Value(value) = self {
            value.attributes(out);
        }
    }

    #[inline(always)]
    fn element(&self, out: &mut Encoder, start: &str, end: &str) {
        match self {
            Nillable::Nil => out.nil(start),
            Nillable::Value(value) => value.element(out, start, end),
        }
    }

    fn content(&self, out: &mut Encoder) {
        if let Nillable::Value(value) = self {
            value.content(out);
        }
    }
}
