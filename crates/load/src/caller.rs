//! A client program of another project, run as a process of its own. It makes calls on request, so that they can be measured.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, channel};

use crate::{Error, ErrorKind, Placement, Process, Server, usage};
use castile_report::Lap;

/// A client process that reads numbers from its standard input, one per line. For each number it makes that many calls, one after
/// the other over one connection. It checks every answer and then prints how many items the answers had in total. It exits when its
/// input ends, or when an answer is wrong. Dropping the `Caller` ends the process, as dropping a [`Server`] does.
#[derive(Debug)]
pub struct Caller {
    name: String,
    // Dropped first: closing its input makes a client exit by itself.
    input: ChildStdin,
    lines: Receiver<String>,
    process: Process,
}

/// The longest line that is read from a client, in bytes.
const MAX_LINE_LENGTH: u64 = 1 << 10;

impl Caller {
    /// Starts a client on the driver's cores; `name` is used in messages. The calling thread runs on those cores afterwards.
    ///
    /// # Errors
    /// The program can't be started.
    pub fn start(name: &str, mut command: Command, placement: &Placement) -> Result<Caller, Error> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        placement.enter_driver()?;
        let mut process = Process::start(name, command)?;
        let (input, output) = (process.child().stdin.take(), process.child().stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(Error::new(ErrorKind::Client, format!("{name} has no input or output")));
        };
        // One line answers each request. A client that prints more is blocked.
        let (send, lines) = channel(1);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut next = || {
                let mut line = String::new();
                let read = (&mut output).take(MAX_LINE_LENGTH).read_line(&mut line).ok()?;
                (read > 0).then_some(line)
            };
            // Ends when the client exits, or when the receiver is dropped.
            while let Some(line) = next()
                && send.blocking_send(line).is_ok()
            {}
        });
        Ok(Caller { name: name.to_owned(), input, lines, process })
    }

    /// Makes the client call this server so many times.
    ///
    /// # Errors
    /// The client exited, as it does when an answer is wrong. It printed something other than a number, or printed without being
    /// asked. It took longer than the limit.
    pub async fn call(&mut self, calls: u64, server: &Server, limit: Duration) -> Result<Lap, Error> {
        let name = &self.name;
        if let Ok(line) = self.lines.try_recv() {
            let line = line.trim_end();
            return Err(Error::new(ErrorKind::Client, format!("{name} printed {line:?} before it was asked to call")));
        }
        let process = self.process.id();
        let used = || (usage::cpu_time(process), usage::cpu_time(server.id()));
        let (cpu, server_cpu) = used();
        let begun = Instant::now();
        // A client that has exited doesn't read; the reason is found below.
        let _ = writeln!(self.input, "{calls}").and_then(|()| self.input.flush());
        let said = tokio::time::timeout(limit, self.lines.recv()).await;
        let time = begun.elapsed();
        let (cpu_after, server_cpu_after) = used();
        let Ok(said) = said else {
            let limit = limit.as_secs();
            return Err(Error::new(ErrorKind::Client, format!("{name} didn't make {calls} calls within {limit} s")));
        };
        let Some(line) = said else {
            return Err(Error::new(ErrorKind::Client, format!("{name} ended before it had made {calls} calls")));
        };
        let line = line.trim_end();
        let items = line.parse().map_err(|_| {
            Error::new(
                ErrorKind::Client,
                format!("{name} printed {line:?}, expected the number of items in its answers"),
            )
        })?;
        let since = |before: Option<Duration>, after: Option<Duration>| after?.checked_sub(before?);
        let [cpu, server_cpu] = [since(cpu, cpu_after), since(server_cpu, server_cpu_after)];
        Ok(Lap { calls, items, time, cpu, server_cpu })
    }

    /// Returns the peak resident memory of the client and each process it started, in bytes.
    pub fn peak_memory(&self) -> Option<u64> {
        usage::peak_memory(self.process.id())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    fn shell(script: &str) -> Result<(Caller, Server), Error> {
        let sh = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        let server = sh("echo listening on http://127.0.0.1:9; exec sleep 60");
        let server = Server::start("server", server, &Placement::free())?;
        Ok((Caller::start("client", sh(script), &Placement::free())?, server))
    }

    #[tokio::test]
    async fn a_client_calls_on_request() {
        let (mut caller, server) = shell("while read calls; do echo $((calls * 3)); done").unwrap();
        for calls in [1, 40] {
            let lap = caller.call(calls, &server, LIMIT).await.unwrap();
            assert_eq!((lap.calls, lap.items), (calls, calls * 3));
            assert!(lap.rate() > 0.0 && (lap.cpu.is_some() || cfg!(not(target_os = "linux"))), "{lap:?}");
        }
    }

    #[tokio::test]
    async fn unexpected_output_of_a_client_is_an_error() {
        let (mut caller, server) = shell("while echo 7; do :; done").unwrap();
        let begun = Instant::now();
        let error = loop {
            // Unasked output may arrive shortly after the request.
            match caller.call(7, &server, LIMIT).await {
                Err(error) => break error,
                Ok(lap) => assert!(lap.items == 7 && begun.elapsed() < LIMIT),
            }
        };
        assert_eq!(error.to_string(), "client printed \"7\" before it was asked to call");
    }

    #[tokio::test]
    async fn errors_of_a_client_are_reported() {
        let cases = [
            ("exit 1", LIMIT, "client ended before it had made 7 calls"),
            ("read calls; echo seven", LIMIT, "client printed \"seven\", expected the number of items in its answers"),
            ("exec sleep 60", Duration::from_millis(50), "client didn't make 7 calls within 0 s"),
        ];
        for (script, limit, expected) in cases {
            let (mut caller, server) = shell(script).unwrap();
            let error = caller.call(7, &server, limit).await.unwrap_err();
            assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::Client, expected));
        }
    }
}
