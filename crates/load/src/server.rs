//! The server under test, as a separate process that is ended with its measurement.

use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::{Endpoint, Error, ErrorKind, Placement, Process, Tls};

/// The text before the URL that a server prints when it listens.
const LISTENING: &str = "listening on ";
/// How long a server may take until it listens.
const START_LIMIT: Duration = Duration::from_secs(60);

/// A server process that listens. Dropping it ends the process and all that it started.
#[derive(Debug)]
pub struct Server {
    process: Process,
    endpoint: Endpoint,
    started: Instant,
    /// Held open. A server that watches its standard input detects that the driver is gone, even if it was killed.
    _stdin: Option<ChildStdin>,
}

impl Server {
    /// Starts a server on its own cores and waits until it prints `listening on http://HOST:PORT`; `name` is used in messages.
    ///
    /// The calling thread runs on the driver's cores afterwards.
    pub fn start(name: &str, command: Command, placement: &Placement) -> Result<Server, Error> {
        Server::start_at(name, command, placement, Endpoint::resolve)
    }

    /// Starts a server that may print an `https` URL, which is reached with `tls`.
    pub fn start_with(
        name: &str,
        command: Command,
        placement: &Placement,
        tls: &Arc<dyn Tls>,
    ) -> Result<Server, Error> {
        Server::start_at(name, command, placement, |url| Endpoint::resolve_with(url, tls))
    }

    fn start_at(
        name: &str,
        mut command: Command,
        placement: &Placement,
        resolve: impl FnOnce(&str) -> Result<Endpoint, Error>,
    ) -> Result<Server, Error> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        placement.enter_server()?;
        let started = Instant::now();
        let process = Process::start(name, command);
        placement.enter_driver()?;
        let mut process = process?;
        let output = process.child().stdout.take();
        let stdin = process.child().stdin.take();
        match output.and_then(wait_for_url) {
            Some(url) => Ok(Server { process, endpoint: resolve(&url)?, started, _stdin: stdin }),
            None => {
                // A server that has just closed its output may need a moment to exit.
                process.has_ended_within(Duration::from_millis(200));
                process.check_running()?;
                let limit = START_LIMIT.as_secs();
                Err(Error::new(ErrorKind::Server, format!("{name} didn't print \"{LISTENING}URL\" within {limit} s")))
            }
        }
    }

    /// Returns the endpoint at which the server listens.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the id of its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Returns an error with the exit status if the server has exited, since it was not asked to.
    pub fn check_running(&mut self) -> Result<(), Error> {
        self.process.check_running()
    }

    /// Returns how long ago the process was started.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Reads the output on a separate thread, which continues after the URL, so that the server is never blocked on its output.
fn wait_for_url(output: impl Read + Send + 'static) -> Option<String> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut send = Some(send);
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some(url) = line.trim().strip_prefix(LISTENING)
                && let Some(send) = send.take()
            {
                // The receiver is dropped after the time limit.
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
    fn a_failing_server_is_reported() {
        let error = shell("exit 3").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Server);
        assert!(error.to_string().contains("exit status: 3"), "{error}");
    }
}
