//! Where connections come from.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// A source of connections.
pub trait Listener: Send + 'static {
    /// What it accepts.
    type Connection: Connection;

    /// The most bytes that each connection keeps in memory by itself, beside what HTTP reads ahead. 0 by default.
    const BUFFERS: usize = 0;

    /// Accepts the next connection.
    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Self::Connection>>;
}

/// A stream of bytes that can wait for more of them without a buffer to put them in, which is how the server keeps
/// thousands of idle connections: none has a buffer.
pub trait Connection: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Waits until reading would give bytes, or the end. After an error the connection is dropped.
    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// The address of the other end, by which the limits per peer count; `None`, the default, is not limited.
    fn peer(&self) -> Option<IpAddr> {
        None
    }

    /// The address of this end, which a contract names if nothing else is configured
    /// ([`Address`](super::Address)). `None` by default.
    fn local_addr(&self) -> Option<SocketAddr> {
        None
    }

    /// The other end as TLS knows it, once the connection was [readable](Self::poll_readable). Each request has it among its
    /// extensions, and a contract says `https` where it is there. `None` by default.
    fn tls_peer(&self) -> Option<TlsPeer> {
        None
    }

    /// How many bytes came so far of a handshake that goes on. A peer that sends is not taken for a silent one when somebody has
    /// to make way. 0 by default.
    fn handshake_bytes(&self) -> u64 {
        0
    }

    /// Whether a TLS handshake goes on: if the time for it is over, observers are told that. `false` by default.
    fn is_in_handshake(&self) -> bool {
        false
    }

    /// Why the TLS handshake failed. Asked when a connection ends before its first request, and passed to observers. `None` by default.
    fn handshake_failure(&self) -> Option<String> {
        None
    }
}

/// The other end of a TLS connection, among the extensions of its requests.
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
    /// A peer with these certificates in DER, that asked for a server of this name.
    pub fn new(certificates: Vec<Vec<u8>>, server_name: Option<String>) -> Self {
        TlsPeer(Arc::new(Peer { certificates, server_name }))
    }

    /// The certificates of the client in DER, its own first. They were checked. There is none if the client wasn't asked or had
    /// none.
    pub fn certificates(&self) -> impl Iterator<Item = &[u8]> {
        self.0.certificates.iter().map(Vec::as_slice)
    }

    /// The name of the server that the client asked for (RFC 6066 §3).
    pub fn server_name(&self) -> Option<&str> {
        self.0.server_name.as_deref()
    }
}

/// How many bytes the system holds of an answer that it can't send yet. It would take up to 4 MB for each client that doesn't
/// read, which nobody counts; what the process holds is charged, and makes way.
#[cfg(any(target_os = "linux", target_os = "android"))]
const UNSENT: u32 = 256 << 10;

impl Listener for TcpListener {
    type Connection = TcpStream;

    fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<TcpStream>> {
        TcpListener::poll_accept(self, cx).map_ok(|(stream, _)| {
            // Head and body leave in one write, so nothing is gained by holding back the last packet. It fails only on
            // a connection that is gone already, which reading will find.
            let _ = stream.set_nodelay(true);
            #[cfg(any(target_os = "linux", target_os = "android"))]
            let _ = socket2::SockRef::from(&stream).set_tcp_notsent_lowat(UNSENT);
            stream
        })
    }
}

impl Connection for TcpStream {
    fn poll_readable(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Not `poll_read_ready`: tokio takes a new stream for readable until a read says otherwise.
        let mut byte = [0];
        self.poll_peek(cx, &mut ReadBuf::new(&mut byte)).map_ok(|_| ())
    }

    fn peer(&self) -> Option<IpAddr> {
        // A socket that takes both kinds of addresses has one kind.
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

    /// A listener for both kinds of addresses.
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
                    // Not by `eprintln`, which nobody sees of a test that passes.
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
