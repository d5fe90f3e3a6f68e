//! At which address a request came.

use castile::http::server::Address;
use castile_soap::Request;
use http::uri::Authority;
use http::{HeaderMap, Uri, header};

/// The URL of the paths at the host that a request came to. It is the one that the contract names there. Where that is the address of
/// this machine that the connection came to, which only the server knows, it is the host that the request is for (`Host`), and without
/// one that of the contract.
pub(super) fn base<T>(address: &Address, request: &Request<T>, of_contract: &str) -> Option<String> {
    let (headers, extensions) = (request.http_headers(), request.extensions());
    let asked = || {
        let Address::Asked { scheme, trusted, .. } = address else { return None };
        let (scheme, hosts, trusted) = (scheme.clone(), vec![host(headers)?], trusted.clone());
        Address::Asked { scheme, hosts, trusted }.base(headers, extensions)
    };
    address.base(headers, extensions).or_else(asked).or_else(|| origin(of_contract))
}

/// The host that a request is for, maybe with a port. The server refuses what is none.
fn host(headers: &HeaderMap) -> Option<String> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let authority: Authority = host.parse().ok()?;
    (!host.contains('@') && !authority.host().is_empty()).then(|| host.to_owned())
}

/// The scheme and the host of a URL.
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
            // What the server is told.
            (&["a.example"][..], &[][..], &[("host", "a.example")][..], false, "http://a.example"),
            (&["a.example", "b.example:81"], &[], &[("host", "B.example:81")], false, "http://b.example:81"),
            (&["a.example"], &[], &[("host", "c.example")], false, "http://a.example"),
            (&["a.example"], &[], &[], true, "https://a.example"),
            // What a proxy says.
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
            // What the request says.
            (&[], &[], &[("host", "127.0.0.1:8080")], false, "http://127.0.0.1:8080"),
            (&[], &[], &[("host", "[::1]:8080")], true, "https://[::1]:8080"),
            // Nothing that anybody says.
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
