//! Timeouts that cost nothing while all goes well.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::sleep;

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
