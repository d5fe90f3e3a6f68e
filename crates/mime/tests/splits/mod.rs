//! Parses a body in differently split chunks: for these tests and for fuzzing.

use castile_mime::{Boundary, Error, Event, Limits, Parser, PartHead};

/// The result of reading a body: its parts, and how it ended. The content of a part that an error ended is not
/// compared, because content before an error in the same chunk isn't returned.
#[derive(Debug, Default, PartialEq)]
pub struct Outcome {
    pub parts: Vec<(PartHead, Vec<u8>)>,
    pub has_ended: bool,
    pub error: Option<String>,
}

/// Reads a body that arrives in these chunks.
pub fn read<'a>(boundary: &Boundary, limits: Limits, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut parser = Parser::new(boundary, limits);
    let mut outcome = Outcome::default();
    let mut open = None;
    let result = pieces.into_iter().map(Some).chain([None]).try_for_each(|piece| {
        match piece {
            Some(piece) => parser.feed(bytes::Bytes::copy_from_slice(piece)),
            None => parser.finish(),
        }
        take(&mut parser, &mut outcome, &mut open)
    });
    if let Err(error) = result {
        let again = parser.next().expect_err("an error stays");
        assert_eq!(again.to_string(), error.to_string());
        outcome.error = Some(format!("{:?}: {error}", error.kind()));
    }
    outcome
}

fn take(parser: &mut Parser, outcome: &mut Outcome, open: &mut Option<(PartHead, Vec<u8>)>) -> Result<(), Error> {
    while let Some(event) = parser.next()? {
        assert!(!outcome.has_ended, "something comes behind the end: {event:?}");
        match event {
            Event::Part(head) => assert_eq!(open.replace((head, Vec::new())), None, "a part in a part"),
            Event::Data(data) => {
                assert!(!data.is_empty());
                open.as_mut().expect("data is in a part").1.extend_from_slice(&data);
            }
            Event::PartEnd => outcome.parts.push(open.take().expect("a part that ends began")),
            Event::End => outcome.has_ended = true,
        }
    }
    Ok(())
}

/// Reads a body as a whole and split into chunks of these lengths, repeatedly, and compares the results.
pub fn compare(boundary: &Boundary, limits: Limits, body: &[u8], lengths: &[usize]) -> Outcome {
    let whole = read(boundary, limits, [body]);
    let mut rest = body;
    let mut lengths = lengths.iter().cycle();
    let pieces = std::iter::from_fn(|| {
        let length = lengths.next().map_or(1, |length| *length).min(rest.len());
        let (piece, behind) = rest.split_at(length);
        let is_over = rest.is_empty();
        rest = behind;
        (!is_over).then_some(piece)
    });
    assert_eq!(read(boundary, limits, pieces), whole);
    whole
}
