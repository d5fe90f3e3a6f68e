//! What is sent, and how what comes is read.

mod whole;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use castile_budget::{Charged, Reservation};
use castile_mime::Content;
use http_body::{Frame, SizeHint};
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;

#[cfg(feature = "client")]
pub(crate) use self::whole::read_some;
pub(crate) use self::whole::{Failure, read};
use crate::BoxError;
use crate::gzip::{self, Encoded};

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
    Coming {
        /// What was taken of it before it is sent.
        ahead: VecDeque<Frame<Bytes>>,
        /// None once it is over.
        rest: Option<UnsyncBoxBody<Bytes, BoxError>>,
    },
}

/// How many bytes are taken of a body before it is sent.
const AHEAD: usize = 8 << 10;

impl Body {
    /// Nothing.
    pub fn empty() -> Self {
        Body::from(Bytes::new())
    }

    /// Whether all of it is at hand.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Whole(_))
    }

    /// A copy of the body, if all of it is at hand.
    #[cfg(feature = "client")]
    pub(crate) fn again(&self) -> Option<Self> {
        match &self.kind {
            Kind::Whole(body) => Some(Body::from(Kind::Whole(body.clone())).charged(self.reservation.clone())),
            Kind::Coming { .. } => None,
        }
    }

    /// The body as gzip if it has more than so many bytes, or if nobody knows yet how many, and if there is memory for that. Whether
    /// it is.
    pub(crate) async fn compressed(self, above: usize) -> (Self, bool) {
        if http_body::Body::size_hint(&self).exact().is_some_and(|size| size <= above as u64) {
            return (self, false);
        }
        let charged = self.reservation.as_ref().map(|reservation| reservation.another(gzip::COMPRESSING));
        let Ok(state) = charged.transpose() else { return (self, false) };
        match self.kind {
            Kind::Whole(body) => {
                let bytes = body.into_inner().unwrap_or_default();
                let packed = Bytes::from(gzip::compressed(&bytes).await);
                (Body::from(packed).charged(self.reservation), true)
            }
            Kind::Coming { .. } => (Body::stream(Encoded::new(self, state)), true),
        }
    }

    /// Keeps what the body is charged to until all of it is sent, or given up.
    pub(crate) fn charged(self, reservation: Option<Arc<Reservation>>) -> Self {
        Body { reservation, ..self }
    }

    /// A body that comes while it is sent.
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Body::from(Content::stream(body))
    }

    /// Takes the first pieces of a body that comes while it is sent, as far as they are there: one that fails with them fails before
    /// an answer has begun.
    pub(crate) async fn begun(mut self) -> Result<Self, BoxError> {
        if let Kind::Coming { ahead, rest: rest @ Some(_) } = &mut self.kind {
            let (mut length, mut was_woken) = (0, false);
            let begun = poll_fn(|cx| {
                while length < AHEAD
                    && let Some(body) = rest
                {
                    match http_body::Body::poll_frame(Pin::new(body), cx) {
                        Poll::Ready(Some(frame)) => {
                            let frame = frame?;
                            length += room_of(&frame);
                            ahead.push_back(frame);
                        }
                        Poll::Ready(None) => *rest = None,
                        Poll::Pending if was_woken => break,
                        // What came with the head is found at the second look.
                        Poll::Pending => {
                            was_woken = true;
                            cx.waker().wake_by_ref();
                            return Poll::Pending;
                        }
                    }
                }
                Poll::Ready(Ok::<_, BoxError>(()))
            });
            begun.await?;
        }
        Ok(self)
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
            Content::Body(body) => Body::from(Kind::Coming { ahead: VecDeque::new(), rest: Some(body) }),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = match &mut self.kind {
            Kind::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Kind::Coming { ahead, rest } => match (ahead.pop_front(), rest) {
                (Some(frame), _) => Poll::Ready(Some(Ok(frame))),
                (None, Some(rest)) => Pin::new(rest).poll_frame(cx),
                (None, None) => Poll::Ready(None),
            },
        };
        let Some(reservation) = &self.reservation else { return frame };
        // Whoever sends the bytes may have them for longer than the body.
        frame.map_ok(|frame| frame.map_data(|data| Bytes::from_owner(Charged::new(data, reservation.clone()))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Whole(body) => body.is_end_stream(),
            Kind::Coming { ahead, rest } => ahead.is_empty() && rest.as_ref().is_none_or(|rest| rest.is_end_stream()),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Whole(body) => body.size_hint(),
            Kind::Coming { ahead, rest } => {
                let ahead = ahead.iter().filter_map(Frame::data_ref).map(Bytes::len).sum::<usize>() as u64;
                let rest = rest.as_ref().map_or(SizeHint::with_exact(0), |rest| rest.size_hint());
                let mut all = SizeHint::new();
                all.set_lower(rest.lower().saturating_add(ahead));
                if let Some(upper) = rest.upper().and_then(|upper| upper.checked_add(ahead)) {
                    all.set_upper(upper);
                }
                all
            }
        }
    }
}

/// How many bytes a piece of a body counts for where so many are looked at: one at least, or there might be any number.
fn room_of(frame: &Frame<Bytes>) -> usize {
    frame.data_ref().map_or(0, Bytes::len).max(1)
}

/// How many bytes of a body that nobody wants are looked for.
const UNWANTED: usize = 64 << 10;

/// Reads what is there of a body that nobody wants. Whether that is all of it: the connection can't be used again otherwise.
pub(crate) async fn is_over<B>(body: B) -> bool
where
    B: http_body::Body<Data = Bytes>,
{
    if body.is_end_stream() {
        return true;
    }
    let mut body = pin!(body);
    let (mut left, mut was_woken) = (UNWANTED, false);
    poll_fn(|cx| {
        loop {
            match body.as_mut().poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready(true),
                Poll::Ready(Some(Ok(frame))) => {
                    let Some(less) = left.checked_sub(room_of(&frame)) else { return Poll::Ready(false) };
                    left = less;
                }
                // What came with the head is found at the second look.
                Poll::Pending if !was_woken => {
                    was_woken = true;
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Poll::Ready(Some(Err(_))) | Poll::Pending => return Poll::Ready(false),
            }
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::{FutureExt, stream};
    use http_body_util::StreamBody;

    use super::*;

    /// They were looked at for ever.
    #[test]
    fn pieces_of_nothing_are_taken_for_a_bounded_time() {
        let mut pieces = 0;
        let empty = stream::iter(std::iter::from_fn(move || {
            pieces += 1;
            assert!(pieces < 1_000_000);
            Some(Ok::<_, Infallible>(Frame::data(Bytes::new())))
        }));
        let mut body = Body::stream(StreamBody::new(empty.clone())).begun().now_or_never().unwrap().unwrap();
        assert!(
            http_body::Body::poll_frame(Pin::new(&mut body), &mut Context::from_waker(std::task::Waker::noop()))
                .is_ready()
        );
        assert_eq!(is_over(StreamBody::new(empty)).now_or_never(), Some(false));
    }
}
