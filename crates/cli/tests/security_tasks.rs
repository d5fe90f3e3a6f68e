//! The commands of docs/security.md in their order, in a copy of recipes/security.
#![cfg(feature = "contracts")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What keys.sh and the commands need. The folder may also have what they have made.
const FILES: [&str; 8] = [
    "assertion.xml",
    "camera/GetSystemDateAndTime.json",
    "claims.wsdl",
    "device.wsdl",
    "invoice.xml",
    "keys.sh",
    "media.wsdl",
    "payments.wsdl",
];

/// Where a mock listens by default.
const USUAL: &str = "127.0.0.1:8080";

struct Mock {
    child: Child,
    /// The address in the document, and that of the test.
    addresses: (String, String),
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the commands with their output, which is empty if it differs each time. Those that need OpenSSL's library are left out.
fn commands() -> Vec<(String, String)> {
    let document = std::fs::read_to_string(repository().join("docs/security.md")).unwrap();
    let mut commands = Vec::new();
    for block in document.split("```console\n").skip(1) {
        let block = format!("\n{}", block.split("```").next().unwrap().replace("\\\n", " "));
        if block.contains("$ cargo ") {
            continue;
        }
        for command in block.split("\n$ ").skip(1) {
            let (line, output) = command.split_once('\n').unwrap_or((command, ""));
            commands.push((line.to_owned(), output.trim_end().to_owned()));
        }
    }
    commands
}

fn castile(arguments: &[String], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

impl Mock {
    fn start(mut arguments: Vec<String>, folder: &Path) -> Self {
        let documented = match arguments.iter().position(|argument| argument == "--addr") {
            Some(at) => arguments.drain(at..at + 2).next_back().unwrap(),
            None => USUAL.to_owned(),
        };
        arguments.extend(["--addr", "127.0.0.1:0"].map(str::to_owned));
        let mut child = castile(&arguments, folder).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let url = lines.find_map(|line| line.strip_prefix("listening on http://").map(str::to_owned));
        Mock { child, addresses: (documented, url.unwrap().trim_end_matches('/').to_owned()) }
    }
}

/// Splits a command line into words. Quoted words are for the shell.
fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect()
}

#[test]
fn the_tasks_can_be_followed() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    std::fs::create_dir(folder.join("camera")).unwrap();
    for file in FILES {
        std::fs::copy(repository().join("recipes/security").join(file), folder.join(file)).unwrap();
    }
    let made = Command::new("sh").arg("keys.sh").current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut mocks: Vec<Mock> = Vec::new();
    let commands = commands();
    assert!(commands.len() > 25, "{commands:?}");
    for (line, expected) in commands {
        let mut arguments = words(&line);
        if arguments.remove(0) != "castile" {
            assert!(Command::new("sh").args(["-c", &line]).current_dir(folder).status().unwrap().success(), "{line}");
            continue;
        }
        if arguments[0] == "mock" {
            let mock = Mock::start(arguments, folder);
            // The earlier one has the same address.
            mocks.retain(|earlier| earlier.addresses.0 != mock.addresses.0);
            mocks.push(mock);
            continue;
        }
        for (documented, real) in mocks.iter().map(|mock| &mock.addresses) {
            arguments.iter_mut().for_each(|argument| *argument = argument.replace(documented, real));
        }
        let output = castile(&arguments, folder).output().unwrap();
        let [told, noted] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        let is_wrong = line.contains("altered.xml") || expected.contains("not valid");
        assert_eq!(output.status.code(), Some(i32::from(is_wrong)), "{line}: {told}{noted}");
        if !expected.is_empty() {
            assert_eq!((told + &noted).trim_end(), expected, "{line}");
        }
    }
    // What was extracted can be read alone.
    let invoice = std::fs::read_to_string(folder.join("invoice-17.xml")).unwrap();
    assert!(invoice.starts_with("<invoice xmlns=\"urn:example:invoices\" Id=\"invoice-17\">"), "{invoice}");
    assert!(!invoice.contains("Signature"), "{invoice}");
}
