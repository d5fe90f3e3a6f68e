//! The headers that make an HTTP message a SOAP message (SOAP 1.1 §6, SOAP 1.2 Part 2 §7).

use std::fmt;

use castile_mime::Related;
use castile_soap::Version;
use castile_xml::Charset;
use http::header::InvalidHeaderValue;
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The SOAPAction header: the intent of a request (SOAP 1.1 §6.1.1).
pub(crate) const SOAP_ACTION: HeaderName = HeaderName::from_static("soapaction");

/// The Content-Type of contracts and of SOAP 1.1 messages.
pub(crate) const XML_TYPE: HeaderValue = HeaderValue::from_static("text/xml; charset=utf-8");

/// The Content-Type of SOAP 1.2 messages.
const SOAP12_TYPE: HeaderValue = HeaderValue::from_static("application/soap+xml; charset=utf-8");

/// Removes the headers that callers and services can't set: content type and encoding, message length, and hop-by-hop
/// headers (RFC 9110 §7.6.1). They may be there if the headers were copied from another message.
pub(crate) fn remove_own(headers: &mut HeaderMap) {
    let own = [
        header::CONTENT_TYPE,
        header::CONTENT_ENCODING,
        header::CONTENT_LENGTH,
        header::TRANSFER_ENCODING,
        header::TRAILER,
        header::TE,
        header::CONNECTION,
        header::UPGRADE,
        header::EXPECT,
        SOAP_ACTION,
        HeaderName::from_static("keep-alive"),
        HeaderName::from_static("proxy-connection"),
    ];
    for name in own {
        headers.remove(name);
    }
}

/// The Content-Type of the messages we send.
pub(crate) fn message_type(version: Version) -> HeaderValue {
    match version {
        Version::Soap12 => SOAP12_TYPE,
        _ => XML_TYPE,
    }
}

/// Returns the Content-Type and SOAPAction of a request. In SOAP 1.2 the action is an optional parameter of the media
/// type (Part 2 §6.5, RFC 3902). In SOAP 1.1 it is a separate header (§6.1.1).
pub(crate) fn request_headers(
    version: Version,
    action: &str,
) -> Result<(HeaderValue, Option<HeaderValue>), InvalidHeaderValue> {
    match (version, action) {
        (Version::Soap12, "") => Ok((SOAP12_TYPE, None)),
        (Version::Soap12, action) => {
            let action = action.replace('\\', "\\\\").replace('"', "\\\"");
            let media_type = version.media_type();
            HeaderValue::try_from(format!("{media_type}; charset=utf-8; action=\"{action}\""))
                .map(|value| (value, None))
        }
        (_, action) => {
            HeaderValue::try_from(format!("\"{action}\"")).map(|action| (message_type(version), Some(action)))
        }
    }
}

/// The parsed Content-Type of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MessageType {
    /// The version that the media type belongs to. The actual version of the message is in its envelope.
    pub(crate) version: Version,
    /// The parameter `charset`. Without it, the document itself declares its encoding (RFC 7303 §3.2), and the reader
    /// of the document detects it.
    pub(crate) charset: Option<Charset>,
    /// The parameter `action` of the SOAP 1.2 media type.
    pub(crate) action: Option<String>,
}

/// Why a body is not read as a SOAP message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnreadReason {
    /// The media type is missing or not one of SOAP.
    MediaType { found: Option<String> },
    /// The charset is unknown.
    Charset { found: String },
    /// The parameter occurs twice, with different values.
    Repeated { name: &'static str },
    /// The Content-Type of a package is invalid; the text describes the error.
    Package(String),
}

/// Shows the value of a foreign header in an error message: with control characters escaped, and shortened.
pub(crate) fn shown(value: &str) -> String {
    const SHOWN: usize = 200;
    castile_xml::excerpt(value, SHOWN)
}

impl fmt::Display for UnreadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = match self {
            UnreadReason::MediaType { found: Some(found) } => format!("content type {}", shown(found)),
            UnreadReason::MediaType { found: None } => "no content type".to_owned(),
            UnreadReason::Package(message) => return f.write_str(message),
            UnreadReason::Repeated { name } => {
                return write!(f, "found two values of the parameter {name}, expected one");
            }
            UnreadReason::Charset { found } => {
                return write!(f, "found charset \"{}\", expected a known one, such as utf-8 or utf-16", shown(found));
            }
        };
        let [soap11, soap12] = Version::ALL.map(Version::media_type);
        write!(f, "found {found}, expected {soap11} (SOAP 1.1), {soap12} (SOAP 1.2) or multipart/related with either")
    }
}

