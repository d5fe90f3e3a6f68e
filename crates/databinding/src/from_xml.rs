//! Tokens to values.

mod all;
mod attributes;
mod charges;
mod encoded;
mod groups;
mod included;
mod lenient;
mod sequence;
mod simple;
mod tags;
mod types;

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use castile_budget::{Allowance, Exhausted};
use castile_xml::{CachedReader, Memory, StartTag};

use crate::Deviations;
use crate::any::ExpandedName;
use crate::datatypes::quoted;
use crate::error::{Error, ErrorKind};
use crate::expected::Expected;
use crate::schema::{Attributes, Content, Element, TypeName};
use crate::xop::Includes;

pub(crate) use charges::BLOCK;
pub use encoded::Parts;
pub(crate) use encoded::is_of_references;
pub use groups::{Group, Mixed};
#[doc(hidden)]
pub use simple::Lexical;

use attributes::Placed;
use encoded::{Graph, ItemType};
use lenient::Lenient;
use types::Reading;

/// What all vectors of a document may reserve so, in bytes for each byte of it: many may have one item only.
const RESERVE_PER_BYTE: usize = 4;
/// What elements that are kept as XML may copy of the declarations around them, as a part of the document, and beside that
/// in any document, in bytes. Beyond it they share them.
const COPY_PART: usize = 2;
const COPY: usize = 64 << 10;

/// A value that can be read from an element.
///
/// It is [`Send`] and [`Sync`], so that it can stand behind a [`Recursive`](crate::Recursive) without more being asked there:
/// compilers answer that by a walk through all that a type holds, once for each type and not for each field that holds it.
pub trait FromXml: Sized + Send + Sync + 'static {
    /// Whether the value has a form for `xsi:nil="true"`.
    #[doc(hidden)]
    const NILLABLE: bool = false;
    /// The attributes that the value has.
    #[doc(hidden)]
    const ATTRIBUTES: &'static Attributes = &Attributes::NONE;
    /// The type, if it is one that others aren't derived from and that `xsi:type` must name if it is there; or a built-in
    /// simple type, which those that are derived from it may stand for.
    #[doc(hidden)]
    const TYPE: Option<TypeName> = None;
    /// Whether the value is the same whatever else `xsi:type` says than [`TYPE`](Self::TYPE), so that a start tag with
    /// nothing but that may be known again in SOAP encoding.
    #[doc(hidden)]
    const TYPE_IS_FIXED: bool = false;
    /// Whether the value may have facets, so that [`cached_restricted`](Self::cached_restricted) is to be asked.
    #[doc(hidden)]
    const MAY_BE_RESTRICTED: bool = false;
    /// What children the element may have. Only a lenient decoder asks.
    #[doc(hidden)]
    const CONTENT: &'static Content = &Content::Open;

    /// Reads the whole element if its start tag is the one that stood here before; otherwise reads nothing.
    #[doc(hidden)]
    #[inline]
    fn known(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        if decoder.cached_start(element) { Some(Self::content(decoder, element)) } else { None }
    }

    /// Reads the whole element of a type that has facets if its start tag is the one that stood here before; otherwise reads nothing.
    /// It is asked where [`known`](Self::known) says nothing, so that other elements don't pay for it.
    #[doc(hidden)]
    #[inline]
    fn cached_restricted(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        let _ = (decoder, element);
        None
    }

    /// The value that the element at `offset` has, if it is known already: there is one place for all who refer to it.
    #[doc(hidden)]
    fn referenced(decoder: &mut Decoder<'_>, element: &'static Element, offset: usize) -> Option<Self> {
        let _ = (decoder, element, offset);
        None
    }

    /// Reads content and end tag of `element`, whose start tag was read last, so that its attributes are at hand.
    ///
    /// # Errors
    /// What the document has instead, with its place.
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error>;
}

/// Reads values off a [`Reader`](castile_xml::Reader) the way a content model says.
///
/// Where an element is due, the tags that stood there last time are tried first, in one comparison. Whatever else comes
/// goes through the tokeniser, which decides; so both ways give the same values and the same errors.
#[derive(Debug)]
pub struct Decoder<'a> {
    reader: CachedReader<'a>,
    /// What `xop:Include` elements refer to, where they may stand.
    includes: Option<&'a dyn Includes>,
    /// A tag that was read to see what comes, and not yet used.
    next: Option<Next<'a>>,
    /// The [identity](Element::identity) of the element that the start tag which is next was recognised as, 0 if it wasn't.
    recognised: usize,
    /// The element that could have come where a start tag has its name in another namespace, and the offset of that.
    near: Cell<Option<(usize, &'static Element)>>,
    /// Whether the start tag that was used last said `xsi:nil="true"`.
    nil: bool,
    /// Whether what is read is by the rules of SOAP encoding.
    is_encoded: bool,
    /// How its text stands for a value, where that is to be something else by its `xsi:type`.
    reading: Option<Reading>,
    /// What the next element is by the array that it is in, or by its name, unless it says so itself.
    item_type: Option<ItemType>,
    /// The type that an array gives to the item whose start tag ends at this offset, until somebody has looked at it.
    given: Option<(usize, Arc<ExpandedName>)>,
    /// Which of its attributes are where.
    placed: Placed,
    /// The element whose content is being read.
    parent: Option<&'static Element>,
    /// How many bytes vectors may still reserve.
    reserve: usize,
    /// How many bytes of declarations may still be copied.
    copy: usize,
    /// What values may still take.
    allowance: Allowance,
    /// That it was too little, where that could not be told at once.
    refused: Option<Exhausted>,
    /// What references in SOAP encoding lead to, once one was met.
    graph: Option<Box<Graph<'a>>>,
    /// What a lenient decoder has beside: nothing on the way of a strict one looks at it.
    lenient: Option<Box<Lenient>>,
    /// The leniency that waits while SOAP encoding is read, where only what types are named is tolerated.
    of_types: Option<Box<Lenient>>,
    /// An element that may be absent though it must come, since it was cut out of the document.
    cut: Option<&'static Element>,
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

/// An element without content.
impl FromXml for () {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |_| Ok(()))
    }
}

