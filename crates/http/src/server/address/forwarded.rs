//! The headers in which a proxy reports what its client requested.

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::server::network::number;

/// A header in which a proxy reports what its client requested. Trust it only if the proxy sets it
/// ([`Address::Asked`](super::Address::Asked)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProxyHeader {
    /// `Forwarded` (RFC 7239): its `host` and its `proto`.
    Forwarded,
    /// `X-Forwarded-Host`: the host, with or without a port.
    XForwardedHost,
    /// `X-Forwarded-Proto`: `http` or `https`.
    XForwardedProto,
    /// `X-Forwarded-Port`: the port of a host without one.
    XForwardedPort,
    /// `X-Forwarded-Prefix`: the path prefix that the proxy has removed.
    XForwardedPrefix,
}

/// The values of the trusted headers. Invalid values are ignored.
#[derive(Debug, Default)]
pub(super) struct Forwarded<'h> {
    pub(super) scheme: Option<Scheme>,
    /// A host, possibly with a port.
    pub(super) host: Option<&'h str>,
    port: Option<u16>,
    /// Empty, or a path without a slash at its end.
    pub(super) prefix: &'h str,
}

impl<'h> Forwarded<'h> {
    pub(super) fn read(trusted: &[ProxyHeader], headers: &'h HeaderMap) -> Self {
        let mut said = Forwarded::default();
        for trusted in trusted {
            match trusted {
                ProxyHeader::Forwarded => {
                    let field = last_field(headers, &header::FORWARDED);
                    for (name, value) in field.and_then(last_element).into_iter().flat_map(pairs) {
                        if name.eq_ignore_ascii_case("host") {
                            said.host = host(value);
                        } else if name.eq_ignore_ascii_case("proto") {
                            said.scheme = scheme(value);
                        }
                    }
                }
                ProxyHeader::XForwardedHost => {
                    said.host = last(headers, "x-forwarded-host").and_then(host).or(said.host)
                }
                ProxyHeader::XForwardedProto => {
                    said.scheme = last(headers, "x-forwarded-proto").and_then(scheme).or(said.scheme);
                }
                ProxyHeader::XForwardedPort => {
                    said.port = last(headers, "x-forwarded-port").and_then(number);
                }
                ProxyHeader::XForwardedPrefix => {
                    said.prefix = last(headers, "x-forwarded-prefix").and_then(prefix).unwrap_or_default();
                }
            }
        }
        said
    }

    /// Adds the reported port to a host, if it has none and the port isn't the default.
    pub(super) fn with_port(&self, host: &str, of: &Scheme) -> String {
        let usual = if *of == Scheme::HTTPS { 443 } else { 80 };
        let has_port = host.parse::<Authority>().map_or(true, |authority| authority.port().is_some());
        match self.port.filter(|port| !has_port && *port != usual) {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

/// Returns the last header of a name, which the nearest proxy has added or extended.
fn last_field<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h [u8]> {
    headers.get_all(name).iter().next_back().map(HeaderValue::as_bytes)
}

/// Returns the last value of a list.
fn last<'h>(headers: &'h HeaderMap, name: &'static str) -> Option<&'h str> {
    let last = last_field(headers, &HeaderName::from_static(name))?.rsplit(|byte| *byte == b',').next()?;
    std::str::from_utf8(last).ok().filter(|last| last.is_ascii()).map(str::trim)
}

/// Returns the last element of a Forwarded header.
fn last_element(field: &[u8]) -> Option<&str> {
    elements(field).next().and_then(|element| std::str::from_utf8(element).ok())
}

/// Iterates over the elements of a Forwarded header (RFC 7239 §4), from the nearest proxy to the farthest.
///
/// Proxies append to the header. The text before that may come from a client and may contain an open quote or invalid
/// text. So the header is read from its end, where the beginning has no effect. For a valid header both directions give
/// the same result.
pub(in crate::server) fn elements(field: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(field);
    std::iter::from_fn(move || {
        let field = rest?;
        let mut is_quoted = false;
        let separator = (0..field.len()).rev().find(|&at| {
            match field[at] {
                b'"' if is_quoted && is_escaped(&field[..at]) => {}
                b'"' => is_quoted = !is_quoted,
                byte => return byte == b',' && !is_quoted,
            }
            false
        });
        let (before, element) = match separator {
            Some(at) => (Some(&field[..at]), &field[at + 1..]),
            None => (None, field),
        };
        rest = before;
        Some(element)
    })
}

/// Returns whether a character after the quoted text `text` is escaped.
fn is_escaped(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Iterates over the pairs of an element, without the quotes of values. A value with a backslash is unchanged; hosts
/// and addresses have none.
pub(in crate::server) fn pairs(element: &str) -> impl Iterator<Item = (&str, &str)> {
    split(element, b';').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let value = value.trim();
        let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        Some((name.trim(), quoted.unwrap_or(value)))
    })
}

/// Splits a text at the separators outside of quotes (RFC 9110 §5.6.4).
fn split(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (mut is_quoted, mut is_escaped) = (false, false);
        let end = text.bytes().position(|byte| {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if is_quoted => is_escaped = true,
                b'"' => is_quoted = !is_quoted,
                _ => return byte == separator && !is_quoted,
            }
            false
        });
        let (part, behind) = match end {
            Some(end) => (&text[..end], Some(&text[end + 1..])),
            None => (text, None),
        };
        rest = behind;
        Some(part)
    })
}

