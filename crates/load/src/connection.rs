//! One HTTP/1.1 connection of the driver. It is opened again when the server closes it.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::time::{Duration, Instant};

use castile_xml::excerpt;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::Sleep;

use crate::cookies::Cookies;
use crate::response::{Response, ResponseReader};
use crate::script::HttpResponse;
use crate::secure::Open;
use crate::typed::{BoxError, User};
use crate::{Endpoint, Secured};

/// How long to wait for a server to close after it announced that it would.
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

/// The longest head of a proxy's answer to a CONNECT request, and how much of it an error quotes.
const MAX_ANSWER: usize = 16 << 10;
const SHOWN: usize = 100;

/// Sends prebuilt requests and reads complete responses, one at a time.
#[derive(Debug)]
pub(crate) struct Connection {
    route: ConnectRoute,
    cookies: Option<Cookies>,
    timeout: Duration,
    stream: Option<Open>,
    reader: ResponseReader,
    /// The number of responses since the connection was opened.
    answered: u64,
    watchdog: Watchdog,
}

/// How a connection is made.
struct ConnectRoute {
    address: SocketAddr,
    source: Option<IpAddr>,
    /// The request that asks a proxy for a tunnel.
    tunnel: Option<String>,
    secured: Option<Secured>,
}

/// Omits the tunnel request, which may contain a password.
impl fmt::Debug for ConnectRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConnectRoute { address, source, secured, .. } = self;
        f.debug_tuple("ConnectRoute").field(address).field(source).field(secured).finish()
    }
}

/// Why there is no complete response.
#[derive(Debug)]
pub(crate) enum Failure {
    Connect(io::Error),
    Timeout(Duration),
    /// Closed before a response began. Holds the number of responses that this connection gave before.
    Closed(u64),
    Io(io::Error),
    Protocol(String),
    /// The error of a typed client.
    Client(BoxError),
    /// There was no request to send; the text says why.
    Unwritten(String),
    /// The user has nothing left to send.
    Done,
}

impl Connection {
    /// Creates a connection without opening it. Must be called within a tokio runtime.
    pub(crate) fn new(user: &User) -> Self {
        let Endpoint { address, secured, .. } = &user.endpoint;
        let tunnel = user.endpoint.tunnel();
        Connection {
            route: ConnectRoute { address: *address, source: user.source, tunnel, secured: secured.clone() },
            cookies: Cookies::of(&user.endpoint),
            timeout: user.timeout,
            stream: None,
            reader: ResponseReader::new(),
            answered: 0,
            watchdog: Watchdog::new(user.timeout),
        }
    }

    /// Sends a request and reads its response. After a failure the connection is closed.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<Response, Failure> {
        let limit = Instant::now() + self.timeout;
        let Connection { route, cookies, stream, reader, answered, watchdog, .. } = self;
        let request = match cookies {
            Some(cookies) => cookies.added_to(request),
            None => request,
        };
        let exchange = async {
            let stream = match stream {
                Some(stream) => stream,
                None => {
                    let opened = route.open().await.map_err(Failure::Connect)?;
                    *answered = 0;
                    stream.insert(opened)
                }
            };
            attempt(stream, reader, answered, request).await
        };
        let result = tokio::select! {
            biased;
            result = exchange => result,
            () = watchdog.bites_at(limit) => Err(Failure::Timeout(self.timeout)),
        };
        match &result {
            Ok(response) => {
                if let Some(cookies) = &mut self.cookies {
                    cookies.store(self.reader.head_of(response));
                }
            }
            Err(_) => self.stream = None,
        }
        result
    }

    /// Closes the connection after its last response, if the server announced that it would close. Waits until the server has
    /// closed first.
    ///
    /// The side that closes first keeps the pair of ports occupied for a while (RFC 9293 §3.6.1). If the driver always closed
    /// first, it would soon have no local port left.
    pub(crate) async fn close(&mut self, last: &Response) {
        let Some(mut stream) = self.stream.take().filter(|_| last.close) else {
            return;
        };
        let limit = Instant::now() + CLOSE_LIMIT;
        let mut rest = [0; 64];
        let closed = async { while let Ok(1..) = stream.read(&mut rest).await {} };
        tokio::select! {
            biased;
            () = closed => {}
            () = self.watchdog.bites_at(limit) => {}
        }
    }

    /// Returns whether the last response was the first of its connection.
    pub(crate) fn is_first_response(&self) -> bool {
        self.answered == 1
    }

    /// Returns the body of the last response.
    pub(crate) fn body(&self, response: &Response) -> &[u8] {
        self.reader.body(response)
    }

    /// Returns the last response with its head.
    pub(crate) fn whole(&self, response: &Response) -> HttpResponse<'_> {
        HttpResponse { status: response.status, head: self.reader.head_of(response), body: self.reader.body(response) }
    }
}

