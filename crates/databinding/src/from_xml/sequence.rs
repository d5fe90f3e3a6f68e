//! Sequences (XSD Part 1 §3.8): elements in the order of the calls, as often as their occurrence allows.
//!
//! Code that depends on the type of a value is compiled for each type of a contract, of which there may be thousands. So it
//! is kept small: what doesn't need the type is in separate functions, and results are matched where `?` or `map` would add a
//! function for each type. In debug builds nothing is inlined, because it would be compiled for each field.

use castile_xml::Predicted;

use super::{Decoder, Error, Expected, FromXml, Next};
use crate::schema::{Attributes, Content, Element, TypeName};

/// How many of the following particles are compared to detect that an optional element is absent.
const LOOK_AHEAD: usize = 4;
/// The number of items for which a vector has capacity without a reservation, unless the items are large. Most vectors have
/// no more.
const FIRST_ITEMS: usize = 4;
/// How many bytes a vector may reserve on the evidence of its first items.
const FIRST_RESERVE: usize = 16 << 10;

impl Decoder<'_> {
    /// Reads the children and the end tag of `element`.
    ///
    /// # Errors
    /// An error of `children`, or something other than the end tag follows them.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn complex<T>(
        &mut self,
        element: &'static Element,
        children: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let outer = self.enter(element);
        let value = children(self)?;
        self.leave(element, outer)?;
        Ok(value)
    }

    /// Begins to read the children of `element`. Pass the result to [`leave`](Self::leave).
    ///
    /// Generated code calls these two functions instead of [`complex`](Self::complex). They are the same for all types, so
    /// they are compiled once.
    #[inline]
    pub fn enter(&mut self, element: &'static Element) -> Option<&'static Element> {
        self.parent.replace(element)
    }

    /// Reads the end tag of `element`, whose children were read.
    ///
    /// # Errors
    /// Something other than the end tag follows.
    #[inline]
    pub fn leave(&mut self, element: &'static Element, outer: Option<&'static Element>) -> Result<(), Error> {
        self.parent = outer;
        if self.next.is_none() && self.reader.cached_end(element.slot_id()) {
            return Ok(());
        }
        self.end(element)
    }

    /// Reads the element `table[index]`, which must be next.
    ///
    /// # Errors
    /// Another element is next, or the element is invalid.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn required<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<T, Error> {
        self.element(&table[index])
    }

    /// Reads the element `table[index]` if it is next. The following entries of `table` must be those that follow it in the
    /// content model.
    ///
    /// # Errors
    /// The element is invalid.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn optional<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<Option<T>, Error> {
        if self.reader.predicts_other(table[index].name_hash()) {
            return Ok(None);
        }
        let known = if self.next.is_none() { T::cached(self, &table[index]) } else { None };
        let value = match known {
            Some(value) => value,
            None => match self.is_next(table, index, T::NILLABLE) {
                Ok(true) => self.unknown(&table[index]),
                Ok(false) => return Ok(None),
                Err(error) => Err(error),
            },
        };
        match value {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(error),
        }
    }

    /// Reads the elements `table[index]` as often as they occur.
    ///
    /// # Errors
    /// An element is invalid, or there are fewer or more than its occurrence allows.
    #[inline]
    pub fn repeated<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<Vec<T>, Error> {
        self.up_to(usize::MAX, table, index)
    }

    /// Reads at most `max_occurs` elements `table[index]`. Further ones belong to the next particle, which may have the same
    /// name. [`repeated`](Self::repeated) reads all elements of the name, and reports those that are too many.
    ///
    /// # Errors
    /// An element is invalid, or there are fewer than its occurrence requires.
    pub fn counted<T: FromXml>(&mut self, table: &'static [Element], index: usize) -> Result<Vec<T>, Error> {
        let max = table[index].max_occurs.map_or(usize::MAX, |max| max as usize);
        self.up_to(max, table, index)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn up_to<T: FromXml>(
        &mut self,
        max: usize,
        table: &'static [Element],
        index: usize,
    ) -> Result<Vec<T>, Error> {
        let mut values = Vec::new();
        let start = self.reader.offset();
        let mut charged = 0;
        while values.len() < max {
            match self.optional(table, index) {
                Ok(Some(value)) => values.push(value),
                Ok(None) => break,
                Err(error) => return Err(error),
            }
            if values.len() <= FIRST_ITEMS
                && (is_first_full(&values) || self.is_first_of_many(&table[index], values.len()))
            {
                values.reserve(self.capacity_for(start, values.len(), size_of::<T>()));
            }
            if values.capacity() != charged {
                self.charge_capacity(&mut charged, values.capacity(), size_of::<T>())?;
            }
        }
        match self.check_occurrence(&table[index], values.len()) {
            Ok(()) => Ok(values),
            Err(error) => Err(error),
        }
    }

    /// Whether only the first item was read, and the cached start tag of a second one is next.
    fn is_first_of_many(&self, element: &'static Element, count: usize) -> bool {
        count == 1 && self.reader.is_at_cached_start(element.slot_id())
    }

    /// Returns the number of further values for which to reserve capacity. `count` values of `size` bytes were read from
    /// `start` on; further ones are assumed to have the same length in the document.
    pub(crate) fn capacity_for(&mut self, start: usize, count: usize, size: usize) -> usize {
        let length = (self.reader.offset().saturating_sub(start) / count.max(1)).max(1);
        let rest = (self.reader.length() - self.reader.offset()) / length;
        let more = rest.min(FIRST_RESERVE.min(self.reserve) / size.max(1));
        self.reserve -= more * size;
        more
    }

    // ---- one element ----

    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn element<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        if self.next.is_none()
            && let Some(value) = T::cached(self, element)
        {
            return value;
        }
        self.unknown(element)
    }

    /// Reads an element whose start tag is not cached, or differs from the cached one.
    #[inline(never)]
    pub(super) fn unknown<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        if T::MAY_BE_RESTRICTED
            && self.next.is_none()
            && let Some(value) = T::cached_restricted(self, element)
        {
            return value;
        }
        match self.open(element, T::ATTRIBUTES, T::TYPE, T::NILLABLE, T::CONTENT) {
            Ok(()) => T::content(self, element),
            Err(error) => Err(error),
        }
    }

    /// Reads the start tag of `element` and checks it against the attributes and the type of its value.
    fn open(
        &mut self,
        element: &'static Element,
        attributes: &'static Attributes,
        type_name: Option<TypeName>,
        is_nillable: bool,
        content: &'static Content,
    ) -> Result<(), Error> {
        self.start(element, attributes)?;
        self.admit(element, type_name, is_nillable, content)
    }

    /// Checks `xsi:nil` and `xsi:type` of the start tag that was read last, and prepares a lenient decoder for its content.
    pub(super) fn admit(
        &mut self,
        element: &'static Element,
        type_name: Option<TypeName>,
        is_nillable: bool,
        content: &'static Content,
    ) -> Result<(), Error> {
        let (type_name, is_nillable, content) = match element.run_time_type() {
            None => (type_name, is_nillable, content),
            Some(of) => (of.type_name(), of.is_nillable(), of.content()),
        };
        if !self.reader.is_plain() {
            self.refuse_nil(element, is_nillable)?;
            self.refuse_other_type(element, type_name)?;
        }
        if self.lenient.is_some() {
            self.plan(element, content);
        }
        Ok(())
    }

    // ---- the next element ----

    /// Whether `table[index]` is next. Its start tag is not the cached plain one.
    pub(super) fn is_next(
        &mut self,
        table: &'static [Element],
        index: usize,
        is_nillable: bool,
    ) -> Result<bool, Error> {
        let element = &table[index];
        match &self.next {
            Some(Next::Start(tag)) if self.lenient.is_none() => return Ok(self.is(tag, element)),
            Some(Next::End { .. }) => return Ok(false),
            Some(Next::Start(_)) => {}
            None => match self.predict() {
                Some(Predicted::End) => return Ok(false),
                Some(Predicted::Start(identity, _)) if identity == element.identity() => return Ok(true),
                Some(Predicted::Start(..)) if self.reader.predicts_other(element.name_hash()) => return Ok(false),
                // Two slots may have tags with the same name.
                Some(Predicted::Start(..)) => {
                    if self.is_at_cached_start(element) {
                        return Ok(true);
                    }
                }
                Some(Predicted::Tag(tag, identity)) => {
                    return Ok(identity == element.identity() || self.is(&tag, element));
                }
                None => {
                    if self.is_at_cached_start(element) {
                        return Ok(true);
                    }
                    if self.is_at_cached_end() || self.is_at_what_follows(element, &table[index + 1..]) {
                        return Ok(false);
                    }
                }
            },
        }
        match self.peek()? {
            Next::Start(tag) if !self.is(&tag, element) => Ok(false),
            Next::Start(_) if self.lenient.is_some() && !may_be_nil(element, is_nillable) => {
                Ok(!self.is_absent_by_nil(element)?)
            }
            Next::Start(_) => Ok(true),
            Next::End { .. } => Ok(false),
        }
    }

    /// Whether the next tag is the cached start tag of an element after `optional`, and not one of `optional`.
    pub(super) fn is_at_what_follows(&mut self, optional: &'static Element, following: &'static [Element]) -> bool {
        for element in following.iter().take(LOOK_AHEAD) {
            if self.is_at_cached_start(element) {
                return !optional.is(element.namespace, element.name);
            }
            if element.min_occurs > 0 {
                return false;
            }
        }
        false
    }

    /// Whether the cached end tag of the element that is being read is next.
    pub(crate) fn is_at_cached_end(&mut self) -> bool {
        let Some(parent) = self.parent else { return false };
        let is_end = self.reader.is_at_cached_end(parent.slot_id());
        if is_end {
            self.reader.cache_successor(parent.slot_id(), true);
        }
        is_end
    }

    // ---- occurrence ----

    #[inline]
    pub(super) fn check_occurrence(&mut self, element: &'static Element, count: usize) -> Result<(), Error> {
        let too_few = (count as u64) < u64::from(element.min_occurs);
        let too_many = element.max_occurs.is_some_and(|max| count as u64 > u64::from(max));
        if too_few || too_many {
            if self
                .cut_out
                .is_some_and(|cut| too_few && cut.slot == element.slot && cut.is(element.namespace, element.name))
            {
                return Ok(());
            }
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
                Ok(Next::Start(tag)) if count == 0 => self.unexpected(tag, &Expected::elements([element])),
                _ => self.wrong_here(format!("{count} of <{name}>, where at least {min} were expected")),
            },
        }
    }
}

/// Whether an element may be nil, by its run-time type or by the Rust type of its values.
#[cold]
fn may_be_nil(element: &Element, is_nillable: bool) -> bool {
    element.run_time_type().map_or(is_nillable, |of| of.is_nillable())
}

/// Whether a vector is full for the first time.
#[inline]
pub(super) fn is_first_full<T>(values: &Vec<T>) -> bool {
    values.len() <= FIRST_ITEMS && values.len() == values.capacity()
}
