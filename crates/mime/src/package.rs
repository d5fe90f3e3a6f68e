//! Packages to be sent.

mod body;

use std::fmt::Write;

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;

use crate::content_id::{ContentId, random_digits};
use crate::error::shown;
use crate::media_type::{Quoted, XOP, is_token};
use crate::{Boundary, BoxError, Error, ErrorKind};

pub use self::body::PackageBody;

/// How a message refers to its attachments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packaging {
    /// SOAP Messages with Attachments: the root part is the message.
    Attachments,
    /// MTOM: the root part is an XOP document (`application/xop+xml`), whose `xop:Include` elements refer to the
    /// content of parts.
    Mtom,
}

/// A multipart/related body to be sent: the root part, then the attachments in the order in which they were added.
///
/// The boundary has 128 random bits, so nobody can craft content that contains it. Content is neither searched for the
/// boundary nor encoded.
///
/// ```
/// use castile_mime::{Package, Packaging, Part};
///
/// let mut package = Package::new(Packaging::Attachments, "text/xml", "<Envelope/>".into())?;
/// let id = package.next_id();
/// package.attach(Part::new(id, "image/png", vec![1, 2, 3].into())?)?;
/// assert!(package.content_type().starts_with("multipart/related; type=\"text/xml\"; boundary="));
/// # Ok::<(), castile_mime::Error>(())
/// ```
#[derive(Debug)]
pub struct Package {
    packaging: Packaging,
    media_type: String,
    action: Option<String>,
    /// 128 random bits, as hexadecimal digits.
    random: String,
    root: Content,
    parts: Vec<Part>,
}

/// A part to be sent.
#[derive(Debug)]
pub struct Part {
    id: ContentId,
    content_type: String,
    /// The lines of the head.
    head: String,
    content: Content,
}

/// The content of a part.
#[derive(Debug)]
pub enum Content {
    /// Bytes in memory.
    Bytes(Bytes),
    /// A stream of bytes.
    Body(UnsyncBoxBody<Bytes, BoxError>),
}

impl Package {
    /// Creates a package with this root part, an envelope in UTF-8. `media_type` is the media type of the SOAP version:
    /// `text/xml` for 1.1, `application/soap+xml` for 1.2.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if `media_type` isn't just a type and a subtype. [`ErrorKind::System`] if the system
    /// has no random numbers.
    pub fn new(packaging: Packaging, media_type: &str, root: Content) -> Result<Self, Error> {
        if !media_type.split_once('/').is_some_and(|(a, b)| is_token(a) && is_token(b)) {
            return Err(unwritable("a media type such as text/xml", media_type));
        }
        Ok(Package {
            packaging,
            media_type: media_type.to_owned(),
            action: None,
            random: random_digits()?,
            root,
            parts: Vec::new(),
        })
    }

    /// Sets the action of a SOAP 1.2 message (SOAP 1.2 Part 2 §6.5). It is written in the Content-Type of the package,
    /// where most readers expect it, and in that of the root part.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if it contains control characters.
    pub fn action(mut self, action: &str) -> Result<Self, Error> {
        if action.contains(|c: char| c.is_control()) {
            return Err(unwritable("an action without control characters", action));
        }
        self.action = Some(action.to_owned());
        Ok(self)
    }

    /// Returns a unique Content-ID for the part that is attached next.
    pub fn next_id(&self) -> ContentId {
        self.id(self.parts.len() + 1)
    }

    /// Adds a part.
    ///
    /// # Errors
    /// [`ErrorKind::Duplicate`] if another part has the same Content-ID.
    pub fn attach(&mut self, part: Part) -> Result<(), Error> {
        if part.id == self.id(0) || self.parts.iter().any(|other| other.id == part.id) {
            let message = format!("a second part with the Content-ID {}", part.id);
            return Err(Error::new(ErrorKind::Duplicate, message));
        }
        self.parts.push(part);
        Ok(())
    }

    /// Returns the Content-Type of the body (RFC 2387 §3; XOP §4.1 for MTOM).
    pub fn content_type(&self) -> String {
        let (root_type, start_info) = match self.packaging {
            Packaging::Attachments => (self.media_type.as_str(), None),
            Packaging::Mtom => (XOP, Some(self.media_type.as_str())),
        };
        let mut value = format!(
            "multipart/related; type=\"{root_type}\"; boundary=\"{}\"; start=\"{}\"",
            self.boundary(),
            self.id(0)
        );
        for (name, parameter) in [("start-info", start_info), ("action", self.action.as_deref())] {
            push_parameter(&mut value, name, parameter);
        }
        value
    }

    /// Returns the body. Its length is known if the length of all content is.
    pub fn into_body(self) -> PackageBody {
        PackageBody::new(self)
    }

    fn boundary(&self) -> String {
        boundary(&self.random)
    }

