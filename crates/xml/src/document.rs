use crate::dtd::{Dtd, Notation};
use crate::error::{Error, ErrorKind};
use crate::reader::Memory;
use crate::token::Token;
use crate::{Limits, Reader};

/// The maximum size of a document, and the maximum that expansion may add to it, in bytes. The attributes of a tag then fit into the
/// 32 bits of an offset, however they are normalised.
const MAX_SIZE: usize = (1 << 30) - 1;

/// A document that may have a document type declaration, such as a schema or a contract.
///
/// The internal subset is read (XML 1.0 §2.8): internal entities are expanded within [`Limits::entity_expansion`], and
/// attributes get their defaults and are normalised by their types. Nothing outside the document is ever fetched: the
/// external subset and external entities are skipped, as a non-validating processor may do (XML 1.0 §4.4.3, §5.1).
/// [`Reader::unread_entity`] reports that.
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
    /// Reads the part of a document before the root element. `text` must be decoded ([`decode`](crate::decode)); the
    /// encoding that it declares is ignored.
    ///
    /// # Errors
    /// The first error in this part: it is not well-formed, or exceeds a limit.
    pub fn new(text: &'t str, limits: Limits) -> Result<Self, Error> {
        let limits = Limits {
            message_size: limits.message_size.min(MAX_SIZE),
            entity_expansion: limits.entity_expansion.min(MAX_SIZE),
            ..limits
        };
        let mut reader = Reader::decoded(text, limits, &mut Memory::default())?;
        let dtd = loop {
            match reader.next() {
                Ok(Token::StartTag(_) | Token::End) => break None,
                Ok(_) => {}
                // A reader of messages stops at a document type declaration. Its offset is that of the error.
                Err(error) if error.kind() == ErrorKind::Doctype => {
                    break Some(Dtd::read(text, error.offset(), reader.is_standalone(), limits)?);
                }
                Err(error) => return Err(error),
            }
        };
        Ok(DocumentEntity { text, dtd, limits })
    }

    /// Returns the name of the root element in the document type declaration, if there is one.
    pub fn doctype(&self) -> Option<&str> {
        self.dtd.as_ref().map(|dtd| dtd.name.as_str())
    }

    /// Returns the notations that the document type declaration declares.
    pub fn notations(&self) -> &[Notation] {
        self.dtd.as_ref().map_or(&[], |dtd| &dtd.notations)
    }

    /// Returns the target and the data of each processing instruction inside the document type declaration. Those
    /// outside it are tokens of the reader.
    pub fn instructions(&self) -> impl Iterator<Item = (&str, &str)> {
        let instructions = self.dtd.as_ref().map_or(&[][..], |dtd| &dtd.instructions);
        instructions.iter().map(|(target, data)| (target.as_str(), data.as_str()))
    }

    /// Creates a reader of the document.
    pub fn reader(&self) -> Reader<'_> {
        Reader::of_document(self.text, self.dtd.as_ref(), self.limits)
    }
}
