//! The request loop: one user, from its first request to its last.

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

/// A connection that was refused is not tried again at once: a closed loop would do nothing else.
const RECONNECT_PAUSE: Duration = Duration::from_millis(10);

/// What the users of one thread have in common.
pub(crate) struct Thread<C> {
    clock: C,
    schedule: Arc<Schedule>,
    plan: Plan,
    /// How many requests the list of the case has.
    count: usize,
    /// Which part of a mix each of them is of; empty where there is only one.
    parts: Arc<[usize]>,
    /// What the first user did before the run.
    begun: Begun,
    recorder: RefCell<Recorder>,
    window: RefCell<Window>,
    gate: Gate,
}

/// What a user did before a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun {
    /// Requests that it had.
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
            gate: Gate::default(),
        }
    }

    /// This one, which also takes note of each part of a mix.
    pub(crate) fn with_parts(self, parts: Arc<[usize]>) -> Self {
        Thread { parts, ..self }
    }

    /// This one, whose first user has begun already.
    pub(crate) fn with_begun(self, begun: Begun) -> Self {
        Thread { begun, ..self }
    }

    /// What was noted of all its users.
    pub(crate) fn finish(&self) -> Recorder {
        self.window.borrow_mut().close();
        self.recorder.take()
    }

    /// Drives one user; its exchange is made when it is first needed, if it has none of an earlier run.
    pub(crate) async fn drive<E: Exchange>(&self, number: usize, exchange: &mut Option<E>, connect: impl Fn() -> E) {
        if let Some(mut user) = self.begin(number).await {
            let begun = if number == 0 { self.begun } else { Begun::default() };
            let (mut sent, mut is_open) = (begun.had, begun.is_open);
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
                    None => break,
                }
                sent += 1;
            }
        }
        // A run takes its whole time, also when nothing more is due in it; but not when all that it is to send is sent.
        if let Some(limit) = self.schedule.time_limit().filter(|_| !self.schedule.all_are_taken()) {
            self.wait_until(limit).await;
        }
    }

    /// Waits until the user begins.
    async fn begin(&self, number: usize) -> Option<User> {
        let Plan { start, connections, seed, pace, .. } = &self.plan;
        let begin = self.schedule.start.checked_add(start.of(number, *connections)?)?;
        if self.schedule.time_limit().is_some_and(|limit| begin >= limit) || !self.wait_until(begin).await {
            return None;
        }
        self.schedule.user_begins();
        // Who is free counts from when the user is there, but a rhythm from when it should have been.
        let free = if *start == Start::Together && *pace == Pace::Closed { self.clock.now() } else { begin };
        // Seeds that differ by one would begin alike.
        let random = fastrand::Rng::with_seed(seed.wrapping_add(1 + number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Some(User { free, due: None, random })
    }

    /// Waits until the next request of a user is due; `None` when there is none before the run is over.
    async fn next(&self, user: &mut User) -> Option<Turn> {
        let free = user.free;
        let (due, _pass) = match &self.plan.pace {
            Pace::Closed => (self.taken(free, free)?, None),
            Pace::Think(think) => (self.taken(free + think.next(&mut user.random), free)?, None),
            Pace::Every(period) => (self.taken(user.due.map_or(free, |due| due + *period), free)?, None),
            Pace::Arrivals(_) => {
                let pass = tokio::select! {
                    biased;
                    () = self.schedule.over() => return None,
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
        if !self.wait_until(due).await {
            return None;
        }
        let sent = self.clock.now();
        if due >= self.schedule.measured {
            self.recorder.borrow_mut().woken(sent.saturating_duration_since(due));
        }
        Some(Turn { due, sent })
    }

    /// A request that is due at this time can't be sent before the user is free.
    fn taken(&self, due: Instant, free: Instant) -> Option<Instant> {
        self.schedule.take(due.max(free)).then_some(due)
    }

    /// Sends a request, notes what came of it, and says since when the user is free again and whether it was sent; `None` when
    /// it had nothing left to send.
    async fn request<E: Exchange>(&self, exchange: &mut E, number: usize, turn: Turn) -> Option<(Instant, bool)> {
        let result = exchange.send(number).await;
        let now = self.clock.now();
        if let Err(Failure::Done) = result {
            self.schedule.user_is_done(self.plan.connections, now);
            return None;
        }
        // Nor is there anything to wait for then.
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
                    recorder.exhausted = recorder.exhausted.or(failure.exhausted());
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
        // Neither judging nor closing nor pausing is part of the next request.
        exchange.rest().await;
        if !was_sent {
            self.wait_until(self.clock.now() + RECONNECT_PAUSE).await;
        }
        Some((self.clock.now(), was_sent))
    }

    /// Whether a right answer is part of what is measured. Where requests have their times, those do that are due by then;
    /// in a closed workload what is answered from then on, which begins before if the server is slow.
    fn counts(&self, due: Instant, now: Instant) -> bool {
        let at = if self.plan.pace == Pace::Closed { now } else { due };
        at >= self.schedule.measured
    }

    /// Whether the time came before the run was over.
    async fn wait_until(&self, due: Instant) -> bool {
        tokio::select! {
            biased;
            () = self.schedule.over() => false,
            () = self.clock.wait_until(due) => true,
        }
    }
}

/// How far a user is.
struct User {
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

/// Lets one user of a thread wait for the next arrival; the one that was free last is the next to come in, so that there
/// are no more connections than are needed, and the warmest is used.
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

/// The right to wait for the next arrival; over when the arrival is there.
struct Pass<'a>(&'a Gate);

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.0.taken.set(false);
        // Some may have stopped waiting.
        while let Some(next) = self.0.waiting.borrow_mut().pop() {
            if next.send(()).is_ok() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests;
