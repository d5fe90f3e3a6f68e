//! Finds how much of a document is complete when only a part of it has arrived.
//!
//! This module only finds where tags, comments, instructions and references end; the tokeniser reads them. If markup is
//! certainly broken, everything that has arrived counts as complete, so that the tokeniser reports the error.

use memchr::memchr;

use crate::{Limits, escape, scan};

/// A scanner that finds the complete part of a document while the document arrives. It scans no byte more than a few
/// times.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundaryScanner {
    state: State,
    /// The offset of the next byte to scan.
    scanned: usize,
    /// The end of the complete part. In markup, this is where the markup begins.
    complete: usize,
    /// There is no `<` between `scanned` and this offset. So a long text with many references is searched for tags only
    /// once.
    text_until: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In character data, or in white space outside the root element.
    Text,
    /// After the `&` at `complete`.
    Reference,
    /// At a `<` whose kind of markup is not known yet.
    Markup,
    /// In a tag, outside the values of its attributes.
    Tag,
    /// In an attribute value, which ends with this quote.
    Value(u8),
    Comment,
    Instruction,
    Cdata,
    /// After an error, which the tokeniser reports.
    Broken,
    /// The markup at `complete` exceeds the limit.
    TooLong,
}

const COMMENT: &[u8] = b"<!--";
const CDATA: &[u8] = b"<![CDATA[";
/// The markup that may begin with `<!`.
const BEGINNINGS: [&[u8]; 3] = [COMMENT, CDATA, b"<!DOCTYPE"];

/// Returns where to continue in text that begins at `at`, if most of the following bytes need no scan. It is the offset
/// of a `<`, and nothing before it is incomplete.
///
/// If there is neither `<!` nor `<?`, each `<` begins a tag, and a tag that does not end before the next `<` is broken.
/// So only the last two tags matter. The last one may be incomplete. If the one before it is broken, the `<` of the
/// last one shows this.
fn last_tag(bytes: &[u8], at: usize) -> Option<usize> {
    let end = find_other_markup(bytes, at);
    let is_start = |&byte: &u8| byte == b'<';
    let last = bytes[at..end].iter().rposition(is_start)?;
    if end < bytes.len() {
        return Some(at + last);
    }
    bytes[at..at + last].iter().rposition(is_start).map(|before| at + before)
}

