//! What a schema leaves open: elements and attributes that a wildcard takes (XSD Part 1 §3.10), and values of
//! `xs:anyType` (§3.4.7).

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use castile_xml::{Limits, Reader, Token};

use crate::datatypes::{QName, SimpleType};
use crate::encoded::{Encoding, SOAP11, SOAP12};
use crate::from_xml::{Decoder, FromXml, is_of_references};
use crate::kept::{self, Content, Part, Run, unlimited};
use crate::schema::{Attributes, Element, XSD_NAMESPACE, is_same};
use crate::to_xml::{Encoder, ToXml};
use crate::{Deviations, Error};

/// The name of an element or attribute with its namespace (Namespaces in XML 1.0 §2.1).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ExpandedName {
    /// The namespace name, empty for none. Names of one message share it.
    pub namespace: Arc<str>,
    /// The local name.
    pub local: String,
}

impl ExpandedName {
    /// A name in a namespace, or in none if that is empty.
    pub fn new(namespace: impl Into<Arc<str>>, local: impl Into<String>) -> Self {
        ExpandedName { namespace: namespace.into(), local: local.into() }
    }

    /// Whether it is this name: in no namespace if that is empty.
    #[inline]
    pub fn is(&self, namespace: &str, local: &str) -> bool {
        self.local == local && is_same(&self.namespace, namespace)
    }
}

impl fmt::Display for ExpandedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.namespace {
            "" => f.write_str(&self.local),
            namespace => write!(f, "{{{namespace}}}{}", self.local),
        }
    }
}

/// An element of any kind, as XML.
///
/// The text stands for itself: every prefix in it is declared in it, and where an element is in no namespace it says so
/// (`xmlns=""`), so it means the same wherever it is written.
///
/// ```
/// use castile_databinding::Any;
///
/// let any = Any::parse("<size xmlns='urn:s'>12</size>")?;
/// assert_eq!(any.name().to_string(), "{urn:s}size");
/// assert_eq!(any.read::<i32>()?, 12);
/// # Ok::<(), castile_databinding::Error>(())
/// ```
#[derive(Clone)]
pub struct Any {
    run: Run,
    /// Its name, once it is asked for: most have none that is needed, and there may be many.
    name: OnceLock<Box<ExpandedName>>,
}

impl Any {
    /// The element that a text is.
    ///
    /// # Errors
    /// That it isn't well-formed.
    pub fn parse(xml: &str) -> Result<Self, Error> {
        let read = || -> Result<Any, Error> {
            let mut reader = Reader::new(xml.as_bytes(), Limits::default())?;
            let element = loop {
                if let Token::StartTag(tag) = reader.next()? {
                    break kept::Element::rest(&mut reader, tag)?;
                }
            };
            let run = Run::alone(&element, &reader);
            while reader.next()? != Token::End {}
            Ok(Any::from(run))
        };
        read().map_err(|error| error.locate(xml.as_bytes(), Limits::default(), None))
    }

    /// A value as an element. `start` and `end` are its tags, with the declarations of all prefixes that the value is
    /// written with: those of an operation's request or response will do. In SOAP encoding they lack `soapenc`, the prefix of
    /// its attributes, which depends on the version of a message; here that of SOAP 1.1 is declared where it is used.
    ///
    /// # Errors
    /// That the value holds what XML can't carry, or that the tags are none.
    pub fn from_value<T: ToXml>(start: &str, value: &T, end: &str) -> Result<Self, Error> {
        let write = |start: &str| {
            let mut out = Encoder::default();
            out.element(start, value, end);
            out.finish().map(|written| String::from_utf8_lossy(&written).into_owned())
        };
        let mut xml = write(start)?;
        if xml.contains("soapenc:") && !start.contains(" xmlns:soapenc=") {
            let start = start.strip_suffix('>').unwrap_or(start);
            xml = write(&format!("{start} xmlns:soapenc=\"{}\">", Encoding::Soap11.namespace()))?;
        }
        Any::parse(&xml)
    }

    /// The name of the element.
    pub fn name(&self) -> &ExpandedName {
        self.name.get_or_init(|| Box::new(self.run.first_name()))
    }

    /// The element as a text.
    pub fn xml(&self) -> Cow<'_, str> {
        match self.run.standing_alone() {
            Some(xml) => xml.into(),
            None => self.run.to_text().into(),
        }
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    /// Reads the element as a `T`, whatever its name.
    ///
    /// # Errors
    /// What it is instead.
    pub fn read<T: FromXml>(&self) -> Result<T, Error> {
        read(&self.xml(), Decoder::new).map(|(value, _)| value)
    }

