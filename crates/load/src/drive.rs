//! The request loop of one user, from its first request to its last.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::clock::Clock;
use crate::connection::Failure;
use crate::exchange::Exchange;
use crate::schedule::Schedule;
use crate::timeline::{Timeline, Window};
use crate::{Pace, Plan, Recorder, Start};

/// How long to wait after a refused connection. Without the pause, a closed loop would only retry.
const RECONNECT_PAUSE: Duration = Duration::from_millis(10);

/// State that the users of one thread share.
pub(crate) struct Thread<C> {
    clock: C,
    schedule: Arc<Schedule>,
    plan: Plan,
    /// The number of requests in the list of the case.
    count: usize,
    /// The part of a mix that each request of the list belongs to; empty if there is only one.
    parts: Arc<[usize]>,
    /// What the first user did before the run.
    begun: Begun,
    recorder: RefCell<Recorder>,
    window: RefCell<Window>,
    /// The number of requests that are under way.
    in_flight: Cell<u64>,
    gate: Gate,
}

/// What a user did before a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun {
    /// The number of requests that it made.
    pub(crate) had: usize,
    /// Whether something was sent.
    pub(crate) is_open: bool,
}

impl<C: Clock> Thread<C> {
    pub(crate) fn new(clock: C, schedule: Arc<Schedule>, plan: Plan, count: usize, timeline: Arc<Timeline>) -> Self {
        Thread {
            window: RefCell::new(Window::new(schedule.measured, timeline)),
            clock,
            schedule,
            plan,
            count,
            parts: Arc::new([]),
            begun: Begun::default(),
            recorder: RefCell::default(),
            in_flight: Cell::new(0),
            gate: Gate::default(),
        }
    }

    /// Records each part of a mix separately as well.
    pub(crate) fn with_parts(self, parts: Arc<[usize]>) -> Self {
        Thread { parts, ..self }
    }

    /// Sets what the first user did before the run.
    pub(crate) fn with_begun(self, begun: Begun) -> Self {
        Thread { begun, ..self }
    }

    /// Returns the records of all users.
    pub(crate) fn finish(&self) -> Recorder {
        self.window.borrow_mut().close();
        self.recorder.borrow_mut().take()
    }

    /// Returns the records of all users since the last call, and the number of requests that are under way. Goes on with an empty record.
    pub(crate) fn take(&self, empty: Recorder) -> (Recorder, u64) {
        (self.recorder.borrow_mut().take_for(empty), self.in_flight.get())
    }

    /// Drives one user. Its exchange is created when it is first needed, unless it has one from an earlier run.
    pub(crate) async fn drive<E: Exchange>(&self, number: usize, exchange: &mut Option<E>, connect: impl Fn() -> E) {
        let begun = if number == self.plan.division.number { self.begun } else { Begun::default() };
        let (mut sent, mut is_open) = (begun.had, begun.is_open);
        while let Some(mut user) = self.begin(number).await {
            let mut is_done = false;
            while let Some(turn) = self.next(&mut user).await {
                let exchange = exchange.get_or_insert_with(&connect);
                match self.request(exchange, sent % self.count, turn).await {
                    Some((free, was_sent)) => {
                        user.free = free;
                        self.schedule.user_is_free(free);
                        if was_sent && !std::mem::replace(&mut is_open, true) {
                            self.schedule.user_sends();
                        }
                    }
                    None => {
                        is_done = true;
                        break;
                    }
                }
                sent += 1;
            }
            if is_done || !self.schedule.user_leaves() {
                break;
            }
        }
        // A timed run lasts its full time, even if nothing more is due. It ends earlier if it has sent its number of requests.
        if let Some(limit) = self.schedule.time_limit().filter(|_| !self.schedule.all_are_taken()) {
            self.wait_until(limit).await;
        }
    }

