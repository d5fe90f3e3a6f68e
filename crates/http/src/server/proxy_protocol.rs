//! The PROXY protocol, versions 1 and 2, in which a proxy of TCP connections reports its client.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::listener::{Connection, Listener, TlsPeer};
use super::network::{Networks, number};
use crate::error::Error;

/// The signature of version 2.
const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// The longest header of version 1, in bytes, including its line end.
const MAX_LINE: usize = 107;

/// The longest accepted header of version 2 after its first 16 bytes, in bytes. Addresses take 36; the rest are
/// extensions.
const MAX_BLOCK: usize = 4096;

/// A listener for connections from a TCP proxy that reports its client first (HAProxy's PROXY protocol, versions 1 and
/// 2): HAProxy with `send-proxy`, nginx's `stream` with `proxy_protocol on`, or a network load balancer.
/// [`Connection::peer`] is then the client. The limits per peer and `Request::peer` use it.
///
/// Each connection must come from one of the proxies and begin with the header. Otherwise it is closed, because any
/// client could send such a header. For a connection of the proxy itself (`UNKNOWN`, `LOCAL`, for health checks) the
/// peer is the proxy. If the proxy passes TLS through, the header is before the handshake:
/// `tls.listen(ProxyProtocol::new(listener, …)?)`.
///
/// ```
/// use castile_http::server::{ProxyProtocol, Routes, Server, shutdown_signal};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = tokio::net::TcpListener::bind("10.0.0.7:8080").await?;
/// let listener = ProxyProtocol::new(listener, ["10.0.0.0/24"])?;
/// Server::new().serve(listener, Routes::new(), shutdown_signal()).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ProxyProtocol<L> {
    listener: L,
    proxies: Networks,
}

impl<L: Listener> ProxyProtocol<L> {
    /// Creates a listener for connections from `proxies`: addresses, or networks such as `10.0.0.0/24`.
    ///
    /// # Errors
    /// [`ErrorKind::Request`](crate::ErrorKind::Request) names the text that isn't an address or network.
    pub fn new<P: AsRef<str>>(listener: L, proxies: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        Ok(ProxyProtocol { listener, proxies: Networks::read(proxies)? })
    }
}

impl<L: Listener> Listener for ProxyProtocol<L> {
    type Connection = ProxiedStream<L::Connection>;

    const BUFFERS: usize = L::BUFFERS;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Connection>> {
        let stream = ready!(self.listener.poll_accept(cx))?;
        let state = match stream.peer().is_some_and(|peer| self.proxies.contain(peer)) {
            true => State::Header(BytesMut::new()),
            false => State::Refused,
        };
        Poll::Ready(Ok(ProxiedStream { stream, state }))
    }
}

/// A connection that begins with a header of the PROXY protocol.
#[derive(Debug)]
pub struct ProxiedStream<T> {
    stream: T,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The bytes of the header so far.
    Header(BytesMut),
    Open {
        /// `None` if it is the proxy itself.
        client: Option<IpAddr>,
        /// The bytes that arrived after the header.
        ahead: BytesMut,
    },
    /// The peer isn't a trusted proxy, or sent no header.
    Refused,
}

impl<T: Connection> ProxiedStream<T> {
    /// Reads the header. Bytes after it are stored.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<&mut BytesMut>> {
        while let State::Header(came) = &mut self.state {
            match header(came) {
                Header::Complete { length, client } => {
                    let mut ahead = std::mem::take(came);
                    ahead.advance(length);
                    self.state = State::Open { client, ahead };
                }
                Header::Wrong => self.state = State::Refused,
                Header::Partial => {
                    let mut room = [0; 1024];
                    let mut read = ReadBuf::new(&mut room);
                    ready!(Pin::new(&mut self.stream).poll_read(cx, &mut read))
                        .map_err(|error| io::Error::new(error.kind(), NoHeader))?;
                    if read.filled().is_empty() {
                        self.state = State::Refused;
                    } else {
                        came.extend_from_slice(read.filled());
                    }
                }
            }
        }
        match &mut self.state {
            State::Open { ahead, .. } => Poll::Ready(Ok(ahead)),
            _ => Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, NoHeader))),
        }
    }
}

/// The error when a connection ends before its header is complete.
#[derive(Debug)]
pub(super) struct NoHeader;

impl fmt::Display for NoHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("found no header of the PROXY protocol")
    }
}

impl std::error::Error for NoHeader {}

/// The state of parsing a header.
#[derive(Debug, PartialEq, Eq)]
enum Header {
    /// The first `length` bytes are a header.
    Complete {
        length: usize,
        client: Option<IpAddr>,
    },
    Partial,
    Wrong,
}

