//! A child process and all that it starts. They are ended when their holder is dropped.

use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::{Error, ErrorKind};

/// How long a process may take to exit after it was asked to.
const STOP_LIMIT: Duration = Duration::from_secs(3);
/// How often to check whether it has exited.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A process that leads its own process group. Dropping it ends the group: first with SIGTERM, then with SIGKILL.
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
    /// Starts a program; `name` is used in messages.
    ///
    /// # Errors
    /// The program can't be started.
    pub fn start(name: &str, mut command: Command) -> Result<Process, Error> {
        // Ctrl-C signals a whole process group. This process has its own group, which is ended together with all that
        // it started when the `Process` is dropped.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .spawn()
            .map_err(|error| Error::new(ErrorKind::Server, format!("{name} can't be started")).because(error))?;
        Ok(Process { name: name.to_owned(), child, status: None })
    }

    /// Returns the exit status if the process has exited. In that case, also ends what it started and left running.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.status.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.status = Some(status);
            // The process id is free now, but not as a group id while the group has members. Later it may belong to
            // another process.
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

    /// Returns an error with the exit status if the process has exited, since it was not asked to.
    pub(crate) fn check_running(&mut self) -> Result<(), Error> {
        match self.ended() {
            Some(status) => Err(Error::new(ErrorKind::Server, format!("{} ended too early ({status})", self.name))),
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
            std::thread::sleep(POLL_INTERVAL);
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
        // The other members of the group got the signal too, and need some time to handle it.
        is_gone_within(STOP_LIMIT, self.child.id());
    }
}

/// Ends what is left of a group whose leader has exited.
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
        std::thread::sleep(POLL_INTERVAL);
    }
    true
}

/// Signals all members of a process group. Returns whether there were any.
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

/// On systems without process groups, only the process itself is ended.
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

    /// Starts a shell that has started another program and printed its id.
    #[allow(clippy::unwrap_used, reason = "only tests come here")]
    fn with_child(script: &str) -> (Process, u32) {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).stdout(Stdio::piped());
        let mut process = Process::start("sh", shell).unwrap();
        let mut line = String::new();
        BufReader::new(process.child().stdout.take().unwrap()).read_line(&mut line).unwrap();
        (process, line.trim().parse().unwrap())
    }

    /// An exited process may be a zombie until its parent, which is not this test, has waited for it.
    fn runs(process: u32) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        state.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    #[test]
    fn child_processes_end_with_their_parent() {
        let (process, child) = with_child("sleep 60 & echo $!; wait");
        assert!(runs(child));
        drop(process);
        assert!(!runs(child));
    }

    #[test]
    fn orphaned_child_processes_are_ended() {
        let (mut process, child) = with_child("sleep 60 & echo $!; exit 3");
        assert!(process.has_ended_within(Duration::from_secs(10)));
        assert_eq!(process.ended().and_then(|status| status.code()), Some(3));
        assert!(!runs(child));
    }

    #[test]
    fn processes_that_ignore_signals_are_killed() {
        let (process, child) =
            with_child("trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $!; wait; wait");
        drop(process);
        assert!(!runs(child));
    }
}
