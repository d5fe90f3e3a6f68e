//! Cookies (RFC 6265), which are sent only to the origin that set them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderValue, Uri, header};

use super::urls::{Origin, origin};
use crate::error::{Error, ErrorKind};

/// The most cookies per origin.
const COOKIES: usize = 50;
/// The most origins.
const ORIGINS: usize = 100;

/// The size limit of a cookie in bytes: its name, value and path.
const SIZE: usize = 4096;

/// The cookies of all origins that a transport talks to.
///
/// A cookie is sent only to the origin that set it, whatever its `Domain` is. This is enough for sessions, and no
/// server can set a cookie for another server.
#[derive(Debug, Default)]
pub(super) struct Cookies {
    store: Mutex<CookieStore>,
}

#[derive(Debug, Default)]
struct CookieStore {
    /// Each origin has at least one cookie.
    of_origins: HashMap<Origin, OriginCookies>,
    /// How many times cookies were set. It orders the origins by when they last set one.
    count: u64,
}

#[derive(Debug, Default)]
struct OriginCookies {
    cookies: Vec<Cookie>,
    /// The value of `CookieStore::count` when this origin last set a cookie.
    set: u64,
}

struct Cookie {
    name: String,
    value: String,
    path: String,
    until: Option<SystemTime>,
}

impl std::fmt::Debug for Cookie {
    /// The value is left out, because it is often a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cookie").field("name", &self.name).field("path", &self.path).finish_non_exhaustive()
    }
}

impl Cookies {
    /// Stores the cookies that a response from `url` sets.
    pub(super) fn store_from(&self, url: &Uri, answer: &HeaderMap) {
        self.set(url, answer.get_all(header::SET_COOKIE).iter().filter_map(|value| value.to_str().ok()));
    }

    /// Stores the cookies in these values of `Set-Cookie` headers. Invalid values are ignored.
    fn set<'a>(&self, url: &Uri, values: impl Iterator<Item = &'a str>) {
        let mut set = values.peekable();
        if set.peek().is_none() {
            return;
        }
        let Some(origin) = origin(url) else { return };
        let now = SystemTime::now();
        let mut kept = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let CookieStore { of_origins, count } = &mut *kept;
        *count += 1;
        let mut of_origin = of_origins.remove(&origin).unwrap_or_default();
        for cookie in set.filter_map(|text| Cookie::read(text, url, now)) {
            of_origin.cookies.retain(|old| (&old.name, &old.path) != (&cookie.name, &cookie.path));
            if cookie.is_alive(now) {
                if of_origin.cookies.len() >= COOKIES {
                    of_origin.cookies.remove(0);
                }
                of_origin.cookies.push(cookie);
                of_origin.set = *count;
            }
        }
        of_origin.cookies.retain(|cookie| cookie.is_alive(now));
        if of_origin.cookies.is_empty() {
            return;
        }
        if of_origins.len() >= ORIGINS {
            // Origins whose cookies have expired are removed first, then the origin whose cookies were set longest ago.
            of_origins.retain(|_, other| other.cookies.iter().any(|cookie| cookie.is_alive(now)));
            let oldest = of_origins.iter().min_by_key(|(_, other)| other.set).map(|(origin, _)| origin.clone());
            if let Some(oldest) = oldest.filter(|_| of_origins.len() >= ORIGINS) {
                of_origins.remove(&oldest);
            }
        }
        of_origins.insert(origin, of_origin);
    }

    /// Returns the `Cookie` header for a request to `url`.
    pub(super) fn of(&self, url: &Uri) -> Option<HeaderValue> {
        let now = SystemTime::now();
        let mut kept = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let origin = origin(url)?;
        let cookies = &mut kept.of_origins.get_mut(&origin)?.cookies;
        cookies.retain(|cookie| cookie.is_alive(now));
        if cookies.is_empty() {
            kept.of_origins.remove(&origin);
            return None;
        }
        let mut fitting: Vec<_> = cookies.iter().filter(|cookie| cookie.is_for(url.path())).collect();
        // Cookies with longer paths come first (§5.4).
        fitting.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let pairs: Vec<_> = fitting.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        if pairs.is_empty() {
            return None;
        }
        let mut value = HeaderValue::try_from(pairs.join("; ")).ok()?;
        value.set_sensitive(true);
        Some(value)
    }

    /// Returns all cookies as text, to be stored outside of this process. Each line has the origin, a tab, and the
    /// value of a `Set-Cookie` header that sets the cookie again.
    pub(super) fn written(&self) -> String {
        let now = SystemTime::now();
        let kept = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        let mut origins: Vec<_> = kept.of_origins.iter().collect();
        origins.sort_by_key(|(origin, _)| *origin);
        let mut lines = String::new();
        for ((scheme, host, port), of_origin) in origins {
            for cookie in of_origin.cookies.iter().filter(|cookie| cookie.is_alive(now)) {
                // A URL path can contain `;`, but a `Set-Cookie` header can't express it. The cookie is left out,
                // because it would be sent to other paths.
                if !cookie.path.contains(';') {
                    lines += &format!("{scheme}://{host}:{port}\t{}\n", cookie.written());
                }
            }
        }
        lines
    }

    /// Reads and stores cookies that [`written`](Self::written) returned.
    pub(super) fn read(&self, lines: &str) -> Result<(), Error> {
        let now = SystemTime::now();
        let mut read = Vec::new();
        for (number, line) in lines.lines().enumerate() {
            let cookie = line.split_once('\t').and_then(|(url, text)| {
                let url: Uri = url.parse().ok().filter(|url| origin(url).is_some())?;
                Cookie::read(text, &url, now)?;
                Some((url, text))
            });
            // The error doesn't quote the line, which is often a secret.
            let wrong = || format!("line {} is not a cookie, expected URL, tab, NAME=VALUE; Path=PATH", number + 1);
            read.push(cookie.ok_or_else(|| Error::new(ErrorKind::Credentials, wrong()))?);
        }
        for (url, text) in read {
            self.set(&url, std::iter::once(text));
        }
        Ok(())
    }
}

