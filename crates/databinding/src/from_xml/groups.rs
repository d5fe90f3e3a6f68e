//! Model groups (XSD Part 1 §3.8), wildcards (§3.10) and mixed content.
//!
//! By unique particle attribution (§3.8.6) the next tag determines which particle follows, so groups are read by recursive
//! descent. The tables [`Group::FIRST`] list what a group may begin with.

use castile_budget::BLOCK;
use castile_xml::{Predicted, Scope, StartTag};

use crate::any::{Any, AnyAttribute, AnyContent, AnyElements};
use crate::error::{Error, ErrorKind};
use crate::fragment::{self, Fragment};
use crate::group::{Group, Mixed};
use crate::model::{Matcher, Order};
use crate::schema::{Element, First, Namespaces, Wildcard};

use super::sequence::is_first_full;
use super::{ContentPart, Decoder, Expected, Next};
use crate::encoded::may_refer;

impl<'a> Decoder<'a> {
    // ---- groups ----

    /// Reads a group, which must be next.
    ///
    /// # Errors
    /// Another element is next, or the group is invalid.
    pub fn group<G: Group>(&mut self) -> Result<G, Error> {
        match G::read(self)? {
            Some(group) => Ok(group),
            None => Err(self.missing(G::FIRST)),
        }
    }

    /// Reads a group if it is next.
    ///
    /// # Errors
    /// The group is invalid.
    pub fn optional_group<G: Group>(&mut self) -> Result<Option<G>, Error> {
        G::read(self)
    }

    /// Reads a group as often as it occurs, at most `max` times.
    ///
    /// # Errors
    /// A group is invalid, or there are fewer than `min`.
    pub fn repeated_group<G: Group>(&mut self, min: u32, max: Option<u32>) -> Result<Vec<G>, Error> {
        self.repeated_group_of(min, max, G::FIRST, G::read)
    }

