//! Charges the chunks of streamed answers to a reservation while they are sent.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use castile_budget::{Reservation, Share};
use castile_mime::{BoxError, Content};
use futures_util::task::AtomicWaker;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;

/// The largest chunk that is sent without memory in the budget, if no other chunk of its answer is being sent. A client that reads
/// its answer can then always finish, even if the budget is exhausted.
const UNCHARGED_CHUNK: usize = 64 << 10;

/// Charges the chunks of a stream to `reservation`, from their creation until the transport drops them. Content in memory is
/// returned unchanged.
pub(crate) fn charging(content: Content, reservation: Arc<Reservation>) -> Content {
    match content {
        Content::Body(body) => {
            Content::stream(Charging { body, reservation, in_flight: Arc::default(), waiting: None })
        }
        bytes => bytes,
    }
}

/// A body whose chunks are charged.
struct Charging {
    body: UnsyncBoxBody<Bytes, BoxError>,
    reservation: Arc<Reservation>,
    in_flight: Arc<InFlight>,
    /// A small chunk that waits for memory in the budget.
    waiting: Option<Bytes>,
}

/// The chunks that the transport has not dropped yet.
#[derive(Debug, Default)]
struct InFlight {
    chunks: AtomicUsize,
    waker: AtomicWaker,
}

/// A chunk with its share of the reservation.
struct ChargedChunk {
    data: Bytes,
    _share: Share,
    in_flight: Arc<InFlight>,
}

impl AsRef<[u8]> for ChargedChunk {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

impl Drop for ChargedChunk {
    fn drop(&mut self) {
        self.in_flight.chunks.fetch_sub(1, Ordering::Release);
        self.in_flight.waker.wake();
    }
}

impl Body for Charging {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let data = match this.waiting.take() {
            Some(data) => data,
            None => match ready!(Pin::new(&mut this.body).poll_frame(cx)).transpose()?.map(Frame::into_data) {
                Some(Ok(data)) => data,
                Some(Err(trailers)) => return Poll::Ready(Some(Ok(trailers))),
                None => return Poll::Ready(None),
            },
        };
        let mut share = Share::of(this.reservation.clone());
        if let Err(exhausted) = share.grow(data.len()) {
            if data.len() > UNCHARGED_CHUNK {
                return Poll::Ready(Some(Err(exhausted.into())));
            }
            // Register before checking, so that a chunk that is dropped meanwhile wakes this task.
            this.in_flight.waker.register(cx.waker());
            if this.in_flight.chunks.load(Ordering::Acquire) > 0 {
                this.waiting = Some(data);
                return Poll::Pending;
            }
        }
        this.in_flight.chunks.fetch_add(1, Ordering::Relaxed);
        let piece = ChargedChunk { data, _share: share, in_flight: this.in_flight.clone() };
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_owner(piece)))))
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.waiting {
            // The waiting chunk is no longer in the body, so the body's size hint would be too small.
            Some(_) => SizeHint::default(),
            None => self.body.size_hint(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::task::{Wake, Waker};

    use castile_budget::{Budget, Exhausted};
    use futures_util::stream;
    use http_body_util::StreamBody;

    use super::*;

    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    struct Sent {
        body: UnsyncBoxBody<Bytes, BoxError>,
        woken: Arc<Woken>,
    }

    impl Sent {
        fn of(budget: &Budget, pieces: &[usize]) -> Self {
            let pieces: Vec<_> =
                pieces.iter().map(|&length| Ok::<_, BoxError>(Bytes::from(vec![b'x'; length]))).collect();
            let frames = stream::iter(pieces.into_iter().map(|piece| piece.map(Frame::data)));
            let reservation = Arc::new(budget.reserve(0).unwrap());
            match charging(Content::stream(StreamBody::new(frames)), reservation) {
                Content::Body(body) => Sent { body, woken: Arc::default() },
                Content::Bytes(bytes) => panic!("{bytes:?} are no stream"),
            }
        }

        fn next(&mut self) -> Poll<Option<Result<Bytes, BoxError>>> {
            let waker = Waker::from(self.woken.clone());
            let frame = Pin::new(&mut self.body).poll_frame(&mut Context::from_waker(&waker));
            frame.map_ok(|frame| frame.into_data().unwrap())
        }

        fn piece(&mut self) -> Bytes {
            match self.next() {
                Poll::Ready(Some(Ok(piece))) => piece,
                other => panic!("found {other:?}, expected a piece"),
            }
        }
    }

    /// Regression test: chunks were not charged, so a client that stopped reading held memory for free.
    #[test]
    fn chunks_of_a_stream_are_charged_while_they_are_sent() {
        let budget = Budget::new(1 << 20);
        let mut sent = Sent::of(&budget, &[100_000, 200_000]);
        let first = sent.piece();
        assert_eq!((first.len(), budget.used()), (100_000, 100_000));
        let second = sent.piece().slice(..10);
        assert_eq!(budget.used(), 300_000);
        drop(first);
        assert_eq!(budget.used(), 200_000);
        drop(second);
        assert_eq!(budget.used(), 0);
        assert!(matches!(sent.next(), Poll::Ready(None)));
    }

    #[test]
    fn small_chunks_are_sent_one_by_one_when_the_budget_is_used_up() {
        let budget = Budget::new(1_000);
        let _all = budget.reserve(1_000).unwrap();
        let mut sent = Sent::of(&budget, &[100, 200, 300]);
        let first = sent.piece();
        assert!(sent.next().is_pending() && !sent.woken.0.load(Ordering::Relaxed));
        drop(first);
        assert!(sent.woken.0.load(Ordering::Relaxed));
        let second = sent.piece();
        assert_eq!(second.len(), 200);
        drop(second);
        assert_eq!(sent.piece().len(), 300);
        assert!(matches!(sent.next(), Poll::Ready(None)));
    }

    #[test]
    fn a_large_chunk_beyond_the_budget_ends_the_answer() {
        let budget = Budget::new(100_000);
        let mut sent = Sent::of(&budget, &[UNCHARGED_CHUNK, UNCHARGED_CHUNK + 1]);
        let first = sent.piece();
        match sent.next() {
            Poll::Ready(Some(Err(error))) => assert!(error.is::<Exhausted>(), "{error}"),
            other => panic!("found {other:?}, expected an error"),
        }
        drop(first);
        assert_eq!(budget.used(), 0);
    }
}
