//! `castile call`: what it prints for the calls in tests/call, which `BLESS=1` writes anew.
//!
//! The first lines of a file are the arguments, behind `$ castile call`; what follows is standard output, then standard error, then the
//! exit code. `URL` stands for the address of a server of `castile serve`.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running server, and its URL.
fn served() -> (Server, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    command.args(["serve", "--addr", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.map(Result::unwrap).find_map(|line| {
        let (_, url) = line.split_once("listening on ")?;
        Some(url.split(' ').next()?.trim_end_matches('/').to_owned())
    });
    (Server(child), url.unwrap())
}

#[test]
fn what_calls_print() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/call");
    let (_server, url) = served();
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert!(files.len() > 5);
    let mut different = Vec::new();
    for file in files {
        let expected = std::fs::read_to_string(&file).unwrap();
        let (first, _) = expected.split_once('\n').unwrap_or((&expected, ""));
        let arguments = first.strip_prefix("$ castile call ").unwrap();
        let arguments: Vec<String> = words(arguments).iter().map(|word| word.replace("URL", &url)).collect();
        let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
        let output = command.arg("call").args(&arguments).current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        let [told, noted] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap().replace(&url, "URL"));
        let code = output.status.code().unwrap();
        let found = format!("{first}\n{told}{noted}exit code {code}\n");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &found).unwrap();
        } else if found != expected {
            different.push(format!("{}:\n{found}", file.display()));
        }
    }
    assert!(different.is_empty(), "BLESS=1 writes them anew\n{}", different.join("\n"));
}

/// The words of a shell, of which those in quotes may have blanks.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in text.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}
