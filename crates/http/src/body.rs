//! What is sent, and how what comes is read.

mod whole;

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use castile_mime::Content;
use http_body::{Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};

pub(crate) use self::whole::{Failure, read, read_some};
use crate::BoxError;

/// The body of what this crate sends, requests and responses: bytes at hand, or bytes that come while they are sent.
#[derive(Debug)]
pub struct Body(Kind);

#[derive(Debug)]
enum Kind {
    Whole(Full<Bytes>),
    Coming(UnsyncBoxBody<Bytes, BoxError>),
}

impl Body {
    /// Nothing.
    pub fn empty() -> Self {
        Body::from(Bytes::new())
    }

    /// Whether all of it is at hand.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.0, Kind::Whole(_))
    }

    /// A body that comes while it is sent.
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Body(Kind::Coming(body.map_err(Into::into).boxed_unsync()))
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Body(Kind::Whole(Full::new(bytes)))
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Body::from(Bytes::from(text))
    }
}

impl From<Content> for Body {
    fn from(content: Content) -> Self {
        match content {
            Content::Bytes(bytes) => Body::from(bytes),
            Content::Body(body) => Body(Kind::Coming(body)),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.0 {
            Kind::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Kind::Coming(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Whole(body) => body.is_end_stream(),
            Kind::Coming(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(body) => body.size_hint(),
            Kind::Coming(body) => body.size_hint(),
        }
    }
}
