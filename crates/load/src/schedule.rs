//! Decides when requests are due, and when a run is over.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};

use crate::arrivals::Course;
use crate::{End, Pace, Plan, Start, Stop};

/// State that all users of a run share across threads: the arrivals that they divide among themselves, and the end.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// When the first users begin.
    pub(crate) start: Instant,
    /// When the measurement begins.
    pub(crate) measured: Instant,
    stop: Stop,
    arrivals: Option<Mutex<Open>>,
    taken: AtomicU64,
    errors: AtomicU64,
    /// How many users have begun and not left. A thread changes this or `done` and then reads the other one. All these accesses are in one
    /// order (`SeqCst`), because otherwise two threads could each miss the other's change, and with it the end.
    users: AtomicUsize,
    /// How many users are wanted, if they begin and end on demand.
    wanted: Option<watch::Sender<usize>>,
    opened: AtomicUsize,
    /// How many users have nothing left to send.
    done: AtomicUsize,
    first_error: OnceLock<String>,
    end: OnceLock<(End, Instant)>,
    /// Notified when the run is over, for users that wait for their next turn.
    over: Notify,
}

/// The state of an open workload.
#[derive(Debug)]
struct Open {
    course: Course,
    /// Since when each free user has been free.
    free: BinaryHeap<Reverse<Instant>>,
}

impl Schedule {
    pub(crate) fn new(plan: &Plan, start: Instant) -> Self {
        let arrivals = match &plan.pace {
            Pace::Arrivals(arrivals) => {
                let begin = |number| Some(Reverse(start.checked_add(plan.begin(number)?)?));
                let free = plan.users().filter_map(begin).collect();
                Some(Mutex::new(Open { course: Course::new(arrivals, plan.seed, plan.division), free }))
            }
            Pace::Closed | Pace::Think(_) | Pace::Every(_) => None,
        };
        Schedule {
            start,
            measured: start + plan.warmup,
            stop: Stop { requests: plan.requests(), ..plan.stop },
            arrivals,
            taken: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            users: AtomicUsize::new(0),
            wanted: (plan.start == Start::OnDemand).then(|| watch::Sender::new(0)),
            opened: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            first_error: OnceLock::new(),
            end: OnceLock::new(),
            over: Notify::new(),
        }
    }

    /// Takes a request that is due at this time. Returns `false` if the run is over by then.
    pub(crate) fn take(&self, due: Instant) -> bool {
        if self.end.get().is_some() || self.time_is_up(due) {
            return false;
        }
        if due < self.measured {
            return true;
        }
        let index = self.taken.fetch_add(1, Ordering::Relaxed);
        match self.stop.requests {
            Some(count) if index >= count => {
                self.taken.fetch_sub(1, Ordering::Relaxed);
                false
            }
            _ => true,
        }
    }

    /// Accounts for the request that was sent before the start. It counts as the first of the run, or of its warm-up.
    pub(crate) fn take_first(&self, was_sent: bool, error: Option<&str>) {
        if was_sent {
            self.user_sends();
        }
        if self.measured == self.start {
            self.taken.fetch_add(1, Ordering::Relaxed);
            if let Some(mut open) = self.open() {
                open.course.advance();
            }
        }
        if let Some(error) = error {
            self.error(error, self.start);
        }
    }

    /// Returns whether the workload is open.
    pub(crate) fn has_arrivals(&self) -> bool {
        self.arrivals.is_some()
    }

    /// Records since when a user has been free to send again.
    pub(crate) fn user_is_free(&self, since: Instant) {
        if let Some(mut open) = self.open() {
            open.free.push(Reverse(since));
        }
    }

    /// Returns the next arrival for a free user; `None` if the run is over. Users are interchangeable, so the caller sends for the
    /// user that has been free longest. An arrival is dropped only if no user was free.
    pub(crate) fn arrival(&self) -> Option<Instant> {
        let mut open = self.open()?;
        let Open { course, free } = &mut *open;
        let Reverse(since) = *free.peek()?;
        loop {
            let due = self.start.checked_add(course.next()?)?;
            if !course.waits() && due < since && !self.time_is_up(due) && !self.all_are_taken() {
                let counts = due >= self.measured;
                let until = self.time_limit().map_or(since, |limit| limit.min(since));
                course.drop_until(if counts { until } else { until.min(self.measured) } - self.start, counts);
                course.drop_one(counts);
                continue;
            }
            if !self.take(due.max(since)) {
                return None;
            }
            free.pop();
            course.advance();
            return Some(due);
        }
    }

