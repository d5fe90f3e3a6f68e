//! The code of a fault, whose prefix need not be signed.

use castile_soap::Version;
use castile_xml::{Memory, Reader, Token};

use super::envelope::Envelope;
use crate::Error;
use crate::limits::Limits;

/// Returns where the element is that has the code of a fault, and the prefix in its text, if that stands for the namespace of
/// the envelope.
///
/// CXF declares such a prefix in the fault, and doesn't list it for exclusive canonicalization. Who changes the declaration can
/// turn a code of another namespace into one of SOAP's, and do nothing else: any other code of a fault must be signed.
pub(crate) fn code_prefix(
    text: &str,
    envelope: &Envelope<'_>,
    limits: Limits,
) -> Result<Option<(usize, String)>, Error> {
    if !envelope.is_fault {
        return Ok(None);
    }
    let envelope_namespace = envelope.version.namespace();
    let (depth, namespace, local) = match envelope.version {
        Version::Soap11 => (4, "", "faultcode"),
        // Only a subcode is deeper, and nothing else that is as deep has this name.
        _ => (5, envelope_namespace, "Value"),
    };
    let mut code = None;
    let mut reader = Reader::decoded(text, limits.document, &mut Memory::default())?;
    loop {
        match reader.next()? {
            Token::StartTag(tag) => {
                let is_code = tag.offset > envelope.body.start
                    && reader.depth() == depth
                    && reader.namespace(tag.namespace) == namespace
                    && tag.name.local() == local;
                code = is_code.then_some(tag.offset);
            }
            Token::Text(text) => {
                let (Some(offset), Some((prefix, _))) = (code, text.trim().split_once(':')) else { continue };
                let is_of_soap = reader.resolve(prefix) == Some(envelope_namespace);
                return Ok(is_of_soap.then(|| (offset, prefix.to_owned())));
            }
            Token::EndTag(_) => code = None,
            Token::End => return Ok(None),
            Token::Comment(_) | Token::Instruction { .. } => {}
        }
    }
}
