//! State of documents with a document type declaration: general entities and declared attributes (XML 1.0 §3.3, §4.4).
//! Messages never need it.

use crate::dtd::{Dtd, Expansion, Failure, Reference, collapse, general_reference};
use crate::error::{Error, ErrorKind};
use crate::token::Token;
use crate::{Limits, QName};

use super::{Memory, RawAttribute, Reader, Source, Span, Stage};

#[derive(Debug)]
pub(super) struct Document<'a> {
    text: &'a str,
    dtd: &'a Dtd,
    expansion: Expansion,
    /// The entities that are being read in content, innermost last.
    entities: Vec<OpenEntity<'a>>,
    unread: Option<&'a str>,
    /// For each declared attribute, the number of the last tag that specified it.
    specified: Vec<u64>,
    tags: u64,
}

/// An entity whose replacement text is being read, and where reading continues after it.
#[derive(Debug)]
struct OpenEntity<'a> {
    index: usize,
    name: &'a str,
    /// The text that contains the reference, and where the reference begins and ends in it.
    outside: &'a str,
    reference: usize,
    end: usize,
    /// How many elements were open at the reference.
    depth: usize,
}

impl<'a> Document<'a> {
    /// Returns the innermost entity that is being read, and the outermost one, which the document itself refers to.
    fn reading(&self) -> Option<(&OpenEntity<'a>, &OpenEntity<'a>)> {
        self.entities.last().zip(self.entities.first())
    }

    /// Converts an offset in the text that is being read to one in the document.
    pub(super) fn offset(&self, offset: usize) -> usize {
        self.entities.first().map_or(offset, |entity| entity.reference)
    }

    /// Returns the offset in the document where reading continues, for an offset in the text that is being read.
    pub(super) fn end_offset(&self, offset: usize) -> usize {
        self.entities.first().map_or(offset, |entity| entity.end)
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }
}

impl<'a> Reader<'a> {
    /// Creates a reader of a document in decoded text.
    pub(crate) fn of_document(text: &'a str, dtd: Option<&'a Dtd>, limits: Limits) -> Self {
        let mut reader = Reader::over(text, limits, Memory::default(), true);
        reader.document = dtd.map(|dtd| {
            Box::new(Document {
                text,
                dtd,
                expansion: Expansion::new(dtd.expanded, limits.entity_expansion),
                entities: Vec::new(),
                unread: None,
                specified: vec![0; dtd.attribute_count()],
                tags: 0,
            })
        });
        reader.is_watched = reader.document.is_some();
        reader
    }

    /// Returns the first entity that was referenced and not read, because it is, or may be, declared outside the
    /// document. If there is none, everything up to here was read.
    pub fn unread_entity(&self) -> Option<&str> {
        self.document.as_ref().and_then(|document| document.unread)
    }

