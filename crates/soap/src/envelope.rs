//! The envelope around a payload (SOAP 1.1 §4).

use std::ops::Range;

use castile_xml::{Reader, StartTag, Token};

use crate::{Error, ErrorKind, Version};

/// How many header blocks a message may have: each is some bytes to its sender and a record to us.
const MOST_HEADER_BLOCKS: usize = 256;

/// What stands before the payload of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The version of SOAP it is written in.
    pub version: Version,
    /// The header blocks, in their order.
    pub header: Vec<HeaderBlock>,
}

/// A child of the header, kept as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderBlock {
    /// The namespace name of the element.
    pub namespace: String,
    /// Its local name.
    pub local: String,
    /// Whether it must be understood by whoever it is for (SOAP 1.1 §4.2.3).
    pub must_understand: bool,
    /// Whom it is for, a URI; `None` is the ultimate recipient (SOAP 1.1 §4.2.2).
    pub actor: Option<String>,
    /// Where in the document that the reader reads it lies, from its start tag to its end tag. That is the message, or
    /// the text that was decoded from it.
    pub bytes: Range<usize>,
}

impl HeaderBlock {
    /// Whether the block is for the ultimate recipient of the message, or for whoever reads it next.
    pub fn is_for_recipient(&self, version: Version) -> bool {
        self.actor.as_deref().is_none_or(|actor| actor.is_empty() || actor == version.next_actor())
    }
}

impl Envelope {
    /// Reads from the beginning of the document to the payload: the first child of the body, whose start tag is read
    /// and returned, or `None` for an empty body.
    ///
    /// # Errors
    /// That the document is not well-formed or not an envelope.
    pub fn read<'a>(reader: &mut Reader<'a>) -> Result<(Envelope, Option<StartTag<'a>>), Error> {
        if let Some((payload, root)) = reader.resume() {
            let version = Version::of_namespace(reader.namespace(root));
            // Only what is an envelope of a known version is remembered, below.
            let version = version.ok_or_else(|| expected(0, "<Envelope>", "found another beginning"))?;
            return Ok((Envelope { version, header: Vec::new() }, Some(payload)));
        }
        let Some(root) = next_tag(reader)? else {
            return Err(expected(end_tag(reader), "<Envelope>", "the document ends"));
        };
        if root.name.local() != "Envelope" {
            return Err(unexpected(reader, root, "<Envelope>"));
        }
        let namespace = reader.namespace(root.namespace);
        let Some(version) = Version::of_namespace(namespace) else {
            let message =
                format!("found an envelope of {namespace:?}, where {:?} was expected", Version::Soap11.namespace());
            return Err(Error::at(root.offset, ErrorKind::VersionMismatch, message));
        };
        let mut envelope = Envelope { version, header: Vec::new() };
        let mut child = next_tag(reader)?;
        if let Some(tag) = child
            && is(reader, tag, version, "Header")
        {
            envelope.read_header(reader)?;
            child = next_tag(reader)?;
        }
        match child {
            Some(tag) if is(reader, tag, version, "Body") => {
                let payload = next_tag(reader)?;
                // A header is for this message alone: only bare envelopes come again.
                if let Some(payload) = payload
                    && envelope.header.is_empty()
                {
                    reader.remember(payload, root.namespace);
                }
                Ok((envelope, payload))
            }
            Some(tag) => Err(unexpected(reader, tag, "<Body>")),
            None => Err(expected(end_tag(reader), "<Body>", "the envelope ends")),
        }
    }

    fn read_header(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        while let Some(tag) = next_tag(reader)? {
            if self.header.len() == MOST_HEADER_BLOCKS {
                let message = format!("more than {MOST_HEADER_BLOCKS} header blocks, which is the limit");
                return Err(Error::at(tag.offset, ErrorKind::Document, message));
            }
            let mut block = HeaderBlock {
                namespace: reader.namespace(tag.namespace).to_owned(),
                local: tag.name.local().to_owned(),
                must_understand: false,
                actor: None,
                bytes: tag.offset..tag.offset,
            };
            for attribute in reader.attributes().filter(|attribute| attribute.namespace == self.version.namespace()) {
                match (attribute.name.local(), attribute.value.trim()) {
                    ("mustUnderstand", "1" | "true") => block.must_understand = true,
                    ("mustUnderstand", "0" | "false") => {}
                    ("mustUnderstand", value) => {
                        let message = format!("mustUnderstand is {}, where \"0\" or \"1\" was expected", quoted(value));
                        return Err(Error::at(attribute.offset, ErrorKind::Document, message));
                    }
                    ("actor", value) => block.actor = Some(value.to_owned()),
                    _ => {}
                }
            }
            reader.skip_element()?;
            block.bytes.end = reader.offset();
            self.header.push(block);
        }
        Ok(())
    }

    /// Refuses a message with a header block that must be understood and that `understood` doesn't know.
    ///
    /// # Errors
    /// [`ErrorKind::MustUnderstand`], with the name of the first such block.
    pub fn check_understood(&self, understood: impl Fn(&str, &str) -> bool) -> Result<(), Error> {
        let missed = self.header.iter().find(|block| {
            block.must_understand && block.is_for_recipient(self.version) && !understood(&block.namespace, &block.local)
        });
        match missed {
            None => Ok(()),
            Some(block) => {
                let (namespace, local) = (&block.namespace, &block.local);
                let message = format!("the header block <{local}> of {namespace:?} must be understood, and is not");
                Err(Error::at(block.bytes.start, ErrorKind::MustUnderstand, message))
            }
        }
    }

    /// Reads what may stand behind the payload: the ends of body and envelope.
    ///
    /// # Errors
    /// That something else stands there.
    pub fn read_end(reader: &mut Reader<'_>) -> Result<(), Error> {
        if reader.resume_rest() {
            return Ok(());
        }
        reader.remember_rest(|reader| {
            for end in ["</Body>", "</Envelope>"] {
                if let Some(tag) = next_tag(reader)? {
                    return Err(unexpected(reader, tag, end));
                }
            }
            // Behind the envelope comes the end of the document, or the reader says what else.
            next_tag(reader).map(|_| ())
        })
    }
}

/// The next start tag; `None` if an end tag or the end of the document comes first.
fn next_tag<'a>(reader: &mut Reader<'a>) -> Result<Option<StartTag<'a>>, Error> {
    loop {
        let offset = reader.offset();
        match reader.next()? {
            Token::StartTag(tag) => return Ok(Some(tag)),
            Token::EndTag(_) | Token::End => return Ok(None),
            Token::Text(text) if !text.trim_matches([' ', '\t', '\n', '\r']).is_empty() => {
                return Err(expected(offset, "an element", &format!("found text {}", quoted(text.trim()))));
            }
            Token::Text(_) | Token::Comment(_) | Token::Instruction { .. } => {}
        }
    }
}

fn is(reader: &Reader<'_>, tag: StartTag<'_>, version: Version, local: &str) -> bool {
    tag.name.local() == local && reader.namespace(tag.namespace) == version.namespace()
}

/// A place in the end tag that was read last.
pub(crate) fn end_tag(reader: &Reader<'_>) -> usize {
    reader.offset().saturating_sub(1)
}

fn unexpected(reader: &Reader<'_>, tag: StartTag<'_>, instead: &str) -> Error {
    let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
    expected(tag.offset, instead, &format!("found <{local}> of {namespace:?}"))
}

fn expected(offset: usize, expected: &str, found: &str) -> Error {
    Error::at(offset, ErrorKind::Document, format!("{found}, where {expected} was expected"))
}

/// Text of strangers for messages, cut where it gets long.
fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
