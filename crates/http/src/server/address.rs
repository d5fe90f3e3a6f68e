//! The service address in a served contract.

pub(super) mod forwarded;

use std::net::SocketAddr;
use std::ops::Range;

use castile_soap::{Description, Document};
use http::request::Parts;
use http::uri::{Authority, Scheme};
use http::{Extensions, HeaderMap, Uri, header};

use super::listener::TlsPeer;
use forwarded::Forwarded;
pub use forwarded::ProxyHeader;

/// The address that a served contract gives its readers (`soap:address`, WSDL 1.1 §3.8). The address of another port is
/// replaced too, if one of the [`Routes`](super::Routes) serves the same contract at the path of that port.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// The requested path, at the requested host if that is one of `hosts`.
    ///
    /// If the requested host isn't one of them, the contract gets the first of `hosts`. Without `hosts`, it gets the
    /// local address of the connection. Only a [`Server`](super::Server) knows that address; under other servers the
    /// contract is then unchanged. So no request can decide where other clients are sent, even through a cache.
    ///
    /// Behind a proxy, the requested URL is taken from the `trusted` headers. Without `hosts`, the host in these
    /// headers is used.
    Asked {
        /// The scheme, which a request doesn't contain. It is used only if no trusted header names one. On a TLS
        /// connection ([`TlsPeer`](super::TlsPeer)) it is `https` instead.
        scheme: Scheme,
        /// The hosts that clients may use, as in a URL: `example.org`, or `example.org:8080` with a port. Case doesn't
        /// matter.
        hosts: Vec<String>,
        /// The headers that the proxy in front sets or removes on every request. None by default. A client can forge
        /// every header that the proxy passes through. If a header has several values, the last one counts, because the
        /// nearest proxy added it.
        trusted: Vec<ProxyHeader>,
    },
    /// Always this URL. Use it behind proxies that don't report the requested URL, or under axum's `nest_service`,
    /// which hides the requested path.
    Fixed(String),
}

impl Default for Address {
    /// Returns the local address of the connection: [`Asked`](Self::Asked) without hosts and headers.
    fn default() -> Self {
        Address::Asked { scheme: Scheme::HTTP, hosts: Vec::new(), trusted: Vec::new() }
    }
}

/// A request extension: the local address of the connection.
#[derive(Clone, Copy)]
pub(super) struct Local(pub(super) SocketAddr);

/// A request extension: the request doesn't come from one of the [`Proxies`](super::Proxies), so its proxy headers are
/// ignored.
#[derive(Clone, Copy)]
pub(super) struct UntrustedPeer;

/// A request extension: all contracts that the routes of the server serve.
#[derive(Clone)]
pub(super) struct ServedContracts(pub(super) Vec<Served>);

/// A contract and the path that it is served at.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) path: String,
    pub(super) description: &'static Description,
    pub(super) address: Address,
}

impl Address {
    /// Returns the URL of a path, by the head of a request. `None` if no host is known.
    pub(super) fn url(&self, path: &str, head: &Parts) -> Option<String> {
        match self {
            Address::Fixed(url) => Some(url.clone()),
            Address::Asked { .. } => {
                let base = self.base_of(head.uri.authority(), &head.headers, &head.extensions)?;
                Some(base + path)
            }
        }
    }

    /// Returns the base URL of the requested host: the scheme, the host, and the path prefix that a proxy removed. A
    /// contract on the same host has this base before its path. Returns `None` for a [`Fixed`](Self::Fixed) address,
    /// and if the host would be the local address of the connection, which messages don't have among their extensions.
    pub fn base(&self, headers: &HeaderMap, extensions: &Extensions) -> Option<String> {
        self.base_of(None, headers, extensions)
    }

    fn base_of(&self, target: Option<&Authority>, headers: &HeaderMap, extensions: &Extensions) -> Option<String> {
        let Address::Asked { scheme, hosts, trusted } = self else { return None };
        let trusted = if extensions.get::<UntrustedPeer>().is_some() { &[][..] } else { trusted };
        let forwarded = Forwarded::read(trusted, headers);
        let scheme = match &forwarded.scheme {
            Some(scheme) => scheme,
            None if extensions.get::<TlsPeer>().is_some() => &Scheme::HTTPS,
            None => scheme,
        };
        // An absolute request target takes precedence over Host (RFC 9112 §3.2.2).
        let named = match (forwarded.host, target) {
            (Some(host), _) => host,
            (None, Some(authority)) => authority.as_str(),
            (None, None) => headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default(),
        };
        let named = forwarded.with_port(named, scheme);
        let allowed = hosts.iter().find(|host| host.eq_ignore_ascii_case(&named)).or(hosts.first());
        let authority = match (allowed, forwarded.host) {
            (Some(host), _) => host.clone(),
            (None, Some(_)) => named,
            (None, None) => {
                let Local(local) = *extensions.get()?;
                // A dual-stack socket reports IPv4 addresses as IPv6; and a zone is meaningless on other machines.
                SocketAddr::new(local.ip().to_canonical(), local.port()).to_string()
            }
        };
        Some(format!("{scheme}://{authority}{}", forwarded.prefix))
    }
}

