//! Finds the end of an HTTP/1.1 response (RFC 9112 §6.3) in a buffer that fills while it is read.

use std::ops::Range;

use castile_budget::{Budget, Reservation};

/// Larger than any answer under test. A larger response is rejected.
const MAX_RESPONSE: usize = 256 << 20;
const MAX_HEADERS: usize = 64;
/// The longest head, chunk line or trailer, in bytes. An incomplete one is parsed again each time more has arrived.
const MAX_HEAD: usize = 64 << 10;
/// How many interim responses may precede the final one.
const MAX_INTERIM: usize = 100;
/// Large enough to read a usual answer with one call.
const FIRST_BUFFER: usize = 64 << 10;

/// A complete response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// The position of the body in the reader's buffer, with its transfer coding decoded.
    pub(crate) body: Range<usize>,
    /// Whether the connection is closed after this response (RFC 9112 §9.3).
    pub(crate) close: bool,
}

/// Collects the bytes of one response at a time.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    buffer: Vec<u8>,
    filled: usize,
    head: Option<Head>,
    /// The number of interim responses before it.
    interim: usize,
    /// The last head and its bytes. Servers repeat their heads, and comparing is cheaper than parsing.
    last_head: Option<(Box<[u8]>, Head)>,
    chunks: Chunks,
    /// The buffer's size beyond [`FIRST_BUFFER`], charged to a budget that the readers of all users share.
    beyond: Reservation,
}

#[derive(Clone, Copy, Debug)]
struct Head {
    length: usize,
    status: u16,
    framing: Framing,
    close: bool,
}

#[derive(Clone, Copy, Debug)]
enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

/// How far a chunked body has been decoded, in place (RFC 9112 §7.1).
#[derive(Clone, Copy, Debug, Default)]
struct Chunks {
    /// The next byte of the coding to read.
    read: usize,
    /// The end of the decoded body.
    write: usize,
    /// Whether the last chunk was read, so that only trailers and an empty line follow.
    in_trailers: bool,
}

impl ResponseReader {
    /// Creates a reader. All readers of the process share its memory budget.
    pub(crate) fn new() -> Self {
        ResponseReader::within(&Budget::process())
    }

    fn within(budget: &Budget) -> Self {
        ResponseReader {
            // Allocated when the first answer arrives, since some of many users may never get one.
            buffer: Vec::new(),
            filled: 0,
            head: None,
            interim: 0,
            last_head: None,
            chunks: Chunks::default(),
            beyond: budget.reserve(0).expect("nothing is always granted"),
        }
    }

    /// Discards the last response.
    pub(crate) fn clear(&mut self) {
        // A large buffer is reused for the next response, unless half of the budget is in use and other readers need it.
        let budget = self.beyond.budget();
        if self.buffer.len() > FIRST_BUFFER && budget.used() > budget.limit() / 2 {
            self.buffer = Vec::new();
            self.beyond.release();
        }
        self.filled = 0;
        self.head = None;
        self.interim = 0;
        self.chunks = Chunks::default();
    }

    /// Returns whether no byte of a response has arrived.
    pub(crate) fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Returns the space for the next bytes from the network.
    pub(crate) fn space(&mut self) -> Result<&mut [u8], String> {
        if self.filled == self.buffer.len() {
            if self.filled >= MAX_RESPONSE {
                return Err(format!("response of more than {MAX_RESPONSE} bytes"));
            }
            let length = (self.filled * 2).max(FIRST_BUFFER);
            // The first buffer is not charged: it is what each user costs.
            if length > FIRST_BUFFER {
                let more = length - self.buffer.len().max(FIRST_BUFFER);
                let refused = |why| format!("the answers to all users take too much memory: {why}");
                self.beyond.grow(more).map_err(refused)?;
            }
            self.buffer.resize(length, 0);
        }
        Ok(&mut self.buffer[self.filled..])
    }