impl Cookie {
    /// Reads the value of a Set-Cookie header (§5.2).
    fn read(text: &str, url: &Uri, now: SystemTime) -> Option<Self> {
        let mut pieces = text.split(';');
        let (name, value) = pieces.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() {
            return None;
        }
        let (mut path, mut until, mut age) = (None, None, None);
        for piece in pieces {
            let (attribute, value) = piece.split_once('=').unwrap_or((piece, ""));
            match (attribute.trim().to_ascii_lowercase().as_str(), value.trim()) {
                ("path", value) => path = value.starts_with('/').then(|| value.to_owned()),
                ("expires", value) => until = date(value).or(until),
                ("max-age", value) => age = value.parse::<i64>().ok().or(age),
                // A server can't set a secure cookie over http.
                ("secure", _) if url.scheme_str() != Some("https") => return None,
                _ => {}
            }
        }
        // Max-Age takes precedence over Expires. A negative lifetime has already ended; one that overflows never ends.
        let until = match age {
            Some(age) => {
                u64::try_from(age).map_or(Some(SystemTime::UNIX_EPOCH), |age| now.checked_add(Duration::from_secs(age)))
            }
            None => until,
        };
        let path = path.unwrap_or_else(|| {
            let (directory, _) = url.path().rsplit_once('/').unwrap_or_default();
            if directory.is_empty() { "/".to_owned() } else { directory.to_owned() }
        });
        // `Expires` doesn't count, so the cookie still fits when it is written and read again.
        let is_kept = name.len() + value.len() + path.len() <= SIZE;
        is_kept.then(|| Cookie { name: name.to_owned(), value: value.to_owned(), path, until })
    }

    /// Returns the value of a `Set-Cookie` header that sets this cookie.
    fn written(&self) -> String {
        /// The first second for which HTTP has no date. A cookie that lives this long never expires.
        const YEAR_10000: Duration = Duration::from_secs(253_402_300_800);
        let Cookie { name, value, path, until } = self;
        let until = until.filter(|&until| until < SystemTime::UNIX_EPOCH + YEAR_10000);
        let expires = until.map_or(String::new(), |until| format!("; Expires={}", httpdate::fmt_http_date(until)));
        format!("{name}={value}; Path={path}{expires}")
    }

    fn is_alive(&self, now: SystemTime) -> bool {
        self.until.is_none_or(|until| until > now)
    }

