//! Confirms which request an answer is for (WS-Security 1.1 §8.5): a signed answer repeats the signature values of its request. Without
//! that, somebody who can exchange answers could give the signed answer to one request to another.

use std::fmt::Write;
use std::ops::Range;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use castile_xml::StartTag;

use super::verified::VerifiedMessage;
use crate::signature::Elements;
use crate::uris::WSSE11;
use crate::{Error, ErrorKind};

/// A `SignatureConfirmation` of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Confirmed {
    /// The signature value of the request. `None` if the request had no signature.
    value: Option<Vec<u8>>,
    range: Range<usize>,
}

impl Confirmed {
    /// Reads the element whose start tag was read last.
    pub(crate) fn read<'a>(elements: &mut Elements<'_, 'a>, tag: StartTag<'a>) -> Result<Self, Error> {
        let value = elements.base64_attribute(tag, "Value")?;
        if let Some(child) = elements.next()? {
            return Err(elements.unexpected(child, "nothing in <SignatureConfirmation>"));
        }
        Ok(Confirmed { value, range: tag.offset..elements.reader.offset() })
    }

    /// Writes the element for a signature value.
    pub(crate) fn write(value: Option<&[u8]>, id: &str, out: &mut String) {
        let value = value.map(|value| format!(" Value=\"{}\"", STANDARD.encode(value))).unwrap_or_default();
        let _ = write!(out, "<wsse11:SignatureConfirmation xmlns:wsse11=\"{WSSE11}\"{value} wsu:Id=\"{id}\"/>");
    }
}

/// Checks that an answer confirms the signature values of its request, no more and no fewer, and that its signature covers that.
pub(crate) fn check(answer: &VerifiedMessage, found: &[Confirmed], request: &[Vec<u8>]) -> Result<(), Error> {
    let failed = |message: &'static str| Err(Error::new(ErrorKind::Unconfirmed, message));
    let is_complete = match request {
        [] => matches!(found, [Confirmed { value: None, .. }]),
        values => {
            let found: Vec<&Vec<u8>> = found.iter().filter_map(|one| one.value.as_ref()).collect();
            values.iter().all(|value| found.contains(&value)) && found.iter().all(|value| values.contains(value))
        }
    };
    if found.is_empty() {
        return failed("the answer doesn't say which request it is for: it has no <SignatureConfirmation>");
    }
    if !is_complete || found.len() != request.len().max(1) {
        return failed("the answer is for another request: it confirms other signatures");
    }
    match found.iter().find(|one| !answer.is_signed(&one.range)) {
        Some(one) => {
            let message = "a <SignatureConfirmation> is not signed";
            Err(Error::new(ErrorKind::Unconfirmed, message).at(one.range.start))
        }
        None => Ok(()),
    }
}
