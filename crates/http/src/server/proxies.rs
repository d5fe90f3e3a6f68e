//! The client of a request, from the headers of proxies.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::{HeaderMap, HeaderName, HeaderValue, header};

use super::address::forwarded::{elements, pairs};
use super::network::Networks;
use crate::error::Error;

/// The most proxies in a row. No real chain has as many, but a header may have thousands of elements.
const MAX_PROXIES: usize = 16;

/// The trusted proxies, which report their client in a header ([`Server::proxies`](super::Server::proxies)).
///
/// Each proxy appends its client to the header. Elements are read from the last one, while the proxy that added the
/// element is a trusted one. The first address that isn't a trusted proxy is the client. Text that a client writes into
/// the header itself comes before that and is not read. If a proxy adds no address (`unknown`, or an obfuscated name),
/// the proxy is taken as the client.
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
    /// Trusts proxies that append to `Forwarded` (RFC 7239). `proxies` are addresses or networks such as `10.0.0.0/24`.
    ///
    /// # Errors
    /// [`ErrorKind::Request`](crate::ErrorKind::Request) names the text that isn't an address or network.
    pub fn forwarded<P: AsRef<str>>(proxies: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        Ok(Proxies { header: Header::Forwarded, networks: Networks::read(proxies)? })
    }

    /// Trusts proxies that append to `X-Forwarded-For`. `proxies` are addresses or networks such as `10.0.0.0/24`.
    /// Apache's httpd appends by default, nginx with `proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for`.
    ///
    /// # Errors
    /// [`ErrorKind::Request`](crate::ErrorKind::Request) names the text that isn't an address or network.
    pub fn x_forwarded_for<P: AsRef<str>>(proxies: impl IntoIterator<Item = P>) -> Result<Self, Error> {
        Ok(Proxies { header: Header::XForwardedFor, networks: Networks::read(proxies)? })
    }

    pub(super) fn contain(&self, address: IpAddr) -> bool {
        self.networks.contain(address)
    }

    /// Returns the client of a request from `peer`.
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
        for said in said.take(MAX_PROXIES) {
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

/// Iterates over the headers of a name, last first. They are bytes: text from a client, at the beginning of a header,
/// may be invalid and must not affect what proxies append.
fn fields<'h>(headers: &'h HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'h [u8]> {
    headers.get_all(name).iter().rev().map(HeaderValue::as_bytes)
}

/// Returns the client in an element of a Forwarded header.
fn forwarded(element: &[u8]) -> Option<IpAddr> {
    let element = String::from_utf8_lossy(element);
    let (_, node) = pairs(&element).find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    address(node)
}

/// Parses the address of a node, with or without a port (RFC 7239 §6). An IPv6 address is in brackets; in
/// `X-Forwarded-For` the brackets may be missing.
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
            // Only proxies.
            ("10.0.0.1", &["10.0.0.2"], "10.0.0.2"),
            // Headers of an untrusted peer are ignored.
            ("192.0.2.2", &["192.0.2.1"], "192.0.2.2"),
            // No valid address.
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
    fn forwarded_gives_the_same_client() {
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
            // An open quote of a client doesn't hide what the proxy appends.
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

    /// Headers of a client, in the same header or in others, can't name another client or hide this one.
    #[test]
    fn forged_headers_of_a_client_change_nothing() {
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
        crate::mutations::check_mutations(&seeds, |text, random| {
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
            // With a second proxy, the first one is the client if it hides its own.
            let expected = if has_second && expected == "10.0.0.1" { "10.0.0.2" } else { expected };
            assert_eq!(proxies.client(ip("10.0.0.1"), &headers), ip(expected), "{headers:?}");
            // Headers of an untrusted peer are ignored.
            assert_eq!(proxies.client(ip("192.0.2.7"), &headers), ip("192.0.2.7"), "{headers:?}");
        });
    }
}
