//! The media type of a package: `multipart/related` (RFC 2387 §3).

use crate::content_id::ContentId;
use crate::error::shown;
use crate::{Error, ErrorKind, MediaType};

/// The longest boundary (RFC 2046 §5.1.1).
const MAX_BOUNDARY_LENGTH: usize = 70;

/// The parsed Content-Type of a package: the boundary between its parts, and which part is the root.
///
/// ```
/// let content_type = r#"multipart/related; type="text/xml"; start="<a@b.org>"; boundary="x""#;
/// let related = castile_mime::Related::parse(content_type)?;
/// assert_eq!(related.root_type(), Some("text/xml"));
/// # Ok::<(), castile_mime::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    boundary: Boundary,
    start: Option<ContentId>,
    media_type: MediaType,
}

/// The boundary between the parts of a multipart: 1 to 70 printable characters, not ending with a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary(String);

impl Related {
    /// Parses the value of a Content-Type.
    ///
    /// # Errors
    /// [`ErrorKind::ContentType`] if it is another media type, has no valid boundary, or has a `start` that isn't a
    /// Content-ID.
    pub fn parse(content_type: &str) -> Result<Self, Error> {
        let media_type = MediaType::parse(content_type)?;
        if media_type.essence() != "multipart/related" {
            let message = format!("found {}, expected multipart/related", media_type.essence());
            return Err(Error::new(ErrorKind::ContentType, message));
        }
        let boundary = media_type.parameter("boundary");
        let boundary = boundary.ok_or_else(|| {
            Error::new(ErrorKind::ContentType, "multipart/related without the parameter boundary, which must be there")
        })?;
        let boundary = Boundary::new(boundary)?;
        let start = media_type.parameter("start").map(ContentId::parse).transpose();
        let start = start.map_err(|error| {
            Error::new(ErrorKind::ContentType, format!("the parameter start: {}", error.message().to_owned()))
        })?;
        Ok(Related { boundary, start, media_type })
    }

    /// Returns the boundary.
    pub fn boundary(&self) -> &Boundary {
        &self.boundary
    }

    /// Returns the Content-ID of the root part. If there is none, the first part is the root (RFC 2387 §3.2).
    pub fn start(&self) -> Option<&ContentId> {
        self.start.as_ref()
    }

    /// Returns the media type of the root part (`type`, RFC 2387 §3.1). It is required, but some senders omit it.
    pub fn root_type(&self) -> Option<&str> {
        self.media_type.parameter("type")
    }

    /// Returns the parameter `start-info` of XOP: the media type that the root part would have without XOP (XOP §4.1).
    pub fn start_info(&self) -> Option<&str> {
        self.media_type.parameter("start-info")
    }

    /// Returns the action of a SOAP 1.2 message, if it is in this Content-Type.
    pub fn action(&self) -> Option<&str> {
        self.media_type.parameter("action")
    }
}

impl Boundary {
    /// Creates a boundary from text.
    ///
    /// # Errors
    /// [`ErrorKind::ContentType`] if it is empty, has more than 70 characters or unprintable ones, or ends with a
    /// space.
    pub fn new(text: &str) -> Result<Self, Error> {
        let printable = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
        if text.is_empty() || text.len() > MAX_BOUNDARY_LENGTH || text.ends_with(' ') || !printable {
            let message = format!(
                "found the boundary {} of {} bytes, expected 1 to {MAX_BOUNDARY_LENGTH} printable characters without a \
                 space at the end",
                shown(text.as_bytes()),
                text.len()
            );
            return Err(Error::new(ErrorKind::ContentType, message));
        }
        Ok(Boundary(text.to_owned()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_of_other_stacks_are_read() {
        let mtom = r#"multipart/related; type="application/xop+xml"; boundary="uuid:a+id=1"; start="<r@b>"; start-info="application/soap+xml"; action="urn:a""#;
        let related = Related::parse(mtom).unwrap();
        assert_eq!(related.boundary().as_str(), "uuid:a+id=1");
        assert_eq!(related.start().unwrap().as_str(), "r@b");
        assert_eq!(related.root_type(), Some("application/xop+xml"));
        assert_eq!(related.start_info(), Some("application/soap+xml"));
        assert_eq!(related.action(), Some("urn:a"));

        let swa = Related::parse("Multipart/Related;boundary=a").unwrap();
        assert_eq!((swa.start(), swa.root_type(), swa.start_info(), swa.action()), (None, None, None, None));
    }

    #[test]
    fn content_types_that_are_not_packages_are_errors() {
        let longest = "b".repeat(MAX_BOUNDARY_LENGTH);
        assert!(Related::parse(&format!("multipart/related; boundary={longest}")).is_ok());
        for value in [
            "text/xml",
            "multipart/mixed; boundary=a",
            "multipart/related",
            "multipart/related; boundary=",
            "multipart/related; boundary=\"a \"",
            "multipart/related; boundary=\"a\tb\"",
            "multipart/related; boundary=ü",
            "multipart/related; boundary=a; start=\"<a b>\"",
            "multipart/related; boundary=a; boundary=b",
            &format!("multipart/related; boundary={longest}b"),
        ] {
            assert_eq!(Related::parse(value).unwrap_err().kind(), ErrorKind::ContentType, "{value}");
        }
    }
}
