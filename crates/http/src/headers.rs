//! The headers that make an HTTP message a SOAP message (SOAP 1.1 §6).

use http::{HeaderName, HeaderValue};

/// SOAPAction, the intent of a request (SOAP 1.1 §6.1.1).
pub(crate) const SOAP_ACTION: HeaderName = HeaderName::from_static("soapaction");

/// The Content-Type of the messages we send.
pub(crate) const MESSAGE_TYPE: HeaderValue = HeaderValue::from_static("text/xml; charset=utf-8");

/// Whether a Content-Type is that of a SOAP 1.1 message in an encoding that the engine reads.
///
/// Without a charset the document itself tells its encoding (RFC 7303 §3.2), so that is left to the XML reader.
pub(crate) fn is_message(content_type: &HeaderValue) -> bool {
    // The two spellings that nearly all senders use spare the walk.
    let content_type = content_type.as_bytes();
    if content_type == MESSAGE_TYPE.as_bytes() || content_type == b"text/xml" {
        return true;
    }
    let mut parts = content_type.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
    let media_type = parts.next().unwrap_or_default();
    media_type.eq_ignore_ascii_case(b"text/xml") && parts.all(is_harmless)
}

/// Whether a parameter leaves the message readable: any but a charset, and a charset that UTF-8 includes.
fn is_harmless(parameter: &[u8]) -> bool {
    let mut halves = parameter.splitn(2, |&byte| byte == b'=');
    let name = halves.next().unwrap_or_default();
    if !name.eq_ignore_ascii_case(b"charset") {
        return true;
    }
    let value = halves.next().unwrap_or_default();
    let quoted = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let charset = quoted.unwrap_or(value);
    charset.eq_ignore_ascii_case(b"utf-8") || charset.eq_ignore_ascii_case(b"us-ascii")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types() {
        let cases = [
            ("text/xml", true),
            ("text/xml; charset=utf-8", true),
            ("Text/XML;charset=\"UTF-8\"", true),
            ("text/xml; charset=us-ascii", true),
            ("text/xml ; action=\"urn:a\" ; Charset=utf-8", true),
            ("text/xml;", true),
            ("text/xml; charset=iso-8859-1", false),
            ("text/xml; charset=utf-16", false),
            ("text/xml; charset", false),
            ("text/xmlish", false),
            ("application/soap+xml", false),
            ("application/xml", false),
            ("", false),
        ];
        for (content_type, expected) in cases {
            assert_eq!(is_message(&HeaderValue::from_static(content_type)), expected, "{content_type}");
        }
    }
}
