//! Sources of connections.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// A source of connections.
pub trait Listener: Send + 'static {
    /// The type of the accepted connections.
    type Connection: Connection;

    /// The most bytes of memory that each connection holds in its own buffers, besides those of HTTP. 0 by default.
    const BUFFERS: usize = 0;

    /// Accepts the next connection.
    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Connection>>;
}

/// A stream that can wait for data without a buffer for it. That allows the server to have thousands of idle
/// connections.
pub trait Connection: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Waits until a read would return bytes or the end of the stream. After an error the connection is dropped.
    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Returns the address of the peer, which the limits per peer use. With `None`, the default, these limits don't
    /// apply.
    fn peer(&self) -> Option<IpAddr> {
        None
    }

    /// Returns the local address, which a contract contains if no other [`Address`](super::Address) is configured.
    /// `None` by default.
    fn local_addr(&self) -> Option<SocketAddr> {
        None
    }

    /// Returns the TLS data of the peer, once the connection was [readable](Self::poll_readable). It is added to the
    /// extensions of each request, and contracts use `https` if it is present. `None` by default.
    fn tls_peer(&self) -> Option<TlsPeer> {
        None
    }

    /// Returns how many bytes of an unfinished handshake have arrived. A peer that sends these is not taken for a
    /// silent one when a connection must be dropped. 0 by default.
    fn handshake_bytes(&self) -> u64 {
        0
    }

    /// Returns whether a TLS handshake is in progress. If it exceeds its time limit, observers are notified. `false` by
    /// default.
    fn is_in_handshake(&self) -> bool {
        false
    }

    /// Returns why the TLS handshake failed. Called when a connection ends before its first request, and passed to
    /// observers. `None` by default.
    fn handshake_failure(&self) -> Option<String> {
        None
    }
}

/// The peer of a TLS connection. It is among the extensions of its requests.
///
/// ```
/// use castile_http::server::TlsPeer;
///
/// fn is_known(extensions: &http::Extensions, known: &[u8]) -> bool {
///     extensions.get::<TlsPeer>().and_then(|peer| peer.certificates().next()) == Some(known)
/// }
/// ```
#[derive(Clone, Debug)]
pub struct TlsPeer(Arc<Peer>);

#[derive(Debug)]
struct Peer {
    certificates: Vec<Vec<u8>>,
    server_name: Option<String>,
}

impl TlsPeer {
    /// Creates a peer with these certificates in DER, which requested this server name.
    pub fn new(certificates: Vec<Vec<u8>>, server_name: Option<String>) -> Self {
        TlsPeer(Arc::new(Peer { certificates, server_name }))
    }

    /// Returns the verified certificates of the client in DER, its own first. Empty if the client wasn't asked for one
    /// or has none.
    pub fn certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.0.certificates.iter().map(Vec::as_slice)
    }

    /// Returns the server name that the client requested (RFC 6066 §3).
    pub fn server_name(&self) -> Option<&str> {
        self.0.server_name.as_deref()
    }
}

/// The most unsent bytes of an answer in the system's buffer. Without this limit the system would buffer up to 4 MB for
/// each client that doesn't read, outside of any budget. Bytes held by the process are charged and can be dropped.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 256 << 10;

impl Listener for TcpListener {
    type Connection = TcpStream;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<TcpStream>> {
        TcpListener::poll_accept(self, cx).map_ok(|(stream, _)| {
            // Head and body are sent in one write, so delaying the last packet gains nothing. This fails only on a
            // broken connection, which the next read detects.
            let _ = stream.set_nodelay(true);
            #[cfg(any(target_os = "linux", target_os = "android"))]
            let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT);
            stream
        })
    }
}

impl Connection for TcpStream {
    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Not `poll_read_ready`, because tokio treats a new stream as readable until a read blocks.
        let mut byte = [0];
        self.poll_peek(cx, &mut ReadBuf::new(&mut byte)).map_ok(|_| ())
    }

    fn peer(&self) -> Option<IpAddr> {
        // A dual-stack socket reports IPv4 addresses as IPv6.
        self.peer_addr().ok().map(|address| address.ip().to_canonical())
    }

    fn local_addr(&self) -> Option<SocketAddr> {
        TcpStream::local_addr(self).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::Write;
    use std::net::{Ipv4Addr, Ipv6Addr};

    use tokio::net::TcpSocket;

    use super::*;

    /// Creates a listener for IPv4 and IPv6.
    fn listener_of_both() -> io::Result<TcpListener> {
        let socket = TcpSocket::new_v6()?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        socket2::SockRef::from(&socket).set_only_v6(false)?;
        socket.bind((Ipv6Addr::UNSPECIFIED, 0).into())?;
        socket.listen(8)
    }

    #[tokio::test]
    async fn a_client_of_ipv4_has_one_address_whatever_the_socket_is() {
        let local: IpAddr = Ipv4Addr::LOCALHOST.into();
        for is_both in [false, true] {
            let listener = match is_both {
                false => TcpListener::bind((local, 0)).await,
                true => listener_of_both(),
            };
            let mut listener = match listener {
                Err(error) if is_both => {
                    // Not `eprintln`, which is hidden if the test passes.
                    let _ = writeln!(io::stderr(), "skipped: there is no IPv6 here: {error}");
                    return;
                }
                listener => listener.unwrap(),
            };
            let port = listener.local_addr().unwrap().port();
            let mut accepted = async |to: IpAddr| {
                let client = TcpStream::connect((to, port)).await?;
                let server = poll_fn(|cx| Listener::poll_accept(&mut listener, cx)).await?;
                Ok::<_, io::Error>((server.peer(), server.peer_addr()?.ip(), client))
            };
            let (peer, at_socket, _client) = accepted(local).await.unwrap();
            assert_eq!(peer, Some(local));
            assert_eq!(at_socket.is_ipv6(), is_both);
            if is_both {
                let local: IpAddr = Ipv6Addr::LOCALHOST.into();
                assert_eq!(accepted(local).await.unwrap().0, Some(local));
            }
        }
    }
}
