//! Simple content (XSD Part 1 §3.4.4): the value of a text, its facets, and `xsi:nil`.

use std::any::Any;
use std::borrow::Cow;
use std::marker::PhantomData;

use castile_datatypes::facets::Check;
use castile_datatypes::{Invalid, Scope, SimpleType, quoted};
use castile_xml::{CachedText, Token};

use super::{Decoder, Error, ErrorKind, Expected, Next};
use crate::schema::{Element, ValueConstraint};

/// How the text of a simple type is parsed: by a Rust type, or by a type that is known only at run time.
#[doc(hidden)]
pub trait Lexical<V> {
    /// Returns the name for messages.
    fn name(&self) -> &'static str;

    /// Whether values are names or contain names.
    fn has_names(&self) -> bool;

    /// Returns the maximum heap memory of a text's value in bytes, excluding a copy of the text.
    fn heap_size(&self, text: &str) -> usize;

    /// Parses a text. Prefixes in it are resolved in `scope`.
    ///
    /// # Errors
    /// The text is invalid. The error says what is wrong, if that is known.
    fn parse_in(&self, text: &str, scope: &dyn Scope) -> Result<V, Option<String>>;

    /// Returns the value of a text that is rejected only because of facets that the type itself checks.
    fn parse_beyond_facets(&self, text: &str) -> Option<V>;

    /// Whether a value is equal to `fixed`. Always true for names, because the declarations around `fixed` are not known
    /// here.
    fn is_fixed(&self, value: &V, fixed: &str) -> bool;
}

/// Parses by a Rust type.
pub(super) struct ByType<T>(PhantomData<fn() -> T>);

impl<T> ByType<T> {
    pub(super) const NEW: Self = ByType(PhantomData);
}

impl<T: SimpleType> Lexical<T> for ByType<T> {
    #[inline(always)]
    fn name(&self) -> &'static str {
        T::NAME
    }

    #[inline(always)]
    fn has_names(&self) -> bool {
        T::HAS_NAMES
    }

    #[inline(always)]
    fn heap_size(&self, text: &str) -> usize {
        T::heap_size(text)
    }

    #[inline(always)]
    fn parse_in(&self, text: &str, scope: &dyn Scope) -> Result<T, Option<String>> {
        T::parse_in(text, scope)
    }

    #[inline(always)]
    fn parse_beyond_facets(&self, text: &str) -> Option<T> {
        T::parse_beyond_facets(text)
    }

    #[inline(always)]
    fn is_fixed(&self, value: &T, fixed: &str) -> bool {
        T::HAS_NAMES || matches!(T::parse(fixed), Ok(fixed) if fixed == *value)
    }
}

