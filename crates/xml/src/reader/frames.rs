//! How much of a document is complete, where only a part of it has come.
//!
//! This finds where tags, comments, instructions and references end, and nothing else: the tokeniser reads them. Where
//! markup can't be right any more, all there is counts as complete, for the tokeniser to say what is wrong.

use memchr::memchr;

use crate::{Limits, escape, scan};

/// A look at a document that goes on as more of it comes. No byte is looked at more than a few times.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames {
    state: State,
    /// The next byte to look at.
    looked: usize,
    /// What stands before this is complete. In markup, where the markup begins.
    complete: usize,
    /// No `<` stands between `looked` and this place: a long text with many references is searched for tags once.
    text_until: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Character data, or white space outside the root element.
    Text,
    /// Behind the `&` at `complete`.
    Reference,
    /// At a `<` whose kind of markup is not told yet.
    Markup,
    /// In a tag, outside the values of its attributes.
    Tag,
    /// In a value that this quote ends.
    Value(u8),
    Comment,
    Instruction,
    Cdata,
    /// The tokeniser finds an error in what there is.
    Broken,
    /// The markup at `complete` is longer than it may be.
    TooLong,
}

const COMMENT: &[u8] = b"<!--";
const CDATA: &[u8] = b"<![CDATA[";
/// What may begin with `<!`.
const BEGINNINGS: [&[u8]; 3] = [COMMENT, CDATA, b"<!DOCTYPE"];

/// Where to go on in a text that begins at `at`, if most of what follows needs no look: at a `<` from which on all that
/// is not complete can be seen.
///
/// Where neither `<!` nor `<?` stands, no `<` stands but at the beginning of a tag, and tags that don't end before the
/// next one are broken. So no more than the last two matter: the last one may be incomplete, and the one before, if it
/// is broken, is so for the `<` of the last one.
fn last_tag(bytes: &[u8], at: usize) -> Option<usize> {
    let end = find_other_markup(bytes, at);
    let is_start = |&byte: &u8| byte == b'<';
    let last = bytes[at..end].iter().rposition(is_start)?;
    if end < bytes.len() {
        return Some(at + last);
    }
    bytes[at..at + last].iter().rposition(is_start).map(|before| at + before)
}