    /// Reads the element as a `T`, whatever its name. What deviates is tolerated and told ([`Decoder::lenient`]).
    ///
    /// # Errors
    /// What can't be tolerated.
    pub fn read_lenient<T: FromXml>(&self) -> Result<(T, Deviations), Error> {
        read(&self.xml(), Decoder::lenient)
    }
}

/// An element that is all of a run.
impl From<Run> for Any {
    fn from(run: Run) -> Self {
        Any { run, name: OnceLock::new() }
    }
}

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Any").field("name", self.name()).field("xml", &self.xml()).finish()
    }
}

impl PartialEq for Any {
    fn eq(&self, other: &Self) -> bool {
        self.run.is_same(&other.run) || self.xml() == other.xml()
    }
}

impl Eq for Any {}

impl Hash for Any {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.xml().hash(state);
    }
}

/// Elements of any kind, one behind another.
///
/// They are kept as they came, in one piece, and each is made an [`Any`] when it is asked for.
///
/// ```
/// use castile_databinding::{Any, AnyElements};
///
/// let mut elements = AnyElements::default();
/// elements.push(&Any::parse("<size xmlns='urn:s'>12</size>")?);
/// elements.push(&Any::parse("<size xmlns='urn:s'>13</size>")?);
/// let sizes: Result<Vec<i32>, _> = elements.iter().map(|any| any.read()).collect();
/// assert_eq!(sizes?, [12, 13]);
/// # Ok::<(), castile_databinding::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct AnyElements {
    run: Run,
    count: usize,
}

impl AnyElements {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The elements, in their order.
    pub fn iter(&self) -> AnyElementsIter<'_> {
        AnyElementsIter { parts: Parts::of(&self.run), left: self.count }
    }

    /// Appends an element.
    pub fn push(&mut self, element: &Any) {
        self.run.append(&element.run);
        self.count += 1;
    }

    /// Appends an element that the reader has just read to its end; see [`Run::take`].
    pub(crate) fn take(&mut self, reader: &Reader<'_>, element: &kept::Element<'_>, copy: &mut usize) {
        self.run.take(reader, element, copy);
        self.count += 1;
    }

    /// That no more are taken.
    pub(crate) fn end(&mut self) {
        self.run.end();
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }
}

impl fmt::Debug for AnyElements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl PartialEq for AnyElements {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && (self.run.is_same(&other.run) || self.iter().eq(other))
    }
}

impl Eq for AnyElements {}

impl<'a> IntoIterator for &'a AnyElements {
    type Item = Any;
    type IntoIter = AnyElementsIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Extend<Any> for AnyElements {
    fn extend<I: IntoIterator<Item = Any>>(&mut self, elements: I) {
        elements.into_iter().for_each(|element| self.push(&element));
    }
}

impl FromIterator<Any> for AnyElements {
    fn from_iter<I: IntoIterator<Item = Any>>(elements: I) -> Self {
        let mut collected = AnyElements::default();
        collected.extend(elements);
        collected
    }
}

/// The elements of an [`AnyElements`], made one after another.
#[derive(Debug)]
pub struct AnyElementsIter<'a> {
    parts: Parts<'a>,
    left: usize,
}

/// What is in a run, made one after another.
#[derive(Debug)]
struct Parts<'a> {
    run: &'a Run,
    content: Option<Content<'a>>,
    /// An element that came behind a text.
    next: Option<Any>,
}

impl<'a> Parts<'a> {
    fn of(run: &'a Run) -> Self {
        Parts { run, content: run.content().ok(), next: None }
    }
}

impl Iterator for Parts<'_> {
    type Item = AnyPiece;

    fn next(&mut self) -> Option<AnyPiece> {
        if let Some(any) = self.next.take() {
            return Some(AnyPiece::Element(any));
        }
        let mut whole = String::new();
        // What was kept was read before, so there is no error.
        while let Ok(Some(part)) = self.content.as_mut()?.next() {
            match part {
                Part::Text(_, text) => whole.push_str(&text),
                Part::Element(element) => {
                    let any = Any::from(Run::of(element.source, self.run.scope()));
                    if whole.is_empty() {
                        return Some(AnyPiece::Element(any));
                    }
                    self.next = Some(any);
                    break;
                }
            }
        }
        (!whole.is_empty()).then_some(AnyPiece::Text(whole))
    }
}

