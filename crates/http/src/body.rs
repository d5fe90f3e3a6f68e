//! What is sent, and how what comes is read.

mod whole;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use castile_budget::Reservation;
use castile_mime::Content;
use http_body::{Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};

pub(crate) use self::whole::{Failure, read, read_some};
use crate::BoxError;

/// The body of what this crate sends, requests and responses: bytes at hand, or bytes that come while they are sent.
#[derive(Debug)]
pub struct Body {
    kind: Kind,
    /// What the bytes are charged to, until the last of them is gone.
    reservation: Option<Arc<Reservation>>,
}

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
        matches!(self.kind, Kind::Whole(_))
    }

    /// The same body, which keeps what it is charged to until all of it is sent, or given up.
    pub(crate) fn charged(self, reservation: Option<Arc<Reservation>>) -> Self {
        Body { reservation, ..self }
    }

    /// A body that comes while it is sent.
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Body::from(Kind::Coming(body.map_err(Into::into).boxed_unsync()))
    }
}

impl From<Kind> for Body {
    fn from(kind: Kind) -> Self {
        Body { kind, reservation: None }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Body::from(Kind::Whole(Full::new(bytes)))
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
            Content::Body(body) => Body::from(Kind::Coming(body)),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = match &mut self.kind {
            Kind::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Kind::Coming(body) => Pin::new(body).poll_frame(cx),
        };
        let Some(reservation) = &self.reservation else { return frame };
        // Whoever sends the bytes may have them for longer than the body.
        frame.map_ok(|frame| frame.map_data(|data| Charged { data, _reservation: reservation.clone() }.into()))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Whole(body) => body.is_end_stream(),
            Kind::Coming(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Whole(body) => body.size_hint(),
            Kind::Coming(body) => body.size_hint(),
        }
    }
}

/// Bytes with what they are charged to.
struct Charged {
    data: Bytes,
    _reservation: Arc<Reservation>,
}

impl AsRef<[u8]> for Charged {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl From<Charged> for Bytes {
    fn from(charged: Charged) -> Self {
        Bytes::from_owner(charged)
    }
}
