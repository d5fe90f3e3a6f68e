//! A document that arrives in chunks.

use crate::encoding::{Charset, Decoder};
use crate::error::Error;
use crate::token::{Attribute, StartTag, Token};
use crate::{Limits, NamespaceId};

use super::boundary::BoundaryScanner;
use super::{Buffers, Memory, Reader, Stage, too_large};

/// A reader of a document that arrives in chunks. It tokenises the part that is complete, and discards it.
///
/// The tokens are those that a [`Reader`] returns for the whole document, wherever the document is cut. Only texts
/// differ: they are returned as they arrive, CDATA sections too, and never end inside a character, a reference or a
/// line end. Consecutive text tokens belong together, as with a [`Reader`].
///
/// The errors are also those of a [`Reader`], at the same offsets. A [`Reader`] checks the size and the encoding of the
/// whole document first. Here they are checked as the document arrives, so an earlier error in the document is reported
/// before them.
///
/// Tags, comments and processing instructions are buffered until they are complete. Memory is bounded by the sum of one
/// chunk, the longest of those ([`Limits::markup_length`]), the names of the open elements ([`Limits::depth`] times
/// [`Limits::name_length`]) and the namespaces in scope. It does not depend on the size of the document or the length
/// of its texts, but the limits for these apply to the whole document.
///
/// ```
/// use castile_xml::{Limits, PushReader, Token};
///
/// let mut reader = PushReader::new(None, Limits::default());
/// let mut length = 0;
/// for bytes in ["<a><b c='", "1'/>te", "xt</", "a>"] {
///     let mut chunk = reader.push(bytes.as_bytes());
///     while let Some(token) = chunk.next()? {
///         if let Token::Text(text) = token {
///             length += text.len();
///         }
///     }
/// }
/// assert_eq!(reader.end().next()?, None);
/// assert_eq!(length, 4);
/// # Ok::<(), castile_xml::Error>(())
/// ```
#[derive(Debug)]
pub struct PushReader {
    /// The names of open elements that had to be moved to the front, and after them what was not read yet.
    window: String,
    decoder: Decoder,
    state: State,
}

/// The state that the reader of a chunk passes to the reader of the next chunk.
#[derive(Debug)]
struct State {
    memory: Box<Buffers>,
    stage: Stage,
    end_is_due: bool,
    is_standalone: bool,
    is_in_cdata: bool,
    text_before: usize,
    /// Where reading continues in the window.
    at: usize,
    /// The end of the names at the front of the window.
    front: usize,
    /// The offset in the document of the beginning of the window. The names at the front are shorter than the tags they
    /// were in, so this is never negative.
    offset: usize,
    boundaries: BoundaryScanner,
    begun: bool,
    ended: bool,
    /// Why no more bytes are taken into the window. It is reported after everything in the window was read.
    refused: Option<Error>,
    /// The result of reading: the end of the document, or an error.
    outcome: Option<Result<(), Error>>,
}

/// The part of a document that can be read after one more chunk has arrived ([`PushReader::push`]).
///
/// Tokens that are not read from it are read from the next one.
#[derive(Debug)]
pub struct Chunk<'p> {
    reader: Reader<'p>,
    state: &'p mut State,
    /// The end of what [`source`](Self::source) has returned.
    result: usize,
}

impl PushReader {
    /// Creates a reader. `charset` is that of the media type, if there is one; the bytes are decoded as by
    /// [`decode`](crate::decode). Offsets are offsets in the decoded text. Only those of bytes that are not in the
    /// encoding are offsets in the bytes.
    pub fn new(charset: Option<Charset>, limits: Limits) -> Self {
        PushReader {
            window: String::new(),
            decoder: Decoder::new(charset),
            state: State {
                memory: Box::new(Buffers { limits, ..Buffers::default() }),
                stage: Stage::Start,
                end_is_due: false,
                is_standalone: false,
                is_in_cdata: false,
                text_before: 0,
                at: 0,
                front: 0,
                offset: 0,
                boundaries: BoundaryScanner::new(0),
                begun: false,
                ended: false,
                refused: None,
                outcome: None,
            },
        }
    }

