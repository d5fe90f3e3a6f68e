//! The heads of parts (RFC 2045 §3, RFC 2046 §5.1).

use crate::content_id::ContentId;
use crate::error::shown;
use crate::media_type::is_token;
use crate::transfer::TransferEncoding;
use crate::{Error, ErrorKind, MediaType};

/// The head of a part: its header fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartHead {
    number: u32,
    offset: u64,
    fields: Vec<(String, String)>,
    content_id: Option<ContentId>,
    transfer_encoding: TransferEncoding,
}

impl PartHead {
    /// Returns the number of the part, counted from 1 in order of arrival.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Returns the position of the head: a byte offset into the body.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the value of the first header field with this name. The case of the name doesn't matter.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Iterates over the names and values of all header fields. Folded lines are joined.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the identifier of the part.
    pub fn content_id(&self) -> Option<&ContentId> {
        self.content_id.as_ref()
    }

    /// Returns the URL of the part (RFC 2557 §4), as written.
    pub fn content_location(&self) -> Option<&str> {
        self.field("content-location")
    }

    /// Returns the media type as written. Without one, it is `text/plain` (RFC 2045 §5.2).
    pub fn content_type(&self) -> Option<&str> {
        self.field("content-type")
    }

    /// Parses the media type.
    ///
    /// # Errors
    /// [`ErrorKind::ContentType`] if it is invalid.
    pub fn media_type(&self) -> Result<Option<MediaType>, Error> {
        let media_type = self.content_type().map(MediaType::parse).transpose();
        media_type.map_err(|error| Error::new(error.kind(), error.message().to_owned()).in_part(self.number))
    }

    /// Returns the transfer encoding of the content. Content is decoded when it is read.
    pub fn transfer_encoding(&self) -> TransferEncoding {
        self.transfer_encoding
    }

    /// Returns whether the content is itself a multipart. It is passed on unchanged.
    pub fn is_multipart(&self) -> bool {
        let start = self.content_type().map(|value| value.as_bytes());
        start.and_then(|value| value.get(..10)).is_some_and(|start| start.eq_ignore_ascii_case(b"multipart/"))
    }

    /// Returns about how much memory the head takes.
    pub(crate) fn memory(&self) -> usize {
        let fields = self.fields.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        fields + self.fields.capacity() * size_of::<(String, String)>()
    }

    /// Parses the lines of a head, which begins at `offset`, up to its empty line.
    pub(crate) fn parse(lines: &[u8], number: u32, offset: u64) -> Result<Self, Error> {
        let fields = fields(lines, number, offset)?;
        let mut head =
            PartHead { number, offset, fields, content_id: None, transfer_encoding: TransferEncoding::default() };
        let fail = |error: Error| Error::new(ErrorKind::Head, error.message().to_owned()).at(offset).in_part(number);
        let content_id = head.only("content-id").map_err(fail)?;
        let in_content_id =
            |error: Error| fail(Error::new(ErrorKind::Head, format!("Content-ID: {}", error.message())));
        head.content_id = content_id.map(ContentId::parse).transpose().map_err(in_content_id)?;
        let encoding = head.only("content-transfer-encoding").map_err(fail)?;
        head.transfer_encoding = encoding.map(TransferEncoding::parse).transpose().map_err(fail)?.unwrap_or_default();
        head.only("content-type").map_err(fail)?;
        Ok(head)
    }

    /// Returns the value of a field that may occur only once. Two readers of a repeated field could use different
    /// values.
    fn only(&self, name: &str) -> Result<Option<&str>, Error> {
        let mut values = self.fields().filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        match (values.next(), values.next()) {
            (value, None) => Ok(value),
            _ => Err(Error::new(ErrorKind::Head, format!("a second {name}, where one was expected"))),
        }
    }
}

fn fields(lines: &[u8], number: u32, offset: u64) -> Result<Vec<(String, String)>, Error> {
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    for line in lines.split_inclusive(|&byte| byte == b'\n') {
        let fail = |expected: &str| {
            let message = format!("found {}, expected {expected}", shown(line.trim_ascii_end()));
            Error::new(ErrorKind::Head, message).at(offset + at as u64).in_part(number)
        };
        let text = String::from_utf8_lossy(line.trim_ascii_end());
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            // A folded line continues the value before it (RFC 5322 §2.2.3).
            let (_, value) = fields.last_mut().ok_or_else(|| fail("a header field"))?;
            let text = text.trim_ascii_start();
            if has_controls(text) {
                return Err(fail("a header field without control characters"));
            }
            if !text.is_empty() {
                value.push(' ');
                value.push_str(text);
            }
        } else if !text.is_empty() {
            let (name, value) = text.split_once(':').ok_or_else(|| fail("a header field or an empty line"))?;
            if !is_token(name.trim_ascii_end()) {
                return Err(fail("a header field or an empty line"));
            }
            if has_controls(value) {
                return Err(fail("a header field without control characters"));
            }
            fields.push((name.trim_ascii_end().to_owned(), value.trim_ascii().to_owned()));
        }
        at += line.len();
    }
    Ok(fields)
}

fn has_controls(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t')
}
