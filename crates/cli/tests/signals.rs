//! Signals that ask a command to end.
#![cfg(target_os = "linux")]
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A process that ends with the test.
struct Running(Child);

impl Running {
    /// Starts a command in which this signal is ignored, or none. The test itself may have been started by `nohup`.
    fn start(ignored: Option<&str>, arguments: &[&str]) -> Self {
        let mut command = Command::new("env");
        command.arg("--default-signal=HUP,INT,TERM");
        command.args(ignored.map(|signal| format!("--ignore-signal={signal}")));
        command.arg(env!("CARGO_BIN_EXE_castile")).args(arguments);
        Running(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Starts a server, and waits until it listens.
    fn serve(ignored: Option<&str>) -> Self {
        let mut server = Running::start(ignored, &["serve", "--addr", "127.0.0.1:0"]);
        let mut line = String::new();
        BufReader::new(server.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        server
    }

    /// Sends a signal again and again: the process may not be ready for the first one. Returns how the process has ended, if it has within
    /// this time.
    fn signal(&mut self, signal: &str, time: Duration) -> Option<ExitStatus> {
        let begun = Instant::now();
        while begun.elapsed() < time {
            // It may have ended meanwhile.
            let _ = Command::new("kill").args(["-s", signal, &self.0.id().to_string()]).stderr(Stdio::null()).status();
            std::thread::sleep(Duration::from_millis(20));
            if let Some(status) = self.0.try_wait().unwrap() {
                return Some(status);
            }
        }
        None
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const LONG: Duration = Duration::from_secs(60);

/// `nohup castile …` once ended with its terminal, and `castile … &` in a script with the Ctrl-C for another program.
#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    for signal in ["HUP", "INT"] {
        let mut server = Running::serve(Some(signal));
        assert_eq!(server.signal(signal, Duration::from_secs(1)), None, "{signal}");
        assert!(server.signal("TERM", LONG).is_some(), "{signal}");
        let mut server = Running::serve(None);
        assert!(server.signal(signal, LONG).is_some(), "{signal}");
    }
}
