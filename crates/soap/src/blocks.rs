//! Header blocks as values (SOAP 1.1 §4.2, SOAP 1.2 Part 1 §5.2). Blocks that a contract declares have types; other blocks are XML.

mod directed;
mod message_blocks;

use std::collections::HashSet;
use std::fmt;

use castile_databinding::schema::{Element, Namespaces, Wildcard};
use castile_databinding::{Any, Decoder, Deviations, Encoder};
use castile_xml::{Limits, Memory, Reader, Token};

pub use self::directed::Directed;
use self::directed::Direction;
pub(crate) use self::message_blocks::Blocks;
use crate::charge::{Charge, allowance};
use crate::envelope::{Envelope, HeaderBlock};
use crate::error::{Error, ErrorKind};
use crate::version::Version;

/// A header block that a contract declares, as a value. The generator implements this trait for each of them.
pub trait Header: Sized + Send + Sync + 'static {
    /// The declaration of the block's element.
    const ELEMENT: &'static Element;

    /// Reads the block, whose start tag was already read. Returns `None` for a block in SOAP encoding that is nil.
    ///
    /// # Errors
    /// Returns an error if the content of the block is invalid.
    fn read(decoder: &mut Decoder<'_>) -> Result<Option<Self>, castile_databinding::Error>;

    /// Writes the block, including its tags.
    fn write(&self, out: &mut Encoder);

    /// Requires the receiver to understand the block (`mustUnderstand`).
    fn must_understand(self) -> Directed<Self> {
        Directed::new(self).must_understand()
    }

    /// Sets the role that the block is for, a URI.
    fn for_role(self, role: impl Into<String>) -> Directed<Self> {
        Directed::new(self).for_role(role)
    }

    /// Asks intermediaries that don't process the block to forward it. SOAP 1.1 can't express this.
    fn relayed(self) -> Directed<Self> {
        Directed::new(self).relayed()
    }
}

/// A header block that can be sent: a [`Header`] of a contract, a [`Directed`] header, or an [`AnyHeader`].
pub trait WriteHeader: Send + Sync {
    /// Returns the namespace and the local name of the block.
    fn name(&self) -> (&str, &str);

    /// Writes the block, including its tags, into a message of `version`.
    fn write_to(&self, version: Version, out: &mut Encoder);
}

impl<T: Header> WriteHeader for T {
    fn name(&self) -> (&str, &str) {
        (T::ELEMENT.namespace, T::ELEMENT.name)
    }

    fn write_to(&self, version: Version, out: &mut Encoder) {
        out.encode(version.encoding());
        self.write(out);
    }
}

/// A header block that the contract doesn't declare, as XML.
///
/// ```
/// use castile_databinding::Any;
/// use castile_soap::AnyHeader;
///
/// let block = Any::parse("<key xmlns='urn:k'>12</key>")?;
/// let header = AnyHeader::from(block).must_understand();
/// assert_eq!(header.block.read::<i32>()?, 12);
/// # Ok::<(), castile_databinding::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyHeader {
    /// The block. A received block may still have attributes of the envelope's namespace.
    pub block: Any,
    /// Whether the receiver must understand the block (SOAP 1.1 §4.2.3).
    pub must_understand: bool,
    /// The role that the block is for, a URI. `None` is the ultimate receiver (SOAP 1.1 §4.2.2).
    pub role: Option<String>,
    /// Whether intermediaries that don't process the block forward it (SOAP 1.2 Part 1 §5.2.4). SOAP 1.1 can't express this.
    pub relay: bool,
}

impl From<Any> for AnyHeader {
    fn from(block: Any) -> Self {
        AnyHeader { block, must_understand: false, role: None, relay: false }
    }
}

impl AnyHeader {
    /// Requires the receiver to understand the block (`mustUnderstand`).
    pub fn must_understand(self) -> Self {
        AnyHeader { must_understand: true, ..self }
    }

