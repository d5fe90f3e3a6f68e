//! Messages with attachments, to be sent.

mod body;

use std::fmt::Write;

use bytes::Bytes;
use http_body::Body;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;

use crate::content_id::{ContentId, random_digits};
use crate::error::shown;
use crate::media_type::{Quoted, is_token};
use crate::message::XOP;
use crate::{Attachment, Boundary, BoxError, Error, ErrorKind};

pub use self::body::PackageBody;

/// How a message and its attachments stand to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packaging {
    /// SOAP Messages with Attachments: the root part is the message.
    Attachments,
    /// MTOM: the root part is an XOP document (`application/xop+xml`), whose `xop:Include` elements stand for the
    /// content of parts.
    Mtom,
}

/// A multipart/related body in the making: the root part, then the others in the order in which they were attached.
///
/// The boundary has 128 random bits, so that nobody can put it into content; content is neither searched nor encoded.
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
    /// 128 random bits, as digits.
    random: String,
    root: Content,
    parts: Vec<Part>,
}

/// A part to be sent.
#[derive(Debug)]
pub struct Part {
    id: ContentId,
    /// The lines of the head.
    head: String,
    content: Content,
}

/// What is sent in a part.
#[derive(Debug)]
pub enum Content {
    /// Bytes at hand.
    Bytes(Bytes),
    /// Bytes that come while they are sent.
    Body(UnsyncBoxBody<Bytes, BoxError>),
}

impl Package {
    /// A package with this root part, an envelope in UTF-8. `media_type` is that of the envelope by itself, by which
    /// SOAP 1.1 (`text/xml`) and 1.2 (`application/soap+xml`) differ.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if `media_type` has more than type and subtype; [`ErrorKind::System`] if the system
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

    /// Says the action of a SOAP 1.2 message (SOAP 1.2 Part 2 §6.5): with the package, where most look, and with the root
    /// part.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if it has control characters.
    pub fn action(mut self, action: &str) -> Result<Self, Error> {
        if action.contains(|c: char| c.is_control()) {
            return Err(unwritable("an action without control characters", action));
        }
        self.action = Some(action.to_owned());
        Ok(self)
    }

    /// A Content-ID for the part that is attached next, unlike any other.
    pub fn next_id(&self) -> ContentId {
        self.id(self.parts.len() + 1)
    }

    /// Adds a part.
    ///
    /// # Errors
    /// [`ErrorKind::Duplicate`] if another has its Content-ID.
    pub fn attach(&mut self, part: Part) -> Result<(), Error> {
        if part.id == self.id(0) || self.parts.iter().any(|other| other.id == part.id) {
            let message = format!("a second part with the Content-ID {}", part.id);
            return Err(Error::new(ErrorKind::Duplicate, message));
        }
        self.parts.push(part);
        Ok(())
    }

    /// The Content-Type of the body (RFC 2387 §3; XOP §4.1 for MTOM).
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

    /// The body. Its length is known if that of all content is.
    pub fn into_body(self) -> PackageBody {
        PackageBody::new(self)
    }

    fn boundary(&self) -> String {
        boundary(&self.random)
    }

    /// The root is number 0.
    fn id(&self, number: usize) -> ContentId {
        ContentId::known(format!("{number}.{}@castile", self.random))
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
    /// A part with a Content-ID, a media type with all its parameters, and content. It is sent as it is
    /// (`Content-Transfer-Encoding: binary`), as HTTP can.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if the media type has control characters.
    pub fn new(id: ContentId, content_type: &str, content: Content) -> Result<Self, Error> {
        check_value(content_type)?;
        Ok(Part { head: head(&id, content_type), id, content })
    }

    /// Adds a header field, such as Content-Location or Content-Disposition.
    ///
    /// # Errors
    /// [`ErrorKind::Unwritable`] if the name is no token, or is one of the fields that the part has anyway, or the value
    /// has control characters.
    pub fn field(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let own = ["content-id", "content-type", "content-transfer-encoding"];
        if !is_token(name) || own.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            return Err(unwritable("the name of a further header field", name));
        }
        check_value(value)?;
        self.head.push_str(&format!("{name}: {value}\r\n"));
        Ok(self)
    }

    /// A part with a random Content-ID. A message that refers to the part names it by the [URL](ContentId::to_url) of its
    /// [`id`](Self::id); most refer to none.
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
    /// As for [`new`](Self::new), or [`ErrorKind::System`] if the system has no random numbers.
    pub fn attachment(content_type: &str, content: impl Into<Content>) -> Result<Self, Error> {
        Part::new(ContentId::random()?, content_type, content.into())
    }

    /// What names it.
    pub fn id(&self) -> &ContentId {
        &self.id
    }

    /// What is sent in it.
    pub fn content(&self) -> &Content {
        &self.content
    }
}

impl Content {
    /// Content that comes while it is sent. If its length is known, it has to be that.
    pub fn stream<B>(body: B) -> Self
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Content::Body(body.map_err(Into::into).boxed_unsync())
    }

    /// This content with something before it and behind it.
    pub fn between(self, before: Bytes, after: Bytes) -> Self {
        Content::stream(PackageBody::of_content(before, self, after))
    }

    /// The bytes, if they are at hand.
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

/// An attachment that is sent on.
impl From<Attachment> for Content {
    fn from(attachment: Attachment) -> Self {
        Content::stream(attachment)
    }
}

/// The parts as they would come, and what stands between them.
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
        // Writing to a string doesn't fail.
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