fn scheme(text: &str) -> Option<Scheme> {
    [Scheme::HTTP, Scheme::HTTPS].into_iter().find(|scheme| text.eq_ignore_ascii_case(scheme.as_str()))
}

fn host(text: &str) -> Option<&str> {
    let authority = text.parse::<Authority>().ok()?;
    (!text.contains('@') && !authority.host().is_empty()).then_some(text)
}

/// Returns a path prefix without slashes at its end. `None` unless it is a path that starts with a single slash.
fn prefix(text: &str) -> Option<&str> {
    let text = text.trim_end_matches('/');
    let path = text.parse::<PathAndQuery>().ok()?;
    (text.starts_with('/') && !text.starts_with("//") && path.query().is_none() && !text.contains('#')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_element_counts() {
        for (field, expected) in [
            ("", &[][..]),
            ("host=a", &[("host", "a")]),
            ("for=\"[::1]:4\";Proto=https ; host=\"a:8\"", &[("for", "[::1]:4"), ("Proto", "https"), ("host", "a:8")]),
            ("host=a;proto=http, host=b", &[("host", "b")]),
            ("host=\"a,host=b;c\\\",d\"", &[("host", "a,host=b;c\\\",d")]),
            ("host=\"a,\\\\\", host=\"b\\\\\"", &[("host", "b\\\\")]),
            ("host=a;x=\", host=\"b:8\"", &[("host", "b:8")]),
            ("host=\"a", &[("host", "\"a")]),
            ("host=\"a\\", &[("host", "\"a\\")]),
            ("host", &[]),
        ] {
            let found = last_element(field.as_bytes()).into_iter().flat_map(pairs);
            assert_eq!(found.collect::<Vec<_>>(), expected, "{field}");
        }
    }

    #[test]
    fn only_valid_parts_of_a_url_are_a_prefix_or_a_host() {
        for (text, expected) in [
            ("/a", Some("/a")),
            ("/a/b/", Some("/a/b")),
            ("/", None),
            ("", None),
            ("a", None),
            ("//evil.example", None),
            ("/a?b", None),
            ("/a#b", None),
            ("/a b", None),
        ] {
            assert_eq!(prefix(text), expected, "{text}");
        }
        for (text, expected) in [
            ("a", Some("a")),
            ("a:80", Some("a:80")),
            ("[::1]:80", Some("[::1]:80")),
            ("", None),
            (":80", None),
            ("a@b", None),
            ("a/b", None),
            ("a\"", None),
        ] {
            assert_eq!(host(text), expected, "{text}");
        }
    }
}