    /// Reads the next token of a document with a document type declaration.
    #[cold]
    #[inline(never)]
    pub(super) fn next_in_document(&mut self) -> Result<Token<'a>, Error> {
        let Some((entity, outermost)) = self.document.as_ref().and_then(|document| document.reading()) else {
            return self.next_unwatched();
        };
        let place = outermost.reference;
        let inside = self.memory.open.len() > entity.depth;
        if !self.end_is_due && self.at == self.input.len() {
            if inside {
                let message = format!("the entity \"{}\" ends where </{}> was expected", entity.name, self.open_name());
                return Err(Error::new(ErrorKind::WellFormedness, place, message));
            }
            return Ok(self.leave_entity());
        }
        if !self.end_is_due && !inside && self.input.as_bytes()[self.at..].starts_with(b"</") {
            let message = format!("the entity \"{}\" has an end tag without a start tag", entity.name);
            return Err(Error::new(ErrorKind::WellFormedness, place, message));
        }
        match self.next_unwatched() {
            Ok(Token::StartTag(mut tag)) => {
                tag.offset = place;
                Ok(Token::StartTag(tag))
            }
            Ok(token) => Ok(token),
            Err(error) => Err(error.relocated(place)),
        }
    }

    /// Reads the next token of the current text as in a message. So messages need only one check for what documents
    /// need.
    fn next_unwatched(&mut self) -> Result<Token<'a>, Error> {
        self.is_watched = false;
        let token = self.next();
        self.is_watched = true;
        token
    }

    /// Skips the document type declaration if it is next. It was read before.
    #[cold]
    pub(super) fn skip_doctype(&mut self) -> bool {
        let Some(document) = &self.document else { return false };
        let is_next = self.at == document.dtd.start && matches!(self.stage, Stage::Start | Stage::Prolog);
        if is_next {
            self.at = document.dtd.end;
            self.stage = Stage::Prolog;
        }
        is_next
    }

    /// Reads the reference at `at` in content, to an entity that is not predefined. Reading continues in its
    /// replacement text. `otherwise` is the error if this is not a reference to a declared entity.
    pub(super) fn enter_entity(&mut self, at: usize, otherwise: Failure) -> Result<Token<'a>, Error> {
        let failure = |(kind, message): Failure| Error::new(kind, at, message);
        let (Some(document), Some((name, end))) = (&mut self.document, general_reference(self.input, at)) else {
            return Err(failure(otherwise));
        };
        match document.dtd.entity(name).map_err(|message| failure((ErrorKind::WellFormedness, message)))? {
            Reference::Internal { index, text } => {
                document.expansion.open(index, name, text).map_err(failure)?;
                let depth = self.memory.open.len();
                document.entities.push(OpenEntity { index, name, outside: self.input, reference: at, end, depth });
                self.read_on(text, 0);
            }
            Reference::External | Reference::Unread => {
                document.unread.get_or_insert(name);
                self.at = end;
            }
        }
        Ok(Token::Text("".into()))
    }

    /// Returns the name of an attribute whose value is a default.
    pub(super) fn default_name(&self, value: Span) -> QName<'a> {
        let declaration = self.document.as_ref().map(|document| document.dtd.attribute(value.start as usize));
        declaration.map_or(QName::new("", 0), |declaration| QName::new(&declaration.name, declaration.local))
    }

    /// Returns the default value of an attribute.
    pub(super) fn default_value(&self, value: Span) -> &'a str {
        let declaration = self.document.as_ref().map(|document| document.dtd.attribute(value.start as usize));
        declaration.and_then(|declaration| declaration.default.as_deref()).unwrap_or_default()
    }

    /// Whether the document has a document type declaration, which may declare entities.
    pub(crate) fn has_doctype(&self) -> bool {
        self.document.is_some()
    }

    /// Whether replacement text is being read.
    pub(super) fn is_in_entity(&self) -> bool {
        self.document.as_ref().is_some_and(|document| !document.entities.is_empty())
    }

    fn leave_entity(&mut self) -> Token<'a> {
        if let Some(document) = &mut self.document
            && let Some(entity) = document.entities.pop()
        {
            document.expansion.close(entity.index);
            self.read_on(entity.outside, entity.end);
        }
        Token::Text("".into())
    }

    /// Continues in another text. The attributes of the last tag are in the previous text, so they are cleared.
    fn read_on(&mut self, text: &'a str, at: usize) {
        self.memory.attributes.clear();
        self.input = text;
        self.at = at;
    }

    /// Appends the replacement of the reference at `at`, in an attribute value, to the values. Returns where the
    /// reference ends.
    pub(super) fn expand_reference(&mut self, at: usize, otherwise: Failure) -> Result<usize, Error> {
        let failure = |(kind, message): Failure| Error::new(kind, at, message);
        let (Some(document), Some((name, end))) = (&mut self.document, general_reference(self.input, at)) else {
            return Err(failure(otherwise));
        };
        let dtd = document.dtd;
        let unread = dtd.push_entity(name, &mut self.memory.values, &mut document.expansion).map_err(failure)?;
        document.unread = document.unread.or(unread);
        Ok(end)
    }

    /// Normalises the attributes of the current tag by their declared types, and adds declared defaults for those that
    /// are absent.
    pub(super) fn apply_declarations(&mut self, element: QName<'a>) -> Result<(), Error> {
        let Some(mut document) = self.document.take() else { return Ok(()) };
        let result = self.apply_declarations_of(&mut document, element);
        self.document = Some(document);
        result
    }

    fn apply_declarations_of(&mut self, document: &mut Document<'a>, element: QName<'a>) -> Result<(), Error> {
        let dtd = document.dtd;
        let Some(declared) = dtd.attributes_of(element.as_str()) else { return Ok(()) };
        document.tags += 1;
        for index in 0..self.memory.attributes.len() {
            let raw = self.memory.attributes[index];
            let Some(declaration) = declared.find(self.raw_name(&raw).as_str()) else { continue };
            document.specified[declaration] = document.tags;
            if dtd.attribute(declaration).is_tokenized
                && let Some(value) = collapse(self.value(raw.value))
            {
                let start = self.memory.values.len() as u32;
                self.memory.values.push_str(&value);
                let end = self.memory.values.len() as u32;
                self.memory.attributes[index].value = Span { start, end, source: Source::Values };
            }
        }
        for &declaration in &declared.defaults {
            if document.specified[declaration] == document.tags {
                continue;
            }
            if self.memory.attributes.len() >= self.memory.limits.attributes {
                return Err(self.limit(self.at, "a tag with more than", self.memory.limits.attributes, "attributes"));
            }
            let attribute = dtd.attribute(declaration);
            let length = attribute.default.as_ref().map_or(0, |value| value.len());
            // A default counts like the expansion of an entity.
            document
                .expansion
                .add(attribute.name.len() + length)
                .map_err(|(kind, message)| Error::new(kind, self.at, message))?;
            let value = Span { start: declaration as u32, end: length as u32, source: Source::Default };
            let raw = RawAttribute::new(self.at, attribute.name.as_bytes(), attribute.local, value);
            self.memory.attributes.push(raw);
        }
        Ok(())
    }
}
