//! The headers that make an HTTP message a SOAP message (SOAP 1.1 §6).

use std::fmt;

use castile_xml::Charset;
use http::{HeaderName, HeaderValue};

/// SOAPAction, the intent of a request (SOAP 1.1 §6.1.1).
pub(crate) const SOAP_ACTION: HeaderName = HeaderName::from_static("soapaction");

/// The Content-Type of the messages we send.
pub(crate) const MESSAGE_TYPE: HeaderValue = HeaderValue::from_static("text/xml; charset=utf-8");

/// Why a body is not read as a SOAP 1.1 message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// No media type, or another one.
    MediaType { found: Option<String> },
    /// A charset that is not known.
    Charset { found: String },
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = match self {
            Unread::MediaType { found: Some(found) } => format!("content type {found}"),
            Unread::MediaType { found: None } => "no content type".to_owned(),
            Unread::Charset { found } => {
                return write!(f, "found charset {found:?}, expected one that is known, such as utf-8 or utf-16");
            }
        };
        write!(f, "found {found}, expected text/xml (SOAP 1.1)")
    }
}

/// The charset of a SOAP 1.1 message, which is text/xml.
///
/// Without one the document itself tells its encoding (RFC 7303 §3.2), so that is left to whoever reads it.
pub(crate) fn message_charset(content_type: Option<&HeaderValue>) -> Result<Option<Charset>, Unread> {
    let content_type = content_type.map_or(&b""[..], HeaderValue::as_bytes);
    // The two spellings that nearly all senders use spare the walk.
    if content_type == MESSAGE_TYPE.as_bytes() {
        return Ok(Some(Charset::UTF_8));
    }
    if content_type == b"text/xml" {
        return Ok(None);
    }
    let content_type = String::from_utf8_lossy(content_type);
    let (media_type, parameters) = content_type.split_at(content_type.find(';').unwrap_or(content_type.len()));
    if !media_type.trim().eq_ignore_ascii_case("text/xml") {
        let found = (!content_type.is_empty()).then(|| content_type.into_owned());
        return Err(Unread::MediaType { found });
    }
    match charset_of(parameters) {
        None => Ok(None),
        Some(label) => Charset::of_label(&label).map(Some).ok_or(Unread::Charset { found: label }),
    }
}

/// The value of the first parameter `charset` (RFC 9110 §5.6.6).
fn charset_of(mut rest: &str) -> Option<String> {
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';']);
        if rest.is_empty() {
            return None;
        }
        let (name, behind) = rest.split_at(rest.find(['=', ';']).unwrap_or(rest.len()));
        let (value, behind) = behind.strip_prefix('=').map_or_else(|| (String::new(), behind), value);
        if name.trim().eq_ignore_ascii_case("charset") {
            return Some(value);
        }
        rest = behind;
    }
}

/// The value that `text` begins with, a token or a quoted string, and what comes behind it.
fn value(text: &str) -> (String, &str) {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let (token, behind) = text.split_at(text.find(';').unwrap_or(text.len()));
        return (token.trim_end().to_owned(), behind);
    };
    let mut value = String::new();
    let mut chars = quoted.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => value.extend(chars.next()),
            c => value.push(c),
        }
    }
    (value, chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charset(content_type: &'static str) -> Result<Option<Charset>, Unread> {
        message_charset(Some(&HeaderValue::from_static(content_type)))
    }

    #[test]
    fn charsets_of_messages() {
        for (content_type, label) in [
            ("text/xml", None),
            ("text/xml;", None),
            ("text/xml; action=\"a;charset=utf-16\"", None),
            ("text/xml; action=\"\\\";charset=utf-16\"", None),
            ("text/xml; action=\"never ends; charset=utf-16", None),
            ("text/xml; charset=utf-8", Some("utf-8")),
            ("Text/XML;charset=\"UTF-8\"", Some("utf-8")),
            ("text/xml; charset=us-ascii", Some("us-ascii")),
            ("text/xml ; action=\"urn:a\" ; Charset=utf-16", Some("utf-16")),
            ("text/xml; charset = \"iso-8859-\\1\" ; charset=utf-8", Some("iso-8859-1")),
            ("text/xml; charsets=utf-8; charset=Windows-1252", Some("windows-1252")),
        ] {
            let expected = label.map(|label| Charset::of_label(label).expect("a charset that is known"));
            assert_eq!(charset(content_type), Ok(expected), "{content_type}");
        }
    }

    #[test]
    fn what_is_no_message_that_can_be_read() {
        for content_type in ["text/xmlish", "application/soap+xml", "application/xml; charset=utf-8", ";", "text"] {
            let found = Some(content_type.to_owned());
            assert_eq!(charset(content_type), Err(Unread::MediaType { found }));
        }
        assert_eq!(charset(""), Err(Unread::MediaType { found: None }));
        assert_eq!(message_charset(None), Err(Unread::MediaType { found: None }));
        for (content_type, found) in [
            ("text/xml; charset=klingon", "klingon"),
            ("text/xml; charset", ""),
            ("text/xml; charset=;charset=utf-8", ""),
            ("text/xml; charset=utf-32", "utf-32"),
        ] {
            assert_eq!(charset(content_type), Err(Unread::Charset { found: found.to_owned() }));
        }
    }
}