fn header(came: &[u8]) -> Header {
    let begins = |with: &[u8]| came.iter().zip(with).all(|(found, expected)| found == expected);
    if begins(&SIGNATURE) {
        match came.get(SIGNATURE.len()..) {
            Some(rest) => block(rest, SIGNATURE.len()),
            None => Header::Partial,
        }
    } else if begins(b"PROXY ") {
        line(came)
    } else {
        Header::Wrong
    }
}

/// Parses version 1: `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443` and a line end.
fn line(came: &[u8]) -> Header {
    let Some(end) = came.windows(2).take(MAX_LINE - 1).position(|pair| pair == b"\r\n") else {
        return if came.len() < MAX_LINE { Header::Partial } else { Header::Wrong };
    };
    let complete = |client| Header::Complete { length: end + 2, client };
    let Ok(text) = std::str::from_utf8(&came[..end]) else { return Header::Wrong };
    let words: Vec<_> = text.split(' ').collect();
    match words[..] {
        ["PROXY", "UNKNOWN", ..] => complete(None),
        ["PROXY", family, client, server, from, to] => {
            let address = |text: &str| -> Option<IpAddr> {
                match family {
                    "TCP4" => text.parse().map(IpAddr::V4).ok(),
                    // A dual-stack socket of the proxy reports IPv4 addresses as IPv6.
                    "TCP6" => text.parse().map(|address: Ipv6Addr| address.to_canonical()).ok(),
                    _ => None,
                }
            };
            let are_ports = [from, to].iter().all(|port| number::<u16>(port).is_some());
            match (address(client), address(server)) {
                (Some(client), Some(_)) if are_ports => complete(Some(client)),
                _ => Header::Wrong,
            }
        }
        _ => Header::Wrong,
    }
}

/// Parses version 2 after the signature: version and command, family and protocol, a length, addresses, extensions.
fn block(rest: &[u8], before: usize) -> Header {
    let [command, family, high, low, ..] = *rest else { return Header::Partial };
    let size = usize::from(u16::from_be_bytes([high, low]));
    if command >> 4 != 2 || size > MAX_BLOCK {
        return Header::Wrong;
    }
    let Some(said) = rest.get(4..4 + size) else { return Header::Partial };
    let client = match (command & 0xF, family) {
        // A connection of the proxy itself, without a client.
        (0, _) => None,
        // TCP over IPv4: both addresses, then both ports.
        (1, 0x11) => match said {
            [a, b, c, d, _, _, _, _, _, _, _, _, ..] => Some(Ipv4Addr::new(*a, *b, *c, *d).into()),
            _ => return Header::Wrong,
        },
        (1, 0x21) => match said.first_chunk::<16>() {
            Some(client) if said.len() >= 36 => Some(Ipv6Addr::from(*client).to_canonical()),
            _ => return Header::Wrong,
        },
        // Another protocol, whose addresses we don't support.
        (1, _) => None,
        _ => return Header::Wrong,
    };
    Header::Complete { length: before + 4 + size, client }
}

impl<T: Connection> Connection for ProxiedStream<T> {
    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !ready!(self.poll_open(cx))?.is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.stream.poll_readable(cx)
    }

    fn peer(&self) -> Option<IpAddr> {
        match &self.state {
            State::Open { client: Some(client), .. } => Some(*client),
            State::Open { client: None, .. } => self.stream.peer(),
            // The client isn't known yet.
            State::Header(_) | State::Refused => None,
        }
    }

    fn local_addr(&self) -> Option<SocketAddr> {
        self.stream.local_addr()
    }

    fn tls_peer(&self) -> Option<TlsPeer> {
        self.stream.tls_peer()
    }

    fn handshake_bytes(&self) -> u64 {
        self.stream.handshake_bytes()
    }

    fn is_in_handshake(&self) -> bool {
        self.stream.is_in_handshake()
    }

    fn handshake_failure(&self) -> Option<String> {
        self.stream.handshake_failure()
    }
}

impl<T: Connection> AsyncRead for ProxiedStream<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let ahead = ready!(self.poll_open(cx))?;
        if !ahead.is_empty() {
            let length = ahead.len().min(out.remaining());
            out.put_slice(&ahead.split_to(length));
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, out)
    }
}

