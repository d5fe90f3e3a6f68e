//! A process that somebody else's program becomes, with all that it starts: none of them outlives whoever holds it.

use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::{Error, ErrorKind};

/// How long a process may take to end when it is asked to.
const STOP_LIMIT: Duration = Duration::from_secs(3);
/// How often is looked whether it has.
const LOOK: Duration = Duration::from_millis(5);

/// A process that leads a group of its own. Dropping it ends the group: first asked (SIGTERM), then forced.
///
/// ```no_run
/// # fn main() -> Result<(), castile_load::Error> {
/// let mut sleep = std::process::Command::new("sleep");
/// sleep.arg("60");
/// let mut process = castile_load::Process::start("sleep", sleep)?;
/// assert!(process.ended().is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    status: Option<ExitStatus>,
}

impl Process {
    /// Starts a program, of this name in messages.
    ///
    /// # Errors
    /// That it can't be started.
    pub fn start(name: &str, mut command: Command) -> Result<Process, Error> {
        // Ctrl-C goes to a whole process group; this one is to end when it is let go of, and with all that it started.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .spawn()
            .map_err(|error| Error::new(ErrorKind::Server, format!("{name} can't be started")).because(error))?;
        Ok(Process { name: name.to_owned(), child, status: None })
    }

    /// How it ended, if it has. What it had started and left behind is ended then.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.status = Some(status);
            // Its id is free now, but not as that of a group as long as one is left in it. Later it may be another's.
            end_group(self.child.id());
        }
        self.status
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Says how it ended, if it has: nobody asked it to.
    pub(crate) fn check_running(&mut self) -> Result<(), Error> {
        match self.ended() {
            Some(status) => {
                Err(Error::new(ErrorKind::Server, format!("{} ended before its time ({status})", self.name)))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn has_ended_within(&mut self, limit: Duration) -> bool {
        let start = Instant::now();
        loop {
            if self.ended().is_some() {
                return true;
            }
            if start.elapsed() >= limit {
                return false;
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended().is_some() {
            return;
        }
        if group::ask_to_end(self.child.id()) && self.has_ended_within(STOP_LIMIT) {
            return;
        }
        group::force_to_end(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Others of the group heard it, too, and come to it when they get a processor.
        is_gone_within(STOP_LIMIT, self.child.id());
    }
}

/// Ends what is left of a group whose leader is gone.
fn end_group(id: u32) {
    if group::ask_to_end(id) && !is_gone_within(STOP_LIMIT, id) {
        group::force_to_end(id);
        is_gone_within(STOP_LIMIT, id);
    }
}

fn is_gone_within(limit: Duration, id: u32) -> bool {
    let start = Instant::now();
    while group::is_left(id) {
        if start.elapsed() >= limit {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}

/// Signals to all of the group that a process leads; whether there was any to hear them.
#[cfg(unix)]
mod group {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    pub(super) fn ask_to_end(leader: u32) -> bool {
        signal(leader, Some(Signal::SIGTERM))
    }

    pub(super) fn force_to_end(leader: u32) {
        signal(leader, Some(Signal::SIGKILL));
    }

    pub(super) fn is_left(leader: u32) -> bool {
        signal(leader, None)
    }

    fn signal(leader: u32, signal: Option<Signal>) -> bool {
        i32::try_from(leader).is_ok_and(|id| killpg(Pid::from_raw(id), signal).is_ok())
    }
}

/// Where there are no groups, a process is ended alone.
#[cfg(not(unix))]
mod group {
    pub(super) fn ask_to_end(_leader: u32) -> bool {
        false
    }

    pub(super) fn force_to_end(_leader: u32) {}

    pub(super) fn is_left(_leader: u32) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;

    use super::*;

    /// A shell that has started another program, whose id it has told.
    #[allow(clippy::unwrap_used, reason = "only tests come here")]
    fn with_child(script: &str) -> (Process, u32) {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).stdout(Stdio::piped());
        let mut process = Process::start("sh", shell).unwrap();
        let mut line = String::new();
        BufReader::new(process.child().stdout.take().unwrap()).read_line(&mut line).unwrap();
        (process, line.trim().parse().unwrap())
    }

    /// One that has ended may wait for whoever began it, who is none of us.
    fn runs(process: u32) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        state.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    #[test]
    fn what_a_process_started_ends_with_it() {
        let (process, child) = with_child("sleep 60 & echo $!; wait");
        assert!(runs(child));
        drop(process);
        assert!(!runs(child));
    }

    #[test]
    fn what_a_process_left_behind_ends_when_it_is_gone() {
        let (mut process, child) = with_child("sleep 60 & echo $!; exit 3");
        assert!(process.has_ended_within(Duration::from_secs(10)));
        assert_eq!(process.ended().and_then(|status| status.code()), Some(3));
        assert!(!runs(child));
    }

    #[test]
    fn who_does_not_listen_is_forced() {
        let (process, child) =
            with_child("trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $!; wait; wait");
        drop(process);
        assert!(!runs(child));
    }
}
