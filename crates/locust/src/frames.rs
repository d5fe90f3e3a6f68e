//! ZMTP 3.0 without security, as much of it as a worker needs: the greeting, the handshake of a DEALER, and frames.

use crate::error::Violation;

/// The longest frame that a master may send. What Locust sends has a few kilobytes: the users and the options of a test.
pub(crate) const MAX_FRAME: usize = 1 << 20;
/// The length of a greeting.
const GREETING: usize = 64;

const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;

/// What arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// The peer's greeting is valid.
    Greeting,
    /// The peer is a ROUTER, and ready.
    Ready,
    /// A message of one frame.
    Message(Vec<u8>),
}

/// Returns a worker's greeting.
pub(crate) fn greeting() -> [u8; GREETING] {
    let mut bytes = [0; GREETING];
    (bytes[0], bytes[9], bytes[10]) = (0xff, 0x7f, 3);
    bytes[12..16].copy_from_slice(b"NULL");
    bytes
}

/// Returns the command that ends a worker's handshake, with this identity.
pub(crate) fn ready(identity: &str) -> Vec<u8> {
    let mut body = b"\x05READY".to_vec();
    for (name, value) in [("Socket-Type", "DEALER"), ("Identity", identity)] {
        body.push(name.len() as u8);
        body.extend_from_slice(name.as_bytes());
        body.extend_from_slice(&(value.len() as u32).to_be_bytes());
        body.extend_from_slice(value.as_bytes());
    }
    let mut frame = Vec::new();
    write(COMMAND, &body, &mut frame);
    frame
}

/// Writes a message of one frame.
pub(crate) fn message(body: &[u8], output: &mut Vec<u8>) {
    write(0, body, output);
}

fn write(flags: u8, body: &[u8], output: &mut Vec<u8>) {
    match u8::try_from(body.len()) {
        Ok(length) => output.extend_from_slice(&[flags, length]),
        Err(_) => {
            output.push(flags | LONG);
            output.extend_from_slice(&(body.len() as u64).to_be_bytes());
        }
    }
    output.extend_from_slice(body);
}

/// Reads what a master sends. It holds at most one frame and what arrived with its end.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    buffer: Vec<u8>,
    /// How much of the buffer was taken.
    at: usize,
    has_greeting: bool,
    is_ready: bool,
}

impl Reader {
    /// Adds bytes that arrived.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..std::mem::take(&mut self.at));
        self.buffer.extend_from_slice(bytes);
    }

    /// Takes the next thing that arrived whole.
    ///
    /// # Errors
    /// The peer breaks the protocol, or its frame is longer than a master's can be.
    pub(crate) fn next(&mut self) -> Result<Option<Received>, Violation> {
        if !self.has_greeting {
            return self.greeting();
        }
        while let Some((flags, body)) = self.frame()? {
            match (self.is_ready, flags & COMMAND != 0) {
                (true, false) => return Ok(Some(Received::Message(body))),
                // A command after the handshake asks for nothing that this version has.
                (true, true) => {}
                (false, true) => {
                    check_ready(&body)?;
                    self.is_ready = true;
                    return Ok(Some(Received::Ready));
                }
                (false, false) => return Err(Violation::new("a message came before the handshake")),
            }
        }
        Ok(None)
    }

    fn greeting(&mut self) -> Result<Option<Received>, Violation> {
        // A peer of another protocol is recognised by its first bytes.
        let bytes = &self.buffer[self.at..];
        let expected = |at: usize, value: u8| bytes.get(at).is_none_or(|byte| *byte == value);
        if !expected(0, 0xff) || !expected(9, 0x7f) {
            return Err(Violation::new("the peer doesn't speak ZeroMQ"));
        }
        let Some(bytes) = bytes.get(..GREETING) else { return Ok(None) };
        if bytes[10] < 3 {
            return Err(Violation::new("the peer speaks a version of ZeroMQ before 3.0"));
        }
        if bytes[12..32] != greeting()[12..32] {
            return Err(Violation::new("the master requires security that a worker of Locust doesn't have"));
        }
        self.at += GREETING;
        self.has_greeting = true;
        Ok(Some(Received::Greeting))
    }

    /// Takes a whole frame: its flags and its body.
    fn frame(&mut self) -> Result<Option<(u8, Vec<u8>)>, Violation> {
        let bytes = &self.buffer[self.at..];
        let Some(&flags) = bytes.first() else { return Ok(None) };
        if flags & !(LONG | COMMAND) != 0 {
            let what = if flags & MORE != 0 { "a message of several frames" } else { "a frame of an unknown kind" };
            return Err(Violation::new(format!("found {what}")));
        }
        let (head, length) = match flags & LONG != 0 {
            false => (2, bytes.get(1).map(|length| u64::from(*length))),
            true => (9, bytes.get(1..9).and_then(|length| Some(u64::from_be_bytes(length.try_into().ok()?)))),
        };
        let Some(length) = length else { return Ok(None) };
        let length = usize::try_from(length).ok().filter(|length| *length <= MAX_FRAME);
        let length = length.ok_or_else(|| Violation::new(format!("found a frame of more than {MAX_FRAME} bytes")))?;
        let Some(body) = bytes.get(head..head + length) else { return Ok(None) };
        let body = body.to_vec();
        self.at += head + length;
        Ok(Some((flags, body)))
    }
}