    /// Waits until the user begins. Returns `None` if that is never.
    async fn begin(&self, number: usize) -> Option<User> {
        let Plan { start, seed, pace, .. } = &self.plan;
        let begin = match start {
            Start::OnDemand if !self.schedule.wanted(number).await => return None,
            Start::OnDemand => self.clock.now(),
            _ => self.schedule.start.checked_add(self.plan.begin(number)?)?,
        };
        if self.schedule.time_limit().is_some_and(|limit| begin >= limit) || !self.wait_until(begin).await {
            return None;
        }
        self.schedule.user_begins();
        // In a closed workload the user is free from now on. Otherwise it is free from its scheduled begin, which its rhythm
        // counts from.
        let free = if *start == Start::Together && *pace == Pace::Closed { self.clock.now() } else { begin };
        // Seeds that differ by one would give similar sequences.
        let random = fastrand::Rng::with_seed(seed.wrapping_add(1 + number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Some(User { number, free, due: None, random })
    }

    /// Waits until the user's next request is due. Returns `None` if the run is over before.
    async fn next(&self, user: &mut User) -> Option<Turn> {
        let (number, free) = (user.number, user.free);
        if !self.schedule.wants(number) {
            return None;
        }
        let (due, _pass) = match &self.plan.pace {
            Pace::Closed => (self.taken(free, free)?, None),
            Pace::Think(think) => (self.taken(free + think.next(&mut user.random), free)?, None),
            Pace::Every(period) => (self.taken(user.due.map_or(free, |due| due + *period), free)?, None),
            Pace::Arrivals(_) => {
                let pass = tokio::select! {
                    biased;
                    () = self.schedule.over_for(number) => return None,
                    pass = self.gate.enter() => pass,
                };
                (self.schedule.arrival()?, Some(pass))
            }
        };
        user.due = Some(due);
        let now = self.clock.now();
        if due <= now {
            return Some(Turn { due, sent: now });
        }
        tokio::select! {
            biased;
            () = self.schedule.over_for(number) => return None,
            () = self.clock.wait_until(due) => {}
        }
        let sent = self.clock.now();
        if due >= self.schedule.measured {
            self.recorder.borrow_mut().woken(sent.saturating_duration_since(due));
        }
        Some(Turn { due, sent })
    }

    /// Takes a request that is due at this time but can't be sent before the user is free.
    fn taken(&self, due: Instant, free: Instant) -> Option<Instant> {
        self.schedule.take(due.max(free)).then_some(due)
    }

    /// Sends a request and records the result. Returns since when the user is free again and whether the request was sent;
    /// `None` if the user has nothing left to send.
    async fn request<E: Exchange>(&self, exchange: &mut E, number: usize, turn: Turn) -> Option<(Instant, bool)> {
        self.in_flight.set(self.in_flight.get() + 1);
        let result = exchange.send(number).await;
        self.in_flight.set(self.in_flight.get() - 1);
        let now = self.clock.now();
        if let Err(Failure::Done) = result {
            self.schedule.user_is_done(self.plan.users().len(), now);
            return None;
        }
        // If nothing was sent, there is nothing to wait for either.
        let was_sent = !matches!(&result, Err(failure) if failure.is_immediate());
        {
            let mut recorder = self.recorder.borrow_mut();
            let mut window = self.window.borrow_mut();
            let judged = match &result {
                Ok(()) => {
                    let counted = recorder.requests + recorder.errors;
                    exchange.judge(number, counted.is_multiple_of(self.plan.verify_one_in.max(1)))
                }
                Err(failure) => {
                    let exhausted = failure.exhausted().map(Cow::Borrowed);
                    recorder.exhausted = recorder.exhausted.take().or(exhausted);
                    Err(failure.to_string())
                }
            };
            let part = self.parts.get(number).copied();
            match judged {
                Ok(_) if !self.counts(turn.due, now) => {}
                Ok(judged) => {
                    let latency = now.saturating_duration_since(turn.due);
                    let service = now.saturating_duration_since(turn.sent);
                    recorder.answer(&judged, latency, service);
                    if let Some(part) = part {
                        recorder.part(part).answer(&judged, latency, service);
                    }
                    if !self.schedule.is_after_end(now) {
                        window.answer(now, latency);
                    }
                }
                Err(message) => {
                    if let Some(part) = part {
                        recorder.part(part).error(was_sent, &message);
                    }
                    self.schedule.error(&message, now);
                    recorder.error(was_sent, &message);
                    recorder.warmup_errors += u64::from(!self.counts(turn.due, now));
                    window.error(now);
                }
            }
        }
        // Judging, closing and pausing are not part of the next request's latency.
        exchange.rest().await;
        if !was_sent {
            self.wait_until(self.clock.now() + RECONNECT_PAUSE).await;
        }
        Some((self.clock.now(), was_sent))
    }

    /// Returns whether a right answer is part of the measurement. In a closed workload that is an answer which arrives after
    /// the warm-up, even if its request was sent before. In other workloads it is a request that is due after the warm-up.
    fn counts(&self, due: Instant, now: Instant) -> bool {
        let at = if self.plan.pace == Pace::Closed { now } else { due };
        at >= self.schedule.measured
    }

    /// Waits for a time. Returns whether it arrived before the run was over.
    async fn wait_until(&self, due: Instant) -> bool {
        tokio::select! {
            biased;
            () = self.schedule.over() => false,
            () = self.clock.wait_until(due) => true,
        }
    }
}

/// The state of a user.
struct User {
    number: usize,
    /// Since when it waits for its next turn.
    free: Instant,
    /// When its last request was due.
    due: Option<Instant>,
    random: fastrand::Rng,
}

/// A request to send now.
#[derive(Clone, Copy)]
struct Turn {
    due: Instant,
    sent: Instant,
}

/// Lets one user of a thread at a time wait for the next arrival. The user that became free last enters next, so that only as
/// many connections are opened as are needed, and the warmest one is used.
#[derive(Default)]
struct Gate {
    taken: Cell<bool>,
    waiting: RefCell<Vec<oneshot::Sender<()>>>,
}

impl Gate {
    async fn enter(&self) -> Pass<'_> {
        while self.taken.get() {
            let (sender, turn) = oneshot::channel();
            self.waiting.borrow_mut().push(sender);
            // The sender is dropped only with the gate.
            let _ = turn.await;
        }
        self.taken.set(true);
        Pass(self)
    }
}

/// The right to wait for the next arrival. It ends when the request is due.
struct Pass<'a>(&'a Gate);

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.taken.set(false);
        // Some users may have stopped waiting.
        while let Some(next) = self.0.waiting.borrow_mut().pop() {
            if next.send(()).is_ok() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests;