/// The headers that decide how a message is read, collected in one pass.
#[derive(Default)]
pub(crate) struct Fields<'a> {
    pub(crate) host: Field<'a>,
    pub(crate) content_type: Field<'a>,
    pub(crate) soap_action: Field<'a>,
    /// The content codings of the body (RFC 9110 §8.4). Two headers mean two codings.
    pub(crate) content_encoding: Field<'a>,
    pub(crate) has_transfer_encoding: bool,
    pub(crate) has_expect: bool,
    pub(crate) has_accept: bool,
}

/// A header that may occur only once.
#[derive(Clone, Copy, Default)]
pub(crate) struct Field<'a> {
    /// The last value.
    pub(crate) value: Option<&'a HeaderValue>,
    count: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(headers: &'a HeaderMap) -> Self {
        let mut fields = Fields::default();
        for (name, value) in headers {
            // The length alone rules out most headers.
            match name.as_str().len() {
                4 if *name == header::HOST => fields.host.add(value),
                6 if *name == header::ACCEPT => fields.has_accept = true,
                6 if *name == header::EXPECT => fields.has_expect = true,
                10 if *name == SOAP_ACTION => fields.soap_action.add(value),
                12 if *name == header::CONTENT_TYPE => fields.content_type.add(value),
                16 if *name == header::CONTENT_ENCODING && !value.as_bytes().eq_ignore_ascii_case(b"identity") => {
                    fields.content_encoding.add(value);
                }
                17 if *name == header::TRANSFER_ENCODING => fields.has_transfer_encoding = true,
                _ => {}
            }
        }
        fields
    }
}

impl<'a> Field<'a> {
    fn add(&mut self, value: &'a HeaderValue) {
        self.value = Some(value);
        self.count += 1;
    }

    /// Returns the value.
    ///
    /// # Errors
    /// The number of occurrences if the header occurs more than once. Two readers could then use different values.
    pub(crate) fn single(self) -> Result<Option<&'a HeaderValue>, usize> {
        if self.count > 1 { Err(self.count) } else { Ok(self.value) }
    }
}

/// The kind of body that a Content-Type declares.
pub(crate) enum ContentType {
    /// A message.
    Message(MessageType),
    /// A message with attachments or other parts.
    Package(Box<Related>),
}

impl ContentType {
    /// Parses a Content-Type.
    pub(crate) fn read(content_type: Option<&HeaderValue>) -> Result<Self, UnreadReason> {
        const PACKAGE: &[u8] = b"multipart/related";
        let value = content_type.map_or(&b""[..], HeaderValue::as_bytes);
        if !value.get(..PACKAGE.len()).is_some_and(|start| start.eq_ignore_ascii_case(PACKAGE)) {
            return MessageType::read(content_type).map(ContentType::Message);
        }
        let related = Related::parse(&String::from_utf8_lossy(value));
        related
            .map(|related| ContentType::Package(Box::new(related)))
            .map_err(|error| UnreadReason::Package(error.to_string()))
    }
}

impl MessageType {
    /// Parses the Content-Type of a message.
    pub(crate) fn read(content_type: Option<&HeaderValue>) -> Result<Self, UnreadReason> {
        let content_type = content_type.map_or(&b""[..], HeaderValue::as_bytes);
        // A fast path for the spellings that nearly all senders use.
        if content_type == XML_TYPE.as_bytes() {
            return Ok(MessageType { version: Version::Soap11, charset: Some(Charset::UTF_8), action: None });
        }
        if content_type == b"text/xml" {
            return Ok(MessageType { version: Version::Soap11, charset: None, action: None });
        }
        let content_type = String::from_utf8_lossy(content_type);
        let (media_type, parameters) = content_type.split_at(content_type.find(';').unwrap_or(content_type.len()));
        let found = media_type.trim();
        let version = Version::ALL.into_iter().find(|version| found.eq_ignore_ascii_case(version.media_type()));
        let Some(version) = version else {
            let found = (!content_type.is_empty()).then(|| content_type.into_owned());
            return Err(UnreadReason::MediaType { found });
        };
        let charset = match parameter(parameters, "charset", str::eq_ignore_ascii_case)? {
            None => None,
            Some(label) => Some(Charset::of_label(&label).ok_or(UnreadReason::Charset { found: label })?),
        };
        let action = match version {
            Version::Soap12 => parameter(parameters, "action", str::eq)?,
            _ => None,
        };
        Ok(MessageType { version, charset, action })
    }
}

/// Returns the value of a parameter (RFC 9110 §5.6.6).
///
/// # Errors
/// The parameter occurs twice with different values: another reader could use the other one.
fn parameter(
    mut rest: &str,
    wanted: &'static str,
    are_same: fn(&str, &str) -> bool,
) -> Result<Option<String>, UnreadReason> {
    let mut found: Option<String> = None;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ';']);
        if rest.is_empty() {
            return Ok(found);
        }
        let (name, behind) = rest.split_at(rest.find(['=', ';']).unwrap_or(rest.len()));
        let (value, behind) = behind.strip_prefix('=').map_or_else(|| (String::new(), behind), value);
        if name.trim().eq_ignore_ascii_case(wanted)
            && let Some(before) = found.replace(value)
            && !found.as_deref().is_some_and(|value| are_same(value, &before))
        {
            return Err(UnreadReason::Repeated { name: wanted });
        }
        rest = behind;
    }
}

