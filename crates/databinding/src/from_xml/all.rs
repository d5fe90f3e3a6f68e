//! `xs:all` (XSD Part 1 §3.8.2): elements in any order.

use super::{Decoder, Error, Expected, FromXml, Next};
use crate::schema::Element;

impl Decoder<'_> {
    /// Reads the element `table[index]` of an `xs:all` if its start tag comes next and is known. `None` says nothing:
    /// [`one_of`](Self::one_of) tells what comes.
    ///
    /// Most documents have the parts of an `xs:all` in the order of the schema, so this is tried first.
    ///
    /// # Errors
    /// What is wrong with the element.
    #[inline]
    pub fn in_order<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<Option<T>, Error> {
        if self.next.is_some() {
            return Ok(None);
        }
        T::known(self, &table[index]).transpose()
    }

    /// Which of the elements in `table` comes next; `None` if the parent ends.
    ///
    /// # Errors
    /// What comes if it is none of them.
    pub fn one_of(&mut self, table: &'static [Element]) -> Result<Option<usize>, Error> {
        if let Some(index) = self.next_of(table)? {
            return Ok(Some(index));
        }
        match self.next {
            Some(Next::Start(tag)) => Err(self.unexpected(tag, &Expected::elements(table))),
            _ => Ok(None),
        }
    }

    /// Reads `table[index]` into `value` as a part of `xs:all`, where it may come once.
    ///
    /// # Errors
    /// What is wrong with it, or that it came before.
    #[inline]
    pub fn once<T: FromXml>(
        &mut self,
        value: &mut Option<T>,
        table: &'static [Element],
        index: usize,
    ) -> Result<(), Error> {
        if value.is_some() {
            let message = format!("a second <{}>, where one was expected", table[index].name);
            return Err(self.wrong_here(message));
        }
        *value = Some(self.element(&table[index])?);
        Ok(())
    }

    /// The value of a part of `xs:all` that must have come.
    ///
    /// # Errors
    /// That it did not.
    #[inline]
    pub fn present<T>(&mut self, value: Option<T>, table: &'static [Element], index: usize) -> Result<T, Error> {
        value.ok_or_else(|| self.wrong_here(format!("the element ends without <{}>", table[index].name)))
    }
}
