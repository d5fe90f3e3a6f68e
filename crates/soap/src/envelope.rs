//! The envelope around a payload (SOAP 1.1 §4, SOAP 1.2 Part 1 §5).

use std::ops::Range;

use castile_databinding::Decoder;
use castile_databinding::datatypes::QName;
use castile_xml::{Attribute, CachedReader, Reader, StartTag, Token};

use crate::error::{Error, ErrorKind, Named};
use crate::version::Version;

/// The maximum number of header blocks in a message. A block costs its sender a few bytes, and the receiver a record.
pub const MAX_HEADER_BLOCKS: usize = 256;
/// The maximum end of a header, in bytes from the beginning of the message. The header is parsed again each time that one of its
/// blocks is read.
pub const MAX_HEADER_SIZE: usize = 256 << 10;
/// The maximum number of blocks that a `mustUnderstand` fault names, so that a small message doesn't cause a large answer.
const MAX_NOT_UNDERSTOOD: usize = 8;

/// The part of a message before its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The version of SOAP of the envelope.
    pub version: Version,
    /// The header blocks in document order.
    pub header: Vec<HeaderBlock>,
}

/// A header block, as its position in the message and its SOAP attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderBlock {
    /// The namespace name of the element.
    pub namespace: String,
    /// The local name of the element.
    pub local: String,
    /// Whether the receiver must understand the block (SOAP 1.1 §4.2.3, SOAP 1.2 Part 1 §5.2.3).
    pub must_understand: bool,
    /// The role that the block is for, a URI. `None` is the ultimate receiver (SOAP 1.1 §4.2.2, where the role is called actor,
    /// SOAP 1.2 Part 1 §5.2.2).
    pub role: Option<String>,
    /// Whether intermediaries that don't process the block forward it (SOAP 1.2 Part 1 §5.2.4).
    pub relay: bool,
    /// The byte range of the block, from its start tag to its end tag, in the text of the reader: the message, converted to UTF-8 if
    /// it has another encoding.
    pub bytes: Range<usize>,
    /// Whether `role` is one of this node's own roles.
    claimed: bool,
}

impl HeaderBlock {
    /// Returns whether the block is for this node: for the ultimate receiver, for the next node, or for a role that was claimed.
    pub fn is_for_recipient(&self, version: Version) -> bool {
        self.claimed || self.role.as_deref().is_none_or(|role| version.is_role_of_recipient(role))
    }

    /// Reads an attribute of the envelope's namespace.
    fn read_attribute(&mut self, attribute: &Attribute<'_>, version: Version) -> Result<(), Error> {
        match (attribute.name.local(), attribute.value.trim()) {
            ("mustUnderstand", value) => self.must_understand = boolean(attribute, value)?,
            ("relay", value) if version == Version::Soap12 => self.relay = boolean(attribute, value)?,
            (name, value) if name == version.role_attribute() => self.role = Some(value.to_owned()),
            _ => {}
        }
        Ok(())
    }
}

