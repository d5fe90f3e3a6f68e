//! Complex types with children.

use crate::Error;
use crate::from_xml::{Decoder, FromXml};
use crate::schema::{Attributes, Content, Element, Model, TypeName};
use crate::stack::{guarded, is_short};
use crate::to_xml::{Encoder, ToXml};

/// A complex type with children (XSD Part 1 §3.4): elements, groups of elements, or mixed content.
///
/// Every such type implements [`FromXml`] and [`ToXml`].
pub trait ComplexType: Sized + Send + Sync + 'static {
    /// The name, the attributes and the content of the type.
    const MODEL: Model = Model::UNNAMED;
    /// Whether the type has attributes to write.
    const WRITES_ATTRIBUTES: bool = false;
    /// Whether the type may have children. If not, its elements are written as empty-element tags.
    const WRITES_CHILDREN: bool = true;
    /// The default namespace that the tags of the content need. Set for types of a program.
    #[doc(hidden)]
    const NAMESPACE: Option<&'static str> = None;
    /// Whether values can contain each other without a [`Recursive`](crate::Recursive), as types of a program can. Then the
    /// stack is checked for each value.
    #[doc(hidden)]
    const IS_GUARDED: bool = false;

    /// Reads all children. The attributes are available until the first child is read.
    ///
    /// # Errors
    /// The children don't match the schema or are not well-formed. The error has the offset.
    fn read(decoder: &mut Decoder<'_>) -> Result<Self, Error>;

    /// Writes the attributes.
    fn write_attributes(&self, out: &mut Encoder) {
        let _ = out;
    }

    /// Writes the children.
    fn write(&self, out: &mut Encoder);
}

impl<T: ComplexType> FromXml for T {
    const ATTRIBUTES: &'static Attributes = T::MODEL.attributes;
    const TYPE: Option<TypeName> = T::MODEL.name;
    const CONTENT: &'static Content = &T::MODEL.content;

    // With a single call site, `read` is inlined here.
    #[inline(never)]
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let outer = decoder.enter(element);
        // `match` instead of `?`, as in `sequence`: `?` would move the value once more, and add functions for each type.
        let read = if T::IS_GUARDED { read_guarded(decoder) } else { T::read(decoder) };
        match read {
            Ok(value) => match decoder.leave(element, outer) {
                Ok(()) => Ok(value),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        }
    }
}

impl<T: ComplexType> ToXml for T {
    const HAS_ATTRIBUTES: bool = T::WRITES_ATTRIBUTES;
    const HAS_CONTENT: bool = T::WRITES_CHILDREN;
    const NAMESPACE: Option<&'static str> = <T as ComplexType>::NAMESPACE;

    #[inline]
    fn attributes(&self, out: &mut Encoder) {
        self.write_attributes(out);
    }

    #[inline]
    fn content(&self, out: &mut Encoder) {
        if !T::IS_GUARDED {
            self.write(out);
        } else if is_short(size_of::<T>()) {
            guarded(size_of::<T>(), &mut || write(self, out));
        } else {
            write(self, out);
        }
    }
}

// A function with one call site is inlined, so the callees of `write` end up here.
#[inline(never)]
fn write<T: ComplexType>(value: &T, out: &mut Encoder) {
    value.write(out);
}

#[inline]
fn read_guarded<T: ComplexType>(decoder: &mut Decoder<'_>) -> Result<T, Error> {
    let mut read = None;
    guarded(size_of::<T>(), &mut || read = Some(T::read(decoder)));
    match read {
        Some(read) => read,
        None => unreachable!("what is guarded is called once"),
    }
}
