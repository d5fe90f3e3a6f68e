//! URLs: which ones can a message be sent to, how are they shown, and what is their origin?

use http::Uri;
use http::uri::Authority;

use crate::error::{Error, ErrorKind};
use crate::headers::shown;

/// Parses the address of a service.
///
/// # Errors
/// [`ErrorKind::Request`] if it is not an absolute URL or contains a user name or password. Use
/// [`Credentials`](super::Credentials) for these.
pub fn url(text: &str) -> Result<Uri, Error> {
    let url: Uri = text.parse().map_err(|error: http::uri::InvalidUri| no_url(text).because(error))?;
    without_login(&url)?;
    with_port_or_none(&url)?;
    if url.scheme().is_some() && url.host().is_some() { Ok(url) } else { Err(no_url(text)) }
}

/// # Errors
/// The URL has a login, which would only end up in logs. The message doesn't repeat it.
pub(super) fn without_login(url: &Uri) -> Result<(), Error> {
    let has_login = url.authority().is_some_and(|authority| authority.as_str().contains('@'));
    let message =
        "found a URL with a login before its host, expected one without: use `Credentials::basic` to send a login";
    if has_login { Err(Error::new(ErrorKind::Request, message)) } else { Ok(()) }
}

/// # Errors
/// The URL has a port that isn't a valid number. `Uri` returns no port then, so the default of the scheme would be
/// used.
pub(super) fn with_port_or_none(url: &Uri) -> Result<(), Error> {
    let authority = url.authority().map_or("", Authority::as_str);
    let behind_login = authority.rsplit_once('@').map_or(authority, |(_, behind)| behind);
    let port = url.host().and_then(|host| behind_login.strip_prefix(host)?.strip_prefix(':'));
    match port.filter(|port| !port.is_empty() && url.port_u16().is_none()) {
        Some(port) => {
            let message = format!("found the port {port:?} in a URL, expected a number up to 65535");
            Err(Error::new(ErrorKind::Request, message))
        }
        None => Ok(()),
    }
}

/// Parses the address of a service that a [`Transport`](super::Transport) can reach.
///
/// # Errors
/// [`ErrorKind::Request`] if it is not an absolute `http` URL (or `https` with the feature `tls`), or contains a user
/// name or password.
pub fn http_url(text: &str) -> Result<Uri, Error> {
    let url = url(text)?;
    match url.scheme_str() {
        Some("http") => Ok(url),
        Some("https") if cfg!(feature = "tls") => Ok(url),
        Some("https") => {
            let message =
                format!("found {text:?}, but https needs the feature tls, and this program is built without it");
            Err(Error::new(ErrorKind::Request, message))
        }
        _ => Err(no_url(text)),
    }
}

fn no_url(text: &str) -> Error {
    // The part before `@` may be a login.
    let text = text.rsplit_once('@').map_or(text, |(_, behind)| behind);
    Error::new(ErrorKind::Request, format!("found {text:?}, expected a URL such as http://host/path"))
}

/// Shows a URL in an error message: on one line, shortened, without a login, and without the query, which may contain
/// secrets.
pub(super) fn shown_url(url: &Uri) -> String {
    let scheme = url.scheme_str().map_or_else(String::new, |scheme| format!("{scheme}://"));
    let authority = url.authority().map_or("", Authority::as_str);
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let query = if url.query().is_some() { "?…" } else { "" };
    format!("{}{query}", shown(&format!("{scheme}{host}{}", url.path())))
}

/// Shows a URL reference in an error message, without a login.
pub(super) fn shown_reference(reference: &str) -> String {
    let parts = reference.split_once("//").filter(|(scheme, _)| scheme.is_empty() || scheme.ends_with(':'));
    let Some((scheme, rest)) = parts else { return shown(reference) };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    shown(&format!("{scheme}//{host}{path}"))
}

/// A scheme, a host in lower case, and a port.
pub(super) type Origin = (String, String, u16);

/// Returns the origin of a URL (RFC 6454 §4).
pub(super) fn origin(url: &Uri) -> Option<Origin> {
    let scheme = url.scheme()?;
    let port = url.port_u16().or(match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    })?;
    Some((scheme.as_str().to_owned(), url.host()?.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests {
    use super::super::Proxies;
    use super::*;

    #[test]
    fn urls_are_shown_without_what_may_be_secret() {
        for (url, expected) in [
            ("http://host", "http://host/"),
            ("https://ada:correct%20horse@host:81/a?token=open-sesame", "https://host:81/a?…"),
            ("http://[::1]/a@b?", "http://[::1]/a@b?…"),
            ("/a", "/a"),
        ] {
            assert_eq!(shown_url(&url.parse().unwrap()), expected);
        }
        let long = format!("http://host/{}?b", "x".repeat(60_000));
        assert!(shown_url(&long.parse().unwrap()).len() < 300);
    }

    /// Regression: a message for such a port went to port 80.
    #[test]
    fn a_port_is_a_number() {
        for right in ["http://host:65535/", "http://host:/", "http://[::1]/a:b", "http://[::1]:1/", "http://1:1"] {
            assert!(url(right).is_ok(), "{right}");
        }
        for (wrong, port) in [
            ("http://127.0.0.1:99999/", "99999"),
            ("http://[::1]:65536", "65536"),
            ("http://host:080x/a", "080x"),
            ("http://1:-1", "-1"),
        ] {
            let refused = url(wrong).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Request);
            let expected = format!("found the port {port:?} in a URL, expected a number up to 65535");
            assert_eq!(refused.to_string(), expected);
        }
        assert!(Proxies::all("http://host:31280/").is_ok() && Proxies::all("http://host:312800").is_err());
    }

    #[test]
    fn references_are_shown_without_a_login() {
        for (reference, expected) in [
            ("https://ada:correct horse@host/a@b?c@d", "https://host/a@b?c@d"),
            ("//ada@host", "//host"),
            ("/a//b@c", "/a//b@c"),
            ("b@c", "b@c"),
            ("\u{1b}", "\\u{1b}"),
        ] {
            assert_eq!(shown_reference(reference), expected);
        }
    }
}