/// The first `<!` or `<?` from `at` on, the length if there is none.
fn find_other_markup(bytes: &[u8], mut at: usize) -> usize {
    const WIDTH: usize = 64;
    // No branches, so that many bytes are compared at once.
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

/// Whether the markup that begins at the beginning of `bytes` is longer than it may be. CDATA sections never are: they
/// are text.
pub(super) fn is_too_long(bytes: &[u8], limits: Limits) -> bool {
    let longest = longest_markup(limits);
    let mut frames = Frames { state: State::Markup, ..Frames::new(0) };
    frames.look(&bytes[..bytes.len().min(longest)], limits);
    bytes.len() > longest && frames.complete == 0 && frames.is_in_markup()
}

/// The limit, and room in any case for tags that are no longer than their names, and to tell of what kind it is.
fn longest_markup(limits: Limits) -> usize {
    limits.markup_length.max(limits.name_length.saturating_add(16))
}

impl Frames {
    /// A look from `at` on, where a document begins.
    pub(super) fn new(at: usize) -> Self {
        Frames { state: State::Text, looked: at, complete: at, text_until: at }
    }

    /// Where what is complete ends: never within a reference, a line end, what may become `]]>`, or markup.
    pub(super) fn complete(&self) -> usize {
        self.complete
    }

    /// Whether markup begins there that is longer than [`Limits::markup_length`].
    pub(super) fn is_too_long(&self) -> bool {
        self.state == State::TooLong
    }

    /// This place after `removed` bytes before it are gone.
    pub(super) fn move_back(&mut self, removed: usize) {
        self.looked -= removed;
        self.complete -= removed;
        self.text_until = self.text_until.saturating_sub(removed);
    }

    /// Looks at what has come to `bytes`, the same document as before with more behind it. Whole characters have.
    pub(super) fn look(&mut self, bytes: &[u8], limits: Limits) {
        loop {
            let next = match self.state {
                State::Text => self.text(bytes),
                State::Reference => self.reference(bytes, escape::longest_reference(limits.name_length)),
                State::Markup => self.markup(bytes),
                State::Tag => self.tag(bytes),
                State::Value(quote) => self.value(bytes, quote),
                State::Comment => self.comment(bytes),
                State::Instruction => self.instruction(bytes),
                State::Cdata => self.cdata(bytes),
                State::Broken => {
                    (self.looked, self.complete) = (bytes.len(), bytes.len());
                    None
                }
                State::TooLong => None,
            };
            let Some(next) = next else {
                // The tokeniser sees by itself that markup is too long, if it is complete.
                if self.is_in_markup() && bytes.len() - self.complete > longest_markup(limits) {
                    self.state = State::TooLong;
                }
                return;
            };
            if next == State::Text {
                self.complete = self.looked;
            }
            self.state = next;
        }
    }

    fn is_in_markup(&self) -> bool {
        matches!(self.state, State::Tag | State::Value(_) | State::Comment | State::Instruction)
    }

    fn text(&mut self, bytes: &[u8]) -> Option<State> {
        if self.looked >= self.text_until {
            if let Some(at) = last_tag(bytes, self.looked) {
                (self.looked, self.complete) = (at, at);
                return Some(State::Markup);
            }
            let length = memchr(b'<', &bytes[self.looked..]);
            self.text_until = length.map_or(bytes.len(), |length| self.looked + length);
        }
        let end = scan::end_of_character_data(bytes, self.looked);
        self.looked = end;
        self.complete = end;
        match bytes.get(end) {
            Some(b'<') => Some(State::Markup),
            Some(b'&') => {
                self.looked += 1;
                Some(State::Reference)
            }
            // With the line feed that may follow it is one line end.
            Some(b'\r') if end + 1 == bytes.len() => None,
            Some(b'\r') => {
                self.looked += 1;
                Some(State::Text)
            }
            Some(_) => Some(State::Broken),
            None => {
                self.hold_brackets(bytes);
                None
            }
        }
    }

    fn reference(&mut self, bytes: &[u8], longest: usize) -> Option<State> {
        let behind = self.complete + 1;
        let left = longest.saturating_sub(self.looked - behind);
        match escape::end_of_reference(&bytes[self.looked..], left) {
            Some(length) if bytes[self.looked + length] == b';' => {
                self.looked += length + 1;
                Some(State::Text)
            }
            Some(_) => Some(State::Broken),
            None if bytes.len() - behind >= longest => Some(State::Broken),
            None => {
                self.looked = bytes.len();
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
            // A document type declaration too: messages may not have one.
            [_, b'!', ..] => (State::Broken, 0),
            _ => (State::Tag, 1),
        };
        self.looked = self.complete + length;
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

    /// The first byte that is one of these; goes behind it, or to the end.
    fn find(&mut self, bytes: &[u8], is_it: impl Fn(u8) -> bool) -> Option<u8> {
        let length = bytes[self.looked..].iter().position(|&byte| is_it(byte));
        self.looked = length.map_or(bytes.len(), |length| self.looked + length + 1);
        length.map(|_| bytes[self.looked - 1])
    }

    /// Up to `--` and the byte behind, which has to be `>`.
    fn comment(&mut self, bytes: &[u8]) -> Option<State> {
        loop {
            self.find(bytes, |byte| byte == b'-')?;
            match bytes.get(self.looked..) {
                Some([b'-', last, ..]) => {
                    self.looked += 2;
                    return Some(if *last == b'>' { State::Text } else { State::Broken });
                }
                Some([b'-'] | []) | None => {
                    self.looked -= 1;
                    return None;
                }
                Some(_) => {}
            }
        }
    }

    fn instruction(&mut self, bytes: &[u8]) -> Option<State> {
        loop {
            self.find(bytes, |byte| byte == b'?')?;
            match bytes.get(self.looked) {
                Some(b'>') => {
                    self.looked += 1;
                    return Some(State::Text);
                }
                Some(_) => {}
                None => {
                    self.looked -= 1;
                    return None;
                }
            }
        }
    }

    /// Its text goes out as it comes.
    fn cdata(&mut self, bytes: &[u8]) -> Option<State> {
        loop {
            self.looked = scan::end_of_character_data(bytes, self.looked);
            match bytes.get(self.looked) {
                Some(b']') => {
                    self.looked += b"]]>".len();
                    return Some(State::Text);
                }
                Some(b'\r') if self.looked + 1 == bytes.len() => {
                    self.complete = self.looked;
                    return None;
                }
                Some(b'<' | b'&' | b'\r') => self.looked += 1,
                Some(_) => return Some(State::Broken),
                None => {
                    self.hold_brackets(bytes);
                    return None;
                }
            }
        }
    }

    /// Stays before the brackets at the end, of which `]]>` may become.
    fn hold_brackets(&mut self, bytes: &[u8]) {
        let brackets = bytes.iter().rev().take(2).take_while(|&&byte| byte == b']').count();
        self.complete = bytes.len() - brackets;
        self.looked = self.complete;
    }
}
