//! Simple content (XSD Part 1 §3.4.4): text as a value, its facets, and none for `xsi:nil`.

use std::any::Any;
use std::borrow::Cow;
use std::marker::PhantomData;

use castile_xml::{CachedText, Token};

use super::{Decoder, Error, ErrorKind, Expected, Next};
use crate::datatypes::{Invalid, Scope, SimpleType, quoted};
use crate::facets::Check;
use crate::schema::{Element, ValueConstraint};

/// How the text of a simple type is read: as a Rust type says, or as is known at run time only.
#[doc(hidden)]
pub trait Lexical<V> {
    /// The name for messages.
    fn name(&self) -> &'static str;

    /// Whether values are names or have names in them.
    fn has_names(&self) -> bool;

    /// How many bytes of memory the value of a text takes at most, beside its own and a copy of the text.
    fn heap_of(&self, text: &str) -> usize;

    /// The value of a text. Prefixes in it are resolved in `scope`.
    ///
    /// # Errors
    /// What is wrong with the text, where more can be said than that it is no value.
    fn parse_in(&self, text: &str, scope: &dyn Scope) -> Result<V, Option<String>>;

    /// The value of a text that is refused only for facets that the type checks itself.
    fn parse_beyond_facets(&self, text: &str) -> Option<V>;

    /// Whether a value is the one that `fixed` stands for. Names are not looked at, since the declarations that `fixed` was written
    /// with are not here.
    fn is_fixed(&self, value: &V, fixed: &str) -> bool;
}

