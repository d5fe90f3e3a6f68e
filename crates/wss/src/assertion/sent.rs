//! Assertions that are sent.

use castile_xml::{Memory, Reader, Token, decode};

use super::SamlVersion;
use crate::index::{IdAttributes, Index};
use crate::limits::Limits;
use crate::signature::{Elements, escaped};
use crate::uris::WSSE11;
use crate::{Error, ErrorKind};

/// An assertion that is sent.
pub(crate) struct SentAssertion {
    version: SamlVersion,
    pub(crate) id: String,
    /// Its root element.
    pub(crate) text: String,
    pub(crate) index: Index,
}

impl SentAssertion {
    /// Reads a document whose root element is an assertion.
    ///
    /// # Errors
    /// It is none of SAML 1.1 or 2.0. What it says is not read.
    pub(crate) fn read(bytes: &[u8], limits: Limits) -> Result<Self, Error> {
        let text = decode(bytes, None)?;
        let mut reader = Reader::decoded(&text, limits.document, &mut Memory::default())?;
        let mut found = None;
        loop {
            match reader.next()? {
                Token::StartTag(tag) => {
                    let version = SamlVersion::of_namespace(reader.namespace(tag.namespace));
                    if let Some(version) = version.filter(|_| tag.name.local() == "Assertion") {
                        let id =
                            Elements::new(&mut reader, limits, "Assertion").attribute(tag, version.id_attribute())?;
                        found = Some((version, id));
                    }
                    break;
                }
                Token::End => break,
                _ => {}
            }
        }
        let Some((version, id)) = found else {
            return Err(Error::new(
                ErrorKind::Malformed,
                "what is to be sent as an assertion is not one of SAML 1.1 or 2.0",
            ));
        };
        let index = Index::of(
            &mut Reader::decoded(&text, limits.document, &mut Memory::default())?,
            &IdAttributes::OF_MESSAGES,
            limits,
        )?;
        Ok(SentAssertion { version, id, text: text[index.root.clone()].to_owned(), index })
    }

    /// Returns a reference to it (SAML Token Profile 1.1 §3.4).
    pub(crate) fn reference(&self, id: Option<&str>) -> String {
        let (value_type, token_type) = self.version.key_identifier();
        let id = id.map(|id| format!(" wsu:Id=\"{id}\"")).unwrap_or_default();
        format!(
            "<wsse:SecurityTokenReference xmlns:wsse11=\"{WSSE11}\" wsse11:TokenType=\"{token_type}\"{id}><wsse:KeyIdentifier ValueType=\"{value_type}\">{}</wsse:KeyIdentifier></wsse:SecurityTokenReference>",
            escaped(&self.id)
        )
    }
}