/// Checks the command that ends a master's handshake.
fn check_ready(body: &[u8]) -> Result<(), Violation> {
    let wrong = || Violation::new("the handshake is malformed");
    let Some(mut rest) = body.strip_prefix(b"\x05READY") else {
        return Err(match body.starts_with(b"\x05ERROR") {
            true => Violation::new("the peer refused the handshake"),
            false => wrong(),
        });
    };
    while let Some((&length, after)) = rest.split_first() {
        let (name, after) = after.split_at_checked(length.into()).ok_or_else(wrong)?;
        let (length, after) = after.split_first_chunk::<4>().ok_or_else(wrong)?;
        let (value, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize).ok_or_else(wrong)?;
        if name.eq_ignore_ascii_case(b"Socket-Type") && value != b"ROUTER" {
            return Err(Violation::new("the peer is no master of Locust"));
        }
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &[u8] = b"\x04\x29\x05READY\x0bSocket-Type\0\0\0\x06ROUTER\x08Identity\0\0\0\0";

    /// Reads everything, in pieces of `size` bytes.
    fn read(bytes: &[u8], size: usize) -> Result<Vec<Received>, Violation> {
        let (mut reader, mut all) = (Reader::default(), Vec::new());
        for piece in bytes.chunks(size) {
            reader.push(piece);
            while let Some(received) = reader.next()? {
                all.push(received);
            }
        }
        Ok(all)
    }

    fn after_handshake(frames: &[u8]) -> Vec<u8> {
        [&greeting(), READY, frames].concat()
    }

    #[test]
    fn frames_arrive_in_pieces_of_any_size() {
        let mut frames = Vec::new();
        message(b"short", &mut frames);
        // A command of a later version.
        frames.extend_from_slice(b"\x04\x07\x04PING\0\0");
        message(&[7; 300], &mut frames);
        let bytes = after_handshake(&frames);
        for size in [1, 2, 3, 63, 64, 65, 4096] {
            let all = read(&bytes, size).unwrap();
            let messages = [Received::Message(b"short".to_vec()), Received::Message(vec![7; 300])];
            assert_eq!(all[..2], [Received::Greeting, Received::Ready], "{size}");
            assert_eq!(all[2..], messages, "{size}");
        }
    }

    #[test]
    fn a_handshake_of_a_worker_has_type_and_identity() {
        assert_eq!(ready("a_1"), b"\x04\x2c\x05READY\x0bSocket-Type\0\0\0\x06DEALER\x08Identity\0\0\0\x03a_1");
        let mut reader = Reader { has_greeting: true, ..Reader::default() };
        reader.push(&ready("a_1"));
        assert_eq!(reader.next(), Err(Violation::new("the peer is no master of Locust")));
    }

    #[test]
    fn a_hostile_master_is_refused_early() {
        let with = |at: usize, byte: u8| {
            let mut bytes = greeting();
            bytes[at] = byte;
            bytes.to_vec()
        };
        let long = |length: u64| after_handshake(&[&[LONG][..], &length.to_be_bytes()].concat());
        let curve = [&greeting()[..12], b"CURVE", &[0; 47]].concat();
        for (bytes, why) in [
            (b"HTTP/1.1 400 Bad Request\r\n".to_vec(), "the peer doesn't speak ZeroMQ"),
            (b"\xff\0\0\0\0\0\0\0\0\x01".to_vec(), "the peer doesn't speak ZeroMQ"),
            (with(10, 1), "the peer speaks a version of ZeroMQ before 3.0"),
            (curve, "the master requires security that a worker of Locust doesn't have"),
            ([&greeting()[..], b"\x00\x01x"].concat(), "a message came before the handshake"),
            ([&greeting()[..], b"\x04\x08\x05ERROR\x01x"].concat(), "the peer refused the handshake"),
            ([&greeting()[..], b"\x04\x03\x02HI"].concat(), "the handshake is malformed"),
            ([&greeting()[..], b"\x04\x0c\x05READY\x01a\xff\xff\xff\xff"].concat(), "the handshake is malformed"),
            (after_handshake(b"\x01\x01x"), "found a message of several frames"),
            (after_handshake(b"\x80\x01x"), "found a frame of an unknown kind"),
            (long(MAX_FRAME as u64 + 1), "found a frame of more than 1048576 bytes"),
            (long(u64::MAX), "found a frame of more than 1048576 bytes"),
        ] {
            assert_eq!(read(&bytes, 4096).unwrap_err(), Violation::new(why), "{bytes:?}");
        }
        assert_eq!(read(&long(MAX_FRAME as u64), 4096).unwrap().len(), 2);
    }
}
