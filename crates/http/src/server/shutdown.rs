//! The result of a shutdown.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use castile_xml::excerpt;

/// The requests that [`Server::serve`](super::Server::serve) did not answer when it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use = "it lists the requests that were not answered"]
#[non_exhaustive]
pub struct Shutdown {
    /// The requests that were not answered within the grace time, in no particular order.
    pub cut_off: Vec<CutOff>,
    /// How many more connections could not be closed, because a handler blocked its thread. Their requests are unknown.
    pub stuck: usize,
}

impl Shutdown {
    /// Returns whether every request was answered.
    pub fn is_complete(&self) -> bool {
        self.cut_off.is_empty() && self.stuck == 0
    }
}

/// A request that was not answered within the grace time of a shutdown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutOff {
    /// The path of the target, as the client wrote it.
    pub path: String,
    /// The action in the head, as the client wrote it: `SOAPAction`, or the `action` of the media type.
    pub action: Option<String>,
    /// The time since the head was read.
    pub elapsed: Duration,
}

/// Shows one line. Text from clients is escaped and shortened.
impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 200;
        f.write_str(&excerpt(&self.path, SHOWN))?;
        if let Some(action) = &self.action {
            write!(f, " {}", excerpt(action, SHOWN))?;
        }
        write!(f, " after {:.1} s", self.elapsed.as_secs_f64())
    }
}

/// The list to which connections add requests that are cut off.
#[derive(Debug, Default)]
pub(super) struct CutOffs(Mutex<Vec<CutOff>>);

impl CutOffs {
    pub(super) fn add(&self, cut_off: CutOff) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(cut_off);
    }

    pub(super) fn take(&self) -> Vec<CutOff> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_off_request_is_one_escaped_line() {
        let mut cut_off = CutOff { path: "/a".into(), action: None, elapsed: Duration::from_millis(1_260) };
        assert_eq!(cut_off.to_string(), "/a after 1.3 s");
        cut_off.action = Some("\u{9b}2J\n".to_owned() + &"x".repeat(1_000));
        let line = cut_off.to_string();
        assert!(line.starts_with("/a \\u{9b}2J\\nxxx") && line.ends_with("x… (805 more bytes) after 1.3 s"), "{line}");
    }
}
