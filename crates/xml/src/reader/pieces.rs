//! A document that comes in pieces.

use crate::encoding::{Charset, Decoder};
use crate::error::Error;
use crate::token::{Attribute, StartTag, Token};
use crate::{Limits, NamespaceId};

use super::frames::Frames;
use super::{Buffers, Reader, Stage, too_large};

/// A reader of a document that comes in pieces: what has come is tokenised as far as it is complete, and forgotten.
///
/// The tokens are those that a [`Reader`] finds in the whole document, wherever it was cut, but for texts: those go out as
/// they come, never cut in a character, a reference or a line end, CDATA sections too. Neighbours belong together, as they
/// always do. The errors are the same too, at the same place. Only what a reader of the whole looks at first, its size
/// and its encoding, is looked at here as it comes: an error that stands before it in the document is found before.
///
/// Tags, comments and processing instructions are kept until they are complete, so memory is bounded by one piece, the
/// longest of those ([`Limits::markup_length`]), the names of the elements that are open ([`Limits::depth`] times
/// [`Limits::name_length`]) and the namespaces in scope. The size of the document and the length of its texts don't
/// matter, except to their limits, which hold for the whole.
///
/// ```
/// use castile_xml::{Limits, Pieces, Token};
///
/// let mut pieces = Pieces::new(None, Limits::default());
/// let mut length = 0;
/// for bytes in ["<a><b c='", "1'/>te", "xt</", "a>"] {
///     let mut piece = pieces.push(bytes.as_bytes());
///     while let Some(token) = piece.next()? {
///         if let Token::Text(text) = token {
///             length += text.len();
///         }
///     }
/// }
/// assert_eq!(pieces.end().next()?, None);
/// assert_eq!(length, 4);
/// # Ok::<(), castile_xml::Error>(())
/// ```
#[derive(Debug)]
pub struct Pieces {
    /// The names of open elements, as far as they had to be brought forward, and behind them what was not read yet.
    window: String,
    decoder: Decoder,
    state: State,
}

/// What a reader leaves to the one of the next piece.
#[derive(Debug)]
struct State {
    memory: Box<Buffers>,
    stage: Stage,
    end_is_due: bool,
    is_standalone: bool,
    is_in_cdata: bool,
    text_before: usize,
    /// Where reading goes on in the window.
    at: usize,
    /// Where the names at the front of the window end.
    front: usize,
    /// The offset in the document of the beginning of the window. The names there are shorter than what they stood in,
    /// so this is never negative.
    offset: usize,
    frames: Frames,
    begun: bool,
    ended: bool,
    /// Why nothing more is taken into the window: told when what is in it was read.
    refused: Option<Error>,
    /// What reading ended with: the end of the document, or an error.
    outcome: Option<Result<(), Error>>,
}

/// What can be read of a document when one more piece of it has come ([`Pieces::push`]).
///
/// What is not read of it is read with the next one.
#[derive(Debug)]
pub struct Piece<'p> {
    reader: Reader<'p>,
    state: &'p mut State,
    /// Up to where [`source`](Self::source) was told.
    told: usize,
}

impl Pieces {
    /// A reader to which nothing has come yet. `charset` is that of the media type, if there is one: the bytes are
    /// decoded as [`decode`](crate::decode) does it. Offsets are in the text, those of bytes that are not in the encoding
    /// in the bytes.
    pub fn new(charset: Option<Charset>, limits: Limits) -> Self {
        Pieces {
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
                frames: Frames::new(0),
                begun: false,
                ended: false,
                refused: None,
                outcome: None,
            },
        }
    }

    /// Takes the bytes that come next, any number of them. What they complete can be read then.
    pub fn push(&mut self, bytes: &[u8]) -> Piece<'_> {
        self.forget();
        self.take(bytes, false);
        self.piece()
    }

    /// Takes the end of the document. What is read then ends with `None` only if it is well-formed. What is pushed
    /// later is ignored.
    pub fn end(&mut self) -> Piece<'_> {
        self.forget();
        self.take(&[], true);
        self.state.ended = true;
        self.piece()
    }

    /// How many bytes are kept for what has come and was not read.
    pub fn capacity(&self) -> usize {
        self.window.capacity()
    }

    /// Makes room in the window. What this moves is less than what was read since, so that all pieces together cost
    /// no more than the document.
    fn forget(&mut self) {
        if self.state.ended {
            return;
        }
        let State { memory, at, front, offset, frames, .. } = &mut self.state;
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
        frames.move_back(removed);
    }

    /// Takes bytes into the window, up to the first that are wrong, and up to the size that a document may have.
    fn take(&mut self, bytes: &[u8], is_last: bool) {
        let Pieces { window, decoder, state } = self;
        if state.ended || state.refused.is_some() || state.outcome.is_some() {
            return;
        }
        let result = decoder.decode(bytes, is_last, window);
        // The window never passed it before. Its own offsets are 32 bits wide, those of the document aren't.
        let room = state.memory.limits.message_size.saturating_sub(state.offset).min(u32::MAX as usize);
        if window.len() > room {
            window.truncate(window.floor_char_boundary(room));
            state.refused = Some(too_large(state.memory.limits));
        } else {
            state.refused = result.err();
        }
    }

    fn piece(&mut self) -> Piece<'_> {
        let Pieces { window, state, .. } = self;
        if !state.begun && !window.is_empty() {
            state.begun = true;
            state.at = if window.starts_with('\u{FEFF}') { '\u{FEFF}'.len_utf8() } else { 0 };
            state.frames = Frames::new(state.at);
        }
        state.frames.look(window.as_bytes(), state.memory.limits);
        let is_too_long = state.frames.is_too_long();
        let is_last = state.ended && state.refused.is_none() && !is_too_long;
        let complete = if is_last { window.len() } else { state.frames.complete() };
        let mut reader = Reader::over(&window[..complete], state.memory.limits, None, true);
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
        // Markup ends a text, unless it stands in a CDATA section.
        let goes_on = state.is_in_cdata || window.as_bytes().get(state.at) != Some(&b'<');
        reader.text_before = if goes_on { state.text_before } else { 0 };
        reader.more_follows = !is_last || state.outcome.is_some();
        Piece { told: reader.at, reader, state }
    }
}

