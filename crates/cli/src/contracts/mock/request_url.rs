//! The address to which a request was sent.

use castile::http::server::Address;
use castile_soap::Request;
use http::uri::Authority;
use http::{HeaderMap, Uri, header};

/// Returns the base URL to which a request was sent, as the served contract has it. If that is the local address of the connection, which
/// only the server knows, the `Host` header is used, or else the address in the contract.
pub(super) fn base<T>(address: &Address, request: &Request<T>, of_contract: &str) -> Option<String> {
    let (headers, extensions) = (request.http_headers(), request.extensions());
    let asked = || {
        let Address::Asked { scheme, trusted, .. } = address else { return None };
        let (scheme, hosts, trusted) = (scheme.clone(), vec![host(headers)?], trusted.clone());
        Address::Asked { scheme, hosts, trusted }.base(headers, extensions)
    };
    address.base(headers, extensions).or_else(asked).or_else(|| origin(of_contract))
}

/// Returns the host of a request, optionally with a port. The server rejects invalid hosts.
fn host(headers: &HeaderMap) -> Option<String> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let authority: Authority = host.parse().ok()?;
    (!host.contains('@') && !authority.host().is_empty()).then(|| host.to_owned())
}

/// Returns the scheme and host of a URL.
fn origin(url: &str) -> Option<String> {
    let url: Uri = url.parse().ok()?;
    Some(format!("{}://{}", url.scheme()?, url.authority()?))
}

#[cfg(test)]
mod tests {
    use castile::http::server::{ProxyHeader, TlsPeer};
    use http::uri::Scheme;
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn the_address_is_that_of_the_contract() {
        let own = "http://192.0.2.7/orders";
        let tls = TlsPeer::new(Vec::new(), None);
        for (hosts, trusted, headers, is_tls, expected) in [
            // The hosts from the configuration.
            (&["a.example"][..], &[][..], &[("host", "a.example")][..], false, "http://a.example"),
            (&["a.example", "b.example:81"], &[], &[("host", "B.example:81")], false, "http://b.example:81"),
            (&["a.example"], &[], &[("host", "c.example")], false, "http://a.example"),
            (&["a.example"], &[], &[], true, "https://a.example"),
            // The host from a proxy.
            (
                &[],
                &[ProxyHeader::Forwarded],
                &[("host", "a"), ("forwarded", "host=b.example;proto=https")],
                false,
                "https://b.example",
            ),
            (
                &[],
                &[ProxyHeader::XForwardedProto, ProxyHeader::XForwardedPrefix],
                &[("host", "a:8"), ("x-forwarded-proto", "https"), ("x-forwarded-prefix", "/under/")],
                false,
                "https://a:8/under",
            ),
            (&[], &[], &[("host", "a"), ("forwarded", "host=b.example")], false, "http://a"),
            // The host from the request.
            (&[], &[], &[("host", "127.0.0.1:8080")], false, "http://127.0.0.1:8080"),
            (&[], &[], &[("host", "[::1]:8080")], true, "https://[::1]:8080"),
            // No valid host anywhere.
            (&[], &[], &[], false, "http://192.0.2.7"),
            (&[], &[], &[("host", "a\"/><b")], false, "http://192.0.2.7"),
            (&[], &[], &[("host", "a@b")], false, "http://192.0.2.7"),
            (&[], &[], &[("host", ":80")], false, "http://192.0.2.7"),
        ] {
            let hosts = hosts.iter().map(|host: &&str| (*host).to_owned()).collect();
            let address = Address::Asked { scheme: Scheme::HTTP, hosts, trusted: trusted.to_vec() };
            let mut request = Request::new(());
            for &(name, value) in headers {
                request = request.with_http_header(HeaderName::from_static(name), HeaderValue::from_static(value));
            }
            if is_tls {
                request = request.with_extension(tls.clone());
            }
            let base = base(&address, &request, own);
            assert_eq!(base.as_deref(), Some(expected), "{headers:?}");
        }
        assert_eq!(base(&Address::default(), &Request::new(()), ""), None);
    }
}
