use castile_budget::BLOCK;

use crate::Error;
use crate::from_xml::{Decoder, FromXml};
use crate::schema::{Attributes, Content, Element, TypeName};
use crate::stack::deeper;

/// Reads a large value into a [`Box`], in a function of its own and on a larger stack if needed. So the function that reads
/// the enclosing value reserves no stack for it. Generated code takes the box out immediately.
#[derive(Debug)]
pub struct Boxed<T>(Box<T>);

impl<T> Boxed<T> {
    /// Returns the box.
    #[inline]
    pub fn value(self) -> Box<T> {
        self.0
    }

    /// Returns the box, if there is a value.
    #[inline]
    pub fn optional(value: Option<Self>) -> Option<Box<T>> {
        value.map(Boxed::value)
    }
}

impl<T: FromXml> FromXml for Boxed<T> {
    const NILLABLE: bool = T::NILLABLE;
    const ATTRIBUTES: &'static Attributes = T::ATTRIBUTES;
    const TYPE: Option<TypeName> = T::TYPE;
    const TYPE_IS_FIXED: bool = T::TYPE_IS_FIXED;
    const CONTENT: &'static Content = T::CONTENT;

    #[inline(never)]
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.charge(size_of::<T>() + BLOCK)?;
        deeper::<T, _>(|| match T::content(decoder, element) {
            Ok(value) => Ok(Boxed(Box::new(value))),
            Err(error) => Err(error),
        })
    }
}
