//! quoted-printable (RFC 2045 §6.7).

use memchr::memchr3;

use super::Invalid;
use crate::error::shown;

/// How much white space may stand at a place where a line may end: it counts only if the line doesn't. No line of mail
/// may be longer (RFC 5322 §2.1.1).
const LONGEST_WHITE_SPACE: usize = 998;

/// White space at the ends of lines goes, as the transport put it there; line ends stay as they are. Octets that may not
/// stand for themselves are taken all the same: they can mean nothing else.
#[derive(Debug, Default)]
pub(crate) struct QuotedPrintable {
    state: State,
    /// White space that counts unless the line ends behind it.
    white_space: Vec<u8>,
    /// How much was read.
    read: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// Behind `=`.
    Equals,
    /// Behind `=` and a digit.
    Digit(u8),
    /// Behind `=` and white space, or a carriage return: the end of a line that goes on.
    SoftBreak,
    SoftReturn,
    /// Behind a carriage return that follows white space: whether the line ends, what comes next says.
    Return,
}

impl QuotedPrintable {
    pub(crate) fn decode(&mut self, piece: &[u8]) -> Result<Vec<u8>, Invalid> {
        let mut out = Vec::with_capacity(piece.len());
        let mut rest = piece;
        while let Some(&byte) = rest.first() {
            if self.state == State::Text && self.white_space.is_empty() {
                // What stands for itself is copied as a whole; white space may be the last of a line.
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
                if self.white_space.len() == LONGEST_WHITE_SPACE {
                    return Err(format!("white space of more than {LONGEST_WHITE_SPACE} bytes in quoted-printable"));
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
                    "found {} behind \"=\" in quoted-printable, expected two digits or the end of the line",
                    shown(&[byte])
                ));
            }
        };
        Ok(())
    }

    /// The white space that stands last ends a line. So may an `=`: its line end went with the boundary.
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

/// The value of a hexadecimal digit.
fn value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        digit => (digit & !0x20) - b'A' + 10,
    }
}
