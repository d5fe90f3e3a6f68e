//! Splits a document that arrives in chunks into the elements at the end of a path, and the rest.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use castile_budget::Allowance;
use castile_xml::escape::push_attribute;
use castile_xml::{Charset, Chunk, Limits, Location, Memory, PushReader, Reader, Token};

use crate::schema::Element;
use crate::{Decoder, Error, ErrorKind, FromXml};

/// The name of an element on the path to the elements that are cut out.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    namespaces: [&'static str; 2],
    local: &'static str,
}

impl Step {
    /// Creates a step to an element of this namespace and name.
    pub const fn new(namespace: &'static str, local: &'static str) -> Self {
        Step { namespaces: [namespace; 2], local }
    }

    /// Creates a step to an element of this name in either of two namespaces.
    pub const fn of_either(namespaces: [&'static str; 2], local: &'static str) -> Self {
        Step { namespaces, local }
    }

    fn is_of_envelope(&self) -> bool {
        self.namespaces[0] != self.namespaces[1]
    }

    fn is(&self, namespace: &str, local: &str) -> bool {
        self.local == local && self.namespaces.contains(&namespace)
    }
}

/// The declarations around the elements that are cut out, outermost first.
type Declarations = Arc<[(Box<str>, Box<str>)]>;

/// Splits a document that arrives in chunks into the elements at the end of a path, and the rest.
///
/// The whole document must be well-formed. The limits hold for each element that is cut out, and for the rest; the whole
/// document may have any size. White space between the elements is dropped.
#[derive(Debug)]
pub struct Splitter {
    reader: PushReader,
    /// The limits of the whole document.
    limits: Limits,
    inner: Inner,
    failed: Option<Error>,
}

/// The state of the splitting.
#[derive(Debug)]
struct Inner {
    path: Vec<Step>,
    limits: Limits,
    /// How many elements are open, and how many of the outermost ones are on the path.
    depth: usize,
    on_path: usize,
    declared: Declarations,
    /// The path of the elements around those that are cut out, for messages.
    around: Arc<str>,
    /// The element that is being cut out.
    item: Option<SplitItem>,
    items: VecDeque<SplitItem>,
    count: u64,
    at: Position,
    rest: String,
    /// For each part of the rest: its offset in the rest, and its position in the document.
    parts: Vec<(usize, Position)>,
    /// Whether what is appended next continues the last part of the rest.
    continues_part: bool,
    /// Whether a text between the elements that are cut out was kept in the rest, and no tag has followed it.
    is_in_text: bool,
}

/// A position in the document.
#[derive(Clone, Copy, Debug)]
struct Position {
    offset: usize,
    line: usize,
    column: usize,
}

impl Position {
    /// Returns the position after this text.
    fn after(self, text: &str) -> Position {
        let offset = self.offset + text.len();
        match memchr::memrchr(b'\n', text.as_bytes()) {
            None => Position { offset, line: self.line, column: self.column + text.chars().count() },
            Some(last) => {
                let line = self.line + memchr::memchr_iter(b'\n', text.as_bytes()).count();
                Position { offset, line, column: 1 + text[last + 1..].chars().count() }
            }
        }
    }

    /// Converts line and column in a text that begins at this position.
    fn within(self, line: usize, column: usize) -> (usize, usize) {
        match line {
            1 => (self.line, self.column + column - 1),
            _ => (self.line + line - 1, column),
        }
    }
}

/// An element that was cut out.
#[derive(Debug)]
pub struct SplitItem {
    text: String,
    declared: Declarations,
    around: Arc<str>,
    at: Position,
    /// Its number among the elements, from 1.
    number: u64,
}

impl Splitter {
    /// Creates the state before the first chunk. `path` leads from the root element to the elements to cut out. `charset` is
    /// the charset of the media type, if it has one.
    pub fn new(path: Vec<Step>, charset: Option<Charset>, limits: Limits) -> Self {
        let mut whole = limits;
        whole.message_size = usize::MAX;
        let around: Vec<&str> =
            path.iter().rev().skip(1).rev().filter(|step| !step.is_of_envelope()).map(|step| step.local).collect();
        let around = around.iter().fold(String::new(), |path, local| path + local + "/").into();
        let inner = Inner {
            path,
            around,
            limits,
            depth: 0,
            on_path: 0,
            declared: Arc::default(),
            item: None,
            items: VecDeque::new(),
            count: 0,
            at: Position { offset: 0, line: 1, column: 1 },
            rest: String::new(),
            parts: Vec::new(),
            continues_part: false,
            is_in_text: false,
        };
        Splitter { reader: PushReader::new(charset, whole), limits: whole, inner, failed: None }
    }