async fn attempt(
    stream: &mut Open,
    reader: &mut ResponseReader,
    answered: &mut u64,
    request: &[u8],
) -> Result<Response, Failure> {
    reader.clear();
    // A server may refuse a request and close before it has read all of it. The reason is in its response, which is read even if
    // the request can't be sent completely (RFC 9112 §9.5).
    let sent = async {
        stream.write_all(request).await?;
        stream.flush().await
    };
    match (sent.await, receive(stream, reader, answered).await) {
        (Ok(()), received) => received,
        (Err(_), Ok(response)) => Ok(Response { close: true, ..response }),
        (Err(error), Err(_)) => Err(Failure::Io(error)),
    }
}

async fn receive(stream: &mut Open, reader: &mut ResponseReader, answered: &mut u64) -> Result<Response, Failure> {
    loop {
        let count = stream.read(reader.space().map_err(Failure::Protocol)?).await.map_err(Failure::Io)?;
        let response = match count {
            0 if reader.is_empty() => return Err(Failure::Closed(*answered)),
            0 => Some(reader.close()),
            _ => reader.fill(count).transpose(),
        };
        if let Some(response) = response {
            *answered += 1;
            return response.map_err(Failure::Protocol);
        }
    }
}

impl ConnectRoute {
    async fn open(&self) -> io::Result<Open> {
        let mut stream = open(self.address, self.source).await?;
        if let Some(request) = &self.tunnel {
            open_tunnel(&mut stream, request).await?;
        }
        match &self.secured {
            None => Ok(Open::Plain(stream)),
            Some(Secured { host, tls }) => tls.connect(host, stream).await.map(Open::Secured),
        }
    }
}

/// Asks a proxy for a tunnel. The bytes after its answer belong to the server at the other end, so the answer is read byte by
/// byte.
async fn open_tunnel(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), request: &str) -> io::Result<()> {
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() >= MAX_ANSWER {
            return Err(io::Error::other(format!("the proxy answered with a head of more than {MAX_ANSWER} bytes")));
        }
        let mut byte = [0];
        if stream.read(&mut byte).await? == 0 {
            return Err(io::Error::other("the proxy closed the connection, expected a tunnel"));
        }
        answer.push(byte[0]);
    }
    let line = String::from_utf8_lossy(answer.split(|&byte| byte == b'\r').next().unwrap_or_default());
    match line.split(' ').nth(1).map(str::as_bytes) {
        Some([b'2', b'0'..=b'9', b'0'..=b'9']) if line.starts_with("HTTP/1.") => Ok(()),
        _ => {
            let found = excerpt(&line, SHOWN);
            Err(io::Error::other(format!("the proxy answered \"{found}\", expected 200 and a tunnel")))
        }
    }
}

pub(crate) async fn open(address: SocketAddr, source: Option<IpAddr>) -> io::Result<TcpStream> {
    let stream = match source {
        None => TcpStream::connect(address).await?,
        Some(source) => {
            let socket = if source.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            socket.bind(SocketAddr::new(source, 0))?;
            socket.connect(address).await?
        }
    };
    stream.set_nodelay(true)?;
    Ok(stream)
}

impl Failure {
    /// Returns whether the connection was refused or nothing was sent. An immediate retry would only keep the driver busy.
    pub(crate) fn is_immediate(&self) -> bool {
        let refused = |error: &io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        matches!(self, Failure::Connect(_) | Failure::Unwritten(_)) || self.io_error().is_some_and(refused)
    }

    /// Returns whether there is no connection, or whether TLS failed on it. In TLS 1.3 a server's rejection of the client
    /// certificate is seen only when the first answer is read (RFC 8446 §4.4.2.4).
    pub(crate) fn is_refusal(&self) -> bool {
        match self {
            Failure::Connect(_) => self.exhausted().is_none(),
            Failure::Io(error) => error.kind() == io::ErrorKind::InvalidData,
            _ => false,
        }
    }

    /// Returns the resource that this machine ran out of, if that is the cause. Such an error isn't the server's fault.
    pub(crate) fn exhausted(&self) -> Option<&'static str> {
        exhausted(self.io_error()?)
    }

    fn io_error(&self) -> Option<&io::Error> {
        match self {
            Failure::Connect(error) | Failure::Io(error) => Some(error),
            Failure::Client(error) => {
                let mut error: &(dyn std::error::Error + 'static) = &**error;
                loop {
                    error = match error.downcast_ref::<io::Error>() {
                        // The source of a wrapping error is the source of the inner one, so unwrap it instead.
                        Some(found) => match found.get_ref() {
                            Some(inner) => inner,
                            None => return Some(found),
                        },
                        None => error.source()?,
                    };
                }
            }
            Failure::Timeout(_) | Failure::Closed(_) | Failure::Protocol(_) | Failure::Unwritten(_) | Failure::Done => {
                None
            }
        }
    }
}

