//! The address of a server, and what is sent with each request to it.

use std::borrow::Cow;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::{Error, ErrorKind, Secured, Tls};

/// An HTTP endpoint. Its host name is resolved once, so that no measurement includes a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The address to connect to: that of the proxy if there is one.
    pub address: SocketAddr,
    /// Host and port as in the URL, for the `Host` header (RFC 9110 §7.2).
    pub authority: String,
    /// The path of the URL with its query; `/` if the URL has no path.
    pub path: String,
    /// TLS, if the endpoint uses it.
    pub secured: Option<Secured>,
    /// The proxy in front of the endpoint, if there is one.
    pub proxy: Option<Proxy>,
    /// What is sent with each request.
    pub along: Along,
}

/// An HTTP proxy. It forwards requests for `http` and makes a tunnel for `https`.
#[derive(Clone, PartialEq, Eq)]
pub struct Proxy {
    /// The address at which it listens.
    pub address: SocketAddr,
    /// The name and password for the proxy, if it requires them.
    pub login: Option<(String, String)>,
}

/// What is sent with each request in addition to the case's own headers. Empty by default.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Along {
    /// Header lines, each with its line end (`\r\n`).
    pub headers: Arc<str>,
    /// Whether each user stores the cookies that answers set, and sends them back.
    pub cookies: bool,
}

/// Omits the name and password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("address", &self.address).finish_non_exhaustive()
    }
}

impl fmt::Debug for Along {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.headers.lines().count();
        f.debug_struct("Along").field("header_lines", &lines).field("cookies", &self.cookies).finish()
    }
}

impl Proxy {
    /// Reads and resolves `http://HOST[:PORT]`.
    pub fn resolve(url: &str) -> Result<Self, Error> {
        let input = |what: &str| Error::new(ErrorKind::Input, format!("the proxy {url:?}: {what}"));
        let rest = url.strip_prefix("http://").ok_or_else(|| input("expected http://HOST[:PORT]"))?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        if authority.contains('/') {
            return Err(input("found a path, expected http://HOST[:PORT]"));
        }
        let host_and_port = with_port(authority, 80).ok_or_else(|| input("expected HOST[:PORT] after ://"))?;
        let address = resolve_host(&host_and_port).map_err(|why| input(&why))?;
        Ok(Proxy { address, login: None })
    }

    /// Returns its URL with name and password, for other clients.
    pub fn url(&self) -> String {
        let login = self.login.as_ref().map(|(name, password)| format!("{}:{}@", percent(name), percent(password)));
        format!("http://{}{}", login.unwrap_or_default(), self.address)
    }

    /// Returns the header line with the name and password (RFC 9110 §11.7.2, RFC 7617), or nothing.
    fn authorization(&self) -> String {
        let line = |(name, password): &(String, String)| {
            format!("Proxy-Authorization: Basic {}\r\n", BASE64_STANDARD.encode(format!("{name}:{password}")))
        };
        self.login.as_ref().map(line).unwrap_or_default()
    }
}

