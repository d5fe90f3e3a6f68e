//! Whose request it is, where a proxy says that in a header.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::address::forwarded::{elements, pairs};
use super::network::Networks;
use crate::Error;

/// The most proxies in a row that are asked. No chain has as many, and a header may have thousands of elements.
const MOST_PROXIES: usize = 16;

/// Proxies whose word is taken for whose request they hand on ([`Server::proxies`](super::Server::proxies)).
///
/// Each of them adds to the header whom it has the request from. Elements are read from the last one, as long as the one who added it is
/// one of these proxies: the first address that is none of theirs is the client. What a client writes into the header itself stands
/// before that and is not read. Where a proxy adds no address (`unknown`, or a name that hides it) the proxy is the client.
#[derive(Clone, Debug)]
pub struct Proxies {
    header: Header,
    networks: Networks,
}

#[derive(Clone, Copy, Debug)]
enum Header {
    Forwarded,
    XForwardedFor,
}

impl Proxies {
    /// Proxies that add to `Forwarded` (RFC 7239), at addresses or in networks such as `10.0.0.0/24`.
    ///
    /// # Errors
    /// [`ErrorKind::Request`](crate::ErrorKind::Request) names what is no address and no network.
    pub fn forwarded<P: AsRef<str>>(proxies: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        Ok(Proxies { header: Header::Forwarded, networks: Networks::read(proxies)? })
    }

    /// Proxies that add to `X-Forwarded-For`, at addresses or in networks such as `10.0.0.0/24`. Apache's httpd does so by itself, nginx with
    /// `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for`.
    ///
    /// # Errors
    /// [`ErrorKind::Request`](crate::ErrorKind::Request) names what is no address and no network.
    pub fn x_forwarded_for<P: AsRef<str>>(proxies: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        Ok(Proxies { header: Header::XForwardedFor, networks: Networks::read(proxies)? })
    }

    pub(super) fn contain(&self, address: IpAddr) -> bool {
        self.networks.contain(address)
    }

    /// Whose request it is that came from `peer`.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.contain(peer) {
            return peer;
        }
        let mut client = peer;
        let said: &mut dyn Iterator<Item = Option<IpAddr>> = match self.header {
            Header::Forwarded => &mut fields(headers, &header::FORWARDED).flat_map(elements).map(forwarded),
            Header::XForwardedFor => &mut fields(headers, &X_FORWARDED_FOR)
                .flat_map(|field| field.rsplit(|byte| *byte == b','))
                .map(|node| address(std::str::from_utf8(node).ok()?.trim())),
        };
        for said in said.take(MOST_PROXIES) {
            let Some(said) = said else { break };
            client = said;
            if !self.contain(client) {
                break;
            }
        }
        client
    }
}

static X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The fields of a name from the last one. What a client makes of the beginning of one, which need be no text, is no matter to what
/// proxies add.
fn fields<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h [u8]> {
    headers.get_all(name).iter().rev().map(HeaderValue::as_bytes)
}

/// Whom an element of a Forwarded header is for.
fn forwarded(element: &[u8]) -> Option<IpAddr> {
    let element = String::from_utf8_lossy(element);
    let (_, node) = pairs(&element).find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    address(node)
}

