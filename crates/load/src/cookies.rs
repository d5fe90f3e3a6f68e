//! The cookies of one user (RFC 6265), which are sent back to the endpoint that set them.
//!
//! The client of `castile-http` also has a cookie store. The load kit depends on no client, so it has its own.

use std::fmt;
use std::time::SystemTime;

use crate::Endpoint;

/// The most cookies that are stored, and the most bytes of one with its attributes.
const COOKIES: usize = 50;
const SIZE: usize = 4096;

/// Stores the cookies that answers set, and adds them to requests.
pub(crate) struct Cookies {
    /// Names and values.
    cookies: Vec<(String, String)>,
    /// The path that requests are sent to.
    path: String,
    is_secured: bool,
    /// The last request to which cookies were added.
    request: Vec<u8>,
}

/// Omits the values, which are often secrets.
impl fmt::Debug for Cookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.cookies.iter().map(|(name, _)| name).collect();
        f.debug_struct("Cookies").field("names", &names).finish_non_exhaustive()
    }
}

impl Cookies {
    /// Returns an empty store for a user of this endpoint; `None` if the endpoint doesn't use cookies.
    pub(crate) fn of(endpoint: &Endpoint) -> Option<Self> {
        let path = endpoint.path.split('?').next().unwrap_or_default().to_owned();
        let is_secured = endpoint.secured.is_some();
        endpoint.along.cookies.then(|| Cookies { cookies: Vec::new(), path, is_secured, request: Vec::new() })
    }

    /// Stores the cookies that the head of an answer sets.
    pub(crate) fn store(&mut self, head: &[u8]) {
        for line in head.split(|&byte| byte == b'\n') {
            let Some((name, value)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once(':')) else {
                continue;
            };
            if name.eq_ignore_ascii_case("set-cookie") && value.len() <= SIZE {
                self.set(value);
            }
        }
    }

