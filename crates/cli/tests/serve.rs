//! A server that is asked to end says what it left undone.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
        command.args(["serve", "--addr", "127.0.0.1:0"]).args(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.as_mut().unwrap());
        output.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
        Served { child, address }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// Sends SIGTERM, and gives the exit code and what is said on standard error.
    fn terminate(mut self) -> (i32, String) {
        let killed = Command::new("kill").arg(self.child.id().to_string()).status().unwrap();
        assert!(killed.success());
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (self.child.wait().unwrap().code().unwrap(), errors)
    }
}

#[test]
fn a_shutdown_that_cuts_a_request_off_says_which_and_fails() {
    let served = Served::start(&["--grace", "1s"]);
    let mut client = served.connect();
    let head = "POST /wstest HTTP/1.1\r\nHost: h\r\nContent-Type: text/xml\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n";
    client.write_all(head.as_bytes()).unwrap();
    // Leave to send says that the request is at work.
    let mut leave = [0; 12];
    client.read_exact(&mut leave).unwrap();
    assert_eq!(&leave, b"HTTP/1.1 100");
    let (code, errors) = served.terminate();
    assert_eq!(code, 3, "{errors}");
    assert!(errors.starts_with("warning: 1 request cut off after 1s\n  /wstest after "), "{errors}");
}

#[test]
fn a_shutdown_that_cuts_nothing_off_succeeds() {
    let served = Served::start(&[]);
    let mut client = served.connect();
    client.write_all(b"GET /wstest?wsdl HTTP/1.1\r\nHost: evil.example\r\n\r\n").unwrap();
    let mut contract = String::new();
    let mut answer = BufReader::new(&client);
    while !contract.contains("</wsdl:definitions>") && !contract.contains("</definitions>") {
        assert!(answer.read_line(&mut contract).unwrap() > 0, "{contract}");
    }
    assert!(
        contract.contains(&format!("http://{}/wstest", served.address)) && !contract.contains("evil"),
        "{contract}"
    );
    let (code, errors) = served.terminate();
    assert_eq!((code, errors.as_str()), (0, ""));
}