    /// Asks for this many users: those with the lowest numbers. It has no effect unless users begin on demand.
    pub(crate) fn want(&self, users: usize) {
        if let Some(wanted) = &self.wanted {
            wanted.send_replace(users);
        }
    }

    /// Returns whether the user of this number is wanted now.
    pub(crate) fn wants(&self, number: usize) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| number < *wanted.borrow())
    }

    /// Waits until the user of this number is wanted. Returns `false` if the run is over before.
    pub(crate) async fn wanted(&self, number: usize) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        let mut wanted = wanted.subscribe();
        tokio::select! {
            biased;
            () = self.over() => false,
            // `self` holds the sender, so waiting can't fail.
            _ = wanted.wait_for(|wanted| number < *wanted) => true,
        }
    }

    /// Completes when the run is ended early, or when the user of this number is no longer wanted.
    pub(crate) async fn over_for(&self, number: usize) {
        let Some(wanted) = &self.wanted else { return self.over().await };
        let mut wanted = wanted.subscribe();
        tokio::select! {
            () = self.over() => {}
            _ = wanted.wait_for(|wanted| number >= *wanted) => {}
        }
    }

    /// Records that a user has ended. Returns whether it may be wanted again. The run ends if all who stay are done.
    pub(crate) fn user_leaves(&self, users: usize, now: Instant) -> bool {
        let leaves = self.wanted.is_some() && self.end.get().is_none() && !self.all_are_taken();
        if leaves {
            self.users.fetch_sub(1, Ordering::SeqCst);
            self.end_if_done(self.done.load(Ordering::SeqCst), users, now);
        }
        leaves
    }

    /// Records that a user has begun.
    pub(crate) fn user_begins(&self) {
        self.users.fetch_add(1, Ordering::SeqCst);
    }

    /// Records that a user has sent its first request and so opened a connection.
    pub(crate) fn user_sends(&self) {
        self.opened.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns how many users have sent something.
    pub(crate) fn opened(&self) -> usize {
        self.opened.load(Ordering::Relaxed)
    }

    /// Returns the request that a user took but had nothing to send for. When all `users` are done, the run ends. If users begin on demand,
    /// these are those who are wanted or haven't left yet.
    pub(crate) fn user_is_done(&self, users: usize, now: Instant) {
        self.taken.fetch_sub(1, Ordering::Relaxed);
        self.end_if_done(self.done.fetch_add(1, Ordering::SeqCst) + 1, users, now);
    }

    fn end_if_done(&self, done: usize, users: usize, now: Instant) {
        let wanted = self.wanted.as_ref().map(|wanted| self.users().max(*wanted.borrow()));
        if done > 0 && done >= wanted.unwrap_or(users).min(users) {
            self.finish(End::NothingLeft, now);
        }
    }

    /// Returns how many users have begun, without those who are no longer wanted.
    pub(crate) fn users(&self) -> usize {
        self.users.load(Ordering::SeqCst)
    }

    /// Records a failed request, which may end the run.
    pub(crate) fn error(&self, message: &str, now: Instant) {
        let _ = self.first_error.get_or_init(|| message.to_owned());
        let errors = self.errors.fetch_add(1, Ordering::Relaxed) + 1;
        if self.stop.errors.is_some_and(|most| errors >= most) {
            self.finish(End::Errors(errors), now);
        }
    }

    /// Records the share of its cores that the server used in the last interval, which may end the run.
    pub(crate) fn server_cpu(&self, share: f64, now: Instant) {
        if self.stop.server_cpu.is_some_and(|most| share >= most) {
            self.finish(End::ServerCpu(share), now);
        }
    }

    /// Ends the run, unless it is over.
    pub(crate) fn finish(&self, end: End, now: Instant) {
        let _ = self.end.set((end, now));
        self.over.notify_waiters();
    }

    /// Returns the error of the first failed request.
    pub(crate) fn first_error(&self) -> Option<&str> {
        self.first_error.get().map(String::as_str)
    }

    /// Returns why the run ended early, if it did.
    pub(crate) fn ended(&self) -> Option<End> {
        self.end.get().map(|(end, _)| *end)
    }

    /// Returns when the time is up, if there is a limit.
    pub(crate) fn time_limit(&self) -> Option<Instant> {
        self.measured.checked_add(self.stop.after?)
    }

    /// Returns how long a run sent requests, given how long it was measured: without the answers that arrived after its end.
    pub(crate) fn length(&self, elapsed: Duration) -> Duration {
        match (self.end.get(), self.stop.after) {
            (Some((_, at)), _) => elapsed.min(at.saturating_duration_since(self.measured)),
            (None, Some(after)) => elapsed.min(after),
            (None, None) => elapsed,
        }
    }

    /// Returns whether a time is after the end, when answers are only awaited.
    pub(crate) fn is_after_end(&self, now: Instant) -> bool {
        let end = self.end.get().map(|(_, at)| *at).or_else(|| self.time_limit());
        end.is_some_and(|end| now > end)
    }

    /// Completes when the run is ended early.
    pub(crate) async fn over(&self) {
        let notified = self.over.notified();
        if self.end.get().is_none() {
            notified.await;
        }
    }

    /// Returns how many requests users have taken so far, without the warm-up.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns how many requests failed so far.
    pub(crate) fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    /// Returns how many arrivals were due within a finished run but found no free user: those that waited until its end, and those
    /// that were dropped.
    pub(crate) fn missed(&self) -> (u64, u64) {
        let Some(open) = self.open() else { return (0, 0) };
        let limit = match self.end.get() {
            // There was nothing to send for arrivals after that, so none was missed.
            Some((End::NothingLeft, _)) => None,
            Some((_, at)) => Some(*at),
            None => self.time_limit().filter(|_| !self.all_are_taken()),
        };
        // A free user would have sent the next request.
        let limit = limit.map(|limit| open.free.peek().map_or(limit, |Reverse(since)| limit.min(*since)));
        let due =
            |limit: Instant| open.course.due_between(self.measured - self.start, limit.max(self.measured) - self.start);
        let left = limit.map_or(0, due);
        if open.course.waits() { (left, 0) } else { (0, open.course.dropped() + left) }
    }

    /// Returns whether all requests of the plan were taken.
    pub(crate) fn all_are_taken(&self) -> bool {
        self.stop.requests.is_some_and(|count| self.taken() >= count)
    }

    fn time_is_up(&self, due: Instant) -> bool {
        self.stop.after.is_some_and(|after| due.saturating_duration_since(self.measured) >= after)
    }

    fn open(&self) -> Option<MutexGuard<'_, Open>> {
        // A thread that panicked has ended the run.
        Some(self.arrivals.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arrivals, Spacing, WhenBusy};

    fn schedule(pace: Pace, stop: Stop) -> Schedule {
        Schedule::new(&Plan { pace, stop, connections: 0, ..Plan::default() }, Instant::now())
    }

    /// Returns the next arrival for the only user, who has been free since then.
    fn arrival(schedule: &Schedule, since: Instant) -> Option<Instant> {
        schedule.user_is_free(since);
        schedule.arrival()
    }

    #[test]
    fn requests_are_sent_until_the_time_limit() {
        let schedule = schedule(Pace::Closed, Stop::after(Duration::from_secs(2)));
        assert!(schedule.take(schedule.start + Duration::from_secs(1)));
        assert!(!schedule.take(schedule.start + Duration::from_secs(2)));
        assert_eq!((schedule.taken(), schedule.missed()), (1, (0, 0)));
    }

    #[test]
    fn arrivals_are_due_by_the_clock_and_not_by_the_answers() {
        let stop = Stop::after(Duration::from_secs(1));
        let schedule = schedule(Pace::Arrivals(Arrivals::constant(10.0)), stop);
        // The only user comes back late each time; its requests keep their scheduled times.
        let late = schedule.start + Duration::from_millis(900);
        for index in 0..4 {
            assert_eq!(arrival(&schedule, late), Some(schedule.start + Duration::from_millis(100 * index)));
        }
        assert_eq!((schedule.taken(), schedule.missed()), (4, (6, 0)));
        assert_eq!(arrival(&schedule, schedule.start + Duration::from_secs(1)), None);
    }

    #[test]
    fn arrivals_without_a_free_connection_are_dropped_if_configured() {
        let arrivals = Arrivals { when_busy: WhenBusy::Drop, ..Arrivals::constant(10.0) };
        let schedule = schedule(Pace::Arrivals(arrivals), Stop::after(Duration::from_secs(1)));
        let at = |milliseconds| schedule.start + Duration::from_millis(milliseconds);
        assert_eq!(arrival(&schedule, at(0)), Some(at(0)));
        assert_eq!(arrival(&schedule, at(250)), Some(at(300)));
        assert_eq!(arrival(&schedule, at(650)), Some(at(700)));
        assert_eq!((schedule.taken(), schedule.missed()), (3, (0, 7)), "two, three, and the last two");
    }

    /// A million million requests once took ten minutes to drop, one by one.
    #[test]
    fn the_time_to_drop_does_not_depend_on_the_number_of_arrivals() {
        for spacing in [Spacing::Even, Spacing::Poisson] {
            let arrivals = Arrivals { when_busy: WhenBusy::Drop, spacing, ..Arrivals::constant(1e9) };
            let stop = Stop::after(Duration::from_secs(1_000));
            let plan = Plan {
                pace: Pace::Arrivals(arrivals),
                stop,
                warmup: Duration::from_secs(1),
                connections: 0,
                ..Plan::default()
            };
            let schedule = Schedule::new(&plan, Instant::now());
            let free = schedule.start + Duration::from_secs(501);
            let due = arrival(&schedule, free).unwrap();
            assert!(due >= free && due < free + Duration::from_micros(1), "{spacing:?}: {:?}", due - schedule.start);
            let (_, dropped) = schedule.missed();
            let random = if spacing == Spacing::Even { 1 } else { 1_000 };
            assert!(dropped.abs_diff(1_000_000_000_000) <= random, "{spacing:?}: {dropped}");
        }
    }

    #[test]
    fn a_number_of_requests_is_met_exactly() {
        let schedule = schedule(Pace::Closed, Stop::requests(3));
        let taken = (0..10).filter(|_| schedule.take(schedule.start)).count();
        assert_eq!((taken, schedule.taken()), (3, 3));
    }

    /// A run of users on demand once ended when a hundred thousand were done, which never began.
    #[test]
    fn a_run_ends_when_nobody_who_is_wanted_has_anything_left() {
        let plan = Plan { start: Start::OnDemand, connections: 100_000, ..Plan::default() };
        let schedule = Schedule::new(&plan, Instant::now());
        let done = || {
            schedule.take(schedule.start);
            schedule.user_is_done(plan.connections, schedule.start);
            schedule.ended()
        };
        schedule.want(3);
        (0..3).for_each(|_| schedule.user_begins());
        assert_eq!((done(), done()), (None, None));
        // The third still sends.
        schedule.want(1);
        assert_eq!(done(), Some(End::NothingLeft));
        assert_eq!(schedule.taken(), 0);
    }

    /// It once went on when those who still had something left, because fewer users were wanted.
    #[test]
    fn a_run_ends_when_only_users_who_are_done_stay() {
        let plan = Plan { start: Start::OnDemand, connections: 10, ..Plan::default() };
        let schedule = Schedule::new(&plan, Instant::now());
        schedule.want(4);
        (0..4).for_each(|_| schedule.user_begins());
        (0..2).for_each(|_| schedule.user_is_done(plan.connections, schedule.start));
        schedule.want(2);
        let leaves = || (schedule.user_leaves(plan.connections, schedule.start), schedule.ended());
        assert_eq!(leaves(), (true, None));
        assert_eq!(leaves(), (true, Some(End::NothingLeft)));
        // If all leave, they may be wanted again.
        let schedule = Schedule::new(&plan, Instant::now());
        schedule.want(1);
        schedule.user_begins();
        schedule.want(0);
        assert!(schedule.user_leaves(plan.connections, schedule.start));
        assert_eq!(schedule.ended(), None);
    }

    #[test]
    fn the_first_reason_ends_a_run() {
        let schedule = schedule(Pace::Closed, Stop::default().or_errors(2).or_server_cpu(0.5));
        schedule.server_cpu(0.4, schedule.start);
        schedule.error("no answer", schedule.start);
        assert_eq!(schedule.ended(), None);
        schedule.server_cpu(0.6, schedule.start);
        schedule.error("no answer", schedule.start);
        assert_eq!(schedule.ended(), Some(End::ServerCpu(0.6)));
        assert!(!schedule.take(schedule.start));
    }
}
