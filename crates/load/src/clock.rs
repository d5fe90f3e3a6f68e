//! The clock of a run: the machine's own, or one that tests control.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::io;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Instant;

use tokio::sync::Notify;

use crate::alarm::Alarm;

/// Tells the time and wakes waiting tasks.
pub(crate) trait Clock {
    fn now(&self) -> Instant;

    /// Returns at `due`, or immediately if that is past.
    fn wait_until(&self, due: Instant) -> impl Future<Output = ()>;
}

/// The machine's clock, shared by the users of one thread. They share one alarm, since a file descriptor for each
/// user would be too many.
#[derive(Clone, Debug, Default)]
pub(crate) struct SystemClock(Rc<Sleepers>);

#[derive(Debug, Default)]
struct Sleepers {
    /// Ordered by due time, then by order of registration.
    waiting: RefCell<BTreeMap<(Instant, u64), Waker>>,
    registered: Cell<u64>,
    /// Notified when a new entry is due before all others.
    earlier: Notify,
}

impl SystemClock {
    /// Wakes waiting tasks until the alarm fails. Must run beside them, in the runtime of the alarm.
    pub(crate) async fn run(&self, alarm: &mut Alarm) -> io::Error {
        loop {
            let result = match self.0.wake(Instant::now()) {
                None => {
                    self.0.earlier.notified().await;
                    Ok(())
                }
                Some(next) => tokio::select! {
                    result = alarm.wait_until(next) => result,
                    () = self.0.earlier.notified() => Ok(()),
                },
            };
            if let Err(error) = result {
                return error;
            }
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }

    async fn wait_until(&self, due: Instant) {
        let place =
            Registration { sleepers: &self.0, key: (due, self.0.registered.replace(self.0.registered.get() + 1)) };
        poll_fn(|cx| {
            if Instant::now() >= due {
                return Poll::Ready(());
            }
            place.sleepers.wait(place.key, cx.waker());
            Poll::Pending
        })
        .await;
    }
}

impl Sleepers {
    /// Wakes all tasks that are due. Returns when the next one is due.
    fn wake(&self, now: Instant) -> Option<Instant> {
        loop {
            let (due, waker) = {
                let mut waiting = self.waiting.borrow_mut();
                let first = waiting.first_entry()?;
                (first.key().0, (first.key().0 <= now).then(|| first.remove()))
            };
            match waker {
                Some(waker) => waker.wake(),
                None => return Some(due),
            }
        }
    }

    fn wait(&self, key: (Instant, u64), waker: &Waker) {
        let mut waiting = self.waiting.borrow_mut();
        waiting.insert(key, waker.clone());
        if waiting.first_key_value().is_some_and(|(first, _)| *first == key) {
            self.earlier.notify_one();
        }
    }
}

/// A registered waiter. It is removed from the list when dropped.
struct Registration<'a> {
    sleepers: &'a Sleepers,
    key: (Instant, u64),
}

impl Drop for Registration<'_> {
    fn drop(&mut self) {
        self.sleepers.waiting.borrow_mut().remove(&self.key);
    }
}

/// Tokio's clock, which counts milliseconds and needs no file descriptor. Tests can pause and advance it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CoarseClock;

impl Clock for CoarseClock {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    async fn wait_until(&self, due: Instant) {
        tokio::time::sleep_until(due.into()).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::task::Wake;
    use std::time::Duration;

    use super::*;

    /// Records its number when it is woken.
    struct Noted(u64, Arc<Mutex<Vec<u64>>>);

    impl Wake for Noted {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    #[test]
    fn sleepers_are_woken_in_the_order_in_which_they_are_due() {
        let (sleepers, woken) = (Sleepers::default(), Arc::default());
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        for (came, due) in [6, 2, 0, 4, 2].into_iter().enumerate() {
            let number = due * 10 + came as u64;
            sleepers.wait((at(due), came as u64), &Waker::from(Arc::new(Noted(number, Arc::clone(&woken)))));
        }
        assert_eq!(sleepers.wake(at(4)), Some(at(6)));
        assert_eq!(*woken.lock().unwrap(), [2, 21, 24, 43]);
        assert_eq!(sleepers.wake(at(6)), None);
        assert_eq!(*woken.lock().unwrap(), [2, 21, 24, 43, 60]);
    }

    #[tokio::test]
    async fn timers_never_fire_early() {
        let (clock, mut alarm) = (SystemClock::default(), Alarm::new().unwrap());
        let start = clock.now();
        let sleeper = |milliseconds: u64| {
            let clock = &clock;
            async move {
                clock.wait_until(start + Duration::from_millis(milliseconds)).await;
                assert!(clock.now() >= start + Duration::from_millis(milliseconds));
            }
        };
        tokio::select! {
            error = clock.run(&mut alarm) => panic!("{error}"),
            _ = async { tokio::join!(sleeper(6), sleeper(2), sleeper(0), sleeper(4)) } => {}
        }
    }
}
