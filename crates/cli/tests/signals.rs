//! Signals that ask a command to end: those that were ignored when it started, and those that come when the measurement is over.
#![cfg(target_os = "linux")]
#![cfg(feature = "contracts")]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader};
use std::path::Path;
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

    /// Starts a server, and waits until it listens. Returns it with its address.
    fn serve(ignored: Option<&str>, tls: &[&str]) -> (Self, String) {
        let mut server = Running::start(ignored, &[&["serve", "--addr", "127.0.0.1:0"], tls].concat());
        let mut line = String::new();
        BufReader::new(server.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().unwrap().to_owned();
        (server, address)
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
    let tls = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tls/bench");
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| tls.join(name).display().to_string());
    let tls = ["--tls-cert", &certificate, "--tls-key", &key];
    // With TLS, SIGHUP reads the certificate anew.
    for (signal, more) in [("HUP", &[][..]), ("INT", &[]), ("INT", &tls)] {
        let (mut server, _) = Running::serve(Some(signal), more);
        assert_eq!(server.signal(signal, Duration::from_secs(1)), None, "{signal} {more:?}");
        assert!(server.signal("TERM", LONG).is_some(), "{signal} {more:?}");
        let (mut server, _) = Running::serve(None, more);
        assert!(server.signal(signal, LONG).is_some(), "{signal} {more:?}");
    }
}

/// A report that could not be written once could not be given up either.
#[test]
fn a_signal_ends_a_command_that_writes_its_report() {
    let (_server, address) = Running::serve(None, &[]);
    let directory = tempfile::tempdir().unwrap();
    let [out, pipe] = ["out", "pipe"].map(|name| directory.path().join(name).display().to_string());
    // Nobody reads it.
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let contract = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites/contracts/wstest.wsdl");
    let (contract, url) = (contract.to_str().unwrap(), format!("http://{address}/wstest"));
    let load = ["load", contract, "--url", &url, "--operation", "EchoVoid", "--requests", "8", "--out", &out];
    let load = [&load[..], &["--json", &pipe]].concat();
    let bench = ["bench", "wstest", "--op", "EchoVoid", "--url", &url, "--no-floor", "--duration", "100ms"];
    let bench = [&bench[..], &["--warmup", "0", "--out", &out, "--csv", &pipe]].concat();
    for arguments in [&load, &[&load[..], &["--workers", "2"]].concat(), &bench] {
        for signal in ["INT", "TERM"] {
            let mut command = Running::start(None, arguments);
            let (begun, page) = (Instant::now(), Path::new(&out).join("index.html"));
            while !page.exists() {
                assert!(begun.elapsed() < LONG, "{arguments:?}");
                std::thread::sleep(Duration::from_millis(10));
            }
            assert_eq!(command.signal(signal, LONG).unwrap().code(), Some(3), "{arguments:?}");
            std::fs::remove_dir_all(&out).unwrap();
        }
    }
}