/// Splits off the value at the start of `text`, a token or a quoted string.
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

    fn read(content_type: &'static str) -> Result<MessageType, UnreadReason> {
        MessageType::read(Some(&HeaderValue::from_static(content_type)))
    }

    fn charset(content_type: &'static str) -> Result<Option<Charset>, UnreadReason> {
        read(content_type).map(|message_type| message_type.charset)
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
            ("text/xml; charset = \"iso-8859-\\1\" ; charset=ISO-8859-1", Some("iso-8859-1")),
            ("text/xml; charsets=utf-8; charset=Windows-1252", Some("windows-1252")),
            ("application/soap+xml;charset=UTF-16;action=\"urn:a;charset=utf-8\"", Some("utf-16")),
        ] {
            let expected = label.map(|label| Charset::of_label(label).expect("a charset that is known"));
            assert_eq!(charset(content_type), Ok(expected), "{content_type}");
        }
    }

    #[test]
    fn versions_and_actions_of_messages() {
        for (content_type, version, action) in [
            ("text/xml", Version::Soap11, None),
            ("text/xml; charset=utf-8", Version::Soap11, None),
            // SOAP 1.1 has a separate header for the action.
            ("text/xml; action=a", Version::Soap11, None),
            ("application/soap+xml", Version::Soap12, None),
            ("application/soap+xml; charset=utf-8", Version::Soap12, None),
            ("Application/SOAP+XML ;action=urn:a", Version::Soap12, Some("urn:a")),
            ("application/soap+xml; action=\"\"", Version::Soap12, Some("")),
            ("application/soap+xml; Action = \"a \\\"b\\\\\" ; charset=utf-8", Version::Soap12, Some("a \"b\\")),
        ] {
            let found = read(content_type).unwrap();
            assert_eq!((found.version, found.action.as_deref()), (version, action), "{content_type}");
        }
    }

    #[test]
    fn written_headers_are_read_again() {
        for version in Version::ALL {
            for action in ["", "urn:a", "a \"quoted\\ one\"; charset=utf-16"] {
                let (content_type, soap_action) = request_headers(version, action).unwrap();
                let read = MessageType::read(Some(&content_type)).unwrap();
                assert_eq!((read.version, read.charset), (version, Some(Charset::UTF_8)));
                match version {
                    Version::Soap12 => assert_eq!(read.action.unwrap_or_default(), action),
                    _ => assert_eq!(soap_action.unwrap(), format!("\"{action}\"")),
                }
                assert!(request_headers(version, "a\nb").is_err());
            }
        }
    }

    #[test]
    fn content_types_that_are_not_messages_are_errors() {
        for content_type in ["text/xmlish", "application/soap", "application/xml; charset=utf-8", ";", "text"] {
            let found = Some(content_type.to_owned());
            assert_eq!(charset(content_type), Err(UnreadReason::MediaType { found }));
        }
        assert_eq!(charset(""), Err(UnreadReason::MediaType { found: None }));
        assert_eq!(MessageType::read(None), Err(UnreadReason::MediaType { found: None }));
        for (content_type, found) in [
            ("text/xml; charset=klingon", "klingon"),
            ("text/xml; charset", ""),
            ("text/xml; charset=utf-32", "utf-32"),
        ] {
            assert_eq!(charset(content_type), Err(UnreadReason::Charset { found: found.to_owned() }));
        }
    }

    /// Regression: the first value was used here, while packages with two values are rejected.
    #[test]
    fn a_repeated_parameter_is_an_error() {
        for (content_type, name) in [
            ("text/xml; charset=utf-8; Charset=utf-16", "charset"),
            ("text/xml; charset=;charset=utf-8", "charset"),
            ("application/soap+xml; charset=utf-8; charset=utf-8; charset=\"utf-7\"", "charset"),
            ("application/soap+xml; action=a; action=A", "action"),
        ] {
            assert_eq!(read(content_type), Err(UnreadReason::Repeated { name }), "{content_type}");
        }
        let twice = read("application/soap+xml; action=a; charset=UTF-8; action=\"a\"; charset=utf-8").unwrap();
        assert_eq!((twice.charset, twice.action.as_deref()), (Some(Charset::UTF_8), Some("a")));
        // SOAP 1.1 has a separate header for the action.
        assert!(read("text/xml; action=a; action=b").is_ok());
    }
}