    /// Takes the next bytes, any number of them. The returned chunk has the tokens that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Chunk<'_> {
        self.forget();
        self.take(bytes, false);
        self.chunk()
    }

    /// Takes the end of the document. The returned chunk ends with `None` only if the document is well-formed. Bytes
    /// that are pushed later are ignored.
    pub fn end(&mut self) -> Chunk<'_> {
        self.forget();
        self.take(&[], true);
        self.state.ended = true;
        self.chunk()
    }

    /// Returns the capacity of the buffer for what has arrived and was not read yet, in bytes.
    pub fn capacity(&self) -> usize {
        self.window.capacity()
    }

    /// Removes what was read from the window, if enough was. It moves fewer bytes than were read since the last time,
    /// so the total cost is linear in the size of the document.
    fn forget(&mut self) {
        if self.state.ended {
            return;
        }
        let State { memory, at, front, offset, boundaries, .. } = &mut self.state;
        let brought = memory.open.partition_point(|open| (open.name as usize) < *front);
        let kept = memory.open[..brought].last().map_or(0, |open| (open.name + open.name_length) as usize);
        if *at - kept < self.window.len() - *at {
            return;
        }
        let mut names = String::new();
        for open in &mut memory.open[brought..] {
            let name = open.name as usize;
            open.name = (kept + names.len()) as u32;
            names.push_str(&self.window[name..name + open.name_length as usize]);
        }
        *front = kept + names.len();
        let removed = *at - *front;
        self.window.replace_range(kept..*at, &names);
        *offset += removed;
        *at = *front;
        boundaries.move_back(removed);
    }

    /// Takes bytes into the window, up to the first invalid one, and up to the size limit of the document.
    fn take(&mut self, bytes: &[u8], is_last: bool) {
        let PushReader { window, decoder, state } = self;
        if state.ended || state.refused.is_some() || state.outcome.is_some() {
            return;
        }
        let result = decoder.decode(bytes, is_last, window);
        // The window has not exceeded the limit before. Its own offsets are 32 bits wide, those of the document are
        // not.
        let room = state.memory.limits.message_size.saturating_sub(state.offset).min(u32::MAX as usize);
        if window.len() > room {
            window.truncate(window.floor_char_boundary(room));
            state.refused = Some(too_large(state.memory.limits));
        } else {
            state.refused = result.err();
        }
    }

    fn chunk(&mut self) -> Chunk<'_> {
        let PushReader { window, state, .. } = self;
        if !state.begun && !window.is_empty() {
            state.begun = true;
            state.at = if window.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
            state.boundaries = BoundaryScanner::new(state.at);
        }
        state.boundaries.scan(window.as_bytes(), state.memory.limits);
        let is_too_long = state.boundaries.is_too_long();
        let is_last = state.ended && state.refused.is_none() && !is_too_long;
        let complete = if is_last { window.len() } else { state.boundaries.complete() };
        let mut reader = Reader::over(&window[..complete], state.memory.limits, Memory::default(), true);
        if is_too_long {
            state.refused = Some(reader.markup_too_long(state.offset + complete));
        }
        std::mem::swap(&mut reader.memory, &mut state.memory);
        reader.memory.attributes.clear();
        reader.at = if state.outcome.is_some() { complete } else { state.at };
        reader.stage = state.stage;
        reader.end_is_due = state.end_is_due;
        reader.is_standalone = state.is_standalone;
        reader.is_in_cdata = state.is_in_cdata;
        // Markup ends a text, except in a CDATA section.
        let continues = state.is_in_cdata || window.as_bytes().get(state.at) != Some(&b'<');
        reader.text_before = if continues { state.text_before } else { 0 };
        reader.more_follows = !is_last || state.outcome.is_some();
        Chunk { result: reader.at, reader, state }
    }
}

