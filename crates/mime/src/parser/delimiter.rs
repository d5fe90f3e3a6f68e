//! The rest of a boundary's line (RFC 2046 §5.1.1).

use bytes::{Buf, Bytes};

use crate::error::shown;
use crate::{Error, ErrorKind};

/// Parses the rest of a boundary's line. White space in it is padding.
///
/// By RFC 2046, any line that begins with the boundary is a boundary, whatever follows. Some readers follow that and
/// others treat such a line as content. So other text in the line is an error here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    part: u32,
    state: LineState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineState {
    Start,
    Hyphen,
    Padding,
    CarriageReturn,
    Closed,
    ClosedCarriageReturn,
}

/// How the line of a boundary ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// With CR and LF. A part follows.
    CarriageReturn,
    /// With only LF. A part follows.
    LineFeed,
    /// It is the closing boundary after the last part.
    Close,
}

impl Line {
    /// Creates the state for the line after the part with this number.
    pub(super) fn new(part: u32) -> Self {
        Line { part, state: LineState::Start }
    }

    /// Returns whether the body may end here.
    pub(super) fn may_end(&self) -> bool {
        matches!(self.state, LineState::Closed | LineState::ClosedCarriageReturn)
    }

    /// Parses the available part of the line from `input`, which begins at `offset`.
    pub(super) fn read(&mut self, input: &mut Bytes, offset: &mut u64) -> Result<Option<Ending>, Error> {
        while let Some(&byte) = input.first() {
            let ending = match (self.state, byte) {
                (LineState::Padding | LineState::Start, b'\n') => Some(Ending::LineFeed),
                (LineState::CarriageReturn, b'\n') => Some(Ending::CarriageReturn),
                (LineState::Closed | LineState::ClosedCarriageReturn, b'\n') => Some(Ending::Close),
                _ => None,
            };
            if ending.is_none() {
                self.state = match (self.state, byte) {
                    (LineState::Start, b'-') => LineState::Hyphen,
                    (LineState::Hyphen, b'-') => LineState::Closed,
                    (LineState::Start | LineState::Padding, b' ' | b'\t') => LineState::Padding,
                    (LineState::Start | LineState::Padding, b'\r') => LineState::CarriageReturn,
                    (LineState::Closed, b' ' | b'\t') => LineState::Closed,
                    (LineState::Closed, b'\r') => LineState::ClosedCarriageReturn,
                    _ => return Err(self.unexpected(byte, *offset)),
                };
            }
            input.advance(1);
            *offset += 1;
            if ending.is_some() {
                return Ok(ending);
            }
        }
        Ok(None)
    }

    #[cold]
    fn unexpected(&self, byte: u8, offset: u64) -> Error {
        let expected = match self.state {
            LineState::Hyphen => "a second \"-\"",
            LineState::CarriageReturn | LineState::ClosedCarriageReturn => "a line feed",
            _ => "the end of the line",
        };
        let found = shown(&[byte]);
        let message = format!("found {found} on the line of a boundary, expected {expected}");
        Error::new(ErrorKind::Delimiter, message).at(offset).in_part(self.part)
    }
}
