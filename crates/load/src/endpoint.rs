//! Where requests go.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use crate::{Error, ErrorKind, Secured, Tls};

/// An HTTP endpoint, resolved once, so that no measurement waits for a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The address to connect to.
    pub address: SocketAddr,
    /// Host and port as the URL names them, for the `Host` header (RFC 9110 §7.2).
    pub authority: String,
    /// The path of the URL with its query, `/` when it has none.
    pub path: String,
    /// TLS, if it speaks that.
    pub secured: Option<Secured>,
}

impl Endpoint {
    /// Reads and resolves `http://HOST[:PORT][/PATH]`.
    pub fn resolve(url: &str) -> Result<Self, Error> {
        let input = |what: &str| Error::new(ErrorKind::Input, format!("{url:?}: {what}"));
        let rest = url.strip_prefix("http://").ok_or_else(|| {
            input("found no scheme that is spoken here, expected http://HOST[:PORT][/PATH], or https:// with TLS")
        })?;
        let (endpoint, _) = Endpoint::resolve_rest(url, rest, 80)?;
        Ok(endpoint)
    }

    /// Reads and resolves `http://HOST[:PORT][/PATH]` or, to be spoken to over `tls`, `https://HOST[:PORT][/PATH]`.
    pub fn resolve_with(url: &str, tls: &Arc<dyn Tls>) -> Result<Self, Error> {
        let Some(rest) = url.strip_prefix("https://") else { return Endpoint::resolve(url) };
        let (endpoint, host) = Endpoint::resolve_rest(url, rest, 443)?;
        Ok(Endpoint { secured: Some(Secured { host, tls: tls.clone() }), ..endpoint })
    }

    /// The endpoint that stands behind the scheme, without TLS, and its host.
    fn resolve_rest(url: &str, rest: &str, port: u16) -> Result<(Self, String), Error> {
        let input = |what: &str| Error::new(ErrorKind::Input, format!("{url:?}: {what}"));
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, "/"),
        };
        if authority.is_empty() || authority.contains('@') {
            return Err(input("expected HOST[:PORT] after ://"));
        }
        if path.bytes().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control()) {
            return Err(input("found white space in the path"));
        }
        // An IPv6 literal has colons of its own, inside brackets (RFC 3986 §3.2.2).
        let has_port = authority.rsplit(']').next().is_some_and(|end| end.contains(':'));
        let host_and_port = if has_port { authority.to_owned() } else { format!("{authority}:{port}") };
        let address = host_and_port
            .to_socket_addrs()
            .map_err(|error| {
                let error = error.to_string();
                let why = error.strip_prefix("failed to lookup address information: ").unwrap_or(&error);
                input(&format!("the host has no address: {why}"))
            })?
            .next()
            .ok_or_else(|| input("the host has no address"))?;
        let host = host_and_port.rsplit_once(':').map_or(authority, |(host, _)| host).to_owned();
        Ok((Endpoint { address, authority: authority.to_owned(), path: path.to_owned(), secured: None }, host))
    }

    /// Another path of this server.
    pub fn at(&self, path: impl Into<String>) -> Self {
        Endpoint { path: path.into(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let cases = [
            ("http://127.0.0.1:8080/soap/a?b", "127.0.0.1:8080", "127.0.0.1:8080", "/soap/a?b"),
            ("http://127.0.0.1", "127.0.0.1:80", "127.0.0.1", "/"),
            ("http://[::1]:81", "[::1]:81", "[::1]:81", "/"),
            ("http://[::1]/x", "[::1]:80", "[::1]", "/x"),
        ];
        for (url, address, authority, path) in cases {
            let endpoint = Endpoint::resolve(url).unwrap();
            assert_eq!(endpoint.address.to_string(), address, "{url}");
            assert_eq!((&*endpoint.authority, &*endpoint.path), (authority, path), "{url}");
        }
        for url in ["https://127.0.0.1/", "127.0.0.1:80", "http:///x", "http://h:port/"] {
            assert_eq!(Endpoint::resolve(url).unwrap_err().kind(), ErrorKind::Input, "{url}");
        }
    }
}