impl<'a> Decoder<'a> {
    /// A decoder that goes on where `reader` stands.
    pub fn new(reader: impl Into<CachedReader<'a>>) -> Self {
        let reader = reader.into();
        let length = reader.length();
        let reserve = length.saturating_mul(RESERVE_PER_BYTE);
        let copy = length / COPY_PART + COPY;
        Decoder {
            reader,
            includes: None,
            next: None,
            recognised: 0,
            near: Cell::new(None),
            nil: false,
            is_encoded: false,
            reading: None,
            item_type: None,
            given: None,
            placed: Placed::NONE,
            parent: None,
            reserve,
            copy,
            allowance: Allowance::unlimited(),
            refused: None,
            graph: None,
            lenient: None,
            of_types: None,
            cut: None,
        }
    }

    /// Says that the occurrences of an element were cut out of the document: there may be fewer of them than must come.
    #[doc(hidden)]
    pub fn lack(&mut self, cut: Option<&'static Element>) {
        self.cut = cut;
    }

    /// A decoder that tolerates what is not as the schema says, where that loses nothing that the value could hold, and
    /// records it. `docs/mapping.md` has the table of what is tolerated.
    ///
    /// What a strict decoder reads, it reads as the same value, without a deviation; but it takes several times as long,
    /// so it is for documents that a strict one has refused ([`Error::is_deviation`]). The document must not have a
    /// document type declaration.
    ///
    /// ```
    /// use castile_databinding::Decoder;
    /// use castile_databinding::schema::Element;
    /// use castile_xml::{Limits, Reader};
    ///
    /// static SIZE: Element = Element::new("", "size", 0);
    ///
    /// let mut reader = Reader::new(b"<size unit='cm'>12</size>", Limits::default())?;
    /// reader.next()?;
    /// let mut decoder = Decoder::lenient(reader);
    /// assert_eq!(decoder.root::<i32>(&SIZE)?, 12);
    /// let deviations = decoder.take_deviations();
    /// assert_eq!(deviations.to_string(), "an attribute \"unit\", which <size> does not have (byte 6)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lenient(reader: impl Into<CachedReader<'a>>) -> Self {
        let reader = reader.into();
        let limit = reader.limits().deviations;
        Decoder { lenient: Some(Box::new(Lenient::new(limit))), ..Decoder::new(reader) }
    }

    /// Whether it tolerates anything.
    pub fn is_lenient(&self) -> bool {
        self.lenient.is_some() || self.of_types.is_some()
    }

    /// Tolerates nothing from here on, and forgets what was tolerated.
    pub fn insist(&mut self) {
        (self.lenient, self.of_types) = (None, None);
    }

    /// What was tolerated so far: nothing, if the decoder is strict.
    pub fn take_deviations(&mut self) -> Deviations {
        match self.lenient.as_mut().or(self.of_types.as_mut()) {
            None => Deviations::default(),
            Some(lenient) => lenient.take_deviations(),
        }
    }

    /// The reader, for what is not typed.
    pub fn reader(&mut self) -> &mut CachedReader<'a> {
        &mut self.reader
    }

    /// The buffers, for the next document.
    #[inline]
    pub fn into_memory(self) -> Memory {
        let mut memory = self.reader.into_memory();
        if let Some(graph) = self.graph {
            Self::keep_memories(*graph, &mut memory);
        }
        memory
    }

    /// Reads the content of `element`, whose start tag the caller has read and found to be the right one.
    ///
    /// # Errors
    /// What the document has instead.
    pub fn root<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.root_attributes::<T>(element)?;
        self.root_content(element)
    }

    /// Reads the content of what is around the parts of a call in literal use, whose start tag the caller has read and found to be
    /// the right one. Many write a call without arguments as a nil one: it has no parts.
    ///
    /// # Errors
    /// What the document has instead.
    pub fn wrapper<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.root_attributes::<T>(element)?;
        match self.lenient {
            None => self.nil_has_no_children(element)?,
            // One with children is read as if it didn't say so, which is told.
            Some(_) => self.nil &= self.has_children(),
        }
        self.root_content(element)
    }

    fn root_attributes<T: FromXml>(&mut self, element: &'static Element) -> Result<(), Error> {
        match self.lenient {
            None => self.reader.use_cached_tags(),
            Some(_) => self.survey()?,
        }
        self.attributes(element, T::ATTRIBUTES)
    }

    fn root_content<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.admit(element, T::TYPE, T::NILLABLE, T::CONTENT)?;
        let value = T::content(self, element)?;
        self.is_granted().map(|()| value)
    }

    /// Reads the content and the end tag of `element` as a value, where the caller has read on to `first`, the start tag
    /// of its first child, or to its end tag. The attributes of `element` are not looked at, and nothing is tolerated.
    ///
    /// # Errors
    /// What the document has instead.
    pub fn rest<T: FromXml>(&mut self, element: &'static Element, first: Option<StartTag<'a>>) -> Result<T, Error> {
        self.insist();
        self.next = Some(match first {
            Some(tag) => Next::Start(tag),
            None => Next::End { offset: self.reader.offset().saturating_sub(1) },
        });
        let value = T::content(self, element)?;
        self.is_granted().map(|()| value)
    }
}