impl Iterator for AnyElementsIter<'_> {
    type Item = Any;

    fn next(&mut self) -> Option<Any> {
        let any = loop {
            if let AnyPiece::Element(any) = self.parts.next()? {
                break any;
            }
        };
        self.left = self.left.saturating_sub(1);
        Some(any)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for AnyElementsIter<'_> {}

/// The element that is read where no schema says which one comes: any other stands in its place. Its tags are not kept.
pub(crate) static ELEMENT: Element = Element::new("", "*", u16::MAX);

fn read<'a, T: FromXml>(xml: &'a str, decoder: fn(Reader<'a>) -> Decoder<'a>) -> Result<(T, Deviations), Error> {
    let limits = unlimited();
    let read = || {
        let mut reader = Reader::new(xml.as_bytes(), limits)?;
        while !matches!(reader.next()?, Token::StartTag(_)) {}
        let mut decoder = decoder(reader);
        let value = decoder.root(&ELEMENT)?;
        Ok((value, decoder.take_deviations().locate(xml.as_bytes(), limits, None)))
    };
    read().map_err(|error: Error| error.locate(xml.as_bytes(), limits, None))
}

/// An attribute that a wildcard takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AnyAttribute {
    /// Its name.
    pub name: ExpandedName,
    /// Its value.
    pub value: String,
}

/// A value of `xs:anyType`: attributes, and text and elements in any order.
///
/// What prefixes mean in its own text and in the values of its attributes is kept with the content, and declared where the value
/// is written, unless the start tag has such a prefix for something else. Names in elements are theirs.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AnyType {
    /// What `xsi:type` says.
    pub type_name: Option<ExpandedName>,
    /// Its attributes.
    pub attributes: Vec<AnyAttribute>,
    /// Text and elements.
    pub content: AnyContent,
}

/// Text and elements of any kind, in any order.
///
/// They are kept as they came, in one piece, and each is made an [`AnyPiece`] when it is asked for.
#[derive(Clone, Default)]
pub struct AnyContent {
    run: Run,
    /// Whether XML can't carry some text.
    is_unwritable: bool,
}

/// A piece of the content of an [`AnyType`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AnyPiece {
    /// Text.
    Text(String),
    /// An element.
    Element(Any),
}

impl AnyContent {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.run.is_empty()
    }

    /// Text and elements, in their order.
    pub fn iter(&self) -> impl Iterator<Item = AnyPiece> {
        Parts::of(&self.run)
    }

    /// Appends text or an element.
    pub fn push(&mut self, piece: &AnyPiece) {
        match piece {
            AnyPiece::Text(text) => self.is_unwritable |= !self.run.push_text(text),
            AnyPiece::Element(element) => self.run.append(&element.run),
        }
    }

    pub(crate) fn run(&self) -> &Run {
        &self.run
    }

    pub(crate) fn is_unwritable(&self) -> bool {
        self.is_unwritable
    }
}

impl From<Run> for AnyContent {
    fn from(run: Run) -> Self {
        AnyContent { run, is_unwritable: false }
    }
}

impl fmt::Debug for AnyContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for AnyContent {
    fn eq(&self, other: &Self) -> bool {
        self.is_unwritable == other.is_unwritable && (self.run.is_same(&other.run) || self.iter().eq(other.iter()))
    }
}

impl Eq for AnyContent {}

impl Extend<AnyPiece> for AnyContent {
    fn extend<I: IntoIterator<Item = AnyPiece>>(&mut self, pieces: I) {
        pieces.into_iter().for_each(|piece| self.push(&piece));
    }
}

impl FromIterator<AnyPiece> for AnyContent {
    fn from_iter<I: IntoIterator<Item = AnyPiece>>(pieces: I) -> Self {
        let mut content = AnyContent::default();
        content.extend(pieces);
        content
    }
}