/// Returns the offset of the first `<!` or `<?` from `at` on, or the length if there is none.
fn find_other_markup(bytes: &[u8], mut at: usize) -> usize {
    const WIDTH: usize = 64;
    // No branches, so that the compiler can compare many bytes in one step.
    let is_it = |(&byte, &next): (&u8, &u8)| (byte == b'<') & ((next == b'!') | (next == b'?'));
    while let Some([chunk @ .., _]) = bytes.get(at..).and_then(<[u8]>::first_chunk::<{ WIDTH + 1 }>) {
        let nexts = &bytes[at + 1..at + 1 + WIDTH];
        if chunk.contains(&b'<') && chunk.iter().zip(nexts).fold(false, |found, pair| found | is_it(pair)) {
            break;
        }
        at += WIDTH;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    rest.windows(2).position(|pair| is_it((&pair[0], &pair[1]))).map_or(bytes.len(), |length| at + length)
}

/// Whether the markup at the beginning of `bytes` exceeds the limit. A CDATA section never does, because it is text.
pub(super) fn is_too_long(bytes: &[u8], limits: Limits) -> bool {
    let longest = max_markup_length(limits);
    let mut scanner = BoundaryScanner { state: State::Markup, ..BoundaryScanner::new(0) };
    scanner.scan(&bytes[..bytes.len().min(longest)], limits);
    bytes.len() > longest && scanner.complete == 0 && scanner.is_in_markup()
}

/// Returns the limit for markup. It always suffices for a tag with only a name, and to detect the kind of the markup.
fn max_markup_length(limits: Limits) -> usize {
    limits.markup_length.max(limits.name_length.saturating_add(16))
}

impl BoundaryScanner {
    /// Creates a scanner of a document that begins at `at`.
    pub(super) fn new(at: usize) -> Self {
        BoundaryScanner { state: State::Text, scanned: at, complete: at, text_until: at }
    }

    /// Returns the end of the complete part. It is never inside a reference, a line end, markup, or a possible `]]>`.
    pub(super) fn complete(&self) -> usize {
        self.complete
    }

    /// Whether the markup at that offset is longer than [`Limits::markup_length`].
    pub(super) fn is_too_long(&self) -> bool {
        self.state == State::TooLong
    }

    /// Adjusts the offsets after `removed` bytes at the front were removed.
    pub(super) fn move_back(&mut self, removed: usize) {
        self.scanned -= removed;
        self.complete -= removed;
        self.text_until = self.text_until.saturating_sub(removed);
    }

    /// Scans the bytes that were added to `bytes` since the last call. They are whole characters.
    pub(super) fn scan(&mut self, bytes: &[u8], limits: Limits) {
        loop {
            let next = match self.state {
                State::Text => self.text(bytes),
                State::Reference => self.reference(bytes, escape::max_reference_length(limits.name_length)),
                State::Markup => self.markup(bytes),
                State::Tag => self.tag(bytes),
                State::Value(quote) => self.value(bytes, quote),
                State::Comment => self.comment(bytes),
                State::Instruction => self.instruction(bytes),
                State::Cdata => self.cdata(bytes),
                State::Broken => {
                    (self.scanned, self.complete) = (bytes.len(), bytes.len());
                    None
                }
                State::TooLong => None,
            };
            let Some(next) = next else {
                // The tokeniser itself detects complete markup that is too long.
                if self.is_in_markup() && bytes.len() - self.complete > max_markup_length(limits) {
                    self.state = State::TooLong;
                }
                return;
            };
            if next == State::Text {
                self.complete = self.scanned;
            }
            self.state = next;
        }
    }

    fn is_in_markup(&self) -> bool {
        matches!(self.state, State::Tag | State::Value(_) | State::Comment | State::Instruction)
    }

    fn text(&mut self, bytes: &[u8]) -> Option<State> {
        if self.scanned >= self.text_until {
            if let Some(at) = last_tag(bytes, self.scanned) {
                (self.scanned, self.complete) = (at, at);
                return Some(State::Markup);
            }
            let length = memchr(b'<', &bytes[self.scanned..]);
            self.text_until = length.map_or(bytes.len(), |length| self.scanned + length);
        }
        let end = scan::end_of_character_data(bytes, self.scanned);
        self.scanned = end;
        self.complete = end;
        match bytes.get(end) {
            Some(b'<') => Some(State::Markup),
            Some(b'&') => {
                self.scanned += 1;
                Some(State::Reference)
            }
            // A line feed that follows belongs to the same line end.
            Some(b'\r') if end + 1 == bytes.len() => None,
            Some(b'\r') => {
                self.scanned += 1;
                Some(State::Text)
            }
            Some(_) => Some(State::Broken),
            None => {
                self.exclude_brackets(bytes);
                None
            }
        }
    }

    fn reference(&mut self, bytes: &[u8], longest: usize) -> Option<State> {
        let behind = self.complete + 1;
        let left = longest.saturating_sub(self.scanned - behind);
        match escape::end_of_reference(&bytes[self.scanned..], left) {
            Some(length) if bytes[self.scanned + length] == b';' => {
                self.scanned += length + 1;
                Some(State::Text)
            }
            Some(_) => Some(State::Broken),
            None if bytes.len() - behind >= longest => Some(State::Broken),
            None => {
                self.scanned = bytes.len();
                None
            }
        }
    }

    fn markup(&mut self, bytes: &[u8]) -> Option<State> {
        let rest = &bytes[self.complete..];
        let (state, length) = match rest {
            [] | [_] => return None,
            [_, b'?', ..] => (State::Instruction, 2),
            [_, b'!', ..] if rest.starts_with(COMMENT) => (State::Comment, COMMENT.len()),
            [_, b'!', ..] if rest.starts_with(CDATA) => {
                self.complete += CDATA.len();
                (State::Cdata, 0)
            }
            [_, b'!', ..] if BEGINNINGS.iter().any(|whole| whole.len() > rest.len() && whole.starts_with(rest)) => {
                return None;
            }
            // This includes a document type declaration, because messages may not have one.
            [_, b'!', ..] => (State::Broken, 0),
            _ => (State::Tag, 1),
        };
        self.scanned = self.complete + length;
        Some(state)
    }

    fn tag(&mut self, bytes: &[u8]) -> Option<State> {
        let stop = self.find(bytes, |byte| matches!(byte, b'>' | b'<' | b'"' | b'\''))?;
        Some(match stop {
            b'>' => State::Text,
            b'<' => State::Broken,
            quote => State::Value(quote),
        })
    }

    fn value(&mut self, bytes: &[u8], quote: u8) -> Option<State> {
        let stop = self.find(bytes, |byte| byte == quote || byte == b'<')?;
        Some(if stop == quote { State::Tag } else { State::Broken })
    }

    /// Finds the first byte that matches, and continues after it, or at the end if there is none.
    fn find(&mut self, bytes: &[u8], is_it: impl Fn(u8) -> bool) -> Option<u8> {
        let length = bytes[self.scanned..].iter().position(|&byte| is_it(byte));
        self.scanned = length.map_or(bytes.len(), |length| self.scanned + length + 1);
        length.map(|_| bytes[self.scanned - 1])
    }

    /// Scans to `--` and the byte after it, which must be `>`.
    fn comment(&mut self, bytes: &[u8]) -> Option<State> {
        loop {
            self.find(bytes, |byte| byte == b'-')?;
            match bytes.get(self.scanned..) {
                Some([b'-', last, ..]) => {
                    self.scanned += 2;
                    return Some(if *last == b'>' { State::Text } else { State::Broken });
                }
                Some([b'-'] | []) | None => {
                    self.scanned -= 1;
                    return None;
                }
                Some(_) => {}
            }
        }
    }

    fn instruction(&mut self, bytes: &[u8]) -> Option<State> {
        loop {
            self.find(bytes, |byte| byte == b'?')?;
            match bytes.get(self.scanned) {
                Some(b'>') => {
                    self.scanned += 1;
                    return Some(State::Text);
                }
                Some(_) => {}
                None => {
                    self.scanned -= 1;
                    return None;
                }
            }
        }
    }

    /// Scans a CDATA section. Its text is complete as it arrives.
    fn cdata(&mut self, bytes: &[u8]) -> Option<State> {
        loop {
            self.scanned = scan::end_of_character_data(bytes, self.scanned);
            match bytes.get(self.scanned) {
                Some(b']') => {
                    self.scanned += b"]]>".len();
                    return Some(State::Text);
                }
                Some(b'\r') if self.scanned + 1 == bytes.len() => {
                    self.complete = self.scanned;
                    return None;
                }
                Some(b'<' | b'&' | b'\r') => self.scanned += 1,
                Some(_) => return Some(State::Broken),
                None => {
                    self.exclude_brackets(bytes);
                    return None;
                }
            }
        }
    }

    /// Stops before brackets at the end, because they may become `]]>`.
    fn exclude_brackets(&mut self, bytes: &[u8]) {
        let brackets = bytes.iter().rev().take(2).take_while(|&&byte| byte == b']').count();
        self.complete = bytes.len() - brackets;
        self.scanned = self.complete;
    }
}