    /// Accepts `count` bytes that were read into the [`space`](Self::space). Returns the response if it is complete.
    pub(crate) fn fill(&mut self, count: usize) -> Result<Option<Response>, String> {
        self.filled += count;
        loop {
            let Some(head) = self.head()? else {
                return Ok(None);
            };
            // Interim responses precede the final one (RFC 9110 §15.2).
            if head.status / 100 == 1 {
                self.buffer.copy_within(head.length..self.filled, 0);
                self.filled -= head.length;
                self.head = None;
                self.interim += 1;
                if self.interim > MAX_INTERIM {
                    return Err(format!("more than {MAX_INTERIM} interim responses"));
                }
                continue;
            }
            let (body, end) = match head.framing {
                Framing::Length(length) => {
                    let end = head.length + length;
                    (head.length..end, end)
                }
                Framing::Chunked => {
                    if !self.chunks.decode(&mut self.buffer[..self.filled])? {
                        return Ok(None);
                    }
                    (head.length..self.chunks.write, self.chunks.read)
                }
                Framing::UntilClose => return Ok(None),
            };
            if self.filled < end {
                return Ok(None);
            }
            if self.filled > end {
                return Err(format!("{} bytes after the end of the response", self.filled - end));
            }
            return Ok(Some(Response { status: head.status, body, close: head.close }));
        }
    }

    /// Accepts that the server has closed the connection, which ends some responses.
    pub(crate) fn close(&mut self) -> Result<Response, String> {
        match self.head {
            Some(Head { status, length, framing: Framing::UntilClose, .. }) => {
                Ok(Response { status, body: length..self.filled, close: true })
            }
            Some(Head { length, framing: Framing::Length(expected), .. }) => Err(format!(
                "connection closed after {} of {expected} bytes of the response body",
                self.filled - length
            )),
            Some(_) => Err("connection closed within a chunked response body".to_owned()),
            None => Err(format!("connection closed after {} bytes of a response head", self.filled)),
        }
    }

    /// Returns the body of a response of this reader.
    pub(crate) fn body(&self, response: &Response) -> &[u8] {
        &self.buffer[response.body.clone()]
    }

    /// Returns the status line and header lines of a response of this reader.
    pub(crate) fn head_of(&self, response: &Response) -> &[u8] {
        // The body begins where the head ends, whether it was decoded or not.
        &self.buffer[..response.body.start]
    }

    fn head(&mut self) -> Result<Option<Head>, String> {
        if self.head.is_some() {
            return Ok(self.head);
        }
        let bytes = &self.buffer[..self.filled];
        let head = match &self.last_head {
            Some((last, head)) if bytes.starts_with(last) => *head,
            _ => {
                let Some(head) = Head::parse(bytes)? else {
                    return may_go_on(bytes, "a head");
                };
                self.last_head = Some((bytes[..head.length].into(), head));
                head
            }
        };
        self.chunks = Chunks { read: head.length, write: head.length, in_trailers: false };
        self.head = Some(head);
        Ok(self.head)
    }
}

impl Head {
    /// Parses a head; `None` if it is not complete yet.
    fn parse(bytes: &[u8]) -> Result<Option<Self>, String> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let length = match response.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => length,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => {
                let start = String::from_utf8_lossy(&bytes[..bytes.len().min(40)]).into_owned();
                return Err(format!("found {start:?}, expected an HTTP response ({error})"));
            }
        };
        let (Some(status), Some(version)) = (response.code, response.version) else {
            return Err("HTTP response without a status line".to_owned());
        };
        let mut content_length = None;
        let mut chunked = false;
        let mut close = version == 0;
        for header in response.headers.iter() {
            if header.name.eq_ignore_ascii_case("content-length") {
                let value = std::str::from_utf8(header.value).unwrap_or_default().trim();
                let length: usize = value.parse().ok().filter(|length| *length <= MAX_RESPONSE).ok_or_else(|| {
                    format!("Content-Length: found {value:?}, expected a number up to {MAX_RESPONSE}")
                })?;
                content_length = Some(length);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = has_token(header.value, "chunked");
            } else if header.name.eq_ignore_ascii_case("connection") {
                if has_token(header.value, "close") {
                    close = true;
                } else if has_token(header.value, "keep-alive") {
                    close = false;
                }
            }
        }
        let framing = match content_length {
            // A chunked body takes precedence over a length (RFC 9112 §6.3, 3). These statuses have no body (§6.3, 1).
            _ if status / 100 == 1 || status == 204 || status == 304 => Framing::Length(0),
            _ if chunked => Framing::Chunked,
            Some(length) => Framing::Length(length),
            None => Framing::UntilClose,
        };
        Ok(Some(Head { length, status, framing, close }))
    }
}

