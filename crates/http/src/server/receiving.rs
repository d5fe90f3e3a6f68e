//! The bodies of requests while they arrive: their time limits, their rate, and the memory they hold.

use std::borrow::Borrow;
use std::cell::Cell;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use castile_budget::{Reservation, UNCHARGED};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep};

use super::admission::Ticket;
use super::connections::Received;
use super::refusal::Stalled;
use crate::error::BoxError;
use crate::timeout::{Progress, after, allowed};

/// The time limits of a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The limit for a whole message, or until the end of the root part of a package. After that, the limit for the
    /// next bytes.
    pub(super) limit: Duration,
    /// The required rate, as in [`allowed`].
    pub(super) rate: u32,
}

impl Pace {
    /// Returns how long to wait after `came` bytes and a waiting time of `waited`, and the error if nothing arrives by
    /// then.
    fn wait_limit(self, is_message: bool, came: u64, waited: Duration) -> (Duration, Stalled) {
        let Pace { limit, rate } = self;
        let (free, rest, stalled) = match is_message {
            true => (limit / 3, limit.saturating_sub(waited), Stalled::Late(limit)),
            false => (limit, limit, Stalled::Silent(limit)),
        };
        let all = allowed(free, limit, rate, came);
        let earned = all.saturating_sub(waited);
        if earned < rest { (earned, Stalled::Slow { came, waited: all }) } else { (rest, stalled) }
    }
}

/// State that the body of a package and its request share.
///
/// The handler has a slot of work whenever it is polled. It frees the slot while it waits, if the body is being waited
/// for as well. Either the handler itself waits for the body, or a task that the handler has started. Received data is
/// passed on only with a slot.
#[derive(Debug, Default)]
pub(super) struct PackageState {
    pub(super) progress: Progress,
    /// Whether the root part is there. Data after it is for the handler.
    is_at_work: AtomicBool,
    waits: Mutex<Waits>,
    /// Whether the whole body has arrived.
    is_over: AtomicBool,
}

/// What is waiting.
#[derive(Debug, Default)]
struct Waits {
    handler: bool,
    /// The handler waits for the body, possibly among other things.
    body: bool,
    /// Another task has polled the body, found no data, and has received none since.
    body_in_other_task: bool,
}

thread_local! {
    /// The package whose handler is polled on this thread.
    static POLLED: Cell<*const PackageState> = const { Cell::new(ptr::null()) };
}

impl PackageState {
    /// Marks the root part as complete.
    pub(super) fn begin_work(&self, ticket: &Ticket) {
        self.is_at_work.store(true, Relaxed);
        ticket.message_received();
    }

