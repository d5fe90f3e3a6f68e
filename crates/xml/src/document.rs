use crate::dtd::{Dtd, Notation};
use crate::error::{Error, ErrorKind};
use crate::reader::Memory;
use crate::token::Token;
use crate::{Limits, Reader};

/// The largest document, and the most that expansion may add to it: what a tag's attributes take is then within the
/// 32 bits of an offset, however they are normalised.
const LARGEST: usize = (1 << 30) - 1;

/// A document that may have a document type declaration: a schema or a contract, as opposed to a message.
///
/// The internal subset is read (XML 1.0 §2.8): internal entities are expanded within
/// [`Limits::entity_expansion`], attributes get their defaults and the normalisation of their types. Nothing outside
/// the document is ever fetched: the external subset and external entities are passed over, as a processor that does
/// not validate may (XML 1.0 §4.4.3, §5.1); [`Reader::unread_entity`] tells.
///
/// ```
/// use castile_xml::{DocumentEntity, Limits, Token};
///
/// let document = DocumentEntity::new("<!DOCTYPE a [<!ENTITY e '<b/>'> <!ATTLIST b c CDATA 'd'>]><a>&e;</a>", Limits::default())?;
/// let mut reader = document.reader();
/// while !matches!(reader.next()?, Token::StartTag(tag) if tag.name.local() == "b") {}
/// assert_eq!(reader.attributes().next().map(|attribute| attribute.value), Some("d"));
/// # Ok::<(), castile_xml::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DocumentEntity<'t> {
    pub(crate) text: &'t str,
    pub(crate) dtd: Option<Dtd>,
    limits: Limits,
}

impl<'t> DocumentEntity<'t> {
    /// Reads what stands before the root element. `text` has been decoded ([`decode`](crate::decode)): what encoding
    /// it says to be in does not matter.
    ///
    /// # Errors
    /// What is not well-formed in it, or passes a limit.
    pub fn new(text: &'t str, limits: Limits) -> Result<Self, Error> {
        let limits = Limits {
            message_size: limits.message_size.min(LARGEST),
            entity_expansion: limits.entity_expansion.min(LARGEST),
            ..limits
        };
        let mut reader = Reader::decoded(text, limits, &mut Memory::default())?;
        let dtd = loop {
            match reader.next() {
                Ok(Token::StartTag(_) | Token::End) => break None,
                Ok(_) => {}
                // Messages may not have one, and this is where it stands.
                Err(error) if error.kind() == ErrorKind::Doctype => {
                    break Some(Dtd::read(text, error.offset(), reader.is_standalone(), limits)?);
                }
                Err(error) => return Err(error),
            }
        };
        Ok(DocumentEntity { text, dtd, limits })
    }

    /// The name of the root element that its document type declaration asks for, if it has one.
    pub fn doctype(&self) -> Option<&str> {
        self.dtd.as_ref().map(|dtd| dtd.name.as_str())
    }

    /// The notations that its document type declaration declares.
    pub fn notations(&self) -> &[Notation] {
        self.dtd.as_ref().map_or(&[], |dtd| &dtd.notations)
    }

    /// The target and the data of each processing instruction within its document type declaration; a reader yields
    /// those around it.
    pub fn instructions(&self) -> impl Iterator<Item = (&str, &str)> {
        let instructions = self.dtd.as_ref().map_or(&[][..], |dtd| &dtd.instructions);
        instructions.iter().map(|(target, data)| (target.as_str(), data.as_str()))
    }

    /// A reader of the document, from its beginning.
    pub fn reader(&self) -> Reader<'_> {
        Reader::of_document(self, self.limits)
    }
}