impl<'p> Chunk<'p> {
    /// Reads the next token. Returns `None` if the next chunk is needed or, after [`PushReader::end`], if the document
    /// ended and is well-formed. [`Token::End`] is never returned.
    ///
    /// # Errors
    /// The first error in the document. Later calls return it again, whatever is pushed.
    #[allow(clippy::should_implement_trait, reason = "as with a reader of the whole: errors end the document")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Token<'p>>, Error> {
        let reader = &mut self.reader;
        let (at, end) = (reader.at, reader.input.len());
        if at == end || reader.is_in_cdata {
            return self.next_at_border();
        }
        match reader.next() {
            Ok(Token::StartTag(tag)) => {
                let offset = tag.offset + self.state.offset;
                Ok(Some(Token::StartTag(StartTag { offset, ..tag })))
            }
            Ok(Token::EndTag(name)) => Ok(Some(Token::EndTag(name))),
            Ok(Token::Text(text)) if reader.at < end => {
                reader.text_before = 0;
                Ok(Some(Token::Text(text)))
            }
            token => self.unusual(token, at, false),
        }
    }

    /// Reads the next token if the chunk begins in a CDATA section, or if nothing of it is left.
    #[inline(never)]
    fn next_at_border(&mut self) -> Result<Option<Token<'p>>, Error> {
        let reader = &mut self.reader;
        let at = reader.at;
        if at == reader.input.len() && reader.more_follows && !reader.end_is_due {
            return self.outcome_so_far();
        }
        let is_in_cdata = reader.is_in_cdata;
        let token = if is_in_cdata { reader.rest_of_cdata(at) } else { reader.next() };
        self.unusual(token, at, is_in_cdata)
    }

    /// Handles a result that may end a chunk: `token` was read from `at` on.
    #[inline(never)]
    fn unusual(
        &mut self,
        token: Result<Token<'p>, Error>,
        at: usize,
        was_in_cdata: bool,
    ) -> Result<Option<Token<'p>>, Error> {
        match token {
            Ok(Token::Text(text)) => {
                if !was_in_cdata {
                    self.count_text(at);
                }
                let is_nothing =
                    text.is_empty() && self.reader.at == self.reader.input.len() && self.reader.more_follows;
                if is_nothing { self.outcome_so_far() } else { Ok(Some(Token::Text(text))) }
            }
            Ok(Token::End) => self.conclude(Ok(())),
            Ok(token) => Ok(Some(token)),
            Err(error) => {
                let offset = error.offset().wrapping_add(self.state.offset);
                self.conclude(Err(error.relocated(offset)))
            }
        }
    }

    /// Counts the length of the text that began at `at`, because it may continue in the next chunk.
    fn count_text(&mut self, at: usize) {
        let reader = &mut self.reader;
        // `rest_of_cdata` counts CDATA sections. White space outside the root element is not text.
        if reader.input.as_bytes()[at] != b'<' && reader.stage == Stage::Content {
            let continues = reader.at == reader.input.len();
            reader.text_before = if continues { reader.text_before + reader.at - at } else { 0 };
        }
    }

    /// Returns the result after everything complete was read: the outcome, or `None` if more must arrive.
    #[cold]
    fn outcome_so_far(&mut self) -> Result<Option<Token<'p>>, Error> {
        match (&self.state.outcome, &self.state.refused) {
            (Some(outcome), _) => outcome.clone().map(|()| None),
            (None, Some(refused)) => {
                let error = refused.clone();
                self.conclude(Err(error))
            }
            (None, None) => Ok(None),
        }
    }

    #[cold]
    fn conclude(&mut self, outcome: Result<(), Error>) -> Result<Option<Token<'p>>, Error> {
        self.state.outcome = Some(outcome.clone());
        self.reader.at = self.reader.input.len();
        self.reader.end_is_due = false;
        self.reader.more_follows = true;
        outcome.map(|()| None)
    }

    /// Returns the attributes of the start tag that was read last, without namespace declarations.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'_>> {
        let offset = self.state.offset;
        self.reader.attributes().map(move |attribute| Attribute { offset: attribute.offset + offset, ..attribute })
    }

    /// Returns the name of a namespace, empty for [`NamespaceId::NONE`].
    pub fn namespace(&self, id: NamespaceId) -> &str {
        self.reader.namespace(id)
    }

    /// Returns the name of the namespace that `prefix` is bound to here, or `None` if the prefix is unbound. The empty
    /// prefix stands for the default namespace, whose name is empty if there is none.
    pub fn resolve(&self, prefix: &str) -> Option<&str> {
        self.reader.resolve(prefix)
    }

    /// Returns every prefix in scope with its namespace name, innermost first. Declarations that are hidden by inner
    /// ones are included.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.reader.namespaces()
    }

    /// Returns the source of what was read of the chunk since the last call: the last token, and everything before it.
    /// The results of all calls together are the decoded document, up to the current offset.
    pub fn source(&mut self) -> &'p str {
        let from = std::mem::replace(&mut self.result, self.reader.at);
        self.reader.input.get(from..self.reader.at).unwrap_or_default()
    }

    /// Returns the source of the chunk that [`source`](Self::source) has not returned. After an error, this is what
    /// could not be read.
    pub fn remaining(&self) -> &'p str {
        self.reader.input.get(self.result..).unwrap_or_default()
    }

    /// Returns how many elements are open.
    pub fn depth(&self) -> usize {
        self.reader.depth()
    }

    /// Returns the offset in the document of the next byte to be read.
    pub fn offset(&self) -> usize {
        self.state.offset + self.reader.at
    }
}

impl Drop for Chunk<'_> {
    fn drop(&mut self) {
        let Chunk { reader, state, .. } = self;
        std::mem::swap(&mut reader.memory, &mut state.memory);
        state.at = reader.at;
        state.stage = reader.stage;
        state.end_is_due = reader.end_is_due;
        state.is_standalone = reader.is_standalone;
        state.is_in_cdata = reader.is_in_cdata;
        state.text_before = reader.text_before;
    }
}