    /// Returns whether the whole body has arrived.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Relaxed)
    }

    /// Drives the handler.
    pub(super) async fn work<F: Future>(&self, ticket: &Ticket, handler: F) -> F::Output {
        let mut handler = pin!(handler);
        let (mut slot, mut is_second_look) = (None, false);
        poll_fn(|cx| {
            // From here on, nothing frees the slot.
            self.waits(ticket, |waits| (waits.handler, waits.body) = (false, false));
            slot = slot.take().or_else(|| ticket.go_on());
            if let Some(slot) = &mut slot {
                ready!(slot.as_mut().poll(cx));
            }
            slot = None;
            let polled = Polled { before: POLLED.replace(self) };
            let output = handler.as_mut().poll(cx);
            drop(polled);
            self.waits(ticket, |waits| {
                // A handler may poll the body and stop waiting for it, as after a timeout. A second poll shows whether
                // it still waits.
                is_second_look = waits.body && !is_second_look;
                match is_second_look {
                    true => cx.waker().wake_by_ref(),
                    false => waits.handler = output.is_pending(),
                }
            });
            output
        })
        .await
    }

    fn waits(&self, ticket: &Ticket, change: impl FnOnce(&mut Waits)) {
        let mut waits = self.lock();
        change(&mut waits);
        if waits.handler && (waits.body || waits.body_in_other_task) {
            ticket.rest();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Marks a handler as being polled, until this is dropped.
struct Polled {
    before: *const PackageState,
}

impl Drop for Polled {
    fn drop(&mut self) {
        POLLED.set(self.before);
    }
}

/// Marks the body of a package as being waited for, until this is dropped.
struct Awaited(Arc<PackageState>);

impl Awaited {
    /// Records that a task polled the body and found no data.
    fn record_poll(&self, ticket: &Ticket) {
        let is_handler = ptr::eq(POLLED.get(), &*self.0);
        self.0.waits(ticket, |waits| match is_handler {
            true => waits.body = true,
            false => waits.body_in_other_task = true,
        });
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let mut waits = self.0.lock();
        (waits.body, waits.body_in_other_task) = (false, false);
    }
}

pin_project! {
    /// The body of a request. While it is being waited for, the request holds no slot of work. It fails with
    /// [`Stalled`] when it takes too long.
    pub(super) struct Receiving<B, T> {
        #[pin]
        body: B,
        pace: Pace,
        ticket: T,
        // A message is charged to it here. For a package, its reader charges the parts that are stored.
        reservation: Arc<Reservation>,
        package: Option<Arc<PackageState>>,
        received: u64,
        // The root part of the package is complete; `came` counts from there.
        is_at_work: bool,
        was_woken: bool,
        // Only for a body that doesn't arrive together with its head.
        waiting: Option<Box<Waiting>>,
    }
}

/// The result of polling a body: a frame, its end or an error.
type PolledFrame = Option<Result<Frame<Bytes>, BoxError>>;

struct Waiting {
    timer: Pin<Box<Sleep>>,
    /// The task that the timer wakes.
    task: Option<Waker>,
    /// When the current wait began. A message has a single wait.
    since: Option<Instant>,
    awaited: Option<Awaited>,
    /// How long earlier waits took.
    waited: Duration,
    received: Option<Received>,
    /// A frame that waits for a slot or for memory. The future returns `false` if there is no memory.
    pending: Option<PendingFrame>,
}

type PendingFrame = (PolledFrame, BoxFuture<'static, bool>);

impl<B, T: Borrow<Ticket>> Receiving<B, T> {
    /// Creates the body of a message.
    pub(super) fn message(body: B, pace: Pace, ticket: T, reservation: Arc<Reservation>) -> Self {
        Receiving {
            body,
            pace,
            ticket,
            reservation,
            package: None,
            received: 0,
            is_at_work: false,
            was_woken: false,
            waiting: None,
        }
    }

    /// Creates the body of a package.
    pub(super) fn package(
        body: B,
        pace: Pace,
        ticket: T,
        reservation: Arc<Reservation>,
        coming: Arc<PackageState>,
    ) -> Self {
        Receiving { package: Some(coming), ..Receiving::message(body, pace, ticket, reservation) }
    }
}

impl<B, T: Borrow<Ticket>> Body for Receiving<B, T>
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut this = self.project();
        let ticket: &Ticket = (*this.ticket).borrow();
        if let Some(waiting) = this.waiting {
            if let Some(behind) = waiting.pending.take() {
                return waiting.hand_out(behind, cx);
            }
            // Checked first, because other requests already rely on this one being dropped.
            if waiting.received.as_ref().is_some_and(Received::take_drop) {
                waiting.awaited = None;
                return Poll::Ready(Some(Err(Stalled::Dropped.into())));
            }
        }
        // The package, if its handler is at work.
        let at_work = this.package.as_ref().filter(|package| package.is_at_work.load(Relaxed));
        if at_work.is_some() && !*this.is_at_work {
            // A large root part must not extend the time for attachments.
            (*this.is_at_work, *this.received) = (true, 0);
            if let Some(waiting) = this.waiting {
                waiting.waited = Duration::ZERO;
                // The timer computes its new end when it fires.
                waiting.timer.as_mut().reset(Instant::now());
            }
        }
        if let Poll::Ready(frame) = this.body.as_mut().poll_frame(cx) {
            let frame = frame.map(|frame| frame.map_err(Into::into));
            let length = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()).map_or(0, Bytes::len);
            let uncharged = (UNCHARGED as u64).saturating_sub(*this.received).min(length as u64);
            *this.received += length as u64;
            if let Some(package) = &*this.package {
                package.is_over.store(frame.is_none() || this.body.is_end_stream(), Relaxed);
                package.progress.note();
            }
            let charge = if this.package.is_none() { length - uncharged as usize } else { 0 };
            let refused = charge > 0 && this.reservation.grow(charge).is_err();
            if refused {
                let held = *this.received as usize - length;
                let waiting =
                    this.waiting.get_or_insert_with(|| Waiting::new(ticket, this.reservation, held, Duration::ZERO));
                waiting.stop(length, *this.received);
                let room = ticket.clone().wait_for_memory(this.reservation.clone(), charge);
                return waiting.hand_out((frame, Box::pin(room)), cx);
            }
            let Some(waiting) = this.waiting else {
                return Poll::Ready(frame);
            };
            if this.package.is_some() {
                waiting.pause();
            }
            if at_work.is_none() {
                match this.package {
                    None => waiting.message_received(length, *this.received),
                    Some(_) => waiting.package_received(this.reservation.bytes() + length, *this.received),
                }
                return Poll::Ready(frame);
            }
            waiting.go_on(*this.received);
            // The body still counts as waited for: the handler may take the slot meanwhile, and then frees it for this
            // frame.
            if let Some(slot) = ticket.go_on() {
                return waiting.hand_out((frame, slot.map(|()| true).boxed()), cx);
            }
            waiting.awaited = None;
            return Poll::Ready(frame);
        }
        // A body that arrived with its head is ready at the second poll. That saves the timer.
        if !*this.was_woken {
            *this.was_woken = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let waiting = this.waiting.get_or_insert_with(|| {
            let (patience, _) = this.pace.wait_limit(at_work.is_none(), *this.received, Duration::ZERO);
            let held = match (at_work, &this.package) {
                (Some(_), _) => 0,
                (None, Some(_)) => this.reservation.bytes(),
                (None, None) => *this.received as usize,
            };
            Waiting::new(ticket, this.reservation, held, patience)
        });
        let since = *waiting.since.get_or_insert_with(|| {
            if let Some(received) = &waiting.received {
                received.wait(waiting.waited, *this.received);
            }
            waiting.awaited = at_work.map(|package| Awaited(package.clone()));
            Instant::now()
        });
        if let Some(awaited) = &waiting.awaited {
            awaited.record_poll(ticket);
        }
        // If the timer has this task's waker, a check is enough.
        if !waiting.timer.is_elapsed() && waiting.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        waiting.task = Some(cx.waker().clone());
        loop {
            ready!(waiting.timer.as_mut().poll(cx));
            // The timer is not reset when data arrives, which only extends the limit. So compute the limit now.
            let (patience, stalled) = this.pace.wait_limit(at_work.is_none(), *this.received, waiting.waited);
            let end = since.checked_add(patience).unwrap_or_else(|| after(patience));
            if end <= Instant::now() {
                waiting.awaited = None;
                waiting.go_on(*this.received);
                return Poll::Ready(Some(Err(stalled.into())));
            }
            waiting.timer.as_mut().reset(end);
        }
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.as_ref().is_none_or(|waiting| waiting.pending.is_none()) && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Waiting {
    /// Creates the state for a body that is being waited for, of which `held` bytes are held.
    fn new(ticket: &Ticket, reservation: &Arc<Reservation>, held: usize, patience: Duration) -> Box<Self> {
        ticket.register_request(reservation);
        Box::new(Waiting {
            timer: Box::pin(sleep(patience)),
            task: None,
            since: None,
            awaited: None,
            waited: Duration::ZERO,
            received: ticket.receive(held),
            pending: None,
        })
    }

    /// Stops counting the waiting time.
    fn pause(&mut self) {
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed();
        }
    }

    /// Ends the wait, after `came` bytes.
    fn go_on(&mut self, came: u64) {
        self.pause();
        if let Some(received) = &self.received {
            received.go_on(came);
        }
    }

    /// Ends the wait because there is no memory for the next `length` bytes.
    fn stop(&mut self, length: usize, came: u64) {
        self.go_on(came);
        if let Some(received) = &self.received {
            received.add(length);
        }
    }

    /// Records more bytes of a message. The wait continues until the message is complete.
    fn message_received(&mut self, length: usize, came: u64) {
        if let Some(received) = &self.received {
            received.add(length);
            received.moved(came);
        }
    }

    /// Records more bytes of a package before its root part. `held` bytes are held now: earlier parts wait in memory,
    /// or on disk if they are large.
    fn package_received(&mut self, held: usize, came: u64) {
        if let Some(received) = &self.received {
            received.raise_to(held);
            received.moved(came);
        }
    }

    /// Returns the frame once its slot or memory is granted. The grant is polled immediately, so that it stores the
    /// waker.
    fn hand_out(&mut self, (frame, mut grant): PendingFrame, cx: &mut Context<'_>) -> Poll<PolledFrame> {
        let Poll::Ready(is_granted) = grant.as_mut().poll(cx) else {
            self.pending = Some((frame, grant));
            return Poll::Pending;
        };
        self.awaited = None;
        Poll::Ready(if is_granted { frame } else { Some(Err(Stalled::Exhausted.into())) })
    }
}

#[cfg(test)]
mod tests {
    use castile_budget::Budget;
    use futures_util::{FutureExt, stream};
    use http_body_util::{BodyExt, StreamBody};
    use tokio::net::{TcpListener, TcpStream};

    use super::super::Server;
    use super::super::activity::Activity;
    use super::*;

    /// Regression: bytes that arrived before memory first ran short did not count.
    #[tokio::test]
    async fn a_wait_for_memory_counts_from_the_first_byte() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let activity = Arc::new(Activity::new(Arc::new(Server::new().into_shared()), &stream));
        let (_, ticket) = Ticket::call(activity.clone(), activity.begin(), || ());
        let pieces = [5_000, 6_000].map(|length| Ok::<_, BoxError>(Frame::data(Bytes::from(vec![b'x'; length]))));
        let pace = Pace { limit: Duration::from_secs(30), rate: 0 };
        let reservation = Arc::new(Budget::new(5_000).reserve(0).unwrap());
        let body = StreamBody::new(stream::iter(pieces));
        let mut body = Receiving::message(body, pace, ticket.unwrap(), reservation);
        assert!(body.frame().await.unwrap().is_ok());
        assert!(body.frame().now_or_never().is_none());
        assert_eq!(activity.wait.bytes(), 11_000);
        drop(body);
        assert_eq!(activity.wait.bytes(), 0);
    }

    #[test]
    fn patience_grows_with_what_comes() {
        let seconds = Duration::from_secs;
        let (late, silent) = (Stalled::Late(seconds(30)), Stalled::Silent(seconds(30)));
        let slow = |came, waited| Stalled::Slow { came, waited: seconds(waited) };
        for (rate, is_message, came, waited, expected) in [
            (0, true, 0, 0, (30, late)),
            (0, true, 1 << 20, 20, (10, late)),
            (0, false, 0, 1_000, (30, silent)),
            (100, true, 0, 0, (10, slow(0, 10))),
            (100, true, 0, 4, (6, slow(0, 10))),
            (100, true, 1_000, 4, (26, late)),
            (100, false, 0, 0, (30, silent)),
            (100, false, 15, 10, (23, slow(15, 33))),
            (100, false, 6_000, 10, (30, silent)),
            (100, false, 6_000, 70, (20, slow(6_000, 90))),
            (100, false, 6_000, 100, (0, slow(6_000, 90))),
            (1, false, u64::MAX, 50, (30, silent)),
        ] {
            let found = Pace { limit: seconds(30), rate }.wait_limit(is_message, came, seconds(waited));
            let expected = (seconds(expected.0), expected.1);
            assert_eq!(found, expected, "{rate} bytes a second, {came} came, {waited} s");
        }
    }
}