    /// Sets the role that the block is for, a URI. In SOAP 1.1 this is the `actor`.
    pub fn for_role(self, role: impl Into<String>) -> Self {
        AnyHeader { role: Some(role.into()), ..self }
    }

    /// Asks intermediaries that don't process the block to forward it. SOAP 1.1 can't express this.
    pub fn relayed(self) -> Self {
        AnyHeader { relay: true, ..self }
    }
}

/// Returns whether `elements` contains an element with this name.
pub(crate) fn declares(elements: &[&Element], namespace: &str, local: &str) -> bool {
    elements.iter().any(|element| element.is(namespace, local))
}

/// Returns whether `elements` contains an element of this namespace.
pub(crate) fn declares_any_of(elements: &[&Element], namespace: &str) -> bool {
    elements.iter().any(|element| element.is(namespace, element.name))
}

/// The header of a message whose envelope was already read. To read a header block, the beginning of the message up to the block is
/// parsed again.
#[derive(Clone, Copy)]
pub(crate) struct Read<'a> {
    pub(crate) envelope: &'a Envelope,
    /// The text from which the envelope was read.
    pub(crate) text: &'a str,
    pub(crate) limits: Limits,
    pub(crate) charge: Charge<'a>,
    pub(crate) is_lenient: bool,
}

impl Read<'_> {
    /// Reads the block `T` for this node, if there is one, with its deviations.
    pub(crate) fn typed<T: Header>(self) -> Result<Option<(T, Deviations)>, Error> {
        let is_it = |block: &HeaderBlock| T::ELEMENT.is(&block.namespace, &block.local).then_some(0);
        let block = self.one(is_it, |decoder, _| T::read(decoder))?;
        Ok(block.and_then(|(block, deviations)| Some((block?, deviations))))
    }

    /// Reads the only block for this node that `number` accepts.
    pub(crate) fn one<T>(
        self,
        number: impl Fn(&HeaderBlock) -> Option<usize>,
        read: impl FnOnce(&mut Decoder<'_>, usize) -> Result<T, castile_databinding::Error>,
    ) -> Result<Option<(T, Deviations)>, Error> {
        let Envelope { version, header } = self.envelope;
        let wanted = |block: &HeaderBlock| number(block).filter(|_| block.is_for_recipient(*version));
        let found = header.iter().enumerate().find_map(|(place, block)| Some((place, wanted(block)?)));
        let Some((place, index)) = found else { return Ok(None) };
        if let Some(second) = header[place + 1..].iter().find(|block| wanted(block) == Some(index)) {
            let message = format!("a second header block <{}>, where one was expected", second.local);
            return Err(Error::at(second.bytes.start, ErrorKind::Document, message));
        }
        let mut decoder = decoder(self.envelope, self.text, self.limits, self.charge, self.is_lenient)?;
        for _ in 0..place {
            next_start(decoder.reader())?;
            decoder.reader().skip_element()?;
        }
        next_start(decoder.reader())?;
        let value = read(&mut decoder, index)?;
        Ok(Some((value, decoder.take_deviations())))
    }

    /// Returns all blocks that `wanted` accepts, as XML.
    pub(crate) fn all(self, wanted: impl Fn(&HeaderBlock) -> bool) -> Result<Vec<AnyHeader>, Error> {
        static ANY: Wildcard = Wildcard::new(Namespaces::Any);
        let header = &self.envelope.header;
        let mut found = Vec::new();
        let Some(last) = header.iter().rposition(&wanted) else { return Ok(found) };
        let mut decoder = decoder(self.envelope, self.text, self.limits, self.charge, false)?;
        for block in &header[..=last] {
            if !wanted(block) {
                next_start(decoder.reader())?;
                decoder.reader().skip_element()?;
                continue;
            }
            found.push(AnyHeader {
                block: decoder.any(&ANY)?,
                must_understand: block.must_understand,
                role: block.role.clone(),
                relay: block.relay,
            });
        }
        Ok(found)
    }
}