/// The address of a node, with or without a port (RFC 7239 §6). An IPv6 address stands in brackets; in `X-Forwarded-For` it may stand
/// without them.
fn address(node: &str) -> Option<IpAddr> {
    let bracketed = || node.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok();
    let address = node
        .parse()
        .ok()
        .or_else(|| node.parse().ok().map(|address: SocketAddr| address.ip()))
        .or_else(|| bracketed().map(IpAddr::V6))?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &HeaderName, fields: &[&str]) -> HeaderMap {
        fields.iter().map(|field| (name.clone(), field.parse().unwrap())).collect()
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_last_address_that_is_no_proxy_is_the_client() {
        let proxies = Proxies::x_forwarded_for(["10.0.0.0/8", "::1"]).unwrap();
        for (peer, fields, expected) in [
            ("10.0.0.1", &["192.0.2.1"][..], "192.0.2.1"),
            ("10.0.0.1", &["192.0.2.9, 192.0.2.1"], "192.0.2.1"),
            ("10.0.0.1", &["192.0.2.9, 192.0.2.1 ,10.0.0.7, 10.0.0.2"], "192.0.2.1"),
            ("10.0.0.1", &["192.0.2.1", "10.0.0.2"], "192.0.2.1"),
            ("10.0.0.1", &["192.0.2.9", "192.0.2.1"], "192.0.2.1"),
            ("::1", &["2001:db8::1"], "2001:db8::1"),
            ("::1", &["[2001:db8::1]:80, [::1]"], "2001:db8::1"),
            ("::ffff:10.0.0.1", &["::ffff:192.0.2.1"], "192.0.2.1"),
            ("10.0.0.1", &["192.0.2.1:4711"], "192.0.2.1"),
            // Nobody but proxies.
            ("10.0.0.1", &["10.0.0.2"], "10.0.0.2"),
            // Who is no proxy may say what he likes.
            ("192.0.2.2", &["192.0.2.1"], "192.0.2.2"),
            // Nothing that is an address.
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &[""], "10.0.0.1"),
            ("10.0.0.1", &["192.0.2.1,"], "10.0.0.1"),
            ("10.0.0.1", &["192.0.2.1, unknown"], "10.0.0.1"),
            ("10.0.0.1", &["192.0.2.1, unknown, 10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", &["192.0.2.1", "\u{e9}"], "10.0.0.1"),
            ("10.0.0.1", &["\u{e9}, 192.0.2.1"], "192.0.2.1"),
            ("10.0.0.1", &["[2001:db8::1, fe80::1%eth0"], "10.0.0.1"),
        ] {
            let found = proxies.client(ip(peer), &headers(&X_FORWARDED_FOR, fields));
            assert_eq!(found, ip(expected), "{peer} {fields:?}");
        }
    }

    #[test]
    fn forwarded_says_the_same() {
        let proxies = Proxies::forwarded(["10.0.0.0/8"]).unwrap();
        for (fields, expected) in [
            (&["for=192.0.2.1"][..], "192.0.2.1"),
            (&["For=\"192.0.2.1:80\";proto=https"], "192.0.2.1"),
            (&["proto=https ; for=\"[2001:db8::1]:4711\""], "2001:db8::1"),
            (&["for=\"[2001:db8::1]\""], "2001:db8::1"),
            (&["for=192.0.2.9, for=192.0.2.1, for=10.0.0.2;by=10.0.0.3"], "192.0.2.1"),
            (&["for=192.0.2.9", "for=192.0.2.1,for=10.0.0.2"], "192.0.2.1"),
            (&["for=192.0.2.1, for=unknown"], "10.0.0.1"),
            (&["for=192.0.2.1, for=_hidden"], "10.0.0.1"),
            (&["for=192.0.2.1, host=a"], "10.0.0.1"),
            // What a client quotes hides nothing that the proxy adds.
            (&["for=\"192.0.2.9, for=192.0.2.1"], "192.0.2.1"),
            (&["for=192.0.2.9;x=\", for=\"[2001:db8::1]\""], "2001:db8::1"),
            (&["for=192.0.2.9;x=\"\\, for=\"192.0.2.1:80\""], "192.0.2.1"),
            (&["192.0.2.1"], "10.0.0.1"),
        ] {
            assert_eq!(
                proxies.client(ip("10.0.0.1"), &headers(&header::FORWARDED, fields)),
                ip(expected),
                "{fields:?}"
            );
        }
    }

    #[test]
    fn no_more_than_a_few_proxies_are_asked() {
        let all = Proxies::forwarded(["0.0.0.0/0"]).unwrap();
        for count in [20, 4_000] {
            let field =
                (1..=count).rev().map(|i| format!("for=10.0.{}.{}", i >> 8, i & 0xFF)).collect::<Vec<_>>().join(",");
            let found = all.client(ip("10.1.0.1"), &headers(&header::FORWARDED, &[&field]));
            assert_eq!(found, ip("10.0.0.16"), "{count}");
        }
        for text in [",", "\"", "=", ";", "for=,"] {
            all.client(ip("10.1.0.1"), &headers(&header::FORWARDED, &[&text.repeat(16 << 10)]));
        }
    }

    /// What a client sends ahead of what a proxy adds, in the same field or in others, neither names another client nor hides this one.
    #[test]
    fn what_a_client_sends_ahead_changes_nothing() {
        let seeds: [&[u8]; 10] = [
            b"for=198.51.100.66",
            b"for=198.51.100.66;x=\"",
            b"for=\"198.51.100.66, for=10.0.0.3",
            b"for=\"[2001:db8::66]:80\";proto=https, for=unknown",
            b"for=198.51.100.66;x=\"\\",
            b"for=198.51.100.66;x=\"\xE9",
            b"198.51.100.66, 10.0.0.3",
            b"198.51.100.66,\t[2001:db8::66]:80",
            b"\xE9, 198.51.100.66",
            b"for=10.0.0.3, for=\"10.0.0.4:1\",",
        ];
        let forwarded = [
            ("for=192.0.2.1", "192.0.2.1"),
            ("For=\"192.0.2.1:80\";proto=https", "192.0.2.1"),
            ("proto=https ; for=\"[2001:db8::1]:4711\"", "2001:db8::1"),
            ("for=\"[2001:db8::1]\";host=\"a:8\"", "2001:db8::1"),
            ("for=unknown", "10.0.0.1"),
            ("for=\"_hidden:_1\"", "10.0.0.1"),
        ];
        let x_forwarded_for = [
            ("192.0.2.1", "192.0.2.1"),
            ("192.0.2.1:4711", "192.0.2.1"),
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]:4711", "2001:db8::1"),
            ("::ffff:192.0.2.1", "192.0.2.1"),
            ("unknown", "10.0.0.1"),
        ];
        let networks = ["10.0.0.0/8"];
        let kinds = [
            (Proxies::forwarded(networks).unwrap(), &header::FORWARDED, forwarded, "for=10.0.0.2;by=\"[::1]:80\""),
            (Proxies::x_forwarded_for(networks).unwrap(), &X_FORWARDED_FOR, x_forwarded_for, "10.0.0.2"),
        ];
        crate::changed::changed(&seeds, |text, random| {
            let (proxies, name, added, second) = &kinds[random.usize(..kinds.len())];
            let (added, expected) = added[random.usize(..added.len())];
            let mut fields = vec![text.to_vec()];
            let mut add = |element: &str, random: &mut fastrand::Rng| {
                if random.bool() {
                    fields.push(element.as_bytes().to_vec());
                } else if let Some(last) = fields.last_mut() {
                    last.extend([&b", "[..], element.as_bytes()].concat());
                }
            };
            add(added, random);
            let has_second = random.bool();
            if has_second {
                add(second, random);
            }
            let mut headers = HeaderMap::new();
            for field in &fields {
                let Ok(value) = HeaderValue::from_bytes(field) else { return };
                headers.append(*name, value);
            }
            // Behind a second proxy, the first one is who hides its client.
            let expected = if has_second && expected == "10.0.0.1" { "10.0.0.2" } else { expected };
            assert_eq!(proxies.client(ip("10.0.0.1"), &headers), ip(expected), "{headers:?}");
            // Who is no proxy is whoever it is, whatever it says.
            assert_eq!(proxies.client(ip("192.0.2.7"), &headers), ip("192.0.2.7"), "{headers:?}");
        });
    }
}
