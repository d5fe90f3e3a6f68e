//! Bodies of requests while they come: by when, how fast, and what that holds.

use std::borrow::Borrow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use castile_budget::Reservation;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep};

use super::admission::Ticket;
use super::connections::Received;
use crate::BoxError;
use crate::timeout::{Progress, allowed};

/// How long a body may be waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// For a whole message, or up to the end of the root part of a package; behind that, for anything to come.
    pub(super) limit: Duration,
    /// What must come, as [`allowed`] reckons it.
    pub(super) rate: u32,
}

impl Pace {
    /// How long may be waited now that so much came and was waited, and what it is called if that is in vain.
    fn patience(self, is_message: bool, came: u64, waited: Duration) -> (Duration, Stalled) {
        let Pace { limit, rate } = self;
        let (rest, stalled) = match is_message {
            true => (limit.saturating_sub(waited), Stalled::Late(limit)),
            false => (limit, Stalled::Silent(limit)),
        };
        let all = allowed(limit / 3, limit, rate, came);
        let earned = all.saturating_sub(waited);
        if earned < rest { (earned, Stalled::Slow { came, waited: all }) } else { (rest, stalled) }
    }
}

/// A body that is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stalled {
    /// The message was not complete after this long.
    Late(Duration),
    /// Nothing came of it for this long.
    Silent(Duration),
    /// So many bytes are all that came while somebody waited for so long.
    Slow { came: u64, waited: Duration },
    /// It is the slowest of more than the server receives at once.
    Dropped,
    /// There is no memory for it.
    Exhausted,
}

impl fmt::Display for Stalled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stalled::Late(limit) => write!(f, "the message was not complete within {limit:?}"),
            Stalled::Silent(waited) => write!(f, "nothing came for {waited:?}"),
            Stalled::Slow { came, waited } => {
                write!(f, "no more than {came} bytes came while they were waited for, for {} s", waited.as_secs())
            }
            Stalled::Dropped => f.write_str("the server receives too much at once, and this came most slowly"),
            Stalled::Exhausted => f.write_str("the server has too little memory at this time, try again later"),
        }
    }
}

impl std::error::Error for Stalled {}

/// What the body of a package and the request that it is for know of each other.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) progress: Progress,
    /// Whether the root part is there: what comes now is for whoever handles the request.
    pub(super) is_at_work: AtomicBool,
}

pin_project! {
    /// The body of a request. While it is waited for the request holds no slot of work, and it fails with [`Stalled`] when
    /// it takes too long.
    pub(super) struct Receiving<B, T> {
        #[pin]
        body: B,
        pace: Pace,
        ticket: T,
        // What is charged for a message. Who reads a package charges what of it is kept.
        reservation: Arc<Reservation>,
        package: Option<Arc<Shared>>,
        came: u64,
        was_woken: bool,
        // What only a body needs that doesn't come with its head.
        waiting: Option<Box<Waiting>>,
    }
}

/// What a body gives: a frame, its end or an error.
type Came = Option<Result<Frame<Bytes>, BoxError>>;

struct Waiting {
    timer: Pin<Box<Sleep>>,
    /// Whom it wakes.
    task: Option<Waker>,
    /// When the wait began that lasts: for a message, the first one.
    since: Option<Instant>,
    /// How long the others took.
    waited: Duration,
    received: Option<Received>,
    /// What came, and waits for a slot, or for memory: `false` if there is none.
    behind: Option<(Came, BoxFuture<'static, bool>)>,
}

/// How many bytes of a message are not charged: about what a connection takes anyway.
const FREE: u64 = 4 << 10;

impl<B, T: Borrow<Ticket>> Receiving<B, T> {
    /// The body of a message.
    pub(super) fn message(body: B, pace: Pace, ticket: T, reservation: Arc<Reservation>) -> Self {
        Receiving { body, pace, ticket, reservation, package: None, came: 0, was_woken: false, waiting: None }
    }

