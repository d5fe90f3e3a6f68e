//! The head of a POST.

use castile_soap::Trace;
use http::{Extensions, HeaderMap, HeaderValue};

use crate::gzip;
use crate::headers::{ContentType, Fields, MessageType};
use crate::server::admission::Ticket;
use crate::server::head;
use crate::server::refusal::Refusal;

/// The properties of a request's head, except its Content-Type.
pub(super) struct RequestHead {
    /// The value of SOAPAction, for messages whose media type has no action.
    pub(super) action: String,
    pub(super) is_gzip: bool,
    pub(super) headers: Option<Box<HeaderMap>>,
    pub(super) accepts_mtom: bool,
    /// Data that the server and its layers attached to the request. Handlers get it too.
    pub(super) extensions: Extensions,
    pub(super) ticket: Ticket,
    /// The trace of the exchange, if it is observed.
    pub(super) trace: Option<Trace>,
}

/// Checks the headers of a POST: the content type, the charset, the content coding and the action.
pub(super) fn content_type(fields: &Fields<'_>, takes_gzip: bool) -> Result<(ContentType, String), Refusal> {
    let content_type = head::only(fields.content_type, "Content-Type")?;
    // The action may select the operation.
    let action = head::only(fields.soap_action, "SOAPAction")?;
    let content_type = ContentType::read(content_type).map_err(Refusal::ContentType)?;
    let is_taken = takes_gzip && gzip::is_gzip(&fields.content_encoding);
    if let Some(found) = fields.content_encoding.value.filter(|_| !is_taken) {
        let found = String::from_utf8_lossy(found.as_bytes()).into_owned();
        return Err(Refusal::ContentEncoding { found, takes_gzip });
    }
    let action = match &content_type {
        ContentType::Message(MessageType { action: Some(_), .. }) => "",
        _ => soap_action(action)?,
    };
    Ok((content_type, action.to_owned()))
}

/// Returns the value of SOAPAction without its quotes (SOAP 1.1 §6.1.1), or an empty string if there is none.
fn soap_action(header: Option<&HeaderValue>) -> Result<&str, Refusal> {
    let Some(header) = header else {
        return Ok("");
    };
    let action = std::str::from_utf8(header.as_bytes()).map_err(|_| Refusal::Action)?.trim();
    let unquoted = action.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    Ok(unquoted.unwrap_or(action))
}
