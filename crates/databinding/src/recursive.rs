use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use crate::Error;
use crate::from_xml::{BLOCK, Decoder, FromXml, Group};
use crate::schema::{Attributes, Content, Element, First, TypeName};
use crate::to_xml::{Encoder, ToXml};

/// A value inside a value of its own type.
///
/// It behaves like a [`Box`], but depth costs heap and never overflows the stack: reading, writing, cloning, comparing,
/// hashing, printing and dropping continue on a new piece of stack when the current one runs out. How deep a document
/// may nest is a matter of [`Limits`](castile_xml::Limits).
pub struct Recursive<T>(Option<Box<T>>);

/// What a level may need before the next one looks at the stack again, and beside that for each byte of the value:
/// code that is not optimised moves values often.
const RED_ZONE: usize = 128 << 10;
const RED_ZONE_PER_BYTE: usize = 64;
/// The size of a new piece of stack, beside as much as the red zone.
const SEGMENT: usize = 1 << 20;

#[inline]
pub(crate) fn deeper<T, R>(f: impl FnOnce() -> R) -> R {
    let red_zone = RED_ZONE + RED_ZONE_PER_BYTE * size_of::<T>();
    stacker::maybe_grow(red_zone, SEGMENT + red_zone, f)
}

impl<T> Recursive<T> {
    /// Boxes a value.
    pub fn new(value: T) -> Self {
        Recursive(Some(Box::new(value)))
    }

    /// The value itself.
    pub fn into_inner(mut self) -> T {
        match self.0.take() {
            Some(value) => *value,
            None => unreachable!("only into_inner and drop take the value, and both end this pointer"),
        }
    }
}

impl<T> Deref for Recursive<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.0 {
            Some(value) => value,
            None => unreachable!("only into_inner and drop take the value, and both end this pointer"),
        }
    }
}

impl<T> DerefMut for Recursive<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        match &mut self.0 {
            Some(value) => value,
            None => unreachable!("only into_inner and drop take the value, and both end this pointer"),
        }
    }
}

impl<T> Drop for Recursive<T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(value) = self.0.take() {
            deeper::<T, _>(|| drop(value));
        }
    }
}

impl<T> From<T> for Recursive<T> {
    fn from(value: T) -> Self {
        Recursive::new(value)
    }
}

impl<T: Clone> Clone for Recursive<T> {
    fn clone(&self) -> Self {
        deeper::<T, _>(|| Recursive::new(T::clone(self)))
    }
}

impl<T: PartialEq> PartialEq for Recursive<T> {
    fn eq(&self, other: &Self) -> bool {
        deeper::<T, _>(|| **self == **other)
    }
}

impl<T: Eq> Eq for Recursive<T> {}

impl<T: Hash> Hash for Recursive<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        deeper::<T, _>(|| (**self).hash(state));
    }
}

impl<T: fmt::Debug> fmt::Debug for Recursive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        deeper::<T, _>(|| (**self).fmt(f))
    }
}

impl<T: Default> Default for Recursive<T> {
    fn default() -> Self {
        Recursive::new(T::default())
    }
}

impl<T: FromXml> FromXml for Recursive<T> {
    const NILLABLE: bool = T::NILLABLE;
    const ATTRIBUTES: &'static Attributes = T::ATTRIBUTES;
    const TYPE: Option<TypeName> = T::TYPE;
    const TYPE_IS_FIXED: bool = T::TYPE_IS_FIXED;
    const CONTENT: &'static Content = T::CONTENT;

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.charge(size_of::<T>() + BLOCK)?;
        deeper::<T, _>(|| T::content(decoder, element).map(Recursive::new))
    }
}

impl<T: ToXml> ToXml for Recursive<T> {
    const HAS_ATTRIBUTES: bool = T::HAS_ATTRIBUTES;
    const HAS_CONTENT: bool = T::HAS_CONTENT;

    fn attributes(&self, out: &mut Encoder) {
        (**self).attributes(out);
    }

    fn element(&self, out: &mut Encoder, start: &str, end: &str) {
        deeper::<T, _>(|| (**self).element(out, start, end));
    }

    fn content(&self, out: &mut Encoder) {
        deeper::<T, _>(|| (**self).content(out));
    }
}

/// Reads a group that will stand behind a pointer.
fn in_box<G: Group>(decoder: &mut Decoder<'_>) -> Result<Option<G>, Error> {
    let group = G::read(decoder)?;
    if group.is_some() {
        decoder.charge(size_of::<G>() + BLOCK)?;
    }
    Ok(group)
}

/// What is one of several, and large, stands behind a pointer.
impl<G: Group> Group for Box<G> {
    const FIRST: &'static [First] = G::FIRST;
    const ALL: &'static [First] = G::ALL;

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        deeper::<G, _>(|| in_box(decoder).map(|group| group.map(Box::new)))
    }

    fn write(&self, out: &mut Encoder) {
        deeper::<G, _>(|| (**self).write(out));
    }
}

impl<G: Group> Group for Recursive<G> {
    const FIRST: &'static [First] = G::FIRST;
    const ALL: &'static [First] = G::ALL;

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        deeper::<G, _>(|| in_box(decoder).map(|group| group.map(Recursive::new)))
    }

    fn write(&self, out: &mut Encoder) {
        deeper::<G, _>(|| (**self).write(out));
    }
}
