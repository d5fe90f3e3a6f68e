use crate::Error;
use crate::any::AnyAttribute;
use crate::from_xml::{Decoder, FromXml};
use crate::schema::{Attributes, Content, Element, TypeName};
use crate::to_xml::{Encoder, ToXml};

/// The value of an element that may be nil: present without a value, with `xsi:nil="true"` (XSD Part 1 §2.6.2).
///
/// [`Option`] stands for an element that may be absent. `Option<Nillable<T>>` distinguishes absent, nil and empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Nillable<T> {
    /// The element is present and has no value.
    #[default]
    Nil,
    /// The element has a value.
    Value(T),
}

impl<T> Nillable<T> {
    /// Returns the value, or `None` for nil.
    pub fn value(self) -> Option<T> {
        match self {
            Nillable::Nil => None,
            Nillable::Value(value) => Some(value),
        }
    }

    /// Returns a reference to the value, or `None` for nil.
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
    const MAY_BE_RESTRICTED: bool = T::MAY_BE_RESTRICTED;
    const CONTENT: &'static Content = T::CONTENT;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn cached(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        T::cached(decoder, element).map(|value| value.map(Nillable::Value))
    }

    #[inline]
    fn cached_restricted(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        T::cached_restricted(decoder, element).map(|value| value.map(Nillable::Value))
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
    const HAS_CONTENT: bool = T::HAS_CONTENT;
    const NAMESPACE: Option<&'static str> = T::NAMESPACE;

    fn attributes(&self, out: &mut Encoder) {
        if let Nillable::Value(value) = self {
            value.attributes(out);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
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

/// A value that may be nil, in an element whose type has attributes. A nil element has the attributes too, and may be
/// required to have them (XSD Part 1 §3.3.4).
///
/// The attributes of a nil element are retained as text: their names were checked, their values were not. Prefixes in the
/// values have the meaning they had in the document that was read.
///
/// ```
/// use castile_databinding::{AnyAttribute, ExpandedName, NillableWithAttributes};
///
/// let attributes = vec![AnyAttribute { name: ExpandedName::new("", "status"), value: "late".into() }];
/// let nil: NillableWithAttributes<i32> = NillableWithAttributes::Nil(attributes);
/// assert_eq!(nil.value(), None);
/// assert_eq!(NillableWithAttributes::from(12).value(), Some(12));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum NillableWithAttributes<T> {
    /// The element is present and has attributes but no value.
    Nil(Vec<AnyAttribute>),
    /// The element has a value.
    Value(T),
}

impl<T> NillableWithAttributes<T> {
    /// Returns the value, or `None` for nil.
    pub fn value(self) -> Option<T> {
        match self {
            NillableWithAttributes::Nil(_) => None,
            NillableWithAttributes::Value(value) => Some(value),
        }
    }

    /// Returns a reference to the value, or `None` for nil.
    pub fn as_ref(&self) -> Option<&T> {
        match self {
            NillableWithAttributes::Nil(_) => None,
            NillableWithAttributes::Value(value) => Some(value),
        }
    }
}

/// The default is nil, without attributes.
impl<T> Default for NillableWithAttributes<T> {
    fn default() -> Self {
        NillableWithAttributes::Nil(Vec::new())
    }
}

impl<T> From<T> for NillableWithAttributes<T> {
    fn from(value: T) -> Self {
        NillableWithAttributes::Value(value)
    }
}

impl<T: FromXml> FromXml for NillableWithAttributes<T> {
    const NILLABLE: bool = true;
    const ATTRIBUTES: &'static Attributes = T::ATTRIBUTES;
    const TYPE: Option<TypeName> = T::TYPE;
    const MAY_BE_RESTRICTED: bool = T::MAY_BE_RESTRICTED;
    const CONTENT: &'static Content = T::CONTENT;

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn cached(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        T::cached(decoder, element).map(|value| value.map(NillableWithAttributes::Value))
    }

    #[inline]
    fn cached_restricted(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        T::cached_restricted(decoder, element).map(|value| value.map(NillableWithAttributes::Value))
    }

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        if decoder.is_nil() {
            // All attributes are taken, including the declared ones: `Attributes::ANY` declares none.
            let attributes = decoder.any_attributes(&Attributes::ANY);
            decoder.nil_content(element)?;
            return Ok(NillableWithAttributes::Nil(attributes));
        }
        T::content(decoder, element).map(NillableWithAttributes::Value)
    }
}

impl<T: ToXml> ToXml for NillableWithAttributes<T> {
    const HAS_ATTRIBUTES: bool = true;
    const HAS_CONTENT: bool = T::HAS_CONTENT;
    const NAMESPACE: Option<&'static str> = T::NAMESPACE;

    fn attributes(&self, out: &mut Encoder) {
        match self {
            NillableWithAttributes::Nil(attributes) => out.any_attributes(attributes),
            NillableWithAttributes::Value(value) => value.attributes(out),
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn element(&self, out: &mut Encoder, start: &str, end: &str) {
        match self {
            NillableWithAttributes::Nil(attributes) => out.nil_with(start, attributes),
            NillableWithAttributes::Value(value) => value.element(out, start, end),
        }
    }

    fn content(&self, out: &mut Encoder) {
        if let NillableWithAttributes::Value(value) = self {
            value.content(out);
        }
    }
}