    /// Sets the charset of the media type, before the first chunk.
    pub fn begin(&mut self, charset: Option<Charset>) {
        self.reader = PushReader::new(charset, self.limits);
    }

    /// Takes the next chunk of the document. The elements that it completes are available from [`pop`](Self::pop). After an
    /// error, chunks are ignored.
    pub fn push(&mut self, bytes: &[u8]) {
        let Splitter { reader, inner, failed, .. } = self;
        if failed.is_none() {
            *failed = inner.take(reader.push(bytes)).err();
        }
    }

    /// Takes the end of the document.
    pub fn end(&mut self) {
        let Splitter { reader, inner, failed, .. } = self;
        if failed.is_none() {
            *failed = inner.take(reader.end()).err();
        }
    }

    /// Returns the next element that was cut out, if one is complete.
    ///
    /// # Errors
    /// After the last element: the document is not well-formed, exceeds a limit or is incomplete.
    pub fn pop(&mut self) -> Result<Option<SplitItem>, Error> {
        match (self.inner.items.pop_front(), &self.failed) {
            (None, Some(error)) => Err(error.clone()),
            (item, _) => Ok(item),
        }
    }

    /// Takes the part of the rest that has arrived since the last call. The rest begins with the root element.
    pub fn take_rest(&mut self) -> String {
        self.inner.parts.clear();
        self.inner.continues_part = false;
        std::mem::take(&mut self.inner.rest)
    }

    /// Returns the part of the rest that has arrived and was not taken.
    pub fn rest(&self) -> &str {
        &self.inner.rest
    }

