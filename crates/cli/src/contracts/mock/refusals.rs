//! Lines about requests that are refused for their security, and replies that can't be secured.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use castile_xml::visible;
use humantime::format_rfc3339_seconds;

use crate::signatures::advice::{Options, advice};

/// The maximum number of lines in each second, unless people want to see each request. Anybody can cause them.
const MAX_LINES: u32 = 10;

/// Says why requests are refused, and replies not secured. Their senders are not told.
#[derive(Clone, Debug)]
pub(super) struct Refusals {
    /// The maximum number of lines in each second.
    most: u32,
    window: Arc<Mutex<Window>>,
}

/// What was said in the current second.
#[derive(Debug, Default)]
struct Window {
    begun: Option<Instant>,
    lines: u32,
    /// How many more lines there would be.
    silent: u64,
}

impl Refusals {
    /// Says all of them if people want to see each request, and some of them otherwise.
    pub(super) fn new(is_verbose: bool) -> Self {
        Refusals { most: if is_verbose { u32::MAX } else { MAX_LINES }, window: Arc::default() }
    }

    pub(super) fn say(&self, what: &str, reason: &castile_wss::Error) {
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = window.lines(self.most, what, reason, (SystemTime::now(), Instant::now()));
        drop(window);
        lines.iter().for_each(|line| note!("{line}"));
    }
}

impl Window {
    /// Returns the lines that are to be shown now.
    fn lines(
        &mut self,
        most: u32,
        what: &str,
        reason: &castile_wss::Error,
        (time, now): (SystemTime, Instant),
    ) -> Vec<String> {
        let mut lines = Vec::new();
        if self.begun.is_none_or(|begun| now.duration_since(begun) >= Duration::from_secs(1)) {
            if self.silent > 0 {
                lines.push(format!("and {} more", self.silent));
            }
            *self = Window { begun: Some(now), ..Window::default() };
        }
        match self.lines < most {
            true => {
                self.lines += 1;
                let reason = reason.message();
                let advice = advice(reason, Options::Messages).map(|advice| format!(" ({advice})")).unwrap_or_default();
                lines.push(format!("{} {what}: {}{advice}", format_rfc3339_seconds(time), visible(reason)));
            }
            false => self.silent += 1,
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn many_refusals_are_counted() {
        let reason = castile_wss::Error::of_key("a\nb");
        let (mut window, begun) = (Window::default(), Instant::now());
        let first = (0..15).flat_map(|_| window.lines(MAX_LINES, "refused", &reason, (UNIX_EPOCH, begun)));
        let (first, line): (Vec<_>, _) = (first.collect(), "1970-01-01T00:00:00Z refused: a\\nb");
        assert_eq!(first, vec![line; 10]);
        let mut after = |time| window.lines(MAX_LINES, "refused", &reason, (UNIX_EPOCH, begun + time));
        assert_eq!(after(Duration::from_millis(1_100)), ["and 5 more", line]);
        assert_eq!(after(Duration::from_secs(3)).len(), 1);
    }
}
