//! Messages in packages: `multipart/related` around the envelope (SOAP Messages with Attachments §3, MTOM §4.3).

use castile_mime::{Content, Error, MediaType, Message, Package, Packaging, Part, Related};
use castile_soap::Version;
use castile_xml::Charset;
use http::{HeaderMap, HeaderValue, header};

use crate::body::Body;
use crate::headers::{MessageType, UnreadReason};

/// The media type of XOP documents.
const XOP: &str = "application/xop+xml";

/// Packs a message and its parts. Returns the Content-Type and the body. `action` is the action of a SOAP 1.2 request.
pub(crate) fn pack(
    packaging: Packaging,
    version: Version,
    action: Option<&str>,
    message: Content,
    parts: Vec<Part>,
) -> Result<(HeaderValue, Body), Error> {
    let mut package = Package::new(packaging, version.media_type(), message)?;
    if let Some(action) = action {
        package = package.action(action)?;
    }
    for part in parts {
        package.attach(part)?;
    }
    // The package has rejected control characters, so the text is a valid header value, possibly not ASCII.
    let content_type = HeaderValue::from_bytes(package.content_type().as_bytes());
    let content_type = content_type.unwrap_or_else(|_| HeaderValue::from_static("multipart/related"));
    Ok((content_type, Body::stream(package.into_body())))
}

/// Returns how a message and its parts are packed. `None` if they need no package.
pub(crate) fn packaging(asked: Option<Packaging>, parts: &[Part]) -> Option<Packaging> {
    asked.or((!parts.is_empty()).then_some(Packaging::Attachments))
}

/// The message's properties, as the package declares them.
pub(crate) struct Contained {
    pub(crate) packaging: Packaging,
    pub(crate) message_type: MessageType,
}

impl Contained {
    /// Reads the heads of the package and of its root part.
    pub(crate) fn read(related: &Related, message: &Message) -> Result<Self, UnreadReason> {
        let unread = |error: Error| UnreadReason::Package(error.to_string());
        let (packaging, within) = message.envelope(related).map_err(unread)?;
        let version = version_of(&within).ok_or_else(|| UnreadReason::MediaType { found: Some(within.to_string()) })?;
        let of_root = message.head.media_type().map_err(unread)?;
        let charset = of_root.as_ref().and_then(|of_root| of_root.parameter("charset"));
        let charset = match charset.or(within.parameter("charset")) {
            None => None,
            Some(label) => {
                Some(Charset::of_label(label).ok_or_else(|| UnreadReason::Charset { found: label.to_owned() })?)
            }
        };
        let action = message.action(related);
        Ok(Contained { packaging, message_type: MessageType { version, charset, action } })
    }
}

/// Returns the SOAP version that a package declares, before its root part has arrived.
pub(crate) fn declared_version(related: &Related) -> Version {
    let declared = related.start_info().or(related.root_type());
    let media_type = declared.and_then(|declared| MediaType::parse(declared).ok());
    media_type.and_then(|media_type| version_of(&media_type)).unwrap_or_default()
}

fn version_of(media_type: &MediaType) -> Option<Version> {
    Version::ALL.into_iter().find(|version| media_type.essence() == version.media_type())
}

/// Returns whether the client accepts an XOP document as the answer.
pub(crate) fn accepts_mtom(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).into_iter();
    values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|range| {
        let media_type = range.split(';').next().unwrap_or_default();
        media_type.trim().eq_ignore_ascii_case(XOP)
    })
}
