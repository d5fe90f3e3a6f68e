//! A timer that fires within microseconds of its time, where the system allows it.

use std::io;
use std::time::Instant;

#[cfg(target_os = "linux")]
pub(crate) use linux::Alarm;
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::Alarm;

/// Tokio's timers round up to a millisecond, which is many times the response time of a fast server. A
/// `timerfd` doesn't round.
#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::{AsFd, AsRawFd, RawFd};

    use nix::sys::time::TimeSpec;
    use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
    use tokio::io::unix::AsyncFd;

    use super::{Instant, io};

    #[derive(Debug)]
    pub(crate) struct Alarm(AsyncFd<Timer>);

    #[derive(Debug)]
    struct Timer(TimerFd);

    impl AsRawFd for Timer {
        fn as_raw_fd(&self) -> RawFd {
            self.0.as_fd().as_raw_fd()
        }
    }

    impl Alarm {
        /// Takes a file descriptor. Must be called within a tokio runtime, which wakes the waiting task.
        pub(crate) fn new() -> io::Result<Self> {
            let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
            Ok(Alarm(register(Timer(TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?))?))
        }

        /// Returns at `due`, or immediately if that is past.
        pub(crate) async fn wait_until(&mut self, due: Instant) -> io::Result<()> {
            loop {
                // A timer set to zero never fires, so a time that is past is handled here.
                let wait = due.saturating_duration_since(Instant::now());
                if wait.is_zero() {
                    return Ok(());
                }
                let expiration = Expiration::OneShot(TimeSpec::from_duration(wait));
                self.0.get_ref().0.set(expiration, TimerSetTimeFlags::empty())?;
                // Setting the timer again also clears its expiration count, so nothing has to be read.
                self.0.readable().await?.clear_ready();
            }
        }
    }

    #[expect(
        deprecated,
        reason = "its successor is unsafe, which this workspace has only where it scans; the descriptor is owned by what is \
                  registered and closed after it, which is all the successor asks"
    )]
    fn register(timer: Timer) -> io::Result<AsyncFd<Timer>> {
        AsyncFd::new(timer)
    }
}

#[cfg(not(target_os = "linux"))]
mod portable {
    use super::{Instant, io};

    #[derive(Debug)]
    pub(crate) struct Alarm;

    impl Alarm {
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Alarm)
        }

        pub(crate) async fn wait_until(&mut self, due: Instant) -> io::Result<()> {
            tokio::time::sleep_until(due.into()).await;
            Ok(())
        }
    }
}
