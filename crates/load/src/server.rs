//! The server under test, as a process of its own that never outlives its measurement.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::{Endpoint, Error, ErrorKind, Placement};

/// What a server prints before the URL at which it listens.
const LISTENING: &str = "listening on ";
/// How long a server may take until it listens.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long a server may take to end when it is asked to.
const STOP_LIMIT: Duration = Duration::from_secs(3);

/// A server process that listens. Dropping it ends it: by its id, first asked (SIGTERM), then forced.
#[derive(Debug)]
pub struct Server {
    process: Process,
    endpoint: Endpoint,
}

impl Server {
    /// Starts a server, of this name in messages, on the cores that are its own, and waits until it prints `listening on http://HOST:PORT`.
    ///
    /// The thread that calls this runs on the driver's cores afterwards.
    pub fn start(name: &str, mut command: Command, placement: &Placement) -> Result<Server, Error> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C goes to a whole process group; the server is to end when its measurement has let go of it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        placement.enter_server()?;
        let spawned = command.spawn();
        placement.enter_driver()?;
        let mut child = spawned
            .map_err(|error| Error::new(ErrorKind::Server, format!("{name} can't be started")).because(error))?;
        let output = child.stdout.take();
        let stdin = child.stdin.take();
        let mut process = Process { name: name.to_owned(), child, _stdin: stdin };
        match output.and_then(wait_for_url) {
            Some(url) => Ok(Server { process, endpoint: Endpoint::resolve(&url)? }),
            None => {
                // One that has just closed its output may need a moment to have ended.
                process.has_ended_within(Duration::from_millis(200));
                process.check_running()?;
                let limit = START_LIMIT.as_secs();
                Err(Error::new(ErrorKind::Server, format!("{name} did not print \"{LISTENING}URL\" within {limit} s")))
            }
        }
    }

    /// Where the server listens.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.process.child.id()
    }

    /// Says how the server ended, if it has: nobody asked it to.
    pub fn check_running(&mut self) -> Result<(), Error> {
        self.process.check_running()
    }
}

#[derive(Debug)]
struct Process {
    name: String,
    child: Child,
    /// Held open: a server that watches its standard input learns from it that we are gone, however we went.
    _stdin: Option<ChildStdin>,
}

impl Process {
    fn check_running(&mut self) -> Result<(), Error> {
        match self.child.try_wait() {
            Ok(Some(status)) => {
                Err(Error::new(ErrorKind::Server, format!("{} ended before its time ({status})", self.name)))
            }
            _ => Ok(()),
        }
    }

    fn has_ended_within(&mut self, limit: Duration) -> bool {
        let start = Instant::now();
        loop {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return true;
            }
            if start.elapsed() >= limit {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An ended child is not signalled: its id may be another's by now.
        if self.has_ended_within(Duration::ZERO) {
            return;
        }
        if ask_to_end(self.child.id()) && self.has_ended_within(STOP_LIMIT) {
            return;
        }
        force_to_end(self.child.id());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(unix)]
fn ask_to_end(process: u32) -> bool {
    signal(process, nix::sys::signal::Signal::SIGTERM)
}

#[cfg(unix)]
fn force_to_end(process: u32) {
    signal(process, nix::sys::signal::Signal::SIGKILL);
}

/// To the whole group that a server's process leads, since some servers are several processes.
#[cfg(unix)]
fn signal(process: u32, signal: nix::sys::signal::Signal) -> bool {
    use nix::sys::signal::killpg;
    use nix::unistd::Pid;

    i32::try_from(process).is_ok_and(|id| killpg(Pid::from_raw(id), signal).is_ok())
}

#[cfg(not(unix))]
fn ask_to_end(_process: u32) -> bool {
    false
}

#[cfg(not(unix))]
fn force_to_end(_process: u32) {}

/// Reads the output on a thread of its own, which goes on reading so that the server never waits for a reader.
fn wait_for_url(output: impl Read + Send + 'static) -> Option<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut send = Some(send);
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some(url) = line.trim().strip_prefix(LISTENING)
                && let Some(send) = send.take()
            {
                // Nobody waits any more when it took too long.
                let _ = send.send(url.to_owned());
            }
        }
    });
    receive.recv_timeout(START_LIMIT).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Server, Error> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Server::start("test", command, &Placement::free())
    }

    #[test]
    fn a_server_ends_with_its_measurement() {
        let server = shell("echo starting; echo listening on http://127.0.0.1:9; exec sleep 60").unwrap();
        assert_eq!(server.endpoint().authority, "127.0.0.1:9");
        let process = i32::try_from(server.id()).unwrap();
        drop(server);
        // The process has been waited for, so its id is free.
        assert!(nix::sys::signal::kill(nix::unistd::Pid::from_raw(process), None).is_err());
    }

    #[test]
    fn a_server_that_fails_says_so() {
        let error = shell("exit 3").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Server);
        assert!(error.to_string().contains("exit status: 3"), "{error}");
    }
}
