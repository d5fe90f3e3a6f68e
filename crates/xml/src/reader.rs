//! Bytes to tokens.

use std::borrow::Cow;

use crate::error::{Error, ErrorKind};
use crate::layout::{Known, Layouts};
use crate::name::end_of_ncname;
use crate::namespaces::{NamespaceId, Namespaces, XML_NAMESPACE, XMLNS_NAMESPACE};
use crate::preamble::Preambles;
use crate::token::{Attribute, StartTag, Token};
use crate::{Limits, QName, escape, scan};

/// A pull reader over a document that lies in memory.
///
/// Work and memory are linear in the size of the document. Nothing recurses.
#[derive(Debug)]
pub struct Reader<'a> {
    input: &'a str,
    /// The next byte to be read.
    at: usize,
    limits: Limits,
    memory: Memory,
    stage: Stage,
    /// An empty-element tag was read, its end was not yet told.
    end_is_due: bool,
    /// Where the last tag ended, and the one before it.
    tag_end: usize,
    previous_tag_end: usize,
    /// The learned start tag that the last closed element had, 0 if none.
    closed: u64,
    /// The number of declarations in scope at which learned tags hold. `None` while nothing is learned or used.
    layout_scope: Option<usize>,
    /// Whether learned tags hold right here.
    layout_holds: bool,
    /// Whether the first of the preambles is how this document begins.
    begins_as_known: bool,
}

/// The buffers of a reader, to be handed from one document to the next: a warm reader allocates nothing.
#[derive(Debug, Default)]
pub struct Memory {
    open: Vec<Open>,
    namespaces: Namespaces,
    attributes: Vec<RawAttribute>,
    /// Attribute values that differ from what the document says.
    values: String,
    layouts: Layouts,
    preambles: Preambles,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing was read yet: an XML declaration may come.
    Start,
    Prolog,
    Content,
    Epilog,
}

/// An element whose end tag has not come yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) name: u32,
    name_length: u32,
    local: u32,
    /// How many declarations were in scope around it.
    namespaces: u32,
    /// The learned start tag it came with, 0 if none.
    learned: u64,
}

#[derive(Clone, Copy, Debug)]
struct RawAttribute {
    name: u32,
    name_length: u32,
    local: u32,
    namespace: NamespaceId,
    value: Span,
}

/// Where a value lies: in the document, or where it was normalised to.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
    normalised: bool,
}

/// Attributes up to which every pair is compared; beyond, they are sorted.
const FEW_ATTRIBUTES: usize = 12;

impl<'a> Reader<'a> {
    /// A reader of `input`, which is UTF-8 with or without a byte order mark.
    ///
    /// # Errors
    /// [`ErrorKind::Encoding`] if it is not UTF-8, [`ErrorKind::Limit`] if it is too large.
    pub fn new(input: &'a [u8], limits: Limits) -> Result<Self, Error> {
        Self::with_memory(input, limits, Memory::default())
    }