/// Rewrites a document of the contract: sets its `soap:address`, and the locations of imported documents. If no address
/// is known, the address is unchanged and the locations are relative. The address of another port is replaced if its
/// contract is served at its path.
pub(super) fn rewrite(description: &Description, document: &Document, address: &Address, head: &Parts) -> String {
    let url = address.url(head.uri.path(), head);
    let beside = url.as_deref().and_then(|url| url.split('?').next()).unwrap_or_default();
    // A port may be served at several paths. Its address is then the requested path, unless that path belongs to
    // another port.
    let mut is_of_a_port = false;
    each_location(document.text(), |element, location, _| {
        is_of_a_port |= element == ADDRESS && path_of(location).is_some_and(|path| path == head.uri.path());
    });
    replace_locations(document.text(), |element, location| {
        if element == ADDRESS {
            let is_own = location == description.address;
            let served = served_at(location, description, head).filter(|_| !is_own || is_of_a_port);
            let url = match served {
                Some(served) => served.address.url(&served.path, head),
                None => url.clone().filter(|_| is_own),
            };
            return url.as_deref().map(escape);
        }
        let imported = document.imports.iter().find(|(of_import, _)| *of_import == location);
        imported.map(|(_, query)| escape(&format!("{beside}?{query}")))
    })
}

/// Returns the served contract at the path of an address, if there is one.
fn served_at<'h>(location: &str, description: &Description, head: &'h Parts) -> Option<&'h Served> {
    let ServedContracts(all) = head.extensions.get()?;
    let path = path_of(location)?;
    // Services of one contract have separate descriptions with the same text.
    let text = |description: &Description| description.documents.first().map(|document| document.text());
    all.iter().find(|served| served.path == path && text(served.description) == text(description))
}

/// Returns the path of a URL, with its query.
fn path_of(location: &str) -> Option<String> {
    let location: Uri = location.parse().ok()?;
    location.authority()?;
    Some(location.path_and_query()?.as_str().to_owned())
}

/// The element with an address, in both versions of SOAP.
const ADDRESS: &str = "address";
/// The elements with the location of a document, in WSDL and in schemas.
const REFERENCES: [&str; 3] = ["import", "include", "redefine"];
/// The attribute with the address in a `soap:address`, and with the location in an `import` of WSDL.
const LOCATION: &str = "location";
/// The attribute with the location in an element of a schema.
const SCHEMA_LOCATION: &str = "schemaLocation";

/// Replaces the values of location attributes by the result of `of`, which gets the local name of the element and the
/// value.
fn replace_locations(text: &str, of: impl Fn(&str, &str) -> Option<String>) -> String {
    let (mut rewritten, mut copied) = (String::with_capacity(text.len() + 64), 0);
    each_location(text, |element, location, place| {
        if let Some(url) = of(element, location) {
            rewritten.push_str(&text[copied..place.start]);
            rewritten.push_str(&url);
            copied = place.end;
        }
    });
    rewritten + &text[copied..]
}

/// Calls `show` for each location attribute, with the local name of the element, the value and its range. Any spelling
/// is found.
fn each_location(text: &str, mut show: impl FnMut(&str, &str, Range<usize>)) {
    let mut rest = text;
    while let Some(start) = next_tag(rest) {
        let end = start + rest[start..].find(TAG_NAME_END).unwrap_or(rest.len() - start);
        let (before, attributes) = rest.split_at(end);
        rest = attributes;
        let element = before[start..].rsplit(':').next().unwrap_or_default();
        let is_reference = REFERENCES.contains(&element);
        if !is_reference && element != ADDRESS {
            continue;
        }
        while let Some((attribute, value, after)) = next_attribute(rest) {
            if attribute == LOCATION || (is_reference && attribute == SCHEMA_LOCATION) {
                let end = text.len() - after.len();
                // The value is trimmed.
                show(element, unescape(value).trim_matches(WHITE_SPACE), end - value.len()..end);
            }
            rest = &after[1..];
        }
    }
}

