//! Tokens to values.

mod attributes;
mod groups;

use std::borrow::Cow;

use castile_xml::{Memory, Reader, StartTag, Token};

use crate::datatypes::{Invalid, SimpleType, quoted};
use crate::error::{Error, ErrorKind};
use crate::facets::Check;
use crate::schema::{Attributes, Element, TypeName, ValueConstraint};

pub use groups::{Group, Mixed};

/// How many particles are looked at to learn from what comes next that an optional one doesn't.
const LOOK_AHEAD: usize = 4;
/// What a vector may reserve on the word of its first item, in bytes.
const FIRST_RESERVE: usize = 16 << 10;
/// What all vectors of a document may reserve so, in bytes for each byte of it: many may have one item only.
const RESERVE_PER_BYTE: usize = 4;
/// What elements that are kept as XML may copy of the declarations around them, in bytes for each byte of the document,
/// and beside that in any document.
const COPY_PER_BYTE: usize = 32;
const COPY: usize = 1 << 20;

/// A value that can be read from an element.
pub trait FromXml: Sized {
    /// Whether the value has a form for `xsi:nil="true"`.
    const NILLABLE: bool = false;
    /// The attributes that the value has.
    const ATTRIBUTES: &'static Attributes = &Attributes::NONE;
    /// The type, if it is one that others aren't derived from and that `xsi:type` must name if it is there.
    const TYPE: Option<TypeName> = None;

    /// Reads the whole element if its start tag is the one that stood here before; otherwise reads nothing.
    #[inline]
    fn known(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        decoder.known_start(element).then(|| Self::content(decoder, element))
    }

    /// As [`known`](Self::known), for an element whose type has facets. It is asked where that says nothing, so that
    /// other elements don't pay for it.
    #[inline]
    fn known_restricted(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Self> {
        let _ = (decoder, element);
        None
    }

    /// Reads content and end tag of `element`, whose start tag was read last, so that its attributes are at hand.
    ///
    /// # Errors
    /// What the document has instead, with its place.
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error>;
}

/// Reads values off a [`Reader`] the way a content model says.
///
/// Where an element is due, the tags that stood there last time are tried first, in one comparison. Whatever else comes
/// goes through the tokeniser, which decides; so both ways give the same values and the same errors.
#[derive(Debug)]
pub struct Decoder<'a> {
    reader: Reader<'a>,
    /// A tag that was read to see what comes, and not yet used.
    next: Option<Next<'a>>,
    /// Whether the start tag that was used last said `xsi:nil="true"`.
    nil: bool,
    /// The element whose content is being read.
    parent: Option<&'static Element>,
    /// How many bytes vectors may still reserve.
    reserve: usize,
    /// How many bytes of declarations may still be copied.
    copy: usize,
}

#[derive(Clone, Copy, Debug)]
enum Next<'a> {
    Start(StartTag<'a>),
    End { offset: usize },
}

/// What was read of the content of an element.
#[derive(Debug)]
enum Piece<'a> {
    Text(Cow<'a, str>),
    /// Something else, which is next if it is a tag.
    Other,
}

impl<'a> Decoder<'a> {
    /// A decoder that goes on where `reader` stands.
    pub fn new(reader: Reader<'a>) -> Self {
        let length = reader.input().len();
        let reserve = length.saturating_mul(RESERVE_PER_BYTE);
        let copy = length.saturating_mul(COPY_PER_BYTE).saturating_add(COPY);
        Decoder { reader, next: None, nil: false, parent: None, reserve, copy }
    }

