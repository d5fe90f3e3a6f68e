//! quoted-printable (RFC 2045 §6.7).

use memchr::memchr3;

use super::Invalid;
use crate::error::shown;

/// The most white space before a possible line end. White space counts only if the line doesn't end after it. No line
/// of mail may be longer (RFC 5322 §2.1.1).
const MAX_WHITE_SPACE: usize = 998;

/// White space at the end of a line is removed, because the transport may have added it. Line ends are unchanged.
/// Octets that should have been encoded are accepted, because they are unambiguous.
#[derive(Debug, Default)]
pub(crate) struct QuotedPrintable {
    state: State,
    /// White space that counts unless the line ends after it.
    white_space: Vec<u8>,
    /// The number of bytes read.
    read: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After `=`.
    Equals,
    /// After `=` and a digit.
    Digit(u8),
    /// After `=` and white space, or a carriage return: a soft line break.
    SoftBreak,
    SoftReturn,
    /// After a carriage return that follows white space. The next character decides whether the line ends.
    Return,
}

impl QuotedPrintable {
    pub(crate) fn decode(&mut self, piece: &[u8]) -> Result<Vec<u8>, Invalid> {
        let mut out = Vec::with_capacity(piece.len());
        let mut rest = piece;
        while let Some(&byte) = rest.first() {
            if self.state == State::Text && self.white_space.is_empty() {
                // Copy unencoded characters in one step. White space may be at the end of a line.
                let plain = memchr3(b'=', b' ', b'\t', rest).unwrap_or(rest.len());
                out.extend_from_slice(&rest[..plain]);
                rest = &rest[plain..];
                let Some(&special) = rest.first() else { break };
                match special {
                    b'=' => self.state = State::Equals,
                    white => self.white_space.push(white),
                }
                rest = &rest[1..];
                continue;
            }
            let at = self.read + (piece.len() - rest.len()) as u64;
            self.byte(byte, &mut out).map_err(|message| Invalid { at, message: message.into() })?;
            rest = &rest[1..];
        }
        self.read += piece.len() as u64;
        Ok(out)
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<u8>) -> Result<(), String> {
        self.state = match (self.state, byte) {
            (State::Text, b' ' | b'\t') => {
                if self.white_space.len() == MAX_WHITE_SPACE {
                    return Err(format!("white space of more than {MAX_WHITE_SPACE} bytes in quoted-printable"));
                }
                self.white_space.push(byte);
                State::Text
            }
            (State::Text, b'\r') => State::Return,
            (State::Text, b'\n') => {
                self.white_space.clear();
                out.push(b'\n');
                State::Text
            }
            (State::Text, b'=') => {
                out.append(&mut self.white_space);
                State::Equals
            }
            (State::Text, byte) => {
                out.append(&mut self.white_space);
                out.push(byte);
                State::Text
            }
            (State::Return, byte) => {
                if byte == b'\n' {
                    self.white_space.clear();
                }
                out.append(&mut self.white_space);
                out.push(b'\r');
                self.state = State::Text;
                return self.byte(byte, out);
            }
            (State::Equals | State::SoftBreak, b' ' | b'\t') => State::SoftBreak,
            (State::Equals | State::SoftBreak, b'\r') => State::SoftReturn,
            (State::Equals | State::SoftBreak | State::SoftReturn, b'\n') => State::Text,
            (State::Equals, digit) if digit.is_ascii_hexdigit() => State::Digit(digit),
            (State::Digit(first), second) if second.is_ascii_hexdigit() => {
                out.push(value(first) << 4 | value(second));
                State::Text
            }
            (_, byte) => {
                return Err(format!(
                    "found {} after \"=\" in quoted-printable, expected two digits or the end of the line",
                    shown(&[byte])
                ));
            }
        };
        Ok(())
    }

    /// White space at the end of the content ends a line. An `=` may also be there, because its line end belongs to the
    /// boundary.
    pub(crate) fn finish(&self) -> Result<(), Invalid> {
        match self.state {
            State::Digit(digit) => {
                let message = format!("quoted-printable ends with {}, expected a second digit", shown(&[b'=', digit]));
                Err(Invalid { at: self.read, message: message.into() })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the value of a hexadecimal digit.
fn value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        digit => (digit & !0x20) - b'A' + 10,
    }
}