/// As the Rust type says.
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
    fn heap_of(&self, text: &str) -> usize {
        T::heap_of(text)
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
    /// Text that is not in the type's lexical space, or an element in its place.
    pub fn simple<T: SimpleType>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.simple_of(element, element.facets)
    }

    /// Reads text and end tag of `element` as the content of a complex type, whose facets are not those of `element`.
    ///
    /// # Errors
    /// As for [`simple`](Self::simple), or the facet that the value breaks.
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
        // The compiler looks at such a constant before it compiles what depends on it: of thousands of types few are binary.
        if const { T::BINARY.is_some() }
            && let Some(binary) = T::BINARY
            && let Some(includes) = self.includes
        {
            return self.simple_or_included(element, facets, binary, includes);
        }
        match self.text(element) {
            Ok(text) => self.value(&text, element.constraint, facets, offset),
            Err(error) => Err(error),
        }
    }

    /// Reads a value of a type with names: what the start tag declared is in scope until the end tag is read.
    fn simple_with_names<V: 'static>(
        &mut self,
        of: &impl Lexical<V>,
        element: &'static Element,
        facets: Option<&'static dyn Check>,
    ) -> Result<V, Error> {
        let offset = self.reader.offset();
        let mut text = Cow::Borrowed("");
        while !self.reader.is_at_end_tag() {
            if !self.text_piece(element, &mut text)? {
                // An empty-element tag.
                return self.value_of(of, &text, element.constraint, facets, offset);
            }
        }
        let value = self.value_of(of, &text, element.constraint, facets, offset)?;
        self.text_piece(element, &mut text)?;
        Ok(value)
    }

    /// The value of the text of an element, which begins at `offset`.
    pub(super) fn value<T: SimpleType>(
        &mut self,
        text: &str,
        constraint: Option<ValueConstraint>,
        facets: Option<&'static dyn Check>,
        offset: usize,
    ) -> Result<T, Error> {
        self.value_of(&ByType::<T>::NEW, text, constraint, facets, offset)
    }

    /// The value of the text of an element, which begins at `offset`.
    fn value_of<V: 'static>(
        &mut self,
        of: &impl Lexical<V>,
        text: &str,
        constraint: Option<ValueConstraint>,
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
        let text = match constraint {
            Some(constraint) if text.is_empty() => {
                self.charge(constraint.value().len())?;
                constraint.value()
            }
            _ => text,
        };
        self.charge(of.heap_of(text))?;
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
        match constraint {
            Some(ValueConstraint::Fixed(fixed)) if !of.is_fixed(&value, fixed) => {
                let error = self.not_fixed(text, fixed, offset);
                self.tolerate(error)?;
                Ok(value)
            }
            _ => Ok(value),
        }
    }

    /// Reads text and end tag of `element` as a value of a simple type that is known at run time only.
    ///
    /// # Errors
    /// As for [`simple`](Self::simple).
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
        self.value_of(of, &text, element.constraint, facets, offset)
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

    /// The value of a text that is refused, if it is so for facets only and that is tolerated.
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

    /// Reads text and end tag in one step for an element whose tags are known and whose text is plain or has references in it.
    /// Otherwise reads nothing.
    #[inline]
    pub(crate) fn cached_simple<T: SimpleType>(&mut self, element: &'static Element) -> Option<Result<T, Error>> {
        if T::HAS_NAMES || !element.is_bare() {
            return None;
        }
        self.reader.cached_leaf(element.slot_id(), T::parse_prefix, |text| T::parse(text).ok()).map(Ok)
    }

    /// Reads a known element with facets or without content in one step. What is wrong is found the long way.
    pub(crate) fn cached_restricted<T: SimpleType>(&mut self, element: &'static Element) -> Option<Result<T, Error>> {
        if T::HAS_NAMES || element.constraint.is_some() {
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

    /// Reads a known element of one of the many types that a contract brings in one step, with facets or not: what depends on the
    /// type is small.
    pub(crate) fn cached_by_text<T: SimpleType>(
        &mut self,
        element: &'static Element,
        is_restricted: bool,
    ) -> Option<Result<T, Error>> {
        // Names need the declarations that are in scope.
        let found = if T::HAS_NAMES { None } else { self.cached_text(element, is_restricted) };
        if let Some(found) = found
            && let Err(error) = self.charge(T::heap_of(found.text))
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

    /// The text of an element whose tags are known, if it is plain and the element has facets or none.
    fn cached_text(&self, element: &'static Element, is_restricted: bool) -> Option<CachedText<'a>> {
        let is_meant =
            if is_restricted { element.constraint.is_none() && element.facets.is_some() } else { element.is_bare() };
        if is_meant { self.reader.cached_text(element.slot_id()) } else { None }
    }

    /// Reads an element whose text was looked at, unless a facet has something against its value.
    fn takes(&mut self, element: &'static Element, found: CachedText<'a>, value: &dyn Any) -> bool {
        if element.facets.is_some_and(|facets| facets.check(found.text, value).is_err()) {
            return false;
        }
        self.reader.consume_text(found);
        true
    }

    pub(super) fn text(&mut self, element: &'static Element) -> Result<Cow<'a, str>, Error> {
        let mut text = Cow::Borrowed("");
        if self.reader.end_of_empty() {
            self.reader.cache_end(element.slot_id(), true);
            return Ok(text);
        }
        while self.text_piece(element, &mut text)? {}
        Ok(text)
    }

    /// Adds the text that comes next. `false` if the end tag came and was read.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(super) fn text_piece(&mut self, element: &'static Element, text: &mut Cow<'a, str>) -> Result<bool, Error> {
        match self.reader.next()? {
            Token::Text(more) if text.is_empty() => *text = more,
            Token::Text(more) => text.to_mut().push_str(&more),
            Token::EndTag(_) => {
                self.reader.cache_end(element.slot_id(), true);
                return Ok(false);
            }
            Token::StartTag(tag) => {
                let error = self.unexpected(tag, &Expected::words("text"));
                // That a value is nil and that it has children can't both be meant.
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

    /// Whether the start tag that was read last says that the element is nil.
    #[doc(hidden)]
    pub fn is_nil(&self) -> bool {
        self.nil
    }

    /// Reads the end tag of an element that said it is nil and so must be empty (XSD Part 1 §3.3.4).
    ///
    /// # Errors
    /// That it isn't.
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

    /// Takes an element that says it is nil for one without children.
    pub(super) fn nil_has_no_children(&mut self, element: &'static Element) -> Result<(), Error> {
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

    /// Whether the element that comes next may be absent, and says that it is nil though it may not: then it is passed
    /// over.
    #[cold]
    pub(super) fn is_absent_by_nil(&mut self, element: &'static Element) -> Result<bool, Error> {
        if element.min_occurs > 0 || element.max_occurs != Some(1) || !self.says_nil() {
            return Ok(false);
        }
        let error = self.is_nil_here(element);
        self.tolerate(error)?;
        self.pass_over()?;
        Ok(true)
    }
}

/// That an element which says that it is nil has content, at `offset`.
#[cold]
fn nil_with_content(element: &Element, offset: usize) -> Error {
    Error::new(ErrorKind::Structure, offset, format!("<{}> is nil and has content", element.name))
}
