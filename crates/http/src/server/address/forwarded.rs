//! What a proxy says that its client asked for.

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, HeaderName, header};

/// A header in which a proxy says what its client asked for, to be trusted where the proxy sets it
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
    /// `X-Forwarded-Port`: the port of a host that has none.
    XForwardedPort,
    /// `X-Forwarded-Prefix`: the beginning of the path, which the proxy has taken off.
    XForwardedPrefix,
}

/// What the trusted headers of a request say. What they say in no form that it may have is not said.
#[derive(Debug, Default)]
pub(super) struct Forwarded<'h> {
    pub(super) scheme: Option<Scheme>,
    /// A host, maybe with a port.
    pub(super) host: Option<&'h str>,
    port: Option<u16>,
    /// Empty, or a path that ends without a slash.
    pub(super) prefix: &'h str,
}

impl<'h> Forwarded<'h> {
    pub(super) fn read(trusted: &[ProxyHeader], headers: &'h HeaderMap) -> Self {
        let mut said = Forwarded::default();
        for trusted in trusted {
            match trusted {
                ProxyHeader::Forwarded => {
                    for (name, value) in last_element(last_field(headers, &header::FORWARDED).unwrap_or_default()) {
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
                    said.port = last(headers, "x-forwarded-port").and_then(|port| port.parse().ok());
                }
                ProxyHeader::XForwardedPrefix => {
                    said.prefix = last(headers, "x-forwarded-prefix").and_then(prefix).unwrap_or_default();
                }
            }
        }
        said
    }

    /// A host with the port that was said, if it has none and needs one.
    pub(super) fn with_port(&self, host: &str, of: &Scheme) -> String {
        let usual = if *of == Scheme::HTTPS { 443 } else { 80 };
        let has_port = host.parse::<Authority>().map_or(true, |authority| authority.port().is_some());
        match self.port.filter(|port| !has_port && *port != usual) {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        }
    }
}

/// The last of the fields of a name, which the nearest proxy has added.
fn last_field<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get_all(name).iter().next_back()?.to_str().ok()
}

/// The last value of a list.
fn last<'h>(headers: &'h HeaderMap, name: &'static str) -> Option<&'h str> {
    last_field(headers, &HeaderName::from_static(name))?.rsplit(',').next().map(str::trim)
}

/// The pairs of the last element of a Forwarded header.
fn last_element(field: &str) -> impl Iterator<Item = (&str, &str)> {
    elements(field).last().into_iter().flat_map(pairs)
}

/// The elements of a Forwarded header (RFC 7239 §4), from the farthest proxy to the nearest.
pub(in crate::server) fn elements(field: &str) -> impl Iterator<Item = &str> {
    split(field, b',')
}

/// The pairs of an element. A value in quotes stands without them; one with a backslash, which no host and no address has, stays as it
/// is.
pub(in crate::server) fn pairs(element: &str) -> impl Iterator<Item = (&str, &str)> {
    split(element, b';').filter_map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let value = value.trim();
        let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        Some((name.trim(), quoted.unwrap_or(value)))
    })
}

/// The parts between separators that stand outside of quotes (RFC 9110 §5.6.4).
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

/// A path of one slash or more, each behind something.
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
            ("host=\"a", &[("host", "\"a")]),
            ("host=\"a\\", &[("host", "\"a\\")]),
            ("host", &[]),
        ] {
            assert_eq!(last_element(field).collect::<Vec<_>>(), expected, "{field}");
        }
    }

    #[test]
    fn only_what_may_stand_in_a_url_is_a_prefix_or_a_host() {
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
