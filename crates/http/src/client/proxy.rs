//! Which proxy a connection goes through.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::{Builder, Matcher};

use super::with_port_or_none;
use crate::{Error, ErrorKind};

/// The proxies that connections go through.
///
/// A proxy is an `http` or `https` URL, or one of `socks5` or `socks5h`, with the name and password for it if it asks:
/// `http://user:password@proxy:3128`. Requests to `http` URLs are given to an HTTP proxy as they are; connections to `https` URLs
/// are tunnels through it (CONNECT, RFC 9110 §9.3.6), so it sees no message. A proxy of SOCKS looks up the names of hosts, whichever
/// of the two schemes its URL has.
///
/// A proxy with an `https` URL is spoken to over TLS (feature `tls`), so that nobody on the way to it reads its password. The roots are
/// those of [`Options::tls`](super::Options::tls); the proxy is shown no certificate of the client.
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

/// Where a connection goes.
pub(super) enum Route {
    Direct,
    /// To an HTTP proxy, over TLS or not, which is told who asks.
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
    /// No proxy, whatever the environment says.
    pub fn none() -> Self {
        Proxies { proxy: None, except: String::new(), matcher: Arc::new(Builder::default().build()) }
    }

    /// What the environment says now: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, or the same in small letters. What is on
    /// this machine (`localhost`, 127.0.0.1, ::1) is reached without a proxy. A program that a web server runs for a request (CGI) has
    /// no proxy, since `HTTP_PROXY` is a header of the request there.
    pub fn from_environment() -> Self {
        Proxies { matcher: Arc::new(Matcher::from_env()), ..Proxies::none() }
    }

    /// One proxy for all connections.
    ///
    /// # Errors
    /// [`ErrorKind::Request`] if `url` is not that of a proxy.
    pub fn all(url: &str) -> Result<Self, Error> {
        // The message doesn't repeat what may hold a password.
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

    /// These proxies but for some hosts, as `NO_PROXY` says them: names, which stand for what is below them as well, addresses and
    /// networks, with commas between. Proxies of the environment keep what that says.
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

    /// Where a connection to `url` goes.
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

/// Whether a URL is one of this machine.
fn is_here(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default();
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl Default for Proxies {
    /// Those of the environment.
    fn default() -> Self {
        Proxies::from_environment()
    }
}

impl fmt::Debug for Proxies {
    /// Without names and passwords.
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
