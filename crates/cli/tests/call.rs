//! `castile call`: what it prints for the calls in tests/call. `URL` stands for the address of a server of `castile serve`.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

mod examples;

use std::io::{BufRead, BufReader};
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
    let (_server, url) = served();
    examples::check("call", &[("URL", &url)]);
}