    /// The body of a package.
    pub(super) fn package(body: B, pace: Pace, ticket: T, reservation: Arc<Reservation>, shared: Arc<Shared>) -> Self {
        Receiving { package: Some(shared), ..Receiving::message(body, pace, ticket, reservation) }
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
        let this = self.project();
        if let Some(waiting) = this.waiting
            && let Some((frame, slot)) = &mut waiting.behind
        {
            let granted = ready!(slot.as_mut().poll(cx));
            let frame = if granted { frame.take() } else { Some(Err(Stalled::Exhausted.into())) };
            waiting.behind = None;
            return Poll::Ready(frame);
        }
        let is_message = this.package.as_ref().is_none_or(|package| !package.is_at_work.load(Relaxed));
        if let Poll::Ready(frame) = this.body.poll_frame(cx) {
            let frame = frame.map(|frame| frame.map_err(Into::into));
            let length = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()).map_or(0, Bytes::len);
            let uncharged = FREE.saturating_sub(*this.came).min(length as u64);
            *this.came += length as u64;
            if let Some(package) = this.package {
                package.progress.note();
            }
            let charge = if this.package.is_none() { length - uncharged as usize } else { 0 };
            let refused = charge > 0 && this.reservation.grow(charge).is_err();
            if refused {
                let waiting =
                    this.waiting.get_or_insert_with(|| Waiting::new((*this.ticket).borrow(), 0, Duration::ZERO));
                waiting.stop(length);
                let room = (*this.ticket).borrow().clone().make_room(this.reservation.clone(), charge);
                waiting.behind = Some((frame, Box::pin(room)));
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            let Some(waiting) = this.waiting else {
                return Poll::Ready(frame);
            };
            if this.package.is_none() {
                waiting.came_of_message(length, *this.came);
                return Poll::Ready(frame);
            }
            return waiting.came_of_package(frame, length, is_message, (*this.ticket).borrow());
        }
        // A body that came with its head is found at the second look. That spares the timer.
        if !*this.was_woken {
            *this.was_woken = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let waiting = this.waiting.get_or_insert_with(|| {
            let (patience, _) = this.pace.patience(is_message, *this.came, Duration::ZERO);
            let held = if is_message { *this.came as usize } else { 0 };
            Waiting::new((*this.ticket).borrow(), held, patience)
        });
        if waiting.received.as_ref().is_some_and(Received::is_dropped) {
            return Poll::Ready(Some(Err(Stalled::Dropped.into())));
        }
        let since = *waiting.since.get_or_insert_with(|| {
            if let Some(received) = &waiting.received {
                received.wait(waiting.waited, *this.came);
            }
            if !is_message {
                (*this.ticket).borrow().rest();
            }
            Instant::now()
        });
        // A look is enough while the timer knows this task.
        if !waiting.timer.is_elapsed() && waiting.task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            return Poll::Pending;
        }
        waiting.task = Some(cx.waker().clone());
        loop {
            ready!(waiting.timer.as_mut().poll(cx));
            // The timer is not set whenever something comes, which only earns time: it finds out here.
            let (patience, stalled) = this.pace.patience(is_message, *this.came, waiting.waited);
            let end = since.checked_add(patience).filter(|end| *end > Instant::now());
            let Some(end) = end else { return Poll::Ready(Some(Err(stalled.into()))) };
            waiting.timer.as_mut().reset(end);
        }
    }

    fn is_end_stream(&self) -> bool {
        self.waiting.as_ref().is_none_or(|waiting| waiting.behind.is_none()) && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Waiting {
    /// A body that is waited for, of which so many bytes came already.
    fn new(ticket: &Ticket, held: usize, patience: Duration) -> Box<Self> {
        Box::new(Waiting {
            timer: Box::pin(sleep(patience)),
            task: None,
            since: None,
            waited: Duration::ZERO,
            received: ticket.receive(held),
            behind: None,
        })
    }

    /// So much came: it isn't waited for now.
    fn stop(&mut self, length: usize) {
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed();
        }
        if let Some(received) = &mut self.received {
            received.hold(length);
            received.go_on();
        }
    }

    /// More of a message came. Nobody does anything with it before all of it is there, so the wait lasts.
    fn came_of_message(&mut self, length: usize, came: u64) {
        if let Some(received) = &mut self.received {
            received.hold(length);
            received.moved(came);
        }
    }

    /// A frame of a package came, or its end, and goes to whoever waits for it: with a slot of work, where there is work.
    fn came_of_package(&mut self, frame: Came, length: usize, is_message: bool, ticket: &Ticket) -> Poll<Came> {
        if let Some(since) = self.since.take() {
            self.waited += since.elapsed();
        }
        if let Some(received) = &mut self.received {
            match is_message {
                true => received.hold(length),
                false => received.go_on(),
            }
        }
        match (!is_message).then(|| ticket.go_on()).flatten() {
            None => Poll::Ready(frame),
            Some(slot) => {
                self.behind = Some((frame, slot.map(|()| true).boxed()));
                Poll::Pending
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (100, false, 15, 10, (3, slow(15, 13))),
            (100, false, 6_000, 10, (30, silent)),
            (100, false, 6_000, 50, (20, slow(6_000, 70))),
            (100, false, 6_000, 80, (0, slow(6_000, 70))),
            (1, false, u64::MAX, 50, (30, silent)),
        ] {
            let found = Pace { limit: seconds(30), rate }.patience(is_message, came, seconds(waited));
            let expected = (seconds(expected.0), expected.1);
            assert_eq!(found, expected, "{rate} bytes a second, {came} came, {waited} s");
        }
    }
}