/// Escapes all characters except letters and digits for a URL (RFC 3986 §2.1).
fn percent(text: &str) -> String {
    let written = |byte: u8| match byte.is_ascii_alphanumeric() {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(written).collect()
}

impl Endpoint {
    /// Reads and resolves `http://HOST[:PORT][/PATH]`.
    pub fn resolve(url: &str) -> Result<Self, Error> {
        Endpoint::resolve_through(url, None, None)
    }

    /// Reads and resolves `http://HOST[:PORT][/PATH]` or `https://HOST[:PORT][/PATH]`, which uses `tls`.
    pub fn resolve_with(url: &str, tls: &Arc<dyn Tls>) -> Result<Self, Error> {
        Endpoint::resolve_through(url, Some(tls), None)
    }

    /// Reads and resolves `http://HOST[:PORT][/PATH]` or, if `tls` is given, `https://HOST[:PORT][/PATH]`. With a proxy, the host name
    /// is left for the proxy to resolve.
    pub fn resolve_through(url: &str, tls: Option<&Arc<dyn Tls>>, proxy: Option<Proxy>) -> Result<Self, Error> {
        let input = |what: &str| Error::new(ErrorKind::Input, format!("{url:?}: {what}"));
        let (rest, port, tls) = match (url.strip_prefix("http://"), url.strip_prefix("https://"), tls) {
            (Some(rest), _, _) => (rest, 80, None),
            (None, Some(rest), Some(tls)) => (rest, 443, Some(tls.clone())),
            _ => {
                return Err(input(
                    "found no supported scheme, expected http://HOST[:PORT][/PATH], or https:// with TLS",
                ));
            }
        };
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, "/"),
        };
        let host_and_port = with_port(authority, port).ok_or_else(|| input("expected HOST[:PORT] after ://"))?;
        if path.bytes().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control()) {
            return Err(input("found white space in the path"));
        }
        let address = match &proxy {
            Some(proxy) => proxy.address,
            None => resolve_host(&host_and_port).map_err(|why| input(&why))?,
        };
        let host = || host_and_port.rsplit_once(':').map_or(authority, |(host, _)| host).to_owned();
        Ok(Endpoint {
            address,
            authority: authority.to_owned(),
            path: path.to_owned(),
            secured: tls.map(|tls| Secured { host: host(), tls }),
            proxy,
            along: Along::default(),
        })
    }

    /// Returns this endpoint with something that is sent with each request.
    pub fn with(self, along: Along) -> Self {
        Endpoint { along, ..self }
    }

    /// Returns the endpoint of another path on this server.
    pub fn at(&self, path: impl Into<String>) -> Self {
        Endpoint { path: path.into(), ..self.clone() }
    }

    /// Returns the request target of the first line (RFC 9112 §3.2). It is a complete URL for a proxy that forwards the request.
    pub(crate) fn request_target(&self) -> Cow<'_, str> {
        match self.proxy {
            Some(_) if self.secured.is_none() => format!("http://{}{}", self.authority, self.path).into(),
            _ => self.path.as_str().into(),
        }
    }

    /// Returns the header lines that each request has, including those for the proxy.
    pub(crate) fn header_lines(&self) -> Cow<'_, str> {
        match &self.proxy {
            Some(proxy) if self.secured.is_none() => format!("{}{}", self.along.headers, proxy.authorization()).into(),
            _ => (&*self.along.headers).into(),
        }
    }

    /// Returns the request that asks the proxy for a tunnel to this endpoint, if one is needed (RFC 9110 §9.3.6).
    pub(crate) fn tunnel(&self) -> Option<String> {
        let proxy = self.proxy.as_ref().filter(|_| self.secured.is_some())?;
        let host = with_port(&self.authority, 443)?;
        Some(format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n{}\r\n", proxy.authorization()))
    }
}

/// Returns a host with its port, or with `port` if it has none; `None` if it is not a host.
fn with_port(authority: &str, port: u16) -> Option<String> {
    if authority.is_empty() || authority.contains(|c: char| c == '@' || c.is_whitespace() || c.is_control()) {
        return None;
    }
    // An IPv6 literal has colons inside its brackets (RFC 3986 §3.2.2).
    let has_port = authority.rsplit(']').next().is_some_and(|end| end.contains(':'));
    Some(if has_port { authority.to_owned() } else { format!("{authority}:{port}") })
}

/// Returns the address of a host, or why there is none.
fn resolve_host(host_and_port: &str) -> Result<SocketAddr, String> {
    let mut found = host_and_port.to_socket_addrs().map_err(|error| {
        let error = error.to_string();
        let why = error.strip_prefix("failed to lookup address information: ").unwrap_or(&error);
        format!("the host has no address: {why}")
    })?;
    found.next().ok_or_else(|| "the host has no address".to_owned())
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

    #[test]
    fn a_proxy_gets_the_whole_url_and_the_credentials() {
        let mut proxy = Proxy::resolve("http://127.0.0.1:3128/").unwrap();
        proxy.login = Some(("x".to_owned(), "y@".to_owned()));
        assert_eq!(proxy.url(), "http://x:y%40@127.0.0.1:3128");
        // Only the proxy can resolve this host.
        let endpoint = Endpoint::resolve_through("http://far.invalid/a?b", None, Some(proxy)).unwrap();
        assert_eq!(endpoint.address.to_string(), "127.0.0.1:3128");
        assert_eq!(endpoint.request_target(), "http://far.invalid/a?b");
        assert_eq!(endpoint.header_lines(), "Proxy-Authorization: Basic eDp5QA==\r\n");
        assert_eq!(endpoint.tunnel(), None);
        assert!(!format!("{endpoint:?}").contains("y@"));
        for wrong in ["127.0.0.1:3128", "https://127.0.0.1", "http://", "http://127.0.0.1/a", "http://a@127.0.0.1"] {
            assert_eq!(Proxy::resolve(wrong).unwrap_err().kind(), ErrorKind::Input, "{wrong}");
        }
    }
}
