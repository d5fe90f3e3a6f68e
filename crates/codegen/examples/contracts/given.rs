//! Messages that somebody has put beside a contract.

use std::collections::HashMap;
use std::path::Path;

use castile_xml::c14n::{Algorithm, Method, Subset, Version};
use castile_xml::{Limits, Reader, Token};

use crate::Error;
use crate::groups::Group;

const ENVELOPES: [&str; 2] = ["http://schemas.xmlsoap.org/soap/envelope/", "http://www.w3.org/2003/05/soap-envelope"];
/// The depth of what a body holds.
const PAYLOAD: usize = 3;

/// Documents by the names of their elements.
pub(crate) type Messages = HashMap<(String, String), Vec<String>>;

/// What the bodies of all envelopes hold that lie beside the contracts of a group.
pub(crate) fn messages(group: &Group) -> Result<Messages, Error> {
    let mut messages = Messages::new();
    for folder in group.folders() {
        let mut files = folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>, Error>>()?;
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "xml")) {
            // What isn't XML, or no envelope, is no message.
            let _ = add(file, &mut messages);
        }
    }
    Ok(messages)
}

fn add(file: &Path, messages: &mut Messages) -> Result<(), Error> {
    let document = std::fs::read(file)?;
    let mut reader = Reader::new(&document, Limits::default())?;
    let mut is_body = false;
    loop {
        match reader.next()? {
            Token::StartTag(tag) => {
                let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
                match reader.depth() {
                    1 if !ENVELOPES.contains(&namespace) => return Ok(()),
                    2 => is_body = local == "Body",
                    PAYLOAD if is_body => {
                        let name = (namespace.to_owned(), local.to_owned());
                        messages.entry(name).or_default().push(alone(&document, tag.offset)?);
                    }
                    _ => {}
                }
            }
            Token::End => return Ok(()),
            _ => {}
        }
    }
}

/// The element at `offset` as a document, with all namespaces that are declared around it.
fn alone(document: &[u8], offset: usize) -> Result<String, Error> {
    let method = Method::new(Algorithm { version: Version::Canonical10, with_comments: true });
    let mut text = String::new();
    let mut reader = Reader::new(document, Limits::default())?;
    method.write(&mut reader, Subset { apex: Some(offset), ..Subset::default() }, |piece| text.push_str(piece))?;
    Ok(text)
}
