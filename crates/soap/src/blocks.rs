//! Header blocks as values (SOAP 1.1 §4.2, SOAP 1.2 Part 1 §5.2): those that a contract declares have types, others are kept as XML.

use std::collections::HashSet;

use castile_databinding::schema::{Element, Namespaces, Wildcard};
use castile_databinding::{Any, Decoder, Deviations, Encoder};
use castile_xml::{Limits, Memory, Reader, Token};

use crate::charge::{Charge, allowance};
use crate::{Envelope, Error, ErrorKind, FaultDetail, Version};

/// The header blocks of a message as values. Generated for operations whose binding declares some.
pub trait Header: Default + Send + 'static {
    /// The blocks that the contract declares. They count as understood.
    const ELEMENTS: &'static [Element] = &[];
    /// Whether there is a place for any block at all.
    const HOLDS: bool = true;

    /// Reads `ELEMENTS[index]`, whose start tag was read.
    ///
    /// # Errors
    /// What the document has instead.
    fn read(&mut self, decoder: &mut Decoder<'_>, index: usize) -> Result<(), castile_databinding::Error>;

    /// Takes a block that is not declared.
    fn keep(&mut self, block: AnyHeader);

    /// Whether there is no block.
    fn is_empty(&self) -> bool;

    /// Writes the blocks that are declared, their tags included.
    fn write(&self, out: &mut Encoder);

    /// The blocks that are not declared.
    fn others(&self) -> &[AnyHeader];
}

/// A header block that the contract doesn't declare, as XML.
///
/// ```
/// use castile_databinding::Any;
/// use castile_soap::AnyHeader;
///
/// let block = Any::parse("<key xmlns='urn:k'>12</key>")?;
/// let header = AnyHeader { must_understand: true, ..AnyHeader::from(block) };
/// assert_eq!(header.block.read::<i32>()?, 12);
/// # Ok::<(), castile_databinding::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyHeader {
    /// The block. Attributes of the envelope's namespace may stand in it, as it came.
    pub block: Any,
    /// Whether whoever it is for must understand it (SOAP 1.1 §4.2.3).
    pub must_understand: bool,
    /// Whom it is for, a URI; `None` is the ultimate recipient (SOAP 1.1 §4.2.2).
    pub role: Option<String>,
    /// Whether a node in between that doesn't process it sends it on (SOAP 1.2 Part 1 §5.2.4). SOAP 1.1 can't say so.
    pub relay: bool,
}

impl From<Any> for AnyHeader {
    fn from(block: Any) -> Self {
        AnyHeader { block, must_understand: false, role: None, relay: false }
    }
}

/// A header without a place for any block.
impl Header for () {
    const HOLDS: bool = false;

    fn read(&mut self, _: &mut Decoder<'_>, _: usize) -> Result<(), castile_databinding::Error> {
        Ok(())
    }

    fn keep(&mut self, _: AnyHeader) {}

    fn is_empty(&self) -> bool {
        true
    }

    fn write(&self, _: &mut Encoder) {}

    fn others(&self) -> &[AnyHeader] {
        &[]
    }
}

/// A header of which nothing is declared.
impl Header for Vec<AnyHeader> {
    fn read(&mut self, _: &mut Decoder<'_>, _: usize) -> Result<(), castile_databinding::Error> {
        Ok(())
    }

    fn keep(&mut self, block: AnyHeader) {
        self.push(block);
    }

    fn is_empty(&self) -> bool {
        Vec::is_empty(self)
    }

    fn write(&self, _: &mut Encoder) {}

    fn others(&self) -> &[AnyHeader] {
        self
    }
}

/// Whether `elements` has one of this name.
pub(crate) fn declares(elements: &[Element], namespace: &str, local: &str) -> bool {
    elements.iter().any(|element| element.is(namespace, local))
}

/// Whether `elements` has one of this namespace.
pub(crate) fn declares_any_of(elements: &[Element], namespace: &str) -> bool {
    elements.iter().any(|element| element.is(namespace, element.name))
}

/// Reads the blocks of a message, whose envelope was read before off `text`. They stand in front of the payload, which
/// tells the operation and so what they are: those messages that have some are read once more up to the last of them.
pub(crate) fn read<H: Header>(envelope: &Envelope, text: &str, limits: Limits, charge: Charge<'_>) -> Result<H, Error> {
    read_as(envelope, text, limits, charge, false).map(|(header, _)| header)
}

/// Reads the blocks of a message as [`read`] does, as lenient as is asked for, and what was tolerated.
pub(crate) fn read_as<H: Header>(
    envelope: &Envelope,
    text: &str,
    limits: Limits,
    charge: Charge<'_>,
    is_lenient: bool,
) -> Result<(H, Deviations), Error> {
    static ANY: Wildcard = Wildcard::new(Namespaces::Any);
    let mut header = H::default();
    if !H::HOLDS || envelope.header.is_empty() {
        return Ok((header, Deviations::default()));
    }
    let mut decoder = decoder(envelope, text, limits, charge, is_lenient)?;
    let mut was_read = vec![false; H::ELEMENTS.len()];
    for block in &envelope.header {
        match H::ELEMENTS.iter().position(|element| element.is(&block.namespace, &block.local)) {
            Some(index) if block.is_for_recipient(envelope.version) => {
                if std::mem::replace(&mut was_read[index], true) {
                    let message = format!("a second header block <{}>, where one was expected", block.local);
                    return Err(Error::at(block.bytes.start, ErrorKind::Document, message));
                }
                next_start(decoder.reader())?;
                header.read(&mut decoder, index)?;
            }
            _ => header.keep(AnyHeader {
                block: decoder.any(&ANY)?,
                must_understand: block.must_understand,
                role: block.role.clone(),
                relay: block.relay,
            }),
        }
    }
    Ok((header, decoder.take_deviations()))
}

