//! A client that others wrote, as a process of its own: it calls when it is told to, so that what its calls take can be measured.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, channel};

use crate::{Error, ErrorKind, Placement, Process, Server, usage};

/// A client process, which reads numbers from its standard input, a line for each. It makes so many calls, one after the other over
/// one connection, looks at every answer, and prints how many items the answers had in all. It ends with its input, and
/// when an answer is wrong. Dropping it ends it, as a [`Server`] is ended.
#[derive(Debug)]
pub struct Caller {
    name: String,
    // Closed first: a client ends by itself then.
    input: ChildStdin,
    lines: Receiver<String>,
    process: Process,
}

/// The most bytes of a line that a client says.
const LONGEST: u64 = 1 << 10;

/// What so many calls took.
#[derive(Clone, Copy, Debug)]
pub struct Lap {
    /// How many calls there were.
    pub calls: u64,
    /// How many items their answers had.
    pub items: u64,
    /// From the word to begin to that of the end.
    pub time: Duration,
    /// User and system time of the client and of all that it started; `None` where it isn't measured.
    pub cpu: Option<Duration>,
    /// User and system time of the server; `None` where it isn't measured.
    pub server_cpu: Option<Duration>,
}

impl Lap {
    /// Calls in a second.
    pub fn rate(&self) -> f64 {
        self.calls as f64 / self.time.as_secs_f64()
    }
}

impl Caller {
    /// Starts a client, of this name in messages, on the driver's cores. The thread that calls this runs there afterwards.
    ///
    /// # Errors
    /// That it can't be started.
    pub fn start(name: &str, mut command: Command, placement: &Placement) -> Result<Caller, Error> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        placement.enter_driver()?;
        let mut process = Process::start(name, command)?;
        let (input, output) = (process.child().stdin.take(), process.child().stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(Error::new(ErrorKind::Client, format!("{name} has no input or output")));
        };
        // One line answers one word: whoever says more waits.
        let (send, lines) = channel(1);
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut next = || {
                let mut line = String::new();
                let read = (&mut output).take(LONGEST).read_line(&mut line).ok()?;
                (read > 0).then_some(line)
            };
            // Ends when the client has, or when nobody listens any more.
            while let Some(line) = next()
                && send.blocking_send(line).is_ok()
            {}
        });
        Ok(Caller { name: name.to_owned(), input, lines, process })
    }

    /// Has it make so many calls of this server.
    ///
    /// # Errors
    /// That it ended, as it does when an answer is wrong; that it said something else than a number, or nothing within the limit, or
    /// something that it wasn't asked.
    pub async fn call(&mut self, calls: u64, server: &Server, limit: Duration) -> Result<Lap, Error> {
        let name = &self.name;
        if let Ok(line) = self.lines.try_recv() {
            let line = line.trim_end();
            return Err(Error::new(ErrorKind::Client, format!("{name} said {line:?} before it was told to call")));
        }
        let process = self.process.id();
        let used = || (usage::cpu_time(process), usage::cpu_time(server.id()));
        let (cpu, server_cpu) = used();
        let begun = Instant::now();
        // One that has ended doesn't read; why it has is found out below.
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
            Error::new(ErrorKind::Client, format!("{name} said {line:?}, expected how many items its answers had"))
        })?;
        let since = |before: Option<Duration>, after: Option<Duration>| after?.checked_sub(before?);
        let [cpu, server_cpu] = [since(cpu, cpu_after), since(server_cpu, server_cpu_after)];
        Ok(Lap { calls, items, time, cpu, server_cpu })
    }

    /// The most memory that it, and each process that it started, has had resident, in bytes.
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
    async fn a_client_calls_when_it_is_told_to() {
        let (mut caller, server) = shell("while read calls; do echo $((calls * 3)); done").unwrap();
        for calls in [1, 40] {
            let lap = caller.call(calls, &server, LIMIT).await.unwrap();
            assert_eq!((lap.calls, lap.items), (calls, calls * 3));
            assert!(lap.rate() > 0.0 && (lap.cpu.is_some() || cfg!(not(target_os = "linux"))), "{lap:?}");
        }
    }

    #[tokio::test]
    async fn a_client_that_says_more_than_it_is_asked_is_told() {
        let (mut caller, server) = shell("while echo 7; do :; done").unwrap();
        let begun = Instant::now();
        let error = loop {
            // What it says may come a little later than the word.
            match caller.call(7, &server, LIMIT).await {
                Err(error) => break error,
                Ok(lap) => assert!(lap.items == 7 && begun.elapsed() < LIMIT),
            }
        };
        assert_eq!(error.to_string(), "client said \"7\" before it was told to call");
    }

    #[tokio::test]
    async fn what_a_client_does_wrong_is_told() {
        let cases = [
            ("exit 1", LIMIT, "client ended before it had made 7 calls"),
            ("read calls; echo seven", LIMIT, "client said \"seven\", expected how many items its answers had"),
            ("exec sleep 60", Duration::from_millis(50), "client didn't make 7 calls within 0 s"),
        ];
        for (script, limit, expected) in cases {
            let (mut caller, server) = shell(script).unwrap();
            let error = caller.call(7, &server, limit).await.unwrap_err();
            assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::Client, expected));
        }
    }
}
