//! Examples in the folders of tests, compared with the output of the commands. `BLESS=1` rewrites them.
//!
//! An example is a file with commands, each in a line after `$ `, and their output: standard output, then standard error, then the exit
//! code if that isn't 0. Commands run in the folder of the file. `< FILE` at the end of a command is its standard input. `URL` is the
//! address of the server: the mock that the first command starts, or else `castile serve`. A mock ends after the last command, and then
//! prints the rest of its output, in which `TIME` is a time, and `N` how far it is from another one. `DIR` is a folder that is initially empty.
#![cfg(feature = "contracts")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

struct Server {
    child: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    /// Starts a server and returns it with its output so far. Returns the output as an error if the server ended.
    fn start(arguments: &[String], folder: &Path) -> Result<(Self, String), String> {
        let mut command = castile(arguments, folder);
        command.args(["--addr", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        while output.read_line(&mut printed).unwrap() > 0 {
            let url = printed.lines().find_map(|line| line.strip_prefix("listening on "));
            // The URLs of contracts follow, at least one.
            if let (Some(url), true) = (url, printed.ends_with("?wsdl\n")) {
                let url = url.trim_end_matches('/').to_owned();
                return Ok((Server { child, output, url }, printed));
            }
        }
        let status = child.wait().unwrap();
        child.stderr.take().unwrap().read_to_string(&mut printed).unwrap();
        Err(with_code(printed, status))
    }

    /// Ends the server and returns the rest of its output.
    fn end(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        let mut printed = String::new();
        self.output.read_to_string(&mut printed).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut printed).unwrap();
        with_code(printed, self.child.wait().unwrap())
    }
}

fn castile(arguments: &[String], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

fn with_code(printed: String, status: ExitStatus) -> String {
    match status.code() {
        Some(0) => printed,
        code => format!("{printed}exit code {}\n", code.unwrap()),
    }
}

#[test]
fn calls_print_as_expected() {
    let (server, _) = Server::start(&["serve".to_owned()], Path::new(".")).unwrap();
    check("call", Some(&server.url));
}

/// Measurements differ between runs, so these examples only show loads that are rejected before they begin.
#[test]
fn loads_reject_as_expected() {
    let (server, _) = Server::start(&["serve".to_owned()], Path::new(".")).unwrap();
    check("load", Some(&server.url));
}

#[test]
fn samples_print_as_expected() {
    check("sample", None);
}

#[test]
fn mocks_answer_as_expected() {
    check("mock", None);
}

#[test]
fn validations_print_as_expected() {
    check("validate", None);
}

#[test]
fn signatures_print_as_expected() {
    check("sign", None);
}

/// What is signed with OpenSSL, and what is said without it.
#[test]
fn signatures_of_openssl_print_as_expected() {
    let file = if cfg!(feature = "openssl") { "with.txt" } else { "without.txt" };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openssl");
    compare(vec![folder.join(file)], None);
}

/// Each example has a folder with an old and a new contract.
#[test]
fn diffs_print_as_expected() {
    let folders = entries("diff");
    assert!(folders.len() > 45);
    compare(folders.into_iter().map(|folder| folder.join("expected.txt")).collect(), None);
}

/// Each example has a folder with a contract. Folders for a rule have its name.
#[test]
fn lint_prints_as_expected() {
    let folders = entries("lint");
    assert!(folders.len() > 60);
    compare(folders.into_iter().map(|folder| folder.join("expected.txt")).collect(), None);
}

/// Compares the output of the examples in a folder with the expected output.
fn check(name: &str, url: Option<&str>) {
    let mut files = entries(name);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    assert!(files.len() > 5);
    compare(files, url);
}

/// Returns the entries of a folder of tests.
fn entries(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name);
    let mut entries: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn compare(files: Vec<PathBuf>, url: Option<&str>) {
    let mut different = Vec::new();
    for file in files {
        let expected = std::fs::read_to_string(&file).unwrap();
        let found = run(&expected, file.parent().unwrap(), url);
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&file, &found).unwrap();
        } else if found != expected {
            different.push(format!("{}:\n{found}", file.display()));
        }
    }
    assert!(different.is_empty(), "BLESS=1 writes them anew\n{}", different.join("\n"));
}

/// Runs the commands of an example. Returns the example with their output.
fn run(example: &str, folder: &Path, url: Option<&str>) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let scratch = scratch.path().to_str().unwrap();
    let mut url = url.map(str::to_owned);
    let mut mock = None;
    let mut found = String::new();
    for line in example.lines().filter(|line| line.starts_with("$ castile ")) {
        let mut arguments = words(line).split_off(2);
        for argument in &mut arguments {
            *argument = argument.replace("URL", url.as_deref().unwrap_or("URL")).replace("DIR", scratch);
        }
        let printed = match arguments[0].as_str() {
            "mock" => match Server::start(&arguments, folder) {
                Ok((server, printed)) => {
                    url = Some(server.url.clone());
                    mock = Some(server);
                    printed
                }
                Err(printed) => printed,
            },
            _ => {
                let input = arguments.iter().position(|argument| argument == "<").map(|at| arguments.split_off(at));
                let mut command = castile(&arguments, folder);
                if let Some([_, file]) = input.as_deref() {
                    command.stdin(File::open(folder.join(file)).unwrap());
                }
                let output = command.output().unwrap();
                let [told, noted] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
                with_code(told + &noted, output.status)
            }
        };
        found += &format!("{line}\n{printed}");
    }
    if let Some(mock) = mock {
        found += &without_times(&mock.end());
    }
    let found = url.map_or(found.clone(), |url| found.replace(&url, "URL"));
    found.replace(scratch, "DIR")
}

/// Replaces times, and how far they are from each other, which differ between runs.
fn without_times(text: &str) -> String {
    let is_time = |text: &str| {
        let is_like = |(found, pattern): (u8, u8)| found == pattern || pattern == b'0' && found.is_ascii_digit();
        text.len() > 19 && text.bytes().zip(*b"0000-00-00T00:00:00").all(is_like)
    };
    let (mut found, mut rest) = (String::new(), text);
    while let Some(at) = rest.char_indices().map(|(at, _)| at).find(|at| is_time(&rest[*at..])) {
        found += &format!("{}TIME", &rest[..at]);
        rest = rest[at..].split_once('Z').map_or("", |(_, rest)| rest);
        if let Some((away, after)) = rest.split_once(" s later")
            && away.trim_start_matches(", ").parse::<u64>().is_ok()
        {
            found += ", N s later";
            rest = after;
        }
    }
    found + rest
}

/// Splits a command line into words. Quoted words may contain spaces.
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
