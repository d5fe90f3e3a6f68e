//! Decoding: XML tokens to values.

mod all;
mod attributes;
mod charges;

mod attribute_positions;
mod groups;
mod included;
mod lenient;
pub(crate) mod reading;
mod sequence;
mod simple;
mod tags;
pub(crate) mod types;

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use castile_budget::{Allowance, Exhausted};
use castile_datatypes::quoted;
use castile_xml::{CachedReader, Memory, StartTag};

use crate::Deviations;
use crate::encoded::{Graph, ItemType};
use crate::error::{Error, ErrorKind};
use crate::expected::Expected;
use crate::name::ExpandedName;
use crate::schema::{Attributes, Content, Element, TypeName};
use crate::xop::Includes;

#[doc(hidden)]
pub use simple::Lexical;

use attribute_positions::AttributePositions;
use lenient::Lenient;
use reading::Reading;

/// How many bytes all vectors of a document may reserve in advance, for each byte of the document. Many vectors hold only one
/// item.
const RESERVE_PER_BYTE: usize = 4;
/// How many bytes of declarations may be copied to elements that are kept as XML: the length of the document divided by
/// `COPY_PART`, plus `COPY`. Elements beyond that share the declarations around them.
const COPY_PART: usize = 2;
const COPY: usize = 64 << 10;

/// A value that can be read from an element.
///
/// The trait requires [`Send`] and [`Sync`] so that a [`Recursive`](crate::Recursive) needs no further bounds. The compiler
/// proves them by a walk through all fields of a type. With the bounds here it does so once per type, not once per field of
/// that type.
pub trait FromXml: Sized + Send + Sync + 'static {
    /// Whether the type has a value for `xsi:nil="true"`.
    #[doc(hidden)]
    const NILLABLE: bool = false;
    /// The attributes of the type.
    #[doc(hidden)]
    const ATTRIBUTES: &'static Attributes = &Attributes::NONE;
    /// The type that `xsi:type` must name if the attribute is present. It is a type from which no other type is derived, or a
    /// built-in simple type, for which `xsi:type` may also name a derived type.
    #[doc(hidden)]
    const TYPE: Option<TypeName> = None;
    /// Whether an `xsi:type` that names [`TYPE`](Self::TYPE) adds nothing to the value. In SOAP encoding, a start tag with no
    /// other attribute is then cached as a plain tag.
    #[doc(hidden)]
    const TYPE_IS_FIXED: bool = false;
    /// Whether the value may have facets. If so, [`cached_restricted`](Self::cached_restricted) is called.
    #[doc(hidden)]
    const MAY_BE_RESTRICTED: bool = false;
    /// The children that the element may have. Only a lenient decoder uses this.
    #[doc(hidden)]
    const CONTENT: &'static Content = &Content::Open;

    /// Reads the whole element if its start tag is the cached one. Reads nothing and returns `None` otherwise.
    #[doc(hidden)]
    #[inline]
    fn cached(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        if decoder.cached_start(element) { Some(Self::content(decoder, element)) } else { None }
    }

    /// Reads the whole element of a type with facets if its start tag is the cached one. Reads nothing and returns `None`
    /// otherwise. It is called only after [`cached`](Self::cached) returned `None`, so that elements without facets don't pay
    /// for it.
    #[doc(hidden)]
    #[inline]
    fn cached_restricted(decoder: &mut Decoder<'_>, element: &'static Element) -> Option<Result<Self, Error>> {
        let _ = (decoder, element);
        None
    }

    /// Returns the value of the element at `offset` if it was read before, so that all references to an element share one
    /// value.
    #[doc(hidden)]
    fn referenced(decoder: &mut Decoder<'_>, element: &'static Element, offset: usize) -> Option<Self> {
        let _ = (decoder, element, offset);
        None
    }

    /// Reads content and end tag of `element`. Its start tag was read last, so its attributes are still available.
    ///
    /// # Errors
    /// The content doesn't match the schema or is not well-formed. The error has the offset.
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error>;
}

/// What the start tag of a root element is checked against. It takes the place of a type parameter, so that code that only
/// looks at the start tag is compiled once for all types.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct RootType {
    pub(crate) attributes: &'static Attributes,
    name: Option<TypeName>,
    is_nillable: bool,
    content: &'static Content,
}

