//! Content that a schema leaves open: elements and attributes that match a wildcard (XSD Part 1 §3.10), and values of
//! `xs:anyType` (§3.4.7).

mod values;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

use castile_datatypes::{QName, SimpleType};
use castile_xml::{Limits, Reader, Token};

use crate::encoded::{SOAP11, SOAP12};
use crate::error::Error;
use crate::fragment::{self, Content, Fragment, Part};
use crate::name::ExpandedName;
use crate::schema::XSD_NAMESPACE;

/// An element of any kind, stored as XML.
///
/// The XML is self-contained: it declares every prefix that it uses, and elements without a namespace say so (`xmlns=""`). It
/// has the same meaning wherever it is written.
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
    fragment: Fragment,
    /// The name of the element. It is computed on demand, since there may be many elements whose name is never needed.
    name: OnceLock<Box<ExpandedName>>,
}

impl Any {
    /// Parses an element from text.
    ///
    /// # Errors
    /// The text is not well-formed.
    pub fn parse(xml: &str) -> Result<Self, Error> {
        let read = || -> Result<Any, Error> {
            let mut reader = Reader::new(xml.as_bytes(), Limits::default())?;
            let element = loop {
                if let Token::StartTag(tag) = reader.next()? {
                    break fragment::Element::rest(&mut reader, tag)?;
                }
            };
            let fragment = Fragment::of_element(&element, &reader);
            while reader.next()? != Token::End {}
            Ok(Any::from(fragment))
        };
        read().map_err(|error| error.locate(xml.as_bytes(), Limits::default(), None))
    }

    /// Returns the name of the element.
    pub fn name(&self) -> &ExpandedName {
        self.name.get_or_init(|| Box::new(self.fragment.first_name()))
    }

    /// Returns the element as text.
    pub fn xml(&self) -> Cow<'_, str> {
        match self.fragment.self_contained() {
            Some(xml) => xml.into(),
            None => self.fragment.to_text().into(),
        }
    }

    pub(crate) fn fragment(&self) -> &Fragment {
        &self.fragment
    }
}

/// The fragment must consist of one element.
impl From<Fragment> for Any {
    fn from(fragment: Fragment) -> Self {
        Any { fragment, name: OnceLock::new() }
    }
}

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Any").field("name", self.name()).field("xml", &self.xml()).finish()
    }
}

impl PartialEq for Any {
    fn eq(&self, other: &Self) -> bool {
        self.fragment.is_same(&other.fragment) || self.xml() == other.xml()
    }
}

impl Eq for Any {}

impl Hash for Any {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.xml().hash(state);
    }
}

/// A sequence of elements of any kind.
///
/// They are stored as one text, as they were read. Each becomes an [`Any`] when it is asked for.
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
    fragment: Fragment,
    count: usize,
}

impl AnyElements {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Iterates over the elements.
    pub fn iter(&self) -> AnyElementsIter<'_> {
        AnyElementsIter { parts: Parts::of(&self.fragment), left: self.count }
    }

    /// Appends an element.
    pub fn push(&mut self, element: &Any) {
        self.fragment.append(&element.fragment);
        self.count += 1;
    }

    /// Appends an element that the reader has just read to its end ([`Fragment::append_element`]).
    pub(crate) fn take(&mut self, reader: &Reader<'_>, element: &fragment::Element<'_>, copy: &mut usize) {
        self.fragment.append_element(reader, element, copy);
        self.count += 1;
    }

    /// Ends the appending of elements.
    pub(crate) fn end(&mut self) {
        self.fragment.end();
    }

    pub(crate) fn fragment(&self) -> &Fragment {
        &self.fragment
    }
}

impl fmt::Debug for AnyElements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl PartialEq for AnyElements {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && (self.fragment.is_same(&other.fragment) || self.iter().eq(other))
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

/// An iterator over the elements of an [`AnyElements`].
#[derive(Debug)]
pub struct AnyElementsIter<'a> {
    parts: Parts<'a>,
    left: usize,
}

/// An iterator over the elements and texts in a fragment.
#[derive(Debug)]
struct Parts<'a> {
    fragment: &'a Fragment,
    content: Option<Content<'a>>,
    /// An element that was read while the text before it was collected.
    next: Option<Any>,
}

impl<'a> Parts<'a> {
    fn of(fragment: &'a Fragment) -> Self {
        Parts { fragment, content: fragment.content().ok(), next: None }
    }
}