/// A decoder of a message, whose envelope was read before off `text`, right behind the start tag of its header.
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
    // Envelope and header.
    next_start(&mut reader)?;
    next_start(&mut reader)?;
    let decoder = if is_lenient { Decoder::lenient(reader) } else { Decoder::new(reader) };
    Ok(decoder.within(allowance))
}

/// Reads on to the next start tag, which is there: it was read before.
fn next_start(reader: &mut Reader<'_>) -> Result<(), Error> {
    while !matches!(reader.next()?, Token::StartTag(_) | Token::End) {}
    Ok(())
}

/// Writes what stands before the payload of a message, up to the start tag of its body, which is not written.
/// `first` are blocks that stand before those of `header`, as text.
pub(crate) fn write_before_body<H: Header>(version: Version, first: &str, header: &H, out: &mut Encoder) {
    let prologue = version.prologue();
    out.raw(prologue.strip_suffix(BODY).unwrap_or(prologue));
    if first.is_empty() && header.is_empty() {
        return;
    }
    out.raw("<soap:Header>");
    out.raw(first);
    out.encode(version.encoding());
    header.write(out);
    for other in header.others() {
        other.write(version, out);
    }
    out.raw("</soap:Header>");
}

/// What a fault says in its header.
pub(crate) struct OfFault<D>(pub(crate) Option<D>);

impl<D> Default for OfFault<D> {
    fn default() -> Self {
        OfFault(None)
    }
}

impl<D: FaultDetail> OfFault<D> {
    const BEFORE: usize = D::ELEMENTS.len().saturating_sub(D::HEADER_BLOCKS);
}

impl<D: FaultDetail> Header for OfFault<D> {
    const ELEMENTS: &'static [Element] = D::ELEMENTS.split_at(Self::BEFORE).1;
    const HOLDS: bool = D::HEADER_BLOCKS > 0;

    fn read(&mut self, decoder: &mut Decoder<'_>, index: usize) -> Result<(), castile_databinding::Error> {
        self.0 = Some(D::read(decoder, Self::BEFORE + index)?);
        Ok(())
    }

    fn keep(&mut self, _: AnyHeader) {}

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn write(&self, out: &mut Encoder) {
        if let Some(detail) = &self.0 {
            detail.write(out);
        }
    }

    fn others(&self) -> &[AnyHeader] {
        &[]
    }
}

/// The start tag of a body that declares nothing.
pub(crate) const BODY: &str = "<soap:Body>";

impl AnyHeader {
    /// Writes the block with the attributes that it doesn't have yet.
    fn write(&self, version: Version, out: &mut Encoder) {
        let xml = &*self.block.xml();
        let (mut must_understand, mut role) = (self.must_understand, self.role.clone());
        let mut relay = self.relay && version == Version::Soap12;
        if must_understand || role.is_some() || relay {
            let has = |local: &str| attribute(xml, version.namespace(), local).is_some();
            must_understand &= !has("mustUnderstand");
            relay &= !has("relay");
            role = role.filter(|_| !has(version.role_attribute()));
        }
        let (start, rest) = split_name(xml);
        out.raw(start);
        if must_understand || role.is_some() || relay {
            let prefix = unused_prefix(xml);
            out.attribute(&format!("xmlns:{prefix}"), &version.namespace().to_owned());
            if must_understand {
                out.attribute(&format!("{prefix}:mustUnderstand"), &1i32);
            }
            out.optional_attribute(&format!("{prefix}:{}", version.role_attribute()), &role);
            if relay {
                out.attribute(&format!("{prefix}:relay"), &true);
            }
        }
        out.raw(rest);
    }
}

/// A prefix that the block doesn't use, whatever it binds `soap` to.
pub(crate) fn unused_prefix(xml: &str) -> String {
    let digits = |from: usize| {
        let rest = &xml[from..];
        rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default()
    };
    let used: HashSet<&str> = xml.match_indices("soap").map(|(at, word)| digits(at + word.len())).collect();
    let number = (0u64..).map(|number| number.to_string()).find(|number| !used.contains(number.as_str()));
    format!("soap{}", number.unwrap_or_default())
}

/// An attribute of the first tag of `xml`.
pub(crate) fn attribute(xml: &str, namespace: &str, local: &str) -> Option<String> {
    let mut reader = Reader::new(xml.as_bytes(), Limits::default()).ok()?;
    next_start(&mut reader).ok()?;
    let mut attributes = reader.attributes();
    let found = attributes.find(|attribute| attribute.namespace == namespace && attribute.name.local() == local);
    found.map(|attribute| attribute.value.to_owned())
}

/// The text of an element, cut behind the name in its start tag.
pub(crate) fn split_name(xml: &str) -> (&str, &str) {
    // It is well-formed, so the name ends somewhere.
    xml.split_at(xml.find([' ', '\t', '\r', '\n', '/', '>']).unwrap_or(xml.len()))
}