    /// Returns whether the path of a request is at or below the path of the cookie (§5.1.4).
    fn is_for(&self, path: &str) -> bool {
        path.strip_prefix(&*self.path)
            .is_some_and(|rest| rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/'))
    }
}

/// Reads a date in an HTTP format. Many servers write dashes and a four-digit year, which is accepted as well (§5.1.1).
fn date(text: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(text).or_else(|_| httpdate::parse_http_date(&text.replace('-', " "))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(set: &[(&'static str, &'static str)], to: &'static str) -> String {
        let cookies = Cookies::default();
        for (from, text) in set {
            let mut answer = HeaderMap::new();
            answer.append(header::SET_COOKIE, HeaderValue::from_static(text));
            cookies.store_from(&Uri::from_static(from), &answer);
        }
        cookies.of(&Uri::from_static(to)).map_or(String::new(), |value| value.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_cookie_goes_back_to_its_origin_and_below_its_path() {
        const A: &str = "http://a/sdk/login";
        for (set, to, expected) in [
            (&[(A, "s=\"1 2\"; Path=/; HttpOnly")][..], "http://a/other", "s=\"1 2\""),
            (&[(A, "s=1")], "http://a/sdk/x", "s=1"),
            (&[(A, "s=1")], "http://a/sdk", "s=1"),
            (&[(A, "s=1")], "http://a/sdkx", ""),
            (&[(A, "s=1")], "http://a/", ""),
            // Another host, port or scheme, or a subdomain.
            (&[(A, "s=1; Path=/; Domain=b")], "http://b/", ""),
            (&[(A, "s=1; Path=/; Domain=a")], "http://x.a/", ""),
            (&[(A, "s=1; Path=/")], "http://a:81/", ""),
            (&[(A, "s=1; Path=/")], "http://a:80/", "s=1"),
            (&[(A, "s=1; Path=/")], "http://A/", "s=1"),
            (&[(A, "s=1; Path=/")], "https://a/", ""),
            (&[("https://a/x", "s=1; Path=/; Secure")], "https://a/", "s=1"),
            (&[(A, "s=1; Path=/; Secure")], "http://a/", ""),
            // A later cookie replaces an earlier one, and can remove it.
            (&[(A, "s=1"), (A, "s=2"), (A, "t=3; Path=/")], "http://a/sdk/", "s=2; t=3"),
            (&[(A, "s=1"), (A, "s=; Max-Age=0")], A, ""),
            (&[(A, "s=1"), (A, "s=2; Max-Age=-1")], A, ""),
            (&[(A, "s=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT")], A, ""),
            (&[(A, "s=1; Expires=Tue, 12-Oct-1999 04:00:00 GMT")], A, ""),
            (&[(A, "s=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60")], A, "s=1"),
            (&[(A, "s=1; Max-Age=0; Expires=Thu, 01 Jan 2099 00:00:00 GMT")], A, ""),
            (&[(A, "s=1; Max-Age=99999999999999999")], A, "s=1"),
            (&[(A, "s=1; Expires=nonsense")], A, "s=1"),
            (&[(A, "no pair"), (A, "=1"), (A, "")], A, ""),
        ] {
            assert_eq!(sent(set, to), expected, "{set:?} {to}");
        }
    }

    #[test]
    fn written_cookies_are_read_again() {
        let kept = |set: &[(&'static str, &'static str)]| {
            let cookies = Cookies::default();
            for (url, text) in set {
                cookies.set(&Uri::from_static(url), std::iter::once(*text));
            }
            cookies
        };
        let cookies = kept(&[
            ("https://b/sdk/login", "s=\"1 2\"; Secure; HttpOnly"),
            ("http://[::1]:81/", "t=a=b; Path=/x/; Expires=Thu, 01 Jan 2099 00:00:00 GMT"),
            ("http://a/", "u=1; Max-Age=99999999999999"),
            ("http://a/", "v=1\t2; Max-Age=100"),
            ("http://a/", "w=1; Max-Age=0"),
            ("http://a/b;c/d", "x=1"),
        ]);
        let written = cookies.written();
        let mut lines: Vec<_> = written.lines().collect();
        assert!(lines.remove(2).starts_with("http://a:80\tv=1\t2; Path=/; Expires="), "{written}");
        let expected = [
            "http://[::1]:81\tt=a=b; Path=/x/; Expires=Thu, 01 Jan 2099 00:00:00 GMT",
            "http://a:80\tu=1; Path=/",
            "https://b:443\ts=\"1 2\"; Path=/sdk",
        ];
        assert_eq!(lines, expected);

        let read = Cookies::default();
        read.read(&written).unwrap();
        assert_eq!(read.written(), written);
        for url in
            ["https://b/sdk/x", "https://b/", "http://b/sdk/x", "http://[::1]:81/x/y", "http://[::1]/x/y", "http://a/b"]
        {
            let url = Uri::from_static(url);
            assert_eq!(read.of(&url), cookies.of(&url), "{url}");
        }
    }

    /// Regression: its attributes made the written cookie exceed the limit, so the whole file was rejected.
    #[test]
    fn the_longest_cookie_is_read_again() {
        let cookies = Cookies::default();
        let longest = format!("s={}; Max-Age=60", "x".repeat(SIZE - "s/sdk".len()));
        cookies.set(&Uri::from_static("http://a/sdk/login"), std::iter::once(&*longest));
        let written = cookies.written();
        assert!(written.len() > SIZE, "{written}");
        let read = Cookies::default();
        read.read(&written).unwrap();
        assert_eq!(read.written(), written);
    }

    #[test]
    fn invalid_lines_are_rejected_with_their_number() {
        for wrong in ["", "a=1", "http://a\t", "http://a\ta", "/a\ta=1", "# Netscape HTTP Cookie File"] {
            let cookies = Cookies::default();
            let error = cookies.read(&format!("http://a:80\ts=1; Path=/\n{wrong}\n")).unwrap_err().to_string();
            assert_eq!(error, "line 2 is not a cookie, expected URL, tab, NAME=VALUE; Path=PATH", "{wrong:?}");
            assert_eq!(cookies.written(), "", "{wrong:?}");
        }
    }

    #[test]
    fn the_number_of_stored_cookies_is_bounded() {
        let cookies = Cookies::default();
        for host in 0..2 * ORIGINS {
            let url: Uri = format!("http://h{host}/").parse().unwrap();
            for name in 0..2 * COOKIES {
                let mut answer = HeaderMap::new();
                answer.append(header::SET_COOKIE, HeaderValue::try_from(format!("n{name}=1")).unwrap());
                answer.append(header::SET_COOKIE, HeaderValue::try_from(format!("l={}", "x".repeat(SIZE))).unwrap());
                cookies.store_from(&url, &answer);
            }
        }
        let kept = cookies.store.lock().unwrap();
        assert_eq!(kept.of_origins.len(), ORIGINS);
        assert!(kept.of_origins.values().all(|of_origin| of_origin.cookies.len() == COOKIES));
        assert!(!format!("{kept:?}").contains("value"));
    }

    /// Regression: when the maximum number of origins was stored, no further origin could store cookies, even after the
    /// cookies of the others had expired.
    #[test]
    fn the_origin_that_was_set_longest_ago_makes_room() {
        let cookies = Cookies::default();
        let set = |host: usize, text: &'static str| {
            let mut answer = HeaderMap::new();
            answer.append(header::SET_COOKIE, HeaderValue::from_static(text));
            cookies.store_from(&format!("http://h{host}/").parse().unwrap(), &answer);
        };
        let has = |host: usize| cookies.of(&format!("http://h{host}/").parse().unwrap()).is_some();
        (0..ORIGINS).for_each(|host| set(host, "a=1"));
        set(0, "a=2");
        set(1, "a=; Max-Age=0");
        // Origin 1,000 takes the place of origin 1. Origin 1,001 sets no cookie, so no other origin is removed.
        set(1_000, "a=1");
        set(1_001, "no cookie");
        assert!(has(0) && !has(1) && has(2) && has(1_000));
        set(1_001, "a=1");
        assert!(has(0) && !has(2) && has(3) && has(1_001));
        assert_eq!(cookies.store.lock().unwrap().of_origins.len(), ORIGINS);
    }

    /// Whatever a server sends, no other origin gets its cookies, and the `Cookie` header is a list of pairs.
    #[test]
    fn changed_cookies_stay_at_their_origin() {
        let seeds: [&[u8]; 5] = [
            b"s=\"1 2\"; Path=/; HttpOnly",
            b"s=1; Path=/sdk; Domain=b; Secure; SameSite=None",
            b"s=1; Expires=Thu, 01 Jan 2099 00:00:00 GMT; Max-Age=60",
            b"__Host-s=a=b=c; expires=Sunday, 06-Nov-94 08:49:37 GMT; path=",
            b"s=1; Max-Age=-9223372036854775808",
        ];
        let (url, others) =
            ("http://a/sdk/login", ["http://b/sdk/login", "http://a:81/sdk/login", "https://a/sdk/login"]);
        let cookies = Cookies::default();
        crate::mutations::check_mutations(&seeds, |text, _| {
            let Ok(value) = HeaderValue::from_bytes(text) else { return };
            let mut answer = HeaderMap::new();
            answer.append(header::SET_COOKIE, value);
            cookies.store_from(&Uri::from_static(url), &answer);
            let sent = cookies.of(&Uri::from_static(url));
            let pairs = sent.as_ref().map_or("", |value| value.to_str().unwrap()).split("; ");
            assert!(pairs.clone().all(|pair| pair.is_empty() || pair.contains('=')), "{sent:?}");
            assert!(pairs.count() <= COOKIES, "{sent:?}");
            assert!(others.iter().all(|other| cookies.of(&Uri::from_static(other)).is_none()));
            let read = Cookies::default();
            read.read(&cookies.written()).unwrap();
            assert_eq!(read.written(), cookies.written());
        });
    }
}
