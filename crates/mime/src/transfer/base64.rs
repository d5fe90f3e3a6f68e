//! base64 (RFC 2045 §6.8).

use ::base64::engine::general_purpose::STANDARD;
use ::base64::{DecodeError, DecodeSliceError, Engine};
use memchr::{memchr, memchr3};

use super::Invalid;
use crate::error::shown;

/// The size of the buffer for characters that are decoded together, in bytes.
const BLOCK: usize = 4096;
/// The number of characters that encode three bytes.
const GROUP: usize = 4;

/// White space is skipped everywhere. RFC 2045 also requires to skip other invalid characters. That would accept broken
/// content, so it is an error here.
#[derive(Debug, Default)]
pub(crate) struct Base64 {
    /// Characters of an incomplete group, with their positions.
    begun: [(u8, u64); GROUP - 1],
    length: usize,
    /// Whether padding has ended the content.
    ended: bool,
    /// The number of bytes read.
    read: u64,
}

impl Base64 {
    pub(crate) fn decode(&mut self, piece: &[u8]) -> Result<Vec<u8>, Invalid> {
        let mut out = Vec::with_capacity((self.length + piece.len()) / GROUP * 3);
        let mut block = [0; BLOCK];
        let mut rest = piece;
        while !rest.is_empty() {
            for (place, (character, _)) in block.iter_mut().zip(&self.begun[..self.length]) {
                *place = *character;
            }
            let mut filled = self.length;
            let source = rest;
            while !rest.is_empty() && filled < BLOCK {
                // Copy whole lines.
                let most = &rest[..rest.len().min(BLOCK - filled)];
                let (line, _) = most.split_at(memchr3(b'\r', b'\n', b' ', most).unwrap_or(most.len()));
                block[filled..filled + line.len()].copy_from_slice(line);
                filled += line.len();
                rest = &rest[line.len()..];
                rest = &rest[rest.iter().take_while(|&&byte| is_white(byte)).count()..];
            }
            if memchr(b'\t', &block[..filled]).is_some() {
                filled = without_tabs(&mut block[..filled]);
            }
            let begun = self.begun;
            let place = |index: usize| {
                let Some(index) = index.checked_sub(self.length) else { return begun[index].1 };
                let mut places = source.iter().enumerate().filter(|(_, byte)| !is_white(**byte));
                self.read + places.nth(index).map_or(source.len(), |(at, _)| at) as u64
            };
            self.ended |= decode(&block[..filled], self.ended, &mut out)
                .map_err(|(index, message)| Invalid { at: place(index), message: message.into() })?;
            let whole = filled / GROUP * GROUP;
            let mut now_begun = [(0, 0); GROUP - 1];
            for (index, kept) in (whole..filled).zip(&mut now_begun) {
                *kept = (block[index], place(index));
            }
            (self.begun, self.length) = (now_begun, filled - whole);
            self.read += (source.len() - rest.len()) as u64;
        }
        Ok(out)
    }

    pub(crate) fn finish(&self) -> Result<(), Invalid> {
        match self.length {
            0 => Ok(()),
            length => {
                let message = format!("base64 ends with {length} characters of a group of four");
                Err(Invalid { at: self.read, message: message.into() })
            }
        }
    }
}

/// Decodes the complete groups of `characters`. Returns whether padding ended them. An error has the index of its
/// character.
fn decode(characters: &[u8], ended: bool, out: &mut Vec<u8>) -> Result<bool, (usize, String)> {
    let behind = |index: usize| {
        let found = shown(&characters[index..=index]);
        (index, format!("found {found} after the padding of base64, expected the end of the part"))
    };
    if ended && !characters.is_empty() {
        return Err(behind(0));
    }
    let whole = characters.len() / GROUP * GROUP;
    let padding = memchr(b'=', &characters[..whole]);
    let end = padding.map_or(whole, |padding| padding / GROUP * GROUP + GROUP);
    let start = out.len();
    out.resize(start + end / GROUP * 3, 0);
    match STANDARD.decode_slice(&characters[..end], &mut out[start..]) {
        Ok(length) => out.truncate(start + length),
        Err(DecodeSliceError::DecodeError(error)) => {
            let index = match error {
                DecodeError::InvalidByte(index, _) | DecodeError::InvalidLastSymbol { offset: index, .. } => index,
                DecodeError::InvalidLength(_) | DecodeError::InvalidPadding => end - GROUP,
            };
            return Err((index, format!("found {}, expected base64", shown(&characters[index..=index]))));
        }
        Err(DecodeSliceError::OutputSliceTooSmall) => {
            unreachable!("three bytes for each group of four are what base64 gives")
        }
    }
    match padding {
        Some(_) if end < characters.len() => Err(behind(end)),
        padding => Ok(padding.is_some()),
    }
}

#[cold]
fn without_tabs(block: &mut [u8]) -> usize {
    let mut length = 0;
    for index in 0..block.len() {
        if block[index] != b'\t' {
            block[length] = block[index];
            length += 1;
        }
    }
    length
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
