//! A push parser for multiparts (RFC 2046 §5.1.1).

mod delimiter;
mod search;

use std::collections::HashSet;

use bytes::{Buf, Bytes};
use memchr::memchr;

use crate::error::shown;
use crate::transfer::Decoder;
use crate::{Boundary, ContentId, Error, ErrorKind, Limits, PartHead};

use self::delimiter::{Ending, Line};
use self::search::{Found, Search};

/// A push parser that takes a multipart in chunks of any size and returns its parts. It does no I/O and stores no
/// content: it returns slices of the chunks, except for content that must be decoded.
///
/// Parts and errors don't depend on where the body is split.
///
/// ```
/// use castile_mime::{Boundary, Event, Limits, Parser};
///
/// let mut parser = Parser::new(&Boundary::new("x")?, Limits::default());
/// let mut content = Vec::new();
/// for piece in ["--x\r\nContent-ID: <a@b>\r\n\r\n1", "23\r\n", "--x--"] {
///     parser.feed(piece.into());
///     while let Some(event) = parser.next()? {
///         if let Event::Data(data) = event {
///             content.extend_from_slice(&data);
///         }
///     }
/// }
/// parser.finish();
/// assert_eq!(parser.next()?, Some(Event::End));
/// assert_eq!(content, b"123");
/// # Ok::<(), castile_mime::Error>(())
/// ```
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
    boundary: Boundary,
    search: Search,
    state: State,
    decoder: Decoder,
    /// Bytes that were fed and not yet parsed, and their offset in the body.
    input: Bytes,
    offset: u64,
    /// Whether the body exceeds its size limit, and whether it is complete.
    is_over: bool,
    is_finished: bool,
    /// The number of the current part, and the offset of its content.
    part: u32,
    content: u64,
    content_ids: HashSet<ContentId>,
    failed: Option<Error>,
}

/// The next event in a multipart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A part begins.
    Part(PartHead),
    /// Content of the part, decoded. Never empty.
    Data(Bytes),
    /// The part ends.
    PartEnd,
    /// The last part has ended. Text after it has no meaning.
    End,
}

#[derive(Debug)]
enum State {
    Preamble,
    /// The rest of the line after a boundary.
    Delimiter(Line),
    Head(Head),
    Content,
    PartEnd(Line),
    Epilogue {
        start: u64,
    },
}

/// The bytes of a part's head so far.
#[derive(Debug, Default)]
struct Head {
    bytes: Vec<u8>,
    /// The offset of the last line, and the number of lines before it.
    line: usize,
    lines: usize,
}

impl Parser {
    /// Creates a parser for a body with this boundary.
    pub fn new(boundary: &Boundary, limits: Limits) -> Self {
        Parser {
            limits,
            boundary: boundary.clone(),
            search: Search::first(boundary.as_str()),
            state: State::Preamble,
            decoder: Decoder::Identity,
            input: Bytes::new(),
            offset: 0,
            is_over: false,
            is_finished: false,
            part: 0,
            content: 0,
            content_ids: HashSet::new(),
            failed: None,
        }
    }

    /// Takes the next chunk of the body. Call it when [`next`](Self::next) has returned `None`; otherwise the remaining
    /// bytes of the previous chunk are copied in front of the new one.
    pub fn feed(&mut self, mut piece: Bytes) {
        let before = self.offset + self.input.len() as u64;
        let most = self.limits.body_size - before.min(self.limits.body_size);
        if piece.len() as u64 > most {
            piece.truncate(most as usize);
            self.is_over = true;
        }
        if self.input.is_empty() {
            self.input = piece;
        } else if !piece.is_empty() {
            self.input = [&self.input[..], &piece[..]].concat().into();
        }
    }

    /// Marks the body as complete.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Returns the next event. Returns `None` if more input is needed, and after [`Event::End`].
    ///
    /// # Errors
    /// The body is invalid; the error has its position. All later calls return the same error.
    #[expect(clippy::should_implement_trait, reason = "it isn't the end when it says `None`")]
    pub fn next(&mut self) -> Result<Option<Event>, Error> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.advance().inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn advance(&mut self) -> Result<Option<Event>, Error> {
        loop {
            let event = match &mut self.state {
                State::Preamble => {
                    self.preamble()?;
                    None
                }
                State::Delimiter(line) => match line.read(&mut self.input, &mut self.offset)? {
                    None if line.may_end() && self.is_finished && !self.is_over => self.line_end(Ending::Close)?,
                    None => None,
                    Some(ending) => self.line_end(ending)?,
                },
                State::Head(_) => self.head()?.map(Event::Part),
                State::Content => self.content()?,
                State::PartEnd(line) => {
                    self.state = State::Delimiter(*line);
                    Some(Event::PartEnd)
                }
                State::Epilogue { start } => {
                    let start = *start;
                    self.skip_epilogue(start)?;
                    return Ok(None);
                }
            };
            if event.is_some() {
                return Ok(event);
            }
            // A state that did not change and left no input waits for more.
            if self.input.is_empty() && self.waits() {
                return self.wait();
            }
        }
    }

    /// Returns whether the state needs input to continue.
    fn waits(&self) -> bool {
        match &self.state {
            State::PartEnd(_) | State::Epilogue { .. } => false,
            State::Preamble | State::Delimiter(_) | State::Head(_) | State::Content => true,
        }
    }

    /// Handles the end of the available input.
    fn wait(&self) -> Result<Option<Event>, Error> {
        if self.is_over {
            return Err(self.too_large());
        }
        if !self.is_finished {
            return Ok(None);
        }
        let (place, expected) = match &self.state {
            State::Preamble => ("before the first part", "the boundary"),
            State::Head(_) => ("in the head of a part", "an empty line"),
            State::Delimiter(_) => ("after a boundary", "the end of the line"),
            _ => ("in the content of a part", "the boundary"),
        };
        let boundary = shown(self.boundary.as_str().as_bytes());
        let message = format!("the body ends {place}, where {expected} was expected (boundary {boundary})");
        Err(Error::new(ErrorKind::BrokenOff, message).at(self.offset).in_part(self.part))
    }

