//! `castile mock` with requests other than the examples.
#![cfg(feature = "contracts")]
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "only tests come here")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

const CONTRACT: &str = "../codegen/tests/features/wildcards/service.wsdl";
const RULES: &str =
    "[[rule]]\noperation = \"echo\"\nxpath = \"/soap:Envelope\"\nfault = { code = \"Sender\", reason = \"hit\" }\n";

struct Mock {
    child: Child,
    /// The address of the server, and the path of the service.
    host: String,
    path: String,
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Mock {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_castile"));
        command.args(["mock", CONTRACT, "--addr", "127.0.0.1:0"]).args(arguments).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.find(|line| line.as_ref().unwrap().ends_with("?wsdl")).unwrap().unwrap();
        let url = line.trim().strip_prefix("http://").unwrap().strip_suffix("?wsdl").unwrap();
        let (host, path) = url.split_once('/').unwrap();
        Mock { child, host: host.to_owned(), path: format!("/{path}") }
    }

    /// Returns the answer to a request with this content of the element `anything`.
    fn echo(&self, content: &str) -> String {
        let body = format!(
            "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><echo xmlns=\"urn:wildcards\">\
             <anything xmlns=\"\">{content}</anything></echo></s:Body></s:Envelope>"
        );
        let Mock { host, path, .. } = self;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: text/xml\r\nSOAPAction: \"echo\"\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

/// The tree of 16 MB took 880 MB that wasn't charged to the budget, and blocked other requests.
#[test]
fn expressions_look_at_trees_of_bounded_size() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rules.toml"), RULES).unwrap();
    for lenient in [&[][..], &["--lenient"]] {
        let data = folder.path().to_string_lossy();
        let mock = Mock::start(&[&["--data", &data], lenient].concat());
        assert!(mock.echo("<x/>").contains("hit"));
        let large = mock.echo(&"a".repeat(1 << 20));
        assert!(large.contains("hit"), "{large}");
        let too_large = mock.echo(&"a".repeat(5 << 20));
        assert!(too_large.contains("XPath expressions read at most 4 MiB"), "{too_large}");
    }
}
