//! Bodies that are sent, and helpers to read bodies.

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
use crate::error::BoxError;
use crate::gzip::{self, Encoded};

/// The body of a request or response that this crate sends: complete bytes, or a stream.
#[derive(Debug)]
pub struct Body {
    kind: BodyKind,
    /// The reservation that the bytes are charged to until the last of them is gone.
    reservation: Option<Arc<Reservation>>,
}

#[derive(Debug)]
enum BodyKind {
    Whole(Full<Bytes>),
    Stream {
        /// Frames taken from the stream before sending began.
        ahead: VecDeque<Frame<Bytes>>,
        /// `None` once the stream has ended.
        rest: Option<UnsyncBoxBody<Bytes, BoxError>>,
    },
}

/// How many bytes of a stream are taken before sending begins.
const AHEAD: usize = 8 << 10;

impl Body {
    /// Creates an empty body.
    pub fn empty() -> Self {
        Body::from(Bytes::new())
    }

    /// Returns whether all bytes are in memory.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.kind, BodyKind::Whole(_))
    }

    /// Returns a copy of the body if all bytes are in memory.
    #[cfg(feature = "client")]
    pub(crate) fn try_clone(&self) -> Option<Self> {
        match &self.kind {
            BodyKind::Whole(body) => Some(Body::from(BodyKind::Whole(body.clone())).charged(self.reservation.clone())),
            BodyKind::Stream { .. } => None,
        }
    }

    /// Compresses the body with gzip if it has more than `above` bytes or an unknown length, and if there is memory for
    /// that. The `bool` is whether it was compressed.
    pub(crate) async fn compressed(self, above: usize) -> (Self, bool) {
        if http_body::Body::size_hint(&self).exact().is_some_and(|size| size <= above as u64) {
            return (self, false);
        }
        let charged = self.reservation.as_ref().map(|reservation| reservation.another(gzip::COMPRESSING));
        let Ok(state) = charged.transpose() else { return (self, false) };
        match self.kind {
            BodyKind::Whole(body) => {
                let bytes = body.into_inner().unwrap_or_default();
                let packed = Bytes::from(gzip::compressed(&bytes).await);
                (Body::from(packed).charged(self.reservation), true)
            }
            BodyKind::Stream { .. } => (Body::stream(Encoded::new(self, state)), true),
        }
    }

    /// Holds `reservation` until the whole body is sent or dropped.
    pub(crate) fn charged(self, reservation: Option<Arc<Reservation>>) -> Self {
        Body { reservation, ..self }
    }

    /// Creates a body from a stream, which is sent while it arrives.
    pub fn stream<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Body::from(Content::stream(body))
    }

    /// Takes the frames of a stream that are ready, up to a limit. A stream that fails within them fails before an
    /// answer has begun.
    pub(crate) async fn begun(mut self) -> Result<Self, BoxError> {
        if let BodyKind::Stream { ahead, rest: rest @ Some(_) } = &mut self.kind {
            let (mut length, mut was_woken) = (0, false);
            let begun = poll_fn(|cx| {
                while length < AHEAD
                    && let Some(body) = rest
                {
                    match http_body::Body::poll_frame(Pin::new(body), cx) {
                        Poll::Ready(Some(frame)) => {
                            let frame = frame?;
                            length += counted_size(&frame);
                            ahead.push_back(frame);
                        }
                        Poll::Ready(None) => *rest = None,
                        Poll::Pending if was_woken => break,
                        // Data that arrived with the head is ready at the second poll.
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

impl From<BodyKind> for Body {
    fn from(kind: BodyKind) -> Self {
        Body { kind, reservation: None }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Body::from(BodyKind::Whole(Full::new(bytes)))
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
            Content::Body(body) => Body::from(BodyKind::Stream { ahead: VecDeque::new(), rest: Some(body) }),
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = match &mut self.kind {
            BodyKind::Whole(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            BodyKind::Stream { ahead, rest } => match (ahead.pop_front(), rest) {
                (Some(frame), _) => Poll::Ready(Some(Ok(frame))),
                (None, Some(rest)) => Pin::new(rest).poll_frame(cx),
                (None, None) => Poll::Ready(None),
            },
        };
        let Some(reservation) = &self.reservation else { return frame };
        // The sender may hold the bytes for longer than the body.
        frame.map_ok(|frame| frame.map_data(|data| Bytes::from_owner(Charged::new(data, reservation.clone()))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            BodyKind::Whole(body) => body.is_end_stream(),
            BodyKind::Stream { ahead, rest } => {
                ahead.is_empty() && rest.as_ref().is_none_or(|rest| rest.is_end_stream())
            }
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            BodyKind::Whole(body) => body.size_hint(),
            BodyKind::Stream { ahead, rest } => {
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

/// How many bytes a frame counts towards a limit. At least one, or a stream of empty frames would have no limit.
fn counted_size(frame: &Frame<Bytes>) -> usize {
    frame.data_ref().map_or(0, Bytes::len).max(1)
}

/// How many bytes of an unwanted body are read.
const UNWANTED: usize = 64 << 10;

/// Reads what has arrived of an unwanted body, and returns whether that was all of it. If not, the connection can't be
/// reused.
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
                    let Some(less) = left.checked_sub(counted_size(&frame)) else { return Poll::Ready(false) };
                    left = less;
                }
                // Data that arrived with the head is ready at the second poll.
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

    /// Regression: empty frames were taken without end.
    #[test]
    fn empty_frames_are_accepted_for_a_bounded_time() {
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