    /// The same with the buffers of an earlier reader.
    ///
    /// # Errors
    /// As for [`new`](Self::new). The buffers are lost with it.
    pub fn with_memory(input: &'a [u8], limits: Limits, mut memory: Memory) -> Result<Self, Error> {
        if input.len() > limits.message_size.min(u32::MAX as usize) {
            let message =
                format!("the document has {} bytes, more than the limit of {}", input.len(), limits.message_size);
            return Err(Error::new(ErrorKind::Limit, limits.message_size, message));
        }
        let input = match simdutf8::basic::from_utf8(input) {
            Ok(input) => input,
            Err(_) => {
                let offset = simdutf8::compat::from_utf8(input).err().map_or(0, |error| error.valid_up_to());
                let message = format!("byte 0x{:02X} is not UTF-8, the encoding that was expected", input[offset]);
                return Err(Error::new(ErrorKind::Encoding, offset, message));
            }
        };
        memory.open.clear();
        memory.namespaces.clear();
        memory.attributes.clear();
        Ok(Reader {
            input,
            at: if input.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 },
            limits,
            memory,
            stage: Stage::Start,
            end_is_due: false,
            tag_end: 0,
            previous_tag_end: 0,
            closed: 0,
            layout_scope: None,
            layout_holds: false,
            begins_as_known: false,
        })
    }

    /// The buffers, for the next document.
    pub fn into_memory(self) -> Memory {
        self.memory
    }

    /// The document.
    pub fn input(&self) -> &'a str {
        self.input
    }

    /// The offset of the next byte to be read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// How many elements are open.
    pub fn depth(&self) -> usize {
        self.memory.open.len()
    }

    /// The limits it keeps.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The name of a namespace that a token named; empty for none.
    pub fn namespace(&self, id: NamespaceId) -> &str {
        self.memory.namespaces.name(id)
    }

    /// The namespace that `prefix` is bound to here, `None` if it is unbound. The empty prefix asks for the default
    /// namespace, whose name is empty where there is none.
    pub fn resolve(&self, prefix: &str) -> Option<&str> {
        self.memory.namespaces.resolve(prefix).map(|id| self.memory.namespaces.name(id))
    }

    /// Every prefix in scope with its namespace name, innermost first; a prefix may come again further out.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.memory.namespaces.iter()
    }

    /// The attributes of the start tag that was read last, namespace declarations left out.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'_>> {
        self.memory.attributes.iter().filter(|raw| !self.declares(raw)).map(|raw| self.attribute(raw))
    }

    /// Whether the start tag that was read last has no attributes and declares nothing.
    pub fn is_plain(&self) -> bool {
        self.memory.attributes.is_empty()
    }

    /// The next token.
    ///
    /// # Errors
    /// The first rule that the document breaks. What comes after an error is not defined.
    #[allow(
        clippy::should_implement_trait,
        reason = "a token borrows nothing from the reader, but errors end the document"
    )]
    pub fn next(&mut self) -> Result<Token<'a>, Error> {
        if self.end_is_due {
            self.end_is_due = false;
            return Ok(self.close());
        }
        match self.input.as_bytes().get(self.at) {
            Some(b'<') => self.markup(),
            Some(_) if self.stage == Stage::Content => self.text(),
            Some(_) => self.between(),
            None => self.end(),
        }
    }

    /// Reads on to the end tag of the element that was opened last, checking all on the way.
    ///
    /// # Errors
    /// As for [`next`](Self::next).
    pub fn skip_element(&mut self) -> Result<(), Error> {
        let outside = self.depth().saturating_sub(1);
        while self.depth() > outside {
            self.next()?;
        }
        Ok(())
    }

    fn markup(&mut self) -> Result<Token<'a>, Error> {
        match self.input.as_bytes().get(self.at + 1) {
            Some(b'/') => self.end_tag(),
            Some(b'?') => self.instruction(),
            Some(b'!') => self.declaration(),
            _ => self.start_tag(),
        }
    }

    // ---- tags ----

    fn start_tag(&mut self) -> Result<Token<'a>, Error> {
        let offset = self.at;
        match self.stage {
            Stage::Epilog => return Err(self.syntax(offset, "a second root element; a document has one")),
            _ => self.stage = Stage::Content,
        }
        let (name, mut at) = self.qname(offset + 1)?;
        self.memory.attributes.clear();
        let outside = self.memory.namespaces.len();
        let bytes = self.input.as_bytes();
        if bytes.get(at) != Some(&b'>') {
            at = self.attribute_list(name, at)?;
            self.resolve_attributes()?;
        }
        let empty = bytes[at] == b'/';
        self.at = at + 1 + usize::from(empty);
        self.end_is_due = empty;
        if self.memory.open.len() >= self.limits.depth {
            return Err(self.limit(offset, "elements nested more than", self.limits.depth, "deep"));
        }
        self.memory.open.push(Open {
            name: (offset + 1) as u32,
            name_length: name.as_str().len() as u32,
            local: (name.as_str().len() - name.local().len()) as u32,
            namespaces: outside as u32,
            learned: 0,
        });
        let Some(namespace) = self.memory.namespaces.resolve(name.prefix()) else {
            return Err(self.unbound(name, offset + 1));
        };
        self.layout_holds = self.layout_scope == Some(self.memory.namespaces.len());
        self.note_tag();
        Ok(Token::StartTag(StartTag { name, namespace, offset }))
    }

    /// Reads what stands between the name and `>` or `/>`, at which it stops.
    fn attribute_list(&mut self, element: QName<'a>, mut at: usize) -> Result<usize, Error> {
        let bytes = self.input.as_bytes();
        self.memory.values.clear();
        loop {
            let spaced = end_of_white_space(bytes, at);
            match bytes.get(spaced) {
                Some(b'>') => return Ok(spaced),
                Some(b'/') if bytes.get(spaced + 1) == Some(&b'>') => return Ok(spaced),
                Some(_) if spaced > at => at = self.attribute_at(spaced)?,
                Some(_) => {
                    let message = format!(
                        "{} in the tag <{}>, where white space, \">\" or \"/>\" was expected",
                        self.found(spaced),
                        element.as_str()
                    );
                    return Err(Error::new(ErrorKind::Syntax, spaced, message));
                }
                None => return Err(self.cut_off(&format!("in the tag <{}>", element.as_str()))),
            }
        }
    }

    /// Reads `name = "value"` and returns where it ends.
    fn attribute_at(&mut self, offset: usize) -> Result<usize, Error> {
        if self.memory.attributes.len() >= self.limits.attributes {
            return Err(self.limit(offset, "a tag with more than", self.limits.attributes, "attributes"));
        }
        let bytes = self.input.as_bytes();
        let (name, at) = self.qname(offset)?;
        let equals = end_of_white_space(bytes, at);
        if bytes.get(equals) != Some(&b'=') {
            let message = format!(
                "{} after the attribute name \"{}\", where \"=\" was expected",
                self.found(equals),
                name.as_str()
            );
            return Err(Error::new(ErrorKind::Syntax, equals, message));
        }
        let quote_at = end_of_white_space(bytes, equals + 1);
        let quote = match bytes.get(quote_at) {
            Some(&quote @ (b'"' | b'\'')) => quote,
            _ => {
                let message = format!(
                    "{}, where the quoted value of the attribute \"{}\" was expected",
                    self.found(quote_at),
                    name.as_str()
                );
                return Err(Error::new(ErrorKind::Syntax, quote_at, message));
            }
        };
        let (value, end) = self.attribute_value(name, quote_at + 1, quote)?;
        self.memory.attributes.push(RawAttribute {
            name: offset as u32,
            name_length: name.as_str().len() as u32,
            local: (name.as_str().len() - name.local().len()) as u32,
            namespace: NamespaceId::NONE,
            value,
        });
        Ok(end)
    }

    /// Reads a value up to its closing quote, normalised (XML 1.0 §3.3.3), and returns where the quote ends.
    fn attribute_value(&mut self, name: QName<'a>, start: usize, quote: u8) -> Result<(Span, usize), Error> {
        let bytes = self.input.as_bytes();
        let normalised_start = self.memory.values.len();
        let mut normalised = false;
        let mut copied = start;
        let mut at = start;
        loop {
            at = scan::end_of_attribute_piece(bytes, at, quote);
            let Some(&byte) = bytes.get(at) else {
                return Err(self.cut_off(&format!("in the value of the attribute \"{}\"", name.as_str())));
            };
            let (replacement, end) = match byte {
                _ if byte == quote => break,
                b'<' => {
                    let message =
                        format!("\"<\" in the value of the attribute \"{}\"; it is written \"&lt;\"", name.as_str());
                    return Err(Error::new(ErrorKind::WellFormedness, at, message));
                }
                b'&' => escape::reference(self.input, at)
                    .map_err(|message| Error::new(ErrorKind::WellFormedness, at, message))?,
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => (' ', at + 2),
                b'\t' | b'\n' | b'\r' => (' ', at + 1),
                _ => {
                    at = self.legal(at)?;
                    continue;
                }
            };
            normalised = true;
            self.memory.values.push_str(&self.input[copied..at]);
            self.memory.values.push(replacement);
            copied = end;
            at = end;
        }
        let value = if normalised {
            self.memory.values.push_str(&self.input[copied..at]);
            Span { start: normalised_start as u32, end: self.memory.values.len() as u32, normalised }
        } else {
            Span { start: start as u32, end: at as u32, normalised }
        };
        Ok((value, at + 1))
    }

    /// Declares what the tag declares, finds the namespaces of its attributes and that none comes twice.
    fn resolve_attributes(&mut self) -> Result<(), Error> {
        for index in 0..self.memory.attributes.len() {
            let raw = self.memory.attributes[index];
            if self.declares(&raw) {
                self.declare(raw)?;
            }
        }
        for index in 0..self.memory.attributes.len() {
            let raw = self.memory.attributes[index];
            let name = self.raw_name(&raw);
            // The default namespace is not for attributes (Namespaces in XML 1.0 §6.2).
            if !name.prefix().is_empty() && !self.declares(&raw) {
                match self.memory.namespaces.resolve(name.prefix()) {
                    Some(namespace) => self.memory.attributes[index].namespace = namespace,
                    None => return Err(self.unbound(name, raw.name as usize)),
                }
            }
        }
        self.refuse_duplicates()
    }

    fn declare(&mut self, raw: RawAttribute) -> Result<(), Error> {
        let name = self.raw_name(&raw);
        let prefix = if name.prefix().is_empty() { "" } else { name.local() };
        let offset = raw.name as usize;
        let reject = |message: String| Err(Error::new(ErrorKind::Namespace, offset, message));
        if self.memory.namespaces.len() >= self.limits.namespaces {
            return Err(self.limit(offset, "more than", self.limits.namespaces, "namespace declarations in scope"));
        }
        let value = span(self.input, &self.memory.values, raw.value);
        if value.len() > self.limits.name_length {
            return Err(self.limit(offset, "the name of a namespace longer than", self.limits.name_length, "bytes"));
        }
        match (prefix, value) {
            ("xmlns", _) => return reject("the prefix \"xmlns\" can't be declared".into()),
            ("xml", XML_NAMESPACE) => {}
            ("xml", _) => {
                return reject(format!("the prefix \"xml\" is bound to \"{value}\"; it stands for {XML_NAMESPACE}"));
            }
            (_, XML_NAMESPACE) => return reject(format!("{XML_NAMESPACE} is bound to another prefix than \"xml\"")),
            (_, XMLNS_NAMESPACE) => return reject(format!("{XMLNS_NAMESPACE} can't be bound to a prefix")),
            ("", _) => {}
            (_, "") => {
                return reject(format!(
                    "the prefix \"{prefix}\" is bound to nothing; only the default namespace can be undeclared"
                ));
            }
            _ => {}
        }
        self.memory.namespaces.declare(prefix, value);
        Ok(())
    }

    /// XML 1.0 §3.1 and Namespaces in XML 1.0 §6.3: no two attributes of one name, as written or as meant.
    fn refuse_duplicates(&self) -> Result<(), Error> {
        let attributes = &self.memory.attributes;
        if attributes.len() < 2 {
            return Ok(());
        }
        let key = |raw: &RawAttribute| {
            let namespace = if self.declares(raw) { XMLNS_NAMESPACE } else { self.namespace(raw.namespace) };
            (self.raw_name(raw).local(), namespace)
        };
        let duplicate = if attributes.len() <= FEW_ATTRIBUTES {
            (1..attributes.len())
                .find(|&index| attributes[..index].iter().any(|earlier| key(earlier) == key(&attributes[index])))
        } else {
            let mut order: Vec<usize> = (0..attributes.len()).collect();
            order.sort_unstable_by(|&a, &b| key(&attributes[a]).cmp(&key(&attributes[b])).then(a.cmp(&b)));
            order.windows(2).find(|pair| key(&attributes[pair[0]]) == key(&attributes[pair[1]])).map(|pair| pair[1])
        };
        match duplicate {
            None => Ok(()),
            Some(index) => {
                let raw = &attributes[index];
                let message = format!("the attribute \"{}\" stands twice in one tag", self.raw_name(raw).as_str());
                Err(Error::new(ErrorKind::WellFormedness, raw.name as usize, message))
            }
        }
    }

    fn end_tag(&mut self) -> Result<Token<'a>, Error> {
        let bytes = self.input.as_bytes();
        let offset = self.at;
        let Some(open) = self.memory.open.last() else {
            return Err(self.syntax(offset, "an end tag where no element is open"));
        };
        let name = &bytes[open.name as usize..(open.name + open.name_length) as usize];
        let name_end = offset + 2 + name.len();
        if bytes.get(offset + 2..name_end) != Some(name) {
            return Err(self.mismatch(offset));
        }
        let end = end_of_white_space(bytes, name_end);
        if bytes.get(end) != Some(&b'>') {
            return Err(self.mismatch(offset));
        }
        self.at = end + 1;
        Ok(self.close())
    }

    /// Pops the innermost element, whose end has been read.
    fn close(&mut self) -> Token<'a> {
        let Some(open) = self.memory.open.pop() else { return Token::End };
        self.closed = open.learned;
        self.memory.namespaces.truncate(open.namespaces as usize);
        self.layout_holds = self.layout_scope == Some(self.memory.namespaces.len());
        if self.memory.open.is_empty() {
            self.stage = Stage::Epilog;
        }
        self.note_tag();
        let name = &self.input[open.name as usize..(open.name + open.name_length) as usize];
        Token::EndTag(QName::new(name, open.local as usize))
    }

    /// Says what is wrong with an end tag that doesn't close what is open.
    #[cold]
    fn mismatch(&self, offset: usize) -> Error {
        let expected = self
            .memory
            .open
            .last()
            .map_or("", |open| &self.input[open.name as usize..(open.name + open.name_length) as usize]);
        match self.qname(offset + 2) {
            Ok((found, _)) if found.as_str() != expected => {
                let message = format!("end tag </{}> where </{expected}> was expected", found.as_str());
                Error::new(ErrorKind::WellFormedness, offset, message)
            }
            Ok((_, end)) => {
                let end = end_of_white_space(self.input.as_bytes(), end);
                let message = format!("{} in the end tag </{expected}>, where \">\" was expected", self.found(end));
                Error::new(ErrorKind::Syntax, end, message)
            }
            Err(error) => error,
        }
    }

    fn note_tag(&mut self) {
        self.previous_tag_end = self.tag_end;
        self.tag_end = self.at;
    }

    /// Reads a qualified name (Namespaces in XML 1.0, production 7) and returns where it ends.
    fn qname(&self, at: usize) -> Result<(QName<'a>, usize), Error> {
        let bytes = self.input.as_bytes();
        let mut local = at;
        let mut end = end_of_ncname(self.input, at);
        if end > at && bytes.get(end) == Some(&b':') {
            local = end + 1;
            end = end_of_ncname(self.input, local);
        }
        if end == local || bytes.get(end) == Some(&b':') {
            return Err(self.not_a_name(at, end));
        }
        if end - at > self.limits.name_length {
            return Err(self.limit(at, "a name longer than", self.limits.name_length, "bytes"));
        }
        Ok((QName::new(&self.input[at..end], local - at), end))
    }

    #[cold]
    fn not_a_name(&self, at: usize, end: usize) -> Error {
        if end - at > self.limits.name_length {
            return self.limit(at, "a name longer than", self.limits.name_length, "bytes");
        }
        if end > at {
            let next = self.input[end..].chars().next().map_or(0, char::len_utf8);
            let found = &self.input[at..end + next];
            let message = format!("\"{found}\" is not a qualified name: one colon at most, with names around it");
            return Error::new(ErrorKind::Namespace, at, message);
        }
        Error::new(ErrorKind::Syntax, at, format!("{} where a name was expected", self.found(at)))
    }

    // ---- character data ----

    fn text(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at;
        let end = self.end_of_text(start)?;
        if self.input.as_bytes().get(end).is_none_or(|&byte| byte == b'<') {
            self.at = end;
            return Ok(Token::Text(Cow::Borrowed(&self.input[start..end])));
        }
        let mut owned = String::from(&self.input[start..end]);
        let mut at = end;
        loop {
            match self.input.as_bytes().get(at) {
                Some(b'&') => {
                    let (c, end) = escape::reference(self.input, at)
                        .map_err(|message| Error::new(ErrorKind::WellFormedness, at, message))?;
                    owned.push(c);
                    at = end;
                }
                Some(b'\r') => at = self.line_end(at, &mut owned),
                Some(b'<') | None => break,
                Some(_) => {
                    let end = self.end_of_text(at)?;
                    owned.push_str(&self.input[at..end]);
                    at = end;
                }
            }
        }
        self.at = at;
        Ok(Token::Text(Cow::Owned(owned)))
    }

    /// The first `<`, `&` or carriage return from `at` on; all before it is legal character data.
    fn end_of_text(&self, at: usize) -> Result<usize, Error> {
        let bytes = self.input.as_bytes();
        let end = scan::end_of_character_data(bytes, at);
        match bytes.get(end) {
            None | Some(b'<' | b'&' | b'\r') => Ok(end),
            Some(b']') => {
                let message = "\"]]>\" in character data; it is written \"]]&gt;\"";
                Err(Error::new(ErrorKind::WellFormedness, end, message))
            }
            Some(_) => self.legal(end),
        }
    }

    /// Line ends become a line feed (XML 1.0 §2.11).
    fn line_end(&self, at: usize, owned: &mut String) -> usize {
        owned.push('\n');
        at + 1 + usize::from(self.input.as_bytes().get(at + 1) == Some(&b'\n'))
    }

    /// Checks that the character at `at` is one that XML allows and returns where it ends.
    fn legal(&self, at: usize) -> Result<usize, Error> {
        match self.input[at..].chars().next() {
            Some(c) if escape::is_char(c) => Ok(at + c.len_utf8()),
            _ => {
                let message = format!("{}, a character that XML 1.0 does not allow", self.found(at));
                Err(Error::new(ErrorKind::Syntax, at, message))
            }
        }
    }

    // ---- comments, CDATA sections, instructions ----

    fn declaration(&mut self) -> Result<Token<'a>, Error> {
        let rest = &self.input.as_bytes()[self.at..];
        if rest.starts_with(b"<!--") {
            return self.comment();
        }
        if rest.starts_with(b"<![CDATA[") && self.stage == Stage::Content {
            return self.cdata();
        }
        if rest.starts_with(b"<!DOCTYPE") {
            return Err(Error::new(
                ErrorKind::Doctype,
                self.at,
                "a document type declaration; messages may not have one",
            ));
        }
        Err(self.syntax(self.at, "\"<!\" that begins neither a comment nor a CDATA section"))
    }

    fn comment(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at + "<!--".len();
        let Some(end) = find_pair(self.input.as_bytes(), start, *b"--") else {
            return Err(self.cut_off("in a comment"));
        };
        if self.input.as_bytes().get(end + 2) != Some(&b'>') {
            return Err(self.syntax(end, "\"--\" inside a comment"));
        }
        let comment = self.checked(start, end)?;
        self.leave_start();
        self.at = end + "-->".len();
        Ok(Token::Comment(comment))
    }

    fn cdata(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at + "<![CDATA[".len();
        let Some(length) = self.input[start..].find("]]>") else { return Err(self.cut_off("in a CDATA section")) };
        let end = start + length;
        let text = self.checked(start, end)?;
        self.at = end + "]]>".len();
        let text = if text.contains('\r') {
            Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
        } else {
            Cow::Borrowed(text)
        };
        Ok(Token::Text(text))
    }

    fn instruction(&mut self) -> Result<Token<'a>, Error> {
        let start = self.at + "<?".len();
        let target_end = end_of_ncname(self.input, start);
        let target = &self.input[start..target_end];
        if target.is_empty() {
            return Err(self.syntax(start, "a processing instruction without a name"));
        }
        let Some(end) = find_pair(self.input.as_bytes(), target_end, *b"?>") else {
            return Err(self.cut_off("in a processing instruction"));
        };
        let data = self.checked(target_end, end)?;
        if !data.is_empty() && !data.starts_with(is_white_space) {
            return Err(self.syntax(target_end, "a processing instruction whose name is not followed by white space"));
        }
        if target.eq_ignore_ascii_case("xml") {
            if self.stage != Stage::Start || target != "xml" {
                return Err(self.syntax(self.at, "an XML declaration that does not stand at the very beginning"));
            }
            self.xml_declaration(target_end, data)?;
            self.leave_start();
            self.at = end + "?>".len();
            return self.next();
        }
        self.leave_start();
        self.at = end + "?>".len();
        Ok(Token::Instruction { target, data: data.trim_start_matches(is_white_space) })
    }

    /// Checks `version="1.x" encoding="…"? standalone="…"?` (XML 1.0, productions 23 to 32 and 80).
    fn xml_declaration(&self, offset: usize, data: &str) -> Result<(), Error> {
        let mut rest = data;
        let mut next = |name: &str| -> Result<Option<&str>, &'static str> {
            let trimmed = rest.trim_start_matches(is_white_space);
            let Some(after) = trimmed.strip_prefix(name) else { return Ok(None) };
            if trimmed.len() == rest.len() {
                return Err("an XML declaration without white space between its parts");
            }
            let after = after.trim_start_matches(is_white_space);
            let after = after.strip_prefix('=').ok_or("an XML declaration that lacks \"=\"")?;
            let after = after.trim_start_matches(is_white_space);
            let quote = after
                .chars()
                .next()
                .filter(|&c| c == '"' || c == '\'')
                .ok_or("an XML declaration that lacks a quote")?;
            let (value, after) = after[1..].split_once(quote).ok_or("an XML declaration that lacks a closing quote")?;
            rest = after;
            Ok(Some(value))
        };
        let mut parts = || Ok::<_, &'static str>((next("version")?, next("encoding")?, next("standalone")?));
        let (version, encoding, standalone) = parts().map_err(|message| self.syntax(offset, message))?;
        let is_version = |version: &str| {
            version
                .strip_prefix("1.")
                .is_some_and(|minor| !minor.is_empty() && minor.bytes().all(|byte| byte.is_ascii_digit()))
        };
        if !version.is_some_and(is_version) {
            return Err(self.syntax(offset, "an XML declaration without version=\"1.0\""));
        }
        if !matches!(standalone, None | Some("yes" | "no")) {
            return Err(self.syntax(offset, "an XML declaration whose standalone is neither \"yes\" nor \"no\""));
        }
        if !rest.trim_start_matches(is_white_space).is_empty() {
            return Err(self.syntax(offset, "an XML declaration with more than version, encoding and standalone"));
        }
        match encoding {
            None => Ok(()),
            Some(name) if name.eq_ignore_ascii_case("utf-8") || name.eq_ignore_ascii_case("us-ascii") => Ok(()),
            Some(name) => {
                let name: String = name.chars().take(40).collect();
                let message = format!("the encoding \"{name}\" is declared, where UTF-8 was expected");
                Err(Error::new(ErrorKind::Encoding, offset, message))
            }
        }
    }

    /// The text between two places, all of whose characters are legal.
    fn checked(&self, start: usize, end: usize) -> Result<&'a str, Error> {
        let bytes = &self.input.as_bytes()[..end];
        let mut at = start;
        loop {
            at = scan::end_of_character_data(bytes, at);
            if at >= end {
                return Ok(&self.input[start..end]);
            }
            at = self.legal(at)?;
        }
    }

    // ---- outside the root element ----

    /// White space before or after the root element.
    fn between(&mut self) -> Result<Token<'a>, Error> {
        let end = end_of_white_space(self.input.as_bytes(), self.at);
        if self.input.as_bytes().get(end).is_some_and(|&byte| byte != b'<') {
            let place = if self.stage == Stage::Epilog {
                "after the root element"
            } else {
                "where the root element was expected"
            };
            return Err(Error::new(ErrorKind::Syntax, end, format!("{} {place}", self.found(end))));
        }
        self.leave_start();
        self.at = end;
        self.next()
    }

    fn end(&mut self) -> Result<Token<'a>, Error> {
        match self.stage {
            Stage::Epilog => Ok(Token::End),
            Stage::Content => {
                let open = self
                    .memory
                    .open
                    .last()
                    .map_or("", |open| &self.input[open.name as usize..(open.name + open.name_length) as usize]);
                Err(self.cut_off(&format!("where </{open}> was expected")))
            }
            _ => Err(self.cut_off("before any element")),
        }
    }

    fn leave_start(&mut self) {
        if self.stage == Stage::Start {
            self.stage = Stage::Prolog;
        }
    }

    // ---- beginnings and ends that were met before ----

    /// Reads the beginning of the document at once, if it is one that [`remember`](Self::remember) kept. Returns the
    /// start tag that it ends with, and the namespace of the root element.
    pub fn resume(&mut self) -> Option<(StartTag<'a>, NamespaceId)> {
        if self.stage != Stage::Start {
            return None;
        }
        let Memory { preambles, open, namespaces, .. } = &mut self.memory;
        let preamble = preambles.find(self.input.as_bytes(), self.limits)?;
        let last = preamble.open.last()?;
        let name = &self.input[last.name as usize..(last.name + last.name_length) as usize];
        let tag = StartTag {
            name: QName::new(name, last.local as usize),
            namespace: preamble.last,
            offset: last.name as usize - 1,
        };
        open.clone_from(&preamble.open);
        namespaces.copy_from(&preamble.namespaces);
        self.at = preamble.length();
        self.tag_end = self.at;
        self.previous_tag_end = preamble.previous_tag_end;
        self.stage = Stage::Content;
        self.begins_as_known = true;
        Some((tag, preamble.root))
    }

    /// Keeps the beginning of the document up to `tag`, which was read last, for [`resume`](Self::resume). `root` is the
    /// namespace of the root element. Does nothing if the tag has attributes other than declarations, or is empty.
    pub fn remember(&mut self, tag: StartTag<'a>, root: NamespaceId) {
        if self.end_is_due || self.tag_end != self.at || self.attributes().next().is_some() {
            return;
        }
        let Memory { preambles, open, namespaces, .. } = &mut self.memory;
        if let Some(preamble) = preambles.keep(&self.input.as_bytes()[..self.at], self.limits) {
            preamble.open.clone_from(open);
            preamble.namespaces.copy_from(namespaces);
            preamble.root = root;
            preamble.last = tag.namespace;
            preamble.previous_tag_end = self.previous_tag_end;
            self.begins_as_known = true;
        }
    }

    /// Reads the rest of the document at once, if the element that its known beginning ends with was closed last, and
    /// the document ends as one did that [`remember_rest`](Self::remember_rest) was told of.
    pub fn resume_rest(&mut self) -> bool {
        if !self.begins_as_known || self.end_is_due {
            return false;
        }
        let Memory { preambles, open, namespaces, .. } = &mut self.memory;
        let rest = &self.input.as_bytes()[self.at..];
        let known = preambles.first().is_some_and(|preamble| preamble.is_rest(open, rest));
        if known {
            open.clear();
            namespaces.clear();
            self.stage = Stage::Epilog;
            self.at = self.input.len();
        }
        known
    }

    /// Reads the rest of the document by `read` and keeps it for [`resume_rest`](Self::resume_rest), if it ends there
    /// and the element that its known beginning ends with was closed last.
    ///
    /// # Errors
    /// What `read` says.
    pub fn remember_rest<E>(&mut self, read: impl FnOnce(&mut Self) -> Result<(), E>) -> Result<(), E> {
        let (offset, open) = (self.at, self.memory.open.clone());
        let whole = self.begins_as_known && !self.end_is_due;
        read(self)?;
        if whole && self.stage == Stage::Epilog && self.at == self.input.len() {
            if let Some(preamble) = self.memory.preambles.first() {
                preamble.keep_rest(&open, &self.input.as_bytes()[offset..]);
            }
        }
        Ok(())
    }

    // ---- learned tags ----

    /// From here on tags may be learned and recognised, as far as no declaration is added to those in scope now.
    pub fn begin_layout(&mut self) {
        self.memory.layouts.select(self.memory.namespaces.text());
        self.layout_scope = Some(self.memory.namespaces.len());
        self.layout_holds = true;
    }

    /// Keeps the start tag that was just read as the one that stands at `known`, if nothing but white space stood
    /// before it and it has neither attributes nor declarations.
    pub fn learn_start(&mut self, known: Known) {
        if !self.layout_holds || self.end_is_due || !self.memory.attributes.is_empty() {
            return;
        }
        let Some(open) = self.memory.open.last_mut() else { return };
        let bytes = &self.input.as_bytes()[self.previous_tag_end..self.tag_end];
        let name_at = open.name as usize - self.previous_tag_end;
        if end_of_white_space(bytes, 0) + 1 == name_at {
            let (length, local) = (open.name_length as usize, open.local as usize);
            open.learned = self.memory.layouts.learn_start(known, bytes, name_at, length, local);
        }
    }

    /// Keeps the end tag that was just read as the one that closes the element at `known`. With `text`, character
    /// data stands before it and is not part of it.
    pub fn learn_end(&mut self, known: Known, text: bool) {
        if !self.layout_holds || self.closed == 0 {
            return;
        }
        let bytes = &self.input.as_bytes()[self.previous_tag_end..self.tag_end];
        let Some(tag) = bytes.iter().rposition(|&byte| byte == b'<') else { return };
        if text {
            self.memory.layouts.learn_end(known, self.closed, &bytes[tag..]);
        } else if end_of_white_space(bytes, 0) == tag {
            self.memory.layouts.learn_end(known, self.closed, bytes);
        }
    }

    /// Whether the start tag learned for `known` comes next. Reads nothing.
    #[inline]
    pub fn is_at_known_start(&self, known: Known) -> bool {
        self.layout_holds
            && !self.end_is_due
            && self
                .memory
                .layouts
                .slot(known)
                .is_some_and(|slot| slot.start.end_of_match(self.input.as_bytes(), self.at).is_some())
    }

    /// Whether the end tag learned for `known` comes next. Reads nothing.
    #[inline]
    pub fn is_at_known_end(&self, known: Known) -> bool {
        self.layout_holds
            && !self.end_is_due
            && self
                .memory
                .layouts
                .slot(known)
                .is_some_and(|slot| slot.end.end_of_match(self.input.as_bytes(), self.at).is_some())
    }

    /// Reads the start tag learned for `known` if it comes next.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if it would nest too deep.
    #[inline]
    pub fn known_start(&mut self, known: Known) -> Result<bool, Error> {
        if !self.layout_holds || self.end_is_due {
            return Ok(false);
        }
        let Some(slot) = self.memory.layouts.slot(known) else { return Ok(false) };
        let Some(end) = slot.start.end_of_match(self.input.as_bytes(), self.at) else { return Ok(false) };
        let name = self.at + usize::from(slot.name_at);
        if self.memory.open.len() >= self.limits.depth {
            return Err(self.limit(name - 1, "elements nested more than", self.limits.depth, "deep"));
        }
        self.memory.open.push(Open {
            name: name as u32,
            name_length: u32::from(slot.name_length),
            local: u32::from(slot.local),
            namespaces: self.memory.namespaces.len() as u32,
            learned: slot.id,
        });
        self.memory.attributes.clear();
        self.at = end;
        self.note_tag();
        Ok(true)
    }

    /// Reads the end tag learned for `known` if it comes next and closes the element that is open.
    #[inline]
    pub fn known_end(&mut self, known: Known) -> bool {
        if !self.layout_holds || self.end_is_due {
            return false;
        }
        let Some(slot) = self.memory.layouts.slot(known) else { return false };
        let Some(end) = slot.end.end_of_match(self.input.as_bytes(), self.at) else { return false };
        match self.memory.open.last() {
            // The layout holds only while nothing was declared since it began: there is nothing to take out of scope.
            Some(open) if open.learned == slot.id => {}
            _ => return false,
        }
        self.memory.open.pop();
        self.closed = slot.id;
        self.at = end;
        self.note_tag();
        true
    }

    /// Reads a whole element without children that stands at `known`, if both its tags are as learned and `value`
    /// makes something of what lies between. `value` gets the document and the offset behind the start tag and returns
    /// the value and the offset of the end tag; it answers for every character in between. Otherwise nothing is read.
    #[inline]
    pub fn known_element<T>(
        &mut self,
        known: Known,
        value: impl FnOnce(&'a str, usize) -> Option<(T, usize)>,
    ) -> Option<T> {
        if !self.layout_holds || self.end_is_due || self.memory.open.len() >= self.limits.depth {
            return None;
        }
        let slot = self.memory.layouts.slot(known)?;
        let bytes = self.input.as_bytes();
        let content = slot.start.end_of_match(bytes, self.at)?;
        let (value, end) = value(self.input, content)?;
        self.at = slot.end.end_of_match(bytes, end)?;
        self.previous_tag_end = end;
        self.tag_end = self.at;
        Some(value)
    }

    // ---- helpers ----

    fn declares(&self, raw: &RawAttribute) -> bool {
        let name = self.raw_name(raw);
        match name.prefix() {
            "" => name.local() == "xmlns",
            prefix => prefix == "xmlns",
        }
    }

    fn raw_name(&self, raw: &RawAttribute) -> QName<'a> {
        let name = &self.input[raw.name as usize..(raw.name + raw.name_length) as usize];
        QName::new(name, raw.local as usize)
    }

    fn attribute(&self, raw: &RawAttribute) -> Attribute<'_> {
        Attribute {
            namespace: self.namespace(raw.namespace),
            name: self.raw_name(raw),
            value: span(self.input, &self.memory.values, raw.value),
            offset: raw.name as usize,
        }
    }

    fn syntax(&self, offset: usize, message: &'static str) -> Error {
        Error::new(ErrorKind::Syntax, offset, message)
    }

    #[cold]
    fn limit(&self, offset: usize, what: &str, limit: usize, unit: &str) -> Error {
        Error::new(ErrorKind::Limit, offset, format!("{what} {limit} {unit}, which is the limit"))
    }

    #[cold]
    fn unbound(&self, name: QName<'_>, offset: usize) -> Error {
        let message = format!("the prefix \"{}\" of \"{}\" is not declared", name.prefix(), name.as_str());
        Error::new(ErrorKind::Namespace, offset, message)
    }

    #[cold]
    fn cut_off(&self, place: &str) -> Error {
        Error::new(ErrorKind::Syntax, self.input.len(), format!("the document ends {place}"))
    }

    /// What stands at `at`, for messages.
    #[cold]
    fn found(&self, at: usize) -> String {
        match self.input.get(at..).and_then(|rest| rest.chars().next()) {
            Some(c) if c.is_control() || !escape::is_char(c) => format!("U+{:04X}", u32::from(c)),
            Some(c) => format!("\"{c}\""),
            None => "the end of the document".into(),
        }
    }
}

/// The first byte from `at` on that is not white space (XML 1.0, production 3).
#[inline]
fn end_of_white_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Where the two bytes stand together, from `at` on.
fn find_pair(bytes: &[u8], mut at: usize, [first, second]: [u8; 2]) -> Option<usize> {
    loop {
        at += bytes.get(at..)?.iter().position(|&byte| byte == first)?;
        if bytes.get(at + 1) == Some(&second) {
            return Some(at);
        }
        at += 1;
    }
}

fn is_white_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn span<'r>(input: &'r str, values: &'r str, span: Span) -> &'r str {
    let text = if span.normalised { values } else { input };
    &text[span.start as usize..span.end as usize]
}

#[cfg(test)]
mod tests;