impl RootType {
    /// Returns what is known of `T`.
    pub const fn of<T: FromXml>() -> Self {
        RootType { attributes: T::ATTRIBUTES, name: T::TYPE, is_nillable: T::NILLABLE, content: T::CONTENT }
    }
}

/// Reads values from a [`Reader`](castile_xml::Reader) by a content model.
///
/// Where an element is expected, the cached tags of this position are compared first. Whatever doesn't match is tokenised.
/// Both ways must give the same values and
/// errors: a check in one of them belongs in the other, too.
#[derive(Debug)]
pub struct Decoder<'a> {
    pub(crate) reader: CachedReader<'a>,
    /// The content of `xop:Include` elements, where these are allowed.
    pub(crate) includes: Option<&'a dyn Includes>,
    /// A tag that was read ahead and not yet used.
    pub(crate) next: Option<Next<'a>>,
    /// The [identity](Element::identity) of the element as which the start tag in `next` was recognised; 0 if it wasn't
    /// recognised.
    pub(crate) recognised: usize,
    /// An expected element that has the local name of a start tag but another namespace, with the offset of that tag. Used in
    /// error messages.
    pub(crate) near: Cell<Option<(usize, &'static Element)>>,
    /// Whether the start tag that was used last has `xsi:nil="true"`.
    pub(crate) nil: bool,
    /// Whether the rules of SOAP encoding apply.
    pub(crate) is_encoded: bool,
    /// How the text of the next simple value is converted, if its `xsi:type` names a type with another lexical form.
    pub(crate) reading: Option<Reading>,
    /// The type that the array around the next element, or the name of that element, gives it. An `xsi:type` on the element
    /// takes precedence.
    pub(crate) item_type: Option<ItemType>,
    /// The type that an array gives to an item, with the offset at which the item's start tag ends. It is taken when the type
    /// of the item is asked for.
    pub(crate) given: Option<(usize, Arc<ExpandedName>)>,
    /// The positions of the declared attributes in the start tag that was read last.
    pub(crate) attribute_positions: AttributePositions,
    /// The element whose content is being read.
    pub(crate) parent: Option<&'static Element>,
    /// How many bytes vectors may still reserve in advance.
    pub(crate) reserve: usize,
    /// How many bytes of declarations may still be copied.
    pub(crate) copy: usize,
    /// The memory that values may still take.
    pub(crate) allowance: Allowance,
    /// A charge that was refused where no error could be returned.
    pub(crate) refused: Option<Exhausted>,
    /// The elements that references in SOAP encoding lead to. Created for the first reference.
    pub(crate) graph: Option<Box<Graph<'a>>>,
    /// The state of a lenient decoder. A strict one never reads it on its fast path.
    pub(crate) lenient: Option<Box<Lenient>>,
    /// The lenient state, set aside while SOAP encoding is read: only deviations in named types are tolerated there.
    pub(crate) of_types: Option<Box<Lenient>>,
    /// The repeated element that the caller reads item by item. Its occurrences were cut out of the document, so their minimum
    /// number is not checked.
    pub(crate) cut_out: Option<&'static Element>,
    /// The offset of the first element that references may lead to.
    pub(crate) references_from: usize,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Next<'a> {
    Start(StartTag<'a>),
    End { offset: usize },
}

/// What was read from the content of an element.
#[derive(Debug)]
enum ContentPart<'a> {
    Text(Cow<'a, str>),
    /// Anything other than text. If it is a tag, it is in `next`.
    Other,
}

/// An element without content.
impl FromXml for () {
    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        decoder.complex(element, |_| Ok(()))
    }
}

