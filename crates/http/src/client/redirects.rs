//! Redirects of messages.

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, StatusCode, Uri, header};

use super::urls::{origin, shown_url};
use crate::error::{Error, ErrorKind};
use crate::headers::shown;

/// The most redirects of one message.
pub(super) const MAX_REDIRECTS: u32 = 5;

/// Whether redirects are followed.
///
/// The message is sent again unchanged after 301, 302, 307 and 308. It is never sent as a GET, so 303 is not followed.
/// A redirect from `https` to `http` is never followed. Credentials and cookies are sent only to their own origin, but
/// the message itself may contain secrets. At most five redirects are followed, and none for a streamed message.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Redirects {
    /// Follows no redirect: it is an error that names the target. This is the default.
    #[default]
    Never,
    /// Follows redirects within the same scheme, host and port.
    SameOrigin,
    /// Follows redirects within the same scheme, host and port, and to the origins of these URLs.
    SameOriginAnd(Vec<Uri>),
}

impl Redirects {
    pub(super) fn are_followed(&self) -> bool {
        !matches!(self, Redirects::Never)
    }

    /// Returns the target of a redirect, if `answer` to a message for `url` is one.
    ///
    /// # Errors
    /// The redirect is not followed; the message explains why.
    pub(super) fn target(&self, url: &Uri, status: StatusCode, answer: &HeaderMap) -> Result<Option<Uri>, Error> {
        let is_followed = [
            StatusCode::MOVED_PERMANENTLY,
            StatusCode::FOUND,
            StatusCode::TEMPORARY_REDIRECT,
            StatusCode::PERMANENT_REDIRECT,
        ];
        if !self.are_followed() || !is_followed.contains(&status) {
            return Ok(None);
        }
        let Some(target) = answer.get(header::LOCATION).and_then(|to| resolve(url, to.to_str().ok()?)) else {
            return Ok(None);
        };
        if target.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            let from = shown_url(url);
            let message =
                format!("the answer from {from} is {status}, and redirects the message to a URL that contains a login");
            return Err(Error::new(ErrorKind::Status(status), message));
        }
        let refused = |why: &str| {
            let (from, target) = (shown_url(url), shown(&target.to_string()));
            let message = format!("the answer from {from} is {status}, and redirects the message to {target}, {why}");
            Err(Error::new(ErrorKind::Status(status), message))
        };
        if url.scheme() == Some(&Scheme::HTTPS) && target.scheme() != Some(&Scheme::HTTPS) {
            return refused("which is not https as the URL before it is");
        }
        let allowed = match self {
            Redirects::SameOriginAnd(others) => &others[..],
            _ => &[],
        };
        let to = origin(&target);
        if to.is_none() || (origin(url) != to && !allowed.iter().any(|other| origin(other) == to)) {
            return refused("which is not an allowed origin");
        }
        Ok(Some(target))
    }
}

/// Resolves a URL reference against `base` (RFC 3986 §5.2).
fn resolve(base: &Uri, reference: &str) -> Option<Uri> {
    let reference = reference.split('#').next()?;
    let is_absolute = reference.split_once(':').is_some_and(|(scheme, _)| !scheme.contains(['/', '?']));
    if is_absolute {
        return reference.parse().ok().filter(|url: &Uri| url.scheme().is_some() && url.authority().is_some());
    }
    let mut parts = base.clone().into_parts();
    let reference = match reference.strip_prefix("//") {
        None => reference,
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
            parts.authority = Some(authority.parse::<Authority>().ok()?);
            if path.is_empty() { "/" } else { path }
        }
    };
    let (path, query) = match reference.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (reference, None),
    };
    let (directory, _) = base.path().rsplit_once('/').unwrap_or_default();
    let path = match path {
        "" if query.is_none() => return Some(base.clone()),
        "" => base.path().to_owned(),
        path if path.starts_with('/') => without_dots(path),
        path => without_dots(&format!("{directory}/{path}")),
    };
    let with_query = query.map_or(path.clone(), |query| format!("{path}?{query}"));
    parts.path_and_query = Some(with_query.parse::<PathAndQuery>().ok()?);
    Uri::from_parts(parts).ok()
}