impl Envelope {
    /// Reads from the beginning of the document to the payload, which is the first child of the body. Returns the start tag of the
    /// payload, or `None` if the body is empty.
    ///
    /// # Errors
    /// Returns an error if the document is not well-formed or not an envelope.
    pub fn read<'a>(reader: &mut CachedReader<'a>) -> Result<(Envelope, Option<StartTag<'a>>), Error> {
        if let Some((payload, root)) = reader.cached_prologue() {
            let version = Version::of_namespace(reader.namespace(root));
            // Only envelopes of a known version are cached, see below.
            let version = version.ok_or_else(|| expected(0, "<Envelope>", "found a different root element"))?;
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
            let [one, other] = Version::ALL.map(Version::namespace);
            let message = format!("found an envelope of {}, where {one:?} or {other:?} was expected", Named(namespace));
            return Err(Error::at(root.offset, ErrorKind::VersionMismatch, message));
        };
        check_attributes(reader, root, version)?;
        let mut envelope = Envelope { version, header: Vec::new() };
        let mut child = next_tag(reader)?;
        if let Some(tag) = child
            && is(reader, tag, version, "Header")
        {
            let header = check_attributes(reader, tag, version).and_then(|()| envelope.read_header(reader));
            header.map_err(Error::in_header)?;
            child = next_tag(reader)?;
        }
        match child {
            Some(tag) if is(reader, tag, version, "Body") => {
                check_attributes(reader, tag, version)?;
                let payload = next_tag(reader)?;
                if let Some(payload) = payload {
                    check_encoding(reader, version)?;
                    // Header blocks are specific to one message. Only envelopes without header blocks are cached.
                    if envelope.header.is_empty() {
                        reader.cache_prologue(payload, root.namespace);
                    }
                }
                Ok((envelope, payload))
            }
            Some(tag) => Err(unexpected(reader, tag, "<Body>")),
            None => Err(expected(end_tag(reader), "<Body>", "the envelope ends")),
        }
    }

    fn read_header(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        while let Some(tag) = next_tag(reader)? {
            if self.header.len() == MAX_HEADER_BLOCKS {
                let message = format!("more than {MAX_HEADER_BLOCKS} header blocks, which is the limit");
                return Err(Error::at(tag.offset, ErrorKind::Document, message));
            }
            let mut block = HeaderBlock {
                namespace: reader.namespace(tag.namespace).to_owned(),
                local: tag.name.local().to_owned(),
                must_understand: false,
                role: None,
                relay: false,
                bytes: tag.offset..tag.offset,
                claimed: false,
            };
            for attribute in reader.attributes().filter(|attribute| attribute.namespace == self.version.namespace()) {
                block.read_attribute(&attribute, self.version)?;
            }
            reader.skip_element()?;
            block.bytes.end = reader.offset();
            if block.bytes.end > MAX_HEADER_SIZE {
                let message = format!("a header that ends after more than {MAX_HEADER_SIZE} bytes, which is the limit");
                return Err(Error::at(block.bytes.start, ErrorKind::Document, message));
            }
            self.header.push(block);
        }
        Ok(())
    }

    /// Claims these roles. Header blocks for them are then for this node.
    pub fn claim(&mut self, roles: &[String]) {
        if roles.is_empty() {
            return;
        }
        for block in &mut self.header {
            block.claimed = block.role.as_ref().is_some_and(|role| roles.contains(role));
        }
    }

    /// Checks that `understood` accepts every header block that this node must understand.
    ///
    /// # Errors
    /// Returns [`ErrorKind::MustUnderstand`], with the names of the first blocks that are not understood.
    pub fn check_understood(&self, understood: impl Fn(&HeaderBlock) -> bool) -> Result<(), Error> {
        let mut missed = self
            .header
            .iter()
            .filter(|block| block.must_understand && block.is_for_recipient(self.version) && !understood(block));
        let Some(first) = missed.next() else { return Ok(()) };
        let name = |block: &HeaderBlock| QName {
            namespace: block.namespace.as_str().into(),
            local: block.local.clone(),
            prefix: String::new(),
        };
        let names = std::iter::once(first).chain(missed).take(MAX_NOT_UNDERSTOOD).map(name).collect();
        let (namespace, local) = (&first.namespace, &first.local);
        let message = format!("the header block <{local}> of {} must be understood, but is not", Named(namespace));
        Err(Error::at(first.bytes.start, ErrorKind::MustUnderstand, message).of_header(names))
    }

    /// Reads the end of the message after the payload: the end tags of the body and the envelope.
    ///
    /// # Errors
    /// Returns an error if anything else follows the payload.
    pub fn read_end(reader: &mut CachedReader<'_>) -> Result<(), Error> {
        if reader.cached_epilogue() {
            return Ok(());
        }
        reader.cache_epilogue(|reader| {
            for end in ["</Body>", "</Envelope>"] {
                if let Some(tag) = next_tag(reader)? {
                    return Err(unexpected(reader, tag, end));
                }
            }
            // After the envelope only the end of the document may follow. The reader reports anything else.
            next_tag(reader).map(|_| ())
        })
    }

    /// Reads the end of the message after a payload in SOAP encoding. The body may contain further elements to which references
    /// lead (SOAP 1.1 §5.1, §5.6).
    ///
    /// # Errors
    /// Returns an error if the rest of the message is not well-formed, or if anything but elements follows the payload.
    pub fn read_end_after_trailing(decoder: &mut Decoder<'_>) -> Result<(), Error> {
        let reader = decoder.reader();
        // Only an epilogue without further elements is cached.
        if reader.is_before_end_tag() {
            return Envelope::read_end(reader);
        }
        loop {
            decoder.skip_followed();
            if next_tag(decoder.reader())?.is_none() {
                return Envelope::read_end_after_body(decoder.reader());
            }
            decoder.reader().skip_element()?;
        }
    }

    /// Reads the end of an envelope, after the end tag of the body was read.
    pub(crate) fn read_end_after_body(reader: &mut Reader<'_>) -> Result<(), Error> {
        if let Some(tag) = next_tag(reader)? {
            return Err(unexpected(reader, tag, "</Envelope>"));
        }
        next_tag(reader).map(|_| ())
    }
}