    fn too_large(&self) -> Error {
        let message = format!("the body has more than {} bytes", self.limits.body_size);
        Error::new(ErrorKind::Limit, message).at(self.limits.body_size)
    }

    fn preamble(&mut self) -> Result<(), Error> {
        let most = self.limits.preamble_size as u64;
        while let Some(found) = self.take() {
            match found {
                // The line end before the boundary belongs to the boundary, but the limit counts it as preamble.
                Found::Delimiter if self.offset - self.search.length() <= most => {
                    self.state = State::Delimiter(Line::new(self.part));
                    return Ok(());
                }
                Found::Data(_) if self.offset - self.search.matched_length() <= most => {}
                _ => {
                    let message = format!("more than {most} bytes before the first boundary");
                    return Err(Error::new(ErrorKind::Limit, message).at(most));
                }
            }
        }
        Ok(())
    }

    /// Searches the input. Returns `None` when all of it has been searched.
    fn take(&mut self) -> Option<Found> {
        let before = self.input.len();
        let found = self.search.step(&mut self.input);
        self.offset += (before - self.input.len()) as u64;
        found
    }

    /// Handles the end of a boundary's line.
    fn line_end(&mut self, ending: Ending) -> Result<Option<Event>, Error> {
        if ending == Ending::Close {
            self.state = State::Epilogue { start: self.offset };
            return Ok(Some(Event::End));
        }
        if self.part == 0 {
            self.search = Search::new(self.boundary.as_str(), ending == Ending::CarriageReturn);
        }
        if self.part == self.limits.parts {
            let message = format!("more than {} parts", self.limits.parts);
            return Err(Error::new(ErrorKind::Limit, message).at(self.offset));
        }
        self.part += 1;
        self.state = State::Head(Head::default());
        Ok(None)
    }

    /// Reads more of a part's head. Returns it when it is complete.
    fn head(&mut self) -> Result<Option<PartHead>, Error> {
        let State::Head(head) = &mut self.state else { return Ok(None) };
        while !self.input.is_empty() {
            let line = memchr(b'\n', &self.input).map_or(self.input.len(), |end| end + 1);
            let start = self.offset - head.bytes.len() as u64;
            if head.bytes.len() + line > self.limits.head_size {
                let message = format!("the head of a part has more than {} bytes", self.limits.head_size);
                let error = Error::new(ErrorKind::Limit, message).at(start + self.limits.head_size as u64);
                return Err(error.in_part(self.part));
            }
            head.bytes.extend_from_slice(&self.input[..line]);
            self.input.advance(line);
            self.offset += line as u64;
            if !head.bytes.ends_with(b"\n") {
                return Ok(None);
            }
            let last = &head.bytes[head.line..];
            if matches!(last, b"\r\n" | b"\n") {
                return self.head_end(start).map(Some);
            }
            let place = start + head.line as u64;
            if last.strip_prefix(b"--").is_some_and(|rest| rest.starts_with(self.boundary.as_str().as_bytes())) {
                let message = "the head of a part ends with a boundary, where an empty line was expected";
                return Err(Error::new(ErrorKind::Head, message).at(place).in_part(self.part));
            }
            head.lines += 1;
            if head.lines > self.limits.head_lines {
                let message = format!("the head of a part has more than {} lines", self.limits.head_lines);
                return Err(Error::new(ErrorKind::Limit, message).at(place).in_part(self.part));
            }
            head.line = head.bytes.len();
        }
        Ok(None)
    }

    fn head_end(&mut self, start: u64) -> Result<PartHead, Error> {
        let State::Head(Head { bytes, .. }) = std::mem::replace(&mut self.state, State::Content) else {
            unreachable!("only the state of a head calls this")
        };
        let head = PartHead::parse(&bytes, self.part, start)?;
        if let Some(id) = head.content_id()
            && !self.content_ids.insert(id.clone())
        {
            let message = format!("a second part has the Content-ID {}", shown(id.to_string().as_bytes()));
            return Err(Error::new(ErrorKind::Duplicate, message).at(start).in_part(self.part));
        }
        self.decoder = Decoder::new(head.transfer_encoding());
        self.content = self.offset;
        // The empty line may also be the line end of the next boundary, if the part has no content.
        self.search.begin_line();
        Ok(head)
    }

    fn content(&mut self) -> Result<Option<Event>, Error> {
        while let Some(found) = self.take() {
            match found {
                Found::Data(data) => {
                    let data = self.decoder.decode(data).map_err(|invalid| self.invalid(invalid))?;
                    if !data.is_empty() {
                        return Ok(Some(Event::Data(data)));
                    }
                }
                Found::Delimiter => {
                    self.decoder.finish().map_err(|invalid| self.invalid(invalid))?;
                    self.state = State::PartEnd(Line::new(self.part));
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    #[cold]
    fn invalid(&self, invalid: crate::transfer::Invalid) -> Error {
        Error::new(ErrorKind::Encoding, invalid.message).at(self.content + invalid.at).in_part(self.part)
    }

    fn skip_epilogue(&mut self, start: u64) -> Result<(), Error> {
        let most = self.limits.preamble_size as u64;
        self.offset += self.input.len() as u64;
        self.input.clear();
        if self.offset - start > most {
            let message = format!("more than {most} bytes after the last boundary");
            return Err(Error::new(ErrorKind::Limit, message).at(start + most));
        }
        if self.is_over { Err(self.too_large()) } else { Ok(()) }
    }
}