    /// Moves an error in the rest to its position in the document.
    pub(super) fn of_rest(&self, error: Error) -> Error {
        let Inner { rest, limits, parts, .. } = &self.inner;
        let Location { path, .. } = Location::of(rest.as_bytes(), error.offset(), *limits, None);
        let part = parts.partition_point(|(from, _)| *from <= error.offset());
        let Some((from, position)) = part.checked_sub(1).and_then(|part| parts.get(part)) else { return error };
        let text = rest.get(*from..error.offset()).unwrap_or_default();
        let Position { offset, line, column } = position.after(text);
        error.relocated(offset, Location { path, line, column })
    }
}

impl Inner {
    fn take(&mut self, mut chunk: Chunk<'_>) -> Result<(), Error> {
        // A byte order mark is skipped.
        self.at.offset = chunk.offset();
        loop {
            let at = self.at;
            let token = chunk.next().map_err(|error| {
                let unread = chunk.remaining();
                let before = unread.get(..error.offset().saturating_sub(at.offset)).unwrap_or(unread);
                let (offset, Position { line, column, .. }) = (error.offset(), at.after(before));
                Error::from(error).relocated(offset, Location { path: String::new(), line, column })
            })?;
            let (is_last, is_end) = (token.is_none(), matches!(token, Some(Token::EndTag(_))));
            if let Some(Token::StartTag(tag)) = &token {
                let source = chunk.source();
                // Comments and processing instructions precede it.
                let (before, tag_source) = source.split_at(tag.offset.saturating_sub(at.offset).min(source.len()));
                self.append(before, false);
                self.start(&chunk, chunk.namespace(tag.namespace), tag.name.local());
                self.append(tag_source, true);
            } else {
                self.append(chunk.source(), is_end);
            }
            if is_end {
                self.end();
            }
            self.check_size()?;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Handles a start tag.
    fn start(&mut self, chunk: &Chunk<'_>, namespace: &str, local: &str) {
        let is_next = self.item.is_none()
            && self.on_path == self.depth
            && self.path.get(self.depth).is_some_and(|step| step.is(namespace, local));
        self.depth += 1;
        if !is_next {
            return;
        }
        if self.depth == self.path.len() {
            self.count += 1;
            let (declared, around) = (self.declared.clone(), self.around.clone());
            self.item = Some(SplitItem { text: String::new(), declared, around, at: self.at, number: self.count });
            (self.continues_part, self.is_in_text) = (false, false);
            return;
        }
        self.on_path = self.depth;
        if self.depth + 1 == self.path.len() {
            let mut declared: Vec<(Box<str>, Box<str>)> =
                chunk.namespaces().map(|(prefix, name)| (prefix.into(), name.into())).collect();
            declared.reverse();
            self.declared = declared.into();
        }
    }

    /// Handles an end tag.
    fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth + 1 == self.path.len()
            && let Some(item) = self.item.take()
        {
            self.items.push_back(item);
            return;
        }
        self.on_path = self.on_path.min(self.depth);
    }

    /// Appends `source` to the element that is being cut out, or to the rest. White space and comments between elements that
    /// are cut out are dropped. The result doesn't depend on where the chunks end.
    fn append(&mut self, source: &str, is_tag: bool) {
        if let Some(item) = &mut self.item {
            item.text.push_str(source);
            self.at = self.at.after(source);
            return;
        }
        let is_among_items = self.depth > 0 && self.depth == self.on_path && self.depth + 1 == self.path.len();
        // What precedes the root element describes the encoding of the original document.
        let is_before = self.depth == 0 && self.rest.is_empty();
        let dropped = match () {
            () if is_tag => 0,
            () if is_before => source.len(),
            () if is_among_items && !self.is_in_text => ignorable_length(source),
            () => 0,
        };
        self.is_in_text = !is_tag && (self.is_in_text || is_among_items && dropped < source.len());
        let (dropped, kept) = source.split_at(dropped);
        if !dropped.is_empty() {
            self.at = self.at.after(dropped);
            self.continues_part = false;
        }
        if kept.is_empty() {
            return;
        }
        if !self.continues_part {
            self.parts.push((self.rest.len(), self.at));
            self.continues_part = true;
        }
        self.at = self.at.after(kept);
        self.rest.push_str(kept);
    }

    fn check_size(&mut self) -> Result<(), Error> {
        let most = self.limits.message_size;
        let (what, length, at) = match &self.item {
            Some(item) => ("an element", item.text.len(), item.at),
            None => {
                let length = self.rest.len() + self.parts.len() * size_of::<(usize, Position)>();
                (
                    "a document without its repeated elements",
                    length,
                    self.parts.last().map_or(self.at, |(_, position)| *position),
                )
            }
        };
        if length <= most {
            return Ok(());
        }
        let message = format!("{what} longer than {most} bytes, which is the limit");
        let error = Error::new(ErrorKind::Xml(castile_xml::ErrorKind::Limit), at.offset, message);
        Err(error.located(Location { path: String::new(), line: at.line, column: at.column }))
    }
}

/// Returns the length of the white space, comments and processing instructions at the beginning of a text.
fn ignorable_length(source: &str) -> usize {
    let mut left = source;
    loop {
        left = left.trim_start_matches([' ', '\t', '\r', '\n']);
        let end = match left {
            _ if left.starts_with("<!--") => "-->",
            _ if left.starts_with("<?") => "?>",
            _ => break,
        };
        match left.find(end) {
            Some(at) => left = &left[at + end.len()..],
            None => break,
        }
    }
    source.len() - left.len()
}

impl SplitItem {
    /// Reads the value of the element.
    ///
    /// # Errors
    /// The element doesn't match `element` or is not well-formed. The error has the position in the document.
    pub fn read<T: FromXml>(
        &self,
        element: &'static Element,
        limits: Limits,
        allowance: Allowance,
        memory: &mut Memory,
    ) -> Result<T, Error> {
        let declarations = self.declared.iter().map(|(prefix, name)| (&**prefix, &**name));
        let reader = Reader::of_content_with(&self.text, declarations, limits, memory);
        let read = reader.map_err(Error::from).and_then(|mut reader| {
            reader.next()?;
            let mut decoder = Decoder::new(reader).within(allowance);
            let value = decoder.root(element)?;
            *memory = decoder.into_memory();
            Ok(value)
        });
        read.map_err(|error| self.locate(error, element, limits))
    }

    /// Moves an error to its position in the document.
    #[cold]
    fn locate(&self, error: Error, element: &'static Element, limits: Limits) -> Error {
        const AROUND: &str = "castile";
        let mut around = format!("<{AROUND}");
        let mut known: HashSet<&str> = HashSet::new();
        for (prefix, name) in self.declared.iter().rev().filter(|(prefix, _)| known.insert(prefix)) {
            let mut value = Vec::new();
            // The value was read from XML, so XML can represent it.
            let _ = push_attribute(&mut value, name);
            let colon = if prefix.is_empty() { "" } else { ":" };
            around += &format!(" xmlns{colon}{prefix}=\"{}\"", String::from_utf8_lossy(&value));
        }
        around.push('>');
        let text = format!("{around}{}", self.text);
        let found = Location::of(text.as_bytes(), around.len() + error.offset(), limits, Some(AROUND));
        let within = found.path.split_once('/').map_or(String::new(), |(_, rest)| format!("/{rest}"));
        let column = if found.line == 1 { found.column - around.chars().count() } else { found.column };
        let (line, column) = self.at.within(found.line, column);
        let number = if self.number == 1 { String::new() } else { format!("[{}]", self.number) };
        let path = format!("{}{}{number}{within}", self.around, element.name);
        let offset = self.at.offset + error.offset();
        error.relocated(offset, Location { path, line, column })
    }
}