impl Iterator for Parts<'_> {
    type Item = AnyPiece;

    fn next(&mut self) -> Option<AnyPiece> {
        if let Some(any) = self.next.take() {
            return Some(AnyPiece::Element(any));
        }
        let mut whole = String::new();
        // The content was parsed before, so this doesn't fail.
        while let Ok(Some(part)) = self.content.as_mut()?.next() {
            match part {
                Part::Text(_, text) => whole.push_str(&text),
                Part::Element(element) => {
                    let any = Any::from(Fragment::of(element.source, self.fragment.scope()));
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

/// An attribute that matches a wildcard.
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
/// The meaning of prefixes in its own text and in the values of its attributes is stored with the content. They are declared
/// where the value is written, unless the start tag uses such a prefix for something else. Elements in the content carry
/// their own declarations.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AnyType {
    /// The type that `xsi:type` names.
    pub type_name: Option<ExpandedName>,
    /// Its attributes.
    pub attributes: Vec<AnyAttribute>,
    /// Text and elements.
    pub content: AnyContent,
}

/// Text and elements of any kind, in any order.
///
/// They are stored as one text, as they were read. Each becomes an [`AnyPiece`] when it is asked for.
#[derive(Clone, Default)]
pub struct AnyContent {
    fragment: Fragment,
    /// Whether some text can't be represented in XML.
    is_unwritable: bool,
}

/// A part of the content of an [`AnyType`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AnyPiece {
    /// Text.
    Text(String),
    /// An element.
    Element(Any),
}

impl AnyContent {
    /// Whether there is no content.
    pub fn is_empty(&self) -> bool {
        self.fragment.is_empty()
    }

    /// Iterates over texts and elements.
    pub fn iter(&self) -> impl Iterator<Item = AnyPiece> {
        Parts::of(&self.fragment)
    }

    /// Appends text or an element.
    pub fn push(&mut self, piece: &AnyPiece) {
        match piece {
            AnyPiece::Text(text) => self.is_unwritable |= !self.fragment.push_text(text),
            AnyPiece::Element(element) => self.fragment.append(&element.fragment),
        }
    }

    pub(crate) fn fragment(&self) -> &Fragment {
        &self.fragment
    }

    pub(crate) fn is_unwritable(&self) -> bool {
        self.is_unwritable
    }
}

impl From<Fragment> for AnyContent {
    fn from(fragment: Fragment) -> Self {
        AnyContent { fragment, is_unwritable: false }
    }
}

impl fmt::Debug for AnyContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for AnyContent {
    fn eq(&self, other: &Self) -> bool {
        self.is_unwritable == other.is_unwritable
            && (self.fragment.is_same(&other.fragment) || self.iter().eq(other.iter()))
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
    /// Returns the text directly in the value, without that of its elements.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|piece| match piece {
            AnyPiece::Text(text) => Some(text),
            AnyPiece::Element(_) => None,
        });
        texts.collect()
    }

    /// Iterates over the elements directly in the value.
    pub fn elements(&self) -> impl Iterator<Item = Any> {
        self.content.iter().filter_map(|piece| match piece {
            AnyPiece::Text(_) => None,
            AnyPiece::Element(element) => Some(element),
        })
    }

    /// Returns the name that the value is, if its type is one of names.
    fn name(&self) -> Option<QName> {
        let scope = self.content.fragment.scope().filter(|_| self.type_name.as_ref().is_some_and(is_of_names))?;
        QName::parse_in(&self.text(), scope).ok().filter(|_| self.elements().next().is_none())
    }

    /// Returns the declarations of prefixes that may be used in its text and in the values of its attributes.
    fn names(&self) -> Vec<(&str, &str)> {
        // If the value is a name, it is written with the declaration that it needs.
        let has_texts = self.name().is_none();
        self.content.fragment.names(self.attributes.iter().map(|attribute| attribute.value.as_str()), has_texts)
    }
}

/// Creates a value of a simple type.
impl From<&str> for AnyType {
    fn from(text: &str) -> Self {
        AnyType { content: AnyContent::from_iter([AnyPiece::Text(text.to_owned())]), ..AnyType::default() }
    }
}

/// Whether the values of a type are names.
fn is_of_names(type_name: &ExpandedName) -> bool {
    // SOAP encoding has the built-in types in a namespace of its own.
    let is = |local| [XSD_NAMESPACE, SOAP11, SOAP12].iter().any(|namespace| type_name.is(namespace, local));
    is("QName") || is("NOTATION")
}

/// Equality compares the meaning of names and ignores prefixes.
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
