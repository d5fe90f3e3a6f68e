//! The commands of the four tasks of docs/security.md, in a copy of recipes/security.
#![cfg(feature = "contracts")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What keys.sh and the commands need. The folder may also have what they have made.
const FILES: [&str; 7] =
    ["assertion.xml", "claims.wsdl", "device.wsdl", "invoice.xml", "keys.sh", "media.wsdl", "payments.wsdl"];

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

/// Returns the blocks of commands in the sections of the tasks.
fn blocks() -> Vec<String> {
    let document = std::fs::read_to_string(repository().join("docs/security.md")).unwrap();
    let start = document.find("\n## Sign a request for a bank\n").unwrap();
    let end = document.find("\n## What there is\n").unwrap();
    let mut blocks = Vec::new();
    for block in document[start..end].split("```console\n").skip(1) {
        blocks.push(block.split("```").next().unwrap().replace("\\\n", " "));
    }
    blocks
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
    for file in FILES {
        std::fs::copy(repository().join("recipes/security").join(file), folder.join(file)).unwrap();
    }
    let made = Command::new("sh").arg("keys.sh").current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let blocks = blocks();
    assert_eq!(blocks.len(), 4);
    for block in blocks {
        let mut mocks: Vec<Mock> = Vec::new();
        for command in block.split("$ castile ").skip(1) {
            let (line, expected) = command.split_once('\n').unwrap();
            let mut arguments = words(line);
            if arguments[0] == "mock" {
                mocks.push(Mock::start(arguments, folder));
                continue;
            }
            for (documented, real) in mocks.iter().map(|mock| &mock.addresses) {
                arguments.iter_mut().for_each(|argument| *argument = argument.replace(documented, real));
            }
            let output = castile(&arguments, folder).output().unwrap();
            let [told, noted] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
            assert!(output.status.success(), "{line}: {told}{noted}");
            if !expected.is_empty() {
                assert_eq!(told + &noted, expected, "{line}");
            }
        }
    }
    // What was extracted can be read alone.
    let invoice = std::fs::read_to_string(folder.join("invoice-17.xml")).unwrap();
    assert!(invoice.starts_with("<invoice xmlns=\"urn:example:invoices\" Id=\"invoice-17\">"), "{invoice}");
    assert!(!invoice.contains("Signature"), "{invoice}");
}
