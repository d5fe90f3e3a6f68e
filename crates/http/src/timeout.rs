//! Timeouts that cost nothing while all goes well.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep};

use crate::BoxError;

/// The time was over before the future was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elapsed;

/// Drives `future` for at most `limit`.
///
/// The timer is armed when the future is found waiting for the second time. On the first time the future is only woken
/// again: a body that came with its head, or a handler that yields once, is done by then, and the timer's lock is spared.
pub(crate) async fn within<F: Future>(limit: Duration, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    let mut waited = false;
    let mut timer = None;
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        if !waited {
            waited = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let timer = timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        timer.as_mut().poll(cx).map(|()| Err(Elapsed))
    })
    .await
}

/// Drives `future` as long as there is progress: it is late if there was none for `limit`, which is noticed before twice
/// that time is over.
pub(crate) async fn within_progress<F: Future>(
    limit: Duration,
    progress: &Progress,
    future: F,
) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    loop {
        let seen = progress.seen();
        match within(limit, future.as_mut()).await {
            Err(Elapsed) if progress.seen() != seen => {}
            result => return result,
        }
    }
}

/// How much came or went so far, counted by bodies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<AtomicU64>);

impl Progress {
    pub(crate) fn seen(&self) -> u64 {
        self.0.load(Relaxed)
    }

    pub(crate) fn note(&self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Nothing came of a body for this long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stalled(pub(crate) Duration);

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "nothing came for {:?}", self.0)
    }
}

impl std::error::Error for Stalled {}

pin_project! {
    /// A body that may take any time, as long as something comes of it now and then: it fails with [`Stalled`] if somebody
    /// waited for the time of `limit` and nothing came.
    pub(crate) struct Timed<B> {
        #[pin]
        body: B,
        limit: Duration,
        progress: Progress,
        timer: Option<Pin<Box<Sleep>>>,
        is_waiting: bool,
    }
}

impl<B> Timed<B> {
    pub(crate) fn new(body: B, limit: Duration, progress: Progress) -> Self {
        Timed { body, limit, progress, timer: None, is_waiting: false }
    }
}

impl<B> Body for Timed<B>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.project();
        if let Poll::Ready(frame) = this.body.poll_frame(cx) {
            *this.is_waiting = false;
            this.progress.note();
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(*this.limit)));
        if !std::mem::replace(this.is_waiting, true) {
            timer.as_mut().reset(Instant::now() + *this.limit);
        }
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Some(Err(Stalled(*this.limit).into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_waiting_future_is_given_its_time_and_no_more() {
        let limit = Duration::from_secs(3);
        assert_eq!(within(limit, sleep(Duration::from_secs(2))).await, Ok(()));
        let start = tokio::time::Instant::now();
        assert_eq!(within(limit, std::future::pending::<()>()).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 3);
    }
}