/// XML white space (XML 1.0 §2.3).
const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];
/// The characters that end the name in a tag.
const TAG_NAME_END: [char; 6] = [' ', '\t', '\r', '\n', '/', '>'];

/// Finds the name of the next start tag. Comments, CDATA sections and processing instructions are skipped.
fn next_tag(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('<')? + 1;
        let behind = &text[at..];
        let mut others = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")].into_iter();
        match others.find_map(|(open, close)| Some((open, behind.strip_prefix(open)?, close))) {
            Some((open, inside, close)) => at += open.len() + inside.find(close)? + close.len(),
            None if behind.starts_with(['/', '!']) => {}
            None => return Some(at),
        }
    }
}

/// Returns the name and value of the next attribute of a start tag, and the rest from the closing quote.
fn next_attribute(tag: &str) -> Option<(&str, &str, &str)> {
    let (name, equals) = tag.split_at(tag.find(['=', '>', '<'])?);
    let quoted = equals.strip_prefix('=')?.trim_start_matches(WHITE_SPACE);
    let quote = quoted.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    let (value, after) = quoted[1..].split_at(quoted[1..].find(quote)?);
    Some((name.trim_matches(WHITE_SPACE), value, after))
}

/// Decodes an attribute value: resolves references and replaces white space by spaces (XML 1.0 §3.3.3).
fn unescape(value: &str) -> String {
    let mut parts = value.split('&');
    let mut unescaped = parts.next().unwrap_or_default().replace(WHITE_SPACE, " ");
    for part in parts {
        let reference = part.split_once(';').and_then(|(name, rest)| Some((referred(name)?, rest)));
        let (c, rest) = reference.unwrap_or(('&', part));
        unescaped.push(c);
        unescaped.push_str(&rest.replace(WHITE_SPACE, " "));
    }
    unescaped
}

/// Resolves a reference to a character or a predefined entity (XML 1.0 §4.1, §4.6).
fn referred(name: &str) -> Option<char> {
    let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => match name.strip_prefix('#')? {
            decimal if !decimal.starts_with('x') => number(decimal, 10),
            hexadecimal => number(&hexadecimal[1..], 16),
        },
    }
}