#[cfg(unix)]
fn exhausted(error: &io::Error) -> Option<&'static str> {
    use nix::errno::Errno;

    match Errno::from_raw(error.raw_os_error()?) {
        Errno::EADDRNOTAVAIL => Some("no free local port to connect from"),
        Errno::EMFILE => Some("no more file descriptors in this process"),
        Errno::ENFILE => Some("no more file descriptors on this machine"),
        Errno::ENOBUFS | Errno::ENOMEM => Some("no more memory for sockets"),
        _ => None,
    }
}

#[cfg(not(unix))]
fn exhausted(_: &io::Error) -> Option<&'static str> {
    None
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(what) = self.exhausted() {
            return write!(f, "the driver's own machine has {what}");
        }
        match self {
            Failure::Connect(error) => write!(f, "can't connect: {error}"),
            Failure::Timeout(limit) => {
                write!(f, "no response within {}", humantime::format_duration(*limit))
            }
            Failure::Closed(answered) => {
                write!(f, "connection closed without a response, after {answered} responses on it")
            }
            Failure::Io(error) => write!(f, "connection lost: {error}"),
            Failure::Protocol(message) => f.write_str(message),
            Failure::Client(error) => error.fmt(f),
            Failure::Unwritten(why) => write!(f, "not sent: {why}"),
            Failure::Done => f.write_str("nothing left to send"),
        }
    }
}

/// A time limit that is moved with every request at almost no cost. The timer is not moved: when it expires, the current limit is
/// checked and the timer is set again if needed.
#[derive(Debug)]
struct Watchdog {
    sleep: Pin<Box<Sleep>>,
}

impl Watchdog {
    fn new(timeout: Duration) -> Self {
        Watchdog { sleep: Box::pin(tokio::time::sleep(timeout)) }
    }

    async fn bites_at(&mut self, limit: Instant) {
        if self.sleep.deadline() > limit.into() {
            self.sleep.as_mut().reset(limit.into());
        }
        loop {
            self.sleep.as_mut().await;
            if Instant::now() >= limit {
                return;
            }
            self.sleep.as_mut().reset(limit.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    /// Reads a proxy's answer to a CONNECT request. Returns the result and the bytes that follow the answer.
    async fn dug(answer: &[u8]) -> (Result<(), String>, Vec<u8>) {
        let (mut ours, mut proxy) = duplex(64 << 10);
        let request = "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n";
        proxy.write_all(answer).await.unwrap();
        proxy.shutdown().await.unwrap();
        let result = open_tunnel(&mut ours, request).await.map_err(|error| error.to_string());
        let mut behind = Vec::new();
        ours.read_to_end(&mut behind).await.unwrap();
        (result, behind)
    }

    #[tokio::test]
    async fn an_error_quotes_a_little_of_a_long_answer() {
        let (result, _) = dug(format!("HTTP/1.1 403 \u{1b}[2J{}\r\n\r\n", "x".repeat(16_000)).as_bytes()).await;
        let said = result.unwrap_err();
        assert!(said.starts_with("the proxy answered \"HTTP/1.1 403 \\u{1b}[2Jxxx") && said.len() < 1_000, "{said}");
    }

    /// Any answer of a proxy gives a tunnel or an error, and the bytes after it are left to the tunnel.
    #[test]
    fn changed_answers_of_proxies_are_read() {
        let seeds: [&[u8]; 6] = [
            b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n\x16\x03\x03",
            b"HTTP/1.0 200\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
            b"\x05\xFF",
            b"HTTP/1.1 2\xC3\xA9 x\r\n\r\n",
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        crate::mutations::check_mutations(&seeds, |text, random| {
            let long = [text, &vec![b'x'; 20 << 10]].concat();
            let text = if random.u32(0..20) == 0 { &long[..] } else { text };
            let head =
                text.windows(4).position(|end| end == b"\r\n\r\n").map(|at| at + 4).filter(|end| *end <= MAX_ANSWER);
            match runtime.block_on(dug(text)) {
                (Ok(()), behind) => {
                    assert_eq!(behind, text[head.unwrap()..], "{text:?}");
                    let status = text.split(|byte| *byte == b' ').nth(1).unwrap();
                    assert!(
                        text.starts_with(b"HTTP/1.")
                            && matches!(status.get(..3), Some([b'2', b'0'..=b'9', b'0'..=b'9'])),
                        "{text:?}"
                    );
                }
                (Err(said), _) => assert!(said.len() < 1_000 && !said.contains(|c: char| c.is_control()), "{said:?}"),
            }
        });
    }
}