impl Chunks {
    /// Decodes all that has arrived. Returns whether that includes the last chunk.
    fn decode(&mut self, buffer: &mut [u8]) -> Result<bool, String> {
        while !self.in_trailers {
            let (start, size) = match httparse::parse_chunk_size(&buffer[self.read..]) {
                Ok(httparse::Status::Complete((start, size))) => (self.read + start, size),
                Ok(httparse::Status::Partial) => {
                    return may_go_on(&buffer[self.read..], "a line of a chunk");
                }
                Err(_) => {
                    return Err("found a chunk without a size, expected a hexadecimal number".to_owned());
                }
            };
            let size = usize::try_from(size)
                .ok()
                .filter(|size| *size <= MAX_RESPONSE)
                .ok_or_else(|| format!("found a chunk of {size} bytes, expected at most {MAX_RESPONSE}"))?;
            if size == 0 {
                self.read = start;
                self.in_trailers = true;
                break;
            }
            let end = start + size;
            if buffer.len() < end + 2 {
                return Ok(false);
            }
            if &buffer[end..end + 2] != b"\r\n" {
                return Err("found no line end after a chunk".to_owned());
            }
            buffer.copy_within(start..end, self.write);
            self.write += size;
            self.read = end + 2;
        }
        // Trailers are lines up to an empty one. They are ignored.
        loop {
            let rest = &buffer[self.read..];
            let Some(line) = rest.windows(2).position(|pair| pair == b"\r\n") else {
                return may_go_on(rest, "a trailer");
            };
            self.read += line + 2;
            if line == 0 {
                return Ok(true);
            }
        }
    }
}

/// Returns the default value, to wait for more of `what`, or an error if the `rest` that has arrived is too long.
fn may_go_on<T: Default>(rest: &[u8], what: &str) -> Result<T, String> {
    if rest.len() > MAX_HEAD { Err(format!("{what} has more than {MAX_HEAD} bytes")) } else { Ok(T::default()) }
}

