//! Compares documents that are read item by item with documents that are read as a whole.

use std::io::Read;

use castile::document::{ErrorKind, Options};

use crate::{limits_for, shown};

/// The generated code of the documents' schema.
mod quakes {
    castile::include_contract!("schema");
}

use quakes::{Catalogue, Event, ParametersChoice};

/// Returns the document in pieces whose lengths depend on its bytes.
struct Pieces<'d> {
    document: &'d [u8],
    at: usize,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        const MAX_PIECE_LENGTH: usize = 40;
        let rest = &self.document[self.at..];
        let length =
            self.document.get(self.document.len() - rest.len()).map_or(0, |&byte| usize::from(byte) % MAX_PIECE_LENGTH);
        let piece = &rest[..rest.len().min(length + 1).min(buffer.len())];
        buffer[..piece.len()].copy_from_slice(piece);
        self.at += piece.len();
        Ok(piece.len())
    }
}

/// Reads any bytes as a document with items.
///
/// A document that is valid as a whole has the same items, and the same rest, one by one. A document that can only be read item by item is
/// well-formed XML, and violates only the number and order of its elements.
///
/// # Panics
/// One of these properties does not hold.
pub fn items(input: &[u8]) {
    let mut options = Options::default();
    options.limits = limits_for(input);
    let whole = options.read::<Catalogue>(input);
    let mut events = options.open::<Catalogue, _>(Pieces { document: input, at: 0 }).items::<Event>();
    let found: Result<Vec<Event>, _> = events.by_ref().collect();
    assert!(events.next().is_none(), "behind the end comes nothing, {}", shown(input));
    let rest = events.rest();
    match whole {
        Ok(mut whole) => {
            let choice = std::mem::take(&mut whole.parameters.choice);
            let mut expected = Vec::new();
            for one in choice {
                match one {
                    ParametersChoice::Event(event) => expected.push(event),
                    comment @ ParametersChoice::Comment(_) => whole.parameters.choice.push(comment),
                }
            }
            // NaN is not equal to itself.
            assert_eq!(
                format!("{found:?}"),
                format!("{:?}", Ok::<_, castile::document::Error>(expected)),
                "{}",
                shown(input)
            );
            assert_eq!(rest.as_ref(), Ok(&whole), "{}", shown(input));
        }
        Err(error) if found.is_ok() && rest.is_ok() => {
            assert_eq!(error.kind(), ErrorKind::Structure, "{error} {}", shown(input));
        }
        Err(_) => {}
    }
    for error in found.err().into_iter().chain(rest.err()) {
        assert!(error.location().is_some_and(|place| place.line >= 1 && place.column >= 1), "{error} {}", shown(input));
    }
}