    /// Applies the value of a Set-Cookie header (§5.2).
    fn set(&mut self, value: &str) {
        let mut pieces = value.split(';').map(str::trim);
        let Some((name, value)) = pieces.next().and_then(|pair| pair.split_once('=')) else { return };
        let (name, value) = (name.trim(), value.trim());
        let (mut age, mut until, mut is_for_us) = (None, None, !name.is_empty());
        for piece in pieces {
            let (attribute, value) = piece.split_once('=').unwrap_or((piece, ""));
            match attribute.trim().to_ascii_lowercase().as_str() {
                "max-age" => age = value.trim().parse::<i64>().ok().or(age),
                "expires" => until = date(value.trim()).or(until),
                "path" => is_for_us &= is_at_or_below(&self.path, value.trim()),
                "secure" => is_for_us &= self.is_secured,
                _ => {}
            }
        }
        if !is_for_us {
            return;
        }
        self.cookies.retain(|(known, _)| known != name);
        // Max-Age takes precedence over Expires. A cookie that hasn't expired yet is assumed to outlive the run.
        let is_over = age.map_or_else(|| until.is_some_and(|until| until <= SystemTime::now()), |age| age <= 0);
        if !is_over && self.cookies.len() < COOKIES {
            self.cookies.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Returns the request with the stored cookies in its first header line.
    pub(crate) fn added_to<'a>(&'a mut self, request: &'a [u8]) -> &'a [u8] {
        let Some(first_line) = request.windows(2).position(|pair| pair == b"\r\n").filter(|_| !self.cookies.is_empty())
        else {
            return request;
        };
        let (line, rest) = request.split_at(first_line + 2);
        self.request.clear();
        self.request.extend_from_slice(line);
        for (index, (name, value)) in self.cookies.iter().enumerate() {
            let before = if index == 0 { "Cookie: " } else { "; " };
            self.request.extend([before, name, "=", value].into_iter().flat_map(str::bytes));
        }
        self.request.extend_from_slice(b"\r\n");
        self.request.extend_from_slice(rest);
        &self.request
    }
}

/// Parses a date in one of HTTP's forms, or with dashes and a four-digit year, as many servers write it (§5.1.1).
fn date(text: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(text).or_else(|_| httpdate::parse_http_date(&text.replace('-', " "))).ok()
}

/// Returns whether the path of a request is at or below the path of a cookie (§5.1.4).
fn is_at_or_below(path: &str, of_cookie: &str) -> bool {
    // A value that isn't a path stands for the directory of the request (§5.2.4). All requests of a user are in it.
    !of_cookie.starts_with('/')
        || path
            .strip_prefix(of_cookie)
            .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Along;
    use crate::response::ResponseReader;

    #[test]
    fn cookies_are_sent_until_they_are_deleted() {
        let along = Along { cookies: true, ..Along::default() };
        let endpoint = Endpoint::resolve("http://127.0.0.1:1/shop/orders?a").unwrap();
        assert!(Cookies::of(&endpoint).is_none());
        let mut cookies = Cookies::of(&endpoint.with(along)).unwrap();
        let request = b"POST / HTTP/1.1\r\nHost: h\r\n\r\n";
        for (head, expected) in [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", ""),
            (
                "HTTP/1.1 200 OK\r\nset-cookie: a=1; Path=/; HttpOnly\r\nSet-Cookie: b=x=y; path=/shop\r\n\r\n",
                "Cookie: a=1; b=x=y\r\n",
            ),
            ("HTTP/1.1 200 OK\r\nSet-Cookie: a=2; Max-Age=60\r\n\r\n", "Cookie: b=x=y; a=2\r\n"),
            // For another path, for https, or without a name.
            (
                "x\r\nSet-Cookie: c=1; Path=/shopping\r\nSet-Cookie: c=1; Secure\r\nSet-Cookie: =1\r\n\r\n",
                "Cookie: b=x=y; a=2\r\n",
            ),
            ("x\r\nSet-Cookie: a=; Max-Age=0\r\n\r\n", "Cookie: b=x=y\r\n"),
            ("x\r\nSet-Cookie: b=; Expires=Thu, 01-Jan-1970 00:00:10 GMT\r\n\r\n", ""),
            // Any past date expires a cookie, unless there is a Max-Age.
            ("x\r\nSet-Cookie: d=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60\r\n\r\n", "Cookie: d=1\r\n"),
            ("x\r\nSet-Cookie: d=; Expires=Tue, 12-Oct-1999 04:00:00 GMT\r\n\r\n", ""),
            ("x\r\nSet-Cookie: d=1; Expires=Thu, 01 Jan 2099 19:70:00 GMT\r\n\r\n", "Cookie: d=1\r\n"),
        ] {
            cookies.store(head.as_bytes());
            let sent = String::from_utf8_lossy(cookies.added_to(request)).into_owned();
            assert_eq!(sent, format!("POST / HTTP/1.1\r\n{expected}Host: h\r\n\r\n"), "{head}");
        }
    }

    /// Whatever an answer sets, a request gets at most one more header line, which contains only cookies and has a bounded length.
    #[test]
    fn changed_answers_add_one_line_at_most() {
        let seeds: [&[u8]; 8] = [
            b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/; HttpOnly\r\nSet-Cookie: b=x=y; path=/shop\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nset-cookie: s=\"1 2\"; Path=/shop; Domain=b; Secure; SameSite=None\r\nContent-Length: 2\r\n\r\nno",
            b"HTTP/1.1 200 OK\r\nSet-Cookie: s=; Expires=Thu, 01-Jan-1970 00:00:10 GMT; Max-Age=0\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\nSet-Cookie: c=d\nContent-Length: 0\n\n",
            b"HTTP/1.1 200 OK\r\nSet-Cookie: \xC3\xA9=\xC2\x85x; Path=/\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nA: b\r\n Set-Cookie: folded=1\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 100 Continue\r\nSet-Cookie: i=1\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: j=1\r\nContent-Length: 0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nSet-Cookie: k=1\r\n\r\n1\r\na\r\n0\r\nSet-Cookie: t=1\r\n\r\n",
        ];
        let along = Along { cookies: true, ..Along::default() };
        let endpoint = Endpoint::resolve("http://127.0.0.1:1/shop/orders?a").unwrap().with(along);
        let mut cookies = Cookies::of(&endpoint).unwrap();
        let (line, rest) = ("POST / HTTP/1.1\r\n", "Host: h\r\n\r\n<a/>\r\n\r\n");
        let request = [line, rest].concat();
        crate::mutations::check_mutations(&seeds, |text, random| {
            if random.u32(0..50) == 0 {
                cookies = Cookies::of(&endpoint).unwrap();
            }
            let mut reader = ResponseReader::new();
            reader.space().unwrap()[..text.len()].copy_from_slice(text);
            let Ok(response) = reader.fill(text.len()).and_then(|response| response.map_or_else(|| reader.close(), Ok))
            else {
                return;
            };
            cookies.store(reader.head_of(&response));
            assert!(cookies.cookies.len() <= COOKIES, "{text:?}");
            let sent = String::from_utf8(cookies.added_to(request.as_bytes()).to_vec()).unwrap();
            let added =
                sent.strip_prefix(line).and_then(|sent| sent.strip_suffix(rest)).unwrap_or_else(|| panic!("{sent:?}"));
            if !added.is_empty() {
                let pairs = added.strip_prefix("Cookie: ").and_then(|added| added.strip_suffix("\r\n"));
                let pairs = pairs.unwrap_or_else(|| panic!("{added:?}"));
                assert!(!pairs.contains(['\r', '\n', '\0']) && pairs.len() <= COOKIES * (SIZE + 2), "{added:?}");
                assert!(pairs.split("; ").all(|pair| pair.contains('=') && !pair.starts_with('=')), "{added:?}");
            }
            let mut headers = [httparse::EMPTY_HEADER; 4];
            let mut read = httparse::Request::new(&mut headers);
            assert!(read.parse(sent.as_bytes()).is_ok_and(|status| status.is_complete()), "{sent:?}");
            assert_eq!(read.headers.len(), 1 + usize::from(!added.is_empty()), "{sent:?}");
        });
    }
}
