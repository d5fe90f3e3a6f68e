//! A port that refuses connections.
#![allow(clippy::unwrap_used, reason = "only tests come here")]

/// A socket that refuses connections: it has a port, so that no other test gets it, and doesn't listen.
pub(crate) fn refusing() -> tokio::net::TcpSocket {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    socket
}