    /// The reader, for what is not typed.
    pub fn reader(&mut self) -> &mut Reader<'a> {
        &mut self.reader
    }

    /// The buffers, for the next document.
    pub fn into_memory(self) -> Memory {
        self.reader.into_memory()
    }

    /// Reads the content of `element`, whose start tag the caller has read and found to be the right one.
    ///
    /// # Errors
    /// What the document has instead.
    pub fn root<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.reader.begin_layout();
        self.attributes(element, T::ATTRIBUTES)?;
        self.opened(element)
    }

    // ---- content models ----

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
        if self.comes(table, index)? { self.unknown(&table[index]).map(Some) } else { Ok(None) }
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
    fn up_to<T: FromXml>(&mut self, max: usize, table: &'static [Element], index: usize) -> Result<Vec<T>, Error> {
        let element = &table[index];
        let mut values = Vec::new();
        let start = self.reader.offset();
        while values.len() < max
            && let Some(value) = self.optional(table, index)?
        {
            values.push(value);
            if values.len() == 1 {
                let length = (self.reader.offset() - start).max(1);
                let rest = (self.reader.input().len() - self.reader.offset()) / length;
                let more = rest.min(FIRST_RESERVE.min(self.reserve) / size_of::<T>().max(1));
                self.reserve -= more * size_of::<T>();
                values.reserve(more);
            }
        }
        self.check_occurrence(element, values.len())?;
        Ok(values)
    }

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
            Some(Next::Start(tag)) => Err(self.unexpected(tag, &list(table))),
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

    #[inline(always)]
    fn element<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        if self.next.is_none()
            && let Some(value) = T::known(self, element)
        {
            return value;
        }
        self.unknown(element)
    }

    /// Reads an element whose tags are not known, or not as they were.
    #[inline(never)]
    fn unknown<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
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
    fn opened<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        if !self.reader.is_plain() {
            self.refuse_nil::<T>(element)?;
            self.refuse_other_type(element, T::TYPE)?;
        }
        T::content(self, element)
    }

    /// Reads the start tag of `element` if it is the one that stood here before.
    #[inline]
    fn known_start(&mut self, element: &'static Element) -> bool {
        let known = self.reader.known_start(element.known());
        if known {
            self.nil = false;
        }
        known
    }

    /// Whether `table[index]` comes next, which is not known by its start tag.
    fn comes(&mut self, table: &'static [Element], index: usize) -> Result<bool, Error> {
        let element = &table[index];
        if self.next.is_none() && !element.is_bare() && self.reader.is_at_known_start(element.known()) {
            return Ok(true);
        }
        if self.next.is_none() && self.is_at_what_follows(&table[index], &table[index + 1..]) {
            return Ok(false);
        }
        match self.peek()? {
            Next::Start(tag) => Ok(self.is(&tag, &table[index])),
            Next::End { .. } => Ok(false),
        }
    }

    /// Whether the tag that comes next is known as one that stands behind `optional`, and not as that.
    fn is_at_what_follows(&self, optional: &'static Element, following: &'static [Element]) -> bool {
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
    fn is_at_known_end(&self) -> bool {
        self.parent.is_some_and(|parent| self.reader.is_at_known_end(parent.known()))
    }

    // ---- simple content ----

    /// Reads text and end tag of `element` as a value of a simple type.
    ///
    /// # Errors
    /// Text that is not in the type's lexical space, or an element in its place.
    pub fn simple<T: SimpleType>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.simple_of(element, element.facets)
    }

    /// The same for the content of a complex type, whose facets are not those of `element`.
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
    fn simple_of<T: SimpleType>(
        &mut self,
        element: &'static Element,
        facets: Option<&'static dyn Check>,
    ) -> Result<T, Error> {
        let offset = self.reader.offset();
        if T::HAS_NAMES {
            return self.simple_with_names(element, facets);
        }
        let text = self.text(element)?;
        self.value(&text, element.constraint, facets, offset)
    }

    /// The same for a type with names: what the start tag declared is in scope until the end tag is read.
    fn simple_with_names<T: SimpleType>(
        &mut self,
        element: &'static Element,
        facets: Option<&'static dyn Check>,
    ) -> Result<T, Error> {
        let offset = self.reader.offset();
        let mut text = Cow::Borrowed("");
        while !self.reader.input()[self.reader.offset()..].starts_with("</") {
            if !self.text_piece(element, &mut text)? {
                // An empty-element tag.
                return self.value(&text, element.constraint, facets, offset);
            }
        }
        let value = self.value(&text, element.constraint, facets, offset)?;
        self.text_piece(element, &mut text)?;
        Ok(value)
    }

    /// The value of the text of an element, which begins at `offset`.
    fn value<T: SimpleType>(
        &self,
        text: &str,
        constraint: Option<ValueConstraint>,
        facets: Option<&'static dyn Check>,
        offset: usize,
    ) -> Result<T, Error> {
        let text = match constraint {
            Some(constraint) if text.is_empty() => constraint.value(),
            _ => text,
        };
        let failure = |message| Error::new(ErrorKind::Lexical, self.inside(offset), message);
        let value = T::parse_in(text, &self.reader).map_err(|problem| failure(invalid::<T>(text, problem)))?;
        if let Some(facets) = facets {
            facets.check(text, &value).map_err(|problem| failure(problem.message().to_owned()))?;
        }
        if let Some(ValueConstraint::Fixed(fixed)) = constraint
            && !is_fixed(&value, fixed)
        {
            return Err(failure(format!("{}, where only {} was expected", quoted(text), quoted(fixed))));
        }
        Ok(value)
    }

    /// The same in one step for an element whose tags are known and whose text is plain. Otherwise reads nothing.
    #[inline]
    pub(crate) fn known_simple<T: SimpleType>(&mut self, element: &'static Element) -> Option<T> {
        if !element.is_bare() {
            return None;
        }
        self.reader.known_element(element.known(), T::parse_prefix)
    }

    /// The same for an element with facets. What is wrong is found the long way.
    pub(crate) fn known_restricted<T: SimpleType>(&mut self, element: &'static Element) -> Option<T> {
        let (None, Some(facets)) = (element.constraint, element.facets) else { return None };
        self.reader.known_element(element.known(), |input, at| {
            let (value, end) = T::parse_prefix(input, at)?;
            facets.check(&input[at..end], &value).ok()?;
            Some((value, end))
        })
    }

    fn text(&mut self, element: &'static Element) -> Result<Cow<'a, str>, Error> {
        let mut text = Cow::Borrowed("");
        while self.text_piece(element, &mut text)? {}
        Ok(text)
    }

    /// Adds the text that comes next. `false` if the end tag came and was read.
    #[inline(always)]
    fn text_piece(&mut self, element: &'static Element, text: &mut Cow<'a, str>) -> Result<bool, Error> {
        match self.reader.next()? {
            Token::Text(more) if text.is_empty() => *text = more,
            Token::Text(more) => text.to_mut().push_str(&more),
            Token::EndTag(_) => {
                self.reader.learn_end(element.known(), true);
                return Ok(false);
            }
            Token::StartTag(tag) => return Err(self.unexpected(tag, "text")),
            Token::Comment(_) | Token::Instruction { .. } => {}
            Token::End => return Err(self.ended()),
        }
        Ok(true)
    }

    // ---- nil ----

    pub(crate) fn is_nil(&self) -> bool {
        self.nil
    }

    /// Reads the end tag of an element that said it is nil and so must be empty (XSD Part 1 §3.3.4).
    pub(crate) fn nil_content(&mut self, element: &'static Element) -> Result<(), Error> {
        self.nil = false;
        let offset = self.reader.offset();
        if self.text(element)?.is_empty() {
            return Ok(());
        }
        let message = format!("<{}> is nil and has content", element.name);
        Err(Error::new(ErrorKind::Structure, offset, message))
    }

    fn refuse_nil<T: FromXml>(&self, element: &'static Element) -> Result<(), Error> {
        if self.nil && !T::NILLABLE {
            let message = format!("<{}> is nil, where a value was expected", element.name);
            return Err(Error::new(ErrorKind::Structure, self.inside(self.reader.offset()), message));
        }
        Ok(())
    }

    // ---- tags, the long way ----

    /// Reads the start tag of `element`.
    fn start(&mut self, element: &'static Element, attributes: &'static Attributes) -> Result<(), Error> {
        match self.peek()? {
            Next::Start(tag) if self.is(&tag, element) => {
                self.next = None;
                self.attributes(element, attributes)?;
                self.reader.learn_start(element.known());
                Ok(())
            }
            Next::Start(tag) => Err(self.unexpected(tag, &format!("<{}>", element.name))),
            Next::End { offset } => Err(self.ends_early(offset, element)),
        }
    }

    /// Reads the end tag of `element`.
    fn end(&mut self, element: &'static Element) -> Result<(), Error> {
        match self.peek()? {
            Next::End { .. } => {
                self.next = None;
                self.reader.learn_end(element.known(), false);
                Ok(())
            }
            Next::Start(tag) => Err(self.unexpected(tag, &format!("</{}>", element.name))),
        }
    }

    /// Reads on to the next tag, unless that was done before. Text that is not white space has no place here.
    fn peek(&mut self) -> Result<Next<'a>, Error> {
        if let Some(next) = self.next {
            return Ok(next);
        }
        loop {
            let offset = self.reader.offset();
            if let Piece::Text(text) = self.piece()? {
                const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];
                let text = text.trim_matches(WHITE);
                if text.is_empty() {
                    continue;
                }
                let message = format!("text {}, where only elements were expected", quoted(text));
                let rest = self.reader.input()[offset..].trim_start_matches(WHITE);
                return Err(Error::new(ErrorKind::Structure, self.reader.input().len() - rest.len(), message));
            }
            if let Some(next) = self.next {
                return Ok(next);
            }
        }
    }

    /// Reads a tag, which is next then, or what stands between tags.
    fn piece(&mut self) -> Result<Piece<'a>, Error> {
        let offset = self.reader.offset();
        self.next = Some(match self.reader.next()? {
            Token::StartTag(tag) => Next::Start(tag),
            // An end that took no bytes is that of an empty-element tag.
            Token::EndTag(_) if self.reader.offset() == offset => Next::End { offset: self.inside(offset) },
            Token::EndTag(_) => Next::End { offset },
            Token::Text(text) => return Ok(Piece::Text(text)),
            Token::Comment(_) | Token::Instruction { .. } => return Ok(Piece::Other),
            Token::End => return Err(self.ended()),
        });
        Ok(Piece::Other)
    }

    fn is(&self, tag: &StartTag<'_>, element: &Element) -> bool {
        element.is(self.reader.namespace(tag.namespace), tag.name.local())
    }

    // ---- errors ----

    #[inline]
    fn check_occurrence(&mut self, element: &'static Element, count: usize) -> Result<(), Error> {
        let too_few = (count as u64) < u64::from(element.min_occurs);
        let too_many = element.max_occurs.is_some_and(|max| count as u64 > u64::from(max));
        if too_few || too_many { Err(self.wrong_count(element, count)) } else { Ok(()) }
    }

    #[cold]
    fn wrong_count(&mut self, element: &'static Element, count: usize) -> Error {
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

    /// An error at the tag that comes next. That may be recognised and not read yet: it is read here, so that the place
    /// is the same as if it had been.
    #[cold]
    fn wrong_here(&mut self, message: String) -> Error {
        match self.peek() {
            Ok(Next::Start(StartTag { offset, .. }) | Next::End { offset }) => {
                Error::new(ErrorKind::Structure, offset, message)
            }
            Err(error) => error,
        }
    }

    /// A place in the element whose start tag ends at `offset`: behind the tag, or in it if the tag is the whole element.
    #[cold]
    fn inside(&self, offset: usize) -> usize {
        if self.reader.input()[..offset].ends_with("/>") { offset - "/>".len() } else { offset }
    }

    #[cold]
    fn unexpected(&self, tag: StartTag<'_>, expected: &str) -> Error {
        let namespace = match self.reader.namespace(tag.namespace) {
            "" => "no namespace",
            namespace => namespace,
        };
        let message = format!("found <{}> of {namespace}, where {expected} was expected", tag.name.local());
        Error::new(ErrorKind::Structure, tag.offset, message)
    }

    #[cold]
    fn ends_early(&self, offset: usize, element: &'static Element) -> Error {
        let message = match self.parent {
            Some(parent) => format!("<{}> ends, where <{}> was expected", parent.name, element.name),
            None => format!("found an end tag, where <{}> was expected", element.name),
        };
        Error::new(ErrorKind::Structure, offset, message)
    }

    #[cold]
    fn ended(&self) -> Error {
        Error::new(ErrorKind::Structure, self.reader.offset(), "the document ends too early")
    }
}

/// Names of elements for messages: `<a>, <b> or <c>`.
#[cold]
fn list(table: &[Element]) -> String {
    let names: Vec<String> = table.iter().map(|element| format!("<{}>", element.name)).collect();
    or(&names)
}

fn or(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// What is wrong with a text that is none of a type's.
#[cold]
fn invalid<T: SimpleType>(text: &str, problem: Option<String>) -> String {
    Invalid::text(text, T::NAME, problem).message().to_owned()
}

/// Whether a value is the one that `fixed` stands for. Names are not looked at, since the declarations that `fixed` was
/// written with are not here.
fn is_fixed<T: SimpleType>(value: &T, fixed: &str) -> bool {
    T::HAS_NAMES || T::parse(fixed).is_ok_and(|fixed| fixed == *value)
}
