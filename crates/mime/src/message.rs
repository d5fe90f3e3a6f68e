//! A message and its attachments (RFC 2387 §3.2).

use std::collections::VecDeque;

use bytes::Bytes;
use http_body::Body;

use crate::attachments::{Gathered, among};
use crate::charges::charge;
use crate::error::shown;
use crate::media_type::XOP;
use crate::source::Source;
use crate::store::Store;
use crate::{
    Attachments, BoxError, Charges, Error, ErrorKind, Limits, MediaType, Packaging, Parser, PartHead, Related,
};

/// A package whose root part has been read. Its attachments may still be arriving.
#[derive(Debug)]
pub struct Message {
    /// The head of the root part.
    pub head: PartHead,
    /// The content of the root part: the envelope.
    pub root: Bytes,
    /// The other parts.
    pub attachments: Attachments,
}

impl Message {
    /// Reads a body up to the end of its root part. Parts that arrive before it are stored.
    ///
    /// # Errors
    /// [`ErrorKind::Missing`] if there is no root part, [`ErrorKind::Nested`] if it is a multipart, and
    /// [`ErrorKind::Limit`] if it is larger than [`Limits::root_size`]. Any error of the [`Parser`] if the body is
    /// invalid up to there.
    pub async fn read<B>(related: &Related, body: B, limits: Limits) -> Result<Self, Error>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Message::read_charged(related, body, limits, None).await
    }

    /// Reads a body up to the end of its root part, like [`read`](Self::read), and charges stored data to `charges`.
    ///
    /// # Errors
    /// [`ErrorKind::Missing`] if there is no root part, [`ErrorKind::Nested`] if it is a multipart, and
    /// [`ErrorKind::Limit`] if it is larger than [`Limits::root_size`]. [`ErrorKind::Exhausted`] if a charge is
    /// refused. Any error of the [`Parser`] if the body is invalid up to there.
    pub async fn read_charged<B>(
        related: &Related,
        body: B,
        limits: Limits,
        charges: Option<Charges>,
    ) -> Result<Self, Error>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let source = Source::new(Parser::new(related.boundary(), limits), body, charges.clone());
        let mut store = Store::new(limits, charges);
        let mut kept = VecDeque::new();
        while let Some(head) = source.part().await? {
            let part = head.number();
            let is_root = match related.start() {
                Some(start) => head.content_id() == Some(start),
                None => part == 1,
            };
            if is_root {
                let root = read_root(&source, &head, limits, store.charges()).await?;
                return Ok(Message { head, root, attachments: Attachments::new(source, kept, store) });
            }
            let mut keeping = store.begin(&head).map_err(|error| error.in_part(part))?;
            while let Some(data) = source.data(part).await? {
                store.push(&mut keeping, &data).await.map_err(|error| error.in_part(part))?;
            }
            kept.push_back((head, store.end(keeping).await?));
        }
        let message = match related.start() {
            Some(start) => {
                let start = shown(start.as_str().as_bytes());
                format!("no part has the Content-ID {start} of the parameter start, {}", among(&source.content_ids()))
            }
            None => "the body has no parts".to_owned(),
        };
        Err(Error::new(ErrorKind::Missing, message))
    }

    /// Returns the packaging and the media type of the envelope: `text/xml` or `application/soap+xml`. For an XOP
    /// document the media type is in the `type` of the root part or, if that is missing, in `start-info` (XOP §4.1,
    /// §5). A root part without a Content-Type has the one that the package declares.
    ///
    /// # Errors
    /// [`ErrorKind::ContentType`] if neither the root part nor the package has a valid one.
    pub fn envelope(&self, related: &Related) -> Result<(Packaging, MediaType), Error> {
        let absent = |which: &str| {
            let message = format!("neither the root part nor the package has a {which}");
            Error::new(ErrorKind::ContentType, message).in_part(self.head.number())
        };
        let of_root = match (self.head.media_type()?, related.root_type()) {
            (Some(media_type), _) => media_type,
            (None, of_package) => MediaType::parse(of_package.ok_or_else(|| absent("media type"))?)?,
        };
        if of_root.essence() != XOP {
            return Ok((Packaging::Attachments, of_root));
        }
        let within = of_root.parameter("type").or(related.start_info());
        let within = within.ok_or_else(|| absent("media type of the XOP content"))?;
        Ok((Packaging::Mtom, MediaType::parse(within)?))
    }

    /// Returns the action of a SOAP 1.2 message. Senders write it in the Content-Type of the package or of the root
    /// part, or in the media type that one of these contains (XOP §4.1).
    pub fn action(&self, related: &Related) -> Option<String> {
        let within = |media_type: Option<&str>| {
            let media_type = MediaType::parse(media_type?).ok()?;
            media_type.parameter("action").map(str::to_owned)
        };
        let of_root = || {
            let media_type = self.head.media_type().ok().flatten()?;
            media_type.parameter("action").map(str::to_owned).or_else(|| within(media_type.parameter("type")))
        };
        related.action().map(str::to_owned).or_else(of_root).or_else(|| within(related.start_info()))
    }
}

async fn read_root(
    source: &Source,
    head: &PartHead,
    limits: Limits,
    charges: Option<&Charges>,
) -> Result<Bytes, Error> {
    let part = head.number();
    if head.is_multipart() {
        let found = shown(head.content_type().unwrap_or_default().as_bytes());
        let message = format!("the root part is {found}, expected an XML document");
        return Err(Error::new(ErrorKind::Nested, message).at(head.offset()).in_part(part));
    }
    let mut root = Gathered::default();
    while let Some(data) = source.data(part).await? {
        if data.len() > limits.root_size - root.length() {
            let message = format!("the root part has more than {} bytes", limits.root_size);
            return Err(Error::new(ErrorKind::Limit, message).at(head.offset()).in_part(part));
        }
        charge(charges, data.len())?;
        root.push(data);
    }
    Ok(root.into_bytes())
}