impl<'a> Decoder<'a> {
    /// Creates a decoder that continues at the position of `reader`.
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
            attribute_positions: AttributePositions::NONE,
            parent: None,
            reserve,
            copy,
            allowance: Allowance::unlimited(),
            refused: None,
            graph: None,
            lenient: None,
            of_types: None,
            cut_out: None,
            references_from: 0,
        }
    }

    /// Refuses references in SOAP encoding to elements before this byte offset.
    #[doc(hidden)]
    pub fn confine_references(&mut self, from: usize) {
        self.references_from = from;
    }

    /// Declares that the occurrences of an element were cut out of the document. There may be fewer of them than the schema
    /// requires.
    #[doc(hidden)]
    pub fn cut_out(&mut self, items: Option<&'static Element>) {
        self.cut_out = items;
    }

    /// Creates a decoder that tolerates and records deviations from the schema, if the value loses nothing by that.
    /// `docs/mapping.md` lists the deviations that are tolerated.
    ///
    /// A document that a strict decoder accepts gives the same value, and no deviations. Lenient decoding takes several times
    /// as long. Use it for documents that a strict decoder has rejected ([`Error::is_deviation`]). The document must not have
    /// a document type declaration.
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

    /// Whether the decoder is lenient.
    pub fn is_lenient(&self) -> bool {
        self.lenient.is_some() || self.of_types.is_some()
    }

    /// Makes the decoder strict from here on. Discards the deviations that were recorded.
    pub fn make_strict(&mut self) {
        (self.lenient, self.of_types) = (None, None);
    }

    /// Returns the deviations that were tolerated so far. A strict decoder has none.
    pub fn take_deviations(&mut self) -> Deviations {
        match self.lenient.as_mut().or(self.of_types.as_mut()) {
            None => Deviations::default(),
            Some(lenient) => lenient.take_deviations(),
        }
    }

    /// Returns the reader, to read what has no type.
    pub fn reader(&mut self) -> &mut CachedReader<'a> {
        &mut self.reader
    }

    /// Returns the buffers and caches, for the next document.
    #[inline]
    pub fn into_memory(self) -> Memory {
        let mut memory = self.reader.into_memory();
        if let Some(graph) = self.graph {
            Self::store_memories(*graph, &mut memory);
        }
        memory
    }

    /// Reads the content of `element`. The caller has read its start tag and checked its name.
    ///
    /// # Errors
    /// The content doesn't match the schema or is not well-formed.
    pub fn root<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.open_root(element, &RootType::of::<T>())?;
        self.content_of(element)
    }

    /// Reads the content of the wrapper element around the parts of a literal call. The caller has read its start tag and
    /// checked its name. Many clients write a call without arguments as a nil wrapper; it has no parts.
    ///
    /// # Errors
    /// The content doesn't match the schema or is not well-formed.
    pub fn wrapper<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        self.open_wrapper(element, &RootType::of::<T>())?;
        self.content_of(element)
    }

    fn content_of<T: FromXml>(&mut self, element: &'static Element) -> Result<T, Error> {
        let value = T::content(self, element)?;
        self.is_granted().map(|()| value)
    }

    /// Reads the attributes of `element` as [`root`](Self::root) does. The content is read next.
    ///
    /// # Errors
    /// The attributes don't match the schema or are not well-formed.
    #[doc(hidden)]
    pub fn open_root(&mut self, element: &'static Element, of: &RootType) -> Result<(), Error> {
        self.root_attributes(element, of)?;
        self.admit(element, of.name, of.is_nillable, of.content)
    }

    /// Reads the attributes of `element` as [`wrapper`](Self::wrapper) does. The content is read next.
    ///
    /// # Errors
    /// The attributes don't match the schema or are not well-formed.
    #[doc(hidden)]
    pub fn open_wrapper(&mut self, element: &'static Element, of: &RootType) -> Result<(), Error> {
        self.root_attributes(element, of)?;
        match self.lenient {
            None => self.nil_has_no_children(element)?,
            // A nil wrapper that has children is read as if it were not nil. That is recorded as a deviation.
            Some(_) => self.nil &= self.has_children(),
        }
        self.admit(element, of.name, of.is_nillable, of.content)
    }

    fn root_attributes(&mut self, element: &'static Element, of: &RootType) -> Result<(), Error> {
        match self.lenient {
            None => self.reader.use_cached_tags(),
            Some(_) => self.survey()?,
        }
        self.attributes(element, of.attributes)
    }

    /// Prepares for reading the content of an element whose start tag was read before, strictly. The caller has read up to
    /// `first`, the start tag of the first child, or to the end tag of the element.
    #[doc(hidden)]
    pub fn open_rest(&mut self, first: Option<StartTag<'a>>) {
        self.make_strict();
        self.next = Some(match first {
            Some(tag) => Next::Start(tag),
            None => Next::End { offset: self.reader.offset().saturating_sub(1) },
        });
    }

    /// Ends the content of a root element, after its value was read.
    ///
    /// # Errors
    /// A charge was refused while the value was read.
    #[doc(hidden)]
    pub fn close_root(&self) -> Result<(), Error> {
        self.is_granted()
    }
}