impl AnyType {
    /// The text that stands directly in it.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|piece| match piece {
            AnyPiece::Text(text) => Some(text),
            AnyPiece::Element(_) => None,
        });
        texts.collect()
    }

    /// The elements in it.
    pub fn elements(&self) -> impl Iterator<Item = Any> {
        self.content.iter().filter_map(|piece| match piece {
            AnyPiece::Text(_) => None,
            AnyPiece::Element(element) => Some(element),
        })
    }

    /// Reads it as a `T`, which must be what [`type_name`](Self::type_name) says, if that is a type of a contract. What says that it
    /// is of a built-in type is read as in SOAP encoding: as any value that can be told from the text, or from the bytes that this
    /// stands for.
    ///
    /// # Errors
    /// What it is instead, or that it holds what XML can't carry.
    pub fn read<T: FromXml>(&self) -> Result<T, Error> {
        read(&self.to_text()?, Decoder::new).map(|(value, _)| value)
    }

    /// Reads it as a `T`, as [`read`](Self::read) does. What deviates is tolerated and told ([`Decoder::lenient`]).
    ///
    /// # Errors
    /// What can't be tolerated, or that it holds what XML can't carry.
    pub fn read_lenient<T: FromXml>(&self) -> Result<(T, Deviations), Error> {
        read(&self.to_text()?, Decoder::lenient)
    }

    /// An element with its attributes and content.
    fn to_text(&self) -> Result<String, Error> {
        let mut out = Encoder::default();
        let AnyType { type_name, attributes, content } = self;
        // These say nothing of a value.
        let type_name = type_name
            .as_ref()
            .filter(|name| {
                ![SOAP11, SOAP12].iter().any(|encoding| name.is(encoding, "Array") || name.is(encoding, "Struct"))
            })
            .filter(|name| !name.is(XSD_NAMESPACE, "anyType"));
        out.raw("<any");
        out.any_start(type_name, attributes, &self.names());
        out.raw(">");
        match self.name() {
            Some(name) => out.simple(&name),
            None => out.any_content(content),
        }
        out.raw("</any>");
        Ok(String::from_utf8_lossy(&out.finish()?).into_owned())
    }

    /// The name that it is, if it is one by its type.
    fn name(&self) -> Option<QName> {
        let scope = self.content.run.scope().filter(|_| self.type_name.as_ref().is_some_and(is_of_names))?;
        QName::parse_in(&self.text(), scope).ok().filter(|_| self.elements().next().is_none())
    }

    /// The declarations of prefixes that its text and the values of its attributes may have.
    fn names(&self) -> Vec<(&str, &str)> {
        // The one that it is itself is written with what it needs.
        let has_texts = self.name().is_none();
        self.content.run.names(self.attributes.iter().map(|attribute| attribute.value.as_str()), has_texts)
    }
}

/// A value of a simple type.
impl From<&str> for AnyType {
    fn from(text: &str) -> Self {
        AnyType { content: AnyContent::from_iter([AnyPiece::Text(text.to_owned())]), ..AnyType::default() }
    }
}

impl FromXml for AnyType {
    const ATTRIBUTES: &'static Attributes = &Attributes::ANY;

    fn content(decoder: &mut Decoder<'_>, element: &'static Element) -> Result<Self, Error> {
        let mut type_name = decoder.type_name()?;
        if decoder.is_encoded() && type_name.is_none() {
            type_name = decoder.type_of_name();
        }
        let mut attributes = decoder.any_attributes(Self::ATTRIBUTES);
        if decoder.is_encoded() {
            attributes.retain(|attribute| !is_of_references(attribute));
        }
        let scope = decoder.scope_of_names(&attributes, type_name.as_ref().is_some_and(is_of_names))?;
        let content = decoder.complex(element, |decoder| decoder.any_content(scope))?;
        Ok(AnyType { type_name, attributes, content })
    }
}

/// Whether values of a type are names.
fn is_of_names(type_name: &ExpandedName) -> bool {
    // SOAP encoding has the built-in types under names of its own.
    let is = |local| [XSD_NAMESPACE, SOAP11, SOAP12].iter().any(|namespace| type_name.is(namespace, local));
    is("QName") || is("NOTATION")
}

impl ToXml for AnyType {
    const HAS_ATTRIBUTES: bool = true;

    fn element(&self, out: &mut Encoder, start: &str, end: &str) {
        let names = self.names();
        let other = out.with_other_prefix(start, &names);
        let (start, end) = other.as_ref().map_or((start, end), |(start, end)| (start.as_str(), end.as_str()));
        out.raw(start.strip_suffix('>').unwrap_or(start));
        out.any_start(self.type_name.as_ref(), &self.attributes, &names);
        self.rest(out, end);
    }

    fn attributes(&self, out: &mut Encoder) {
        out.any_start(self.type_name.as_ref(), &self.attributes, &self.names());
    }

    fn content(&self, out: &mut Encoder) {
        match self.name() {
            Some(name) => out.simple(&name),
            None => out.any_content(&self.content),
        }
    }
}

/// Names are the same where they mean the same, whatever their prefixes.
impl PartialEq for AnyType {
    fn eq(&self, other: &Self) -> bool {
        let names =
            |any: &AnyType| any.names().into_iter().collect::<BTreeSet<_>>() == other.names().into_iter().collect();
        let is_same_content = match (self.name(), other.name()) {
            (None, None) => self.content == other.content,
            (name, other) => name == other,
        };
        self.type_name == other.type_name && self.attributes == other.attributes && is_same_content && names(self)
    }
}

impl Eq for AnyType {}
