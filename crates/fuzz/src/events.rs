//! The content of a document in a form that can be compared.

use castile_xml::{Error, Reader, Token};

/// One item of a document. Neighbouring texts are joined, and no text is empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Start { namespace: String, local: String, attributes: Vec<Attribute> },
    End,
    Text(String),
    Comment(String),
    Instruction { target: String, data: String },
}

/// Namespace name, local name and value.
pub(crate) type Attribute = (String, String, String);

/// Appends text to the events.
pub(crate) fn push_text(events: &mut Vec<Event>, text: &str) {
    match events.last_mut() {
        _ if text.is_empty() => {}
        Some(Event::Text(before)) => before.push_str(text),
        _ => events.push(Event::Text(text.to_owned())),
    }
}

/// Returns the attributes of the last start tag, sorted by name.
pub(crate) fn attributes(reader: &Reader<'_>) -> Vec<Attribute> {
    let attribute =
        |a: castile_xml::Attribute<'_>| (a.namespace.to_owned(), a.name.local().to_owned(), a.value.to_owned());
    let mut attributes: Vec<Attribute> = reader.attributes().map(attribute).collect();
    attributes.sort();
    attributes
}

/// Returns all events up to the end of the document.
pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Vec<Event>, Error> {
    let mut events = Vec::new();
    loop {
        let before = reader.offset();
        let token = reader.next()?;
        assert!(reader.offset() >= before && reader.offset() <= reader.input().len(), "the reader left its input");
        assert!(reader.depth() <= reader.limits().depth, "deeper than the limit");
        match token {
            Token::StartTag(tag) => {
                events.push(Event::Start {
                    namespace: reader.namespace(tag.namespace).to_owned(),
                    local: tag.name.local().to_owned(),
                    attributes: attributes(reader),
                });
            }
            Token::EndTag(_) => events.push(Event::End),
            Token::Text(text) => push_text(&mut events, &text),
            Token::Comment(text) => events.push(Event::Comment(text.text().into_owned())),
            Token::Instruction { target, data } => {
                events.push(Event::Instruction { target: target.to_owned(), data: data.text().into_owned() });
            }
            Token::End => return Ok(events),
        }
    }
}