/// Removes the dot segments of a path (RFC 3986 §5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<_> = path.split('/').skip(1).collect();
    for (index, &segment) in segments.iter().enumerate() {
        let is_last = index + 1 == segments.len();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3986 §5.4 that apply to http.
    #[test]
    fn references_are_resolved() {
        let base = Uri::from_static("http://a/b/c/d?q");
        for (reference, expected) in [
            ("g:h", None),
            ("g", Some("http://a/b/c/g")),
            ("./g", Some("http://a/b/c/g")),
            ("g/", Some("http://a/b/c/g/")),
            ("/g", Some("http://a/g")),
            ("//g", Some("http://g/")),
            ("//g/x?y", Some("http://g/x?y")),
            ("?y", Some("http://a/b/c/d?y")),
            ("g?y", Some("http://a/b/c/g?y")),
            ("#s", Some("http://a/b/c/d?q")),
            ("g#s", Some("http://a/b/c/g")),
            ("", Some("http://a/b/c/d?q")),
            (".", Some("http://a/b/c/")),
            ("..", Some("http://a/b/")),
            ("../g", Some("http://a/b/g")),
            ("../../../g", Some("http://a/g")),
            ("/./g", Some("http://a/g")),
            ("/../g", Some("http://a/g")),
            ("g.", Some("http://a/b/c/g.")),
            ("g?y/../x", Some("http://a/b/c/g?y/../x")),
            ("https://x/y", Some("https://x/y")),
            ("http:///x", None),
            ("a b", None),
        ] {
            let resolved = resolve(&base, reference).map(|url| url.to_string());
            assert_eq!(resolved.as_deref(), expected, "{reference}");
        }
    }

    #[test]
    fn a_message_goes_on_where_it_may() {
        let others = Redirects::SameOriginAnd(vec![Uri::from_static("https://a"), Uri::from_static("http://b:81/x")]);
        let (never, same) = (Redirects::Never, Redirects::SameOrigin);
        let to = |redirects: &Redirects, from: &'static str, status: u16, location: &'static str| {
            let mut answer = HeaderMap::new();
            answer.insert(header::LOCATION, header::HeaderValue::from_static(location));
            let status = StatusCode::from_u16(status).unwrap();
            match redirects.target(&Uri::from_static(from), status, &answer) {
                Ok(target) => target.map_or("-".to_owned(), |target| target.to_string()),
                Err(error) => error.to_string().rsplit_once(", ").unwrap().1.to_owned(),
            }
        };
        let another = "which is not an allowed origin";
        let clear = "which is not https as the URL before it is";
        for status in [301, 302, 307, 308] {
            assert_eq!(to(&never, "http://a/x", status, "/y"), "-");
            assert_eq!(to(&same, "http://a/x", status, "/y"), "http://a/y");
            assert_eq!(to(&same, "http://a/x", status, "http://A:80/y"), "http://A:80/y");
            assert_eq!(to(&same, "http://a/x", status, "https://a/y"), another);
            assert_eq!(to(&others, "http://a/x", status, "https://a/y"), "https://a/y");
            assert_eq!(to(&others, "http://a/x", status, "http://b:81/y"), "http://b:81/y");
            assert_eq!(to(&others, "http://a/x", status, "http://b/y"), another);
            assert_eq!(to(&others, "https://a/x", status, "http://b:81/y"), clear);
            assert_eq!(to(&others, "http://a/x", status, "file://b/y"), another);
        }
        assert_eq!(
            to(&same, "http://a/x", 302, "http://user:password@a/"),
            "and redirects the message to a URL that contains a login"
        );
        // The error quotes only the beginning of a long URL.
        let mut answer = HeaderMap::new();
        let long = format!("http://b/{}", "x".repeat(60_000));
        answer.insert(header::LOCATION, long.parse().unwrap());
        let error = same.target(&Uri::from_static("http://a/"), StatusCode::FOUND, &answer).unwrap_err();
        assert!(error.to_string().len() < 1_000, "{error}");
        for status in [200, 300, 303, 304, 305, 401] {
            assert_eq!(to(&same, "http://a/x", status, "/y"), "-");
        }
    }

    /// Whatever a server sends, a message goes only to the same origin, and to the URL that other implementations would
    /// read.
    #[test]
    fn changed_locations_lead_nowhere_else() {
        let seeds: [&[u8]; 9] = [
            b"http://a/b/c/g?y#s",
            b"https://a:443/x",
            b"//a/../g;x=1/./y",
            b"../../g?y/../x",
            b"/./a:b/c",
            b"?y=http://b/",
            b"http://user:password@a:80/",
            b"http://[::1]:80/x",
            b"g;x=1/../y",
        ];
        let others =
            Redirects::SameOriginAnd(vec![Uri::from_static("https://a:443"), Uri::from_static("http://[::1]/")]);
        crate::mutations::check_mutations(&seeds, |text, random| {
            let Ok(value) = header::HeaderValue::from_bytes(text) else { return };
            let mut answer = HeaderMap::new();
            answer.insert(header::LOCATION, value);
            let base = Uri::from_static(["http://a/b/c/d?q", "https://a/b/c/d", "http://a"][random.usize(..3)]);
            for redirects in [&Redirects::SameOrigin, &others] {
                let Ok(Some(to)) = redirects.target(&base, StatusCode::FOUND, &answer) else { continue };
                let to_other = matches!(redirects, Redirects::SameOriginAnd(_))
                    && [("https", "a", 443), ("http", "[::1]", 80)]
                        .iter()
                        .any(|&(scheme, host, port)| origin(&to) == Some((scheme.into(), host.into(), port)));
                assert!(origin(&to) == origin(&base) || to_other, "{base} {text:?} {to}");
                assert!(base.scheme() != Some(&Scheme::HTTPS) || to.scheme() == Some(&Scheme::HTTPS), "{base} {to}");
                assert_eq!(to.to_string().parse::<Uri>().ok().as_ref(), Some(&to), "{base} {text:?}");
                assert!(
                    !to.path().split('/').any(|segment| [".", ".."].contains(&segment)) || text.contains(&b':'),
                    "{to}"
                );
            }
        });
    }
}