/// Returns whether a comma-separated header value contains a token, ignoring case.
fn has_token(value: &[u8], token: &str) -> bool {
    value.split(|byte| *byte == b',').any(|item| item.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds a response in pieces of every size; the result must not depend on them.
    fn read(bytes: &[u8]) -> Result<Option<(u16, Vec<u8>, bool)>, String> {
        let mut results = Vec::new();
        for piece in 1..=bytes.len() {
            let mut reader = ResponseReader::new();
            let mut result = Ok(None);
            for part in bytes.chunks(piece) {
                reader.space().unwrap()[..part.len()].copy_from_slice(part);
                result = reader.fill(part.len());
                if !matches!(result, Ok(None)) {
                    break;
                }
            }
            results.push(result.map(|response| response.map(|r| (r.status, reader.body(&r).to_vec(), r.close))));
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{results:?}");
        results.remove(0)
    }

    fn body(text: &str) -> Option<(u16, Vec<u8>, bool)> {
        Some((200, text.as_bytes().to_vec(), false))
    }

    #[test]
    fn framings() {
        let length = b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc";
        assert_eq!(read(length), Ok(body("abc")));
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: x\r\n\r\n";
        assert_eq!(read(chunked), Ok(body("abc")));
        let interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
        assert_eq!(read(interim), Ok(body("a")));
        let close = b"HTTP/1.1 500 X\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(read(close), Ok(Some((500, vec![], true))));
        let old = b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(read(old), Ok(Some((200, vec![], true))));
    }

    #[test]
    fn a_body_without_length_ends_with_the_connection() {
        let mut reader = ResponseReader::new();
        let bytes = b"HTTP/1.1 200 OK\r\n\r\nabc";
        reader.space().unwrap()[..bytes.len()].copy_from_slice(bytes);
        assert_eq!(reader.fill(bytes.len()), Ok(None));
        let response = reader.close().unwrap();
        assert_eq!((reader.body(&response), response.close), (&b"abc"[..], true));
    }

    #[test]
    fn the_answers_to_all_users_share_memory() {
        let budget = Budget::new(300_000);
        let mut readers = [(); 3].map(|()| ResponseReader::within(&budget));
        let fill = |reader: &mut ResponseReader, bytes: usize| {
            reader.clear();
            let mut left = bytes;
            let mut piece = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
            while left > 0 {
                let space = reader.space()?;
                let count = space.len().min(left);
                piece.resize(count.max(piece.len()), b'x');
                space[..count].copy_from_slice(&piece[..count]);
                piece = vec![b'x'];
                left -= count;
                reader.fill(count)?;
            }
            Ok::<_, String>(())
        };
        // A usual answer charges nothing to the budget.
        fill(&mut readers[0], 60_000).unwrap();
        assert_eq!(budget.used(), 0);
        fill(&mut readers[1], 200_000).unwrap();
        assert_eq!(budget.used(), (256 << 10) - FIRST_BUFFER);
        let refused = fill(&mut readers[2], 300_000).unwrap_err();
        assert!(refused.starts_with("the answers to all users take too much memory: "), "{refused}");
        // A buffer that was retained for another large answer is released when memory is short, and only then.
        fill(&mut readers[1], 60_000).unwrap();
        fill(&mut readers[2], 60_000).unwrap();
        assert_eq!(budget.used(), FIRST_BUFFER);
        drop(readers);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn head_and_trailers_are_bounded() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let long = "x".repeat(80_000);
        let cases = [
            (format!("HTTP/1.1 200 OK\r\na: {long}"), "a head has more than 65536 bytes"),
            (format!("{chunked}1;{long}"), "a line of a chunk has more than 65536 bytes"),
            (format!("{chunked}0\r\na: {long}"), "a trailer has more than 65536 bytes"),
            ("HTTP/1.1 100 Continue\r\n\r\n".repeat(101), "more than 100 interim responses"),
        ];
        for (bytes, expected) in cases {
            let mut reader = ResponseReader::new();
            let mut result = Ok(None);
            for piece in bytes.as_bytes().chunks(1_024) {
                reader.space().unwrap()[..piece.len()].copy_from_slice(piece);
                result = reader.fill(piece.len());
                if result.is_err() {
                    break;
                }
            }
            assert_eq!(result, Err(expected.to_owned()));
        }
    }

    #[test]
    fn errors_of_broken_responses_state_the_reason() {
        let cases: [(&[u8], &str); 4] = [
            (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n", "\"many\""),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "hexadecimal"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabcd", "line end"),
            (b"SSH-2.0 hello there\r\n", "expected an HTTP response"),
        ];
        for (bytes, expected) in cases {
            let mut reader = ResponseReader::new();
            reader.space().unwrap()[..bytes.len()].copy_from_slice(bytes);
            let message = reader.fill(bytes.len()).unwrap_err();
            assert!(message.contains(expected), "{message}");
        }
        let mut reader = ResponseReader::new();
        let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab";
        reader.space().unwrap()[..bytes.len()].copy_from_slice(bytes);
        assert_eq!(reader.fill(bytes.len()), Err("1 bytes after the end of the response".to_owned()));
    }

    /// The result for any response must not depend on how it is cut, and must be a part of the bytes that arrived.
    #[test]
    fn changed_responses_are_read_in_any_pieces() {
        let seeds: [&[u8]; 8] = [
            b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nab\r\n1;x=y\r\nc\r\n0\r\nT: x\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
            b"HTTP/1.1 500 X\r\nConnection: keep-alive, close\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\n\r\nabc",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\nFFFFFFFFFFFFFFFF\r\nab\r\n",
            b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n",
        ];
        crate::mutations::check_mutations(&seeds, |text, random| {
            let read = |piece: usize| {
                let mut reader = ResponseReader::new();
                let mut rest = text;
                loop {
                    if rest.is_empty() {
                        // The caller detects an empty response.
                        return match reader.is_empty() {
                            true => None,
                            false => Some(reader.close().map(|r| (r.status, reader.body(&r).to_vec(), r.close))),
                        };
                    }
                    let length = piece.min(rest.len());
                    reader.space().unwrap()[..length].copy_from_slice(&rest[..length]);
                    rest = &rest[length..];
                    match reader.fill(length) {
                        Ok(None) => {}
                        Ok(Some(r)) => return Some(Ok((r.status, reader.body(&r).to_vec(), r.close))),
                        Err(said) => return Some(Err(said)),
                    }
                }
            };
            let whole = read(text.len().max(1));
            // Each piece of the head is parsed again, so long texts are cut into larger pieces.
            let pieces = read(if text.len() < 400 { random.usize(1..20) } else { random.usize(50..500) });
            match (&whole, &pieces) {
                // Bytes after a response are only detected if they arrive together with it.
                (Some(Err(said)), Some(Ok(_))) if said.contains("after the end of the response") => {}
                (Some(Err(_)), Some(Err(_))) => {}
                _ => assert_eq!(whole, pieces, "{text:?}"),
            }
        });
    }
}
