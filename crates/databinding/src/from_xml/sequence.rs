//! Sequences (XSD Part 1 §3.8): elements that come in the order of the calls, as often as their occurrence says.

use super::{Decoder, Error, FromXml, Next};
use crate::schema::Element;

/// How many particles are looked at to learn from what comes next that an optional one doesn't.
const LOOK_AHEAD: usize = 4;
/// What a vector may reserve on the word of its first item, in bytes.
const FIRST_RESERVE: usize = 16 << 10;

impl Decoder<'_> {
    /// Reads children up to the end tag of `element`, which is read too.
    ///
    /// # Errors
    /// What `children` says, or what stands before the end tag.
    #[inline(always)]
    pub fn complex<T>(
        &mut self,
        element: &'static Element,
        children: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let outer = self.parent.replace(element);
        let value = children(self)?;
        self.parent = outer;
        if self.next.is_some() || !self.reader.known_end(element.known()) {
            self.end(element)?;
        }
        Ok(value)
    }

    /// Reads the element `table[index]`, which must come next.
    ///
    /// # Errors
    /// What comes instead.
    #[inline(always)]
    pub fn required<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<T, Error> {
        self.element(&table[index])
    }

    /// Reads the element `table[index]` if it comes next. What follows it in the content model follows in `table`.
    ///
    /// # Errors
    /// What is wrong with the element.
    #[inline(always)]
    pub fn optional<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<Option<T>, Error> {
        if self.next.is_none()
            && let Some(value) = T::known(self, &table[index])
        {
            return value.map(Some);
        }
        if self.comes(table, index, T::NILLABLE)? { self.unknown(&table[index]).map(Some) } else { Ok(None) }
    }

    /// Reads the elements `table[index]` as often as they come.
    ///
    /// # Errors
    /// What is wrong with one, or that there are fewer or more than its occurrence allows.
    #[inline]
    pub fn repeated<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<Vec<T>, Error> {
        self.up_to(usize::MAX, table, index)
    }

    /// The same where another element of that name may follow: reads no more than its occurrence allows.
    ///
    /// # Errors
    /// What is wrong with one, or that there are fewer than its occurrence asks for.
    pub fn counted<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<Vec<T>, Error> {
        let max = table[index].max_occurs.map_or(usize::MAX, |max| max as usize);
        self.up_to(max, table, index)
    }

    #[inline(always)]
    pub(super) fn up_to<T: FromXml>(
        &mut self,
        max: usize,
        table: &'static [Element],
        index: usize,
    ) -> Result<Vec<T>, Error> {
        let element = &table[index];
        let mut values = Vec::new();
        let start = self.reader.offset();
        while values.len() < max
            && let Some(value) = self.optional(table, index)?
        {
            values.push(value);
            if values.len() == 1 {
                let length = self.reader.offset().saturating_sub(start).max(1);
                let rest = (self.reader.input().len() - self.reader.offset()) / length;
                let more = rest.min(FIRST_RESERVE.min(self.reserve) / size_of::<T>().max(1));
                self.reserve -= more * size_of::<T>();
                values.reserve(more);
            }
        }
        self.check_occurrence(element, values.len())?;
        Ok(values)
    }

    // ---- one element ----

    #[inline(always)]
    pub(super) fn element<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        if self.next.is_none()
            && let Some(value) = T::known(self, element)
        {
            return value;
        }
        self.unknown(element)
    }

    /// Reads an element whose tags are not known, or not as they were.
    #[inline(never)]
    pub(super) fn unknown<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        if self.next.is_none()
            && let Some(value) = T::known_restricted(self, element)
        {
            return Ok(value);
        }
        self.start(element, T::ATTRIBUTES)?;
        self.opened(element)
    }

    /// Reads the content of an element whose start tag was read and has the attributes that it may have.
    #[inline(always)]
    pub(super) fn opened<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        if !self.reader.is_plain() {
            self.refuse_nil::<T>(element)?;
            self.refuse_other_type(element, T::TYPE)?;
        }
        if self.lenient.is_some() {
            self.plan(element, T::CONTENT);
        }
        T::content(self, element)
    }

    // ---- what comes ----

    /// Whether `table[index]` comes next, which is not known by its start tag.
    pub(super) fn comes(&mut self, table: &'static [Element], index: usize, is_nillable: bool) -> Result<bool, Error> {
        let element = &table[index];
        if self.next.is_none() && !element.is_bare() && self.reader.is_at_known_start(element.known()) {
            return Ok(true);
        }
        if self.next.is_none() && self.is_at_what_follows(&table[index], &table[index + 1..]) {
            return Ok(false);
        }
        match self.peek()? {
            Next::Start(tag) if !self.is(&tag, element) => Ok(false),
            Next::Start(_) if self.lenient.is_some() && !is_nillable => Ok(!self.is_absent_by_nil(element)?),
            Next::Start(_) => Ok(true),
            Next::End { .. } => Ok(false),
        }
    }

    /// Whether the tag that comes next is known as one that stands behind `optional`, and not as that.
    pub(super) fn is_at_what_follows(&self, optional: &'static Element, following: &'static [Element]) -> bool {
        for element in following.iter().take(LOOK_AHEAD) {
            if self.reader.is_at_known_start(element.known()) {
                return !optional.is(element.namespace, element.name);
            }
            if element.min_occurs > 0 {
                return false;
            }
        }
        following.len() <= LOOK_AHEAD && self.is_at_known_end()
    }

    /// Whether the end tag that comes next is known as that of the element whose content is being read.
    pub(super) fn is_at_known_end(&self) -> bool {
        self.parent.is_some_and(|parent| self.reader.is_at_known_end(parent.known()))
    }

    // ---- occurrence ----

    #[inline]
    pub(super) fn check_occurrence(&mut self, element: &'static Element, count: usize) -> Result<(), Error> {
        let too_few = (count as u64) < u64::from(element.min_occurs);
        let too_many = element.max_occurs.is_some_and(|max| count as u64 > u64::from(max));
        if too_few || too_many {
            let error = self.wrong_count(element, count);
            return self.tolerate(error);
        }
        Ok(())
    }

    #[cold]
    pub(super) fn wrong_count(&mut self, element: &'static Element, count: usize) -> Error {
        let Element { name, min_occurs: min, max_occurs, .. } = element;
        match max_occurs {
            Some(max) if count as u64 > u64::from(*max) => {
                self.wrong_here(format!("{count} of <{name}>, where at most {max} were expected"))
            }
            _ => match self.peek() {
                Ok(Next::Start(tag)) if count == 0 => self.unexpected(tag, &format!("<{name}>")),
                _ => self.wrong_here(format!("{count} of <{name}>, where at least {min} were expected")),
            },
        }
    }
}
