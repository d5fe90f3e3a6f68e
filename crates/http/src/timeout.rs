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

/// A body that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stalled {
    /// Nothing came of it for this long.
    Silent(Duration),
    /// So many bytes are all that came while somebody waited for so long.
    Slow { came: u64, waited: Duration },
}

impl Stalled {
    /// How long was waited.
    pub(crate) fn waited(self) -> Duration {
        match self {
            Stalled::Silent(waited) | Stalled::Slow { waited, .. } => waited,
        }
    }
}

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stalled::Silent(waited) => write!(f, "nothing came for {waited:?}"),
            Stalled::Slow { came, waited } => {
                write!(f, "no more than {came} bytes came while they were waited for, for {} s", waited.as_secs())
            }
        }
    }
}

impl std::error::Error for Stalled {}

pin_project! {
    /// A body that may take any time, as long as something comes of it now and then: it fails with [`Stalled`] if somebody
    /// waited for the time of `limit` and nothing came, or if all waits together took longer than that and what came at
    /// `rate` would have taken.
    pub(crate) struct Timed<B> {
        #[pin]
        body: B,
        limit: Duration,
        // In bytes per second; 0 for any.
        rate: u32,
        progress: Progress,
        timer: Option<Pin<Box<Sleep>>>,
        // When the wait began that lasts.
        since: Option<Instant>,
        // How long the others took, and how many bytes came.
        waited: Duration,
        came: u64,
    }
}

impl<B> Timed<B> {
    pub(crate) fn new(body: B, limit: Duration, rate: u32, progress: Progress) -> Self {
        Timed { body, limit, rate, progress, timer: None, since: None, waited: Duration::ZERO, came: 0 }
    }
}

/// How long may be waited now, and how it is called if that was in vain.
fn patience(limit: Duration, rate: u32, came: u64, waited: Duration) -> (Duration, Stalled) {
    let silent = (limit, Stalled::Silent(limit));
    // Beyond what a time can hold there is no hurry.
    let Some(all) = came.checked_div(rate.into()).and_then(|seconds| limit.checked_add(Duration::from_secs(seconds)))
    else {
        return silent;
    };
    let rest = all.saturating_sub(waited);
    if rest < limit { (rest, Stalled::Slow { came, waited: all }) } else { silent }
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
            if let Some(since) = this.since.take() {
                *this.waited += since.elapsed();
            }
            if let Some(Ok(frame)) = &frame {
                *this.came += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            this.progress.note();
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let (patience, stalled) = patience(*this.limit, *this.rate, *this.came, *this.waited);
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(patience)));
        if this.since.is_none() {
            let now = Instant::now();
            *this.since = Some(now);
            timer.as_mut().reset(now + patience);
        }
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Some(Err(stalled.into())))
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

    #[test]
    fn patience_grows_with_what_comes() {
        let seconds = Duration::from_secs;
        for (rate, came, waited, expected) in [
            (0, 0, 1_000, Ok(30)),
            (100, 0, 0, Ok(30)),
            (100, 99, 0, Ok(30)),
            (100, 0, 25, Err((5, 30))),
            (100, 1_000, 25, Err((15, 40))),
            (100, 2_500, 25, Ok(30)),
            (100, 1_000, 50, Err((0, 40))),
            (1, u64::MAX, 50, Ok(30)),
        ] {
            let found = patience(seconds(30), rate, came, seconds(waited));
            let expected = match expected {
                Ok(limit) => (seconds(limit), Stalled::Silent(seconds(limit))),
                Err((rest, all)) => (seconds(rest), Stalled::Slow { came, waited: seconds(all) }),
            };
            assert_eq!(found, expected, "{rate} bytes a second, {came} came, {waited} s");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_future_is_given_its_time_and_no_more() {
        let limit = Duration::from_secs(3);
        assert_eq!(within(limit, sleep(Duration::from_secs(2))).await, Ok(()));
        let start = tokio::time::Instant::now();
        assert_eq!(within(limit, std::future::pending::<()>()).await, Err(Elapsed));
        assert_eq!(start.elapsed().as_secs(), 3);
    }
}
