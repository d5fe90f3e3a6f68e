//! A document read as a whole and in pieces, in a form to compare.
#![allow(clippy::unwrap_used, reason = "only tests come here")]
#![allow(dead_code, reason = "each test uses some of it")]

use castile_xml::{Attribute, Chunk, Error, ErrorKind, Limits, Memory, PushReader, Reader, Token, decode};

/// A token of a document, or consecutive texts joined.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    StartTag {
        namespace: String,
        name: String,
        offset: usize,
        attributes: Vec<[String; 3]>,
        offsets: Vec<usize>,
    },
    EndTag(String),
    Text(String),
    Comment(String),
    Instruction(String, String),
    /// The state of the reader after a tag: depth, offset, default namespace.
    Place(usize, usize, String),
}

/// The tokens of a document, and its end or error.
pub type Outcome = (Vec<Item>, Result<(), Error>);

/// Returns the outcomes that a reader of pieces may have, by a reader of the whole document. There may be two, because
/// the latter checks the whole document before it reads it.
pub fn whole(bytes: &[u8], limits: Limits) -> Vec<Outcome> {
    let read = |bytes: &[u8]| -> Outcome {
        let mut items = Vec::new();
        let result = (|| {
            let text = decode(bytes, None)?;
            let mut reader = Reader::decoded(&text, limits, &mut Memory::default())?;
            loop {
                let token = reader.next()?;
                if token == Token::End {
                    return Ok(());
                }
                let place = (reader.depth(), reader.offset(), reader.resolve("").unwrap_or("?"));
                add(&mut items, &token, |id| reader.namespace(id), reader.attributes(), place);
            }
        })();
        finish(items, result)
    };
    let mut outcomes = vec![read(bytes)];
    let mut length = bytes.len() + 1;
    while let Some((items, Err(error))) = outcomes.last()
        && items.is_empty()
        && error.offset() < length
        && error.offset() < bytes.len()
    {
        // An error before the offset at which the whole document was rejected is reported first.
        length = error.offset();
        if error.kind() == ErrorKind::Limit {
            // Cuts between characters.
            length -= bytes[..=length].iter().rev().take_while(|&&byte| byte & 0xC0 == 0x80).count();
        }
        let before = read(&bytes[..length]);
        outcomes.insert(0, (before.0.clone(), Err(error.clone())));
        outcomes.push(before);
    }
    // An error that is caused only by the cut is not an error of the document.
    if length <= bytes.len() && outcomes.last().is_some_and(|(_, result)| result.is_ok()) {
        outcomes.pop();
    }
    outcomes
}

/// Returns the outcome of a reader of pieces. `lengths` are the lengths of the pieces.
pub fn in_pieces(bytes: &[u8], lengths: impl IntoIterator<Item = usize>, limits: Limits) -> Outcome {
    let mut pieces = PushReader::new(None, limits);
    let mut items = Vec::new();
    let mut rest = bytes;
    for length in lengths {
        let (piece, behind) = rest.split_at(length.min(rest.len()));
        rest = behind;
        if let Err(error) = drain(pieces.push(piece), &mut items) {
            assert_eq!(pieces.push(b"<x>").next(), Err(error.clone()), "an error stays");
            return finish(items, Err(error));
        }
        if rest.is_empty() {
            break;
        }
    }
    let mut result = drain(pieces.push(rest), &mut items);
    if result.is_ok() {
        result = drain(pieces.end(), &mut items);
        assert_eq!(pieces.end().next(), result.clone().map(|()| None), "the end stays");
    }
    finish(items, result)
}

fn drain(mut piece: Chunk<'_>, items: &mut Vec<Item>) -> Result<(), Error> {
    assert_eq!(piece.attributes().count(), 0, "the last tag is gone");
    while let Some(token) = piece.next()? {
        assert!(token != Token::End);
        let place = (piece.depth(), piece.offset(), piece.resolve("").unwrap_or("?"));
        add(items, &token, |id| piece.namespace(id), piece.attributes(), place);
    }
    Ok(())
}

fn add<'n>(
    items: &mut Vec<Item>,
    token: &Token<'_>,
    namespace: impl FnOnce(castile_xml::NamespaceId) -> &'n str,
    attributes: impl Iterator<Item = Attribute<'n>>,
    (depth, offset, default): (usize, usize, &str),
) {
    let item = match token {
        Token::StartTag(tag) => {
            let attributes: Vec<Attribute<'_>> = attributes.collect();
            let strings = |attribute: &Attribute<'_>| {
                [attribute.namespace.to_owned(), attribute.name.as_str().to_owned(), attribute.value.to_owned()]
            };
            Item::StartTag {
                namespace: namespace(tag.namespace).to_owned(),
                name: tag.name.as_str().to_owned(),
                offset: tag.offset,
                attributes: attributes.iter().map(strings).collect(),
                offsets: attributes.iter().map(|attribute| attribute.offset).collect(),
            }
        }
        Token::EndTag(name) => Item::EndTag(name.as_str().to_owned()),
        Token::Text(text) => match items.last_mut() {
            Some(Item::Text(before)) => return before.push_str(text),
            _ if text.is_empty() => return,
            _ => return items.push(Item::Text(text.as_ref().to_owned())),
        },
        Token::Comment(text) => Item::Comment(text.to_string()),
        Token::Instruction { target, data } => Item::Instruction((*target).to_owned(), data.to_string()),
        Token::End => return,
    };
    items.push(item);
    items.push(Item::Place(depth, offset, default.to_owned()));
}

/// The amount of text that precedes an error depends on where the text was cut.
fn finish(mut items: Vec<Item>, result: Result<(), Error>) -> Outcome {
    if result.is_err() && matches!(items.last(), Some(Item::Text(_))) {
        items.pop();
    }
    (items, result)
}

/// Compares the outcome of the whole document with that of one piece, of pieces of one byte and of pieces of these
/// lengths.
pub fn compare(bytes: &[u8], limits: Limits, splits: impl IntoIterator<Item = Vec<usize>>) {
    let show = || String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
    let outcomes = whole(bytes, limits);
    let one = in_pieces(bytes, [], limits);
    assert!(outcomes.contains(&one), "in one piece {one:?}\nas a whole {outcomes:?}\nof {}", show());
    for lengths in [vec![1; bytes.len()]].into_iter().chain(splits) {
        let found = in_pieces(bytes, lengths.iter().copied(), limits);
        assert!(found == one, "in pieces of {lengths:?} {found:?}\nin one {one:?}\nof {}", show());
    }
}
