use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

use castile_budget::BLOCK;

use crate::Error;
use crate::from_xml::{Decoder, FromXml};
use crate::group::Group;
use crate::schema::{Attributes, Content, Element, First, TypeName};
use crate::stack::deeper;
use crate::to_xml::{Encoder, ToXml};

/// A value inside a value of its own type.
///
/// It behaves like a [`Box`], but depth costs heap and never overflows the stack. Reading, writing, cloning, comparing,
/// hashing, printing and dropping continue on a new stack segment when the current one runs out.
/// [`Limits`](castile_xml::Limits) bounds how deep a document may nest.
///
/// The pointer is always [`Send`] and [`Sync`], and so must be a value that is put into it. The compiler therefore never
/// looks through the pointer to prove these bounds, and no contract is too deep for its `recursion_limit`.
pub struct Recursive<T>(Box<dyn Pointee<T>>);

/// A pointee whose type is hidden from the compiler.
trait Pointee<T>: Send + Sync {
    fn get(&self) -> &T;
    fn get_mut(&mut self) -> &mut T;
    fn into_inner(self: Box<Self>) -> T;
    fn another(&self, value: T) -> Recursive<T>;
}

/// `None` after `into_inner` took the value, or while it is dropped.
struct Stored<T>(Option<T>);

impl<T: Send + Sync + 'static> Pointee<T> for Stored<T> {
    fn get(&self) -> &T {
        match &self.0 {
            Some(value) => value,
            None => unreachable!("the value goes when the pointer does"),
        }
    }

    fn get_mut(&mut self) -> &mut T {
        match &mut self.0 {
            Some(value) => value,
            None => unreachable!("the value goes when the pointer does"),
        }
    }

    fn into_inner(mut self: Box<Self>) -> T {
        match self.0.take() {
            Some(value) => value,
            None => unreachable!("the value goes when the pointer does"),
        }
    }

    fn another(&self, value: T) -> Recursive<T> {
        Recursive::new(value)
    }
}

impl<T> Drop for Stored<T> {
    fn drop(&mut self) {
        if self.0.is_some() {
            deeper::<T, _>(|| self.0 = None);
        }
    }
}

impl<T> Recursive<T> {
    /// Boxes a value.
    pub fn new(value: T) -> Self
    where
        T: Send + Sync + 'static,
    {
        Recursive(Box::new(Stored(Some(value))))
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl<T> Deref for Recursive<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.0.get()
    }
}

impl<T> DerefMut for Recursive<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_mut()
    }
}

impl<T: Send + Sync + 'static> From<T> for Recursive<T> {
    fn from(value: T) -> Self {
        Recursive::new(value)
    }
}

/// `T` needs no bounds here: the value was [`Send`] and [`Sync`] when it was put into the pointer. With the bounds, the
/// compiler would prove them by a walk through the whole type, for each field of each type.
impl<T: Clone> Clone for Recursive<T> {
    fn clone(&self) -> Self {
        deeper::<T, _>(|| self.0.another(T::clone(self)))
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

impl<T: Default + Send + Sync + 'static> Default for Recursive<T> {
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
    const NAMESPACE: Option<&'static str> = T::NAMESPACE;

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

/// Reads a group that the caller will put into a box.
fn in_box<G: Group>(decoder: &mut Decoder<'_>) -> Result<Option<G>, Error> {
    let group = G::read(decoder)?;
    if group.is_some() {
        decoder.charge(size_of::<G>() + BLOCK)?;
    }
    Ok(group)
}

/// A large variant of a choice is boxed.
impl<G: Group> Group for Box<G> {
    const FIRST: &'static [First] = G::FIRST;
    const ALL: &'static [First] = G::ALL;
    const NAMESPACE: Option<&'static str> = G::NAMESPACE;

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        deeper::<G, _>(|| in_box(decoder).map(|group| group.map(Box::new)))
    }

    fn write(&self, out: &mut Encoder) {
        deeper::<G, _>(|| (**self).write(out));
    }
}

impl<G: Group + Send + Sync + 'static> Group for Recursive<G> {
    const FIRST: &'static [First] = G::FIRST;
    const ALL: &'static [First] = G::ALL;
    const NAMESPACE: Option<&'static str> = G::NAMESPACE;

    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, Error> {
        deeper::<G, _>(|| in_box(decoder).map(|group| group.map(Recursive::new)))
    }

    fn write(&self, out: &mut Encoder) {
        deeper::<G, _>(|| (**self).write(out));
    }
}
