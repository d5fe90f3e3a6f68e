//! Complex types whose values are made of children.

use crate::Error;
use crate::from_xml::{Decoder, FromXml};
use crate::recursive::{guarded, is_short};
use crate::schema::{Attributes, Content, Element, Model, TypeName};
use crate::to_xml::{Encoder, ToXml};

/// A complex type whose values are made of children (XSD Part 1 §3.4): elements, groups of them, or mixed content.
///
/// Whatever is one can be read from and written as an element.
pub trait ComplexType: Sized + Send + Sync + 'static {
    /// What it says of elements.
    const MODEL: Model = Model::UNNAMED;
    /// Whether there are attributes to be written.
    const WRITES_ATTRIBUTES: bool = false;
    /// Whether there may be children. An element that can have none is an empty-element tag.
    const WRITES_CHILDREN: bool = true;
    /// The default namespace that tags within need, for types of a program.
    #[doc(hidden)]
    const NAMESPACE: Option<&'static str> = None;
    /// Whether values may hold each other without a [`Recursive`](crate::Recursive), which types of a program may. Then there is a
    /// look at the stack for each.
    #[doc(hidden)]
    const IS_GUARDED: bool = false;

    /// Reads all children. The attributes are at hand until the first one is read.
    ///
    /// # Errors
    /// What the document has instead, with its place.
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
        // As in a sequence: `?` would move the value once more, and be more functions for each type.
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

// With two call sites, `write` is not inlined. Out of line it has one, so that what it calls is.
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
