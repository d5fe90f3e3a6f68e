//! `xs:all` (XSD Part 1 §3.8.2): elements in any order.

use super::{Decoder, Error, Expected, FromXml, Next};
use crate::schema::Element;

impl Decoder<'_> {
    /// Reads the element `table[index]` of an `xs:all` if its cached start tag is next. If the result is `None`, call
    /// [`one_of`](Self::one_of) to find out which element is next.
    ///
    /// Most documents have the elements of an `xs:all` in the order of the schema, so this is tried first.
    ///
    /// # Errors
    /// The element is invalid.
    #[inline]
    pub fn in_order<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<Option<T>, Error> {
        if self.next.is_some() {
            return Ok(None);
        }
        T::cached(self, &table[index]).transpose()
    }

    /// Returns which of the elements in `table` is next; `None` if the parent ends.
    ///
    /// # Errors
    /// Another element is next.
    pub fn one_of(&mut self, table: &'static [Element]) -> Result<Option<usize>, Error> {
        if let Some(index) = self.next_of(table)? {
            return Ok(Some(index));
        }
        match self.next {
            Some(Next::Start(tag)) => Err(self.unexpected(tag, &Expected::elements(table))),
            _ => Ok(None),
        }
    }

    /// Reads `table[index]` into `value`. In an `xs:all` it may occur once.
    ///
    /// # Errors
    /// The element is invalid, or occurred before.
    #[inline]
    pub fn once<T: FromXml>(
        &mut self,
        value: &mut Option<T>,
        table: &'static [Element],
        index: usize,
    ) -> Result<(), Error> {
        if value.is_some() {
            return Err(self.second(&table[index]));
        }
        *value = Some(self.element(&table[index])?);
        Ok(())
    }

    /// Returns the value of a required element of an `xs:all`.
    ///
    /// # Errors
    /// The element did not occur.
    #[inline]
    pub fn present<T>(&mut self, value: Option<T>, table: &'static [Element], index: usize) -> Result<T, Error> {
        value.ok_or_else(|| self.wrong_here(format!("the element ends without <{}>", table[index].name)))
    }

    /// Returns the error for an element that occurred before, where it may occur once.
    #[cold]
    pub(crate) fn second(&mut self, element: &Element) -> Error {
        self.wrong_here(format!("a second <{}>, where one was expected", element.name))
    }
}