/// Creates a decoder that is positioned after the start tag of the header. The envelope was already read from `text`.
pub(crate) fn decoder<'a>(
    envelope: &Envelope,
    text: &'a str,
    limits: Limits,
    charge: Charge<'_>,
    is_lenient: bool,
) -> Result<Decoder<'a>, Error> {
    let length = envelope.header.last().map_or(0, |block| block.bytes.end);
    let allowance = allowance(charge, length)?;
    let mut reader = Reader::decoded(text, limits, &mut Memory::default())?;
    // Skip the start tags of the envelope and the header.
    next_start(&mut reader)?;
    next_start(&mut reader)?;
    let decoder = if is_lenient { Decoder::lenient(reader) } else { Decoder::new(reader) };
    Ok(decoder.within(allowance))
}

/// Reads to the next start tag. The envelope was already read, so there is one.
fn next_start(reader: &mut Reader<'_>) -> Result<(), Error> {
    while !matches!(reader.next()?, Token::StartTag(_) | Token::End) {}
    Ok(())
}

/// Writes everything before the start tag of the body.
pub(crate) fn write_before_body(version: Version, header: Headers<'_>, out: &mut Encoder) {
    let prologue = version.prologue();
    out.raw(prologue.strip_suffix(BODY).unwrap_or(prologue));
    if header.is_empty() {
        return;
    }
    out.raw("<soap:Header>");
    out.raw(header.first);
    header.blocks.iter().for_each(|block| block.write_to(version, out));
    out.raw("</soap:Header>");
}

/// The header of a message to be written.
#[derive(Clone, Copy, Default)]
pub struct Headers<'a> {
    /// Header blocks of the library as text, which are written first.
    pub(crate) first: &'a str,
    pub(crate) blocks: &'a [&'a dyn WriteHeader],
}

impl<'a> Headers<'a> {
    /// Creates a header with these blocks.
    pub fn new(blocks: &'a [&'a dyn WriteHeader]) -> Self {
        Headers { first: "", blocks }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.first.is_empty() && self.blocks.is_empty()
    }
}

impl fmt::Debug for Headers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Headers").field("first", &self.first).field("blocks", &self.blocks.len()).finish()
    }
}

/// The start tag of a body without namespace declarations.
pub(crate) const BODY: &str = "<soap:Body>";

impl WriteHeader for AnyHeader {
    fn name(&self) -> (&str, &str) {
        let name = self.block.name();
        (&name.namespace, &name.local)
    }

    /// Writes the block, and adds the attributes that it doesn't have yet.
    fn write_to(&self, version: Version, out: &mut Encoder) {
        let AnyHeader { block, must_understand, role, relay } = self;
        let direction = Direction { must_understand: *must_understand, role: role.clone(), relay: *relay };
        direction.write(|out| out.raw(&block.xml()), version, out);
    }
}

/// Returns a prefix that the block doesn't use. The block may bind `soap` to any namespace.
pub(crate) fn unused_prefix(xml: &str) -> String {
    let digits = |from: usize| {
        let rest = &xml[from..];
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
    };
    let used: HashSet<&str> = xml.match_indices("soap").map(|(at, word)| digits(at + word.len())).collect();
    let number = (0u64..).map(|number| number.to_string()).find(|number| !used.contains(number.as_str()));
    format!("soap{}", number.unwrap_or_default())
}

/// Returns an attribute of the first tag of `xml`.
pub(crate) fn attribute(xml: &str, namespace: &str, local: &str) -> Option<String> {
    let mut reader = Reader::new(xml.as_bytes(), Limits::default()).ok()?;
    next_start(&mut reader).ok()?;
    let mut attributes = reader.attributes();
    let found = attributes.find(|attribute| attribute.namespace == namespace && attribute.name.local() == local);
    found.map(|attribute| attribute.value.to_owned())
}
