//! Timeouts that set no timer when the future is done soon.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

/// The error when a time limit has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Elapsed;

/// Returns the time `limit` from now. A time that the clock can't represent becomes one in thirty years.
pub(crate) fn after(limit: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    let now = Instant::now();
    now.checked_add(limit).unwrap_or_else(|| now + FAR)
}

/// Drives `future` for at most `limit`.
///
/// The timer is set only when the future is pending for the second time. After the first poll the future is only woken
/// again: a body that arrived with its head, or a handler that yields once, is done by then. That avoids the timer's
/// lock.
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

/// Drives `future` while there is progress, and fails after `limit` without any. Progress that doesn't wake the future
/// is noticed when `limit` has passed, and the time counts again from then.
pub(crate) async fn within_progress<F: Future>(
    limit: Duration,
    progress: &Progress,
    future: F,
) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    let mut seen = progress.count();
    let mut timer = pin!(sleep_until(after(limit)));
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        loop {
            let is_over = timer.as_mut().poll(cx).is_ready();
            let now = progress.count();
            match (now != seen, is_over) {
                (true, _) => timer.as_mut().reset(after(limit)),
                (false, true) => return Poll::Ready(Err(Elapsed)),
                (false, false) => return Poll::Pending,
            }
            seen = now;
        }
    })
    .await
}

/// A count of the frames that arrived, updated by a body.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<AtomicU64>);

impl Progress {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Relaxed)
    }

    pub(crate) fn note(&self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Returns how long a peer that moved `moved` bytes may be waited for in total.
///
/// The first `grace` is free. After it the required rate rises by `rate` bytes per second for each `period`. So `moved`
/// bytes pay for the time `t` in which `rate * t / period` bytes per second add up to `moved`. A `rate` of 0 requires
/// nothing.
pub(crate) fn allowed(grace: Duration, period: Duration, rate: u32, moved: u64) -> Duration {
    if rate == 0 {
        return Duration::MAX;
    }
    let seconds = (2.0 * moved as f64 * period.as_secs_f64() / f64::from(rate)).sqrt();
    // A time that a `Duration` can't hold is unlimited.
    Duration::try_from_secs_f64(seconds).ok().and_then(|earned| grace.checked_add(earned)).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_required_rate_rises_with_time() {
        let seconds = Duration::from_secs;
        let earned = |moved| allowed(seconds(10), seconds(30), 100, moved).as_secs();
        assert_eq!([0, 60, 6_000, 600_000].map(earned), [10, 16, 70, 610]);
        // In the hour after the grace, an average of 6,000 bytes per second is required.
        assert_eq!(earned(3_600 * 6_000), 3_610);
        assert_eq!(allowed(seconds(10), seconds(30), 0, 0), Duration::MAX);
        assert_eq!(allowed(seconds(10), Duration::MAX, 1, u64::MAX), Duration::MAX);
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
