//! The address that a served contract names.

use castile_soap::Description;
use http::request::Parts;
use http::uri::{Authority, Scheme};
use http::{HeaderName, header};

const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Where clients that read the contract are sent (`soap:address`, WSDL 1.1 §3.8).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// Where the request for the contract came: its Host header and path.
    Asked {
        /// The scheme, which a request doesn't tell.
        scheme: Scheme,
        /// Whether an X-Forwarded-Proto header overrides the scheme. Only right behind a proxy that sets the header on
        /// every request; anyone else can write what they like there.
        trust_forwarded_proto: bool,
    },
    /// Always this URL: for a server behind a proxy that rewrites paths, or under axum's `nest_service`, which hides
    /// the path that was asked.
    Fixed(String),
}

impl Default for Address {
    /// What was asked, over plain http.
    fn default() -> Self {
        Address::Asked { scheme: Scheme::HTTP, trust_forwarded_proto: false }
    }
}

/// The contract with its `soap:address` replaced; unchanged when the request has no usable Host.
pub(super) fn rewrite(description: &Description, address: &Address, head: &Parts) -> String {
    let url = match address {
        Address::Fixed(url) => Some(url.clone()),
        Address::Asked { scheme, trust_forwarded_proto } => asked(head, scheme, *trust_forwarded_proto),
    };
    match url {
        Some(url) => replace_location(description.wsdl, description.address, &escape(&url)),
        None => description.wsdl.to_owned(),
    }
}

fn asked(head: &Parts, scheme: &Scheme, trust_forwarded_proto: bool) -> Option<String> {
    let host = head.headers.get(header::HOST).map(|host| host.as_bytes());
    // An absolute request target wins over Host (RFC 9112 §3.2.2). Parsing keeps out what no authority can hold.
    let authority = match head.uri.authority() {
        Some(authority) => authority.clone(),
        None => Authority::try_from(host?).ok()?,
    };
    let forwarded = head.headers.get(X_FORWARDED_PROTO).map(|proto| proto.as_bytes());
    let scheme = match forwarded.filter(|_| trust_forwarded_proto) {
        Some(b"http") => &Scheme::HTTP,
        Some(b"https") => &Scheme::HTTPS,
        _ => scheme,
    };
    Some(format!("{scheme}://{authority}{}", head.uri.path()))
}

/// Replaces `address` where it is the value of a `location` attribute, in either kind of quotes.
fn replace_location(wsdl: &str, address: &str, url: &str) -> String {
    let mut rewritten = wsdl.to_owned();
    for quote in ['"', '\''] {
        let found = format!("location={quote}{address}{quote}");
        rewritten = rewritten.replace(&found, &format!("location={quote}{url}{quote}"));
    }
    rewritten
}

fn escape(url: &str) -> String {
    url.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;").replace('\'', "&apos;")
}