impl<T: Connection> AsyncWrite for ProxiedStream<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(length: usize, client: Option<&str>) -> Header {
        Header::Complete { length, client: client.map(|client| client.parse().unwrap()) }
    }

    fn v2(command: u8, family: u8, said: &[u8]) -> Vec<u8> {
        let length = u16::try_from(said.len()).unwrap().to_be_bytes();
        [&SIGNATURE[..], &[command, family], &length, said].concat()
    }

    #[test]
    fn headers_of_both_versions_are_read() {
        let v4 = [192, 0, 2, 1, 198, 51, 100, 1, 0xDC, 4, 1, 0xBB];
        let v6 = [&Ipv6Addr::LOCALHOST.octets()[..], &[0; 16], &[0, 1, 0, 2]].concat();
        let mapped = [&Ipv4Addr::new(192, 0, 2, 1).to_ipv6_mapped().octets()[..], &[0; 20]].concat();
        let with_extension = [&v4[..], &[4, 0, 1, 0]].concat();
        for (bytes, expected) in [
            (b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n".to_vec(), complete(45, Some("192.0.2.1"))),
            (b"PROXY TCP6 ::1 ::2 1 2\r\nGET".to_vec(), complete(24, Some("::1"))),
            // The same client has the same address.
            (b"PROXY TCP6 ::ffff:192.0.2.1 ::2 1 2\r\n".to_vec(), complete(37, Some("192.0.2.1"))),
            (v2(0x21, 0x21, &mapped), complete(52, Some("192.0.2.1"))),
            (b"PROXY UNKNOWN\r\n".to_vec(), complete(15, None)),
            (b"PROXY UNKNOWN ::1 ::2 1 2\r\n".to_vec(), complete(27, None)),
            (v2(0x21, 0x11, &v4), complete(28, Some("192.0.2.1"))),
            (v2(0x21, 0x11, &with_extension), complete(32, Some("192.0.2.1"))),
            (v2(0x21, 0x21, &v6), complete(52, Some("::1"))),
            (v2(0x20, 0, &[]), complete(16, None)),
            (v2(0x20, 0x11, &v4), complete(28, None)),
            (v2(0x21, 0x31, &[0; 216]), complete(232, None)),
        ] {
            assert_eq!(header(&bytes), expected, "{bytes:?}");
            let Header::Complete { length, .. } = expected else { unreachable!() };
            for end in 0..length {
                assert_eq!(header(&bytes[..end]), Header::Partial, "{end} of {bytes:?}");
            }
        }
    }

    #[test]
    fn invalid_headers_are_recognised() {
        let long = format!("PROXY UNKNOWN {}\r\n", "x".repeat(MAX_LINE));
        for bytes in [
            b"GET / HTTP/1.1\r\n".to_vec(),
            b"PROXY\r\n".to_vec(),
            b"PROXY TCP4\r\n".to_vec(),
            b"PROXY TCP4 ::1 ::2 1 2\r\n".to_vec(),
            b"PROXY TCP6 192.0.2.1 192.0.2.1 1 2\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 192.0.2.1 1 65536\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 192.0.2.1 +1 2\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 192.0.2.1 1 \r\n".to_vec(),
            b"PROXY TCP4 192.0.2.1 192.0.2.1 1 2 3\r\n".to_vec(),
            b"PROXY TCP4  192.0.2.1 192.0.2.1 1 2\r\n".to_vec(),
            b"PROXY UDP4 192.0.2.1 192.0.2.1 1 2\r\n".to_vec(),
            b"PROXY \xFF\r\n".to_vec(),
            long.into_bytes(),
            v2(0x11, 0x11, &[0; 12]),
            v2(0x22, 0x11, &[0; 12]),
            v2(0x21, 0x11, &[0; 11]),
            v2(0x21, 0x21, &[0; 35]),
            v2(0x21, 0x11, &[0; MAX_BLOCK + 1]),
        ] {
            assert_eq!(header(&bytes), Header::Wrong, "{bytes:?}");
        }
    }

    /// Whatever a connection begins with, the result doesn't depend on how the bytes are split.
    #[test]
    fn changed_headers_are_read_in_any_pieces() {
        let v4 = v2(0x21, 0x11, &[192, 0, 2, 1, 198, 51, 100, 1, 0xDC, 4, 1, 0xBB, 4, 0, 1, 0]);
        let v6 = v2(0x21, 0x21, &[1; 36]);
        let (local, other, long) = (v2(0x20, 0, &[]), v2(0x21, 0x31, &[0; 216]), v2(0x21, 0x11, &[1; MAX_BLOCK]));
        let seeds: [&[u8]; 9] = [
            b"PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\nPOST / HTTP/1.1\r\n\r\n",
            b"PROXY TCP6 ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n",
            b"PROXY TCP6 2001:db8::1 ::ffff:1.2.3.4 1 2\r\n",
            b"PROXY UNKNOWN ffff::1 ::1 65535 65535\r\n",
            &v4,
            &v6,
            &local,
            &other,
            &long,
        ];
        crate::mutations::check_mutations(&seeds, |text, _| {
            let whole = header(text);
            if let Header::Complete { length, .. } = whole {
                assert!(length <= text.len() && length <= SIGNATURE.len() + 4 + MAX_BLOCK, "{text:?}");
            }
            for end in (0..text.len().min(300)).chain([text.len()]) {
                match header(&text[..end]) {
                    Header::Partial => assert!(end <= SIGNATURE.len() + 4 + MAX_BLOCK, "{text:?}"),
                    found => {
                        assert_eq!(found, whole, "{end} of {text:?}");
                        break;
                    }
                }
            }
        });
    }
}
