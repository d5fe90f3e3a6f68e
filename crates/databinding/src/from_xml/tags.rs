//! Reading tags from the caches or through the tokeniser, and errors at tags.

use castile_xml::{Predicted, StartTag, Token};

use super::{ContentPart, Decoder, Error, ErrorKind, Expected, Next, quoted};
use crate::schema::{Attributes, Element};

impl<'a> Decoder<'a> {
    /// Consumes the start tag of `element` if the cached one is next.
    #[doc(hidden)]
    #[inline]
    pub fn cached_start(&mut self, element: &'static Element) -> bool {
        let known = self.reader.cached_start(element.slot_id());
        if known {
            self.nil = false;
        }
        known
    }

    /// Returns the predicted next tag. A predicted start tag with attributes, or the end of an empty-element tag, is read and
    /// put into `next`.
    #[inline]
    pub(super) fn predict(&mut self) -> Option<Predicted<'a>> {
        if self.is_at_end_of_empty() {
            self.recognised = 0;
            self.next = Some(Next::End { offset: self.inside(self.reader.offset()) });
            return Some(Predicted::End);
        }
        let predicted = self.reader.predict();
        if let Some(Predicted::Tag(tag, identity)) = predicted {
            self.next = Some(Next::Start(tag));
            self.recognised = identity;
        }
        predicted
    }

    /// Whether the start tag that was read last is an empty-element tag. If so, its end is consumed.
    #[inline]
    fn is_at_end_of_empty(&mut self) -> bool {
        self.lenient.is_none() && self.reader.end_of_empty()
    }

    /// Whether a cached start tag of `element` is next. A start tag with attributes is read and put into `next`.
    pub(crate) fn is_at_cached_start(&mut self, element: &'static Element) -> bool {
        let known = element.slot_id();
        if self.reader.is_at_cached_start(known) {
            self.reader.cache_successor(known, false);
            return true;
        }
        match self.reader.cached_tag(known) {
            None => false,
            Some(tag) => {
                self.reader.cache_successor(known, false);
                self.next = Some(Next::Start(tag));
                self.recognised = element.identity();
                true
            }
        }
    }

    /// Reads the start tag of `element`.
    pub(super) fn start(&mut self, element: &'static Element, attributes: &'static Attributes) -> Result<(), Error> {
        if self.next.is_none() {
            if self.reader.predicted_empty_start(element.slot_id()) {
                self.nil = false;
                return Ok(());
            }
            if self.cached_start(element) {
                return Ok(());
            }
            if self.reader.cached_tag(element.slot_id()).is_some() {
                self.reader.predict_end_of_empty();
                return self.attributes(element, attributes);
            }
        }
        loop {
            match self.peek()? {
                Next::Start(_) if self.recognised == element.identity() => {
                    self.next = None;
                    self.reader.predict_end_of_empty();
                    return self.attributes(element, attributes);
                }
                Next::Start(tag) if self.is(&tag, element) => {
                    self.next = None;
                    self.attributes(element, attributes)?;
                    self.reader.cache_start(element.slot_id());
                    self.reader.cache_successor(element.slot_id(), false);
                    return Ok(());
                }
                Next::Start(tag) if self.names_result(&tag, element) => self.pass_over()?,
                Next::Start(tag) => return Err(self.unexpected(tag, &Expected::elements([element]))),
                Next::End { offset } => return Err(self.ends_early(offset, element)),
            }
        }
    }

    /// Whether an element is an `rpc:result`, which names the part with the result, and `element` is a part. The contract
    /// already determines that part, but PHP and Axis 1.4 write this element into every RPC response, also in literal use.
    #[cold]
    fn names_result(&self, tag: &StartTag<'_>, element: &Element) -> bool {
        let (namespace, local) = self.name(tag);
        element.namespace.is_empty() && is_result(namespace, local)
    }

    /// Reads the end tag of `element`.
    pub(super) fn end(&mut self, element: &'static Element) -> Result<(), Error> {
        if self.next.is_none() && self.is_at_end_of_empty() {
            self.reader.cache_end(element.slot_id(), false);
            return Ok(());
        }
        match self.peek()? {
            Next::End { .. } => {
                self.next = None;
                self.reader.cache_end(element.slot_id(), false);
                self.reader.cache_successor(element.slot_id(), true);
                Ok(())
            }
            Next::Start(tag) => Err(self.unexpected(tag, &Expected::end_of(element))),
        }
    }

    /// Reads up to the next tag, unless it is already in `next`. Text other than white space is an error.
    pub(crate) fn peek(&mut self) -> Result<Next<'a>, Error> {
        if let Some(next) = self.next {
            return Ok(next);
        }
        if self.lenient.is_some()
            && let Some(next) = self.planned()?
        {
            return Ok(next);
        }
        loop {
            let offset = self.reader.offset();
            if let ContentPart::Text(text) = self.content_part()?
                && let Some(error) = self.stray(&text, offset)
            {
                return Err(error);
            }
            if let Some(next) = self.next {
                return Ok(next);
            }
        }
    }

    /// Reads a tag into `next`, or reads what is between tags.
    pub(super) fn content_part(&mut self) -> Result<ContentPart<'a>, Error> {
        let offset = self.reader.offset();
        self.recognised = 0;
        self.next = Some(match self.reader.next()? {
            Token::StartTag(tag) => Next::Start(tag),
            // The end of an empty-element tag takes no bytes.
            Token::EndTag(_) if self.reader.offset() == offset => Next::End { offset: self.inside(offset) },
            Token::EndTag(_) => Next::End { offset },
            Token::Text(text) => return Ok(ContentPart::Text(text)),
            Token::Comment(_) | Token::Instruction { .. } => return Ok(ContentPart::Other),
            Token::End => return Err(self.ended()),
        });
        Ok(ContentPart::Other)
    }

    /// Whether a tag is one of `element`. If only its namespace differs, that is recorded for messages.
    pub(super) fn is(&self, tag: &StartTag<'_>, element: &'static Element) -> bool {
        if self.lenient.is_none() && tag.name.local() != element.name {
            return false;
        }
        let (namespace, local) = self.name(tag);
        let is_it = element.is(namespace, local);
        if !is_it && element.name == local {
            self.near.set(Some((tag.offset, element)));
        }
        is_it
    }

    /// Returns namespace and local name of a start tag, or of the element that it stands for in the lenient plan.
    pub(super) fn name<'s>(&'s self, tag: &'s StartTag<'_>) -> (&'s str, &'s str) {
        if self.lenient.is_some()
            && let Some(element) = self.declared_child()
        {
            return (element.namespace, element.name);
        }
        (self.reader.namespace(tag.namespace), tag.name.local())
    }

    // ---- errors ----

    /// Returns an error if `text`, which begins at `offset`, is not white space.
    pub(super) fn stray(&self, text: &str, offset: usize) -> Option<Error> {
        const WHITE: [char; 4] = [' ', '\t', '\n', '\r'];
        let text = text.trim_matches(WHITE);
        if text.is_empty() {
            return None;
        }
        let message = format!("text {}, where only elements were expected", quoted(text));
        Some(Error::new(ErrorKind::Structure, self.reader.end_of_white_space(offset), message))
    }

    /// Returns an error at the next tag. If the tag was only compared with a cached one it is read here, so that the offset
    /// is the same in both cases.
    #[cold]
    pub(crate) fn wrong_here(&mut self, message: String) -> Error {
        match self.peek() {
            Ok(Next::Start(StartTag { offset, .. }) | Next::End { offset }) => {
                Error::new(ErrorKind::Structure, offset, message)
            }
            Err(error) => error,
        }
    }

    /// Returns an offset inside the element whose start tag ends at `offset`: after the tag, or inside an empty-element tag.
    #[cold]
    pub(crate) fn inside(&self, offset: usize) -> usize {
        if self.reader.source(0..offset).ends_with("/>") { offset - "/>".len() } else { offset }
    }

    #[cold]
    pub(super) fn unexpected(&self, tag: StartTag<'_>, expected: &Expected) -> Error {
        let found = self.reader.namespace(tag.namespace);
        let expected = match self.near.get() {
            Some((offset, element)) if offset == tag.offset => expected.clone().also(element).instead_of(found),
            _ => expected.instead_of(found),
        };
        let namespace = match found {
            "" => "no namespace",
            namespace => namespace,
        };
        let message = format!("found <{}> of {namespace}, where {expected} was expected", tag.name.local());
        Error::new(ErrorKind::Structure, tag.offset, message)
    }

    #[cold]
    pub(crate) fn ends_early(&self, offset: usize, element: &'static Element) -> Error {
        let message = match self.parent {
            Some(parent) => format!("<{}> ends, where <{}> was expected", parent.name, element.name),
            None => format!("found an end tag, where <{}> was expected", element.name),
        };
        Error::new(ErrorKind::Structure, offset, message)
    }

    #[cold]
    pub(super) fn ended(&self) -> Error {
        Error::new(ErrorKind::Structure, self.reader.offset(), "the document ends too early")
    }
}

/// Whether this is the name of the element that names the part with the result (SOAP 1.2 Part 2 §4.2.1).
pub(super) fn is_result(namespace: &str, local: &str) -> bool {
    (namespace, local) == (crate::encoded::RPC, "result")
}
