//! A master of Locust that begins a test. While it reads, it answers the heartbeats of workers that it knows.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// A greeting of ZMTP 3.1 without security, and the READY of a ROUTER.
fn greeting() -> Vec<u8> {
    let mut bytes = vec![0; 64];
    (bytes[0], bytes[9], bytes[10], bytes[11]) = (0xff, 0x7f, 3, 1);
    bytes[12..16].copy_from_slice(b"NULL");
    bytes.extend_from_slice(b"\x04\x1c\x05READY\x0bSocket-Type\0\0\0\x06ROUTER");
    bytes
}

const HEARTBEAT: &[u8] = b"\x93\xa9heartbeat\xc0\xa1w";
const ACK: &[u8] = b"\x93\xa3ack\x81\xa5index\x00\xa1w";
/// A spawn message without the number of users, which follows.
const SPAWN: &[u8] = b"\x93\xa5spawn\x82\xa9timestamp\x01\xb2user_classes_count\x81\xa1C\xcf";

pub(crate) struct Master {
    listener: TcpListener,
}

impl Master {
    pub(crate) fn start() -> Self {
        Master { listener: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    pub(crate) fn address(&self) -> String {
        self.listener.local_addr().unwrap().to_string()
    }

    /// Accepts a worker that the master doesn't know.
    pub(crate) fn accept(&self) -> Worker {
        let (mut stream, _) = self.listener.accept().unwrap();
        stream.write_all(&greeting()).unwrap();
        Worker { stream, is_known: false }
    }

    /// Accepts a worker and begins a test with this many users.
    pub(crate) fn begin(&self, users: u64) -> Worker {
        let mut worker = self.accept();
        worker.read_until("client_ready");
        worker.send(ACK);
        worker.is_known = true;
        worker.send(&[SPAWN, &users.to_be_bytes(), b"\xa1w"].concat());
        worker
    }
}

/// A worker that has connected.
pub(crate) struct Worker {
    stream: TcpStream,
    is_known: bool,
}

impl Worker {
    fn send(&mut self, message: &[u8]) {
        let head = [0, u8::try_from(message.len()).unwrap()];
        self.stream.write_all(&[&head, message].concat()).unwrap();
    }

    /// Reads what it sends up to this text. Returns it.
    pub(crate) fn read_until(&mut self, text: &str) -> Vec<u8> {
        let mut seen = Vec::new();
        while !seen.ends_with(text.as_bytes()) {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            seen.extend(byte);
            if self.is_known && seen.ends_with(b"heartbeat") {
                self.send(HEARTBEAT);
            }
        }
        seen
    }
}

/// Returns how many requests all reports in these bytes have.
pub(crate) fn reported(bytes: &[u8]) -> u64 {
    let after = |bytes: &[u8], name: &[u8]| {
        let at = bytes.windows(name.len()).position(|window| window == name)?;
        Some(bytes[at + name.len()..].to_vec())
    };
    let (mut rest, mut sum) = (bytes.to_vec(), 0);
    while let Some(total) = after(&rest, b"stats_total") {
        rest = after(&total, b"num_requests").unwrap();
        // A number of MessagePack: small, or of one byte or several.
        let length = match rest[0] {
            small @ ..0x80 => {
                sum += u64::from(small);
                continue;
            }
            kind => 1 << (kind - 0xcc),
        };
        sum += rest[1..=length].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    }
    sum
}