fn escape(url: &str) -> String {
    url.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\'', "&apos;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(wsdl: &str, address: &str) -> String {
        replace_locations(wsdl, |_, value| (value == address).then(|| "URL".to_owned()))
    }

    #[test]
    fn the_address_is_found_however_it_is_written() {
        for (address, wsdl, expected) in [
            ("http://a/", "<s:address location=\"http://a/\"/>", "<s:address location=\"URL\"/>"),
            ("http://a/", "<s:address location='http://a/'/>", "<s:address location='URL'/>"),
            ("http://a/", "<s:address\n  location =\r\n\t' http://a/\n'/>", "<s:address\n  location =\r\n\t'URL'/>"),
            ("http://a/?b&c", "<s:address location='http://a/?b&amp;c'/>", "<s:address location='URL'/>"),
            ("http://a/?b&c", "<s:address location='http://a/?b&#38;c'/>", "<s:address location='URL'/>"),
            ("http://a/?b&c", "<s:address location='http:&#x2f;/a/?b&#x26;c'/>", "<s:address location='URL'/>"),
            ("<>\"'&lt;", "<s:address location='&lt;&gt;&quot;&apos;&amp;lt;'/>", "<s:address location='URL'/>"),
            (
                "http://é/",
                "<é:address é='é' location='http://é/'>é</é:address>",
                "<é:address é='é' location='URL'>é</é:address>",
            ),
            (
                "http://a/",
                "<s:address location='http://c/'/><s:address location='http://a/'/><s:address location='http://a/'/>",
                "<s:address location='http://c/'/><s:address location='URL'/><s:address location='URL'/>",
            ),
        ] {
            assert_eq!(replaced(wsdl, address), expected, "{wsdl}");
        }
    }

    #[test]
    fn nothing_else_is_replaced() {
        for wsdl in [
            "",
            "<s:address location='http://a/b'/>",
            "<address schemaLocation='http://a/' x:location='http://a/' locations='http://a/'/>",
            "<documentation>see location='http://a/' and <b location='http://a/'/></documentation>",
            "<!-- <address location='http://a/'/> --><?b <address location='http://a/'?>",
            "<![CDATA[<address location='http://a/'/>]]><address>location='http://a/'</address>",
            "<import b=\" location='http://a/'\"/>",
            "<b>location http://a/</b>",
            "the location = http://a/",
            "<s:address location='http://a/",
            "<s:address location='&&; &#; &#x; &#xD800; &none;'/>",
            "<s:address location",
        ] {
            assert_eq!(replaced(wsdl, "http://a/"), wsdl);
        }
    }

    /// Whatever a request contains, the contract has a valid URL, and its markup is unchanged.
    #[test]
    fn changed_requests_make_no_markup() {
        let seeds: [&[u8]; 8] = [
            b"for=\"[::1]:4\";Proto=https ; host=\"a:8\"",
            b"host=a;proto=http, host=b",
            b"a.example:8080",
            b"[2001:db8::1]:80",
            b"/prefix/b/",
            b"https, http",
            b"65535",
            b"http://a/b?c",
        ];
        let trusted = vec![
            ProxyHeader::Forwarded,
            ProxyHeader::XForwardedHost,
            ProxyHeader::XForwardedProto,
            ProxyHeader::XForwardedPort,
            ProxyHeader::XForwardedPrefix,
        ];
        let names =
            ["forwarded", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-port", "x-forwarded-prefix", "host"];
        let hosts = vec!["h".to_owned()];
        let addresses = [
            Address::Asked { scheme: Scheme::HTTP, hosts: Vec::new(), trusted },
            Address::Asked { scheme: Scheme::HTTP, hosts, trusted: Vec::new() },
        ];
        crate::mutations::check_mutations(&seeds, |text, random| {
            let mut request = http::Request::get("/p/'\"?wsdl");
            let target = String::from_utf8_lossy(text);
            if let Ok(target) = target.parse::<Uri>()
                && random.bool()
            {
                request = request.uri(target);
            }
            for name in names {
                if let Ok(value) = http::HeaderValue::from_bytes(text)
                    && random.bool()
                {
                    request = request.header(name, value);
                }
            }
            let (mut head, ()) = request.body(()).unwrap().into_parts();
            head.extensions.insert(Local("127.0.0.1:80".parse().unwrap()));
            // Other targets belong to OPTIONS and CONNECT, which don't request a contract.
            if !head.uri.path().starts_with('/') {
                return;
            }
            for address in &addresses {
                let Some(url) = address.url(head.uri.path(), &head) else { continue };
                let parsed: Uri = url.parse().unwrap_or_else(|error| panic!("{error}: {url}"));
                let authority = parsed.authority().unwrap().as_str();
                let is_known = matches!(address, Address::Asked { hosts, .. } if hosts.contains(&authority.to_owned()));
                let is_any = matches!(address, Address::Asked { hosts, .. } if hosts.is_empty());
                assert!((is_known || is_any) && !authority.contains('@'), "{url}");
                let escaped = escape(&url);
                assert!(!escaped.contains(['<', '"', '\'', '\r', '\n']), "{escaped}");
                let contract = replace_locations("<a:address location='x'/>", |_, _| Some(escaped.clone()));
                assert_eq!(contract, format!("<a:address location='{escaped}'/>"));
            }
        });
    }

    /// A header of a client, to which the proxy adds its part, has no effect.
    #[test]
    fn forged_headers_of_a_client_do_not_set_the_host() {
        let seeds: [&[u8]; 7] = [
            b"host=evil.example;proto=http;x=\"",
            b"for=192.0.2.1;host=\"evil.example, host=evil.example",
            b"host=evil.example;x=\"\\",
            b"host=evil.example, host=\"evil.example:1\",",
            b"evil.example, evil.example:1",
            b"\xE9, evil.example",
            b"http",
        ];
        let added = [
            (ProxyHeader::Forwarded, "forwarded", "for=\"[2001:db8::1]:4711\";host=\"real.example:8443\";proto=https"),
            (ProxyHeader::Forwarded, "forwarded", "proto=https;host=\"real.example:8443\""),
            (ProxyHeader::XForwardedHost, "x-forwarded-host", "real.example:8443"),
        ];
        crate::mutations::check_mutations(&seeds, |text, random| {
            let (header, name, added) = added[random.usize(..added.len())];
            let mut request = http::Request::get("/p?wsdl").header("host", "other.example");
            let fields = match random.bool() {
                true => vec![text.to_vec(), added.as_bytes().to_vec()],
                false => vec![[text, b", ", added.as_bytes()].concat()],
            };
            for field in fields {
                let Ok(value) = http::HeaderValue::from_bytes(&field) else { return };
                request = request.header(name, value);
            }
            let (head, ()) = request.body(()).unwrap().into_parts();
            let address = Address::Asked { scheme: Scheme::HTTPS, hosts: Vec::new(), trusted: vec![header] };
            assert_eq!(address.url("/p", &head).as_deref(), Some("https://real.example:8443/p"), "{:?}", head.headers);
        });
    }
}