impl<'p> Piece<'p> {
    /// The next token; `None` when the next piece is needed, or, after [`Pieces::end`], when the document was read and
    /// is well-formed. [`Token::End`] doesn't come.
    ///
    /// # Errors
    /// The first rule that the document breaks. It comes again, whatever is pushed then.
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

    /// The next token where a piece begins in a CDATA section, or where nothing is left of it.
    #[inline(never)]
    fn next_at_border(&mut self) -> Result<Option<Token<'p>>, Error> {
        let reader = &mut self.reader;
        let at = reader.at;
        if at == reader.input.len() && reader.more_follows && !reader.end_is_due {
            return self.told();
        }
        let is_in_cdata = reader.is_in_cdata;
        let token = if is_in_cdata { reader.rest_of_cdata(at) } else { reader.next() };
        self.unusual(token, at, is_in_cdata)
    }

    /// What there is to do about a token that was read from `at` on, which may end a piece, or be none.
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
                if is_nothing { self.told() } else { Ok(Some(Token::Text(text))) }
            }
            Ok(Token::End) => self.conclude(Ok(())),
            Ok(token) => Ok(Some(token)),
            Err(error) => {
                let offset = error.offset().wrapping_add(self.state.offset);
                self.conclude(Err(error.relocated(offset)))
            }
        }
    }

    /// Counts the text that began at `at`: it may go on in the next piece.
    fn count_text(&mut self, at: usize) {
        let reader = &mut self.reader;
        // A CDATA section counts itself; white space outside the root element is no text.
        if reader.input.as_bytes()[at] != b'<' && reader.stage == Stage::Content {
            let goes_on = reader.at == reader.input.len();
            reader.text_before = if goes_on { reader.text_before + reader.at - at } else { 0 };
        }
    }

    /// Tells what there is to tell when all that is complete was read.
    #[cold]
    fn told(&mut self) -> Result<Option<Token<'p>>, Error> {
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

    /// The attributes of the start tag that was read last, namespace declarations left out.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'_>> {
        let offset = self.state.offset;
        self.reader.attributes().map(move |attribute| Attribute { offset: attribute.offset + offset, ..attribute })
    }

    /// The name of a namespace that a token named; empty for none.
    pub fn namespace(&self, id: NamespaceId) -> &str {
        self.reader.namespace(id)
    }

    /// The namespace that `prefix` is bound to here, as [`Reader::resolve`] tells it.
    pub fn resolve(&self, prefix: &str) -> Option<&str> {
        self.reader.resolve(prefix)
    }

    /// Every prefix in scope with its namespace name, as [`Reader::namespaces`] gives them.
    pub fn namespaces(&self) -> impl Iterator<Item = (&str, &str)> {
        self.reader.namespaces()
    }

    /// What was read of the piece since this was asked last, as it stands there: the token that was read last, and comments and
    /// the like before it. All answers together are the document, decoded, up to where it was read.
    pub fn source(&mut self) -> &'p str {
        let from = std::mem::replace(&mut self.told, self.reader.at);
        self.reader.input.get(from..self.reader.at).unwrap_or_default()
    }

    /// What is there of the piece that [`source`](Self::source) hasn't given: after an error, what could not be read.
    pub fn unread(&self) -> &'p str {
        self.reader.input.get(self.told..).unwrap_or_default()
    }

    /// How many elements are open.
    pub fn depth(&self) -> usize {
        self.reader.depth()
    }

    /// The offset in the document of the next byte to be read.
    pub fn offset(&self) -> usize {
        self.state.offset + self.reader.at
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        let Piece { reader, state, .. } = self;
        std::mem::swap(&mut reader.memory, &mut state.memory);
        state.at = reader.at;
        state.stage = reader.stage;
        state.end_is_due = reader.end_is_due;
        state.is_standalone = reader.is_standalone;
        state.is_in_cdata = reader.is_in_cdata;
        state.text_before = reader.text_before;
    }
}
