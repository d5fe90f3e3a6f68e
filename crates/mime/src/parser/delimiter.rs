//! What stands behind a boundary on its line (RFC 2046 §5.1.1).

use bytes::{Buf, Bytes};

use crate::error::shown;
use crate::{Error, ErrorKind};

/// The rest of the line of a boundary. White space in it is padding of the transport.
///
/// RFC 2046 has a line that begins with the boundary be one, whatever follows. Some readers do, others take it for
/// content, so nothing else may follow here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    part: u32,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
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
    /// With CR and LF: a part follows.
    CarriageReturn,
    /// With LF alone: the same.
    LineFeed,
    /// It was the boundary behind the last part.
    Close,
}

impl Line {
    /// The line behind the part with this number.
    pub(super) fn new(part: u32) -> Self {
        Line { part, place: Place::Start }
    }

    /// Whether the body may end here.
    pub(super) fn may_end(&self) -> bool {
        matches!(self.place, Place::Closed | Place::ClosedCarriageReturn)
    }

    /// Reads the line from `input`, which begins at `offset`, as far as it came.
    pub(super) fn read(&mut self, input: &mut Bytes, offset: &mut u64) -> Result<Option<Ending>, Error> {
        while let Some(&byte) = input.first() {
            let ending = match (self.place, byte) {
                (Place::Padding | Place::Start, b'\n') => Some(Ending::LineFeed),
                (Place::CarriageReturn, b'\n') => Some(Ending::CarriageReturn),
                (Place::Closed | Place::ClosedCarriageReturn, b'\n') => Some(Ending::Close),
                _ => None,
            };
            if ending.is_none() {
                self.place = match (self.place, byte) {
                    (Place::Start, b'-') => Place::Hyphen,
                    (Place::Hyphen, b'-') => Place::Closed,
                    (Place::Start | Place::Padding, b' ' | b'\t') => Place::Padding,
                    (Place::Start | Place::Padding, b'\r') => Place::CarriageReturn,
                    (Place::Closed, b' ' | b'\t') => Place::Closed,
                    (Place::Closed, b'\r') => Place::ClosedCarriageReturn,
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
        let expected = match self.place {
            Place::Hyphen => "a second \"-\"",
            Place::CarriageReturn | Place::ClosedCarriageReturn => "a line feed",
            _ => "the end of the line",
        };
        let found = shown(&[byte]);
        let message = format!("found {found} on the line of a boundary, expected {expected}");
        Error::new(ErrorKind::Delimiter, message).at(offset).in_part(self.part)
    }
}