impl<'a> Decoder<'a> {
    /// Reads text and end tag of `element` as a value of a simple type.
    ///
    /// # Errors
    /// The text is not in the lexical space of the type or violates a facet, or there is an element.
    pub fn simple<T: SimpleType>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.simple_of(element, element.facets)
    }

    /// Reads text and end tag of `element` as the content of a complex type, whose facets are not those of `element`.
    ///
    /// # Errors
    /// The text is not in the lexical space of the type or violates a facet, or there is an element.
    pub fn restricted<T: SimpleType>(
        &mut self,
        element: &'static Element,
        facets: &'static dyn Check,
    ) -> Result<T, Error> {
        self.simple_of(element, Some(facets))
    }

    #[inline]
    pub(super) fn simple_of<T: SimpleType>(
        &mut self,
        element: &'static Element,
        facets: Option<&'static dyn Check>,
    ) -> Result<T, Error> {
        let offset = self.reader.offset();
        if T::HAS_NAMES {
            return self.simple_with_names(&ByType::<T>::NEW, element, facets);
        }
        // A constant condition, so that the branch is compiled only for binary types, which are few among thousands.
        if const { T::BINARY.is_some() }
            && let Some(binary) = T::BINARY
            && let Some(includes) = self.includes
        {
            return self.simple_or_included(element, facets, binary, includes);
        }
        match self.text(element) {
            Ok(text) => self.value(&text, element, facets, offset),
            Err(error) => Err(error),
        }
    }

    /// Reads a value that may contain names. Namespaces declared in the start tag are in scope only until the end tag is
    /// read.
    fn simple_with_names<V: 'static>(
        &mut self,
        of: &impl Lexical<V>,
        element: &'static Element,
        facets: Option<&'static dyn Check>,
    ) -> Result<V, Error> {
        let offset = self.reader.offset();
        let mut text = Cow::Borrowed("");
        while !self.reader.is_at_end_tag() {
            if !self.append_text(element, &mut text)? {
                // The end of an empty-element tag.
                return self.value_of(of, &text, element, facets, offset);
            }
        }
        let value = self.value_of(of, &text, element, facets, offset)?;
        self.append_text(element, &mut text)?;
        Ok(value)
    }

    /// Returns the value of an element's text, which begins at `offset`.
    pub(super) fn value<T: SimpleType>(
        &mut self,
        text: &str,
        element: &Element,
        facets: Option<&'static dyn Check>,
        offset: usize,
    ) -> Result<T, Error> {
        self.value_of(&ByType::<T>::NEW, text, element, facets, offset)
    }

    /// Returns the value of an element's text, which begins at `offset`.
    fn value_of<V: 'static>(
        &mut self,
        of: &impl Lexical<V>,
        text: &str,
        element: &Element,
        facets: Option<&'static dyn Check>,
        offset: usize,
    ) -> Result<V, Error> {
        let converted;
        let text = match self.reading.take() {
            None => text,
            Some(reading) => {
                converted = self.converted(text, reading, of.name(), offset)?;
                &converted
            }
        };
        let text = match element.constraint {
            Some(constraint) if text.is_empty() => {
                self.charge(constraint.value().len())?;
                constraint.value()
            }
            _ => text,
        };
        self.charge(of.heap_size(text))?;
        let value = match of.parse_in(text, &*self.reader) {
            Ok(value) => value,
            Err(problem) => {
                let error = self.lexical(&Invalid::text(text, of.name(), problem), offset);
                self.beyond_facets(of, text, error)?
            }
        };
        if let Some(facets) = facets
            && let Err(problem) = facets.check(text, &value)
        {
            let error = self.lexical(&problem, offset);
            self.tolerate(error)?;
        }
        match element.constraint {
            Some(ValueConstraint::Fixed(fixed)) if !of.is_fixed(&value, fixed) => {
                let error = self.not_fixed(text, fixed, offset);
                self.tolerate(error)?;
                Ok(value)
            }
            _ => Ok(value),
        }
    }

    /// Reads text and end tag of `element` as a value of a simple type that is known only at run time.
    ///
    /// # Errors
    /// The text is not in the lexical space of the type or violates a facet, or there is an element.
    #[doc(hidden)]
    pub fn simple_of_run_time<V: 'static>(
        &mut self,
        element: &'static Element,
        of: &impl Lexical<V>,
        facets: Option<&'static dyn Check>,
    ) -> Result<V, Error> {
        let offset = self.reader.offset();
        if of.has_names() {
            return self.simple_with_names(of, element, facets);
        }
        let text = self.text(element)?;
        self.value_of(of, &text, element, facets, offset)
    }

    #[cold]
    pub(super) fn lexical(&self, problem: &Invalid, offset: usize) -> Error {
        Error::new(ErrorKind::Lexical, self.inside(offset), problem.message().to_owned())
    }

    #[cold]
    fn not_fixed(&self, text: &str, fixed: &str, offset: usize) -> Error {
        let message = format!("{}, where only {} was expected", quoted(text), quoted(fixed));
        Error::new(ErrorKind::Lexical, self.inside(offset), message)
    }

    /// Returns the value of a rejected text, if it violates only facets and the decoder is lenient.
    #[cold]
    fn beyond_facets<V>(&mut self, of: &impl Lexical<V>, text: &str, error: Error) -> Result<V, Error> {
        match of.parse_beyond_facets(text) {
            Some(value) if self.lenient.is_some() => {
                self.tolerate(error)?;
                Ok(value)
            }
            _ => Err(error),
        }
    }

    /// Reads text and end tag in one step. The tags must be cached. The text may contain references. Otherwise reads nothing.
    #[inline]
    pub(crate) fn cached_simple<T: SimpleType>(&mut self, element: &'static Element) -> Option<Result<T, Error>> {
        if T::HAS_NAMES || !element.is_bare() {
            return None;
        }
        self.reader.cached_leaf(element.slot_id(), T::parse_prefix, |text| T::parse(text).ok()).map(Ok)
    }

    /// Reads an element in one step, if its tags are cached and it has facets or is empty. If a check fails, reads nothing: the
    /// general way reads the element again and makes the error.
    pub(crate) fn cached_restricted<T: SimpleType>(&mut self, element: &'static Element) -> Option<Result<T, Error>> {
        if T::HAS_NAMES || !(element.is_bare() || element.has_only_facets()) {
            return None;
        }
        let known = element.slot_id();
        let parse = |text: &str| {
            let value = T::parse(text).ok()?;
            element.facets.is_none_or(|facets| facets.check(text, &value).is_ok()).then_some(value)
        };
        if let Some(facets) = element.facets {
            let plain = |input: &str, at| {
                let (value, end) = T::parse_prefix(input, at)?;
                facets.check(&input[at..end], &value).ok()?;
                Some((value, end))
            };
            if let Some(value) = self.reader.cached_leaf(known, plain, parse) {
                return Some(Ok(value));
            }
        }
        self.reader.cached_empty_leaf(known, || parse("")).map(Ok)
    }

    /// Reads an element of a type that the contract declares in one step, if its tags are cached, with or without facets.
    /// Little of this code depends on the type.
    pub(crate) fn cached_by_text<T: SimpleType>(
        &mut self,
        element: &'static Element,
        is_restricted: bool,
    ) -> Option<Result<T, Error>> {
        // Names need the declarations in scope.
        let found = if T::HAS_NAMES { None } else { self.cached_text(element, is_restricted) };
        if let Some(found) = found
            && let Err(error) = self.charge(T::heap_size(found.text))
        {
            return Some(Err(error));
        }
        if let Some(found) = found
            && let Ok(value) = T::parse(found.text)
            && self.takes(element, found, &value)
        {
            return Some(Ok(value));
        }
        None
    }

    /// Returns the text of an element with cached tags, if it has no references. If `is_restricted`, returns a text only for
    /// elements with facets, otherwise only for bare ones.
    fn cached_text(&self, element: &'static Element, is_restricted: bool) -> Option<CachedText<'a>> {
        let is_meant = if is_restricted { element.has_only_facets() } else { element.is_bare() };
        if is_meant { self.reader.cached_text(element.slot_id()) } else { None }
    }

    /// Consumes an element whose text was parsed, unless its value violates a facet.
    fn takes(&mut self, element: &'static Element, found: CachedText<'a>, value: &dyn Any) -> bool {
        if element.facets.is_some_and(|facets| facets.check(found.text, value).is_err()) {
            return false;
        }
        self.reader.consume_text(found);
        true
    }

    pub(crate) fn text(&mut self, element: &'static Element) -> Result<Cow<'a, str>, Error> {
        let mut text = Cow::Borrowed("");
        if self.reader.end_of_empty() {
            self.reader.cache_end(element.slot_id(), true);
            return Ok(text);
        }
        while self.append_text(element, &mut text)? {}
        Ok(text)
    }

    /// Appends the next text. Returns `false` after reading the end tag.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn append_text(&mut self, element: &'static Element, text: &mut Cow<'a, str>) -> Result<bool, Error> {
        match self.reader.next()? {
            Token::Text(more) if text.is_empty() => *text = more,
            Token::Text(more) => text.to_mut().push_str(&more),
            Token::EndTag(_) => {
                self.reader.cache_end(element.slot_id(), true);
                return Ok(false);
            }
            Token::StartTag(tag) => {
                let error = self.unexpected(tag, &Expected::words("text"));
                // An element that is nil and has children is contradictory, so this is not tolerated.
                if self.nil {
                    return Err(error);
                }
                self.tolerate(error)?;
                self.reader.skip_element()?;
            }
            Token::Comment(_) | Token::Instruction { .. } => {}
            Token::End => return Err(self.ended()),
        }
        Ok(true)
    }

    // ---- nil ----

    /// Whether the start tag that was read last has `xsi:nil="true"`.
    #[doc(hidden)]
    pub fn is_nil(&self) -> bool {
        self.nil
    }

    /// Reads the end tag of a nil element, which must be empty (XSD Part 1 §3.3.4).
    ///
    /// # Errors
    /// The element is not empty.
    #[doc(hidden)]
    pub fn nil_content(&mut self, element: &'static Element) -> Result<(), Error> {
        let offset = self.reader.offset();
        let is_empty = self.text(element)?.is_empty();
        self.nil = false;
        if is_empty {
            return Ok(());
        }
        Err(nil_with_content(element, offset))
    }

    /// Treats a nil element as one without children. It is an error if it has some.
    pub(crate) fn nil_has_no_children(&mut self, element: &'static Element) -> Result<(), Error> {
        if std::mem::take(&mut self.nil)
            && let Next::Start(tag) = self.peek()?
        {
            return Err(nil_with_content(element, tag.offset));
        }
        Ok(())
    }

    pub(super) fn refuse_nil(&mut self, element: &'static Element, is_nillable: bool) -> Result<(), Error> {
        if self.nil && !is_nillable {
            let error = self.is_nil_here(element);
            self.tolerate(error)?;
            self.nil = false;
        }
        Ok(())
    }

    #[cold]
    fn is_nil_here(&self, element: &'static Element) -> Error {
        let message = format!("<{}> is nil, where a value was expected", element.name);
        Error::new(ErrorKind::Structure, self.inside(self.reader.offset()), message)
    }

    /// Whether the next element is optional and is nil although it must not be. If so, it is skipped and treated as absent.
    #[cold]
    pub(super) fn is_absent_by_nil(&mut self, element: &'static Element) -> Result<bool, Error> {
        if element.min_occurs > 0 || element.max_occurs != Some(1) || !self.has_nil_attribute() {
            return Ok(false);
        }
        let error = self.is_nil_here(element);
        self.tolerate(error)?;
        self.pass_over()?;
        Ok(true)
    }
}

/// Returns the error that a nil element has content, at `offset`.
#[cold]
fn nil_with_content(element: &Element, offset: usize) -> Error {
    Error::new(ErrorKind::Structure, offset, format!("<{}> is nil and has content", element.name))
}