    /// Calls `read` as often as it returns a value, at most `max` times. The values begin with an element of `first`.
    ///
    /// # Errors
    /// An error of `read`, or there are fewer values than `min`.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn repeated_group_of<G>(
        &mut self,
        min: u32,
        max: Option<u32>,
        first: &'static [First],
        mut read: impl FnMut(&mut Self) -> Result<Option<G>, Error>,
    ) -> Result<Vec<G>, Error> {
        let mut groups = Vec::new();
        let max = max.map_or(usize::MAX, |max| max as usize);
        let start = self.reader.offset();
        let mut charged = 0;
        while groups.len() < max {
            // Groups may be large, and `?` would move them once more.
            match read(self) {
                Ok(Some(group)) => groups.push(group),
                Ok(None) => break,
                Err(error) => return Err(error),
            }
            if is_first_full(&groups) {
                groups.reserve(self.capacity_for(start, groups.len(), size_of::<G>()));
            }
            if groups.capacity() != charged {
                self.charge_capacity(&mut charged, groups.capacity(), size_of::<G>())?;
            }
        }
        if groups.len() < min as usize {
            let error = self.missing(first);
            self.tolerate(error)?;
        }
        Ok(groups)
    }

    /// Whether a group with these first elements is next.
    ///
    /// # Errors
    /// The document is not well-formed, or text is next.
    pub fn begins(&mut self, first: &'static [First]) -> Result<bool, Error> {
        if self.next.is_none() {
            match self.predict() {
                Some(Predicted::End) => return Ok(false),
                Some(Predicted::Start(identity, _) | Predicted::Tag(_, identity)) if is_first(first, identity) => {
                    return Ok(true);
                }
                Some(Predicted::Start(..)) if self.predicts_none(first) => return Ok(false),
                Some(Predicted::Tag(..)) => {}
                _ if self.is_at_cached_end() => return Ok(false),
                _ if self.is_at_cached_first(first) => return Ok(true),
                _ => {}
            }
        }
        match self.peek()? {
            Next::End { .. } => Ok(false),
            Next::Start(tag) => Ok(self.is_one_of(&tag, first)),
        }
    }

    /// Whether a tag is one that a group may begin with. Unlike [`First::takes`], it records what was expected, for messages.
    fn is_one_of(&self, tag: &StartTag<'_>, first: &'static [First]) -> bool {
        first.iter().any(|first| match first {
            First::Elements(table) => table.iter().any(|element| self.is(tag, element)),
            First::Wildcard(wildcard) => {
                let (namespace, local) = self.name(tag);
                wildcard.takes(namespace, local)
            }
            First::Group(first) => self.is_one_of(tag, first),
        })
    }

    /// Returns which of the elements in `table` is next, if any.
    ///
    /// # Errors
    /// The document is not well-formed, or text is next.
    pub fn next_of(&mut self, table: &'static [Element]) -> Result<Option<usize>, Error> {
        if self.next.is_none() {
            match self.predict() {
                Some(Predicted::End) => return Ok(None),
                Some(Predicted::Start(identity, _) | Predicted::Tag(_, identity)) => {
                    let mut known = Element::position(table, identity);
                    if known.is_none() && self.next.is_none() {
                        // Two slots may have tags with the same name.
                        let mut others = table.iter().enumerate();
                        let is_other = |element: &Element| self.reader.predicts_other(element.name_hash());
                        match others.find(|(_, element)| !is_other(element)) {
                            None => return Ok(None),
                            Some((index, element)) => known = self.is_at_cached_start(element).then_some(index),
                        }
                    }
                    if known.is_some() {
                        return Ok(known);
                    }
                }
                None if self.is_at_cached_end() => return Ok(None),
                None => {
                    let known = table.iter().position(|element| self.is_at_cached_start(element));
                    if known.is_some() {
                        return Ok(known);
                    }
                }
            }
        }
        match self.peek()? {
            Next::End { .. } => Ok(None),
            Next::Start(tag) => Ok(table.iter().position(|element| self.is(&tag, element))),
        }
    }

    fn is_at_cached_first(&mut self, first: &'static [First]) -> bool {
        first.iter().any(|first| match first {
            First::Elements(table) => table.iter().any(|element| self.is_at_cached_start(element)),
            First::Wildcard(_) => false,
            First::Group(first) => self.is_at_cached_first(first),
        })
    }

    /// Whether the predicted tag is none that the group may begin with.
    fn predicts_none(&self, first: &'static [First]) -> bool {
        first.iter().all(|first| match first {
            First::Elements(table) => table.iter().all(|element| self.reader.predicts_other(element.name_hash())),
            First::Wildcard(_) => false,
            First::Group(first) => self.predicts_none(first),
        })
    }

    /// Returns the error that the next element is not one that the group may begin with.
    #[doc(hidden)]
    #[cold]
    pub fn missing(&mut self, first: &'static [First]) -> Error {
        self.not_begun(&Expected::first(first))
    }

    #[cold]
    fn not_begun(&mut self, expected: &Expected) -> Error {
        match self.peek() {
            Ok(Next::Start(tag)) => self.unexpected(tag, expected),
            Ok(Next::End { offset }) => {
                let message = match self.parent {
                    Some(parent) => format!("<{}> ends, where {expected} was expected", parent.name),
                    None => format!("found an end tag, where {expected} was expected"),
                };
                Error::new(ErrorKind::Structure, offset, message)
            }
            Err(error) => error,
        }
    }

    // ---- wildcards ----

    /// Reads an element that matches the wildcard, which must be next.
    ///
    /// # Errors
    /// Another element is next, or the document is not well-formed.
    pub fn any(&mut self, wildcard: &'static Wildcard) -> Result<Any, Error> {
        match self.optional_any(wildcard)? {
            Some(any) => Ok(any),
            None => Err(self.no_element_of(wildcard)),
        }
    }

    #[cold]
    fn no_element_of(&mut self, wildcard: &'static Wildcard) -> Error {
        let expected = format!("an element of {}", wildcard.namespaces);
        self.not_begun(&Expected::words(expected))
    }

    /// Reads an element that matches the wildcard, if one is next.
    ///
    /// # Errors
    /// The document is not well-formed.
    pub fn optional_any(&mut self, wildcard: &'static Wildcard) -> Result<Option<Any>, Error> {
        match self.start_of_any(wildcard)? {
            Some(tag) => self.raw(tag).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the start tag of an element that matches the wildcard, if one is next.
    fn start_of_any(&mut self, wildcard: &'static Wildcard) -> Result<Option<StartTag<'a>>, Error> {
        if self.next.is_none() {
            match self.predict() {
                Some(Predicted::End) => return Ok(None),
                Some(Predicted::Start(identity, namespace))
                    if !wildcard.namespaces.allow(self.reader.namespace(namespace))
                        || is_first(wildcard.before, identity) =>
                {
                    return Ok(None);
                }
                Some(_) => {}
                // Elements of wildcards are never cached, so only the cached end tag is compared; everything else is
                // tokenised.
                None if self.is_at_cached_end() => return Ok(None),
                None => {}
            }
        }
        match self.peek()? {
            Next::Start(tag) => {
                let (namespace, local) = self.name(&tag);
                if !wildcard.takes(namespace, local) {
                    return Ok(None);
                }
                self.next = None;
                Ok(Some(tag))
            }
            Next::End { .. } => Ok(None),
        }
    }

    /// Reads the elements that match the wildcard, up to its maximum occurrence.
    ///
    /// # Errors
    /// There are fewer than its minimum occurrence.
    pub fn repeated_any(&mut self, wildcard: &'static Wildcard) -> Result<AnyElements, Error> {
        let mut elements = AnyElements::default();
        let max = wildcard.max_occurs.map_or(usize::MAX, |max| max as usize);
        while elements.len() < max
            && let Some(tag) = self.start_of_any(wildcard)?
        {
            let start = tag.offset;
            let element = fragment::Element::rest(&mut self.reader, tag)?;
            // The element takes at most three times its length; the text of the document is charged already.
            self.charge(2 * (self.reader.offset() - start))?;
            elements.take(&self.reader, &element, &mut self.copy);
            self.reader.skip_prediction();
        }
        elements.end();
        if elements.len() < wildcard.min_occurs as usize {
            let error = self.no_element_of(wildcard);
            self.tolerate(error)?;
        }
        Ok(elements)
    }

    /// Reads the rest of an element whose start tag was read, and returns the element as XML.
    ///
    /// # Errors
    /// The element is not well-formed, or its memory is not granted.
    pub fn raw(&mut self, tag: StartTag<'a>) -> Result<Any, Error> {
        let element = fragment::Element::rest(&mut self.reader, tag)?;
        // The element takes at most three times its length; the text of the document is charged already.
        self.charge(2 * (self.reader.offset() - tag.offset) + 2 * BLOCK)?;
        let mut fragment = Fragment::default();
        fragment.append_element(&self.reader, &element, &mut self.copy);
        fragment.end();
        self.reader.skip_prediction();
        Ok(Any::from(fragment))
    }

    // ---- mixed content ----

    /// Reads text and elements of any kind up to an end tag. `scope` are the declarations around them, if they are needed in
    /// any case. Otherwise they are stored only if a text may contain a name.
    ///
    /// # Errors
    /// The document is not well-formed.
    pub(crate) fn any_content(&mut self, scope: Option<Scope>) -> Result<AnyContent, Error> {
        static ANY: Wildcard = Wildcard::new(Namespaces::Any);
        let (mut content, is_encoded) = (Fragment::default(), self.is_encoded());
        if let Some(scope) = scope {
            content.share(scope);
        }
        let mut charged = self.reader.offset();
        loop {
            // At most three times its length, as for a repeated wildcard.
            self.charge(2 * self.reader.offset().saturating_sub(charged))?;
            charged = self.reader.offset();
            while self.next.is_none() {
                let offset = self.reader.offset();
                if let ContentPart::Text(_) = self.content_part()? {
                    let text = self.reader.source(offset..self.reader.offset());
                    content.append_text(&self.reader, text, self.copy);
                    if content.scope().is_none() && fragment::has_names(text, &self.reader) {
                        content.share(self.shared_scope()?);
                    }
                }
            }
            let Some(tag) = self.start_of_any(&ANY)? else { break };
            let element = fragment::Element::rest(&mut self.reader, tag)?;
            if is_encoded && may_refer(element.source) {
                content.append_written(|xml| self.unroll(tag, xml))?;
            } else {
                content.append_element(&self.reader, &element, &mut self.copy);
            }
            self.reader.skip_prediction();
        }
        content.end();
        Ok(AnyContent::from(content))
    }

    /// Returns the declarations around the element whose start tag was read last, if one of `attributes` may contain a name
    /// or the text is one.
    pub(crate) fn scope_of_names(
        &mut self,
        attributes: &[AnyAttribute],
        is_name: bool,
    ) -> Result<Option<Scope>, Error> {
        let mut values = attributes.iter().map(|attribute| attribute.value.as_str());
        let has_names = is_name || values.any(|value| fragment::has_names(value, &self.reader));
        if has_names { self.shared_scope().map(Some) } else { Ok(None) }
    }

    fn shared_scope(&mut self) -> Result<Scope, Error> {
        self.charge(self.reader.cost_of_scope())?;
        Ok(self.reader.scope())
    }

    /// Reads mixed content, up to an end tag or an element that is not one of `G`.
    ///
    /// # Errors
    /// An element is invalid or is in a wrong position.
    pub fn mixed<G: Mixed>(&mut self) -> Result<Vec<G>, Error> {
        self.mixed_of(G::order(), G::ALL, G::text, G::read)
    }

    /// Reads mixed content, up to an end tag or an element that is not in `all`.
    ///
    /// # Errors
    /// An error of `read`, or an element is in a wrong position.
    #[doc(hidden)]
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn mixed_of<G>(
        &mut self,
        order: Option<&'static Order>,
        all: &'static [First],
        of_text: impl Fn(String) -> G,
        mut read: impl FnMut(&mut Self) -> Result<Option<G>, Error>,
    ) -> Result<Vec<G>, Error> {
        let mut matcher = Matcher::default();
        let mut content = Vec::new();
        loop {
            let mut text = String::new();
            while self.next.is_none() {
                if let ContentPart::Text(more) = self.content_part()? {
                    text.push_str(&more);
                }
            }
            if !text.is_empty() {
                self.charge(BLOCK)?;
                self.push(&mut content, of_text(text))?;
            }
            if let Some(order) = order {
                self.check_order(order, &mut matcher)?;
            }
            match read(self)? {
                Some(group) => self.push(&mut content, group)?,
                None if self.lenient.is_some() && self.skip_misplaced(all)? => {}
                None => return Ok(content),
            }
        }
    }
}

impl Decoder<'_> {
    /// Checks that the next tag is allowed at this position.
    fn check_order(&mut self, order: &'static Order, matcher: &mut Matcher) -> Result<(), Error> {
        match &self.next {
            Some(Next::Start(tag)) => {
                let (namespace, local) = self.name(tag);
                let candidates = order.candidates(namespace, local);
                // An element that is not allowed anywhere is reported when it isn't read.
                if candidates.is_empty() || matcher.take(order.model(), &candidates).is_some() {
                    return Ok(());
                }
            }
            Some(Next::End { .. }) if !matcher.is_complete(order.model()) => {}
            _ => return Ok(()),
        }
        let expected = order.expected(matcher);
        let error = match self.parent {
            Some(parent) if expected.is_empty() => self.not_begun(&Expected::end_of(parent)),
            _ => self.not_begun(&expected),
        };
        // Further errors would be consequences of this one.
        matcher.lose();
        self.tolerate(error)
    }
}

/// Whether the element with this identity is one that the group may begin with.
fn is_first(first: &'static [First], identity: usize) -> bool {
    first.iter().any(|first| match first {
        First::Elements(table) => Element::position(table, identity).is_some(),
        First::Wildcard(_) => false,
        First::Group(first) => is_first(first, identity),
    })
}