    /// Returns the Content-ID of a part. The root part has number 0.
    fn id(&self, number: usize) -> ContentId {
        ContentId::new_unchecked(format!("{number}.{}@castile", self.random))
    }

    fn root_head(&self) -> String {
        let (mut value, of) = match self.packaging {
            Packaging::Attachments => (format!("{}; charset=utf-8", self.media_type), None),
            Packaging::Mtom => (format!("{XOP}; charset=utf-8"), Some(self.media_type.as_str())),
        };
        for (name, parameter) in [("type", of), ("action", self.action.as_deref())] {
            push_parameter(&mut value, name, parameter);
        }
        head(&self.id(0), &value)
    }
}

impl Part {
    /// Creates a part with a Content-ID, a media type with any parameters, and content. The content is sent unencoded
    /// (`Content-Transfer-Encoding: binary`), which HTTP allows.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if the media type contains control characters.
    pub fn new(id: ContentId, content_type: &str, content: Content) -> Result<Self, Error> {
        check_value(content_type)?;
        Ok(Part { head: head(&id, content_type), content_type: content_type.to_owned(), id, content })
    }

    /// Adds a header field, such as Content-Location or Content-Disposition.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if the name isn't a token or is a field that every part has, or if the value contains
    /// control characters.
    pub fn field(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let own = ["content-id", "content-type", "content-transfer-encoding"];
        if !is_token(name) || own.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            return Err(unwritable("the name of a further header field", name));
        }
        check_value(value)?;
        self.head.push_str(&format!("{name}: {value}\r\n"));
        Ok(self)
    }

    /// Creates a part with a random Content-ID. A message can refer to the part by the [URL](ContentId::to_url) of its
    /// [`id`](Self::id), but most messages don't.
    ///
    /// ```
    /// use castile_mime::Part;
    ///
    /// let part = Part::attachment("text/plain", "It rains.")?.field("Content-Disposition", "attachment; filename=today.txt")?;
    /// assert!(part.id().as_str().ends_with("@castile"));
    /// # Ok::<(), castile_mime::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if the media type contains control characters. [`ErrorKind::System`] if the system has
    /// no random numbers.
    pub fn attachment(content_type: &str, content: impl Into<Content>) -> Result<Self, Error> {
        Part::new(ContentId::random()?, content_type, content.into())
    }

    /// Returns the Content-ID.
    pub fn id(&self) -> &ContentId {
        &self.id
    }

    /// Returns the media type with its parameters, as it is written in the head.
    pub fn content_type(&self) -> &str {
        &self.content_type
    }

    /// Returns the content.
    pub fn content(&self) -> &Content {
        &self.content
    }
}

impl Content {
    /// Creates content from a stream. If the stream has a known length, it must have exactly that many bytes.
    pub fn stream<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Content::Body(body.map_err(Into::into).boxed_unsync())
    }

    /// Puts bytes before and after this content.
    pub fn between(self, before: Bytes, after: Bytes) -> Self {
        Content::stream(PackageBody::of_content(before, self, after))
    }

    /// Returns the bytes, if they are in memory.
    pub fn bytes(&self) -> Option<&Bytes> {
        match self {
            Content::Bytes(bytes) => Some(bytes),
            Content::Body(_) => None,
        }
    }
}

impl From<Bytes> for Content {
    fn from(bytes: Bytes) -> Self {
        Content::Bytes(bytes)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::Bytes(text.into())
    }
}

impl From<&'static str> for Content {
    fn from(text: &'static str) -> Self {
        Content::Bytes(text.into())
    }
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Self {
        Content::Bytes(bytes.into())
    }
}

/// Returns a multipart body with these parts, in the form in which it would be received, and its boundary.
pub(crate) fn body_of_parts(parts: Vec<Part>) -> Result<(Boundary, PackageBody), Error> {
    let boundary = boundary(&random_digits()?);
    let parts = parts.into_iter().map(|Part { head, content, .. }| (head, content));
    Ok((Boundary::new(&boundary)?, PackageBody::of_parts(&boundary, parts)))
}

fn boundary(random: &str) -> String {
    format!("MIME_{random}")
}

fn head(id: &ContentId, content_type: &str) -> String {
    format!("Content-Type: {content_type}\r\nContent-Transfer-Encoding: binary\r\nContent-ID: {id}\r\n")
}

fn push_parameter(value: &mut String, name: &str, parameter: Option<&str>) {
    if let Some(parameter) = parameter {
        // Writing to a `String` can't fail.
        let _ = write!(value, "; {name}={}", Quoted(parameter));
    }
}

fn check_value(value: &str) -> Result<(), Error> {
    match value.bytes().any(|byte| byte.is_ascii_control()) {
        true => Err(unwritable("the value of a header field", value)),
        false => Ok(()),
    }
}

#[cold]
fn unwritable(expected: &str, found: &str) -> Error {
    Error::new(ErrorKind::Unwritable, format!("found {}, expected {expected}", shown(found.as_bytes())))
}