/// Returns the version of the message that begins here. An envelope of an unknown version counts as SOAP 1.1, which every node can
/// read (SOAP 1.2 Part 1, appendix A). Returns `None` if the document doesn't begin with an envelope.
pub(crate) fn version(reader: &mut CachedReader<'_>) -> Option<Version> {
    let root = next_tag(reader).ok()??;
    (root.name.local() == "Envelope")
        .then(|| Version::of_namespace(reader.namespace(root.namespace)).unwrap_or_default())
}

/// Checks that the element whose start tag was read last has no forbidden attributes.
fn check_attributes(reader: &Reader<'_>, tag: StartTag<'_>, version: Version) -> Result<(), Error> {
    if !version.restricts_attributes() {
        return Ok(());
    }
    let is_wrong = |attribute: &Attribute<'_>| {
        attribute.namespace.is_empty()
            || (attribute.namespace == version.namespace() && attribute.name.local() == "encodingStyle")
    };
    match reader.attributes().find(is_wrong) {
        None => Ok(()),
        Some(attribute) => {
            let (name, local) = (attribute.name.local(), tag.name.local());
            let message = format!("found the attribute {}, which <{local}> may not have", quoted(name));
            Err(Error::at(attribute.offset, ErrorKind::Document, message))
        }
    }
}

/// Checks that the payload, whose start tag was read last, has a known encoding.
fn check_encoding(reader: &Reader<'_>, version: Version) -> Result<(), Error> {
    let mut attributes = reader.attributes().filter(|attribute| attribute.namespace == version.namespace());
    let unknown = attributes
        .find(|attribute| attribute.name.local() == "encodingStyle" && !version.knows_encoding(attribute.value.trim()));
    match unknown {
        None => Ok(()),
        Some(attribute) => {
            let message = format!("the encoding {} is unknown", quoted(attribute.value));
            Err(Error::at(attribute.offset, ErrorKind::DataEncodingUnknown, message))
        }
    }
}

/// Parses the value of a boolean attribute. SOAP 1.1 allows only `0` and `1`; all values of xs:boolean are accepted for both
/// versions.
fn boolean(attribute: &Attribute<'_>, value: &str) -> Result<bool, Error> {
    match value {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        value => {
            let name = attribute.name.local();
            let message = format!("{name} is {}, where \"0\" or \"1\" was expected", quoted(value));
            Err(Error::at(attribute.offset, ErrorKind::Document, message))
        }
    }
}

/// Returns the next start tag, or `None` if an end tag or the end of the document comes first.
pub(crate) fn next_tag<'a>(reader: &mut Reader<'a>) -> Result<Option<StartTag<'a>>, Error> {
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

/// Returns an offset inside the end tag that was read last.
pub(crate) fn end_tag(reader: &Reader<'_>) -> usize {
    reader.offset().saturating_sub(1)
}

fn unexpected(reader: &Reader<'_>, tag: StartTag<'_>, instead: &str) -> Error {
    let (namespace, local) = (reader.namespace(tag.namespace), tag.name.local());
    expected(tag.offset, instead, &format!("found <{local}> of {}", Named(namespace)))
}

fn expected(offset: usize, expected: &str, found: &str) -> Error {
    Error::at(offset, ErrorKind::Document, format!("{found}, where {expected} was expected"))
}

/// Quotes text from a message for error messages, truncated if it is long.
pub(crate) fn quoted(text: &str) -> String {
    const MAX_SHOWN: usize = 100;
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
