//! The choice of a proxy for a connection.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Builder, Matcher};

use super::urls::with_port_or_none;
use crate::error::{Error, ErrorKind};

/// The proxies for connections.
///
/// A proxy is given by an `http`, `https`, `socks5` or `socks5h` URL, with a user name and password if needed:
/// `http://user:password@proxy:3128`. An HTTP proxy forwards requests for `http` URLs. For `https` URLs the client
/// opens a tunnel through it (CONNECT, RFC 9110 §9.3.6), so the proxy can't read messages. A SOCKS proxy resolves host
/// names itself, with both schemes.
///
/// The connection to a proxy with an `https` URL uses TLS (feature `tls`), which protects its password. It trusts the
/// root certificates of [`Options::tls`](super::Options::tls), and sends no client certificate.
///
/// ```
/// use castile_http::client::{Options, Proxies};
///
/// let mut options = Options::default();
/// options.proxies = Proxies::all("http://proxy.example:3128")?.except("localhost, 10.0.0.0/8, .example.org");
/// # Ok::<(), castile_http::Error>(())
/// ```
#[derive(Clone)]
pub struct Proxies {
    proxy: Option<String>,
    except: String,
    matcher: Arc<Matcher>,
}

/// The route of a connection.
pub(super) enum Route {
    Direct,
    /// Through an HTTP proxy, with or without TLS. `authorization` is sent to the proxy.
    Http {
        proxy: Uri,
        authorization: Option<HeaderValue>,
    },
    Socks {
        proxy: Uri,
        login: Option<(String, String)>,
    },
}

impl Proxies {
    /// Uses no proxy and ignores the environment.
    pub fn none() -> Self {
        Proxies { proxy: None, except: String::new(), matcher: Arc::new(Builder::default().build()) }
    }

    /// Reads the proxies from the environment: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, or the same
    /// names in lower case. The local machine (`localhost`, 127.0.0.1, ::1) is reached without a proxy. A CGI program
    /// gets no proxy, because there a request header can set `HTTP_PROXY`.
    pub fn from_environment() -> Self {
        Proxies { matcher: Arc::new(Matcher::from_env()), ..Proxies::none() }
    }

    /// Uses one proxy for all connections.
    ///
    /// # Errors
    /// [`ErrorKind::Request`] if `url` is not the URL of a proxy.
    pub fn all(url: &str) -> Result<Self, Error> {
        // The error doesn't repeat the URL, which may contain a password.
        let expected = "expected the URL of a proxy, such as http://host:3128 or socks5h://host:1080";
        let unusable = |found: String| Error::new(ErrorKind::Request, format!("found {found}, {expected}"));
        let parsed: Uri = url.parse().map_err(|_| unusable("no URL".to_owned()))?;
        match parsed.scheme_str() {
            Some("http" | "socks5" | "socks5h") => {}
            Some("https") if cfg!(feature = "tls") => {}
            Some("https") => return Err(unusable("the scheme https without the feature tls".to_owned())),
            Some(scheme) => return Err(unusable(format!("the scheme {scheme}"))),
            None => return Err(unusable("no scheme".to_owned())),
        }
        with_port_or_none(&parsed)?;
        let mut proxies = Proxies { proxy: Some(url.to_owned()), ..Proxies::none() };
        proxies.build();
        Ok(proxies)
    }

    /// Excludes hosts from the proxy that [`all`](Self::all) set, in the format of `NO_PROXY`: names (including their
    /// subdomains), IP addresses and networks, separated by commas. For proxies from the environment this has no
    /// effect: `NO_PROXY` applies.
    pub fn except(mut self, hosts: &str) -> Self {
        self.except = hosts.to_owned();
        self.build();
        self
    }

    fn build(&mut self) {
        if let Some(proxy) = &self.proxy {
            self.matcher = Arc::new(Matcher::builder().all(proxy.as_str()).no(self.except.as_str()).build());
        }
    }

    /// Returns the route of a connection to `url`.
    pub(super) fn route(&self, url: &Uri) -> Result<Route, Error> {
        let is_of_environment = self.proxy.is_none();
        let found = self.matcher.intercept(url).filter(|_| !(is_of_environment && is_here(url)));
        let Some(proxy) = found else { return Ok(Route::Direct) };
        match proxy.uri().scheme_str() {
            Some("http" | "https") => {
                Ok(Route::Http { proxy: proxy.uri().clone(), authorization: proxy.basic_auth().cloned() })
            }
            Some("socks5" | "socks5h") => Ok(Route::Socks {
                proxy: proxy.uri().clone(),
                login: proxy.raw_auth().map(|(user, password)| (user.to_owned(), password.to_owned())),
            }),
            other => {
                let found = other.unwrap_or_default();
                let message =
                    format!("found a proxy with the scheme {found:?}, expected http, https, socks5 or socks5h");
                Err(Error::new(ErrorKind::Connect, message).repeating())
            }
        }
    }
}

/// Returns whether a URL is on the local machine.
fn is_here(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default();
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl Default for Proxies {
    /// The proxies of the environment.
    fn default() -> Self {
        Proxies::from_environment()
    }
}

impl fmt::Debug for Proxies {
    /// User names and passwords are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.matcher.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_directly() {
        for (url, expected) in [
            ("http://localhost:8080/", true),
            ("http://LOCALHOST/", true),
            ("http://127.1.2.3/", true),
            ("https://[::1]:8443/", true),
            ("http://localhost.example/", false),
            ("http://10.0.0.1/", false),
            ("http://[2001:db8::1]/", false),
        ] {
            assert_eq!(is_here(&url.parse().unwrap()), expected, "{url}");
        }
    }

    #[test]
    fn a_proxy_that_is_named_is_for_all_but_its_exceptions() {
        let proxies = Proxies::all("http://proxy.example:3128").unwrap();
        let is_direct =
            |proxies: &Proxies, url: &str| matches!(proxies.route(&url.parse().unwrap()).unwrap(), Route::Direct);
        assert!(!is_direct(&proxies, "http://localhost/"));
        let proxies = proxies.except("localhost, .example.org, 10.0.0.0/8");
        for (url, expected) in [
            ("http://localhost/", true),
            ("http://a.example.org/", true),
            ("http://10.1.2.3/", true),
            ("http://example.com/", false),
        ] {
            assert_eq!(is_direct(&proxies, url), expected, "{url}");
        }
        assert!(is_direct(&Proxies::none(), "http://example.com/"));
    }
}
